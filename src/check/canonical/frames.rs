//! Locations and functions: nearly all rows of a dictionary.
//!
//! ```text
//! location   08 01   10 80 20   1a 04 08 03 10 0c      { mapping_index: 1, address: 4096, lines: [{ function_index: 3, line: 12 }] }
//! ```
//!
//! `PPROF` is a constant of the functions, so the differences between ids and rows cost no branch:
//! a row has an `id` there, references are ids, and row 0 is a row like any other.

use super::message::{Message, ShortList, Window};
use crate::check::catalogue::{OP7011, OP7014};
use crate::check::context::CheckContext;
use crate::check::findings::{Position, Step};
use crate::check::layout::MessageLayout;
use crate::check::state::Line;
use crate::check::text;
use crate::schema::{FUNCTION, LINE, LOCATION, Noun, Table, Version};

/// Cells of `Location`. `id` and `is_folded` exist in pprof and old generations.
const ID: usize = LOCATION.cell("id");
const MAPPING: usize = LOCATION.cell("mapping_index");
const ADDRESS: usize = LOCATION.cell("address");
const LINES: usize = LOCATION.cell("lines");
const ATTRIBUTES: usize = LOCATION.cell("attribute_indices");
const FOLDED: usize = LOCATION.cell("is_folded");

/// What a location says besides its lines.
#[derive(Clone, Copy)]
struct Place<'a> {
    /// 0 where the version has none.
    id: u64,
    /// The reference to its mapping, which may be 0 where 0 is not none.
    mapping: Option<u64>,
    /// 0 where it is not known.
    address: u64,
    /// Where the field of its address begins.
    address_at: usize,
    /// The body of the list; `None` where it is not there.
    attributes: Option<Window<'a>>,
}

/// A location: its mapping, its address and its lines are there, in that order in every version.
///
/// Most have one line and nothing behind it: what is known not to be there costs those nothing.
#[inline(always)]
pub(super) fn location<const PPROF: bool>(
    cx: &mut CheckContext<'_>,
    message: &Message,
) -> Option<()> {
    let (mut fields, tags) = (message.short(cx)?, &message.shape.tags);
    let (id, mapping) = (fields.exact(tags[ID]), fields.shortest(tags[MAPPING]));
    let address_at = fields.at();
    let address = fields.exact(tags[ADDRESS]);
    let place = || Place { id, mapping, address, address_at, attributes: None };
    let lines_at = fields.at();
    match fields.part(tags[LINES]) {
        Some(body) if fields.is_done() => {
            let line = line::<PPROF>(cx, cx.line_shape?, body)?;
            prove::<PPROF>(cx, message, place(), &[line])
        }
        _ => {
            // What is pointed to does not stay in registers: of this loop that is a copy.
            let message = *message;
            any::<PPROF>(cx, &message, place(), fields.from(lines_at))
        }
    }
}

/// A location of any number of lines `behind` its address.
///
/// Lines are kept in a list of the walk's state, which is put back when all went well. Where it did
/// not, the next location makes a new one: rare, and no leak.
#[inline(never)]
fn any<const PPROF: bool>(
    cx: &mut CheckContext<'_>,
    message: &Message,
    place: Place<'_>,
    behind: Window<'_>,
) -> Option<()> {
    let (mut fields, tags) = (behind, &message.shape.tags);
    let mut lines = std::mem::take(&mut cx.lines);
    lines.clear();
    let inner = cx.line_shape?;
    while let Some(body) = fields.part(tags[LINES]) {
        lines.push(line::<PPROF>(cx, inner, body)?);
    }
    let folded = fields.exact(tags[FOLDED]);
    let attributes = fields.part(tags[ATTRIBUTES]);
    let many = lines.len() as u64 > cx.limits.max_lines_per_location;
    if folded > 1 || many || !fields.is_done() {
        return None;
    }
    prove::<PPROF>(cx, message, Place { attributes, ..place }, &lines)?;
    cx.lines = lines;
    Some(())
}

/// Shows that there is nothing to say of a location, and only then notes what it refers to: one that fails is walked, which
/// notes the same, and nothing may be counted twice.
#[inline(always)]
fn prove<const PPROF: bool>(
    cx: &mut CheckContext<'_>,
    message: &Message,
    place: Place<'_>,
    lines: &[Line],
) -> Option<()> {
    let optional = (Version::V1_4..=Version::V1_7).contains(&cx.version);
    let unset = place.mapping == Some(0) && !optional;
    let first = message.row() == 0 && !PPROF;
    let named = cx.is_usual_id::<PPROF>(Table::Location, message.row(), place.id);
    if unset || first || !named || message.len() == 0 {
        return None;
    }
    // That one comes twice is told by its bytes.
    let same = |row: usize| lines.get(..row).is_some_and(|before| before.contains(&lines[row]));
    if (1..lines.len()).any(same) {
        return None;
    }
    let attributes = ShortList::of(cx, place.attributes)?;
    mapped::<PPROF>(cx, message, place, (!lines.is_empty(), attributes.rows().len() > 0))?;
    note_lines(cx, message, lines);
    if place.id == 0 && attributes.rows().is_sorted() {
        cx.tables.note_plain(Table::Location, message.row());
    }
    attributes.mark(cx);
    Some(())
}

