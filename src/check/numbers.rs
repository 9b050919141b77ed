//! The numbers of a repeated field, in any of the forms on the wire.

use super::varint::Packed;

/// The numbers of a repeated field.
///
/// An enum and not a boxed iterator: nearly all are packed, and the branch on that is predicted.
pub(crate) enum Numbers<'a> {
    /// Varints in one chunk.
    Packed(Packed<'a>),
    /// What is left of one chunk of words; a rest of fewer than eight bytes ends it.
    Fixed(&'a [u8]),
    /// Numbers that were copied from several places.
    Gathered(std::vec::IntoIter<u64>),
}

impl Iterator for Numbers<'_> {
    type Item = u64;

    #[inline(always)]
    fn next(&mut self) -> Option<u64> {
        match self {
            Self::Packed(packed) => packed.next(),
            Self::Fixed(bytes) => {
                let (word, rest) = bytes.split_first_chunk()?;
                *bytes = rest;
                Some(u64::from_le_bytes(*word))
            }
            Self::Gathered(numbers) => numbers.next(),
        }
    }
}
