//! Rows of a pprof's tables that are equal in all but their ids become the first of them.
//!
//! Writers that do not look for equal rows write them by the thousand; the model and OTLP have no ids by which
//! equal rows would differ. What was merged is a note, as no meaning is lost.
//!
//! Each table is merged after those it refers to, since two locations are equal only once their
//! functions are. Row 0, the model's empty row, takes no part.
//!
//! ```text
//! location 1  0x10 main      ┐           stacks [1 3] [2 3]
//! location 2  0x10 main      ┘ ─► 1      ─►     [1 2] [1 2]  ─►  one stack, [1 2]
//! location 3  0x20 run         ─► 2
//! ```

use std::hash::BuildHasher;

use foldhash::fast::RandomState;

use crate::error::Result;
use crate::format::alike::{Places, equal_rows};
use crate::format::intake::Intake;
use crate::format::losses::{self, LossCode};
use crate::model::dictionary::Dictionary;
use crate::model::id::{AttributeId, FunctionId, LocationId, MappingId, StackId};
use crate::model::profile::Profile;
use crate::model::value::Value;

/// Merges equal mappings, then functions, then locations, which may be equal only now, then the
/// stacks that are equal because their locations are.
///
/// Samples of stacks that became one stay apart: their number is what was measured.
///
/// # Errors
///
/// The budget, for the sorting.
pub(crate) fn merge(
    dictionary: &mut Dictionary,
    profile: &mut Profile,
    intake: &mut Intake,
) -> Result<()> {
    merge_mappings(dictionary, intake)?;
    merge_functions(dictionary, intake)?;
    if merge_locations(dictionary, intake)? {
        merge_stacks(dictionary, profile, intake)?;
    }
    Ok(())
}

/// Flags and build ids are attributes by now, and have to be equal too.
///
/// Rows are sorted by where they begin, so that only those of one start are compared.
fn merge_mappings(dictionary: &mut Dictionary, intake: &mut Intake) -> Result<()> {
    let mappings = &dictionary.mappings;
    // That a flag is not set is said of one mapping only, for all of them.
    let said = |id: &&AttributeId| {
        let attribute = dictionary.attributes.get(id.row());
        attribute.is_none_or(|attribute| attribute.value != Value::Bool(false))
    };
    let row = |row: usize| {
        let attributes: Vec<_> = mappings.attributes.row(row).iter().filter(said).collect();
        (mappings.rows[row], attributes)
    };
    let start = |row: usize| mappings.rows[row].memory_start;
    let Some(places) = equal_rows(mappings.rows.len(), intake, start, row)? else {
        return Ok(());
    };
    note(&places, "mapping", losses::DEDUP_MAPPING, intake);
    places.retain(&mut dictionary.mappings.rows);
    places.retain_rows(&mut dictionary.mappings.attributes);
    for mapping in &mut dictionary.locations.mappings {
        *mapping = MappingId(places.of(mapping.0));
    }
    Ok(())
}

/// Rows are sorted by name first, so that only those of one name are compared.
fn merge_functions(dictionary: &mut Dictionary, intake: &mut Intake) -> Result<()> {
    let functions = &dictionary.functions;
    let name = |row: usize| functions[row].name.0.into();
    let Some(places) = equal_rows(functions.len(), intake, name, |row| functions[row])? else {
        return Ok(());
    };
    note(&places, "function", losses::DEDUP_FUNCTION, intake);
    places.retain(&mut dictionary.functions);
    for line in &mut dictionary.locations.lines.items {
        line.function = FunctionId(places.of(line.function.0));
    }
    Ok(())
}

/// Whether any were merged.
///
/// The key is what equal rows must share: the address, or without one the first line.
///
/// # Errors
///
/// The budget.
fn merge_locations(dictionary: &mut Dictionary, intake: &mut Intake) -> Result<bool> {
    let locations = &dictionary.locations;
    let rows = locations.addresses.len();
    let line = |row: usize| match locations.lines.row(row) {
        [line, ..] => u64::from(line.function.0) << 32 ^ line.line as u64,
        [] => 0,
    };
    let key = |row: usize| match locations.addresses[row] {
        0 => line(row),
        address => address,
    };
    let places = equal_rows(rows, intake, key, |row| {
        let (mapping, address) = (locations.mappings[row], locations.addresses[row]);
        let attributes = locations.attributes.row(row);
        (mapping, address, locations.lines.row(row), attributes)
    })?;
    let Some(places) = places else {
        return Ok(false);
    };
    note(&places, "location", losses::DEDUP_LOCATION, intake);
    let locations = &mut dictionary.locations;
    places.retain(&mut locations.mappings);
    places.retain(&mut locations.addresses);
    places.retain_rows(&mut locations.lines);
    places.retain_rows(&mut locations.attributes);
    for location in &mut dictionary.stacks.items {
        *location = LocationId(places.of(location.0));
    }
    Ok(true)
}

/// Stacks are equal once their locations are.
fn merge_stacks(
    dictionary: &mut Dictionary,
    profile: &mut Profile,
    intake: &mut Intake,
) -> Result<()> {
    let (stacks, hasher) = (&dictionary.stacks, RandomState::default());
    let hash = |row: usize| hasher.hash_one(stacks.row(row));
    if let Some(places) = equal_rows(stacks.len(), intake, hash, |row| stacks.row(row))? {
        places.retain_rows(&mut dictionary.stacks);
        for stack in &mut profile.samples.stacks {
            *stack = StackId(places.of(stack.0));
        }
    }
    Ok(())
}

/// Counts the rows that became an earlier one; the file counts them from 0.
fn note(places: &Places, table: &'static str, code: LossCode, intake: &mut Intake) {
    for row in places.dropped() {
        let place = || format!("{table}[{}]", row - 1);
        intake.note(code, place, || "equal to an earlier row: the rows became one".to_owned());
    }
}
