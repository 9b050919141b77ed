//! Fields from bytes.

use crate::error::{Error, Result};
use crate::limits::within;
use crate::wire::{END_GROUP, FIXED32, FIXED64, LEN, START_GROUP, VARINT};

/// The fields of one message, one after another.
///
/// A reader never runs past its message: lengths are compared with what is left, and every call
/// consumes at least one byte or fails.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    #[inline]
    pub(crate) fn new(message: &'a [u8]) -> Self {
        Self { rest: message }
    }

    /// What is left to read.
    #[inline]
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Goes on at `rest`, a later part of the same message.
    #[inline]
    pub(crate) fn resume(&mut self, rest: &'a [u8]) {
        self.rest = rest;
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next tag, field number and kind in one; `None` at the end of the message.
    #[inline]
    pub(crate) fn tag(&mut self) -> Result<Option<u32>> {
        match *self.rest {
            [] => Ok(None),
            [byte @ 8..0x80, ref rest @ ..] => {
                self.rest = rest;
                Ok(Some(u32::from(byte)))
            }
            _ => self.long_tag().map(Some),
        }
    }

    #[inline(never)]
    fn long_tag(&mut self) -> Result<u32> {
        let start = self.rest;
        let tag = self.varint()?;
        let length = start.len() - self.rest.len();
        match u32::try_from(tag) {
            Ok(tag) if length <= 5 && tag >> 3 != 0 => Ok(tag),
            _ => Err(bad_tag(tag, length).at(start)),
        }
    }

    #[inline]
    pub(crate) fn varint(&mut self) -> Result<u64> {
        match *self.rest {
            [a @ 0..0x80, ref rest @ ..] => {
                self.rest = rest;
                Ok(u64::from(a))
            }
            [a, b @ 0..0x80, ref rest @ ..] => {
                self.rest = rest;
                Ok(u64::from(a & 0x7f) | u64::from(b) << 7)
            }
            _ => self.long_varint(),
        }
    }

    #[inline]
    fn long_varint(&mut self) -> Result<u64> {
        let Some((word, _)) = self.rest.split_first_chunk::<8>() else { return self.slow_varint() };
        let word = u64::from_le_bytes(*word);
        let ends = !word & 0x8080_8080_8080_8080;
        if ends == 0 {
            return self.slow_varint();
        }
        let length = (ends.trailing_zeros() / 8 + 1) as usize;
        let word = word & (ends ^ ends.wrapping_sub(1));
        self.rest = &self.rest[length..];
        Ok(compact(word))
    }

    #[cold]
    #[inline(never)]
    fn slow_varint(&mut self) -> Result<u64> {
        let mut value = 0;
        for (at, &byte) in self.rest.iter().enumerate().take(10) {
            if at == 9 && byte > 1 {
                return Err(Error::malformed("a varint of more than 64 bits").at(self.rest));
            }
            value |= u64::from(byte & 0x7f) << (7 * at);
            if byte < 0x80 {
                self.rest = &self.rest[at + 1..];
                return Ok(value);
            }
        }
        Err(Error::malformed("the message ends inside a varint").at(self.rest))
    }

    /// An int32, uint32 or index: negative numbers come as [`BELOW`], too large ones as [`BEYOND`].
    #[inline]
    pub(crate) fn index(&mut self) -> Result<u32> {
        Ok(index(self.varint()?))
    }

    #[inline]
    pub(crate) fn fixed64(&mut self) -> Result<u64> {
        let Some((word, rest)) = self.rest.split_first_chunk::<8>() else {
            return Err(cut_short(8, self.rest.len()).at(self.rest));
        };
        self.rest = rest;
        Ok(u64::from_le_bytes(*word))
    }

    /// The body of a length-delimited field.
    #[inline]
    pub(crate) fn bytes(&mut self) -> Result<&'a [u8]> {
        let start = self.rest;
        let length = self.varint()?;
        if length > self.rest.len() as u64 {
            return Err(cut_short(length, self.rest.len()).at(start));
        }
        let (body, rest) = self.rest.split_at(length as usize);
        self.rest = rest;
        Ok(body)
    }

    /// Skips the value of a field whose tag was just read.
    #[inline]
    pub(crate) fn skip(&mut self, tag: u32, max_nesting: u64) -> Result<()> {
        match tag & 7 {
            LEN => self.bytes().map(|_| ()),
            VARINT => self.varint().map(|_| ()),
            _ => self.skip_rare(tag, max_nesting),
        }
    }

    #[cold]
    #[inline(never)]
    fn skip_rare(&mut self, tag: u32, max_nesting: u64) -> Result<()> {
        let start = self.rest;
        match tag & 7 {
            FIXED64 => self.fixed64().map(|_| ()),
            FIXED32 => match self.rest.split_first_chunk::<4>() {
                Some((_, rest)) => {
                    self.rest = rest;
                    Ok(())
                }
                None => Err(cut_short(4, self.rest.len()).at(start)),
            },
            START_GROUP => self.skip_group(tag >> 3, max_nesting),
            END_GROUP => Err(Error::malformed(format!("group {} ends but did not begin", tag >> 3)).at(start)),
            kind => Err(Error::malformed(format!("wire type {kind} does not exist (field {})", tag >> 3)).at(start)),
        }
    }

    /// Groups occur in no profiles schema, but any field may be unknown to us; no recursion.
    fn skip_group(&mut self, number: u32, max_nesting: u64) -> Result<()> {
        let start = self.rest;
        let mut open = vec![number];
        while let Some(&innermost) = open.last() {
            let Some(tag) = self.tag()? else {
                return Err(Error::malformed(format!("group {innermost} does not end")).at(start));
            };
            match tag & 7 {
                START_GROUP => {
                    open.push(tag >> 3);
                    within("max_nesting", max_nesting, open.len() as u64)?;
                }
                END_GROUP if tag >> 3 == innermost => drop(open.pop()),
                END_GROUP => {
                    return Err(Error::malformed(format!("group {innermost} ends as group {}", tag >> 3)).at(start));
                }
                _ => self.skip(tag, max_nesting)?,
            }
        }
        Ok(())
    }
}

