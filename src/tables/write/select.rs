//! Selection of the table rows to write, and their new indices.
//!
//! The index of a row is its position among the written rows. Indices are encoded once ([`EncodedIndices`]), before
//! the writer emits references.

use crate::model::id::{Id, LocationId};
use crate::model::ragged::Ragged;
use crate::wire::codes::EncodedIndices;

/// The rows of a table to write, in order. Row 0 is never among them.
#[derive(Debug)]
pub(crate) enum RowSelection {
    /// All rows of a table with this many rows, row 0 included in the count.
    All(usize),
    /// Some rows; `place[row]` is 1 + the position among them, or 0 for dropped rows.
    Some { rows: Vec<u32>, position: Vec<u32> },
}

impl RowSelection {
    pub(crate) const NONE: Self = Self::Some { rows: Vec::new(), position: Vec::new() };

    /// Selects the marked rows. If all are marked, stores no list.
    pub(crate) fn marked(marks: &[bool]) -> Self {
        let mut rows = Vec::new();
        let mut position = vec![0; marks.len()];
        for (row, _) in marks.iter().enumerate().skip(1).filter(|(_, mark)| **mark) {
            rows.push(row as u32);
            position[row] = rows.len() as u32;
        }
        if rows.len() + 1 == marks.len() {
            Self::All(marks.len())
        } else {
            Self::Some { rows, position }
        }
    }

    /// Selects the given rows of a table of `table` rows, in this order.
    pub(crate) fn ordered(rows: Vec<u32>, table: usize) -> Self {
        // The rows differ and exclude row 0, so this many in ascending order are all rows.
        if rows.len() + 1 == table && rows.is_sorted() {
            return Self::All(table);
        }
        let mut position = vec![0; table];
        (1..).zip(&rows).for_each(|(at, row)| position[*row as usize] = at);
        Self::Some { rows, position }
    }

    /// Returns 1 + the position of a row among the written rows; 0 if the row is dropped.
    #[inline]
    pub(crate) fn position(&self, row: u32) -> u32 {
        match self {
            Self::All(_) => row,
            Self::Some { position, .. } => position.get(row as usize).copied().unwrap_or(0),
        }
    }

    /// Returns the row at a position, counted from 0.
    #[inline]
    pub(crate) fn row(&self, at: usize) -> usize {
        match self {
            Self::All(_) => at + 1,
            Self::Some { rows, .. } => rows[at] as usize,
        }
    }

    /// Iterates over the written rows in order.
    pub(crate) fn rows(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        let (positions, some) = match self {
            Self::All(rows) => (1..*rows, None),
            Self::Some { rows, .. } => (0..rows.len(), Some(rows)),
        };
        positions.map(move |at| some.map_or(at, |rows| rows[at] as usize))
    }

    /// Returns the [`position`](Self::position) of each row of a table of `rows` rows.
    pub(crate) fn positions(&self, rows: usize) -> Vec<u32> {
        match self {
            Self::All(_) => (0..rows as u32).collect(),
            Self::Some { position, .. } => position.clone(),
        }
    }

    /// Encodes the index of each row, ready to be emitted. `index` converts a position to an index.
    pub(crate) fn codes(&self, rows: usize, index: impl Fn(u32) -> u32) -> EncodedIndices {
        let indices: Vec<u32> = self.positions(rows).into_iter().map(index).collect();
        EncodedIndices::of(&indices)
    }

    /// Returns the written rows as a list.
    pub(crate) fn list(&self) -> Vec<u32> {
        self.rows().map(|row| row as u32).collect()
    }

    /// Iterates over the items of a column for the written rows; in one slice if all rows are written.
    pub(crate) fn items<'t, T>(&self, column: &'t Ragged<T>) -> impl Iterator<Item = &'t [T]> {
        let (all, some) = match self {
            // Row 0 has no items, so all items belong to written rows.
            Self::All(_) => (Some(&column.items[..]), &[][..]),
            Self::Some { rows, .. } => (None, &rows[..]),
        };
        all.into_iter().chain(some.iter().map(|row| column.row(*row as usize)))
    }

    /// Returns the number of written rows.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::All(rows) => rows.saturating_sub(1),
            Self::Some { rows, .. } => rows.len(),
        }
    }
}

/// Returns which rows of a table of `rows` rows are among `ids`.
pub(crate) fn marks<I: Id>(rows: usize, ids: impl Iterator<Item = I>) -> Vec<bool> {
    let mut marks = vec![false; rows];
    // `for_each`, because a `for` loop over chained iterators checks at each step which of them is next.
    ids.for_each(|id| {
        if let Some(mark) = marks.get_mut(id.number() as usize) {
            *mark = true;
        }
    });
    marks
}

/// Returns whether a location is `NONE`. It visits all locations, because a loop without an early exit can
/// use vector instructions.
pub(crate) fn holds_none(locations: &[LocationId]) -> bool {
    locations.iter().fold(false, |any, id| any | (*id == LocationId::NONE))
}
