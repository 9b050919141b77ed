//! What the files may take, and what they take at least: written, and in memory before.
//!
//! The crate's tables are several times what is written of them, so that a profile of many threads
//! is refused before they are made and not when they are written.

use crate::error::Result;
use crate::limits::within;

/// How much room there is, and how much of it is taken.
#[derive(Clone, Copy)]
pub(super) struct Room {
    most: u64,
    /// Of the files that are written, and what is known of the one that is being made.
    pub(super) taken: u64,
    /// By the rows of the one that is being made.
    held: u64,
}

impl Room {
    /// A thread with nothing in it: the names of the columns of its tables.
    pub(super) const THREAD: usize = 850;
    /// A sample: a stack, a time and a weight, with commas.
    pub(super) const SAMPLE: usize = 6;
    /// A row of the table of stacks: the caller's and a frame, with commas.
    pub(super) const STACK: usize = 4;
    /// A row of the table of stacks or of frames, and what finds it, in memory until all are written.
    const HELD: u64 = 192;

    /// Nothing is taken of so many bytes.
    pub(super) const fn of(most: u64) -> Self {
        Self { most, taken: 0, held: 0 }
    }

    /// A new row of a thread's tables: each thread has its own, so that few bytes can ask for very many.
    ///
    /// # Errors
    ///
    /// As [`take`](Self::take), and where all rows together hold more memory.
    pub(super) fn row(&mut self, bytes: usize) -> Result<()> {
        self.held += Self::HELD;
        within("max_output_bytes", self.most, self.held)?;
        self.take(bytes)
    }

    /// # Errors
    ///
    /// [`Limit`](crate::ErrorKind::Limit) where there is no room for so many bytes.
    pub(super) fn take(&mut self, bytes: usize) -> Result<()> {
        self.taken += bytes as u64;
        within("max_output_bytes", self.most, self.taken)
    }
}
