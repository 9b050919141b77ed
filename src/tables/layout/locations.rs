//! Order of locations: by function and line, with those that stacks use most first.
//!
//! ```text
//! indices 0 … 127        one byte each     the most frequent locations of stacks
//!         128 … 16,383   two bytes
//!         16,384 …       three
//! ```
//!
//! The number of uses determines only the bucket of a location. Within a bucket, locations are ordered by
//! function, so that neighbours share mapping and function, which gzip compresses well.

use crate::model::dictionary::Dictionary;
use crate::model::id::{FunctionId, LocationId};
use crate::tables::layout::stacks::by_rank;

/// Returns how often stacks contain each location.
pub(super) fn uses_of_all(dictionary: &Dictionary) -> Vec<u32> {
    let mut uses = vec![0u32; dictionary.locations.len()];
    // References are numbered in 32 bits, so no sum overflows.
    dictionary.stacks.items.iter().for_each(|location| uses[location.row()] += 1);
    uses
}

/// Returns the same with a weight for each stack, by row.
pub(super) fn uses(dictionary: &Dictionary, stacks: &[u32]) -> Vec<u32> {
    let mut all = vec![0u32; dictionary.locations.len()];
    let uses = &mut all[..];
    for (stack, times) in dictionary.stacks.rows().zip(stacks).filter(|(_, times)| **times > 0) {
        for location in stack {
            let uses = &mut uses[location.row()];
            *uses = uses.saturating_add(*times);
        }
    }
    all
}

/// Sorts locations by mapping, function, line and address; equal ones keep the order of their rows. The
/// function is that of the outermost line.
///
/// `place` is the position of a function in the order of functions. Two counting sorts leave few comparisons.
pub(super) fn by_function(
    dictionary: &Dictionary,
    rows: &[u32],
    place: impl Fn(FunctionId) -> u32,
) -> Vec<u32> {
    let locations = &dictionary.locations;
    let line = |row: u32| locations.lines(LocationId(row)).last().copied().unwrap_or_default();
    let mapping = |row: u32| locations.mapping(LocationId(row)).row();
    let mut places = vec![0; locations.len()];
    rows.iter().for_each(|&row| places[row as usize] = place(line(row).function));
    let of = |row: u32| places[row as usize] as usize;
    // Both sorts are stable, so the last one, by mapping, has the primary key.
    let mut sorted = by_rank(rows, dictionary.functions.len() + 1, of);
    sorted = by_rank(&sorted, dictionary.mappings.rows.len() + 1, mapping);
    let mut keyed = Vec::new();
    let same = |a: &u32, b: &u32| of(*a) == of(*b) && mapping(*a) == mapping(*b);
    for equal_keys in sorted.chunk_by_mut(same).filter(|equal_keys| equal_keys.len() > 1) {
        let rest = |row: u32| (line(row).line as u64, locations.address(LocationId(row)), row);
        keyed.clear();
        keyed.extend(equal_keys.iter().map(|row| rest(*row)));
        keyed.sort_unstable();
        equal_keys.iter_mut().zip(&keyed).for_each(|(row, keyed)| *row = keyed.2);
    }
    sorted
}

/// Puts the most used locations first: those with an index of one byte before those of two bytes, and so on.
/// Within a bucket, locations keep their order.
///
/// `short` is the number of one-byte indices. Takes linear time: the most used locations are selected, not
/// sorted.
pub(super) fn in_buckets(
    order: Vec<u32>,
    uses: impl FnOnce() -> Vec<u32>,
    short: usize,
) -> Vec<u32> {
    if order.len() <= short {
        return order;
    }
    let uses = uses();
    let of = |row: u32| uses.get(row as usize).copied().unwrap_or(0);
    // The position makes all elements different, so the selection below is deterministic.
    let mut hottest: Vec<(std::cmp::Reverse<u32>, u32)> =
        order.iter().zip(0..).map(|(&row, at)| (std::cmp::Reverse(of(row)), at)).collect();
    let mut bucket = vec![0u8; order.len()];
    let (mut begin, mut last) = (0, 0);
    for bits in [7, 14, 21] {
        // If row 0 is written, there is one index fewer.
        let end = (1usize << bits) - (128 - short);
        if end >= order.len() {
            break;
        }
        // Partition: the locations before `end` are the most used, in no particular order.
        hottest[begin..].select_nth_unstable(end - begin);
        hottest[end..].iter().for_each(|(_, at)| bucket[*at as usize] += 1);
        (begin, last) = (end, last + 1);
    }
    // Append bucket by bucket, which keeps the order within each.
    let mut sorted = Vec::with_capacity(order.len());
    for wanted in 0..=last {
        let rows = order.iter().zip(&bucket).filter(|(_, bucket)| **bucket == wanted);
        sorted.extend(rows.map(|(row, _)| *row));
    }
    sorted
}
