//! Options of writing, for the choices that a format leaves open.

use crate::limits::Limits;
use crate::model::profile::ProfileId;

/// Options of [`write()`](crate::write()): the choices that a format leaves open.
///
/// ```
/// use otlp_profiles::WriteOptions;
/// use otlp_profiles::format::StringEncoding;
///
/// let options = WriteOptions::default().string_encoding(StringEncoding::Dictionary).max_output_bytes(4 << 20);
/// assert_eq!(options.string_encoding, StringEncoding::Dictionary);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteOptions {
    /// How OTLP 1.10 stores the strings of resources, scopes and values.
    /// Readers of 1.10 differ in what they support: see [`Receiver`](crate::format::Receiver).
    pub string_encoding: StringEncoding,
    /// The order of rows and samples.
    pub layout: Layout,
    /// Whether OTLP contains `resource`, `scope` and `period_type` even if they are empty, for receivers
    /// that require them.
    pub empty_messages: bool,
    /// How pprof, which has no field for timestamps, stores them. Other formats accept only the default.
    pub timestamps: Timestamps,
    /// Whether pprof and folded stacks store links as the labels `trace_id` and `span_id`.
    /// True by default. If false, the writer drops links and reports a loss.
    pub links: bool,
    /// The profile id of the output. It is an error if there is more than one profile. If one profile becomes a profile for
    /// each of its types, the first type gets the id. If a generation requires an id and this is unset, the writer
    /// derives one from the content. Formats without ids reject this option.
    pub profile_id: Option<ProfileId>,
    /// Whether folded stacks carry attributes, links and timestamps after the value, in the form of OTEP 0239.
    /// Flame graph tools skip such lines. By default the writer drops the labels and reports a loss.
    pub folded_labels: bool,
    /// Whether speedscope gets a separate profile for each thread.
    pub by_thread: bool,
    /// The maximum size of the output in bytes.
    /// 512 MiB by default. [`write()`](crate::write()) returns an error beyond it.
    pub max_output_bytes: u64,
    /// The maximum size of the output per byte of the rows and samples in memory, in bytes.
    /// 32 by default; 32 MiB, or four times the strings, are always allowed. Formats that repeat names, such as folded
    /// stacks, take 5 to 20 for real profiles.
    pub max_output_per_byte: u64,
    /// The maximum number of samples after expanding timestamps to a sample each.
    /// 16 Mi by default. pprof stores a timestamp only as a label of its sample. If expansion exceeds this limit, a
    /// pprof omits the timestamps, with the code `timestamps.dropped`; OTLP up to 1.7 returns an error.
    pub max_expanded_samples: u64,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            string_encoding: StringEncoding::Inline,
            layout: Layout::Default,
            empty_messages: false,
            timestamps: Timestamps::Label,
            links: true,
            profile_id: None,
            folded_labels: false,
            by_thread: false,
            max_output_bytes: Limits::network().max_output_bytes,
            max_output_per_byte: 32,
            max_expanded_samples: 16 << 20,
        }
    }
}

impl WriteOptions {
    /// Returns the names of the options that are set and that only some formats accept, as
    /// listed by [`Format::options`](crate::Format::options).
    ///
    /// ```
    /// use otlp_profiles::{ErrorKind, Format, WriteOptions, read, write};
    /// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
    /// let options = WriteOptions::default().folded_labels(true);
    /// assert!(options.specified().eq(["folded-labels"]));
    /// let profiles = read(&bytes, &Default::default())?.profiles;
    /// // pprof does not accept it.
    /// assert_eq!(write(&profiles, Format::PPROF, &options).unwrap_err().kind(), ErrorKind::InvalidOption);
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn specified(&self) -> impl Iterator<Item = &'static str> + use<> {
        let given = [
            ("folded-labels", self.folded_labels),
            ("by", self.by_thread),
            ("timestamps", self.timestamps != Timestamps::Label),
            ("profile-id", self.profile_id.is_some()),
        ];
        given.into_iter().filter_map(|(name, given)| given.then_some(name))
    }
}

