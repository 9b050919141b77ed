//! Locations, functions and stacks.

use super::message::{Few, Message};
use crate::check::catalogue::{OP7011, OP7014};
use crate::check::cx::Cx;
use crate::check::findings::{Spot, Step};
use crate::check::shape::{Kind, Shape};
use crate::check::tables::again;
use crate::schema::{FUNCTION, LINE, LOCATION, STACK, Table};
use crate::wire::read::Reader;
use crate::wire::short::Short;

const MAPPING: u8 = LOCATION.cell("mapping_index") as u8;
const ADDRESS: u8 = LOCATION.cell("address") as u8;
const LINES: u8 = LOCATION.cell("lines") as u8;
const ATTRIBUTES: u8 = LOCATION.cell("attribute_indices") as u8;

/// A line: its function, its line and its column, and where the line begins in its location.
type Line = (u32, u32, u32, u32);

/// More lines than this are walked.
const MOST: usize = 8;

// What is walked deep has small frames.
#[inline(never)]
pub(super) fn location(cx: &mut Cx<'_>, message: Message) -> Option<()> {
    let mut fields = message.short(cx)?;
    let inner = cx.line_shape?;
    let (mut mapping, mut address, mut attributes) = (0, 0, None);
    let mut lines = [(0, 0, 0, 0); MOST];
    let (mut count, mut bytes, mut address_at) = (0, 0, 0);
    while !fields.is_over() {
        let at = fields.at();
        let (tag, value) = fields.exact()?;
        match message.shape.codes[usize::from(tag)] {
            MAPPING if mapping == 0 => mapping = value,
            ADDRESS if address == 0 => (address, address_at) = (value, at),
            LINES => {
                let body = fields.body(value)?;
                let line = line(cx, inner, body)?;
                // That one comes twice is told by its bytes.
                let same = |other: &Line| (other.0, other.1, other.2) == (line.0, line.1, line.2);
                if lines.get(..count)?.iter().any(same) {
                    return None;
                }
                *lines.get_mut(count)? = line;
                (count, bytes) = (count + 1, bytes + value as usize);
            }
            ATTRIBUTES if attributes.is_none() => {
                attributes = Some(Few::of(cx, fields.body(value)?)?);
            }
            _ => return None,
        }
    }
    let deep = cx.depth + 2 > cx.limits.max_nesting;
    let many = count as u64 > cx.limits.max_lines_per_location;
    if !fields.is_done() || message.start == message.end || message.row() == 0 || deep || many {
        return None;
    }
    if mapping > 0 {
        let fact = cx.payload.mappings.get(usize::try_from(mapping).ok()?)?;
        let ranged = fact.limit > fact.start && address > 0;
        if ranged && (address < fact.start || address > fact.limit) {
            return None;
        }
        cx.tables.mark(Table::Mapping, mapping);
    } else if address > 0 {
        let spot = Spot::at(message.start + address_at).field("address");
        cx.tell(&OP7011, &[message.step], spot, format_args!("{address:#x}"), "a mapping");
    } else if count == 0 && attributes.is_none() {
        return None;
    }
    note_lines(cx, message, lines.get(..count)?);
    if let Some(attributes) = attributes {
        attributes.mark(cx);
    }
    cx.owns(Kind::Location, message.len());
    cx.payload.owned += count as u64 * crate::check::rules::limits::size(Kind::Line) + bytes as u64;
    Some(())
}

/// Notes what the lines of a location refer to, and tells of those before their functions begin.
#[inline(always)]
fn note_lines(cx: &mut Cx<'_>, message: Message, lines: &[Line]) {
    for (row, line) in lines.iter().enumerate() {
        cx.tables.mark(Table::Function, u64::from(line.0));
        let start = cx.payload.start_lines.get(line.0 as usize).copied().unwrap_or(0);
        if line.1 != 0 && start > i64::from(line.1) {
            let name = message.shape.name_of(usize::from(LINES));
            let steps = [message.step, Step { name, row: Some(row as u32) }];
            let spot = Spot::at(message.start + line.3 as usize).field("line");
            cx.tell(&OP7014, &steps, spot, line.1, format_args!("{start} or more"));
        }
    }
}

