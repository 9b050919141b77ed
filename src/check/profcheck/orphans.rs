//! Rows that nothing refers to. All that refers to a row of a table was met by then, resources, scopes and values
//! left out, which profcheck leaves out, too.
//!
//! Unlike the rules of the catalogue (`OP3301` to `OP3308`) it counts direct references alone, so a
//! row that only an orphan refers to is used, and it knows nothing of `key_strindex` in pairs and
//! `string_value_strindex` in values.

use super::Checking;
use crate::check::catalogue::{OP3301, OP3302, OP3303, OP3304, OP3305, OP3306, OP3307};
use crate::check::findings::Position;
use crate::check::rule::Rule;
use crate::schema::Table;

/// Order and names for the findings alone.
const TABLES: [(Table, &str, &Rule); 7] = [
    (Table::String, "string_table", &OP3301),
    (Table::Attribute, "attribute_table", &OP3306),
    (Table::Mapping, "mapping_table", &OP3302),
    (Table::Function, "function_table", &OP3304),
    (Table::Location, "location_table", &OP3303),
    (Table::Stack, "stack_table", &OP3307),
    (Table::Link, "link_table", &OP3305),
];

impl Checking<'_, '_> {
    /// Raises each row but the first that nothing referred to.
    ///
    /// One look at a bit for each row.
    pub(super) fn orphans(&mut self) {
        for (table, name, rule) in TABLES {
            let rows = self.used[table as usize].iter().zip(&self.tables.rows[table as usize]);
            for (row, (used, (start, _))) in rows.enumerate().skip(1) {
                if !used {
                    let spot = Position::at(*start as usize).field(name).row(row);
                    self.findings.report(rule, spot, "", "");
                }
            }
        }
    }
}
