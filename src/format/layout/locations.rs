//! Locations by function and line, those that stacks use most in front.

use crate::build::reach::Reach;
use crate::format::layout::words::{self, Words};
use crate::model::Profiles;
use crate::model::dictionary::Dictionary;
use crate::model::id::{Id as _, LocationId, StackId};

/// By location: how often stacks have it, each stack once, or once for each sample.
pub(super) fn uses(profiles: &Profiles, reach: &Reach, in_samples: bool) -> Vec<u32> {
    let dictionary = &profiles.dictionary;
    let mut uses = vec![0u32; dictionary.locations.len()];
    let mut stack = |id: StackId, times: u32| {
        for location in dictionary.stack(id) {
            if let Some(uses) = uses.get_mut(location.row()) {
                *uses = uses.saturating_add(times);
            }
        }
    };
    if !in_samples {
        reach.rows.stacks.iter().for_each(|&row| stack(StackId(row), 1));
        return uses;
    }
    let mut samples = vec![0u32; dictionary.stacks.len()];
    for id in profiles.iter().flat_map(|profile| &profile.samples.stacks) {
        samples[id.row()] += 1;
    }
    (0..).zip(samples).filter(|(_, times)| *times > 0).for_each(|(row, times)| {
        stack(StackId(row), times);
    });
    uses
}

/// Locations by mapping and function, line, address.
struct Locations<'a> {
    dictionary: &'a Dictionary,
    reach: &'a Reach,
}

impl Words for Locations<'_> {
    #[inline]
    fn word(&self, item: u32, depth: usize) -> (u64, bool) {
        let (locations, id) = (&self.dictionary.locations, LocationId(item));
        let line = || locations.lines(id).last().copied().unwrap_or_default();
        match depth {
            0 => {
                let functions = &self.reach.new.functions;
                let function = functions.get(line().function.row()).copied().unwrap_or_default();
                let mapping = locations.mapping(id);
                (u64::from(mapping.0) << 32 | u64::from(function.number()), true)
            }
            1 => (line().line as u64, true),
            _ => (locations.address(id), false),
        }
    }
}

/// The locations that are reached, by mapping, function, line and address. The functions have their
/// new ids.
pub(super) fn by_function(dictionary: &Dictionary, reach: &Reach) -> Vec<u32> {
    let mut order = reach.rows.locations.to_vec();
    words::sort(&Locations { dictionary, reach }, &mut order);
    order
}

/// Locations whose index takes one byte before those that take two, and so on: the most used ones.
/// Those that take as many keep their order.
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
    let mut hottest: Vec<(std::cmp::Reverse<u32>, u32)> =
        order.iter().zip(0..).map(|(&row, at)| (std::cmp::Reverse(of(row)), at)).collect();
    let mut bucket = vec![0u8; order.len()];
    let mut begin = 0;
    for bits in [7, 14, 21] {
        // Where row 0 is written, one index fewer is left.
        let end = (1usize << bits) - (128 - short);
        if end >= order.len() {
            break;
        }
        hottest[begin..].select_nth_unstable(end - begin);
        hottest[end..].iter().for_each(|(_, at)| bucket[*at as usize] += 1);
        begin = end;
    }
    let mut sorted = Vec::with_capacity(order.len());
    for wanted in 0..=3 {
        let rows = order.iter().zip(&bucket).filter(|(_, bucket)| **bucket == wanted);
        sorted.extend(rows.map(|(row, _)| *row));
    }
    sorted
}
