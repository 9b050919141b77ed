//! Reads fields from bytes.

use crate::error::{Error, Result};
use crate::wire::LEN;
use crate::wire::faults::{
    MAX_LENGTH, MAX_LENGTH_BYTES, MAX_TAG_BYTES, bad_length, bad_tag, cut_short, no_varint,
};
use crate::wire::unchecked_reader::UncheckedReader;
use crate::wire::varint::{CONTINUES, compact, compact_low, index};

/// Reads the fields of one message, one after the other.
///
/// Rare cases are handled by functions that take a reader by value and return the new position. The address of a
/// reader thus never escapes, and the compiler keeps it in registers, which accounts for most of the speed.
///
/// A reader never consumes bytes past its message: it compares lengths with the remaining bytes, and every call
/// consumes at least one byte or fails. It does load bytes past the message, up to the end of the payload, so that
/// it can decode a varint of any width from one word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    /// The payload. The message begins at its first byte or later.
    payload: &'a [u8],
    /// Position of the next byte in the payload.
    at: usize,
    /// End of the message in the payload.
    end: usize,
}

impl<'a> Reader<'a> {
    /// Creates a reader of a message that is the whole payload.
    #[inline]
    pub(crate) fn new(message: &'a [u8]) -> Self {
        Self { payload: message, at: 0, end: message.len() }
    }

    /// Creates a reader of the fields between two positions in a payload.
    // Always inlined. Without any in the library, decoding 1.10 takes up to 36 % more instructions.
    #[inline(always)]
    pub(crate) fn within(payload: &'a [u8], start: usize, end: usize) -> Self {
        let end = end.min(payload.len());
        Self { payload, at: start.min(end), end }
    }

