//! The varints of a table's indices, made once for all that refer to its rows.
//!
//! An index of a row is written once for every reference to it. Made into bytes once, it is then stored by one move of
//! eight bytes, however many bytes it takes: the next one writes over what is too much.
//!
//! ```text
//! Code    b0 b1 b2 b3 b4 00 00 [length 3 bits | 0]      index 300: ac 02 00 …, length 2
//! window  … b0 b1 [b0 b1 b2 00 00 00 00 len]            eight bytes stored, moved on by length
//! ```
//!
//! An index takes at most five bytes, so the three bits never meet it. The codes also take care of
//! rows that are numbered anew or left out: who refers to a row need not know.

use crate::wire::write::{more, spread, up_to_three, varint_len};

use crate::wire::put_word;

/// The varint of an index, ready to be stored: its bytes, and in the highest three bits their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Code(pub(super) u64);

impl Code {
    const ZERO: Self = Self(1 << 61);

    /// 1 to 5.
    #[inline(always)]
    pub(super) fn length(self) -> usize {
        (self.0 >> 61) as usize
    }
}

/// The codes of the indices of a table's rows.
#[derive(Debug, Default)]
pub(crate) struct Codes {
    /// By row.
    pub(super) codes: Vec<Code>,
    /// How many bytes 64 of them take, in the mean.
    ///
    /// In bytes; fractions matter, as a list of a thousand is guessed by it.
    mean: usize,
}

impl Codes {
    /// By row, the index that it is written as.
    ///
    /// If all indices are below 2²¹ the loop has no branch at all.
    pub(crate) fn of(indices: &[u32]) -> Self {
        let all = indices.iter().fold(0, |all, index| all | index);
        let codes: Vec<Code> = if all < 1 << 21 {
            let short = |&index| {
                let (word, length) = up_to_three(index);
                Code(u64::from(word) | (length as u64) << 61)
            };
            indices.iter().map(short).collect()
        } else {
            let any = |&index| {
                let length = varint_len(u64::from(index));
                Code(spread(u64::from(index)) | more(length) | (length as u64) << 61)
            };
            indices.iter().map(any).collect()
        };
        let bytes: usize = codes.iter().map(|code| code.length()).sum();
        let mean = 64 * bytes / codes.len().max(1);
        Self { codes, mean }
    }

    /// The code of a row's index.
    /// That of 0 past the end.
    #[inline(always)]
    pub(crate) fn get(&self, row: usize) -> Code {
        self.codes.get(row).copied().unwrap_or(Code::ZERO)
    }

    /// About how many bytes some indices take.
    #[inline]
    pub(crate) fn expected(&self, indices: usize) -> usize {
        self.mean * indices / 64
    }
}

/// Where four codes are stored: no sum of four numbers of three bits is behind it, so that none of
/// them needs a check.
pub(super) const FOUR: usize = 32 + 8;

/// Puts the codes of rows into a window; returns the place after them. On its own, so that all it
/// needs is in registers.
///
/// The window must have [`Fields::indices`](crate::wire::record::Fields::indices) bytes behind
/// `at`; a row past the codes is a mistake of the caller, and panics.
#[inline(never)]
pub(super) fn put_rows<T: Copy>(
    window: &mut [u8],
    mut at: u32,
    rows: &[T],
    codes: &[Code],
    row_of: impl Fn(T) -> usize,
) -> u32 {
    let (fours, last) = rows.as_chunks::<4>();
    for four in fours {
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
