//! Facts that differ between versions. Readers and writers branch on them by name.
//!
//! Nearly all of them follow from the tables of fields. For example, a version with `Mapping.has_functions` has
//! flags of mappings. Code tests `G::CAPABILITIES.mapping_flags`, and the compiler removes the branch.

use super::common::*;
use super::field::{Role, Table};
use super::profiles::*;
use super::version::Version;
use crate::wire::{FIXED64, LEN, tag};

/// The message that holds the lookup tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableLocation {
    /// Every profile has its own tables: pprof, and 1.3 to 1.5. The reader merges them into one dictionary.
    Profile,
    /// `ProfilesData`: 1.6. An export request of that version refers to tables that it cannot carry.
    Data,
    /// `ProfilesDictionary`, beside the list of resources: since 1.7.
    Dictionary,
}

/// The meaning of references to table rows.
///
/// It is the only difference between versions that no field number shows. `tests/roundtrip.rs` converts each
/// version to each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rows {
    /// Row 0 is a regular row, and an omitted reference refers to it: 1.3, and pprof's ids while they are read as
    /// indices. Addresses have to show whether 0 means row 0 or no row.
    FromZero,
    /// Row 0 is a regular row. References to mappings and links have presence (`optional`): 1.4 to 1.7.
    Presence,
    /// Row 0 of every table is the empty row, even if the table is omitted: since 1.8.
    NullFirst,
}

impl TableLocation {
    /// Derives the place of the tables from the tables of fields.
    const fn of(version: Version) -> Self {
        if PROFILE.number(version, "string_table") != 0 {
            Self::Profile
        } else if PROFILES_DATA.number(version, "string_table") != 0 {
            Self::Data
        } else {
            Self::Dictionary
        }
    }
}

impl Rows {
    /// Returns the meaning of references in a version.
    const fn of(version: Version) -> Self {
        use Version::*;
        match version {
            Pprof | V1_3 => Self::FromZero,
            Events | V1_4 | V1_5 | V1_6 | V1_7 => Self::Presence,
            V1_8 | V1_9 | V1_10 => Self::NullFirst,
        }
    }

    /// Returns how many rows of a table have an index of one byte, without the empty row 0.
    pub(crate) const fn of_one_byte(self) -> usize {
        match self {
            Self::NullFirst => 127,
            Self::FromZero | Self::Presence => 128,
        }
    }
}

/// Declares [`Capabilities`]: documented facts, and facts that the presence of a field decides.
macro_rules! capabilities {
    ($($(#[$doc:meta])* $fact:ident: $message:ident $key:literal,)*) => {
        /// Constant facts of a version.
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct Capabilities {
            /// The message that holds the lookup tables.
            pub(crate) table_location: TableLocation,
            /// The meaning of references to table rows.
            pub(crate) rows: Rows,
            /// A profile may have several sample types, and a sample one value for each. Otherwise it has one type,
            /// and a sample one value for each timestamp.
            pub(crate) several_sample_types: bool,
            /// Timestamps are fixed64, which are copied. Otherwise they are varints.
            pub(crate) fixed_timestamps: bool,
            /// Writers set the ids of rows to their numbers, counted from 1.
            pub(crate) numbered_rows: bool,
            /// Frame types have the names of OTEP 0239.
            pub(crate) old_frame_types: bool,
            /// A profile's time is fixed64 and its duration uint64. Otherwise both are int64 and may be negative.
            pub(crate) unsigned_time: bool,
            $($(#[$doc])* pub(crate) $fact: bool,)*
        }

        impl Capabilities {
            const fn of(version: Version) -> Self {
                Self {
                    table_location: TableLocation::of(version),
                    rows: Rows::of(version),
                    several_sample_types: match PROFILE.field(version, "sample_type") {
                        Some(field) => field.is_repeated(),
                        None => false,
                    },
                    fixed_timestamps: SAMPLE.tag(version, "timestamps_unix_nano") & 7 == FIXED64,
                    numbered_rows: matches!(version, Version::Events | Version::Pprof),
                    old_frame_types: matches!(version, Version::V1_3),
                    unsigned_time: PROFILE.tag(version, "time_unix_nano") & 7 == FIXED64,
                    $($fact: $message.number(version, $key) != 0,)*
                }
            }
        }
    };
}

capabilities! {
    /// Containers hold the times, ids and attributes of profiles.
    containers: PROFILE_CONTAINER "profile",
    /// Stacks are rows of a table. Otherwise a sample has a slice of its profile's locations, or a separate list.
    stack_table: PROFILES_DICTIONARY "stack_table",
    /// Rows of mappings, locations and functions have ids.
    ids: MAPPING "id",
    /// Samples have labels.
    labels: SAMPLE "label",
    stacktrace_ids: SAMPLE "stacktrace_id_index",
    /// A row of the attribute table has a unit. Otherwise a table has one unit for each key.
    attribute_units: KEY_VALUE_AND_UNIT "unit_strindex",
    /// A profile refers to rows of the attribute table. Otherwise its attributes are in place.
    profile_attribute_rows: PROFILE "attribute_indices",
    /// The default sample type is a string.
    default_by_name: PROFILE "default_sample_type_strindex",
    /// The default sample type is the number of a column.
    default_by_column: PROFILE "default_sample_type_index",
    comments: PROFILE "comment_strindices",
    drop_frames: PROFILE "drop_frames",
    keep_frames: PROFILE "keep_frames",
    temporality: VALUE_TYPE "aggregation_temporality",
    /// `has_functions` and the three flags after it.
    mapping_flags: MAPPING "has_functions",
    build_ids: MAPPING "build_id",
    folded_locations: LOCATION "is_folded",
    frame_types: LOCATION "type_index",
    entities: RESOURCE "entity_refs",
    /// Keys and strings of values may refer to the string table.
    string_references: ANY_VALUE "string_value_strindex",
}

impl Version {
    /// The facts of every version, in the order of [`Version::ALL`].
    pub(crate) const CAPABILITIES: [Capabilities; Self::ALL.len()] = {
        let mut all = [Capabilities::of(Self::Events); Self::ALL.len()];
        let mut row = 1;
        while row < all.len() {
            all[row] = Capabilities::of(Self::ALL[row]);
            row += 1;
        }
        all
    };

    /// Returns the facts of this version.
    pub(crate) const fn capabilities(self) -> &'static Capabilities {
        &Self::CAPABILITIES[self as usize]
    }

    /// Returns the number of a lookup table in the message that holds it, or 0 if the version has no such table.
    pub(crate) const fn table(self, table: Table) -> u32 {
        let mut row = 0;
        let fields = match TableLocation::of(self) {
            TableLocation::Profile => PROFILE.fields,
            TableLocation::Data => PROFILES_DATA.fields,
            TableLocation::Dictionary => PROFILES_DICTIONARY.fields,
        };
        while row < fields.len() {
            if let Role::Row(of) = fields[row].role
                && of as u8 == table as u8
                && fields[row].is_in(self)
            {
                return fields[row].number;
            }
            row += 1;
        }
        0
    }

    /// Returns the tag of a row of a lookup table, or 0 if the version has no such table.
    pub(crate) const fn table_tag(self, table: Table) -> u32 {
        match self.table(table) {
            0 => 0,
            number => tag(number, LEN),
        }
    }
}
