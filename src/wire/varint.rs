//! Varints in words of eight bytes, and indices made of them.
//!
//! A varint has seven bits a byte, the lowest first, and a high bit where more follow
//! ([the encoding](https://protobuf.dev/programming-guides/encoding/#varints)).

/// What a negative number becomes where an index was wanted.
///
/// Both marks are past every table, so that an index needs no second check: proving it against its
/// table refuses it, and the error says what it was.
pub(crate) const BELOW: u32 = u32::MAX;

/// What a number past 2³²−3 becomes where an index was wanted.
pub(crate) const BEYOND: u32 = u32::MAX - 1;

/// An index from its varint. Indices are int32 or uint64 on the wire; no table has 2³² − 2 rows.
#[inline]
pub(crate) fn index(value: u64) -> u32 {
    if value < u64::from(BEYOND) { value as u32 } else { far_index(value) }
}

/// Negative int32 come as ten bytes, so their 64th bit is set.
#[cold]
fn far_index(value: u64) -> u32 {
    if value >> 63 == 1 { BELOW } else { BEYOND }
}

/// Squeezes the continuation bits out of up to eight varint bytes.
///
/// Three steps, each of which joins neighbours: 7 + 7, 14 + 14, 28 + 28 bits.
#[inline]
pub(crate) fn compact(word: u64) -> u64 {
    let word = word & 0x7f7f_7f7f_7f7f_7f7f;
    let word = (word & 0x007f_007f_007f_007f) | (word & 0x7f00_7f00_7f00_7f00) >> 1;
    let word = (word & 0x0000_3fff_0000_3fff) | (word & 0x3fff_0000_3fff_0000) >> 2;
    (word & 0x0fff_ffff) | (word & 0x0fff_ffff_0000_0000) >> 4
}

/// The high bit of every byte: more bytes of the varint follow.
pub(crate) const CONTINUES: u64 = 0x8080_8080_8080_8080;

/// Squeezes the continuation bits out of up to four varint bytes.
#[inline(always)]
pub(super) fn compact_low(word: u32) -> u32 {
    (word & 0x7f) | (word >> 1 & 0x3f80) | (word >> 2 & 0x1f_c000) | (word >> 3 & 0xfe0_0000)
}

/// Whether bytes that do not begin with a varint do so for one of more than 64 bits: ten bytes of which nine go on are
/// enough for all of them. Fewer end before it does.
#[cold]
pub(crate) fn is_too_wide(bytes: &[u8]) -> bool {
    bytes.len() >= 10 && bytes.iter().take(9).all(|byte| *byte >= 0x80)
}
