//! Enforces the output limit with lower bounds for the file and for the memory of its tables.
//!
//! The tables in memory are several times as large as the file. So a profile with many threads is rejected
//! before its tables are built, and not when they are written.

use crate::error::Result;
use crate::limits::within;

/// The output limit, and how much of it is used.
#[derive(Clone, Copy)]
pub(super) struct OutputBudget {
    most: u64,
    /// Bytes of the written files, and the least that the current one will take.
    pub(super) spent: u64,
    /// Memory of the rows of the current file.
    held: u64,
}

impl OutputBudget {
    /// An empty thread: the column names of its tables.
    pub(super) const THREAD: usize = 850;
    /// A sample: stack, time and weight, with commas.
    pub(super) const SAMPLE: usize = 6;
    /// A row of the stack table: the caller's row and a frame, with commas.
    pub(super) const STACK: usize = 4;
    /// A row of the stack or frame table and its index entry. They stay in memory until all are written.
    const HELD: u64 = 192;

    pub(super) const fn of(most: u64) -> Self {
        Self { most, spent: 0, held: 0 }
    }

    /// Counts a new row in the tables of a thread. Each thread has separate tables, so few bytes of input can
    /// cause very many rows.
    ///
    /// # Errors
    ///
    /// As for [`charge`](Self::charge), and if all rows together exceed the limit in memory.
    pub(super) fn row(&mut self, bytes: usize) -> Result<()> {
        self.held += Self::HELD;
        within("max_output_bytes", self.most, self.held)?;
        self.charge(bytes)
    }

    /// Counts bytes of the file.
    ///
    /// # Errors
    ///
    /// [`Limit`](crate::ErrorKind::Limit) if they exceed the output limit.
    pub(super) fn charge(&mut self, bytes: usize) -> Result<()> {
        self.spent += bytes as u64;
        within("max_output_bytes", self.most, self.spent)
    }
}
