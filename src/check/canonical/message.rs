//! What proving a message fine takes: where it is, what is known of tables, and short lists of attributes.
//!
//! Two kinds of things: [`Message`], the place of a message with the path to it, and small
//! questions to the state ([`CheckContext`]) that end a proof with `None`. `Option<()>` instead of `bool`, so
//! that a proof is a sequence of `?`.

use std::fmt::Display;
use std::ops::Range;

use crate::check::context::{CheckContext, FEW};
use crate::check::fields::Fields;
use crate::check::findings::{Position, Step};
use crate::check::layout::MessageLayout;
use crate::check::rule::Rule;
use crate::check::rules::limits;
use crate::schema::{Noun, Table};
use crate::wire::short::Short;

/// The fields of a message of up to 256 bytes: more lines, timestamps and texts than those of 64 have.
pub(super) type Window<'a> = Short<'a, 264>;

/// A message that may be fine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    /// Its version's layout: the tags of its fields by cell.
    pub(crate) shape: &'static MessageLayout,
    /// Where it is in the message around it.
    pub(crate) step: Step,
    /// Its body in the payload.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Message {
    /// Its fields, where it is short enough.
    ///
    /// `None` also near the end of a payload, where the window does not fit.
    #[inline(always)]
    pub(super) fn short<'a>(&self, cx: &CheckContext<'a>) -> Option<Window<'a>> {
        Window::within(cx.bytes, self.start, self.end)
    }

    /// Goes on to the next row, if another field has the tag `tag`.
    ///
    /// A copy of the step is enough for a finding; the path itself is not touched while messages
    /// are proved.
    #[inline(always)]
    pub(super) fn next(&mut self, tag: u16, fields: &mut Fields<'_>) -> bool {
        let Some(row) = self.step.row else { return false };
        self.step.row = Some(row + 1);
        let Some((start, end)) = fields.again(tag) else { return false };
        (self.start, self.end) = (start, end);
        true
    }

    /// Where a part of its fields is in the payload.
    ///
    /// A window counts from the message, a payload from its own beginning.
    #[inline(always)]
    pub(super) fn within(&self, part: &Window<'_>) -> Range<usize> {
        let start = self.start + part.at();
        start..start + part.left()
    }

    /// Which row of its table it is; 0 where it is none.
    pub(super) fn row(&self) -> usize {
        self.step.row.unwrap_or(0) as usize
    }

    /// How many bytes it has.
    pub(super) fn len(&self) -> usize {
        self.end - self.start
    }
}

impl CheckContext<'_> {
    /// Whether a row is there.
    ///
    /// For use with `?`.
    #[inline(always)]
    pub(super) fn has(&self, table: Table, row: u64) -> Option<()> {
        (row < self.tables.len(table)).then_some(())
    }

    /// Raises a finding that is no reason to look at a message again: nearly all of them may have it.
    ///
    /// `steps` lead from the path of the walk to the message, and are taken off again.
    #[cold]
    pub(super) fn tell(
        &mut self,
        rule: &'static Rule,
        steps: &[Step],
        spot: Position,
        found: impl Display,
        bound: impl Display,
    ) {
        if !self.findings.asks(rule) {
            return;
        }
        let before = self.findings.path.len();
        self.findings.path.extend_from_slice(steps);
        self.report(rule, spot, found, bound);
        self.findings.path.truncate(before);
    }

    /// The row of a reference from one row of a table to another; pprof's are ids.
    ///
    /// `None` where it leads nowhere, which ends the proof; the walk says so.
    #[inline(always)]
    pub(super) fn row_of<const PPROF: bool>(&self, table: Table, reference: u64) -> Option<u64> {
        match PPROF {
            true => self.payload.ids_of(table)?.row(reference),
            false => self.has(table, reference).map(|()| reference),
        }
    }

    /// Whether there is nothing to say of the id of a row.
    ///
    /// Of pprof: the number of the row plus 1, and no earlier row has it. OTLP has no ids to be
    /// unusual.
    #[inline(always)]
    pub(super) fn is_usual_id<const PPROF: bool>(&self, table: Table, row: usize, id: u64) -> bool {
        let row = row as u64;
        !PPROF || (id == row + 1 && self.row_of::<PPROF>(table, id) == Some(row))
    }

    /// Adds what the message would take when it is decoded, as [`limits::owned`] does of those that are walked.
    pub(super) fn owns(&mut self, kind: Noun, length: usize) {
        self.payload.owned += limits::size(kind) + length as u64;
    }
}

/// A list of references to attributes, each of another key; an empty one where there is none.
///
/// Borrowed from the payload: the list is read once for the proof and once more by those who need
/// its rows.
#[derive(Clone, Copy, Default)]
pub(super) struct ShortList<'a> {
    /// At its first number.
    body: Option<Window<'a>>,
    /// At most [`FEW`].
    len: usize,
}

impl<'a> ShortList<'a> {
    /// The list in the body of a field, if there is nothing to say of it.
    ///
    /// `None` for the null attribute (since 1.8), a row that is not there or has no key, a key that
    /// came before or shares its bit with one, and more than eight.
    #[inline(always)]
    pub(super) fn of(cx: &CheckContext<'_>, body: Option<Window<'a>>) -> Option<Self> {
        let Some(mut rest) = body else { return Some(Self::default()) };
        let (mut keys, mut len) = (0, 0);
        while !rest.is_over() {
            let row = rest.packed_shortest();
            let key = cx.attributes.get(usize::try_from(row).ok()?)?.bit;
            if key & !keys == 0 {
                return None;
            }
            (keys, len) = (keys | key, len + 1);
        }
        // Where fewer are allowed, nothing is proved here.
        (rest.is_done() && len <= FEW).then_some(Self { body, len })
    }

    /// The rows it refers to, as they are written; read again, which costs less than keeping them, as most lists are asked
    /// for their keys alone.
    #[inline(always)]
    pub(super) fn rows(self) -> impl ExactSizeIterator<Item = u64> {
        let mut body = self.body;
        (0..self.len).map(move |_| body.as_mut().map_or(0, Window::packed_shortest))
    }

    /// Notes what it refers to.
    ///
    /// Last of a proof, as all noting is.
    #[inline(always)]
    pub(super) fn mark(self, cx: &mut CheckContext<'_>) {
        if !cx.tables.unmarked {
            self.rows().for_each(|row| cx.tables.mark(Table::Attribute, row));
        }
    }
}
