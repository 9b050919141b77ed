//! Fields to bytes.

use crate::wire::{FIXED64, LEN, VARINT, tag};

/// Appends a varint.
#[inline]
pub(crate) fn varint(out: &mut Vec<u8>, value: u64) {
    if value < 0x80 {
        out.push(value as u8);
    } else if value < 0x4000 {
        out.extend_from_slice(&[value as u8 | 0x80, (value >> 7) as u8]);
    } else {
        long_varint(out, value);
    }
}

#[inline(never)]
fn long_varint(out: &mut Vec<u8>, value: u64) {
    if value < 1 << 56 {
        let length = varint_len(value);
        let word = (spread(value) | (0x8080_8080_8080_8080 & ((1 << (8 * (length - 1))) - 1))).to_le_bytes();
        let end = out.len() + length;
        out.extend_from_slice(&word);
        out.truncate(end);
    } else {
        let mut left = value;
        let mut bytes = [0u8; 10];
        let mut at = 0;
        while left >= 0x80 {
            bytes[at] = left as u8 | 0x80;
            left >>= 7;
            at += 1;
        }
        bytes[at] = left as u8;
        out.extend_from_slice(&bytes[..=at]);
    }
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
#[inline]
pub(crate) fn field_varint(out: &mut Vec<u8>, number: u32, value: u64) {
    if value != 0 && number != 0 {
        varint(out, u64::from(tag(number, VARINT)));
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
    varint(out, u64::from(tag(number, LEN)));
    varint(out, body.len() as u64);
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
    varint(out, u64::from(tag(number, LEN)));
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

/// A message field whose body may be large: room is kept for a length of `room` bytes or less.
///
/// A message of megabytes is not moved to make room for its length: the length is written in
/// the `room` bytes kept, and only a wrong guess moves the body.
#[inline]
pub(crate) fn field_large(out: &mut Vec<u8>, number: u32, expected: usize, fill: impl FnOnce(&mut Vec<u8>)) {
    varint(out, u64::from(tag(number, LEN)));
    let room = varint_len(expected as u64);
    let at = out.len();
    out.extend_from_slice(&[0; 10][..room]);
    fill(out);
    let length = out.len() - at - room;
    let needed = varint_len(length as u64);
    let end = out.len();
    if needed > room {
        out.extend_from_slice(&[0; 9][..needed - room]);
        out.copy_within(at + room..end, at + needed);
    } else if needed < room {
        out.copy_within(at + room..end, at + needed);
        out.truncate(end - (room - needed));
    }
    let mut left = length;
    for byte in &mut out[at..at + needed - 1] {
        *byte = left as u8 | 0x80;
        left >>= 7;
    }
    out[at + needed - 1] = left as u8;
}

/// A packed repeated field of indices, left out when it is empty.
#[inline]
pub(crate) fn field_indices(out: &mut Vec<u8>, number: u32, values: impl ExactSizeIterator<Item = u32> + Clone) {
    if values.len() == 0 || number == 0 {
        return;
    }
    varint(out, u64::from(tag(number, LEN)));
    delimited_indices(out, values);
}

/// A length and packed indices.
#[inline]
pub(crate) fn delimited_indices(out: &mut Vec<u8>, values: impl ExactSizeIterator<Item = u32> + Clone) {
    let length: usize = values.clone().map(|value| index_len(value) as usize).sum();
    varint(out, length as u64);
    indices(out, values, length);
}

#[inline]
fn index_len(value: u32) -> u32 {
    1 + u32::from(value >= 1 << 7) + u32::from(value >= 1 << 14) + u32::from(value >= 1 << 21) + u32::from(value >= 1 << 28)
}

/// Packed indices whose encoding is known to take `length` bytes.
#[inline]
fn indices(out: &mut Vec<u8>, values: impl ExactSizeIterator<Item = u32>, length: usize) {
    if length == values.len() {
        out.extend(values.map(|value| value as u8));
    } else {
        // A branch on every width would be mispredicted where widths mix.
        let mut block = [0u8; 256];
        let mut at = 0;
        for value in values {
            if at > 256 - 8 {
                out.extend_from_slice(&block[..at]);
                at = 0;
            }
            let length = index_len(value);
            let more = 0x8080_8080_u64 & ((1 << (8 * (length - 1))) - 1);
            let word = spread(u64::from(value)) | more;
            if let Some(place) = block[at..].first_chunk_mut::<8>() {
                *place = word.to_le_bytes();
            }
            at += length as usize;
        }
        out.extend_from_slice(&block[..at]);
    }
}

/// A packed repeated field of 64-bit varints, left out when it is empty.
#[inline]
pub(crate) fn field_varints(out: &mut Vec<u8>, number: u32, values: impl ExactSizeIterator<Item = u64>) {
    if values.len() == 0 || number == 0 {
        return;
    }
    field_message(out, number, |out| values.for_each(|value| varint(out, value)));
}

/// A packed repeated fixed64 field, left out when it is empty.
#[inline]
pub(crate) fn field_fixed64s(out: &mut Vec<u8>, number: u32, values: &[u64]) {
    if values.is_empty() || number == 0 {
        return;
    }
    varint(out, u64::from(tag(number, LEN)));
    varint(out, 8 * values.len() as u64);
    values.iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
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
                let values: Vec<u32> = (0..size as u32).map(|i| i.wrapping_mul(2_654_435_761) >> shift).collect();
                let (mut fast, mut plain) = (Vec::new(), Vec::new());
                delimited_indices(&mut fast, values.iter().copied());
                delimited(&mut plain, |out| values.iter().for_each(|&value| varint(out, u64::from(value))));
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
