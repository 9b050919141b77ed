//! What is known of the tables while a payload is walked, in room that does not grow with them.
//!
//! A walk needs three things of tables: how many rows there are, whether two attributes of a thing have one key, and
//! whether an attribute is used. The last two tell values from attributes where one list may be either.
//!
//! The room is fixed: a count for each table, and for the first 4,096 attributes a key and a bit.

use super::grammar::Table;
use crate::wire::read::Reader;
use crate::wire::{LEN, VARINT};

/// Attributes that are followed one by one.
const FOLLOWED: usize = 4096;

/// How many rows every table has, and which attributes are referred to.
pub(super) struct Rows {
    /// By table; [`UNKNOWN`](Self::UNKNOWN) where nobody counted: then no reference is past it.
    pub(super) counts: [u64; Table::COUNT],
    /// What the key of each attribute is known by.
    keys: Vec<u32>,
    /// A bit for each attribute.
    used: [u64; FOLLOWED / 64],
}

impl Rows {
    /// More than any reference: the table was not counted.
    pub(super) const UNKNOWN: u64 = u64::MAX;

    pub(super) fn new() -> Self {
        Self { counts: [0; Table::COUNT], keys: Vec::new(), used: [0; FOLLOWED / 64] }
    }

    /// Forgets a table, since another message brings its own.
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

    /// Notes the key of the next attribute.
    pub(super) fn add_key(&mut self, attribute: &[u8]) {
        if self.keys.len() < FOLLOWED {
            self.keys.push(key(attribute).unwrap_or(0));
        }
    }

    /// What the key of an attribute is known by; attributes past those followed are all different.
    pub(super) fn key(&self, row: u64) -> u32 {
        let key = usize::try_from(row).ok().and_then(|row| self.keys.get(row));
        key.copied().unwrap_or(row as u32 | 1 << 31)
    }

    /// Notes that something refers to an attribute.
    pub(super) fn use_attribute(&mut self, row: u64) {
        if let Some(word) = self.used.get_mut((row / 64).min(FOLLOWED as u64) as usize) {
            *word |= 1 << (row % 64);
        }
    }

    /// Attributes other than row 0, of those followed, that nothing refers to.
    pub(super) fn orphans(&self) -> u32 {
        let rows = self.counts[Table::Attribute as usize].min(FOLLOWED as u64) as u32;
        let used: u32 = self.used.iter().map(|word| word.count_ones()).sum();
        let zero = self.used.first().map_or(0, |word| (word & 1) as u32);
        rows.saturating_sub(1).saturating_sub(used - zero)
    }
}

/// A number for the key of an attribute: its row in the string table, or a hash of its text.
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

/// Whether a row is empty: every field of it is 0, or has no bytes or only zeros, as the ids of an
/// empty link may. An empty text is empty.
pub(super) fn is_null(mut row: &[u8]) -> bool {
    while !row.is_empty() {
        let (Some(tag), Some(value)) = (number(&mut row), number(&mut row)) else {
            return false;
        };
        let Ok(tag) = u32::try_from(tag) else { return false };
        let zeros = match tag & 7 {
            VARINT if value == 0 => 0,
            LEN if value <= 16 => value as usize,
            _ => return false,
        };
        match row.split_at_checked(zeros) {
            Some((zeros, rest)) if tag >> 3 != 0 && zeros.iter().all(|&byte| byte == 0) => {
                row = rest;
            }
            _ => return false,
        }
    }
    true
}

/// A varint off the front, as [`Reader::varint`] takes it. Most bytes looked at here are no row, and a reader would make an
/// error for each.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let length = 1 + bytes.iter().take(10).position(|byte| byte & 0x80 == 0)?;
    let (number, rest) = bytes.split_at_checked(length)?;
    if number.get(9).is_some_and(|last| *last > 1) {
        return None;
    }
    *bytes = rest;
    Some(number.iter().rev().fold(0, |all, byte| all << 7 | u64::from(byte & 0x7f)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_a_reader() {
        for first in [0, 1, 0x7f, 0x80, 0x81, 0xff] {
            for length in 0..12 {
                for last in [0, 1, 2, 0x7f, 0x80] {
                    let bytes = [&vec![first; length][..], &[last, 7]].concat();
                    let (mut rest, mut reader) = (&bytes[..], Reader::new(&bytes));
                    let read = reader.varint().ok();
                    assert_eq!(number(&mut rest), read, "{bytes:x?}");
                    assert!(read.is_none() || rest == reader.rest(), "{bytes:x?}");
                }
            }
        }
    }

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
