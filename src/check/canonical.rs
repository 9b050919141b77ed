//! Decodes messages in canonical encoding, as nearly all are: fields by number, each once and in its shortest form.
//!
//! A decoder here expects the fields of a message in order, by the first byte of each in this version. A number
//! that is 0 or not in its shortest form, an empty list, an unknown or repeated field, and another order leave
//! bytes over or pass the end ([`UncheckedReader`]), so one comparison at the end ([`is_done`](UncheckedReader::is_done)) rejects them
//! all. A rejected message is walked.
//!
//! ```text
//! run of rows   12 09 │ 10 81 02 1a 04 … │ 12 07 │ …      one loop for each kind of message
//! row           fields 1, 2, 3 … in order, each found by its first byte in this version
//! ```
//!
//! Each decoder is next to the rules of its message. It fills the row that [the rules](super::sink) take:
//!
//! | message | also walked |
//! |---|---|
//! | sample | the first of a profile, one with negative values, one with timestamps before 1.8 |
//! | location, function | row 0 of OTLP |
//! | stack | row 0, an empty one, one longer than 16 kB |
//! | attribute | a key that a convention defines, a value that is no string or integer, all before 1.8 |
//!
//! Messages of more than 256 bytes are walked, except stacks and pprof's samples. A decoder changes no state before
//! the message has passed. Then it counts the references of the message, which the walk counts field by field. A
//! row that equals its [form](super::canonical_form) is marked as plain.

use std::fmt::Display;

use super::context::{CheckContext, FEW};
use super::fields::{Body, Fields};
use super::findings::{Position, Step};
use super::layout::MessageLayout;
use super::lists::Distinct;
use super::rule::Rule;
use super::rules::limits;
use crate::schema::{MessageKind, Table};
use crate::wire::unchecked_reader::UncheckedReader;

/// The fields of a message of up to 256 bytes. A window of 64 would be too short for many lines, timestamps and
/// strings.
pub(crate) type Window<'a> = UncheckedReader<'a, 264>;

/// A message that may be canonical.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    /// The layout of the version: the tags of fields by cell.
    pub(crate) shape: &'static MessageLayout,
    /// The position in the surrounding message.
    pub(crate) step: Step,
    /// The body in the payload.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Message {
    /// The fields, if the message is short enough.
    ///
    /// Also `None` near the end of a payload, where the window does not fit.
    // Always inlined. Without any in the library, validating takes up to 28 % more instructions.
    #[inline(always)]
    pub(crate) fn fields<'a>(&self, cx: &CheckContext<'a>) -> Option<Window<'a>> {
        Window::within(cx.bytes, self.start, self.end)
    }

    /// Advances to the next row, if another field has the tag `tag`.
    ///
    /// A copy of the step suffices for a finding; the path itself does not change during canonical decoding.
    #[inline(always)]
    pub(crate) fn next(&mut self, tag: u16, fields: &mut Fields<'_>) -> bool {
        let Some(row) = self.step.row else { return false };
        self.step.row = Some(row + 1);
        let Some((start, end)) = fields.again(tag) else { return false };
        (self.start, self.end) = (start, end);
        true
    }

    /// The position of a part of the fields in the payload. A window counts from the start of the message.
    #[inline(always)]
    pub(crate) fn within(&self, part: &Window<'_>) -> Body {
        let start = self.start + part.at();
        (start, start + part.left())
    }

    /// The row in its table, or 0 without a table.
    pub(crate) fn row(&self) -> usize {
        self.step.row.unwrap_or(0) as usize
    }

    /// The place of a field that begins at `at`, for a finding. Takes `self` by value: a reference to the loop's
    /// variable would force that to memory.
    #[inline(always)]
    pub(crate) fn place(self, at: usize, cell: usize) -> impl Place {
        move || ([self.step], Position::at(self.start + at).field(self.shape.name_of(cell)))
    }

    /// The length in bytes.
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
    /// Whether a row exists, for use with `?`.
    #[inline(always)]
    pub(crate) fn has(&self, table: Table, row: u64) -> Option<()> {
        (row < self.tables.len(table)).then_some(())
    }

    /// Reports a finding without walking the message. Nearly all messages of a kind may have such a finding.
    #[cold]
    pub(crate) fn tell(
        &mut self,
        rule: &'static Rule,
        place: impl Place,
        found: impl Display,
        bound: impl Display,
    ) {
        if !self.findings.is_enabled(rule) {
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

    /// Adds the memory that the decoded message would take, as [`limits::owned`] does for walked messages.
    pub(crate) fn owns(&mut self, kind: MessageKind, length: usize) {
        self.payload.owned += limits::size(kind) + length as u64;
    }
}

/// A list of references to attributes with distinct keys. Empty for a message without a list.
///
/// Borrows from the payload: the list is decoded once for the check, and again by callers that need its rows.
#[derive(Clone, Copy, Default)]
pub(crate) struct ShortList<'a> {
    /// The window at the first number.
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

    /// The rows in the list, in order. Decoded again, which costs less than storing them, because most callers need
    /// only the keys.
    #[inline(always)]
    pub(crate) fn rows(self) -> impl ExactSizeIterator<Item = u64> {
        let mut body = self.body;
        (0..self.len).map(move |_| body.as_mut().map_or(0, Window::packed_shortest))
    }

    /// Counts the references, after all checks have passed.
    #[inline(always)]
    pub(crate) fn mark(self, cx: &mut CheckContext<'_>) {
        if !cx.tables.unmarked {
            self.rows().for_each(|row| cx.tables.mark(Table::Attribute, row));
        }
    }
}
