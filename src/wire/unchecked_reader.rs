//! Reads short messages field by field, in their usual order and without bounds checks.
//!
//! A message of up to 64 bytes, followed by at least 8 more bytes of the payload, is read through an array of 72
//! bytes, so that no word exceeds it. Most samples, locations and functions are such messages. The checker uses a
//! larger array.
//!
//! ```text
//! payload  … │ message, up to 64 bytes │ what follows, at least 8 … │
//! window     [ 72 bytes: an array, so indexing modulo 64 needs no check ]
//! ```
//!
//! Reading may run past the message and return meaningless values. [`UncheckedReader::is_done`] then finds that `at` and
//! `end` differ; the caller discards the values and reads the message again with a [`Reader`](super::read::Reader).
//! So a wrong guess costs only time. Messages that begin in the last 71 bytes of a payload always use the slower
//! reader.

use crate::wire::varint::{CONTINUES, compact, compact_low};
use crate::wire::word;

/// Reads the fields of a short message that consists of known fields with one-byte tags in their usual order, as
/// nearly every message does.
///
/// A field that is not the next one counts as absent. So after the last field, callers must test whether
/// [the whole message was read](Self::is_done), and otherwise read it again with a [`Reader`](super::read::Reader).
/// In return, no field needs a check against the end of the message or the payload.
///
/// `WINDOW` is the number of bytes that can be loaded: a power of two, the longest message, plus a word of eight
/// bytes. Larger windows exclude more messages at the end of a payload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UncheckedReader<'a, const WINDOW: usize = 72> {
    /// The payload from the first byte of the message on.
    pub(super) window: &'a [u8; WINDOW],
    /// Position of the next byte in the window. It may exceed the end of the message, which `is_done` detects.
    pub(super) at: usize,
    /// End of the message in the window.
    pub(super) end: usize,
}

/// A tag that no field has.
pub(crate) const NO_TAG: u16 = 1 << 8;

impl<'a, const WINDOW: usize> UncheckedReader<'a, WINDOW> {
    /// Returns the message between two positions of a payload, if it is short and enough of the payload follows it.
    // Always inlined. Without any in the library, decoding 1.10 takes up to 36 % more instructions.
    #[inline(always)]
    pub(crate) fn within(payload: &'a [u8], start: usize, end: usize) -> Option<Self> {
        let window = payload.get(start..start + WINDOW)?.first_chunk()?;
        // If `end` precedes `start`, the difference wraps around and exceeds `LONGEST`.
        let end = end.wrapping_sub(start);
        (end <= Self::LONGEST).then_some(Self { window, at: 0, end })
    }

    /// Maximum length of a short message in bytes.
    pub(super) const LONGEST: usize = WINDOW - 8;

    /// Maximum number of messages in a short message: each takes at least a tag and a length.
    pub(crate) const MOST_MESSAGES: usize = Self::LONGEST / 2;

    /// Loads the next eight bytes. Past the end of the message, their value is meaningless.
    ///
    /// The modulo replaces a bounds check if `at` exceeds the window.
    #[inline(always)]
    fn word(&self) -> u64 {
        word(self.window, self.at % Self::LONGEST)
    }

    /// Reads the next field's number, if its tag is `tag`. It may begin past the end of the message, which then is
    /// not done.
    ///
    /// After a varint of more than seven bytes the message is not done either, so that callers read it again.
    #[inline(always)]
    pub(crate) fn optional(&mut self, tag: u32) -> Option<u64> {
        let word = self.word();
        if word as u8 != tag as u8 {
            return None;
        }
        // Set the continuation bit of the byte that is missing after the shift, so that it does not end the varint.
        let (value, length) = short_varint(word >> 8 | 0x80 << 56);
        self.at += 1 + length;
        Some(value)
    }

    /// Like [`number`](Self::number), without a branch on the length of one or two bytes. For fields in which both
    /// are frequent.
    #[inline(always)]
    pub(crate) fn number_mixed(&mut self, tag: u32) -> u64 {
        let word = self.word();
        let varint = word >> 8;
        // Another tag, or a varint of more than two bytes.
        if word as u8 != tag as u8 || varint & 0x8080 == 0x8080 {
            return self.number(tag);
        }
        // 1 if the varint has two bytes.
        let two = varint >> 7 & 1;
        self.at += 2 + two as usize;
        (varint & 0x7f) | (varint >> 1 & 0x3f80 & two.wrapping_neg())
    }

