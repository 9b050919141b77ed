//! Transforms: functions from profiles to profiles.
//!
//! | to | use |
//! |---|---|
//! | add up any number of payloads | [`Merger`] |
//! | divide a payload by a property, or into parts of limited size | [`split()`], [`split_max`] |
//!
//! What two profiles must have in common to be one, a frame, a sample or a profile, is the same for all of them: see
//! [`Merger`].

mod binaries;
mod canonical;
mod merge;
mod split;
mod units;

pub use merge::{Columns, Combine, MergeOptions, Merged, Merger, ResourceKeys, Snapshots};
pub use split::{MaxBytes, Part, SplitBy, split, split_max};
