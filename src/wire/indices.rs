//! Decodes packed indices: the references of stacks and samples, which are most of a profile's bytes.
//!
//! | body | method |
//! |---|---|
//! | followed by 16 bytes of the payload | vector instructions, or words of eight bytes |
//! | at the end of the payload, or with longer varints | one by one |
//!
//! ```text
//! bytes      ac 02 05 81 01 …       300, 5, 129
//! decoded    ac 02 05 81 01         every byte, as if a varint began there
//! beginning   1  0  1  1  0         set if the previous byte ended a varint
//! slot        0  1  1  2  3         beginnings so far: the next value overwrites one that is not a beginning
//! slots      300 5 129
//! ```
//!
//! All eight bytes of a word take these steps at once and without a branch. There is one slot per byte, not per
//! index, because the last values of a list may be written past its end.

use crate::error::Result;
use crate::wire::lanes::Lanes;
use crate::wire::packed::packed_varints;
use crate::wire::read::Reader;
use crate::wire::varint::{CONTINUES, index};
use crate::wire::word;

/// Indices decoded from packed bodies.
#[derive(Debug, Default)]
pub(crate) struct Indices {
    /// The indices, followed by spare slots. Decoding overwrites spare slots before it knows how many indices a
    /// body has.
    slots: Vec<u32>,
    /// The number of slots that hold indices.
    filled: usize,
    /// Added to every index. If row 0 is a regular row, adding 1 frees 0 for references that are unset.
    plus: u32,
    /// The number of indices that `most` covers.
    looked_at: usize,
    /// The maximum of these indices after subtracting 1 with wrap-around; `None` if it covers no indices.
    most: Option<u32>,
    /// The vector instructions of this processor.
    lanes: Lanes,
    /// Whether any index took three bytes, which decoding by words then expects at the cost of speed.
    ///
    /// Once set, it stays set.
    wide: bool,
}

/// Bytes of the payload that must follow a body that is decoded eight bytes at a time.
///
/// The vector instructions load sixteen bytes for every eight in which varints begin.
pub(crate) const AHEAD: usize = 16;

/// Indices to decode before the maximum is updated. They fit into the first-level cache.
const BLOCK: usize = 1 << 12;

/// Spare slots to add beyond the needed ones when the list grows.
const SPARE_SLOTS: usize = 1 << 8;

impl Indices {
    /// Creates an empty list that adds `plus` to every index.
    pub(crate) fn plus(plus: u32) -> Self {
        Self { plus, ..Self::default() }
    }

    /// Creates an empty list that adds the same number.
    pub(crate) fn none(&self) -> Self {
        Self::plus(self.plus)
    }

