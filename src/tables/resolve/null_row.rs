//! The empty row 0 of every table.
//!
//! Since 1.8 a payload must have it, but some producers store their first entry in row 0 and reference it with
//! index 0. A repair keeps such a row: it inserts the empty row before it, and indices mean the next row.
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
use crate::model::dictionary::{Attribute, Dictionary, Function, Link, Mapping};
use crate::model::id::{AttributeId, FunctionId, LinkId, MappingId, StackId, StringId};
use crate::model::profile::Profile;
use crate::model::ragged::Ragged;
use crate::read_context::{Policy, ReadContext};
use crate::schema::Rows;
use crate::schema::Table;
use crate::tables::read::references::moved;
use crate::tables::read::tables::{MappingPprof, Tables};

/// Returns whether a test holds for any profile that uses the tables.
pub(super) type Uses<'a> = &'a dyn Fn(fn(&Profile) -> bool) -> bool;

/// The usual cause of a first row that is not empty.
const ZERO_ROWS: &str = ": the tables lack their empty first rows, which the Collector's MergeTo leaves out if the destination is empty";

/// For each table, whether its row 0 becomes row 1.
pub(crate) type Kept = [bool; Table::COUNT];

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
        let cause = if own == 0 && rows == Rows::NullFirst { ZERO_ROWS } else { "" };
        let message = format!("string 0 must be empty, found {}{repaired}{cause}", Shown(first));
        let error = Error::malformed(message);
        cx.repair(losses::ROW_0, error.within_row("string_table", 0))?;
        // Row 0 stays the empty row: its omitted name must not become a reference to string 0.
        let skip = rows == Rows::NullFirst
            && !self.has_row_0(Table::Function)
            && !self.uses_row_0(Table::Function, uses);
        for function in self.dictionary.functions.iter_mut().skip(skip.into()) {
            function.name.0 = moved(function.name.0, own);
            let Function { system_name, filename, .. } = function;
            [system_name, filename].into_iter().for_each(|text| move_text(text, own));
        }
        self.dictionary
            .mappings
            .rows
            .iter_mut()
            .for_each(|mapping| move_text(&mut mapping.filename, own));
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
    pub(super) fn check_row_0(&mut self, uses: Uses, cx: &mut ReadContext) -> Result<Kept> {
        let tables = [
            (Table::Mapping, "mapping_table"),
            (Table::Location, "location_table"),
            (Table::Function, "function_table"),
            (Table::Link, "link_table"),
            (Table::Attribute, "attribute_table"),
            (Table::Stack, "stack_table"),
        ];
        let mut kept = Kept::default();
        for (table, name) in tables.into_iter().filter(|(table, _)| self.has_row_0(*table)) {
            if self.uses_row_0(table, uses) {
                let error = Error::malformed(match cx.policy {
                    Policy::Refuse => {
                        format!("row 0 must be empty: references to it mean no value{ZERO_ROWS}")
                    }
                    Policy::Repair => {
                        "row 0 must be empty: it became row 1, with every reference to it".into()
                    }
                });
                cx.repair(losses::ROW_0, error.within_row(name, 0))?;
                kept[table as usize] = true;
            } else {
                let message = || "row 0 must be empty: nothing refers to it, so it was emptied";
                let place = || format!("{name}[0]");
                cx.note(losses::ROW_0_UNUSED, place, || message().to_owned());
            }
        }
        if kept[Table::Location as usize] {
            // `NEGATIVE_INDEX` wraps here; `validate_stacks` restores it.
            self.stacks.rows.items.iter_mut().for_each(|row| *row = row.wrapping_add(1));
            self.stacks.most = None;
        }
        Ok(kept)
    }

    /// Returns whether the first row of a table is there and not empty.
    pub(super) fn has_row_0(&self, table: Table) -> bool {
        fn has<T: Default + PartialEq>(rows: &[T]) -> bool {
            rows.first().is_some_and(|row| *row != T::default())
        }
        let Dictionary { mappings, functions, locations, links, attributes, .. } = &self.dictionary;
        match table {
            Table::Mapping => {
                let attributes = mappings.attributes.row(0);
                has(&mappings.rows) || !attributes.is_empty() || has(&self.mapping_pprof)
            }
            Table::Location => {
                let lists =
                    [locations.lines.row(0).is_empty(), locations.attributes.row(0).is_empty()];
                has(&locations.addresses) || has(&locations.mappings) || lists.contains(&false)
            }
            Table::Function => has(functions),
            Table::Link => has(links),
            Table::Attribute => has(attributes),
            _ => !self.stacks.rows.row(0).is_empty(),
        }
    }

    /// Returns whether a sample, a profile or a row of another table references row 0 of `table`. References
    /// from an unreferenced row 0 do not count.
    fn uses_row_0(&self, table: Table, uses: Uses) -> bool {
        // The recursion ends, because references between tables have no cycle.
        let first = |of: Table| usize::from(!self.uses_row_0(of, uses));
        let Dictionary { mappings, locations, .. } = &self.dictionary;
        match table {
            Table::Mapping => {
                locations.mappings.iter().skip(first(Table::Location)).any(|id| id.0 == 0)
            }
            Table::Location => {
                self.stacks.rows.rows().skip(first(Table::Stack)).flatten().any(|row| *row == 0)
            }
            Table::Function => {
                let mut lines = locations.lines.rows().skip(first(Table::Location)).flatten();
                lines.any(|line| line.function == FunctionId::NONE)
            }
            Table::Link => uses(|profile| {
                let links = &profile.samples.links;
                // Samples past the end of the column refer to link 0.
                links.len() < profile.samples.stacks.len() || links.contains(&LinkId::NONE)
            }),
            Table::Attribute => {
                let of_locations = locations.attributes.rows().skip(first(Table::Location));
                let of_mappings = mappings.attributes.rows().skip(first(Table::Mapping));
                of_locations.chain(of_mappings).flatten().any(|id| *id == AttributeId::NONE)
                    || uses(|profile| {
                        let samples = &profile.samples.attributes.items;
                        samples.contains(&AttributeId::NONE)
                            || profile.attributes.contains(&AttributeId::NONE)
                    })
            }
            _ => uses(|profile| profile.samples.stacks.contains(&StackId::NONE)),
        }
    }

    /// Inserts the empty row before row 0 of the `kept` tables. In other tables, replaces row 0 by the empty
    /// row.
    pub(crate) fn put_empty_rows(&mut self, kept: Kept) {
        let kept = |table| kept[table as usize];
        let (mapping, location) = (kept(Table::Mapping), kept(Table::Location));
        let Dictionary { mappings, functions, locations, links, attributes, .. } =
            &mut self.dictionary;
        put_first(&mut mappings.rows, Mapping::default(), mapping);
        if !mappings.attributes.is_empty() {
            put_first_list(&mut mappings.attributes, mapping);
        }
        put_first(functions, Function::default(), kept(Table::Function));
        put_first(links, Link::default(), kept(Table::Link));
        put_first(attributes, Attribute::default(), kept(Table::Attribute));
        put_first(&mut locations.mappings, MappingId::NONE, location);
        put_first(&mut locations.addresses, 0, location);
        put_first_list(&mut locations.lines, location);
        if !locations.attributes.is_empty() {
            put_first_list(&mut locations.attributes, location);
        }
        put_first_list(&mut self.stacks.rows, kept(Table::Stack));
        self.new_attributes.first = attributes.len() as u32;
        if mapping && !self.mapping_pprof.is_empty() {
            self.mapping_pprof.insert(0, MappingPprof::default());
        }
        let rows = self.frame_types.iter_mut().map(|(row, _)| row).chain(&mut self.folded);
        rows.for_each(|row| *row += u32::from(location));
    }
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
