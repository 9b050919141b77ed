//! Facts about tables during a walk, in constant memory.
//!
//! A walk needs three facts: the number of rows in each table, whether two attributes of an element have the
//! same key, and which attributes are unused. The last two distinguish values from attributes if a list may
//! be either.
//!
//! Memory is constant: a count for each table, and a key and a bit for each of the first 4,096 attributes.

use crate::schema::Table;
use crate::wire::read::Reader;
use crate::wire::{LEN, VARINT};

/// Number of attributes whose key and use are recorded.
const FOLLOWED: usize = 4096;

/// The number of rows in each table, and the attributes that are referred to.
pub(super) struct Rows {
    /// Rows by table, or [`UNKNOWN`](Self::UNKNOWN) if not counted: no reference exceeds that.
    pub(super) counts: [u64; Table::COUNT],
    /// A number for the key of each attribute.
    keys: Vec<u32>,
    /// Used attributes: a bit for each.
    used: [u64; FOLLOWED / 64],
}

impl Rows {
    /// The count of a table that was not counted. It exceeds every reference.
    pub(super) const UNKNOWN: u64 = u64::MAX;

    pub(super) fn new() -> Self {
        Self { counts: [0; Table::COUNT], keys: Vec::new(), used: [0; FOLLOWED / 64] }
    }

    /// Clears a table before another message that contains it.
    pub(super) fn reset(&mut self, table: Table) {
        self.counts[table as usize] = 0;
        if table == Table::Attribute {
            self.keys.clear();
            self.used = [0; FOLLOWED / 64];
        }
    }

    pub(super) fn add(&mut self, table: Table, rows: u64) {
        self.counts[table as usize] = self.counts[table as usize].saturating_add(rows);
    }

    /// Records the key of the next attribute.
    pub(super) fn add_key(&mut self, attribute: &[u8]) {
        if self.keys.len() < FOLLOWED {
            self.keys.push(key(attribute).unwrap_or(0));
        }
    }

    /// Returns a number for the key of an attribute. Attributes past the recorded ones all differ.
    pub(super) fn key(&self, row: u64) -> u32 {
        // Recorded keys have bit 31 clear, so these numbers cannot collide with them.
        let key = usize::try_from(row).ok().and_then(|row| self.keys.get(row));
        key.copied().unwrap_or(row as u32 | 1 << 31)
    }

    /// Marks an attribute as used.
    pub(super) fn use_attribute(&mut self, row: u64) {
        if let Some(word) = self.used.get_mut((row / 64).min(FOLLOWED as u64) as usize) {
            *word |= 1 << (row % 64);
        }
    }

    /// Counts the unused attributes among the recorded ones, without row 0.
    pub(super) fn orphans(&self) -> u32 {
        let rows = self.counts[Table::Attribute as usize].min(FOLLOWED as u64) as u32;
        let used: u32 = self.used.iter().map(|word| word.count_ones()).sum();
        let zero = self.used.first().map_or(0, |word| (word & 1) as u32);
        rows.saturating_sub(1).saturating_sub(used - zero)
    }
}

/// Computes a number for the key of an attribute: its row in the string table, or a hash of its text.
fn key(attribute: &[u8]) -> Option<u32> {
    let mut reader = Reader::new(attribute);
    while let Some(tag) = reader.tag().ok()? {
        match (tag >> 3, tag & 7) {
            (1, VARINT) => return Some(reader.varint().ok()? as u32 & (u32::MAX >> 1)),
            (1, LEN) => {
                let text = reader.bytes().ok()?.iter().take(256);
                let hash = text.fold(0x811c_9dc5_u32, |hash, &byte| {
                    (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
                });
                return Some(hash & (u32::MAX >> 1));
            }
            _ => reader.skip(tag, 0).ok()?,
        }
    }
    None
}

/// Returns whether a row is empty: every field is 0, has no bytes, or has only zero bytes, as the ids of an
/// empty link may. An empty string counts as empty.
pub(super) fn is_null(row: &[u8]) -> bool {
    let mut reader = Reader::new(row);
    while !reader.is_empty() {
        // Most bytes that reach this test are not a null row, so reject them early.
        let (Some(tag), Some(value)) = (reader.try_varint(), reader.try_varint()) else {
            return false;
        };
        let zeros = match (tag & 7) as u32 {
            VARINT if value == 0 => 0,
            LEN if value <= 16 => value as usize,
            _ => return false,
        };
        let is_field = (8..1 << 32).contains(&tag) && zeros <= reader.left();
        if !is_field || reader.part(zeros).rest().iter().any(|byte| *byte != 0) {
            return false;
        }
        reader.pass(zeros);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_without_anything_is_null() {
        for row in
            [&b""[..], b"\x08\0", b"\x12\0", b"\x0a\x02\0\0\x10\x80\0", b"\x88\x80\x80\x80\0\0"]
        {
            assert!(is_null(row), "{row:x?}");
        }
        for row in [
            &b"\x08\x01"[..],
            b"\x08",
            b"\x0a\x02\0",
            b"\x0a\x01a",
            b"\0\0",
            b"\x0d\0\0\0\0",
            b"\x88\x80\x80\x80\x80\x01\0",
            b"\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02",
        ] {
            assert!(!is_null(row), "{row:x?}");
        }
    }
}
