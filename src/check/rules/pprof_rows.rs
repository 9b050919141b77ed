//! Mappings, locations, lines and functions, in pprof.
//!
//! pprof refers by ids, which its rows say themselves. Nearly all files count them from 1, which needs no table
//! ([`Ids`]).
//!
//! ```text
//! mapping { id: 7 }      location { id: 1, mapping_id: 7 }      refers to the row whose id is 7, wherever it stands
//! ```
//!
//! OTLP took rows for ids, so that what is an index there (`mapping_index`) is one cell with what
//! is an id here (`mapping_id`). Ids are `uint64` and may be any; they are resolved once, by
//! [`ids`], before anything refers to them.

use super::*;

/// The ids of the rows of a table: zero, given twice, or not 1, 2, 3 …
///
/// A row is found by its own id if no earlier one has it, so that a second lookup tells duplicates
/// apart. Gaps and other orders are legal and one finding for each table (`PP1026`).
fn id(cx: &mut CheckContext<'_>, record: &Record, cell: usize, rule: &'static Rule, table: Table) {
    let (id, row) = (record.number(cell), cx.row() as u64);
    let spot = record.field(cell);
    let first = cx.payload.ids_of(table).and_then(|ids| ids.row(id));
    if id == 0 {
        cx.report(rule, spot, 0, "1 or more");
    } else if first != Some(row) {
        cx.report(rule, spot, id, "a unique id");
    } else if id != row + 1 {
        cx.report_folded(&PP1026, table as u64, spot, id, row + 1);
    }
}

/// Cells of `Mapping`.
const MAPPING_ID: usize = MAPPING.cell("id");
const START: usize = MAPPING.cell("memory_start");
const LIMIT: usize = MAPPING.cell("memory_limit");

/// A mapping. Go writes one without a range where it cannot read its own, so that only a start past the limit is wrong.
pub(crate) fn mapping(cx: &mut CheckContext<'_>, record: &Record) {
    id(cx, record, MAPPING_ID, &PP1005, Table::Mapping);
    let (start, limit) = (record.number(START), record.number(LIMIT));
    if start > limit {
        let found = format!("{start:#x} to {limit:#x}");
        cx.report(&PP1023, Position::at(record.start), found, "");
    }
}

/// Cells of `Location`; `mapping_index` is called `mapping_id` here.
const LOCATION_ID: usize = LOCATION.cell("id");
const MAPPING_OF: usize = LOCATION.cell("mapping_index");
const ADDRESS: usize = LOCATION.cell("address");
const LINES: usize = LOCATION.cell("lines");

/// A location: its mapping by id, its address inside it, and something to show.
///
/// Addresses outside their mapping are counted for each mapping: where one is wrong, mostly all are.
///
/// The mapping is resolved to a row and counted as used, for `PP1038`. Address 0 is "not known", in
/// no mapping and in any.
pub(crate) fn location(cx: &mut CheckContext<'_>, record: &Record) {
    id(cx, record, LOCATION_ID, &PP1007, Table::Location);
    let (mapping, address) = (record.number(MAPPING_OF), record.number(ADDRESS));
    let lines = record.count(LINES);
    match cx.payload.mapping_ids.row(mapping) {
        _ if mapping == 0 => {}
        None => cx.report(&PP1008, record.field(MAPPING_OF), mapping, ""),
        Some(row) => {
            cx.tables.mark(Table::Mapping, row);
            let fact = cx.payload.mappings.get(row as usize).copied();
            if let Some(fact) = fact.filter(|fact| fact.excludes(address)) {
                let bound = format!("{:#x} to {:#x}", fact.start, fact.limit);
                cx.report_folded(
                    &PP1024,
                    row,
                    record.field(ADDRESS),
                    format_args!("{address:#x}"),
                    bound,
                );
            }
        }
    }
    if address == 0 && lines == 0 {
        cx.report(&PP1025, Position::at(record.start), "", "");
    }
    let most = cx.limits.max_lines_per_location;
    if lines as u64 > most {
        cx.report(&OP9007, record.field(LINES), Counted(lines, "line"), most);
    }
}

/// Cells of `Line`; `function_index` is called `function_id` here.
const FUNCTION_OF: usize = LINE.cell("function_index");
const LINE_NUMBER: usize = LINE.cell("line");
const COLUMN: usize = LINE.cell("column");

/// A line: pprof has no line without a function, as id 0 is nobody's.
///
/// The row of the function is counted as used.
pub(crate) fn line(cx: &mut CheckContext<'_>, record: &Record) {
    let function = record.number(FUNCTION_OF);
    match cx.payload.functions.row(function) {
        Some(row) => cx.tables.mark(Table::Function, row),
        None => {
            cx.report(&PP1009, record.field(FUNCTION_OF), function, "");
        }
    }
    for cell in [LINE_NUMBER, COLUMN] {
        if record.signed(cell) < 0 {
            cx.report(&PP1036, record.field(cell), record.signed(cell), "");
        }
    }
}

/// Cells of `Function`.
const FUNCTION_ID: usize = FUNCTION.cell("id");
const START_LINE: usize = FUNCTION.cell("start_line");

/// A function. Its names are references to strings, which are asked where the message is taken apart.
pub(crate) fn function(cx: &mut CheckContext<'_>, record: &Record) {
    id(cx, record, FUNCTION_ID, &PP1006, Table::Function);
    if record.signed(START_LINE) < 0 {
        cx.report(&PP1036, record.field(START_LINE), record.signed(START_LINE), "");
    }
}

/// The ids of all rows, before anything refers to them.
///
/// They are read by their field alone: of a broken row the id still counts, so that what refers to it is not told as well.
///
/// Costs a walk over the headers of each row, and no memory while ids count from 1 ([`Ids::new`]).
pub(crate) fn ids(cx: &mut CheckContext<'_>) {
    let of = |table, cell| -> Ids {
        let slot = cx.table_shape(table).and_then(|shape| shape.of_cell(cell));
        let Some(number) = slot.map(|slot| slot.field.number) else { return Ids::default() };
        let rows = cx.tables.rows[table as usize].iter();
        Ids::new(rows.map(|(start, end)| {
            lists::number_field(cx.bytes, number, *start as usize, *end as usize)
        }))
    };
    let locations = of(Table::Location, LOCATION_ID);
    let mappings = of(Table::Mapping, MAPPING_ID);
    let functions = of(Table::Function, FUNCTION_ID);
    (cx.payload.locations, cx.payload.mapping_ids) = (locations, mappings);
    cx.payload.functions = functions;
}

/// What only all references together show: strings that are there twice, and rows that nothing refers to.
///
/// Equal strings are found by their bytes with a table of hashes. Row 0 of strings is exempt from
/// being used, no other row is: ids have no null row.
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
