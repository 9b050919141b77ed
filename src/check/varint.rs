//! Varints, taken without trusting them, and what is wrong with those that cannot be.
//!
//! Protobuf's rules are stricter than many readers: at most ten bytes, and no bit past the 64th. Which of the two a varint
//! breaks is a rule of its own each (`OP1001`, `OP1002`).
//!
//! ```text
//! 85 80 00    three bytes for 5: legal, told by OP1003     ff × 9, 01    2^64 - 1, the largest
//! 80          cut off: OP1002                              ff × 10       more than 64 bits: OP1001
//! ```

use crate::wire::read::Reader;
use crate::wire::varint::is_too_wide;

/// Why a varint cannot be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Its bytes end before it does.
    Truncated,
    /// It has more than 64 bits.
    Overflow,
}

/// The varint at `at`, and where it ends.
///
/// One or two bytes are decided here: nearly all tags, lengths and indices.
#[inline(always)]
pub(crate) fn varint(bytes: &[u8], at: usize, end: usize) -> Result<(u64, usize), Fault> {
    match bytes.get(at..end) {
        Some([byte, ..]) if *byte < 0x80 => Ok((u64::from(*byte), at + 1)),
        Some([low, high, ..]) if *high < 0x80 => {
            Ok((u64::from(*low & 0x7f) | u64::from(*high) << 7, at + 2))
        }
        _ => long(bytes, at, end),
    }
}

/// A varint of three bytes and more, or none.
#[inline(never)]
fn long(bytes: &[u8], at: usize, end: usize) -> Result<(u64, usize), Fault> {
    let mut reader = Reader::within(bytes, at, end);
    let value = reader.try_varint().ok_or_else(|| fault(reader.rest()))?;
    Ok((value, reader.at()))
}

/// Why bytes do not begin with a varint.
#[cold]
fn fault(bytes: &[u8]) -> Fault {
    match is_too_wide(bytes) {
        true => Fault::Overflow,
        false => Fault::Truncated,
    }
}

/// The numbers of a packed field that was walked before, and where each begins.
///
/// Ends where the bytes do, or where they are wrong: [`decode`](super::decode) told of that when it
/// walked the list.
pub(crate) struct Packed<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
}

impl<'a> Packed<'a> {
    /// The numbers between two bytes.
    pub(crate) fn new(bytes: &'a [u8], body: std::ops::Range<usize>) -> Self {
        Self { bytes, at: body.start, end: body.end }
    }

    /// Whether there are none left.
    pub(crate) fn is_empty(&self) -> bool {
        self.at >= self.end
    }
}

impl Iterator for Packed<'_> {
    type Item = u64;

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
