//! Mappings, of OTLP and of pprof, and what only all rows of the tables show.

use super::*;

/// Cells of `Mapping`.
const ID: usize = MAPPING.cell("id");
const START: usize = MAPPING.cell("memory_start");
const LIMIT: usize = MAPPING.cell("memory_limit");
const FILENAME: usize = MAPPING.cell("filename_strindex");
const HAS_FUNCTIONS: usize = MAPPING.cell("has_functions");
/// What a mapping says that only lines can have.
const HAS: [usize; 4] = [
    HAS_FUNCTIONS,
    MAPPING.cell("has_filenames"),
    MAPPING.cell("has_line_numbers"),
    MAPPING.cell("has_inline_frames"),
];
const ATTRIBUTES: usize = MAPPING.cell("attribute_indices");

/// Checks a mapping. Row 0 of OTLP stands for no mapping; of pprof each has an id.
pub(crate) fn mapping<const PPROF: bool>(cx: &mut CheckContext<'_>, record: &Record) {
    let (row, id) = (cx.row(), record.number(ID));
    if PPROF {
        pprof_rows::id(cx, (ID, id), (Table::Mapping, row), &PP1005, record);
    } else if zero::is_zero_row(cx, record) {
        return;
    } else {
        lists::unique(cx, record, ATTRIBUTES);
    }
    let (start, limit) = (record.number(START), record.number(LIMIT));
    let (here, range) = (Position::at(record.start), format_args!("{start:#x} to {limit:#x}"));
    match start > limit {
        true if PPROF => cx.report(&PP1023, here, range, ""),
        true => cx.report(&OP7001, here, range, "memory_start below memory_limit"),
        false if start == limit && start != 0 && !PPROF => {
            cx.report(&OP7002, here, range, "memory_start below memory_limit");
        }
        false => {}
    }
    if !PPROF && row > 0 && record.number(FILENAME) == 0 {
        cx.report(&OP7015, record.field(FILENAME), "", "");
    }
}

/// What is known of each mapping before locations are walked: in the bytes a location may stand before its mapping, and
/// reading a row again for each of its locations would make the walk quadratic.
///
/// Costs one walk over the headers of each row. The two facts about locations begin as false and
/// are set by [`in_mapping`].
pub(crate) fn mapping_facts(cx: &CheckContext<'_>) -> Vec<MappingFact> {
    let Some(shape) = cx.shapes.find(Noun::Mapping) else { return Vec::new() };
    let mut record = cx.pool.lend();
    let rows = cx.tables.rows[Table::Mapping as usize].iter();
    rows.map(|(start, end)| {
        cx.peek_into(shape, *start as usize, *end as usize, &mut record);
        MappingFact {
            start: record.number(START),
            limit: record.number(LIMIT),
            has_functions: record.number(HAS_FUNCTIONS) != 0,
            has_any: HAS.iter().any(|cell| record.number(*cell) != 0),
            located: false,
            lined: false,
        }
    })
    .collect()
}

/// What only all locations together show.
///
/// The three facts of which each needs the whole table: empty locations that are used, flags of
/// mappings against the lines found, and ranges that overlap. The lists are taken out of the state,
/// so the next profile of an old generation begins with none.
pub(crate) fn tables(cx: &mut CheckContext<'_>) {
    let names = cx.table_name(Table::Location);
    for (row, start) in std::mem::take(&mut cx.payload.empty_locations) {
        if cx.tables.is_used(Table::Location, row as usize) {
            let spot = Position::at(start as usize).field(names).row(row as usize);
            cx.report(&OP7010, spot, "", "");
        }
    }
    let mappings = std::mem::take(&mut cx.payload.mappings);
    if cx.version < Version::V1_8 {
        for (row, fact) in mappings.iter().enumerate() {
            match (fact.located, fact.lined) {
                (true, true) if !fact.has_functions => {
                    let spot = cx.of_row(Table::Mapping, row);
                    cx.report(&OP7016, spot, "lines", "has_functions");
                }
                (true, false) if fact.has_any => {
                    let spot = cx.of_row(Table::Mapping, row);
                    cx.report(&OP7016, spot, "a has_* flag", "lines");
                }
                _ => {}
            }
        }
    }
    if cx.version <= Version::V1_5 {
        overlaps(cx, &mappings);
    }
}

/// Mappings of one process that lie over each other.
///
/// Sorted by start, then one pass with the furthest end so far: n log n. Each mapping is told at
/// most once, with one of those that it lies over.
fn overlaps(cx: &mut CheckContext<'_>, mappings: &[MappingFact]) {
    let ranges = mappings.iter().enumerate().filter(|(_, fact)| fact.start < fact.limit);
    let mut sorted: Vec<_> = ranges.map(|(row, fact)| (fact.start, fact.limit, row)).collect();
    sorted.sort_unstable();
    let mut last: Option<(u64, usize)> = None;
    for (start, limit, row) in sorted {
        if let Some((end, other)) = last.filter(|(end, _)| start < *end) {
            let spot = cx.of_row(Table::Mapping, row);
            let bound = format_args!("{end:#x}, the end of mapping {other}").to_string();
            cx.report(&OP7003, spot, format_args!("{start:#x}"), bound);
        }
        if last.is_none_or(|(end, _)| limit > end) {
            last = Some((limit, row));
        }
    }
}
