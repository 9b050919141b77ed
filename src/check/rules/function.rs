//! Functions, of OTLP and of pprof.

use super::*;
use crate::check::canonical::Message;
use crate::check::sink::{First, Sink};
use crate::check::text;

/// Cells of `Function`.
const ID: usize = FUNCTION.cell("id");
const NAME: usize = FUNCTION.cell("name_strindex");
const SYSTEM_NAME: usize = FUNCTION.cell("system_name_strindex");
const FILENAME: usize = FUNCTION.cell("filename_strindex");
const START_LINE: usize = FUNCTION.cell("start_line");

/// A row of the function table.
struct FunctionRow {
    id: u64,
    names: [u64; 3],
    start_line: i64,
}

/// Checks a function that the walk decoded.
pub(crate) fn function<const PPROF: bool>(cx: &mut CheckContext<'_>, record: &Record) {
    if !PPROF && zero::is_zero_row(cx, record) {
        return;
    }
    let (id, start_line) = (record.number(ID), record.signed(START_LINE));
    let names = [NAME, SYSTEM_NAME, FILENAME].map(|cell| record.number(cell));
    let function = FunctionRow { id, names, start_line };
    rules::<PPROF>(cx, &function, cx.row(), record);
}

/// Decodes and checks a canonical function.
#[inline]
pub(crate) fn canonical<const PPROF: bool>(
    cx: &mut CheckContext<'_>,
    message: &Message,
) -> Option<()> {
    let (mut fields, tags, row) = (message.fields(cx)?, &message.shape.tags, message.row());
    let id = fields.exact(tags[ID]);
    let (name, system_name) = (fields.exact(tags[NAME]), fields.exact(tags[SYSTEM_NAME]));
    let names = [name, system_name, fields.exact(tags[FILENAME])];
    let start_line = fields.exact(tags[START_LINE]) as i64;
    if !fields.is_done() || (row == 0 && !PPROF) {
        return None;
    }
    rules::<PPROF>(cx, &FunctionRow { id, names, start_line }, row, &First)?;
    for name in names {
        cx.has(Table::String, name)?;
    }
    for name in names {
        cx.tables.mark(Table::String, name);
    }
    if id == 0 {
        cx.tables.note_plain(Table::Function, row);
    }
    Some(())
}

/// Checks that the start line is not negative and that the function has a name; in pprof, that it has an id.
///
/// A name out of range has another finding.
#[inline]
fn rules<const PPROF: bool>(
    cx: &mut CheckContext<'_>,
    function: &FunctionRow,
    row: usize,
    out: &impl Sink,
) -> Option<()> {
    if function.start_line < 0 {
        let rule = if PPROF { &PP1036 } else { &OP7006 };
        out.found(cx, |cx, at| cx.report(rule, at.field(START_LINE), at.signed(START_LINE), ""))?;
    }
    if PPROF {
        return pprof_rows::id(cx, (ID, function.id), (Table::Function, row), &PP1006, out);
    }
    let is_empty = |name| name == 0 || cx.string(name).is_some_and(<[u8]>::is_empty);
    let [name, system_name, filename] = function.names;
    if is_empty(name) && is_empty(system_name) && is_empty(filename) {
        out.found(cx, |cx, at| cx.report(&OP7008, Position::at(at.start), "", ""))?;
    }
    Some(())
}

/// The start lines of all functions, which the rules of [`lines`](super::location) need. Empty if no such rule is
/// enabled.
///
/// Nearly all functions lack a start line. A search for the byte of its tag shows that, so only functions with that
/// byte are decoded.
pub(crate) fn start_lines(cx: &mut CheckContext<'_>) -> Vec<i64> {
    let Some(shape) =
        cx.shapes.find(MessageKind::Function).filter(|_| cx.findings.is_enabled(&OP7014))
    else {
        return Vec::new();
    };
    let mut record = cx.pool.get();
    let tag = shape.tags[START_LINE] as u8;
    let rows = cx.tables.rows[Table::Function as usize].iter();
    rows.map(|(start, end)| {
        let (start, end) = (*start as usize, *end as usize);
        if !text::has(cx.bytes.get(start..end).unwrap_or_default(), tag) {
            return 0;
        }
        cx.peek_into(shape, start, end, &mut record);
        record.signed(START_LINE)
    })
    .collect()
}
