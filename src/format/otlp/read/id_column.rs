//! The ids that rows of a pprof's tables carry.
//!
//! Nearly every producer numbers its rows 1, 2, 3 …: that costs a comparison a row and no memory. Only a table
//! with other ids has them listed.
//!
//! ```text
//! ids 1 2 3 4        rows 4, next 5, step 1, listed []     nothing stored
//! ids 0 0 0          rows 3, next 0, step 0, listed []     left out
//! ids 1 2 7          listed [1 2 7]                        from the first surprise on
//! ```

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

/// The ids of a table's rows. As long as they are 1, 2, 3 … or left out, they are only counted.
#[derive(Debug)]
pub(crate) struct IdColumn {
    /// How many rows there are.
    rows: usize,
    /// The next id, as long as they are counted.
    next: u64,
    /// 1: the ids counted so far are 1, 2, 3 …; 0: they are left out.
    step: u64,
    /// The ids of all rows, once one was not what was expected; empty before.
    listed: Vec<u64>,
}

impl Default for IdColumn {
    fn default() -> Self {
        Self { rows: 0, next: 1, step: 1, listed: Vec::new() }
    }
}

impl IdColumn {
    /// Appends the id of the next row; 0 where the row says none.
    #[inline(always)]
    pub(crate) fn push(&mut self, id: u64, intake: &mut Intake) -> Result<()> {
        if id != self.next || !self.listed.is_empty() {
            return self.push_unusual(id, intake);
        }
        self.rows += 1;
        self.next += self.step;
        Ok(())
    }

    /// The first row of a table whose ids are left out, or a row that ends the counting.
    #[cold]
    fn push_unusual(&mut self, id: u64, intake: &mut Intake) -> Result<()> {
        if self.rows == 0 && id == 0 {
            (self.next, self.step) = (0, 0);
        } else {
            if self.listed.is_empty() {
                intake.budget.take::<u64>(self.rows)?;
                self.listed = self.to_vec();
            }
            intake.budget.push(&mut self.listed, id)?;
        }
        self.rows += 1;
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// Whether the ids are 1, 2, 3 ….
    pub(crate) fn is_counted(&self) -> bool {
        self.rows == 0 || self.listed.is_empty() && self.step == 1
    }

    /// Whether any row has an id.
    pub(crate) fn is_said(&self) -> bool {
        self.rows > 0 && self.step == 1 || self.listed.iter().any(|&id| id != 0)
    }

    /// The first row whose id is past the largest that a reference can be, and that id.
    pub(crate) fn beyond(&self) -> Option<(usize, u64)> {
        let mut rows = self.listed.iter().copied().enumerate();
        rows.find(|(_, id)| *id >= u64::from(BEYOND))
    }

    /// The ids.
    ///
    /// Allocates; asked only where references turn out to be ids.
    pub(crate) fn to_vec(&self) -> Vec<u64> {
        if self.listed.is_empty() {
            (1..=self.rows as u64).map(|row| row * self.step).collect()
        } else {
            self.listed.clone()
        }
    }
}
