//! Interning while reading: texts, attributes and stacks that were met before.

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::error::Result;
use crate::format::index::Index;
use crate::format::intake::Intake;
use crate::limits::within;
use crate::model::dictionary::Attribute;
use crate::model::id::{AttributeId, StringId};
use crate::model::ragged::Ragged;
use crate::model::strings::RawStrings;
use crate::model::value::Value;

/// The texts of a payload while it is read: the rows of its string table first, then the texts
/// it has in place, each once.
#[derive(Debug)]
pub(crate) struct Texts {
    pub(crate) raw: RawStrings,
    /// How many of them are rows of the string table.
    pub(crate) table_rows: u32,
    /// The first row in the index.
    first: u32,
    index: Index,
    /// How many texts were looked for among those before it.
    looked_for: u32,
    hasher: RandomState,
}

/// After this many texts that were looked for one by one, the rows of the string table are indexed:
/// that costs as much, and most payloads have few texts in place.
const ONE_BY_ONE: u32 = 16;

impl Texts {
    pub(crate) fn new() -> Self {
        Self {
            raw: RawStrings::new(),
            table_rows: 0,
            first: 0,
            index: Index::default(),
            looked_for: 0,
            hasher: RandomState::default(),
        }
    }

    /// Appends the next row of the string table.
    #[inline]
    pub(crate) fn push_row(&mut self, bytes: &[u8], intake: &mut Intake) -> Result<()> {
        push_row(&mut self.raw, bytes, intake)
    }

    /// The id of a text, equal to that of an equal one interned before; of equal rows of the string
    /// table, the first's. The empty text is none.
    pub(crate) fn intern(&mut self, bytes: &[u8], intake: &mut Intake) -> Result<StringId> {
        if bytes.is_empty() {
            return Ok(StringId::NONE);
        }
        if self.first == 0 {
            self.begin();
        }
        let hash = hash_bytes(&self.hasher, bytes) as u32;
        let Self { raw, first, .. } = self;
        let same = |row: u32| raw.get((*first + row) as usize) == Some(bytes);
        if let Some(row) = self.index.find(hash, same) {
            return Ok(StringId(self.first + row));
        }
        if self.first > 1
            && let Some(row) = self.find_in_table(bytes, hash, intake)?
        {
            return Ok(row);
        }
        intake.budget.take::<(u64, u64)>(1)?;
        push_row(&mut self.raw, bytes, intake)?;
        Ok(StringId(self.first + self.index.add(hash)))
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
        hash: u32,
        intake: &mut Intake,
    ) -> Result<Option<StringId>> {
        self.looked_for += 1;
        let row = if self.looked_for <= ONE_BY_ONE {
            self.raw.find(bytes, self.first as usize)
        } else {
            self.index_table(intake)?;
            let same = |row: u32| self.raw.get(row as usize + 1) == Some(bytes);
            self.index.find(hash, same).map(|row| row as usize + 1)
        };
        Ok(row.map(|row| StringId(row as u32)))
    }

    /// Lets the rows of the string table be found; of equal ones, the first.
    fn index_table(&mut self, intake: &mut Intake) -> Result<()> {
        let rows = self.raw.len();
        intake.budget.take::<(u64, u64)>(rows)?;
        self.index = Index::with_room(rows);
        for row in 1..rows {
            let bytes = self.raw.get(row).unwrap_or_default();
            let hash = hash_bytes(&self.hasher, bytes) as u32;
            let same = |row: u32| self.raw.get(row as usize + 1) == Some(bytes);
            if self.index.find(hash, same).is_some() {
                self.index.add_hidden();
            } else {
                self.index.add(hash);
            }
        }
        self.first = 1;
        Ok(())
    }

    /// Makes room for `texts` texts of `bytes` bytes in all.
    pub(crate) fn reserve(&mut self, texts: usize, bytes: usize) {
        self.raw.reserve(texts, bytes);
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
    within(
        "max_string_bytes",
        limits.max_string_bytes,
        bytes.len() as u64,
    )?;
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
    pub(crate) rows: Vec<Attribute>,
    index: HashTable<u32>,
    hasher: RandomState,
}

impl NewAttributes {
    pub(crate) fn after(rows: usize) -> Self {
        Self {
            first: rows as u32,
            rows: Vec::new(),
            index: HashTable::new(),
            hasher: RandomState::default(),
        }
    }

