//! Measures how much smaller the gzip of a payload is without one of its fields.
//!
//! The bytes of a field do not determine its cost in gzip, because it shares the window and the codes with its
//! neighbours. So the payload is written without the field and deflated again. The savings need not add up to the
//! whole.

use super::tree::{Part, ROOT, Tree};
use crate::compression::{Level, deflated_length};
use crate::error::Result;
use crate::wire::LEN;
use crate::wire::read::Reader;
use crate::wire::write::varint_len;

/// Returns the size of the gzipped payload, and how many bytes it saves without each of some fields. Each field
/// costs a copy and a deflation; only one copy is in memory at a time.
///
/// # Errors
///
/// Those of walking the payload.
pub(super) fn saved(
    payload: &[u8],
    tree: &Tree,
    nodes: &[usize],
    levels: u64,
) -> Result<(u64, Vec<i64>)> {
    let gzipped = deflated_length(payload, Level::DEFAULT);
    let mut strip = Strip { payload, tree, levels, without: ROOT, out: Vec::new() };
    let mut saved = Vec::with_capacity(nodes.len());
    for node in nodes {
        strip.leave_out(*node)?;
        saved.push(gzipped as i64 - deflated_length(&strip.out, Level::DEFAULT) as i64);
    }
    Ok((gzipped, saved))
}

/// Writes a payload without one field.
struct Strip<'a, 't> {
    payload: &'a [u8],
    tree: &'t Tree,
    levels: u64,
    /// The field to omit.
    without: usize,
    out: Vec<u8>,
}

impl<'a> Strip<'a, '_> {
    /// Writes the payload to `out` without a field.
    fn leave_out(&mut self, node: usize) -> Result<()> {
        self.without = node;
        self.out.clear();
        self.out.reserve(self.payload.len());
        self.message(ROOT, Reader::new(self.payload))
    }

    /// Returns whether the omitted field is below a node.
    fn is_above(&self, node: usize) -> bool {
        let of = self.tree.nodes.get(node);
        let enters = of.is_some_and(|of| matches!(of.part, Part::Container | Part::Message));
        enters && of.is_some_and(|of| node < self.without && self.without < of.end)
    }

    /// Writes a message. Enters only messages above the omitted field, and copies everything between them in one
    /// piece.
    fn message(&mut self, node: usize, mut reader: Reader<'a>) -> Result<()> {
        // Start of the bytes that were kept but not yet copied.
        let mut kept = reader.at();
        loop {
            let at = reader.at();
            let Some(tag) = reader.tag()? else {
                self.copy(kept, at);
                return Ok(());
            };
            let child = self.tree.child(node, tag >> 3);
            if child == self.without {
                reader.skip(tag, self.levels)?;
                self.copy(kept, at);
                kept = reader.at();
            } else if tag & 7 == LEN && self.is_above(child) {
                self.copy(kept, reader.at());
                let body = reader.message()?;
                let (before, room) = (self.out.len(), varint_len(body.left() as u64));
                self.out.resize(before + room, 0);
                self.message(child, body)?;
                self.close(before, room);
                kept = reader.at();
            } else {
                reader.skip(tag, self.levels)?;
            }
        }
    }

    /// Appends a range of the payload.
    fn copy(&mut self, start: usize, end: usize) {
        self.out.extend_from_slice(self.payload.get(start..end).unwrap_or_default());
    }

    /// Writes the length of a message into the `room` bytes after `before`.
    ///
    /// The body may have shrunk. Then unneeded bytes of the length are removed, which moves the body.
    fn close(&mut self, before: usize, room: usize) {
        let mut length = self.out.len() - before - room;
        let more = room.saturating_sub(varint_len(length as u64));
        self.out.drain(before..before + more);
        for byte in self.out.iter_mut().skip(before).take(room - more) {
            *byte = (length & 0x7f) as u8 | if length >= 0x80 { 0x80 } else { 0 };
            length >>= 7;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Version;

    fn without(payload: &[u8], path: &[u32]) -> Vec<u8> {
        let tree = Tree::of(Version::V1_10);
        let node = path.iter().fold(ROOT, |node, number| tree.child(node, *number));
        let (levels, out) = (8, Vec::new());
        let mut strip = Strip { payload, tree: &tree, levels, without: node, out };
        strip.leave_out(node).unwrap();
        strip.out
    }

    #[test]
    fn lengths_are_those_of_what_is_left() {
        // A dictionary of a location with address and line, a string of 200 bytes, and another location.
        let mut payload = vec![0x12, 0xd9, 0x01];
        payload.extend(b"\x12\x08\x10\x07\x1a\x04\x08\x01\x10\x05");
        payload.extend(b"\x2a\xc8\x01");
        payload.extend([b'x'; 200]);
        payload.extend(b"\x12\x02\x10\x09");
        assert_eq!(
            without(&payload, &[2, 5]),
            b"\x12\x0e\x12\x08\x10\x07\x1a\x04\x08\x01\x10\x05\x12\x02\x10\x09"
        );
        let lines = without(&payload, &[2, 2, 3, 2]);
        assert_eq!(lines[..11], *b"\x12\xd7\x01\x12\x06\x10\x07\x1a\x02\x08\x01");
        assert_eq!(lines[11..], payload[13..]);
        assert_eq!(without(&payload, &[2, 1]), payload);
    }

    #[test]
    fn lengths_of_lengths() {
        let of = [0, 1, 0x7f, 0x80, 0x3fff, 0x4000, 0x1f_ffff].map(varint_len);
        assert_eq!(of, [1, 1, 1, 2, 2, 3, 3]);
    }
}
