//! `otlp-profiles convert`: from one format to another.

mod encode;
mod plan;
mod report;
mod run;
mod tally;

use std::path::PathBuf;

use clap::ValueEnum;
use otlp_profiles::format::{Refs, Timestamps};
use otlp_profiles::model::ProfileId;
use otlp_profiles::{Format, Limits, ReadOptions, WriteOptions};

use crate::convert::report::Form;
use crate::reading::{ReadArgs, format_parser};

pub(crate) use crate::convert::run::run;

/// How to convert what to what.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Files, directories, quoted patterns, or - for stdin
    #[arg(required = true, value_name = "IN")]
    inputs: Vec<PathBuf>,
    /// The file to write, or - for stdout; a directory for several inputs
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// The format to write; else the extension of OUT says it
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    to: Option<Format>,
    /// Write nothing, and exit with 1, where anything would be dropped, approximated or repaired
    #[arg(long)]
    deny_loss: bool,
    /// Replace files that exist; write binary data to a terminal
    #[arg(short, long)]
    force: bool,
    /// How OTLP 1.10 says the texts of resources, scopes and values
    #[arg(
        long,
        value_enum,
        default_value_t,
        hide_possible_values = true,
        value_name = "inline|dictionary"
    )]
    refs: RefsArg,
    /// How pprof says timestamps: one sample for each with a label, or not at all
    #[arg(
        long,
        value_enum,
        default_value_t,
        hide_possible_values = true,
        value_name = "label|drop"
    )]
    timestamps: TimestampsArg,
    /// Leave pprof's labels trace_id and span_id as they are, and drop links that pprof cannot say
    #[arg(long)]
    no_links: bool,
    /// The numeric pprof label to take for the time of a sample, such as end_timestamp_ns
    #[arg(long, value_name = "NAME")]
    timestamp_label: Option<String>,
    /// The id to give the one profile: 32 hex digits
    #[arg(long, value_name = "HEX", value_parser = parse_profile_id)]
    profile_id: Option<ProfileId>,
    /// How hard gzip tries, from 0 to 9
    #[arg(long, value_name = "0-9", default_value_t = 6, value_parser = clap::value_parser!(u32).range(0..=9))]
    level: u32,
    /// Compress the output, whatever its name and format
    #[arg(long, conflicts_with = "no_gzip")]
    gzip: bool,
    /// Do not compress the output, whatever its name and format
    #[arg(long)]
    no_gzip: bool,
    /// How losses are reported on stderr: a table, or one JSON object for each input
    #[arg(long, value_enum, value_name = "text|json", hide_possible_values = true)]
    report: Option<Form>,
    #[command(flatten)]
    read: ReadArgs,
}

const AFTER_HELP: &str = "\
Examples:
  otlp-profiles convert cpu.pb.gz -o cpu.otlp
  otlp-profiles convert old.otlp --to otlp-1.10 -o new.otlp
  otlp-profiles convert 'profiles/**/*.pb.gz' --to otlp -o converted/
  curl -s host:6060/debug/pprof/heap | otlp-profiles convert - --to otlp > heap.otlp";

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum RefsArg {
    #[default]
    Inline,
    Dictionary,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum TimestampsArg {
    #[default]
    Label,
    Drop,
}

fn parse_profile_id(text: &str) -> Result<ProfileId, String> {
    let digits = text.len() == 32 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    match u128::from_str_radix(text, 16) {
        Ok(0) => Err("an id of zeros is none".to_owned()),
        Ok(id) if digits => Ok(ProfileId(id.to_be_bytes())),
        _ => Err("32 hex digits are wanted".to_owned()),
    }
}

impl Args {
    fn read_options(&self) -> ReadOptions {
        self.read.options().links(!self.no_links).timestamp_label(self.timestamp_label.clone())
    }

    fn write_options(&self, limits: &Limits) -> WriteOptions {
        let default = WriteOptions::default();
        let expanded = self.read.limits.max_expanded_samples;
        let refs = match self.refs {
            RefsArg::Inline => Refs::Inline,
            RefsArg::Dictionary => Refs::Dictionary,
        };
        let timestamps = match self.timestamps {
            TimestampsArg::Label => Timestamps::Label,
            TimestampsArg::Drop => Timestamps::Drop,
        };
        let expanded = expanded.unwrap_or(default.max_expanded_samples);
        default
            .refs(refs)
            .timestamps(timestamps)
            .links(!self.no_links)
            .profile_id(self.profile_id)
            .max_output_bytes(limits.max_output_bytes)
            .max_expanded_samples(expanded)
    }
}
