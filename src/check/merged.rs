//! Merges repeated singular fields as decoders do: the last number or string counts, messages are concatenated, and
//! of a oneof the last member remains.
//!
//! ```text
//! payload   │ value {a} │ keys │ value {b} │ number 1 │ number 2 │
//! merged    │ keys │ value {a b} │ number 2 │                        places: byte here ─► byte of the payload
//! ```
//!
//! Rules check the merged values, so a payload with repeated singular fields, which is rare, is walked a second
//! time in this form. Takes time and memory linear in the payload.

use super::fields::{Body, Fields};
use super::layout::{CELLS, Layouts, MessageLayout, ROOT, Slot, Take};
use crate::schema::Noun;

/// A merged payload.
pub(crate) struct Merged {
    /// The merged bytes, never longer than the payload: a field keeps the space of its headers.
    pub(crate) bytes: Vec<u8>,
    /// The start of each copied piece, here and in the payload, ascending.
    places: Vec<(usize, usize)>,
}

impl Merged {
    /// Merges a payload in valid wire format.
    ///
    /// Leaves messages nested deeper than `max_nesting` unmerged, because the walk skips them.
    pub(crate) fn of(payload: &[u8], shapes: &'static Layouts, max_nesting: u64) -> Self {
        let mut merging =
            Merging { payload, shapes, merged: Self { bytes: Vec::new(), places: Vec::new() } };
        merging.message(shapes.get(ROOT), &[(0, payload.len())], max_nesting);
        merging.merged
    }

    /// Maps a byte of the merged payload to the original.
    ///
    /// A binary search in the pieces. Rewritten lengths count as part of the piece before them.
    pub(crate) fn place(&self, byte: u64) -> u64 {
        let after = self.places.partition_point(|(here, _)| *here as u64 <= byte);
        match after.checked_sub(1).and_then(|piece| self.places.get(piece)) {
            Some((here, there)) => *there as u64 + (byte - *here as u64),
            None => byte,
        }
    }

    /// Copies a piece of the payload. Adds an entry to `places` unless it continues the previous piece.
    fn copy(&mut self, payload: &[u8], (start, end): Body) {
        let here = self.bytes.len();
        let goes_on = self.places.last().is_some_and(|last| last.1 + (here - last.0) == start);
        if !goes_on {
            self.places.push((here, start));
        }
        self.bytes.extend(payload.get(start..end).unwrap_or_default());
    }
}

/// The state of a merge.
struct Merging<'a> {
    payload: &'a [u8],
    shapes: &'static Layouts,
    merged: Merged,
}

/// A non-empty nested message. Stored compactly, since there may be millions; positions in a payload fit into 32
/// bits.
struct Piece {
    /// The cell of its field.
    cell: u8,
    /// The bytes of its tag and its length.
    header: u8,
    start: u32,
    end: u32,
}

/// The occurrences of a message's singular fields that count.
struct Counting {
    /// The start of the last occurrence, plus 1, by cell.
    last: [usize; CELLS],
    /// The occurrences that are messages.
    pieces: Vec<Piece>,
}

impl Counting {
    /// The parts of the message in a cell: its bodies, and the total size of their headers.
    fn parts(&self, cell: usize) -> (Vec<Body>, usize) {
        let own = || self.pieces.iter().filter(|piece| usize::from(piece.cell) == cell);
        let bodies = own().map(|piece| (piece.start as usize, piece.end as usize)).collect();
        (bodies, own().map(|piece| usize::from(piece.header)).sum())
    }
}

impl Merging<'_> {
    /// Writes the contents of a message, which may consist of several pieces.
    ///
    /// Makes two passes over the fields: one determines the occurrences that count, the other copies them. A
    /// singular field is written in the place of its last occurrence, which preserves the order of the others.
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
                            // `parts` excludes empty messages.
                            let more = if body.0 == body.1 { header } else { 0 };
                            self.child(child, at, headers + more, &bodies, depth - 1);
                        }
                    }
                    _ => self.merged.copy(self.payload, (at, fields.at())),
                }
            }
            // Malformed bytes are copied unchanged.
            self.merged.copy(self.payload, (fields.at(), piece.1));
        }
    }

    /// Determines which occurrences of a message's singular fields count.
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
                    // Another member of the oneof replaces the earlier ones.
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

    /// Writes a nested message: the tag at `at`, a length that may not be in its shortest form, and all bodies.
    ///
    /// `headers` is the total size of the bodies' headers, and the length fills that space. So no message becomes
    /// longer than its pieces were, and unmerged messages stay unchanged.
    fn child(
        &mut self,
        shape: &'static MessageLayout,
        at: usize,
        headers: usize,
        bodies: &[Body],
        depth: u64,
    ) {
        let tag = self.payload[at..].iter().take_while(|byte| **byte >= 0x80).count() + 1;
        // Lengths of messages take at most five bytes.
        let width = (headers - tag).min(5);
        self.merged.copy(self.payload, (at, at + tag));
        let length = self.merged.bytes.len();
        self.merged.bytes.resize(length + width, 0);
        self.message(shape, bodies, depth);
        let body = (self.merged.bytes.len() - length - width) as u64;
        for (at, byte) in self.merged.bytes[length..][..width].iter_mut().enumerate() {
            // Pad with continuation bytes up to the reserved width.
            let more = if at + 1 < width { 0x80 } else { 0 };
            *byte = (body >> (7 * at)) as u8 & 0x7f | more;
        }
    }
}

/// The field with a number, if its wire type matches the schema.
///
/// All other fields are copied unchanged, unknown ones included.
fn known(shape: &'static MessageLayout, number: u32, has_body: bool) -> Option<&'static Slot> {
    let slot = shape.slot(number)?;
    let wants_body = !matches!(slot.take, Take::Varint | Take::Fixed);
    (slot.repeated || wants_body == has_body).then_some(slot)
}
