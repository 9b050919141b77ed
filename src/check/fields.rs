//! Iterates over the fields of a message by their headers, without reporting defects.
//!
//! [`decode`](super::decode) reports the defects of a message. Code that only locates rows, or decodes a message
//! once more, uses [`Fields`], which end at the first malformed byte. Both are based on [`Reader`], like the
//! readers of all formats, so they find fields in the same positions.
//!
//! ```text
//! bytes   0a 03 61 62 63   10 05
//! fields  (1, Some(body))  (2, None), number() = 5
//! ```
//!
//! A scan over headers takes one step for each field of the message; bodies are skipped by their length.

use crate::wire::read::Reader;
use crate::wire::unchecked_reader::NO_TAG;
use crate::wire::{FIXED32, FIXED64, LEN, VARINT};

/// The start and the end of a body in the payload.
pub(crate) type Body = (usize, usize);

/// The fields of a message, up to the first malformed one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a> {
    /// The bytes from the next field to the end of the message.
    rest: Reader<'a>,
    /// The value of the last field without a body; stale after a field with one.
    number: u64,
}

impl<'a> Fields<'a> {
    /// Creates an iterator over the fields between two bytes of a payload.
    ///
    /// An end past the payload is clamped. A start past the end yields no fields.
    pub(crate) fn new(bytes: &'a [u8], start: usize, end: usize) -> Self {
        Self { rest: Reader::within(bytes, start, end), number: 0 }
    }

    /// The body of the next field, if it begins with the byte `tag` and its length is in its shortest form of one
    /// or two bytes. Rows of a table mostly follow one another.
    #[inline]
    pub(crate) fn again(&mut self, tag: u16) -> Option<Body> {
        self.rest.record_of(tag.into()).map(|found| found.span())
    }

    /// The tag with which [`again`](Self::again) finds more fields like the next one; [`NO_TAG`] if that field is
    /// not length-delimited in the usual form.
    #[inline]
    pub(crate) fn tag(&self) -> u16 {
        self.rest.record_tag().map_or(NO_TAG, |tag| tag as u16)
    }

    /// The bodies of the fields with a number.
    pub(crate) fn bodies(self, number: u32) -> impl Iterator<Item = Body> + use<'a> {
        self.filter(move |(found, _)| *found == number).filter_map(|(_, body)| body)
    }

    /// The value of the last field, if it was a varint or eight bytes.
    #[inline]
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The start of the next field, or of the malformed one if the iterator ended before the end of the message.
    #[inline]
    pub(crate) fn at(&self) -> usize {
        self.rest.at()
    }

    /// Decodes a field in any form.
    ///
    /// On failure `rest` stays unchanged, so `at` stays at the malformed field.
    // Always inlined. Without any in the library, validating takes up to 28 % more instructions.
    #[inline(always)]
    fn any(&mut self) -> Option<(u32, Option<Body>)> {
        if self.rest.is_empty() {
            return None;
        }
        let mut rest = self.rest;
        let tag = rest.varint().ok()?;
        let mut found = None;
        match tag as u32 & 7 {
            VARINT => self.number = rest.varint().ok()?,
            FIXED64 => {
                let word = rest.ahead().first_chunk();
                self.number = word.map_or(0, |word| u64::from_le_bytes(*word));
                rest.pass(8);
            }
            LEN => found = Some(long_body(&mut rest)?),
            _ => rest = past(rest, tag)?,
        }
        self.rest = rest;
        Some(((tag >> 3) as u32, found))
    }
}

impl Iterator for Fields<'_> {
    /// The number, and the body if the field is length-delimited.
    type Item = (u32, Option<Body>);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        match self.rest.record() {
            Some((tag, found)) => Some((tag >> 3, Some(found.span()))),
            None => self.any(),
        }
    }
}

/// The body after a tag, with its length in any form.
fn long_body(rest: &mut Reader<'_>) -> Option<Body> {
    let length =
        usize::try_from(rest.varint().ok()?).ok().filter(|length| *length <= rest.left())?;
    let start = rest.at();
    rest.pass(length);
    Some((start, start + length))
}

/// Skips the value of a field with a wire type that profiles do not use: four bytes, or a group with all nested
/// groups.
///
/// Counts groups without their numbers: `decode` checks that each ends with its own.
#[cold]
fn past(mut rest: Reader<'_>, tag: u64) -> Option<Reader<'_>> {
    let mut open = 0;
    let mut kind = tag as u32 & 7;
    loop {
        match kind {
            VARINT => drop(rest.varint().ok()?),
            FIXED64 => rest.pass(8),
            FIXED32 => rest.pass(4),
            LEN => drop(long_body(&mut rest)?),
            3 => open += 1,
            4 if open > 0 => open -= 1,
            _ => return None,
        }
        if open == 0 {
            return Some(rest);
        }
        kind = rest.varint().ok()? as u32 & 7;
    }
}