    /// Returns the unread bytes of the message.
    ///
    /// Errors use their address as a position: [`Error::at`] records it, and a caller that knows the start of the
    /// payload converts it to an offset.
    #[inline]
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.payload.get(self.at..self.end).unwrap_or_default()
    }

    /// Returns the number of unread bytes.
    #[inline(always)]
    pub(crate) fn left(&self) -> usize {
        self.end.saturating_sub(self.at)
    }

    /// Returns the unread bytes with the byte before and the `ahead` bytes of the payload after them. Near the end
    /// of the payload, returns only as many whole varints as leave `ahead` bytes after them. `None` if no bytes are
    /// left, or if the byte before them or the last of them does not end a varint.
    #[inline(always)]
    pub(crate) fn with_ahead(&self, ahead: usize) -> Option<&'a [u8]> {
        // Every constructor keeps `end` within the payload, so this does not underflow.
        let end = match self.payload.len() - self.end < ahead {
            true => self.end_with_ahead(ahead)?,
            false => self.end,
        };
        let bytes = self.payload.get(self.at.checked_sub(1)?..end + ahead)?;
        // The byte before the body and the last byte of the body must each end a varint.
        let last = bytes.len().checked_sub(ahead + 1)?;
        (last > 0 && bytes[0] | bytes[last] < 0x80).then_some(bytes)
    }

    /// Returns the end of the last varint that has at least `ahead` bytes of the payload after it.
    #[cold]
    fn end_with_ahead(&self, ahead: usize) -> Option<usize> {
        let most = self.payload.len().checked_sub(ahead)?;
        let body = self.payload.get(self.at..most)?;
        Some(self.at + body.iter().rposition(|byte| *byte < 0x80)? + 1)
    }

    /// Returns the rest of the payload, past the end of the message.
    #[inline(always)]
    pub(crate) fn ahead(&self) -> &'a [u8] {
        self.payload.get(self.at..).unwrap_or_default()
    }

    /// Returns a reader of only the next `bytes` bytes.
    pub(crate) fn part(&self, bytes: usize) -> Self {
        Self { end: self.end.min(self.at.saturating_add(bytes)), ..*self }
    }

    /// Skips `bytes` bytes.
    #[inline]
    pub(crate) fn pass(&mut self, bytes: usize) {
        self.at = self.end.min(self.at.saturating_add(bytes));
    }

    /// Returns whether all bytes of the message were read.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.at >= self.end
    }

    /// Returns the next byte of the payload, if it ends a varint.
    #[inline(always)]
    fn last_byte(&self) -> Option<u8> {
        self.payload.get(self.at).copied().filter(|byte| *byte < 0x80)
    }

    /// Reads the next tag, which contains field number and wire type. `None` at the end of the message.
    #[inline(always)]
    pub(crate) fn tag(&mut self) -> Result<Option<u32>> {
        self.try_tag().ok_or_else(|| self.no_tag())
    }

    /// Like [`tag`](Self::tag), but returns `None` and consumes no bytes if the tag is invalid. For callers that
    /// probe bytes of another format: it builds no error.
    #[inline(always)]
    pub(crate) fn try_tag(&mut self) -> Option<Option<u32>> {
        if self.at >= self.end {
            return Some(None);
        }
        match self.last_byte() {
            // A tag of one byte. Below 8, the field number would be 0.
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

    /// Reads a tag of any length. Returns it with its end.
    #[inline(never)]
    fn long_tag(mut self) -> Option<(u32, usize)> {
        let start = self.at;
        let tag = u32::try_from(self.try_varint()?).ok()?;
        (self.at - start <= MAX_TAG_BYTES && tag >> 3 != 0).then_some((tag, self.at))
    }

    /// Returns the error of an invalid tag.
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

    /// Reads a number of up to 64 bits.
    ///
    /// # Errors
    ///
    /// The varint has more than ten bytes or 64 bits, or the message ends within it.
    #[inline(always)]
    pub(crate) fn varint(&mut self) -> Result<u64> {
        self.try_varint().ok_or_else(|| no_varint(self.rest()).at(self.rest()))
    }

    /// Like [`varint`](Self::varint), but returns `None` and consumes no bytes if the varint is invalid. For
    /// callers that build a more specific error, or that probe bytes of another format.
    #[inline(always)]
    pub(crate) fn try_varint(&mut self) -> Option<u64> {
        match self.last_byte() {
            // `last_byte` may return a byte past the message, which must not be consumed.
            Some(byte) if self.at < self.end => {
                self.at += 1;
                Some(u64::from(byte))
            }
            _ => self.wide_varint(),
        }
    }

    /// Reads a varint of two bytes or more. Branches on the length only if it exceeds eight bytes, because lengths
    /// are hard to predict.
    #[inline(always)]
    fn wide_varint(&mut self) -> Option<u64> {
        if let Some(word) =
            self.payload.get(self.at..self.at + 8).and_then(<[u8]>::first_chunk::<8>)
        {
            let word = u64::from_le_bytes(*word);
            // The lowest clear continuation bit marks the last byte of the varint.
            let ends = !word & CONTINUES;
            // In bits: a multiple of 8, or 65 if no byte of the word ends the varint, which `ends != 0` rejects
            // below.
            let end = ends.trailing_zeros() + 1;
            let at = self.at + (end / 8) as usize;
            // The word may extend past the message, but the varint must not.
            if at <= self.end && ends != 0 {
                self.at = at;
                // Up to four bytes, the usual case, take fewer operations. The mask keeps the bits up to the end of
                // the varint.
                return Some(if end <= 32 {
                    compact_low((word & (ends ^ ends.wrapping_sub(1))) as u32).into()
                } else {
                    compact(word & (ends ^ ends.wrapping_sub(1)))
                });
            }
        }
        // Here the varint has nine or ten bytes, is invalid, or begins in the last seven bytes of the payload.
        let (value, at) = self.slow_varint()?;
        self.at = at;
        Some(value)
    }

    /// Reads a varint of any length. Returns it with its end.
    #[cold]
    #[inline(never)]
    fn slow_varint(self) -> Option<(u64, usize)> {
        let mut value = 0;
        for (at, &byte) in self.rest().iter().enumerate().take(10) {
            // The tenth byte can hold only the 64th bit.
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

    /// Reads an int32, uint32 or index. A negative number becomes [`NEGATIVE_INDEX`](crate::wire::varint::NEGATIVE_INDEX), a number
    /// that is too large [`OVERSIZED_INDEX`](crate::wire::varint::OVERSIZED_INDEX).
    #[inline(always)]
    pub(crate) fn index(&mut self) -> Result<u32> {
        Ok(index(self.varint()?))
    }

    /// Reads eight bytes, little-endian.
    #[inline]
    pub(crate) fn fixed64(&mut self) -> Result<u64> {
        self.fixed().map(u64::from_le_bytes)
    }

    /// Reads four bytes, little-endian.
    pub(crate) fn fixed32(&mut self) -> Result<u32> {
        self.fixed().map(u32::from_le_bytes)
    }

    /// Reads `N` bytes.
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

    /// Reads the body of a length-delimited field.
    ///
    /// # Errors
    ///
    /// The length exceeds the rest of the message or 2³¹ − 1, or is encoded in more than five bytes.
    #[inline(always)]
    pub(crate) fn bytes(&mut self) -> Result<&'a [u8]> {
        self.message().map(|message| message.rest())
    }

    /// Returns a reader of an embedded message, and skips the message.
    #[inline(always)]
    pub(crate) fn message(&mut self) -> Result<Self> {
        self.try_message().ok_or_else(|| self.no_message())
    }

    /// Like [`message`](Self::message), but returns `None` and consumes no bytes if the length is invalid. For
    /// callers that probe bytes of another format: it builds no error.
    #[inline(always)]
    pub(crate) fn try_message(&mut self) -> Option<Self> {
        let start = self.at;
        let length = self.try_varint()?;
        // `try_varint` never consumes bytes past `end`, so this does not underflow.
        let left = self.end - self.at;
        if length > left.min(MAX_LENGTH) as u64 || self.at - start > MAX_LENGTH_BYTES {
            // Callers that probe another format continue from here, so the length must not be consumed.
            self.at = start;
            return None;
        }
        // The cast keeps the value, because `length` is at most `left`.
        let end = self.at + length as usize;
        let message = Self { end, ..*self };
        self.at = end;
        Some(message)
    }

    /// Returns the error of an invalid length.
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

    /// Reads the tag and message of the next field, if it is length-delimited, its tag takes one byte and its
    /// length at most two, in their shortest form. Nearly every table row is such a field. Otherwise returns `None`
    /// and consumes no bytes.
    #[inline(always)]
    pub(crate) fn record(&mut self) -> Option<(u32, Self)> {
        let tag = self.record_tag()?;
        Some((tag, self.record_of(tag)?))
    }

    /// Returns the first byte of the next field, if it is a one-byte tag of a length-delimited field. Consumes no
    /// bytes.
    #[inline(always)]
    pub(crate) fn record_tag(&self) -> Option<u32> {
        let tag = u32::from(*self.payload.get(self.at)?);
        // The mask covers the continuation bit and the wire type. The byte may be past the message; then `record_of`
        // finds that the body ends past it as well. Below 8, the field number would be 0.
        (tag & 0x87 == LEN && tag >= 8).then_some(tag)
    }

    /// Reads the message of the next field, if [`record`](Self::record) would and its tag is `tag`, which
    /// [`record_tag`](Self::record_tag) returned. Otherwise returns `None` and consumes no bytes.
    #[inline(always)]
    pub(crate) fn record_of(&mut self, tag: u32) -> Option<Self> {
        // Loads the tag and up to two bytes of the length at once.
        let &[found, low, high] = self.payload.get(self.at..self.at + 3)?.first_chunk()?;
        if u32::from(found) != tag {
            return None;
        }
        let (length, start) = if low < 0x80 {
            (usize::from(low), self.at + 2)
        // A high byte of 0 is a longer form than necessary; from 0x80 on, the length has a third byte.
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

    /// Returns the positions of the next byte and of the end of the message in the payload.
    #[inline(always)]
    pub(crate) fn span(&self) -> (usize, usize) {
        (self.at, self.end)
    }

    /// Reads the next length-delimited field: its position, tag and message. Skips other fields.
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

    /// Reads the value of the next varint field, if its tag is `tag`, which has one byte.
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

    /// Returns the position of the next field in the payload, in bytes.
    #[inline(always)]
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Returns the message as an [`UncheckedReader`], if it is short and enough of the payload follows it.
    #[inline(always)]
    pub(crate) fn unchecked(&self) -> Option<UncheckedReader<'a>> {
        UncheckedReader::within(self.payload, self.at, self.end)
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
            let short = || Reader::within(&bytes, 0, length).unchecked().unwrap();
            let (mut plain, mut mixed, mut other) = (short(), short(), short());
            assert_eq!(mixed.number_mixed(0x10), plain.number(0x10));
            assert_eq!(mixed.at, plain.at);
            assert_eq!((other.number_mixed(0x18), other.at), (0, 0));
            let body = || Reader::within(&bytes, 1, length).unchecked().unwrap();
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
