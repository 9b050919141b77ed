//! Packed lists: checked all at once, or number by number if that fails.
//!
//! A list of references is most of a stack and all of its cost. [`Indices`](crate::wire::indices::Indices), which
//! the readers of OTLP use as well, decodes it with vector instructions. Its maximum and one search for zero bytes
//! then show whether all numbers are valid. Only if they may not be, the list is walked:
//!
//! ```text
//! body  ac 02 05 81 01      no byte of zeros: each number in its shortest form, none is 0
//!       300   5  129        the largest below the rows of the table: each leads somewhere
//! ```
//!
//! Two lists make up most of the bytes of a payload: `Stack.location_indices`, and `Sample.location_id` of pprof.
//! Packed lists of `fixed64` need no check of their bytes: any eight bytes are a number.

use std::ops::Range;

use super::catalogue::{OP1012, OP1024};
use super::context::{Broken, CheckContext};
use super::findings::Position;
use super::layout::{Slot, Take};
use super::record::Record;
use super::varint::{Fault, varint};
use crate::schema::Table;
use crate::wire::read::Reader;
use crate::wire::write::varint_len;

/// Packed lists up to this many bytes are walked number by number.
///
/// For so few numbers the setup of the vector decoder costs more than it saves.
const SHORT: usize = 8;

impl CheckContext<'_> {
    /// Checks a packed list.
    ///
    /// A misaligned list of `fixed64` breaks its message, because its elements cannot be located. A second chunk is
    /// legal and reported (`OP1024`); [`CheckContext::numbers`](super::context::CheckContext::numbers) joins the
    /// chunks.
    #[inline]
    pub(super) fn packed(
        &mut self,
        slot: &'static Slot,
        at: usize,
        body: Range<usize>,
        record: &mut Record,
    ) -> Result<(), Broken> {
        let first = record.count(slot.cell);
        let elements = match slot.take {
            Take::Fixed if body.len().is_multiple_of(8) => body.len() / 8,
            Take::Fixed => {
                let (spot, bytes) = (Position::at(at).field(slot.field.name), body.len());
                self.report(&OP1012, spot, format_args!("{bytes} bytes"), "a multiple of 8 bytes");
                return Err(Broken);
            }
            _ => self.elements(slot, at, body.clone(), first)?,
        };
        let cell = record.cell_mut(slot.cell);
        cell.add_body(at, elements, &body);
        if cell.times > 1 {
            let spot = Position::at(at).field(slot.field.name);
            self.findings.report_folded(&OP1024, slot.fold_key(), spot, "", "");
        }
        Ok(())
    }

    /// Checks the numbers of a packed list, and returns how many there are.
    ///
    /// `first` is the number of elements in earlier chunks, for the rows in findings. Stores no numbers: whoever
    /// needs them decodes them again.
    #[inline]
    pub(super) fn elements(
        &mut self,
        slot: &'static Slot,
        tag: usize,
        body: Range<usize>,
        first: usize,
    ) -> Result<usize, Broken> {
        if let Some((table, _)) = slot.table
            && body.len() > SHORT
            && let Some(elements) = self.plain(table, &body, 0, 0..self.tables.len(table))
        {
            return Ok(elements);
        }
        let (mut at, mut elements) = (body.start, 0);
        while at < body.end {
            let (mut value, after) = match varint(self.bytes, at, body.end) {
                Ok(found) => found,
                // The last number continues past the list, so the length of the list is wrong, not the number.
                Err(Fault::Truncated) => {
                    let spot = Position::at(tag).field(slot.field.name);
                    self.report(&OP1012, spot, "", "");
                    return Err(Broken);
                }
                Err(fault) => {
                    let spot = Position::at(at).field(slot.field.name).row(first + elements);
                    return Err(self.fault(fault, spot));
                }
            };
            if after - at > 1 && (value > slot.most || after - at > varint_len(value)) {
                let spot = Position::at(at).field(slot.field.name).row(first + elements);
                value = self.anomaly(slot, value, after - at, spot);
            }
            self.refer(slot, value, at, Some(first + elements));
            (at, elements) = (after, elements + 1);
        }
        Ok(elements)
    }

    /// The number of references in a packed list, if all are in their shortest form and within `range`. The number
    /// `first` refers to row 0 of the table.
    ///
    /// Three facts about all bytes at once replace a check of each number:
    ///
    /// * no zero byte: no number is 0 or longer than necessary;
    /// * a maximum below the end of the range: every reference leads to a row;
    /// * no decoding error.
    ///
    /// If row 0 is in the range (`range.start` is 0), zeros are legal; then only a zero after a continuation byte
    /// fails.
    pub(super) fn plain(
        &mut self,
        table: Table,
        body: &Range<usize>,
        first: u32,
        range: Range<u64>,
    ) -> Option<usize> {
        let bytes = self.bytes.get(body.clone())?;
        // A number in its shortest form contains no zero byte, unless it is 0.
        // `fold` reads every byte without a branch, unlike `any`, so that the compiler can use vectors.
        let zeros = bytes.iter().fold(false, |any, byte| any | (*byte == 0));
        let overlong = |pair: &[u8]| pair[0] >= 0x80 && pair[1] == 0;
        if zeros
            && (range.start > 0 || bytes.windows(2).fold(false, |any, pair| any | overlong(pair)))
        {
            return None;
        }
        self.indices.clear();
        self.indices.append(Reader::within(self.bytes, body.start, body.end)).ok()?;
        if u64::from(self.indices.most_less_one()?) >= range.end {
            return None;
        }
        self.mark_indices(table, first);
        Some(self.indices.len())
    }

    /// Counts the references decoded last as uses. The number `first` refers to row 0 of their table.
    ///
    /// [`Indices::plus`](crate::wire::indices::Indices::plus) stores numbers plus 1, which is subtracted here.
    pub(super) fn mark_indices(&mut self, table: Table, first: u32) {
        let indices = self.indices.get(0, self.indices.len());
        self.tables.mark_all(table, indices, 1 + first);
    }
}
