//! Interning of byte strings of a file: packed stacks and labels get numbers.
//!
//! Nearly every stack of a pprof is new. A lookup that ends at a free slot, like that of the model's
//! `RowIndex`, depends on an unpredictable branch that takes a twelfth of the reading time. So rows in the
//! same slot are linked here, and most lookups end at the first row.
//!
//! ```text
//! slots  2ⁿ of the last row in each ──┐
//! rows   {hash, before, start, length}◄┘ ── before ──► the previous row in the slot, …, END
//! bytes  in the payload, or in `made`
//! ```
//!
//! The hash function is seeded, because stacks and labels are untrusted input, which could otherwise force
//! all rows into one slot.

use std::hint::black_box;

/// Interned byte strings, found by hash. Rows in the same slot are linked, starting with the last.
pub(super) struct ByteStrings<'a> {
    /// Shorter than 4 GiB, because offsets have 32 bits.
    payload: &'a [u8],
    /// The last row in each slot, or [`END`].
    slots: Vec<u32>,
    /// The rows, from number 1. The entry at [`END`] is a placeholder.
    rows: Vec<Row>,
    /// Byte strings that are not in the payload.
    made: Vec<u8>,
}

/// A byte string. The fields that a lookup needs are adjacent.
#[derive(Clone, Copy, Default)]
struct Row {
    /// The low half of the hash, which also determines the slot.
    hash: u32,
    /// The previous row in its slot, or [`END`].
    before: u32,
    /// The start of the bytes: an offset in the payload, or the length of the payload plus an offset in
    /// `made`.
    start: u32,
    length: u32,
}

/// Not the number of any row.
const END: u32 = 0;

/// The initial capacity of `made`; a file with one such string usually has many.
const MADE: usize = 1 << 10;

/// The number of rows from which the table grows more slowly.
const LARGE: usize = 1 << 15;

impl<'a> ByteStrings<'a> {
    /// Creates an empty table with memory for `rows` rows.
    pub(super) fn with_capacity(payload: &'a [u8], rows: usize) -> Self {
        let mut table = Self { payload, slots: Vec::new(), rows: Vec::new(), made: Vec::new() };
        table.rows.reserve(rows + 1);
        table.rows.push(Row::default());
        if rows > 0 {
            table.resize(rows);
        }
        table
    }

    /// Returns the number of rows.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.rows.len() - 1
    }

    /// Returns the bytes of a number.
    pub(super) fn get(&self, number: u32) -> Option<&[u8]> {
        self.bytes(self.rows.get(number as usize + 1)?)
    }

    /// Returns the bytes of a row.
    #[inline]
    fn bytes(&self, row: &Row) -> Option<&[u8]> {
        let rest = match (row.start as usize).checked_sub(self.payload.len()) {
            None => self.payload.get(row.start as usize..),
            Some(start) => self.made.get(start..),
        };
        rest?.get(..row.length as usize)
    }

    /// Returns the number of the given bytes.
    ///
    /// Does not branch on an empty slot: that branch is unpredictable, and its condition is known late.
    #[inline]
    pub(super) fn find(&self, hash: u32, bytes: &[u8]) -> Option<u32> {
        let mut at = *self.slots.get(self.slot(hash))?;
        while let Some(row) = self.rows.get(at as usize) {
            // Most lookups end here, without loading the bytes.
            if (row.hash != hash) & (row.before == END) {
                return None;
            }
            // The placeholder has hash 0, which real bytes may have too.
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

    /// Replaces hashes by the last rows in their slots. The loads are independent of each other.
    pub(super) fn look(&self, hashes: &mut [(u32, u32)]) {
        for (hash, _) in hashes {
            *hash = self.slots.get(self.slot(*hash)).copied().unwrap_or(END);
        }
    }

    /// Loads these rows and the bytes that they refer to.
    pub(super) fn prefetch(&self, rows: &mut [(u32, u32)]) {
        for row in &mut *rows {
            // Only a hint: an end past 32 bits reads other bytes.
            let place =
                |row: &Row| (row.start, row.start.wrapping_add(row.length).saturating_sub(1));
            *row = self.rows.get(row.0 as usize).map_or((0, 0), place);
        }
        let byte = |at: u32| self.payload.get(at as usize).copied().unwrap_or(0);
        black_box(rows.iter().fold(0, |all, (first, last)| all ^ byte(*first) ^ byte(*last)));
    }

    /// Adds bytes of the payload.
    #[inline]
    pub(super) fn add(&mut self, hash: u32, bytes: &[u8]) -> u32 {
        // Callers pass a part of the payload, so the difference is its offset and not negative.
        let start = bytes.as_ptr().addr() - self.payload.as_ptr().addr();
        self.push(hash, start, bytes.len())
    }

    /// Adds bytes that are not in the payload; `None` if offsets of 32 bits do not reach them.
    pub(super) fn make(&mut self, hash: u32, bytes: &[u8]) -> Option<u32> {
        let start = self.payload.len() + self.made.len();
        u32::try_from(start + bytes.len()).ok()?;
        if self.made.is_empty() {
            self.made.reserve(MADE);
        }
        self.made.extend_from_slice(bytes);
        Some(self.push(hash, start, bytes.len()))
    }

    /// Adds a row, linked to the last one of its slot.
    #[inline]
    fn push(&mut self, hash: u32, start: usize, length: usize) -> u32 {
        if 2 * self.len() >= self.slots.len() {
            // Small tables grow fourfold; a large one would leave half its slots empty.
            let rows = self.rows.len();
            self.resize(if rows < LARGE { 2 * rows + 8 } else { rows + rows / 2 });
            self.rows.reserve((self.slots.len() / 2).saturating_sub(rows) + 1);
        }
        let at = self.rows.len() as u32;
        let slot = self.slot(hash);
        let before = self.slots[slot];
        self.rows.push(Row { hash, before, start: start as u32, length: length as u32 });
        self.slots[slot] = at;
        at - 1
    }

    /// Resizes the table for `rows` rows, with at least two slots per row, so that most lookups of a missing
    /// row find an empty slot.
    #[cold]
    fn resize(&mut self, rows: usize) {
        self.slots.clear();
        self.slots.resize((2 * rows).next_power_of_two(), END);
        // Ascending, so that each slot begins with its last row again. The stored hashes save hashing the
        // bytes again.
        for at in 1..self.rows.len() {
            let slot = self.slot(self.rows[at].hash);
            self.rows[at].before = self.slots[slot];
            self.slots[slot] = at as u32;
        }
    }

    /// Returns the slot of a hash. The number of slots is a power of two. Without slots the result is out of
    /// range, so lookups find nothing.
    #[inline]
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
        let mut table = ByteStrings::with_capacity(&payload, 0);
        for (number, bytes) in payload.chunks(4).enumerate() {
            assert_eq!(table.find(hash(number), bytes), None);
            assert_eq!(table.find(hash(0), &payload[..4]), (number > 0).then_some(0));
            assert_eq!(table.add(hash(number), bytes), number as u32);
        }
        let made = table.make(7, b"not of the payload").unwrap();
        for (number, bytes) in payload.chunks(4).enumerate() {
            assert_eq!(table.find(hash(number), bytes), Some(number as u32));
            assert_eq!(table.get(number as u32), Some(bytes));
        }
        assert_eq!(table.find(7, b"not of the payload"), Some(made));
        assert_eq!(table.find(8, b"not of the payload"), None);
        assert_eq!((table.len(), table.get(1001)), (1001, None));
        for room in [0, 1, 100] {
            assert_eq!(ByteStrings::with_capacity(&payload, room).find(7, b""), None);
        }
    }
}
