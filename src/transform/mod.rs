//! Transforms: functions from profiles to profiles.
//!
//! | to | use |
//! |---|---|
//! | add up any number of payloads | [`Merger`] |
//! | know what a sum or a comparison leaves out | [`Caution`], [`InputTypes`], [`snapshots()`] |
//! | compare two payloads, or fail a build if something costs more | [`diff()`], [`diff_profile`], [`judge`] |
//! | get the changes between two snapshots, other units, or values a second | [`delta()`], [`convert_units`], [`per_second`] |
//! | send profiles through a chain of such steps, one after the other | [`Pipeline`], [`Stage`] |
//! | compute a sample type from others | [`derive()`], [`Expression`] |
//! | keep a time range, or remove addresses, lines or binaries | [`retain_time`], [`strip()`] |
//! | replace names and values by pseudonyms | [`Redactor`] |
//! | sort stacks by the names of frames | [`sort_stacks`] |
//! | divide a payload by a property, or into parts of limited size | [`split()`], [`split_max`] |
//!
//! All transforms use the same identity of frames, samples and profiles: see [`Merger`].

mod arithmetic;
mod binaries;
mod canonical;
mod caution;
mod columns;
mod diff;
mod filter;
mod kind;
mod merge;
mod pipeline;
mod redact;
mod scale;
mod split;
mod stacks;

pub use crate::tables::profile::covered::Covered;
pub use arithmetic::{Expression, derive};
pub use caution::{Caution, InputTypes};
pub use diff::{
    Diff, DiffBy, DiffMode, DiffOptions, DiffProfile, DiffRow, Gate, GateKind, GateReport, GateRow,
    GateRule, Judgement, Noise, Rename, common_sample_type, diff, diff_profile, judge, strip_hash,
};
pub use filter::{Strip, retain_time, strip};
pub use merge::{
    Columns, Combine, DeltaOptions, MergeOptions, Merged, Merger, ResourceKeys, Snapshots, delta,
    snapshots, totals,
};
pub use pipeline::{AggregatorOptions, Keep, Pipeline, Published, RateOptions, Stage, Target};
pub use redact::Redactor;
pub use scale::{convert_units, per_second};
pub use split::{MaxBytes, Part, SplitBy, split, split_max};
pub use stacks::sort_stacks;
