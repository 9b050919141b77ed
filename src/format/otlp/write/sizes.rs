//! How large what is written may be, and about how large it will be.
//!
//! Estimates are made of lengths that are at hand. They decide how much is reserved and how many bytes are kept for a
//! message's length; a wrong one costs time, never bytes.

use crate::error::{Error, ErrorKind, Result};
use crate::format::otlp::schema::Generation;
use crate::model::Profiles;
use crate::model::profile::Profile;

/// The error of more rows than the generation's indices can count.
/// Indices are `int32` in OTLP since 1.4; the older one is held to the same.
pub(crate) fn check_rows(table: &'static str, rows: usize) -> Result<()> {
    if rows > i32::MAX as usize {
        let message =
            format!("{table} has {rows} rows, more than the 2147483647 an index can count");
        return Err(Error::new(ErrorKind::Unrepresentable, message));
    }
    Ok(())
}

/// About how many bytes a payload takes; only time depends on it.
pub(crate) fn estimate<G: Generation>(profiles: &Profiles) -> usize {
    let dictionary = &profiles.dictionary;
    let tables = dictionary.strings.text_len()
        + dictionary.strings.len() * 3
        + dictionary.locations.len() * 22
        + dictionary.functions.len() * 14
        + dictionary.stacks.items.len() * 5 / 2
        + dictionary.stacks.len() * 5
        + dictionary.attributes.len() * 24;
    let samples: usize = profiles.iter().map(|profile| profile_estimate::<G>(profile)).sum();
    tables + samples + 1024
}

/// What a sample takes on average, by the columns it has. Too little costs a copy, too much some memory.
pub(crate) fn profile_estimate<G: Generation>(profile: &Profile) -> usize {
    let samples = &profile.samples;
    let row = samples.len() * 8 + samples.attributes.items.len() * 2;
    let columns =
        if G::SCHEMA.has_one_sample_type() { profile.sample_types.len().max(1) } else { 1 };
    row * columns + samples.values.items.len() * 5 + samples.timestamps.items.len() * 9 + 256
}
