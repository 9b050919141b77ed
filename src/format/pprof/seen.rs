//! Byte strings of a file known by number: packed stacks and labels that were met before.

use super::index::Index;

/// Bytes met before, by number.
pub(super) struct Seen<'a> {
    payload: &'a [u8],
    /// Where they lie: in the payload, or as far behind its end in what was made.
    pub(super) rows: Vec<(u32, u32)>,
    /// Bytes that are nowhere in the payload.
    made: Vec<u8>,
    index: Index,
}

impl<'a> Seen<'a> {
    pub(super) fn with_room(payload: &'a [u8], rows: usize) -> Self {
        Self {
            payload,
            rows: Vec::with_capacity(rows),
            made: Vec::new(),
            index: Index::with_room(rows),
        }
    }

    pub(super) fn get(&self, row: u32) -> Option<&[u8]> {
        let &(start, length) = self.rows.get(row as usize)?;
        let rest = match (start as usize).checked_sub(self.payload.len()) {
            None => self.payload.get(start as usize..),
            Some(start) => self.made.get(start..),
        };
        rest?.get(..length as usize)
    }

    #[inline]
    pub(super) fn find(&self, hash: u32, bytes: &[u8]) -> Option<u32> {
        self.index.find(hash, |row| self.get(row) == Some(bytes))
    }

    /// Keeps bytes of the payload.
    #[inline]
    pub(super) fn add(&mut self, hash: u32, bytes: &[u8]) -> u32 {
        let start = bytes.as_ptr().addr() - self.payload.as_ptr().addr();
        self.rows.push((start as u32, bytes.len() as u32));
        self.index.add(hash)
    }

    /// Keeps bytes that are not of the payload.
    pub(super) fn make(&mut self, hash: u32, bytes: &[u8]) -> u32 {
        let start = self.payload.len() + self.made.len();
        self.made.extend_from_slice(bytes);
        self.rows.push((start as u32, bytes.len() as u32));
        self.index.add(hash)
    }
}
