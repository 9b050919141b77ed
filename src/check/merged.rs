//! A payload in which nothing is said twice that a message has once, as decoders make it: of numbers and texts the last
//! one counts, messages are one, and of a oneof the last member is left.
//!
//! ```text
//! payload   │ value {a} │ keys │ value {b} │ number 1 │ number 2 │
//! merged    │ keys │ value {a b} │ number 2 │                        places: byte here ─► byte of the payload
//! ```
//!
//! Rules ask what is left, so a payload that says something twice is walked once more in this form. Hardly any is. It
//! takes time and memory that grow with the payload.

use super::fields::{Body, Fields};
use super::layout::{CELLS, Layouts, MessageLayout, ROOT, Slot, Take};
use crate::schema::Noun;

/// A payload, merged.
pub(crate) struct Merged {
    /// Never longer than the payload: a field keeps the room of its headers.
    pub(crate) bytes: Vec<u8>,
    /// Where a piece begins here, and in the payload: ascending.
    places: Vec<(usize, usize)>,
}

impl Merged {
    /// Merges a payload whose wire format was found to be right.
    ///
    /// Deeper than `max_nesting` nothing is merged, as nothing there is walked.
    pub(crate) fn of(payload: &[u8], shapes: &'static Layouts, max_nesting: u64) -> Self {
        let mut merging =
            Merging { payload, shapes, merged: Self { bytes: Vec::new(), places: Vec::new() } };
        merging.message(shapes.get(ROOT), &[(0, payload.len())], max_nesting);
        merging.merged
    }

    /// The byte of the payload that a byte here is.
    ///
    /// By binary search in the pieces; lengths that were written anew count as the piece before
    /// them.
    pub(crate) fn place(&self, byte: u64) -> u64 {
        let after = self.places.partition_point(|(here, _)| *here as u64 <= byte);
        match after.checked_sub(1).and_then(|piece| self.places.get(piece)) {
            Some((here, there)) => *there as u64 + (byte - *here as u64),
            None => byte,
        }
    }

    /// Copies a piece of the payload. It needs a place of its own where it does not follow what was copied before.
    fn copy(&mut self, payload: &[u8], (start, end): Body) {
        let here = self.bytes.len();
        let goes_on = self.places.last().is_some_and(|last| last.1 + (here - last.0) == start);
        if !goes_on {
            self.places.push((here, start));
        }
        self.bytes.extend(payload.get(start..end).unwrap_or_default());
    }
}

/// A payload on its way.
struct Merging<'a> {
    payload: &'a [u8],
    shapes: &'static Layouts,
    merged: Merged,
}

/// A field that is a message and not empty. There may be millions: a payload has no more bytes than 32 bits count.
struct Piece {
    /// Which field of the message it is.
    cell: u8,
    /// How long its tag and its length are.
    header: u8,
    start: u32,
    end: u32,
}

/// What counts of the fields that a message has once.
struct Counting {
    /// By cell: where the last of them begins, plus 1.
    last: [usize; CELLS],
    /// Those that are messages.
    pieces: Vec<Piece>,
}

impl Counting {
    /// What a message of a cell is made of: its bodies, and how long their headers are together.
    fn parts(&self, cell: usize) -> (Vec<Body>, usize) {
        let own = || self.pieces.iter().filter(|piece| usize::from(piece.cell) == cell);
        let bodies = own().map(|piece| (piece.start as usize, piece.end as usize)).collect();
        (bodies, own().map(|piece| usize::from(piece.header)).sum())
    }
}

impl Merging<'_> {
    /// Writes what is in a message, which may stand in several pieces.
    ///
    /// Two passes over the fields: what counts, then what counts is copied. A singular field is
    /// written where its last occurrence stands, so that the order of the others stays.
    fn message(&mut self, shape: &'static MessageLayout, pieces: &[Body], depth: u64) {
        let counting = self.counting(shape, pieces);
        for piece in pieces {
            let mut fields = Fields::new(self.payload, piece.0, piece.1);
            loop {
                let at = fields.at();
                let Some((number, body)) = fields.next() else { break };
                match (known(shape, number, body.is_some()), body) {
                    (Some(slot), _) if !slot.repeated && counting.last[slot.cell] != at + 1 => {}
                    (Some(slot), Some(body)) if slot.take == Take::Message && depth > 0 => {
                        let child = self.shapes.get(slot.child);
                        let header = body.0 - at;
                        if slot.repeated {
                            self.child(child, at, header, &[body], depth - 1);
                        } else {
                            let (bodies, headers) = counting.parts(slot.cell);
                            // One that is empty is not among them.
                            let more = if body.0 == body.1 { header } else { 0 };
                            self.child(child, at, headers + more, &bodies, depth - 1);
                        }
                    }
                    _ => self.merged.copy(self.payload, (at, fields.at())),
                }
            }
            // What cannot be followed any further stays as it is.
            self.merged.copy(self.payload, (fields.at(), piece.1));
        }
    }

    /// What counts of the fields of a message that it has once.
    fn counting(&self, shape: &'static MessageLayout, pieces: &[Body]) -> Counting {
        let mut counting = Counting { last: [0; CELLS], pieces: Vec::new() };
        for piece in pieces {
            let mut fields = Fields::new(self.payload, piece.0, piece.1);
            loop {
                let at = fields.at();
                let Some((number, body)) = fields.next() else { break };
                let Some(slot) = known(shape, number, body.is_some()) else { continue };
                if slot.repeated {
                    continue;
                }
                if shape.noun == Noun::AnyValue && counting.last[slot.cell] == 0 {
                    // Another member of the oneof: what was said before is gone.
                    counting.last = [0; CELLS];
                    counting.pieces.clear();
                }
                counting.last[slot.cell] = at + 1;
                if let (Take::Message, Some((start, end))) = (slot.take, body)
                    && start < end
                {
                    let (cell, header) = (slot.cell as u8, (start - at) as u8);
                    let (start, end) = (start as u32, end as u32);
                    counting.pieces.push(Piece { cell, header, start, end });
                }
            }
        }
        counting
    }

    /// Writes a field that is a message: the tag at a byte, a length that may be longer than it has to be, and all bodies.
    ///
    /// Their headers have so many bytes together. The length takes the room of these: so no message becomes longer than
    /// its pieces were, and what is not merged keeps its form.
    fn child(
        &mut self,
        shape: &'static MessageLayout,
        at: usize,
        headers: usize,
        bodies: &[Body],
        depth: u64,
    ) {
        let tag = self.payload[at..].iter().take_while(|byte| **byte >= 0x80).count() + 1;
        let width = (headers - tag).min(5);
        self.merged.copy(self.payload, (at, at + tag));
        let length = self.merged.bytes.len();
        self.merged.bytes.resize(length + width, 0);
        self.message(shape, bodies, depth);
        let body = (self.merged.bytes.len() - length - width) as u64;
        for (at, byte) in self.merged.bytes[length..][..width].iter_mut().enumerate() {
            let more = if at + 1 < width { 0x80 } else { 0 };
            *byte = (body >> (7 * at)) as u8 & 0x7f | more;
        }
    }
}

/// The field of a number, where it is written as its type says.
///
/// What is not is copied as it is: unknown fields are nobody's to merge.
fn known(shape: &'static MessageLayout, number: u32, has_body: bool) -> Option<&'static Slot> {
    let slot = shape.slot(number)?;
    let wants_body = !matches!(slot.take, Take::Varint | Take::Fixed);
    (slot.repeated || wants_body == has_body).then_some(slot)
}
