//! Stacks end to end: every stack is a slice of one list of locations, and stacks that are the
//! callers of longer ones are slices of those.
//!
//! Requirements: linear in the locations written; the same bytes for the same samples, whatever the
//! numbers of their stacks. Longer ones come first: what is alike is near then, and gzip finds it.
//! Only suffixes are shared: other runs save almost nothing and cost a search.
//!
//! ```text
//! stacks, leaf first   a b c d │ c d │ x d │ b c d
//! location_indices     a b c d x d           b c d and c d are suffixes of a b c d
//! slices               0+4     2+2   4+2     1+3
//! ```
//!
//! Most stacks end with no other one, and most of their locations say so by themselves: they are no leaf at that
//! height. Where one may be, the hash of the suffix is that of the stack less its other locations, as it is a sum over
//! them. A table from hash to stack finds an equal one; it is compared before it is believed. What
//! `docs/decisions/018` tried instead: a trie from the root, samples' own order, a hash that chains, sorting.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;

use crate::format::layout::longest_first;
use crate::model::id::{LocationId, StackId};
use crate::model::ragged::Ragged;
use crate::model::row_index::RowIndex;

/// Where the stacks of a profile lie in its `location_indices`. One profile after the other is laid
/// out in the same memory: what is kept by row is cleared by the rows that were used.
#[derive(Debug, Default)]
pub(crate) struct Slices {
    /// How long the profile's `location_indices` are.
    pub(crate) length: usize,
    /// By stack: where its slice begins.
    starts: Vec<u32>,
    /// By stack: an equal one that comes before it, else the longest other one that it ends with, else [`NOWHERE`].
    suffixes: Vec<u32>,
    /// Empty between two profiles.
    leaves: Leaves,
    /// As many as the deepest stack has locations.
    weights: Weights,
    /// The stacks that are laid out, longest first.
    rows: Vec<u32>,
    /// Those of them that are in no other.
    own: Vec<u32>,
}

/// The start of a stack that has none yet.
const NOWHERE: u32 = u32::MAX;
/// The start of a stack that is about to get one.
const SOMEWHERE: u32 = u32::MAX - 1;

impl Slices {
    /// Lays out the stacks that `used` names, each once.
    pub(crate) fn lay_out(
        &mut self,
        stacks: &Ragged<LocationId>,
        locations: usize,
        used: impl Iterator<Item = StackId>,
    ) {
        self.clear(stacks.len());
        let rows = self.each_once(used);
        self.suffixes.resize(stacks.len(), NOWHERE);
        self.leaves.lengths.resize(locations, 0);
        self.find_suffixes(stacks, &rows);
        self.leaves.clear(stacks, &rows);
        self.rows = longest_first(&rows, |row| stacks.row(row as usize).len());
        self.place(stacks);
    }

    /// Finds the stacks that others are, or end with: the longest of each, as that one ends with the others.
    ///
    /// In the order of their first use, which is nearly that of the table.
    fn find_suffixes(&mut self, stacks: &Ragged<LocationId>, rows: &[u32]) {
        let Self { suffixes, leaves, weights, .. } = self;
        let lengths = || rows.iter().map(|row| stacks.row(*row as usize).len());
        leaves.shortest = lengths().min().unwrap_or(0).max(1);
        weights.reach(lengths().max().unwrap_or(0));
        let mut known = RowIndex::with_room(rows.len());
        let mut sums = Vec::with_capacity(rows.len());
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
        for (&row, &sum) in rows.iter().zip(&sums) {
            let suffix = &mut suffixes[row as usize];
            if *suffix == NOWHERE {
                let stack = stacks.row(row as usize);
                let find = |sum: u64, end: &[LocationId]| {
                    known.find(mixed(sum), |row| equal(stacks.row(row as usize), end))
                };
                *suffix = longest_suffix(stack, sum, leaves, weights, find).unwrap_or(NOWHERE);
            }
        }
    }

    /// Forgets the profile before.
    fn clear(&mut self, stacks: usize) {
        for row in self.rows.drain(..) {
            self.starts[row as usize] = NOWHERE;
            self.suffixes[row as usize] = NOWHERE;
        }
        self.own.clear();
        self.starts.resize(stacks, NOWHERE);
    }

    /// The rows of the stacks used, in the order of their first use.
    ///
    /// `starts` is the set: [`SOMEWHERE`] marks what was met, and [`place`](Self::place) puts the
    /// start there.
    fn each_once(&mut self, used: impl Iterator<Item = StackId>) -> Vec<u32> {
        let new = |stack: &StackId| {
            let start = self.starts.get_mut(stack.row()).filter(|start| **start == NOWHERE);
            start.map(|start| *start = SOMEWHERE).is_some()
        };
        used.filter(new).map(|stack| stack.0).collect()
    }