const FUNCTION_INDEX: u8 = LINE.cell("function_index") as u8;
const LINE_NUMBER: u8 = LINE.cell("line") as u8;
const COLUMN: u8 = LINE.cell("column") as u8;

#[inline(always)]
fn line(cx: &Cx<'_>, shape: &'static Shape, mut fields: Short<'_>) -> Option<Line> {
    let mut line: (u64, u64, u64, usize) = (0, 0, 0, 0);
    while !fields.is_over() {
        let at = fields.at();
        let (tag, value) = fields.exact()?;
        match shape.codes[usize::from(tag)] {
            FUNCTION_INDEX if line.0 == 0 => line.0 = value,
            LINE_NUMBER if line.1 == 0 => (line.1, line.3) = (value, at),
            COLUMN if line.2 == 0 => line.2 = value,
            _ => return None,
        }
    }
    cx.has(Table::Function, line.0)?;
    let fine = line.0 > 0 && (line.2 == 0 || line.1 > 0) && fields.is_done();
    let narrow = |number: u64| u32::try_from(number).ok();
    fine.then_some((narrow(line.0)?, narrow(line.1)?, narrow(line.2)?, line.3 as u32))
}

const NAME: u8 = FUNCTION.cell("name_strindex") as u8;
const SYSTEM_NAME: u8 = FUNCTION.cell("system_name_strindex") as u8;
const FILENAME: u8 = FUNCTION.cell("filename_strindex") as u8;
const START_LINE: u8 = FUNCTION.cell("start_line") as u8;

/// Name, system name, file name and first line of a function, if it has each once and nothing else.
#[inline(always)]
fn columns(shape: &'static Shape, mut fields: Short<'_>) -> Option<[u64; 4]> {
    let mut columns = [0; 4];
    while !fields.is_over() {
        let (tag, value) = fields.exact()?;
        let column = match shape.codes[usize::from(tag)] {
            NAME => 0,
            SYSTEM_NAME => 1,
            FILENAME => 2,
            START_LINE => 3,
            _ => return None,
        };
        if columns[column] != 0 {
            return None;
        }
        columns[column] = value;
    }
    fields.is_done().then_some(columns)
}

// What is walked deep has small frames.
#[inline(never)]
pub(super) fn function(cx: &mut Cx<'_>, message: Message) -> Option<()> {
    let [names @ .., _] = columns(message.shape, message.short(cx)?)?;
    if names == [0; 3] || message.row() == 0 {
        return None;
    }
    for name in names {
        cx.has(Table::String, name)?;
    }
    for name in names {
        cx.tables.mark(Table::String, name);
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
    let rows = cx.tables.rows[Table::Function as usize].iter();
    rows.map(|(start, end)| {
        let (start, end) = (*start as usize, *end as usize);
        let fields = Reader::within(cx.bytes, start, end).short().filter(|_| cx.fast);
        if let Some([.., line]) = fields.and_then(|fields| columns(shape, fields)) {
            return line as i64;
        }
        cx.peek_into(shape, start, end, &mut record);
        record.signed(usize::from(START_LINE))
    })
    .collect()
}

const LOCATION_INDICES: u8 = STACK.cell("location_indices") as u8;

// What is walked deep has small frames.
#[inline(never)]
pub(super) fn stack(cx: &mut Cx<'_>, message: Message) -> Option<()> {
    let tag = *cx.bytes.get(message.start)?;
    if message.shape.codes[usize::from(tag)] != LOCATION_INDICES || message.row() == 0 {
        return None;
    }
    let (start, end) = again(cx.bytes, message.start, message.end, tag)?;
    if start == end || end != message.end || (end - start) as u64 > cx.limits.max_stack_depth {
        return None;
    }
    cx.plain(Table::Location, &(start..end))?;
    cx.owns(Kind::Stack, message.len());
    Some(())
}
