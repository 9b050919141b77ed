//! Short messages, read field by field in their usual order without a check against any end.
//!
//! A message of up to 64 bytes with 8 more of the payload behind it is looked at through an array of 72, so that no
//! word can be past its end. Most samples, locations and functions are such messages. Checking looks at more.
//!
//! ```text
//! payload  … │ message, up to 64 bytes │ what follows, at least 8 … │
//! window     [ 72 bytes: an array, so indexing modulo 64 needs no check ]
//! ```
//!
//! Reading may run into what follows the message and give nonsense; `is_done` then says that `at`
//! and `end` differ, the caller forgets everything and reads the message again with a
//! [`Reader`](super::read::Reader). So a wrong guess costs time only. Messages that
//! begin in the last 71 bytes of a payload are always read the slow way.

use crate::wire::varint::{CONTINUES, compact, compact_low};
use crate::wire::word;

/// The fields of a short message, where they are what nearly every message of its kind has: known
/// ones, in the usual order, with tags of one byte.
///
/// Asking for a field that does not come next says it is not there; so whoever asked for all must
/// ask at the end whether [all was read](Self::is_done), and if not, take the message for what it
/// is with a [`Reader`](super::read::Reader). In return, no field needs a check against the ends of the payload or of
/// the message.
///
/// How many bytes are looked at is a number that may be given: a power of two for those of a message, and a word that
/// begins with the last of them. What has more cannot stand so near to the end of a payload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Short<'a, const WINDOW: usize = 72> {
    /// From the message's first byte on.
    pub(super) window: &'a [u8; WINDOW],
    /// The next byte, counted in the window. It may run past the end of the message: that shows when it is done.
    pub(super) at: usize,
    /// Where the message ends in the window.
    pub(super) end: usize,
}

/// What no field begins with.
pub(crate) const NO_TAG: u16 = 1 << 8;

impl<'a, const WINDOW: usize> Short<'a, WINDOW> {
    /// The message between two bytes of a payload, if it is short and the payload goes on far enough behind it.
    #[inline(always)]
    pub(crate) fn within(payload: &'a [u8], start: usize, end: usize) -> Option<Self> {
        let window = payload.get(start..start + WINDOW)?.first_chunk()?;
        let end = end.wrapping_sub(start);
        (end <= Self::LONGEST).then_some(Self { window, at: 0, end })
    }

    /// The longest message that is short.
    pub(super) const LONGEST: usize = WINDOW - 8;

    /// The messages in one, at the most: each has a tag and a length.
    pub(crate) const MOST_MESSAGES: usize = Self::LONGEST / 2;

    /// The next eight bytes; past the end of the message they are some bytes or other.
    ///
    /// Modulo the longest: `at` may have run past the end, and no check is wanted.
    #[inline(always)]
    fn word(&self) -> u64 {
        word(self.window, self.at % Self::LONGEST)
    }

    /// The next field's number, if its tag is `tag`. One that begins past the end is read as well:
    /// the message is not done then.
    ///
    /// A varint of more than seven bytes makes the message end elsewhere, so it is read again.
    #[inline(always)]
    pub(crate) fn optional(&mut self, tag: u32) -> Option<u64> {
        let word = self.word();
        if word as u8 != tag as u8 {
            return None;
        }
        // The byte that is not there is none that ends a varint.
        let (value, length) = short_varint(word >> 8 | 0x80 << 56);
        self.at += 1 + length;
        Some(value)
    }

    /// [`number`](Self::number) where those of one byte and of two mix: it is not guessed which.
    #[inline(always)]
    pub(crate) fn number_mixed(&mut self, tag: u32) -> u64 {
        let word = self.word();
        let varint = word >> 8;
        if word as u8 != tag as u8 || varint & 0x8080 == 0x8080 {
            return self.number(tag);
        }
        let two = varint >> 7 & 1;
        self.at += 2 + two as usize;
        (varint & 0x7f) | (varint >> 1 & 0x3f80 & two.wrapping_neg())
    }

    /// The next field's number, if its tag is `tag`; otherwise 0, as of a field left out.
    #[inline(always)]
    pub(crate) fn number(&mut self, tag: u32) -> u64 {
        self.optional(tag).unwrap_or(0)
    }

    /// The next field's message, if its tag is `tag`.
    ///
    /// A length of one byte only: a short message has no longer one.
    #[inline(always)]
    pub(crate) fn message(&mut self, tag: u32) -> Option<Self> {
        let word = self.word();
        if word as u8 != tag as u8 || word & 0x8000 != 0 {
            return None;
        }
        self.at += 2;
        self.body(word >> 8 & 0x7f)
    }

    /// The next field's tag and, of a varint, its number, or else its length.
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

