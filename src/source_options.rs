//! Options for reading formats of other tools, which omit facts that only the user can supply.

use crate::limits::setters;

/// Facts that formats of other tools omit, such as the sample type of the values and the dialect.
///
/// Each option applies to some formats: see [`Format::options`](crate::Format::options). For other formats it
/// is an error of kind [`ErrorKind::InvalidOption`](crate::ErrorKind::InvalidOption).
///
/// ```
/// use otlp_profiles::format::SourceOptions;
/// use otlp_profiles::{Format, ReadOptions, read};
///
/// let source = SourceOptions::default().sample_type("cpu", "nanoseconds");
/// let options = ReadOptions::default().source(source);
/// let profiles = read(b"main;run;poll 42\nmain;idle 7\n", &options)?.profiles;
/// let kind = profiles.iter().next().unwrap().sample_types()[0];
/// assert_eq!(profiles.dictionary().text(kind.name), "cpu");
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SourceOptions {
    /// `type`: the name and unit of the sample type of each column of values; `samples` in `count` by
    /// default.
    pub sample_types: Vec<(String, String)>,
    /// `columns`: the number of values at the end of each line. 0 means as many as there are sample types, or
    /// one.
    pub columns: usize,
    /// `dialect`: the contents of frames and headers besides names. It is an error if no line is in this
    /// dialect.
    pub dialect: Option<Dialect>,
    /// `annotations`: whether the suffixes `_[k]`, `_[i]` and `_[j]` of frames mark kernel, inlined and
    /// just-in-time compiled code.
    pub annotations: bool,
    /// `timestamp-unit`: the unit of timestamps. By default it is inferred from the number of digits of each.
    pub timestamp_unit: Option<TimeUnit>,
    /// `scale`: the factor for values, greater than 0. With a factor, values need not be integers. The result
    /// is rounded, halves away from 0; if rounding changes it, the reader reports `value.rounded`.
    pub scale: Option<f64>,
    /// `boot-time`: when the machine started, in nanoseconds since 1970. Times counted from boot then become
    /// timestamps.
    pub boot_time: Option<u64>,
    /// `trace-fields`: whether `key=value` fields of tracepoints become attributes.
    pub trace_fields: bool,
    /// `event-time`: whether the time of an event with a duration is its start or its end; the start by
    /// default.
    pub event_time: Option<EventTime>,
    /// `frames`: whether frames have the names of the exported spans instead of the names of trace points.
    pub detail_frames: bool,
    /// `all-info`: whether all data of a trace point becomes attributes, not only data with a semantic
    /// convention. Does not include secrets.
    pub all_info: bool,
    /// `secrets`: whether data that may contain secrets becomes attributes: arguments, parameters, results,
    /// and the recorded command.
    pub secrets: bool,
    /// `merge`: whether the traces of a service become one profile.
    pub merge: bool,
    /// `calls`: whether to add a second profile that counts the calls of trace points.
    pub calls: bool,
}

setters! { SourceOptions {
    columns: usize,
    dialect: impl Into<Option<Dialect>>,
    annotations: bool,
    timestamp_unit: impl Into<Option<TimeUnit>>,
    scale: impl Into<Option<f64>>,
    boot_time: impl Into<Option<u64>>,
    trace_fields: bool,
    event_time: impl Into<Option<EventTime>>,
    detail_frames: bool,
    all_info: bool,
    secrets: bool,
    merge: bool,
    calls: bool,
} }

impl SourceOptions {
    /// Adds a sample type, for the next column.
    ///
    /// ```
    /// use otlp_profiles::format::SourceOptions;
    /// let source = SourceOptions::default().sample_type("alloc_objects", "count").sample_type("alloc_space", "bytes");
    /// assert_eq!(source.sample_types.len(), 2);
    /// ```
    #[must_use]
    pub fn sample_type(mut self, name: impl Into<String>, unit: impl Into<String>) -> Self {
        self.sample_types.push((name.into(), unit.into()));
        self
    }

