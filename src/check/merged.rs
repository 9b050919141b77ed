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

use super::fields::Body;
use super::layout::{CELLS, Found, Layouts, MessageLayout, ROOT};
use crate::schema::MessageKind;

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

/// The starts of the first and the last occurrence of a field that counts, by cell.
type Counting = [Option<(usize, usize)>; CELLS];

impl Merging<'_> {
    /// Writes the contents of a message, which may consist of several pieces.
    ///
    /// Makes two passes over the fields: one determines the occurrences that count, the other copies them. A
    /// singular field is written in the place of its last occurrence, which preserves the order of the others.
    fn message(&mut self, shape: &'static MessageLayout, pieces: &[Body], depth: u64) {
        let counting = self.counting(shape, pieces);
        for piece in pieces {
            let mut done = piece.0;
            for found in shape.fields(self.payload, *piece) {
                let (slot, at) = (found.slot, found.at);
                let counts = counting[slot.cell % CELLS];
                let goes = !slot.repeated && counts.is_none_or(|(_, last)| last != at);
                let inner = self.shapes.inner(&found).filter(|_| depth > 0);
                if !goes && inner.is_none() {
                    continue;
                }
                self.merged.copy(self.payload, (done, at));
                done = found.end;
                let Some((inner, body)) = inner.filter(|_| !goes) else { continue };
                match counts {
                    Some((first, last)) if first < last => {
                        let (bodies, headers) = self.parts(shape, pieces, slot.cell, first);
                        self.child(inner, at, headers, &bodies, depth - 1);
                    }
                    _ => self.child(inner, at, body.0 - at, &[body], depth - 1),
                }
            }
            // Unknown fields stay, and bytes that cannot be followed.
            self.merged.copy(self.payload, (done, piece.1));
        }
    }

    /// Determines which occurrences of a message's singular fields count.
    fn counting(&self, shape: &'static MessageLayout, pieces: &[Body]) -> Counting {
        let mut counting = [None; CELLS];
        let fields = pieces.iter().flat_map(|piece| shape.fields(self.payload, *piece));
        for Found { slot, at, .. } in fields.filter(|found| !found.slot.repeated) {
            if shape.kind == MessageKind::AnyValue && counting[slot.cell % CELLS].is_none() {
                // Another member of the oneof replaces the earlier ones.
                counting = [None; CELLS];
            }
            let counts = &mut counting[slot.cell % CELLS];
            *counts = Some((counts.map_or(at, |(first, _)| first), at));
        }
        counting
    }

    /// The bodies of the messages of a cell from a byte on, and the length of all their headers.
    fn parts(
        &self,
        shape: &'static MessageLayout,
        pieces: &[Body],
        cell: usize,
        first: usize,
    ) -> (Vec<Body>, usize) {
        let mut headers = 0;
        let fields = pieces.iter().flat_map(|piece| shape.fields(self.payload, *piece));
        let own = fields.filter(|found| found.slot.cell == cell && found.at >= first);
        let bodies = own.filter_map(|found| {
            let body = found.body?;
            headers += body.0 - found.at;
            (body.0 < body.1).then_some(body)
        });
        (bodies.collect(), headers)
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
        // The header at `at` is one of `headers`, and its length takes a byte or more.
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