    /// Reads the next field's number, if its tag is `tag`. Otherwise returns 0, the value of an omitted field.
    #[inline(always)]
    pub(crate) fn number(&mut self, tag: u32) -> u64 {
        self.optional(tag).unwrap_or(0)
    }

    /// Reads the next field's message, if its tag is `tag`.
    ///
    /// The length takes one byte: no message within a short message is longer.
    #[inline(always)]
    pub(crate) fn message(&mut self, tag: u32) -> Option<Self> {
        let word = self.word();
        // The second byte is the length. Its high bit means that more bytes follow.
        if word as u8 != tag as u8 || word & 0x8000 != 0 {
            return None;
        }
        self.at += 2;
        self.body(word >> 8 & 0x7f)
    }

    /// Reads the next field's tag and its number, or the length of a length-delimited field.
    #[inline(always)]
    pub(crate) fn field(&mut self) -> Option<(u32, u64)> {
        if self.at >= self.end {
            return None;
        }
        let word = self.word();
        let (value, length) = short_varint(word >> 8 | 0x80 << 56);
        self.at += 1 + length;
        Some((u32::from(word as u8), value))
    }

    /// Returns the body of a field whose length was just read, if it ends within the message. Requires a one-byte
    /// tag before a one-byte length; longer encodings are left to the [`Reader`](super::read::Reader).
    #[inline(always)]
    pub(crate) fn body(&mut self, length: u64) -> Option<Self> {
        // With a length of one byte, the tag is two bytes back.
        let tag = self.window[self.at.wrapping_sub(2) % Self::LONGEST];
        // A longer length has a continuation bit there and fails the test of `tag` below, so a cast or sum that
        // wraps around does no harm.
        let message = Self { end: self.at.wrapping_add(length as usize), ..*self };
        self.at = message.end;
        (message.end <= self.end && tag < 0x80).then_some(message)
    }

    /// Reads the next field's number, if its tag is `tag`. The tag [`NO_TAG`] never matches.
    ///
    /// For callers that test whether a message has the canonical encoding that this crate writes. After a varint
    /// that is not in its shortest form, or has more than seven bytes, the message is not done.
    #[inline(always)]
    pub(crate) fn shortest(&mut self, tag: u16) -> Option<u64> {
        let word = self.word();
        if u16::from(word as u8) != tag {
            return None;
        }
        let (value, length) = shortest_varint::<1>(word >> 8 | 0x80 << 56);
        self.at += 1 + length;
        Some(value)
    }

    /// Like [`shortest`](Self::shortest), for a field that writers omit if it is 0. Returns 0 if the field is
    /// absent; after an explicit 0 the message is not done.
    #[inline(always)]
    pub(crate) fn exact(&mut self, tag: u16) -> u64 {
        let word = self.word();
        if u16::from(word as u8) != tag {
            return 0;
        }
        let (value, length) = shortest_varint::<PAST>(word >> 8 | 0x80 << 56);
        self.at += 1 + length;
        value
    }

    /// Reads the next field's message or list, if its tag is `tag`. After one that is empty or exceeds the message,
    /// the message is not done.
    ///
    /// Unlike the functions for numbers, it tests for the end of the message, because the bytes after it may look
    /// like such a field.
    #[inline(always)]
    pub(crate) fn part(&mut self, tag: u16) -> Option<Self> {
        let word = self.word();
        if u16::from(word as u8) != tag || self.is_over() {
            return None;
        }
        let length = usize::from((word >> 8) as u8);
        let at = self.at + 2;
        let part = Self { at, end: at + length, ..*self };
        // Lengths of two bytes are not supported.
        self.at = if (1..0x80).contains(&length) { part.end } else { PAST };
        Some(part)
    }

    /// Reads the next number of a packed list. After one that is not in its shortest form, the message is not done.
    #[inline(always)]
    pub(crate) fn packed_shortest(&mut self) -> u64 {
        let (value, length) = shortest_varint::<1>(self.word());
        self.at += length;
        value
    }

    /// Returns whether the end of the message was reached or exceeded.
    #[inline(always)]
    pub(crate) fn is_over(&self) -> bool {
        self.at >= self.end
    }

    /// Returns the position of the next byte in the message.
    #[inline(always)]
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Returns the fields from a [position](Self::at) in the message on.
    #[inline(always)]
    pub(crate) fn from(self, at: usize) -> Self {
        Self { at, ..self }
    }

    /// Returns the number of unread bytes. The position must not exceed the end.
    #[inline(always)]
    pub(crate) fn left(&self) -> usize {
        self.end - self.at
    }

