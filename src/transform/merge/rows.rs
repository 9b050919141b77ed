//! Samples of one identity, added up.
//!
//! ```text
//! totals   stack, attributes, link │ 128-bit sums, one for each sample type
//! points   stack, attributes, link │ (sample, time) in the order of inputs; of a series also a value each
//! ```

use crate::model::id::StringId;
use crate::model::measures;
use crate::model::row_index::RowIndex;
use crate::model::samples::{SampleRef, Samples};
use crate::tables::rows::budget::{Full, column};
use crate::tables::rows::interner::Interner;
use crate::tables::rows::samples::{Identity, identity_hash};
use crate::tables::rows::seed::Seed;
use crate::transform::merge::options::Combine;

/// The form of the samples of a profile. Profiles of different forms are never added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum SampleKind {
    /// Values.
    Totals,
    /// Timestamps that count 1 each.
    Events,
    /// Timestamps with a value each.
    Series,
    /// Values and the timestamps that they are divided among.
    Divided,
}

impl SampleKind {
    /// The shape of one sample of a profile with so many sample types.
    #[inline]
    pub(super) fn of(sample: &SampleRef<'_>, columns: usize) -> Self {
        match (sample.values.len(), sample.timestamps_unix_nano.len()) {
            (_, 0) => Self::Totals,
            (0, _) => Self::Events,
            (values, times) if columns == 1 && values == times => Self::Series,
            _ => Self::Divided,
        }
    }

    pub(super) fn has_sums(self) -> bool {
        matches!(self, Self::Totals | Self::Divided)
    }
}

/// Whether the values of a sample type are snapshots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Snapshot {
    /// They are changes.
    #[default]
    No,
    /// They are totals since a start.
    Total,
    /// They are states.
    State,
}

impl Snapshot {
    /// The rule for the snapshots; `None` for changes.
    pub(super) fn rule(self, combine: Combine) -> Option<Combine> {
        (self != Self::No).then(|| combine.of(self == Self::State))
    }
}

/// The samples of one group of profiles.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    /// Without values and timestamps.
    pub(super) samples: Samples,
    index: RowIndex,
    /// Of each row, so many sums as there are sample types.
    pub(super) sums: Vec<i128>,
    /// By row, the number of the snapshot that it was last seen in; used unless snapshots are summed.
    pub(super) seen: Vec<u32>,
    /// The number of the latest snapshot.
    pub(super) latest: u32,
    /// Values of the current profile, not yet added, and their rows; used unless snapshots are summed.
    pending: Vec<i128>,
    touched: Vec<u32>,
    /// The row and the time of each point.
    pub(super) points: Vec<(u32, u64)>,
    /// Of a series, the value of each point.
    pub(super) point_values: Vec<i64>,
}

impl Rows {
    pub(super) fn len(&self) -> usize {
        self.samples.len()
    }

    /// Finds the row of a sample by its [`hash`].
    #[inline]
    pub(super) fn find(
        &self,
        hash: u64,
        identity: Identity<'_>,
        stacktrace_id: StringId,
    ) -> Option<usize> {
        let samples = &self.samples;
        let found = self.index.find(hash, |row| {
            let row = row as usize;
            Identity::of(samples, row) == identity
                && samples.stacktrace_ids.get(row).copied().unwrap_or_default() == stacktrace_id
        });
        found.map(|row| row as usize)
    }

    /// Keeps the marked rows, which have no points. Rows can no longer be found.
    pub(super) fn retain(&mut self, kept: &[bool], columns: usize) {
        self.samples.retain(kept);
        let mut at = 0;
        self.sums.retain(|_| {
            at += 1;
            kept[(at - 1) / columns]
        });
        self.index.clear();
    }

