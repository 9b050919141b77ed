//! Caches the layout of samples. Most samples of a profile have the same fields in the same order, with numbers of
//! the same widths. The offsets of their tags, lengths and values are determined once per shape; later samples of
//! the same shape are recognised by comparing three words.
//!
//! ```text
//! message   0a 01 05 12 02 96 01       field 1: packed [5]; field 2: packed [150]
//! fixed     0a 01 00 12 02 80 00       whole tags and lengths; only the high bits of numbers
//! mask      ff ff 80 ff ff 80 80
//! places    (2, one byte) (5, two bytes)
//! ```
//!
//! A message has a shape if `word & mask == fixed` in all three words and the length is equal. A hash of the length
//! and the high bits selects one of 128 shapes. The table is a direct-mapped cache: a new shape replaces the one in
//! its slot, and a miss costs computing the shape again.

use super::fields::{Fields, Part};
use crate::wire::varint::compact;
use crate::wire::word;

const WORDS: usize = 3;

/// Maximum length of a message that is compared as a whole.
pub(super) const LONGEST: usize = 8 * WORDS;

/// The bytes of a message, and enough following bytes to load a word at any value.
pub(super) type Window = [u8; FIRST_BYTES + 8];

const FIRST_BYTES: usize = LONGEST.next_power_of_two();

/// The layout of messages that contain a sample, or the last fields of one.
#[derive(Clone, Copy, Debug)]
#[repr(align(128))]
pub(super) struct MessageLayout {
    /// The bytes to compare: tags, lengths, and the continuation bits of numbers.
    fixed: [u64; WORDS],
    /// The bits of `fixed` that count.
    mask: [u64; WORDS],
    /// The length in bytes; `u64::MAX` matches no message.
    length: u64,
    /// The number of timestamps.
    pub(super) times: u64,
    offsets: [ValueOffset; Self::MOST_VALUES],
    /// The number of `offsets` in use.
    count: usize,
}

/// The offset of a value, and how many bits of the word there belong to other fields.
#[derive(Clone, Copy, Debug, Default)]
struct ValueOffset {
    at: u8,
    /// A multiple of eight; 0 for a value of eight bytes.
    others: u8,
}

impl MessageLayout {
    const MOST_VALUES: usize = 8;

    /// A shape that matches no message.
    const NONE: Self = Self {
        fixed: [0; WORDS],
        mask: [0; WORDS],
        length: u64::MAX,
        times: 0,
        offsets: [ValueOffset { at: 0, others: 0 }; Self::MOST_VALUES],
        count: 0,
    };

    /// Determines the shape of a message. `None` for an unusual field, a very long length or number, or too many
    /// values.
    #[cold]
    #[inline(never)]
    fn of(message: &[u8], fields: &Fields) -> Option<Self> {
        let mut layout = Self { length: message.len() as u64, ..Self::NONE };
        let (mut mask, mut fixed) = ([0u8; LONGEST], [0u8; LONGEST]);
        let mut at = 0;
        while let Some(&tag) = message.get(at) {
            let part = fields.part(tag);
            let rest = message.get(at + 1..)?;
            let (begin, length) = match part {
                Part::Number | Part::Value => {
                    (at + 1, rest.iter().position(|byte| *byte < 0x80)? + 1)
                }
                Part::Unsupported | Part::FixedTime | Part::Time => return None,
                _ => (at + 2, rest.first().copied().filter(|length| *length < 0x80)?.into()),
            };
            let body = message.get(begin..begin + length)?;
            // Tags and lengths must be equal.
            mask.get_mut(at..begin)?.fill(0xff);
            match part {
                Part::Bytes => {}
                Part::FixedTimes if length % 8 == 0 => layout.times += length as u64 / 8,
                Part::FixedTimes => return None,
                _ => {
                    // Only the continuation bits of numbers must be equal.
                    mask.get_mut(begin..begin + length)?.fill(0x80);
                    layout.numbers(part, begin, body)?;
                }
            }
            at = begin + length;
        }
        let bytes = fixed.iter_mut().zip(&mask).zip(message);
        bytes.for_each(|((fixed, mask), byte)| *fixed = byte & mask);
        let words = |bytes: [u8; LONGEST]| std::array::from_fn(|at| word(&bytes, 8 * at));
        Some(Self { fixed: words(fixed), mask: words(mask), ..layout })
    }

