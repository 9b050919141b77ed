//! Which rows of a table are written, and the index each gets.
//!
//! References of what is written count the rows that are written, so a row's index is its place among them. Indices are
//! made into bytes once ([`Codes`]), before anything refers to them.

use crate::model::id::{LocationId, StringId};
use crate::model::ragged::Ragged;
use crate::wire::codes::{Code, Codes};

/// The rows of a table that are written, in order. Row 0 is never among them.
#[derive(Debug)]
pub(crate) enum Select {
    /// All of them: `rows` with row 0.
    All(usize),
    /// Some; `place[row]` is 1 + the position among them, 0 for rows left out.
    Some { rows: Vec<u32>, place: Vec<u32> },
}

impl Select {
    pub(crate) const NONE: Self = Self::Some { rows: Vec::new(), place: Vec::new() };

    /// The rows that are marked; where all are, no list is kept.
    pub(crate) fn marked(marks: &[bool]) -> Self {
        let mut rows = Vec::new();
        let mut place = vec![0; marks.len()];
        for (row, _) in marks.iter().enumerate().skip(1).filter(|(_, mark)| **mark) {
            rows.push(row as u32);
            place[row] = rows.len() as u32;
        }
        if rows.len() + 1 == marks.len() {
            Self::All(marks.len())
        } else {
            Self::Some { rows, place }
        }
    }

    /// The rows of a table of so many, in this order.
    pub(crate) fn ordered(rows: Vec<u32>, table: usize) -> Self {
        if rows.len() + 1 == table && rows.is_sorted() {
            return Self::All(table);
        }
        let mut place = vec![0; table];
        (1..).zip(&rows).for_each(|(at, row)| place[*row as usize] = at);
        Self::Some { rows, place }
    }

    /// 1 + the position of a row among those written; 0 is none.
    #[inline]
    pub(crate) fn place(&self, row: u32) -> u32 {
        match self {
            Self::All(_) => row,
            Self::Some { place, .. } => place.get(row as usize).copied().unwrap_or(0),
        }
    }

    /// The row at a place, counted from 0.
    #[inline]
    pub(crate) fn row(&self, at: usize) -> usize {
        match self {
            Self::All(_) => at + 1,
            Self::Some { rows, .. } => rows[at] as usize,
        }
    }

    /// The rows written, in order.
    pub(crate) fn rows(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        let (places, some) = match self {
            Self::All(rows) => (1..*rows, None),
            Self::Some { rows, .. } => (0..rows.len(), Some(rows)),
        };
        places.map(move |at| some.map_or(at, |rows| rows[at] as usize))
    }

    /// By row of a table of so many: its place.
    pub(crate) fn places(&self, rows: usize) -> Vec<u32> {
        match self {
            Self::All(_) => (0..rows as u32).collect(),
            Self::Some { place, .. } => place.clone(),
        }
    }

    /// By row: what becomes of its place when it is an index, ready to be stored.
    pub(crate) fn codes(&self, rows: usize, index: impl Fn(u32) -> u32) -> Codes {
        let indices: Vec<u32> = self.places(rows).into_iter().map(index).collect();
        Codes::of(&indices)
    }

    /// The same as a list.
    pub(crate) fn list(&self) -> Vec<u32> {
        self.rows().map(|row| row as u32).collect()
    }

    /// What the rows written have in a column, in one piece where all are.
    pub(crate) fn items<'t, T>(&self, column: &'t Ragged<T>) -> impl Iterator<Item = &'t [T]> {
        let (all, some) = match self {
            Self::All(_) => (Some(&column.items[..]), &[][..]),
            Self::Some { rows, .. } => (None, &rows[..]),
        };
        all.into_iter().chain(some.iter().map(|row| column.row(*row as usize)))
    }

    /// How many rows are written.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::All(rows) => rows.saturating_sub(1),
            Self::Some { rows, .. } => rows.len(),
        }
    }
}

/// Whether a location of some stack is none. It looks at all of them: so it can at many at a time.
pub(crate) fn holds_none(locations: &[LocationId]) -> bool {
    locations.iter().fold(false, |any, id| any | (*id == LocationId::NONE))
}

/// Marks a row; one that is not there is passed over.
#[inline]
fn mark(marks: &mut [bool], row: u32) {
    if let Some(mark) = marks.get_mut(row as usize) {
        *mark = true;
    }
}

/// The strings that are written as a table, and the index each gets there.
#[derive(Debug)]
pub(crate) struct StringTable {
    /// By string of the dictionary: whether anything written refers to it.
    used: Vec<bool>,
    /// By string: its index; 0 of those that are not written.
    place: Vec<u32>,
    /// The same, ready to be stored.
    codes: Codes,
    /// Those that are written, the empty one first.
    ids: Vec<StringId>,
}

impl StringTable {
    /// Of a dictionary of so many strings, none of them marked.
    pub(crate) fn new(strings: usize) -> Self {
        Self {
            used: vec![false; strings],
            place: Vec::new(),
            codes: Codes::default(),
            ids: Vec::new(),
        }
    }

    /// Before they are [numbered](Self::number).
    #[inline]
    pub(crate) fn mark(&mut self, id: StringId) {
        mark(&mut self.used, id.0);
    }

    /// Gives every marked string its index: first the `first` ones, then the others in the order of the
    /// dictionary. Row 0 is always there, before all.
    pub(crate) fn number(&mut self, first: &Select) {
        let Self { used, place, ids, .. } = self;
        *place = vec![0; used.len()];
        ids.push(StringId::NONE);
        let others = (1..used.len() as u32).map(StringId);
        for id in first.rows().map(|row| StringId(row as u32)).chain(others) {
            if used.get(id.row()) == Some(&true) && place[id.row()] == 0 {
                place[id.row()] = ids.len() as u32;
                ids.push(id);
            }
        }
        self.codes = Codes::of(&self.place);
    }

    /// The index of a marked string.
    #[inline]
    pub(crate) fn index(&self, id: StringId) -> u32 {
        self.place.get(id.row()).copied().unwrap_or(0)
    }

    /// The same, ready to be stored.
    #[inline]
    pub(crate) fn code(&self, id: StringId) -> Code {
        self.codes.get(id.row())
    }

    /// The marked strings, in order of their index.
    pub(crate) fn ids(&self) -> &[StringId] {
        &self.ids
    }

    /// How many strings are written.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }
}