/// Notes in which mapping a location is, if its address is inside it; tells of an address that is in none.
///
/// The last proof before anything is noted: it notes itself what it finds. An address in no mapping
/// is told without a walk, as JITs have many.
#[inline(always)]
fn mapped<const PPROF: bool>(
    cx: &mut CheckContext<'_>,
    message: &Message,
    place: Place<'_>,
    (has_lines, has_attributes): (bool, bool),
) -> Option<()> {
    let address = place.address;
    // Before mappings could be left out, none said is the first.
    let first = cx.version == Version::V1_3 && cx.tables.len(Table::Mapping) > 0;
    let row = match place.mapping {
        Some(reference) => Some(cx.row_of::<PPROF>(Table::Mapping, reference)?),
        None => first.then_some(0),
    };
    if let Some(row) = row {
        let fact = cx.payload.mappings.get_mut(row as usize)?;
        if fact.excludes(address) {
            return None;
        }
        if PPROF && address == 0 && !has_lines {
            return None;
        }
        fact.located = true;
        fact.lined |= has_lines;
        if place.mapping.is_some() {
            cx.tables.mark(Table::Mapping, row);
        }
    } else if address == 0 && !has_lines && (PPROF || !has_attributes) {
        return None;
    } else if address > 0 && !PPROF {
        let spot = Position::at(message.start + place.address_at).field("address");
        cx.tell(&OP7011, &[message.step], spot, format_args!("{address:#x}"), "");
    }
    Some(())
}

/// Notes what the lines of a location refer to and what they take, and tells of those before their functions begin.
///
/// A line before its function is told here: it is a hint, and profilers that have one have
/// thousands.
#[inline(always)]
fn note_lines(cx: &mut CheckContext<'_>, message: &Message, lines: &[Line]) {
    for (row, line) in lines.iter().enumerate() {
        cx.tables.mark(Table::Function, line.function);
        cx.owns(Noun::Line, line.length as usize);
        let start = cx.payload.start_lines.get(line.function as usize).copied().unwrap_or(0);
        if line.line != 0 && start > line.line as i64 {
            let name = message.shape.name_of(LINES);
            let steps = [message.step, Step { name, row: Some(row as u32) }];
            let spot = Position::at(message.start + line.at as usize).field("line");
            cx.tell(&OP7014, &steps, spot, line.line, format_args!("{start} or more"));
        }
    }
}

/// Cells of `Line`.
const FUNCTION_INDEX: usize = LINE.cell("function_index");
const LINE_NUMBER: usize = LINE.cell("line");
const COLUMN: usize = LINE.cell("column");

/// A line: its function is there, and a column has a line.
///
/// Numbers past 32 bits are walked: negative ones look so, and no source has as many lines.
#[inline(always)]
fn line<const PPROF: bool>(
    cx: &CheckContext<'_>,
    shape: &'static MessageLayout,
    mut fields: Window<'_>,
) -> Option<Line> {
    let length = fields.left() as u32;
    let function = fields.exact(shape.tags[FUNCTION_INDEX]);
    let at = fields.at() as u32;
    let (line, column) = (fields.exact(shape.tags[LINE_NUMBER]), fields.exact(shape.tags[COLUMN]));
    let narrow = (line | column) <= u64::from(u32::MAX);
    if function == 0 || !narrow || (column > 0 && line == 0) || !fields.is_done() {
        return None;
    }
    let function = cx.row_of::<PPROF>(Table::Function, function)?;
    Some(Line { function, line, column, at, length })
}

/// Cells of `Function`.
const NAME: usize = FUNCTION.cell("name_strindex");
const SYSTEM_NAME: usize = FUNCTION.cell("system_name_strindex");
const FILENAME: usize = FUNCTION.cell("filename_strindex");
const START_LINE: usize = FUNCTION.cell("start_line");
const FUNCTION_ID: usize = FUNCTION.cell("id");

/// A function: its names are there, and it has one. Its first line was looked at by [`start_lines`], since lines are held
/// against it, whichever table stands first.
///
/// Any one of the three names will do, if its string is not empty.
#[inline(always)]
pub(super) fn function<const PPROF: bool>(
    cx: &mut CheckContext<'_>,
    message: &Message,
) -> Option<()> {
    let mut fields = message.short(cx)?;
    let tags = &message.shape.tags;
    let id = fields.exact(tags[FUNCTION_ID]);
    let (name, system_name) = (fields.exact(tags[NAME]), fields.exact(tags[SYSTEM_NAME]));
    let names = [name, system_name, fields.exact(tags[FILENAME])];
    fields.exact(tags[START_LINE]);
    let usual = cx.is_usual_id::<PPROF>(Table::Function, message.row(), id);
    let first = message.row() == 0 && !PPROF;
    let shown = names.into_iter().find(|name| *name != 0)?;
    if !fields.is_done() || first || !usual || cx.string(shown)?.is_empty() {
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
    Some(())
}

/// Where each function starts, if that is asked.
///
/// A search for one byte decides for nearly all rows; where it is found by chance the row is taken
/// apart. Not gathered unless `OP7014` is asked.
pub(crate) fn start_lines(cx: &mut CheckContext<'_>) -> Vec<i64> {
    let Some(shape) = cx.shapes.find(Noun::Function).filter(|_| cx.findings.asks(&OP7014)) else {
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
