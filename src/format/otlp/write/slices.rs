//! Layout of stacks in one list of locations. Every stack is a slice of the list, and stacks that are
//! suffixes of longer ones are slices of those.
//!
//! Requirements: linear time in the locations written; the same bytes for the same samples, whatever the
//! numbers of their stacks. Longer stacks are first, because similar stacks are then close together and gzip
//! finds the repetition. Only suffixes are shared: other common runs save almost nothing and need a search.
//!
//! ```text
//! stacks, leaf first   a b c d │ c d │ x d │ b c d
//! location_indices     a b c d x d           b c d and c d are suffixes of a b c d
//! slices               0+4     2+2   4+2     1+3
//! ```
//!
//! Most stacks have no suffix that is another stack, and most of their locations rule it out cheaply: the
//! location is not the leaf of a stack of that depth. Otherwise, the hash of the suffix is computed from that
//! of the stack by subtracting the other locations, because the hash is a sum over locations. A table from
//! hash to stack finds a candidate, whose locations are then compared. `docs/decisions/018` lists the
//! alternatives that were tried: a trie from the root, the samples' own order, a chained hash, sorting.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;

use crate::model::id::{LocationId, StackId};
use crate::model::ragged::Ragged;
use crate::model::row_index::RowIndex;
use crate::tables::layout::longest_first;

/// The places of the stacks of a profile in its `location_indices`. Profiles are laid out one after the other
/// in the same memory. Per-row data is cleared by the rows used, not by the size of the table.
#[derive(Debug, Default)]
pub(crate) struct Slices {
    /// The length of the profile's `location_indices`.
    pub(crate) length: usize,
    /// The start of the slice of each stack.
    starts: Vec<u32>,
    /// For each stack: an equal earlier stack, else the longest other stack that is its suffix, else
    /// [`NO_SLICE`].
    suffixes: Vec<u32>,
    /// Empty between two profiles.
    leaves: Leaves,
    /// One weight for each location of the deepest stack.
    weights: Weights,
    /// The stacks laid out, longest first.
    rows: Vec<u32>,
    /// Those that are not contained in another stack.
    own: Vec<u32>,
}

/// The start of a stack without a slice.
const NO_SLICE: u32 = u32::MAX;
/// The start of a stack whose slice is not assigned yet.
const UNASSIGNED: u32 = u32::MAX - 1;

impl Slices {
    /// Lays out the stacks in `used`, each once.
    pub(crate) fn lay_out(
        &mut self,
        stacks: &Ragged<LocationId>,
        locations: usize,
        used: impl Iterator<Item = StackId>,
    ) {
        self.clear(stacks.len());
        let rows = self.each_once(used);
        self.suffixes.resize(stacks.len(), NO_SLICE);
        self.leaves.lengths.resize(locations, 0);
        self.find_suffixes(stacks, &rows);
        self.leaves.clear(stacks, &rows);
        self.rows = longest_first(&rows, |row| stacks.row(row as usize).len());
        self.assign_starts(stacks);
    }

    /// Finds duplicates and suffixes. For each stack, finds the longest suffix, whose own suffixes cover the
    /// others.
    ///
    /// Processes stacks in the order of their first use, which is close to that of the table.
    fn find_suffixes(&mut self, stacks: &Ragged<LocationId>, rows: &[u32]) {
        let Self { suffixes, leaves, weights, .. } = self;
        let lengths = || rows.iter().map(|row| stacks.row(*row as usize).len());
        leaves.shortest = lengths().min().unwrap_or(0).max(1);
        weights.reach(lengths().max().unwrap_or(0));
        // The weights are random, but a match is compared by content. So they never affect the output.
        let mut known = RowIndex::with_capacity(rows.len());
        let mut sums = Vec::with_capacity(rows.len());
        // First pass: index the distinct stacks, and link duplicates to them.
        for &row in rows {
            let stack = stacks.row(row as usize);
            let sum = weights.sum(stack, stack.len());
            sums.push(sum);
            let same = |row: u32| equal(stacks.row(row as usize), stack);
            match known.find(mixed(sum), same) {
                Some(same) => suffixes[row as usize] = same,
                None => {
                    known.add(mixed(sum), row);
                    leaves.add(stack);
                }
            }
        }
        // Second pass: find suffixes, now that all stacks are indexed.
        for (&row, &sum) in rows.iter().zip(&sums) {
            let suffix = &mut suffixes[row as usize];
            if *suffix == NO_SLICE {
                let stack = stacks.row(row as usize);
                let find = |sum: u64, end: &[LocationId]| {
                    known.find(mixed(sum), |row| equal(stacks.row(row as usize), end))
                };
                *suffix = longest_suffix(stack, sum, leaves, weights, find).unwrap_or(NO_SLICE);
            }
        }
    }

