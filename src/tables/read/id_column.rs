//! Ids of rows, as pprof's tables store them.

use crate::error::Result;
use crate::read_context::ReadContext;
use crate::wire::varint::OVERSIZED_INDEX;

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
        self.0.iter().zip(1..).fold(true, |counted, (id, row)| counted & (*id == row))
    }

    /// Returns whether two rows have the same id.
    pub(crate) fn is_repeated(&self) -> bool {
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
