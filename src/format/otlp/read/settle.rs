//! How indices on the wire become rows of the model, once the tables are complete.

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::format::intake::Intake;
use crate::format::losses;
use crate::format::otlp::read::common;
use crate::format::otlp::read::lift;
use crate::format::otlp::read::prove::{self, Target};
use crate::format::otlp::read::shifts::Shifts;
use crate::format::otlp::read::tables::{MappingPprof, Tables};
use crate::format::otlp::schema::{Generation, Rows};
use crate::format::texts::Texts;
use crate::model::dictionary::{
    Attribute, Dictionary, Function, Link, Locations, Mapping, Mappings,
};
use crate::model::id::{AttributeId, LocationId, MappingId, StringId};
use crate::model::ragged::Ragged;
use crate::model::strings::Strings;

impl Tables {
    /// Brings every table to the model's form of row 0, and says how its indices change.
    pub(crate) fn settle<G: Generation>(&mut self, intake: &mut Intake) -> Result<Shifts> {
        self.check_strings(intake)?;
        let units = self.units_by_key(intake)?;
        let rows = G::SCHEMA.rows;
        let (mut function_row_0, mut link_row_0) = (true, true);
        if rows == Rows::NullFirst {
            self.check_row_0(intake)?;
        } else {
            let mapping_row_0 = self.drop_empty_mapping();
            function_row_0 =
                drop_if(&mut self.functions, |function| *function == Function::default());
            link_row_0 = drop_if(&mut self.links, |link| *link == Link::default());
            self.mapping_references::<G>(mapping_row_0, intake);
            if rows == Rows::FromZero && !link_row_0 && self.links.len() > 1 {
                let message =
                    || "the first link is a real one, and no sample can refer to it".to_owned();
                intake.note(losses::G1_ZERO_LINK, || "link_table[0]".to_owned(), message);
            }
        }
        let own = u32::from(rows != Rows::NullFirst);
        let wire = |rows: usize| rows - own as usize;
        let attributes = Target { rows: wire(self.attributes.len()), shift: own };
        Ok(Shifts {
            strings: Target { rows: self.texts.table_rows as usize, shift: 0 },
            mapping: Target { rows: self.mappings.len(), shift: 0 },
            function: Target {
                rows: self.functions.len() - usize::from(!function_row_0),
                shift: u32::from(!function_row_0),
            },
            location: Target { rows: wire(self.addresses.len()), shift: own },
            attributes,
            sample_attributes: attributes,
            link: Target { rows: self.links.len(), shift: 0 },
            rows,
            link_row_0,
            units,
        })
    }

    fn check_strings(&mut self, intake: &mut Intake) -> Result<()> {
        match self.texts.raw.get(0) {
            None | Some(b"") => Ok(()),
            Some(first) => {
                let shown = String::from_utf8_lossy(first).into_owned();
                let error = Error::malformed(format!("string 0 must be empty, found {shown:?}"));
                intake.repair(losses::ROW_0, error.within_row("string_table", 0))?;
                self.texts.raw.clear_first();
                Ok(())
            }
        }
    }