    /// Puts the stacks that are in no other one behind the other. The first that ends with a stack says where that one
    /// is, and comes before it, as it is longer.
    fn place(&mut self, stacks: &Ragged<LocationId>) {
        let Self { length, starts, suffixes, rows, own, .. } = self;
        *length = 0;
        for &row in &*rows {
            let stack = stacks.row(row as usize);
            let suffix = suffixes[row as usize] as usize;
            let before = stack.len() - stacks.row(suffix).len();
            if suffix != NOWHERE as usize && before == 0 {
                starts[row as usize] = starts[suffix];
                continue;
            }
            if starts[row as usize] == SOMEWHERE {
                starts[row as usize] = *length as u32;
                *length += stack.len();
                own.push(row);
            }
            if starts.get(suffix) == Some(&SOMEWHERE) {
                starts[suffix] = starts[row as usize] + before as u32;
            }
        }
    }

    /// The profile's `location_indices`, as rows of the model: the stacks that are in no other.
    pub(crate) fn parts<'a>(
        &'a self,
        stacks: &'a Ragged<LocationId>,
    ) -> impl Iterator<Item = &'a [LocationId]> {
        self.own.iter().map(|row| stacks.row(*row as usize))
    }

    /// Where the slice of a stack begins. An empty one may begin anywhere.
    ///
    /// The same number that the sample's `locations_start_index` says.
    #[inline]
    pub(crate) fn start(&self, stack: StackId) -> u32 {
        self.starts.get(stack.row()).copied().filter(|&start| start != NOWHERE).unwrap_or(0)
    }
}

/// Of which lengths there are stacks with a location as their leaf. Most locations that a stack passes
/// are no leaf at that height, and this says so without a look at the stacks.
#[derive(Debug, Default)]
struct Leaves {
    /// By location: the lengths, modulo 64.
    lengths: Vec<u64>,
    /// The length of the shortest stack that is not empty; at least 1.
    shortest: usize,
}

impl Leaves {
    /// Notes a stack by its leaf and its length.
    fn add(&mut self, stack: &[LocationId]) {
        if let Some(lengths) = stack.first().and_then(|leaf| self.lengths.get_mut(leaf.row())) {
            *lengths |= Self::bit(stack.len());
        }
    }

    /// Forgets the leaves of these stacks, and so costs what they are and not what the table is.
    fn clear(&mut self, stacks: &Ragged<LocationId>, rows: &[u32]) {
        for leaf in rows.iter().filter_map(|&row| stacks.row(row as usize).first()) {
            if let Some(lengths) = self.lengths.get_mut(leaf.row()) {
                *lengths = 0;
            }
        }
    }

    /// The length of the longest end of a stack that may be another one, by its leaf and length. A bit stands for every
    /// 64th length, so it may be none; what is passed over never is.
    #[inline]
    fn next_below(&self, stack: &[LocationId]) -> Option<usize> {
        let last = stack.len().checked_sub(self.shortest)?;
        let mut callers = stack.get(1..=last)?.iter();
        let mut bit = Self::bit(stack.len());
        callers.find(|leaf| {
            bit = bit.rotate_right(1);
            self.lengths[leaf.row()] & bit != 0
        })?;
        Some(callers.len() + self.shortest)
    }

    /// The bit of a length.
    fn bit(length: usize) -> u64 {
        1 << (length % 64)
    }
}

/// The longest end of a stack, less its leaf, that `find` has by its sum.
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
        sum = sum.wrapping_sub(weights.sum(others, rest.len()));
        if let Some(row) = find(sum, suffix) {
            return Some(row);
        }
        rest = suffix;
    }
    None
}

/// Whether two stacks are the same: all of both is compared, without a branch for each location.
#[inline]
fn equal(one: &[LocationId], other: &[LocationId]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).fold(0, |differ, (one, other)| differ | (one.0 ^ other.0)) == 0
}

/// Weights of frames, by their distance from the root: unknown to who chose the locations. The hash of a stack is the
/// sum of its locations times their weights, several at a time. That stacks are equal is compared after.
#[derive(Debug, Default)]
struct Weights {
    random: RandomState,
    /// That of the root is the last, so that stacks, leaf first, are read forwards.
    weights: Vec<u32>,
}

impl Weights {
    /// Makes weights for stacks of this depth.
    fn reach(&mut self, depth: usize) {
        if self.weights.len() < depth {
            let weight = |at: usize| self.random.hash_one(at) as u32;
            self.weights = (0..depth).rev().map(weight).collect();
        }
    }

    /// The sum of some locations of a stack, leaf first; `depth` is that of the first of them.
    #[inline]
    fn sum(&self, locations: &[LocationId], depth: usize) -> u64 {
        let weights = &self.weights[self.weights.len() - depth..];
        let of =
            |(location, weight): (&LocationId, &u32)| u64::from(location.0) * u64::from(*weight);
        locations.iter().zip(weights).map(of).fold(0, u64::wrapping_add)
    }
}

/// A sum with all of its bits in each, as tables take some of them.
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
        // 3 and 2 1 are in two stacks each, 5 4 is there twice.
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
