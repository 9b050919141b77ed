//! Messages of one kind that follow one another, as rows of tables and samples do.
//!
//! A run is passed over in one loop for each kind of message, so that what is the same for all of them is decided once.

use super::message::Message;
use crate::check::cx::Cx;
use crate::check::fields::{Body, Fields};
use crate::check::findings::Step;
use crate::check::shape::{Shape, Slot};

/// The messages of a field and the one of them that is next.
pub(crate) struct Run<'f, 'a> {
    pub(crate) message: Message,
    /// What is behind that.
    fields: &'f mut Fields<'a>,
    /// The byte that each of them begins with.
    tag: u8,
}

impl<'f, 'a> Run<'f, 'a> {
    /// A run of a field that begins with the byte `tag`; the message in `body` is its row `row`.
    pub(crate) fn new(
        shape: &'static Shape,
        slot: &Slot,
        (tag, row): (u8, u32),
        (start, end): Body,
        fields: &'f mut Fields<'a>,
    ) -> Self {
        let step = Step { name: slot.field.name, row: slot.repeated.then_some(row) };
        Self { message: Message { shape, step, start, end }, fields, tag }
    }

    /// Goes on to the next message, if there is one more.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> bool {
        let Some(row) = self.message.step.row else { return false };
        self.message.step.row = Some(row + 1);
        let Some((start, end)) = self.fields.again(self.tag) else { return false };
        (self.message.start, self.message.end) = (start, end);
        true
    }

    /// How many rows there were, when there is no next.
    pub(crate) fn rows(&self) -> u32 {
        self.message.step.row.unwrap_or(1)
    }

    /// Passes over messages until one is not `fine`: whether all are.
    // In a frame of its own: what is walked deep has small ones.
    #[inline(never)]
    pub(super) fn pass(
        &mut self,
        cx: &mut Cx<'_>,
        fine: impl Fn(&mut Cx<'_>, &Message) -> Option<()>,
    ) -> bool {
        while fine(cx, &self.message).is_some() {
            if !self.next() {
                return true;
            }
        }
        false
    }

    /// Goes on as far as `prove` does, or stays where it is if that fails.
    pub(super) fn together<R>(&mut self, prove: impl FnOnce(&mut Self) -> Option<R>) -> Option<R> {
        let before = (self.message, *self.fields);
        let proved = prove(self);
        if proved.is_none() {
            (self.message, *self.fields) = before;
        }
        proved
    }
}
