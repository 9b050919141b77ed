//! Ids of rows, as pprof's tables store them.

use hashbrown::HashMap;

use crate::error::Result;
use crate::read_context::ReadContext;
use crate::wire::varint::OVERSIZED_INDEX;

/// The rows of a table by their ids. Rows count from 1, because row 0 is the model's empty row.
#[derive(Debug)]
pub(crate) enum RowsById {
    /// Id n is row n, up to the given last row.
    Dense(u32),
    Sparse(SparseRows),
}

/// Rows by arbitrary ids.
pub(crate) type SparseRows = HashMap<u64, u32, foldhash::fast::RandomState>;

impl RowsById {
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

/// The ids of rows, for schemas with pprof's ids.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    /// The ids in the order of the payload's rows. Row 0 of the model has no entry.
    pub(crate) mapping: IdColumn,
    pub(crate) location: IdColumn,
    pub(crate) function: IdColumn,
}

/// The ids of a table's rows; 0 for a row without an id.
#[derive(Debug, Default)]
pub(crate) struct IdColumn(Vec<u64>);

impl IdColumn {
    /// Reserves memory for the ids of a table of `rows` rows.
    pub(crate) fn reserve(&mut self, rows: usize, cx: &mut ReadContext) -> Result<()> {
        cx.budget.charge::<u64>(rows)?;
        self.0.reserve_exact(rows);
        Ok(())
    }

    /// Appends the id of the next row.
    // Always inlined. Without any in the library, decoding 1.10 takes up to 36 % more instructions.
    #[inline(always)]
    pub(crate) fn push(&mut self, id: u64) {
        self.0.push(id);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn as_slice(&self) -> &[u64] {
        &self.0
    }

    /// Returns whether the ids are 1, 2, 3 …, as most producers number them.
    pub(crate) fn is_counted(&self) -> bool {
        // No early exit, so that the loop can use vector instructions.
        self.0.iter().zip(1..).fold(true, |counted, (id, row)| counted & (*id == row))
    }

    /// Returns the rows by their ids, or by their numbers if no row has an id. `None` if an id is 0 or repeated.
    ///
    /// pprof's `profile.proto` requires ids that are unique and not 0, so other numbers are not ids.
    pub(crate) fn rows(&self) -> Option<RowsById> {
        if !self.has_ids() {
            return Some(RowsById::Dense(self.len() as u32));
        }
        let mut rows = SparseRows::with_capacity_and_hasher(self.len(), Default::default());
        let is_id = |(&id, row): (&u64, u32)| id != 0 && rows.insert(id, row).is_none();
        self.0.iter().zip(1..).all(is_id).then_some(RowsById::Sparse(rows))
    }

    /// Returns whether two rows have the same id.
    pub(crate) fn is_repeated(&self) -> bool {
        // 0 is a missing id, and several rows may lack one.
        let mut ids: Vec<u64> = self.0.iter().copied().filter(|id| *id != 0).collect();
        ids.sort_unstable();
        ids.windows(2).any(|pair| pair[0] == pair[1])
    }

    /// Returns whether any row has an id.
    pub(crate) fn has_ids(&self) -> bool {
        self.0.iter().any(|&id| id != 0)
    }

    /// Returns the first row with an id larger than any reference can be, and that id.
    pub(crate) fn beyond(&self) -> Option<(usize, u64)> {
        self.0.iter().copied().enumerate().find(|(_, id)| *id >= u64::from(OVERSIZED_INDEX))
    }
}
