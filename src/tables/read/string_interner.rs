//! Interning of strings and attributes while a payload is read.
//!
//! ```text
//! raw     "" t1 t2 … tn │ p1 p2 …      rows of the string table, then inline strings
//! index                 │ p1 p2 …      includes the table's rows only after 16 failed lookups
//! ```
//!
//! A typical payload has a handful of inline strings. Indexing a string table of 100,000 rows for them would
//! cost more than all other work. So the first sixteen lookups scan the table, comparing lengths first.

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::RandomState;

use crate::error::Result;
use crate::limits::within;
use crate::model::dictionary::Attribute;
use crate::model::id::{AttributeId, StringId};
use crate::model::row_index::RowIndex;
use crate::model::strings::RawStrings;
use crate::model::value::Value;
use crate::read_context::ReadContext;
use crate::schema::Table;
use crate::tables::rows::budget::heap_bytes;

/// The strings of a payload while it is read: the rows of its string table, then its inline strings, each
/// once.
#[derive(Debug)]
pub(crate) struct StringInterner {
    /// The bytes of the strings, not yet validated as UTF-8.
    pub(crate) raw: RawStrings,
    /// The number of rows of the string table, including those that this crate added.
    pub(crate) table_rows: u32,
    /// 1 if the string table lacks the empty string and the reader prepended it, which is a repair; otherwise
    /// 0.
    pub(crate) own: u32,
    /// The ids of the rows of the string table, if equal rows were merged. Otherwise rows are ids.
    pub(crate) merged: Option<Vec<StringId>>,
    /// The first row in the index.
    ///
    /// 0: no string was interned yet; 1: the index has all rows.
    first: u32,
    index: RowIndex,
    /// The number of lookups in the rows before `first`.
    looked_for: u32,
    /// Seeded, because strings are untrusted input.
    hasher: RandomState,
}

/// The number of strings that are looked up by scanning the string table before it is indexed. Indexing costs
/// about as much as this many scans, and most payloads have few inline strings.
const ONE_BY_ONE: u32 = 16;

/// The number and the maximum length of attribute names that readers usually append to the strings of a
/// payload. Without reserved memory for them, all strings would be moved.
const NAMES: usize = 16;
const NAME: usize = 40;

impl StringInterner {
    pub(crate) fn new() -> Self {
        Self {
            raw: RawStrings::new(),
            table_rows: 0,
            own: 0,
            merged: None,
            first: 0,
            index: RowIndex::default(),
            looked_for: 0,
            hasher: RandomState::default(),
        }
    }

    /// Creates an empty table for rows that are merged.
    pub(crate) fn merged() -> Self {
        Self { merged: Some(Vec::new()), ..Self::new() }
    }

    /// Creates an empty table with memory for `rows` rows of the string table.
    pub(crate) fn with_capacity(rows: usize, bytes: usize) -> Self {
        let mut texts = Self::new();
        // The estimate is 0 for a small payload. Then no memory is reserved.
        if rows > 0 {
            texts.raw.reserve(rows + NAMES, bytes + NAMES * NAME);
        }
        texts
    }

    /// Appends the next row of the string table.
    ///
    /// # Errors
    ///
    /// As for [`intern`](Self::intern).
    #[inline]
    pub(crate) fn push_row(&mut self, bytes: &[u8], cx: &mut ReadContext) -> Result<()> {
        push_row(&mut self.raw, bytes, cx)
    }

    /// Interns a string. Returns the id of an equal string if there is one; for duplicate rows of the string
    /// table, that of the first. The id of the empty string is `NONE`.
    ///
    /// # Errors
    ///
    /// [`Limit`](crate::ErrorKind::Limit) if `max_string_bytes`, `max_strings` or the budget is exceeded.
    pub(crate) fn intern(&mut self, bytes: &[u8], cx: &mut ReadContext) -> Result<StringId> {
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
        // The index lacks the rows before `first`.
        if self.first > 1
            && let Some(row) = self.find_in_table(bytes, hash, cx)?
        {
            return Ok(row);
        }
        // Charge for the end of the row, and for its hash and slots in the index.
        cx.budget.charge::<[u64; 7]>(1)?;
        cx.budget.charge::<u8>(bytes.len())?;
        push_row(&mut self.raw, bytes, cx)?;
        let row = self.raw.len() as u32 - 1;
        self.index.add(hash, row);
        Ok(StringId(row))
    }

    /// Starts the index after the existing rows, of which the empty string is the first.
    #[cold]
    fn begin(&mut self) {
        if self.raw.len() == 0 {
            self.raw.push(b"");
        }
        self.first = self.raw.len() as u32;
    }

