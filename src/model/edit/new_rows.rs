//! Adds strings and attributes to existing tables.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::error::{Error, ErrorKind, Result};
use crate::model::dictionary::{Attribute, Dictionary};
use crate::model::id::{AttributeId, StringId};
use crate::model::strings::Strings;

/// Maximum rows of a table: the range of OTLP's `int32` indices.
const MAX_ROWS: usize = i32::MAX as usize;

/// Adds rows to the tables of strings and attributes, unless an equal row exists.
///
/// A table is indexed at the first lookup. Of equal rows, the index contains the first, so the seed of the hashes
/// never affects results.
#[derive(Debug, Default)]
pub(super) struct NewRows {
    /// Seed of the hashes, because strings are untrusted.
    seed: RandomState,
    /// Rows of the string table by their bytes, after the first lookup.
    texts: Option<HashTable<u32>>,
    /// Rows of the attribute table by key, value and unit, after the first lookup.
    attributes: Option<HashTable<u32>>,
}

impl NewRows {
    /// Returns the row of a string, and adds it if necessary. Compares with the original bytes, so that a string
    /// that was not UTF-8 equals no new one.
    pub(super) fn text(&mut self, text: &str, strings: &mut Strings) -> Result<StringId> {
        if text.is_empty() {
            return Ok(StringId::NONE);
        }
        let Self { seed, texts, .. } = self;
        let hash_of = |strings: &Strings, row| seed.hash_one(bytes(strings, row));
        let index = texts.get_or_insert_with(|| {
            let same = |a, b| bytes(strings, a) == bytes(strings, b);
            index(strings.len(), |row| hash_of(strings, row), same)
        });
        let hash = seed.hash_one(text.as_bytes());
        if let Some(row) = index.find(hash, |&row| bytes(strings, row) == text.as_bytes()) {
            return Ok(StringId(*row));
        }
        let all = strings.text_len().saturating_add(text.len());
        // Before the string is pushed, so that an error leaves the table unchanged.
        at_most(u32::MAX as usize, all, "bytes of text")?;
        at_most(MAX_ROWS, strings.len() + 1, "strings")?;
        let id = strings.push(text);
        index.insert_unique(hash, id.0, |&row| hash_of(strings, row));
        Ok(id)
    }

    /// Returns the row of an attribute: an equal one, or a new one at the end.
    pub(super) fn attribute(
        &mut self,
        attribute: Attribute,
        dictionary: &mut Dictionary,
    ) -> Result<AttributeId> {
        let Self { seed, attributes, .. } = self;
        let table = &mut dictionary.attributes;
        let hash_of = |table: &[Attribute], row| seed.hash_one(table.get(row as usize));
        let index = attributes.get_or_insert_with(|| {
            let same = |a, b| table.get(a as usize) == table.get(b as usize);
            index(table.len(), |row| hash_of(table, row), same)
        });
        // An `Option`, as in `hash_of`, because the two hashes must be equal.
        let hash = seed.hash_one(Some(&attribute));
        let is_it = |&row: &u32| table.get(row as usize) == Some(&attribute);
        if let Some(row) = index.find(hash, is_it) {
            return Ok(AttributeId(*row));
        }
        at_most(MAX_ROWS, table.len() + 1, "attributes")?;
        let id = AttributeId(table.len() as u32);
        table.push(attribute);
        index.insert_unique(hash, id.0, |&row| hash_of(table, row));
        Ok(id)
    }
}

/// Returns the original bytes of a row.
fn bytes(strings: &Strings, row: u32) -> &[u8] {
    strings.bytes(StringId(row))
}

/// Indexes a table of `rows` rows. Of equal rows, the index contains the first.
fn index(
    rows: usize,
    hash_of: impl Fn(u32) -> u64,
    same: impl Fn(u32, u32) -> bool,
) -> HashTable<u32> {
    let mut index = HashTable::with_capacity(rows);
    for row in 0..rows as u32 {
        let hash = hash_of(row);
        if index.find(hash, |&other| same(other, row)).is_none() {
            index.insert_unique(hash, row, |&row| hash_of(row));
        }
    }
    index
}

/// Returns an error if a table cannot hold `wanted` items.
pub(super) fn at_most(limit: usize, wanted: usize, what: &str) -> Result<()> {
    if wanted <= limit {
        return Ok(());
    }
    let message = format!("the edit needs {wanted} {what}; a table holds at most {limit}");
    Err(Error::new(ErrorKind::Limit, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_equal_rows_the_first_is_found_and_none_is_added() {
        let mut dictionary = Dictionary::default();
        for text in ["a", "b", "a", "b"] {
            dictionary.strings.push(text);
        }
        let mut new = NewRows::default();
        let mut text = |text| new.text(text, &mut dictionary.strings).unwrap();
        assert_eq!(["", "b", "a", "c", "c"].map(&mut text).map(|id| id.0), [0, 2, 1, 5, 5]);
        let row = Attribute { key: StringId(1), ..Attribute::default() };
        dictionary.attributes.extend([row.clone(), row.clone()]);
        assert_eq!(new.attribute(row, &mut dictionary).unwrap(), AttributeId(1));
        let other = Attribute { key: StringId(2), ..Attribute::default() };
        assert_eq!(new.attribute(other.clone(), &mut dictionary).unwrap(), AttributeId(3));
        assert_eq!(new.attribute(other, &mut dictionary).unwrap(), AttributeId(3));
    }

    #[test]
    fn a_table_past_what_it_can_hold_is_an_error() {
        assert!(at_most(2, 2, "strings").is_ok());
        let error = at_most(2, 3, "strings").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit);
        assert_eq!(error.to_string(), "the edit needs 3 strings; a table holds at most 2");
    }
}
