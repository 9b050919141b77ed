//! Lists in which a key stands once.
//!
//! OTLP wants the keys of a list of attributes to be unique; a caller who says one again means the
//! later one, at the place it had first. Most lists are short, so they are searched; a long one is
//! searched by an index of its keys. Keys are compared by id: an interner gives equal texts one id.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::builder::interner::Interner;
use crate::builder::room::{Full, at_most};
use crate::limits::Limits;
use crate::model::id::{AttributeId, StringId};
use crate::model::value::KeyValue;

/// The longest list that is searched as it is.
const SHORT: usize = 32;

/// The index of a list that is being put together: where each key is, once the list is too long to be searched.
///
/// It follows one list, which only grows; [`clear`](Self::clear) makes it one of another.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys {
    rows: HashMap<StringId, u32, RandomState>,
    /// How many items of the list are in `rows`.
    known: usize,
}

impl Keys {
    /// The next list begins.
    #[inline]
    pub(crate) fn clear(&mut self) {
        if self.known > 0 {
            *self = Self::default();
        }
    }

    /// The first item of a key.
    #[inline]
    fn find<T>(
        &mut self,
        list: &[T],
        key: impl Fn(&T) -> StringId,
        wanted: StringId,
    ) -> Option<usize> {
        if list.len() <= SHORT {
            return list.iter().position(|item| key(item) == wanted);
        }
        for (row, item) in list.iter().enumerate().skip(self.known) {
            self.rows.entry(key(item)).or_insert(row as u32);
        }
        self.known = list.len();
        self.rows.get(&wanted).map(|row| *row as usize)
    }
}

impl Interner {
    /// Adds an attribute, in place of the one with its key; the empty attribute is none.
    ///
    /// # Errors
    ///
    /// `Full` past `max_attributes_per_item`.
    #[inline]
    pub(crate) fn put(
        &self,
        list: &mut Vec<AttributeId>,
        keys: &mut Keys,
        id: AttributeId,
    ) -> Result<(), Full> {
        let rows = &self.dictionary.attributes;
        let key = |id: &AttributeId| rows.get(id.row()).map_or(StringId::NONE, |row| row.key);
        if id == AttributeId::NONE { Ok(()) } else { put(list, keys, id, key, &self.room.limits) }
    }

    /// Adds a pair, in place of the one with its key.
    pub(crate) fn put_pair(
        &self,
        list: &mut Vec<KeyValue>,
        keys: &mut Keys,
        pair: KeyValue,
    ) -> Result<(), Full> {
        put(list, keys, pair, |pair| pair.key, &self.room.limits)
    }
}

#[inline]
fn put<T>(
    list: &mut Vec<T>,
    keys: &mut Keys,
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
