//! Mappings, locations, lines and functions, in pprof.
//!
//! pprof refers to rows by ids stored in the rows. Nearly all files number them from 1, which needs no lookup table
//! ([`Ids`]).
//!
//! ```text
//! mapping { id: 7 }      location { id: 1, mapping_id: 7 }      refers to the row with id 7, at any position
//! ```
//!
//! OTLP replaced ids by row indices, so an index there (`mapping_index`) shares its cell with an id here
//! (`mapping_id`). Ids are `uint64` and may have any value; [`ids`] indexes them once, before any reference is
//! resolved.

use super::*;
use crate::check::sink::Sink;

/// Checks the id of a row: not 0, unique, and ideally the number of the row plus 1.
///
/// One lookup shows whether an id is unique: the map holds the first row of each. Ids out of order are a habit of a
/// profiler and fold by table.
// Always inlined. Without any in the library, validating takes up to 28 % more instructions.
#[inline(always)]
pub(super) fn id(
    cx: &mut CheckContext<'_>,
    (cell, id): (usize, u64),
    (table, row): (Table, usize),
    rule: &'static Rule,
    out: &impl Sink,
) -> Option<()> {
    let row = row as u64;
    let first = cx.payload.ids_of(table).and_then(|ids| ids.row(id));
    if id == 0 {
        out.found(cx, |cx, at| cx.report(rule, at.field(cell), 0, "1 or more"))?;
    } else if first != Some(row) {
        out.found(cx, |cx, at| cx.report(rule, at.field(cell), id, "a unique id"))?;
    } else if id != row + 1 {
        out.found(cx, |cx, at| {
            cx.findings.report_folded(&PP1026, table as u64, at.field(cell), id, row + 1);
        })?;
    }
    Some(())
}

/// Indexes the ids of all rows before references are resolved.
///
/// Reads only the id field of each row. So a malformed row keeps its id, and references to it raise no findings.
///
/// Costs a scan over the headers of each row, and no memory while ids count from 1 ([`Ids::new`]).
pub(crate) fn ids(cx: &mut CheckContext<'_>) {
    let [mappings, locations, functions] = duplicate_ids::IDS.map(|(table, cell)| {
        let slot = cx.table_shape(table).and_then(|shape| shape.of_cell(cell));
        let Some(number) = slot.map(|slot| slot.field.number) else { return Ids::default() };
        let rows = cx.tables.rows[table as usize].iter();
        Ids::new(rows.map(|(start, end)| {
            lists::number_field(cx.bytes, number, *start as usize, *end as usize)
        }))
    });
    (cx.payload.mapping_ids, cx.payload.locations) = (mappings, locations);
    cx.payload.functions = functions;
}

/// Reports duplicate strings and unreferenced rows, once all references are known.
///
/// Equal strings are found by a hash table of their bytes. Only string 0 needs no reference: other tables have no
/// null row.
pub(crate) fn tables(cx: &mut CheckContext<'_>) {
    let mut seen: Map<&[u8], usize> = Map::default();
    for row in 0..cx.tables.rows[Table::String as usize].len() {
        let text = cx.string(row as u64).unwrap_or_default();
        if let Some(first) = seen.get(text) {
            let (spot, first) = (cx.of_row(Table::String, row), *first);
            let bound = first.to_string();
            cx.report(&PP1031, spot, Shown(text), bound);
        } else {
            seen.insert(text, row);
        }
    }
    for (table, first) in
        [(Table::Mapping, 0), (Table::Location, 0), (Table::Function, 0), (Table::String, 1)]
    {
        let rows: Vec<usize> = cx.tables.unused(table, first).collect();
        for row in rows {
            let spot = cx.of_row(table, row);
            cx.report(&PP1038, spot, "", "");
        }
    }
}
