//! Locations and their lines, of OTLP and of pprof.
//!
//! ```text
//! location ─┬─► mapping: address within [start, limit]
//!           └─► lines ─► function, of which the line is not before the start
//! ```

use super::*;
use crate::check::canonical::{Message, Place, ShortList, Window};
use crate::check::context::FEW;
use crate::check::sink::{First, Sink};
use crate::check::state::LineRow;

/// Cells of `Location`.
const ID: usize = LOCATION.cell("id");
const MAPPING_INDEX: usize = LOCATION.cell("mapping_index");
const ADDRESS: usize = LOCATION.cell("address");
const LINES: usize = LOCATION.cell("lines");
const ATTRIBUTES: usize = LOCATION.cell("attribute_indices");
const FOLDED: usize = LOCATION.cell("is_folded");

/// A row of the location table.
#[derive(Clone, Copy)]
struct LocationRow {
    id: u64,
    /// The reference to the mapping; `None` if unset.
    mapping: Option<u64>,
    address: u64,
    lines: usize,
    attributes: usize,
}

impl LocationRow {
    /// The row of the mapping. In 1.3 a location without a reference belongs to mapping 0.
    #[inline]
    fn mapped<const PPROF: bool>(&self, cx: &CheckContext<'_>) -> Option<u64> {
        if PPROF {
            return cx.payload.mapping_ids.row(self.mapping?);
        }
        let first = cx.version == Version::V1_3 && cx.tables.len(Table::Mapping) > 0;
        self.mapping.or(first.then_some(0))
    }

    /// Whether the location has neither an address nor lines.
    #[inline]
    fn is_empty(&self) -> bool {
        self.address == 0 && self.lines == 0
    }
}

/// Whether a generation distinguishes a reference to mapping 0 from an absent one: its field is optional.
#[inline]
fn is_optional(version: Version) -> bool {
    (Version::V1_4..=Version::V1_7).contains(&version)
}

/// Checks a location that the walk decoded.
///
/// Records empty locations for [`tables`](super::mapping::tables), which knows whether they are referenced. Since
/// 1.8 row 0 and other zero rows need no further checks.
pub(crate) fn location<const PPROF: bool>(cx: &mut CheckContext<'_>, record: &Record) {
    let row = cx.row();
    let mapping = record.get(MAPPING_INDEX).map(|cell| cell.value);
    let location = LocationRow {
        id: record.number(ID),
        mapping: mapping.filter(|index| *index != 0 || is_optional(cx.version)),
        address: record.number(ADDRESS),
        lines: record.count(LINES),
        attributes: record.count(ATTRIBUTES),
    };
    let mapped = location.mapped::<PPROF>(cx);
    if !PPROF {
        let nothing = location.is_empty() && location.attributes == 0 && mapped.is_none();
        if nothing && (row > 0 || cx.version < Version::V1_8) {
            cx.payload.empty_locations.push((row as u32, record.start as u32));
        }
        if zero::is_zero_row(cx, record) {
            return;
        }
        lists::unique(cx, record, ATTRIBUTES);
    }
    let lines = lines_of(cx, record);
    rules::<PPROF>(cx, &location, mapped, &lines, row, record);
    cx.lines = lines;
    if PPROF && let Some(row) = mapped {
        cx.tables.mark(Table::Mapping, row);
    }
    note::<PPROF>(cx, &location, mapped, || ([], record.field(ADDRESS)));
}

/// The lines of a location, if it has several.
fn lines_of(cx: &mut CheckContext<'_>, record: &Record) -> Vec<LineRow> {
    let mut lines = std::mem::take(&mut cx.lines);
    lines.clear();
    if let Some(shape) = cx.shapes.find(MessageKind::Line).filter(|_| record.count(LINES) > 1) {
        let mut inner = cx.pool.get();
        for (start, end) in attributes::bodies(cx, record, LINES) {
            cx.peek_into(shape, start, end, &mut inner);
            lines.push(line_in(&inner));
        }
    }
    lines
}

