//! Stacks end to end: every stack is a slice of one list of locations, and stacks that are the
//! callers of longer ones are slices of those.
//!
//! Requirements: linear in the locations written; the same bytes for the same stacks.
//! Only suffixes are shared: other runs save almost nothing and cost a search.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::model::id::{LocationId, StackId};
use crate::model::ragged::Ragged;

/// Where the stacks of a profile lie in its `location_indices`.
#[derive(Debug, Default)]
pub(crate) struct Slices {
    pub(crate) locations: Vec<LocationId>,
    /// By stack: where its slice begins.
    starts: Vec<u32>,
}

impl Slices {
    /// Lays out the stacks that `used` names, each once.
    pub(crate) fn of(stacks: &Ragged<LocationId>, used: impl Iterator<Item = StackId>) -> Self {
        let mut slices = Self {
            locations: Vec::new(),
            starts: vec![u32::MAX; stacks.len()],
        };
        let order = longest_first(stacks, used);
        let cells: usize = order
            .iter()
            .map(|&row| stacks.row(row as usize).len())
            .sum();
        slices.locations.reserve(cells / 2);
        let wanted = Wanted::of(stacks, &order);
        for &row in &order {
            slices.place(stacks, row, &wanted);
        }
        slices
    }

    /// Where the slice of a stack begins. An empty one may begin anywhere.
    #[inline]
    pub(crate) fn start(&self, stack: StackId) -> u32 {
        self.starts
            .get(stack.row())
            .copied()
            .filter(|&start| start != u32::MAX)
            .unwrap_or(0)
    }

    /// Appends a stack, unless a longer one holds it, and finds those it holds.
    fn place(&mut self, stacks: &Ragged<LocationId>, row: u32, wanted: &Wanted) {
        if self.starts[row as usize] != u32::MAX {
            return;
        }
        let stack = stacks.row(row as usize);
        let start = self.locations.len() as u32;
        self.starts[row as usize] = start;
        self.locations.extend_from_slice(stack);
        let mut hash = wanted.rolling();
        for (at, &location) in stack.iter().enumerate().skip(1).rev() {
            let hash = hash.push(location);
            let Some(shorter) =
                wanted.find(hash, |other| stacks.row(other as usize) == &stack[at..])
            else {
                continue;
            };
            if self.starts[shorter as usize] == u32::MAX {
                self.starts[shorter as usize] = start + at as u32;
            }
        }
    }
}

/// The rows of the stacks used, longest first, and in their order where they are as long.
fn longest_first(stacks: &Ragged<LocationId>, used: impl Iterator<Item = StackId>) -> Vec<u32> {
    let mut seen = vec![false; stacks.len()];
    let mut rows: Vec<u32> = Vec::new();
    let mut longest = 0;
    for stack in used {
        if let Some(seen) = seen.get_mut(stack.row()).filter(|seen| !**seen) {
            *seen = true;
            rows.push(stack.0);
            longest = longest.max(stacks.row(stack.row()).len());
        }
    }
    rows.sort_unstable();
    // A counting sort: the number of longer ones is where a length begins.
    let mut begins = vec![0u32; longest + 2];
    rows.iter()
        .for_each(|&row| begins[longest - stacks.row(row as usize).len() + 1] += 1);
    for at in 1..begins.len() {
        begins[at] += begins[at - 1];
    }
    let mut sorted = vec![0; rows.len()];
    for &row in &rows {
        let begin = &mut begins[longest - stacks.row(row as usize).len()];
        sorted[*begin as usize] = row;
        *begin += 1;
    }
    sorted
}

/// The hash of a stack from its root on, one location at a time.
struct Rolling(u64);

impl Rolling {
    #[inline]
    fn push(&mut self, location: LocationId) -> u64 {
        let wide = u128::from(self.0 ^ u64::from(location.0)) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (wide as u64) ^ (wide >> 64) as u64;
        self.0
    }
}

/// The stacks to be found in longer ones, by their hash.
struct Wanted {
    rows: HashTable<(u64, u32)>,
    /// Where hashes begin: unknown to who chose the locations.
    seed: u64,
    /// One bit for what a hash ends in: most hashes are of no stack, and this says so at once.
    filter: Vec<u64>,
    mask: u64,
}

impl Wanted {
    fn of(stacks: &Ragged<LocationId>, order: &[u32]) -> Self {
        let bits = (order.len().max(8) * 8).next_power_of_two();
        let seed = RandomState::default().hash_one(bits);
        let rows = HashTable::with_capacity(order.len());
        let mut wanted = Self {
            rows,
            seed,
            filter: vec![0; bits / 64],
            mask: bits as u64 - 1,
        };
        for &row in order {
            let mut rolling = wanted.rolling();
            let stack = stacks.row(row as usize);
            let hash = stack
                .iter()
                .rev()
                .fold(0, |_, &location| rolling.push(location));
            if !stack.is_empty() {
                let bit = hash & wanted.mask;
                wanted.filter[(bit / 64) as usize] |= 1 << (bit % 64);
                wanted
                    .rows
                    .insert_unique(hash, (hash, row), |&(hash, _)| hash);
            }
        }
        wanted
    }

    fn rolling(&self) -> Rolling {
        Rolling(self.seed)
    }

    #[inline]
    fn find(&self, hash: u64, same: impl Fn(u32) -> bool) -> Option<u32> {
        let bit = hash & self.mask;
        if self.filter[(bit / 64) as usize] >> (bit % 64) & 1 == 0 {
            return None;
        }
        self.rows
            .find(hash, |&(h, row)| h == hash && same(row))
            .map(|&(_, row)| row)
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

    #[test]
    fn callers_are_slices_of_those_they_call() {
        let stacks = ragged(&[&[], &[2, 1], &[3, 2, 1], &[1], &[3, 1], &[2]]);
        let slices = Slices::of(&stacks, (0..6).map(StackId));
        assert_eq!(
            slices.locations.len(),
            3 + 2 + 1,
            "2 1 and 1 are in 3 2 1; 2 is no suffix"
        );
        for row in 0..6 {
            let start = slices.start(StackId(row)) as usize;
            let stack = stacks.row(row as usize);
            assert_eq!(&slices.locations[start..start + stack.len()], stack);
        }
    }

    #[test]
    fn only_the_stacks_used_are_laid_out() {
        let stacks = ragged(&[&[], &[1], &[2], &[3]]);
        let slices = Slices::of(&stacks, [StackId(3), StackId(1), StackId(3)].into_iter());
        assert_eq!(slices.locations, [LocationId(1), LocationId(3)]);
    }
}
