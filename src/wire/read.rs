//! Fields from bytes.

use crate::error::{Error, Result};
use crate::limits::within;
use crate::wire::{END_GROUP, FIXED32, FIXED64, LEN, START_GROUP, VARINT};

/// The fields of one message, one after another.
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
    #[inline]
    pub(crate) fn new(message: &'a [u8]) -> Self {
        Self {
            payload: message,
            at: 0,
            end: message.len(),
        }
    }

    /// What is left to read.
    #[inline]
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.payload.get(self.at..self.end).unwrap_or_default()
    }

    /// The bytes left to read.
    #[inline(always)]
    pub(crate) fn left(&self) -> usize {
        self.end.saturating_sub(self.at)
    }

    /// Leaves `bytes` bytes behind.
    #[inline]
    pub(crate) fn pass(&mut self, bytes: usize) {
        self.at = self.end.min(self.at.saturating_add(bytes));
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.at >= self.end
    }

    /// The next byte of the payload, if it is one that ends a varint.
    #[inline(always)]
    fn last_byte(&self) -> Option<u8> {
        self.payload
            .get(self.at)
            .copied()
            .filter(|byte| *byte < 0x80)
    }

    /// The next tag, field number and kind in one; `None` at the end of the message.
    #[inline(always)]
    pub(crate) fn tag(&mut self) -> Result<Option<u32>> {
        if self.at >= self.end {
            return Ok(None);
        }
        match self.last_byte() {
            Some(byte) if byte >= 8 => {
                self.at += 1;
                Ok(Some(u32::from(byte)))
            }
            _ => self.long_tag().map(Some),
        }
    }

    #[inline(never)]
    fn long_tag(&mut self) -> Result<u32> {
        let start = self.rest();
        let tag = self.varint()?;
        let length = start.len() - self.rest().len();
        match u32::try_from(tag) {
            Ok(tag) if length <= 5 && tag >> 3 != 0 => Ok(tag),
            _ => Err(bad_tag(tag, length).at(start)),
        }
    }

    #[inline(always)]
    pub(crate) fn varint(&mut self) -> Result<u64> {
        match self.last_byte() {
            Some(byte) if self.at < self.end => {
                self.at += 1;
                Ok(u64::from(byte))
            }
            _ => self.wide_varint(),
        }
    }

    /// A varint of two bytes or more, with no branch on how many but for the very long.
    #[inline]
    fn wide_varint(&mut self) -> Result<u64> {
        let Some(word) = self
            .payload
            .get(self.at..)
            .and_then(<[u8]>::first_chunk::<8>)
        else {
            return self.slow_varint();
        };
        let word = u64::from_le_bytes(*word);
        let ends = !word & CONTINUES;
        let end = ends.trailing_zeros() + 1;
        let at = self.at + (end / 8) as usize;
        if at > self.end || ends == 0 {
            return self.slow_varint();
        }
        self.at = at;
        Ok(if end <= 32 {
            narrow(word, 0, end).into()
        } else {
            compact(word & (ends ^ ends.wrapping_sub(1)))
        })
    }

    #[cold]
    #[inline(never)]
    fn slow_varint(&mut self) -> Result<u64> {
        let rest = self.rest();
        let mut value = 0;
        for (at, &byte) in rest.iter().enumerate().take(10) {
            if at == 9 && byte > 1 {
                return Err(Error::malformed("a varint of more than 64 bits").at(rest));
            }
            value |= u64::from(byte & 0x7f) << (7 * at);
            if byte < 0x80 {
                self.pass(at + 1);
                return Ok(value);
            }
        }
        Err(Error::malformed("the message ends inside a varint").at(rest))
    }

    /// An int32, uint32 or index: negative numbers come as [`BELOW`], too large ones as [`BEYOND`].
    #[inline(always)]
    pub(crate) fn index(&mut self) -> Result<u32> {
        Ok(index(self.varint()?))
    }

    #[inline]
    pub(crate) fn fixed64(&mut self) -> Result<u64> {
        match self.rest().first_chunk::<8>() {
            Some(word) => {
                self.at += 8;
                Ok(u64::from_le_bytes(*word))
            }
            None => Err(cut_short(8, self.rest().len()).at(self.rest())),
        }
    }

    /// The body of a length-delimited field.
    #[inline(always)]
    pub(crate) fn bytes(&mut self) -> Result<&'a [u8]> {
        self.message().map(|message| message.rest())
    }

    /// The fields of an embedded message.
    #[inline(always)]
    pub(crate) fn message(&mut self) -> Result<Self> {
        let length = self.varint()?;
        let left = self.end - self.at;
        if length > left as u64 {
            return Err(cut_short(length, left).at(self.rest()));
        }
        let end = self.at + length as usize;
        let message = Self { end, ..*self };
        self.at = end;
        Ok(message)
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
        let start = self.rest();
        match tag & 7 {
            FIXED64 => self.fixed64().map(|_| ()),
            FIXED32 if self.rest().len() >= 4 => {
                self.pass(4);
                Ok(())
            }
            FIXED32 => Err(cut_short(4, self.rest().len()).at(start)),
            START_GROUP => self.skip_group(tag >> 3, max_nesting),
            END_GROUP => Err(Error::malformed(format!(
                "group {} ends but did not begin",
                tag >> 3
            ))
            .at(start)),
            kind => Err(Error::malformed(format!(
                "wire type {kind} does not exist (field {})",
                tag >> 3
            ))
            .at(start)),
        }
    }

    /// Groups occur in no profiles schema, but any field may be unknown to us; no recursion.
    fn skip_group(&mut self, number: u32, max_nesting: u64) -> Result<()> {
        let start = self.rest();
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
                    return Err(Error::malformed(format!(
                        "group {innermost} ends as group {}",
                        tag >> 3
                    ))
                    .at(start));
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
    if value < u64::from(BEYOND) {
        value as u32
    } else {
        far_index(value)
    }
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
    Error::malformed(format!(
        "{wanted} bytes are announced where {left} are left"
    ))
}

