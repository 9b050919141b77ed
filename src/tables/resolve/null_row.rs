//! Repair of tables whose row 0 is not empty.
//!
//! Some producers store their first entry in row 0 and reference it with index 0. A repair keeps such a row:
//! it inserts the empty row before it and adjusts every reference to the table.
//!
//! ```text
//! wire      location_table [a b]       stack [0 1]    row 0 is not empty and in use
//! repaired                 [empty a b]       [1 2]
//! ```
//!
//! An unreferenced row 0 is emptied in place. Strings differ, because index 0 and an omitted field are
//! encoded alike: only fields that require a string, such as names and keys, reference string 0.

use crate::error::{Error, Result, Shown};
use crate::losses;
use crate::model::dictionary::{Attribute, Function, Link, Mapping};
use crate::model::id::{AttributeId, FunctionId, LinkId, StackId, StringId};
use crate::model::profile::Profile;
use crate::model::ragged::Ragged;
use crate::read_context::{Policy, ReadContext};
use crate::schema::Rows;
use crate::schema::Table;
use crate::tables::read::tables::Tables;
use crate::wire::varint::OVERSIZED_INDEX;

/// Returns whether a test holds for any profile that uses the tables.
pub(super) type Uses<'a> = &'a dyn Fn(fn(&Profile) -> bool) -> bool;

impl Tables {
    /// Checks that string 0 is empty, as every generation requires.
    ///
    /// The repair prepended the empty string ([`StringInterner::own`](crate::tables::read::string_interner::StringInterner::own)) when it read
    /// the first string. This function adjusts references that were read before the tables were complete.
    pub(super) fn check_strings(
        &mut self,
        rows: Rows,
        uses: Uses,
        cx: &mut ReadContext,
    ) -> Result<()> {
        let own = self.texts.own;
        let Some(first) = self.texts.raw.get(own as usize).filter(|first| !first.is_empty()) else {
            return Ok(());
        };
        let repaired = if own > 0 { ": it became string 1 for names and keys" } else { "" };
        let message = format!("string 0 must be empty, found {}{repaired}", Shown(first));
        let error = Error::malformed(message);
        cx.repair(losses::ROW_0, error.within_row("string_table", 0))?;
        let skip = match (rows, self.functions.first()) {
            (Rows::NullFirst, Some(first)) => {
                *first == Function::default() && !self.uses_row_0(Table::Function, uses)
            }
            _ => true,
        };
        for function in self.functions.iter_mut().skip(skip.into()) {
            function.name.0 = moved(function.name.0, own);
            let Function { system_name, filename, .. } = function;
            [system_name, filename].into_iter().for_each(|text| move_text(text, own));
        }
        self.mappings.iter_mut().for_each(|mapping| move_text(&mut mapping.filename, own));
        Ok(())
    }

    /// Ensures that row 0 of every table is the empty row. Returns the tables whose row 0 became row 1.
    ///
    /// Since 1.8 every table begins with the zero value
    /// ([release 1.8](https://github.com/open-telemetry/opentelemetry-proto/releases/tag/v1.8.0)).
    ///
    /// # Errors
    ///
    /// A first row that is neither empty nor unreferenced, unless the policy is to repair.
    pub(super) fn check_row_0(&mut self, uses: Uses, cx: &mut ReadContext) -> Result<Vec<Table>> {
        let location = self.addresses.first().is_some_and(|&address| {
            let has = !self.lines.row(0).is_empty() || !self.location_attributes.row(0).is_empty();
            address != 0 || self.location_mappings[0] != 0 || has
        });
        let mapping = self.mappings.first().is_some_and(|row| *row != Mapping::default())
            || !self.mapping_attributes.row(0).is_empty();
        let function = self.functions.first().is_some_and(|row| *row != Function::default());
        let attribute = self.attributes.first().is_some_and(|row| *row != Attribute::default());
        let bad = [
            (Table::Mapping, "mapping_table", mapping),
            (Table::Location, "location_table", location),
            (Table::Function, "function_table", function),
            (
                Table::Link,
                "link_table",
                self.links.first().is_some_and(|row| *row != Link::default()),
            ),
            (Table::Attribute, "attribute_table", attribute),
            (Table::Stack, "stack_table", !self.stacks.rows.row(0).is_empty()),
        ];
        let mut kept = Vec::new();
        for (table, name, _) in bad.into_iter().filter(|(.., bad)| *bad) {
            if self.uses_row_0(table, uses) {
                let error = Error::malformed(match cx.policy {
                    Policy::Refuse => "row 0 must be empty: references to it mean no value",
                    Policy::Repair => {
                        "row 0 must be empty: it became row 1, with every reference to it"
                    }
                });
                cx.repair(losses::ROW_0, error.within_row(name, 0))?;
                kept.push(table);
            } else {
                let message = || "row 0 must be empty: nothing refers to it, so it was emptied";
                let place = || format!("{name}[0]");
                cx.note(losses::ROW_0_UNUSED, place, || message().to_owned());
            }
        }
        kept.iter().for_each(|table| self.move_references(*table));
        self.put_empty_rows(&kept);
        Ok(kept)
    }

