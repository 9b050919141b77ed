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
//! The hash of every suffix comes from one walk from the root to the leaf, as it is a sum over
//! (location, depth). A table from hash to stack finds an equal one; it is compared before it is
//! believed. What `docs/decisions/018` tried instead: a trie from the root, samples' own order, and
//! a hash that chains.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::format::layout::longest_first;
use crate::model::id::{LocationId, StackId};
use crate::model::ragged::Ragged;

/// Where the stacks of a profile lie in its `location_indices`. One profile after the other is laid
/// out in the same memory: what is kept by row is cleared by the rows that were used.
#[derive(Debug, Default)]
pub(crate) struct Slices {
    /// How long the profile's `location_indices` are.
    pub(crate) length: usize,
    /// By stack: where its slice begins.
    starts: Vec<u32>,
    /// By stack: a longer or equal one that holds it, and where; or [`NOWHERE`].
    within: Vec<(u32, u32)>,
    /// Empty between two profiles.
    leaves: Leaves,
    /// The stacks that are laid out, longest first.
    rows: Vec<u32>,
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
        self.rows = longest_first(&rows, |row| stacks.row(row as usize).len());
        self.within.resize(stacks.len(), (NOWHERE, 0));
        self.leaves.lengths.resize(locations, 0);
        self.find_holders(stacks);
        self.leaves.clear(stacks, &self.rows);
        self.place(stacks);
    }

    /// Finds stacks that hold others. The shortest come first, so that those a stack may hold are known when it
    /// is walked, from its root to its leaf. It need only find the longest: that one holds the others.
    fn find_holders(&mut self, stacks: &Ragged<LocationId>) {
        let Self { within, leaves, rows, .. } = self;
        let mut known: HashTable<(u64, u32)> = HashTable::with_capacity(rows.len());
        let frames = FrameHash::new();
        let mut suffixes: Vec<(u64, usize)> = Vec::new();
        for &row in rows.iter().rev() {
            let stack = stacks.row(row as usize);
            let Some(leaf) = stack.first() else { continue };
            let mut hash = 0u64;
            suffixes.clear();
            for (location, length) in stack.iter().rev().zip(1..) {
                hash = hash.wrapping_add(frames.of(*location, length));
                if leaves.may_be(*location, length) {
                    suffixes.push((hash, length));
                }
            }
            let is = |hash: u64, length: usize| {
                let suffix = &stack[stack.len() - length..];
                move |&(other, row): &(u64, u32)| {
                    other == hash && equal(stacks.row(row as usize), suffix)
                }
            };
            if let Some((_, same)) = known.find_mut(hash, is(hash, stack.len())) {
                within[std::mem::replace(same, row) as usize] = (row, 0);
                continue;
            }
            let longest = suffixes.iter().rev().find_map(|&(hash, length)| {
                known.find(hash, is(hash, length)).map(|(_, held)| (*held, length))
            });
            if let Some((held, length)) = longest {
                within[held as usize] = (row, (stack.len() - length) as u32);
            }
            known.insert_unique(hash, (hash, row), |(hash, _)| *hash);
            leaves.add(*leaf, stack.len());
        }
    }

    /// Forgets the profile before.
    fn clear(&mut self, stacks: usize) {
        for row in self.rows.drain(..) {
            self.starts[row as usize] = NOWHERE;
            self.within[row as usize] = (NOWHERE, 0);
        }
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

    /// Puts the stacks that are in no other one behind the other. Who holds one comes before it.
    fn place(&mut self, stacks: &Ragged<LocationId>) {
        let Self { length, starts, within, rows, .. } = self;
        *length = 0;
        for &row in &*rows {
            let (holder, at) = within[row as usize];
            starts[row as usize] = if holder == NOWHERE {
                let start = *length as u32;
                *length += stacks.row(row as usize).len();
                start
            } else {
                starts[holder as usize] + at
            };
        }
    }

    /// The profile's `location_indices`, as rows of the model: the stacks that are in no other.
    pub(crate) fn parts<'a>(
        &'a self,
        stacks: &'a Ragged<LocationId>,
    ) -> impl Iterator<Item = &'a [LocationId]> {
        let own = self.rows.iter().filter(|row| self.within[**row as usize].0 == NOWHERE);
        own.map(|row| stacks.row(*row as usize))
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
}

impl Leaves {
    /// Notes a stack by its leaf and its length.
    fn add(&mut self, leaf: LocationId, length: usize) {
        if let Some(lengths) = self.lengths.get_mut(leaf.row()) {
            *lengths |= Self::bit(length);
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

    /// The bit of a length.
    fn bit(length: usize) -> u64 {
        1 << (length % 64)
    }

    /// Whether a stack may have this leaf and length. A bit stands for every 64th length, so yes may be wrong;
    /// no never is.
    #[inline]
    fn may_be(&self, leaf: LocationId, length: usize) -> bool {
        self.lengths.get(leaf.row()).is_some_and(|lengths| lengths & Self::bit(length) != 0)
    }
}

/// Whether two stacks are the same: all of both is compared, without a branch for each location.
#[inline]
fn equal(one: &[LocationId], other: &[LocationId]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).fold(0, |differ, (one, other)| differ | (one.0 ^ other.0)) == 0
}

/// Hashes of frames. That of a stack is their sum, none of which waits for the one before; that they are equal
/// is compared after.
struct FrameHash {
    /// Unknown to who chose the locations.
    seed: [u64; 2],
}

impl FrameHash {
    fn new() -> Self {
        let random = RandomState::default();
        Self { seed: [random.hash_one(0), random.hash_one(1) | 1] }
    }

    /// The hash of a location so many frames from the root.
    #[inline]
    fn of(&self, location: LocationId, depth: usize) -> u64 {
        let [xor, factor] = self.seed;
        let word = (u64::from(location.0) | (depth as u64) << 32) ^ xor;
        let wide = u128::from(word) * u128::from(factor);
        (wide as u64) ^ (wide >> 64) as u64
    }
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
