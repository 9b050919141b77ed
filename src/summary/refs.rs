//! Collects the rows that the heads of profiles refer to.
//!
//! The roles of the schema identify references, so a field that a new version adds needs no code here. Copied
//! attributes are searched in turn, because they refer to strings.

use std::collections::BTreeSet;

use crate::schema::{FUNCTION, Field, Kind, LOCATION, MAPPING, MessageType, Role, Table, Version};
use crate::wire::read::Reader;
use crate::wire::{LEN, VARINT, tag};

/// The referenced rows.
///
/// Sorted sets, because rows are written in ascending order and heads refer to few.
#[derive(Debug, Default)]
pub(super) struct Refs {
    /// Rows with their indices on the wire.
    pub(super) strings: BTreeSet<u32>,
    pub(super) attributes: BTreeSet<u32>,
}

impl Refs {
    /// Records the references of a field, whose value comes next.
    ///
    /// `None` for a reference above 32 bits, invalid bytes, or nesting deeper than `levels`.
    pub(super) fn field(
        &mut self,
        field: &Field,
        tag: u32,
        mut value: Reader<'_>,
        version: Version,
        levels: u64,
    ) -> Option<()> {
        let rows = match (field.role, field.kind) {
            (Role::Ref(Table::String), _) => &mut self.strings,
            (Role::Ref(Table::Attribute), _) => &mut self.attributes,
            (_, Kind::Message(inner)) => {
                return self.message(value.message().ok()?, inner, version, levels.checked_sub(1)?);
            }
            _ => return Some(()),
        };
        let mut list = if tag & 7 == LEN { value.message().ok()? } else { value };
        loop {
            if list.is_empty() {
                return Some(());
            }
            rows.insert(u32::try_from(list.varint().ok()?).ok()?);
            if tag & 7 != LEN {
                return Some(());
            }
        }
    }

    /// Records the references of a message's fields.
    ///
    /// `None` for a field that the version lacks, which only a reader can interpret.
    pub(super) fn message(
        &mut self,
        mut reader: Reader<'_>,
        message: &'static MessageType,
        version: Version,
        levels: u64,
    ) -> Option<()> {
        while let Some(tag) = reader.tag().ok()? {
            let field = message.numbered(tag >> 3, version)?;
            self.field(field, tag, reader, version, levels)?;
            reader.skip(tag, levels).ok()?;
        }
        Some(())
    }
}

/// The position and number of a table's rows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rows {
    /// The offset of the first row's tag, and the tag.
    pub(super) first: Option<(usize, u32)>,
    pub(super) count: u64,
    /// Length of the longest row in bytes.
    pub(super) longest: u64,
    /// The number of empty rows. A second empty string may begin the string table of another profile that was
    /// concatenated.
    pub(super) empty: u64,
}

impl Rows {
    /// Adds consecutive rows; `first` is the offset and tag of the first.
    #[inline]
    pub(super) fn add(&mut self, first: (usize, u32), rows: u64, longest: u64, empty: u64) {
        self.first.get_or_insert(first);
        self.count += rows;
        self.empty += empty;
        self.longest = self.longest.max(longest);
    }

    /// Iterates over the rows, skipping other fields up to `end`.
    pub(super) fn all<'a>(
        &self,
        payload: &'a [u8],
        end: usize,
        levels: u64,
    ) -> impl Iterator<Item = Option<Reader<'a>>> + use<'a> {
        let (start, wanted) = self.first.unwrap_or((end, 0));
        let mut reader = Reader::within(payload, start, end);
        std::iter::from_fn(move || {
            loop {
                match reader.tag() {
                    Ok(None) => return None,
                    Ok(Some(tag)) if tag == wanted => return Some(reader.message().ok()),
                    Ok(Some(tag)) => {
                        if reader.skip(tag, levels).is_err() {
                            return Some(None);
                        }
                    }
                    Err(_) => return Some(None),
                }
            }
        })
    }
}

/// Returns whether row 0 of each table is empty or a link of zeros, as required since 1.8. Otherwise the reader
/// decides the meaning of row 0.
pub(super) fn begin_empty(
    tables: &[Rows],
    version: Version,
    payload: &[u8],
    end: usize,
    levels: u64,
) -> bool {
    const ZERO_LINK: [u8; 28] =
        *b"\x0a\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x12\x08\0\0\0\0\0\0\0\0";
    let is_empty = |row: Reader<'_>| row.is_empty() || row.rest() == ZERO_LINK;
    let mut first = tables.iter().filter_map(|rows| rows.all(payload, end, levels).next());
    version < Version::V1_8 || first.all(|row| row.is_some_and(is_empty))
}

/// Returns whether ids are unique and not 0 in every table of a pprof. Otherwise the reader reports them.
///
/// Stores no ids if they are 1, 2, 3 …, as in nearly every file.
pub(super) fn have_unique_ids(tables: &[Rows], payload: &[u8], end: usize, levels: u64) -> bool {
    let messages =
        [(Table::Mapping, &MAPPING), (Table::Location, &LOCATION), (Table::Function, &FUNCTION)];
    messages.into_iter().all(|(table, message)| {
        let rows = tables.get(table as usize).copied().unwrap_or_default();
        let tag = tag(message.number(Version::Pprof, "id"), VARINT);
        let count = usize::try_from(rows.count).unwrap_or(usize::MAX);
        let rows = || rows.all(payload, end, levels).take(count);
        let ids = || rows().map(|row| last_of(tag, row?, levels));
        if ids().zip(1..).all(|(id, row)| id == Some(row)) {
            return true;
        }
        let Some(mut ids) = ids().collect::<Option<Vec<u64>>>() else { return false };
        ids.sort_unstable();
        ids.first() != Some(&0) && ids.windows(2).all(|pair| pair[0] != pair[1])
    })
}

/// Returns the last value of a field, or 0.
fn last_of(wanted: u32, mut message: Reader<'_>, levels: u64) -> Option<u64> {
    let mut number = 0;
    while let Some(tag) = message.tag().ok()? {
        if tag == wanted {
            number = message.varint().ok()?;
        } else {
            message.skip(tag, levels).ok()?;
        }
    }
    Some(number)
}
