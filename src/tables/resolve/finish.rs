//! Validates the tables and builds the dictionary.
//!
//! All rows are read at this point. Tables are validated in the order of their references, and the attributes
//! that [`fields_to_attributes`] made of fields are appended to their rows.
//!
//! ```text
//! validated in this order   refers to
//! functions                 strings
//! mappings                  strings, attributes
//! locations                 mappings, attributes, functions (by their lines)
//! stacks                    locations
//! ```
//!
//! If the largest reference of a column is in range, a single pass over the column is enough. Otherwise, a
//! second pass finds the invalid row.

use crate::error::{Error, Result, Shown};
use crate::losses;
use crate::model::dictionary::{Attribute, Dictionary, Function, Locations, Mappings};
use crate::model::id::{AttributeId, LocationId, MappingId};
use crate::model::ragged::Ragged;
use crate::model::strings::Strings;
use crate::model::value::Value;
use crate::read_context::ReadContext;
use crate::schema::{Generation, Rows, Table};
use crate::tables::attributes::fields_to_attributes;
use crate::tables::read::string_interner::StringInterner;
use crate::tables::read::tables::Tables;
use crate::tables::resolve::targets::{Target, Targets};
use crate::tables::resolve::validate;
use crate::wire::varint::OVERSIZED_INDEX;

impl Tables {
    /// Validates the row tables, which are those of the payload if `all` is true, else of one profile.
    ///
    /// With `all`, it also adds the attribute that marks a pprof without flags; see [`fields_to_attributes::unset_flag`]. If
    /// profiles have their own tables, that happens after the last profile.
    ///
    /// # Errors
    ///
    /// The first reference past its table, unless the policy is to repair; the budget.
    pub(crate) fn validate_rows<G: Generation>(
        &mut self,
        targets: &Targets,
        all: bool,
        cx: &mut ReadContext,
    ) -> Result<()> {
        let mut mapping_fields = fields_to_attributes::mappings(self, targets, cx)?;
        let location_fields = fields_to_attributes::locations(self, cx)?;
        if all
            && G::CAPABILITIES.mapping_flags
            && self.dictionary.mappings.rows.len() > 1
            && let Some(unset) = fields_to_attributes::unset_flag(self, cx)?
        {
            // Only mapping 1 gets the attribute. Inserted after its other attributes, so that the list stays sorted
            // by row.
            let behind = mapping_fields.partition_point(|(row, _)| *row <= 1);
            mapping_fields.insert(behind, (1, unset));
        }
        self.validate_functions(targets, cx)?;
        self.validate_mappings(targets, mapping_fields, cx)?;
        self.validate_locations(targets, location_fields, cx)
    }

    /// Validates the stacks. `place` adds the place of a location in a stack to an error.
    ///
    /// Usually there is no work: the largest index seen while decoding is in range.
    ///
    /// # Errors
    ///
    /// The first frame past the location table, unless the policy is to repair.
    pub(crate) fn validate_stacks<G: Generation>(
        &mut self,
        targets: &Targets,
        place: impl Fn(Error, usize, usize) -> Error,
        cx: &mut ReadContext,
    ) -> Result<()> {
        let Ragged { items, ends } = std::mem::take(&mut self.stacks.rows);
        let mut stacks = Ragged { items: items.into_iter().map(LocationId).collect(), ends };
        let target = targets.of_rows(Table::Location);
        // `Stacks` added `own` to each index while decoding, so an omitted index is `own`.
        let target = Target { none: target.own, ..target };
        let locations = &mut self.dictionary.locations;
        if !self.stacks.most.is_some_and(|most| target.holds_all(most)) {
            validate_stacks::<G>(&mut stacks, locations, target, place, cx)?;
        }
        self.dictionary.stacks = stacks;
        Ok(())
    }

    /// Validates the strings and assembles the dictionary.
    ///
    /// # Errors
    ///
    /// A string that is not UTF-8, unless the policy is to repair.
    pub(crate) fn finish(mut self, cx: &mut ReadContext) -> Result<Dictionary> {
        let mut dictionary = self.dictionary;
        dictionary.attributes = self.new_attributes.append_to(dictionary.attributes);
        dictionary.strings = validate_texts(self.texts, cx)?;
        Ok(dictionary)
    }

