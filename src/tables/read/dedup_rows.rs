//! Deduplication of table rows: equal rows are replaced by the first of them.
//!
//! Few payloads contain duplicates, so rows are first compared by a cheap 64-bit key that equal rows share
//! and most others do not. Only rows that share a key are compared by a hash of the whole row. Time is
//! therefore linear whatever the keys are.
//!
//! ```text
//! key of each row ─► seen before? ─► only these rows: hash and compare
//! ```

use std::hash::{BuildHasher, Hash};

use foldhash::fast::RandomState;

use crate::error::Result;
use crate::model::ragged::Ragged;
use crate::model::row_index::RowIndex;
use crate::read_context::ReadContext;

/// The new index of each row of a table after deduplication.
///
/// Computed once for a table, then looked up for every reference to it.
#[derive(Debug)]
pub(crate) struct RowRemap {
    /// The new row, by old row.
    new: Vec<u32>,
    /// Whether a row is the first of its duplicates, by old row.
    kept: Vec<bool>,
}

impl RowRemap {
    /// Compares the rows `shared` of a table of `rows` rows. Returns `None` if all of them differ.
    ///
    /// The table keeps the first of equal rows, so rows keep their order.
    fn among<T: Hash + Eq>(shared: &[u32], rows: usize, row: impl Fn(usize) -> T) -> Option<Self> {
        if shared.is_empty() {
            return None;
        }
        // The rows are untrusted input, so their hashes are seeded.
        let hasher = RandomState::default();
        let mut index = RowIndex::with_capacity(shared.len());
        let mut equal: Vec<(u32, u32)> = Vec::new();
        for &at in shared {
            let this = row(at as usize);
            let hash = hasher.hash_one(&this);
            match index.find(hash, |first| row(first as usize) == this) {
                Some(first) => equal.push((at, first)),
                None => index.add(hash, at),
            }
        }
        if equal.is_empty() {
            return None;
        }
        let mut kept = vec![true; rows];
        equal.iter().for_each(|&(at, _)| kept[at as usize] = false);
        // Number the kept rows consecutively; duplicates get the number of their first row below.
        let mut next = 0;
        let mut new: Vec<u32> = kept
            .iter()
            .map(|&kept| {
                next += u32::from(kept);
                // `shared` never contains row 0, so row 0 is kept and this does not underflow.
                next - 1
            })
            .collect();
        for (at, first) in equal {
            // The index has only kept rows, so the number of `first` is final.
            new[at as usize] = new[first as usize];
        }
        Some(Self { new, kept })
    }

    /// Returns the new row of an old one.
    pub(crate) fn of(&self, row: u32) -> u32 {
        self.new.get(row as usize).copied().unwrap_or(0)
    }

    /// Iterates over the rows that duplicate an earlier row.
    pub(crate) fn dropped(&self) -> impl Iterator<Item = usize> {
        let rows = self.kept.iter().enumerate();
        rows.filter(|(_, kept)| !**kept).map(|(row, _)| row)
    }

    /// Removes the duplicates from a column.
    pub(crate) fn retain<T>(&self, rows: &mut Vec<T>) {
        let mut kept = self.kept.iter();
        rows.retain(|_| kept.next().copied().unwrap_or(true));
    }

    /// Removes the duplicates from rows of variable length, in place. The column may be shorter than the
    /// table: missing rows at its end are empty.
    pub(crate) fn retain_rows<T: Copy>(&self, rows: &mut Ragged<T>) {
        let Ragged { items, ends } = rows;
        let (mut start, mut filled) = (0, 0);
        let mut kept = self.kept.iter();
        ends.retain_mut(|end| {
            let row = start..*end as usize;
            start = row.end;
            let keep = kept.next().copied().unwrap_or(true);
            if keep {
                let to = filled;
                filled += row.len();
                // Moves towards the front or not at all, so no row is overwritten before it is moved.
                items.copy_within(row, to);
                *end = filled as u32;
            }
            keep
        });
        items.truncate(filled);
    }
}

