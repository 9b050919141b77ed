//! Decodes messages that are written canonically, as nearly all are: fields by number, each once and in its shortest form.
//!
//! A decoder here asks for the fields of a message in order, by the byte that each begins with in this version. A number
//! that is 0 or not in its shortest form, an empty list, an unknown or repeated field, and another order leave bytes
//! behind or pass the end ([`Short`]), so one comparison at the end ([`is_done`](Short::is_done)) rejects them all.
//! A rejected message is walked.
//!
//! ```text
//! run of rows   12 09 │ 10 81 02 1a 04 … │ 12 07 │ …      one loop for each kind of message
//! row           asked for field 1, 2, 3 … by the byte that each begins with in this version
//! ```
//!
//! Each decoder is next to the rules of its message. It fills the row that [the rules](super::sink) take:
//!
//! | message | also walked |
//! |---|---|
//! | sample | the first of a profile, one with negative values, one with timestamps before 1.8 |
//! | location, function | row 0 of OTLP |
//! | stack | row 0, an empty one, one longer than 16 kB |
//! | attribute | a key that the conventions know, a value that is no text or integer, all before 1.8 |
//!
//! Messages of more than 256 bytes are walked, but for stacks and pprof's samples. A decoder changes no state before the
//! message has passed: then it counts what the message refers to, which the walk counts field by field. A row that equals
//! its [form](super::canonical_form) is noted as plain.

use std::fmt::Display;

use super::context::{CheckContext, FEW};
use super::fields::{Body, Fields};
use super::findings::{Position, Step};
use super::layout::MessageLayout;
use super::lists::Distinct;
use super::rule::Rule;
use super::rules::limits;
use crate::schema::{Noun, Table};
use crate::wire::short::Short;

/// The fields of a message of up to 256 bytes: more lines, timestamps and texts than those of 64 have.
pub(crate) type Window<'a> = Short<'a, 264>;

/// A message that may be canonical.
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
    pub(crate) fn fields<'a>(&self, cx: &CheckContext<'a>) -> Option<Window<'a>> {
        Window::within(cx.bytes, self.start, self.end)
    }

    /// Goes on to the next row, if another field has the tag `tag`.
    ///
    /// A copy of the step is enough for a finding; the path itself is not touched while messages
    /// are proved.
    #[inline(always)]
    pub(crate) fn next(&mut self, tag: u16, fields: &mut Fields<'_>) -> bool {
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
    pub(crate) fn within(&self, part: &Window<'_>) -> Body {
        let start = self.start + part.at();
        (start, start + part.left())
    }

    /// Its row in its table, or 0 without a table.
    pub(crate) fn row(&self) -> usize {
        self.step.row.unwrap_or(0) as usize
    }

    /// The place of a field that begins at `at`, for a finding. By value: a reference to the loop's variable would force
    /// that to memory.
    #[inline(always)]
    pub(crate) fn place(self, at: usize, cell: usize) -> impl Place {
        move || ([self.step], Position::at(self.start + at).field(self.shape.name_of(cell)))
    }

    /// How many bytes it has.
    pub(crate) fn len(&self) -> usize {
        self.end - self.start
    }
}

/// Finds the place of a finding, when there is one: the steps from the walk to the message, and the position in it.
pub(crate) trait Place {
    /// Appends the steps to the path.
    fn enter(self, path: &mut Vec<Step>) -> Position;
}

impl<const STEPS: usize, F: FnOnce() -> ([Step; STEPS], Position)> Place for F {
    fn enter(self, path: &mut Vec<Step>) -> Position {
        let (steps, spot) = self();
        path.extend(steps);
        spot
    }
}

impl CheckContext<'_> {
    /// Whether a row is there.
    ///
    /// For use with `?`.
    #[inline(always)]
    pub(crate) fn has(&self, table: Table, row: u64) -> Option<()> {
        (row < self.tables.len(table)).then_some(())
    }

    /// Reports a finding that may be common to nearly all messages of a kind: no reason to walk them.
    #[cold]
    pub(crate) fn tell(
        &mut self,
        rule: &'static Rule,
        place: impl Place,
        found: impl Display,
        bound: impl Display,
    ) {
        if !self.findings.asks(rule) {
            return;
        }
        let before = self.findings.path.len();
        let spot = place.enter(&mut self.findings.path);
        self.report(rule, spot, found, bound);
        self.findings.path.truncate(before);
    }

    /// The row of a reference from one row of a table to another; pprof's are ids.
    #[inline(always)]
    pub(crate) fn row_of<const PPROF: bool>(&self, table: Table, reference: u64) -> Option<u64> {
        match PPROF {
            true => self.payload.ids_of(table)?.row(reference),
            false => self.has(table, reference).map(|()| reference),
        }
    }

    /// Adds what the message would take when it is decoded, as [`limits::owned`] does of those that are walked.
    pub(crate) fn owns(&mut self, kind: Noun, length: usize) {
        self.payload.owned += limits::size(kind) + length as u64;
    }
}

/// A list of references to attributes of different keys. Empty for a message without a list.
///
/// Borrowed from the payload: the list is read once for the proof and once more by those who need
/// its rows.
#[derive(Clone, Copy, Default)]
pub(crate) struct ShortList<'a> {
    /// At its first number.
    body: Option<Window<'a>>,
    /// At most eight.
    len: usize,
}

impl<'a> ShortList<'a> {
    /// The list in the body of a field, of up to eight [distinct](Distinct) attributes.
    #[inline(always)]
    pub(crate) fn of(cx: &CheckContext<'_>, body: Option<Window<'a>>) -> Option<Self> {
        let Some(mut rest) = body else { return Some(Self::default()) };
        let mut distinct = Distinct::default();
        while !rest.is_over() {
            distinct.add(cx, rest.packed_shortest())?;
        }
        (rest.is_done() && distinct.len <= FEW).then_some(Self { body, len: distinct.len })
    }

    /// The rows it refers to, as they are written; read again, which costs less than keeping them, as most lists are asked
    /// for their keys alone.
    #[inline(always)]
    pub(crate) fn rows(self) -> impl ExactSizeIterator<Item = u64> {
        let mut body = self.body;
        (0..self.len).map(move |_| body.as_mut().map_or(0, Window::packed_shortest))
    }

    /// Notes what it refers to.
    ///
    /// Last of a proof, as all noting is.
    #[inline(always)]
    pub(crate) fn mark(self, cx: &mut CheckContext<'_>) {
        if !cx.tables.unmarked {
            self.rows().for_each(|row| cx.tables.mark(Table::Attribute, row));
        }
    }
}
