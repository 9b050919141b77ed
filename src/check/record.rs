//! A decoded message: its fields, by the keys of the schema.
//!
//! Rules read a record, not bytes. For a field that occurs several times, the record has its last value and body,
//! the number of occurrences and the number of elements. If that is not enough, which is rare, the bytes are
//! scanned again.
//!
//! ```text
//! bytes   08 05   22 03 01 02 03   22 01 04        Sample { stack_index: 5, values: [1, 2, 3], values: [4] }
//! cells   stack_index  value 5, times 1, count 1
//!         values       times 2, count 4, body of the last one: 04
//!         others       stale, their bit of `seen` is 0
//! ```
//!
//! A record stores positions and counts instead of values, so that it has a fixed size and can be reused for each
//! message.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut, Range};
use std::rc::Rc;

use super::layout::{CELLS, MessageLayout, Take};
use super::position::Position;

/// The contents of a field.
///
/// 32 bytes. Positions have 32 bits, which limits a payload to 4 GiB.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cell {
    /// The last number, sign-extended.
    pub(crate) value: u64,
    /// The start of the first occurrence, at its tag.
    pub(crate) at: u32,
    /// The body of the last length-delimited occurrence.
    pub(crate) start: u32,
    /// 0 if no occurrence was length-delimited.
    pub(crate) end: u32,
    /// The number of occurrences.
    pub(crate) times: u32,
    /// The number of elements in all occurrences.
    pub(crate) count: u32,
}

impl Cell {
    /// Counts an occurrence that begins at `at`, with its number of elements.
    #[inline]
    pub(crate) fn add(&mut self, at: usize, elements: usize) {
        if self.times == 0 {
            self.at = at as u32;
        }
        self.times += 1;
        self.count += elements as u32;
    }

    /// Counts occurrences after the first, which was added before.
    ///
    /// Only `decode` knows that they have the same form.
    pub(crate) fn add_run(&mut self, more: u32, last: &Range<usize>) {
        self.times += more;
        self.count += more;
        (self.start, self.end) = (last.start as u32, last.end as u32);
    }

    /// Counts a length-delimited occurrence.
    #[inline]
    pub(crate) fn add_body(&mut self, at: usize, elements: usize, body: &Range<usize>) {
        self.add(at, elements);
        (self.start, self.end) = (body.start as u32, body.end as u32);
    }
}

/// Unused records, of a kilobyte each.
///
/// Boxed, because a `Vec` of records would move them when it grows.
type Free = Vec<Box<Record>>;

/// A pool of unused records. A record is too large to create one for each message.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pool(Rc<RefCell<Free>>);

impl Pool {
    /// Takes an unused record, or creates one.
    #[inline]
    pub(crate) fn get(&self) -> PooledRecord {
        let record = self.0.borrow_mut().pop().unwrap_or_else(|| Box::new(Record::new()));
        PooledRecord { record: Some(record), pool: Rc::clone(&self.0) }
    }
}

/// A record that returns to its pool on drop.
#[derive(Debug)]
pub(crate) struct PooledRecord {
    /// `None` only during drop.
    record: Option<Box<Record>>,
    /// The pool. A walk has one thread, so it needs no lock.
    pool: Rc<RefCell<Free>>,
}

/// Returns the record however a walk ends, also by an error in the middle.
impl Drop for PooledRecord {
    #[inline]
    fn drop(&mut self) {
        self.pool.borrow_mut().extend(self.record.take());
    }
}

impl Deref for PooledRecord {
    type Target = Record;

    #[inline]
    fn deref(&self) -> &Record {
        match &self.record {
            Some(record) => record,
            None => unreachable!("it is there until it is dropped"),
        }
    }
}

impl DerefMut for PooledRecord {
    // Always inlined. Without any in the library, validating takes up to 28 % more instructions.
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Record {
        match &mut self.record {
            Some(record) => record,
            None => unreachable!("it is there until it is dropped"),
        }
    }
}

/// A message's fields. Cells of absent fields are stale; [`Record::seen`] shows which occur.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    /// By cell; stale if the bit in `seen` is 0.
    cells: [Cell; CELLS],
    /// The fields that occur, as a bit for each cell. For a `oneof`, this is its member.
    pub(crate) seen: u64,
    /// The layout of the message.
    pub(crate) shape: &'static MessageLayout,
    /// The range of the message's bytes.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Whether the message has fields unknown to the schema.
    pub(crate) unknown: bool,
}

impl Record {
    /// Creates a record without fields.
    pub(crate) fn new() -> Self {
        let (cells, shape) = ([Cell::default(); CELLS], MessageLayout::EMPTY);
        Self { cells, seen: 0, shape, start: 0, end: 0, unknown: false }
    }

    /// Clears all fields and starts a message in these bytes.
    ///
    /// Resets two words and no cell, so an empty message costs next to no time.
    pub(crate) fn begin(&mut self, shape: &'static MessageLayout, start: usize, end: usize) {
        (self.seen, self.unknown, self.shape) = (0, false, shape);
        (self.start, self.end) = (start, end);
    }

    /// A field's cell, empty if the field has not occurred yet. Clears stale cells on first use, not when the
    /// record is lent, so that a message costs as many cells as it has fields.
    #[inline]
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
    #[inline]
    pub(crate) fn has(&self, cell: usize) -> bool {
        self.seen >> cell & 1 == 1
    }

    /// The number in a field, or 0 if it is absent, as in proto3. [`has`](Self::has) shows whether it was written.
    #[inline]
    pub(crate) fn number(&self, cell: usize) -> u64 {
        self.get(cell).map_or(0, |cell| cell.value)
    }

    /// The number in a field, as a signed one.
    #[inline]
    pub(crate) fn signed(&self, cell: usize) -> i64 {
        self.number(cell) as i64
    }

    /// The number of elements in a field.
    ///
    /// For a packed list the numbers, for other fields the occurrences.
    #[inline]
    pub(crate) fn count(&self, cell: usize) -> usize {
        self.get(cell).map_or(0, |cell| cell.count as usize)
    }

    /// The body of the last occurrence; empty if the field is absent or not length-delimited.
    #[inline]
    pub(crate) fn body(&self, cell: usize) -> std::ops::Range<usize> {
        self.get(cell).map_or(0..0, |cell| cell.start as usize..cell.end as usize)
    }

    /// The start of a field, or of its message if the field is absent: findings about a missing field point to its
    /// message.
    #[inline]
    pub(crate) fn at(&self, cell: usize) -> usize {
        self.get(cell).map_or(self.start, |cell| cell.at as usize)
    }

    /// The position of a field, or of its message if the field is absent.
    pub(crate) fn field(&self, cell: usize) -> Position {
        Position::at(self.at(cell)).field(self.shape.name_of(cell))
    }

    /// Whether every field has its default value, and no nested message is present.
    ///
    /// Ignores unknown fields, which have no cell.
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