    /// Clears the state of the previous profile.
    fn clear(&mut self, stacks: usize) {
        for row in self.rows.drain(..) {
            self.starts[row as usize] = NO_SLICE;
            self.suffixes[row as usize] = NO_SLICE;
        }
        self.own.clear();
        self.starts.resize(stacks, NO_SLICE);
    }

    /// Returns the rows of the used stacks, in the order of their first use.
    ///
    /// `starts` serves as the set: [`UNASSIGNED`] marks stacks already seen, and [`assign_starts`](Self::assign_starts)
    /// replaces it by the start.
    fn each_once(&mut self, used: impl Iterator<Item = StackId>) -> Vec<u32> {
        let new = |stack: &StackId| {
            let start = self.starts.get_mut(stack.row()).filter(|start| **start == NO_SLICE);
            start.map(|start| *start = UNASSIGNED).is_some()
        };
        used.filter(new).map(|stack| stack.0).collect()
    }

    /// Places the stacks that are not contained in another one after the other. The first stack with a given
    /// suffix determines the place of the suffix. It is longer, so it is placed before it.
    fn assign_starts(&mut self, stacks: &Ragged<LocationId>) {
        let Self { length, starts, suffixes, rows, own, .. } = self;
        *length = 0;
        for &row in &*rows {
            let stack = stacks.row(row as usize);
            let suffix = suffixes[row as usize] as usize;
            // `NO_SLICE` is past the table, where rows are empty. A suffix is never longer than its stack.
            let before = stack.len() - stacks.row(suffix).len();
            // An equal stack has a slice already.
            if suffix != NO_SLICE as usize && before == 0 {
                starts[row as usize] = starts[suffix];
                continue;
            }
            if starts[row as usize] == UNASSIGNED {
                // Each stack is placed once, so the list is no longer than the items of the table, whose
                // ends have 32 bits.
                starts[row as usize] = *length as u32;
                *length += stack.len();
                own.push(row);
            }
            if starts.get(suffix) == Some(&UNASSIGNED) {
                starts[suffix] = starts[row as usize] + before as u32;
            }
        }
    }

    /// Returns the profile's `location_indices` as rows of the model: the stacks that are not contained in
    /// another.
    pub(crate) fn parts<'a>(
        &'a self,
        stacks: &'a Ragged<LocationId>,
    ) -> impl Iterator<Item = &'a [LocationId]> {
        self.own.iter().map(|row| stacks.row(*row as usize))
    }

    /// Returns the start of the slice of a stack, which becomes the sample's `locations_start_index`. An
    /// empty slice may start anywhere.
    #[inline]
    pub(crate) fn start(&self, stack: StackId) -> u32 {
        self.starts.get(stack.row()).copied().filter(|&start| start != NO_SLICE).unwrap_or(0)
    }
}

/// The depths of the stacks with a given leaf. Most locations of a stack are not the leaf of a stack of that
/// depth, which this detects without a lookup of stacks.
#[derive(Debug, Default)]
struct Leaves {
    /// A bitmap of depths modulo 64, by location.
    lengths: Vec<u64>,
    /// The depth of the shortest nonempty stack; at least 1.
    shortest: usize,
}

impl Leaves {
    /// Adds a stack by its leaf and its depth.
    fn add(&mut self, stack: &[LocationId]) {
        if let Some(lengths) = stack.first().and_then(|leaf| self.lengths.get_mut(leaf.row())) {
            *lengths |= Self::bit(stack.len());
        }
    }

    /// Clears the leaves of the given stacks. The cost depends on these stacks, not on the size of the table.
    fn clear(&mut self, stacks: &Ragged<LocationId>, rows: &[u32]) {
        for leaf in rows.iter().filter_map(|&row| stacks.row(row as usize).first()) {
            if let Some(lengths) = self.lengths.get_mut(leaf.row()) {
                *lengths = 0;
            }
        }
    }

