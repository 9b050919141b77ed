//! Finding the row of a table by what is in it.

/// A hash table of row numbers: open addressing, linear probing, at most two thirds full.
///
/// ```text
/// hash ─► home slot: 32 bits of the hash │ row ─► next slot … ─► a free slot: not there
/// ```
///
/// It holds no copy of any row. Whoever looks for one says whether a row is the same, and is asked only
/// where 32 bits of the hash are. A table that grows needs no hash from anyone. Hashes have to be
/// seeded or of trusted input, as many that are equal make a long chain.
///
/// Invariant: at least a third of the slots are free, so every probe ends, and soon.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowIndex {
    /// A power of two of them, or none: half of the hash, and the row plus one; 0 if it is free, so
    /// that new memory need not be written.
    slots: Vec<(u32, u32)>,
    /// How many slots are taken.
    rows: usize,
}

/// How many times as large a full table becomes: small ones grow fast, large ones take no more than
/// they need.
pub(crate) fn growth(rows: usize) -> usize {
    if rows < 1 << 13 { 4 } else { 2 }
}

impl RowIndex {
    /// An index with room for so many rows.
    pub(crate) fn with_room(rows: usize) -> Self {
        let mut index = Self::default();
        index.reserve(rows);
        index
    }

    /// The row that has this hash and is the `same`.
    #[inline]
    pub(crate) fn find(&self, hash: u64, mut same: impl FnMut(u32) -> bool) -> Option<u32> {
        let tag = tag(hash);
        let mut at = self.home(tag);
        while let Some(&(other, row)) = self.slots.get(at) {
            let row = row.checked_sub(1)?;
            if other == tag && same(row) {
                return Some(row);
            }
            at = self.after(at);
        }
        None
    }

    /// Adds a row that is not there.
    #[inline]
    pub(crate) fn add(&mut self, hash: u64, row: u32) {
        if !Self::fit(self.rows + 1, self.slots.len()) {
            self.grow(self.slots.len().max(8) * growth(self.rows));
        }
        self.put((tag(hash), row + 1));
        self.rows += 1;
    }

    /// Makes room for so many rows more.
    pub(crate) fn reserve(&mut self, rows: usize) {
        let rows = self.rows.saturating_add(rows);
        if !Self::fit(rows, self.slots.len()) {
            self.grow((rows + rows / 2 + 1).next_power_of_two());
        }
    }

    /// Whether so many rows leave enough slots free.
    #[inline(always)]
    fn fit(rows: usize, slots: usize) -> bool {
        rows + rows / 2 < slots
    }

    /// Whether no row was added.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Forgets all rows, keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.slots.fill((0, 0));
        self.rows = 0;
    }

    /// Forgets the rows from `rows` on, keeps the memory. Linear in the slots: what follows a slot that becomes
    /// free may have been put behind it, so all that stay are put anew.
    pub(crate) fn truncate(&mut self, rows: usize) {
        let slots = self.slots.len();
        self.rows = 0;
        for (tag, row) in std::mem::replace(&mut self.slots, vec![(0, 0); slots]) {
            if row != 0 && row as usize <= rows {
                self.put((tag, row));
                self.rows += 1;
            }
        }
    }

    /// Where the probe of a tag begins: the slots are a power of two, so the low bits decide.
    #[inline(always)]
    fn home(&self, tag: u32) -> usize {
        tag as usize & self.slots.len().wrapping_sub(1)
    }

    /// The next slot of a probe, which goes round at the end.
    #[inline(always)]
    fn after(&self, at: usize) -> usize {
        (at + 1) & self.slots.len().wrapping_sub(1)
    }

    /// Into the first free slot of its probe; nothing equal is looked for.
    #[inline]
    fn put(&mut self, slot: (u32, u32)) {
        let mut at = self.home(slot.0);
        while self.slots[at].1 != 0 {
            at = self.after(at);
        }
        self.slots[at] = slot;
    }

    /// The tags are enough to find the new homes, so no row is looked at again.
    #[cold]
    fn grow(&mut self, slots: usize) {
        let old = std::mem::replace(&mut self.slots, vec![(0, 0); slots]);
        old.into_iter().filter(|slot| slot.1 != 0).for_each(|slot| self.put(slot));
    }
}

/// What is kept of a hash.
/// Both halves count, so that a hash weak in one is no weaker here.
#[inline(always)]
fn tag(hash: u64) -> u32 {
    (hash ^ hash >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_hash_and_content_while_it_grows() {
        let content: Vec<u64> = (0..1000).map(|row| row * 3).collect();
        let hash = |content: u64| content % 64;
        let mut index = RowIndex::default();
        let find = |index: &RowIndex, wanted: u64| {
            index.find(hash(wanted), |row| content[row as usize] == wanted)
        };
        for (row, &wanted) in content.iter().enumerate() {
            assert_eq!(find(&index, wanted), None);
            assert_eq!(find(&index, 0), (row > 0).then_some(0));
            index.add(hash(wanted), row as u32);
        }
        index.reserve(5000);
        for (row, &wanted) in content.iter().enumerate() {
            assert_eq!(find(&index, wanted), Some(row as u32));
        }
        assert_eq!(index.find(hash(7), |_| false), None);
        index.clear();
        assert_eq!(index.find(0, |_| true), None);
        for rows in 0..9 {
            let mut index = RowIndex::with_room(rows);
            (0..20).for_each(|row| index.add(row << 7, row as u32));
            assert_eq!(index.find(1, |_| true), None);
        }
    }
}