    /// Row 0 of every table must be the empty row, and is put in where a table is left out.
    fn check_row_0(&mut self, intake: &mut Intake) -> Result<()> {
        let location = self.addresses.first().is_some_and(|&address| {
            let has = !self.lines.row(0).is_empty() || !self.location_attributes.row(0).is_empty();
            address != 0 || self.location_mappings[0] != 0 || has
        });
        let bad = [
            (
                "mapping_table",
                self.mappings.first().is_some_and(|row| *row != Mapping::default())
                    || !self.mapping_attributes.row(0).is_empty(),
            ),
            ("location_table", location),
            (
                "function_table",
                self.functions.first().is_some_and(|row| *row != Function::default()),
            ),
            ("link_table", self.links.first().is_some_and(|row| *row != Link::default())),
            (
                "attribute_table",
                self.attributes.first().is_some_and(|row| *row != Attribute::default()),
            ),
            ("stack_table", !self.stacks.rows.row(0).is_empty()),
        ];
        for (table, _) in bad.into_iter().filter(|(_, bad)| *bad) {
            let error = Error::malformed("row 0 must be the empty row, which stands for none");
            intake.repair(losses::ROW_0, error.within_row(table, 0))?;
        }
        self.empty_row_0();
        Ok(())
    }

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
    fn mapping_references<G: Generation>(&mut self, row_0: bool, intake: &mut Intake) {
        if G::SCHEMA.rows == Rows::FromZero {
            self.raw_mappings = self.location_mappings.clone();
        }
        let references = self.location_mappings.iter_mut();
        match (G::SCHEMA.rows, row_0) {
            (Rows::NullFirst, _) | (Rows::Presence, false) | (Rows::FromZero, true) => {}
            (Rows::Presence, true) => {
                references.for_each(|mapping| *mapping = mapping.saturating_sub(1))
            }
            (Rows::FromZero, false) => {
                // Left out and 0 look alike: the address decides, and no address is taken for yes.
                let first = self.mappings.get(1).copied().unwrap_or_default();
                let holds = |address: u64| first.may_hold(address);
                let mut guessed = None;
                for (row, mapping) in references.enumerate().skip(1) {
                    if *mapping != 0 {
                        *mapping = mapping.saturating_add(1);
                    } else if holds(self.addresses[row]) {
                        *mapping = 1;
                        guessed.get_or_insert(row - 1);
                    }
                }
                if let Some(row) = guessed {
                    let place = || format!("location_table[{row}].mapping_index");
                    intake.note(losses::G1_ZERO_MAPPING, place, || {
                        "0 was taken for the first mapping".to_owned()
                    });
                }
            }
        }
    }

    /// The unit of each key that has one, by the id the key has in attributes.
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
                    "the key has another unit already".to_owned()
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

    /// Proves every table and hands them over; they may be `all` of the payload's. `place` says where
    /// a location of a stack is.
    pub(crate) fn finish<G: Generation>(
        mut self,
        shifts: &Shifts,
        all: bool,
        place: impl Fn(Error, usize, usize) -> Error,
        intake: &mut Intake,
    ) -> Result<Dictionary> {
        let own = usize::from(G::SCHEMA.rows != Rows::NullFirst);
        let mut lifted_mappings = lift::mappings(&mut self, own, intake)?;
        let lifted_locations = lift::locations(&mut self, intake)?;
        if all
            && G::SCHEMA.mapping.has_functions != 0
            && self.mappings.len() > 1
            && let Some(unset) = lift::unset_flag(&mut self, intake)?
        {
            lifted_mappings.resize(lifted_mappings.len().max(2), Vec::new());
            lifted_mappings[1].push(unset);
        }
        let functions = self.prove_functions(shifts, own, intake)?;
        let mappings = self.prove_mappings(shifts, own, lifted_mappings, intake)?;
        let mut locations = self.prove_locations(shifts, own, lifted_locations, intake)?;
        let mut stacks = prove::ragged_ids(std::mem::take(&mut self.stacks.rows));
        let holds = |most: u32| shifts.location.holds_all(most);
        if !self.stacks.most.is_some_and(holds) {
            prove_stacks::<G>(&mut stacks, &mut locations, shifts.location, place, intake)?;
        }
        let attributes = self.new_attributes.behind(self.attributes);
        let strings = prove_texts(self.texts, intake)?;
        Ok(Dictionary {
            strings,
            mappings,
            functions,
            locations,
            links: self.links,
            attributes,
            stacks,
        })
    }

