//! What the files may take, and what they take at least.
//!
//! The crate's tables are several times what is written of them, so that a profile of many threads
//! is refused before they are made and not when they are written.

use crate::error::Result;
use crate::limits::within;

/// How much room there is, and how much of it is taken.
#[derive(Clone, Copy)]
pub(super) struct Room {
    pub(super) most: u64,
    /// Of the files that are written, and what is known of the one that is being made.
    pub(super) taken: u64,
}

impl Room {
    /// A thread with nothing in it: the names of the columns of its tables.
    pub(super) const THREAD: usize = 850;
    /// A sample: a stack, a time and a weight, with commas.
    pub(super) const SAMPLE: usize = 6;
    /// A row of the table of stacks: the caller's and a frame, with commas.
    pub(super) const STACK: usize = 4;

    /// # Errors
    ///
    /// [`Limit`](crate::ErrorKind::Limit) where there is no room for so many bytes.
    pub(super) fn take(&mut self, bytes: usize) -> Result<()> {
        self.taken += bytes as u64;
        within("max_output_bytes", self.most, self.taken)
    }
}
