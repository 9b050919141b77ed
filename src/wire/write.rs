//! Fields to bytes.

use crate::wire::{FIXED64, LEN, VARINT, tag};

/// Appends the low `length` bytes of a word: all eight are stored, which needs no branch.
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
    } else if value < 1 << 56 {
        let length = varint_len(value);
        put(out, spread(value) | more(length), length);
    } else {
        longest_varint(out, value);
    }
}

/// The high bits that say that more bytes follow, of all but the last of `length` bytes.
#[inline(always)]
fn more(length: usize) -> u64 {
    0x8080_8080_8080_8080 & ((1 << (8 * (length - 1))) - 1)
}

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

/// The bytes a varint takes.
#[inline]
pub(crate) fn varint_len(value: u64) -> usize {
    ((70 - (value | 1).leading_zeros()) / 7) as usize
}

/// Puts every seven bits of `value` into a byte of their own.
#[inline]
fn spread(value: u64) -> u64 {
    let value = (value & 0x0fff_ffff) | (value & 0x00ff_ffff_f000_0000) << 4;
    let value = (value & 0x0000_3fff_0000_3fff) | (value & 0x0fff_c000_0fff_c000) << 2;
    (value & 0x007f_007f_007f_007f) | (value & 0x3f80_3f80_3f80_3f80) << 1
}

/// A singular varint field, left out when it is 0 or the schema lacks it.
#[inline(always)]
pub(crate) fn field_varint(out: &mut Vec<u8>, number: u32, value: u64) {
    if value == 0 || number == 0 {
        return;
    }
    let tag = u64::from(tag(number, VARINT));
    if value < 0x80 && tag < 0x80 {
        put(out, tag | value << 8, 2);
    } else if value < 1 << 49 && tag < 0x80 {
        let length = varint_len(value);
        put(out, tag | (spread(value) | more(length)) << 8, 1 + length);
    } else {
        varint(out, tag);
        varint(out, value);
    }
}

/// A singular fixed64 field, left out when it is 0 or the schema lacks it.
#[inline]
pub(crate) fn field_fixed64(out: &mut Vec<u8>, number: u32, value: u64) {
    if value != 0 && number != 0 {
        varint(out, u64::from(tag(number, FIXED64)));
        out.extend_from_slice(&value.to_le_bytes());
    }
}

/// A length-delimited field, written even when it is empty.
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

/// A singular string or bytes field, left out when it is empty or the schema lacks it.
#[inline]
pub(crate) fn field_bytes_nonempty(out: &mut Vec<u8>, number: u32, body: &[u8]) {
    if !body.is_empty() && number != 0 {
        field_bytes(out, number, body);
    }
}

/// A field whose body `fill` appends.
///
/// One byte is kept for the length; the rare body of 128 bytes or more is moved when it is known.
#[inline]
pub(crate) fn field_message(out: &mut Vec<u8>, number: u32, fill: impl FnOnce(&mut Vec<u8>)) {
    let tag = u64::from(tag(number, LEN));
    if tag < 0x80 {
        out.push(tag as u8)
    } else {
        varint(out, tag)
    }
    delimited(out, fill);
}

/// A length and the body that `fill` appends.
#[inline]
pub(crate) fn delimited(out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.push(0);
    fill(out);
    let length = out.len() - at - 1;
    if length < 0x80 {
        out[at] = length as u8;
    } else {
        widen_length(out, at, length);
    }
}

#[inline(never)]
fn widen_length(out: &mut Vec<u8>, at: usize, length: usize) {
    let more = varint_len(length as u64) - 1;
    let end = out.len();
    out.extend_from_slice(&[0; 9][..more]);
    out.copy_within(at + 1..end, at + 1 + more);
    let mut left = length;
    for byte in &mut out[at..at + more] {
        *byte = left as u8 | 0x80;
        left >>= 7;
    }
    out[at + more] = left as u8;
}

/// A message field whose body may be large.
#[inline]
pub(crate) fn field_large(
    out: &mut Vec<u8>,
    number: u32,
    expected: usize,
    fill: impl FnOnce(&mut Vec<u8>),
) {
    varint(out, u64::from(tag(number, LEN)));
    delimited_large(out, expected, fill);
}

/// A length and the body that `fill` appends.
///
/// A body of megabytes is not moved to make room for its length: as much room is kept as the
/// expected length needs, and only a wrong guess moves the body.
#[inline]
fn delimited_large(out: &mut Vec<u8>, expected: usize, fill: impl FnOnce(&mut Vec<u8>)) {
    let room = varint_len(expected as u64);
    let at = out.len();
    out.extend_from_slice(&[0; 10][..room]);
    fill(out);
    let length = out.len() - at - room;
    if varint_len(length as u64) != room {
        make_room(out, at, room, length);
    }
    let mut left = length;
    for byte in &mut out[at..] {
        *byte = left as u8 | if left < 0x80 { 0 } else { 0x80 };
        left >>= 7;
        if left == 0 {
            break;
        }
    }
}

