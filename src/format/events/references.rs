//! Resolution of references by row.
//!
//! Indices have 32 bits; larger ones fail earlier, in `Reader::index`.

use crate::error::{Error, Result};
use crate::losses;
use crate::model::id::StringId;
use crate::read_context::ReadContext;
use crate::tables::read::common::show;

/// The ids of a payload's strings, by row.
///
/// Index 0 is the empty string.
pub(super) type Texts = Vec<StringId>;

/// Returns the id of a row; unset for row 0 of an empty table.
///
/// Under `Policy::Repair`, an index past the table becomes unset, with a finding.
///
/// # Errors
///
/// Under `Policy::Refuse`, an index past the table. The caller adds the field.
pub(super) fn find<I: Copy + Default>(ids: &[I], index: u32, cx: &mut ReadContext) -> Result<I> {
    match ids.get(index as usize) {
        Some(id) => Ok(*id),
        None if index == 0 => Ok(I::default()),
        None => {
            let rows = ids.len();
            let message = format!("{} is out of range: the table has {rows} rows", show(index));
            cx.repair(losses::INDEX_OUT_OF_RANGE, Error::malformed(message))?;
            Ok(I::default())
        }
    }
}

/// Returns the id of a string by its row.
///
/// `field` is the name in the schema, for the place of an error.
pub(super) fn text(
    index: u32,
    field: &'static str,
    texts: &Texts,
    cx: &mut ReadContext,
) -> Result<StringId> {
    find(texts, index, cx).map_err(|e| e.within(field))
}
