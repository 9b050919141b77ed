//! pprof's ids: any numbers, though nearly always 1, 2, 3 … in order.
//!
//! ```text
//! ids 1 2 3        Dense(3)     id n is row n; nothing is stored
//! ids 7 9 1        Sparse       7 → 1, 9 → 2, 1 → 3
//! ids 0 0 0        left out by some .NET profilers: refused, or numbered by a repair
//! ```
//!
//! Dense references need no translation at all: the id on the wire is the model's row, as row 0 is
//! the model's empty row and `profile.proto` keeps id 0 for none.

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::format::intake::Intake;
use crate::format::losses;
use crate::format::otlp::read::id_column::IdColumn;
use crate::format::otlp::read::tables::Tables;
use crate::format::pprof::layout::{Place, row as row_at};

/// The rows of a table by their ids. Row 0 is the model's empty row.
#[derive(Debug)]
pub(crate) enum Ids {
    /// Id n is row n, up to the last row.
    Dense(u32),
    Sparse(Rows),
}

/// Rows by ids that are any numbers.
pub(crate) type Rows = HashMap<u64, u32, foldhash::fast::RandomState>;

impl Ids {
    /// The ids of a table, in the order of its rows.
    ///
    /// # Errors
    ///
    /// An id of 0, or one that an earlier row has, unless repairs are asked for.
    pub(crate) fn of(
        ids: &IdColumn,
        table: &'static str,
        (payload, places): (&[u8], &[Place]),
        intake: &mut Intake,
    ) -> Result<Self> {
        if ids.is_counted() {
            return Ok(Self::Dense(ids.len() as u32));
        }
        let ids = ids.as_slice();
        intake.budget.take::<[u64; 4]>(ids.len())?;
        intake.note(
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
            intake.repair(code, Error::malformed(message).within("id").within_row(table, row))?;
        }
        rows.remove(&0);
        Ok(Self::Sparse(rows))
    }

    /// The ids of functions. Where all are left out and the lines show what they were, a repair
    /// takes those.
    pub(crate) fn of_functions(
        tables: &Tables,
        places: (&[u8], &[Place]),
        intake: &mut Intake,
    ) -> Result<Self> {
        let functions = &tables.ids.function;
        if functions.len() == 0 || !are_left_out(tables) {
            return Self::of(functions, "function", places, intake);
        }
        let rows = functions.len();
        for row in 0..rows {
            let error = Error::malformed(format!(
                "id must not be 0, and all {rows} functions have the id 0: a repair numbers them in order, as the lines refer to them"
            ));
            intake.repair(losses::BAD_ID, error.within("id").within_row("function", row))?;
        }
        Ok(Self::Dense(rows as u32))
    }

    /// The row of an id.
    ///
    /// `None` for 0 and for an id that no row has.
    #[inline]
    pub(crate) fn row(&self, id: u64) -> Option<u32> {
        match self {
            Self::Dense(last) => (id != 0 && id <= u64::from(*last)).then_some(id as u32),
            Self::Sparse(rows) => rows.get(&id).copied(),
        }
    }

    /// Whether ids are the numbers of the rows, so that nothing is looked up.
    pub(crate) fn is_dense(&self) -> bool {
        matches!(self, Self::Dense(_))
    }
}

/// Whether no function has an id, and there are as many locations as functions, each of one line,
/// that of location n of function n: so profilers of .NET wrote it.
fn are_left_out(tables: &Tables) -> bool {
    let Tables { ids, lines, .. } = tables;
    let rows = ids.function.len();
    let named = |row: usize| match lines.row(row) {
        [line] => line.function.row() == row,
        _ => false,
    };
    !ids.function.is_said()
        && ids.location.is_counted()
        && ids.location.len() == rows
        && (1..=rows).all(named)
}
