//! Encodes the indices of a table's rows once, for all references to them.
//!
//! The index of a row is written once for every reference to the row. With its varint precomputed, each write is
//! one store of eight bytes, whatever the varint's length: the next store overwrites the excess bytes.
//!
//! ```text
//! Code    b0 b1 b2 b3 b4 00 00 [length 3 bits | 0]      index 300: ac 02 00 …, length 2
//! window  … b0 b1 [b0 b1 b2 00 00 00 00 len]            store eight bytes, advance by the length
//! ```
//!
//! An index takes at most five bytes, so it never overlaps the three bits of the length. Codes also hide renumbered
//! and omitted rows from the code that writes references.

use crate::wire::write::{deposit_bits, more, up_to_three, varint_len};

use crate::wire::put_word;

/// The encoded varint of an index: its bytes, with their number in the highest three bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EncodedIndex(pub(super) u64);

impl EncodedIndex {
    const ZERO: Self = Self(1 << 61);

    /// Returns the number of bytes of the varint, 1 to 5.
    // Always inlined. Without any in the library, decoding 1.10 takes up to 36 % more instructions.
    #[inline(always)]
    pub(super) fn length(self) -> usize {
        (self.0 >> 61) as usize
    }
}

/// The encoded indices of a table's rows.
#[derive(Debug, Default)]
pub(crate) struct EncodedIndices {
    /// The codes by row.
    pub(super) codes: Vec<EncodedIndex>,
    /// Mean size of 64 codes in bytes. The factor of 64 keeps fractions, which matter in estimates for lists of a
    /// thousand indices.
    mean: usize,
}

impl EncodedIndices {
    /// Encodes indices; element `row` is the index to write for that row.
    ///
    /// If all indices are below 2²¹, the loop has no branches.
    pub(crate) fn of(indices: &[u32]) -> Self {
        // The union of all bits shows whether any index exceeds 21 bits.
        let all = indices.iter().fold(0, |all, index| all | index);
        let codes: Vec<EncodedIndex> = if all < 1 << 21 {
            let short = |&index| {
                let (word, length) = up_to_three(index);
                EncodedIndex(u64::from(word) | (length as u64) << 61)
            };
            indices.iter().map(short).collect()
        } else {
            let any = |&index| {
                let length = varint_len(u64::from(index));
                EncodedIndex(deposit_bits(u64::from(index)) | more(length) | (length as u64) << 61)
            };
            indices.iter().map(any).collect()
        };
        let bytes: usize = codes.iter().map(|code| code.length()).sum();
        let mean = 64 * bytes / codes.len().max(1);
        Self { codes, mean }
    }

    /// Returns the code of a row's index, or the code of 0 past the end.
    #[inline(always)]
    pub(crate) fn get(&self, row: usize) -> EncodedIndex {
        self.codes.get(row).copied().unwrap_or(EncodedIndex::ZERO)
    }

    /// Returns the approximate size in bytes of a number of indices.
    #[inline]
    pub(crate) fn expected(&self, indices: usize) -> usize {
        self.mean * indices / 64
    }
}

/// Size of a window for four codes. Four lengths of three bits add up to less than 32, so the compiler can drop the
/// bounds checks of the four stores of eight bytes.
pub(super) const FOUR: usize = 32 + 8;

/// Stores the codes of rows in a window. Returns the position after them. It is a separate function so that all its
/// variables stay in registers.
///
/// The window must have [`Fields::indices`](crate::wire::record::Fields::indices) bytes from `at` on. Panics if a
/// row exceeds the codes, which is a bug in the caller.
#[inline(never)]
pub(super) fn put_rows<T: Copy>(
    window: &mut [u8],
    mut at: u32,
    rows: &[T],
    codes: &[EncodedIndex],
    row_of: impl Fn(T) -> usize,
) -> u32 {
    let (fours, last) = rows.as_chunks::<4>();
    for four in fours {
        // One bounds check for four codes.
        let window = &mut window[at as usize..at as usize + FOUR];
        let mut length = 0;
        for row in four {
            let code = codes[row_of(*row)];
            put_word(window, length, code.0);
            length += code.length();
        }
        at += length as u32;
    }
    for row in last {
        let code = codes[row_of(*row)];
        put_word(window, at as usize, code.0);
        at += code.length() as u32;
    }
    at
}
