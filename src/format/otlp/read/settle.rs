//! How indices on the wire become rows of the model, once the tables are complete.
//!
//! The model has an empty row 0 in each table. A generation has it too ([`Rows::NullFirst`]); or its row 0 may be
//! a real one, and then the model's row comes before it and indices count one more. An empty first row of such a
//! table says what the model's row says and is taken out again, so that a payload written here comes back with
//! the same rows.
//!
//! ```text
//! wire, 1.4 to 1.7   [r0 r1 r2]              index 0 is r0; "none" is a field left out
//! model              [empty r0 r1 r2]        index 0 was read as row 1
//! the same, r0 empty [empty r1 r2]           r0 is dropped; row 1 becomes 0
//! wire, 1.8 on       [empty r1 r2]           index 0 was read as row 0; another row 0 is refused or emptied
//! ```
//!
//! Mappings, functions and links can lose their row 0 this way. Locations and attributes keep theirs.
//!
//! Units come in here too: `attribute_units` of 1.3 to 1.7 is a table of keys, and the model has a
//! unit on each attribute.

use hashbrown::HashMap;

use crate::error::{Error, Result, Shown};
use crate::format::intake::Intake;
use crate::format::losses;
use crate::format::otlp::read::common;
use crate::format::otlp::read::prove::Target;
use crate::format::otlp::read::tables::{MappingPprof, Tables};
use crate::format::otlp::read::targets::{Targets, one_less};
use crate::format::otlp::schema::{Generation, Rows};
use crate::model::dictionary::{Attribute, Function, Link, Mapping};
use crate::model::id::{AttributeId, FunctionId, LinkId, StackId, StringId};
use crate::model::profile::Profile;
use crate::model::ragged::Ragged;
use crate::schema::Table;

impl Tables {
    /// Brings every table to the model's form of row 0, and says how its indices change.
    ///
    /// # Errors
    ///
    /// A row 0 that is not empty where it must be, unless repairs are asked for: then it is
    /// emptied.
    ///
    /// `uses` is whether a test holds for any profile that uses the tables.
    pub(crate) fn settle<G: Generation>(
        &mut self,
        uses: &dyn Fn(fn(&Profile) -> bool) -> bool,
        intake: &mut Intake,
    ) -> Result<Targets> {
        self.check_strings(intake)?;
        let units = self.units_by_key(intake)?;
        let rows = G::SCHEMA.rows;
        let (mut mapping_row_0, mut function_row_0, mut link_row_0) = (true, true, true);
        if rows == Rows::NullFirst {
            self.check_row_0(uses, intake)?;
        } else {
            // Where presence tells a reference from none, one into a table without rows leads nowhere.
            let leads = |len: usize| rows == Rows::FromZero || len > 1;
            mapping_row_0 = leads(self.mappings.len()) && self.drop_empty_mapping();
            function_row_0 =
                drop_if(&mut self.functions, |function| *function == Function::default());
            if function_row_0 {
                let lines = self.lines.items.iter_mut();
                one_less(lines.map(|line| &mut line.function.0));
            }
            link_row_0 = leads(self.links.len())
                && drop_if(&mut self.links, |link| *link == Link::default());
            self.mapping_references::<G>(mapping_row_0, intake);
            if rows == Rows::FromZero && !link_row_0 && self.links.len() > 1 {
                let message =
                    || "no sample can refer to the first link: index 0 means no link".to_owned();
                intake.note(losses::G1_ZERO_LINK, || "link_table[0]".to_owned(), message);
            }
        }
        let own = u32::from(rows != Rows::NullFirst);
        let target = |rows: usize, own: u32| Target { rows, own, none: own };
        // What is left out is read as none, where presence tells.
        let told = |rows: usize, own: u32| Target { rows, own, none: 0 };
        let attributes = target(self.attributes.len(), own);
        Ok(Targets {
            strings: target(self.texts.table_rows as usize, 0),
            mapping: told(self.mappings.len(), (!mapping_row_0).into()),
            function: target(self.functions.len(), (!function_row_0).into()),
            location: target(self.addresses.len(), own),
            attributes,
            sample_attributes: attributes,
            link: told(self.links.len(), (!link_row_0).into()),
            rows,
            link_row_0,
            units,
        })
    }

