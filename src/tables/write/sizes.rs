//! Limits and estimates of the size of the output.
//!
//! Estimates use lengths that are readily available. They determine how much memory is reserved, and how many
//! bytes are kept for the length of a message. A wrong estimate costs time, but does not change the output.

use crate::error::{Error, ErrorKind, Result};
use crate::model::Profiles;
use crate::model::dictionary::Dictionary;
use crate::model::id::LocationId;
use crate::model::profile::Profile;
use crate::model::ragged::Ragged;
use crate::schema::Generation;
use crate::wire::write::varint_len;

/// Checks that the generation's indices can count the rows of a table. Indices are `int32` in OTLP since 1.4;
/// the same limit applies to 1.3.
pub(crate) fn check_rows(table: &'static str, rows: usize) -> Result<()> {
    if rows > i32::MAX as usize {
        let message = format!("{table} has {rows} rows; the maximum is 2147483647 rows");
        return Err(Error::new(ErrorKind::Unrepresentable, message));
    }
    Ok(())
}

/// Estimates the size of a payload in bytes. Only time and memory depend on it.
pub(crate) fn estimate<G: Generation>(profiles: &Profiles) -> usize {
    let samples: usize = profiles.iter().map(|profile| profile_estimate::<G>(profile)).sum();
    let rows = tables_estimate(&profiles.dictionary) + samples;
    // A buffer that is one byte too small doubles its size.
    rows + rows / 16 + 512
}

/// Estimates the size of the tables, stacks included.
pub(crate) fn tables_estimate(dictionary: &Dictionary) -> usize {
    let Dictionary { strings, mappings, functions, locations, stacks, attributes, .. } = dictionary;
    let mapping = if mappings.rows.len() > 1 { 2 } else { 0 };
    strings.text_len()
        + strings.len() * 2
        + functions.len() * (6 + 2 * varint_len(strings.len() as u64))
        + locations.len() * (3 + mapping)
        + some(&locations.addresses, |address| varint_len(*address))
        + locations.lines.items.len() * 9
        + stacks_estimate(stacks)
        + attributes.len() * 20
}

/// Estimates the size of a table of stacks.
pub(crate) fn stacks_estimate(stacks: &Ragged<LocationId>) -> usize {
    locations_estimate(&stacks.items, stacks.items.len()) + stacks.len() * 4
}

/// Estimates the size of `count` references to locations.
pub(crate) fn locations_estimate(ids: &[LocationId], count: usize) -> usize {
    some(ids, |id| varint_len(id.0.into())) * count / ids.len().max(1)
}

/// Estimates the size of the samples by their columns. An estimate that is too low costs a copy; one that is
/// too high wastes memory.
pub(crate) fn profile_estimate<G: Generation>(profile: &Profile) -> usize {
    let samples = &profile.samples;
    // The reference to a stack: a slice, or a row number. Most numbers take as many bytes as the last one.
    let stack = match G::CAPABILITIES.stack_table {
        true => 1 + samples.stacks.last().map_or(0, |id| varint_len(id.0.into())),
        false => 6,
    };
    let row = samples.len() * (4 + stack) + samples.attributes.items.len() * 3;
    let columns =
        if G::CAPABILITIES.several_sample_types { 1 } else { profile.sample_types.len().max(1) };
    let values = some(&samples.values.items, |value| varint_len(*value as u64));
    row * columns + values + samples.timestamps.items.len() * 9 + 256
}

/// Estimates the size of all items from a sample of about [`LOOKED_AT`] items.
fn some<T>(items: &[T], bytes: impl Fn(&T) -> usize) -> usize {
    let step = items.len() / LOOKED_AT + 1;
    items.iter().step_by(step).map(bytes).sum::<usize>() * step
}

/// The number of items that an estimate samples.
const LOOKED_AT: usize = 1 << 10;
