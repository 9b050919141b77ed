//! Rows known by a hash of what they hold, where most that are looked for are not there.
//!
//! Nearly every stack of a pprof is a new one. A look-up that ends at a free slot, as that of the
//! model's `RowIndex` does, depends on a branch that is as good as random, which takes a twelfth of reading.

/// The rows of a table, to be found by a hash of what they hold: those whose hashes fall into the
/// same slot are linked, from the last of them.
///
/// It does not know what the rows hold, and asks for nothing of what it has when it grows.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// By slot: the last row in it, or [`END`].
    slots: Vec<u32>,
    /// By row, from 1: its hash, and the row before it in its slot or [`END`]. What [`END`]
    /// stands at is no row.
    rows: Vec<(u32, u32)>,
}

/// As many rows are large.
const LARGE: usize = 1 << 15;

/// No row has this number.
const END: u32 = 0;

impl Index {
    /// An index with room for so many rows.
    pub(crate) fn with_room(rows: usize) -> Self {
        let mut index = Self::default();
        index.reserve(rows);
        index
    }

    /// Makes room for so many rows more.
    pub(crate) fn reserve(&mut self, rows: usize) {
        let all = self.len().saturating_add(rows);
        self.rows.reserve(rows + 1);
        if 2 * all > self.slots.len() {
            self.spread(all);
        }
    }

    /// The row that has this hash and is the `same`.
    ///
    /// Whether there is a row in the slot is not worth a branch: it is as good as random, and known
    /// late.
    #[inline]
    pub(crate) fn find(&self, hash: u32, same: impl Fn(u32) -> bool) -> Option<u32> {
        let mut row = *self.slots.get(slot(hash, self.slots.len()))?;
        while let Some(&(other, before)) = self.rows.get(row as usize) {
            if (other != hash) & (before == END) {
                return None;
            }
            if other == hash && row != END && same(row - 1) {
                return Some(row - 1);
            }
            if before == END {
                return None;
            }
            row = before;
        }
        None
    }

    /// Adds the next row, which has this hash.
    #[inline]
    pub(crate) fn add(&mut self, hash: u32) -> u32 {
        if 2 * self.len() >= self.slots.len() {
            // Small ones grow fourfold; of large ones, half the slots would stay empty.
            let rows = self.len() + 1;
            self.spread(if rows < LARGE { 2 * rows + 8 } else { rows + rows / 2 });
        }
        let row = self.rows.len() as u32;
        let at = slot(hash, self.slots.len());
        self.rows.push((hash, self.slots[at]));
        self.slots[at] = row;
        row - 1
    }

    /// How many rows there are.
    #[inline]
    fn len(&self) -> usize {
        self.rows.len().saturating_sub(1)
    }

    /// Has [`END`] stand at something.
    fn begin(&mut self) {
        if self.rows.is_empty() {
            self.rows.push((0, END));
        }
    }

    /// Puts the rows into slots for so many: two for each, at least, so that a row that is not there
    /// mostly meets none.
    #[cold]
    fn spread(&mut self, rows: usize) {
        self.begin();
        self.slots.clear();
        self.slots.resize((2 * rows).next_power_of_two(), END);
        let rows = (0..).zip(&mut self.rows).skip(1);
        for (row, (hash, before)) in rows {
            let at = slot(*hash, self.slots.len());
            *before = self.slots[at];
            self.slots[at] = row;
        }
    }
}

#[inline(always)]
fn slot(hash: u32, slots: usize) -> usize {
    hash as usize & slots.wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_hash_and_content_while_it_grows() {
        let content: Vec<u32> = (0..1000).map(|row| row * 3).collect();
        let hash = |content: u32| content % 64;
        let mut index = Index::default();
        for (row, &content_of) in content.iter().enumerate() {
            let find =
                |wanted: u32| index.find(hash(wanted), |row| content[row as usize] == wanted);
            assert_eq!(find(content_of), None);
            assert_eq!(find(0), (row > 0).then_some(0));
            assert_eq!(index.add(hash(content_of)), row as u32);
        }
        for (row, &content_of) in content.iter().enumerate() {
            let found = index.find(hash(content_of), |row| content[row as usize] == content_of);
            assert_eq!(found, Some(row as u32));
        }
        assert_eq!(index.find(7, |_| false), None);
        index.reserve(5000);
        assert_eq!(index.add(0), 1000);
        assert_eq!(index.find(0, |_| true), Some(1000));
        assert_eq!(Index::with_room(100).find(7, |_| true), None);
    }
}
