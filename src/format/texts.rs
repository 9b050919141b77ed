//! Interning while reading: texts, attributes and stacks that were met before.
//!
//! ```text
//! raw     "" t1 t2 … tn │ p1 p2 …      rows of the string table, then texts in place
//! index                 │ p1 p2 …      the table's rows only after 16 texts that were in no index
//! ```
//!
//! A payload usually has a handful of texts in place, for which indexing a table of 100,000 strings
//! would cost more than all the rest. So the first sixteen are looked for by length, one by one.

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::RandomState;

use crate::builder::room::heap_bytes;
use crate::error::Result;
use crate::format::intake::Intake;
use crate::limits::within;
use crate::model::dictionary::Attribute;
use crate::model::id::{AttributeId, StringId};
use crate::model::row_index::RowIndex;
use crate::model::strings::RawStrings;
use crate::model::value::Value;
use crate::schema::Table;

/// The texts of a payload while it is read: the rows of its string table first, then the texts
/// it has in place, each once.
#[derive(Debug)]
pub(crate) struct Texts {
    /// Not yet proved to be UTF-8.
    pub(crate) raw: RawStrings,
    /// How many of them are rows of the string table, with those of our own.
    pub(crate) table_rows: u32,
    /// 1 if the empty string was put before a string table that lacks it, which is a repair; otherwise 0.
    pub(crate) own: u32,
    /// The first row in the index.
    ///
    /// 0: nothing was interned yet; 1: all rows are in the index.
    first: u32,
    index: RowIndex,
    /// How many texts were looked for among those before it.
    looked_for: u32,
    /// Seeded: texts come from strangers.
    hasher: RandomState,
}

/// After this many texts that were looked for one by one, the rows of the string table are indexed:
/// that costs as much, and most payloads have few texts in place.
const ONE_BY_ONE: u32 = 16;

/// Behind the texts of a payload come as many names of attributes as a rule, none longer: without room for
/// them, all texts would move.
const NAMES: usize = 16;
const NAME: usize = 40;

impl Texts {
    pub(crate) fn new() -> Self {
        Self {
            raw: RawStrings::new(),
            table_rows: 0,
            own: 0,
            first: 0,
            index: RowIndex::default(),
            looked_for: 0,
            hasher: RandomState::default(),
        }
    }

    /// The same, with room for some rows of the string table.
    pub(crate) fn with_room(rows: usize, bytes: usize) -> Self {
        let mut texts = Self::new();
        if rows > 0 {
            texts.raw.reserve(rows + NAMES, bytes + NAMES * NAME);
        }
        texts
    }

    /// Appends the next row of the string table.
    ///
    /// # Errors
    ///
    /// As of [`intern`](Self::intern).
    #[inline]
    pub(crate) fn push_row(&mut self, bytes: &[u8], intake: &mut Intake) -> Result<()> {
        push_row(&mut self.raw, bytes, intake)
    }

    /// The id of a text, equal to that of an equal one interned before; of equal rows of the string
    /// table, the first's. The empty text is none.
    ///
    /// # Errors
    ///
    /// [`Limit`](crate::ErrorKind::Limit) past `max_string_bytes`, `max_strings` or the budget.
    pub(crate) fn intern(&mut self, bytes: &[u8], intake: &mut Intake) -> Result<StringId> {
        if bytes.is_empty() {
            return Ok(StringId::NONE);
        }
        if self.first == 0 {
            self.begin();
        }
        let hash = hash_bytes(&self.hasher, bytes);
        if let Some(row) = self.index.find(hash, |row| self.raw.get(row as usize) == Some(bytes)) {
            return Ok(StringId(row));
        }
        if self.first > 1
            && let Some(row) = self.find_in_table(bytes, hash, intake)?
        {
            return Ok(row);
        }
        // Where it ends, and in the index its hash and some slots.
        intake.budget.take::<[u64; 7]>(1)?;
        intake.budget.take::<u8>(bytes.len())?;
        push_row(&mut self.raw, bytes, intake)?;
        let row = self.raw.len() as u32 - 1;
        self.index.add(hash, row);
        Ok(StringId(row))
    }

    /// Has the index begin behind the rows there are: the empty one at least.
    #[cold]
    fn begin(&mut self) {
        if self.raw.len() == 0 {
            self.raw.push(b"");
        }
        self.first = self.raw.len() as u32;
    }

    /// The row of the string table that is equal to a text not in the index.
    #[cold]
    fn find_in_table(
        &mut self,
        bytes: &[u8],
        hash: u64,
        intake: &mut Intake,
    ) -> Result<Option<StringId>> {
        self.looked_for += 1;
        let row = if self.looked_for <= ONE_BY_ONE {
            self.raw.find(bytes, self.first as usize)
        } else {
            self.index_table(intake)?;
            let same = |row: u32| self.raw.get(row as usize) == Some(bytes);
            self.index.find(hash, same).map(|row| row as usize)
        };
        Ok(row.map(|row| StringId(row as u32)))
    }

