//! Stacks: lists of locations and nothing else, of which many are proved at once.
//!
//! What a proof of a list costs, reading it, the largest of its numbers and a look for bytes of zeros, is paid once
//! for a block of stacks, whose bytes are one stretch of the payload, all of it varints.
//!
//! ```text
//! one stack     3a 05 │ 0a 03 07 08 09         tag and length of the row, tag and length of the list, three rows
//! a block       up to 64 of them: one decoding, one maximum, one search for zeros over all of their bytes
//! ```

use super::message::Message;
use super::run::Run;
use crate::check::context::CheckContext;
use crate::check::fields::{Body, Fields};
use crate::check::rules::limits;
use crate::schema::{Noun, STACK, Table};
use crate::wire::read::Reader;

/// Cell of the only field of a stack.
const LOCATION_INDICES: usize = STACK.cell("location_indices");

/// A stack, wherever it is.
///
/// Asked one by one from the first block on that cannot be proved as a whole.
#[inline(always)]
fn stack(cx: &mut CheckContext<'_>, message: &Message) -> Option<()> {
    let (start, end) = indices(cx, message)?;
    cx.plain(Table::Location, &(start..end), 0, 1..cx.tables.len(Table::Location))?;
    cx.tables.note_plain(Table::Stack, message.row());
    Some(())
}

/// The body of a stack's list, if it has nothing else.
///
/// More bytes than frames are allowed may still be fewer frames; such a stack is walked, which
/// counts.
#[inline(always)]
fn indices(cx: &CheckContext<'_>, message: &Message) -> Option<Body> {
    let mut fields = Fields::new(cx.bytes, message.start, message.end);
    let (start, end) = fields.again(message.shape.tags[LOCATION_INDICES])?;
    let fits = end == message.end && (end - start) as u64 <= cx.limits.max_stack_depth;
    (fits && start < end && message.row() > 0).then_some((start, end))
}

/// Passes over a run of stacks. Up to [`BLOCK`] of them are proved at once; where that fails all that are left are asked
/// one by one, so that none is asked more than twice.
#[inline(never)]
pub(super) fn stacks(cx: &mut CheckContext<'_>, run: &mut Run<'_, '_>) -> bool {
    while run.message.row() % BLOCK == 1 {
        match run.together(|run| block(cx, run)) {
            Some(true) => {}
            Some(false) => return true,
            None => break,
        }
    }
    run.pass(cx, stack)
}

/// How many stacks are proved at once.
///
/// In stacks: enough to share the fixed costs, few enough to be asked again.
const BLOCK: usize = 64;

/// Proves stacks up to the end of a block or of the run: whether there are more.
///
/// Tags and lengths are varints as well, so all bytes of a block are read as one list, and what those four numbers of each
/// stack were counted for is taken back. Where one of them is no row of the table, the block is not proved.
fn block(cx: &mut CheckContext<'_>, run: &mut Run<'_, '_>) -> Option<bool> {
    let first = run.message;
    let (mut more, mut end, mut owned) = (true, 0, cx.payload.owned);
    while more && (run.message.row() < first.row() + BLOCK) {
        (_, end) = indices(cx, &run.message)?;
        owned += limits::size(Noun::Stack) + run.message.len() as u64;
        more = run.next();
    }
    let bytes = first.start - header(first.len())..end;
    cx.indices.clear();
    cx.indices.append(Reader::within(cx.bytes, bytes.start, bytes.end)).ok()?;
    // No number is 0, and then a byte of zeros is the end of one that is not in its shortest form, be it a tag or a length.
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
            for number in [tag, length, list, length - header(length - 2)] {
                cx.tables.release(Table::Location, number as u64);
            }
        }
    }
    Some(more)
}

/// How many bytes the tag and the length of a message or list take that has so many.
fn header(length: usize) -> usize {
    if length < 0x80 { 2 } else { 3 }
}
