//! What references lead to: where each row of each table lies, and which rows something refers to.
//!
//! The rows are found before anything is walked (`survey`), by the headers of fields alone: eight bytes a row, whatever
//! is in it. Taking the message around them apart asks for what is [`behind`](Tables::behind) a row, and passes over it.
//! References are counted as they are met, so that what an orphan refers to can be taken back.

use std::ops::Range;

use super::fields::Fields;
use super::layout::{MessageLayout, Take};
use crate::schema::{Role, Table};

/// The tables that a payload, or in older generations a profile, has.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    /// How many rows each table has.
    pub(crate) lens: [u64; Table::COUNT],
    /// The body of each row.
    pub(crate) rows: [Vec<(u32, u32)>; Table::COUNT],
    /// Where rows follow one another, so that who comes by later need not read their headers again.
    stretches: Vec<Stretch>,
    /// Of each row the first one that it equals; empty where no two are equal.
    pub(crate) equal: [Vec<u32>; Table::COUNT],
    /// Which rows are written in [the one form](super::canonical_form) of their own, but for what they refer to.
    plain: [Vec<bool>; Table::COUNT],
    /// How often each row is referred to.
    uses: [Vec<u32>; Table::COUNT],
    /// Whether no rule asks what is referred to.
    pub(crate) unmarked: bool,
    /// Whether there is nothing that references could be held against.
    pub(crate) missing: bool,
}

/// Rows of a table that follow one another in the payload with nothing between them.
#[derive(Debug)]
struct Stretch {
    table: Table,
    /// Where the header of the first one begins.
    at: usize,
    rows: Range<usize>,
}

/// Fewer rows than this are read again: a stretch takes more memory than a row.
///
/// In rows. Whoever comes by a shorter stretch walks its headers.
const WORTHWHILE: usize = 8;

impl Tables {
    /// Adds the rows of the tables in a message.
    ///
    /// Called for each message that holds tables: rows of several dictionaries follow one another,
    /// as decoders merge them.
    pub(crate) fn survey(&mut self, bytes: &[u8], shape: &MessageLayout, start: usize, end: usize) {
        let mut fields = Fields::new(bytes, start, end);
        loop {
            let (at, tag) = (fields.at(), fields.tag());
            let Some((number, body)) = fields.next() else { return };
            let Some(slot) = shape.slot(number) else { continue };
            let (Role::Row(table), Take::Message | Take::Text, Some((from, to))) =
                (slot.field.role, slot.take, body)
            else {
                continue;
            };
            let rows = &mut self.rows[table as usize];
            let first = rows.len();
            rows.push((from as u32, to as u32));
            // Rows of a table follow one another.
            while let Some((from, to)) = fields.again(tag) {
                rows.push((from as u32, to as u32));
            }
            if rows.len() - first >= WORTHWHILE {
                self.stretches.push(Stretch { table, at, rows: first..rows.len() });
            }
        }
    }

    /// The rows that follow the one whose header begins at a byte, as far as nothing is between them; none where that is
    /// not known.
    ///
    /// Two binary searches, in stretches and in rows.
    pub(crate) fn behind(&self, at: usize) -> &[(u32, u32)] {
        let later = self.stretches.partition_point(|stretch| stretch.at <= at);
        let Some(stretch) = later.checked_sub(1).and_then(|found| self.stretches.get(found)) else {
            return &[];
        };
        let rows = self.rows[stretch.table as usize].get(stretch.rows.clone()).unwrap_or_default();
        let row = rows.partition_point(|(start, _)| *start as usize <= at);
        let before = row.checked_sub(1).and_then(|before| rows.get(before));
        // A field of a row is none, wherever in the stretch it is.
        match before.map_or(stretch.at, |(_, end)| *end as usize) == at {
            true => rows.get(row + 1..).unwrap_or_default(),
            false => &[],
        }
    }

    /// Makes room for what is referred to.
    ///
    /// Two arrays of one entry for each row: 5 bytes.
    pub(crate) fn close(&mut self) {
        for (table, rows) in self.rows.iter().enumerate() {
            self.lens[table] = rows.len() as u64;
            self.uses[table] = vec![0; rows.len()];
            self.plain[table] = vec![false; rows.len()];
        }
    }

    /// How many rows a table has.
    #[inline(always)]
    pub(crate) fn len(&self, table: Table) -> u64 {
        self.lens[table as usize]
    }

    /// Notes a reference to a row that there is.
    ///
    /// The hottest write of a walk: nothing but an addition, and none where nobody asks.
    #[inline(always)]
    pub(crate) fn mark(&mut self, table: Table, row: u64) {
        if self.unmarked {
            return;
        }
        if let Some(uses) = self.uses[table as usize].get_mut(row as usize) {
            *uses += 1;
        }
    }

    /// Notes references to rows that there are: each of the numbers is so much larger than its row.
    #[inline(always)]
    pub(crate) fn mark_all(&mut self, table: Table, numbers: &[u32], more: u32) {
        if self.unmarked {
            return;
        }
        let uses = self.uses[table as usize].as_mut_slice();
        for number in numbers {
            if let Some(uses) = uses.get_mut((number - more) as usize) {
                *uses += 1;
            }
        }
    }

    /// Notes that the bytes of a row are its form, as far as what it refers to has no equal.
    #[inline(always)]
    pub(crate) fn note_plain(&mut self, table: Table, row: usize) {
        if let Some(plain) = self.plain[table as usize].get_mut(row) {
            *plain = true;
        }
    }

    /// Whether [`note_plain`](Self::note_plain) was said of a row.
    pub(crate) fn is_plain(&self, table: Table, row: usize) -> bool {
        self.plain[table as usize].get(row).is_some_and(|plain| *plain)
    }

    /// Takes a reference to a row back, and says whether it was the last.
    ///
    /// A count and not a bit, as the last reference is what matters.
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
    ///
    /// Rows before `first` need no reference.
    pub(crate) fn unused(&self, table: Table, first: usize) -> impl Iterator<Item = usize> {
        (first..self.rows[table as usize].len()).filter(move |row| !self.is_used(table, *row))
    }

    /// The body of a row.
    ///
    /// `None` of a row past the table, so that whoever asks can pass a reference as it was read.
    pub(crate) fn row(&self, table: Table, row: u64) -> Option<(usize, usize)> {
        let row = usize::try_from(row).ok()?;
        let (start, end) = *self.rows[table as usize].get(row)?;
        Some((start as usize, end as usize))
    }
}
