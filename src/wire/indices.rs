//! Packed indices: the ids that stacks and samples are made of, and most of a profile's bytes.
//!
//! | bodies | are read by |
//! |---|---|
//! | with 16 bytes of the payload behind them | vector instructions, or by words of eight bytes |
//! | at the end of the payload, or with numbers of more bytes | one by one |
//!
//! ```text
//! bytes      ac 02 05 81 01 …       300, 5, 129
//! taken as   ac 02 05 81 01         every byte as if a varint began there
//! beginning   1  0  1  1  0         a byte whose predecessor ended one
//! slot        0  1  1  2  3         beginnings before it: who is none is written over by the next
//! slots      300 5 129
//! ```
//!
//! All eight bytes of a word go through this at once and without a branch. That the last of a list
//! may write past it is why there is a slot for every byte and not for every index.

use crate::error::Result;
use crate::wire::lanes::Lanes;
use crate::wire::packed::packed_varints;
use crate::wire::read::Reader;
use crate::wire::varint::{CONTINUES, index};
use crate::wire::word;

/// Indices that packed bodies are appended to.
#[derive(Debug, Default)]
pub(crate) struct Indices {
    /// Those there are, and room for more that is written over as a whole before it is known how
    /// many there will be.
    slots: Vec<u32>,
    /// How many of the slots are indices.
    filled: usize,
    /// What is added to every index: where row 0 is a row like any other, 1 makes room for none.
    plus: u32,
    /// How many were looked at for the largest, and what it is less one.
    looked_at: usize,
    /// `None` before any was looked at.
    most: Option<u32>,
    /// The vector instructions of this processor.
    lanes: Lanes,
    /// Whether any took three bytes: looking for them by words takes time.
    ///
    /// Once set it stays set.
    wide: bool,
}

/// How many bytes of the payload must follow a body that is read eight bytes at a time.
///
/// The vector instructions load sixteen bytes for every eight in which varints begin.
pub(crate) const AHEAD: usize = 16;

/// How many are looked at for the largest at a time: while the nearest cache has them.
const BLOCK: usize = 1 << 12;

/// How much room there is made, at least, where there is none.
const ROOM: usize = 1 << 8;

impl Indices {
    /// Indices that get so much added.
    pub(crate) fn plus(plus: u32) -> Self {
        Self { plus, ..Self::default() }
    }

    /// None, to which the same is added.
    pub(crate) fn none(&self) -> Self {
        Self::plus(self.plus)
    }

    /// Forgets all, but keeps the room.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        (self.filled, self.looked_at, self.most) = (0, 0, None);
    }

    /// Makes room for some more.
    pub(crate) fn reserve(&mut self, more: usize) {
        self.slots.reserve(more.saturating_add(ROOM));
    }

    /// The indices from one to another, those there are.
    #[inline]
    pub(crate) fn get(&self, from: usize, to: usize) -> &[u32] {
        self.slots.get(from..to.min(self.filled)).unwrap_or_default()
    }

    /// Appends indices that were read before.
    #[inline]
    pub(crate) fn extend(&mut self, indices: &[u32]) {
        self.slots.truncate(self.filled);
        self.slots.extend_from_slice(indices);
        self.filled = self.slots.len();
    }

    /// How many indices there are, not slots.
    pub(crate) fn len(&self) -> usize {
        self.filled
    }

    /// Appends the indices of a packed body.
    ///
    /// # Errors
    ///
    /// What is no varint. An index that is too large is read as `BEYOND`.
    #[inline(always)]
    pub(crate) fn append(&mut self, body: Reader) -> Result<()> {
        let read = match body.with_ahead(AHEAD) {
            Some(ahead) if self.by_eights(ahead) => ahead.len() - AHEAD - 1,
            _ => 0,
        };
        match read == body.left() {
            true => Ok(()),
            false => self.append_one_by_one(body, read),
        }
    }

    /// Appends the indices of a packed body but for those in the first `read` bytes.
    #[cold]
    #[inline(never)]
    fn append_one_by_one(&mut self, mut body: Reader, read: usize) -> Result<()> {
        body.pass(read);
        self.extend_with(|slots| packed_varints(body, slots, index))
    }

    /// Appends the indices of the body that `ahead` is but for its first byte and its last
    /// [`AHEAD`]; or says that any of them is too large for that.
    #[inline(always)]
    fn by_eights(&mut self, ahead: &[u8]) -> bool {
        // A slot for every byte, and for those past the end that are looked at.
        if self.slots.len() - self.filled < ahead.len() {
            self.slots.resize(self.filled + ahead.len() + ROOM, 0);
        }
        let room = &mut self.slots[self.filled..];
        let read = match self.lanes.read(ahead, self.plus, room) {
            Some(read) => read,
            None => by_words_of(&ahead[1..], self.plus, room, &mut self.wide),
        };
        self.filled += read.unwrap_or(0);
        if self.filled - self.looked_at >= BLOCK {
            self.look();
        }
        read.is_some()
    }

    /// Looks at those that were not looked at for the largest.
    #[inline(never)]
    fn look(&mut self) {
        let new = self.slots.get(self.looked_at..self.filled);
        let most = self.lanes.most_less_one(new.unwrap_or_default());
        self.most = self.most.max(most);
        self.looked_at = self.filled;
    }

    /// The largest of all indices, less one: 0 is larger than any other then.
    ///
    /// Less one, so that 0, which stands for none where row 0 is the empty row, counts as out of
    /// range too.
    pub(crate) fn most_less_one(&mut self) -> Option<u32> {
        self.look();
        self.most
    }

    /// Appends one index.
    pub(crate) fn push(&mut self, index: u32) {
        self.slots.truncate(self.filled);
        self.slots.push(index.wrapping_add(self.plus));
        self.filled += 1;
    }

    /// Appends what `more` pushes.
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

    /// The indices, and nothing else.
    pub(crate) fn into_vec(self) -> Vec<u32> {
        let mut slots = self.slots;
        slots.truncate(self.filled);
        slots
    }
}

