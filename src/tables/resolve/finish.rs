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
use crate::schema::{Generation, Rows};
use crate::tables::attributes::fields_to_attributes;
use crate::tables::read::string_interner::StringInterner;
use crate::tables::read::tables::Tables;
use crate::tables::resolve::targets::Targets;
use crate::tables::resolve::validate::{self, Target};
use crate::wire::varint::OVERSIZED_INDEX;

/// Tables with validated rows, including the attributes made of older generations' fields.
///
/// An intermediate state: validation of stacks may still add a row to `locations`.
pub(crate) struct ValidatedTables {
    /// Mappings with their attributes: those of the payload, then those made of fields.
    mappings: Mappings,
    functions: Vec<Function>,
    /// Locations, whose functions are rows of the model. `validate_stacks` may append one.
    locations: Locations,
}

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
    ) -> Result<ValidatedTables> {
        let mut mapping_fields = fields_to_attributes::mappings(self, targets, cx)?;
        let location_fields = fields_to_attributes::locations(self, cx)?;
        if all
            && G::CAPABILITIES.mapping_flags
            && self.mappings.len() > 1
            && let Some(unset) = fields_to_attributes::unset_flag(self, cx)?
        {
            let behind = mapping_fields.partition_point(|(row, _)| *row <= 1);
            mapping_fields.insert(behind, (1, unset));
        }
        let functions = self.validate_functions(targets, cx)?;
        let mappings = self.validate_mappings(targets, mapping_fields, cx)?;
        let locations = self.validate_locations(targets, location_fields, cx)?;
        Ok(ValidatedTables { mappings, functions, locations })
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
        validated: &mut ValidatedTables,
        targets: &Targets,
        place: impl Fn(Error, usize, usize) -> Error,
        cx: &mut ReadContext,
    ) -> Result<Ragged<LocationId>> {
        let mut stacks = validate::ragged_ids(std::mem::take(&mut self.stacks.rows));
        let holds = |most: u32| targets.location.holds_all(most);
        if !self.stacks.most.is_some_and(holds) {
            validate_stacks::<G>(
                &mut stacks,
                &mut validated.locations,
                targets.location,
                place,
                cx,
            )?;
        }
        Ok(stacks)
    }

    /// Validates the strings and assembles the dictionary.
    ///
    /// # Errors
    ///
    /// A string that is not UTF-8, unless the policy is to repair.
    pub(crate) fn finish(
        mut self,
        validated: ValidatedTables,
        stacks: Ragged<LocationId>,
        cx: &mut ReadContext,
    ) -> Result<Dictionary> {
        let ValidatedTables { mappings, functions, locations } = validated;
        let attributes = self.new_attributes.append_to(self.attributes);
        let strings = validate_texts(self.texts, cx)?;
        let links = self.links;
        Ok(Dictionary { strings, mappings, functions, locations, links, attributes, stacks })
    }

    /// Validates the functions.
    ///
    /// # Errors
    ///
    /// The first string past the string table, with its function and field.
    fn validate_functions(
        &mut self,
        targets: &Targets,
        cx: &mut ReadContext,
    ) -> Result<Vec<Function>> {
        let on_wire = |row: usize| targets.on_wire(targets.function, row);
        let mut functions = std::mem::take(&mut self.functions);
        for (row, function) in functions.iter_mut().enumerate() {
            let Function { name, system_name, filename, .. } = function;
            let fields = [
                (name, "name_strindex"),
                (system_name, "system_name_strindex"),
                (filename, "filename_strindex"),
            ];
            for (id, field) in fields {
                *id = validate::one(id.0, targets.strings, cx, field)
                    .map_err(|e| e.within_row("function_table", on_wire(row)))?;
            }
        }
        Ok(functions)
    }

    /// Validates the mappings. `from_fields` holds the attributes made of pprof's fields, sorted by row.
    ///
    /// File names are few and validated one by one; attributes are validated by column.
    ///
    /// # Errors
    ///
    /// A file name or an attribute past its table, with the mapping.
    fn validate_mappings(
        &mut self,
        targets: &Targets,
        from_fields: Vec<(u32, AttributeId)>,
        cx: &mut ReadContext,
    ) -> Result<Mappings> {
        let on_wire = |row: usize| targets.on_wire(targets.mapping, row);
        let mut rows = std::mem::take(&mut self.mappings);
        for (row, mapping) in rows.iter_mut().enumerate() {
            mapping.filename =
                validate::one(mapping.filename.0, targets.strings, cx, "filename_strindex")
                    .map_err(|e| e.within_row("mapping_table", on_wire(row)))?;
        }
        let mut from_wire: Ragged<AttributeId> =
            validate::ragged_ids(std::mem::take(&mut self.mapping_attributes));
        validate::attributes(&mut from_wire, targets.attributes, cx, |error, row, at| {
            error.element(at).within("attribute_indices").within_row("mapping_table", on_wire(row))
        })?;
        let place = |row: usize| format!("mapping_table[{}]", on_wire(row));
        let attributes = self.with_field_attributes(from_wire, rows.len(), from_fields, place, cx);
        Ok(Mappings { rows, attributes })
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
        let mut others = attributes.iter().filter_map(|other| self.attributes.get(other.row()));
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
    ) -> Result<Locations> {
        let on_wire = |row: usize| targets.on_wire(targets.location, row);
        let place = |error: Error, row: usize| error.within_row("location_table", on_wire(row));
        let mut mappings = validate::ids(std::mem::take(&mut self.location_mappings));
        validate::column(&mut mappings, targets.mapping, cx, |error, row| {
            place(error.within("mapping_index"), row)
        })?;
        let lines = self.validate_lines(targets, cx)?;
        let mut from_wire: Ragged<AttributeId> =
            validate::ragged_ids(std::mem::take(&mut self.location_attributes));
        validate::attributes(&mut from_wire, targets.attributes, cx, |error, row, at| {
            place(error.element(at).within("attribute_indices"), row)
        })?;
        let addresses = std::mem::take(&mut self.addresses);
        let place = |row: usize| format!("location_table[{}]", on_wire(row));
        let attributes =
            self.with_field_attributes(from_wire, addresses.len(), from_fields, place, cx);
        Ok(Locations { mappings, addresses, lines, attributes })
    }

    /// Validates the functions of lines. If the largest index is in range, all are.
    fn validate_lines(
        &mut self,
        targets: &Targets,
        cx: &mut ReadContext,
    ) -> Result<Ragged<crate::model::dictionary::Line>> {
        let mut lines = std::mem::take(&mut self.lines);
        lines.trim();
        let largest = lines.items.iter().map(|line| line.function.0).max().unwrap_or(0);
        if largest as usize >= targets.function.rows {
            for (at, line) in lines.items.iter_mut().enumerate() {
                let row = lines.ends.partition_point(|&end| end as usize <= at);
                let first = row.checked_sub(1).map_or(0, |row| lines.ends[row] as usize);
                let at_wire = targets.on_wire(targets.location, row);
                let place = [("location_table", at_wire), ("lines", at - first)];
                line.function = cx.inside(&place, |cx| {
                    validate::one(line.function.0, targets.function, cx, "function_index")
                })?;
            }
        }
        Ok(lines)
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
        target.rows += 1;
        name_location_0(stacks, locations, &place, cx);
    }
    validate::ragged(stacks, target, cx, place)?;
    drop_frames(stacks);
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

/// Drops the frames that repairs removed.
///
/// The stack keeps its other frames, so the caller and the callee of the dropped frame become neighbours.
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
