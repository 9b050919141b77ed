//! Whether a payload has any field that some formats understand differently.
//!
//! Formats that read the beginnings of all lists alike may differ in fields further on. Looking
//! for those is several times faster than walking: lists in which the formats do not differ are
//! passed over by their lengths.

use super::grammar::{Grammar, Message, bit};
use crate::wire::LEN;
use crate::wire::read::Reader;

/// Whether all fields of the payload mean the same by `ours` and by all the others.
pub(super) fn is_common(ours: &Grammar, others: &[&Grammar], payload: &[u8]) -> bool {
    let mut scan = Scan {
        ours,
        common: [0; Message::COUNT],
        into: [0; Message::COUNT],
    };
    // Messages hold only messages further down the list.
    for message in Message::ALL.into_iter().rev() {
        scan.compare(message, others);
    }
    scan.is_same(ours.root) || scan.message(ours.root, payload)
}

struct Scan<'g> {
    ours: &'g Grammar,
    /// The fields of each message that mean the same to all; all bits where all fields do.
    common: [u32; Message::COUNT],
    /// Those that hold messages in which the formats differ.
    into: [u32; Message::COUNT],
}

impl Scan<'_> {
    fn compare(&mut self, message: Message, others: &[&Grammar]) {
        let ours = self.ours;
        let same = |number: &u32| {
            others
                .iter()
                .all(|theirs| ours.field(message, *number) == theirs.field(message, *number))
        };
        let differs = |number: &u32| {
            ours.inner(message, *number)
                .is_some_and(|inner| !self.is_same(inner))
        };
        let numbers = || 0..=super::grammar::LAST_NUMBER;
        let common = numbers()
            .filter(same)
            .fold(0, |set, number| set | bit(number));
        let into = numbers()
            .filter(differs)
            .fold(0, |set, number| set | bit(number));
        if let (Some(slot), Some(inside)) = (
            self.common.get_mut(message as usize),
            self.into.get_mut(message as usize),
        ) {
            (*slot, *inside) = (common, into);
        }
    }

    fn masks(&self, message: Message) -> (u32, u32) {
        let of = |masks: &[u32; Message::COUNT]| masks.get(message as usize).copied().unwrap_or(0);
        (of(&self.common), of(&self.into))
    }

    fn is_same(&self, message: Message) -> bool {
        self.masks(message) == (u32::MAX, 0)
    }

    fn message(&self, message: Message, body: &[u8]) -> bool {
        let (common, into) = self.masks(message);
        let mut reader = Reader::new(body);
        while let Ok(Some(tag)) = reader.tag() {
            let bit = bit(tag >> 3);
            if bit != 0 && common & bit == 0 {
                return false;
            }
            let fine = if tag & 7 == LEN && into & bit != 0 {
                let Ok(body) = reader.bytes() else {
                    return false;
                };
                self.ours
                    .inner(message, tag >> 3)
                    .is_none_or(|inner| self.message(inner, body))
            } else {
                reader.skip(tag, 0).is_ok()
            };
            if !fine {
                return false;
            }
        }
        reader.is_empty()
    }
}
