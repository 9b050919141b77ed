//! The fields of a message by their headers alone, without a word about what is wrong with them.
//!
//! [`decode`](super::decode) says what is wrong with the bytes of a message. Who only looks for rows, or at a message once
//! more, walks it with [`Fields`]: they end where the bytes cannot be followed any further. Both stand on
//! [`Reader`], which the readers of all formats use, so that a field is where they find it.
//!
//! ```text
//! bytes   0a 03 61 62 63   10 05
//! fields  (1, Some(body))  (2, None), number() = 5
//! ```
//!
//! A walk over headers costs as many steps as there are fields at this level; what is in a body is
//! passed over by its length.

use crate::wire::read::Reader;
use crate::wire::short::NO_TAG;
use crate::wire::{FIXED32, FIXED64, LEN, VARINT};

/// Where a body begins and ends in the payload.
pub(crate) type Body = (usize, usize);

/// The fields of a message whose wire format may be wrong: they end where it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a> {
    /// From the next field on, to the end of the message.
    rest: Reader<'a>,
    /// What the last field without a body held; stale behind one with a body.
    number: u64,
}

impl<'a> Fields<'a> {
    /// The fields between two bytes of a payload.
    ///
    /// An end past the payload is its end, and a start behind that is a message of no field.
    pub(crate) fn new(bytes: &'a [u8], start: usize, end: usize) -> Self {
        Self { rest: Reader::within(bytes, start, end), number: 0 }
    }

    /// The body of the next field, if that begins with the byte `tag` and has a length in its shortest form, of one
    /// byte or two: rows of a table mostly follow one another.
    #[inline(always)]
    pub(crate) fn again(&mut self, tag: u16) -> Option<Body> {
        self.rest.record_of(tag.into()).map(|found| found.span())
    }

    /// What [`again`](Self::again) has to be told for more fields like the next one; [`NO_TAG`] where that is no usual row.
    #[inline(always)]
    pub(crate) fn tag(&self) -> u16 {
        self.rest.record_tag().map_or(NO_TAG, |tag| tag as u16)
    }

    /// The bodies of the fields with a number.
    pub(crate) fn bodies(self, number: u32) -> impl Iterator<Item = Body> + use<'a> {
        self.filter(move |(found, _)| *found == number).filter_map(|(_, body)| body)
    }

    /// The number in the last field, if it was one of a varint or of eight bytes.
    #[inline(always)]
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Where the next field begins.
    ///
    /// Once the iterator ended before the end of the message, it is where the bytes went wrong.
    #[inline(always)]
    pub(crate) fn at(&self) -> usize {
        self.rest.at()
    }

    /// A field that is no usual row.
    ///
    /// In protobuf's order of wire types. What does not fit leaves `rest` as it was, so `at` stays
    /// at the bad field.
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
    /// The number, and the body where there is one.
    type Item = (u32, Option<Body>);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        match self.rest.record() {
            Some((tag, found)) => Some((tag >> 3, Some(found.span()))),
            None => self.any(),
        }
    }
}

/// The body behind a tag, however its length is written.
fn long_body(rest: &mut Reader<'_>) -> Option<Body> {
    let length =
        usize::try_from(rest.varint().ok()?).ok().filter(|length| *length <= rest.left())?;
    let start = rest.at();
    rest.pass(length);
    Some((start, start + length))
}

/// Past the value of a field of a kind that profiles have none of: four bytes, or a group with all groups in it.
///
/// Groups are counted and not kept, as nobody asks whether each ends by its own number: `decode`
/// does.
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
