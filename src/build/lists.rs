//! Lists in which a key stands once.
//!
//! OTLP wants the keys of a list of attributes to be unique; a caller who says one again means the
//! later one. Lists are short, so they are searched, and a key keeps the place it had first. Keys
//! are compared by id: an interner gives equal texts one id.

use crate::build::interner::Interner;
use crate::build::room::{Full, at_most};
use crate::limits::Limits;
use crate::model::id::AttributeId;
use crate::model::value::KeyValue;

impl Interner {
    /// Adds an attribute, in place of the one with its key; the empty attribute is none.
    ///
    /// # Errors
    ///
    /// `Full` past `max_attributes_per_item`.
    #[inline]
    pub(crate) fn put(&self, list: &mut Vec<AttributeId>, id: AttributeId) -> Result<(), Full> {
        let rows = &self.dictionary.attributes;
        let key = |id: &AttributeId| rows.get(id.row()).map(|attribute| attribute.key);
        if id == AttributeId::NONE { Ok(()) } else { put(list, id, key, &self.room.limits) }
    }

    /// Adds a pair, in place of the one with its key.
    pub(crate) fn put_pair(&self, list: &mut Vec<KeyValue>, pair: KeyValue) -> Result<(), Full> {
        put(list, pair, |pair| pair.key, &self.room.limits)
    }
}

#[inline]
fn put<T, K: PartialEq>(
    list: &mut Vec<T>,
    item: T,
    key: impl Fn(&T) -> K,
    limits: &Limits,
) -> Result<(), Full> {
    let wanted = key(&item);
    match list.iter_mut().find(|there| key(there) == wanted) {
        Some(there) => *there = item,
        None => {
            let items = list.len() as u64 + 1;
            at_most("max_attributes_per_item", limits.max_attributes_per_item, items)?;
            list.push(item);
        }
    }
    Ok(())
}