    /// The body of the field whose length was just read, if it is within the message. Lengths so
    /// short take one byte behind that of the tag; whether any other is allowed a [`Reader`](super::read::Reader) says.
    #[inline(always)]
    pub(crate) fn body(&mut self, length: u64) -> Option<Self> {
        let tag = self.window[self.at.wrapping_sub(2) % Self::LONGEST];
        let message = Self { end: self.at.wrapping_add(length as usize), ..*self };
        self.at = message.end;
        (message.end <= self.end && tag < 0x80).then_some(message)
    }

    /// The next field's number, if its tag is `tag`, in the shortest form; a field that is asked for with
    /// [`NO_TAG`] is not there.
    ///
    /// For who asks whether a message is written as this crate writes it, byte by byte. What is not makes the
    /// message end elsewhere, as a varint of more than seven bytes does.
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

    /// The same, where the number may not be 0: otherwise 0, as of a field left out.
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

    /// The next field's message or list, if its tag is `tag`, of at least one byte; an empty one makes the message end
    /// elsewhere, as one does that goes on past it.
    ///
    /// What follows the message may begin like that, so this asks where it ends.
    #[inline(always)]
    pub(crate) fn part(&mut self, tag: u16) -> Option<Self> {
        let word = self.word();
        if u16::from(word as u8) != tag || self.is_over() {
            return None;
        }
        let length = usize::from((word >> 8) as u8);
        let at = self.at + 2;
        let part = Self { at, end: at + length, ..*self };
        // Lengths of two bytes are not asked for.
        self.at = if (1..0x80).contains(&length) { part.end } else { PAST };
        Some(part)
    }

    /// The next number of a packed field's message; one that is not in the shortest form makes it end elsewhere.
    #[inline(always)]
    pub(crate) fn packed_shortest(&mut self) -> u64 {
        let (value, length) = shortest_varint::<1>(self.word());
        self.at += length;
        value
    }

    /// Whether there is nothing more to read.
    #[inline(always)]
    pub(crate) fn is_over(&self) -> bool {
        self.at >= self.end
    }

    /// How far the message was read.
    #[inline(always)]
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The fields from a byte of the message on that was the [next](Self::at) one.
    #[inline(always)]
    pub(crate) fn from(self, at: usize) -> Self {
        Self { at, ..self }
    }

    /// How many bytes are left of a message of which none was read past its end.
    #[inline(always)]
    pub(crate) fn left(&self) -> usize {
        self.end - self.at
    }

    /// What is left of the message, if the payload has it.
    #[inline(always)]
    pub(crate) fn rest(&self) -> Option<&'a [u8]> {
        self.window.get(self.at..self.end)
    }

    /// The next eight-byte number of a packed field's message.
    #[inline(always)]
    pub(crate) fn fixed64(&mut self) -> Option<u64> {
        if self.at >= self.end {
            return None;
        }
        let word = self.word();
        self.at += 8;
        Some(word)
    }

    /// The next number of a packed field's message.
    #[inline(always)]
    pub(crate) fn packed(&mut self) -> Option<u64> {
        if self.at >= self.end {
            return None;
        }
        let (value, length) = short_varint(self.word());
        self.at += length;
        Some(value)
    }

    /// The same, where numbers of all widths follow one another.
    ///
    /// Values such as bytes and nanoseconds: a guess of the width would be wrong too often.
    #[inline(always)]
    pub(crate) fn packed_mixed(&mut self) -> Option<u64> {
        if self.at >= self.end {
            return None;
        }
        let (value, length) = any_varint(self.word());
        self.at += length;
        Some(value)
    }

    /// Whether all of the message was read, to its very end.
    ///
    /// Not `>=`: what ran past the end was not this message.
    #[inline(always)]
    pub(crate) fn is_done(&self) -> bool {
        self.at == self.end
    }
}

/// A varint at the beginning of a word, and its length: one past any message when it is longer
/// than eight bytes.
#[inline(always)]
fn short_varint(word: u64) -> (u64, usize) {
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

/// A varint at the beginning of a word, and its length: one past any message when it is not in the shortest form, in
/// which the last of several bytes is not 0, or longer than eight bytes. That of 0 is given.
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

/// The same of five to eight bytes.
#[inline(always)]
fn long_shortest(word: u64) -> (u64, usize) {
    let (value, length) = any_varint(word);
    match value >> (7 * (length - 1) % 64) {
        0 => (value, PAST),
        _ => (value, length),
    }
}

/// A length past the end of any short message.
const PAST: usize = 1 << 10;

/// A varint of five to eight bytes.
#[inline(never)]
fn long_varint(word: u64) -> (u64, usize) {
    any_varint(word)
}

/// A varint of up to eight bytes, whose length is not guessed: where lengths mix, a wrong guess
/// takes longer than this.
#[inline(always)]
fn any_varint(word: u64) -> (u64, usize) {
    let ends = !word & CONTINUES;
    if ends == 0 {
        return (0, PAST);
    }
    let value = compact(word & (ends ^ ends.wrapping_sub(1)));
    (value, (ends.trailing_zeros() as usize + 1) / 8)
}
