//! Records: a few small fields, put into a window of the output that is kept for all at once.

use crate::wire::write::{field_large, long_varint, more, spread, up_to_three, varint_len};
use crate::wire::{LEN, VARINT, tag};

/// A record being put into a window at the end of the output, which was kept for all of it at
/// once. The window must be large enough: every field says how many bytes it may take.
pub(crate) struct Fields<'a> {
    window: &'a mut [u8],
    /// Of 32 bits: that adding to it does not overflow is one check less for every field.
    at: u32,
}

/// Appends fields that take up to `room` bytes.
#[inline(always)]
pub(crate) fn fields(out: &mut Vec<u8>, room: usize, fill: impl FnOnce(&mut Fields)) {
    let (start, room) = (out.len(), room + 8);
    if room <= 64 {
        out.extend_from_slice(&[0; 64]);
    } else if room <= 128 {
        out.extend_from_slice(&[0; 128]);
    } else {
        out.resize(start + room, 0);
    }
    let mut end = start;
    if let Some(window) = out.get_mut(start..) {
        let mut fields = Fields { window, at: 0 };
        fill(&mut fields);
        end += fields.at();
    }
    out.truncate(end);
}

/// A message field whose fields take up to `room` bytes.
#[inline(always)]
pub(crate) fn record(out: &mut Vec<u8>, number: u32, room: usize, fill: impl FnOnce(&mut Fields)) {
    fields(out, room + Fields::MESSAGE, |fields| {
        fields.message(number, fill)
    });
}

/// A singular varint field, left out when it is 0 or the schema lacks it.
#[inline]
pub(crate) fn field_varint(out: &mut Vec<u8>, number: u32, value: u64) {
    if value != 0 && number != 0 {
        fields(out, 12, |fields| fields.varint(number, value));
    }
}

impl Fields<'_> {
    /// What an index may take.
    pub(crate) const INDEX: usize = 7;
    /// What a varint may take.
    pub(crate) const VARINT: usize = 12;
    /// What a message, or a packed list, may take beside its content.
    pub(crate) const MESSAGE: usize = 7;

    /// The low `length` bytes of a word: all eight are stored, which needs no branch.
    #[inline(always)]
    fn put(&mut self, word: u64, length: usize) {
        let at = self.at();
        self.window[at..at + 8].copy_from_slice(&word.to_le_bytes());
        self.at += length as u32;
    }

    #[inline(always)]
    fn at(&self) -> usize {
        self.at as usize
    }

    /// A varint field, left out when it is 0 or the schema lacks it.
    #[inline(always)]
    pub(crate) fn varint(&mut self, number: u32, value: u64) {
        if value == 0 || number == 0 {
            return;
        }
        let tag = u64::from(tag(number, VARINT));
        if value < 1 << 21 && tag < 0x80 {
            let (word, length) = up_to_three(value as u32);
            self.put(tag | u64::from(word) << 8, 1 + length);
        } else if value < 1 << 49 && tag < 0x80 {
            let length = varint_len(value);
            self.put(tag | (spread(value) | more(length)) << 8, 1 + length);
        } else {
            self.at = long_varint(self.window, self.at, tag);
            self.at = long_varint(self.window, self.at, value);
        }
    }

    /// The same, of an index: small ones come together.
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

    /// The same, of an index that is ready to be stored.
    #[inline(always)]
    pub(crate) fn code(&mut self, number: u32, code: Code) {
        let tag = u64::from(tag(number, VARINT));
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

    /// A varint field that is 0 and says so.
    pub(crate) fn zero(&mut self, number: u32) {
        self.at = long_varint(self.window, self.at, tag(number, VARINT).into());
        self.put(0, 1);
    }

    #[inline(always)]
    fn value(&mut self, value: u64) {
        if value < 1 << 21 {
            let (word, length) = up_to_three(value as u32);
            self.put(word.into(), length);
        } else if value < 1 << 56 {
            let length = varint_len(value);
            self.put(spread(value) | more(length), length);
        } else {
            self.at = long_varint(self.window, self.at, value);
        }
    }

    /// A message field.
    #[inline(always)]
    pub(crate) fn message(&mut self, number: u32, fill: impl FnOnce(&mut Self)) {
        let start = self.begin(number);
        fill(self);
        self.end(start);
    }

    #[inline(always)]
    fn begin(&mut self, number: u32) -> usize {
        let tag = u64::from(tag(number, LEN));
        if tag < 0x80 {
            self.put(tag, 2)
        } else {
            self.put(spread(tag) | more(2), 3)
        }
        self.at()
    }

    #[inline(always)]
    fn end(&mut self, start: usize) {
        let length = self.at() - start;
        if length < 0x80 {
            self.window[start - 1] = length as u8;
        } else {
            self.at = widen_length(self.window, start, self.at);
        }
    }

    /// A packed field of varints of up to 10 bytes each, left out when there is none.
    #[inline(always)]
    pub(crate) fn varints(&mut self, number: u32, values: impl ExactSizeIterator<Item = u64>) {
        if values.len() != 0 && number != 0 {
            let start = self.begin(number);
            for value in values {
                self.value(value);
            }
            self.end(start);
        }
    }

    /// A packed field of fixed64, left out when there is none.
    #[inline(always)]
    pub(crate) fn fixed64s(&mut self, number: u32, values: &[u64]) {
        if !values.is_empty() && number != 0 {
            let start = self.begin(number);
            for &value in values {
                self.put(value, 8);
            }
            self.end(start);
        }
    }

    /// A packed field of indices of up to 5 bytes each, left out when there is none.
    #[inline(always)]
    pub(crate) fn codes(&mut self, number: u32, codes: impl ExactSizeIterator<Item = Code>) {
        if codes.len() != 0 && number != 0 {
            let start = self.begin(number);
            for code in codes {
                self.put(code.0, code.length());
            }
            self.end(start);
        }
    }
}

