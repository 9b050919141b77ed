//! The versions of the schema. A field is in a range of them, so that a release which moves one adds a line here
//! and ends a range there.

/// Declares the versions, oldest first, with their names.
macro_rules! versions {
    ($($(#[$doc:meta])* $version:ident $name:literal)*) => {
        /// A version of the schema: pprof, or a generation of OTLP profiles, by the opentelemetry-proto
        /// release that introduced it. In the order in which they came to be.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Version {
            $($(#[$doc])* $version,)*
        }

        impl Version {
            /// All of them, in their order: a version's place here is its number.
            pub(crate) const ALL: [Self; NOW as usize + 1] = [$(Self::$version,)*];

            /// `otlp-1.10`: the name of the format.
            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $(Self::$version => $name,)*
                }
            }
        }
    };
}

versions! {
    /// Timestamped events, a proposal beside the others; it stands before them, where no range of
    /// versions has it.
    Events "events"
    /// google/pprof's `profile.proto`, which 1.3 extended: both have the same numbers up to 14.
    Pprof "pprof"
    /// OTEP 0239.
    V1_3 "otlp-1.3"
    /// The container is gone, fields are renumbered.
    V1_4 "otlp-1.4"
    V1_5 "otlp-1.5"
    /// Tables in `ProfilesData`.
    V1_6 "otlp-1.6"
    /// Tables in `ProfilesDictionary`.
    V1_7 "otlp-1.7"
    /// One sample type a profile, a stack table, empty rows 0.
    V1_8 "otlp-1.8"
    /// Comments and temporality are gone.
    V1_9 "otlp-1.9"
    /// `Sample` is renumbered, keys and texts may be references.
    V1_10 "otlp-1.10"
}

/// The newest version: what is in force ends with it.
pub(super) const NOW: Version = Version::V1_10;