/// The number of varints in a packed body.
#[inline]
pub(crate) fn count_packed(body: &[u8]) -> usize {
    body.chunks(128)
        .map(|chunk| usize::from(chunk.iter().map(|&byte| u8::from(byte < 0x80)).sum::<u8>()))
        .sum()
}

/// Appends the indices of a packed body to `out`.
///
/// Widths that mix are told apart without a branch on them: a mispredicted one costs more than
/// the decoding.
pub(crate) fn packed_indices(body: &[u8], out: &mut Vec<u32>) -> Result<()> {
    let count = count_packed(body);
    if count == body.len() {
        out.extend(body.iter().map(|&byte| u32::from(byte)));
        return Ok(());
    }
    let first = out.len();
    out.resize(first + count, 0);
    let mut free = Slots(&mut out[first..]);
    let mut rest = body;
    while let Some((chunk, _)) = rest.split_first_chunk::<8>() {
        let word = u64::from_le_bytes(*chunk);
        let more = word & CONTINUES;
        if more & more >> 8 == 0
            && let Some(slots) = free.0.first_chunk_mut::<8>()
        {
            let filled = ones_and_twos(word, slots);
            free.skip(filled);
            rest = &rest[8 - (more >> 63) as usize..];
            continue;
        }
        let [a, b, c, d] = ends_of(more ^ CONTINUES);
        if more & more >> 8 & more >> 16 & more >> 24 != 0 {
            // Five bytes or more.
            rest = wide(rest, &mut free)?;
        } else if d <= 64 {
            free.fill([
                narrow(word, 0, a),
                narrow(word, a, b),
                narrow(word, b, c),
                narrow(word, c, d),
            ]);
            rest = &rest[(d / 8) as usize..];
        } else {
            free.fill([narrow(word, 0, a), narrow(word, a, b)]);
            rest = &rest[(b / 8) as usize..];
        }
    }
    short_tail(body, rest, free)
}

/// The varints of one and two bytes that end in a word; how many there are.
///
/// Every byte is taken for the beginning of a varint, four even and four odd ones at once. Each
/// value goes to the slot that the number of beginnings before it says, so that what was no
/// beginning is written over by what is.
#[inline(always)]
fn ones_and_twos(word: u64, slots: &mut [u32; 8]) -> usize {
    const LOW: u64 = 0x00ff_00ff_00ff_00ff;
    const SEVEN: u64 = 0x007f_007f_007f_007f;
    const ONE: u64 = 0x0001_0001_0001_0001;
    let (even, odd, after) = (word & LOW, word >> 8 & LOW, word >> 16 & LOW);
    let even_values = (even & SEVEN) | ((odd << 7) & ((even >> 7 & ONE) * 0xffff));
    let odd_values = (odd & SEVEN) | ((after << 7) & ((odd >> 7 & ONE) * 0xffff));
    let more = word & CONTINUES;
    let begins = (!(more << 8) & CONTINUES) >> 7;
    let before = begins.wrapping_mul(0x0101_0101_0101_0101);
    let value = |values: u64, at: u32| values as u32 >> (16 * (at & 1)) & 0xffff;
    let (even_high, odd_high) = (even_values >> 32, odd_values >> 32);
    slots[0] = value(even_values, 0);
    slots[(before & 7) as usize] = value(odd_values, 0);
    slots[(before >> 8 & 7) as usize] = value(even_values, 1);
    slots[(before >> 16 & 7) as usize] = value(odd_values, 1);
    slots[(before >> 24 & 7) as usize] = value(even_high, 0);
    slots[(before >> 32 & 7) as usize] = value(odd_high, 0);
    slots[(before >> 40 & 7) as usize] = value(even_high, 1);
    slots[(before >> 48 & 7) as usize] = value(odd_high, 1);
    (before >> 56) as usize - (more >> 63) as usize
}

