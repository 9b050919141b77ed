//! Equal rows of the model: interns them, merges dictionaries, and finds the rows that are in use.
//!
//! Readers, builder and transforms create dictionaries through these files; nothing here depends on a format.

pub(crate) mod budget;
pub(crate) mod compact;
pub(crate) mod interner;
pub(crate) mod merge;
pub(crate) mod orphans;
pub(crate) mod places;
pub(crate) mod reach;
pub(crate) mod row;
pub(crate) mod samples;
pub(crate) mod seed;
pub(crate) mod subset;