crate::limits::setters! { WriteOptions {
    string_encoding: StringEncoding,
    layout: Layout,
    empty_messages: bool,
    timestamps: Timestamps,
    links: bool,
    profile_id: impl Into<Option<ProfileId>>,
    folded_labels: bool,
    by_thread: bool,
    max_output_bytes: u64,
    max_output_per_byte: u64,
    max_expanded_samples: u64,
} }

/// How OTLP 1.10 stores the strings of resources, scopes and values. One choice applies to the whole payload.
///
/// OTLP 1.10 added `key_strindex` and `string_value_strindex` beside `key` and `string_value`
/// ([release notes](https://github.com/open-telemetry/opentelemetry-proto/releases/tag/v1.10.0)).
///
/// ```
/// use otlp_profiles::format::StringEncoding;
/// use otlp_profiles::{Format, WriteOptions, read, write};
/// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let profiles = read(&bytes, &Default::default())?.profiles;
/// let options = WriteOptions::default().string_encoding(StringEncoding::Dictionary);
/// let written = write(&profiles, Format::OTLP, &options)?;
/// // Both forms read back the same: a profile for each of the four sample types.
/// assert_eq!(read(&written.payload, &Default::default())?.profiles.iter().count(), 4);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StringEncoding {
    /// Inline, as in every generation.
    /// All readers support it.
    #[default]
    Inline,
    /// In the dictionary, which stores each string once.
    /// Smaller for payloads with many resources and scopes.
    Dictionary,
}

/// The order of table rows and samples in the output. It does not change the content. Formats of other tools
/// ignore it.
///
/// | | [`Default`](Self::Default) | [`Keep`](Self::Keep) | [`Compact`](Self::Compact) |
/// |---|---|---|---|
/// | samples | unchanged; in OTLP 1.3 to 1.7 by attributes, longest stacks first | unchanged | by attributes and stack |
/// | locations | unchanged; in OTLP 1.3 to 1.7 as `Compact` | most used first | by binary, function and line, most used first |
/// | functions, strings | as locations | unchanged | by file; by first use |
/// | stacks | unchanged | unchanged | as the call tree |
/// | unreferenced rows | kept | dropped, except mappings | dropped, except mappings |
/// | OTLP 1.8 and later: samples with value 0 | kept | kept | dropped from all but one profile, if one becomes several |
/// | OTLP: lists of one number | packed | packed | unpacked except the first of a profile, which every protobuf parser accepts |
///
/// A reader can observe the order of samples, which has no meaning, and the number of samples in each
/// single-column profile. [`write()`](crate::write()) joins such profiles again.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// use otlp_profiles::format::Layout;
/// use otlp_profiles::{Format, WriteOptions};
///
/// let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
/// let length = |layout| -> otlp_profiles::Result<usize> {
///     let options = WriteOptions::default().layout(layout);
///     Ok(otlp_profiles::write(&profiles, Format::OTLP, &options)?.payload.len())
/// };
/// assert!(length(Layout::Compact)? < length(Layout::Default)?);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Layout {
    /// The cheapest order to write: the existing order. OTLP 1.3 to 1.7, whose stacks are slices of one list,
    /// would be larger than necessary in that order, so the writer uses the order of [`Compact`](Self::Compact) there, without
    /// a walk of the call tree. Samples from the lines of a text (folded stacks, `perf script` …)
    /// keep their order.
    #[default]
    Default,
    /// Samples and rows in their existing order, except locations: those that stacks use most are first.
    Keep,
    /// The smallest output, before and after compression.
    Compact,
}

/// How pprof stores timestamps.
///
/// ```
/// use otlp_profiles::format::Timestamps;
/// use otlp_profiles::{Format, WriteOptions, read, write};
/// # let bytes = std::fs::read("testdata/otlp-1.11-timestamped-cpu.binpb").unwrap();
/// let profiles = read(&bytes, &Default::default())?.profiles;
/// let options = WriteOptions::default().timestamps(Timestamps::Drop);
/// let written = write(&profiles, Format::PPROF, &options)?;
/// assert!(written.losses.get("timestamps.dropped").is_some());
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Timestamps {
    /// One sample per timestamp, with the numeric label `end_timestamp_ns`.
    #[default]
    Label,
    /// Drop timestamps and add up the values.
    Drop,
}