    /// Returns the names of the options that are set, as in [`Format::options`](crate::Format::options). A
    /// reader that does not support one of them returns an error before it reads.
    ///
    /// ```
    /// use otlp_profiles::format::SourceOptions;
    /// assert!(SourceOptions::default().columns(2).specified().eq(["columns"]));
    /// ```
    pub fn specified(&self) -> impl Iterator<Item = &'static str> + use<> {
        let Self { sample_types, columns, dialect, annotations, timestamp_unit, scale, .. } = self;
        [
            ("type", !sample_types.is_empty()),
            ("columns", *columns != 0),
            ("dialect", dialect.is_some()),
            ("annotations", *annotations),
            ("timestamp-unit", timestamp_unit.is_some()),
            ("scale", scale.is_some()),
            ("boot-time", self.boot_time.is_some()),
            ("trace-fields", self.trace_fields),
            ("event-time", self.event_time.is_some()),
            ("frames", self.detail_frames),
            ("all-info", self.all_info),
            ("secrets", self.secrets),
            ("merge", self.merge),
            ("calls", self.calls),
        ]
        .into_iter()
        .filter_map(|(name, given)| given.then_some(name))
    }

    /// Returns the name and unit of the sample type of column `at`.
    pub(crate) fn type_of(&self, at: usize) -> (&str, &str) {
        let given = self.sample_types.get(at);
        given.map_or(("samples", "count"), |(name, unit)| (name.as_str(), unit.as_str()))
    }
}

/// The contents of frames and headers of folded stacks besides names. Without a dialect, frames are plain
/// names.
///
/// ```
/// use otlp_profiles::format::{Dialect, SourceOptions};
/// use otlp_profiles::{Format, ReadOptions, read};
///
/// let options = ReadOptions::default()
///     .format(Format::FOLDED)
///     .source(SourceOptions::default().dialect(Dialect::PySpy));
/// let profiles = read(b"main (app.py:3);work (app.py:28) 7\n", &options)?.profiles;
/// let dictionary = profiles.dictionary();
/// let names: Vec<&str> = dictionary.functions().iter().map(|f| dictionary.text(f.name)).collect();
/// assert!(names.contains(&"work"));
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// py-spy: `name (file.py:28)`, with the thread as the first frame.
    PySpy,
    /// austin: `P28897;T0:28897;file.py:name:28`, with a header.
    Austin,
}

impl Dialect {
    /// All dialects.
    pub const ALL: &'static [Self] = &[Self::PySpy, Self::Austin];

    /// Returns the name of the dialect, such as `py-spy`.
    pub fn name(self) -> &'static str {
        match self {
            Self::PySpy => "py-spy",
            Self::Austin => "austin",
        }
    }
}

/// The meaning of the time of an event with a duration. The proposal defines only the time of events without
/// a duration: their end.
///
/// ```
/// use otlp_profiles::format::{EventTime, SourceOptions};
/// let source = SourceOptions::default().event_time(EventTime::End);
/// assert!(source.specified().eq(["event-time"]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EventTime {
    /// The time at which the event began.
    Start,
    /// The time at which the event ended.
    End,
}

impl EventTime {
    /// Both meanings.
    pub const ALL: &'static [Self] = &[Self::Start, Self::End];

    /// Returns the name of the meaning, such as `start`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::End => "end",
        }
    }
}

/// The unit of timestamps.
///
/// ```
/// use otlp_profiles::format::TimeUnit;
/// assert!(TimeUnit::ALL.iter().map(|unit| unit.name()).eq(["s", "ms", "us", "ns"]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TimeUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Nanoseconds.
    Nanoseconds,
}

impl TimeUnit {
    /// All units.
    pub const ALL: &'static [Self] =
        &[Self::Seconds, Self::Milliseconds, Self::Microseconds, Self::Nanoseconds];

    /// Returns the name of the unit, such as `ms`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::Microseconds => "us",
            Self::Nanoseconds => "ns",
        }
    }

    /// Returns the number of nanoseconds in one unit.
    pub(crate) fn nanos(self) -> u64 {
        match self {
            Self::Seconds => 1_000_000_000,
            Self::Milliseconds => 1_000_000,
            Self::Microseconds => 1_000,
            Self::Nanoseconds => 1,
        }
    }

    /// Infers the unit of a time since 1970 from its number of digits. Seconds since 1970 have ten digits
    /// until the year 2286.
    pub(crate) fn of_digits(digits: usize) -> Self {
        match digits {
            0..=10 => Self::Seconds,
            11..=13 => Self::Milliseconds,
            14..=16 => Self::Microseconds,
            _ => Self::Nanoseconds,
        }
    }
}
