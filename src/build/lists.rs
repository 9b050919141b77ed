//! Lists in which a key stands once.
//!
//! OTLP wants the keys of a list of attributes to be unique; a caller who says one again means the
//! later one. Lists are short, so they are searched, and a key keeps the place it had first. Keys
//! are compared by id: an interner gives equal texts one id.

use crate::build::room::{Full, at_most};
use crate::limits::Limits;
use crate::model::dictionary::Dictionary;
use crate::model::id::{AttributeId, StringId};
use crate::model::value::KeyValue;

/// Adds an attribute, in place of the one with its key; the empty attribute is none.
///
/// # Errors
///
/// `Full` past `max_attributes_per_item`.
#[inline]
pub(crate) fn put(
    list: &mut Vec<AttributeId>,
    id: AttributeId,
    dictionary: &Dictionary,
    limits: &Limits,
) -> Result<(), Full> {
    if id == AttributeId::NONE {
        return Ok(());
    }
    if list.is_empty() {
        list.push(id);
        return Ok(());
    }
    let key = |id: AttributeId| dictionary.attributes.get(id.row()).map(|attribute| attribute.key);
    let wanted = key(id);
    match list.iter_mut().find(|there| key(**there) == wanted) {
        Some(there) => *there = id,
        None => {
            has_room(list.len(), limits)?;
            list.push(id);
        }
    }
    Ok(())
}

/// Adds a pair, in place of the one with its key; a pair without a key is none.
pub(crate) fn put_pair(
    list: &mut Vec<KeyValue>,
    pair: KeyValue,
    limits: &Limits,
) -> Result<(), Full> {
    if pair.key == StringId::NONE {
        return Ok(());
    }
    match list.iter_mut().find(|there| there.key == pair.key) {
        Some(there) => *there = pair,
        None => {
            has_room(list.len(), limits)?;
            list.push(pair);
        }
    }
    Ok(())
}

fn has_room(len: usize, limits: &Limits) -> Result<(), Full> {
    at_most("max_attributes_per_item", limits.max_attributes_per_item, len as u64 + 1)
}