    /// Finds or adds the row of a sample.
    #[inline]
    pub(super) fn row(
        &mut self,
        interner: &mut Interner,
        total: &mut usize,
        identity: Identity<'_>,
        stacktrace_id: StringId,
        columns: usize,
    ) -> Result<usize, Full> {
        let hash = hash(&interner.seed, identity, stacktrace_id);
        if let Some(row) = self.find(hash, identity, stacktrace_id) {
            return Ok(row);
        }
        column(self.samples.attributes.items.len(), identity.attributes.len())?;
        let bytes = 16 + size_of_val(identity.attributes) + columns * size_of::<i128>();
        interner.budget.sample(*total, bytes)?;
        *total += 1;
        let row = self.samples.push(identity.stack, identity.attributes, identity.link);
        if stacktrace_id != StringId::NONE {
            self.samples.stacktrace_ids.resize(row, StringId::NONE);
            self.samples.stacktrace_ids.push(stacktrace_id);
        }
        self.index.add(hash, row as u32);
        self.sums.resize((row + 1) * columns, 0);
        Ok(row)
    }

    /// Notes a value that the current profile adds to a row. [`apply`](Self::apply) adds it.
    pub(super) fn pend(&mut self, row: usize, columns: usize, column: usize, value: i128) {
        self.pending.resize(self.sums.len(), 0);
        if self.touched.last() != Some(&(row as u32)) {
            self.touched.push(row as u32);
        }
        self.pending[row * columns + column] += value;
    }

    /// Adds the values noted since the last call. `snapshots` has the kind of each column; `is_latest` is
    /// whether the profile is the latest.
    pub(super) fn apply(&mut self, snapshots: &[Snapshot], combine: Combine, is_latest: bool) {
        let columns = snapshots.len();
        self.seen.resize(self.len(), 0);
        self.touched.sort_unstable();
        // A second visit of a row would find 0 pending, and take it for the latest value.
        self.touched.dedup();
        for row in self.touched.drain(..) {
            let seen = &mut self.seen[row as usize];
            for (column, snapshot) in snapshots.iter().enumerate() {
                let at = row as usize * columns + column;
                let value = std::mem::take(&mut self.pending[at]);
                let sum = &mut self.sums[at];
                *sum = match snapshot.rule(combine) {
                    Some(Combine::Last) if is_latest => value,
                    Some(Combine::Last) => *sum,
                    Some(Combine::Max) if *seen > 0 => value.max(*sum),
                    _ => *sum + value,
                };
            }
            if is_latest || !combine.has_latest() {
                *seen = self.latest;
            }
        }
    }

    /// Whether a row has no value in the latest snapshot.
    pub(super) fn is_stale(&self, row: usize, combine: Combine) -> bool {
        combine.has_latest() && self.seen.get(row).is_some_and(|seen| *seen != self.latest)
    }

    /// Adds the points of a sample.
    pub(super) fn add_points(
        &mut self,
        interner: &mut Interner,
        row: usize,
        times: &[u64],
        values: &[i64],
    ) -> Result<(), Full> {
        column(self.points.len(), times.len())?;
        interner.budget.bytes(times.len() * size_of::<(u32, u64)>() + size_of_val(values))?;
        self.points.extend(times.iter().map(|time| (row as u32, *time)));
        self.point_values.extend_from_slice(values);
        Ok(())
    }

    /// The points by row, then by time, then in the order they were added.
    pub(super) fn ordered_points(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.points.len() as u32).collect();
        let is_sorted = self.points.is_sorted();
        if !is_sorted {
            order.sort_by_key(|at| self.points[*at as usize]);
        }
        order
    }
}

/// The hash of a sample.
#[inline]
pub(super) fn hash(seed: &Seed, identity: Identity<'_>, stacktrace_id: StringId) -> u64 {
    identity_hash(seed, identity) ^ u64::from(stacktrace_id.0) << 7
}

/// Calls `f` with the values that a sample adds to sums: one for each column.
#[inline]
pub(super) fn sums_of(sample: &SampleRef<'_>, columns: usize, mut f: impl FnMut(usize, i128)) {
    if columns == 1 {
        f(0, measures::sum(sample.values, sample.timestamps_unix_nano));
        return;
    }
    for column in 0..columns {
        f(column, sample.values.get(column).copied().unwrap_or_default().into());
    }
}
