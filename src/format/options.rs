//! How to write where a format leaves a choice.

use crate::limits::Limits;
use crate::model::profile::ProfileId;

/// How to write where a format leaves a choice.
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
    /// How OTLP 1.10 says the texts of resources, scopes and values.
    /// Readers of 1.10 differ in what they understand: see [`Receiver`](crate::format::Receiver).
    pub string_encoding: StringEncoding,
    /// In which order rows and samples are written.
    pub layout: Layout,
    /// Whether OTLP has `resource`, `scope` and `period_type` even where they are empty, for receivers
    /// that read them without asking whether they are there.
    pub empty_messages: bool,
    /// How pprof, which has none, says timestamps; other formats take no other than the default.
    pub timestamps: Timestamps,
    /// Whether pprof and folded stacks say links as the labels `trace_id` and `span_id`.
    /// By default they do; false drops them, with a loss.
    pub links: bool,
    /// The id of the one profile: of several, it is an error. Where that becomes a profile for each of its types, the
    /// first type's has it. Where a generation requires an id and none is known, it
    /// is made from the content. Formats without ids do not take it.
    pub profile_id: Option<ProfileId>,
    /// Whether folded stacks carry attributes, links and timestamps behind the value, as OTEP 0239 shows them.
    /// Flame graph tools skip such lines, so by default they are dropped, with a loss.
    pub folded_labels: bool,
    /// Whether speedscope has a profile for each thread.
    pub by_thread: bool,
    /// The bytes a writer may produce.
    /// 512 MiB by default. Past them [`write()`](crate::write()) is an error.
    pub max_output_bytes: u64,
    /// The samples that timestamps may be expanded to where each needs one of its own.
    /// 16 Mi by default: pprof has no timestamps but as a label of a sample of its own. Where they would make more
    /// samples than this, they are left out of a pprof, with the code `timestamps.dropped`; OTLP up to 1.7 is an error.
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
            max_expanded_samples: 16 << 20,
        }
    }
}

impl WriteOptions {
    /// The names of the options that were given and that only some formats take, as
    /// [`Format::options`](crate::Format::options) has them.
    ///
    /// ```
    /// use otlp_profiles::{ErrorKind, Format, WriteOptions, read, write};
    /// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
    /// let options = WriteOptions::default().folded_labels(true);
    /// assert!(options.specified().eq(["folded-labels"]));
    /// let profiles = read(&bytes, &Default::default())?.profiles;
    /// // pprof does not take it.
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
    max_expanded_samples: u64,
} }

/// How OTLP 1.10 says the texts of resources, scopes and values: all of a payload in one way.
///
/// OTLP 1.10 added `key_strindex` and `string_value_strindex` beside `key` and `string_value`
/// ([what changed](https://github.com/open-telemetry/opentelemetry-proto/releases/tag/v1.10.0)).
///
/// ```
/// use otlp_profiles::format::StringEncoding;
/// use otlp_profiles::{Format, WriteOptions, read, write};
/// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let profiles = read(&bytes, &Default::default())?.profiles;
/// let options = WriteOptions::default().string_encoding(StringEncoding::Dictionary);
/// let written = write(&profiles, Format::OTLP, &options)?;
/// // Read back, both ways say the same: a profile for each of the four sample types.
/// assert_eq!(read(&written.payload, &Default::default())?.profiles.iter().count(), 4);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StringEncoding {
    /// In place, as every generation can.
    /// Readers of every kind understand it.
    #[default]
    Inline,
    /// By the dictionary, which says each text once.
    /// Smaller where resources and scopes are many.
    Dictionary,
}

/// In which order the rows of tables and the samples are written. What is said is the same; formats of
/// other tools take no notice.
///
/// | | [`Default`](Self::Default) | [`Keep`](Self::Keep) | [`Compact`](Self::Compact) |
/// |---|---|---|---|
/// | samples | in their order; in OTLP 1.3 to 1.7 by their attributes, the longest stacks first | in their order | by their attributes and stack |
/// | locations | in their order; in OTLP 1.3 to 1.7 as compact | the most used ones first | by binary, function and line, the most used ones first |
/// | functions, strings | the same | in their order | by file; as first used |
/// | stacks | in their order | in their order | as the tree of calls |
/// | rows that nothing refers to | stay | are left out, but for mappings | are left out, but for mappings |
/// | OTLP 1.8 and later: samples that are 0 | stay | stay | are left out of all but one profile, where one becomes several |
/// | OTLP: lists of one number | packed | packed | not packed but for the first of a profile, as every parser of protobuf takes them |
///
/// A reader could notice the order of samples, which has no meaning, and the number of samples in each
/// profile that is a column of one: [`write()`](crate::write()) puts them together again.
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
    /// What costs least: the order they have. Only OTLP 1.3 to 1.7, whose stacks are slices of one list,
    /// would be larger than need be: there it is that of [`Compact`](Self::Compact) without a walk
    /// through the tree of calls. Samples from the lines of a text (folded stacks, `perf script` …)
    /// stay in theirs.
    #[default]
    Default,
    /// Samples and rows as they are, but the locations that stacks use most first.
    Keep,
    /// What takes the fewest bytes, once they are compressed as well.
    Compact,
}

/// How pprof says timestamps.
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
    /// One sample for each, with the numeric label `end_timestamp_ns`.
    #[default]
    Label,
    /// Not at all; the values are added up.
    Drop,
}
