//! Fields from bytes.

use crate::error::{Error, Result};
use crate::wire::LEN;
use crate::wire::faults::{
    MAX_LENGTH, MAX_LENGTH_BYTES, MAX_TAG_BYTES, bad_length, bad_tag, cut_short, no_varint,
};
use crate::wire::short::Short;
use crate::wire::varint::{CONTINUES, compact, compact_low, index};

/// The fields of one message, one after another.
///
/// What is rare is done by functions that take a reader by value and give back where they got to:
/// a reader whose address goes nowhere stays in registers, and that is most of the speed there is.
///
/// A reader never runs past its message: lengths are compared with what is left, and every call
/// consumes at least one byte or fails. It does look past it, as far as the payload goes, so that
/// a varint can be taken from one word whatever its width.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    /// The payload, from the beginning of the message or before.
    payload: &'a [u8],
    /// Where the next byte is.
    at: usize,
    /// Where the message ends, within the payload.
    end: usize,
}

impl<'a> Reader<'a> {
    /// A message that is all of the payload.
    #[inline]
    pub(crate) fn new(message: &'a [u8]) -> Self {
        Self { payload: message, at: 0, end: message.len() }
    }

    /// The fields between two bytes of a payload.
    #[inline(always)]
    pub(crate) fn within(payload: &'a [u8], start: usize, end: usize) -> Self {
        let end = end.min(payload.len());
        Self { payload, at: start.min(end), end }
    }

