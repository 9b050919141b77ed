//! The field numbers of each generation, as constants for the code of its reader and writer.
//!
//! The numbers come from the tables in [`crate::schema`], looked up by name when the crate is
//! compiled; 0 says that the generation has no such field. The reader and the writer are generic
//! over a [`Generation`], so the numbers are immediates of the machine code, and what a generation
//! lacks costs nothing.
//!
//! The rows are those of the `.proto` files in `proto/`: `src/schema/tests.rs` compares the tables
//! with their compiled descriptors in both directions, so a wrong number here is a failing test and
//! not a wrong payload. A key that no version has does not compile.

use crate::format::otlp::numbers::{
    AnyValue, ArrayValue, AttributeUnit, Container, Data, EntityRef, Function, KeyValue,
    KeyValueAndUnit, KeyValueList, Label, Line, Link, Location, Mapping, Profile, Resource,
    ResourceProfiles, Sample, Scope, ScopeProfiles, Stack, ValueType,
};
use crate::schema::{self, Kind, MessageType, Version};

/// One generation: its field numbers, and how it says what all say.
///
/// Built by the compiler from [`crate::schema`], once for each [`Generation`]. Code asks it inside `const`
/// expressions or conditions that the compiler decides: `if G::SCHEMA.tables.stack == 0 { … }` leaves no
/// branch in the machine code of a generation.
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    /// The row of the tables it was made from: whose names errors and unknown fields are told by.
    pub(crate) version: Version,
    /// `otlp-1.10`.
    pub name: &'static str,
    /// Where the lookup tables live.
    pub home: Home,
    /// How table rows are referred to.
    pub rows: Rows,
    /// Numbers in the message that [`home`](Self::home) names.
    pub tables: Tables,
    /// All 0 but in OTEP 0239: whether it has a `profile` says whether there is a container.
    pub container: Container,
    pub profile: Profile,
    pub sample: Sample,
    pub mapping: Mapping,
    pub location: Location,
    pub function: Function,
    pub line: Line,
    pub link: Link,
    pub stack: Stack,
    pub label: Label,
    pub value_type: ValueType,
    pub data: Data,
    pub resource_profiles: ResourceProfiles,
    pub scope_profiles: ScopeProfiles,
    pub resource: Resource,
    pub entity_ref: EntityRef,
    pub scope: Scope,
    pub key_value: KeyValue,
    pub key_value_and_unit: KeyValueAndUnit,
    pub attribute_unit: AttributeUnit,
    pub any_value: AnyValue,
    pub array_value: ArrayValue,
    pub key_value_list: KeyValueList,
    /// Whether timestamps are fixed64, not varints.
    /// Fixed since 1.8: eight bytes each, which are copied rather than decoded.
    pub has_fixed_timestamps: bool,
    /// Whether a profile's time is fixed64 and its duration uint64, not int64 both.
    /// Since 1.8. Before it, a time is as pprof has it and may be negative.
    pub has_unsigned_time: bool,
}

/// Where the lookup tables live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// In every profile.
    /// 1.3 to 1.5. Ids of one profile mean nothing in another; what is read is merged into one dictionary.
    Profile,
    /// In `ProfilesData` itself, which export requests lack.
    /// 1.6. A request of that generation refers to tables that it cannot carry.
    Data,
    /// In `ProfilesDictionary`, field 2.
    /// Since 1.7, beside the list of resources.
    Dictionary,
}

/// How table rows are referred to.
///
/// It is the one difference between generations that no field number shows: `tests/it/roundtrip.rs` has each
/// converted to each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Row 0 is a row like any other, and a reference left out is a reference to it.
    /// 1.3, and pprof's ids while they are read as indices. What 0 means has to be guessed from addresses.
    FromZero,
    /// Row 0 is a row like any other; mapping and link references say whether they are there.
    /// 1.4 to 1.7: `optional` in the proto.
    Presence,
    /// Row 0 of every table is the empty row.
    /// Since 1.8. A table that is left out has that row all the same.
    NullFirst,
}

/// The tables, in the message that holds them.
///
/// [`Schema::home`] says which message that is.
#[derive(Clone, Copy, Debug)]
pub struct Tables {
    /// Each 0 where the generation lacks the table, or keeps it in another message.
    pub mapping: u32,
    pub location: u32,
    pub function: u32,
    pub link: u32,
    pub string: u32,
    /// Rows are `KeyValue`s up to 1.7, `KeyValueAndUnit`s since.
    pub attribute: u32,
    /// `AttributeUnit`s: units by key. Where absent, an attribute carries its unit.
    pub attribute_units: u32,
    /// Where absent, samples refer to slices of `Profile.location_indices`.
    pub stack: u32,
}