    /// Validates the functions.
    ///
    /// # Errors
    ///
    /// The first string past the string table, with its function and field.
    fn validate_functions(&mut self, targets: &Targets, cx: &mut ReadContext) -> Result<()> {
        let strings = targets.of_rows(Table::String);
        for (row, function) in self.dictionary.functions.iter_mut().enumerate() {
            let Function { name, system_name, filename, .. } = function;
            let fields = [
                (name, "name_strindex"),
                (system_name, "system_name_strindex"),
                (filename, "filename_strindex"),
            ];
            for (id, field) in fields {
                validate::one(id, strings, cx, field).map_err(|e| {
                    e.within_row("function_table", targets.on_wire(Table::Function, row))
                })?;
            }
        }
        Ok(())
    }

    /// Validates the mappings. `from_fields` holds the attributes made of pprof's fields, sorted by row.
    ///
    /// # Errors
    ///
    /// A file name or an attribute past its table, with the mapping.
    fn validate_mappings(
        &mut self,
        targets: &Targets,
        from_fields: Vec<(u32, AttributeId)>,
        cx: &mut ReadContext,
    ) -> Result<()> {
        let on_wire = |row: usize| targets.on_wire(Table::Mapping, row);
        let strings = targets.of_rows(Table::String);
        let Mappings { rows, attributes } = &mut self.dictionary.mappings;
        for (row, mapping) in rows.iter_mut().enumerate() {
            validate::one(&mut mapping.filename, strings, cx, "filename_strindex")
                .map_err(|e| e.within_row("mapping_table", on_wire(row)))?;
        }
        validate::attributes(attributes, targets.of(Table::Attribute), cx, |error, row, at| {
            error.element(at).within("attribute_indices").within_row("mapping_table", on_wire(row))
        })?;
        let (from_wire, rows) = (std::mem::take(attributes), rows.len());
        let place = |row: usize| format!("mapping_table[{}]", on_wire(row));
        self.dictionary.mappings.attributes =
            self.with_field_attributes(from_wire, rows, from_fields, place, cx);
        Ok(())
    }

    /// Merges the attributes of a table's rows with those made of fields, which are sorted by row. An
    /// attribute with the same key wins over a field. Rebuilds the lists only if there are attributes made of
    /// fields.
    fn with_field_attributes(
        &self,
        from_wire: Ragged<AttributeId>,
        rows: usize,
        from_fields: Vec<(u32, AttributeId)>,
        place: impl Fn(usize) -> String,
        cx: &mut ReadContext,
    ) -> Ragged<AttributeId> {
        if from_fields.is_empty() {
            return from_wire;
        }
        let mut attributes = Ragged::default();
        attributes.items.reserve(from_wire.items.len() + from_fields.len());
        let mut from_fields = from_fields.into_iter().peekable();
        for row in 0..rows {
            attributes.items.extend_from_slice(from_wire.row(row));
            while let Some((_, id)) = from_fields.next_if(|&(at, _)| at as usize == row) {
                match self.of_same_key(from_wire.row(row), id) {
                    None => attributes.items.push(id),
                    Some(both) if self.is_same(both) => {}
                    Some([_, other]) => {
                        let key = self.texts.raw.get(other.key.row()).unwrap_or_default();
                        let message = || format!("the attribute {} has another value", Shown(key));
                        cx.note(losses::FIELD_CONFLICT, || place(row), message);
                    }
                }
            }
            attributes.end_row_at(row);
        }
        attributes
    }

    /// Returns the new attribute `id` together with the existing attribute that has the same key, if there is
    /// one. Compares keys as strings, because the string table may contain duplicates.
    fn of_same_key(&self, attributes: &[AttributeId], id: AttributeId) -> Option<[&Attribute; 2]> {
        let new = self.new_attributes.get(id.0)?;
        let text = |attribute: &Attribute| self.texts.raw.get(attribute.key.row());
        let mut others =
            attributes.iter().filter_map(|other| self.dictionary.attributes.get(other.row()));
        others.find(|other| text(other) == text(new)).map(|other| [new, other])
    }

    /// Returns whether two attributes have the same value. Compares strings by contents.
    fn is_same(&self, [one, other]: [&Attribute; 2]) -> bool {
        match (&one.value, &other.value) {
            (Value::String(one), Value::String(other)) => {
                self.texts.raw.get(one.row()) == self.texts.raw.get(other.row())
            }
            (one, other) => one == other,
        }
    }