    /// Returns the depth of the longest suffix that may be another stack, by its leaf and depth. A bit
    /// represents all depths that are equal modulo 64, so there are false positives, but no false negatives.
    #[inline]
    fn next_below(&self, stack: &[LocationId]) -> Option<usize> {
        // A suffix that begins after `last` is shorter than every stack.
        let last = stack.len().checked_sub(self.shortest)?;
        let mut callers = stack.get(1..=last)?.iter();
        // The suffix of each caller is one location shorter, so the bit rotates by one.
        let mut bit = Self::bit(stack.len());
        callers.find(|leaf| {
            bit = bit.rotate_right(1);
            self.lengths[leaf.row()] & bit != 0
        })?;
        // `find` consumed the leaf of the suffix, and `callers` ends `shortest - 1` locations before the
        // root.
        Some(callers.len() + self.shortest)
    }

    /// Returns the bit of a depth.
    fn bit(length: usize) -> u64 {
        1 << (length % 64)
    }
}

/// Returns the longest proper suffix of a stack that `find` accepts by its sum.
#[inline]
fn longest_suffix(
    stack: &[LocationId],
    mut sum: u64,
    leaves: &Leaves,
    weights: &Weights,
    find: impl Fn(u64, &[LocationId]) -> Option<u32>,
) -> Option<u32> {
    let mut rest = stack;
    while let Some(length) = leaves.next_below(rest) {
        let (others, suffix) = rest.split_at(rest.len() - length);
        // Weights depend on the distance from the root, so those of the suffix stay the same.
        sum = sum.wrapping_sub(weights.sum(others, rest.len()));
        if let Some(row) = find(sum, suffix) {
            return Some(row);
        }
        rest = suffix;
    }
    None
}

/// Compares two stacks completely, without a branch for each location.
#[inline]
fn equal(one: &[LocationId], other: &[LocationId]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).fold(0, |differ, (one, other)| differ | (one.0 ^ other.0)) == 0
}

/// Random weights of frames by their distance from the root, which the author of the input cannot predict.
/// The hash of a stack is the sum of its locations times their weights, computed several at a time. Stacks
/// with equal hashes are then compared.
#[derive(Debug, Default)]
struct Weights {
    random: RandomState,
    /// The last weight is that of the root, so stacks, leaf first, are read forwards.
    weights: Vec<u32>,
}

impl Weights {
    /// Generates weights for stacks of this depth.
    fn reach(&mut self, depth: usize) {
        if self.weights.len() < depth {
            let weight = |at: usize| self.random.hash_one(at) as u32;
            self.weights = (0..depth).rev().map(weight).collect();
        }
    }

    /// Returns the weighted sum of some locations of a stack, leaf first. `depth` is the distance of the
    /// first of them from the root, counted from 1.
    #[inline]
    fn sum(&self, locations: &[LocationId], depth: usize) -> u64 {
        let weights = &self.weights[self.weights.len() - depth..];
        let of =
            |(location, weight): (&LocationId, &u32)| u64::from(location.0) * u64::from(*weight);
        // A product of two `u32` fits. Sums may wrap, because subtraction wraps back.
        locations.iter().zip(weights).map(of).fold(0, u64::wrapping_add)
    }
}

