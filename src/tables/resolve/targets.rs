//! The tables that references point into, and how indices of the payload become rows of the model.
//!
//! The model has an empty row 0 in each table. A table of the payload either begins with the empty row too, so
//! that index *i* is row *i*; or the model puts its row before the others, and index *i* is row *i* + 1.
//! [`normalize`](super::normalize) decides that for each table.

use hashbrown::HashMap;

use crate::model::id::StringId;
use crate::schema::{Rows, Table};
use crate::tables::read::references::moved;
use crate::wire::varint::OVERSIZED_INDEX;

/// The table that a column of references points into.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// References below this number are in range.
    pub(crate) rows: u32,
    /// The number that references already have more than their indices. Errors subtract it.
    pub(crate) own: u32,
    /// The value of an omitted reference, which is valid even if the table lacks that row.
    pub(crate) none: u32,
    /// The number that makes a reference in range a row of the model.
    pub(crate) add: u32,
}

impl Target {
    /// Returns whether a reference is in range.
    #[inline]
    pub(crate) fn holds(self, index: u32) -> bool {
        index < self.rows
    }

    /// Returns whether all references are in range and nonzero if the largest is `most + 1`.
    ///
    /// [`Indices`](crate::wire::indices::Indices) records `most` while it decodes: the largest index less
    /// one, which wraps for 0. It validates a table of stacks without another pass.
    pub(crate) fn holds_all(self, most: u32) -> bool {
        most.saturating_add(1) < self.rows
    }
}

/// The rows of each table, and the units by key.
#[derive(Debug)]
pub(crate) struct Targets {
    /// How the generation references rows.
    pub(crate) rows: Rows,
    /// For each table the number of its rows in the model, and the number of those that the payload lacks: 0
    /// or 1.
    pub(crate) tables: [(u32, u32); Table::COUNT],
    /// Units by key, from `attribute_units` of 1.3 to 1.7. Empty for later generations.
    pub(crate) units: HashMap<StringId, StringId, foldhash::fast::RandomState>,
}

impl Targets {
    /// Returns the unit of a key; `NONE` if it has no unit.
    pub(crate) fn unit_of(&self, key: StringId) -> StringId {
        self.units.get(&key).copied().unwrap_or_default()
    }

    /// Returns the number of rows that the payload's table lacks.
    pub(crate) fn own(&self, table: Table) -> u32 {
        self.tables[table as usize].1
    }

    /// Returns the target of references that are stored as encoded.
    pub(crate) fn of(&self, table: Table) -> Target {
        let (rows, own) = self.tables[table as usize];
        Target { rows: rows - own, own: 0, none: 0, add: own }
    }

    /// Returns the target of references that are rows of the model already, or 0 if unset.
    pub(crate) fn of_rows(&self, table: Table) -> Target {
        let (rows, own) = self.tables[table as usize];
        Target { rows, own, none: 0, add: 0 }
    }

    /// Returns the payload's index for a row of the model, for the places of errors.
    pub(crate) fn on_wire(&self, table: Table, row: usize) -> usize {
        let own = if self.rows == Rows::FromZero { 1 } else { self.own(table) as usize };
        row.saturating_sub(own)
    }

    /// Turns references to mappings or links into rows of the model. The flag of a reference of 0 tells whether it is
    /// index 0, the first row of the payload, or unset.
    ///
    /// A reference past the table stays past it.
    pub(crate) fn resolve_optional<'r>(
        &self,
        table: Table,
        references: impl Iterator<Item = (&'r mut u32, bool)>,
    ) {
        match (self.rows, self.own(table)) {
            // The stored number is the row already: `Presence` stores indices plus one.
            (Rows::Presence, 1) | (Rows::NullFirst | Rows::FromZero, 0) => {}
            // The first row is the model's row 0, so undo the plus one. Unset references stay 0.
            (Rows::Presence, _) => references
                .filter(|(reference, _)| **reference < OVERSIZED_INDEX)
                .for_each(|(reference, _)| *reference = reference.saturating_sub(1)),
            _ => references
                .filter(|(reference, is_first)| **reference != 0 || *is_first)
                .for_each(|(reference, _)| *reference = moved(*reference, 1)),
        }
    }
}
