//! Merging: any number of payloads become one.
//!
//! ```text
//! Profiles ─► Merger::add ─► groups: one a resource, scope, sample types, period, attributes, form
//!                              ├ header   the rule of each field
//!                              └ rows     one for each stack, attributes and link; 128-bit sums
//!             Merger::finish ─► groups that differ in units or sample types meet; 64-bit values; Profiles
//! ```

mod append;
mod columns;
mod delta;
mod finish;
mod header;
mod merger;
mod options;
mod places;
mod rows;
mod sample_types;
mod snapshots;
mod units;

pub use delta::{DeltaOptions, delta};
pub(super) use delta::{Subtract, changes};
pub use merger::Merger;
pub use options::{Columns, Combine, MergeOptions, Merged, ResourceKeys, Snapshots};
pub(super) use places::place_of;
pub use snapshots::{snapshots, totals};
