//! Writes records: groups of small fields that share one reserved window of the output.
//!
//! A field of a few bytes costs more in bounds checks than in stores. So `fields` reserves the space of a whole
//! record at once. Each field then stores a word of eight bytes and advances by its actual length.

mod lone;

use std::ops::Range;

use crate::wire::codes::{EncodedIndex, EncodedIndices, FOUR, put_rows};
use crate::wire::write::{
    deposit_bits, field_large, long_varint, more, set_length, up_to_three, varint_len,
};
use crate::wire::{LEN, VARINT, put_word, tag};

/// A record that is written into a window at the end of the output. The window is reserved for the whole record and
/// must be large enough: the constants and functions below give the maximum size of each kind of field.
pub(crate) struct Fields<'a> {
    /// The output before the window.
    written: &'a [u8],
    window: &'a mut [u8],
    /// Position in the window. It has 32 bits, so that additions as `usize` cannot overflow and need no check.
    at: u32,
}

/// Appends fields that take up to `room` bytes.
///
/// Reserves eight bytes more than `room`, because every store writes a whole word.
// Always inlined. Without any in the library, encoding 1.10 takes up to 25 % more instructions.
#[inline(always)]
pub(crate) fn fields(out: &mut Vec<u8>, room: usize, fill: impl FnOnce(&mut Fields)) {
    let (start, room) = (out.len(), room + 8);
    // Extending by a constant size compiles to stores without a function call.
    if room <= 64 {
        out.extend_from_slice(&[0; 64]);
    } else if room <= 128 {
        out.extend_from_slice(&[0; 128]);
    } else {
        out.resize(start + room, 0);
    }
    let (written, window) = out.split_at_mut(start);
    let mut fields = Fields::new(written, window);
    fill(&mut fields);
    let end = start + fields.at();
    out.truncate(end);
}

/// Appends a message field whose content takes up to `room` bytes.
#[inline(always)]
pub(crate) fn record(out: &mut Vec<u8>, number: u32, room: usize, fill: impl FnOnce(&mut Fields)) {
    fields(out, room + Fields::MESSAGE, |fields| fields.message(number, fill));
}

/// Appends records to the output. It reserves space for many records at once; [`records`] truncates the unused
/// space at the end.
pub(crate) struct Records<'a> {
    /// The output, followed by the space reserved for the next records.
    out: &'a mut Vec<u8>,
    /// Position of the next record.
    end: usize,
}

/// Appends any number of records.
pub(crate) fn records<T>(out: &mut Vec<u8>, fill: impl FnOnce(&mut Records) -> T) -> T {
    let end = out.len();
    let mut records = Records { out, end };
    let filled = fill(&mut records);
    let end = records.end;
    out.truncate(end);
    filled
}

impl Records<'_> {
    /// Returns the length of the output.
    #[inline(always)]
    pub(crate) fn end(&self) -> usize {
        self.end
    }

    /// Appends a message field whose content takes up to `room` bytes.
    #[inline(always)]
    pub(crate) fn record(&mut self, number: u32, room: usize, fill: impl FnOnce(&mut Fields)) {
        self.large(number, 0, room, fill);
    }

    /// Appends a message field of about `expected` bytes, whose content takes up to `room` bytes. Returns the start
    /// of its body.
    #[inline(always)]
    pub(crate) fn large(
        &mut self,
        number: u32,
        expected: usize,
        room: usize,
        fill: impl FnOnce(&mut Fields),
    ) -> usize {
        // The last field stores a whole word, up to eight bytes past its end.
        let room = room + Fields::MESSAGE + 8;
        if self.out.len() - self.end < room {
            self.reserve_records(room);
        }
        let start = self.end;
        let (written, window) = self.out.split_at_mut(start);
        let mut fields = Fields::new(written, window);
        let body = fields.large(number, expected, fill);
        self.end += fields.at();
        start + body
    }

    /// Extends the output for many records at once. Exceeds the reserved capacity only if the next record needs it.
    #[cold]
    #[inline(never)]
    fn reserve_records(&mut self, bytes: usize) {
        const BLOCK: usize = 1 << 11;
        let block = (self.end + BLOCK).min(self.out.capacity());
        self.out.resize(block.max(self.end + bytes), 0);
    }
}

/// Appends a singular varint field. Omits it if it is 0 or the schema lacks it.
#[inline]
pub(crate) fn field_varint(out: &mut Vec<u8>, number: u32, value: u64) {
    if value != 0 && number != 0 {
        fields(out, 12, |fields| fields.varint(number, value));
    }
}

impl<'a> Fields<'a> {
    /// Creates a record at the beginning of a window.
    #[inline(always)]
    fn new(written: &'a [u8], window: &'a mut [u8]) -> Self {
        Self { written, window, at: 0 }
    }

