//! Mappings, locations, lines and functions.
//!
//! A location is held against its mapping and its lines against their functions, so the facts of both are gathered before
//! any location is walked: start and limit of each mapping, the first line of each function.
//!
//! ```text
//! Stack ─► Location ─► Mapping      address within [memory_start, memory_limit]
//!              └─ Line ─► Function  line not before start_line
//! ```
//!
//! References lead from left to right and tables may stand in any order in the bytes, so what a row
//! is held against has to be known before. Facts about mappings go the other way too: whether any
//! location lies in one, and whether such a location has lines, which [`tables`] asks when all
//! locations were walked. pprof, whose references are ids, has files of its own.

use super::attributes::bodies;
use super::*;

/// Cells of `Mapping`. The four flags exist up to 1.7; in later versions their cells never occur
/// and read as 0.
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
const MAPPING_ATTRIBUTES: usize = MAPPING.cell("attribute_indices");

/// A row of the mapping table: a range of memory that has a name.
///
/// The range is half-open and may be left out as a whole (both 0), as Go does where it cannot read
/// its own maps. A name is asked of every row but 0, which before 1.8 is the main binary.
pub(crate) fn mapping(cx: &mut CheckContext<'_>, record: &Record) {
    if zero::is_zero_row(cx, record) {
        return;
    }
    lists::unique(cx, record, MAPPING_ATTRIBUTES);
    let (start, limit) = (record.number(START), record.number(LIMIT));
    let here = Position::at(record.start);
    let range = || format!("{start:#x} to {limit:#x}");
    if start > limit {
        cx.report(&OP7001, here, range(), "memory_start below memory_limit");
    } else if start == limit && start != 0 {
        cx.report(&OP7002, here, range(), "memory_start below memory_limit");
    }
    if cx.row() > 0 && record.number(FILENAME) == 0 {
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

/// Read before any line is walked, by [`canonical::start_lines`](crate::check::canonical::start_lines).
const START_LINE: usize = FUNCTION.cell("start_line");

/// Cells of `Location`.
const MAPPING_INDEX: usize = LOCATION.cell("mapping_index");
const ADDRESS: usize = LOCATION.cell("address");
const LINES: usize = LOCATION.cell("lines");
const LOCATION_ATTRIBUTES: usize = LOCATION.cell("attribute_indices");

/// A row of the location table: inside its mapping, no line twice, and something to show.
///
/// What is empty is kept for [`tables`], which knows whether anything refers to it.
///
/// Since 1.8 row 0 and other zero rows are left after that note: a row that says nothing has no
/// address to be wrong.
pub(crate) fn location(cx: &mut CheckContext<'_>, record: &Record) {
    let (address, lines) = (record.number(ADDRESS), record.count(LINES));
    let row = cx.row();
    let nothing = address == 0 && lines == 0 && record.count(LOCATION_ATTRIBUTES) == 0;
    let mapped = mapping_of(cx, record);
    if nothing && mapped.is_none() && (row > 0 || cx.version < Version::V1_8) {
        cx.payload.empty_locations.push((row as u32, record.start as u32));
    }
    if zero::is_zero_row(cx, record) {
        return;
    }
    lists::unique(cx, record, LOCATION_ATTRIBUTES);
    match mapped {
        Some(row) => in_mapping(cx, record, row, address, lines),
        None if address != 0 => {
            cx.report(&OP7011, record.field(ADDRESS), format_args!("{address:#x}"), "");
        }
        None => {}
    }
    if lines > 1 {
        equal_lines(cx, record);
    }
    let most = cx.limits.max_lines_per_location;
    if lines as u64 > most {
        cx.report(&OP9007, record.field(LINES), Counted(lines, "line"), most);
    }
}

/// The mapping of a location, if it has one. Each family of generations says "none" in its own way: 1.3 by an empty table,
/// 1.4 to 1.7 by leaving the field out, and later ones by row 0.
///
/// To take an absent index for row 0 in 1.4, or index 0 for none in 1.3, would hold addresses
/// against the wrong binary.
fn mapping_of(cx: &CheckContext<'_>, record: &Record) -> Option<u64> {
    let index = record.number(MAPPING_INDEX);
    match cx.version {
        Version::V1_3 => (index != 0 || cx.tables.len(Table::Mapping) > 0).then_some(index),
        version if version >= Version::V1_8 => (index != 0).then_some(index),
        _ => record.has(MAPPING_INDEX).then_some(index),
    }
}

/// Holds a location against its mapping, and notes there that it has one, and one with lines.
///
/// Findings are folded by mapping, as one wrong load address moves all frames of a binary.
fn in_mapping(cx: &mut CheckContext<'_>, record: &Record, row: u64, address: u64, lines: usize) {
    let fact = usize::try_from(row).ok().and_then(|row| cx.payload.mappings.get_mut(row));
    let Some(fact) = fact else { return };
    fact.located = true;
    fact.lined |= lines > 0;
    let (start, limit, excluded) = (fact.start, fact.limit, fact.excludes(address));
    if excluded {
        let bound = format_args!("{start:#x} to {limit:#x} of mapping {row}").to_string();
        cx.report_folded(&OP7004, row, record.field(ADDRESS), format_args!("{address:#x}"), bound);
    }
}

/// The same line twice in one location: told once, at the second.
///
/// By function, line and column, as numbers: two equal functions that are two rows are not looked
/// through. The table of hashes keeps a location of thousands of lines linear.
fn equal_lines(cx: &mut CheckContext<'_>, record: &Record) {
    let Some(line) = cx.shapes.find(Noun::Line) else { return };
    let mut inner = cx.pool.lend();
    let mut seen = Set::default();
    for (row, (start, end)) in bodies(cx, record, LINES).enumerate() {
        cx.peek_into(line, start, end, &mut inner);
        if !seen.insert([FUNCTION_INDEX, LINE_NUMBER, COLUMN].map(|cell| inner.number(cell))) {
            let spot = Position::at(start).field(record.shape.name_of(LINES)).row(row);
            cx.report(&OP3209, spot, "", "");
            return;
        }
    }
}

/// Cells of `Line`.
const FUNCTION_INDEX: usize = LINE.cell("function_index");
const LINE_NUMBER: usize = LINE.cell("line");
const COLUMN: usize = LINE.cell("column");

/// A line of a location: numbers from 1, 0 where they are not known, and none before its function begins.
///
/// An absent `function_index` is index 0, which means the null function since 1.8 and the first
/// function before; there it counts as a reference, so that the function is no orphan. The start
/// line is 0, and asks nothing, where it is unknown.
pub(crate) fn line(cx: &mut CheckContext<'_>, record: &Record) {
    let (line, column) = (record.signed(LINE_NUMBER), record.signed(COLUMN));
    let function = record.number(FUNCTION_INDEX);
    if line < 0 {
        cx.report(&OP7005, record.field(LINE_NUMBER), line, "");
    }
    if column < 0 {
        cx.report(&OP7005, record.field(COLUMN), column, "");
    }
    if column > 0 && line == 0 {
        cx.report(&OP7007, record.field(COLUMN), column, "");
    }
    let spot = record.field(FUNCTION_INDEX);
    if function == 0 && cx.version >= Version::V1_8 {
        cx.report(&OP7009, spot, 0, "");
    }
    // Before 1.8 an index left out is one of the first function.
    let unsaid = !record.has(FUNCTION_INDEX) && cx.version < Version::V1_8 && !cx.tables.missing;
    if unsaid && cx.tables.len(Table::Function) == 0 {
        cx.report(&OP3107, spot, 0, "the function table has 0 entries");
    } else if unsaid {
        cx.tables.mark(Table::Function, 0);
    }
    let start = usize::try_from(function).ok().and_then(|row| cx.payload.start_lines.get(row));
    if let Some(&start) = start.filter(|start| 0 < line && line < **start) {
        cx.report(&OP7014, record.field(LINE_NUMBER), line, format_args!("{start} or more"));
    }
}

/// Cells of `Function`. In 1.3 and pprof they are called `name`, `system_name` and `filename`.
const NAME: usize = FUNCTION.cell("name_strindex");
const SYSTEM_NAME: usize = FUNCTION.cell("system_name_strindex");
const FUNCTION_FILE: usize = FUNCTION.cell("filename_strindex");

/// A row of the function table.
///
/// A name is set if its string is: a reference to an empty string says as little as index 0.
pub(crate) fn function(cx: &mut CheckContext<'_>, record: &Record) {
    if zero::is_zero_row(cx, record) {
        return;
    }
    let start = record.signed(START_LINE);
    if start < 0 {
        cx.report(&OP7006, record.field(START_LINE), start, "");
    }
    let is_unsaid = |name: u64| name == 0 || cx.string(name).is_some_and(<[u8]>::is_empty);
    if [NAME, SYSTEM_NAME, FUNCTION_FILE].iter().all(|cell| is_unsaid(record.number(*cell))) {
        cx.report(&OP7008, Position::at(record.start), "", "");
    }
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
