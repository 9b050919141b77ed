//! What references lead to: where each row of each table lies, and which rows something refers to.
//!
//! The rows are found before anything is walked (`survey`), by the headers of fields alone: eight bytes a row, whatever
//! is in it. References are counted as they are met, so that what an orphan refers to can be taken back.

use super::shape::{Shape, Take};
use super::varint::varint;
use crate::schema::{Role, Table};
use crate::wire::{FIXED32, FIXED64, LEN, VARINT};

/// The tables that a payload, or in older generations a profile, has.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    /// How many rows each table has.
    pub(crate) lens: [u64; Table::COUNT],
    /// The body of each row.
    pub(crate) rows: [Vec<(u32, u32)>; Table::COUNT],
    /// Of each row the first one that it equals; empty where no two are equal.
    pub(crate) equal: [Vec<u32>; Table::COUNT],
    /// Which rows are written in [the one form](super::plain) of their own, but for what they refer to.
    plain: [Vec<bool>; Table::COUNT],
    /// How often each row is referred to.
    uses: [Vec<u32>; Table::COUNT],
    /// Whether no rule asks what is referred to.
    pub(crate) unmarked: bool,
    /// Whether there is nothing that references could be held against.
    pub(crate) missing: bool,
}

impl Tables {
    /// Adds the rows of the tables in a message.
    pub(crate) fn survey(&mut self, bytes: &[u8], shape: &Shape, start: usize, end: usize) {
        let mut fields = Fields::new(bytes, start, end);
        loop {
            let tag = bytes.get(fields.at).copied().unwrap_or(0);
            let Some((number, body)) = fields.next() else { return };
            let Some(slot) = shape.slot(number) else { continue };
            let (Role::Row(table), Take::Message | Take::Text, Some((from, to))) =
                (slot.field.role, slot.take, body)
            else {
                continue;
            };
            let rows = &mut self.rows[table as usize];
            rows.push((from as u32, to as u32));
            // Rows of a table follow one another.
            while let Some((from, to)) = fields.again(tag, true) {
                rows.push((from as u32, to as u32));
            }
        }
    }

    /// Makes room for what is referred to.
    pub(crate) fn close(&mut self) {
        for (table, rows) in self.rows.iter().enumerate() {
            self.lens[table] = rows.len() as u64;
            self.uses[table] = vec![0; rows.len()];
            self.plain[table] = vec![false; rows.len()];
        }
    }

    #[inline(always)]
    pub(crate) fn len(&self, table: Table) -> u64 {
        self.lens[table as usize]
    }

    /// Notes a reference to a row that there is.
    #[inline(always)]
    pub(crate) fn mark(&mut self, table: Table, row: u64) {
        if self.unmarked {
            return;
        }
        if let Some(uses) = self.uses[table as usize].get_mut(row as usize) {
            *uses += 1;
        }
    }

    /// Notes that the bytes of a row are its form, as far as what it refers to has no equal.
    #[inline(always)]
    pub(crate) fn note_plain(&mut self, table: Table, row: usize) {
        if let Some(plain) = self.plain[table as usize].get_mut(row) {
            *plain = true;
        }
    }

    pub(crate) fn is_plain(&self, table: Table, row: usize) -> bool {
        self.plain[table as usize].get(row).is_some_and(|plain| *plain)
    }

    /// Takes a reference to a row back, and says whether it was the last.
    pub(crate) fn release(&mut self, table: Table, row: u64) -> bool {
        let row = usize::try_from(row).ok();
        let uses = row.and_then(|row| self.uses[table as usize].get_mut(row));
        uses.is_some_and(|uses| {
            let was = *uses;
            *uses = was.saturating_sub(1);
            was == 1
        })
    }

    /// The first row that equals a row, if there is one; any other number as it is.
    pub(crate) fn first_equal(&self, table: Table, row: u64) -> u64 {
        let equal = &self.equal[table as usize];
        let first = usize::try_from(row).ok().and_then(|row| equal.get(row));
        first.map_or(row, |first| u64::from(*first))
    }