impl Tables {
    /// Looks the keys up in the message of `home`; a key that no version has does not compile.
    const fn of(version: Version, home: Home) -> Self {
        let message = match home {
            Home::Profile => &schema::PROFILE,
            Home::Data => &schema::PROFILES_DATA,
            Home::Dictionary => &schema::PROFILES_DICTIONARY,
        };
        Self {
            mapping: message.number(version, "mapping_table"),
            location: message.number(version, "location_table"),
            function: message.number(version, "function_table"),
            link: message.number(version, "link_table"),
            string: message.number(version, "string_table"),
            attribute: message.number(version, "attribute_table"),
            attribute_units: message.number(version, "attribute_units"),
            stack: schema::PROFILES_DICTIONARY.number(version, "stack_table"),
        }
    }
}

impl Schema {
    /// What the tables say of a version.
    pub(crate) const fn of(name: &'static str, version: Version) -> Self {
        let home = if schema::PROFILE.number(version, "string_table") != 0 {
            Home::Profile
        } else if schema::PROFILES_DATA.number(version, "string_table") != 0 {
            Home::Data
        } else {
            Home::Dictionary
        };
        Self {
            version,
            name,
            home,
            rows: Rows::of(version),
            tables: Tables::of(version, home),
            container: Container::of(version),
            profile: Profile::of(version),
            sample: Sample::of(version),
            mapping: Mapping::of(version),
            location: Location::of(version),
            function: Function::of(version),
            line: Line::of(version),
            link: Link::of(version),
            stack: Stack::of(version),
            label: Label::of(version),
            value_type: ValueType::of(version),
            data: Data::of(version),
            resource_profiles: ResourceProfiles::of(version),
            scope_profiles: ScopeProfiles::of(version),
            resource: Resource::of(version),
            entity_ref: EntityRef::of(version),
            scope: Scope::of(version),
            key_value: KeyValue::of(version),
            key_value_and_unit: KeyValueAndUnit::of(version),
            attribute_unit: AttributeUnit::of(version),
            any_value: AnyValue::of(version),
            array_value: ArrayValue::of(version),
            key_value_list: KeyValueList::of(version),
            has_fixed_timestamps: is_fixed(&schema::SAMPLE, version, "timestamps_unix_nano"),
            has_unsigned_time: is_fixed(&schema::PROFILE, version, "time_unix_nano"),
        }
    }

    /// Whether a profile has one sample type, and cannot have several.
    /// The stack table came in the same release, so it tells.
    pub(crate) const fn has_one_sample_type(&self) -> bool {
        self.tables.stack != 0
    }

    /// Whether a profile's default sample type is a string index, not a column's number.
    pub(crate) const fn has_default_by_name(&self) -> bool {
        self.profile.default_by_name != 0
    }
}

/// Whether the field of this key is a fixed64 in the version.
const fn is_fixed(message: &MessageType, version: Version, key: &str) -> bool {
    let field = message.field(version, key);
    matches!(field, Some(field) if matches!(field.kind, Kind::Fixed64))
}

impl Rows {
    pub(crate) const fn of(version: Version) -> Self {
        use Version::*;
        match version {
            Pprof | V1_3 => Self::FromZero,
            Events | V1_4 | V1_5 | V1_6 | V1_7 => Self::Presence,
            V1_8 | V1_9 | V1_10 => Self::NullFirst,
        }
    }

    /// How many rows of a table have an index of one byte, the empty row 0 not counted.
    pub(crate) const fn of_one_byte(self) -> usize {
        match self {
            Self::NullFirst => 127,
            Self::FromZero | Self::Presence => 128,
        }
    }
}

/// A generation, as a type: what the reader and the writer are generic over.
///
/// Code asks for the constant inside `const { … }` or compares it with 0, and never stores it, so
/// that each instance of a generic function is compiled with its numbers as immediates.
pub trait Generation: Sync + 'static {
    const SCHEMA: Schema;
}

/// A type for each generation, and its schema.
macro_rules! generations {
    ($($version:ident $name:literal)*) => {$(
        pub(crate) struct $version;

        impl Generation for $version {
            const SCHEMA: Schema = Schema::of($name, Version::$version);
        }
    )*};
}

/// Of pprof, for code that is of pprof alone.
pub(crate) const PPROF: Schema = Pprof::SCHEMA;

generations! {
    Pprof "pprof"
    V1_3 "otlp-1.3"
    V1_4 "otlp-1.4"
    V1_5 "otlp-1.5"
    V1_6 "otlp-1.6"
    V1_7 "otlp-1.7"
    V1_8 "otlp-1.8"
    V1_9 "otlp-1.9"
    V1_10 "otlp-1.10"
}
