//! `otlp-profiles redact`: replaces names and values by pseudonyms, so that profiles can be shared.

use std::sync::{Mutex, PoisonError};

use otlp_profiles::Profiles;
use otlp_profiles::look::Pattern;
use otlp_profiles::transform::Redactor;

use crate::console::Console;
use crate::convert;
use crate::convert::conversion::{Conversion, Verb};
use crate::convert::encode::Converted;
use crate::convert::run::each;
use crate::exit::Exit;
use crate::filters::compile;

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
Secrets and comments are dropped. Values, times, addresses and line numbers stay.

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
    each(&args.convert, &REDACT, true, &apply, console)
}
