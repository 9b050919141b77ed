//! Rows of a table that are equal become the first of them.
//!
//! Nearly no payload has any, so rows are looked at by a key first, which equal rows have in common and most others do
//! not. Those that share it are compared by a hash of the whole row, so that time stays linear whatever the keys are.
//!
//! ```text
//! key of each row ─► met before? ─► those alone: hashed and compared
//! ```

use std::hash::{BuildHasher, Hash};

use foldhash::fast::RandomState;

use crate::error::Result;
use crate::format::intake::Intake;
use crate::model::ragged::Ragged;
use crate::model::row_index::RowIndex;

/// Where each row of a table is, once equal rows are one.
/// Made once for a table, and then asked for every reference to it.
#[derive(Debug)]
pub(crate) struct Places {
    /// By row: its new row.
    new: Vec<u32>,
    /// By row: whether it is the first of its equals.
    kept: Vec<bool>,
}

impl Places {
    /// Compares the rows `alike` of a table of `rows`; `None` where no two are equal.
    /// The table keeps the first of equal rows, so rows keep their order.
    fn among<T: Hash + Eq>(alike: &[u32], rows: usize, row: impl Fn(usize) -> T) -> Option<Self> {
        if alike.is_empty() {
            return None;
        }
        let hasher = RandomState::default();
        let mut index = RowIndex::with_room(alike.len());
        let mut equal: Vec<(u32, u32)> = Vec::new();
        for &at in alike {
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
        let mut next = 0;
        let mut new: Vec<u32> = kept
            .iter()
            .map(|&kept| {
                next += u32::from(kept);
                next - 1
            })
            .collect();
        for (at, first) in equal {
            new[at as usize] = new[first as usize];
        }
        Some(Self { new, kept })
    }

    /// The new row of an old one.
    pub(crate) fn of(&self, row: u32) -> u32 {
        self.new.get(row as usize).copied().unwrap_or(0)
    }

    /// The rows that are equal to an earlier one.
    pub(crate) fn dropped(&self) -> impl Iterator<Item = usize> {
        let rows = self.kept.iter().enumerate();
        rows.filter(|(_, kept)| !**kept).map(|(row, _)| row)
    }

    /// Keeps the rows of a column that are the first of their equals.
    pub(crate) fn retain<T>(&self, rows: &mut Vec<T>) {
        let mut kept = self.kept.iter();
        rows.retain(|_| kept.next().copied().unwrap_or(true));
    }

    /// The same for rows of unequal length, in place; rows behind the last that was set are empty anyway.
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
                items.copy_within(row, to);
                *end = filled as u32;
            }
            keep
        });
        items.truncate(filled);
    }
}

/// Where rows are once equal ones, which have equal keys, are one; `None` where no two are equal.
///
/// `key` is cheap and of 64 bits; `row` is asked for those rows alone whose keys agree with another's. It takes
/// linear time whatever the keys are.
pub(crate) fn equal_rows<T: Hash + Eq>(
    rows: usize,
    intake: &mut Intake,
    key: impl Fn(usize) -> u64,
    row: impl Fn(usize) -> T,
) -> Result<Option<Places>> {
    let mark = intake.budget.mark();
    let alike = alike(rows, intake, key)?;
    let places = Places::among(&alike, rows, row);
    intake.budget.give_back(mark);
    Ok(places)
}

/// The rows, row 0 not among them, whose key another row has too.
///
/// Keys that rise from row to row differ all: functions of a writer that numbers names as it meets
/// them.
fn alike(rows: usize, intake: &mut Intake, key: impl Fn(usize) -> u64) -> Result<Vec<u32>> {
    if (2..rows).all(|row| key(row - 1) < key(row)) {
        return Ok(Vec::new());
    }
    intake.budget.take::<[u64; 3]>(rows)?;
    let hasher = RandomState::default();
    let mut met = RowIndex::with_room(rows);
    let mut alike = Vec::new();
    for row in 1..rows as u32 {
        let this = key(row as usize);
        let hash = hasher.hash_one(this);
        match met.find(hash, |first| key(first as usize) == this) {
            Some(first) => alike.extend([first, row]),
            None => met.add(hash, row),
        }
    }
    alike.sort_unstable();
    alike.dedup();
    // To compare them, and where all rows are then.
    intake.budget.take::<[u32; 10]>(alike.len())?;
    intake.budget.take::<(u32, bool)>(if alike.is_empty() { 0 } else { rows })?;
    Ok(alike)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::intake::Policy;
    use crate::limits::Limits;

    #[test]
    fn rows_of_equal_keys_are_found() {
        let alike = |keys: &[u64]| {
            let mut intake = Intake::new(Limits::file(), Policy::Refuse, 0);
            super::alike(keys.len(), &mut intake, |row| keys[row]).unwrap()
        };
        assert_eq!(alike(&[7, 1, 2, 1, 3, 2, 7, 1]), [1, 2, 3, 5, 7]);
        assert_eq!(alike(&[0, 1, 1]), [1, 2]);
        assert_eq!(alike(&[0, 1, 2, 3]), [0; 0]);
        for keys in [&[][..], &[1], &[1, 1]] {
            assert_eq!(alike(keys), [0; 0]);
        }
        let many: Vec<u64> = (0..5000).map(|row| row << 40).collect();
        assert_eq!(alike(&many), [0; 0]);
        for spread in [0, 12, 40, 56] {
            let mut keys: Vec<u64> = (0..5000u64).map(|row| row.rotate_left(spread)).collect();
            keys.reverse();
            let found = alike(&keys).len();
            assert!(found < 1000, "{found} of rows {spread} bits apart");
        }
    }

    #[test]
    fn equal_rows_become_the_first_of_them() {
        let rows = ["", "a", "b", "a", "", "b", "c"];
        let places = Places::among(&[1, 2, 3, 4, 5, 6], rows.len(), |row| rows[row]).unwrap();
        assert_eq!(places.new, [0, 1, 2, 1, 3, 2, 4]);
        let mut kept = rows.to_vec();
        places.retain(&mut kept);
        assert_eq!(kept, ["", "a", "b", "", "c"]);
        assert!(Places::among(&[1, 2], rows.len(), |row| rows[row]).is_none());
    }
}