    fn prove_functions(
        &mut self,
        shifts: &Shifts,
        own: usize,
        intake: &mut Intake,
    ) -> Result<Vec<Function>> {
        let mut functions = std::mem::take(&mut self.functions);
        let largest = functions
            .iter()
            .map(|f| f.name.0.max(f.system_name.0).max(f.filename.0))
            .max()
            .unwrap_or(0);
        if largest as usize >= shifts.strings.rows {
            for (row, function) in functions.iter_mut().enumerate() {
                let Function { name, system_name, filename, .. } = function;
                let fields = [
                    (name, "name_strindex"),
                    (system_name, "system_name_strindex"),
                    (filename, "filename_strindex"),
                ];
                for (id, field) in fields {
                    *id = prove::one(id.0, shifts.strings, intake, field)
                        .map_err(|e| e.within_row("function_table", row.saturating_sub(own)))?;
                }
            }
        }
        Ok(functions)
    }

    fn prove_mappings(
        &mut self,
        shifts: &Shifts,
        own: usize,
        lifted: Vec<Vec<AttributeId>>,
        intake: &mut Intake,
    ) -> Result<Mappings> {
        let mut rows = std::mem::take(&mut self.mappings);
        for (row, mapping) in rows.iter_mut().enumerate() {
            mapping.filename =
                prove::one(mapping.filename.0, shifts.strings, intake, "filename_strindex")
                    .map_err(|e| e.within_row("mapping_table", row.saturating_sub(own)))?;
        }
        let mut from_wire: Ragged<AttributeId> =
            prove::ragged_ids(std::mem::take(&mut self.mapping_attributes));
        prove::attributes(&mut from_wire, shifts.attributes, intake, |error, row, at| {
            error
                .element(at)
                .within("attribute_indices")
                .within_row("mapping_table", row.saturating_sub(own))
        })?;
        if lifted.is_empty() {
            return Ok(Mappings { rows, attributes: from_wire });
        }
        let mut attributes = Ragged::default();
        for row in 0..rows.len() {
            attributes.items.extend_from_slice(from_wire.row(row));
            for &id in lifted.get(row).into_iter().flatten() {
                if !self.has_key(from_wire.row(row), id) {
                    attributes.items.push(id);
                }
            }
            attributes.end_row_at(row);
        }
        Ok(Mappings { rows, attributes })
    }

    /// Whether one of the attributes has the key of the new attribute `id`.
    fn has_key(&self, attributes: &[AttributeId], id: AttributeId) -> bool {
        let key = self.new_attributes.get(id.0).map(|new| self.texts.raw.get(new.key.row()));
        attributes.iter().any(|other| {
            let other =
                self.attributes.get(other.row()).map(|other| self.texts.raw.get(other.key.row()));
            other == key
        })
    }

    fn prove_locations(
        &mut self,
        shifts: &Shifts,
        own: usize,
        lifted: Vec<(u32, AttributeId)>,
        intake: &mut Intake,
    ) -> Result<Locations> {
        let place =
            |error: Error, row: usize| error.within_row("location_table", row.saturating_sub(own));
        let mut mappings = prove::ids(std::mem::take(&mut self.location_mappings));
        prove::column(&mut mappings, shifts.mapping, intake, |error, row| {
            place(error.within("mapping_index"), row)
        })?;
        let lines = self.prove_lines(shifts, own, intake)?;
        let mut from_wire: Ragged<AttributeId> =
            prove::ragged_ids(std::mem::take(&mut self.location_attributes));
        prove::attributes(&mut from_wire, shifts.attributes, intake, |error, row, at| {
            place(error.element(at).within("attribute_indices"), row)
        })?;
        let addresses = std::mem::take(&mut self.addresses);
        if lifted.is_empty() {
            return Ok(Locations { mappings, addresses, lines, attributes: from_wire });
        }
        let mut attributes = Ragged::default();
        let mut lifted = lifted.into_iter().peekable();
        for row in 0..addresses.len() {
            attributes.items.extend_from_slice(from_wire.row(row));
            while let Some((_, id)) = lifted.next_if(|&(at, _)| at as usize == row) {
                if !self.has_key(from_wire.row(row), id) {
                    attributes.items.push(id);
                }
            }
            attributes.end_row_at(row);
        }
        Ok(Locations { mappings, addresses, lines, attributes })
    }

