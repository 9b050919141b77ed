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

use super::grammar::{Field, Grammar, Message, bit};

/// In which fields of messages formats differ.
pub(super) struct Differences {
    /// The fields of each message that mean the same to all; all bits where all fields do.
    common: [u32; Message::COUNT],
    /// Those that hold messages in which the formats differ.
    into: [u32; Message::COUNT],
}

impl Differences {
    /// Between one grammar and some others, by `ours`' numbers.
    ///
    /// Fields are equal by key and by what they hold; their names may differ between versions.
    pub(super) fn of(ours: &Grammar, others: &[&Grammar]) -> Self {
        let mut found = Self { common: [u32::MAX; Message::COUNT], into: [0; Message::COUNT] };
        // Messages hold only messages further down the list.
        for message in Message::ALL.into_iter().rev() {
            let last = others.iter().map(|theirs| theirs.last(message)).max().unwrap_or(0);
            for number in 1..=last.max(ours.last(message)) {
                let field = ours.field(message, number);
                if others.iter().any(|theirs| theirs.field(message, number) != field) {
                    found.common[message as usize] &= !bit(number);
                }
                if field.and_then(Field::message).is_some_and(|inner| !found.is_same(inner)) {
                    found.into[message as usize] |= bit(number);
                }
            }
        }
        found
    }

    /// The fields of a message that mean the same, and those that lead to a difference: a bit for each number.
    pub(super) fn masks(&self, message: Message) -> (u32, u32) {
        (self.common[message as usize], self.into[message as usize])
    }

    /// Whether no format reads anything in it differently.
    pub(super) fn is_same(&self, message: Message) -> bool {
        self.masks(message) == (u32::MAX, 0)
    }
}
