//! Lists with unique keys.
//!
//! OTLP requires unique keys in a list of attributes. If a caller repeats a key, the later value replaces the
//! earlier one in its position. Short lists, which are most, are searched linearly; long lists have an index of
//! keys. Keys are compared by id, because an interner gives equal strings one id.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::limits::Limits;
use crate::model::id::{AttributeId, StringId};
use crate::model::value::KeyValue;
use crate::tables::rows::budget::{Full, at_most};
use crate::tables::rows::interner::Interner;

/// Maximum length of a list that is searched linearly.
const SHORT: usize = 32;

/// The index of a list in progress: the position of each key, once the list is too long for a linear search.
///
/// It belongs to one list, which only grows. Call [`clear`](Self::clear) before another list.
#[derive(Clone, Debug, Default)]
pub(crate) struct UniqueKeys {
    rows: HashMap<StringId, u32, RandomState>,
    /// The number of list items in `rows`.
    known: usize,
}

impl UniqueKeys {
    /// Clears the index for another list.
    #[inline]
    pub(crate) fn clear(&mut self) {
        if self.known > 0 {
            *self = Self::default();
        }
    }

    /// Returns the position of the first item with a key.
    #[inline]
    fn find<T>(
        &mut self,
        list: &[T],
        key: impl Fn(&T) -> StringId,
        key_id: StringId,
    ) -> Option<usize> {
        if list.len() <= SHORT {
            return list.iter().position(|item| key(item) == key_id);
        }
        // Index the items added since the last search.
        for (row, item) in list.iter().enumerate().skip(self.known) {
            self.rows.entry(key(item)).or_insert(row as u32);
        }
        self.known = list.len();
        self.rows.get(&key_id).map(|row| *row as usize)
    }
}

impl Interner {
    /// Adds an attribute to a list. Replaces the one with its key. Ignores the empty attribute.
    ///
    /// # Errors
    ///
    /// `Full` if the list exceeds `max_attributes_per_item`.
    #[inline]
    pub(crate) fn put(
        &self,
        list: &mut Vec<AttributeId>,
        keys: &mut UniqueKeys,
        id: AttributeId,
    ) -> Result<(), Full> {
        let rows = &self.dictionary.attributes;
        let key = |id: &AttributeId| rows.get(id.row()).map_or(StringId::NONE, |row| row.key);
        if id == AttributeId::NONE { Ok(()) } else { put(list, keys, id, key, &self.budget.limits) }
    }

    /// Adds a pair to a list. Replaces the one with its key.
    pub(crate) fn put_pair(
        &self,
        list: &mut Vec<KeyValue>,
        keys: &mut UniqueKeys,
        pair: KeyValue,
    ) -> Result<(), Full> {
        put(list, keys, pair, |pair| pair.key, &self.budget.limits)
    }
}

/// Adds an item to a list. Replaces the one with its key.
#[inline]
fn put<T>(
    list: &mut Vec<T>,
    keys: &mut UniqueKeys,
    item: T,
    key: impl Fn(&T) -> StringId,
    limits: &Limits,
) -> Result<(), Full> {
    let there = keys.find(list, &key, key(&item));
    match there.and_then(|row| list.get_mut(row)) {
        Some(there) => *there = item,
        None => {
            let items = list.len() as u64 + 1;
            at_most("max_attributes_per_item", limits.max_attributes_per_item, items)?;
            list.push(item);
        }
    }
    Ok(())
}
