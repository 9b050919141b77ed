//! What is wrong with bytes that are no fields: the errors of [`Reader`](super::read::Reader), which are built off its
//! path, so that reading stays small.
//!
//! Each says what was found and the limit it broke; [`Error::at`] adds where.

use crate::error::Error;
use crate::wire::END_GROUP;
use crate::wire::varint::is_too_wide;

/// A tag of `length` bytes that no field can have: numbers are 1 to 2²⁹ − 1, so a tag is of 32 bits.
#[cold]
#[inline(never)]
pub(super) fn bad_tag(tag: u64, length: usize) -> Error {
    Error::malformed(match tag >> 3 {
        0 => "field number 0 is invalid: protobuf numbers fields from 1".to_owned(),
        number if number >= 1 << 29 => {
            format!("field number {number} exceeds protobuf's maximum of 536870911")
        }
        number => {
            format!("the tag of field {number} has {length} bytes; protobuf allows {MAX_TAG_BYTES}")
        }
    })
}

/// The bytes of the longest tag, one of 32 bits.
pub(super) const MAX_TAG_BYTES: usize = 5;

/// Bytes that no varint begins.
#[cold]
#[inline(never)]
pub(super) fn no_varint(bytes: &[u8]) -> Error {
    Error::malformed(match is_too_wide(bytes) {
        true => "varint exceeds 64 bits",
        false => "message ends inside a varint",
    })
}

/// A field that is none: the end of a group that did not begin, or a wire type that protobuf has not.
#[cold]
#[inline(never)]
pub(super) fn bad_kind(tag: u32) -> Error {
    Error::malformed(match (tag & 7, tag >> 3) {
        (END_GROUP, number) => format!("group {number} ends without a start"),
        (kind, number) => {
            format!("field {number} has wire type {kind}, which protobuf does not define")
        }
    })
}

/// The longest message there is in protobuf, and the bytes in which libraries of it take a length.
///
/// [Protobuf](https://protobuf.dev/programming-guides/proto-limits/) limits a message to 2 GiB.
pub(super) const MAX_LENGTH: usize = i32::MAX as usize;
pub(super) const MAX_LENGTH_BYTES: usize = 5;

/// Fewer bytes are left in the message than a field says it has.
#[cold]
#[inline(never)]
pub(super) fn cut_short(wanted: u64, left: usize) -> Error {
    Error::malformed(format!("length {wanted} exceeds the remaining {left} bytes"))
}

/// A length, of so many bytes itself, that does not fit the message or protobuf.
#[cold]
#[inline(never)]
pub(super) fn bad_length(length: u64, bytes: usize, left: usize) -> Error {
    if bytes > MAX_LENGTH_BYTES {
        return Error::malformed(format!(
            "the length is encoded in {bytes} bytes; protobuf allows {MAX_LENGTH_BYTES}"
        ));
    }
    if left > MAX_LENGTH {
        return Error::malformed(format!(
            "length {length} exceeds protobuf's maximum of {MAX_LENGTH} bytes"
        ));
    }
    cut_short(length, left)
}
