//! Decodes untrusted varints, and classifies malformed ones.
//!
//! Protobuf is stricter than many readers: at most ten bytes, and no bit past the 64th. Each violation has a
//! separate rule (`OP1001`, `OP1002`).
//!
//! ```text
//! 85 80 00    three bytes for 5: legal, reported by OP1003     ff × 9, 01    2^64 - 1, the largest
//! 80          truncated: OP1002                                ff × 10       more than 64 bits: OP1001
//! ```

use crate::wire::read::Reader;
use crate::wire::varint::is_too_wide;

/// Why a varint is malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The bytes end before the varint does.
    Truncated,
    /// The varint has more than 64 bits.
    Overflow,
}

/// Decodes the varint at `at`, and returns its value and its end.
///
/// Handles one and two bytes inline: nearly all tags, lengths and indices.
#[inline]
pub(crate) fn varint(bytes: &[u8], at: usize, end: usize) -> Result<(u64, usize), Fault> {
    match bytes.get(at..end) {
        Some([byte, ..]) if *byte < 0x80 => Ok((u64::from(*byte), at + 1)),
        Some([low, high, ..]) if *high < 0x80 => {
            Ok((u64::from(*low & 0x7f) | u64::from(*high) << 7, at + 2))
        }
        _ => long(bytes, at, end),
    }
}

/// Decodes a varint of three or more bytes, or reports its fault.
#[inline(never)]
fn long(bytes: &[u8], at: usize, end: usize) -> Result<(u64, usize), Fault> {
    let mut reader = Reader::within(bytes, at, end);
    let value = reader.try_varint().ok_or_else(|| fault(reader.rest()))?;
    Ok((value, reader.at()))
}

/// Classifies bytes that do not begin with a valid varint.
#[cold]
fn fault(bytes: &[u8]) -> Fault {
    match is_too_wide(bytes) {
        true => Fault::Overflow,
        false => Fault::Truncated,
    }
}

/// Iterates over the numbers of a packed field that was checked before.
///
/// Stops at malformed bytes as well: [`decode`](super::decode) reported them when it checked the list.
pub(crate) struct Packed<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
}

impl<'a> Packed<'a> {
    /// Creates an iterator over the numbers in a range of bytes.
    pub(crate) fn new(bytes: &'a [u8], body: std::ops::Range<usize>) -> Self {
        Self { bytes, at: body.start, end: body.end }
    }

    /// Whether no number is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.at >= self.end
    }
}

impl Iterator for Packed<'_> {
    type Item = u64;

    // Always inlined. Without any in the library, validating takes up to 28 % more instructions.
    #[inline(always)]
    fn next(&mut self) -> Option<u64> {
        if self.at >= self.end {
            return None;
        }
        let (value, at) = varint(self.bytes, self.at, self.end).ok()?;
        self.at = at;
        Some(value)
    }
}
