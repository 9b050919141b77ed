//! Changes between two snapshots.

use std::collections::BTreeSet;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::error::Result;
use crate::limits::{Limits, setters};
use crate::losses;
use crate::model::Profiles;
use crate::model::profile::{AggregationTemporality, ValueType};
use crate::tables::profile::covered::Covered;
use crate::tables::rows::samples::Identity;
use crate::transform::kind::{Kind, kind_of};
use crate::transform::merge::header::Header;
use crate::transform::merge::merger::{Group, Key, Merger};
use crate::transform::merge::options::{MergeOptions, Merged};
use crate::transform::merge::rows::{Rows, hash};
use crate::transform::merge::units::unify_units;

/// Options of [`delta`].
///
/// ```
/// use otlp_profiles::Limits;
/// use otlp_profiles::transform::{DeltaOptions, delta};
///
/// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let heap = otlp_profiles::read(&bytes, &Default::default())?.profiles;
/// let options = DeltaOptions::default().growth_only(true).limits(Some(Limits::network()));
/// let growth = delta(&heap, &heap, &options)?.profiles;
/// let sums: Vec<i128> = growth.iter().flat_map(|profile| profile.sums()).collect();
/// println!("{sums:?}");
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
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
/// `inuse_space`, keep the later value. If any total of a resource fell or has a later start, its process was restarted:
/// the change of all its totals is the later value, counted as `delta.reset`. So is a total whose sample is gone. Profiles
/// without an earlier counterpart are dropped, counted as `delta.first`. A result with totals lasts from the end of the
/// earlier profile to the end of the later one.
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
    /// Totals and states. Timestamped samples become totals.
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
    let mut groups = merger.take_groups();
    let earlier = groups.len();
    merger.add(later)?;
    groups.append(&mut merger.take_groups());
    unify_units(&mut groups, &mut merger.interner, &mut merger.losses)?;
    let mut later = groups.split_off(earlier);
    let before: HashMap<&Key, &Group, RandomState> =
        groups.iter().map(|group| (&group.key, group)).collect();
    let mut pairs: Vec<(Group, Option<Pair>)> = Vec::with_capacity(later.len());
    let mut first = 0;
    for group in later.drain(..) {
        match before.get(&group.key) {
            Some(earlier) => {
                let pair = Pair::of(&group, earlier, what, &merger);
                pairs.push((group, pair));
            }
            None => first += 1,
        }
    }
    let clock = |group: &Group| merger.places.rows()[group.key.place as usize].clock;
    let fell = |pair: &Option<Pair<'_>>| pair.as_ref().is_some_and(|pair| pair.fell);
    let restarted = pairs.iter().filter(|(_, pair)| fell(pair)).map(|(group, _)| clock(group));
    let restarted: BTreeSet<u128> = restarted.collect();
    let mut resets = 0;
    for (mut group, pair) in pairs {
        if let Some(pair) = pair {
            let clock = clock(&group);
            resets += pair.subtract(&mut group, restarted.contains(&clock));
            pair.join_time(&mut group, clock);
        }
        later.push(group);
    }
    if options.growth_only {
        later.iter_mut().for_each(keep_growth);
    }
    merger.groups = later;
    merger.losses.add_many(losses::DELTA_FIRST, first, String::new);
    merger.losses.add_many(losses::DELTA_RESET, resets, String::new);
    merger.finish()
}

/// A group with values to subtract, and its earlier counterpart.
struct Pair<'a> {
    earlier: &'a Group,
    /// By column: the kind, if the values are subtracted.
    columns: Vec<Option<Kind>>,
    /// By row, its row in the earlier group.
    rows: Vec<Option<usize>>,
    /// The number of totals whose sample is gone.
    gone: u64,
    /// Some total fell or has a later start.
    fell: bool,
}

impl<'a> Pair<'a> {
    /// Returns `None` if there is nothing to subtract.
    fn of(group: &Group, earlier: &'a Group, what: Subtract, merger: &Merger) -> Option<Self> {
        let duration = group.header.durations;
        let column = |of: &ValueType| match kind_of(*of, duration, &merger.interner.dictionary) {
            Kind::Delta | Kind::Gauge if what == Subtract::Totals => None,
            // A change of an unknown time has no rate.
            Kind::Delta if duration > 0 => None,
            kind => Some(kind),
        };
        let columns: Vec<Option<Kind>> = group.key.types.iter().map(column).collect();
        if columns.iter().all(Option::is_none) || !group.key.shape.has_sums() {
            return None;
        }
        let Rows { samples, sums, .. } = &group.rows;
        let totals = |row: usize| {
            let sums = earlier.rows.sums[row * columns.len()..].iter().zip(&columns).enumerate();
            sums.filter(|(_, (_, kind))| **kind == Some(Kind::Cumulative))
                .map(|(at, (sum, _))| (at, *sum))
        };
        let mut fell = has_restarted(&group.header, &earlier.header);
        fell &= columns.contains(&Some(Kind::Cumulative));
        let mut found = vec![false; earlier.rows.len()];
        let mut rows = Vec::with_capacity(samples.len());
        for row in 0..samples.len() {
            let id = samples.stacktrace_ids.get(row).copied().unwrap_or_default();
            let identity = Identity::of(samples, row);
            // One interner numbered both snapshots, so equal samples have equal ids and hashes.
            let hash = hash(&merger.interner.seed, identity, id);
            let before = earlier.rows.find(hash, identity, id);
            if let Some(before) = before {
                found[before] = true;
                fell |= totals(before).any(|(at, old)| sums[row * columns.len() + at] < old);
            }
            rows.push(before);
        }
        let missing = (0..found.len()).filter(|row| !found[*row]);
        let gone = missing.flat_map(&totals).filter(|(_, sum)| *sum != 0).count() as u64;
        Some(Self { earlier, columns, rows, gone, fell })
    }

    /// Subtracts the earlier values, of totals unless the process was restarted. Returns the number of totals that were
    /// reset.
    fn subtract(&self, group: &mut Group, restarted: bool) -> u64 {
        let columns = self.columns.len();
        let mut resets = self.gone;
        for (row, before) in self.rows.iter().enumerate() {
            let Some(before) = before else { continue };
            for (column, kind) in self.columns.iter().enumerate() {
                match kind {
                    Some(Kind::Cumulative) if restarted => resets += 1,
                    Some(_) => {
                        let old = self.earlier.rows.sums[before * columns + column];
                        group.rows.sums[row * columns + column] -= old;
                    }
                    None => {}
                }
            }
        }
        for (of, kind) in group.key.types.iter_mut().zip(&self.columns) {
            if *kind == Some(Kind::Cumulative) {
                of.temporality = of.temporality.and(Some(AggregationTemporality::DELTA));
            }
        }
        resets
    }

    /// Lets a group begin where the earlier one ends.
    fn join_time(&self, group: &mut Group, clock: u128) {
        if let (Some((_, start)), Some((_, end))) = (self.earlier.header.span, group.header.span) {
            let start = start.min(end);
            group.header.span = Some((start, end));
            group.header.durations = end - start;
            for track in group.header.tracks.values_mut() {
                track.covered = Covered::default();
                track.covered.add(clock, 0, (start, end - start));
            }
        }
    }
}

/// Whether totals that cover a time since a start have another start.
fn has_restarted(later: &Header, earlier: &Header) -> bool {
    let start = |header: &Header| header.span.filter(|(start, end)| start < end);
    let (earlier, later) = (start(earlier), start(later));
    earlier.zip(later).is_some_and(|(earlier, later)| earlier.0 < later.0)
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