/// Moves a body so that `room` bytes before it become as many as its length needs.
#[cold]
#[inline(never)]
fn make_room(out: &mut Vec<u8>, at: usize, room: usize, length: usize) {
    let needed = varint_len(length as u64);
    let end = out.len();
    if needed > room {
        out.extend_from_slice(&[0; 9][..needed - room]);
    }
    out.copy_within(at + room..end, at + needed);
    out.truncate(at + needed + length);
}

/// A packed repeated field of indices, left out when it is empty.
#[inline]
pub(crate) fn field_indices(
    out: &mut Vec<u8>,
    number: u32,
    values: impl ExactSizeIterator<Item = u32> + Clone,
) {
    if values.len() == 0 || number == 0 {
        return;
    }
    varint(out, u64::from(tag(number, LEN)));
    delimited_indices(out, values);
}

/// A length and packed indices.
///
/// What the largest needs is found first: widths up to three bytes are then stored without a
/// branch, which would be mispredicted where widths mix.
#[inline]
pub(crate) fn delimited_indices(
    out: &mut Vec<u8>,
    values: impl ExactSizeIterator<Item = u32> + Clone,
) {
    let all = values.clone().fold(0, |all, value| all | value);
    let count = values.len();
    if all < 1 << 7 {
        varint(out, count as u64);
        out.extend(values.map(|value| value as u8));
    } else if all < 1 << 14 {
        delimited_large(out, 2 * count, |out| in_blocks(out, values, up_to_two));
    } else if all < 1 << 21 {
        delimited_large(out, 2 * count, |out| in_blocks(out, values, up_to_three));
    } else {
        delimited_large(out, 4 * count, |out| {
            values.for_each(|value| varint(out, value.into()))
        });
    }
}

/// A varint of one or two bytes, and which.
#[inline(always)]
fn up_to_two(value: u32) -> (u32, usize) {
    let two = u32::from(value >= 1 << 7);
    (
        value & 0x7f | value << 1 & 0x7f00 | two << 7,
        1 + two as usize,
    )
}

/// A varint of up to three bytes, and of how many.
#[inline(always)]
fn up_to_three(value: u32) -> (u32, usize) {
    let (two, three) = (u32::from(value >= 1 << 7), u32::from(value >= 1 << 14));
    let word = value & 0x7f | value << 1 & 0x7f00 | value << 2 & 0x7f_0000;
    (word | two << 7 | three << 15, (1 + two + three) as usize)
}

/// Appends varints of up to four bytes, a block at a time.
#[inline(always)]
fn in_blocks(
    out: &mut Vec<u8>,
    values: impl Iterator<Item = u32>,
    encode: impl Fn(u32) -> (u32, usize),
) {
    const BLOCK: usize = 256;
    let mut block = [0u8; BLOCK];
    let mut at = 0;
    for value in values {
        let (word, length) = encode(value);
        if let Some(place) = block.get_mut(at..).and_then(<[u8]>::first_chunk_mut::<4>) {
            *place = word.to_le_bytes();
        }
        at += length;
        if at > BLOCK - 4 {
            out.extend_from_slice(&block[..at]);
            at = 0;
        }
    }
    out.extend_from_slice(&block[..at]);
}

/// A packed repeated field of 64-bit varints, left out when it is empty.
#[inline]
pub(crate) fn field_varints(
    out: &mut Vec<u8>,
    number: u32,
    values: impl ExactSizeIterator<Item = u64>,
) {
    if values.len() == 0 || number == 0 {
        return;
    }
    field_message(out, number, |out| {
        values.for_each(|value| varint(out, value))
    });
}

/// A packed repeated fixed64 field, left out when it is empty.
#[inline]
pub(crate) fn field_fixed64s(out: &mut Vec<u8>, number: u32, values: &[u64]) {
    if values.is_empty() || number == 0 {
        return;
    }
    varint(out, u64::from(tag(number, LEN)));
    varint(out, 8 * values.len() as u64);
    values
        .iter()
        .for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
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
    fn packed_indices_are_what_one_at_a_time_writes() {
        for size in [0usize, 1, 5, 100, 1000] {
            for shift in 0..32 {
                let values: Vec<u32> = (0..size as u32)
                    .map(|i| i.wrapping_mul(2_654_435_761) >> shift)
                    .collect();
                let (mut fast, mut plain) = (Vec::new(), Vec::new());
                delimited_indices(&mut fast, values.iter().copied());
                delimited(&mut plain, |out| {
                    values
                        .iter()
                        .for_each(|&value| varint(out, u64::from(value)))
                });
                assert_eq!(fast, plain);
            }
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
                field_large(&mut out, 5, guess, |out| out.extend_from_slice(&body));
                assert_eq!(out, expected);
            }
            let mut out = Vec::new();
            field_message(&mut out, 5, |out| out.extend_from_slice(&body));
            assert_eq!(out, expected);
        }
    }
}
