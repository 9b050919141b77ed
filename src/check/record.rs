//! One message taken apart: what its fields hold, by the keys of the schema.

use super::shape::Shape;

/// More than any message has keys.
pub(crate) const CELLS: usize = 30;

/// What a field holds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cell {
    /// The last number, with its sign.
    pub(crate) value: u64,
    /// Where the first occurrence begins, with its tag.
    pub(crate) at: u32,
    /// The body of the last one that has a length.
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// How often it occurs.
    pub(crate) times: u32,
    /// How many elements the occurrences hold.
    pub(crate) count: u32,
}

/// A message's fields. Cells of fields that do not occur are stale; [`Record::seen`] tells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    cells: [Cell; CELLS],
    pub(crate) seen: u64,
    /// The message's own bytes.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Whether it has fields that the schema does not know.
    pub(crate) unknown: bool,
}

impl Record {
    pub(crate) fn new() -> Self {
        Self { cells: [Cell::default(); CELLS], seen: 0, start: 0, end: 0, unknown: false }
    }

    pub(crate) fn begin(&mut self, start: usize, end: usize) {
        (self.seen, self.unknown) = (0, false);
        (self.start, self.end) = (start, end);
    }

    #[inline(always)]
    pub(crate) fn cell_mut(&mut self, cell: usize) -> &mut Cell {
        let bit = 1 << cell;
        let fresh = self.seen & bit == 0;
        self.seen |= bit;
        let cell = &mut self.cells[cell % CELLS];
        if fresh {
            *cell = Cell::default();
        }
        cell
    }

    #[inline(always)]
    pub(crate) fn get(&self, cell: usize) -> Option<&Cell> {
        (self.seen >> cell & 1 == 1).then(|| &self.cells[cell % CELLS])
    }

    #[inline(always)]
    pub(crate) fn has(&self, cell: usize) -> bool {
        self.seen >> cell & 1 == 1
    }

    /// The number in a field; 0 where it does not occur.
    #[inline(always)]
    pub(crate) fn number(&self, cell: usize) -> u64 {
        self.get(cell).map_or(0, |cell| cell.value)
    }

    #[inline(always)]
    pub(crate) fn signed(&self, cell: usize) -> i64 {
        self.number(cell) as i64
    }

    /// How many elements a field holds.
    #[inline(always)]
    pub(crate) fn count(&self, cell: usize) -> usize {
        self.get(cell).map_or(0, |cell| cell.count as usize)
    }

    /// The body of the last occurrence.
    #[inline(always)]
    pub(crate) fn body(&self, cell: usize) -> std::ops::Range<usize> {
        self.get(cell).map_or(0..0, |cell| cell.start as usize..cell.end as usize)
    }

    /// Where a field begins, or else its message.
    #[inline(always)]
    pub(crate) fn at(&self, cell: usize) -> usize {
        self.get(cell).map_or(self.start, |cell| cell.at as usize)
    }

    /// Whether every field is what it is when it is left out; of messages inside it their absence.
    pub(crate) fn is_zero(&self, shape: &Shape) -> bool {
        (0..CELLS).all(|cell| {
            let (Some(found), Some(slot)) = (self.get(cell), shape.of_cell(cell)) else {
                return true;
            };
            match slot.repeated || self_is_message(slot) {
                true => found.count == 0,
                false => found.value == 0 && found.start == found.end,
            }
        })
    }
}

fn self_is_message(slot: &super::shape::Slot) -> bool {
    slot.take == super::shape::Take::Message
}
