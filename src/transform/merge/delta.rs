//! Changes between two snapshots.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::error::Result;
use crate::limits::{Limits, setters};
use crate::losses;
use crate::model::Profiles;
use crate::model::profile::{AggregationTemporality, ValueType};
use crate::tables::rows::samples::Identity;
use crate::transform::kind::{Kind, kind_of};
use crate::transform::merge::header::Header;
use crate::transform::merge::merger::{Group, Key, Merger};
use crate::transform::merge::options::{MergeOptions, Merged};
use crate::transform::merge::rows::{Rows, hash};

/// Options of [`delta`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeltaOptions {
    /// Drops samples whose values all fell or stayed.
    pub growth_only: bool,
    /// Limits of the result; unset, [`Limits::file`].
    pub limits: Option<Limits>,
}

setters! { DeltaOptions {
    growth_only: bool,
    limits: Option<Limits>,
} }

/// Returns the changes of totals since an earlier snapshot of the same resources.
///
/// Only totals since a start, such as `alloc_space`, are subtracted. Changes such as CPU time, and states such as
/// `inuse_space`, keep the later value. A total that fell, or that is of another process, was reset: its change is the
/// later value, counted as `delta.reset`. So is a total whose sample is gone. Profiles without an earlier counterpart are dropped, counted as
/// `delta.first`. Each result begins at the start of the earlier profile and lasts to the end of the later one.
///
/// The time is linear in the size of both.
///
/// # Errors
///
/// A difference does not fit 64 bits, or a limit is reached.
///
/// ```
/// use otlp_profiles::transform::{DeltaOptions, delta};
/// # let file = std::fs::read("testdata/go-heap.pb.gz").unwrap();
///
/// let heap = otlp_profiles::read(&file, &Default::default())?.profiles;
/// let delta = delta(&heap, &heap, &DeltaOptions::default())?;
/// let sums = delta.profiles.iter().next().unwrap().sums();
/// assert_eq!(sums[..2], [0, 0], "nothing was allocated in between");
/// assert_eq!(sums[2..], heap.iter().next().unwrap().sums()[2..], "the memory in use is a state");
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub fn delta(earlier: &Profiles, later: &Profiles, options: &DeltaOptions) -> Result<Merged> {
    changes(earlier, later, options, Subtract::Totals)
}

/// The sample types that are subtracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subtract {
    /// Totals since a start.
    Totals,
    /// All of them. Timestamped samples become totals.
    All,
}

/// Returns the changes since an earlier snapshot: see [`delta`].
pub(crate) fn changes(
    earlier: &Profiles,
    later: &Profiles,
    options: &DeltaOptions,
    what: Subtract,
) -> Result<Merged> {
    let limits = options.limits.unwrap_or_else(Limits::file);
    // A profile that is in both snapshots must take part in both.
    let merge = MergeOptions::default().limits(limits).add_repeats(true);
    let mut merger = Merger::new(merge.drop_timestamps(what == Subtract::All));
    merger.add(earlier)?;
    let before = merger.take_groups();
    let before: HashMap<&Key, &Group, RandomState> =
        before.iter().map(|group| (&group.key, group)).collect();
    merger.add(later)?;
    let mut groups = merger.take_groups();
    let (mut first, mut resets) = (0, 0);
    groups.retain_mut(|group| {
        let Some(earlier) = before.get(&group.key) else {
            first += 1;
            return false;
        };
        resets += subtract(group, earlier, what, &merger);
        join_time(&mut group.header, &earlier.header);
        true
    });
    if options.growth_only {
        groups.iter_mut().for_each(keep_growth);
    }
    merger.groups = groups;
    merger.losses.add_many(losses::DELTA_FIRST, first, String::new);
    merger.losses.add_many(losses::DELTA_RESET, resets, String::new);
    merger.finish()
}

/// Subtracts the values of an earlier group. Returns the number of totals that were reset.
fn subtract(group: &mut Group, earlier: &Group, what: Subtract, merger: &Merger) -> u64 {
    let columns = group.key.types.len().max(1);
    let dictionary = &merger.interner.dictionary;
    let duration = group.header.durations;
    let is_total = |of: &ValueType| kind_of(*of, duration, dictionary) == Kind::Cumulative;
    let totals: Vec<bool> = group.key.types.iter().map(is_total).collect();
    if what == Subtract::Totals && !totals.contains(&true) || !group.key.shape.has_sums() {
        return 0;
    }
    let restarted = has_restarted(&group.header, &earlier.header);
    let (mut resets, mut found) = (0, vec![false; earlier.rows.len()]);
    let Rows { samples, sums, .. } = &mut group.rows;
    for row in 0..samples.len() {
        let id = samples.stacktrace_ids.get(row).copied().unwrap_or_default();
        let identity = Identity::of(samples, row);
        // One interner numbered both snapshots, so equal samples have equal ids and hashes.
        let hash = hash(&merger.interner.seed, identity, id);
        let Some(before) = earlier.rows.find(hash, identity, id) else { continue };
        found[before] = true;
        for (column, is_total) in totals.iter().enumerate() {
            let old = earlier.rows.sums[before * columns + column];
            let sum = &mut sums[row * columns + column];
            if *is_total && (restarted || *sum < old) {
                resets += 1;
            } else if *is_total || what == Subtract::All {
                *sum -= old;
            }
        }
    }
    for (before, _) in found.iter().enumerate().filter(|(_, found)| !**found) {
        let sums = &earlier.rows.sums[before * columns..(before + 1) * columns];
        let gone = sums.iter().zip(&totals).filter(|(sum, is_total)| **is_total && **sum != 0);
        resets += gone.count() as u64;
    }
    for (of, _) in group.key.types.iter_mut().zip(totals).filter(|(_, is_total)| *is_total) {
        of.temporality = of.temporality.and(Some(AggregationTemporality::DELTA));
    }
    resets
}

/// Whether totals that cover a time since a start have another start.
fn has_restarted(later: &Header, earlier: &Header) -> bool {
    let start = |header: &Header| header.span.filter(|(start, end)| start < end);
    let (earlier, later) = (start(earlier), start(later));
    earlier.zip(later).is_some_and(|(earlier, later)| earlier.0 < later.0)
}

/// Lets a later header begin where the earlier one does.
fn join_time(later: &mut Header, earlier: &Header) {
    if let (Some((start, _)), Some((_, end))) = (earlier.span, later.span) {
        later.span = Some((start.min(end), end));
    }
}

fn keep_growth(group: &mut Group) {
    let columns = group.key.types.len().max(1);
    if !group.rows.points.is_empty() {
        return;
    }
    let grew = |sums: &[i128]| sums.iter().any(|sum| *sum > 0);
    let kept: Vec<bool> = group.rows.sums.chunks(columns).map(grew).collect();
    group.rows.retain(&kept, columns);
}