/// Mixes the bits of a sum, because hash tables use only some of them.
#[inline]
fn mixed(sum: u64) -> u64 {
    let wide = u128::from(sum) * 0xe703_7ed1_a0b4_28db;
    wide as u64 ^ (wide >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ragged(rows: &[&[u32]]) -> Ragged<LocationId> {
        let mut ragged = Ragged::default();
        for row in rows {
            ragged.push(&row.iter().map(|&id| LocationId(id)).collect::<Vec<_>>());
        }
        ragged
    }

    fn of(
        stacks: &Ragged<LocationId>,
        locations: usize,
        used: impl Iterator<Item = StackId>,
    ) -> Slices {
        let mut slices = Slices::default();
        slices.lay_out(stacks, locations, used);
        slices
    }

    fn list(slices: &Slices, stacks: &Ragged<LocationId>) -> Vec<LocationId> {
        let list: Vec<_> = slices.parts(stacks).flatten().copied().collect();
        assert_eq!(list.len(), slices.length);
        list
    }

    #[test]
    fn a_profile_leaves_nothing_to_the_next() {
        let stacks = ragged(&[&[], &[2, 1], &[3, 2, 1], &[1], &[3, 1], &[2]]);
        let mut slices = Slices::default();
        for used in [vec![1, 2, 3], vec![3, 4], vec![5, 1], vec![], vec![0, 1, 2, 3, 4, 5]] {
            let used = used.into_iter().map(StackId);
            slices.lay_out(&stacks, 4, used.clone());
            let fresh = of(&stacks, 4, used);
            assert_eq!(list(&slices, &stacks), list(&fresh, &stacks));
            assert!((0..6).map(StackId).all(|stack| slices.start(stack) == fresh.start(stack)));
        }
    }

    #[test]
    fn callers_are_slices_of_those_they_call() {
        let stacks = ragged(&[&[], &[2, 1], &[3, 2, 1], &[1], &[3, 1], &[2]]);
        let slices = of(&stacks, 4, (0..6).map(StackId));
        assert_eq!(slices.length, 3 + 2 + 1, "2 1 and 1 are in 3 2 1; 2 is no suffix");
        for row in 0..6 {
            let start = slices.start(StackId(row)) as usize;
            let stack = stacks.row(row as usize);
            assert_eq!(&list(&slices, &stacks)[start..start + stack.len()], stack);
        }
    }

    #[test]
    fn equal_stacks_are_one_slice_and_the_same_each_time() {
        let rows: [&[u32]; 7] = [&[], &[2, 1], &[2, 1], &[3, 2, 1], &[2, 1], &[4, 2, 1], &[2, 1]];
        let stacks = ragged(&rows);
        let lay_out = || of(&stacks, 5, (0..7).map(StackId));
        let slices = lay_out();
        assert_eq!(slices.length, 3 + 3);
        for row in [1, 2, 4, 6] {
            assert_eq!(slices.start(StackId(row)), 1);
        }
        for _ in 0..50 {
            assert_eq!(lay_out().starts, slices.starts);
        }
    }

    #[test]
    fn recursion_is_one_slice_however_deep() {
        let deepest: Vec<u32> = (0..200).map(|at| 1 + at % 2).collect();
        let mut rows: Vec<&[u32]> = (1..=200).map(|at| &deepest[at..]).collect();
        rows.reverse();
        rows.push(&deepest);
        let stacks = ragged(&rows);
        let slices = of(&stacks, 3, (0..rows.len() as u32).map(StackId));
        assert_eq!(slices.length, deepest.len());
        for (row, stack) in rows.iter().enumerate() {
            let start = slices.start(StackId(row as u32)) as usize;
            let found = &list(&slices, &stacks)[start..start + stack.len()];
            assert!(found.iter().map(|id| id.0).eq(stack.iter().copied()));
        }
    }

    #[test]
    fn only_the_stacks_used_are_laid_out() {
        let stacks = ragged(&[&[], &[1], &[2], &[3]]);
        let slices = of(&stacks, 4, [StackId(3), StackId(1), StackId(3)].into_iter());
        assert_eq!(list(&slices, &stacks), [LocationId(3), LocationId(1)]);
    }

    #[test]
    fn the_numbers_of_stacks_do_not_matter() {
        // 3 and 2 1 are suffixes of two stacks each; 5 4 is duplicated.
        let rows: [&[u32]; 8] =
            [&[7, 3], &[3], &[8, 3], &[2, 1], &[6, 2, 1], &[5, 4], &[9, 2, 1], &[5, 4]];
        let of = |order: [usize; 8]| {
            let mut numbered = vec![&[][..]; 9];
            (0..8).for_each(|at| numbered[1 + order[at]] = rows[at]);
            let used = order.map(|row| StackId(1 + row as u32));
            let stacks = ragged(&numbered);
            let slices = of(&stacks, 10, used.into_iter());
            (list(&slices, &stacks), used.map(|stack| slices.start(stack)))
        };
        let one = of([0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(one.1, [6, 7, 8, 1, 0, 10, 3, 10]);
        assert_eq!(one, of([7, 6, 5, 4, 3, 2, 1, 0]));
        assert_eq!(one, of([3, 5, 1, 0, 7, 2, 6, 4]));
    }
}
