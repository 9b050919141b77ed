//! The versions of the schema. A field is in a range of them, so that a release which moves one adds a line here
//! and ends a range there.

/// A version of the schema: pprof, or a generation of OTLP profiles, by the opentelemetry-proto
/// release that introduced it. In the order in which they came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Version {
    /// Timestamped events, a proposal beside the others; it stands before them, where no range of
    /// versions has it.
    Events,
    /// google/pprof's `profile.proto`, which 1.3 extended: both have the same numbers up to 14.
    Pprof,
    /// OTEP 0239.
    V1_3,
    /// The container is gone, fields are renumbered.
    V1_4,
    V1_5,
    /// Tables in `ProfilesData`.
    V1_6,
    /// Tables in `ProfilesDictionary`.
    V1_7,
    /// One sample type a profile, a stack table, empty rows 0.
    V1_8,
    /// Comments and temporality are gone.
    V1_9,
    /// `Sample` is renumbered, keys and texts may be references.
    V1_10,
}

impl Version {
    /// All of them, in their order: a version's place here is its number.
    pub(crate) const ALL: [Self; NOW as usize + 1] = [
        Self::Events,
        Self::Pprof,
        Self::V1_3,
        Self::V1_4,
        Self::V1_5,
        Self::V1_6,
        Self::V1_7,
        Self::V1_8,
        Self::V1_9,
        Self::V1_10,
    ];
}

/// The newest version: what is in force ends with it.
pub(super) const NOW: Version = Version::V1_10;
