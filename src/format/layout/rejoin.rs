//! Profiles that are the columns of one, where each has only the samples that are not 0 in it: every
//! column gets the samples of all, before they are written as one.
//!
//! ```text
//! cpu    s1 5, s3 2          cpu    s1 5, s2 0, s3 2
//! wall   s2 7, s3 2    ─►    wall   s1 0, s2 7, s3 2     both with the same samples
//! ```
//!
//! It undoes [`written_rows`](super::written_rows), and what any other writer did that left out
//! zeros. Nothing is guessed: the scope must say that its profiles were columns, and in which
//! order.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;

use crate::model::id::{AttributeId, LinkId, StackId};
use crate::model::order::sample_type_order;
use crate::model::profile::Profile;
use crate::model::row_index::RowIndex;
use crate::model::samples::Samples;
use crate::model::{Profiles, ScopeProfiles};

/// The profiles with the same samples in all columns of one, where some have others: only where a
/// scope says in which order its profiles were columns.
///
/// `None`, without a copy, where all columns have the same samples already. Linear in the samples.
pub(crate) fn rejoined(profiles: &Profiles) -> Option<Profiles> {
    let scopes = profiles.resources.iter().flat_map(|resource| &resource.scopes);
    let differ: Vec<bool> = scopes.map(|scope| differ(scope, profiles)).collect();
    if !differ.contains(&true) {
        return None;
    }
    let mut rejoined = profiles.clone();
    let resources = rejoined.resources.iter_mut().filter_map(|resource| resource.parts_mut());
    let scopes = resources.flat_map(|resource| &mut resource.scopes).zip(differ);
    for scope in scopes.filter(|(_, differ)| *differ).filter_map(|(scope, _)| scope.parts_mut()) {
        join(&mut scope.profiles);
    }
    Some(rejoined)
}

/// Whether the profiles of a scope were columns of one, and have not the same samples.
///
/// A column with timestamps, stack trace ids or several values a sample is left alone.
fn differ(scope: &ScopeProfiles, profiles: &Profiles) -> bool {
    let Some((first, others)) = scope.profiles.split_first() else {
        return false;
    };
    let differs = |other: &Profile| {
        let (a, b) = (&first.samples, &other.samples);
        a.stacks != b.stacks || a.links != b.links || a.attributes != b.attributes
    };
    let alike = |other: &Profile| {
        first.time_unix_nano == other.time_unix_nano
            && first.duration_nanos == other.duration_nanos
            && first.period == other.period
            && first.period_type == other.period_type
    };
    others.iter().any(differs)
        && others.iter().all(alike)
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

/// What tells samples apart beside their values.
type Key<'a> = (StackId, &'a [AttributeId], LinkId);

fn key(samples: &Samples, row: usize) -> Key<'_> {
    (samples.stacks[row], samples.attributes.row(row), samples.link(row))
}

/// The samples of several columns: each as often as the column has it that has it most often.
#[derive(Default)]
struct Union {
    /// Without values: each column brings its own.
    samples: Samples,
    /// The first of the samples that say the same.
    index: RowIndex,
    /// By sample: the next that says the same, or none.
    next: Vec<u32>,
    /// By first sample: the last that says the same, and the next that a column has not met yet.
    last: Vec<u32>,
    /// [`NONE`] where the column has met all.
    unmet: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Union {
    /// The rows of the samples of a column.
    fn rows(&mut self, column: &Samples, hasher: &RandomState) -> Vec<u32> {
        self.unmet = (0..self.next.len() as u32).collect();
        (0..column.len()).map(|row| self.row(key(column, row), hasher)).collect()
    }

    /// The first sample of this identity that the column has not met; a new one where it has met
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

/// A sample that a column lacks has the value 0 there.
fn join(profiles: &mut [Profile]) {
    let hasher = RandomState::default();
    let mut union = Union::default();
    let rows: Vec<Vec<u32>> =
        profiles.iter().map(|profile| union.rows(&profile.samples, &hasher)).collect();
    for (profile, rows) in profiles.iter_mut().zip(rows) {
        let mut values = vec![0; union.samples.len()];
        for (row, value) in rows.iter().zip(&profile.samples.values.items) {
            values[*row as usize] = *value;
        }
        let mut samples = union.samples.clone();
        samples.values.ends = (1..=values.len() as u32).collect();
        samples.values.items = values;
        profile.samples = samples;
    }
}
