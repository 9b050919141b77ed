//! A dictionary that holds every row once.
//!
//! One way in for every row that is made: by builders, by readers without tables, by merging. Cost
//! is a hash of the row and, where it is known, one comparison; no key is stored beside the
//! columns.

use crate::builder::room::{Full, Room};
use crate::builder::row::Row;
use crate::builder::seed::Seed;
use crate::limits::Limits;
use crate::model::dictionary::{Attribute, Dictionary, Function, Link, Mapping};
use crate::model::id::{AttributeId, Id, LocationId, StringId, TABLES};
use crate::model::row_index::RowIndex;

/// A dictionary that holds every row once: a row that is already there is found, not added.
///
/// ```text
/// intern("main") ─► hash ─► RowIndex: row 7? ─► dictionary.strings[7] == "main"? ─► StringId(7)
/// ```
#[derive(Clone, Debug)]
pub(crate) struct Interner {
    /// Rows are only added, so an id stays the same until it is [cleared](Self::clear).
    pub(crate) dictionary: Dictionary,
    /// What the limits leave.
    pub(crate) room: Room,
    /// Of all hashes: what is interned comes from strangers.
    pub(crate) seed: Seed,
    /// By table, the rows by their hashes; row 0 among them, but for strings, locations and attributes.
    indices: [RowIndex; TABLES],
}

/// How many rows each table of an interner had at some time, and what its limits left.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    rows: [usize; TABLES],
    room: Room,
}

impl Default for Interner {
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

impl Interner {
    pub(crate) fn new(limits: Limits) -> Self {
        let mut interner = Self {
            dictionary: Dictionary::default(),
            room: Room::new(limits),
            seed: Seed::default(),
            indices: Default::default(),
        };
        interner.index_row_0();
        interner
    }

    /// Lets the empty rows be found like any other; but not that of the locations, because an empty
    /// location in a stack is a frame, if an odd one, and row 0 is none; nor that of the attributes, because one
    /// without key and value in a list is an attribute of its own, as it is told before 1.8.
    fn index_row_0(&mut self) {
        self.index((Mapping::default(), &[][..]));
        self.index(Function::default());
        self.index(Link::default());
        self.index::<&[LocationId]>(&[]);
    }

    fn index<R: Row>(&mut self, row_0: R) {
        self.indices[R::Id::TABLE].add(row_0.hashed(&self.seed), 0);
    }

    /// Forgets everything but the empty rows, keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.dictionary.truncate([1; TABLES]);
        self.room.clear();
        self.indices.iter_mut().for_each(RowIndex::clear);
        self.index_row_0();
    }

    /// Where it is now, to [return](Self::return_to) to.
    pub(crate) fn mark(&self) -> Mark {
        Mark { rows: self.dictionary.rows(), room: self.room.clone() }
    }

    /// Forgets the rows that came after a mark, and what they cost. Linear in what there is: it is for what was
    /// refused halfway.
    pub(crate) fn return_to(&mut self, mark: Mark) {
        self.dictionary.truncate(mark.rows);
        self.indices.iter_mut().zip(mark.rows).for_each(|(index, rows)| index.truncate(rows));
        self.room = mark.room;
    }

    /// The id of a row: of an equal one, or of a new one.
    #[inline]
    pub(crate) fn intern<R: Row>(&mut self, row: R) -> Result<R::Id, Full> {
        let hash = row.hashed(&self.seed);
        let is_it = |at| row.is_at(R::Id::from_row(at), &self.dictionary);
        match self.indices[R::Id::TABLE].find(hash, is_it) {
            Some(found) => Ok(R::Id::from_row(found)),
            None => self.add(hash, row),
        }
    }

    /// Off the path of rows that are there, which are most.
    #[cold]
    fn add<R: Row>(&mut self, hash: u64, row: R) -> Result<R::Id, Full> {
        let at = self.dictionary.rows()[R::Id::TABLE] as u32;
        row.add(&mut self.dictionary, &mut self.room)?;
        self.indices[R::Id::TABLE].add(hash, at);
        Ok(R::Id::from_row(at))
    }

    /// The row of a text, which need not be UTF-8.
    #[inline]
    pub(crate) fn string(&mut self, text: &[u8]) -> Result<StringId, Full> {
        if text.is_empty() { Ok(StringId::NONE) } else { self.intern(text) }
    }

    /// The row of a key, a value and a unit; none for an attribute that has none of them.
    pub(crate) fn attribute(&mut self, attribute: Attribute) -> Result<AttributeId, Full> {
        match attribute == Attribute::default() {
            true => Ok(AttributeId::NONE),
            false => self.intern(attribute),
        }
    }
}
