//! Rows of variable length, stored end to end.

use crate::model::lazy_box::EmptyDefault;

/// Rows of variable length, stored end to end in one array:
///
/// ```text
/// items │ a b c │ d │ e f │       rows 0..4: [a b c] [] [d] [e f]
/// ends    3       3   4     6
/// ```
///
/// Stacks, the lines of locations, attributes, values and timestamps use this layout. It takes two allocations for any
/// number of rows, and consecutive rows are adjacent in memory.
///
/// Rows after the last one that was set are empty, so an unused column costs nothing.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// # let profile = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
/// let profiles = otlp_profiles::read(&profile, &Default::default())?.profiles;
/// let stacks = profiles.dictionary().stacks();
/// assert!(stacks.row(0).is_empty(), "row 0 is the empty stack");
/// assert_eq!(stacks.rows().map(<[_]>::len).sum::<usize>(), stacks.items().len());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ragged<T> {
    /// The items of row 0, then those of row 1, and so on.
    pub(crate) items: Vec<T>,
    /// The end of each row in `items`, ascending. The next row begins there.
    pub(crate) ends: Vec<u32>,
}

impl<T> Default for Ragged<T> {
    fn default() -> Self {
        Self::NONE
    }
}

impl<T: 'static> EmptyDefault for Ragged<T> {
    const EMPTY: &'static Self = &Self::NONE;
}

impl<T> Ragged<T> {
    /// A table without rows.
    pub(crate) const NONE: Self = Self { items: Vec::new(), ends: Vec::new() };

    /// Returns row `row`, or an empty slice if it was never set.
    /// It takes constant time.
    #[inline]
    pub fn row(&self, row: usize) -> &[T] {
        let Some(&end) = self.ends.get(row) else {
            return &[];
        };
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.items[start as usize..end as usize]
    }

    /// Returns the number of rows that were set.
    /// Rows beyond them are empty: [`row`](Self::row) accepts any number.
    ///
    /// ```
    /// # let bytes = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
    /// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
    /// let stacks = profiles.dictionary().stacks();
    /// assert_eq!(stacks.len(), 144, "143 stacks and the empty one");
    /// assert!(stacks.row(1_000_000).is_empty());
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether no row was set.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Iterates over all rows that were set, in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[T]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let row = &self.items[start as usize..end as usize];
            start = end;
            row
        })
    }

    /// Returns the items of all rows, end to end.
    /// This is the fastest way to run over every item regardless of its row.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// Returns the bytes of memory in use.
    pub(crate) fn owned_bytes(&self) -> usize {
        size_of_val(&self.items[..]) + size_of_val(&self.ends[..])
    }

    /// Shrinks the allocation of items if more than an eighth of it is unused.
    pub(crate) fn trim(&mut self) {
        if self.items.capacity() - self.items.len() > self.items.len() / 8 {
            self.items.shrink_to_fit();
        }
    }

    /// Removes all rows but keeps the allocation.
    pub(crate) fn clear(&mut self) {
        self.items.clear();
        self.ends.clear();
    }

    /// Removes the rows from `rows` on but keeps the allocation.
    pub(crate) fn truncate(&mut self, rows: usize) {
        self.ends.truncate(rows);
        self.items.truncate(self.open_row());
    }

    /// Like [`truncate`](Self::truncate), for a column with implicit empty rows: also removes empty rows at the
    /// end.
    pub(crate) fn truncate_at(&mut self, rows: usize) {
        self.truncate(rows);
        // Stored and implicit empty rows are equal in meaning, but tables that differ in them would compare as
        // different.
        while !self.is_empty() && self.row(self.len() - 1).is_empty() {
            self.ends.pop();
        }
    }

    /// Ends a row, which consists of the items pushed since the last end.
    #[inline]
    pub(crate) fn end_row(&mut self) {
        self.ends.push(self.items.len() as u32);
    }

    /// Returns the position in `items` after the last ended row.
    pub(crate) fn open_row(&self) -> usize {
        self.ends.last().map_or(0, |end| *end as usize)
    }

    /// Adds empty rows so that `row` is the next row.
    #[inline]
    pub(crate) fn skip_to(&mut self, row: usize) {
        let end = self.ends.last().copied().unwrap_or(0);
        self.ends.resize(row.max(self.ends.len()), end);
    }

    /// Ends row `row` with the items pushed since the last end. Does nothing without items.
    #[inline]
    pub(crate) fn end_row_at(&mut self, row: usize) {
        let end = self.ends.last().copied().unwrap_or(0);
        if self.items.len() as u32 != end {
            if self.ends.len() != row {
                self.ends.resize(row, end);
            }
            self.end_row();
        }
    }
}

impl<T: Copy> Ragged<T> {
    /// Keeps the items of each row that `keep` accepts.
    pub(crate) fn retain(&mut self, keep: impl Fn(T) -> bool) {
        let mut kept = Self::NONE;
        for row in self.rows() {
            kept.items.extend(row.iter().copied().filter(|item| keep(*item)));
            kept.end_row();
        }
        *self = kept;
    }
}

impl<T: Clone> Ragged<T> {
    /// Appends a row.
    #[inline]
    pub(crate) fn push(&mut self, row: &[T]) {
        self.items.extend_from_slice(row);
        self.end_row();
    }

    /// Sets row `at`, which must be the next row or a later one. Ignores empty rows, which are implicit.
    #[inline]
    pub(crate) fn push_at(&mut self, at: usize, row: &[T]) {
        if !row.is_empty() {
            self.skip_to(at);
            self.push(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_were_never_set_are_empty() {
        let mut ragged = Ragged::default();
        ragged.push_at(0, &[]);
        ragged.push_at(2, &[1, 2]);
        ragged.push_at(3, &[3]);
        ragged.items.push(4);
        ragged.end_row_at(5);
        ragged.end_row_at(6);
        let rows: Vec<&[i32]> = ragged.rows().collect();
        assert_eq!(rows, [&[][..], &[], &[1, 2], &[3], &[], &[4]]);
        assert_eq!(ragged.row(2), [1, 2]);
        assert!(ragged.row(7).is_empty());
        let mut shorter = ragged.clone();
        shorter.truncate_at(5);
        assert_eq!(shorter, Ragged { items: vec![1, 2, 3], ends: vec![0, 0, 2, 3] });
        shorter.truncate_at(2);
        assert_eq!(shorter, Ragged::NONE);
        ragged.truncate(2);
        assert_eq!(ragged, Ragged { items: vec![], ends: vec![0, 0] });
    }
}