/// What a negative number becomes where an index was wanted.
pub(crate) const BELOW: u32 = u32::MAX;
/// What a number past 2³²−3 becomes where an index was wanted.
pub(crate) const BEYOND: u32 = u32::MAX - 1;

/// An index from its varint. Indices are int32 or uint64 on the wire; no table has 2³² − 2 rows.
#[inline]
pub(crate) fn index(value: u64) -> u32 {
    if value < u64::from(BEYOND) { value as u32 } else { far_index(value) }
}

#[cold]
fn far_index(value: u64) -> u32 {
    if value >> 63 == 1 { BELOW } else { BEYOND }
}

/// Squeezes the continuation bits out of up to eight varint bytes.
#[inline]
fn compact(word: u64) -> u64 {
    let word = word & 0x7f7f_7f7f_7f7f_7f7f;
    let word = (word & 0x007f_007f_007f_007f) | (word & 0x7f00_7f00_7f00_7f00) >> 1;
    let word = (word & 0x0000_3fff_0000_3fff) | (word & 0x3fff_0000_3fff_0000) >> 2;
    (word & 0x0fff_ffff) | (word & 0x0fff_ffff_0000_0000) >> 4
}

#[cold]
#[inline(never)]
fn bad_tag(tag: u64, length: usize) -> Error {
    Error::malformed(match tag >> 3 {
        0 => "field number 0 does not exist".to_owned(),
        number if number >= 1 << 29 => format!("field number {number} is past the last, 536870911"),
        number => format!("the tag of field {number} takes {length} bytes, more than 5"),
    })
}

#[cold]
#[inline(never)]
fn cut_short(wanted: u64, left: usize) -> Error {
    Error::malformed(format!("{wanted} bytes are announced where {left} are left"))
}

/// The number of varints in a packed body.
#[inline]
pub(crate) fn count_packed(body: &[u8]) -> usize {
    body.chunks(128).map(|chunk| usize::from(chunk.iter().map(|&byte| u8::from(byte < 0x80)).sum::<u8>())).sum()
}

