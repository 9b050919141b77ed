//! Order of samples: by their attributes and their stack. Lists of attributes are in the order of their first
//! occurrence, so sorting is idempotent across a round trip.
//!
//! Both orders combine stable counting sorts: they take linear time and are deterministic.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;

use crate::model::dictionary::Dictionary;
use crate::model::id::{AttributeId, LinkId, StringId};
use crate::model::profile::{Profile, ProfileParts};
use crate::model::ragged::Ragged;
use crate::model::row_index::RowIndex;
use crate::model::samples::Samples;
use crate::tables::layout::stacks::{by_rank, longest_first};

/// Groups the rows of a profile's samples by their attributes, and sorts each group by the depth of stacks,
/// deepest first; otherwise rows keep their order. Returns `None` if the order does not change, or must not.
pub(crate) fn grouped(profile: &Profile, dictionary: &Dictionary) -> Option<Vec<u32>> {
    if profile.in_order {
        return None;
    }
    let samples = &profile.samples;
    let length = |row: u32| dictionary.stack(samples.stacks[row as usize]).len();
    let order = longest_first(&rows(samples), length);
    let order = Sets::of(samples).group(order);
    (!order.is_sorted()).then_some(order)
}

/// Sorts the samples of a profile by attributes, stack and link. Samples with equal keys keep their order,
/// except for a format that splits columns: there, samples with values in more columns are first, so that the
/// zeros of a column are last. `place` is the position of a stack.
pub(super) fn sort(profile: &mut Profile, splits: bool, place: impl Fn(u32) -> usize) {
    let Some(ProfileParts { samples, sample_types, .. }) = profile.parts_mut() else {
        return;
    };
    let mut order = rows(samples);
    let places: Vec<usize> = samples.stacks.iter().map(|id| place(id.0)).collect();
    let stack = |row: u32| places[row as usize];
    if !places.is_sorted() {
        let stacks = places.iter().max().map_or(0, |last| last + 1);
        order = by_rank(&order, stacks, stack);
    }
    // The sorts are stable, so the last one has the primary key.
    let sets = Sets::of(samples);
    order = sets.group(order);
    let columns = if splits && sample_types.len() > 1 { sample_types.len() } else { 0 };
    let rest = Rest { samples, columns };
    if columns > 0 || !samples.links.is_empty() || !samples.stacktrace_ids.is_empty() {
        for equal_keys in
            order.chunk_by_mut(|a, b| stack(*a) == stack(*b) && sets.rank(*a) == sets.rank(*b))
        {
            // The key ends with the row, so an unstable sort gives one order.
            equal_keys.sort_unstable_by_key(|row| rest.of(*row));
        }
    }
    if !order.is_sorted() {
        *samples = permuted(samples, &order);
    }
}

fn rows(samples: &Samples) -> Vec<u32> {
    (0..samples.len() as u32).collect()
}

/// The sort key of samples with the same stack and attributes.
struct Rest<'a> {
    samples: &'a Samples,
    /// The number of columns whose zeros are last.
    columns: usize,
}

impl Rest<'_> {
    /// Compares the number of zeros, then their columns, so that each column ends with its zeros.
    fn of(&self, row: u32) -> (LinkId, StringId, usize, u64, u32) {
        let (samples, at) = (self.samples, row as usize);
        let zeros = samples.values.row(at).iter().take(self.columns).map(|value| *value == 0);
        let count = zeros.clone().filter(|zero| *zero).count();
        // Of more than 64 columns, the first ones are shifted out and do not affect the order.
        let which = zeros.fold(0, |all, zero| all << 1 | u64::from(zero));
        let id = samples.stacktrace_ids.get(at).copied().unwrap_or_default();
        (samples.link(at), id, count, which, row)
    }
}

/// The distinct lists of attributes of the samples.
///
/// A list is represented by its first sample, so that no list is copied.
struct Sets {
    /// The number of distinct lists before that of a sample, by sample. Empty if no sample has attributes.
    ranks: Vec<u32>,
    /// The number of distinct lists.
    count: usize,
}

impl Sets {
    /// Numbers the lists with one lookup per sample. Lists are compared only if their hashes are equal.
    fn of(samples: &Samples) -> Self {
        let attributes: &Ragged<AttributeId> = &samples.attributes;
        if attributes.items.is_empty() {
            return Self { ranks: Vec::new(), count: 0 };
        }
        let hasher = RandomState::default();
        let mut index = RowIndex::default();
        // The first sample with each list.
        let mut firsts: Vec<u32> = Vec::new();
        let mut ranks: Vec<u32> = Vec::with_capacity(samples.len());
        for row in 0..samples.len() {
            let list = attributes.row(row);
            let hash = hasher.hash_one(list);
            let same = |set: u32| attributes.row(firsts[set as usize] as usize) == list;
            let set = index.find(hash, same).unwrap_or_else(|| {
                let set = firsts.len() as u32;
                index.add(hash, set);
                firsts.push(row as u32);
                set
            });
            ranks.push(set);
        }
        Self { ranks, count: firsts.len() }
    }

    fn rank(&self, row: u32) -> usize {
        self.ranks.get(row as usize).map_or(0, |set| *set as usize)
    }

    /// Groups samples by their lists; samples with equal lists keep the given order.
    fn group(&self, order: Vec<u32>) -> Vec<u32> {
        if self.count < 2 { order } else { by_rank(&order, self.count, |row| self.rank(row)) }
    }
}

/// Returns the samples in another order.
///
/// Columns that are shorter than the samples, such as links, stay as short as possible.
fn permuted(samples: &Samples, order: &[u32]) -> Samples {
    let rows = || order.iter().map(|row| *row as usize);
    let mut sorted = Samples {
        stacks: rows().map(|row| samples.stacks[row]).collect(),
        attributes: permuted_rows(&samples.attributes, order),
        values: permuted_rows(&samples.values, order),
        ..Samples::default()
    };
    if !samples.timestamps.is_empty() {
        *sorted.timestamps = permuted_rows(&samples.timestamps, order);
    }
    if !samples.links.is_empty() {
        (0..).zip(rows()).for_each(|(at, row)| sorted.set_link(at, samples.link(row)));
    }
    if let Some(ids) = Some(&samples.stacktrace_ids).filter(|ids| !ids.is_empty()) {
        let last = rows().rposition(|row| ids.get(row).is_some_and(|id| id.some().is_some()));
        let rows = rows().take(last.map_or(0, |last| last + 1));
        *sorted.stacktrace_ids =
            rows.map(|row| ids.get(row).copied().unwrap_or_default()).collect();
    }
    sorted
}

fn permuted_rows<T: Copy>(rows: &Ragged<T>, order: &[u32]) -> Ragged<T> {
    let mut sorted = Ragged::default();
    if rows.items.is_empty() {
        // Keep the ends of empty rows.
        sorted.ends = rows.ends.clone();
        return sorted;
    }
    sorted.items.reserve_exact(rows.items.len());
    sorted.ends.reserve_exact(order.len());
    for (at, row) in order.iter().enumerate() {
        sorted.items.extend_from_slice(rows.row(*row as usize));
        sorted.end_row_at(at);
    }
    sorted
}
