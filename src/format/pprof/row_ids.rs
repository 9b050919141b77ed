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

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::format::pprof::layout::{RowSpan, row as row_at};
use crate::losses;
use crate::read_context::ReadContext;
use crate::tables::read::id_column::IdColumn;
use crate::tables::read::tables::Tables;

/// The rows of a table by id. Row 0 is the model's empty row.
#[derive(Debug)]
pub(crate) enum Ids {
    /// Id n is row n, up to the given last row.
    Dense(u32),
    Sparse(Rows),
}

/// Rows by arbitrary ids.
pub(crate) type Rows = HashMap<u64, u32, foldhash::fast::RandomState>;

impl Ids {
    /// Builds the map for the ids of a table, in the order of its rows.
    ///
    /// # Errors
    ///
    /// An id of 0 or a duplicate id, unless the policy is to repair.
    pub(crate) fn of(
        ids: &IdColumn,
        table: &'static str,
        (payload, places): (&[u8], &[RowSpan]),
        cx: &mut ReadContext,
    ) -> Result<Self> {
        if ids.is_counted() {
            return Ok(Self::Dense(ids.len() as u32));
        }
        let ids = ids.as_slice();
        cx.budget.charge::<[u64; 4]>(ids.len())?;
        cx.note(
            losses::IDS_RENUMBERED,
            || table.to_owned(),
            || "the ids are not 1, 2, 3, …: they were renumbered".to_owned(),
        );
        let mut rows = Rows::with_capacity_and_hasher(ids.len(), Default::default());
        let bytes = |at: usize| row_at(places[at], payload).rest();
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
        rows.remove(&0);
        Ok(Self::Sparse(rows))
    }

    /// Builds the map for the ids of functions. If all ids are omitted and the lines reveal them, a repair
    /// numbers the functions.
    pub(crate) fn of_functions(
        tables: &Tables,
        places: (&[u8], &[RowSpan]),
        cx: &mut ReadContext,
    ) -> Result<Self> {
        let functions = &tables.ids.function;
        if functions.len() == 0 || !are_left_out(tables) {
            return Self::of(functions, "function", places, cx);
        }
        let rows = functions.len();
        for row in 0..rows {
            let error = Error::malformed(format!(
                "id must not be 0, and all {rows} functions have the id 0: a repair numbers them in order, as the lines refer to them"
            ));
            cx.repair(losses::BAD_ID, error.within("id").within_row("function", row))?;
        }
        Ok(Self::Dense(rows as u32))
    }

    /// Returns the row of an id, or `None` for 0 and for unknown ids.
    #[inline]
    pub(crate) fn row(&self, id: u64) -> Option<u32> {
        match self {
            Self::Dense(last) => (id != 0 && id <= u64::from(*last)).then_some(id as u32),
            Self::Sparse(rows) => rows.get(&id).copied(),
        }
    }

    /// Returns whether ids equal row numbers, so that no lookup is needed.
    pub(crate) fn is_dense(&self) -> bool {
        matches!(self, Self::Dense(_))
    }
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
