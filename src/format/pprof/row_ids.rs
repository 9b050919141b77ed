//! pprof's ids. They may be any numbers, but usually are 1, 2, 3 … in order.
//!
//! ```text
//! ids 1 2 3        Dense(3)     id n is row n; stores no map
//! ids 7 9 1        Sparse       7 → 1, 9 → 2, 1 → 3
//! ids 0 0 0        omitted by some .NET profilers: an error, or numbered by a repair
//! ```
//!
//! Dense references need no translation: the id equals the model's row, because row 0 is the model's empty
//! row and `profile.proto` reserves id 0 for unset references.

use crate::error::{Error, Result};
use crate::format::pprof::layout::{RowSpan, row as row_at};
use crate::losses;
use crate::read_context::ReadContext;
use crate::tables::read::id_column::{IdColumn, RowsById, SparseRows};
use crate::tables::read::tables::Tables;

/// Builds the map for the ids of a table, in the order of its rows.
///
/// # Errors
///
/// An id of 0 or a duplicate id, unless the policy is to repair.
pub(crate) fn rows_by_id(
    ids: &IdColumn,
    table: &'static str,
    (payload, places): (&[u8], &[RowSpan]),
    cx: &mut ReadContext,
) -> Result<RowsById> {
    if ids.is_counted() {
        return Ok(RowsById::Dense(ids.len() as u32));
    }
    let ids = ids.as_slice();
    cx.budget.charge::<[u64; 4]>(ids.len())?;
    cx.note(
        losses::IDS_RENUMBERED,
        || table.to_owned(),
        || "the ids are not 1, 2, 3, …: they were renumbered".to_owned(),
    );
    let mut rows = SparseRows::with_capacity_and_hasher(ids.len(), Default::default());
    let bytes = |at: usize| row_at(places[at], payload).rest();
    // If a repair accepts a duplicate id, `insert` has kept the last row with it.
    for (row, &id) in ids.iter().enumerate() {
        let (code, message) = match (id, rows.insert(id, row as u32 + 1)) {
            (0, _) => (losses::BAD_ID, "id must not be 0".to_owned()),
            (_, None) => continue,
            (_, Some(first)) if bytes(first as usize - 1) == bytes(row) => {
                (losses::EQUAL_ID, format!("duplicate id {id}: the entries are equal"))
            }
            (_, Some(_)) => (losses::BAD_ID, format!("duplicate id {id}")),
        };
        cx.repair(code, Error::malformed(message).within("id").within_row(table, row))?;
    }
    // 0 means unset in references, so it must not lead to a row after a repair either.
    rows.remove(&0);
    Ok(RowsById::Sparse(rows))
}

/// Builds the map for the ids of functions. If all ids are omitted and the lines reveal them, a repair numbers
/// the functions.
pub(crate) fn functions_by_id(
    tables: &Tables,
    places: (&[u8], &[RowSpan]),
    cx: &mut ReadContext,
) -> Result<RowsById> {
    let functions = &tables.ids.function;
    if functions.len() == 0 || !are_left_out(tables) {
        return rows_by_id(functions, "function", places, cx);
    }
    let rows = functions.len();
    for row in 0..rows {
        let error = Error::malformed(format!(
            "id must not be 0, and all {rows} functions have the id 0: a repair numbers them in order, as the lines refer to them"
        ));
        cx.repair(losses::BAD_ID, error.within("id").within_row("function", row))?;
    }
    Ok(RowsById::Dense(rows as u32))
}

/// Returns whether no function has an id, and every location n has one line, which refers to function n. Some
/// .NET profilers write such files.
fn are_left_out(tables: &Tables) -> bool {
    let Tables { ids, dictionary, .. } = tables;
    let lines = &dictionary.locations.lines;
    let rows = ids.function.len();
    let named = |row: usize| match lines.row(row) {
        [line] => line.function.row() == row,
        _ => false,
    };
    !ids.function.has_ids()
        && ids.location.is_counted()
        && ids.location.len() == rows
        && (1..=rows).all(named)
}
