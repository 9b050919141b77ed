//! Counts the rows of tables before the walk, because references may precede their targets.
//!
//! A reference past the end of its table counts against a generation, so the walk needs the row counts before
//! it reads the first reference. Only the message that contains the tables is counted: `ProfilesData` for its
//! dictionary, or each profile in generations that store tables per profile.
//!
//! A table that was not counted completely has [`Rows::UNKNOWN`] rows, which no reference exceeds. So a bound
//! may hide a misfit, but never causes one.

use super::grammar::{inner, table};
use super::rows::{Rows, is_null};
use super::score::MisfitKind;
use super::walk::Walk;
use crate::schema::{MessageKind, MessageType, PROFILE, Rows as RowZero, Table};
use crate::wire::packed::count_packed;
use crate::wire::read::Reader;
use crate::wire::{LEN, VARINT};

impl Walk<'_> {
    /// Counts the tables in a message before the walk enters it, because rows may follow their references.
    pub(super) fn count_tables(&mut self, message: &'static MessageType, body: &[u8]) {
        let is_dictionary = message.kind == MessageKind::Dictionary;
        if !is_dictionary
            && (self.grammar.tables(message).next().is_some() || self.is_beside(message))
        {
            self.grammar.tables(message).for_each(|(_, table)| self.rows.reset(table));
            self.count(message, body, &mut self.bounds.fields.clone());
        }
    }

    /// Returns whether this message holds the tables of all profiles in a dictionary beside them.
    fn is_beside(&self, message: &MessageType) -> bool {
        message.kind == MessageKind::ProfilesData && self.grammar.dictionary().is_some()
    }

    /// Counts the rows of the tables in a message, and in all occurrences of its dictionary.
    ///
    /// `left` is the number of fields that may still be read; all occurrences of the dictionary share it.
    fn count(&mut self, message: &'static MessageType, body: &[u8], left: &mut u32) {
        // Fields beside the dictionary do not use up the allowance for its rows.
        let mut left_inside = *left;
        let mut reader = Reader::new(body);
        let path = self.path;
        while let Ok(Some(tag)) = reader.tag() {
            if *left == 0 || left_inside == 0 {
                return self.unknown_rows(message);
            }
            *left -= 1;
            self.at = (tag >> 3, tag & 7);
            let field = self.grammar.field(message, tag >> 3);
            let value = match tag & 7 {
                LEN => reader.bytes(),
                _ => reader.skip(tag, 0).map(|()| &[][..]),
            };
            let Ok(value) = value else { return };
            let inner = field.and_then(inner).filter(|inner| inner.kind == MessageKind::Dictionary);
            match (field.and_then(table), inner, tag & 7) {
                (Some(Table::Slice), _, VARINT) => self.rows.add(Table::Slice, 1),
                (Some(table), _, LEN) => self.row(table, value),
                (_, Some(dictionary), LEN) => {
                    self.path = path.into(tag >> 3);
                    self.count(dictionary, value, &mut left_inside);
                    self.path = path;
                }
                _ => {}
            }
        }
    }

    /// Counts one row, and checks row 0, because generations differ in what it may contain.
    fn row(&mut self, table: Table, row: &[u8]) {
        if table == Table::Slice {
            // Counting takes time proportional to the length. Long rows wait for larger bounds.
            let count = if row.len() > self.bounds.fields as usize {
                Rows::UNKNOWN
            } else {
                count_packed(row) as u64
            };
            return self.rows.add(table, count);
        }
        let needs_null = self.grammar.rows() == RowZero::NullFirst && table.has_null_row()
            || table == Table::String;
        if self.rows.counts[table as usize] == 0 && needs_null && !is_null(row) {
            self.add_misfit(MisfitKind::RowZero(table));
        }
        if table == Table::Attribute {
            self.rows.add_key(row);
        }
        self.rows.add(table, 1);
    }

    /// Marks the tables of a message as incompletely counted. The dictionary keeps the counts of an earlier
    /// scan of the payload.
    fn unknown_rows(&mut self, message: &'static MessageType) {
        self.outcome.cut = true;
        let dictionary = self.grammar.dictionary().filter(|_| self.is_beside(message));
        let message = dictionary.map_or(message, |(_, dictionary)| dictionary);
        let counted = self.counted.filter(|_| message.kind == MessageKind::Dictionary);
        // Encoders write sample types first, so their count is complete.
        let tables = self.grammar.tables(message).filter(|(_, table)| *table != Table::SampleType);
        for (number, table) in tables {
            self.rows.counts[table as usize] =
                counted.map_or(Rows::UNKNOWN, |rows| rows[number as usize]);
        }
    }

    /// Marks tables that are stored per profile as not counted: the counts of one profile do not apply to
    /// others.
    pub(super) fn rows_elsewhere(&mut self) {
        for (_, table) in self.grammar.tables(&PROFILE) {
            self.rows.counts[table as usize] = Rows::UNKNOWN;
        }
    }
}
