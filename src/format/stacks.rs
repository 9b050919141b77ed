//! Stacks while they are read.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;

use crate::error::Result;
use crate::format::intake::Intake;
use crate::model::ragged::Ragged;
use crate::model::row_index::RowIndex;
use crate::wire::indices::Indices;
use crate::wire::packed::count_packed;
use crate::wire::read::Reader;

/// The stacks of a payload: rows of locations. Row 0 is the empty stack.
#[derive(Debug)]
pub(crate) struct Stacks {
    /// Where they end; once all are read, their locations too.
    /// Its items are filled by [`settle`](Self::settle), so that locations are moved once.
    pub(crate) rows: Ragged<u32>,
    /// The locations of all of them, until then.
    pub(crate) locations: Indices,
    /// The largest of them less one, or a larger one, from then on.
    pub(crate) most: Option<u32>,
    /// Finds the row of an equal stack, where equal ones become one.
    index: RowIndex,
    /// Seeded: locations come from strangers.
    hasher: RandomState,
}

/// The locations of a packed list of so many bytes are counted before there is room for them.
const LONG: usize = 1 << 16;

impl Stacks {
    /// Stacks whose locations get `plus` added.
    pub(crate) fn plus(plus: u32) -> Self {
        let mut rows = Ragged::default();
        rows.end_row();
        Self {
            rows,
            locations: Indices::plus(plus),
            most: None,
            index: RowIndex::default(),
            hasher: RandomState::default(),
        }
    }

    /// Makes room for so many stacks of so many locations in all.
    pub(crate) fn reserve(&mut self, stacks: usize, locations: usize) {
        self.index.reserve(stacks);
        self.rows.ends.reserve(stacks);
        self.locations.reserve(locations);
    }

    /// The row of the stack of some locations, each with what is added to all: that of an equal one, or a new one.
    ///
    /// # Errors
    ///
    /// The budget: locations may be in any number of stacks. It is asked before an equal one is looked for, which
    /// takes as long as to keep it, however many are equal.
    #[inline]
    pub(crate) fn intern(&mut self, stack: &[u32], intake: &mut Intake) -> Result<u32> {
        let Self { rows, locations, index, hasher, .. } = self;
        intake.budget.take_shared::<[u32; 2]>(stack.len())?;
        let hash = hasher.hash_one(stack);
        let same = |row: u32| {
            let [start, end] = [row as usize - 1, row as usize].map(|row| rows.ends[row] as usize);
            locations.get(start, end) == stack
        };
        if let Some(row) = index.find(hash, same) {
            return Ok(row);
        }
        intake.budget.take::<[u32; 8]>(1)?;
        let row = rows.len() as u32;
        locations.extend(stack);
        rows.ends.push(locations.len() as u32);
        index.add(hash, row);
        Ok(row)
    }

    /// Reads locations of a stack.
    #[inline(always)]
    pub(crate) fn read(&mut self, body: Reader, intake: &Intake) -> Result<()> {
        if body.left() > LONG {
            intake.check_depth(count_packed(body.rest()))?;
        }
        self.locations.append(body)
    }

    /// Ends a stack whose locations began at the `first`, and which costs so many numbers more.
    #[inline]
    pub(crate) fn end(&mut self, first: usize, more: usize, intake: &mut Intake) -> Result<()> {
        let end = self.locations.len();
        let depth = end - first;
        intake.check_depth(depth)?;
        intake.budget.take::<u32>(depth + more)?;
        self.rows.ends.push(end as u32);
        Ok(())
    }

    /// The stacks have their locations, now that all are read.
    pub(crate) fn settle(&mut self) {
        let mut locations = std::mem::take(&mut self.locations);
        if locations.len() > 0 {
            self.most = locations.most_less_one();
            self.rows.items = locations.into_vec();
            self.rows.trim();
        }
    }
}
