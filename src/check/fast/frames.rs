//! Locations, functions and stacks.

use super::message::{Few, Message, Order};
use crate::check::catalogue::{OP7011, OP7014};
use crate::check::cx::Cx;
use crate::check::findings::{Spot, Step};
use crate::check::rules::limits;
use crate::check::shape::{Kind, Shape};
use crate::check::tables::again;
use crate::schema::{FUNCTION, LINE, LOCATION, STACK, Table, Version};
use crate::wire::read::Reader;
use crate::wire::short::Short;

const ID: u8 = LOCATION.cell("id") as u8;
const MAPPING: u8 = LOCATION.cell("mapping_index") as u8;
const ADDRESS: u8 = LOCATION.cell("address") as u8;
const LINES: u8 = LOCATION.cell("lines") as u8;
const ATTRIBUTES: u8 = LOCATION.cell("attribute_indices") as u8;
const FOLDED: u8 = LOCATION.cell("is_folded") as u8;

/// A line: the row of its function, its line and its column, and where the line begins in its location.
type Line = (u32, u32, u32, u32);

/// More lines than this are walked.
const MOST: usize = 8;

/// What a location says.
struct Location {
    id: u64,
    /// The reference to its mapping, which may be 0 where 0 is not none.
    mapping: Option<u64>,
    address: u64,
    address_at: usize,
    lines: [Line; MOST],
    count: usize,
    /// The bytes of its lines.
    bytes: usize,
    attributes: Option<Few>,
    order: Order,
}