/// Where the first four varints of a word end, in bits; more than 64 where there are fewer.
#[inline(always)]
fn ends_of(ends: u64) -> [u32; 4] {
    let second = ends & ends.wrapping_sub(1);
    let third = second & second.wrapping_sub(1);
    let fourth = third & third.wrapping_sub(1);
    [ends, second, third, fourth].map(|ends| ends.trailing_zeros() + 1)
}

/// Where decoded indices go: as many slots as the body has varints.
struct Slots<'a>(&'a mut [u32]);

impl Slots<'_> {
    /// Leaves behind the first `filled` slots.
    #[inline(always)]
    fn skip(&mut self, filled: usize) {
        self.0 = std::mem::take(&mut self.0)
            .get_mut(filled..)
            .unwrap_or_default();
    }

    #[inline(always)]
    fn fill<const N: usize>(&mut self, values: [u32; N]) {
        if let Some((slots, left)) = std::mem::take(&mut self.0).split_first_chunk_mut::<N>() {
            *slots = values;
            self.0 = left;
        }
    }
}

/// The high bit of every byte: more bytes of the varint follow.
const CONTINUES: u64 = 0x8080_8080_8080_8080;

/// The last few bytes of a packed body, from one word.
#[inline]
fn short_tail(body: &[u8], rest: &[u8], mut free: Slots) -> Result<()> {
    let mut left = rest.len() as u32;
    let mut word = match body.last_chunk::<8>() {
        Some(last) if left > 0 => u64::from_le_bytes(*last) >> (64 - 8 * left),
        _ => rest
            .iter()
            .rev()
            .fold(0, |word, &byte| word << 8 | u64::from(byte)),
    };
    while left > 0 {
        let end = (!word & CONTINUES).trailing_zeros() + 1;
        if end > 8 * left || end > 32 {
            let mut rest = &rest[rest.len() - left as usize..];
            while !rest.is_empty() {
                rest = wide(rest, &mut free)?;
            }
            return Ok(());
        }
        free.fill([narrow(word, 0, end)]);
        word >>= end;
        left -= end / 8;
    }
    Ok(())
}

/// The varint of up to four bytes between two places of a word, in bits.
#[inline(always)]
fn narrow(word: u64, start: u32, end: u32) -> u32 {
    let word = (word >> (start & 63)) as u32 & (u32::MAX >> ((32 - (end - start)) & 31));
    (word & 0x7f) | (word >> 1 & 0x3f80) | (word >> 2 & 0x1f_c000) | (word >> 3 & 0xfe0_0000)
}

/// One index of any length.
#[cold]
#[inline(never)]
fn wide<'a>(rest: &'a [u8], free: &mut Slots) -> Result<&'a [u8]> {
    let mut reader = Reader::new(rest);
    free.fill([reader.index()?]);
    Ok(reader.rest())
}

/// Appends the varints of a packed body to `out`.
#[inline(always)]
pub(crate) fn packed_varints<T>(
    mut body: Reader,
    out: &mut Vec<T>,
    of: impl Fn(u64) -> T,
) -> Result<()> {
    while !body.is_empty() {
        out.push(of(body.varint()?));
    }
    Ok(())
}

/// Appends the 8-byte words of a packed body to `out`.
pub(crate) fn packed_fixed64(body: &[u8], out: &mut Vec<u64>) -> Result<()> {
    let (words, odd) = body.as_chunks::<8>();
    if !odd.is_empty() {
        return Err(Error::malformed(format!(
            "{} bytes are not a whole number of 8-byte values",
            body.len()
        ))
        .at(body));
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
        assert_eq!(
            varint(&[0x85, 0x80, 0x00]).unwrap().0,
            5,
            "longer than needed is legal"
        );
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
        for bytes in [
            &[0x0b][..],
            &[0x0c],
            &[0x0b, 0x14],
            &[0x0b, 0x12, 9, 0],
            &[0x0e, 0],
            &[0x0f],
        ] {
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
                state = state
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
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
        packed_indices(
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 5],
            &mut out,
        )
        .unwrap();
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
