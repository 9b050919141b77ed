//! The form of the payload's tables, after they are complete: whether they begin with the empty row, and what
//! references mean.
//!
//! The model has an empty row 0 in each table. Some generations do too ([`Rows::NullFirst`]). In others row 0
//! may be an ordinary row; then the model inserts its row before it, and references increase by one. If the
//! first row of such a table is empty, it is the model's row, so that payloads written by this crate read back
//! with the same rows.
//!
//! ```text
//! payload, 1.3 to 1.7   [r0 r1 r2]    model   [empty r0 r1 r2]    index 0 is row 1
//! the same, r0 empty    [r0 r1 r2]    model   [r0 r1 r2]          index 0 is row 0
//! payload, 1.8 on       [r0 r1 r2]    model   [r0 r1 r2]          for another r0 see `null_row`
//! ```
//!
//! Mappings, functions and links can have an empty first row in 1.3 to 1.7. Locations and attributes keep theirs.
//!
//! This module also resolves units: `attribute_units` of 1.3 to 1.7 is a table of keys, and the model stores
//! a unit in each attribute.

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::losses;
use crate::model::dictionary::Dictionary;
use crate::model::id::{MappingId, StringId};
use crate::read_context::ReadContext;
use crate::schema::{Generation, Rows, Table};
use crate::tables::read::common;
use crate::tables::read::tables::Tables;
use crate::tables::resolve::null_row::{Kept, Uses};
use crate::tables::resolve::targets::Targets;

impl Tables {
    /// Gives every table the model's row 0 and turns units into those of attributes. Returns how to resolve
    /// references.
    ///
    /// # Errors
    ///
    /// A row 0 that must be empty and is not, unless the policy is to repair ([`null_row`](super::null_row));
    /// references of 1.3 that are neither indices nor ids.
    pub(crate) fn normalize<G: Generation>(
        &mut self,
        uses: Uses,
        cx: &mut ReadContext,
    ) -> Result<Targets> {
        let rows = G::CAPABILITIES.rows;
        self.check_strings(rows, uses, cx)?;
        let units = self.units_by_key(cx)?;
        let kept = match rows {
            Rows::NullFirst => self.check_row_0(uses, cx)?,
            Rows::FromZero | Rows::Presence => self.regular_first_rows(rows),
        };
        if rows == Rows::FromZero {
            // Before the empty rows are put, while row 0 is still the payload's first row.
            self.note_index_0(kept, cx);
        }
        self.put_empty_rows(kept);
        let mut tables = [(0, 0); Table::COUNT];
        for (table, rows) in self.lengths() {
            tables[table as usize] = (rows as u32, kept[table as usize].into());
        }
        let mut targets = Targets { rows, tables, units };
        if rows == Rows::FromZero {
            self.resolve_ids(&mut targets, cx)?;
        }
        let locations = &mut self.dictionary.locations;
        // Row 1 is the payload's first mapping if the model put its row 0 before it. Otherwise, `resolve_optional`
        // ignores the address.
        let first = self.dictionary.mappings.rows.get(1).copied().unwrap_or_default();
        let mappings = locations.mappings.iter_mut().zip(&locations.addresses).skip(1);
        targets.resolve_optional(
            Table::Mapping,
            mappings.map(|(mapping, address)| (&mut mapping.0, first.may_hold(*address))),
        );
        Ok(targets)
    }

    /// Returns the number of rows of each table.
    fn lengths(&self) -> [(Table, usize); 7] {
        let Dictionary { mappings, functions, locations, links, attributes, .. } = &self.dictionary;
        [
            (Table::String, self.texts.table_rows as usize),
            (Table::Mapping, mappings.rows.len()),
            (Table::Location, locations.len()),
            (Table::Function, functions.len()),
            (Table::Link, links.len()),
            (Table::Attribute, attributes.len()),
            (Table::Stack, self.stacks.rows.len()),
        ]
    }

    /// Returns the tables of 1.3 to 1.7 to which the model adds the empty row.
    fn regular_first_rows(&self, rows: Rows) -> Kept {
        let Dictionary { mappings, links, .. } = &self.dictionary;
        // If presence distinguishes unset references, a reference into an empty table is invalid.
        let is_invalid = |table| match table {
            Table::Mapping => rows == Rows::Presence && mappings.rows.is_empty(),
            Table::Link => rows == Rows::Presence && links.is_empty(),
            _ => matches!(table, Table::Location | Table::Attribute),
        };
        let mut kept = Kept::default();
        for table in
            [Table::Mapping, Table::Function, Table::Link, Table::Location, Table::Attribute]
        {
            kept[table as usize] = is_invalid(table) || self.has_row_0(table);
        }
        kept
    }

    /// Reports references of 1.3 that may be unset or index 0: in the encoding both are 0.
    ///
    /// The address of a location decides whether its mapping is the first one, by the address range of that
    /// mapping. A link is always unset.
    fn note_index_0(&self, kept: Kept, cx: &mut ReadContext) {
        let Dictionary { mappings, locations, .. } = &self.dictionary;
        let first = mappings.rows.first().copied().unwrap_or_default();
        let mut note = |is_first: bool, code, message: &str| {
            let mut unset = locations.mappings.iter().zip(&locations.addresses);
            let row = unset.position(|(mapping, address)| {
                *mapping == MappingId::NONE && first.may_hold(*address) == is_first
            });
            if let Some(row) = row.filter(|_| kept[Table::Mapping as usize]) {
                let place = || format!("location_table[{row}].mapping_index");
                cx.note(code, place, || message.to_owned());
            }
        };
        note(true, losses::G1_ZERO_MAPPING, "mapping index 0 was read as the first mapping");
        note(
            false,
            losses::G1_NO_MAPPING,
            "mapping index 0 was read as no mapping: the address is outside the first mapping",
        );
        if kept[Table::Link as usize] {
            let message =
                || "no sample can refer to the first link: index 0 means no link".to_owned();
            cx.note(losses::G1_ZERO_LINK, || "link_table[0]".to_owned(), message);
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
            // Gives equal strings of the table one id. The keys of attributes were inline and thus interned as well.
            let key = self.texts.intern(&text, cx)?;
            let first = *units.entry(key).or_insert(unit);
            if first != unit {
                let place = || format!("attribute_units[{row}]");
                cx.note(losses::UNIT_DUPLICATE, place, || {
                    "the key has another unit already: the first one was kept".to_owned()
                });
            }
        }
        for attribute in &mut self.dictionary.attributes {
            if let Some(unit) = units.get(&attribute.key) {
                attribute.unit = *unit;
            }
        }
        Ok(units)
    }
}