    fn prove_lines(
        &mut self,
        shifts: &Shifts,
        own: usize,
        intake: &mut Intake,
    ) -> Result<Ragged<crate::model::dictionary::Line>> {
        let mut lines = std::mem::take(&mut self.lines);
        let largest = lines.items.iter().map(|line| line.function.0).max().unwrap_or(0);
        let Target { rows, shift } = shifts.function;
        if largest as usize >= rows {
            for (at, line) in lines.items.iter_mut().enumerate() {
                let row = lines.ends.partition_point(|&end| end as usize <= at);
                line.function =
                    prove::one(line.function.0, shifts.function, intake, "function_index")
                        .map_err(|e| {
                            e.within("lines").within_row("location_table", row.saturating_sub(own))
                        })?;
            }
        } else if shift != 0 {
            lines.items.iter_mut().for_each(|line| line.function.0 += shift);
        }
        Ok(lines)
    }
}

/// Proves that all texts are UTF-8, as those of OTLP must be.
pub(crate) fn prove_texts(texts: Texts, intake: &mut Intake) -> Result<Strings> {
    let rows = texts.table_rows as usize;
    let strings = texts.raw.prove(false, &mut intake.budget)?;
    if let Some((id, bytes)) = strings.not_utf8().next() {
        let shown = String::from_utf8_lossy(bytes);
        let error = Error::malformed(format!("{shown:?} is not UTF-8"));
        let in_table = id.row() < rows;
        let error = if in_table { error.within_row("string_table", id.row()) } else { error };
        intake.repair(losses::INVALID_UTF8, error)?;
    }
    Ok(strings)
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

/// Proves stacks whose locations are not all known to be rows of the table.
#[cold]
fn prove_stacks<G: Generation>(
    stacks: &mut Ragged<LocationId>,
    locations: &mut Locations,
    mut target: Target,
    place: impl Fn(Error, usize, usize) -> Error,
    intake: &mut Intake,
) -> Result<()> {
    // As they were on the wire.
    for location in &mut stacks.items {
        location.0 = location.0.wrapping_sub(target.shift);
    }
    if G::SCHEMA.rows == Rows::NullFirst && stacks.items.contains(&LocationId::NONE) {
        target.rows += 1;
        name_location_0(stacks, locations, &place, intake);
    }
    prove::ragged(stacks, target, intake, place)?;
    drop_frames(stacks);
    Ok(())
}

/// A frame that is row 0, which stands for no location, becomes a location of which nothing is
/// known: as a row of its own no generation takes it for something else.
fn name_location_0(
    stacks: &mut Ragged<LocationId>,
    locations: &mut Locations,
    place: impl Fn(Error, usize, usize) -> Error,
    intake: &mut Intake,
) {
    let unknown = LocationId(locations.len() as u32);
    locations.mappings.push(MappingId::NONE);
    locations.addresses.push(0);
    let mut start = 0;
    for (row, &end) in stacks.ends.iter().enumerate() {
        let stack = start..end as usize;
        start = stack.end;
        let frames = stacks.items.get_mut(stack).unwrap_or_default();
        for (at, frame) in frames.iter_mut().enumerate().filter(|(_, frame)| frame.0 == 0) {
            *frame = unknown;
            let message = "location 0, which stands for none, is a frame of the stack; it was read as a location of which nothing is known";
            let place = || place(Error::malformed(""), row, at).place();
            intake.note(losses::STACK_LOCATION_0, place, || message.to_owned());
        }
    }
}

/// Leaves out the frames that were repaired to none.
fn drop_frames(stacks: &mut Ragged<LocationId>) {
    if !stacks.items.contains(&LocationId::NONE) {
        return;
    }
    let mut kept = Ragged::default();
    for stack in stacks.rows() {
        kept.items.extend(stack.iter().filter(|id| id.some().is_some()));
        kept.end_row();
    }
    *stacks = kept;
}

fn set_first<T>(rows: &mut Vec<T>, empty: T) {
    match rows.first_mut() {
        Some(first) => *first = empty,
        None => rows.push(empty),
    }
}

/// Empties row 0, where it is set.
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
