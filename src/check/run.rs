//! Consecutive messages of one kind, such as rows of tables and samples.
//!
//! One loop for each kind of message handles a run, so that decisions common to all its messages are made once.
//!
//! ```text
//! dictionary   12 09 │ row 0 │ 12 07 │ row 1 │ 12 08 │ row 2 │ 1a 05 …
//! run          layout of the rows, their tag (12), the current row; ends at the first other tag
//! ```

use super::canonical::Message;
use super::context::CheckContext;
use super::fields::{Body, Fields};
use super::findings::Step;
use super::layout::{MessageLayout, Slot};
use super::rules::limits;

/// The messages of a field, with the current one.
pub(crate) struct Run<'f, 'a> {
    /// The current message: checked in canonical form, or walked if that fails.
    pub(crate) message: Message,
    /// The fields after the current message.
    fields: &'f mut Fields<'a>,
    /// The tag of each message, as returned by [`Fields::tag`].
    tag: u16,
}

impl<'f, 'a> Run<'f, 'a> {
    /// Creates a run of a field with the tag `tag`; the message in `body` is its row `row`.
    ///
    /// A singular field makes a run of one.
    pub(crate) fn new(
        shape: &'static MessageLayout,
        slot: &Slot,
        (tag, row): (u16, u32),
        (start, end): Body,
        fields: &'f mut Fields<'a>,
    ) -> Self {
        let step = Step { name: slot.field.name, row: slot.repeated.then_some(row) };
        Self { message: Message { shape, step, start, end }, fields, tag }
    }

    /// Advances to the next message, if there is one.
    // Always inlined. Without any in the library, validating takes up to 28 % more instructions.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> bool {
        self.message.next(self.tag, self.fields)
    }

    /// The tag of each message.
    pub(crate) fn tag(&self) -> u16 {
        self.tag
    }

    /// The number of rows, at the end of the run; 1 for a singular field.
    pub(crate) fn rows(&self) -> u32 {
        self.message.step.row.unwrap_or(1)
    }

    /// Advances past messages until `fine` fails, and returns whether it succeeded for all.
    ///
    /// Adds the memory of the decoded messages here, because they are not walked.
    // Not inlined: the walk is recursive, so its frames must stay small.
    #[inline(never)]
    pub(crate) fn pass(
        &mut self,
        cx: &mut CheckContext<'_>,
        fine: impl Fn(&mut CheckContext<'_>, &Message) -> Option<()>,
    ) -> bool {
        // Local copies without references stay in registers.
        let (mut message, mut fields, tag) = (self.message, *self.fields, self.tag);
        let size = limits::size(message.shape.kind);
        let (mut owned, mut fine_all) = (0, false);
        while !fine_all && fine(cx, &message).is_some() {
            owned += size + message.len() as u64;
            fine_all = !message.next(tag, &mut fields);
        }
        cx.payload.owned += owned;
        (self.message, *self.fields) = (message, fields);
        fine_all
    }

    /// Advances as far as `prove` does, or stays in place if `prove` fails.
    ///
    /// For checks of several messages together, which fail as a whole.
    pub(crate) fn together<R>(&mut self, prove: impl FnOnce(&mut Self) -> Option<R>) -> Option<R> {
        let before = (self.message, *self.fields);
        let proved = prove(self);
        if proved.is_none() {
            (self.message, *self.fields) = before;
        }
        proved
    }
}
