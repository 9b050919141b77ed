//! Unreferenced rows. Runs after all references were visited. Like profcheck, it ignores references in resources,
//! scopes and values.
//!
//! Unlike the rules of the catalogue (`OP3301` to `OP3308`) it counts only direct references, so a row that only an
//! orphan refers to is used, and it ignores `key_strindex` in pairs and `string_value_strindex` in values.

use super::Checking;
use crate::check::catalogue::{OP3301, OP3302, OP3303, OP3304, OP3305, OP3306, OP3307};
use crate::check::findings::Position;
use crate::check::rule::Rule;
use crate::schema::Table;

/// The tables in the order of the findings, with their names and rules.
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
    /// Reports each unreferenced row except the first.
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
