//! Turns raw columns into a valid dictionary: converts row 0, resolves ids, validates every reference.
//!
//! Each file is one step over complete tables.

pub(crate) mod finish;
pub(crate) mod normalize;
pub(crate) mod null_row;
pub(crate) mod otep_ids;
pub(crate) mod targets;
pub(crate) mod time_unit;
pub(crate) mod validate;
pub(crate) mod value_counts;
pub(crate) mod value_types;
