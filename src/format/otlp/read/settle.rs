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
//! wire, 1.8 on       [empty r1 r2]           index 0 was read as row 0; for another row 0 see `null_row`
//! ```
//!
//! Mappings, functions and links can lose their row 0 this way. Locations and attributes keep theirs.
//!
//! Units come in here too: `attribute_units` of 1.3 to 1.7 is a table of keys, and the model has a
//! unit on each attribute.

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::format::intake::Intake;
use crate::format::losses;
use crate::format::otlp::read::common;
use crate::format::otlp::read::null_row::Uses;
use crate::format::otlp::read::prove::Target;
use crate::format::otlp::read::tables::{MappingPprof, Tables};
use crate::format::otlp::read::targets::{Targets, one_less};
use crate::model::dictionary::{Function, Link, Mapping};
use crate::model::id::StringId;
use crate::schema::{Generation, Rows, Table};

impl Tables {
    /// Brings every table to the model's form of row 0, and says how its indices change.
    ///
    /// # Errors
    ///
    /// A row 0 that is not empty where it must be, unless repairs are asked for ([`null_row`](super::null_row)).
    pub(crate) fn settle<G: Generation>(
        &mut self,
        uses: Uses,
        intake: &mut Intake,
    ) -> Result<Targets> {
        let rows = G::CAPABILITIES.rows;
        self.check_strings(rows, uses, intake)?;
        let units = self.units_by_key(intake)?;
        let (mapping_row_0, function_row_0, link_row_0);
        let mut kept = Vec::new();
        if rows == Rows::NullFirst {
            kept = self.check_row_0(uses, intake)?;
            mapping_row_0 = !kept.contains(&Table::Mapping);
            function_row_0 = !kept.contains(&Table::Function);
            link_row_0 = !kept.contains(&Table::Link);
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
        let own = |table| u32::from(rows != Rows::NullFirst || kept.contains(&table));
        let target = |rows: usize, own: u32| Target { rows, own, none: own };
        // What is left out is read as none, where presence tells.
        let told = |rows: usize, own: u32| Target { rows, own, none: 0 };
        let attributes = target(self.attributes.len(), own(Table::Attribute));
        Ok(Targets {
            strings: told(self.texts.table_rows as usize, self.texts.own),
            mapping: told(self.mappings.len(), (!mapping_row_0).into()),
            function: target(self.functions.len(), (!function_row_0).into()),
            location: target(self.addresses.len(), own(Table::Location)),
            attributes,
            sample_attributes: attributes,
            link: told(self.links.len(), (!link_row_0).into()),
            stack: target(self.stacks.rows.len(), kept.contains(&Table::Stack).into()),
            rows,
            link_row_0,
            units,
        })
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
        if G::CAPABILITIES.rows == Rows::FromZero {
            self.raw_mappings = self.location_mappings.clone();
        }
        let references = self.location_mappings.iter_mut();
        match (G::CAPABILITIES.rows, row_0) {
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
            let key = common::table_name(key, &self.texts, intake).map_err(place)?;
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
