//! Types of a schema: messages, fields and their roles.
//!
//! All lookups are `const`: `MESSAGE.number(version, "key")` is evaluated at compile time.
//!
//! ```text
//! PROFILE.field(V1_8, "samples")    row (PPROF, V1_8)   name "sample"    number 2   ┐ one key
//! PROFILE.field(V1_10, "samples")   row (V1_9, NOW)     name "samples"   number 2   ┘
//! ```
//!
//! A misspelt key does not compile ([`MessageType::field`]). The test against `proto/` detects a wrong number or
//! range.

use super::message_kind::{MessageKind, Package};
use super::version::Version;
use crate::wire::{FIXED32, FIXED64, LEN, VARINT, tag};

/// A message: its name, its package, and its fields in all versions.
#[derive(Debug)]
pub(crate) struct MessageType {
    /// The name in the proto, without its package.
    pub(crate) name: &'static str,
    pub(crate) kind: MessageKind,
    #[cfg_attr(not(test), expect(dead_code, reason = "the test against proto/ reads it"))]
    pub(crate) package: Package,
    /// Fields of all versions. A number may occur several times, in ranges of versions that do not overlap.
    pub(crate) fields: &'static [Field],
    /// By version and number: the index of the field plus 1, or 0 if there is no such field. So a walk over a
    /// payload needs two array lookups per field.
    numbers: [[u8; NUMBERS]; Version::ALL.len()],
}

/// An upper bound of field numbers, so that a set of fields fits into 32 bits.
pub(crate) const NUMBERS: usize = 32;

/// A field of a message, in the versions from `since` to `until`.
///
/// A field that was renumbered or retyped has several rows with the same [key](Self::key), one for each range of
/// versions without a change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    pub(crate) since: Version,
    /// Inclusive; [`NOW`](super::version::NOW) for current fields.
    pub(crate) until: Version,
    /// The number on the wire. Never 0, so that 0 can mean that a version lacks the field.
    pub(crate) number: u32,
    /// The name in the schema. JSON uses its lowerCamelCase form.
    pub(crate) name: &'static str,
    /// The newest name of the same field. Code uses it to look up the field in any version.
    pub(crate) key: &'static str,
    pub(crate) label: Label,
    /// The type of the field.
    pub(crate) kind: Kind,
    /// The meaning of the field beyond its type. Detection and checks use it to follow references.
    pub(crate) role: Role,
}

/// The cardinality of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Label {
    /// At most once. In proto3, 0 and absent are the same.
    One,
    /// At most once, and 0 differs from absent.
    Optional,
    /// A case of the message's oneof.
    Case,
    /// Any number of times.
    Many,
}

/// The type of a field.
///
/// [`wire`](Self::wire) returns its wire type. Signed numbers are plain varints: no schema here has zigzag (`sint`)
/// fields.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Bool,
    Int32,
    Int64,
    Uint32,
    Uint64,
    /// Used by other signals only.
    Fixed32,
    Fixed64,
    Double,
    String,
    Bytes,
    Enum(&'static EnumType),
    /// A static, because messages refer to each other in cycles.
    Message(&'static MessageType),
}

/// An enum: its name, and the names of its values 0, 1, 2 …
#[derive(Debug)]
pub(crate) struct EnumType {
    #[cfg_attr(not(test), expect(dead_code, reason = "the test against proto/ reads it"))]
    pub(crate) name: &'static str,
    pub(crate) values: &'static [&'static str],
}

/// The role of a field beyond its type. The bytes of a payload do not show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Plain,
    /// Refers to rows of a table by index.
    Ref(Table),
    /// Refers to rows of a table by the ids that the rows contain, as pprof does. The id need not equal the index.
    RefById,
    /// Is a row of a table.
    Row(Table),
    /// Refers to rows of a table by index. Samples refer to slices of this list.
    Sliced(Table),
    /// The start of a sample's slice of `location_indices`.
    SliceStart,
    /// The length of that slice. Only the two numbers together can be validated.
    SliceLength,
    /// The values of a sample.
    Values,
    /// The timestamps of a sample.
    Times,
    /// An id with this number of bytes.
    Id(u8),
}

