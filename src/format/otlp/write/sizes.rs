//! How large what is written may be, and about how large it will be.
//!
//! Estimates are made of lengths that are at hand. They decide how much is reserved and how many bytes are kept for a
//! message's length; a wrong one costs time, never bytes.

use crate::error::{Error, ErrorKind, Result};
use crate::model::Profiles;
use crate::model::dictionary::Dictionary;
use crate::model::id::LocationId;
use crate::model::profile::Profile;
use crate::model::ragged::Ragged;
use crate::schema::Generation;
use crate::wire::write::varint_len;

/// The error of more rows than the generation's indices can count.
/// Indices are `int32` in OTLP since 1.4; the older one is held to the same.
pub(crate) fn check_rows(table: &'static str, rows: usize) -> Result<()> {
    if rows > i32::MAX as usize {
        let message = format!("{table} has {rows} rows; the maximum is 2147483647 rows");
        return Err(Error::new(ErrorKind::Unrepresentable, message));
    }
    Ok(())
}

/// About how many bytes a payload takes; only time and memory depend on it.
pub(crate) fn estimate<G: Generation>(profiles: &Profiles) -> usize {
    let samples: usize = profiles.iter().map(|profile| profile_estimate::<G>(profile)).sum();
    let rows = tables_estimate(&profiles.dictionary) + samples;
    // A buffer that is too small by a byte becomes twice as large.
    rows + rows / 16 + 512
}

/// What the tables take on average, with the stacks.
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

/// What a table of stacks takes.
pub(crate) fn stacks_estimate(stacks: &Ragged<LocationId>) -> usize {
    locations_estimate(&stacks.items, stacks.items.len()) + stacks.len() * 4
}

/// What so many of the references to locations take.
pub(crate) fn locations_estimate(ids: &[LocationId], count: usize) -> usize {
    some(ids, |id| varint_len(id.0.into())) * count / ids.len().max(1)
}

/// What a sample takes on average, by the columns it has. Too little costs a copy, too much some memory.
pub(crate) fn profile_estimate<G: Generation>(profile: &Profile) -> usize {
    let samples = &profile.samples;
    // Where a stack is: a slice, or a row whose number most others have as many bytes as.
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

/// The bytes of all items, as those of up to [`LOOKED_AT`] say.
fn some<T>(items: &[T], bytes: impl Fn(&T) -> usize) -> usize {
    let step = items.len() / LOOKED_AT + 1;
    items.iter().step_by(step).map(bytes).sum::<usize>() * step
}

/// How many items say what all of them take.
const LOOKED_AT: usize = 1 << 10;