    /// Returns the maximum size of a packed list of varints.
    #[inline(always)]
    pub(crate) const fn values(count: usize) -> usize {
        Self::MESSAGE + 10 * count
    }

    /// Returns the maximum size of a packed list of row indices.
    #[inline(always)]
    pub(crate) const fn indices(count: usize) -> usize {
        Self::MESSAGE + 5 * count + FOUR
    }

    /// Maximum size of an index field.
    pub(crate) const INDEX: usize = 7;
    /// Maximum size of a varint field.
    pub(crate) const VARINT: usize = 12;
    /// Maximum size of the tag and length of a message or a packed list.
    pub(crate) const MESSAGE: usize = 7;

    /// Stores a word and advances by `length` bytes. Storing all eight bytes needs no branch.
    #[inline(always)]
    fn put(&mut self, word: u64, length: usize) {
        let at = self.at();
        put_word(self.window, at, word);
        self.at += length as u32;
    }

    /// Writes a varint field. Omits it if it is 0 or the schema lacks it.
    #[inline(always)]
    pub(crate) fn varint(&mut self, number: u32, value: u64) {
        if value == 0 || number == 0 {
            return;
        }
        let tag = u64::from(tag(number, VARINT));
        // The tag and the value fit into one word.
        if value < 1 << 21 && tag < 0x80 {
            let (word, length) = up_to_three(value as u32);
            self.put(tag | u64::from(word) << 8, 1 + length);
        // Seven bytes of the value and the tag fill a word exactly.
        } else if value < 1 << 49 && tag < 0x80 {
            let length = varint_len(value);
            self.put(tag | (deposit_bits(value) | more(length)) << 8, 1 + length);
        } else {
            self.at = long_varint(self.window, self.at, tag);
            self.at = long_varint(self.window, self.at, value);
        }
    }

    /// Like [`varint`](Self::varint), for an index. Tests for small values first, because most indices are small.
    #[inline(always)]
    pub(crate) fn index(&mut self, number: u32, index: u32) {
        let tag = u64::from(tag(number, VARINT));
        if index == 0 || number == 0 {
        } else if index < 0x80 && tag < 0x80 {
            self.put(tag | u64::from(index) << 8, 2);
        } else {
            self.varint(number, index.into());
        }
    }

    /// Writes an index field from its encoded form. Omits it if it is 0 or the schema lacks it.
    #[inline(always)]
    pub(crate) fn code(&mut self, number: u32, code: EncodedIndex) {
        let tag = u64::from(tag(number, VARINT));
        // The shift removes the length in the highest bits: the index is 0.
        if code.0 << 8 == 0 || number == 0 {
            return;
        }
        if tag < 0x80 {
            self.put(code.0 << 8 | tag, 1 + code.length());
        } else {
            self.at = long_varint(self.window, self.at, tag);
            self.put(code.0, code.length());
        }
    }

    /// Writes a varint without a tag, as in a packed list.
    #[inline(always)]
    fn value(&mut self, value: u64) {
        if value < 1 << 21 {
            let (word, length) = up_to_three(value as u32);
            self.put(word.into(), length);
        } else if value < 1 << 56 {
            let length = varint_len(value);
            self.put(deposit_bits(value) | more(length), length);
        } else {
            self.at = long_varint(self.window, self.at, value);
        }
    }

    /// Returns the number of bytes written to the window.
    #[inline(always)]
    pub(crate) fn at(&self) -> usize {
        self.at as usize
    }

    /// Writes a message field.
    #[inline(always)]
    pub(crate) fn message(&mut self, number: u32, fill: impl FnOnce(&mut Self)) {
        self.large(number, 0, fill);
    }

    /// Writes a message field of about `expected` bytes. Returns the start of its body.
    #[inline(always)]
    pub(crate) fn large(
        &mut self,
        number: u32,
        expected: usize,
        fill: impl FnOnce(&mut Self),
    ) -> usize {
        let (body, room) = self.begin(number, expected);
        fill(self);
        self.end(body, room)
    }

    /// Begins a message. Returns the start of its body, and the number of bytes reserved for its length, which fits
    /// the expected one.
    #[inline(always)]
    fn begin(&mut self, number: u32, expected: usize) -> (usize, usize) {
        let tag = u64::from(tag(number, LEN));
        let room = if expected < 0x80 { 1 } else { varint_len(expected as u64) };
        if tag < 0x80 {
            self.put(tag, 1 + room)
        } else {
            // The schemas have no field number from 2048 on, so a tag has at most two bytes.
            self.put(deposit_bits(tag) | more(2), 2 + room)
        }
        (self.at(), room)
    }

