//! Writes fields to bytes.
//!
//! Fields are appended to a `Vec`. Frequent small fields use [`record`](super::record) instead.
//!
//! Messages are written in one pass, without computing their sizes first as protobuf's own serializers do. The
//! writer reserves bytes for the length, appends the body and then stores the length. If the size was estimated
//! well, the body never moves.
//!
//! ```text
//! field_large   tag │ reserved for the expected length │ body …
//!               tag │ length │ body …            moved only if the length takes more or fewer bytes
//! ```

use std::ops::Range;

use crate::wire::{FIXED64, LEN, tag};

/// Appends the low `length` bytes of a word. Storing all eight bytes needs no branch.
// Always inlined. Without any in the library, encoding 1.10 takes up to 25 % more instructions.
#[inline(always)]
fn put(out: &mut Vec<u8>, word: u64, length: usize) {
    let end = out.len() + length;
    out.extend_from_slice(&word.to_le_bytes());
    out.truncate(end);
}

/// Appends a varint.
#[inline]
pub(crate) fn varint(out: &mut Vec<u8>, value: u64) {
    if value < 0x80 {
        out.push(value as u8);
    // Eight bytes of seven bits: the longest varint that fits into a word.
    } else if value < 1 << 56 {
        let length = varint_len(value);
        put(out, deposit_bits(value) | more(length), length);
    } else {
        longest_varint(out, value);
    }
}

/// Returns the continuation bits of a varint of `length` bytes: the high bit of every byte except the last.
///
/// `length` is 0 to 8. The table has 16 entries so that the index needs no bounds check.
#[inline(always)]
pub(super) fn more(length: usize) -> u64 {
    const MORE: [u64; 16] = {
        let mut more = [0; 16];
        let mut length = 2;
        while length <= 8 {
            more[length] = more[length - 1] << 8 | 0x80;
            length += 1;
        }
        more
    };
    MORE[length % 16]
}

/// Appends a varint of nine or ten bytes.
///
/// These are negative numbers and those of 57 bits or more.
#[cold]
#[inline(never)]
fn longest_varint(out: &mut Vec<u8>, value: u64) {
    let mut left = value;
    while left >= 0x80 {
        out.push(left as u8 | 0x80);
        left >>= 7;
    }
    out.push(left as u8);
}

/// Returns the number of bytes of a varint.
#[inline]
pub(crate) fn varint_len(value: u64) -> usize {
    // The number of bits divided by seven, rounded up. The approximation is exact up to 64 bits.
    (((value | 1).ilog2() * 9 + 73) >> 6) as usize
}

/// Encodes a varint of up to three bytes. Returns it with its length.
///
/// `value` < 2²¹.
#[inline(always)]
pub(super) fn up_to_three(value: u32) -> (u32, usize) {
    let (two, three) = (u32::from(value >= 1 << 7), u32::from(value >= 1 << 14));
    // Move the second and third group of seven bits to their bytes.
    let word = value & 0x7f | value << 1 & 0x7f00 | value << 2 & 0x7f_0000;
    (word | two << 7 | three << 15, (1 + two + three) as usize)
}

/// Distributes the bits of `value` over bytes, seven bits each.
///
/// `value` has up to 56 bits. This is the inverse of `varint::compact`.
#[inline]
pub(super) fn deposit_bits(value: u64) -> u64 {
    // Split into 28 + 28, then 14 + 14, then 7 + 7 bits.
    let value = (value & 0x0fff_ffff) | (value & 0x00ff_ffff_f000_0000) << 4;
    let value = (value & 0x0000_3fff_0000_3fff) | (value & 0x0fff_c000_0fff_c000) << 2;
    (value & 0x007f_007f_007f_007f) | (value & 0x3f80_3f80_3f80_3f80) << 1
}

/// Appends a singular fixed64 field. Omits it if it is 0 or the schema lacks it.
#[inline]
pub(crate) fn field_fixed64(out: &mut Vec<u8>, number: u32, value: u64) {
    if value != 0 && number != 0 {
        varint(out, u64::from(tag(number, FIXED64)));
        out.extend_from_slice(&value.to_le_bytes());
    }
}

/// Appends a length-delimited field, even if it is empty.
#[inline]
pub(crate) fn field_bytes(out: &mut Vec<u8>, number: u32, body: &[u8]) {
    let tag = u64::from(tag(number, LEN));
    if tag < 0x80 && body.len() < 0x80 {
        put(out, tag | (body.len() as u64) << 8, 2);
    } else {
        varint(out, tag);
        varint(out, body.len() as u64);
    }
    out.extend_from_slice(body);
}

/// Appends a part of an arena. A short part is copied as a block of constant size and truncated, which needs no
/// function call.
///
/// Parts near the end of the arena, which have no whole block, are copied exactly.
#[inline(always)]
fn copy(out: &mut Vec<u8>, arena: &[u8], part: Range<usize>) {
    const BLOCK: usize = 64;
    let block = arena.get(part.start..).and_then(<[u8]>::first_chunk::<BLOCK>);
    match block {
        Some(block) if part.len() <= BLOCK => {
            let end = out.len() + part.len();
            out.extend_from_slice(block);
            out.truncate(end);
        }
        _ => out.extend_from_slice(arena.get(part).unwrap_or_default()),
    }
}

