//! Comparing: which functions, files or stacks cost more than before.

mod apportion;
mod compare;
mod gate;
mod names;
mod profile;
mod table;

pub use compare::{Diff, DiffMode, DiffOptions, DiffRow, common_sample_type, diff};
pub use gate::{Gate, GateKind, GateReport, GateRow, GateRule, Judgement, Noise, judge};
pub use names::strip_hash;
pub use profile::{DiffProfile, diff_profile};
pub use table::DiffBy;

pub use crate::look::Rename;
