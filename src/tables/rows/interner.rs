//! A dictionary without duplicate rows.
//!
//! All rows are created through it: by builders, by readers of formats without tables, and by merging. Each costs a
//! hash of the row and, if the row exists, one comparison. Keys are not stored outside the columns.

use crate::limits::Limits;
use crate::model::dictionary::{Attribute, Dictionary, Function, Link, Mapping};
use crate::model::id::{AttributeId, Id, LocationId, StringId, TABLES};
use crate::model::row_index::RowIndex;
use crate::tables::rows::budget::{BuilderBudget, Full};
use crate::tables::rows::row::Row;
use crate::tables::rows::seed::Seed;

/// A dictionary without duplicate rows: interning an existing row returns its id.
///
/// ```text
/// intern("main") ─► hash ─► RowIndex: row 7? ─► dictionary.strings[7] == "main"? ─► StringId(7)
/// ```
#[derive(Clone, Debug)]
pub(crate) struct Interner {
    /// Rows are only added, so ids stay valid until [`clear`](Self::clear).
    pub(crate) dictionary: Dictionary,
    /// The limits and the memory in use.
    pub(crate) budget: BuilderBudget,
    /// Seed of all hashes, because interned data is untrusted.
    pub(crate) seed: Seed,
    /// Rows of each table by hash. They include row 0, except in the tables of strings, locations and attributes.
    indices: [RowIndex; TABLES],
}

/// The row counts of an interner at some time, and its charges.
#[derive(Clone, Debug)]
pub(crate) struct Savepoint {
    rows: [usize; TABLES],
    budget: BuilderBudget,
}

impl Default for Interner {
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

impl Interner {
    /// Creates an interner with limits.
    pub(crate) fn new(limits: Limits) -> Self {
        let mut interner = Self {
            dictionary: Dictionary::default(),
            budget: BuilderBudget::new(limits),
            seed: Seed::default(),
            indices: Default::default(),
        };
        interner.index_row_0();
        interner
    }

    /// Indexes the empty rows, except those of two tables. An empty location in a stack is a frame, although an
    /// unusual one, and an attribute without key and value in a list is an attribute, as before 1.8. Row 0 would
    /// mean that both are absent.
    fn index_row_0(&mut self) {
        self.index((Mapping::default(), &[][..]));
        self.index(Function::default());
        self.index(Link::default());
        self.index::<&[LocationId]>(&[]);
    }

    /// Indexes row 0 of a table.
    fn index<R: Row>(&mut self, row_0: R) {
        self.indices[R::Id::TABLE].add(row_0.hashed(&self.seed), 0);
    }

    /// Removes all rows except the empty ones, and keeps the allocations.
    pub(crate) fn clear(&mut self) {
        self.dictionary.truncate([1; TABLES]);
        self.budget.clear();
        self.indices.iter_mut().for_each(RowIndex::clear);
        // Clearing the indices removed the empty rows, which remain in the tables.
        self.index_row_0();
    }

    /// Returns a savepoint of the current state, for [`roll_back`](Self::roll_back).
    pub(crate) fn savepoint(&self) -> Savepoint {
        Savepoint { rows: self.dictionary.rows(), budget: self.budget.clone() }
    }

    /// Removes the rows added after a mark, and their charges. Takes time linear in all rows; used after a failed
    /// operation.
    pub(crate) fn roll_back(&mut self, mark: Savepoint) {
        self.dictionary.truncate(mark.rows);
        self.indices.iter_mut().zip(mark.rows).for_each(|(index, rows)| index.truncate(rows));
        self.budget = mark.budget;
    }

    /// Returns the id of a row: of an equal one, or of a new one.
    #[inline]
    pub(crate) fn intern<R: Row>(&mut self, row: R) -> Result<R::Id, Full> {
        let hash = row.hashed(&self.seed);
        let is_it = |at| row.is_at(R::Id::from_row(at), &self.dictionary);
        match self.indices[R::Id::TABLE].find(hash, is_it) {
            Some(found) => Ok(R::Id::from_row(found)),
            None => self.add(hash, row),
        }
    }

    /// Adds a new row. Separate from `intern`, because most rows exist already.
    #[cold]
    fn add<R: Row>(&mut self, hash: u64, row: R) -> Result<R::Id, Full> {
        let at = self.dictionary.rows()[R::Id::TABLE] as u32;
        row.add(&mut self.dictionary, &mut self.budget)?;
        // Only after the row was added, so that an exceeded limit leaves the index unchanged.
        self.indices[R::Id::TABLE].add(hash, at);
        Ok(R::Id::from_row(at))
    }

    /// Returns the row of a string, which may not be UTF-8.
    #[inline]
    pub(crate) fn string(&mut self, text: &[u8]) -> Result<StringId, Full> {
        if text.is_empty() { Ok(StringId::NONE) } else { self.intern(text) }
    }

    /// Returns the row of an attribute. NONE if key, value and unit are all empty.
    pub(crate) fn attribute(&mut self, attribute: Attribute) -> Result<AttributeId, Full> {
        match attribute == Attribute::default() {
            true => Ok(AttributeId::NONE),
            false => self.intern(attribute),
        }
    }
}