    /// Removes all indices but keeps the allocation.
    // Always inlined. Without any in the library, decoding 1.10 takes up to 36 % more instructions.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        (self.filled, self.looked_at, self.most) = (0, 0, None);
    }

    /// Reserves slots for `more` indices.
    pub(crate) fn reserve(&mut self, more: usize) {
        self.slots.reserve(more.saturating_add(SPARE_SLOTS));
    }

    /// Returns the indices from `from` up to `to` or the end of the list.
    #[inline]
    pub(crate) fn get(&self, from: usize, to: usize) -> &[u32] {
        self.slots.get(from..to.min(self.filled)).unwrap_or_default()
    }

    /// Appends decoded indices unchanged.
    #[inline]
    pub(crate) fn extend(&mut self, indices: &[u32]) {
        self.slots.truncate(self.filled);
        self.slots.extend_from_slice(indices);
        self.filled = self.slots.len();
    }

    /// Returns the number of indices, without spare slots.
    pub(crate) fn len(&self) -> usize {
        self.filled
    }

    /// Appends the indices of a packed body.
    ///
    /// # Errors
    ///
    /// An invalid varint. An index that is too large becomes `OVERSIZED_INDEX`.
    #[inline(always)]
    pub(crate) fn append(&mut self, body: Reader) -> Result<()> {
        let read = match body.with_ahead(AHEAD) {
            // `ahead` has one byte before the body and `AHEAD` bytes after the part that was decoded.
            Some(ahead) if self.by_eights(ahead) => ahead.len() - AHEAD - 1,
            _ => 0,
        };
        // The fast paths leave the end of a payload, and bodies with longer varints.
        match read == body.left() {
            true => Ok(()),
            false => self.append_one_by_one(body, read),
        }
    }

    /// Appends the indices of a packed body one by one, after its first `read` bytes.
    #[cold]
    #[inline(never)]
    fn append_one_by_one(&mut self, mut body: Reader, read: usize) -> Result<()> {
        body.pass(read);
        self.extend_with(|slots| packed_varints(body, slots, index))
    }

    /// Appends the indices of a body, which is `ahead` without its first byte and its last [`AHEAD`]. Returns false
    /// if an index is too large for this method.
    #[inline(always)]
    fn by_eights(&mut self, ahead: &[u8]) -> bool {
        // One slot for every byte of the body and for those after it, which are decoded as well.
        if self.slots.len() - self.filled < ahead.len() {
            self.slots.resize(self.filled + ahead.len() + SPARE_SLOTS, 0);
        }
        let room = &mut self.slots[self.filled..];
        let read = match self.lanes.read(ahead, self.plus, room) {
            Some(read) => read,
            None => by_words_of(&ahead[1..], self.plus, room, &mut self.wide),
        };
        // On failure, the values written so far remain spare slots, so `append_one_by_one` can start from the
        // beginning.
        self.filled += read.unwrap_or(0);
        if self.filled - self.looked_at >= BLOCK {
            self.update_max();
        }
        read.is_some()
    }

    /// Updates the maximum with the indices added since the last call.
    #[inline(never)]
    fn update_max(&mut self) {
        let new = self.slots.get(self.looked_at..self.filled);
        let most = self.lanes.most_less_one(new.unwrap_or_default());
        self.most = self.most.max(most);
        self.looked_at = self.filled;
    }

    /// Returns the maximum of all indices after subtracting 1 with wrap-around.
    ///
    /// The subtraction makes 0 exceed every table. If row 0 is the empty row, 0 thus counts as out of range, too.
    pub(crate) fn most_less_one(&mut self) -> Option<u32> {
        self.update_max();
        self.most
    }

    /// Appends one index.
    pub(crate) fn push(&mut self, index: u32) {
        self.slots.truncate(self.filled);
        self.slots.push(index.wrapping_add(self.plus));
        self.filled += 1;
    }

    /// Appends the indices that `more` pushes.
    #[inline(never)]
    pub(crate) fn extend_with(
        &mut self,
        more: impl FnOnce(&mut Vec<u32>) -> Result<()>,
    ) -> Result<()> {
        self.slots.truncate(self.filled);
        more(&mut self.slots)?;
        for index in self.slots.get_mut(self.filled..).unwrap_or_default() {
            *index = index.wrapping_add(self.plus);
        }
        self.filled = self.slots.len();
        Ok(())
    }

    /// Returns the indices as a vector, without spare slots.
    pub(crate) fn into_vec(self) -> Vec<u32> {
        let mut slots = self.slots;
        slots.truncate(self.filled);
        slots
    }
}

/// Decodes indices by words, if the processor lacks vector instructions.
/// Tries two bytes per index first, as most tables have fewer than 16,384 rows. Tries three bytes directly after
/// any index took them.
fn by_words_of(ahead: &[u8], plus: u32, room: &mut [u32], wide: &mut bool) -> Option<usize> {
    if !*wide {
        let narrow = by_words::<false>(ahead, plus, room);
        if narrow.is_some() {
            return narrow;
        }
    }
    let read = by_words::<true>(ahead, plus, room);
    *wide |= read.is_some();
    read
}

