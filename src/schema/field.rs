//! What a schema is made of: versions, messages, fields, and what fields are for.
//!
//! Everything here is `const`: a reader asks `MESSAGE.number(version, "key")` and the compiler answers.
//!
//! ```text
//! PROFILE.field(V1_8, "samples")    row (PPROF, V1_8)   name "sample"    number 2   ┐ one key
//! PROFILE.field(V1_10, "samples")   row (V1_9, NOW)     name "samples"   number 2   ┘
//! ```
//!
//! A misspelt key stops the compiler ([`MessageType::field`]); a wrong number or range is found by
//! the test against `proto/`.

use super::noun::{Noun, Package};
use super::version::Version;
use crate::wire::{FIXED32, FIXED64, LEN, VARINT, tag};

/// A message: its name, its package, and its fields in all versions.
#[derive(Debug)]
pub(crate) struct MessageType {
    /// As the proto calls it, without its package.
    pub(crate) name: &'static str,
    pub(crate) noun: Noun,
    #[cfg_attr(not(test), expect(dead_code, reason = "the test against proto/ reads it"))]
    pub(crate) package: Package,
    /// Of all versions: a number may be there several times, in versions that do not overlap.
    pub(crate) fields: &'static [Field],
    /// By version and number: 0, or which of the fields it is, from 1. So payloads are walked by two array lookups a
    /// field.
    numbers: [[u8; NUMBERS]; Version::ALL.len()],
}

/// More than the largest number of a field, so that a set of fields is a bit of 32 for each.
pub(crate) const NUMBERS: usize = 32;

/// A field of a message, in the versions from `since` to `until`.
///
/// A field that was renumbered or retyped is several rows of the same [key](Self::key), one for each stretch of
/// versions in which nothing changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    pub(crate) since: Version,
    /// Inclusive; [`NOW`](super::version::NOW) while it is in force.
    pub(crate) until: Version,
    /// What the wire has; never 0, so that 0 can say that a version has no such field.
    pub(crate) number: u32,
    /// The name in the schema; JSON says it in lowerCamelCase.
    pub(crate) name: &'static str,
    /// The newest name of the same field, by which code asks for it in any version.
    pub(crate) key: &'static str,
    pub(crate) label: Label,
    /// What the bytes are.
    pub(crate) kind: Kind,
    /// What they mean, where that is more than the kind says: detection and checks follow references by it.
    pub(crate) role: Role,
}

/// How often a field may be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Label {
    /// In proto3 a value of 0 is not there.
    One,
    /// One, and its absence is told from 0.
    Optional,
    /// One of the cases of the message's oneof.
    Case,
    /// Any number of them.
    Many,
}

/// The type of a field.
///
/// Of each, [`wire`](Self::wire) is the wire type. Signed numbers are plain varints: no schema here has zigzag
/// (`sint`) fields.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Bool,
    Int32,
    Int64,
    Uint32,
    Uint64,
    /// Only other signals have any.
    Fixed32,
    Fixed64,
    Double,
    String,
    Bytes,
    Enum(&'static EnumType),
    /// Messages refer to each other freely, cycles included: they are statics.
    Message(&'static MessageType),
}

/// An enum: its name, and the names of its values 0, 1, 2 …
#[derive(Debug)]
pub(crate) struct EnumType {
    #[cfg_attr(not(test), expect(dead_code, reason = "the test against proto/ reads it"))]
    pub(crate) name: &'static str,
    pub(crate) values: &'static [&'static str],
}

/// What a field is for, where its type does not tell.
/// Each is something that a reader of bytes cannot see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Plain,
    /// Refers to rows of a table by their numbers.
    Ref(Table),
    /// Refers to rows of a table by the ids they carry.
    /// pprof's: the row need not be of that number.
    RefById,
    /// Is a row of a table.
    Row(Table),
    /// Refers to rows of a table, and is itself the list that samples have slices of.
    Sliced(Table),
    /// Where a sample's slice of `location_indices` begins, and how long it is.
    SliceStart,
    /// The two numbers of a slice are checked together: neither says anything alone.
    SliceLength,
    /// A sample's values, and the times it was taken at.
    Values,
    Times,
    /// An id of so many bytes.
    Id(u8),
}

/// The tables that references go to, and other lists whose length matters.
/// Their numbers index arrays of [`Table::COUNT`] cells.
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
    /// `Profile.location_indices`, which samples refer to slices of.
    Slice,
    /// The sample types of a profile.
    SampleType,
}

impl Table {
    /// Cells of an array with one for each.
    pub(crate) const COUNT: usize = Self::SampleType as usize + 1;

    /// For people.
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

    /// Whether row 0 is the empty row where row 0 of every table is.
    pub(crate) fn has_null_row(self) -> bool {
        !matches!(self, Self::String | Self::AttributeUnit | Self::Slice | Self::SampleType)
    }
}

