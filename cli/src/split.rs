//! `otlp-profiles split`: splits one file into several.

use clap::ArgGroup;
use otlp_profiles::transform::{MaxBytes, SplitBy, split, split_max};
use otlp_profiles::{Error, ErrorKind, Profiles};

use crate::console::Console;
use crate::convert::conversion::{Conversion, Verb};
use crate::convert::encode::Converted;
use crate::convert::{self, run::each};
use crate::exit::{Exit, Failure};
use crate::filters::unknown_keys;
use crate::limits::parse_size;
use crate::time::parse_duration;

/// Arguments of `split`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = AFTER_HELP, next_help_heading = "Split")]
#[command(group = ArgGroup::new("property").required(true))]
pub(crate) struct Args {
    /// The most bytes of an output, before compression, such as 4MiB
    #[arg(long, value_name = "SIZE", value_parser = parse_size, group = "property")]
    max_bytes: Option<u64>,
    /// One output for each resource, scope, type, thread, attribute:KEY, or time:DURATION such as time:10s
    #[arg(long, value_name = "KIND", value_parser = parse_kind, group = "property")]
    by: Option<SplitBy>,
    /// Write a sample that exceeds --max-bytes alone, instead of failing
    #[arg(long, requires = "max_bytes")]
    keep_oversize: bool,
    #[command(flatten)]
    pub(crate) convert: convert::Args,
}

const AFTER_HELP: &str = "\
Outputs are named after OUT and their part: -o a.otlp writes a.0001.otlp, a.0002.otlp.

Examples:
  otlp-profiles split big.otlp --max-bytes 4MiB -o part.otlp
  otlp-profiles split all.otlp --by resource -o service.otlp
  otlp-profiles split cpu.pb.gz --by attribute:endpoint -o endpoint.pb.gz";

fn parse_kind(text: &str) -> Result<SplitBy, String> {
    Ok(match (text, text.split_once(':')) {
        ("resource", _) => SplitBy::Resource,
        ("scope", _) => SplitBy::Scope,
        ("type", _) => SplitBy::SampleType,
        ("thread", _) => SplitBy::Thread,
        (_, Some(("time", window))) => SplitBy::Window(parse_duration(window)?),
        (_, Some(("attribute", key))) if !key.is_empty() => SplitBy::Attribute(key.to_owned()),
        _ => {
            let kinds = "resource, scope, type, thread, attribute:KEY or time:DURATION";
            return Err(format!("expected {kinds}"));
        }
    })
}

const SPLIT: Verb = Verb { name: "split", noun: "Split", past: "divided" };

/// Splits every input.
pub(crate) fn run(args: &Args, console: &Console) -> Exit {
    let apply = |profiles: Profiles, converted: &mut Converted, conversion: &Conversion<'_>| {
        parts(args, &profiles, converted, conversion)
    };
    each(&args.convert, &SPLIT, false, &apply, console)
}

/// The failure of a sample that exceeds the limit, with the option that keeps it.
fn oversize(error: &Error) -> Failure {
    let mut failure = Failure::writing(error);
    if error.kind() == ErrorKind::Limit && error.limit().is_none() {
        failure.message += " (--keep-oversize)";
    }
    failure
}

/// Splits a message into named parts.
fn parts(
    args: &Args,
    profiles: &Profiles,
    converted: &mut Converted,
    conversion: &Conversion<'_>,
) -> Result<Vec<(String, Profiles)>, Failure> {
    if let Some(max_bytes) = args.max_bytes {
        let limit = MaxBytes::new(max_bytes)
            .format(conversion.to)
            .write(conversion.write_options().clone())
            .keep_oversize(args.keep_oversize);
        let parts = split_max(profiles, &limit).map_err(|error| oversize(&error))?;
        let first = converted.parts;
        let named = |(row, part)| (format!("{:04}", first + row + 1), part);
        return Ok(parts.into_iter().enumerate().map(named).collect());
    }
    if let Some(SplitBy::Attribute(key)) = &args.by {
        converted.warnings.extend(unknown_keys(&[profiles], [&**key]));
    }
    // clap requires one of the two flags.
    let (parts, losses) = split(profiles, args.by.as_ref().unwrap_or(&SplitBy::Resource));
    converted.losses.merge(&losses);
    Ok(parts.into_iter().map(|part| (part.name, part.profiles)).collect())
}