    /// Returns the unread bytes, or `None` if they exceed the window.
    #[inline(always)]
    pub(crate) fn rest(&self) -> Option<&'a [u8]> {
        self.window.get(self.at..self.end)
    }

    /// Reads the next eight-byte number of a packed list.
    #[inline(always)]
    pub(crate) fn fixed64(&mut self) -> Option<u64> {
        if self.at >= self.end {
            return None;
        }
        let word = self.word();
        // A number that is cut off ends past the message, which `is_done` detects.
        self.at += 8;
        Some(word)
    }

    /// Reads the next number of a packed list.
    #[inline(always)]
    pub(crate) fn packed(&mut self) -> Option<u64> {
        if self.at >= self.end {
            return None;
        }
        let (value, length) = short_varint(self.word());
        self.at += length;
        Some(value)
    }

    /// Like [`packed`](Self::packed), without a branch on the length. For values of mixed lengths, such as bytes
    /// and nanoseconds, in which the branch would be mispredicted too often.
    #[inline(always)]
    pub(crate) fn packed_mixed(&mut self) -> Option<u64> {
        if self.at >= self.end {
            return None;
        }
        let (value, length) = any_varint(self.word());
        self.at += length;
        Some(value)
    }

    /// Returns whether exactly the whole message was read.
    ///
    /// The comparison is not `>=`: a position past the end means that bytes after the message were read.
    #[inline(always)]
    pub(crate) fn is_done(&self) -> bool {
        self.at == self.end
    }
}

/// Decodes a varint at the beginning of a word. Returns it with its length, or [`PAST`] if it has more than eight
/// bytes.
#[inline(always)]
fn short_varint(word: u64) -> (u64, usize) {
    // A branch per length: the length of a field rarely changes, so the branches are predicted.
    if word & 0x80 == 0 {
        return (word & 0x7f, 1);
    }
    let low = word as u32;
    if low & 0x8000 == 0 {
        return (compact_low(low & 0x7fff).into(), 2);
    }
    if low & 0x80_0000 == 0 {
        return (compact_low(low & 0x7f_ffff).into(), 3);
    }
    if low & 0x8000_0000 == 0 {
        return (compact_low(low).into(), 4);
    }
    long_varint(word)
}

/// Decodes a varint at the beginning of a word. Returns it with its length, or [`PAST`] if it has more than eight
/// bytes or is not in its shortest form, in which the last of several bytes is not 0. `ZERO` is the length to
/// return for 0.
#[inline(always)]
fn shortest_varint<const ZERO: usize>(word: u64) -> (u64, usize) {
    if word & 0x80 == 0 {
        return (word & 0x7f, if word & 0x7f == 0 { ZERO } else { 1 });
    }
    let low = word as u32;
    if low & 0x8000 == 0 {
        let length = if low & 0x7f00 == 0 { PAST } else { 2 };
        return (compact_low(low & 0x7fff).into(), length);
    }
    if low & 0x80_0000 == 0 {
        let length = if low & 0x7f_0000 == 0 { PAST } else { 3 };
        return (compact_low(low & 0x7f_ffff).into(), length);
    }
    if low & 0x8000_0000 == 0 {
        let length = if low & 0x7f00_0000 == 0 { PAST } else { 4 };
        return (compact_low(low).into(), length);
    }
    long_shortest(word)
}

/// Decodes a varint of five to eight bytes, as [`shortest_varint`] does.
#[inline(always)]
fn long_shortest(word: u64) -> (u64, usize) {
    let (value, length) = any_varint(word);
    // The seven bits of the last byte are 0 if a shorter form exists.
    match value >> (7 * (length - 1) % 64) {
        0 => (value, PAST),
        _ => (value, length),
    }
}

/// A length that exceeds any short message.
const PAST: usize = 1 << 10;

/// Decodes a varint of five to eight bytes.
#[inline(never)]
fn long_varint(word: u64) -> (u64, usize) {
    any_varint(word)
}

/// Decodes a varint of up to eight bytes without a branch on its length. With mixed lengths, a misprediction would
/// take longer.
#[inline(always)]
fn any_varint(word: u64) -> (u64, usize) {
    let ends = !word & CONTINUES;
    if ends == 0 {
        return (0, PAST);
    }
    // The mask keeps the bits up to the end of the varint.
    let value = compact(word & (ends ^ ends.wrapping_sub(1)));
    (value, (ends.trailing_zeros() as usize + 1) / 8)
}
