//! What the formats of other tools leave to be said by whoever has them read.

use crate::limits::setters;

/// What the formats of other tools leave to be said: what values measure, which dialect it is.
///
/// Each option is taken by some formats ([`Format::options`](crate::Format::options) says which), and is an error of kind
/// [`ErrorKind::InvalidOption`](crate::ErrorKind::InvalidOption) where another is read.
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
    /// `type`: what each column of values measures, and its unit; else `samples` in `count`.
    pub sample_types: Vec<(String, String)>,
    /// `columns`: how many numbers end each line; 0 is as many as there are sample types, or one.
    pub columns: usize,
    /// `dialect`: what frames and headers hold besides names; an error where no line is of it.
    pub dialect: Option<Dialect>,
    /// `annotations`: whether the endings `_[k]`, `_[i]` and `_[j]` of frames say that they are of
    /// the kernel, inlined, or compiled just in time.
    pub annotations: bool,
    /// `timestamp-unit`: the unit of timestamps; else each is told by its digits.
    pub timestamp_unit: Option<TimeUnit>,
    /// `scale`: what values are multiplied by, which need not be whole then: a number above 0. The
    /// result is rounded, halves away from 0; where that changes it, it is `value.rounded`.
    pub scale: Option<f64>,
    /// `boot-time`: when the machine was started, in nanoseconds since 1970: times that count from
    /// there become timestamps.
    pub boot_time: Option<u64>,
    /// `trace-fields`: whether what tracepoints say as `key=value` becomes attributes.
    pub trace_fields: bool,
    /// `event-time`: what the time of an event is that has a duration; else its start.
    pub event_time: Option<EventTime>,
    /// `frames`: whether frames are called as the spans that are exported for them, not by the names
    /// of points.
    pub detail_frames: bool,
    /// `all-info`: whether all that is known of a point becomes attributes, not only what there are
    /// conventions for; but no secrets.
    pub all_info: bool,
    /// `secrets`: whether what may hold secrets becomes attributes: arguments, parameters and results,
    /// the command that was recorded.
    pub secrets: bool,
    /// `merge`: whether the traces of a service are one profile.
    pub merge: bool,
    /// `calls`: whether a second profile counts the calls of points.
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
    /// With another sample type: the next column is of it.
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

    /// The names of the options that were given, as [`Format::options`](crate::Format::options) has them.
    /// A reader that takes none of these refuses them before it reads.
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

    /// What column `at` measures, and its unit.
    pub(crate) fn type_of(&self, at: usize) -> (&str, &str) {
        let given = self.sample_types.get(at);
        given.map_or(("samples", "count"), |(name, unit)| (name.as_str(), unit.as_str()))
    }
}

/// What frames and headers of folded stacks hold besides names.
/// Else frames are names and nothing more.
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
    /// py-spy: `name (file.py:28)`, and the thread as the first frame.
    PySpy,
    /// austin: `P28897;T0:28897;file.py:name:28`, and a header.
    Austin,
}

impl Dialect {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::PySpy, Self::Austin];

    /// The name it is asked for by: `py-spy`.
    pub fn name(self) -> &'static str {
        match self {
            Self::PySpy => "py-spy",
            Self::Austin => "austin",
        }
    }
}

/// What the time of an event is that has a duration: its proposal says the end of those without one.
///
/// ```
/// use otlp_profiles::format::{EventTime, SourceOptions};
/// let source = SourceOptions::default().event_time(EventTime::End);
/// assert!(source.specified().eq(["event-time"]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EventTime {
    /// When it began.
    Start,
    /// When it ended.
    End,
}

impl EventTime {
    /// Both of them.
    pub const ALL: &'static [Self] = &[Self::Start, Self::End];

    /// The name it is asked for by: `start`.
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
    /// All of them.
    pub const ALL: &'static [Self] =
        &[Self::Seconds, Self::Milliseconds, Self::Microseconds, Self::Nanoseconds];

    /// The name it is asked for by: `ms`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::Microseconds => "us",
            Self::Nanoseconds => "ns",
        }
    }

    /// The unit of a name that profilers give it.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "s" | "seconds" => Self::Seconds,
            "ms" | "milliseconds" => Self::Milliseconds,
            "us" | "μs" | "µs" | "microseconds" => Self::Microseconds,
            "ns" | "nanoseconds" => Self::Nanoseconds,
            _ => return None,
        })
    }

    /// The nanoseconds in one.
    pub(crate) fn nanos(self) -> u64 {
        match self {
            Self::Seconds => 1_000_000_000,
            Self::Milliseconds => 1_000_000,
            Self::Microseconds => 1_000,
            Self::Nanoseconds => 1,
        }
    }

    /// The unit of a time since 1970 written with so many digits.
    /// Seconds since 1970 have ten digits until the year 2286.
    pub(crate) fn of_digits(digits: usize) -> Self {
        match digits {
            0..=10 => Self::Seconds,
            11..=13 => Self::Milliseconds,
            14..=16 => Self::Microseconds,
            _ => Self::Nanoseconds,
        }
    }
}
