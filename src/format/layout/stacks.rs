//! Stacks as a walk through the tree of calls meets them.
//!
//! A path from the root is compared a word at a time: four locations by their places, or two where there are more
//! than 16 bits count. No path is read further than it differs from those beside it.
//!
//! ```text
//! stacks        a  b  c  d           range 0..4
//! first words   7  3  7  3    ─►     b d │ a c        ranges 0..2 and 2..4 go on with their next words
//! ```

use crate::model::dictionary::Dictionary;
use crate::model::id::{LocationId, StackId};

/// A stack that is being sorted.
#[derive(Clone, Copy)]
struct Path {
    /// Its next locations by their places, that of the outermost in the highest bits.
    word: u64,
    row: u32,
    /// How many of its locations are not read yet, from the leaf on.
    left: u32,
}

/// Some stacks, sorted from the root on by the places of their locations; a caller comes before
/// those it calls, and of equal ones the first.
///
/// Ranges that are left are kept in a list, so that no input makes the program's own stack deep.
pub(super) fn by_tree(dictionary: &Dictionary, rows: &[u32], places: &[u32]) -> Vec<u32> {
    match dictionary.locations.len() <= 1 << 16 {
        true => by_words::<4>(dictionary, rows, places),
        false => by_words::<2>(dictionary, rows, places),
    }
}

/// The same by words of so many places.
fn by_words<const N: usize>(dictionary: &Dictionary, rows: &[u32], places: &[u32]) -> Vec<u32> {
    let mut paths: Vec<Path> = rows
        .iter()
        .map(|&row| Path { word: 0, row, left: dictionary.stack(StackId(row)).len() as u32 })
        .collect();
    let mut ranges = vec![(0, paths.len())];
    while let Some((begin, end)) = ranges.pop() {
        let alike = &mut paths[begin..end];
        let mut any_left = false;
        for path in &mut *alike {
            let stack = &dictionary.stack(StackId(path.row))[..path.left as usize];
            path.word = word::<N>(stack, places);
            path.left = path.left.saturating_sub(N as u32);
            any_left |= path.left > 0;
        }
        // Most words are those of many paths, for which this is less than to sort them by their bytes.
        alike.sort_unstable_by_key(|path| path.word);
        let mut at = begin;
        for equal in alike.chunk_by_mut(|a, b| a.word == b.word) {
            let end = at + equal.len();
            match equal {
                [_] => {}
                _ if any_left => ranges.push((at, end)),
                _ => equal.sort_unstable_by_key(|path| path.row),
            }
            at = end;
        }
    }
    paths.into_iter().map(|path| path.row).collect()
}

/// The outermost locations of a path by their places, that of the outermost in the highest bits. Of fewer than a word
/// has room for the others are 0, which no location has.
#[inline]
fn word<const N: usize>(path: &[LocationId], places: &[u32]) -> u64 {
    let bits = u64::BITS / N as u32;
    let put = |word: u64, id: &LocationId| word << bits | u64::from(places[id.row()]);
    match path.last_chunk::<N>() {
        Some(outermost) => outermost.iter().rev().fold(0, put),
        None => {
            let word = path.iter().rev().fold(0, put);
            word.unbounded_shl(bits * (N - path.len()) as u32)
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_are_sorted_from_the_root_on() {
        let mut seed = 1u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((seed >> 33) % below) as u32
        };
        for (stacks, locations) in
            [(0, 2), (1, 2), (400, 3), (400, 1000), (3000, 40), (400, 70_000)]
        {
            let mut dictionary = Dictionary::default();
            dictionary.locations.addresses = vec![0; locations as usize];
            dictionary.locations.mappings = vec![Default::default(); locations as usize];
            for _ in 0..=stacks {
                let stack: Vec<LocationId> =
                    (0..random(14)).map(|_| LocationId(1 + random(locations - 1))).collect();
                dictionary.stacks.push(&stack);
            }
            let places: Vec<u32> =
                (0..locations as u32).map(|row| row ^ u32::from(row > 1)).collect();
            let mut wanted: Vec<u32> = (1..=stacks).collect();
            let sorted = by_tree(&dictionary, &wanted, &places);
            wanted.sort_by_key(|row| {
                let stack = dictionary.stack(StackId(*row)).iter().rev();
                stack.map(|id| places[id.row()]).collect::<Vec<u32>>()
            });
            assert_eq!(sorted, wanted, "{stacks} of {locations}");
        }
    }
}
