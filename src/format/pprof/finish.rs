//! Conversion of the tables to the model's dictionary: validation of references, and conversion of fields to
//! attributes.
//!
//! It differs from OTLP's `tables/resolve/finish` in three ways. References are ids, which were converted to rows
//! while reading. Strings are interned when they are used. A location with an unknown mapping is no error.
//! Both readers share [`fields_to_attributes`].
//!
//! ```text
//! read            finish                                  Dictionary
//! functions  ──►  indices become strings          ──►     functions
//! mappings   ──►  strings; build id, flags        ──►     mappings, with attributes
//! lines      ──►  function exists, or an error    ──►     locations
//! locations  ──►  mapping exists, or is unset     ──►     locations, with `is_folded` as an attribute
//! labels     ───────────────────────────────────  ──►     attributes, followed by those made here
//! ```

use crate::error::{Error, Result};
use crate::losses;
use crate::model::dictionary::{Dictionary, Function, Line};
use crate::model::id::{FunctionId, LocationId, MappingId};
use crate::model::ragged::Ragged;
use crate::read_context::ReadContext;
use crate::tables::attributes::fields_to_attributes;
use crate::tables::read::id_column::RowsById;
use crate::tables::read::tables::{MappingPprof, Tables};

use crate::format::pprof::strings::Table;
/// Validates the tables, converts fields that the model lacks to attributes, and returns the dictionary.
///
/// `table` interns strings on first use. The order of use determines the order of the model's strings:
/// functions, mappings, then attributes.
///
/// # Errors
///
/// A reference to a missing string or function, unless the policy is to repair; the budget.
pub(super) fn finish_tables(
    mut tables: Tables,
    table: &mut Table,
    mappings: &RowsById,
    functions: &RowsById,
    cx: &mut ReadContext,
) -> Result<Dictionary> {
    finish_functions(table, &mut tables, cx)?;
    finish_mappings(table, &mut tables, cx)?;
    // References by sparse ids are rows already, or `u32::MAX` if unknown, which the checks test
    // separately.
    let last = |ids: &RowsById, rows: usize| {
        if ids.is_dense() { rows } else { u32::MAX as usize }
    };
    let Dictionary { functions: function_rows, mappings: mapping_rows, locations, .. } =
        &mut tables.dictionary;
    check_lines(&mut locations.lines, last(functions, function_rows.len()), cx)?;
    check_mappings(&mut locations.mappings, last(mappings, mapping_rows.rows.len()), cx);
    finish_location_attributes(&mut tables, cx)?;
    let mut dictionary = tables.dictionary;
    dictionary.attributes = tables.new_attributes.append_to(dictionary.attributes);
    dictionary.strings = tables.texts.raw.validate(false, &mut cx.budget)?;
    let Ragged { items, ends } = tables.stacks.rows;
    dictionary.stacks = Ragged { items: items.into_iter().map(LocationId).collect(), ends };
    Ok(dictionary)
}

/// Interns the strings of functions. An index past the table is an error or, after a repair, unset.
///
/// Errors number rows from 0, as in the file; the model inserts row 0 before them.
///
/// # Errors
///
/// An index past the string table, with the function and the field.
fn finish_functions(table: &mut Table, tables: &mut Tables, cx: &mut ReadContext) -> Result<()> {
    let Tables { texts, dictionary, .. } = tables;
    for (row, function) in dictionary.functions.iter_mut().enumerate().skip(1) {
        let Function { name, system_name, filename, .. } = function;
        for (id, field) in [(name, "name"), (system_name, "system_name"), (filename, "filename")] {
            *id = table
                .text(id.0, texts, cx)
                .map_err(|e| e.within(field).within_row("function", row - 1))?;
        }
    }
    Ok(())
}

