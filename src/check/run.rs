//! Messages of one kind that follow one another, as rows of tables and samples do.
//!
//! A run is passed over in one loop for each kind of message, so that what is the same for all of them is decided once.
//!
//! ```text
//! dictionary   12 09 │ row 0 │ 12 07 │ row 1 │ 12 08 │ row 2 │ 1a 05 …
//! run          shape of the rows, their tag (12), the row at hand; ends at the first other tag
//! ```

use super::canonical::Message;
use super::context::CheckContext;
use super::fields::{Body, Fields};
use super::findings::Step;
use super::layout::{MessageLayout, Slot};
use super::rules::limits;

/// The messages of a field and the one of them that is next.
pub(crate) struct Run<'f, 'a> {
    /// The one at hand: to be proved, or to be walked if it cannot be.
    pub(crate) message: Message,
    /// What is behind that.
    fields: &'f mut Fields<'a>,
    /// What each of them begins with, as [`Fields::tag`] says it.
    tag: u16,
}

impl<'f, 'a> Run<'f, 'a> {
    /// A run of a field of the tag `tag`; the message in `body` is its row `row`.
    ///
    /// A field that is no list makes a run of one.
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

    /// Goes on to the next message, if there is one more.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> bool {
        self.message.next(self.tag, self.fields)
    }

    /// The byte that each message begins with.
    pub(crate) fn tag(&self) -> u16 {
        self.tag
    }

    /// How many rows there were, when there is no next.
    ///
    /// A field that is no list counts as one.
    pub(crate) fn rows(&self) -> u32 {
        self.message.step.row.unwrap_or(1)
    }

    /// Passes over messages until one is not `fine`: whether all are.
    ///
    /// What the messages take when they are decoded is added up here, since they are not walked.
    // In a frame of its own: what is walked deep has small ones.
    #[inline(never)]
    pub(crate) fn pass(
        &mut self,
        cx: &mut CheckContext<'_>,
        fine: impl Fn(&mut CheckContext<'_>, &Message) -> Option<()>,
    ) -> bool {
        // Copies that nothing points to stay in registers.
        let (mut message, mut fields, tag) = (self.message, *self.fields, self.tag);
        let size = limits::size(message.shape.noun);
        let (mut owned, mut fine_all) = (0, false);
        while !fine_all && fine(cx, &message).is_some() {
            owned += size + message.len() as u64;
            fine_all = !message.next(tag, &mut fields);
        }
        cx.payload.owned += owned;
        (self.message, *self.fields) = (message, fields);
        fine_all
    }

    /// Goes on as far as `prove` does, or stays where it is if that fails.
    ///
    /// For proofs of several messages at once, which fail as a whole.
    pub(crate) fn together<R>(&mut self, prove: impl FnOnce(&mut Self) -> Option<R>) -> Option<R> {
        let before = (self.message, *self.fields);
        let proved = prove(self);
        if proved.is_none() {
            (self.message, *self.fields) = before;
        }
        proved
    }
}
