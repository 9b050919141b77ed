//! Byte strings of a file known by number: packed stacks and labels that were met before.
//!
//! Nearly every stack of a pprof is a new one. A look-up that ends at a free slot, as that of the
//! model's `RowIndex` does, depends on a branch that is as good as random, which takes a twelfth of
//! reading. So rows are linked here, and one look-up mostly ends where it begins.
//!
//! ```text
//! slots  2ⁿ of the last row in each ──┐
//! rows   {hash, before, start, length}◄┘ ── before ──► the row before it in the slot, …, END
//! bytes  in the payload, or in `made`
//! ```
//!
//! Hashes are of a seeded function: stacks and labels come from strangers, who could otherwise
//! choose rows that all fall into one slot.

use std::hint::black_box;

/// Byte strings met before, by number, to be found by a hash of what they are: those whose hashes fall
/// into the same slot are linked, from the last of them.
pub(super) struct Seen<'a> {
    /// Shorter than 4 GiB, as places in it are 32 bits.
    payload: &'a [u8],
    /// By slot: the last row in it, or [`END`].
    slots: Vec<u32>,
    /// By number, from 1. What [`END`] stands at is no row.
    rows: Vec<Row>,
    /// Bytes that are nowhere in the payload.
    made: Vec<u8>,
}

/// A byte string: all that finding it asks for lies side by side.
#[derive(Clone, Copy, Default)]
struct Row {
    /// The low half of the bytes' hash; it also says the slot.
    hash: u32,
    /// The row before it in its slot, or [`END`].
    before: u32,
    /// Where it lies: in the payload, or as far behind its end in what was made.
    start: u32,
    length: u32,
}

/// No row has this number.
const END: u32 = 0;

/// Room for the first bytes that are made; whoever makes some, mostly makes many.
const MADE: usize = 1 << 10;

/// As many rows are large.
const LARGE: usize = 1 << 15;

impl<'a> Seen<'a> {
    /// None yet; `rows` are expected.
    pub(super) fn with_room(payload: &'a [u8], rows: usize) -> Self {
        let mut seen = Self { payload, slots: Vec::new(), rows: Vec::new(), made: Vec::new() };
        seen.rows.reserve(rows + 1);
        seen.rows.push(Row::default());
        if rows > 0 {
            seen.spread(rows);
        }
        seen
    }

    /// How many there are.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.rows.len() - 1
    }

    /// The bytes of a number.
    pub(super) fn get(&self, number: u32) -> Option<&[u8]> {
        self.bytes(self.rows.get(number as usize + 1)?)
    }

    /// They stay where they are: in the payload, unless they were made.
    #[inline]
    fn bytes(&self, row: &Row) -> Option<&[u8]> {
        let rest = match (row.start as usize).checked_sub(self.payload.len()) {
            None => self.payload.get(row.start as usize..),
            Some(start) => self.made.get(start..),
        };
        rest?.get(..row.length as usize)
    }

    /// The number of some bytes of this hash.
    ///
    /// Whether there is a row in the slot is not worth a branch: it is as good as random, and known
    /// late.
    #[inline]
    pub(super) fn find(&self, hash: u32, bytes: &[u8]) -> Option<u32> {
        let mut at = *self.slots.get(self.slot(hash))?;
        while let Some(row) = self.rows.get(at as usize) {
            if (row.hash != hash) & (row.before == END) {
                return None;
            }
            if row.hash == hash && at != END && self.bytes(row) == Some(bytes) {
                return Some(at - 1);
            }
            if row.before == END {
                return None;
            }
            at = row.before;
        }
        None
    }

    /// Makes hashes the last rows in their slots; no slot waits for another.
    pub(super) fn look(&self, hashes: &mut [(u32, u32)]) {
        for (hash, _) in hashes {
            *hash = self.slots.get(self.slot(*hash)).copied().unwrap_or(END);
        }
    }

    /// Fetches such rows, and the bytes they are of.
    pub(super) fn fetch(&self, rows: &mut [(u32, u32)]) {
        for row in &mut *rows {
            let place = |row: &Row| (row.start, (row.start + row.length).saturating_sub(1));
            *row = self.rows.get(row.0 as usize).map_or((0, 0), place);
        }
        let byte = |at: u32| self.payload.get(at as usize).copied().unwrap_or(0);
        black_box(rows.iter().fold(0, |all, (first, last)| all ^ byte(*first) ^ byte(*last)));
    }

    /// Keeps bytes of the payload.
    #[inline]
    pub(super) fn add(&mut self, hash: u32, bytes: &[u8]) -> u32 {
        let start = bytes.as_ptr().addr() - self.payload.as_ptr().addr();
        self.push(hash, start, bytes.len())
    }

    /// Keeps bytes that are not of the payload.
    pub(super) fn make(&mut self, hash: u32, bytes: &[u8]) -> u32 {
        let start = self.payload.len() + self.made.len();
        if self.made.is_empty() {
            self.made.reserve(MADE);
        }
        self.made.extend_from_slice(bytes);
        self.push(hash, start, bytes.len())
    }

    /// Links the new row to the last one of its slot.
    #[inline]
    fn push(&mut self, hash: u32, start: usize, length: usize) -> u32 {
        if 2 * self.len() >= self.slots.len() {
            // Small ones grow fourfold; of large ones, half the slots would stay empty.
            let rows = self.rows.len();
            self.spread(if rows < LARGE { 2 * rows + 8 } else { rows + rows / 2 });
            self.rows.reserve((self.slots.len() / 2).saturating_sub(rows) + 1);
        }
        let at = self.rows.len() as u32;
        let slot = self.slot(hash);
        let before = self.slots[slot];
        self.rows.push(Row { hash, before, start: start as u32, length: length as u32 });
        self.slots[slot] = at;
        at - 1
    }

    /// Puts the rows into slots for so many: two for each, at least, so that a row that is not there
    /// mostly meets none.
    #[cold]
    fn spread(&mut self, rows: usize) {
        self.slots.clear();
        self.slots.resize((2 * rows).next_power_of_two(), END);
        for at in 1..self.rows.len() {
            let slot = self.slot(self.rows[at].hash);
            self.rows[at].before = self.slots[slot];
            self.slots[slot] = at as u32;
        }
    }

    /// The number of slots is a power of two; without any the result is past them, and nothing is
    /// found.
    #[inline(always)]
    fn slot(&self, hash: u32) -> usize {
        hash as usize & self.slots.len().wrapping_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_found_by_hash_and_content_while_there_are_more() {
        let payload: Vec<u8> = (0..1000u32).flat_map(u32::to_le_bytes).collect();
        let hash = |number: usize| number as u32 % 64;
        let mut seen = Seen::with_room(&payload, 0);
        for (number, bytes) in payload.chunks(4).enumerate() {
            assert_eq!(seen.find(hash(number), bytes), None);
            assert_eq!(seen.find(hash(0), &payload[..4]), (number > 0).then_some(0));
            assert_eq!(seen.add(hash(number), bytes), number as u32);
        }
        let made = seen.make(7, b"not of the payload");
        for (number, bytes) in payload.chunks(4).enumerate() {
            assert_eq!(seen.find(hash(number), bytes), Some(number as u32));
            assert_eq!(seen.get(number as u32), Some(bytes));
        }
        assert_eq!(seen.find(7, b"not of the payload"), Some(made));
        assert_eq!(seen.find(8, b"not of the payload"), None);
        assert_eq!((seen.len(), seen.get(1001)), (1001, None));
        for room in [0, 1, 100] {
            assert_eq!(Seen::with_room(&payload, room).find(7, b""), None);
        }
    }
}
