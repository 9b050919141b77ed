//! Conversion of the payload's row numbers to those of the model, after the tables are complete.
//!
//! The model has an empty row 0 in each table. Some generations do too ([`Rows::NullFirst`]). In others row 0
//! may be an ordinary row; then the model inserts its row before it, and indices increase by one. If the
//! first row of such a table is empty, it duplicates the model's row and is removed, so that payloads written
//! by this crate read back with the same rows.
//!
//! ```text
//! payload, 1.4 to 1.7   [r0 r1 r2]              index 0 is r0; an unset reference is an omitted field
//! model                 [empty r0 r1 r2]        index 0 was read as row 1
//! the same, r0 empty    [empty r1 r2]           r0 is dropped; row 1 becomes 0
//! payload, 1.8 on       [empty r1 r2]           index 0 was read as row 0; for another row 0 see `null_row`
//! ```
//!
//! Mappings, functions and links can lose their row 0 this way. Locations and attributes keep theirs.
//!
//! This module also resolves units: `attribute_units` of 1.3 to 1.7 is a table of keys, and the model stores
//! a unit in each attribute.

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::losses;
use crate::model::dictionary::{Function, Link, Mapping};
use crate::model::id::StringId;
use crate::read_context::ReadContext;
use crate::schema::{Generation, Rows, Table};
use crate::tables::read::common;
use crate::tables::read::tables::{MappingPprof, Tables};
use crate::tables::resolve::null_row::Uses;
use crate::tables::resolve::targets::{Targets, one_less};
use crate::tables::resolve::validate::Target;

impl Tables {
    /// Converts every table to the model's form of row 0, and returns how to convert references.
    ///
    /// # Errors
    ///
    /// A row 0 that must be empty and is not, unless the policy is to repair ([`null_row`](crate::tables::resolve::null_row)).
    pub(crate) fn normalize_null_rows<G: Generation>(
        &mut self,
        uses: Uses,
        cx: &mut ReadContext,
    ) -> Result<Targets> {
        let rows = G::CAPABILITIES.rows;
        self.check_strings(rows, uses, cx)?;
        let units = self.units_by_key(cx)?;
        let (mapping_row_0, function_row_0, link_row_0);
        let mut kept = Vec::new();
        if rows == Rows::NullFirst {
            kept = self.check_row_0(uses, cx)?;
            mapping_row_0 = !kept.contains(&Table::Mapping);
            function_row_0 = !kept.contains(&Table::Function);
            link_row_0 = !kept.contains(&Table::Link);
        } else {
            // If presence distinguishes unset references, a reference into an empty table is invalid.
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
            self.mapping_references::<G>(mapping_row_0, cx);
            if rows == Rows::FromZero && !link_row_0 && self.links.len() > 1 {
                let message =
                    || "no sample can refer to the first link: index 0 means no link".to_owned();
                cx.note(losses::G1_ZERO_LINK, || "link_table[0]".to_owned(), message);
            }
        }
        let own = |table| u32::from(rows != Rows::NullFirst || kept.contains(&table));
        let target = |rows: usize, own: u32| Target { rows, own, none: own };
        // An omitted reference was read as 0 if presence distinguishes it.
        let optional = |rows: usize, own: u32| Target { rows, own, none: 0 };
        let attributes = target(self.attributes.len(), own(Table::Attribute));
        Ok(Targets {
            strings: optional(self.texts.table_rows as usize, self.texts.own),
            mapping: optional(self.mappings.len(), (!mapping_row_0).into()),
            function: target(self.functions.len(), (!function_row_0).into()),
            location: target(self.addresses.len(), own(Table::Location)),
            attributes,
            sample_attributes: attributes,
            link: optional(self.links.len(), (!link_row_0).into()),
            stack: target(self.stacks.rows.len(), kept.contains(&Table::Stack).into()),
            rows,
            link_row_0,
            units,
        })
    }

    /// Removes an all-zero first mapping, because the model has an empty row already. Returns whether it was
    /// empty or the table has no rows.
    ///
    /// pprof's fields count as contents too: a mapping with a flag is not empty.
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

    /// Converts mapping references to rows of the model's table. `row_0` is whether the first mapping of the
    /// payload was empty.
    ///
    /// In 1.3 an unset mapping and the first mapping are both index 0. The address of each location decides,
    /// by the address range of the mapping. The first guess is reported.
    fn mapping_references<G: Generation>(&mut self, row_0: bool, cx: &mut ReadContext) {
        if G::CAPABILITIES.rows == Rows::FromZero {
            self.raw_mappings = self.location_mappings.clone();
        }
        let references = self.location_mappings.iter_mut();
        match (G::CAPABILITIES.rows, row_0) {
            (Rows::NullFirst, _) | (Rows::Presence, false) | (Rows::FromZero, true) => {}
            (Rows::Presence, true) => one_less(references),
            (Rows::FromZero, false) => {
                // Omitted and 0 are encoded alike. The address decides; without an address, it is the first
                // mapping.
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
                    cx.note(losses::G1_ZERO_MAPPING, place(row), || {
                        "mapping index 0 was read as the first mapping".to_owned()
                    });
                }
                if let Some(row) = left_out {
                    cx.note(losses::G1_NO_MAPPING, place(row), || {
                        "mapping index 0 was read as no mapping: the address is outside the first mapping".to_owned()
                    });
                }
            }
        }
    }

    /// Returns the unit of each key that has one. Keys are the ids of the attributes' keys.
    ///
    /// The first unit of a key wins; others are reported. Keys are compared as strings, because the string
    /// table may contain duplicates.
    fn units_by_key(
        &mut self,
        cx: &mut ReadContext,
    ) -> Result<HashMap<StringId, StringId, foldhash::fast::RandomState>> {
        let mut units = HashMap::default();
        for (row, (key, unit)) in std::mem::take(&mut self.units).into_iter().enumerate() {
            let place = |e: Error| e.within_row("attribute_units", row);
            let key = common::table_name(key, &self.texts, cx).map_err(place)?;
            let unit = common::table_text(unit, &self.texts, cx).map_err(place)?;
            let text = self.texts.raw.get(key.row()).unwrap_or_default().to_vec();
            cx.budget.charge::<[StringId; 8]>(1)?;
            let key = self.texts.intern(&text, cx)?;
            let first = *units.entry(key).or_insert(unit);
            if first != unit {
                let place = || format!("attribute_units[{row}]");
                cx.note(losses::UNIT_DUPLICATE, place, || {
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

/// Removes row 1 if it is empty, because the model has an empty row 0. Returns whether row 1 was empty or
/// missing.
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
