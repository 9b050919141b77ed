//! References by row: what they refer to.
//!
//! An index is 32 bits on the wire; what is larger fails in `Reader::index`, before it gets here.

use crate::error::{Error, Result};
use crate::format::intake::Intake;
use crate::format::losses;
use crate::format::otlp::read::common::show;
use crate::model::id::StringId;

/// The texts of a payload, by their rows.
///
/// Index 0 is the empty text.
pub(super) type Texts = Vec<StringId>;

/// The id of a row; of row 0 of an empty table, none.
///
/// Under `Policy::Repair` an index past the table becomes none, with a finding.
///
/// # Errors
///
/// Under `Policy::Refuse`, an index past the table; the caller says of which field.
pub(super) fn find<I: Copy + Default>(ids: &[I], index: u32, intake: &mut Intake) -> Result<I> {
    match ids.get(index as usize) {
        Some(id) => Ok(*id),
        None if index == 0 => Ok(I::default()),
        None => {
            let rows = ids.len();
            let message = format!("{} is out of range: the table has {rows} rows", show(index));
            intake.repair(losses::INDEX_OUT_OF_RANGE, Error::malformed(message))?;
            Ok(I::default())
        }
    }
}

/// A text by its row.
///
/// `field` is the name on the wire, for the place of an error.
pub(super) fn text(
    index: u32,
    field: &'static str,
    texts: &Texts,
    intake: &mut Intake,
) -> Result<StringId> {
    find(texts, index, intake).map_err(|e| e.within(field))
}
