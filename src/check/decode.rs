//! Decodes a message of any bytes into a record, field by field. [`anomalies`](super::anomalies) has the rare
//! cases.
//!
//! ```text
//! tag ─► slot of the number ─► wire type of the schema? ─────► value, length or body ─► cell of the record
//!          │ none                  │ no                             │ anomaly
//!          ▼                       ▼                                ▼
//!       unknown: skipped        mismatch: the message ends       reported, kept where possible
//! ```
//!
//! Every byte of a payload that [`canonical`](super::canonical) does not accept is decoded here once. So the common
//! case is inlined and branches only to `#[cold]` functions. Their findings are about bytes and references; rules
//! check the values later, in the record.

use std::ops::Range;

use super::catalogue::{OP1023, OP1024, OP9102};
use super::context::{Broken, CheckContext};
use super::fields::Fields;
use super::findings::Position;
use super::layout::{MessageLayout, Slot, Take};
use super::record::Record;
use super::text;
use super::varint::varint;
use crate::schema::MessageKind;
use crate::wire::write::varint_len;
use crate::wire::{FIXED64, LEN, VARINT};

impl CheckContext<'_> {
    /// Decodes a message, and reports defects of its bytes and its references.
    ///
    /// If the message is malformed, the record has the fields before the fault, and callers ignore it. Each member
    /// of a `oneof` has a cell: more than one bit means more than one member.
    pub(crate) fn decode(
        &mut self,
        shape: &'static MessageLayout,
        start: usize,
        end: usize,
        record: &mut Record,
    ) -> Result<(), Broken> {
        record.begin(shape, start, end);
        let mut at = start;
        while at < end {
            let before = at;
            at = self.field(shape, at, end, record)?;
            if shape.runs {
                at = self.run(shape, before, at, end, record);
            }
        }
        if shape.kind == MessageKind::AnyValue && record.seen.count_ones() > 1 {
            let members = record.seen.count_ones();
            self.has_repeated_singular = true;
            self.report(&OP1023, Position::at(start), format_args!("{members} members"), "1");
        }
        Ok(())
    }

    /// Decodes more fields like the last one, if they hold messages, or strings without defects.
    ///
    /// Rows of tables are stored end to end, and the survey knows their positions
    /// ([`Tables::behind`](super::tables::Tables)), so most of a dictionary is skipped in one step. Strings are
    /// checked here, messages later. Without known rows, headers are decoded as long as they equal the first.
    #[inline(never)]
    fn run(
        &mut self,
        shape: &'static MessageLayout,
        before: usize,
        mut at: usize,
        end: usize,
        record: &mut Record,
    ) -> usize {
        let tag = Fields::new(self.bytes, before, end).tag();
        let Some(slot) = shape.slot(u32::from(tag >> 3)).filter(|slot| slot.repeated) else {
            return at;
        };
        if !matches!(slot.take, Take::Message | Take::Text) {
            return at;
        }
        let (mut more, mut last) = (0, 0..0);
        let (long, is_text) = (self.long, slot.take == Take::Text);
        let fine = |from, to| {
            let text = self.bytes.get(from..to).unwrap_or_default();
            !is_text || (text.len() <= long && !text::needs_check(text))
        };
        // The survey knows these rows, so their headers need not be decoded.
        let known = self.tables.following(before);
        // The first string with a defect ends the run; `field` then decodes and reports it.
        let usual = match is_text {
            true => {
                known.iter().take_while(|(from, to)| fine(*from as usize, *to as usize)).count()
            }
            false => known.len(),
        };
        if let Some((from, to)) = known.get(..usual).and_then(<[_]>::last) {
            (at, more, last) = (*to as usize, usual as u32, *from as usize..*to as usize);
        }
        if known.is_empty() {
            let mut fields = Fields::new(self.bytes, at, end);
            while let Some((from, to)) = fields.again(tag).filter(|(from, to)| fine(*from, *to)) {
                (at, more, last) = (to, more + 1, from..to);
            }
        }
        if more > 0 {
            record.cell_mut(slot.cell).add_run(more, &last);
        }
        at
    }

    /// Decodes one field, and returns the start of the next one.
    ///
    /// A field whose wire type differs from the schema ends its message, because the bytes after it may be
    /// anything.
    ///
    /// Nearly all tags have one byte; a byte below 8 has field number 0 and is invalid.
    #[inline]
    pub(super) fn field(
        &mut self,
        shape: &'static MessageLayout,
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
            return self.unknown(shape.kind, (number, wire), (at, body, end));
        };
        match (wire, slot.take) {
            (VARINT, Take::Varint) => self.number(slot, at, body, end, record),
            (LEN, Take::Message) => {
                let body = self.length(Some(slot), record, at, body, end)?;
                let cell = record.cell_mut(slot.cell);
                cell.add_body(at, 1, &body);
                if cell.times > 1 && !slot.repeated {
                    self.twice(slot, body.start);
                }
                Ok(body.end)
            }
            (LEN, Take::Text | Take::Bytes) => {
                let body = self.length(Some(slot), record, at, body, end)?;
                self.text(slot, at, body.clone(), record);
                Ok(body.end)
            }
            (LEN, Take::Varint | Take::Fixed) if slot.repeated => {
                let body = self.length(Some(slot), record, at, body, end)?;
                self.packed(slot, at, body.clone(), record)?;
                Ok(body.end)
            }
            (FIXED64, Take::Fixed) => self.fixed(slot, at, body, end, record),
            _ => self.mismatch(slot, wire, (at, body, end)),
        }
    }

    /// The position of a finding about a field.
    ///
    /// For a list, its next row: call this before the element is counted.
    pub(super) fn spot(slot: &Slot, record: &Record, at: usize) -> Position {
        let spot = Position::at(at).field(slot.field.name);
        match slot.repeated {
            true => spot.row(record.count(slot.cell)),
            false => spot,
        }
    }

    /// Decodes a varint, and checks that it is in its shortest form, within the range of its type, and for a
    /// reference, that the row exists.
    ///
    /// One condition detects all anomalies: a value out of range (as a negative index is), a default that is
    /// written out, and an overlong encoding. Marks references immediately, so that each table's uses are counted.
    #[inline]
    pub(super) fn number(
        &mut self,
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
        // One byte is always the shortest form, which spares most numbers a count of their bits.
        let overlong = length > 1 && length > varint_len(value);
        if value > slot.most || (value == 0 && slot.plain) || overlong {
            value = self.anomaly(slot, value, after - body, Self::spot(slot, record, at));
        }
        let row = record.count(slot.cell);
        let cell = record.cell_mut(slot.cell);
        cell.add(at, 1);
        cell.value = value;
        let (times, chunk) = (cell.times, cell.end > 0);
        self.refer(slot, value, at, slot.repeated.then_some(row));
        if times > 1 && !slot.repeated {
            self.twice(slot, at);
        }
        if slot.repeated {
            self.unpacked(slot, at, chunk);
        }
        Ok(after)
    }

    /// Decodes a number of eight bytes: a time, a double or an id. Every value is valid.
    ///
    /// Fewer than eight bytes end the message.
    #[inline]
    pub(super) fn fixed(
        &mut self,
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
            self.twice(slot, at);
        }
        if slot.repeated {
            self.unpacked(slot, at, chunk);
        } else if value == 0 && slot.plain {
            self.written_default(slot, at);
        }
        Ok(body + 8)
    }

    /// Decodes the length of a field and returns its body, which must be within the message.
    ///
    /// Two comparisons accept the common lengths; `unusual_length` handles and reports all others.
    #[inline]
    pub(super) fn length(
        &mut self,
        slot: Option<&Slot>,
        record: &Record,
        at: usize,
        body: usize,
        end: usize,
    ) -> Result<Range<usize>, Broken> {
        match varint(self.bytes, body, end) {
            // In the shortest form, of one or two bytes.
            // The cast is safe: the length is at most the bytes that are left.
            Ok((length, start))
                if length <= (end - start) as u64
                    && (start - body == 1 || (start - body == 2 && length > 0x7f)) =>
            {
                Ok(start..start + length as usize)
            }
            other => self.unusual_length(slot, record, at, body, end, other),
        }
    }

    /// Checks a string or bytes. One test accepts printable ASCII within the limits; the rules then check
    /// everything else one by one.
    ///
    /// Empty strings are defaults that were written out, unless the field is a list or a member of a `oneof`.
    #[inline]
    pub(super) fn text(
        &mut self,
        slot: &'static Slot,
        at: usize,
        body: Range<usize>,
        record: &mut Record,
    ) {
        let odd = match slot.take {
            Take::Text => text::needs_check(self.bytes.get(body.clone()).unwrap_or_default()),
            _ => false,
        };
        if odd || body.len() > self.long || (body.is_empty() && slot.plain) {
            // In a list each string is a row, whose position is its contents.
            let spot = Self::spot(slot, record, if slot.repeated { body.start } else { at });
            text::check(self, slot, spot, body.clone());
            if body.is_empty() && slot.plain {
                self.written_default(slot, at);
            }
        }
        let cell = record.cell_mut(slot.cell);
        cell.add_body(at, 1, &body);
        if cell.times > 1 && !slot.repeated {
            self.twice(slot, at);
        }
    }

    /// Checks a reference, if the field is one: that the row exists. Counts it as a use of the row, for orphans.
    ///
    /// Negative indices decode to numbers past any table. In 1.3 to 1.5 the tables are those of the current
    /// profile.
    #[inline]
    pub(super) fn refer(&mut self, slot: &'static Slot, value: u64, at: usize, row: Option<usize>) {
        match slot.table {
            Some((table, _)) if value < self.tables.len(table) => self.tables.mark(table, value),
            Some((table, rule)) => self.dangling(slot, (table, rule), value, at, row),
            None => {}
        }
    }

    /// Reports a list element that is not packed, with a separate rule if it follows a packed chunk.
    ///
    /// `chunk` is true after a packed chunk: a mix is legal, but some decoders lose half of it.
    #[inline]
    pub(super) fn unpacked(&mut self, slot: &'static Slot, at: usize, chunk: bool) {
        let rule = if chunk { &OP1024 } else { &OP9102 };
        self.note_unpacked(rule, slot, at);
    }
}
