//! Versions of the schema. Each field has a range of versions. A release that moves a field ends one range and
//! begins another.

/// Declares the versions with their names, oldest first.
macro_rules! versions {
    ($($(#[$doc:meta])* $version:ident $name:literal)*) => {
        /// A version of the schema: pprof, or a generation of OTLP profiles, named after the opentelemetry-proto
        /// release that introduced it. Variants are in chronological order.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Version {
            $($(#[$doc])* $version,)*
        }

        impl Version {
            /// All versions in chronological order. The index of a version is its discriminant.
            pub(crate) const ALL: [Self; NOW as usize + 1] = [$(Self::$version,)*];

            /// Returns the name of the format, such as `otlp-1.10`.
            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $(Self::$version => $name,)*
                }
            }
        }
    };
}

versions! {
    /// Timestamped events, a separate proposal. It precedes the other versions, so that no range of versions
    /// includes it.
    Events "events"
    /// google/pprof's `profile.proto`. 1.3 extended it: both have the same numbers up to 14.
    Pprof "pprof"
    /// OTEP 0239.
    V1_3 "otlp-1.3"
    /// Removes the container and renumbers fields.
    V1_4 "otlp-1.4"
    V1_5 "otlp-1.5"
    /// Moves the tables to `ProfilesData`.
    V1_6 "otlp-1.6"
    /// Moves the tables to `ProfilesDictionary`.
    V1_7 "otlp-1.7"
    /// One sample type per profile, a stack table, and row 0 of every table is empty.
    V1_8 "otlp-1.8"
    /// Removes comments and temporality.
    V1_9 "otlp-1.9"
    /// Renumbers `Sample`. Keys and strings may be references.
    V1_10 "otlp-1.10"
}

/// The newest version. Ranges of current fields end with it.
pub(crate) const NOW: Version = Version::V1_10;
