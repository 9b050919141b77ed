//! Packed lists: their numbers taken one by one where something has to be said of them, or all at once.
//!
//! A list of references is most of a stack and all of its cost. [`Indices`](crate::wire::indices::Indices), which the readers
//! of OTLP use as well, makes numbers of its bytes by vector instructions; the largest of them and one look for bytes of
//! zeros then tell whether there is nothing to say of any. Only if there is, the list is walked:
//!
//! ```text
//! body  ac 02 05 81 01      no byte of zeros: each number in its shortest form, none is 0
//!       300   5  129        the largest below the rows of the table: each leads somewhere
//! ```
//!
//! Two lists are most of the bytes of a payload: `Stack.location_indices`, and `Sample.location_id`
//! of pprof. Packed lists of `fixed64` need no look at their bytes: any eight are a number.

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

/// Packed lists up to this many bytes are walked one number at a time.
///
/// The preparations of the fast way cost more than so few numbers.
const SHORT: usize = 8;

impl CheckContext<'_> {
    /// A packed list.
    ///
    /// A misaligned list of `fixed64` breaks its message: where its numbers begin cannot be told. A
    /// second chunk is legal and told (`OP1024`); [`CheckContext::numbers`](super::context::CheckContext::numbers) puts them
    /// together.
    #[inline(always)]
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
            self.findings.report_folded(&OP1024, slot.kind(), spot, "", "");
        }
        Ok(())
    }

    /// Walks the numbers of a packed list, and says how many there are.
    ///
    /// `first` is how many elements earlier chunks had, for the rows in findings. Memory: none, the
    /// numbers are read again by who needs them.
    #[inline(always)]
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

    /// How many references a packed list holds, if there is nothing to say of their bytes and of what they lead
    /// to: a number in the range, of which row 0 of the table is called `first`.
    ///
    /// Shown by three facts about all bytes at once instead of one question for each number:
    ///
    /// * no byte of zeros: no number is 0 or longer than it has to be;
    /// * a largest number below the end of the range: every reference leads somewhere;
    /// * no fault while they are decoded.
    ///
    /// Zeros are legal where row 0 is (`range.start` is 0); then only one behind a byte that goes
    /// on is looked for.
    pub(super) fn plain(
        &mut self,
        table: Table,
        body: &Range<usize>,
        first: u32,
        range: Range<u64>,
    ) -> Option<usize> {
        let bytes = self.bytes.get(body.clone())?;
        // A number in its shortest form has no byte of zeros, unless it is 0.
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

    /// Notes the references that were just read: row 0 of their table is called `first`.
    ///
    /// Numbers are kept plus 1 ([`Indices::plus`](crate::wire::indices::Indices::plus)), which is
    /// taken back here.
    pub(super) fn mark_indices(&mut self, table: Table, first: u32) {
        let indices = self.indices.get(0, self.indices.len());
        self.tables.mark_all(table, indices, 1 + first);
    }
}