    /// Validates the locations. `from_fields` holds the attributes made of pprof's fields, sorted by row.
    ///
    /// Validates three columns, each against its table: mappings, functions of lines, attributes. Addresses
    /// need no validation.
    ///
    /// # Errors
    ///
    /// A mapping, a function or an attribute past its table, with the location.
    fn validate_locations(
        &mut self,
        targets: &Targets,
        from_fields: Vec<(u32, AttributeId)>,
        cx: &mut ReadContext,
    ) -> Result<()> {
        let on_wire = |row: usize| targets.on_wire(Table::Location, row);
        let place = |error: Error, row: usize| error.within_row("location_table", on_wire(row));
        let Locations { mappings, lines, attributes, .. } = &mut self.dictionary.locations;
        validate::column(mappings, targets.of_rows(Table::Mapping), cx, |error, row| {
            place(error.within("mapping_index"), row)
        })?;
        // `Tables::reserve` estimated their number.
        lines.trim();
        validate::ragged(lines, targets.of(Table::Function), cx, |error, row, at| {
            place(error.within("function_index").within_row("lines", at), row)
        })?;
        validate::attributes(attributes, targets.of(Table::Attribute), cx, |error, row, at| {
            place(error.element(at).within("attribute_indices"), row)
        })?;
        let (from_wire, rows) = (std::mem::take(attributes), mappings.len());
        let place = |row: usize| format!("location_table[{}]", on_wire(row));
        self.dictionary.locations.attributes =
            self.with_field_attributes(from_wire, rows, from_fields, place, cx);
        Ok(())
    }
}

/// Validates that all strings are UTF-8, as
/// [protobuf](https://protobuf.dev/programming-guides/proto3/#scalar) requires of `string` fields.
///
/// pprof's strings need not be UTF-8: they use the same arena, with invalid bytes stored separately. Returns
/// one error, or one finding for the first invalid string, whatever their number.
pub(crate) fn validate_texts(texts: StringInterner, cx: &mut ReadContext) -> Result<Strings> {
    let (rows, own) = (texts.table_rows as usize, texts.own as usize);
    let strings = texts.raw.validate(false, &mut cx.budget)?;
    if let Some((id, bytes)) = strings.not_utf8().next() {
        let error = Error::malformed(format!("{} is not UTF-8", Shown(bytes)));
        let in_table = id.row() < rows;
        // String 0 of a repair is empty and thus valid, so this does not underflow.
        let error = if in_table { error.within_row("string_table", id.row() - own) } else { error };
        cx.repair(losses::INVALID_UTF8, error)?;
    }
    Ok(strings)
}

/// Validates stacks with locations that may be out of range.
///
/// Converts invalid indices back to their values in the payload, because a finding must name these.
#[cold]
fn validate_stacks<G: Generation>(
    stacks: &mut Ragged<LocationId>,
    locations: &mut Locations,
    mut target: Target,
    place: impl Fn(Error, usize, usize) -> Error,
    cx: &mut ReadContext,
) -> Result<()> {
    for location in &mut stacks.items {
        let read = location.0.wrapping_sub(target.own);
        location.0 = if read < OVERSIZED_INDEX { location.0 } else { read };
    }
    if G::CAPABILITIES.rows == Rows::NullFirst && stacks.items.contains(&LocationId::NONE) {
        // For the row that `name_location_0` appends.
        target.rows += 1;
        name_location_0(stacks, locations, &place, cx);
    }
    validate::ragged(stacks, target, cx, place)?;
    // A caller and a callee of a removed frame become neighbours.
    if stacks.items.contains(&LocationId::NONE) {
        stacks.retain(|frame| frame.some().is_some());
    }
    Ok(())
}

/// Replaces frames that refer to row 0, which means no location, by a location without data. Other
/// generations cannot mistake a separate row for something else.
///
/// All such frames share one row, added only if needed. Each is reported with its stack.
fn name_location_0(
    stacks: &mut Ragged<LocationId>,
    locations: &mut Locations,
    place: impl Fn(Error, usize, usize) -> Error,
    cx: &mut ReadContext,
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
            let message = "the stack refers to location 0, which means no location: the frame was read as an unknown location";
            let place = || place(Error::malformed(""), row, at).place();
            cx.note(losses::STACK_LOCATION_0, place, || message.to_owned());
        }
    }
}
