//! Encodes and decodes protobuf fields. This module is independent of profiles.
//!
//! | file | |
//! |---|---|
//! | `read`, `skip`, `unchecked_reader`, `faults` | read messages; skip fields; read short messages without bounds checks; build errors |
//! | `varint`, `packed`, `indices`, `lanes` | varints; packed numbers; packed references, with vector instructions |
//! | `base64`, `hex` | base64, in JSON and in pages; hex digits |
//! | `write`, `record`, `codes` | write fields; write many small fields at once; pre-encode indices |
//!
//! The reader supports all of [protobuf's encoding](https://protobuf.dev/programming-guides/encoding/), including
//! groups. The writer emits varints in their shortest form.
//!
//! ```text
//! field     tag = number << 3 | kind, as a varint; then by kind
//! VARINT    7 bits a byte, low ones first, high bit set while more follow: 300 = ac 02
//! FIXED64   8 bytes, little-endian
//! LEN       a length as a varint, then that many bytes: text, a message or a packed list
//! ```
//!
//! The rest of the crate relies on three guarantees:
//!
//! * A reader never reads past its message.
//! * Every step consumes a byte or fails, so that reading takes linear time.
//! * Lengths are compared with the remaining bytes before use.

pub(crate) mod base64;
pub(crate) mod codes;
mod faults;
pub(crate) mod hex;
pub(crate) mod indices;
pub(crate) mod lanes;
pub(crate) mod packed;
pub(crate) mod read;
pub(crate) mod record;
mod skip;
pub(crate) mod unchecked_reader;
pub(crate) mod varint;
pub(crate) mod write;

/// The wire type of a field, which is the low three bits of its tag.
///
/// Used for int32, int64, uint32, uint64, bool and enums. A negative int32 takes ten bytes.
pub(crate) const VARINT: u32 = 0;
/// Used for fixed64 and double.
pub(crate) const FIXED64: u32 = 1;
/// Used for string, bytes, messages and packed lists.
pub(crate) const LEN: u32 = 2;
/// No schema here has groups, but an unknown field may be one.
pub(crate) const START_GROUP: u32 = 3;
pub(crate) const END_GROUP: u32 = 4;
/// Only unknown fields have this type.
pub(crate) const FIXED32: u32 = 5;

/// Returns the tag of field `number`. If `number` is 0, because the schema lacks the field, returns 0, which is not
/// a valid tag.
pub(crate) const fn tag(number: u32, kind: u32) -> u32 {
    if number == 0 { 0 } else { number << 3 | kind }
}

/// Reads eight bytes as a number. Copies an array and not a slice: without inlining across codegen units, which is
/// the default in most builds, a slice copy is a function call.
// Always inlined. Without any in the library, decoding 1.10 takes up to 36 % more instructions.
#[inline(always)]
pub(crate) fn word(bytes: &[u8], at: usize) -> u64 {
    let chunk = bytes[at..at + 8].first_chunk();
    chunk.copied().map_or(0, u64::from_le_bytes)
}

/// Stores a number in eight bytes.
///
/// The eight bytes must exist: callers reserve a whole word after the last byte they write.
#[inline(always)]
fn put_word(bytes: &mut [u8], at: usize, word: u64) {
    if let Some(chunk) = bytes[at..at + 8].first_chunk_mut() {
        *chunk = word.to_le_bytes();
    }
}