    /// What is left to read.
    ///
    /// Its address also tells errors where they are: [`Error::at`] takes it, the payload's start is
    /// known later.
    #[inline]
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.payload.get(self.at..self.end).unwrap_or_default()
    }

    /// The bytes left to read.
    #[inline(always)]
    pub(crate) fn left(&self) -> usize {
        self.end.saturating_sub(self.at)
    }

    /// What is left to read, or as much of it as leaves `ahead` bytes of the payload behind it, with
    /// those and the byte before: `None` when that is nothing, or varints do not end with both.
    #[inline(always)]
    pub(crate) fn with_ahead(&self, ahead: usize) -> Option<&'a [u8]> {
        let end = match self.payload.len() - self.end < ahead {
            true => self.end_with_ahead(ahead)?,
            false => self.end,
        };
        let bytes = self.payload.get(self.at.checked_sub(1)?..end + ahead)?;
        let last = bytes.len().checked_sub(ahead + 1)?;
        (last > 0 && bytes[0] | bytes[last] < 0x80).then_some(bytes)
    }

    /// The last end of a varint that leaves so many bytes of the payload behind it.
    #[cold]
    fn end_with_ahead(&self, ahead: usize) -> Option<usize> {
        let most = self.payload.len().checked_sub(ahead)?;
        let body = self.payload.get(self.at..most)?;
        Some(self.at + body.iter().rposition(|byte| *byte < 0x80)? + 1)
    }

    /// The payload from here on, past the end of the message.
    #[inline(always)]
    pub(crate) fn ahead(&self) -> &'a [u8] {
        self.payload.get(self.at..).unwrap_or_default()
    }

    /// A reader of the next `bytes` bytes alone.
    pub(crate) fn part(&self, bytes: usize) -> Self {
        Self { end: self.end.min(self.at.saturating_add(bytes)), ..*self }
    }

    /// Leaves `bytes` bytes behind.
    #[inline]
    pub(crate) fn pass(&mut self, bytes: usize) {
        self.at = self.end.min(self.at.saturating_add(bytes));
    }

    /// Whether the message is at its end.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.at >= self.end
    }

    /// The next byte of the payload, if it is one that ends a varint.
    #[inline(always)]
    fn last_byte(&self) -> Option<u8> {
        self.payload.get(self.at).copied().filter(|byte| *byte < 0x80)
    }

    /// The next tag, field number and kind in one; `None` at the end of the message.
    #[inline(always)]
    pub(crate) fn tag(&mut self) -> Result<Option<u32>> {
        self.try_tag().ok_or_else(|| self.no_tag())
    }

    /// A tag as [`tag`](Self::tag) reads it; `None`, and nothing was read, where there is none. For those who look
    /// at bytes that are likely something else: no error is made.
    #[inline(always)]
    pub(crate) fn try_tag(&mut self) -> Option<Option<u32>> {
        if self.at >= self.end {
            return Some(None);
        }
        match self.last_byte() {
            Some(byte) if byte >= 8 => {
                self.at += 1;
                Some(Some(u32::from(byte)))
            }
            _ => {
                let (tag, at) = self.long_tag()?;
                self.at = at;
                Some(Some(tag))
            }
        }
    }

    /// The next tag, whatever its length, and where it ends.
    #[inline(never)]
    fn long_tag(mut self) -> Option<(u32, usize)> {
        let start = self.at;
        let tag = u32::try_from(self.try_varint()?).ok()?;
        (self.at - start <= MAX_TAG_BYTES && tag >> 3 != 0).then_some((tag, self.at))
    }

    /// What is wrong with a tag that is none.
    #[cold]
    #[inline(never)]
    fn no_tag(self) -> Error {
        let mut after = self;
        let error = match after.try_varint() {
            Some(tag) => bad_tag(tag, after.at - self.at),
            None => no_varint(self.rest()),
        };
        error.at(self.rest())
    }

    /// A number of up to 64 bits.
    ///
    /// # Errors
    ///
    /// More than ten bytes or 64 bits, or the end of the message within it.
    #[inline(always)]
    pub(crate) fn varint(&mut self) -> Result<u64> {
        self.try_varint().ok_or_else(|| no_varint(self.rest()).at(self.rest()))
    }

    /// A number as [`varint`](Self::varint) reads it; `None`, and nothing was read, where there is none. For those who
    /// say in their own words what is wrong, or look at bytes that are likely something else: no error is made.
    #[inline(always)]
    pub(crate) fn try_varint(&mut self) -> Option<u64> {
        match self.last_byte() {
            Some(byte) if self.at < self.end => {
                self.at += 1;
                Some(u64::from(byte))
            }
            _ => self.wide_varint(),
        }
    }

    /// A varint of two bytes or more, with no branch on how many but for the very long.
    #[inline(always)]
    fn wide_varint(&mut self) -> Option<u64> {
        if let Some(word) =
            self.payload.get(self.at..self.at + 8).and_then(<[u8]>::first_chunk::<8>)
        {
            let word = u64::from_le_bytes(*word);
            let ends = !word & CONTINUES;
            let end = ends.trailing_zeros() + 1;
            let at = self.at + (end / 8) as usize;
            if at <= self.end && ends != 0 {
                self.at = at;
                return Some(if end <= 32 {
                    compact_low((word & (ends ^ ends.wrapping_sub(1))) as u32).into()
                } else {
                    compact(word & (ends ^ ends.wrapping_sub(1)))
                });
            }
        }
        let (value, at) = self.slow_varint()?;
        self.at = at;
        Some(value)
    }

    /// A varint of any length, and where it ends.
    #[cold]
    #[inline(never)]
    fn slow_varint(self) -> Option<(u64, usize)> {
        let mut value = 0;
        for (at, &byte) in self.rest().iter().enumerate().take(10) {
            if at == 9 && byte > 1 {
                return None;
            }
            value |= u64::from(byte & 0x7f) << (7 * at);
            if byte < 0x80 {
                return Some((value, self.at + at + 1));
            }
        }
        None
    }

    /// An int32, uint32 or index: negative numbers come as [`BELOW`](crate::wire::varint::BELOW), too large ones as [`BEYOND`](crate::wire::varint::BEYOND).
    #[inline(always)]
    pub(crate) fn index(&mut self) -> Result<u32> {
        Ok(index(self.varint()?))
    }

    /// Eight bytes, little-endian.
    #[inline]
    pub(crate) fn fixed64(&mut self) -> Result<u64> {
        self.fixed().map(u64::from_le_bytes)
    }

    /// Four bytes, little-endian.
    pub(crate) fn fixed32(&mut self) -> Result<u32> {
        self.fixed().map(u32::from_le_bytes)
    }

    #[inline]
    fn fixed<const N: usize>(&mut self) -> Result<[u8; N]> {
        match self.rest().first_chunk() {
            Some(word) => {
                self.at += N;
                Ok(*word)
            }
            None => Err(cut_short(N as u64, self.rest().len()).at(self.rest())),
        }
    }

    /// The body of a length-delimited field.
    ///
    /// # Errors
    ///
    /// A length past the end of the message, past 2³¹ − 1, or written in more than five bytes.
    #[inline(always)]
    pub(crate) fn bytes(&mut self) -> Result<&'a [u8]> {
        self.message().map(|message| message.rest())
    }

    /// The fields of an embedded message.
    #[inline(always)]
    pub(crate) fn message(&mut self) -> Result<Self> {
        self.try_message().ok_or_else(|| self.no_message())
    }

    /// A message as [`message`](Self::message) reads it; `None`, and nothing was read, where there is none. For those
    /// who look at bytes that are likely something else: no error is made.
    #[inline(always)]
    pub(crate) fn try_message(&mut self) -> Option<Self> {
        let start = self.at;
        let length = self.try_varint()?;
        let left = self.end - self.at;
        if length > left.min(MAX_LENGTH) as u64 || self.at - start > MAX_LENGTH_BYTES {
            self.at = start;
            return None;
        }
        let end = self.at + length as usize;
        let message = Self { end, ..*self };
        self.at = end;
        Some(message)
    }

    /// What is wrong with a length that is none, or does not fit.
    #[cold]
    #[inline(never)]
    fn no_message(self) -> Error {
        let mut after = self;
        let error = match after.try_varint() {
            Some(length) => bad_length(length, after.at - self.at, after.left()),
            None => no_varint(self.rest()),
        };
        error.at(after.rest())
    }

    /// The next field's tag and message, if it is length-delimited and both its tag and its length
    /// are the short ones of nearly every row of a table, in their shortest form; `None`, and nothing was read,
    /// otherwise.
    #[inline(always)]
    pub(crate) fn record(&mut self) -> Option<(u32, Self)> {
        let tag = self.record_tag()?;
        Some((tag, self.record_of(tag)?))
    }

    /// The byte that the next field begins with, if it is the tag of a length-delimited one.
    #[inline(always)]
    pub(crate) fn record_tag(&self) -> Option<u32> {
        let tag = u32::from(*self.payload.get(self.at)?);
        (tag & 0x87 == LEN && tag >= 8).then_some(tag)
    }

    /// The next field's message, if [`record`](Self::record) reads it and it has this tag, which is one of
    /// [`record_tag`](Self::record_tag); `None`, and nothing was read, otherwise.
    #[inline(always)]
    pub(crate) fn record_of(&mut self, tag: u32) -> Option<Self> {
        let &[found, low, high] = self.payload.get(self.at..self.at + 3)?.first_chunk()?;
        if u32::from(found) != tag {
            return None;
        }
        let (length, start) = if low < 0x80 {
            (usize::from(low), self.at + 2)
        } else if (1..0x80).contains(&high) {
            (usize::from(low & 0x7f) | usize::from(high) << 7, self.at + 3)
        } else {
            return None;
        };
        let end = start + length;
        if end > self.end {
            return None;
        }
        self.at = end;
        Some(Self { payload: self.payload, at: start, end })
    }

    /// Where the message begins and ends in the payload.
    #[inline(always)]
    pub(crate) fn span(&self) -> (usize, usize) {
        (self.at, self.end)
    }

    /// The next length-delimited field's tag and message, and where it begins; the others are
    /// skipped.
    #[inline(always)]
    pub(crate) fn next_record(&mut self, max_nesting: u64) -> Result<Option<(usize, u32, Self)>> {
        loop {
            let start = self.at;
            if let Some((tag, message)) = self.record() {
                return Ok(Some((start, tag, message)));
            }
            match self.tag()? {
                None => return Ok(None),
                Some(tag) if tag & 7 == LEN => return Ok(Some((start, tag, self.message()?))),
                Some(tag) => self.skip(tag, max_nesting)?,
            }
        }
    }

    /// The next field's number, if its tag is `tag`, of one byte.
    #[inline(always)]
    pub(crate) fn optional(&mut self, tag: u32) -> Result<Option<u64>> {
        match self.last_byte() {
            Some(byte) if u32::from(byte) == tag && self.at < self.end => {
                self.at += 1;
                self.varint().map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Where the next field is in the payload, in bytes.
    #[inline(always)]
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The message as a [`Short`], if it is one and the payload goes on far enough behind it.
    #[inline(always)]
    pub(crate) fn short(&self) -> Option<Short<'a>> {
        Short::within(self.payload, self.at, self.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::packed::packed_fixed64;

    fn varint(bytes: &[u8]) -> Result<(u64, usize)> {
        let mut reader = Reader::new(bytes);
        Ok((reader.varint()?, bytes.len() - reader.rest().len()))
    }

    #[test]
    fn varints_agree_with_the_definition_with_and_without_room_behind() {
        for value in (0..64).flat_map(|bit| [1u64 << bit, (1 << bit) - 1, u64::MAX >> bit]) {
            let mut bytes = Vec::new();
            let mut left = value;
            while left >= 0x80 {
                bytes.push(left as u8 | 0x80);
                left >>= 7;
            }
            bytes.push(left as u8);
            let length = bytes.len();
            assert_eq!(varint(&bytes).unwrap(), (value, length));
            bytes.extend([0xff; 9]);
            assert_eq!(varint(&bytes).unwrap(), (value, length));
            for cut in 0..length {
                assert!(varint(&bytes[..cut]).is_err());
            }
        }
        assert!(varint(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02]).is_err());
        assert!(varint(&[0xff; 11]).is_err());
        assert_eq!(varint(&[0x85, 0x80, 0x00]).unwrap().0, 5, "longer than needed is legal");
    }

    #[test]
    fn numbers_of_mixed_widths_are_those_read_otherwise() {
        for value in (0..64).flat_map(|bit| [1u64 << bit, (1 << bit) - 1, u64::MAX >> bit]) {
            let mut bytes = vec![0x10];
            crate::wire::write::varint(&mut bytes, value);
            let length = bytes.len();
            bytes.extend([0xff; 72]);
            let short = || Reader::within(&bytes, 0, length).short().unwrap();
            let (mut plain, mut mixed, mut other) = (short(), short(), short());
            assert_eq!(mixed.number_mixed(0x10), plain.number(0x10));
            assert_eq!(mixed.at, plain.at);
            assert_eq!((other.number_mixed(0x18), other.at), (0, 0));
            let body = || Reader::within(&bytes, 1, length).short().unwrap();
            let (mut plain, mut mixed) = (body(), body());
            assert_eq!(mixed.packed_mixed(), plain.packed());
            assert_eq!(mixed.at, plain.at);
        }
    }

    #[test]
    fn illegal_tags_are_refused() {
        for bytes in [
            &b"\x00"[..],
            b"\x01",
            b"\x80\x00",
            b"\x88\x80\x80\x80\x40",
            b"\x8a\x80\x80\x80\x80\x80\x00",
            b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00",
        ] {
            assert!(Reader::new(bytes).tag().is_err(), "{bytes:?}");
        }
        assert_eq!(
            Reader::new(b"\xfa\xff\xff\xff\x0f").tag().unwrap(),
            Some(((1 << 29) - 1) << 3 | LEN)
        );
    }

    #[test]
    fn groups_are_skipped_without_recursion_and_must_close() {
        let skip = |bytes: &[u8]| {
            let mut reader = Reader::new(bytes);
            let tag = reader.tag()?.unwrap();
            reader.skip(tag, 100)
        };
        assert!(skip(&[0x9b, 6, 0x9c, 6]).is_ok());
        assert!(skip(&[0x0b, 0x08, 1, 0x12, 1, 0xff, 0x0c]).is_ok());
        for bytes in [&[0x0b][..], &[0x0c], &[0x0b, 0x14], &[0x0b, 0x12, 9, 0], &[0x0e, 0], &[0x0f]]
        {
            assert!(skip(bytes).is_err(), "{bytes:?}");
        }
        let deep: Vec<u8> = std::iter::repeat_n(0x0b, 100_000).collect();
        assert!(
            skip(&deep).unwrap_err().to_string().contains("levels of nesting exceed the limit of")
        );
    }

    #[test]
    fn words_must_be_whole() {
        let mut out = Vec::new();
        packed_fixed64(&[1, 0, 0, 0, 0, 0, 0, 0], &mut out).unwrap();
        assert_eq!(out, [1]);
        assert!(packed_fixed64(&[0; 12], &mut out).is_err());
    }
}
