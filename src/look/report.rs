//! The contents of reports.

#[cfg(feature = "serde")]
use std::collections::BTreeMap;

#[cfg(feature = "serde")]
use serde::{Serialize, Serializer, ser::SerializeStruct};

#[cfg(feature = "serde")]
use crate::serialize::Number;

/// The facts above the rows of a report.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Header {
    /// The main binary, if all profiles are of one resource: the first of the mapping table.
    pub file: Option<String>,
    /// Its build id.
    pub build_id: Option<String>,
    /// The comments of the profiles.
    pub comments: Vec<String>,
    /// The name of the sample type.
    pub sample_type: String,
    /// The unit of all values.
    pub unit: String,
    /// The unit of printed values; `minimum` prints each value in the largest unit that fits.
    pub display_unit: String,
    /// The other sample types of the payload, with their units. The report leaves out their samples.
    #[cfg_attr(feature = "serde", serde(serialize_with = "types"))]
    pub other_types: Vec<(String, String)>,
    /// A page about the profile.
    pub doc_url: Option<String>,
    /// The earliest start, in nanoseconds since 1970; 0 if unknown.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::number"))]
    pub time_unix_nano: i128,
    /// The time from the earliest start to the latest end, in nanoseconds; 0 if unknown.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::number"))]
    pub duration_nanos: i128,
    /// The sum of absolute values: 100 %.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::number"))]
    pub total: i128,
    /// Whether values are means per first sample type.
    pub mean: bool,
    /// The filters as `name=expression`.
    pub filters: Vec<String>,
    /// The names of filters that matched nothing.
    pub unmatched_filters: Vec<&'static str>,
}

/// Whether calls of a function were inlined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
pub enum Inline {
    /// None was.
    #[default]
    No,
    /// Some were.
    Partial,
    /// All were.
    Yes,
}

/// A row: a function, or whatever [`By`](crate::look::By) groups by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Row {
    /// The printed name.
    pub name: String,
    /// The value of the row itself.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::number"))]
    pub flat: i128,
    /// The value of the row and of everything it calls. Recursion counts once.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::number"))]
    pub cum: i128,
    /// Whether its calls were inlined.
    pub inline: Inline,
}

/// The omissions of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trimmed {
    /// The sum of the flat values of all rows in the report.
    pub shown: i128,
    /// The number of rows dropped because their cumulative value is small.
    pub dropped: usize,
    /// The cumulative value that pprof prints as the limit: a share of the total.
    pub cutoff: i128,
    /// The number of rows before the limit on their number.
    pub rows: usize,
    /// The number of rows after it.
    pub kept: usize,
}

/// Values by row: see [`top`](crate::look::top()).
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Top {
    /// The facts above the rows.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub header: Header,
    /// The omissions.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub trimmed: Trimmed,
    /// The rows, sorted.
    pub rows: Vec<Row>,
}

/// Values by row, with callers and callees: see [`tree`](crate::look::tree()) and [`peek`](crate::look::peek()).
///
/// ```
/// use otlp_profiles::look::{self, Options};
///
/// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
/// let report = look::tree(&profiles, &Options::default())?;
/// assert!(report.text(None).contains("runtime.main"));
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Tree {
    /// The facts above the rows.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub header: Header,
    /// The omissions.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub trimmed: Trimmed,
    /// The rows, sorted.
    pub rows: Vec<TreeRow>,
}

/// A row with its calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TreeRow {
    /// The values.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub row: Row,
    /// The calls of the row, largest first.
    pub callers: Vec<Call>,
    /// The calls that the row makes, largest first.
    pub callees: Vec<Call>,
}

/// A call of one row by another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Call {
    /// The name of the other row.
    pub name: String,
    /// The value of the samples with the call, each counted once.
    #[cfg_attr(
        feature = "serde",
        serde(rename = "value", serialize_with = "crate::serialize::number")
    )]
    pub weight: i128,
    /// Whether the call was inlined wherever it occurs.
    #[cfg_attr(feature = "serde", serde(rename = "inline"))]
    pub is_inline: bool,
}

/// The stack of every sample: see [`traces`](crate::look::traces()).
///
/// ```
/// use otlp_profiles::look::{self, Options};
///
/// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
/// let report = look::traces(&profiles, &Options::default())?;
/// assert!(report.text(None).contains("runtime.main"));
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Traces {
    /// The facts above the stacks.
    pub header: Header,
    /// The samples with a stack, in the order of the payload.
    pub traces: Vec<Trace>,
    /// The sums of the positive and of the negative values of samples without a stack.
    pub without_stack: [i128; 2],
    /// The names of frames.
    pub(super) names: Vec<String>,
    /// By stack of the dictionary: the names of its frames and whether each was inlined.
    pub(super) stacks: Vec<Vec<(u32, bool)>>,
}

/// A sample: its value, its labels, and its stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trace {
    /// The value.
    pub value: i128,
    /// The labels, sorted: those with texts, then those with numbers.
    pub labels: Vec<(String, String)>,
    pub(super) stack: usize,
}

impl Traces {
    /// Returns the frames of a trace, leaf first: the name of each, and whether it was inlined into the next.
    ///
    /// ```
    /// use otlp_profiles::look::{self, Options};
    /// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
    /// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
    /// let traces = look::traces(&profiles, &Options::default())?;
    /// let (root, _) = traces.frames(&traces.traces[1]).last().unwrap();
    /// assert_eq!(root, "runtime.main");
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn frames(&self, trace: &Trace) -> impl ExactSizeIterator<Item = (&str, bool)> {
        let stack = self.stacks.get(trace.stack).map_or(&[][..], |stack| stack);
        stack.iter().map(|(name, is_inline)| (&*self.names[*name as usize], *is_inline))
    }
}

/// Serialises sample types as `{"type", "unit"}`.
#[cfg(feature = "serde")]
fn types<S: Serializer>(types: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(
        types.iter().map(|(name, unit)| BTreeMap::from([("type", name), ("unit", unit)])),
    )
}

/// With the counts of the rows that are not in the report.
#[cfg(feature = "serde")]
impl Serialize for Trimmed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Trimmed", 3)?;
        object.serialize_field("shown", &Number(self.shown))?;
        object.serialize_field("small_rows", &self.dropped)?;
        object.serialize_field("further_rows", &(self.rows - self.kept))?;
        object.end()
    }
}

/// With the frames of each trace, leaf first. Traces and frames are made one by one: together they may be as large as the
/// document.
#[cfg(feature = "serde")]
impl Serialize for Traces {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Document<'a, T: Serialize> {
            #[serde(flatten)]
            header: &'a Header,
            traces: T,
        }
        #[derive(Serialize)]
        struct Sample<'a, T: Serialize> {
            value: Number,
            labels: BTreeMap<&'a str, &'a str>,
            frames: T,
        }
        #[derive(Serialize)]
        struct Frame<'a> {
            name: &'a str,
            inline: bool,
        }
        let frame = |(name, inline)| Frame { name, inline };
        let traces = Each(|| {
            self.traces.iter().map(|trace| Sample {
                value: Number(trace.value),
                labels: trace.labels.iter().map(|(key, text)| (&**key, &**text)).collect(),
                frames: Each(|| self.frames(trace).map(frame)),
            })
        });
        Document { header: &self.header, traces }.serialize(serializer)
    }
}

/// Serialises the elements of an iterator as a list.
#[cfg(feature = "serde")]
struct Each<F>(F);

#[cfg(feature = "serde")]
impl<I: Iterator<Item: Serialize>, F: Fn() -> I> Serialize for Each<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0())
    }
}