    /// Finds a row of the string table that equals a string missing from the index.
    #[cold]
    fn find_in_table(
        &mut self,
        bytes: &[u8],
        hash: u64,
        cx: &mut ReadContext,
    ) -> Result<Option<StringId>> {
        self.looked_for += 1;
        let row = if self.looked_for <= ONE_BY_ONE {
            self.raw.find(bytes, self.first as usize)
        } else {
            self.index_table(cx)?;
            let same = |row: u32| self.raw.get(row as usize) == Some(bytes);
            self.index.find(hash, same).map(|row| row as usize)
        };
        Ok(row.map(|row| StringId(row as u32)))
    }

    /// Adds the rows of the string table to the index; of duplicates, only the first.
    ///
    /// Takes linear time, at most once.
    fn index_table(&mut self, cx: &mut ReadContext) -> Result<()> {
        let rows = self.raw.len();
        cx.budget.charge::<[u64; 3]>(rows)?;
        // A new index, because the loop also adds the inline strings, which the old one has.
        self.index = RowIndex::with_capacity(rows);
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

    /// Reserves memory for `texts` strings of `bytes` bytes in all.
    pub(crate) fn reserve(&mut self, texts: usize, bytes: usize) {
        self.raw.reserve(texts + NAMES, bytes + NAMES * NAME);
        self.index.reserve(texts);
    }

    /// Interns a name that this crate defines.
    pub(crate) fn name(&mut self, name: &'static str, cx: &mut ReadContext) -> Result<StringId> {
        self.intern(name.as_bytes(), cx)
    }
}

#[inline]
fn push_row(raw: &mut RawStrings, bytes: &[u8], cx: &mut ReadContext) -> Result<()> {
    let limits = cx.limits();
    within("max_string_bytes", limits.max_string_bytes, bytes.len() as u64)?;
    within("max_strings", limits.max_strings, raw.len() as u64 + 1)?;
    raw.push(bytes);
    Ok(())
}

/// Hashes bytes.
#[inline]
pub(crate) fn hash_bytes(hasher: &RandomState, bytes: &[u8]) -> u64 {
    let mut state = hasher.build_hasher();
    state.write(bytes);
    state.finish()
}

/// Attributes that a reader adds to the attribute table of the payload, each once.
#[derive(Debug)]
pub(crate) struct NewAttributes {
    /// The row of the first added attribute.
    pub(crate) first: u32,
    /// The attributes in the order of insertion.
    pub(crate) rows: Vec<Attribute>,
    index: RowIndex,
    hasher: RandomState,
}

impl NewAttributes {
    /// Creates a list that follows a table of `rows` rows.
    pub(crate) fn after(rows: usize) -> Self {
        Self {
            first: rows as u32,
            rows: Vec::new(),
            index: RowIndex::default(),
            hasher: RandomState::default(),
        }
    }

    /// Interns an attribute. Returns the id of an equal one if there is one.
    pub(crate) fn intern(
        &mut self,
        attribute: Attribute,
        cx: &mut ReadContext,
    ) -> Result<AttributeId> {
        let Self { first, rows, index, hasher } = self;
        let hash = hasher.hash_one(&attribute);
        if let Some(row) = index.find(hash, |row| rows[row as usize] == attribute) {
            return Ok(AttributeId(first.saturating_add(row)));
        }
        let row = rows.len() as u32;
        cx.check_rows(Table::Attribute, u64::from(*first) + u64::from(row) + 1)?;
        // Charge for its slot in the index, too.
        cx.budget.charge::<u64>(1)?;
        cx.budget.charge::<u8>(heap_bytes(&attribute.value))?;
        cx.budget.push_row(rows, attribute)?;
        index.add(hash, row);
        Ok(AttributeId(first.saturating_add(row)))
    }

    /// Interns an attribute whose key this crate defines.
    pub(crate) fn named(
        &mut self,
        key: &'static str,
        value: Value,
        texts: &mut StringInterner,
        cx: &mut ReadContext,
    ) -> Result<AttributeId> {
        let key = texts.name(key, cx)?;
        self.intern(Attribute { key, value, unit: StringId::NONE }, cx)
    }

    /// Appends these attributes to the payload's table. Moves the shorter of the two lists.
    ///
    /// Ids from [`intern`](Self::intern) stay valid, because `first` was the length of the table.
    pub(crate) fn append_to(&mut self, mut table: Vec<Attribute>) -> Vec<Attribute> {
        let mut rows = std::mem::take(&mut self.rows);
        if table.len() < rows.len() {
            rows.splice(..0, table);
            return rows;
        }
        table.append(&mut rows);
        table
    }

    /// Returns the attribute with the given id if it is in this list.
    #[inline]
    pub(crate) fn get(&self, id: u32) -> Option<&Attribute> {
        self.rows.get(id.checked_sub(self.first)? as usize)
    }
}
