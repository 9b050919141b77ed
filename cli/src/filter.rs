//! `otlp-profiles filter`: keeps a part of the samples, frames, labels or details.

use std::ops::Range;

use clap::ValueEnum;
use otlp_profiles::Profiles;
use otlp_profiles::transform::{Strip, retain_time, strip};

use crate::console::Console;
use crate::convert;
use crate::convert::conversion::{Conversion, Verb};
use crate::convert::encode::{Converted, Part};
use crate::convert::run::each;
use crate::exit::{Exit, Failure};
use crate::filters::FilterArgs;
use crate::time::parse_time;

/// Arguments of `filter`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = AFTER_HELP, next_help_heading = "Filters")]
pub(crate) struct Args {
    #[command(flatten)]
    filters: FilterArgs,
    /// Keep samples in a range of time: two times or Unix nanoseconds, such as 2026-11-20T10:00:00Z..2026-11-20T10:01:00Z;
    /// either may be left out
    #[arg(long, value_name = "START..END", value_parser = parse_range)]
    time: Option<Range<u64>>,
    /// Remove addresses, lines or mappings of locations
    #[arg(
        long,
        value_name = "DETAIL",
        value_enum,
        value_delimiter = ',',
        hide_possible_values = true
    )]
    strip: Vec<StripArg>,
    #[command(flatten)]
    pub(crate) convert: convert::Args,
}

/// The library's `Strip` for clap.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum StripArg {
    Addresses,
    Lines,
    Mappings,
}

const AFTER_HELP: &str = "\
Examples:
  otlp-profiles filter cpu.pb.gz --focus '^main\\.' -o main.pb.gz
  otlp-profiles filter all.otlp --where service.name=checkout -o checkout.otlp
  otlp-profiles filter cpu.otlp --type cpu --strip addresses,mappings -o small.otlp";

fn parse_range(text: &str) -> Result<Range<u64>, String> {
    let (start, end) = text.split_once("..").ok_or("expected START..END, START.. or ..END")?;
    if start.is_empty() && end.is_empty() {
        return Err("START or END is missing".to_owned());
    }
    let start = if start.is_empty() { 0 } else { parse_time(start)? };
    let end = if end.is_empty() { u64::MAX } else { parse_time(end)? };
    if start < end { Ok(start..end) } else { Err("START must be before END".to_owned()) }
}

const FILTER: Verb = Verb { name: "filter", noun: "Filtering", past: "filtered" };

/// Filters every input.
pub(crate) fn run(args: &Args, console: &Console) -> Exit {
    let apply = |profiles, converted: &mut Converted, conversion: &Conversion<'_>| {
        apply(args, profiles, converted, conversion)
    };
    each(&args.convert, &FILTER, false, &apply, console)
}

fn apply(
    args: &Args,
    mut profiles: Profiles,
    converted: &mut Converted,
    conversion: &Conversion<'_>,
) -> Result<Vec<Part>, Failure> {
    let failure = |error: otlp_profiles::Error| Failure::of(&error, Exit::Input);
    let samples = |profiles: &Profiles| profiles.iter().any(|of| !of.samples().is_empty());
    let had_samples = samples(&profiles);
    let before = profiles.clone();
    if let Some(range) = &args.time {
        converted.losses.merge(&retain_time(&mut profiles, range.clone()));
    }
    args.filters.drop_declared(&mut profiles)?;
    let unmatched = args.filters.filter().apply(&mut profiles).map_err(failure)?;
    converted.warnings.extend(args.filters.unmatched(&unmatched, &profiles)?);
    if !args.strip.is_empty() {
        let what: Vec<Strip> = args.strip.iter().map(|one| one.strip()).collect();
        let losses = strip(&mut profiles, &what, conversion.limits()).map_err(failure)?;
        converted.losses.merge(&losses);
    }
    if had_samples && converted.warnings.is_empty() && !samples(&profiles) {
        let message = "the filters leave no sample (samples without timestamps have the time of their profile)";
        converted.warnings.push(message.to_owned());
    }
    // Filters without an effect keep unreferenced rows, as convert does.
    if profiles != before {
        profiles.compact();
    }
    Ok(vec![(String::new(), profiles)])
}

impl StripArg {
    fn strip(self) -> Strip {
        match self {
            Self::Addresses => Strip::Addresses,
            Self::Lines => Strip::Lines,
            Self::Mappings => Strip::Mappings,
        }
    }
}
