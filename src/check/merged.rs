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
use super::shape::{CELLS, Kind, ROOT, Shape, Shapes, Slot, Take};

/// A payload, merged.
pub(crate) struct Merged {
    pub(crate) bytes: Vec<u8>,
    /// Where a piece begins here, and in the payload: ascending.
    places: Vec<(usize, usize)>,
}

impl Merged {
    /// Merges a payload whose wire format was found to be right.
    pub(crate) fn of(payload: &[u8], shapes: &'static Shapes, max_nesting: u64) -> Self {
        let mut merging =
            Merging { payload, shapes, merged: Self { bytes: Vec::new(), places: Vec::new() } };
        merging.message(shapes.get(ROOT), &[(0, payload.len())], max_nesting);
        merging.merged
    }

    /// The byte of the payload that a byte here is.
    pub(crate) fn place(&self, byte: u64) -> u64 {
        let after = self.places.partition_point(|(here, _)| *here as u64 <= byte);
        match after.checked_sub(1).and_then(|piece| self.places.get(piece)) {
            Some((here, there)) => *there as u64 + (byte - *here as u64),
            None => byte,
        }
    }

    /// Copies a piece of the payload.
    fn copy(&mut self, payload: &[u8], (start, end): Body) {
        self.begin(start);
        self.bytes.extend(payload.get(start..end).unwrap_or_default());
    }

    /// What is written next is what stands there in the payload.
    fn begin(&mut self, there: usize) {
        let here = self.bytes.len();
        let goes_on = self.places.last().is_some_and(|last| last.1 + (here - last.0) == there);
        if !goes_on {
            self.places.push((here, there));
        }
    }
}

/// A payload on its way.
struct Merging<'a> {
    payload: &'a [u8],
    shapes: &'static Shapes,
    merged: Merged,
}

/// A field that is a message: where its tag is, and its body.
#[derive(Clone, Copy)]
struct Piece {
    at: usize,
    body: Body,
}

/// What counts of the fields that a message has once.
struct Counting {
    /// By cell: where the last of them begins, plus 1.
    last: [usize; CELLS],
    /// Those that are messages, with their cells.
    pieces: Vec<(usize, Piece)>,
}

impl Merging<'_> {
    /// Writes what is in a message, which may stand in several pieces.
    fn message(&mut self, shape: &'static Shape, pieces: &[Body], depth: u64) {
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
                        if slot.repeated {
                            self.child(child, &[Piece { at, body }], depth - 1);
                        } else {
                            let all = counting.pieces.iter();
                            let own = all.filter(|piece| piece.0 == slot.cell);
                            let own: Vec<Piece> = own.map(|piece| piece.1).collect();
                            self.child(child, &own, depth - 1);
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
    fn counting(&self, shape: &'static Shape, pieces: &[Body]) -> Counting {
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
                if shape.kind == Kind::AnyValue && counting.last[slot.cell] == 0 {
                    // Another member of the oneof: what was said before is gone.
                    counting.last = [0; CELLS];
                    counting.pieces.clear();
                }
                counting.last[slot.cell] = at + 1;
                if let (Take::Message, Some(body)) = (slot.take, body) {
                    counting.pieces.push((slot.cell, Piece { at, body }));
                }
            }
        }
        counting
    }

    /// Writes a field that is a message: the last tag, a length that may be longer than it has to be, and all bodies.
    ///
    /// The length takes the room of the one before, and that of the headers that are gone: so no message becomes longer
    /// than its pieces were, and what is not merged keeps its form.
    fn child(&mut self, shape: &'static Shape, pieces: &[Piece], depth: u64) {
        let Some(Piece { at, .. }) = pieces.last() else { return };
        let tag = self.payload[*at..].iter().take_while(|byte| **byte >= 0x80).count() + 1;
        let headers: usize = pieces.iter().map(|piece| piece.body.0 - piece.at).sum();
        let width = (headers - tag).min(5);
        self.merged.copy(self.payload, (*at, at + tag));
        let length = self.merged.bytes.len();
        self.merged.bytes.resize(length + width, 0);
        let bodies: Vec<Body> = pieces.iter().map(|piece| piece.body).collect();
        self.message(shape, &bodies, depth);
        let body = (self.merged.bytes.len() - length - width) as u64;
        for (at, byte) in self.merged.bytes[length..][..width].iter_mut().enumerate() {
            let more = if at + 1 < width { 0x80 } else { 0 };
            *byte = (body >> (7 * at)) as u8 & 0x7f | more;
        }
    }
}

/// The field of a number, where it is written as its type says.
fn known(shape: &'static Shape, number: u32, has_body: bool) -> Option<&'static Slot> {
    let slot = shape.slot(number)?;
    let wants_body = !matches!(slot.take, Take::Varint | Take::Fixed);
    (slot.repeated || wants_body == has_body).then_some(slot)
}