impl Kind {
    /// The wire type of one such value.
    /// A repeated number may come packed as well, of wire type `LEN`.
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
    /// Versions are in the order in which they came, so a range of them is two comparisons.
    pub(crate) const fn is_in(&self, version: Version) -> bool {
        self.since as u8 <= version as u8 && version as u8 <= self.until as u8
    }

    pub(crate) const fn is_repeated(&self) -> bool {
        matches!(self.label, Label::Many)
    }

    /// Whether it is a list of numbers, which encoders pack as a rule.
    pub(crate) const fn is_list(&self) -> bool {
        self.is_repeated() && self.kind.wire() != LEN
    }

    /// So that a row of a table reads as one line.
    pub(crate) const fn with(self, role: Role) -> Self {
        Self { role, ..self }
    }

    /// A field that has another name now.
    pub(super) const fn now(self, key: &'static str) -> Self {
        Self { key, ..self }
    }

    /// A field that refers to rows of `table`.
    pub(super) const fn to(self, table: Table) -> Self {
        self.with(Role::Ref(table))
    }

    /// A field whose occurrences are the rows of `table`.
    pub(super) const fn rows(self, table: Table) -> Self {
        self.with(Role::Row(table))
    }
}

impl MessageType {
    /// A message of a package, with its fields in all versions.
    pub(crate) const fn new(
        package: Package,
        noun: Noun,
        name: &'static str,
        fields: &'static [Field],
    ) -> Self {
        let mut numbers = [[0; NUMBERS]; Version::ALL.len()];
        let mut row = 0;
        while row < fields.len() {
            let mut version = fields[row].since as usize;
            while version <= fields[row].until as usize {
                numbers[version][fields[row].number as usize] = row as u8 + 1;
                version += 1;
            }
            row += 1;
        }
        Self { name, noun, package, fields, numbers }
    }

    /// The fields of the message in a version.
    pub(crate) fn fields_in(&self, version: Version) -> impl Iterator<Item = &'static Field> {
        self.fields.iter().filter(move |field| field.is_in(version))
    }

    /// The field of a number.
    #[inline]
    pub(crate) fn numbered(&self, number: u32, version: Version) -> Option<&'static Field> {
        let row = *self.numbers[version as usize].get(number as usize)?;
        self.fields.get(usize::from(row).wrapping_sub(1))
    }

    /// The field of a [key](Field::key); `None` where the version has none. A key that no version
    /// has does not compile.
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

    /// The place of a key among the keys of the message, whatever its version.
    /// For arrays with a cell for each thing a message may say, in whichever version.
    pub(crate) const fn cell(&self, key: &str) -> usize {
        let (mut cell, mut row) = (0, 0);
        while row < self.fields.len() {
            let mut first = 0;
            while !is_equal(self.fields[first].key, self.fields[row].key) {
                first += 1;
            }
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

    /// The number of that field; 0 where there is none.
    pub(crate) const fn number(&self, version: Version, key: &str) -> u32 {
        match self.field(version, key) {
            Some(field) => field.number,
            None => 0,
        }
    }

    /// The tag of that field, of one of its values where it is a list; 0, which no field has, where there is
    /// none.
    pub(crate) const fn tag(&self, version: Version, key: &str) -> u32 {
        match self.field(version, key) {
            Some(field) => tag(field.number, field.kind.wire()),
            None => 0,
        }
    }

    /// The tag of that field where its values are packed: only of a list of numbers.
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

/// `==` of texts, which a constant cannot have.
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

/// A field with no role of its own, whose key is its name.
const fn field(
    label: Label,
    (since, until): (Version, Version),
    number: u32,
    name: &'static str,
    kind: Kind,
) -> Field {
    Field { since, until, number, name, key: name, label, kind, role: Role::Plain }
}

/// A field that is there once, in the versions from the first to the last one.
pub(crate) const fn one(
    versions: (Version, Version),
    number: u32,
    name: &'static str,
    kind: Kind,
) -> Field {
    field(Label::One, versions, number, name, kind)
}

/// A field whose absence means something.
pub(super) const fn optional(
    versions: (Version, Version),
    number: u32,
    name: &'static str,
    kind: Kind,
) -> Field {
    field(Label::Optional, versions, number, name, kind)
}

/// A case of a oneof.
pub(super) const fn case(
    versions: (Version, Version),
    number: u32,
    name: &'static str,
    kind: Kind,
) -> Field {
    field(Label::Case, versions, number, name, kind)
}

/// A repeated field.
pub(crate) const fn many(
    versions: (Version, Version),
    number: u32,
    name: &'static str,
    kind: Kind,
) -> Field {
    field(Label::Many, versions, number, name, kind)
}