    /// Ends a message: stores its length. Returns the start of its body, which moves if the length needs other than
    /// the reserved bytes.
    #[inline(always)]
    fn end(&mut self, body: usize, room: usize) -> usize {
        let length = self.at() - body;
        // The body moves if its length does not fit into the reserved bytes.
        if room > 1 {
            self.at = end_long(self.window, body, self.at, room);
        } else if length < 0x80 {
            self.window[body - 1] = length as u8;
        } else {
            self.at = widen_length(self.window, body, self.at);
        }
        self.at() - length
    }

    /// Copies encoded fields from an arena. A short part of a long arena is copied as a block of constant size,
    /// which needs no function call.
    #[inline(always)]
    pub(crate) fn copy(&mut self, arena: &[u8], part: Range<usize>) {
        const BLOCK: usize = 64;
        let length = part.len();
        let window = &mut self.window[self.at as usize..];
        let block = arena.get(part.start..).and_then(<[u8]>::first_chunk);
        match (block, window.first_chunk_mut::<BLOCK>()) {
            // The next store overwrites the excess bytes.
            (Some(block), Some(window)) if length <= BLOCK => *window = *block,
            _ => window[..length].copy_from_slice(&arena[part]),
        }
        self.at += length as u32;
    }

    /// Copies fields that are already in the output before the window.
    #[inline(always)]
    pub(crate) fn again(&mut self, part: Range<usize>) {
        self.copy(self.written, part);
    }

    /// Writes a packed field of varints of up to 10 bytes each. Omits it if it is empty.
    #[inline(always)]
    pub(crate) fn varints(&mut self, number: u32, values: impl ExactSizeIterator<Item = u64>) {
        if values.len() != 0 && number != 0 {
            let (body, room) = self.begin(number, 0);
            for value in values {
                self.value(value);
            }
            self.end(body, room);
        }
    }

    /// Writes a packed field of fixed64. Omits it if it is empty.
    #[inline(always)]
    pub(crate) fn fixed64s(&mut self, number: u32, values: &[u64]) {
        if !values.is_empty() && number != 0 {
            let (body, room) = self.begin(number, 0);
            for &value in values {
                self.put(value, 8);
            }
            self.end(body, room);
        }
    }

    /// Writes a packed field of indices of up to 5 bytes each. Omits it if it is empty.
    #[inline(always)]
    pub(crate) fn codes(
        &mut self,
        number: u32,
        codes: impl ExactSizeIterator<Item = EncodedIndex>,
    ) {
        if codes.len() != 0 && number != 0 {
            let (body, room) = self.begin(number, 0);
            for code in codes {
                self.put(code.0, code.length());
            }
            self.end(body, room);
        }
    }

    /// Writes a packed field of the indices of any number of rows. Omits it if it is empty.
    #[inline(always)]
    pub(crate) fn rows<T: Copy>(
        &mut self,
        number: u32,
        rows: &[T],
        codes: &EncodedIndices,
        row_of: impl Fn(T) -> usize,
    ) {
        if rows.is_empty() || number == 0 {
            return;
        }
        self.large(number, codes.expected(rows.len()), |fields| {
            fields.at = put_rows(fields.window, fields.at, rows, &codes.codes, row_of);
        });
    }
}

/// Ends a message that needs more than the one byte reserved for its length, by moving its body.
#[cold]
#[inline(never)]
fn widen_length(window: &mut [u8], body: usize, at: u32) -> u32 {
    end_long(window, body, at, 1)
}

/// Ends a message whose length takes more than one byte. Returns the position after it.
#[inline(never)]
fn end_long(window: &mut [u8], body: usize, at: u32, room: usize) -> u32 {
    let length = at - body as u32;
    set_length(window, body, length as usize, room) as u32 + length
}