/// Converts the build ids and flags to attributes. If no mapping has a flag, adds a false flag to the first
/// one; otherwise a writer would infer flags.
///
/// # Errors
///
/// An index past the string table, with the mapping and the field.
fn finish_mappings(table: &mut Table, tables: &mut Tables, cx: &mut ReadContext) -> Result<()> {
    let rows = &mut tables.dictionary.mappings.rows;
    for (row, mapping) in rows.iter_mut().enumerate().skip(1) {
        let place = |e: Error| e.within("filename").within_row("mapping", row - 1);
        mapping.filename = table.text(mapping.filename.0, &mut tables.texts, cx).map_err(place)?;
    }
    let mut attributes = Ragged::default();
    let mut pprof_rows = std::mem::take(&mut tables.mapping_pprof);
    let unset = pprof_rows.iter().all(|row| row.flags == 0) && rows.len() > 1;
    if unset {
        // The loop must reach row 1, the first mapping, which gets the attribute.
        pprof_rows.resize(pprof_rows.len().max(2), MappingPprof::default());
    }
    for (row, pprof) in pprof_rows.into_iter().enumerate() {
        let place = |e: Error| e.within("build_id").within_row("mapping", row.saturating_sub(1));
        let build_id = table.text(pprof.build_id, &mut tables.texts, cx).map_err(place)?;
        fields_to_attributes::mapping(pprof, build_id, tables, &mut attributes.items, cx)?;
        if unset && row == 1 {
            attributes.items.extend(fields_to_attributes::unset_flag(tables, cx)?);
        }
        attributes.end_row_at(row);
    }
    tables.dictionary.mappings.attributes = attributes;
    Ok(())
}

/// Validates the functions of lines. A line without a function (id 0) is reported. A line with an unknown
/// function is an error, or its function is unset by a repair.
///
/// `rows` is the first id past a dense table. For a sparse table, unknown ids were read as `u32::MAX`.
///
/// # Errors
///
/// The first line with a function that does not exist, unless the policy is to repair.
fn check_lines(lines: &mut Ragged<Line>, rows: usize, cx: &mut ReadContext) -> Result<()> {
    let Ragged { items, ends } = lines;
    let location = |at: usize| ends.partition_point(|&end| end as usize <= at).saturating_sub(1);
    // One pass without branches finds whether the two searches below are necessary; usually neither is.
    let (least, largest) = items.iter().fold((u32::MAX, 0), |(least, largest), line| {
        (line.function.0.min(least), line.function.0.max(largest))
    });
    let scanned = if least == 0 { &items[..] } else { &[] };
    let none = |(_, line): &(usize, &Line)| line.function == FunctionId::NONE;
    for (at, _) in scanned.iter().enumerate().filter(none) {
        let place = || format!("location[{}].line.function_id", location(at));
        let message = || "the line has no function: id 0 is not valid".to_owned();
        cx.note(losses::DANGLING_FUNCTION, place, message);
    }
    let bad = |line: &Line| line.function.0 as usize >= rows || line.function.0 == u32::MAX;
    if (largest as usize) < rows && largest != u32::MAX {
        return Ok(());
    }
    for (at, line) in items.iter_mut().enumerate().filter(|(_, line)| bad(line)) {
        let error = Error::malformed("no function has this id").within("function_id");
        cx.repair(
            losses::DANGLING_FUNCTION,
            error.within("line").within_row("location", location(at)),
        )?;
        line.function = FunctionId::NONE;
    }
    Ok(())
}

/// Unsets unknown mappings of locations, as all readers of pprof do.
///
/// `rows` as in [`check_lines`]. Reported as a note instead of an error, because a frame is usable without
/// its mapping.
fn check_mappings(mappings: &mut [MappingId], rows: usize, cx: &mut ReadContext) {
    for (row, mapping) in mappings.iter_mut().enumerate() {
        if mapping.row() >= rows || mapping.0 == u32::MAX {
            *mapping = MappingId::NONE;
            let place = || format!("location[{}].mapping_id", row.saturating_sub(1));
            cx.note(losses::DANGLING_MAPPING, place, || "no mapping has this id".to_owned());
        }
    }
}

/// Converts `is_folded`, the only field of a pprof location that the model represents by an attribute.
///
/// Few locations are folded, so only these get attributes; the other rows stay empty.
fn finish_location_attributes(tables: &mut Tables, cx: &mut ReadContext) -> Result<()> {
    for (row, id) in fields_to_attributes::locations(tables, cx)? {
        tables.dictionary.locations.attributes.push_at(row as usize, &[id]);
    }
    Ok(())
}