    /// String 0 is the empty one in every generation, as in pprof.
    ///
    /// A repair empties the string, and every reference to it reads as none.
    fn check_strings(&mut self, intake: &mut Intake) -> Result<()> {
        match self.texts.raw.get(0) {
            None | Some(b"") => Ok(()),
            Some(first) => {
                let shown = Shown(first);
                let error = Error::malformed(format!("string 0 must be empty, found {shown}"));
                intake.repair(losses::ROW_0, error.within_row("string_table", 0))?;
                self.texts.raw.clear_first();
                Ok(())
            }
        }
    }

    /// Row 0 of every table must be the empty row, and is put in where a table is left out.
    ///
    /// Since 1.8 every table begins with the zero value ([release
    /// 1.8](https://github.com/open-telemetry/opentelemetry-proto/releases/tag/v1.8.0)).
    ///
    /// # Errors
    ///
    /// A first row that is not empty and that something refers to, unless repairs are asked for: then it is emptied.
    fn check_row_0(
        &mut self,
        uses: &dyn Fn(fn(&Profile) -> bool) -> bool,
        intake: &mut Intake,
    ) -> Result<()> {
        let location = self.addresses.first().is_some_and(|&address| {
            let has = !self.lines.row(0).is_empty() || !self.location_attributes.row(0).is_empty();
            address != 0 || self.location_mappings[0] != 0 || has
        });
        let bad = [
            (
                Table::Mapping,
                "mapping_table",
                self.mappings.first().is_some_and(|row| *row != Mapping::default())
                    || !self.mapping_attributes.row(0).is_empty(),
            ),
            (Table::Location, "location_table", location),
            (
                Table::Function,
                "function_table",
                self.functions.first().is_some_and(|row| *row != Function::default()),
            ),
            (
                Table::Link,
                "link_table",
                self.links.first().is_some_and(|row| *row != Link::default()),
            ),
            (
                Table::Attribute,
                "attribute_table",
                self.attributes.first().is_some_and(|row| *row != Attribute::default()),
            ),
            (Table::Stack, "stack_table", !self.stacks.rows.row(0).is_empty()),
        ];
        for (table, name, _) in bad.into_iter().filter(|(.., bad)| *bad) {
            if self.uses_row_0(table, uses) {
                let error = Error::malformed("row 0 must be empty: references to it mean no value");
                intake.repair(losses::ROW_0, error.within_row(name, 0))?;
            } else {
                let message = || "row 0 must be empty: nothing refers to it, so it was emptied";
                let place = || format!("dictionary.{name}[0]");
                intake.note(losses::ROW_0_UNUSED, place, || message().to_owned());
            }
        }
        self.empty_row_0();
        Ok(())
    }