/// Decodes and checks a canonical location. Most have one line and no attributes; these stay in registers.
#[inline]
pub(crate) fn canonical<const PPROF: bool>(
    cx: &mut CheckContext<'_>,
    message: &Message,
) -> Option<()> {
    let (mut fields, tags) = (message.fields(cx)?, &message.shape.tags);
    let (id, mapping) = (fields.exact(tags[ID]), fields.shortest(tags[MAPPING_INDEX]));
    let address_at = fields.at();
    let address = fields.exact(tags[ADDRESS]);
    let location = LocationRow { id, mapping, address, lines: 1, attributes: 0 };
    let lines_at = fields.at();
    match fields.part(tags[LINES]) {
        Some(body) if fields.is_done() => {
            let line = canonical_line::<PPROF>(cx, cx.line_shape?, body)?;
            pass::<PPROF>(cx, message, (location, address_at), &[line], ShortList::default())
        }
        _ => {
            // Passing the address of the loop's variable would force it to memory.
            let message = *message;
            any::<PPROF>(cx, &message, (location, address_at), fields.from(lines_at))
        }
    }
}

/// Decodes the rest of a location with any number of lines and attributes.
#[inline(never)]
fn any<const PPROF: bool>(
    cx: &mut CheckContext<'_>,
    message: &Message,
    (location, address_at): (LocationRow, usize),
    mut fields: Window<'_>,
) -> Option<()> {
    let (tags, shape) = (&message.shape.tags, cx.line_shape?);
    let mut lines = std::mem::take(&mut cx.lines);
    lines.clear();
    while let Some(body) = fields.part(tags[LINES]) {
        lines.push(canonical_line::<PPROF>(cx, shape, body)?);
    }
    let folded = fields.exact(tags[FOLDED]);
    let attributes = fields.part(tags[ATTRIBUTES]);
    if folded > 1 || !fields.is_done() {
        return None;
    }
    let attributes = ShortList::of(cx, attributes)?;
    let location =
        LocationRow { lines: lines.len(), attributes: attributes.rows().len(), ..location };
    pass::<PPROF>(cx, message, (location, address_at), &lines, attributes)?;
    cx.lines = lines;
    Some(())
}

/// Checks a decoded location and marks the rows that it refers to.
// Always inlined. Without any in the library, validating takes up to 28 % more instructions.
#[inline(always)]
fn pass<const PPROF: bool>(
    cx: &mut CheckContext<'_>,
    message: &Message,
    (location, address_at): (LocationRow, usize),
    lines: &[LineRow],
    attributes: ShortList<'_>,
) -> Option<()> {
    let (row, mapped) = (message.row(), location.mapped::<PPROF>(cx));
    // A written 0 is canonical only in an optional field.
    let unset = location.mapping == Some(0) && !is_optional(cx.version);
    let nothing = location.is_empty() && location.attributes == 0 && mapped.is_none();
    if unset || nothing || (row == 0 && !PPROF) {
        return None;
    }
    rules::<PPROF>(cx, &location, mapped, lines, row, &First)?;
    if let Some(row) = mapped {
        cx.has(Table::Mapping, row)?;
        if location.mapping.is_some() {
            cx.tables.mark(Table::Mapping, row);
        }
    }
    for (row, line) in lines.iter().enumerate() {
        if let Some(function) = line.row {
            cx.tables.mark(Table::Function, function);
        }
        cx.owns(MessageKind::Line, line.length as usize);
        let (message, at) = (*message, line.at as usize);
        note_line(cx, line, move || {
            let step = Step { name: message.shape.name_of(LINES), row: Some(row as u32) };
            let spot = Position::at(message.start + at).field("line");
            ([message.step, step], spot)
        });
    }
    note::<PPROF>(cx, &location, mapped, message.place(address_at, ADDRESS));
    // The canonical form has no id and sorted attributes.
    if location.id == 0 && attributes.rows().is_sorted() {
        cx.tables.note_plain(Table::Location, row);
    }
    attributes.mark(cx);
    Some(())
}

