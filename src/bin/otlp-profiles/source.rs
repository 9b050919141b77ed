//! What the formats of other tools leave to be said, as flags.
//!
//! One flag for each option of [`SourceOptions`], under the name by which `Format::options` lists
//! it. The library says when a flag is not for the format at hand, so nothing is decided here.

use crate::convert::is_all;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use otlp_profiles::format::{Dialect, EventTime, SourceOptions, TimeUnit};

/// What the formats of other tools leave to be said. Each flag is an error where the input is of a
/// format that does not take it.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Options of formats of other tools")]
pub(crate) struct SourceArgs {
    /// folded, speedscope: what values measure and their unit, for each column: cpu:nanoseconds. Where another
    /// format is converted to one of these or to firefox: what alone is written
    #[arg(long = "type", value_name = "NAME:UNIT", value_parser = parse_type)]
    types: Vec<(String, String)>,
    /// folded: how many numbers end each line
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..), allow_negative_numbers = true)]
    columns: Option<u8>,
    /// folded: what frames hold besides names
    #[arg(long, value_name = "py-spy|austin", hide_possible_values = true, value_parser = dialects())]
    dialect: Option<Dialect>,
    /// folded: read the endings _[k], _[i] and _[j] of frames as kernel, inlined and just in time
    #[arg(long)]
    annotations: bool,
    /// folded: the unit of timestamps; else told by their digits
    #[arg(long, value_name = "s|ms|us|ns", hide_possible_values = true, value_parser = units())]
    timestamp_unit: Option<TimeUnit>,
    /// folded: multiply values, which need not be whole then, and round
    #[arg(long, value_name = "FACTOR", value_parser = parse_scale, allow_negative_numbers = true)]
    scale: Option<f64>,
    /// perf-script: when the machine was started, in nanoseconds since 1970, so that times are known
    #[arg(long, value_name = "NS", allow_negative_numbers = true)]
    boot_time: Option<u64>,
    /// perf-script: take what tracepoints say as key=value for attributes
    #[arg(long)]
    trace_fields: bool,
    /// events: what the time of an event is that has a duration; else its start
    #[arg(long, value_name = "start|end", hide_possible_values = true, value_parser = event_times())]
    event_time: Option<EventTime>,
    /// osprofiler: call frames by the names of points, or in detail as the spans exported for them
    #[arg(long, value_name = "names|detail", hide_possible_values = true,
          value_parser = PossibleValuesParser::new(["names", "detail"]))]
    frames: Option<String>,
    /// osprofiler: keep all that is known of a point, but for arguments, parameters and results
    #[arg(long)]
    all_info: bool,
    /// osprofiler: keep arguments, parameters and results, perf-script: the command that was recorded; they may
    /// hold secrets
    #[arg(long)]
    secrets: bool,
    /// osprofiler: make one profile of all traces of a service
    #[arg(long)]
    merge: bool,
    /// osprofiler: make a second profile that counts the calls of points
    #[arg(long)]
    calls: bool,
}

impl SourceArgs {
    /// What `--type` said.
    pub(crate) fn types(&self) -> &[(String, String)] {
        &self.types
    }

    /// Flags that were not given leave the defaults, which mean "as the format says".
    pub(crate) fn options(&self) -> SourceOptions {
        let options = SourceOptions::default()
            .columns(self.columns.map_or(0, usize::from))
            .dialect(self.dialect)
            .annotations(self.annotations)
            .timestamp_unit(self.timestamp_unit)
            .scale(self.scale)
            .boot_time(self.boot_time)
            .trace_fields(self.trace_fields)
            .event_time(self.event_time)
            .detail_frames(self.frames.as_deref() == Some("detail"))
            .all_info(self.all_info)
            .secrets(self.secrets)
            .merge(self.merge)
            .calls(self.calls);
        let types = self.types.iter().filter(|one| !is_all(one));
        types.fold(options, |options, (name, unit)| options.sample_type(name, unit))
    }
}

/// `cpu:nanoseconds`, or `cpu` alone, whose unit is then empty.
fn parse_type(text: &str) -> Result<(String, String), String> {
    let (name, unit) = text.split_once(':').unwrap_or((text, ""));
    match name {
        "" => Err("a name is wanted, such as cpu:nanoseconds".to_owned()),
        name => Ok((name.to_owned(), unit.to_owned())),
    }
}

/// 0 would make every value 0, and a negative factor turn costs into gains: both are typos.
fn parse_scale(text: &str) -> Result<f64, String> {
    let scale = text.parse::<f64>().ok().filter(|scale| scale.is_finite() && *scale > 0.0);
    scale.ok_or_else(|| "a number above 0 is wanted".to_owned())
}

fn dialects() -> impl TypedValueParser<Value = Dialect> {
    let names = Dialect::ALL.iter().map(|dialect| dialect.name());
    PossibleValuesParser::new(names).map(|name| by_name(Dialect::ALL, Dialect::name, &name))
}

fn units() -> impl TypedValueParser<Value = TimeUnit> {
    let names = TimeUnit::ALL.iter().map(|unit| unit.name());
    PossibleValuesParser::new(names).map(|name| by_name(TimeUnit::ALL, TimeUnit::name, &name))
}

fn event_times() -> impl TypedValueParser<Value = EventTime> {
    let names = EventTime::ALL.iter().map(|time| time.name());
    PossibleValuesParser::new(names).map(|name| by_name(EventTime::ALL, EventTime::name, &name))
}

/// The one of this name; the parser took no other.
fn by_name<T: Copy>(all: &'static [T], name_of: fn(T) -> &'static str, name: &str) -> T {
    let found = all.iter().copied().find(|one| name_of(*one) == name);
    found.unwrap_or(all[0])
}
