//! Selection of the table rows to write, and their new indices.
//!
//! The index of a row is its position among the written rows. Indices are encoded once ([`EncodedIndices`]), before
//! the writer emits references.

use crate::model::id::{LocationId, StringId};
use crate::model::ragged::Ragged;
use crate::wire::codes::{EncodedIndex, EncodedIndices};

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

/// Returns whether a location is `NONE`. It visits all locations, because a loop without an early exit can
/// use vector instructions.
pub(crate) fn holds_none(locations: &[LocationId]) -> bool {
    locations.iter().fold(false, |any, id| any | (*id == LocationId::NONE))
}

/// Marks a row; ignores a row that does not exist.
#[inline]
fn mark(marks: &mut [bool], row: u32) {
    if let Some(mark) = marks.get_mut(row as usize) {
        *mark = true;
    }
}

/// The strings that are written as a table, and their indices in it.
#[derive(Debug)]
pub(crate) struct StringTable {
    /// Whether a written row refers to the string, by string of the dictionary.
    used: Vec<bool>,
    /// The index of each string; 0 for strings that are not written.
    position: Vec<u32>,
    /// The encoded indices, ready to be emitted.
    codes: EncodedIndices,
    /// The written strings, the empty one first.
    ids: Vec<StringId>,
}

impl StringTable {
    /// Creates a table for a dictionary of `strings` strings, with no string marked.
    pub(crate) fn new(strings: usize) -> Self {
        Self {
            used: vec![false; strings],
            position: Vec::new(),
            codes: EncodedIndices::default(),
            ids: Vec::new(),
        }
    }

    /// Marks a string. Call it before the strings are [numbered](Self::number).
    #[inline]
    pub(crate) fn mark(&mut self, id: StringId) {
        mark(&mut self.used, id.0);
    }

    /// Assigns an index to every marked string: first to those in `first`, then to the others in the order of
    /// the dictionary. Row 0 is always written, before all others.
    pub(crate) fn number(&mut self, first: &RowSelection) {
        let Self { used, position, ids, .. } = self;
        *position = vec![0; used.len()];
        ids.push(StringId::NONE);
        let others = (1..used.len() as u32).map(StringId);
        for id in first.rows().map(|row| StringId(row as u32)).chain(others) {
            if used.get(id.row()) == Some(&true) && position[id.row()] == 0 {
                position[id.row()] = ids.len() as u32;
                ids.push(id);
            }
        }
        self.codes = EncodedIndices::of(&self.position);
    }

    /// Returns the index of a marked string.
    #[inline]
    pub(crate) fn index(&self, id: StringId) -> u32 {
        self.position.get(id.row()).copied().unwrap_or(0)
    }

    /// Returns the encoded index, ready to be emitted.
    #[inline]
    pub(crate) fn code(&self, id: StringId) -> EncodedIndex {
        self.codes.get(id.row())
    }

    /// Returns the marked strings in the order of their indices.
    pub(crate) fn ids(&self) -> &[StringId] {
        &self.ids
    }

    /// Returns the number of written strings.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }
}