/// Reads by words what no vector instruction reads.
/// Two bytes first, as most tables have fewer than 16,384 rows; three once any took them.
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

/// Reads the varints that begin in `ahead` but for its last [`AHEAD`] bytes, eight bytes at a time,
/// and says how many there are; `None` if any may be of more than two bytes, or than three.
///
/// Every byte is taken for the beginning of a varint, all eight at once. Each value goes to the
/// slot that the number of beginnings before it says, so that what was no beginning is written
/// over by what is. Widths that mix are told apart without a branch on them: a mispredicted one
/// costs more than the decoding.
#[inline(always)]
fn by_words<const THREE: bool>(ahead: &[u8], plus: u32, out: &mut [u32]) -> Option<usize> {
    const LOW: u64 = 0x00ff_00ff_00ff_00ff;
    const LOWEST: u64 = 0x0000_00ff_0000_00ff;
    const HALF: u64 = 0x0000_ffff_0000_ffff;
    // Seven bits where a byte goes on.
    let mask = |more: u64| more - (more >> 7);
    let mut rest = ahead;
    let mut filled = 0;
    let mut carried = 0;
    // Of the last word, where varints begin and where those of more bytes are; and whether there
    // were any before.
    let (mut begins, mut longer, mut longer_before) = (0, 0, 0);
    while rest.len() > AHEAD
        && let Some(bytes) = rest.first_chunk::<AHEAD>()
        && let Some(slots) = out.get_mut(filled..).and_then(<[u32]>::first_chunk_mut::<8>)
    {
        let (first, second, third) = (word(bytes, 0), word(bytes, 1), word(bytes, 2));
        let more = first & CONTINUES;
        let goes_on = more & second;
        longer_before |= longer;
        longer = if THREE { goes_on & third } else { goes_on };
        let first = first & !CONTINUES;
        let second = second & mask(more);
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
        begins = !(more << 8 | carried) >> 7 & (CONTINUES >> 7);
        carried = more >> 56;
        let until = begins.wrapping_mul(0x0101_0101_0101_0101);
        slots[0] = values[0] + plus;
        for at in 1..8 {
            slots[(until >> (8 * (at - 1)) & 7) as usize] = values[at] + plus;
        }
        filled += (until >> 56) as usize;
        rest = &rest[8.min(rest.len())..];
    }
    // Those that begin behind the body are not its own.
    let behind = AHEAD.saturating_sub(rest.len());
    let body = u64::MAX.checked_shr(8 * behind as u32).unwrap_or(0);
    filled -= ((begins & !body).wrapping_mul(0x0101_0101_0101_0101) >> 56) as usize;
    ((longer_before | longer & body) & CONTINUES == 0).then_some(filled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::packed::count_packed;
    use crate::wire::varint::{BELOW, BEYOND};

    #[test]
    fn packed_indices_agree_with_one_at_a_time() {
        let mut state = 1u64;
        for case in 0..2_000 {
            // What is before it ends there, as a length does, or seems to go on.
            let mut body = vec![if case % 9 == 0 { 0x85 } else { 5 }];
            let mut expected = Vec::new();
            for _ in 0..case % 40 {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                // Mostly of one width to one; now and then of any.
                let most = if case % 5 == 0 { 0 } else { case % 24 };
                let value = (state >> 33) as u32 >> (state as u32 >> 3 & 31).max(most);
                expected.push(value.min(BEYOND));
                crate::wire::write::varint(&mut body, u64::from(value));
            }
            assert_eq!(count_packed(&body[1..]), expected.len());
            let length = body.len();
            // Enough behind it, for the one way and the other, and not.
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
        assert_eq!(indices.most_less_one(), Some(BELOW - 1));
        assert_eq!(indices.into_vec(), [BELOW, 5, 6]);
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
