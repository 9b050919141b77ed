//! Finds the row of a table by its content.

/// A hash table of row numbers with open addressing and linear probing, at most two thirds full.
///
/// ```text
/// hash ─► home slot: 32 bits of the hash │ row ─► next slot … ─► a free slot: absent
/// ```
///
/// It holds no copy of a row. Callers pass a closure that compares a row with the wanted content, which runs only
/// if 32 bits of the hash are equal. Growing needs no hash function. Hashes must be seeded or come from trusted
/// input, because many equal hashes form a long chain.
///
/// Invariant: at least a third of the slots are free, so every probe ends, and soon.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowIndex {
    /// A power of two of slots, or none: 32 bits of the hash, and the row plus one. 0 marks a free slot, so that
    /// new memory needs no initialisation beyond zeros.
    slots: Vec<(u32, u32)>,
    /// The number of used slots.
    rows: usize,
}

/// Returns the growth factor of a full table: small tables grow fast, large ones use little spare memory.
pub(crate) fn growth(rows: usize) -> usize {
    if rows < 1 << 13 { 4 } else { 2 }
}

impl RowIndex {
    /// Creates an index with capacity for `rows` rows.
    pub(crate) fn with_capacity(rows: usize) -> Self {
        let mut index = Self::default();
        index.reserve(rows);
        index
    }

    /// Returns the row with this hash for which `same` returns true.
    #[inline]
    pub(crate) fn find(&self, hash: u64, mut same: impl FnMut(u32) -> bool) -> Option<u32> {
        let tag = tag(hash);
        let mut at = self.first_slot(tag);
        // An index without slots has no element here, whatever the tag.
        while let Some(&(other, row)) = self.slots.get(at) {
            // A free slot ends the probe.
            let row = row.checked_sub(1)?;
            if other == tag && same(row) {
                return Some(row);
            }
            at = self.after(at);
        }
        None
    }

    /// Adds a row that is not in the index.
    #[inline]
    pub(crate) fn add(&mut self, hash: u64, row: u32) {
        if !Self::fit(self.rows + 1, self.slots.len()) {
            self.grow(self.slots.len().max(8) * growth(self.rows));
        }
        // No table has 2³² − 1 rows, so the sum does not overflow.
        self.put((tag(hash), row + 1));
        self.rows += 1;
    }

    /// Reserves capacity for `rows` more rows.
    pub(crate) fn reserve(&mut self, rows: usize) {
        let rows = self.rows.saturating_add(rows);
        if !Self::fit(rows, self.slots.len()) {
            self.grow((rows + rows / 2 + 1).next_power_of_two());
        }
    }

    /// Returns whether `rows` rows leave enough of `slots` slots free.
    #[inline]
    fn fit(rows: usize, slots: usize) -> bool {
        // rows × 1.5 < slots: at most two thirds are in use.
        rows + rows / 2 < slots
    }

    /// Returns whether the index is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Removes all rows but keeps the allocation.
    pub(crate) fn clear(&mut self) {
        self.slots.fill((0, 0));
        self.rows = 0;
    }

    /// Removes the rows from `rows` on but keeps the allocation. Linear in the slots: rows may be displaced by a
    /// removed one, so all remaining rows are inserted again.
    pub(crate) fn truncate(&mut self, rows: usize) {
        let slots = self.slots.len();
        self.rows = 0;
        for (tag, row) in std::mem::replace(&mut self.slots, vec![(0, 0); slots]) {
            // Slots store rows plus one, so this keeps the rows below `rows`.
            if row != 0 && row as usize <= rows {
                self.put((tag, row));
                self.rows += 1;
            }
        }
    }

    /// Returns the first slot of a tag's probe. The number of slots is a power of two, so the low bits select it.
    #[inline]
    fn first_slot(&self, tag: u32) -> usize {
        tag as usize & self.slots.len().wrapping_sub(1)
    }

    /// Returns the next slot of a probe, which wraps around at the end.
    #[inline]
    fn after(&self, at: usize) -> usize {
        (at + 1) & self.slots.len().wrapping_sub(1)
    }

    /// Stores a row in the first free slot of its probe, without looking for an equal one.
    #[inline]
    fn put(&mut self, slot: (u32, u32)) {
        let mut at = self.first_slot(slot.0);
        // Ends, because callers grow the table before it is more than two thirds full.
        while self.slots[at].1 != 0 {
            at = self.after(at);
        }
        self.slots[at] = slot;
    }

    /// Grows the table. The tags determine the new home slots, so no row is hashed again.
    #[cold]
    fn grow(&mut self, slots: usize) {
        let old = std::mem::replace(&mut self.slots, vec![(0, 0); slots]);
        old.into_iter().filter(|slot| slot.1 != 0).for_each(|slot| self.put(slot));
    }
}

/// Reduces a hash to 32 bits. It mixes both halves, in case one of them is weak.
#[inline]
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
            let mut index = RowIndex::with_capacity(rows);
            (0..20).for_each(|row| index.add(row << 7, row as u32));
            assert_eq!(index.find(1, |_| true), None);
        }
    }
}