    /// Lets the rows of the string table be found; of equal ones, the first.
    ///
    /// Linear, and once at most.
    fn index_table(&mut self, intake: &mut Intake) -> Result<()> {
        let rows = self.raw.len();
        intake.budget.take::<[u64; 3]>(rows)?;
        self.index = RowIndex::with_room(rows);
        for row in 1..rows {
            let bytes = self.raw.get(row).unwrap_or_default();
            let hash = hash_bytes(&self.hasher, bytes);
            if self.index.find(hash, |row| self.raw.get(row as usize) == Some(bytes)).is_none() {
                self.index.add(hash, row as u32);
            }
        }
        self.first = 1;
        Ok(())
    }

    /// Makes room for `texts` texts of `bytes` bytes in all.
    pub(crate) fn reserve(&mut self, texts: usize, bytes: usize) {
        self.raw.reserve(texts + NAMES, bytes + NAMES * NAME);
        self.index.reserve(texts);
    }

    /// [`intern`](Self::intern) for a name of our own.
    pub(crate) fn name(&mut self, name: &'static str, intake: &mut Intake) -> Result<StringId> {
        self.intern(name.as_bytes(), intake)
    }
}

#[inline]
fn push_row(raw: &mut RawStrings, bytes: &[u8], intake: &mut Intake) -> Result<()> {
    let limits = intake.limits();
    within("max_string_bytes", limits.max_string_bytes, bytes.len() as u64)?;
    within("max_strings", limits.max_strings, raw.len() as u64 + 1)?;
    raw.push(bytes);
    Ok(())
}

/// The hash of some bytes.
#[inline]
pub(crate) fn hash_bytes(hasher: &RandomState, bytes: &[u8]) -> u64 {
    let mut state = hasher.build_hasher();
    state.write(bytes);
    state.finish()
}

/// The attributes a reader adds to those of the payload's own table, each once.
#[derive(Debug)]
pub(crate) struct NewAttributes {
    /// The row the first of them gets.
    pub(crate) first: u32,
    /// In the order in which they were made.
    pub(crate) rows: Vec<Attribute>,
    index: RowIndex,
    hasher: RandomState,
}

impl NewAttributes {
    /// Behind a table of so many rows.
    pub(crate) fn after(rows: usize) -> Self {
        Self {
            first: rows as u32,
            rows: Vec::new(),
            index: RowIndex::default(),
            hasher: RandomState::default(),
        }
    }

    /// The id of an attribute, equal to that of an equal one.
    pub(crate) fn intern(
        &mut self,
        attribute: Attribute,
        intake: &mut Intake,
    ) -> Result<AttributeId> {
        let Self { first, rows, index, hasher } = self;
        let hash = hasher.hash_one(&attribute);
        if let Some(row) = index.find(hash, |row| rows[row as usize] == attribute) {
            return Ok(AttributeId(first.saturating_add(row)));
        }
        let row = rows.len() as u32;
        intake.check_rows(Table::Attribute, u64::from(*first) + u64::from(row) + 1)?;
        // Its place in the index, too.
        intake.budget.take::<u64>(1)?;
        intake.budget.take::<u8>(heap_bytes(&attribute.value))?;
        intake.budget.push_row(rows, attribute)?;
        index.add(hash, row);
        Ok(AttributeId(first.saturating_add(row)))
    }

    /// The attribute of a name of our own.
    pub(crate) fn named(
        &mut self,
        key: &'static str,
        value: Value,
        texts: &mut Texts,
        intake: &mut Intake,
    ) -> Result<AttributeId> {
        let key = texts.name(key, intake)?;
        self.intern(Attribute { key, value, unit: StringId::NONE }, intake)
    }

    /// Those of the payload's own table and these behind them; the shorter of the two is moved.
    ///
    /// Ids that [`intern`](Self::intern) gave stay right: `first` was the length of the table.
    pub(crate) fn behind(&mut self, mut table: Vec<Attribute>) -> Vec<Attribute> {
        let mut rows = std::mem::take(&mut self.rows);
        if table.len() < rows.len() {
            rows.splice(..0, table);
            return rows;
        }
        table.append(&mut rows);
        table
    }

    /// The row of an id of this list.
    #[inline]
    pub(crate) fn get(&self, id: u32) -> Option<&Attribute> {
        self.rows.get(id.checked_sub(self.first)? as usize)
    }
}
