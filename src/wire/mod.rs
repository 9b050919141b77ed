//! Protobuf fields from and to bytes; knows no profile.

pub(crate) mod read;
pub(crate) mod record;
pub(crate) mod write;

/// The kind of a field's bytes, the low three bits of its tag.
pub(crate) const VARINT: u32 = 0;
pub(crate) const FIXED64: u32 = 1;
pub(crate) const LEN: u32 = 2;
pub(crate) const START_GROUP: u32 = 3;
pub(crate) const END_GROUP: u32 = 4;
pub(crate) const FIXED32: u32 = 5;

/// The tag of field `number`; 0, which no message has, when this schema lacks the field.
pub(crate) const fn tag(number: u32, kind: u32) -> u32 {
    if number == 0 { 0 } else { number << 3 | kind }
}