/// Appends a packed field of the indices of any number of rows, given in parts with `count` rows in total. Omits it
/// if it is empty.
#[inline]
pub(crate) fn field_codes<'a, T: Copy + 'a>(
    out: &mut Vec<u8>,
    number: u32,
    (count, parts): (usize, impl Iterator<Item = &'a [T]>),
    codes: &EncodedIndices,
    row_of: impl Fn(T) -> usize + Copy,
) {
    /// Rows per window.
    const ROWS: usize = 256;
    if count == 0 || number == 0 {
        return;
    }
    field_large(out, number, codes.expected(count), |out| {
        // A window has five bytes for every index and is zeroed first. Chunks keep this excess small for lists of
        // any length.
        for rows in parts.flat_map(|part| part.chunks(ROWS)) {
            fields(out, Fields::indices(rows.len()), |fields| {
                fields.at = put_rows(fields.window, 0, rows, &codes.codes, row_of);
            });
        }
    });
}

/// Appends a packed field of varints. Omits it if it is empty.
#[inline]
pub(crate) fn field_varints(
    out: &mut Vec<u8>,
    number: u32,
    values: impl ExactSizeIterator<Item = u64>,
) {
    fields(out, Fields::values(values.len()), |fields| fields.varints(number, values));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::write::{field_message, varint};

    #[test]
    fn packed_indices_are_what_one_at_a_time_writes() {
        for size in [1usize, 5, 16, 17, 100, 1000] {
            for shift in 0..32 {
                let values: Vec<u32> =
                    (0..size as u32).map(|i| i.wrapping_mul(2_654_435_761) >> shift).collect();
                let (mut fast, mut plain) = (Vec::new(), Vec::new());
                let codes = EncodedIndices::of(&values);
                let rows: Vec<usize> = (0..size).rev().collect();
                field_codes(&mut fast, 3, (size, rows.chunks(7)), &codes, |row| row);
                field_message(&mut plain, 3, |out| {
                    rows.iter().for_each(|&row| varint(out, u64::from(values[row])))
                });
                assert_eq!(fast, plain);
                let mut packed = Vec::new();
                let reversed = rows.iter().map(|&row| u64::from(values[row]));
                field_varints(&mut packed, 3, reversed);
                assert_eq!(packed, plain);
            }
        }
    }

    #[test]
    fn a_row_is_what_its_fields_are_one_by_one() {
        for value in (0..64).flat_map(|bit| [1u64 << bit, (1 << bit) - 1, u64::MAX >> bit]) {
            for number in [1, 15, 16, 18] {
                let (mut fast, mut plain) = (Vec::new(), Vec::new());
                record(&mut fast, number, 64, |fields| {
                    fields.varint(number, value);
                    fields.message(number, |fields| fields.index(number, value as u32));
                });
                let field = |out: &mut Vec<u8>, value: u64| {
                    if value != 0 {
                        varint(out, u64::from(tag(number, VARINT)));
                        varint(out, value);
                    }
                };
                field_message(&mut plain, number, |out| {
                    field(out, value);
                    field_message(out, number, |out| field(out, u64::from(value as u32)));
                });
                assert_eq!(fast, plain);
            }
        }
    }

    #[test]
    fn records_are_what_messages_one_by_one_are() {
        let ready: Vec<u8> = (0..200).collect();
        let values: Vec<u32> = (0..300).collect();
        let codes = EncodedIndices::of(&values);
        let (mut fast, mut plain) = (vec![7], vec![7]);
        let last = records(&mut fast, |out| {
            let mut last = 0..0;
            for count in (0..300).chain([0, 1]) {
                let (rows, part) = (&values[..count], count / 3..count / 2);
                let room = Fields::indices(count) + part.len() + last.len();
                let body = out.large(3, count, room, |fields| {
                    fields.rows(1, rows, &codes, |row| row as usize);
                    fields.copy(&ready, part.clone());
                    fields.again(last.clone());
                });
                let written = plain[last.clone()].to_vec();
                field_message(&mut plain, 3, |out| {
                    if count > 0 {
                        field_message(out, 1, |out| {
                            rows.iter().for_each(|&row| varint(out, row.into()))
                        });
                    }
                    out.extend_from_slice(&ready[part]);
                    out.extend_from_slice(&written);
                });
                assert_eq!(out.end(), plain.len());
                last = body..body + count / 2;
            }
            out.record(4, 0, |_| {});
            last
        });
        field_message(&mut plain, 4, |_| {});
        assert_eq!(fast, plain);
        assert_eq!(last.len(), 0);
    }

    #[test]
    fn the_longest_fields_fit_into_what_they_may_take() {
        const LAST: u32 = (1 << 11) - 1;
        let longest = EncodedIndices::of(&[u32::MAX]).get(0);
        let body = [0x80, 0x7f, 0x3fff, 0x4000, 0x20_0000];
        for count in [1usize, 7, 30, 100] {
            let mut out = Vec::new();
            let room = Fields::VARINT + 2 * Fields::INDEX;
            record(&mut out, LAST, count * room, |fields| {
                for _ in 0..count {
                    fields.varint(LAST, u64::MAX);
                    fields.index(LAST, u32::MAX);
                    fields.code(LAST, longest);
                }
            });
            let content = count * (12 + 7 + 7);
            assert_eq!(out.len(), 2 + varint_len(content as u64) + content);
        }
        for length in body {
            let mut out = Vec::new();
            let room = 2 * (Fields::MESSAGE + 8 * length);
            record(&mut out, LAST, room, |fields| {
                fields.fixed64s(LAST, &vec![u64::MAX; length]);
                fields.codes(LAST, (0..length * 8 / 5).map(|_| longest));
            });
            let packed = |content: usize| 2 + varint_len(content as u64) + content;
            let content = packed(8 * length) + packed(length * 8 / 5 * 5);
            assert_eq!(out.len(), packed(content));
        }
        let mut out = Vec::new();
        field_varints(&mut out, LAST, (0..100).map(|_| u64::MAX));
        assert_eq!(out.len(), 2 + 2 + 1000);
    }
}