/// Deduplicates the rows of a table. Returns `None` if all rows differ.
///
/// `key` is a cheap 64-bit key that equal rows share. `row` is called only for rows whose key another row
/// shares. Takes linear time whatever the keys are.
pub(crate) fn equal_rows<T: Hash + Eq>(
    rows: usize,
    cx: &mut ReadContext,
    key: impl Fn(usize) -> u64,
    row: impl Fn(usize) -> T,
) -> Result<Option<RowRemap>> {
    let mark = cx.budget.mark();
    let shared = rows_with_shared_keys(rows, cx, key)?;
    let remap = RowRemap::among(&shared, rows, row);
    cx.budget.give_back(mark);
    Ok(remap)
}

/// Returns the rows, except row 0, whose key another row shares.
///
/// If keys ascend from row to row, all differ. This holds for functions of a writer that numbers names in the
/// order of first occurrence.
fn rows_with_shared_keys(
    rows: usize,
    cx: &mut ReadContext,
    key: impl Fn(usize) -> u64,
) -> Result<Vec<u32>> {
    if (2..rows).all(|row| key(row - 1) < key(row)) {
        return Ok(Vec::new());
    }
    cx.budget.charge::<[u64; 3]>(rows)?;
    let hasher = RandomState::default();
    let mut seen = RowIndex::with_capacity(rows);
    let mut shared = Vec::new();
    for row in 1..rows as u32 {
        let this = key(row as usize);
        let hash = hasher.hash_one(this);
        match seen.find(hash, |first| key(first as usize) == this) {
            Some(first) => shared.extend([first, row]),
            None => seen.add(hash, row),
        }
    }
    // Ascending, so that the first of equal rows is the one that `among` keeps.
    shared.sort_unstable();
    shared.dedup();
    // Charge for the index that compares these rows, and for the map of new rows.
    cx.budget.charge::<[u32; 10]>(shared.len())?;
    cx.budget.charge::<(u32, bool)>(if shared.is_empty() { 0 } else { rows })?;
    Ok(shared)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::read_context::Policy;

    #[test]
    fn rows_of_equal_keys_are_found() {
        let shared = |keys: &[u64]| {
            let mut cx = ReadContext::new(Limits::file(), Policy::Refuse, 0);
            super::rows_with_shared_keys(keys.len(), &mut cx, |row| keys[row]).unwrap()
        };
        assert_eq!(shared(&[7, 1, 2, 1, 3, 2, 7, 1]), [1, 2, 3, 5, 7]);
        assert_eq!(shared(&[0, 1, 1]), [1, 2]);
        assert_eq!(shared(&[0, 1, 2, 3]), [0; 0]);
        for keys in [&[][..], &[1], &[1, 1]] {
            assert_eq!(shared(keys), [0; 0]);
        }
        let many: Vec<u64> = (0..5000).map(|row| row << 40).collect();
        assert_eq!(shared(&many), [0; 0]);
        for spread in [0, 12, 40, 56] {
            let mut keys: Vec<u64> = (0..5000u64).map(|row| row.rotate_left(spread)).collect();
            keys.reverse();
            let found = shared(&keys).len();
            assert!(found < 1000, "{found} of rows {spread} bits apart");
        }
    }

    #[test]
    fn equal_rows_become_the_first_of_them() {
        let rows = ["", "a", "b", "a", "", "b", "c"];
        let remap = RowRemap::among(&[1, 2, 3, 4, 5, 6], rows.len(), |row| rows[row]).unwrap();
        assert_eq!(remap.new, [0, 1, 2, 1, 3, 2, 4]);
        let mut kept = rows.to_vec();
        remap.retain(&mut kept);
        assert_eq!(kept, ["", "a", "b", "", "c"]);
        assert!(RowRemap::among(&[1, 2], rows.len(), |row| rows[row]).is_none());
    }
}