    /// Whether a sample, a profile or a row of another table refers to row 0 of `table`. A row 0 to which nothing
    /// refers does not count.
    fn uses_row_0(&self, table: Table, uses: &dyn Fn(fn(&Profile) -> bool) -> bool) -> bool {
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

    /// Has row 0 of every table be the empty one: puts it in, or empties what is there.
    fn empty_row_0(&mut self) {
        set_first(&mut self.mappings, Mapping::default());
        set_first(&mut self.functions, Function::default());
        set_first(&mut self.links, Link::default());
        set_first(&mut self.attributes, Attribute::default());
        set_first(&mut self.location_mappings, 0);
        set_first(&mut self.addresses, 0);
        empty_first(&mut self.lines);
        empty_first(&mut self.location_attributes);
        empty_first(&mut self.mapping_attributes);
        empty_first(&mut self.stacks.rows);
    }

    /// An all-zero first mapping stands for none; the model has that row already.
    ///
    /// What pprof's fields say of it counts too: a mapping with a flag is not empty. The answer is
    /// also yes where the table has no row at all.
    fn drop_empty_mapping(&mut self) -> bool {
        let empty = self.mappings.get(1).is_none_or(|row| *row == Mapping::default())
            && self.mapping_attributes.row(1).is_empty()
            && self.mapping_pprof.get(1).is_none_or(|row| *row == MappingPprof::default());
        if empty && self.mappings.len() > 1 {
            self.mappings.remove(1);
            if self.mapping_attributes.ends.len() > 1 {
                self.mapping_attributes.ends.remove(1);
            }
            if self.mapping_pprof.len() > 1 {
                self.mapping_pprof.remove(1);
            }
        }
        empty
    }

    /// Mapping references, as rows of the model's table.
    /// `row_0` says whether the first mapping on the wire was the empty one.
    ///
    /// 1.3 has no way to say "no mapping" beside an index 0, which is also the first mapping. Its
    /// address range decides for each location; the first guess is reported.
    fn mapping_references<G: Generation>(&mut self, row_0: bool, intake: &mut Intake) {
        if G::SCHEMA.rows == Rows::FromZero {
            self.raw_mappings = self.location_mappings.clone();
        }
        let references = self.location_mappings.iter_mut();
        match (G::SCHEMA.rows, row_0) {
            (Rows::NullFirst, _) | (Rows::Presence, false) | (Rows::FromZero, true) => {}
            (Rows::Presence, true) => one_less(references),
            (Rows::FromZero, false) => {
                // Left out and 0 look alike: the address decides, and no address is taken for yes.
                let first = self.mappings.get(1).copied().unwrap_or_default();
                let holds = |address: u64| first.may_hold(address);
                let is_there = self.mappings.len() > 1;
                let (mut guessed, mut left_out) = (None, None);
                for (row, mapping) in references.enumerate().skip(1) {
                    if *mapping != 0 {
                        *mapping = mapping.saturating_add(1);
                    } else if holds(self.addresses[row]) {
                        *mapping = 1;
                        guessed.get_or_insert(row - 1);
                    } else if is_there {
                        left_out.get_or_insert(row - 1);
                    }
                }
                let place = |row: usize| move || format!("location_table[{row}].mapping_index");
                if let Some(row) = guessed {
                    intake.note(losses::G1_ZERO_MAPPING, place(row), || {
                        "mapping index 0 was read as the first mapping".to_owned()
                    });
                }
                if let Some(row) = left_out {
                    intake.note(losses::G1_NO_MAPPING, place(row), || {
                        "mapping index 0 was read as no mapping: the address is outside the first mapping".to_owned()
                    });
                }
            }
        }
    }

    /// The unit of each key that has one, by the id the key has in attributes.
    ///
    /// The first unit of a key counts; another is reported. Keys are compared by text, as a key may
    /// be several rows of the string table.
    fn units_by_key(
        &mut self,
        intake: &mut Intake,
    ) -> Result<HashMap<StringId, StringId, foldhash::fast::RandomState>> {
        let mut units = HashMap::default();
        for (row, (key, unit)) in std::mem::take(&mut self.units).into_iter().enumerate() {
            let place = |e: Error| e.within_row("attribute_units", row);
            let key = common::table_text(key, &self.texts, intake).map_err(place)?;
            let unit = common::table_text(unit, &self.texts, intake).map_err(place)?;
            let text = self.texts.raw.get(key.row()).unwrap_or_default().to_vec();
            intake.budget.take::<[StringId; 8]>(1)?;
            let key = self.texts.intern(&text, intake)?;
            let first = *units.entry(key).or_insert(unit);
            if first != unit {
                let place = || format!("attribute_units[{row}]");
                intake.note(losses::UNIT_DUPLICATE, place, || {
                    "the key has another unit already: the first one was kept".to_owned()
                });
            }
        }
        for attribute in &mut self.attributes {
            if let Some(unit) = units.get(&attribute.key) {
                attribute.unit = *unit;
            }
        }
        Ok(units)
    }
}

/// Removes row 1 when it is the empty row that the model has at row 0; whether there is no row 1 that is not.
fn drop_if<T>(rows: &mut Vec<T>, empty: impl Fn(&T) -> bool) -> bool {
    match rows.get(1) {
        None => true,
        Some(row) if empty(row) => {
            rows.remove(1);
            true
        }
        Some(_) => false,
    }
}

/// Overwrites row 0, or makes it.
fn set_first<T>(rows: &mut Vec<T>, empty: T) {
    match rows.first_mut() {
        Some(first) => *first = empty,
        None => rows.push(empty),
    }
}

/// Empties row 0, where it is set.
///
/// Linear in the table, and run only where row 0 has items, which is a repair.
fn empty_first<T>(ragged: &mut Ragged<T>) {
    match ragged.ends.first().copied() {
        None => ragged.end_row(),
        Some(0) => {}
        Some(first) => {
            ragged.items.drain(..first as usize);
            ragged.ends.iter_mut().for_each(|end| *end -= first);
        }
    }
}