// What is rare takes and returns the place by value: so that it can be in a register elsewhere.

#[cold]
#[inline(never)]
fn widen_length(window: &mut [u8], start: usize, at: u32) -> u32 {
    let end = at as usize;
    let length = end - start;
    let needed = varint_len(length as u64);
    window.copy_within(start..end, start - 1 + needed);
    long_varint(window, start as u32 - 1, length as u64);
    at + needed as u32 - 1
}

/// The varint of an index, ready to be stored: its bytes, and in the highest byte their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Code(u64);

impl Code {
    const ZERO: Self = Self(1 << 56);

    #[inline(always)]
    fn length(self) -> usize {
        (self.0 >> 56) as usize
    }
}

/// The codes of the indices of a table's rows.
#[derive(Debug, Default)]
pub(crate) struct Codes {
    codes: Vec<Code>,
    /// How many bytes 64 of them take, in the mean.
    mean: usize,
}

impl Codes {
    pub(crate) fn of(indices: &[u32]) -> Self {
        let all = indices.iter().fold(0, |all, index| all | index);
        let codes: Vec<Code> = if all < 1 << 21 {
            let short = |&index| {
                let (word, length) = up_to_three(index);
                Code(u64::from(word) | (length as u64) << 56)
            };
            indices.iter().map(short).collect()
        } else {
            let any = |&index| {
                let length = varint_len(u64::from(index));
                Code(spread(u64::from(index)) | more(length) | (length as u64) << 56)
            };
            indices.iter().map(any).collect()
        };
        let bytes: usize = codes.iter().map(|code| code.length()).sum();
        let mean = 64 * bytes / codes.len().max(1);
        Self { codes, mean }
    }

    /// The code of a row's index.
    #[inline(always)]
    pub(crate) fn get(&self, row: usize) -> Code {
        self.codes.get(row).copied().unwrap_or(Code::ZERO)
    }

    /// About how many bytes some indices take.
    #[inline]
    pub(crate) fn expected(&self, indices: usize) -> usize {
        self.mean * indices / 64
    }
}

/// A packed repeated field of the indices of any number of rows, left out when it is empty.
#[inline]
pub(crate) fn field_codes<T: Copy>(
    out: &mut Vec<u8>,
    number: u32,
    rows: &[T],
    codes: &Codes,
    row_of: impl Fn(T) -> usize,
) {
    /// Rows a window: each takes up to 5 bytes.
    const ROWS: usize = 24;
    const WINDOW: usize = 5 * ROWS + 8;
    if rows.is_empty() || number == 0 {
        return;
    }
    field_large(out, number, codes.expected(rows.len()), |out| {
        for rows in rows.chunks(ROWS) {
            let (start, mut at) = (out.len(), 0);
            out.extend_from_slice(&[0; WINDOW]);
            if let Some(window) = out.last_chunk_mut::<WINDOW>() {
                let mut put = |row: &T| {
                    let code = codes.get(row_of(*row));
                    window[at..at + 8].copy_from_slice(&code.0.to_le_bytes());
                    at += code.length();
                };
                let (pairs, last) = rows.as_chunks::<2>();
                pairs.iter().for_each(|[first, second]| {
                    put(first);
                    put(second);
                });
                last.iter().for_each(put);
            }
            out.truncate(start + at);
        }
    });
}

/// A packed repeated field of varints, left out when it is empty.
#[inline]
pub(crate) fn field_varints(
    out: &mut Vec<u8>,
    number: u32,
    values: impl ExactSizeIterator<Item = u64>,
) {
    fields(out, Fields::MESSAGE + 10 * values.len(), |fields| {
        fields.varints(number, values)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::write::{field_message, varint};

    #[test]
    fn packed_indices_are_what_one_at_a_time_writes() {
        for size in [1usize, 5, 16, 17, 100, 1000] {
            for shift in 0..32 {
                let values: Vec<u32> = (0..size as u32)
                    .map(|i| i.wrapping_mul(2_654_435_761) >> shift)
                    .collect();
                let (mut fast, mut plain) = (Vec::new(), Vec::new());
                let codes = Codes::of(&values);
                let rows: Vec<usize> = (0..size).rev().collect();
                field_codes(&mut fast, 3, &rows, &codes, |row| row);
                field_message(&mut plain, 3, |out| {
                    rows.iter()
                        .for_each(|&row| varint(out, u64::from(values[row])))
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
    fn the_longest_fields_fit_into_what_they_may_take() {
        const LAST: u32 = (1 << 11) - 1;
        let longest = Codes::of(&[u32::MAX]).get(0);
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
