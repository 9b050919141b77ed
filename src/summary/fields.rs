//! Classifies the fields of a sample.
//!
//! One lookup by the tag byte decides how to treat a field. In all versions the tags of samples have one byte; the
//! assertion at the end verifies it for field 15.

use crate::schema::{Kind, Role, SAMPLE, Version};
use crate::wire::{FIXED64, LEN, VARINT, tag};

/// The kind of a sample's field, by its tag.
///
/// Only values and times are distinguished. Other numbers and bytes are skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The version has no such field.
    Unsupported,
    Number,
    Bytes,
    Value,
    Values,
    Time,
    Times,
    FixedTime,
    FixedTimes,
}

/// The fields of a version's samples, by tag. All tags have one byte.
pub(super) struct Fields([Part; 256]);

impl Fields {
    /// Derives the fields from the roles of the schema, so that a new version needs no code here.
    pub(super) fn of(version: Version) -> Self {
        let mut parts = [Part::Unsupported; 256];
        let mut put = |tag: u32, part| {
            if let Some(place) = parts.get_mut(tag as usize) {
                *place = part;
            }
        };
        for field in SAMPLE.fields_in(version) {
            let (one, many) = (tag(field.number, field.kind.wire()), tag(field.number, LEN));
            let (single, list) = match (field.role, field.kind) {
                (Role::Values, _) => (Part::Value, Part::Values),
                (Role::Times, Kind::Fixed64) => (Part::FixedTime, Part::FixedTimes),
                (Role::Times, _) => (Part::Time, Part::Times),
                (_, kind) if kind.wire() == VARINT => (Part::Number, Part::Bytes),
                _ => (Part::Bytes, Part::Bytes),
            };
            put(one, single);
            if field.is_repeated() {
                put(many, list);
            }
        }
        Self(parts)
    }

    /// Returns the kind of the field with a tag.
    #[inline]
    pub(super) fn part(&self, tag: u8) -> Part {
        self.0[usize::from(tag)]
    }
}

const _: () = assert!(tag(15, FIXED64) < 128);