    /// Returns whether a sample, a profile or a row of another table references row 0 of `table`. References
    /// from an unreferenced row 0 do not count.
    fn uses_row_0(&self, table: Table, uses: Uses) -> bool {
        let first = |of: Table| usize::from(!self.uses_row_0(of, uses));
        let in_rows = |of: Table, lists: &Ragged<u32>| {
            lists.items.contains(&0) && lists.rows().skip(first(of)).any(|row| row.contains(&0))
        };
        match table {
            Table::Mapping => {
                let mut mappings = self.location_mappings.iter().skip(first(Table::Location));
                mappings.any(|mapping| *mapping == 0)
            }
            Table::Location => in_rows(Table::Stack, &self.stacks.rows),
            Table::Function => {
                let mut lines = self.lines.rows().skip(first(Table::Location)).flatten();
                lines.any(|line| line.function == FunctionId::NONE)
            }
            Table::Link => uses(|profile| {
                let links = &profile.samples.links;
                links.len() < profile.samples.stacks.len() || links.contains(&LinkId::NONE)
            }),
            Table::Attribute => {
                in_rows(Table::Location, &self.location_attributes)
                    || in_rows(Table::Mapping, &self.mapping_attributes)
                    || uses(|profile| {
                        let samples = &profile.samples.attributes.items;
                        samples.contains(&AttributeId::NONE)
                            || profile.attributes.contains(&AttributeId::NONE)
                    })
            }
            _ => uses(|profile| profile.samples.stacks.contains(&StackId::NONE)),
        }
    }

    /// Adjusts references from rows to `table`.
    /// [`Targets::move_references`](crate::tables::resolve::targets::Targets::move_references) adjusts those from profiles.
    ///
    /// A location whose address is outside mapping 0 has no mapping.
    fn move_references(&mut self, table: Table) {
        match table {
            Table::Mapping => {
                let first = self.mappings.first().copied().unwrap_or_default();
                let locations = self.location_mappings.iter_mut().zip(&self.addresses);
                locations
                    .filter(|(mapping, address)| **mapping != 0 || first.may_hold(**address))
                    .for_each(|(mapping, _)| *mapping = moved(*mapping, 1));
            }
            Table::Location => {
                // `NEGATIVE_INDEX` wraps here; `validate_stacks` restores it.
                self.stacks.rows.items.iter_mut().for_each(|row| *row = row.wrapping_add(1));
                self.stacks.most = None;
            }
            Table::Function => {
                let lines = self.lines.items.iter_mut();
                lines.for_each(|line| line.function.0 = moved(line.function.0, 1));
            }
            Table::Attribute => {
                let of_mappings = self.mapping_attributes.items.iter_mut();
                let all = of_mappings.chain(&mut self.location_attributes.items);
                all.for_each(|row| *row = moved(*row, 1));
                self.new_attributes.first += 1;
            }
            _ => {}
        }
    }

    /// Inserts the empty row before row 0 of the `kept` tables. In other tables, replaces row 0 by the empty
    /// row.
    fn put_empty_rows(&mut self, kept: &[Table]) {
        let kept = |table| kept.contains(&table);
        put_first(&mut self.mappings, Mapping::default(), kept(Table::Mapping));
        put_first(&mut self.functions, Function::default(), kept(Table::Function));
        put_first(&mut self.links, Link::default(), kept(Table::Link));
        put_first(&mut self.attributes, Attribute::default(), kept(Table::Attribute));
        put_first(&mut self.location_mappings, 0, kept(Table::Location));
        put_first(&mut self.addresses, 0, kept(Table::Location));
        put_first_list(&mut self.lines, kept(Table::Location));
        put_first_list(&mut self.location_attributes, kept(Table::Location));
        put_first_list(&mut self.mapping_attributes, kept(Table::Mapping));
        put_first_list(&mut self.stacks.rows, kept(Table::Stack));
    }
}

/// Adjusts a reference after `own` rows were inserted before its target. `NEGATIVE_INDEX` and `OVERSIZED_INDEX` stay unchanged.
pub(super) fn moved(row: u32, own: u32) -> u32 {
    if row < OVERSIZED_INDEX { row + own } else { row }
}

/// Adjusts the reference to a string, unless it is unset.
fn move_text(text: &mut StringId, own: u32) {
    if *text != StringId::NONE {
        text.0 = moved(text.0, own);
    }
}

/// Inserts the empty row before the others, or replaces row 0 by it unless that is `kept`.
fn put_first<T>(rows: &mut Vec<T>, empty: T, kept: bool) {
    match rows.first_mut() {
        Some(first) if !kept => *first = empty,
        _ => {
            rows.reserve_exact(1);
            rows.insert(0, empty);
        }
    }
}

/// Does the same for rows of variable length. Takes time linear in the table, and only if row 0 has items.
fn put_first_list<T>(lists: &mut Ragged<T>, kept: bool) {
    match lists.ends.first().copied() {
        Some(0) if !kept => {}
        Some(first) if !kept => {
            lists.items.drain(..first as usize);
            lists.ends.iter_mut().for_each(|end| *end -= first);
        }
        _ => put_first(&mut lists.ends, 0, true),
    }
}
