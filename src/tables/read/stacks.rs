//! Interning of stacks while a payload is read.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;

use crate::error::Result;
use crate::model::ragged::Ragged;
use crate::model::row_index::RowIndex;
use crate::read_context::ReadContext;
use crate::wire::indices::Indices;
use crate::wire::packed::count_packed;
use crate::wire::read::Reader;

/// The stacks of a payload: rows of locations. Row 0 is the empty stack.
#[derive(Debug)]
pub(crate) struct Stacks {
    /// The ends of the rows. [`finish_rows`](Self::finish_rows) fills the items after all stacks are read, so that
    /// locations are moved once.
    pub(crate) rows: Ragged<u32>,
    /// The locations of all stacks until [`finish_rows`](Self::finish_rows).
    pub(crate) locations: Indices,
    /// An upper bound of the largest location minus one, set by [`finish_rows`](Self::finish_rows).
    pub(crate) most: Option<u32>,
    /// Finds equal stacks, if stacks are deduplicated.
    index: RowIndex,
    /// Seeded, because locations are untrusted input.
    hasher: RandomState,
}

/// The length in bytes from which a packed list is counted before memory is allocated.
const LONG: usize = 1 << 16;

impl Stacks {
    /// Creates stacks that add `plus` to every location.
    pub(crate) fn plus(plus: u32) -> Self {
        let mut rows = Ragged::default();
        // Row 0. `Tables::reserve` removes it if the payload has a stack table, which begins with its own row 0.
        rows.end_row();
        Self {
            rows,
            locations: Indices::plus(plus),
            most: None,
            index: RowIndex::default(),
            hasher: RandomState::default(),
        }
    }

    /// Reserves memory for `stacks` stacks with `locations` locations in all.
    pub(crate) fn reserve(&mut self, stacks: usize, locations: usize) {
        self.index.reserve(stacks);
        self.rows.ends.reserve(stacks);
        self.locations.reserve(locations);
    }

    /// Returns the row of an equal stack, or adds a new one. `plus` is already added to these locations.
    ///
    /// # Errors
    ///
    /// The budget is exceeded. It is charged before deduplication, because equal stacks cost as much time as
    /// different ones, and there may be any number of them.
    #[inline]
    pub(crate) fn intern(&mut self, stack: &[u32], cx: &mut ReadContext) -> Result<u32> {
        let Self { rows, locations, index, hasher, .. } = self;
        cx.budget.charge_shared::<[u32; 2]>(stack.len())?;
        let hash = hasher.hash_one(stack);
        // Row 0 is never in the index, so a row before this one exists.
        let same = |row: u32| {
            let [start, end] = [row as usize - 1, row as usize].map(|row| rows.ends[row] as usize);
            locations.get(start, end) == stack
        };
        if let Some(row) = index.find(hash, same) {
            return Ok(row);
        }
        cx.budget.charge::<[u32; 8]>(1)?;
        let row = rows.len() as u32;
        locations.extend(stack);
        rows.ends.push(locations.len() as u32);
        index.add(hash, row);
        Ok(row)
    }

    /// Reads locations of a stack.
    // Always inlined. Without any in the library, decoding 1.10 takes up to 36 % more instructions.
    #[inline(always)]
    pub(crate) fn read(&mut self, body: Reader, cx: &ReadContext) -> Result<()> {
        if body.left() > LONG {
            // A short list may exceed the depth as well; `end` checks it after reading, when it has cost little
            // memory.
            cx.check_depth(count_packed(body.rest()))?;
        }
        self.locations.append(body)
    }

    /// Ends a stack that began at location `first`, and charges for its locations and `more` further numbers.
    #[inline]
    pub(crate) fn end(&mut self, first: usize, more: usize, cx: &mut ReadContext) -> Result<()> {
        let end = self.locations.len();
        let depth = end - first;
        cx.check_depth(depth)?;
        cx.budget.charge::<u32>(depth + more)?;
        self.rows.ends.push(end as u32);
        Ok(())
    }

    /// Moves the locations into the rows, after all stacks are read.
    pub(crate) fn finish_rows(&mut self) {
        let mut locations = std::mem::take(&mut self.locations);
        if locations.len() > 0 {
            self.most = locations.most_less_one();
            self.rows.items = locations.into_vec();
            self.rows.trim();
        }
    }
}