#[inline(always)]
fn read(cx: &Cx<'_>, message: &Message) -> Option<Location> {
    let mut fields = message.short(cx)?;
    let (inner, codes) = (cx.line_shape?, &message.shape.codes);
    let optional = (Version::V1_4..=Version::V1_7).contains(&cx.version);
    let (mut id, mut mapping, mut address, mut address_at, mut folded) = (0, None, 0, 0, 0);
    let (mut lines, mut count, mut bytes) = ([(0, 0, 0, 0); MOST], 0, 0);
    let (mut attributes, mut order) = (None, Order::NEW);
    while !fields.is_over() {
        let at = fields.at();
        let (tag, value) = fields.shortest()?;
        order.next(tag);
        match codes[usize::from(tag)] {
            MAPPING if mapping.is_none() && (value > 0 || optional) => mapping = Some(value),
            _ if value == 0 => return None,
            ADDRESS if address == 0 => (address, address_at) = (value, at),
            LINES => {
                let line = line(cx, inner, fields.body(value)?, &mut order)?;
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
            ID if id == 0 => id = value,
            FOLDED if folded == 0 && value == 1 => folded = value,
            _ => return None,
        }
    }
    let found =
        Location { id, mapping, address, address_at, lines, count, bytes, attributes, order };
    (fields.is_done() && message.start < message.end).then_some(found)
}

// What is walked deep has small frames.
#[inline(never)]
pub(super) fn location(cx: &mut Cx<'_>, message: Message) -> Option<()> {
    let found = read(cx, &message)?;
    let deep = cx.depth + 2 > cx.limits.max_nesting;
    let many = found.count as u64 > cx.limits.max_lines_per_location;
    let usual = cx.is_usual_id(Table::Location, message.row(), found.id);
    if (message.row() == 0 && cx.version != Version::Pprof) || deep || many || !usual {
        return None;
    }
    mapped(cx, &message, &found)?;
    note_lines(cx, message, found.lines.get(..found.count)?);
    if found.order.is_kept && found.id == 0 && found.attributes.is_none_or(|few| few.is_sorted()) {
        cx.tables.note_plain(Table::Location, message.row());
    }
    if let Some(attributes) = found.attributes {
        attributes.mark(cx);
    }
    cx.owns(Kind::Location, message.len());
    let lines = found.count as u64 * limits::size(Kind::Line);
    cx.payload.owned += lines + found.bytes as u64;
    Some(())
}

/// Notes in which mapping a location is.
#[inline(always)]
fn mapped(cx: &mut Cx<'_>, message: &Message, found: &Location) -> Option<()> {
    let (address, of_pprof) = (found.address, cx.version == Version::Pprof);
    // Before mappings could be left out, none said is the first.
    let first = cx.version == Version::V1_3 && cx.tables.len(Table::Mapping) > 0;
    let row = match found.mapping {
        Some(reference) => Some(cx.row_of(Table::Mapping, reference)?),
        None => first.then_some(0),
    };
    if let Some(row) = row {
        let fact = cx.payload.mappings.get_mut(row as usize)?;
        let ranged = fact.limit > fact.start && address > 0;
        if ranged && (address < fact.start || address > fact.limit) {
            return None;
        }
        if of_pprof && address == 0 && found.count == 0 {
            return None;
        }
        fact.located = true;
        fact.lined |= found.count > 0;
        if found.mapping.is_some() {
            cx.tables.mark(Table::Mapping, row);
        }
    } else if address == 0 && found.count == 0 && (of_pprof || found.attributes.is_none()) {
        return None;
    } else if address > 0 && !of_pprof {
        let spot = Spot::at(message.start + found.address_at).field("address");
        cx.tell(&OP7011, &[message.step], spot, format_args!("{address:#x}"), "a mapping");
    }
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
fn line(
    cx: &Cx<'_>,
    shape: &'static Shape,
    mut fields: Short<'_>,
    order: &mut Order,
) -> Option<Line> {
    let mut line: (u64, u64, u64, usize) = (0, 0, 0, 0);
    let mut inner = Order::NEW;
    while !fields.is_over() {
        let at = fields.at();
        let (tag, value) = fields.exact()?;
        inner.next(tag);
        match shape.codes[usize::from(tag)] {
            FUNCTION_INDEX if line.0 == 0 => line.0 = value,
            LINE_NUMBER if line.1 == 0 => (line.1, line.3) = (value, at),
            COLUMN if line.2 == 0 => line.2 = value,
            _ => return None,
        }
    }
    order.is_kept &= inner.is_kept;
    let fine = line.0 > 0 && (line.2 == 0 || line.1 > 0) && fields.is_done();
    let function = cx.row_of(Table::Function, line.0).filter(|_| fine)?;
    let narrow = |number: u64| u32::try_from(number).ok();
    Some((narrow(function)?, narrow(line.1)?, narrow(line.2)?, line.3 as u32))
}

const NAME: u8 = FUNCTION.cell("name_strindex") as u8;
const SYSTEM_NAME: u8 = FUNCTION.cell("system_name_strindex") as u8;
const FILENAME: u8 = FUNCTION.cell("filename_strindex") as u8;
const START_LINE: u8 = FUNCTION.cell("start_line") as u8;
const FUNCTION_ID: u8 = FUNCTION.cell("id") as u8;

/// Name, system name, file name, first line and id of a function, if it has each once and nothing else; and whether
/// they come by number.
#[inline(always)]
fn columns(shape: &'static Shape, mut fields: Short<'_>) -> Option<([u64; 5], bool)> {
    let (mut columns, mut order) = ([0; 5], Order::NEW);
    while !fields.is_over() {
        let (tag, value) = fields.exact()?;
        order.next(tag);
        let column = match shape.codes[usize::from(tag)] {
            NAME => 0,
            SYSTEM_NAME => 1,
            FILENAME => 2,
            START_LINE => 3,
            FUNCTION_ID => 4,
            _ => return None,
        };
        if columns[column] != 0 {
            return None;
        }
        columns[column] = value;
    }
    fields.is_done().then_some((columns, order.is_kept))
}

// What is walked deep has small frames.
#[inline(never)]
pub(super) fn function(cx: &mut Cx<'_>, message: Message) -> Option<()> {
    let ([names @ .., _, id], in_order) = columns(message.shape, message.short(cx)?)?;
    let usual = cx.is_usual_id(Table::Function, message.row(), id);
    let first = message.row() == 0 && cx.version != Version::Pprof;
    if names == [0; 3] || first || !usual {
        return None;
    }
    for name in names {
        cx.has(Table::String, name)?;
    }
    for name in names {
        cx.tables.mark(Table::String, name);
    }
    if in_order && id == 0 {
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
    let rows = cx.tables.rows[Table::Function as usize].iter();
    rows.map(|(start, end)| {
        let (start, end) = (*start as usize, *end as usize);
        let fields = Reader::within(cx.bytes, start, end).short().filter(|_| cx.fast);
        if let Some(([.., line, _], _)) = fields.and_then(|fields| columns(shape, fields)) {
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
    cx.plain(Table::Location, &(start..end), 0, 1..cx.tables.len(Table::Location))?;
    cx.tables.note_plain(Table::Stack, message.row());
    cx.owns(Kind::Stack, message.len());
    Some(())
}