/// The tables that references point to, and other lists whose length matters.
/// Their discriminants index arrays of [`Table::COUNT`] elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Table {
    Mapping,
    Location,
    Function,
    Link,
    String,
    Attribute,
    AttributeUnit,
    Stack,
    /// `Profile.location_indices`, of which samples reference slices.
    Slice,
    /// The sample types of a profile.
    SampleType,
}

impl Table {
    /// The length of an array with one element for each table.
    pub(crate) const COUNT: usize = Self::SampleType as usize + 1;

    /// The tables of rows that refer to each other and to strings.
    pub(crate) const ROWS: [Self; 7] = [
        Self::Mapping,
        Self::Location,
        Self::Function,
        Self::Link,
        Self::Attribute,
        Self::AttributeUnit,
        Self::Stack,
    ];

    /// Returns the name of the table in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Mapping => "mapping table",
            Self::Location => "location table",
            Self::Function => "function table",
            Self::Link => "link table",
            Self::String => "string table",
            Self::Attribute => "attribute table",
            Self::AttributeUnit => "attribute units",
            Self::Stack => "stack table",
            Self::Slice => "location indices",
            Self::SampleType => "sample types",
        }
    }

    /// Returns whether row 0 is the empty row in versions with empty rows.
    pub(crate) fn has_null_row(self) -> bool {
        !matches!(self, Self::String | Self::AttributeUnit | Self::Slice | Self::SampleType)
    }
}

impl Kind {
    /// Returns the wire type of a single value.
    /// Repeated numbers may also be packed, with wire type `LEN`.
    pub(crate) const fn wire(self) -> u32 {
        match self {
            Self::Message(_) | Self::String | Self::Bytes => LEN,
            Self::Fixed64 | Self::Double => FIXED64,
            Self::Fixed32 => FIXED32,
            _ => VARINT,
        }
    }
}

impl Field {
    /// Returns whether a version has the field. Versions are in chronological order, so two comparisons suffice.
    pub(crate) const fn is_in(&self, version: Version) -> bool {
        self.since as u8 <= version as u8 && version as u8 <= self.until as u8
    }

    /// Returns whether the field may occur several times.
    pub(crate) const fn is_repeated(&self) -> bool {
        matches!(self.label, Label::Many)
    }

    /// Returns whether the field is a list of numbers, which encoders usually pack.
    pub(crate) const fn is_list(&self) -> bool {
        self.is_repeated() && self.kind.wire() != LEN
    }

    /// Sets the role. Lets a table declare each row in one line.
    pub(crate) const fn with(self, role: Role) -> Self {
        Self { role, ..self }
    }

    /// Sets the newest name of a renamed field.
    pub(super) const fn now(self, key: &'static str) -> Self {
        Self { key, ..self }
    }

    /// Makes the field a reference to rows of `table`.
    pub(super) const fn to(self, table: Table) -> Self {
        self.with(Role::Ref(table))
    }

    /// Makes the field's occurrences the rows of `table`.
    pub(super) const fn rows(self, table: Table) -> Self {
        self.with(Role::Row(table))
    }
}

impl MessageType {
    /// Creates a message of a package with its fields in all versions.
    pub(crate) const fn new(
        package: Package,
        kind: MessageKind,
        name: &'static str,
        fields: &'static [Field],
    ) -> Self {
        let mut numbers = [[0; NUMBERS]; Version::ALL.len()];
        let mut row = 0;
        while row < fields.len() {
            let mut version = fields[row].since as usize;
            while version <= fields[row].until as usize {
                // Rows count from 1, because 0 means that there is no such field.
                numbers[version][fields[row].number as usize] = row as u8 + 1;
                version += 1;
            }
            row += 1;
        }
        Self { name, kind, package, fields, numbers }
    }