    /// The id of an attribute, equal to that of an equal one.
    pub(crate) fn intern(
        &mut self,
        attribute: Attribute,
        intake: &mut Intake,
    ) -> Result<AttributeId> {
        let Self {
            first,
            rows,
            index,
            hasher,
        } = self;
        let hash = hasher.hash_one(&attribute);
        if let Some(row) = index.find(hash, |&row| rows[row as usize] == attribute) {
            return Ok(AttributeId(first.saturating_add(*row)));
        }
        let row = rows.len() as u32;
        within(
            "max_table_entries",
            intake.limits().max_table_entries,
            u64::from(*first) + u64::from(row) + 1,
        )?;
        intake.budget.take::<Attribute>(2)?;
        rows.push(attribute);
        index.insert_unique(hash, row, |&row| hasher.hash_one(&rows[row as usize]));
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
        self.intern(
            Attribute {
                key,
                value,
                unit: StringId::NONE,
            },
            intake,
        )
    }

    /// The row of an id of this list.
    #[inline]
    pub(crate) fn get(&self, id: u32) -> Option<&Attribute> {
        self.rows.get(id.checked_sub(self.first)? as usize)
    }
}

/// Stacks met while reading slices, each once. Row 0 is the empty stack.
#[derive(Debug)]
pub(crate) struct Stacks {
    pub(crate) rows: Ragged<u32>,
    /// The rows but for row 0.
    index: Index,
    hasher: RandomState,
    /// What is left of the memory [`reserve`](Self::reserve) asked for, in words.
    reserved: usize,
}

impl Stacks {
    /// What a stack takes beside its locations, in words.
    const WORDS: usize = 6;

    pub(crate) fn new() -> Self {
        let mut rows = Ragged::default();
        rows.end_row();
        Self {
            rows,
            index: Index::default(),
            hasher: RandomState::default(),
            reserved: 0,
        }
    }

    /// Makes room for `stacks` more of `locations` locations in all.
    pub(crate) fn reserve(
        &mut self,
        stacks: usize,
        locations: usize,
        intake: &mut Intake,
    ) -> Result<()> {
        let words = locations.saturating_add(stacks.saturating_mul(Self::WORDS));
        intake
            .budget
            .take::<u32>(words.saturating_sub(self.reserved))?;
        self.reserved = self.reserved.max(words);
        // Slices that overlap are more than the list. What is not used is never touched, and what
        // is too small moves all that is there.
        let room = intake.budget.left::<u32>().min(locations.saturating_mul(2));
        self.rows.items.reserve(room.max(locations));
        self.rows.ends.reserve(stacks);
        self.index.reserve(stacks);
        Ok(())
    }

    /// The row of a stack.
    pub(crate) fn intern(&mut self, stack: &[u32], intake: &mut Intake) -> Result<u32> {
        if stack.is_empty() {
            return Ok(0);
        }
        let hash = self.hash(stack);
        let Self { rows, index, .. } = self;
        if let Some(known) = index.find(hash, |known| rows.row(known as usize + 1) == stack) {
            return Ok(known + 1);
        }
        let depth = stack.len();
        intake.check_depth(depth)?;
        let words = depth + Self::WORDS;
        match self.reserved.checked_sub(words) {
            Some(left) => self.reserved = left,
            None => intake.budget.take::<u32>(words)?,
        }
        rows.push(stack);
        Ok(index.add(hash) + 1)
    }

    /// The hash of a stack, eight locations at a time, in two halves that do not wait for each
    /// other; the last eight may be hashed twice.
    #[inline]
    fn hash(&self, stack: &[u32]) -> u32 {
        let two = |a: u32, b: u32| u64::from(a) | u64::from(b) << 32;
        let four = |a, b, c, d| u128::from(two(a, b)) | u128::from(two(c, d)) << 64;
        let (mut left, mut right) = (self.hasher.build_hasher(), self.hasher.build_hasher());
        let mut write = |&[a, b, c, d, e, f, g, h]: &[u32; 8]| {
            left.write_u128(four(a, b, c, d));
            right.write_u128(four(e, f, g, h));
        };
        stack.as_chunks().0.iter().for_each(&mut write);
        match stack.last_chunk() {
            Some(last) => write(last),
            None => {
                let mut last = [0; 8];
                last[..stack.len()].copy_from_slice(stack);
                write(&last);
            }
        }
        left.write_u64(right.finish());
        left.write_u64(stack.len() as u64);
        left.finish() as u32
    }
}
