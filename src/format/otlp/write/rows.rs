//! Writing the rows of the lookup tables, wherever a generation keeps them.
//!
//! ```text
//! Rows::NullFirst  (1.8 on)   row 0 is empty and always written     index = place
//! Rows::Presence   (1.4–1.7)  `optional`: 0 is a row, none is left out
//! Rows::FromZero   (1.3)      0 is a row, and none looks like it    row 0 is written where it would mislead
//! ```
//!
//! A row's place is 1 + its position among those that are written
//! ([`Select`](crate::format::select::Select)), so an index is its place, less one where the table
//! has no empty row before it.

use std::iter;

use crate::format::known::{self, Known};
use crate::format::otlp::schema::{Generation, Rows};
use crate::format::otlp::write::frame_types::FrameType;
use crate::format::otlp::write::lower::is_profile_field;
use crate::format::otlp::write::tables::TableWriter;
use crate::model::dictionary::Line;
use crate::model::id::{AttributeId, LinkId, LocationId, StackId, StringId};
use crate::model::profile::{Profile, ValueType};
use crate::wire::record::{Fields, field_codes, field_varint, field_varints, record};
use crate::wire::write::{field_bytes, field_large, field_message, field_text};

/// What a line of a location may take.
const LINE: usize = Fields::MESSAGE + Fields::INDEX + 2 * Fields::VARINT;

