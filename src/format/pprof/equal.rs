//! Merging of table rows that differ only in their ids.
//!
//! Writers that do not deduplicate write thousands of such rows. The model and OTLP have no ids that could
//! distinguish them. A merge is reported as a note, because it loses no meaning.
//!
//! Each table is merged after those that it references, because two locations are equal only after their
//! functions are merged. Row 0, the model's empty row, is excluded.
//!
//! ```text
//! location 1  0x10 main      ┐           stacks [1 3] [2 3]
//! location 2  0x10 main      ┘ ─► 1      ─►     [1 2] [1 2]  ─►  one stack, [1 2]
//! location 3  0x20 run         ─► 2
//! ```

use std::hash::BuildHasher;

use foldhash::fast::RandomState;

use crate::error::Result;
use crate::losses::{self, LossCode};
use crate::model::dictionary::Dictionary;
use crate::model::id::{AttributeId, FunctionId, LocationId, MappingId, StackId};
use crate::model::profile::Profile;
use crate::model::value::Value;
use crate::read_context::ReadContext;
use crate::tables::read::dedup_rows::{RowRemap, equal_rows};

/// Merges equal mappings and functions, then locations, which may become equal by this, then stacks with
/// equal locations.
///
/// Samples of merged stacks stay separate, because their number is part of the measurement.
///
/// # Errors
///
/// The budget, for deduplication.
pub(crate) fn merge(
    dictionary: &mut Dictionary,
    profile: &mut Profile,
    cx: &mut ReadContext,
) -> Result<()> {
    merge_mappings(dictionary, cx)?;
    merge_functions(dictionary, cx)?;
    if merge_locations(dictionary, cx)? {
        merge_stacks(dictionary, profile, cx)?;
    }
    Ok(())
}

/// Merges equal mappings. Flags and build ids are attributes at this point, and must be equal too.
///
/// The key is the start address, so only mappings with the same start are compared.
fn merge_mappings(dictionary: &mut Dictionary, cx: &mut ReadContext) -> Result<()> {
    let mappings = &dictionary.mappings;
    // Ignore the attribute for unset flags: it is on one mapping, but applies to all.
    let is_own = |id: &&AttributeId| {
        let attribute = dictionary.attributes.get(id.row());
        attribute.is_none_or(|attribute| attribute.value != Value::Bool(false))
    };
    let row = |row: usize| {
        let attributes: Vec<_> = mappings.attributes.row(row).iter().filter(is_own).collect();
        (mappings.rows[row], attributes)
    };
    let start = |row: usize| mappings.rows[row].memory_start;
    let Some(remap) = equal_rows(mappings.rows.len(), cx, start, row)? else {
        return Ok(());
    };
    note(&remap, "mapping", losses::DEDUP_MAPPING, cx);
    remap.retain(&mut dictionary.mappings.rows);
    remap.retain_rows(&mut dictionary.mappings.attributes);
    for mapping in &mut dictionary.locations.mappings {
        *mapping = MappingId(remap.of(mapping.0));
    }
    Ok(())
}

/// Merges equal functions. The key is the name, so only functions with the same name are compared.
fn merge_functions(dictionary: &mut Dictionary, cx: &mut ReadContext) -> Result<()> {
    let functions = &dictionary.functions;
    let name = |row: usize| functions[row].name.0.into();
    let Some(remap) = equal_rows(functions.len(), cx, name, |row| functions[row])? else {
        return Ok(());
    };
    note(&remap, "function", losses::DEDUP_FUNCTION, cx);
    remap.retain(&mut dictionary.functions);
    for line in &mut dictionary.locations.lines.items {
        line.function = FunctionId(remap.of(line.function.0));
    }
    Ok(())
}

/// Merges equal locations. Returns whether any were merged.
///
/// The key is the address, or without an address the first line.
///
/// # Errors
///
/// The budget.
fn merge_locations(dictionary: &mut Dictionary, cx: &mut ReadContext) -> Result<bool> {
    let locations = &dictionary.locations;
    let rows = locations.addresses.len();
    let line = |row: usize| match locations.lines.row(row) {
        // Different lines may share a key. That costs a comparison and no wrong merge.
        [line, ..] => u64::from(line.function.0) << 32 ^ line.line as u64,
        [] => 0,
    };
    let key = |row: usize| match locations.addresses[row] {
        0 => line(row),
        address => address,
    };
    let remap = equal_rows(rows, cx, key, |row| {
        let (mapping, address) = (locations.mappings[row], locations.addresses[row]);
        let attributes = locations.attributes.row(row);
        (mapping, address, locations.lines.row(row), attributes)
    })?;
    let Some(remap) = remap else {
        return Ok(false);
    };
    note(&remap, "location", losses::DEDUP_LOCATION, cx);
    let locations = &mut dictionary.locations;
    remap.retain(&mut locations.mappings);
    remap.retain(&mut locations.addresses);
    remap.retain_rows(&mut locations.lines);
    remap.retain_rows(&mut locations.attributes);
    for location in &mut dictionary.stacks.items {
        *location = LocationId(remap.of(location.0));
    }
    Ok(true)
}

/// Merges stacks whose locations are equal after merging.
fn merge_stacks(
    dictionary: &mut Dictionary,
    profile: &mut Profile,
    cx: &mut ReadContext,
) -> Result<()> {
    let (stacks, hasher) = (&dictionary.stacks, RandomState::default());
    let hash = |row: usize| hasher.hash_one(stacks.row(row));
    if let Some(remap) = equal_rows(stacks.len(), cx, hash, |row| stacks.row(row))? {
        remap.retain_rows(&mut dictionary.stacks);
        for stack in &mut profile.samples.stacks {
            *stack = StackId(remap.of(stack.0));
        }
    }
    Ok(())
}

/// Reports the merged rows. The file numbers rows from 0.
fn note(remap: &RowRemap, table: &'static str, code: LossCode, cx: &mut ReadContext) {
    for row in remap.dropped() {
        let place = || format!("{table}[{}]", row - 1);
        cx.note(code, place, || "equal to an earlier row: the rows became one".to_owned());
    }
}