    /// Returns the fields of the message in a version.
    pub(crate) fn fields_in(&self, version: Version) -> impl Iterator<Item = &'static Field> {
        self.fields.iter().filter(move |field| field.is_in(version))
    }

    /// Returns the field with a number.
    #[inline]
    pub(crate) fn numbered(&self, number: u32, version: Version) -> Option<&'static Field> {
        let row = *self.numbers[version as usize].get(number as usize)?;
        self.fields.get(usize::from(row).wrapping_sub(1))
    }

    /// Returns the field with a [key](Field::key), or `None` if the version lacks it. A key that no version has
    /// does not compile.
    pub(crate) const fn field(&self, version: Version, key: &str) -> Option<&'static Field> {
        let (mut found, mut known) = (None, false);
        let mut row = 0;
        while row < self.fields.len() {
            let field = &self.fields[row];
            if is_equal(field.key, key) {
                known = true;
                if field.is_in(version) {
                    found = Some(field);
                }
            }
            row += 1;
        }
        assert!(known, "no version has a field of this key");
        found
    }

    /// Returns the index of a key among the distinct keys of the message in all versions. For arrays with one
    /// element for each key.
    pub(crate) const fn cell(&self, key: &str) -> usize {
        let (mut cell, mut row) = (0, 0);
        while row < self.fields.len() {
            let mut first = 0;
            while !is_equal(self.fields[first].key, self.fields[row].key) {
                first += 1;
            }
            // Count each key once, at its first row.
            if first == row {
                if is_equal(self.fields[row].key, key) {
                    return cell;
                }
                cell += 1;
            }
            row += 1;
        }
        panic!("no version has a field of this key");
    }

    /// Returns the name of a field in a version; its key if the version lacks it.
    pub(crate) const fn field_name(&self, version: Version, key: &'static str) -> &'static str {
        match self.field(version, key) {
            Some(field) => field.name,
            None => key,
        }
    }

    /// Returns the number of the field with a key, or 0 if the version lacks it.
    pub(crate) const fn number(&self, version: Version, key: &str) -> u32 {
        match self.field(version, key) {
            Some(field) => field.number,
            None => 0,
        }
    }

    /// Returns the tag of the field with a key, or 0, an invalid tag, if the version lacks it. For a list it is the
    /// tag of an unpacked value.
    pub(crate) const fn tag(&self, version: Version, key: &str) -> u32 {
        match self.field(version, key) {
            Some(field) => tag(field.number, field.kind.wire()),
            None => 0,
        }
    }

    /// Returns the tag of the field with a key when its values are packed. The field must be a list of numbers.
    pub(crate) const fn packed_tag(&self, version: Version, key: &str) -> u32 {
        match self.field(version, key) {
            Some(field) => {
                assert!(field.is_list(), "no list of numbers");
                tag(field.number, LEN)
            }
            None => 0,
        }
    }
}

/// Compares strings in constants, in which `==` is not available.
pub(crate) const fn is_equal(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// Creates a field without a role whose key is its name.
const fn field(
    label: Label,
    (since, until): (Version, Version),
    number: u32,
    name: &'static str,
    kind: Kind,
) -> Field {
    Field { since, until, number, name, key: name, label, kind, role: Role::Plain }
}

/// Creates a singular field in the versions from the first to the last.
pub(crate) const fn one(
    versions: (Version, Version),
    number: u32,
    name: &'static str,
    kind: Kind,
) -> Field {
    field(Label::One, versions, number, name, kind)
}

/// Creates a singular field whose absence differs from 0.
pub(super) const fn optional(
    versions: (Version, Version),
    number: u32,
    name: &'static str,
    kind: Kind,
) -> Field {
    field(Label::Optional, versions, number, name, kind)
}

/// Creates a case of a oneof.
pub(super) const fn case(
    versions: (Version, Version),
    number: u32,
    name: &'static str,
    kind: Kind,
) -> Field {
    field(Label::Case, versions, number, name, kind)
}

/// Creates a repeated field.
pub(crate) const fn many(
    versions: (Version, Version),
    number: u32,
    name: &'static str,
    kind: Kind,
) -> Field {
    field(Label::Many, versions, number, name, kind)
}
