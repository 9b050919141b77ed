//! Protobuf fields from and to bytes; knows no profile.
//!
//! | file | |
//! |---|---|
//! | `read`, `skip`, `short`, `faults` | fields of messages; past them; those of short messages without checks; what is wrong with bytes |
//! | `varint`, `packed`, `indices`, `lanes` | numbers; lists of them; lists of references, by vector instructions |
//! | `write`, `record`, `codes` | fields; many small fields at once; indices made ready |
//!
//! All of [protobuf's encoding](https://protobuf.dev/programming-guides/encoding/) is read, groups included; what is
//! written are varints in their shortest form.
//!
//! ```text
//! field     tag = number << 3 | kind, as a varint; then by kind
//! VARINT    7 bits a byte, low ones first, high bit set while more follow: 300 = ac 02
//! FIXED64   8 bytes, little-endian
//! LEN       a length as a varint, then that many bytes: text, a message or a packed list
//! ```
//!
//! What the rest of the crate relies on: a reader never reads past its message, every step consumes
//! a byte or fails, so reading takes linear time; and no length is believed before it is compared
//! with what is left.

pub(crate) mod codes;
mod faults;
pub(crate) mod indices;
pub(crate) mod lanes;
pub(crate) mod packed;
pub(crate) mod read;
pub(crate) mod record;
pub(crate) mod short;
mod skip;
pub(crate) mod varint;
pub(crate) mod write;

/// The kind of a field's bytes, the low three bits of its tag.
///
/// int32, int64, uint32, uint64, bool and enums. A negative int32 takes ten bytes.
pub(crate) const VARINT: u32 = 0;
/// fixed64 and double.
pub(crate) const FIXED64: u32 = 1;
/// string, bytes, messages and packed lists.
pub(crate) const LEN: u32 = 2;
/// No schema here has groups, but a field that is unknown may be one.
pub(crate) const START_GROUP: u32 = 3;
pub(crate) const END_GROUP: u32 = 4;
/// Likewise.
pub(crate) const FIXED32: u32 = 5;

/// The tag of field `number`; 0, which no message has, when this schema lacks the field.
pub(crate) const fn tag(number: u32, kind: u32) -> u32 {
    if number == 0 { 0 } else { number << 3 | kind }
}

/// Eight bytes as a number. Chunks are arrays: copying a slice is a call where nothing is inlined
/// from one part of a build into another, as in most of them.
#[inline(always)]
pub(crate) fn word(bytes: &[u8], at: usize) -> u64 {
    let chunk = bytes[at..at + 8].first_chunk();
    chunk.copied().map_or(0, u64::from_le_bytes)
}

/// Puts a number into eight bytes.
///
/// The eight bytes must be there; callers keep room for a whole word behind what they write.
#[inline(always)]
fn put_word(bytes: &mut [u8], at: usize, word: u64) {
    if let Some(chunk) = bytes[at..at + 8].first_chunk_mut() {
        *chunk = word.to_le_bytes();
    }
}