/// Decodes the varints that begin in `ahead` before its last [`AHEAD`] bytes, eight bytes at a time. Returns how
/// many there are, or `None` if a varint may exceed two bytes (three if `THREE`).
///
/// It decodes a varint at every byte, all eight at once. The slot of each value is the number of beginnings before
/// it, so that values at other bytes are overwritten. Mixed widths need no branch: a misprediction costs more than
/// the decoding.
#[inline(always)]
fn by_words<const THREE: bool>(ahead: &[u8], plus: u32, out: &mut [u32]) -> Option<usize> {
    const LOW: u64 = 0x00ff_00ff_00ff_00ff;
    const LOWEST: u64 = 0x0000_00ff_0000_00ff;
    const HALF: u64 = 0x0000_ffff_0000_ffff;
    // The seven value bits of the bytes that have a continuation bit.
    let mask = |more: u64| more - (more >> 7);
    let mut rest = ahead;
    let mut filled = 0;
    let mut carried = 0;
    // Of the latest word: the bytes at which varints begin, and those at which longer varints begin.
    // `longer_before` has the latter of the earlier words.
    let (mut begins, mut longer, mut longer_before) = (0, 0, 0);
    // `by_eights` reserves a slot for every byte of `ahead`, so only the first condition ends the loop. The others
    // replace bounds checks.
    while rest.len() > AHEAD
        && let Some(bytes) = rest.first_chunk::<AHEAD>()
        && let Some(slots) = out.get_mut(filled..).and_then(<[u32]>::first_chunk_mut::<8>)
    {
        // Byte `i` of these words is the first, second and third byte of a varint that begins at `i`.
        let (first, second, third) = (word(bytes, 0), word(bytes, 1), word(bytes, 2));
        let more = first & CONTINUES;
        let goes_on = more & second;
        longer_before |= longer;
        longer = if THREE { goes_on & third } else { goes_on };
        let first = first & !CONTINUES;
        let second = second & mask(more);
        // Values need more than eight bits, so even and odd bytes are widened separately.
        let even = (first & LOW) | (second & LOW) << 7;
        let odd = (first >> 8 & LOW) | (second >> 8 & LOW) << 7;
        let values = if THREE {
            let third = third & mask(goes_on);
            let value = |pair: u64, at: u32| (pair & HALF) | (third >> at & LOWEST) << 14;
            let pairs =
                [value(even, 0), value(odd, 8), value(even >> 16, 16), value(odd >> 16, 24)];
            [0, 1, 2, 3, 4, 5, 6, 7].map(|at| (pairs[at % 4] >> (32 * (at / 4))) as u32)
        } else {
            let pairs = [even, odd];
            [0, 1, 2, 3, 4, 5, 6, 7].map(|at| (pairs[at % 2] >> (16 * (at / 2))) as u32 & 0xffff)
        };
        // A varint begins after each byte without a continuation bit.
        begins = !(more << 8 | carried) >> 7 & (CONTINUES >> 7);
        carried = more >> 56;
        // The product holds prefix sums: byte `i` counts the beginnings up to `i`.
        let until = begins.wrapping_mul(0x0101_0101_0101_0101);
        slots[0] = values[0] + plus;
        for at in 1..8 {
            slots[(until >> (8 * (at - 1)) & 7) as usize] = values[at] + plus;
        }
        filled += (until >> 56) as usize;
        rest = &rest[8.min(rest.len())..];
    }
    // Do not count varints that begin after the body.
    let behind = AHEAD.saturating_sub(rest.len());
    let body = u64::MAX.checked_shr(8 * behind as u32).unwrap_or(0);
    filled -= ((begins & !body).wrapping_mul(0x0101_0101_0101_0101) >> 56) as usize;
    ((longer_before | longer & body) & CONTINUES == 0).then_some(filled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::packed::count_packed;
    use crate::wire::varint::{NEGATIVE_INDEX, OVERSIZED_INDEX};

    #[test]
    fn packed_indices_agree_with_one_at_a_time() {
        let mut state = 1u64;
        for case in 0..2_000 {
            // The byte before the body ends there, as a length does, or seems to continue.
            let mut body = vec![if case % 9 == 0 { 0x85 } else { 5 }];
            let mut expected = Vec::new();
            for _ in 0..case % 40 {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                // Mostly one width; sometimes any width.
                let most = if case % 5 == 0 { 0 } else { case % 24 };
                let value = (state >> 33) as u32 >> (state as u32 >> 3 & 31).max(most);
                expected.push(value.min(OVERSIZED_INDEX));
                crate::wire::write::varint(&mut body, u64::from(value));
            }
            assert_eq!(count_packed(&body[1..]), expected.len());
            let length = body.len();
            // Enough bytes after the body for each method, and too few.
            for behind in [&[][..], &[0x80; 12], &[0; 16], &[0xff; 20]] {
                body.truncate(length);
                body.extend(behind);
                for lanes in [Lanes::default(), Lanes::NONE] {
                    let mut indices = Indices { lanes, ..Default::default() };
                    indices.push(7);
                    let body = Reader::within(&body, 1, length);
                    indices.append(body).unwrap();
                    assert_eq!(indices.into_vec()[1..], expected);
                }
            }
        }
        let mut indices = Indices::default();
        let mut read = |body: &[u8]| indices.append(Reader::new(body));
        read(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 5]).unwrap();
        assert!(read(&[1, 0x80]).is_err());
        assert!(read(&[0xff; 20]).is_err());
        indices.push(6);
        assert_eq!(indices.most_less_one(), Some(NEGATIVE_INDEX - 1));
        assert_eq!(indices.into_vec(), [NEGATIVE_INDEX, 5, 6]);
    }

    #[test]
    fn the_largest_is_known_wherever_it_is() {
        assert_eq!(Indices::default().most_less_one(), None);
        for at in [0, 1, 100, BLOCK, 3 * BLOCK] {
            for largest in [0, 90] {
                let mut body = vec![0];
                for index in 0..=3 * BLOCK {
                    let value = if index == at { largest } else { 80 };
                    crate::wire::write::varint(&mut body, value);
                }
                for lanes in [Lanes::default(), Lanes::NONE] {
                    let mut indices = Indices { lanes, ..Default::default() };
                    let mut body = Reader::within(&body, 1, body.len());
                    while !body.is_empty() {
                        indices.append(body.part(100)).unwrap();
                        body.pass(100);
                    }
                    let most = (largest as u32).wrapping_sub(1);
                    assert_eq!(indices.most_less_one(), Some(most), "{largest} at {at}");
                }
            }
        }
    }
}
