//! `otlp-profiles redact`: replaces names and values by pseudonyms, so that profiles can be shared.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use otlp_profiles::Profiles;
use otlp_profiles::look::Pattern;
use otlp_profiles::transform::Redactor;

use crate::console::{Console, Level, Line};
use crate::convert;
use crate::convert::conversion::{Conversion, Verb};
use crate::convert::encode::Converted;
use crate::convert::run::each;
use crate::exit::Exit;
use crate::filters::compile;
use crate::notices::and_more;
use crate::text::{MOST_SHOWN, beginning};

/// Arguments of `redact`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = AFTER_HELP, next_help_heading = "Redaction")]
pub(crate) struct Args {
    /// Keep names, paths and values that match; repeatable
    #[arg(long, value_name = "REGEX", value_parser = compile)]
    keep: Vec<Pattern>,
    #[command(flatten)]
    pub(crate) convert: convert::Args,
}

const AFTER_HELP: &str = "\
Functions, files and values become function_1, file_1 and value_1: equal names get equal pseudonyms in all inputs.
Secrets and comments are dropped. Values, times, addresses and line numbers stay; so do scopes, sample types, units and
keys, which a message lists.

Examples:
  otlp-profiles redact cpu.pb.gz -o report.pb.gz
  otlp-profiles redact cpu.pb.gz --keep '^(runtime|net/http)\\.' -o report.pb.gz";

const REDACT: Verb = Verb { name: "redact", noun: "Redaction", past: "redacted" };

/// Redacts all inputs in order, so that pseudonyms do not depend on the schedule of threads.
pub(crate) fn run(args: &Args, console: &Console) -> Exit {
    let keep = |text: &str| args.keep.iter().any(|pattern| pattern.matches(text));
    let redactor = Mutex::new(Redactor::new(&keep));
    let apply = |mut profiles: Profiles, converted: &mut Converted, _: &Conversion<'_>| {
        let mut redactor = redactor.lock().unwrap_or_else(PoisonError::into_inner);
        converted.losses.merge(&redactor.redact(&mut profiles));
        Ok(vec![(String::new(), profiles)])
    };
    let exit = each(&args.convert, &REDACT, true, &apply, console);
    let redactor = redactor.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(message) = kept(redactor.kept()) {
        console.log(&Line::new(Level::Notice, "redact", message));
    }
    exit
}

/// The most names of one use that the message lists.
const MOST_LISTED: usize = 10;

/// Describes the names that were kept, which may be custom: `kept names: key thread.name; sample types cpu, samples`.
fn kept<'a>(names: impl Iterator<Item = (&'static str, &'a str)>) -> Option<String> {
    let mut by_use: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (of, name) in names {
        by_use.entry(of).or_default().push(beginning(name, MOST_SHOWN));
    }
    let list = |(of, names): (&&str, &Vec<String>)| {
        let s = if names.len() == 1 { "" } else { "s" };
        let more = and_more(names.len().saturating_sub(MOST_LISTED) as u64);
        let listed = names.iter().take(MOST_LISTED).cloned().collect::<Vec<_>>().join(", ");
        format!("{of}{s} {listed}{more}")
    };
    let lists: Vec<_> = by_use.iter().map(list).collect();
    (!lists.is_empty()).then(|| format!("kept names, check them: {}", lists.join("; ")))
}
