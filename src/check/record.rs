//! One message taken apart: what its fields hold, by the keys of the schema.
//!
//! Rules ask a record, not bytes. A field that comes several times leaves its last value and body, how often it came and
//! how many elements it had; where that is not enough the bytes are walked again, which only odd payloads need.
//!
//! ```text
//! bytes   08 05   22 03 01 02 03   22 01 04        Sample { stack_index: 5, values: [1, 2, 3], values: [4] }
//! cells   stack_index  value 5, times 1, count 1
//!         values       times 2, count 4, body of the last one: 04
//!         others       stale, their bit of `seen` is 0
//! ```
//!
//! A record has a fixed size whatever the message holds, and is used for one message after another;
//! that is why it keeps places and counts instead of values.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut, Range};
use std::rc::Rc;

use super::layout::{CELLS, MessageLayout, Take};
use super::position::Position;

/// What a field holds.
///
/// 32 bytes, with places of 32 bits, which is why a payload ends at 4 GiB.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cell {
    /// The last number, with its sign.
    pub(crate) value: u64,
    /// Where the first occurrence begins, with its tag.
    pub(crate) at: u32,
    /// The body of the last one that has a length.
    pub(crate) start: u32,
    /// 0 where no occurrence had a length.
    pub(crate) end: u32,
    /// How often it occurs.
    pub(crate) times: u32,
    /// How many elements the occurrences hold.
    pub(crate) count: u32,
}

impl Cell {
    /// Counts an occurrence that begins at `at` and holds so many elements.
    #[inline(always)]
    pub(crate) fn add(&mut self, at: usize, elements: usize) {
        if self.times == 0 {
            self.at = at as u32;
        }
        self.times += 1;
        self.count += elements as u32;
    }

    /// Counts occurrences after the first.
    ///
    /// Only `decode` knows that they are alike; the first one was added by itself.
    pub(crate) fn add_run(&mut self, more: u32, last: &Range<usize>) {
        self.times += more;
        self.count += more;
        (self.start, self.end) = (last.start as u32, last.end as u32);
    }

    /// The same of one that has a length.
    #[inline(always)]
    pub(crate) fn add_body(&mut self, at: usize, elements: usize, body: &Range<usize>) {
        self.add(at, elements);
        (self.start, self.end) = (body.start as u32, body.end as u32);
    }
}

/// A kilobyte each, which stays where it is when it is lent.
///
/// Boxed, since a `Vec` of records by value would move them when it grows.
type Free = Vec<Box<Record>>;

/// Records that are not in use: a record is large, so none is made for each message.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pool(Rc<RefCell<Free>>);

impl Pool {
    /// A record that is not in use, or a new one.
    #[inline]
    pub(crate) fn lend(&self) -> Lent {
        let record = self.0.borrow_mut().pop().unwrap_or_else(|| Box::new(Record::new()));
        Lent { record: Some(record), pool: Rc::clone(&self.0) }
    }
}

/// A record that goes back to its pool.
#[derive(Debug)]
pub(crate) struct Lent {
    /// `None` only while it is dropped.
    record: Option<Box<Record>>,
    /// Where it goes back to. A walk has one thread, so no lock is needed.
    pool: Rc<RefCell<Free>>,
}

/// However a walk leaves, by an error in the middle as well, the record is there for the next message.
impl Drop for Lent {
    #[inline]
    fn drop(&mut self) {
        self.pool.borrow_mut().extend(self.record.take());
    }
}

impl Deref for Lent {
    type Target = Record;

    #[inline(always)]
    fn deref(&self) -> &Record {
        match &self.record {
            Some(record) => record,
            None => unreachable!("it is there until it is dropped"),
        }
    }
}

impl DerefMut for Lent {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Record {
        match &mut self.record {
            Some(record) => record,
            None => unreachable!("it is there until it is dropped"),
        }
    }
}

/// A message's fields. Cells of fields that do not occur are stale; [`Record::seen`] tells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    /// By cell; stale where the bit of `seen` is 0.
    cells: [Cell; CELLS],
    /// A bit for each cell: which fields occur. Rules read it as a set, for a `oneof` it is the
    /// member.
    pub(crate) seen: u64,
    /// The layout of the message.
    pub(crate) shape: &'static MessageLayout,
    /// The message's own bytes.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Whether it has fields that the schema does not know.
    pub(crate) unknown: bool,
}

impl Record {
    /// A record of no field.
    pub(crate) fn new() -> Self {
        let (cells, shape) = ([Cell::default(); CELLS], MessageLayout::EMPTY);
        Self { cells, seen: 0, shape, start: 0, end: 0, unknown: false }
    }

    /// Forgets all fields: the message between these bytes is taken next.
    ///
    /// Two words are reset and no cell, so an empty message costs nothing.
    pub(crate) fn begin(&mut self, shape: &'static MessageLayout, start: usize, end: usize) {
        (self.seen, self.unknown, self.shape) = (0, false, shape);
        (self.start, self.end) = (start, end);
    }

    /// A field's cell, empty if it was not seen before: stale cells are cleared when they are first touched, not when a
    /// record is lent, so that a message costs as many cells as it has fields.
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

    /// A field's cell, if it occurs.
    #[inline(always)]
    pub(crate) fn get(&self, cell: usize) -> Option<&Cell> {
        (self.seen >> cell & 1 == 1).then(|| &self.cells[cell % CELLS])
    }

    /// Whether a field occurs.
    #[inline(always)]
    pub(crate) fn has(&self, cell: usize) -> bool {
        self.seen >> cell & 1 == 1
    }

    /// The number in a field; 0 where it does not occur.
    ///
    /// As proto3 reads an absent scalar. Whether it was written tells [`has`](Self::has).
    #[inline(always)]
    pub(crate) fn number(&self, cell: usize) -> u64 {
        self.get(cell).map_or(0, |cell| cell.value)
    }

    /// The same of a number with a sign.
    #[inline(always)]
    pub(crate) fn signed(&self, cell: usize) -> i64 {
        self.number(cell) as i64
    }

    /// How many elements a field holds.
    ///
    /// Of a packed list its numbers, of other repeated fields their occurrences; of singular ones
    /// how often they were written.
    #[inline(always)]
    pub(crate) fn count(&self, cell: usize) -> usize {
        self.get(cell).map_or(0, |cell| cell.count as usize)
    }

    /// The body of the last occurrence.
    ///
    /// Empty where the field does not occur or has no length.
    #[inline(always)]
    pub(crate) fn body(&self, cell: usize) -> std::ops::Range<usize> {
        self.get(cell).map_or(0..0, |cell| cell.start as usize..cell.end as usize)
    }

    /// Where a field begins, or else its message.
    ///
    /// For findings: a field that is missing is told at its message.
    #[inline(always)]
    pub(crate) fn at(&self, cell: usize) -> usize {
        self.get(cell).map_or(self.start, |cell| cell.at as usize)
    }

    /// The place of a field: of a missing one that of its message.
    pub(crate) fn field(&self, cell: usize) -> Position {
        Position::at(self.at(cell)).field(self.shape.name_of(cell))
    }

    /// Whether every field is what it is when it is left out; of messages inside it their absence.
    ///
    /// What the schema does not know is not looked at: it has no cell.
    pub(crate) fn is_zero(&self) -> bool {
        (0..CELLS).all(|cell| {
            let (Some(found), Some(slot)) = (self.get(cell), self.shape.of_cell(cell)) else {
                return true;
            };
            match slot.repeated || slot.take == Take::Message {
                true => found.count == 0,
                false => found.value == 0 && found.start == found.end,
            }
        })
    }
}