/// Appends a string field whose text is part of an arena, even if it is empty.
#[inline(always)]
pub(crate) fn field_text(out: &mut Vec<u8>, number: u32, arena: &[u8], part: Range<usize>) {
    let tag = u64::from(tag(number, LEN));
    if tag < 0x80 && part.len() < 0x80 {
        put(out, tag | (part.len() as u64) << 8, 2);
    } else {
        varint(out, tag);
        varint(out, part.len() as u64);
    }
    copy(out, arena, part);
}

/// Appends a singular string or bytes field. Omits it if it is empty or the schema lacks it.
#[inline]
pub(crate) fn field_bytes_nonempty(out: &mut Vec<u8>, number: u32, body: &[u8]) {
    if !body.is_empty() && number != 0 {
        field_bytes(out, number, body);
    }
}

/// Appends a message field; `fill` appends its body.
///
/// Reserves one byte for the length. A body of 128 bytes or more is moved.
#[inline(always)]
pub(crate) fn field_message(out: &mut Vec<u8>, number: u32, fill: impl FnOnce(&mut Vec<u8>)) {
    field_large(out, number, 0, fill);
}

/// Appends a message field of about `expected` bytes; `fill` appends its body.
///
/// Reserves as many bytes for the length as the expected one needs. The body moves only if the estimate was wrong.
#[inline(always)]
pub(crate) fn field_large<T>(
    out: &mut Vec<u8>,
    number: u32,
    expected: usize,
    fill: impl FnOnce(&mut Vec<u8>) -> T,
) -> T {
    let tag = u64::from(tag(number, LEN));
    let room = varint_len(expected as u64);
    if tag < 0x80 && room <= 2 {
        put(out, tag, 1 + room);
    } else {
        varint(out, tag);
        // No varint has more than ten bytes.
        out.extend_from_slice(&[0; 10][..room]);
    }
    let body = out.len();
    let filled = fill(out);
    let length = out.len() - body;
    if room == 1 && length < 0x80 {
        out[body - 1] = length as u8;
    } else {
        end_large(out, body, room);
    }
    filled
}

/// Stores the length of the body that ends the output.
#[inline(never)]
fn end_large(out: &mut Vec<u8>, body: usize, room: usize) {
    let length = out.len() - body;
    let needed = varint_len(length as u64);
    // Extend the output if the length takes more bytes than reserved.
    out.resize(out.len() + needed.saturating_sub(room), 0);
    let body = set_length(out, body, length, room);
    out.truncate(body + length);
}

/// Stores the length of a body in the `room` bytes before it. Moves the body if the length takes more or fewer
/// bytes. Returns the new start of the body.
#[inline(never)]
pub(super) fn set_length(out: &mut [u8], body: usize, length: usize, room: usize) -> usize {
    let start = body - room;
    let needed = varint_len(length as u64);
    if needed != room {
        // Move the body before storing the length, which may extend over the first bytes of the body.
        out.copy_within(body..body + length, start + needed);
    }
    // The position is relative to `start`, because `long_varint` has positions of 32 bits and an output may be
    // larger.
    long_varint(&mut out[start..], 0, length as u64);
    start + needed
}

/// Stores a varint of any length at a position. Returns the position after it. The fast paths call it only for rare
/// long varints.
#[cold]
#[inline(never)]
pub(super) fn long_varint(window: &mut [u8], at: u32, value: u64) -> u32 {
    let length = varint_len(value);
    let start = at as usize;
    let mut left = value;
    for byte in &mut window[start..start + length] {
        *byte = left as u8 | 0x80;
        left >>= 7;
    }
    // The last byte has no continuation bit.
    window[start + length - 1] &= 0x7f;
    at + length as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::read::Reader;

    #[test]
    fn varints_are_the_shortest_and_come_back() {
        for value in (0..64).flat_map(|bit| [1u64 << bit, (1 << bit) - 1, u64::MAX >> bit]) {
            let mut out = vec![7];
            varint(&mut out, value);
            assert_eq!(out.len() - 1, varint_len(value));
            let mut reader = Reader::new(&out[1..]);
            assert_eq!(reader.varint().unwrap(), value);
            assert!(reader.is_empty());
        }
    }

    #[test]
    fn parts_of_an_arena_are_copied_whole_wherever_they_are() {
        let arena: Vec<u8> = (0..200).collect();
        for part in [0..0, 0..1, 3..67, 3..68, 136..200, 137..200, 190..200, 200..200, 0..200] {
            let (mut fast, mut plain) = (vec![1], vec![1]);
            field_text(&mut fast, 6, &arena, part.clone());
            field_bytes(&mut plain, 6, &arena[part]);
            assert_eq!(fast, plain);
        }
    }

    #[test]
    fn lengths_are_mended_whatever_was_guessed() {
        for length in [0usize, 1, 127, 128, 16_383, 16_384, 70_000] {
            let body = vec![1u8; length];
            let mut expected = Vec::new();
            field_bytes(&mut expected, 5, &body);
            for guess in [0usize, 127, 128, 1 << 20, 1 << 40] {
                let mut out = Vec::new();
                let filled = field_large(&mut out, 5, guess, |out| {
                    out.extend_from_slice(&body);
                    guess
                });
                assert_eq!(out, expected);
                assert_eq!(filled, guess);
            }
        }
    }
}
