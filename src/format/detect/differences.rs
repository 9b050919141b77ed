//! In which fields of which messages several formats differ.
//!
//! A look over a large payload enters only what can tell formats apart. Messages are compared from the inside out, so
//! that a message counts as the same only if all that it holds is.
//!
//! ```text
//! common   a bit for each field number that all formats read alike
//! into     a bit for each field whose message holds a difference further in
//! ```
//!
//! A message with `common` all ones and `into` 0 is the same to all and is never entered.

use super::grammar::{Grammar, LAST_NUMBER, Message, bit};

/// In which fields of messages formats differ.
pub(super) struct Differences {
    /// The fields of each message that mean the same to all; all bits where all fields do.
    common: [u32; Message::COUNT],
    /// Those that hold messages in which the formats differ.
    into: [u32; Message::COUNT],
}

impl Differences {
    /// Between one grammar and some others, by `ours`' numbers.
    pub(super) fn of(ours: &Grammar, others: &[&Grammar]) -> Self {
        let mut differences = Self { common: [0; Message::COUNT], into: [0; Message::COUNT] };
        // Messages hold only messages further down the list.
        for message in Message::ALL.into_iter().rev() {
            differences.compare(message, ours, others);
        }
        differences
    }

    /// Compares the fields of one message, those inside of it being compared.
    ///
    /// Fields are equal by key and by what they hold; their names may differ between versions.
    fn compare(&mut self, message: Message, ours: &Grammar, others: &[&Grammar]) {
        let same = |number: &u32| {
            let field = ours.field(message, *number);
            others.iter().all(|theirs| theirs.field(message, *number) == field)
        };
        let inside = |number: &u32| {
            let inner = ours.inner(message, *number);
            inner.is_some_and(|inner| !self.is_same(inner))
        };
        let set = |numbers: &mut dyn Iterator<Item = u32>| numbers.map(bit).fold(0, |a, b| a | b);
        let formats = others.iter().chain([&ours]);
        let last = formats.map(|format| format.last(message)).max();
        let last = last.unwrap_or(0).min(LAST_NUMBER);
        // What is past the last field is unknown to all.
        let past = u32::MAX.checked_shl(last + 1).unwrap_or(0);
        let common = past | set(&mut (0..=last).filter(same));
        let into = set(&mut (0..=last).filter(inside));
        if let (Some(slot), Some(inner)) =
            (self.common.get_mut(message as usize), self.into.get_mut(message as usize))
        {
            (*slot, *inner) = (common, into);
        }
    }

    /// The fields of a message that mean the same, and those that lead to a difference: a bit for each number.
    pub(super) fn masks(&self, message: Message) -> (u32, u32) {
        let of = |masks: &[u32; Message::COUNT]| masks.get(message as usize).copied().unwrap_or(0);
        (of(&self.common), of(&self.into))
    }

    /// Whether no format reads anything in it differently.
    pub(super) fn is_same(&self, message: Message) -> bool {
        self.masks(message) == (u32::MAX, 0)
    }
}
