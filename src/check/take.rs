//! A message taken apart, field by field: what nearly all fields are is decided here, the rest in `odd`.

use std::ops::Range;

use super::catalogue::{OP1012, OP1023, OP1024, OP9102};
use super::cx::{Broken, Cx, kind};
use super::fields::Fields;
use super::findings::Spot;
use super::record::Record;
use super::rule::Rule;
use super::shape::{Kind, Shape, Slot, Take};
use super::text;
use super::varint::{Fault, varint};
use crate::schema::Table;
use crate::wire::read::Reader;
use crate::wire::write::varint_len;
use crate::wire::{FIXED64, LEN, VARINT};

/// Packed lists up to this many bytes are walked one number at a time.
const SHORT: usize = 8;

impl Cx<'_> {
    /// Takes a message apart, and finds what is wrong with its bytes and its references.
    pub(crate) fn take(
        &mut self,
        shape: &'static Shape,
        start: usize,
        end: usize,
        record: &mut Record,
    ) -> Result<(), Broken> {
        record.begin(start, end);
        let mut at = start;
        while at < end {
            let before = at;
            at = self.field(shape, at, end, record)?;
            if shape.runs {
                at = self.run(shape, before, at, end, record);
            }
        }
        if shape.kind == Kind::AnyValue && record.seen.count_ones() > 1 {
            let members = record.seen.count_ones();
            self.findings.raise(&OP1023, Spot::at(start), format_args!("{members} members"), "1");
        }
        Ok(())
    }

    /// Takes more fields like the one that was just taken, where those hold messages or texts that there is nothing
    /// to say of.
    #[inline(never)]
    fn run(
        &mut self,
        shape: &'static Shape,
        before: usize,
        mut at: usize,
        end: usize,
        record: &mut Record,
    ) -> usize {
        let Some(tag) = self.bytes.get(before).copied().filter(|tag| *tag < 0x80) else {
            return at;
        };
        let Some(slot) = shape.slot(u32::from(tag >> 3)).filter(|slot| slot.repeated) else {
            return at;
        };
        if !matches!(slot.take, Take::Message | Take::Text) {
            return at;
        }
        let (mut more, mut last) = (0, 0..0);
        let (long, is_text) = (self.long, slot.take == Take::Text);
        let mut fields = Fields::new(self.bytes, at, end);
        while let Some((from, to)) = fields.again(tag) {
            if is_text {
                let text = self.bytes.get(from..to).unwrap_or_default();
                if text.len() > long || text::is_odd(text) {
                    break;
                }
            }
            (at, more, last) = (to, more + 1, from..to);
        }
        if more > 0 {
            record.cell_mut(slot.cell).add_run(more, &last);
        }
        at
    }

    /// Takes one field, and gives where the next one begins.
    #[inline(always)]
    pub(super) fn field(
        &mut self,
        shape: &'static Shape,
        at: usize,
        end: usize,
        record: &mut Record,
    ) -> Result<usize, Broken> {
        let (tag, body) = match self.bytes.get(at) {
            Some(byte) if *byte >= 8 && *byte < 0x80 => (u32::from(*byte), at + 1),
            _ => self.long_tag(at, end)?,
        };
        let (number, wire) = (tag >> 3, tag & 7);
        let Some(slot) = shape.slot(number) else {
            record.unknown = true;
            return self.unknown(shape, number, wire, at, body, end);
        };
        match (wire, slot.take) {
            (VARINT, Take::Varint) => self.number(shape, slot, at, body, end, record),
            (LEN, Take::Message) => {
                let body = self.length(Some(slot), record, at, body, end)?;
                let cell = record.cell_mut(slot.cell);
                cell.add_body(at, 1, &body);
                if cell.times > 1 && !slot.repeated {
                    self.twice(shape, slot, at);
                }
                Ok(body.end)
            }
            (LEN, Take::Text | Take::Bytes) => {
                let body = self.length(Some(slot), record, at, body, end)?;
                self.text(shape, slot, at, body.clone(), record);
                Ok(body.end)
            }
            (LEN, Take::Varint | Take::Fixed) if slot.repeated => {
                let body = self.length(Some(slot), record, at, body, end)?;
                self.packed(shape, slot, at, body.clone(), record)?;
                Ok(body.end)
            }
            (FIXED64, Take::Fixed) => self.fixed(shape, slot, at, body, end, record),
            _ => self.mismatch(shape, slot, wire, at),
        }
    }

    /// Where a finding about a field is.
    pub(super) fn spot(slot: &Slot, record: &Record, at: usize) -> Spot {
        let spot = Spot::at(at).field(slot.field.name);
        match slot.repeated {
            true => spot.row(record.count(slot.cell)),
            false => spot,
        }
    }

    #[inline(always)]
    pub(super) fn number(
        &mut self,
        shape: &'static Shape,
        slot: &'static Slot,
        at: usize,
        body: usize,
        end: usize,
        record: &mut Record,
    ) -> Result<usize, Broken> {
        let (mut value, after) = match varint(self.bytes, body, end) {
            Ok(found) => found,
            Err(fault) => return Err(self.fault(fault, Self::spot(slot, record, at))),
        };
        let length = after - body;
        let overlong = length > 1 && length > varint_len(value);
        if value > slot.most || (value == 0 && slot.plain) || overlong {
            value = self.odd(shape, slot, value, after - body, Self::spot(slot, record, at));
        }
        let row = record.count(slot.cell);
        let cell = record.cell_mut(slot.cell);
        cell.add(at, 1);
        cell.value = value;
        let (times, chunk) = (cell.times, cell.end > 0);
        if let Some((table, rule)) = slot.table {
            let row = slot.repeated.then_some(row);
            self.refer(shape, slot, table, rule, value, at, row);
        }
        if times > 1 && !slot.repeated {
            self.twice(shape, slot, at);
        }
        if slot.repeated {
            self.unpacked(shape, slot, at, chunk);
        }
        Ok(after)
    }

    #[inline(always)]
    pub(super) fn fixed(
        &mut self,
        shape: &'static Shape,
        slot: &'static Slot,
        at: usize,
        body: usize,
        end: usize,
        record: &mut Record,
    ) -> Result<usize, Broken> {
        let word = self.bytes.get(body..end).and_then(<[u8]>::first_chunk::<8>);
        let Some(word) = word else {
            return Err(self.short(8, end - body, Self::spot(slot, record, at)));
        };
        let value = u64::from_le_bytes(*word);
        let cell = record.cell_mut(slot.cell);
        cell.add(at, 1);
        cell.value = value;
        let (times, chunk) = (cell.times, cell.end > 0);
        if times > 1 && !slot.repeated {
            self.twice(shape, slot, at);
        }
        if slot.repeated {
            self.unpacked(shape, slot, at, chunk);
        } else if value == 0 && slot.plain {
            self.written_default(shape, slot, at);
        }
        Ok(body + 8)
    }

    /// The body of a field with a length.
    #[inline(always)]
    pub(super) fn length(
        &mut self,
        slot: Option<&Slot>,
        record: &Record,
        at: usize,
        body: usize,
        end: usize,
    ) -> Result<Range<usize>, Broken> {
        match varint(self.bytes, body, end) {
            // In its shortest form, of one byte or two.
            Ok((length, start))
                if length <= (end - start) as u64
                    && (start - body == 1 || (start - body == 2 && length > 0x7f)) =>
            {
                Ok(start..start + length as usize)
            }
            other => self.odd_length(slot, record, at, body, end, other),
        }
    }

    /// Text or bytes.
    #[inline(always)]
    pub(super) fn text(
        &mut self,
        shape: &'static Shape,
        slot: &'static Slot,
        at: usize,
        body: Range<usize>,
        record: &mut Record,
    ) {
        let odd = match slot.take {
            Take::Text => text::is_odd(self.bytes.get(body.clone()).unwrap_or_default()),
            _ => false,
        };
        if odd || body.len() > self.long || (body.is_empty() && slot.plain) {
            let spot = Self::spot(slot, record, at);
            text::check(self, slot, spot, body.clone());
            if body.is_empty() && slot.plain {
                self.written_default(shape, slot, at);
            }
        }
        let cell = record.cell_mut(slot.cell);
        cell.add_body(at, 1, &body);
        if cell.times > 1 && !slot.repeated {
            self.twice(shape, slot, at);
        }
    }

    /// A packed list.
    #[inline(always)]
    pub(super) fn packed(
        &mut self,
        shape: &'static Shape,
        slot: &'static Slot,
        at: usize,
        body: Range<usize>,
        record: &mut Record,
    ) -> Result<(), Broken> {
        let first = record.count(slot.cell);
        let elements = match slot.take {
            Take::Fixed if body.len().is_multiple_of(8) => body.len() / 8,
            Take::Fixed => {
                let (spot, bytes) = (Spot::at(at).field(slot.field.name), body.len());
                self.findings.raise(
                    &OP1012,
                    spot,
                    format_args!("{bytes} bytes"),
                    "a multiple of 8",
                );
                return Err(Broken);
            }
            _ => self.elements(shape, slot, at, body.clone(), first)?,
        };
        let cell = record.cell_mut(slot.cell);
        cell.add_body(at, elements, &body);
        if cell.times > 1 {
            let kind = kind(shape, slot.field.number);
            let spot = Spot::at(at).field(slot.field.name);
            self.findings.fold(&OP1024, kind, spot, "several chunks", "one");
        }
        Ok(())
    }

    /// Walks the numbers of a packed list, and says how many there are.
    #[inline(always)]
    pub(super) fn elements(
        &mut self,
        shape: &'static Shape,
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
                    let spot = Spot::at(tag).field(slot.field.name);
                    self.findings.raise(&OP1012, spot, "it ends inside a varint", "");
                    return Err(Broken);
                }
                Err(fault) => {
                    let spot = Spot::at(at).field(slot.field.name).row(first + elements);
                    return Err(self.fault(fault, spot));
                }
            };
            if after - at > 1 && (value > slot.most || after - at > varint_len(value)) {
                let spot = Spot::at(at).field(slot.field.name).row(first + elements);
                value = self.odd(shape, slot, value, after - at, spot);
            }
            if let Some((table, rule)) = slot.table {
                self.refer(shape, slot, table, rule, value, at, Some(first + elements));
            }
            (at, elements) = (after, elements + 1);
        }
        Ok(elements)
    }

    /// How many references a packed list holds, if there is nothing to say of their bytes and of what they lead
    /// to: a number in the range, of which row 0 of the table is called `first`.
    pub(super) fn plain(
        &mut self,
        table: Table,
        body: &Range<usize>,
        first: u64,
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
    pub(super) fn mark_indices(&mut self, table: Table, first: u64) {
        let (indices, tables) = (self.indices.get(0, self.indices.len()), &mut self.tables);
        if !tables.unmarked {
            indices.iter().for_each(|index| tables.mark(table, u64::from(index - 1) - first));
        }
    }

    /// A reference: whether the row is there, and that something refers to it.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "it is inlined into the hottest loop")]
    pub(super) fn refer(
        &mut self,
        shape: &'static Shape,
        slot: &'static Slot,
        table: Table,
        rule: &'static Rule,
        value: u64,
        at: usize,
        row: Option<usize>,
    ) {
        if value < self.tables.len(table) {
            self.tables.mark(table, value);
        } else {
            self.dangling(shape, slot, table, rule, value, at, row);
        }
    }

    #[inline(always)]
    pub(super) fn unpacked(
        &mut self,
        shape: &'static Shape,
        slot: &'static Slot,
        at: usize,
        chunk: bool,
    ) {
        if chunk {
            self.note_unpacked(&OP1024, shape, slot, at);
        } else {
            self.note_unpacked(&OP9102, shape, slot, at);
        }
    }
}