/// Checks that the mapping contains the address and that no line repeats. In pprof also checks the id, and that
/// there is an address or a line.
#[inline(always)]
fn rules<const PPROF: bool>(
    cx: &mut CheckContext<'_>,
    location: &LocationRow,
    mapped: Option<u64>,
    lines: &[LineRow],
    row: usize,
    out: &impl Sink,
) -> Option<()> {
    let LocationRow { id, mapping, address, .. } = *location;
    if PPROF {
        pprof_rows::id(cx, (ID, id), (Table::Location, row), &PP1007, out)?;
        if let (Some(mapping), None) = (mapping, mapped) {
            out.found(cx, |cx, at| cx.report(&PP1008, at.field(MAPPING_INDEX), mapping, ""))?;
        }
        if location.is_empty() {
            out.found(cx, |cx, at| cx.report(&PP1025, Position::at(at.start), "", ""))?;
        }
    } else if let Some(row) = repeated(lines) {
        let start = lines.get(row).map_or(0, |line| line.start as usize);
        out.found(cx, |cx, at| {
            let spot = Position::at(start).field(at.shape.name_of(LINES)).row(row);
            cx.report(&OP3209, spot, "", "");
        })?;
    }
    let most = cx.limits.max_lines_per_location;
    if location.lines as u64 > most {
        let lines = Counted(location.lines, "line");
        out.found(cx, |cx, at| cx.report(&OP9007, at.field(LINES), lines, most))?;
    }
    let fact = mapped.and_then(|row| cx.payload.mappings.get(row as usize));
    if let (Some(row), Some(fact)) = (mapped, fact.filter(|fact| fact.excludes(address))) {
        let (start, limit) = (fact.start, fact.limit);
        out.found(cx, |cx, at| {
            let (spot, found) = (at.field(ADDRESS), format!("{address:#x}"));
            let bound = format!("{start:#x} to {limit:#x}");
            match PPROF {
                true => cx.findings.report_folded(&PP1024, row, spot, found, bound),
                false => {
                    let bound = format!("{bound} of mapping {row}");
                    cx.findings.report_folded(&OP7004, row, spot, found, bound);
                }
            }
        })?;
    }
    Some(())
}

/// The first line that equals an earlier one in function, line and column.
#[inline(always)]
fn repeated(lines: &[LineRow]) -> Option<usize> {
    match lines.len() {
        0 | 1 => None,
        2..=FEW => (1..lines.len()).find(|row| lines[..*row].contains(&lines[*row])),
        _ => {
            let mut seen = Set::default();
            lines.iter().position(|line| !seen.insert(line.key()))
        }
    }
}

/// Records what a location implies about its mapping, and reports an address without a mapping. Nearly all
/// locations may lack one, so this does not end canonical decoding.
#[inline]
fn note<const PPROF: bool>(
    cx: &mut CheckContext<'_>,
    location: &LocationRow,
    mapped: Option<u64>,
    place: impl Place,
) {
    match mapped {
        Some(row) => {
            if let Some(fact) = cx.payload.mappings.get_mut(row as usize) {
                fact.located = true;
                fact.lined |= location.lines > 0;
            }
        }
        None if location.address != 0 && !PPROF => {
            cx.tell(&OP7011, place, format_args!("{:#x}", location.address), "");
        }
        None => {}
    }
}

/// Cells of `Line`.
const FUNCTION_INDEX: usize = LINE.cell("function_index");
const LINE_NUMBER: usize = LINE.cell("line");
const COLUMN: usize = LINE.cell("column");

