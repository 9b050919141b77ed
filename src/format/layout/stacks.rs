//! Stacks as a walk through the tree of calls meets them.
//!
//! A path from the root is compared as words: some locations, as many as fit 64 bits by their
//! largest id, up to eight, packed into each. So one comparison takes several frames.

use crate::format::layout::words::{self, Words};
use crate::model::dictionary::Dictionary;
use crate::model::id::StackId;

/// Stacks, read from the root on by the places of their locations.
struct Paths<'a> {
    dictionary: &'a Dictionary,
    /// By location.
    places: &'a [u32],
    /// How many bits a place takes, and how many places a word has room for.
    bits: u32,
    of_a_word: usize,
}

impl Words for Paths<'_> {
    #[inline]
    fn word(&self, item: u32, depth: usize) -> (u64, bool) {
        let stack = self.dictionary.stack(StackId(item));
        let end = stack.len().saturating_sub(depth * self.of_a_word);
        let begin = end.saturating_sub(self.of_a_word);
        let mut word = 0u64;
        for id in stack[begin..end].iter().rev() {
            word = word << self.bits | u64::from(self.places.get(id.row()).copied().unwrap_or(0));
        }
        let short = (self.of_a_word - (end - begin)) as u32;
        (word.unbounded_shl(self.bits * short), begin > 0)
    }
}

/// Some stacks, sorted from the root on by the places of their locations; a caller comes before
/// those it calls.
pub(super) fn by_tree(dictionary: &Dictionary, mut rows: Vec<u32>, places: &[u32]) -> Vec<u32> {
    // As many locations a word as their places leave room for.
    let bits = usize::BITS - dictionary.locations.len().leading_zeros();
    let of_a_word = (u64::BITS / bits.max(1)).min(8) as usize;
    words::sort(&Paths { dictionary, places, bits, of_a_word }, &mut rows);
    rows
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
