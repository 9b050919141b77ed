//! Builds the errors of [`Reader`](super::read::Reader), outside its functions to keep the read path small.
//!
//! Each error contains the value found and the limit it breaks; [`Error::at`] adds the place.

use crate::error::Error;
use crate::wire::END_GROUP;
use crate::wire::varint::is_too_wide;

/// Returns the error of an invalid tag of `length` bytes. Field numbers are 1 to 2²⁹ − 1, so a valid tag has 32
/// bits.
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

/// Maximum length of a tag in bytes, for one of 32 bits.
pub(super) const MAX_TAG_BYTES: usize = 5;

/// Returns the error of bytes that do not begin with a varint.
#[cold]
#[inline(never)]
pub(super) fn no_varint(bytes: &[u8]) -> Error {
    Error::malformed(match is_too_wide(bytes) {
        true => "varint exceeds 64 bits",
        false => "message ends inside a varint",
    })
}

/// Returns the error of an invalid wire type: the end of a group that did not begin, or a type that protobuf does
/// not define.
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

/// Maximum size of a protobuf message, and maximum bytes of an encoded length that protobuf libraries accept.
///
/// [Protobuf](https://protobuf.dev/programming-guides/proto-limits/) limits a message to 2 GiB.
pub(super) const MAX_LENGTH: usize = i32::MAX as usize;
pub(super) const MAX_LENGTH_BYTES: usize = 5;

/// Returns the error of a field that is longer than the rest of the message.
#[cold]
#[inline(never)]
pub(super) fn cut_short(wanted: u64, left: usize) -> Error {
    Error::malformed(format!("length {wanted} exceeds the remaining {left} bytes"))
}

/// Returns the error of a length, encoded in `bytes` bytes, that exceeds the message or protobuf's maximum.
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
