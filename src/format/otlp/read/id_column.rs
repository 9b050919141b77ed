//! The ids that rows of a pprof's tables carry.

use crate::error::Result;
use crate::format::intake::Intake;
use crate::wire::varint::BEYOND;

/// pprof's own ids of rows, where a schema has them.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    /// By the order of the rows on the wire, the model's own row 0 not among them.
    pub(crate) mapping: IdColumn,
    pub(crate) location: IdColumn,
    pub(crate) function: IdColumn,
}

/// The ids of a table's rows; 0 where a row says none.
#[derive(Debug, Default)]
pub(crate) struct IdColumn(Vec<u64>);

impl IdColumn {
    /// Makes room for those of a table of so many rows.
    pub(crate) fn reserve(&mut self, rows: usize, intake: &mut Intake) -> Result<()> {
        intake.budget.take::<u64>(rows)?;
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

    /// Whether the ids are 1, 2, 3 …, as nearly every producer has them.
    pub(crate) fn is_counted(&self) -> bool {
        self.0.iter().zip(1..).fold(true, |counted, (id, row)| counted & (*id == row))
    }

    /// Whether two rows have the same id.
    pub(crate) fn is_repeated(&self) -> bool {
        let mut ids: Vec<u64> = self.0.iter().copied().filter(|id| *id != 0).collect();
        ids.sort_unstable();
        ids.windows(2).any(|pair| pair[0] == pair[1])
    }

    /// Whether any row has an id.
    pub(crate) fn is_said(&self) -> bool {
        self.0.iter().any(|&id| id != 0)
    }

    /// The first row whose id is past the largest that a reference can be, and that id.
    pub(crate) fn beyond(&self) -> Option<(usize, u64)> {
        self.0.iter().copied().enumerate().find(|(_, id)| *id >= u64::from(BEYOND))
    }
}
