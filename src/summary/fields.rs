//! What the fields of a sample are.
//!
//! One look-up by the tag byte says what to do with a field; tags of the samples of all versions
//! are of one byte, which the assertion at the end states for number 15.

use crate::schema::{Kind, Role, SAMPLE, Version};
use crate::wire::{FIXED64, LEN, VARINT, tag};

/// What a field of a sample is, by its tag.
///
/// Only values and times are told apart; a number or some bytes of any other meaning is passed
/// over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// None that the version has.
    Odd,
    Number,
    Bytes,
    Value,
    Values,
    Time,
    Times,
    FixedTime,
    FixedTimes,
}

/// The fields of a version's samples. All tags are of one byte.
pub(super) struct Fields([Part; 256]);

impl Fields {
    /// By the roles of the schema, so a field that a new version moves needs no line here.
    pub(super) fn of(version: Version) -> Self {
        let mut parts = [Part::Odd; 256];
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

    #[inline(always)]
    pub(super) fn part(&self, tag: u8) -> Part {
        self.0[usize::from(tag)]
    }
}

const _: () = assert!(tag(15, FIXED64) < 128);
