//! Transforms: functions from profiles to profiles.
//!
//! | to | use |
//! |---|---|
//! | add up any number of payloads | [`Merger`] |
//! | compare two payloads, or fail a build if something costs more | [`diff()`], [`diff_profile`], [`judge`] |
//! | divide a payload by a property, or into parts of limited size | [`split()`], [`split_max`] |
//!
//! What two profiles must have in common to be one, a frame, a sample or a profile, is the same for all of them: see
//! [`Merger`].

mod binaries;
mod canonical;
mod diff;
mod merge;
mod split;
mod units;

pub use diff::{
    Diff, DiffBy, DiffMode, DiffOptions, DiffProfile, DiffRow, Gate, GateKind, GateReport, GateRow,
    GateRule, Judgement, Noise, Rename, diff, diff_profile, judge, strip_hash,
};
pub use merge::{Columns, Combine, MergeOptions, Merged, Merger, ResourceKeys, Snapshots};
pub use split::{MaxBytes, Part, SplitBy, split, split_max};