    /// Whether anything refers to a row.
    pub(crate) fn is_used(&self, table: Table, row: usize) -> bool {
        self.uses[table as usize].get(row).is_some_and(|uses| *uses > 0)
    }

    /// The rows from `first` on that nothing refers to.
    pub(crate) fn unused(&self, table: Table, first: usize) -> impl Iterator<Item = usize> {
        (first..self.rows[table as usize].len()).filter(move |row| !self.is_used(table, *row))
    }

    /// The body of a row.
    pub(crate) fn row(&self, table: Table, row: u64) -> Option<(usize, usize)> {
        let row = usize::try_from(row).ok()?;
        let (start, end) = *self.rows[table as usize].get(row)?;
        Some((start as usize, end as usize))
    }
}

/// The body of the field at `at`, if its tag is the byte `tag` and its length of one byte or two.
#[inline(always)]
pub(crate) fn again(bytes: &[u8], at: usize, end: usize, tag: u8) -> Option<(usize, usize)> {
    let [found, low, high] = *bytes.get(at..end)?.first_chunk::<3>()?;
    let (length, start) = match low < 0x80 {
        true => (usize::from(low), at + 2),
        false => (usize::from(low & 0x7f) | usize::from(high) << 7, at + 3),
    };
    let plain = found == tag
        && tag < 0x80
        && (low < 0x80 || (high < 0x80 && high > 0))
        && length <= end - start;
    plain.then_some((start, start + length))
}

/// The fields of a message whose wire format may be wrong: they end where it is.
pub(crate) struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
    number: u64,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(bytes: &'a [u8], start: usize, end: usize) -> Self {
        Self { bytes, at: start, end, number: 0 }
    }
}

impl Fields<'_> {
    /// The body of the next field, if it is one more of those that begin with the byte `tag`.
    #[inline(always)]
    pub(crate) fn again(&mut self, tag: u8, repeated: bool) -> Option<(usize, usize)> {
        let (start, end) = again(self.bytes, self.at, self.end, tag).filter(|_| repeated)?;
        self.at = end;
        Some((start, end))
    }

    /// The number in the last field, if it was one of a varint or of eight bytes.
    #[inline(always)]
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Where the next field begins.
    pub(crate) fn at(&self) -> usize {
        self.at
    }
}

impl Iterator for Fields<'_> {
    /// The number, and the body where there is one.
    type Item = (u32, Option<(usize, usize)>);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.end {
            return None;
        }
        let (tag, at) = varint(self.bytes, self.at, self.end).ok()?;
        let (number, mut body) = ((tag >> 3) as u32, None);
        self.at = match tag as u32 & 7 {
            VARINT => {
                let (value, after) = varint(self.bytes, at, self.end).ok()?;
                self.number = value;
                after
            }
            FIXED64 => {
                let word = self.bytes.get(at..).and_then(<[u8]>::first_chunk);
                self.number = word.map_or(0, |word| u64::from_le_bytes(*word));
                at + 8
            }
            FIXED32 => at + 4,
            LEN => {
                let (length, at) = varint(self.bytes, at, self.end).ok()?;
                let end = at.checked_add(usize::try_from(length).ok()?)?;
                if end > self.end {
                    return None;
                }
                body = Some((at, end));
                end
            }
            _ => past_group(self.bytes, at, self.end, tag)?,
        };
        Some((number, body))
    }
}

/// Where the group that was just begun ends.
#[cold]
fn past_group(bytes: &[u8], mut at: usize, end: usize, tag: u64) -> Option<usize> {
    let mut open = u64::from(tag & 7 == 3);
    while open > 0 {
        let (tag, after) = varint(bytes, at, end).ok()?;
        at = match tag as u32 & 7 {
            VARINT => varint(bytes, after, end).ok()?.1,
            FIXED64 => after + 8,
            FIXED32 => after + 4,
            LEN => {
                let (length, after) = varint(bytes, after, end).ok()?;
                after.checked_add(usize::try_from(length).ok()?)?
            }
            3 => {
                open += 1;
                after
            }
            4 => {
                open -= 1;
                after
            }
            _ => return None,
        };
    }
    (tag & 7 == 3).then_some(at)
}