impl<G: Generation> TableWriter<'_, G> {
    /// All tables, in ascending order.
    ///
    /// 18 is the largest number that a table has in any generation, 1.3's links.
    pub(crate) fn write_all(&self, out: &mut Vec<u8>) {
        (1..=18).for_each(|number| self.write(out, number));
    }

    /// The table of field `number`, if there is one.
    ///
    /// Called for every number in turn; the comparisons are of constants, so of each call one
    /// branch is left. Nothing is written where the generation has no table of this number.
    pub(crate) fn write(&self, out: &mut Vec<u8>, number: u32) {
        let tables = const { &G::SCHEMA.tables };
        let Self { dictionary, rows, .. } = self;
        if number == 0 {
        } else if number == tables.mapping {
            self.row_0(out, number, self.mapping_row_0);
            self.mappings().for_each(|row| self.mapping(out, row));
        } else if number == tables.location {
            self.row_0(out, number, self.location_row_0);
            rows.locations.rows().for_each(|row| self.location(out, row));
        } else if number == tables.function {
            self.row_0(out, number, self.function_row_0);
            rows.functions.rows().for_each(|row| self.function(out, row));
        } else if number == tables.link {
            if self.link_row_0 {
                field_message(out, number, |out| self.link_row(out, 0));
            }
            for row in rows.links.rows() {
                field_message(out, number, |out| self.link_row(out, row));
            }
        } else if number == tables.string {
            let arena = dictionary.strings.arena().as_bytes();
            for &id in self.strings.ids() {
                let part = dictionary.strings.range(id).unwrap_or_default();
                field_text(out, number, arena, part);
            }
            for text in self.own_texts.made() {
                field_bytes(out, number, text.as_bytes());
            }
        } else if number == tables.attribute {
            self.row_0(out, number, G::SCHEMA.rows == Rows::NullFirst);
            for row in rows.attributes.rows() {
                field_message(out, number, |out| self.attribute(out, row));
            }
            for &name in &self.defaults {
                field_message(out, number, |out| self.default_attribute(out, name));
            }
        } else if number == tables.attribute_units {
            for (key, unit) in &self.units.rows {
                let numbers = const { &G::SCHEMA.attribute_unit };
                field_message(out, number, |out| {
                    field_varint(out, numbers.key, self.string(*key).into());
                    field_varint(out, numbers.unit, self.string(*unit).into());
                });
            }
        } else if number == tables.stack {
            for row in iter::once(0).chain(rows.stacks.rows()) {
                let stack = dictionary.stacks.row(row);
                let expected = self.locations.expected(stack.len()) + 3;
                field_large(out, number, expected, |out| {
                    let parts = (stack.len(), iter::once(stack));
                    self.location_indices(out, G::SCHEMA.stack.locations, parts);
                });
            }
        }
    }

    /// The empty row before the others, where the generation has it or a reference of 0 needs it.
    ///
    /// An empty message: a tag and a length of 0.
    fn row_0(&self, out: &mut Vec<u8>, number: u32, written: bool) {
        if written {
            field_bytes(out, number, &[]);
        }
    }

    /// The index of a string.
    #[inline]
    pub(crate) fn string(&self, id: StringId) -> u32 {
        self.strings.index(id)
    }

    /// What is taken off a row's place to make its index.
    ///
    /// `row_0` is whether the empty row is written; where it always is, nothing is taken off.
    #[inline]
    pub(super) fn below(row_0: bool) -> u32 {
        match G::SCHEMA.rows {
            Rows::NullFirst => 0,
            Rows::FromZero | Rows::Presence => u32::from(!row_0),
        }
    }

    /// A reference to a mapping or a link, which may be to none.
    ///
    /// An index of 0 is not written, as proto3 has it, but where the field is `optional`: there it
    /// would otherwise say that there is none.
    #[inline(always)]
    fn reference(&self, fields: &mut Fields, number: u32, place: u32, row_0: bool) {
        let index = place.saturating_sub(Self::below(row_0));
        if index != 0 {
            fields.index(number, index);
        } else if G::SCHEMA.rows == Rows::Presence && place != 0 {
            fields.zero(number);
        }
    }

    /// A sample's reference to its link.
    ///
    /// None is a field that is left out, in every generation.
    #[inline(always)]
    pub(crate) fn link(&self, fields: &mut Fields, id: LinkId) {
        if id != LinkId::NONE {
            let place = self.rows.links.place(id.0);
            self.reference(fields, G::SCHEMA.sample.link, place, self.link_row_0);
        }
    }

    /// Indices of attributes.
    ///
    /// `unpacked` is for the compact layout: one index alone takes a byte less without a length
    /// before it.
    #[inline(always)]
    pub(crate) fn attribute_indices(
        &self,
        fields: &mut Fields,
        number: u32,
        ids: &[AttributeId],
        unpacked: bool,
    ) {
        match ids {
            [id] if unpacked => fields.lone_code(number, self.attributes.get(id.row())),
            ids => fields.codes(number, ids.iter().map(|id| self.attributes.get(id.row()))),
        }
    }

    /// Indices of locations.
    ///
    /// `parts` is how many there are in all, and the lists they come in: one stack, or all slices
    /// of a profile.
    #[inline]
    pub(crate) fn location_indices<'s>(
        &self,
        out: &mut Vec<u8>,
        number: u32,
        parts: (usize, impl Iterator<Item = &'s [LocationId]>),
    ) {
        field_codes(out, number, parts, &self.locations, LocationId::row);
    }

    /// The index of a stack.
    ///
    /// The stack table has its empty row since it exists, so a place is an index.
    #[inline]
    pub(crate) fn stack(&self, id: StackId) -> u32 {
        self.rows.stacks.place(id.0)
    }

    /// A line within a location; one without a function refers to none.
    ///
    /// Inlined: writing a location is one loop without calls.
    #[inline(always)]
    fn line(&self, fields: &mut Fields, line: &Line) {
        let numbers = const { &G::SCHEMA.line };
        fields.message(G::SCHEMA.location.lines, |fields| {
            fields.code(numbers.function, self.functions.get(line.function.row()));
            fields.varint(numbers.line, line.line as u64);
            fields.varint(numbers.column, line.column as u64);
        });
    }

    /// A location. Up to 1.7 attributes that stand for fields are said in these.
    ///
    /// The room is a bound of all its fields, asked for once.
    fn location(&self, out: &mut Vec<u8>, row: usize) {
        let numbers = const { &G::SCHEMA.location };
        let locations = &self.dictionary.locations;
        let mapping = locations.mappings[row].0;
        let lines = locations.lines.row(row);
        let attributes = locations.attributes.row(row);
        let room = 2 * Fields::INDEX
            + 2 * Fields::VARINT
            + LINE * lines.len()
            + Fields::MESSAGE
            + Fields::INDEX * attributes.len();
        record(out, G::SCHEMA.tables.location, room, |fields| {
            self.reference(fields, numbers.mapping, mapping, self.mapping_row_0);
            fields.varint(numbers.address, locations.addresses[row]);
            lines.iter().for_each(|line| self.line(fields, line));
            if !attributes.is_empty() {
                self.said_of_location(fields, row);
            }
        });
    }

    /// The fields of a location that its attributes are said in.
    ///
    /// `is_folded` is a field up to 1.7 and the type a field in 1.3; what is said so is no
    /// attribute there.
    fn said_of_location(&self, fields: &mut Fields, row: usize) {
        let numbers = const { &G::SCHEMA.location };
        if numbers.is_folded != 0 && self.lower.folded(row) {
            fields.varint(numbers.is_folded, 1);
        }
        match self.lower.frame_type(row) {
            Some((_, FrameType::Text(text))) => {
                fields.code(numbers.frame_type, self.strings.code(text));
            }
            Some((_, FrameType::Old(name))) => {
                fields.index(numbers.frame_type, self.own_texts.index(name, &self.strings));
            }
            None => {}
        }
        let attributes: Vec<AttributeId> = self.lower.location_attributes(row).collect();
        self.attribute_indices(fields, numbers.attributes, &attributes, false);
    }

    /// A function. Lines that are left out are 0, as proto3 has it.
    ///
    /// Without an id: 1.3 has a field for it, which nothing refers to.
    fn function(&self, out: &mut Vec<u8>, row: usize) {
        let numbers = const { &G::SCHEMA.function };
        let function = &self.dictionary.functions[row];
        let strings = &self.strings;
        record(out, G::SCHEMA.tables.function, 3 * Fields::INDEX + Fields::VARINT, |fields| {
            fields.code(numbers.name, strings.code(function.name));
            fields.code(numbers.system_name, strings.code(function.system_name));
            fields.code(numbers.filename, strings.code(function.filename));
            fields.varint(numbers.start_line, function.start_line as u64);
        });
    }

    /// A mapping. In 1.3 its attributes have a number behind the flags, in 1.4 to 1.7 one before them: the fields are
    /// written in ascending order in both.
    ///
    /// Flags and the build id are what [`lower`](super::lower) found among the attributes.
    fn mapping(&self, out: &mut Vec<u8>, row: usize) {
        let numbers = const { &G::SCHEMA.mapping };
        let mapping = &self.dictionary.mappings.rows[row];
        let attributes: Vec<AttributeId> = self.lower.mapping_attributes(row).collect();
        let flags = self.lower.mapping_flags(row);
        let build_id = self.lower.build_id(row);
        let room = 10 * Fields::VARINT + Fields::MESSAGE + Fields::INDEX * attributes.len();
        record(out, G::SCHEMA.tables.mapping, room, |fields| {
            fields.varint(numbers.memory_start, mapping.memory_start);
            fields.varint(numbers.memory_limit, mapping.memory_limit);
            fields.varint(numbers.file_offset, mapping.file_offset);
            fields.code(numbers.filename, self.strings.code(mapping.filename));
            if numbers.attributes < numbers.has_functions || numbers.has_functions == 0 {
                self.attribute_indices(fields, numbers.attributes, &attributes, false);
            }
            if let Some((_, text, _)) = build_id {
                fields.code(numbers.build_id, self.strings.code(text));
            }
            if numbers.has_functions != 0 {
                (0..4)
                    .filter(|bit| flags & 1 << bit != 0)
                    .for_each(|bit| fields.varint(numbers.has_functions + bit, 1));
            }
            if let Some((_, _, kind)) = build_id {
                fields.varint(numbers.build_id_kind, kind);
            }
            if numbers.has_functions != 0 && numbers.attributes > numbers.has_functions {
                self.attribute_indices(fields, numbers.attributes, &attributes, false);
            }
        });
    }

    /// A link; one of nothing is empty only where the empty row is.
    ///
    /// Up to 1.7 there is no empty row, so a link of zeros is written with its zeros.
    fn link_row(&self, out: &mut Vec<u8>, row: usize) {
        let link = &self.dictionary.links[row];
        if *link != Default::default() || G::SCHEMA.rows != Rows::NullFirst {
            field_bytes(out, G::SCHEMA.link.trace_id, &link.trace_id);
            field_bytes(out, G::SCHEMA.link.span_id, &link.span_id);
        }
    }

    /// A sample type or a period type, with a temporality up to 1.8.
    ///
    /// A temporality of the model that the generation lacks is left out; the caller counts it.
    pub(crate) fn value_type(&self, out: &mut Vec<u8>, value_type: ValueType) {
        let numbers = const { &G::SCHEMA.value_type };
        field_varint(out, numbers.name, self.string(value_type.name).into());
        field_varint(out, numbers.unit, self.string(value_type.unit).into());
        let temporality = value_type.temporality.map_or(0, |temporality| temporality.0);
        field_varint(out, numbers.temporality, temporality as u64);
    }

    /// The fields a profile's attributes are said in.
    ///
    /// Called for every number of a profile, and writes what the field of that number says: indices
    /// (since 1.5), attributes in place (1.4), comments (up to 1.8) and filters (1.3).
    ///
    /// `default` is the name of the default sample type, where this profile has to say it by an
    /// attribute.
    pub(crate) fn profile_attributes(
        &self,
        out: &mut Vec<u8>,
        number: u32,
        profile: &Profile,
        default: StringId,
    ) {
        let fields = const { &G::SCHEMA.profile };
        let attributes = || profile.attributes.iter().copied();
        if number == fields.attribute_indices {
            let kept: Vec<AttributeId> =
                attributes().filter(|id| !is_profile_field::<G>(self.known.get(*id))).collect();
            let below = Self::below(false);
            let default = self.default_rows.get(&default);
            let default = default.map(|at| (self.rows.attributes.len() + 1 + at) as u32 - below);
            let places =
                kept.iter().map(|id| self.rows.attributes.place(id.0).saturating_sub(below));
            let places: Vec<u32> = places.chain(default).collect();
            field_varints(out, number, places.into_iter().map(u64::from));
        } else if number == fields.attributes {
            for id in attributes().filter(|id| !is_profile_field::<G>(self.known.get(*id))) {
                if let Some(attribute) = self.dictionary.attribute(id) {
                    field_message(out, number, |out| self.attribute_in_place(out, id, attribute));
                }
            }
        }
        for (field, wanted) in [
            (fields.comment, Known::Comments),
            (fields.drop_frames, Known::DropFrames),
            (fields.keep_frames, Known::KeepFrames),
        ] {
            if number == field {
                let of = attributes()
                    .filter(|id| self.known.get(*id) == wanted)
                    .filter_map(|id| self.dictionary.attribute(id));
                let texts: Vec<u32> = of
                    .flat_map(|attribute| known::texts(&attribute.value))
                    .map(|id| self.string(id))
                    .collect();
                if wanted == Known::Comments {
                    field_varints(out, number, texts.into_iter().map(u64::from));
                } else {
                    texts.into_iter().for_each(|index| field_varint(out, number, index.into()));
                }
            }
        }
    }
}
