//! Mappings, of OTLP and of pprof, and the rules that need all rows of the tables.

use super::*;

/// Cells of `Mapping`.
const ID: usize = MAPPING.cell("id");
const START: usize = MAPPING.cell("memory_start");
const LIMIT: usize = MAPPING.cell("memory_limit");
const FILENAME: usize = MAPPING.cell("filename_strindex");
const HAS_FUNCTIONS: usize = MAPPING.cell("has_functions");
/// Cells of the flags that need locations with lines.
const HAS: [usize; 4] = [
    HAS_FUNCTIONS,
    MAPPING.cell("has_filenames"),
    MAPPING.cell("has_line_numbers"),
    MAPPING.cell("has_inline_frames"),
];
const ATTRIBUTES: usize = MAPPING.cell("attribute_indices");

/// Checks a mapping. In OTLP row 0 represents "no mapping"; in pprof each mapping has an id.
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
    let (here, range) = (Position::at(record.start), || format!("{start:#x} to {limit:#x}"));
    match start > limit {
        true if PPROF => cx.report(&PP1023, here, range(), ""),
        true => cx.report(&OP7001, here, range(), "memory_start below memory_limit"),
        false if start == limit && start != 0 && !PPROF => {
            cx.report(&OP7002, here, range(), "memory_start below memory_limit");
        }
        false => {}
    }
    if !PPROF && row > 0 && record.number(FILENAME) == 0 {
        cx.report(&OP7015, record.field(FILENAME), "", "");
    }
}

/// Collects facts about each mapping before locations are walked. A location may precede its mapping in the
/// payload, and decoding a row again for each of its locations would make the walk quadratic.
///
/// Costs one scan over the headers of each row. The two facts about locations start as false; the walk of
/// [`locations`](super::location) sets them.
pub(crate) fn mapping_facts(cx: &CheckContext<'_>) -> Vec<MappingFact> {
    let Some(shape) = cx.shapes.find(MessageKind::Mapping) else { return Vec::new() };
    let mut record = cx.pool.get();
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

/// Reports findings that need all locations.
///
/// There are three: empty locations that are used, flags of mappings that contradict the lines, and ranges that
/// overlap. The lists are taken out of the state, so the next profile of an old generation starts without them.
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

/// Reports mappings of one process that overlap.
///
/// Sorts by start, then makes one pass with the furthest end so far: n log n. Each mapping is reported at most
/// once, with one that it overlaps.
fn overlaps(cx: &mut CheckContext<'_>, mappings: &[MappingFact]) {
    let ranges = mappings.iter().enumerate().filter(|(_, fact)| fact.start < fact.limit);
    let mut sorted: Vec<_> = ranges.map(|(row, fact)| (fact.start, fact.limit, row)).collect();
    // After sorting, a mapping overlaps an earlier one only if it starts before the furthest end.
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
