//! Locations, functions and stacks.

use super::message::{Few, Message, Window, mark};
use crate::check::catalogue::{OP7011, OP7014};
use crate::check::cx::Cx;
use crate::check::findings::{Spot, Step};
use crate::check::rules::limits;
use crate::check::shape::{Kind, Shape};
use crate::check::text;
use crate::schema::{FUNCTION, LINE, LOCATION, Table, Version};

const ID: usize = LOCATION.cell("id");
const MAPPING: usize = LOCATION.cell("mapping_index");
const ADDRESS: usize = LOCATION.cell("address");
const LINES: usize = LOCATION.cell("lines");
const ATTRIBUTES: usize = LOCATION.cell("attribute_indices");
const FOLDED: usize = LOCATION.cell("is_folded");

/// A line: the row of its function, its line and its column, and where the line begins in its location.
type Line = (u32, u32, u32, u32);

/// More lines than this are walked.
const MOST: usize = 16;

/// What a location says of where it is.
#[derive(Clone, Copy)]
struct Place {
    /// The reference to its mapping, which may be 0 where 0 is not none.
    mapping: Option<u64>,
    address: u64,
    /// Where the field of its address begins.
    address_at: usize,
    /// Whether it has lines, and attributes.
    has: (bool, bool),
}

/// A location: its mapping, its address and its lines are there, in that order in every version.
#[inline(always)]
pub(super) fn location(cx: &mut Cx<'_>, message: &Message) -> Option<()> {
    let mut fields = message.short(cx)?;
    let (inner, tags) = (cx.line_shape?, &message.shape.tags);
    let id = fields.exact(tags[ID]);
    let mapping = fields.shortest(tags[MAPPING]);
    let address_at = fields.at();
    let address = fields.exact(tags[ADDRESS]);
    let (mut lines, mut count, mut bytes) = ([(0, 0, 0, 0); MOST], 0, 0);
    while let Some(body) = fields.part(tags[LINES]) {
        bytes += body.left();
        let line = line(cx, inner, body)?;
        // That one comes twice is told by its bytes.
        let same = |other: &Line| (other.0, other.1, other.2) == (line.0, line.1, line.2);
        if lines.get(..count)?.iter().any(same) {
            return None;
        }
        *lines.get_mut(count)? = line;
        count += 1;
    }
    let lines = lines.get(..count)?;
    let folded = fields.exact(tags[FOLDED]);
    let attributes = fields.part(tags[ATTRIBUTES]);
    let optional = (Version::V1_4..=Version::V1_7).contains(&cx.version);
    let usual = folded <= 1 && (mapping != Some(0) || optional);
    if !fields.is_done() || !usual || !is_usual_row(cx, message, id, count) {
        return None;
    }
    let few = Few::of(cx, attributes)?;
    let attributes = few.rows();
    let has = (count > 0, !attributes.is_empty());
    mapped(cx, message, Place { mapping, address, address_at, has })?;
    note_lines(cx, message, lines);
    if id == 0 && (attributes.len() < 2 || attributes.is_sorted()) {
        cx.tables.note_plain(Table::Location, message.row());
    }
    mark(cx, attributes);
    cx.owns(Kind::Location, message.len() + bytes);
    cx.payload.owned += count as u64 * limits::size(Kind::Line);
    Some(())
}

/// Whether a location of so many lines is no row 0 of OTLP, not empty and not too deep, and called as pprof wants it.
#[inline(always)]
fn is_usual_row(cx: &Cx<'_>, message: &Message, id: u64, lines: usize) -> bool {
    let first = message.row() == 0 && cx.version != Version::Pprof;
    let deep = cx.depth + 2 > cx.limits.max_nesting;
    let many = lines as u64 > cx.limits.max_lines_per_location;
    let named = cx.is_usual_id(Table::Location, message.row(), id);
    !(first || deep || many) && named && message.start < message.end
}

/// Notes in which mapping a location is.
#[inline(always)]
fn mapped(cx: &mut Cx<'_>, message: &Message, place: Place) -> Option<()> {
    let (address, of_pprof) = (place.address, cx.version == Version::Pprof);
    let (has_lines, has_attributes) = place.has;
    // Before mappings could be left out, none said is the first.
    let first = cx.version == Version::V1_3 && cx.tables.len(Table::Mapping) > 0;
    let row = match place.mapping {
        Some(reference) => Some(cx.row_of(Table::Mapping, reference)?),
        None => first.then_some(0),
    };
    if let Some(row) = row {
        let fact = cx.payload.mappings.get_mut(row as usize)?;
        let ranged = fact.limit > fact.start && address > 0;
        if ranged && (address < fact.start || address > fact.limit) {
            return None;
        }
        if of_pprof && address == 0 && !has_lines {
            return None;
        }
        fact.located = true;
        fact.lined |= has_lines;
        if place.mapping.is_some() {
            cx.tables.mark(Table::Mapping, row);
        }
    } else if address == 0 && !has_lines && (of_pprof || !has_attributes) {
        return None;
    } else if address > 0 && !of_pprof {
        let spot = Spot::at(message.start + place.address_at).field("address");
        cx.tell(&OP7011, &[message.step], spot, format_args!("{address:#x}"), "a mapping");
    }
    Some(())
}

