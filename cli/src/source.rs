//! Flags for information that formats of other tools do not store.
//!
//! Each option of [`SourceOptions`] has one flag, with the name that `Format::options` lists. The
//! library rejects options that do not apply to a format, so this module has no such checks.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use otlp_profiles::format::{Dialect, EventTime, SourceOptions, TimeUnit};

/// Headings of the options for one format.
const FOLDED: &str = "Options for folded stacks";
const PERF: &str = "Options for perf script";
const OSPROFILER: &str = "Options for OSProfiler";

/// Options for other tools' formats. The library rejects those that do not apply to the format.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct SourceArgs {
    /// The sample type to work on, or all; for folded stacks and speedscope the type and unit of each column
    #[arg(long = "type", value_name = "NAME:UNIT", value_parser = parse_type, help_heading = "Input")]
    types: Vec<(String, String)>,
    /// The number of values at the end of each line
    #[arg(long, help_heading = FOLDED, hide_short_help = true, value_name = "N", value_parser = clap::value_parser!(u8).range(1..), allow_negative_numbers = true)]
    columns: Option<u8>,
    /// Parse frames in the notation of this profiler
    #[arg(long, help_heading = FOLDED, hide_short_help = true, value_name = "py-spy|austin", hide_possible_values = true, value_parser = dialects())]
    dialect: Option<Dialect>,
    /// Read the suffixes _[k], _[i] and _[j] of frames as kernel, inlined and just-in-time compiled
    #[arg(long, help_heading = FOLDED, hide_short_help = true)]
    annotations: bool,
    /// The unit of timestamps [default: by the number of digits]
    #[arg(long, help_heading = FOLDED, hide_short_help = true, value_name = "s|ms|us|ns", hide_possible_values = true, value_parser = units())]
    timestamp_unit: Option<TimeUnit>,
    /// Multiply values by FACTOR and round the products; values may then be fractions
    #[arg(long, help_heading = FOLDED, hide_short_help = true, value_name = "FACTOR", value_parser = parse_scale, allow_negative_numbers = true)]
    scale: Option<f64>,
    /// The boot time of the machine in nanoseconds since 1970, to compute timestamps
    #[arg(long, help_heading = PERF, hide_short_help = true, value_name = "NS", allow_negative_numbers = true)]
    boot_time: Option<u64>,
    /// Read the key=value fields of tracepoints as attributes
    #[arg(long, help_heading = PERF, hide_short_help = true)]
    trace_fields: bool,
    /// Whether timestamps mark the start or the end of events with a duration [default: start]
    #[arg(long, help_heading = "Options for events", hide_short_help = true, value_name = "start|end", hide_possible_values = true, value_parser = event_times())]
    event_time: Option<EventTime>,
    /// Name frames after points, or in detail like exported spans [default: names]
    #[arg(long, help_heading = OSPROFILER, hide_short_help = true, value_name = "names|detail", hide_possible_values = true,
          value_parser = PossibleValuesParser::new(["names", "detail"]))]
    frames: Option<String>,
    /// Keep all fields of a point except arguments, parameters and results
    #[arg(long, help_heading = OSPROFILER, hide_short_help = true)]
    all_info: bool,
    /// Keep arguments, parameters and results (perf-script: the recorded command), which may contain secrets
    #[arg(long, help_heading = OSPROFILER, hide_short_help = true)]
    secrets: bool,
    /// Make one profile of all traces of a service
    #[arg(long, help_heading = OSPROFILER, hide_short_help = true)]
    merge: bool,
    /// Make a second profile that counts the calls of points
    #[arg(long, help_heading = OSPROFILER, hide_short_help = true)]
    calls: bool,
}

impl SourceArgs {
    /// The `--type` flags.
    pub(crate) fn types(&self) -> &[(String, String)] {
        &self.types
    }

    /// Converts flags to options of the library. Absent flags leave the defaults, which mean "as
    /// the format specifies".
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

/// Whether a type is `--type all`.
pub(crate) fn is_all((name, unit): &(String, String)) -> bool {
    name == "all" && unit.is_empty()
}

/// Parses `cpu:nanoseconds`, or `cpu` with an empty unit.
fn parse_type(text: &str) -> Result<(String, String), String> {
    let (name, unit) = text.split_once(':').unwrap_or((text, ""));
    match name {
        "" => Err("expected a name, such as cpu:nanoseconds".to_owned()),
        name => Ok((name.to_owned(), unit.to_owned())),
    }
}

/// Parses a factor. Rejects 0, which would erase all values, and negative factors, which would turn
/// costs into gains.
fn parse_scale(text: &str) -> Result<f64, String> {
    let scale = text.parse::<f64>().ok().filter(|scale| scale.is_finite() && *scale > 0.0);
    scale.ok_or_else(|| "expected a number above 0".to_owned())
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

/// Finds the value with this name. The parser accepts only existing names.
fn by_name<T: Copy>(all: &'static [T], name_of: fn(T) -> &'static str, name: &str) -> T {
    let found = all.iter().copied().find(|one| name_of(*one) == name);
    found.unwrap_or(all[0])
}