/// Appends the indices of a packed body to `out`.
///
/// Eight of one byte or four of two bytes go in one step; widths that mix go without a branch on
/// the width, since a mispredicted one costs more than the decoding.
pub(crate) fn packed_indices(body: &[u8], out: &mut Vec<u32>) -> Result<()> {
    out.reserve(count_packed(body));
    let mut rest = body;
    while let Some((chunk, _)) = rest.split_first_chunk::<8>() {
        let word = u64::from_le_bytes(*chunk);
        let more = word & 0x8080_8080_8080_8080;
        if more == 0 {
            out.extend_from_slice(&chunk.map(u32::from));
            rest = &rest[8..];
        } else if more == 0x0080_0080_0080_0080 {
            let pairs = (word & 0x007f_007f_007f_007f) | (word & 0x7f00_7f00_7f00_7f00) >> 1;
            out.extend_from_slice(&[0, 16, 32, 48].map(|at| (pairs >> at) as u32 & 0x3fff));
            rest = &rest[8..];
        } else {
            let ends = more ^ 0x8080_8080_8080_8080;
            let first = (ends.trailing_zeros() / 8 + 1) & 15;
            let after = ends & ends.wrapping_sub(1);
            let second = (after.trailing_zeros() / 8 + 1).wrapping_sub(first) & 15;
            if after == 0 || first > 4 || second > 4 {
                break_slow(&mut rest, out)?;
                continue;
            }
            let tail = word >> (8 * first);
            out.extend_from_slice(&[narrow(word, first), narrow(tail, second)]);
            rest = &rest[(first + second) as usize..];
        }
    }
    while !rest.is_empty() {
        break_slow(&mut rest, out)?;
    }
    Ok(())
}

/// A varint of up to four bytes at the low end of `word`.
#[inline]
fn narrow(word: u64, length: u32) -> u32 {
    let word = word as u32 & (u32::MAX >> (32 - 8 * length));
    (word & 0x7f) | (word >> 1 & 0x3f80) | (word >> 2 & 0x1f_c000) | (word >> 3 & 0xfe0_0000)
}

#[inline(never)]
fn break_slow(rest: &mut &[u8], out: &mut Vec<u32>) -> Result<()> {
    let mut reader = Reader::new(rest);
    out.push(reader.index()?);
    *rest = reader.rest();
    Ok(())
}

/// Appends the varints of a packed body to `out`.
#[inline]
pub(crate) fn packed_varints<T>(body: &[u8], out: &mut Vec<T>, of: impl Fn(u64) -> T) -> Result<()> {
    let mut reader = Reader::new(body);
    if body.len() > 2 {
        out.reserve(count_packed(body));
    }
    while !reader.is_empty() {
        out.push(of(reader.varint()?));
    }
    Ok(())
}

/// Appends the 8-byte words of a packed body to `out`.
pub(crate) fn packed_fixed64(body: &[u8], out: &mut Vec<u64>) -> Result<()> {
    let (words, odd) = body.as_chunks::<8>();
    if !odd.is_empty() {
        return Err(Error::malformed(format!("{} bytes are not a whole number of 8-byte values", body.len())).at(body));
    }
    out.extend(words.iter().map(|word| u64::from_le_bytes(*word)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(Reader::new(b"\xfa\xff\xff\xff\x0f").tag().unwrap(), Some((1 << 29) - 1 << 3 | LEN));
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
        for bytes in [&[0x0b][..], &[0x0c], &[0x0b, 0x14], &[0x0b, 0x12, 9, 0], &[0x0e, 0], &[0x0f]] {
            assert!(skip(bytes).is_err(), "{bytes:?}");
        }
        let deep: Vec<u8> = std::iter::repeat_n(0x0b, 100_000).collect();
        assert!(skip(&deep).unwrap_err().to_string().contains("max_nesting"));
    }

    #[test]
    fn packed_indices_agree_with_one_at_a_time() {
        let mut state = 1u64;
        for case in 0..2_000 {
            let mut body = Vec::new();
            let mut expected = Vec::new();
            for _ in 0..case % 40 {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let value = (state >> 33) as u32 >> (state as u32 >> 3 & 31);
                expected.push(value.min(BEYOND));
                crate::wire::write::varint(&mut body, u64::from(value));
            }
            assert_eq!(count_packed(&body), expected.len());
            let mut out = Vec::new();
            packed_indices(&body, &mut out).unwrap();
            assert_eq!(out, expected);
        }
        let mut out = Vec::new();
        packed_indices(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 5], &mut out).unwrap();
        assert_eq!(out, [BELOW, 5]);
        assert!(packed_indices(&[1, 0x80], &mut out).is_err());
        assert!(packed_indices(&[0xff; 20], &mut out).is_err());
    }

    #[test]
    fn words_must_be_whole() {
        let mut out = Vec::new();
        packed_fixed64(&[1, 0, 0, 0, 0, 0, 0, 0], &mut out).unwrap();
        assert_eq!(out, [1]);
        assert!(packed_fixed64(&[0; 12], &mut out).is_err());
    }
}
