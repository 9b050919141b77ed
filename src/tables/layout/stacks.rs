//! Order of stacks: a walk through the call tree.
//!
//! Paths from the root are compared a word at a time: four locations by their places, or two if places need
//! more than 16 bits. A path is read only as far as it equals a neighbour.
//!
//! ```text
//! stacks        a  b  c  d           range 0..4
//! first words   7  3  7  3    ─►     b d │ a c        ranges 0..2 and 2..4 continue with their next words
//! ```

use crate::model::dictionary::Dictionary;
use crate::model::id::{LocationId, StackId};

/// A stack that is being sorted.
#[derive(Clone, Copy)]
struct Path {
    /// The places of its next locations; that of the outermost is in the highest bits.
    word: u64,
    row: u32,
    /// The number of locations that are not read yet, counted from the leaf.
    left: u32,
}

/// Sorts stacks from the root by the places of their locations. A caller precedes its callees; equal stacks
/// keep the order of their rows.
///
/// Pending ranges are kept in a list instead of on the call stack, whose depth is thus independent of the
/// input.
pub(super) fn by_tree(dictionary: &Dictionary, rows: &[u32], places: &[u32]) -> Vec<u32> {
    // Then every place is below 2¹⁶, because row 0 has no place.
    match dictionary.locations.len() <= 1 << 16 {
        true => by_words::<4>(dictionary, rows, places),
        false => by_words::<2>(dictionary, rows, places),
    }
}

/// Sorts by words of `N` places.
fn by_words<const N: usize>(dictionary: &Dictionary, rows: &[u32], places: &[u32]) -> Vec<u32> {
    let mut paths: Vec<Path> = rows
        .iter()
        .map(|&row| Path { word: 0, row, left: dictionary.stack(StackId(row)).len() as u32 })
        .collect();
    let mut ranges = vec![(0, paths.len())];
    while let Some((begin, end)) = ranges.pop() {
        let equal_keys = &mut paths[begin..end];
        let mut any_left = false;
        for path in &mut *equal_keys {
            let stack = &dictionary.stack(StackId(path.row))[..path.left as usize];
            path.word = word::<N>(stack, places);
            path.left = path.left.saturating_sub(N as u32);
            any_left |= path.left > 0;
        }
        // Most words are shared by many paths, so comparing words is cheaper than a radix sort of their
        // bytes.
        equal_keys.sort_unstable_by_key(|path| path.word);
        let mut at = begin;
        for equal in equal_keys.chunk_by_mut(|a, b| a.word == b.word) {
            let end = at + equal.len();
            match equal {
                [_] => {}
                // Other paths of the range may be the ones that continue. Then all words of the next step are 0, and
                // the rows decide.
                _ if any_left => ranges.push((at, end)),
                _ => equal.sort_unstable_by_key(|path| path.row),
            }
            at = end;
        }
    }
    paths.into_iter().map(|path| path.row).collect()
}

/// Packs the outermost locations of a path by their places; that of the outermost is in the highest bits.
/// Missing locations are 0, which no location has.
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

/// Sorts rows by a length, longest first; rows of equal length keep the given order.
///
/// Stable and linear. Adjacent lengths are then equal, so that gzip compresses `locations_length` well.
pub(crate) fn longest_first(rows: &[u32], length: impl Fn(u32) -> usize) -> Vec<u32> {
    let longest = rows.iter().map(|row| length(*row)).max().unwrap_or(0);
    by_rank(rows, longest + 1, |row| longest - length(row))
}

/// Sorts rows by a rank below `ranks`; rows of equal rank keep the given order. A counting sort, unless there
/// are many more ranks than rows.
pub(super) fn by_rank(rows: &[u32], ranks: usize, rank: impl Fn(u32) -> usize) -> Vec<u32> {
    // The table of counts would take longer than comparisons.
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
            let mut expected: Vec<u32> = (1..=stacks).collect();
            let sorted = by_tree(&dictionary, &expected, &places);
            expected.sort_by_key(|row| {
                let stack = dictionary.stack(StackId(*row)).iter().rev();
                stack.map(|id| places[id.row()]).collect::<Vec<u32>>()
            });
            assert_eq!(sorted, expected, "{stacks} of {locations}");
        }
    }
}
