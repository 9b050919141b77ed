//! Stacks: messages with only a list of locations. Canonical stacks are decoded in blocks.
//!
//! A block is one range of the payload and consists of varints only. So one decoding, one maximum and one search
//! for zero bytes show that every reference in up to 64 stacks leads to a row other than the null location.
//!
//! ```text
//! one stack     3a 05 │ 0a 03 07 08 09         tag and length of the row, tag and length of the list, three rows
//! a block       up to 64 of them: one decoding, one maximum, one search for zeros over all of their bytes
//! ```

use super::*;
use crate::check::canonical::Message;
use crate::check::fields::Body;
use crate::check::run::Run;
use crate::wire::read::Reader;

/// Cell of the only field of a stack.
const LOCATION_INDICES: usize = STACK.cell("location_indices");

/// Checks a stack that the walk decoded. Row 0 is the empty stack. Several null locations in a stack are one
/// finding.
pub(crate) fn stack(cx: &mut CheckContext<'_>, record: &Record) {
    let first = cx.row() == 0;
    let depth = record.count(LOCATION_INDICES);
    if first {
        return;
    }
    if depth == 0 {
        zero::extra(cx, record);
        cx.report(&OP4008, Position::at(record.start), "", "");
        return;
    }
    if depth as u64 > cx.limits.max_stack_depth {
        let most = cx.limits.max_stack_depth;
        cx.report(&OP9005, record.field(LOCATION_INDICES), Counted(depth, "location"), most);
    }
    if let Some(row) = cx.numbers(record, LOCATION_INDICES).position(|index| index == 0) {
        let spot = cx.element(&OP4009, record, LOCATION_INDICES, row);
        cx.report(&OP4009, spot, 0, "");
    }
}

/// Decodes a canonical stack: its references lead to rows other than the null location.
#[inline]
fn canonical(cx: &mut CheckContext<'_>, message: &Message) -> Option<()> {
    let (start, end) = indices(cx, message)?;
    cx.plain(Table::Location, &(start..end), 0, 1..cx.tables.len(Table::Location))?;
    cx.tables.note_plain(Table::Stack, message.row());
    Some(())
}

/// The body of a stack's list, if the stack has no other field.
///
/// Fails for a list with more bytes than the limit allows frames. It may still have fewer frames, which the walk
/// counts.
#[inline]
fn indices(cx: &CheckContext<'_>, message: &Message) -> Option<Body> {
    let mut fields = Fields::new(cx.bytes, message.start, message.end);
    let (start, end) = fields.again(message.shape.tags[LOCATION_INDICES])?;
    let fits = end == message.end && (end - start) as u64 <= cx.limits.max_stack_depth;
    (fits && start < end && message.row() > 0).then_some((start, end))
}

/// Passes over a run of stacks in blocks of up to [`BLOCK`]. After the first block that fails, decodes the rest one
/// by one, so this module decodes no stack more than twice.
#[inline(never)]
pub(crate) fn stacks(cx: &mut CheckContext<'_>, run: &mut Run<'_, '_>) -> bool {
    while run.message.row() % BLOCK == 1 {
        match run.together(|run| block(cx, run)) {
            Some(true) => {}
            Some(false) => return true,
            None => break,
        }
    }
    run.pass(cx, canonical)
}

/// Stacks per block: enough to share the fixed costs, few enough to decode again.
const BLOCK: usize = 64;

/// Passes over stacks up to the end of a block or of the run, and returns whether the run has more.
///
/// Tags and lengths are varints as well, so all bytes of a block are decoded as one list. Afterwards the uses
/// counted for those four numbers of each stack are released. A block fails if one of its numbers is not a row of
/// the table.
fn block(cx: &mut CheckContext<'_>, run: &mut Run<'_, '_>) -> Option<bool> {
    let first = run.message;
    let (mut more, mut end, mut owned) = (true, 0, cx.payload.owned);
    while more && (run.message.row() < first.row() + BLOCK) {
        (_, end) = indices(cx, &run.message)?;
        owned += limits::size(MessageKind::Stack) + run.message.len() as u64;
        more = run.next();
    }
    let bytes = first.start - header(first.len())..end;
    cx.indices.clear();
    cx.indices.append(Reader::within(cx.bytes, bytes.start, bytes.end)).ok()?;
    // No number is 0, so a zero byte ends a varint that is not in its shortest form, be it an index, a tag or a
    // length.
    let zeros = |bytes: &[u8]| bytes.iter().fold(false, |any, byte| any | (*byte == 0));
    let most = u64::from(cx.indices.most_less_one()?);
    if zeros(cx.bytes.get(bytes)?) || most >= cx.tables.len(Table::Location) {
        return None;
    }
    cx.payload.owned = owned;
    let rows = first.row()..run.message.row();
    rows.clone().for_each(|row| cx.tables.note_plain(Table::Stack, row));
    if !cx.tables.unmarked {
        cx.mark_indices(Table::Location, 0);
        let (tag, list) = (run.tag().into(), first.shape.tags[LOCATION_INDICES].into());
        for row in rows {
            let Some((start, end)) = cx.tables.row(Table::Stack, row as u64) else { continue };
            let length = end - start;
            // The row's tag and length, the list's tag and length.
            for number in [tag, length, list, length - header(length - 2)] {
                cx.tables.release(Table::Location, number as u64);
            }
        }
    }
    Some(more)
}

/// The number of bytes that the tag and the length of a message or list take.
fn header(length: usize) -> usize {
    if length < 0x80 { 2 } else { 3 }
}
