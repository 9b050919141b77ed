//! The targets of references: the position of each row of each table, and the number of references to it.
//!
//! Rows are located before the walk (`survey`), by the headers of fields alone: eight bytes a row, regardless of
//! its contents. The decoder of the surrounding message looks up the rows [after](Tables::following) a row and
//! skips them. References are counted during the walk, so that the references of an orphan can be subtracted.

use std::ops::Range;

use super::fields::Fields;
use super::layout::{MessageLayout, Take};
use crate::schema::{Role, Table};

/// The tables of a payload, or of a profile in older generations.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    /// The number of rows in each table.
    pub(crate) lens: [u64; Table::COUNT],
    /// The body of each row.
    pub(crate) rows: [Vec<(u32, u32)>; Table::COUNT],
    /// Consecutive rows, so that later passes need not decode their headers again.
    stretches: Vec<Stretch>,
    /// For each row, the first row that it equals; empty if no two are equal.
    pub(crate) equal: [Vec<u32>; Table::COUNT],
    /// The rows whose bytes are already in [canonical form](super::canonical_form), apart from their references.
    plain: [Vec<bool>; Table::COUNT],
    /// The number of references to each row.
    uses: [Vec<u32>; Table::COUNT],
    /// Whether no rule needs the number of references.
    pub(crate) unmarked: bool,
    /// Whether the tables are missing, so that references cannot be checked.
    pub(crate) missing: bool,
    /// Whether the tables are missing, and something refers to a row.
    pub(crate) is_needed: bool,
}

/// Consecutive rows of a table, without other fields between them.
#[derive(Debug)]
struct Stretch {
    table: Table,
    /// The start of the first row's header.
    at: usize,
    rows: Range<usize>,
}

/// The least number of rows in a stretch. The headers of fewer rows are decoded again: a stretch takes more memory
/// than a row.
const WORTHWHILE: usize = 8;

impl Tables {
    /// Adds the rows of the tables in a message.
    ///
    /// Called for each message that holds tables: the rows of several dictionaries are concatenated, as decoders
    /// merge them.
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
            // Usually the next fields are rows of the same table.
            while let Some((from, to)) = fields.again(tag) {
                rows.push((from as u32, to as u32));
            }
            if rows.len() - first >= WORTHWHILE {
                self.stretches.push(Stretch { table, at, rows: first..rows.len() });
            }
        }
    }

    /// The consecutive rows after the one whose header begins at `at`; empty if they are unknown.
    ///
    /// Takes two binary searches, in stretches and in rows.
    pub(crate) fn following(&self, at: usize) -> &[(u32, u32)] {
        // `survey` reads bytes in their order, so stretches and the rows of each ascend.
        let later = self.stretches.partition_point(|stretch| stretch.at <= at);
        let Some(stretch) = later.checked_sub(1).and_then(|found| self.stretches.get(found)) else {
            return &[];
        };
        let rows = self.rows[stretch.table as usize].get(stretch.rows.clone()).unwrap_or_default();
        let row = rows.partition_point(|(start, _)| *start as usize <= at);
        let before = row.checked_sub(1).and_then(|before| rows.get(before));
        // `at` may be inside a row of the stretch; only the start of a row counts.
        match before.map_or(stretch.at, |(_, end)| *end as usize) == at {
            true => rows.get(row + 1..).unwrap_or_default(),
            false => &[],
        }
    }

    /// Allocates the counters of references: two arrays with an entry for each row, 5 bytes together.
    pub(crate) fn close(&mut self) {
        for (table, rows) in self.rows.iter().enumerate() {
            self.lens[table] = rows.len() as u64;
            self.uses[table] = vec![0; rows.len()];
            self.plain[table] = vec![false; rows.len()];
        }
    }

    /// The number of rows in a table.
    #[inline]
    pub(crate) fn len(&self, table: Table) -> u64 {
        self.lens[table as usize]
    }

    /// Counts a reference to an existing row.
    ///
    /// The hottest write of a walk: one addition, or no write if no rule needs the counts.
    #[inline]
    pub(crate) fn mark(&mut self, table: Table, row: u64) {
        if self.unmarked {
            return;
        }
        // A payload has no more references than bytes, which are below 2³²: the count does not overflow.
        if let Some(uses) = self.uses[table as usize].get_mut(row as usize) {
            *uses += 1;
        }
    }

    /// Counts references to existing rows. Each number is its row plus `more`.
    #[inline]
    pub(crate) fn mark_all(&mut self, table: Table, numbers: &[u32], more: u32) {
        if self.unmarked {
            return;
        }
        // Callers pass no number below `more`: they reject zeros where row 0 has the number 1.
        let uses = self.uses[table as usize].as_mut_slice();
        for number in numbers {
            if let Some(uses) = uses.get_mut((number - more) as usize) {
                *uses += 1;
            }
        }
    }

    /// Records that the bytes of a row are its canonical form, as long as its targets have no equals.
    #[inline]
    pub(crate) fn note_plain(&mut self, table: Table, row: usize) {
        if let Some(plain) = self.plain[table as usize].get_mut(row) {
            *plain = true;
        }
    }

    /// Whether [`note_plain`](Self::note_plain) was called for a row.
    pub(crate) fn is_plain(&self, table: Table, row: usize) -> bool {
        self.plain[table as usize].get(row).is_some_and(|plain| *plain)
    }

    /// Subtracts a reference to a row, and returns whether it was the last.
    pub(crate) fn release(&mut self, table: Table, row: u64) -> bool {
        let row = usize::try_from(row).ok();
        let uses = row.and_then(|row| self.uses[table as usize].get_mut(row));
        uses.is_some_and(|uses| {
            let was = *uses;
            *uses = was.saturating_sub(1);
            was == 1
        })
    }

    /// The first row that equals a row, if any; other numbers are returned unchanged.
    pub(crate) fn first_equal(&self, table: Table, row: u64) -> u64 {
        let equal = &self.equal[table as usize];
        let first = usize::try_from(row).ok().and_then(|row| equal.get(row));
        first.map_or(row, |first| u64::from(*first))
    }

    /// Whether a row is referenced.
    pub(crate) fn is_used(&self, table: Table, row: usize) -> bool {
        self.uses[table as usize].get(row).is_some_and(|uses| *uses > 0)
    }

    /// The unreferenced rows from `first` on. Rows before `first` need no reference.
    pub(crate) fn unused(&self, table: Table, first: usize) -> impl Iterator<Item = usize> {
        (first..self.rows[table as usize].len()).filter(move |row| !self.is_used(table, *row))
    }

    /// The body of a row; `None` past the end of the table, so that callers can pass any reference.
    pub(crate) fn row(&self, table: Table, row: u64) -> Option<(usize, usize)> {
        let row = usize::try_from(row).ok()?;
        let (start, end) = *self.rows[table as usize].get(row)?;
        Some((start as usize, end as usize))
    }
}
