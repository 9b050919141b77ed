//! Rows that are read one after the other and nearly always have one length.

use crate::model::ragged::Ragged;

/// The ends of the rows of a column being read: as long as all rows are as long as the first, they
/// need not be noted one by one.
#[derive(Debug, Default)]
pub(crate) struct Even {
    /// The items of a row, as the first one had.
    width: usize,
    /// How many items there are when the next row is as long as the others; [`UNEVEN`] when one
    /// was not, and ends are noted.
    next: usize,
}

/// No column is that long.
const UNEVEN: usize = usize::MAX;

impl Even {
    /// Ends row `row`, the next one, with the items pushed since the last.
    #[inline(always)]
    pub(crate) fn end_row<T>(&mut self, column: &mut Ragged<T>, row: usize) {
        if column.items.len() == self.next {
            self.next += self.width;
        } else if self.next == UNEVEN {
            column.end_row_at(row);
        } else {
            self.end_uneven(column, row);
        }
    }

    /// The first row, which says how long the others are to be, or the first that is not so long.
    #[inline(never)]
    fn end_uneven<T>(&mut self, column: &mut Ragged<T>, row: usize) {
        if row == 0 {
            self.width = column.items.len();
            self.next = 2 * self.width;
            return;
        }
        self.note(column, row);
        self.next = UNEVEN;
        column.end_row_at(row);
    }

    /// Notes the ends of all rows, of which there are so many; their length, if they have one.
    pub(crate) fn settle<T>(&mut self, column: &mut Ragged<T>, rows: usize) -> Option<usize> {
        self.note(column, rows);
        let Self { width, next } = std::mem::take(self);
        (next != UNEVEN).then_some(width)
    }

    /// Writes the ends of so many rows of one length.
    fn note<T>(&self, column: &mut Ragged<T>, rows: usize) {
        if self.next != UNEVEN && self.width != 0 {
            column.ends.extend((1..=rows).map(|row| (row * self.width) as u32));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_end_where_they_end() {
        let lengths: [&[usize]; 8] = [
            &[],
            &[0, 0, 0],
            &[2, 2, 2],
            &[1, 1, 0, 1],
            &[0, 0, 3, 0],
            &[3, 0, 0],
            &[1, 2, 1, 1, 1],
            &[2, 2, 0, 0],
        ];
        for lengths in lengths {
            let (mut even, mut read, mut plain) =
                (Even::default(), Ragged::default(), Ragged::default());
            for (row, &length) in lengths.iter().enumerate() {
                read.items.extend(vec![row; length]);
                plain.items.extend(vec![row; length]);
                even.end_row(&mut read, row);
                plain.end_row_at(row);
            }
            let width = even.settle(&mut read, lengths.len());
            let same = lengths.iter().all(|length| Some(length) == lengths.first());
            assert_eq!(width, same.then(|| lengths.first().copied().unwrap_or(0)));
            let rows = |ragged: &Ragged<usize>| -> Vec<Vec<usize>> {
                (0..lengths.len()).map(|row| ragged.row(row).to_vec()).collect()
            };
            assert_eq!(rows(&read), rows(&plain), "{lengths:?}");
            assert_eq!(read, plain, "{lengths:?}");
        }
    }
}
