//! The numbers of a repeated field, in any encoding.
//!
//! Three forms on the wire, one iterator:
//!
//! ```text
//! packed   22 03 01 02 03             one chunk or several
//! fixed    2a 08 …                    eight bytes each, in chunks or one by one
//! others   20 01  20 02               one by one
//! ```

use super::fields::{Body, Fields};
use super::layout::Take;
use super::record::Record;
use super::varint::varint;

/// Iterates over the numbers of a field, each with the byte where it begins.
pub(crate) struct Numbers<'a> {
    bytes: &'a [u8],
    /// The rest of the message, in which `left` fields with the number `field` remain.
    fields: Fields<'a>,
    field: u32,
    left: u32,
    /// The rest of the current chunk.
    chunk: Body,
    is_fixed: bool,
}

impl<'a> Numbers<'a> {
    /// The numbers of the field of a cell.
    pub(crate) fn new(bytes: &'a [u8], record: &Record, cell: usize) -> Self {
        let (at, left) = record.get(cell).map_or((0, 0), |found| (found.at as usize, found.times));
        let slot = record.shape.of_cell(cell);
        Self {
            bytes,
            fields: Fields::new(bytes, at, record.end),
            field: slot.map_or(0, |slot| slot.field.number),
            left,
            chunk: (0, 0),
            is_fixed: slot.is_some_and(|slot| slot.take == Take::Fixed),
        }
    }
}

impl Iterator for Numbers<'_> {
    type Item = (usize, u64);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (at, end) = self.chunk;
            let found = match self.is_fixed {
                true => self.bytes.get(at..end).and_then(<[u8]>::first_chunk).map(|word| {
                    let value = u64::from_le_bytes(*word);
                    (value, at + size_of_val(word))
                }),
                false if at < end => varint(self.bytes, at, end).ok(),
                false => None,
            };
            if let Some((value, after)) = found {
                self.chunk.0 = after;
                return Some((at, value));
            }
            if self.left == 0 {
                return None;
            }
            let at = self.fields.at();
            let (number, body) = self.fields.next()?;
            if number == self.field {
                self.left -= 1;
                match body {
                    Some(chunk) => self.chunk = chunk,
                    None => return Some((at, self.fields.number())),
                }
            }
        }
    }
}