/// Extracts a line from a record.
fn line_in(record: &Record) -> LineRow {
    let (line, column) = (record.signed(LINE_NUMBER), record.signed(COLUMN));
    let function = record.number(FUNCTION_INDEX);
    LineRow { function, line, column, row: None, start: record.start as u32, at: 0, length: 0 }
}

/// Checks a line that the walk decoded. Up to 1.7 a line without a reference belongs to function 0.
pub(crate) fn line<const PPROF: bool>(cx: &mut CheckContext<'_>, record: &Record) {
    let mut line = line_in(record);
    if PPROF {
        line.row = cx.payload.functions.row(line.function);
    }
    line_rules::<PPROF>(cx, &line, record);
    if let Some(row) = line.row {
        cx.tables.mark(Table::Function, row);
    }
    let unsaid = !record.has(FUNCTION_INDEX) && cx.version < Version::V1_8 && !cx.tables.missing;
    if !PPROF && unsaid {
        match cx.tables.len(Table::Function) {
            0 => {
                let spot = record.field(FUNCTION_INDEX);
                cx.report(&OP3107, spot, 0, "the function table has 0 entries");
            }
            _ => cx.tables.mark(Table::Function, 0),
        }
    }
    note_line(cx, &line, || ([], record.field(LINE_NUMBER)));
}

/// Decodes and checks a canonical line.
#[inline(always)]
fn canonical_line<const PPROF: bool>(
    cx: &mut CheckContext<'_>,
    shape: &'static MessageLayout,
    mut fields: Window<'_>,
) -> Option<LineRow> {
    let length = fields.left() as u32;
    let function = fields.exact(shape.tags[FUNCTION_INDEX]);
    let at = fields.at() as u32;
    let line = fields.exact(shape.tags[LINE_NUMBER]) as i64;
    let column = fields.exact(shape.tags[COLUMN]) as i64;
    if function == 0 || !fields.is_done() {
        return None;
    }
    let row = Some(cx.row_of::<PPROF>(Table::Function, function)?);
    let line = LineRow { function, line, column, row, start: 0, at, length };
    line_rules::<PPROF>(cx, &line, &First)?;
    Some(line)
}

/// Checks that line and column are not negative, that a column has a line, and that the function is not the null
/// function.
#[inline]
fn line_rules<const PPROF: bool>(
    cx: &mut CheckContext<'_>,
    line: &LineRow,
    out: &impl Sink,
) -> Option<()> {
    // One test for both: the sign bit of the union is set if either is negative.
    if (line.line | line.column) < 0 {
        let rule = if PPROF { &PP1036 } else { &OP7005 };
        let numbers = [(LINE_NUMBER, line.line), (COLUMN, line.column)];
        out.found(cx, |cx, at| {
            for (cell, number) in numbers.into_iter().filter(|(_, number)| *number < 0) {
                cx.report(rule, at.field(cell), number, "");
            }
        })?;
    }
    let LineRow { function, column, .. } = *line;
    if PPROF {
        if line.row.is_none() {
            out.found(cx, |cx, at| cx.report(&PP1009, at.field(FUNCTION_INDEX), function, ""))?;
        }
        return Some(());
    }
    if column > 0 && line.line == 0 {
        out.found(cx, |cx, at| cx.report(&OP7007, at.field(COLUMN), column, ""))?;
    }
    if function == 0 && cx.version >= Version::V1_8 {
        out.found(cx, |cx, at| cx.report(&OP7009, at.field(FUNCTION_INDEX), 0, ""))?;
    }
    Some(())
}

/// Reports a line before the start of its function. The start may be wrong for all lines, so this does not end
/// canonical decoding.
#[inline]
fn note_line(cx: &mut CheckContext<'_>, line: &LineRow, place: impl Place) {
    let start = cx.payload.start_lines.get(line.function as usize).copied().unwrap_or(0);
    if 0 < line.line && line.line < start {
        cx.tell(&OP7014, place, line.line, format_args!("{start} or more"));
    }
}