/// Notes what the lines of a location refer to, and tells of those before their functions begin.
#[inline(always)]
fn note_lines(cx: &mut Cx<'_>, message: &Message, lines: &[Line]) {
    for (row, line) in lines.iter().enumerate() {
        cx.tables.mark(Table::Function, u64::from(line.0));
        let start = cx.payload.start_lines.get(line.0 as usize).copied().unwrap_or(0);
        if line.1 != 0 && start > i64::from(line.1) {
            let name = message.shape.name_of(LINES);
            let steps = [message.step, Step { name, row: Some(row as u32) }];
            let spot = Spot::at(message.start + line.3 as usize).field("line");
            cx.tell(&OP7014, &steps, spot, line.1, format_args!("{start} or more"));
        }
    }
}

const FUNCTION_INDEX: usize = LINE.cell("function_index");
const LINE_NUMBER: usize = LINE.cell("line");
const COLUMN: usize = LINE.cell("column");

/// A line: its function is there, and a column has a line.
#[inline(always)]
fn line(cx: &Cx<'_>, shape: &'static Shape, mut fields: Window<'_>) -> Option<Line> {
    let function = fields.exact(shape.tags[FUNCTION_INDEX]);
    let at = fields.at();
    let (line, column) = (fields.exact(shape.tags[LINE_NUMBER]), fields.exact(shape.tags[COLUMN]));
    let fine = function > 0 && (column == 0 || line > 0) && fields.is_done();
    let function = cx.row_of(Table::Function, function).filter(|_| fine)?;
    let narrow = |number: u64| u32::try_from(number).ok();
    Some((narrow(function)?, narrow(line)?, narrow(column)?, at as u32))
}

const NAME: usize = FUNCTION.cell("name_strindex");
const SYSTEM_NAME: usize = FUNCTION.cell("system_name_strindex");
const FILENAME: usize = FUNCTION.cell("filename_strindex");
const START_LINE: usize = FUNCTION.cell("start_line");
const FUNCTION_ID: usize = FUNCTION.cell("id");

/// A function: its names are there, and it has one. Its first line was looked at by [`start_lines`].
#[inline(always)]
pub(super) fn function(cx: &mut Cx<'_>, message: &Message) -> Option<()> {
    let mut fields = message.short(cx)?;
    let tags = &message.shape.tags;
    let id = fields.exact(tags[FUNCTION_ID]);
    let (name, system_name) = (fields.exact(tags[NAME]), fields.exact(tags[SYSTEM_NAME]));
    let names = [name, system_name, fields.exact(tags[FILENAME])];
    fields.exact(tags[START_LINE]);
    let usual = cx.is_usual_id(Table::Function, message.row(), id);
    let first = message.row() == 0 && cx.version != Version::Pprof;
    if !fields.is_done() || names == [0; 3] || first || !usual {
        return None;
    }
    for name in names {
        cx.has(Table::String, name)?;
    }
    for name in names {
        cx.tables.mark(Table::String, name);
    }
    if id == 0 {
        cx.tables.note_plain(Table::Function, message.row());
    }
    cx.owns(Kind::Function, message.len());
    Some(())
}

/// Where each function starts, if that is asked.
pub(crate) fn start_lines(cx: &mut Cx<'_>) -> Vec<i64> {
    let Some(shape) = cx.shapes.find(Kind::Function).filter(|_| cx.findings.asks(&OP7014)) else {
        return Vec::new();
    };
    let mut record = cx.pool.lend();
    let tag = shape.tags[START_LINE] as u8;
    let rows = cx.tables.rows[Table::Function as usize].iter();
    rows.map(|(start, end)| {
        let (start, end) = (*start as usize, *end as usize);
        // Most have none, and not even such a byte; a tag of more bytes has one with a high bit.
        if !text::has(cx.bytes.get(start..end).unwrap_or_default(), tag) {
            return 0;
        }
        cx.peek_into(shape, start, end, &mut record);
        record.signed(START_LINE)
    })
    .collect()
}
