//! Restoring of zeros in columns that were written as separate profiles without them: before the columns are
//! joined, each gets the samples of all.
//!
//! ```text
//! cpu    s1 5, s3 2          cpu    s1 5, s2 0, s3 2
//! wall   s2 7, s3 2    ─►    wall   s1 0, s2 7, s3 2     both with the same samples
//! ```
//!
//! It reverses [`written_rows`](super::written_rows), and the dropping of zeros by other writers. It never
//! guesses: the scope must store that its profiles were columns, and their order.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;

use crate::model::id::{AttributeId, LinkId, StackId};
use crate::model::order::sample_type_order;
use crate::model::profile::Profile;
use crate::model::row_index::RowIndex;
use crate::model::samples::Samples;
use crate::model::{Profiles, ScopeProfiles};

/// Returns the profiles with equal samples in all columns, for scopes that store the order of columns and
/// whose columns differ.
///
/// Returns `None` without copying if no columns differ. Takes time linear in the samples.
pub(crate) fn rejoined(profiles: &Profiles) -> Option<Profiles> {
    let scopes = profiles.resources.iter().flat_map(|resource| &resource.scopes);
    let differ: Vec<bool> = scopes.map(|scope| differ(scope, profiles)).collect();
    if !differ.contains(&true) {
        return None;
    }
    let mut rejoined = profiles.clone();
    let resources = rejoined.resources.iter_mut().filter_map(|resource| resource.parts_mut());
    // A resource that is not allocated has no scopes, so the flags belong to the same scopes as above.
    let scopes = resources.flat_map(|resource| &mut resource.scopes).zip(differ);
    for scope in scopes.filter(|(_, differ)| *differ).filter_map(|(scope, _)| scope.parts_mut()) {
        join(&mut scope.profiles);
    }
    Some(rejoined)
}

/// Returns whether the profiles of a scope were columns of one profile, but have different samples.
///
/// Skips columns with timestamps, stack trace ids or several values per sample.
fn differ(scope: &ScopeProfiles, profiles: &Profiles) -> bool {
    let Some((first, others)) = scope.profiles.split_first() else {
        return false;
    };
    let differs = |other: &Profile| {
        let (a, b) = (&first.samples, &other.samples);
        a.stacks != b.stacks || a.links != b.links || a.attributes != b.attributes
    };
    let has_same_header = |other: &Profile| {
        first.time_unix_nano == other.time_unix_nano
            && first.duration_nanos == other.duration_nanos
            && first.period == other.period
            && first.period_type == other.period_type
    };
    others.iter().any(differs)
        && others.iter().all(has_same_header)
        && scope.profiles.iter().all(has_one_value_a_sample)
        && matches!(sample_type_order(scope, &profiles.dictionary), Some(Ok(_)))
}

fn has_one_value_a_sample(profile: &Profile) -> bool {
    let samples = &profile.samples;
    profile.sample_types.len() == 1
        && samples.timestamps.items.is_empty()
        && samples.stacktrace_ids.is_empty()
        && samples.values.ends.len() == samples.len()
        && samples.values.rows().all(|values| values.len() == 1)
}

/// The identity of a sample.
type Key<'a> = (StackId, &'a [AttributeId], LinkId);

fn key(samples: &Samples, row: usize) -> Key<'_> {
    (samples.stacks[row], samples.attributes.row(row), samples.link(row))
}

/// The samples of several columns. Each identity occurs as often as in the column that contains it most
/// often.
#[derive(Default)]
struct Union {
    /// Without values, which each column adds.
    samples: Samples,
    /// The first sample of each identity.
    index: RowIndex,
    /// The next sample with the same identity, or [`NONE`].
    next: Vec<u32>,
    /// The last sample with the same identity, by first sample.
    last: Vec<u32>,
    /// The next sample with the same identity that the current column has not matched, by first sample;
    /// [`NONE`] if it has matched all.
    unmet: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Union {
    /// Returns the rows of the samples of a column.
    fn rows(&mut self, column: &Samples, hasher: &RandomState) -> Vec<u32> {
        // Each list of equal samples begins with its first sample. Entries of later samples are not read.
        self.unmet = (0..self.next.len() as u32).collect();
        (0..column.len()).map(|row| self.row(key(column, row), hasher)).collect()
    }

    /// Returns the first sample of this identity that the column has not matched; adds one if it has matched
    /// all.
    fn row(&mut self, wanted: Key, hasher: &RandomState) -> u32 {
        let hash = hasher.hash_one(wanted);
        let first = self.index.find(hash, |row| key(&self.samples, row as usize) == wanted);
        let Some(first) = first.map(|first| first as usize) else {
            let row = self.add(wanted);
            self.index.add(hash, row);
            return row;
        };
        let mut row = self.unmet[first];
        if row == NONE {
            row = self.add(wanted);
            self.next[self.last[first] as usize] = row;
            self.last[first] = row;
        }
        self.unmet[first] = self.next[row as usize];
        row
    }

    fn add(&mut self, (stack, attributes, link): Key) -> u32 {
        let row = self.samples.push(stack, attributes, link) as u32;
        self.next.push(NONE);
        self.last.push(row);
        self.unmet.push(NONE);
        row
    }
}

/// Extends all columns to the union. A sample that a column lacks gets the value 0.
fn join(profiles: &mut [Profile]) {
    let hasher = RandomState::default();
    let mut union = Union::default();
    let rows: Vec<Vec<u32>> =
        profiles.iter().map(|profile| union.rows(&profile.samples, &hasher)).collect();
    for (profile, rows) in profiles.iter_mut().zip(rows) {
        let mut values = vec![0; union.samples.len()];
        // `differ` requires one value per sample, so items and samples correspond.
        for (row, value) in rows.iter().zip(&profile.samples.values.items) {
            values[*row as usize] = *value;
        }
        let mut samples = union.samples.clone();
        samples.values.ends = (1..=values.len() as u32).collect();
        samples.values.items = values;
        profile.samples = samples;
    }
}
