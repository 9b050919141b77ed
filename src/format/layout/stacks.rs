//! Stacks as a walk through the tree of calls meets them.
//!
//! A path from the root is compared as words: some locations, as many as fit 64 bits by their
//! largest id, up to eight, packed into each. So one comparison takes several frames.

use crate::format::layout::words::{self, Words};
use crate::model::dictionary::Dictionary;
use crate::model::id::{LocationId, StackId};
use crate::model::ragged::Ragged;

/// Some stacks, sorted from the root on by the new ids of their locations; a caller comes before
/// those it calls.
pub(super) fn by_tree(
    dictionary: &Dictionary,
    rows: &[u32],
    new: impl Fn(LocationId) -> LocationId,
) -> Vec<u32> {
    // As many locations a word as their ids leave room for.
    let bits = usize::BITS - dictionary.locations.len().leading_zeros();
    let of_a_word = (u64::BITS / bits.max(1)).min(8) as usize;
    let mut paths = Ragged::default();
    paths.ends.reserve_exact(rows.len());
    paths.items.reserve(dictionary.stacks.items.len() / of_a_word + rows.len());
    for &row in rows {
        let stack = dictionary.stack(StackId(row)).rchunks(of_a_word);
        paths.items.extend(stack.map(|chunk| {
            let word = chunk.iter().rev().fold(0, |word, id| word << bits | u64::from(new(*id).0));
            word << (bits as usize * (of_a_word - chunk.len()))
        }));
        paths.end_row();
    }
    let mut order: Vec<u32> = (0..rows.len() as u32).collect();
    words::sort(&paths, &mut order);
    order.into_iter().filter_map(|at| rows.get(at as usize).copied()).collect()
}

impl Words for Ragged<u64> {
    #[inline]
    fn word(&self, item: u32, depth: usize) -> (u64, bool) {
        let path = self.row(item as usize);
        (path.get(depth).copied().unwrap_or(0), depth + 1 < path.len())
    }
}

/// Rows by a length, the longest first, and in the order given where they are as long.
///
/// Stable and linear. Neighbours then have equal lengths, which is what gzip finds in
/// `locations_length`.
pub(crate) fn longest_first(rows: &[u32], length: impl Fn(u32) -> usize) -> Vec<u32> {
    let longest = rows.iter().map(|row| length(*row)).max().unwrap_or(0);
    by_rank(rows, longest + 1, |row| longest - length(row))
}

/// Rows by a rank below `ranks`, and in the order given where it is the same: a counting sort, unless the
/// ranks are many more than the rows.
pub(super) fn by_rank(rows: &[u32], ranks: usize, rank: impl Fn(u32) -> usize) -> Vec<u32> {
    if ranks / 4 > rows.len() {
        let mut sorted = rows.to_vec();
        sorted.sort_by_key(|row| rank(*row));
        return sorted;
    }
    let mut ends = vec![0u32; ranks + 1];
    rows.iter().for_each(|&row| ends[rank(row) + 1] += 1);
    for at in 1..ends.len() {
        ends[at] += ends[at - 1];
    }
    let mut sorted = vec![0; rows.len()];
    for &row in rows {
        let place = &mut ends[rank(row)];
        sorted[*place as usize] = row;
        *place += 1;
    }
    sorted
}