    /// Counts the numbers of a field, and records their offsets if they are values.
    fn numbers(&mut self, part: Part, begin: usize, body: &[u8]) -> Option<()> {
        let mut at = begin;
        for number in body.split_inclusive(|byte| *byte < 0x80) {
            let ends = number.last().is_some_and(|last| *last < 0x80);
            let others = 8usize.checked_sub(number.len()).filter(|_| ends)?;
            match part {
                Part::Times => self.times += 1,
                Part::Number => {}
                _ => {
                    let place = self.offsets.get_mut(self.count)?;
                    *place = ValueOffset { at: at as u8, others: 8 * others as u8 };
                    self.count += 1;
                }
            }
            at += number.len();
        }
        Some(())
    }

    /// Returns the number of values.
    #[inline]
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the values of a message with this shape. They have at most 56 bits.
    #[inline]
    pub(super) fn values(&self, window: &Window) -> impl Iterator<Item = u64> {
        let offsets = self.offsets.get(..self.count).unwrap_or_default();
        offsets.iter().map(|place| {
            let word = word(window, usize::from(place.at) % FIRST_BYTES);
            compact(word & u64::MAX >> (place.others & 63))
        })
    }
}

/// A cache of shapes.
pub(super) struct LayoutCache(Box<[MessageLayout; Self::COUNT]>);

impl LayoutCache {
    const COUNT: usize = 128;

    /// Creates an empty cache.
    pub(super) fn new() -> Self {
        Self(Box::new([MessageLayout::NONE; Self::COUNT]))
    }

    /// Returns the shape of a message of up to `LONGEST` bytes with regular fields.
    ///
    /// `None` if [`MessageLayout::of`] does not support the message.
    // Always inlined. Without any in the library, summaries take up to 25 % more instructions.
    #[inline(always)]
    pub(super) fn of(
        &mut self,
        window: &Window,
        length: usize,
        fields: &Fields,
    ) -> Option<&MessageLayout> {
        let ends = ENDS.get(length)?;
        let words: [u64; WORDS] = std::array::from_fn(|at| word(window, 8 * at));
        // Hash the length and the continuation bits. The highest seven bits select the slot.
        let mut mixed = (length as u64) << 57;
        for at in 0..WORDS {
            mixed = mixed.wrapping_add((words[at] & ends[at]).wrapping_mul(MIX[at]));
        }
        let layout = &mut self.0[(mixed >> 57) as usize % Self::COUNT];
        let differ = |at: usize| words[at] & layout.mask[at] ^ layout.fixed[at];
        // One branch for all comparisons, which rarely fail.
        if (layout.length ^ length as u64) | differ(0) | differ(1) | differ(2) != 0 {
            *layout = MessageLayout::of(window.get(..length)?, fields)?;
        }
        Some(layout)
    }
}

// Odd multipliers with well-distributed bits, as in multiplicative hashing.
const MIX: [u64; WORDS] = [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f, 0x1656_67b1_9e37_79f9];

/// By length of a message: the bit of each byte that shows whether the byte ends a number.
const ENDS: [[u64; WORDS]; LONGEST + 1] = {
    let mut ends = [[0; WORDS]; LONGEST + 1];
    let mut length = 0;
    while length <= LONGEST {
        let mut byte = 0;
        while byte < length {
            ends[length][byte / 8] |= 0x80 << (8 * (byte % 8));
            byte += 1;
        }
        length += 1;
    }
    ends
};
