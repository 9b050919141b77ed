//! Options and results of a merge.

use crate::limits::{Limits, setters};
use crate::losses::Losses;
use crate::model::Profiles;
use crate::tables::profile::covered::Covered;

/// Options of a [`Merger`](super::Merger). The default adds up equal profiles and keeps everything else.
///
/// ```
/// use otlp_profiles::transform::{Combine, MergeOptions};
///
/// let options = MergeOptions::default().combine(Combine::Last).canonical(true);
/// assert!(!options.keep_apart);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MergeOptions {
    /// Limits of the merged profiles; [`Limits::file`] by default.
    pub limits: Limits,
    /// Keeps every input profile apart and unites only the tables.
    pub keep_apart: bool,
    /// Which attributes of resources count: profiles of resources that differ in others are added up.
    pub resources: ResourceKeys,
    /// Combines snapshots of one resource: values that are totals or states, such as `inuse_space`.
    pub combine: Combine,
    /// Sample types that not all inputs have.
    pub columns: Columns,
    /// Sets the duration to the sum of all durations instead of the span from the first start to the last end.
    pub sum_durations: bool,
    /// Adds a profile again if its id and contents occurred before.
    pub add_repeats: bool,
    /// Drops timestamps: samples become totals.
    pub drop_timestamps: bool,
    /// Drops samples whose values are all 0.
    pub drop_zero: bool,
    /// Keeps mappings of one binary at different addresses apart.
    pub exact_addresses: bool,
    /// Adds up profiles with different periods into one without a period.
    pub join_periods: bool,
    /// Sorts tables, samples and profiles by content, so that the bytes do not depend on the order of inputs.
    pub canonical: bool,
}

setters! { MergeOptions {
    limits: Limits,
    keep_apart: bool,
    resources: ResourceKeys,
    combine: Combine,
    columns: Columns,
    sum_durations: bool,
    add_repeats: bool,
    drop_timestamps: bool,
    drop_zero: bool,
    exact_addresses: bool,
    join_periods: bool,
    canonical: bool,
} }

impl Default for MergeOptions {
    fn default() -> Self {
        Self {
            limits: Limits::file(),
            keep_apart: false,
            resources: ResourceKeys::All,
            combine: Combine::Sum,
            columns: Columns::Apart,
            sum_durations: false,
            add_repeats: false,
            drop_timestamps: false,
            drop_zero: false,
            exact_addresses: false,
            join_periods: false,
            canonical: false,
        }
    }
}

/// Which attributes of a resource are part of its identity. Others are removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ResourceKeys {
    /// All attributes.
    #[default]
    All,
    /// The attributes with these keys only.
    Only(Vec<String>),
    /// All attributes but those with these keys, such as `k8s.pod.name`.
    Without(Vec<String>),
}

impl ResourceKeys {
    pub(crate) fn keeps(&self, key: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(keys) => keys.iter().any(|only| only == key),
            Self::Without(keys) => keys.iter().all(|without| without != key),
        }
    }
}

/// How snapshots of one resource are combined. Values of different resources are always added up, and so are
/// values that are changes, such as CPU time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Combine {
    /// Adds them up, as pprof does, and reports `merge.snapshots_summed`.
    #[default]
    Sum,
    /// Takes the values of the latest profile.
    Last,
    /// Takes the mean, rounded half away from zero; a sample that a profile lacks counts 0.
    Mean,
    /// Takes the largest value of each sample.
    Max,
    /// Takes the values of the latest profile of totals since a start, such as `alloc_space`, and the mean of states,
    /// such as `inuse_space`. An unknown sample type of a profile without a duration is a state.
    ByKind,
}

impl Combine {
    /// The rule for snapshots that are totals, or states.
    pub(super) fn of(self, is_state: bool) -> Self {
        match self {
            Self::ByKind if is_state => Self::Mean,
            Self::ByKind => Self::Last,
            other => other,
        }
    }

    /// Whether only the latest snapshot of some sample types counts.
    pub(super) fn has_latest(self) -> bool {
        matches!(self, Self::Last | Self::ByKind)
    }
}

/// Treatment of sample types that some profiles of one identity lack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Columns {
    /// Sample types of the same inputs form one profile; others form separate profiles.
    #[default]
    Apart,
    /// All sample types form one profile. Missing values are 0 and reported as `columns.zero_filled`.
    ZeroFill,
    /// Sample types that not all inputs have are dropped and reported as `columns.dropped`.
    Intersect,
}

/// The result of a merge.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Merged {
    /// The merged profiles.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub profiles: Profiles,
    /// Data that was dropped, chosen by a rule or converted.
    pub losses: Losses,
    /// For each of the profiles the time that its inputs cover, without the gaps between them. Rates are relative to
    /// it.
    #[cfg_attr(feature = "serde", serde(rename = "covered_nanos"))]
    pub covered: Vec<Covered>,
    /// The snapshots that were combined, by sample type.
    pub snapshots: Vec<Snapshots>,
    /// The number of profiles that were added.
    pub inputs: u64,
}

/// Snapshots of one resource that were combined into one profile.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Snapshots {
    /// The name of the sample type, such as `inuse_space`.
    pub sample_type: String,
    /// The unit of both sums.
    pub unit: String,
    /// The number of snapshots.
    pub count: u64,
    /// The sum of all values.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::number"))]
    pub sum: i128,
    /// The sum of the latest snapshot of each resource.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::number"))]
    pub last: i128,
}
