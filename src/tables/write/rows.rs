//! Writer of the rows of the lookup tables, which each generation stores in a different message.
//!
//! ```text
//! Rows::NullFirst  (1.8 on)   row 0 is empty and always written     index = place
//! Rows::Presence   (1.4–1.7)  `optional`: 0 is a row, unset is omitted
//! Rows::FromZero   (1.3)      0 is a row or unset                   row 0 is written if index 0 would be ambiguous
//! ```
//!
//! The place of a row is 1 + its position among the written rows ([`RowSelection`](crate::tables::write::select::RowSelection)).
//! Its index is its place, or its place less one if the table is written without an empty row 0.

use std::iter;

use crate::model::dictionary::Line;
use crate::model::id::{AttributeId, LinkId, LocationId, StackId, StringId};
use crate::model::profile::{Profile, ValueType};
use crate::schema::{Generation, MessageType, NUMBERS, Role, Rows, Table};
use crate::tables::attributes::attributes_to_fields::is_profile_field;
use crate::tables::attributes::frame_types::FrameType;
use crate::tables::attributes::semantic_attributes::{self, AttributeRole};
use crate::tables::fields::{emit, number};
use crate::tables::write::tables::TableWriter;
use crate::wire::record::{Fields, field_codes, field_varint, record};
use crate::wire::write::{field_bytes, field_large, field_message, field_text};

/// The maximum size of a line of a location.
const LINE: usize = Fields::MESSAGE + Fields::INDEX + 2 * Fields::VARINT;

impl<G: Generation> TableWriter<'_, G> {
    /// Writes all tables of a message that contains only tables, in ascending order of fields.
    pub(crate) fn write_all(&self, out: &mut Vec<u8>, message: &MessageType) {
        let fields = (1..NUMBERS as u32).filter_map(|number| message.numbered(number, G::VERSION));
        for field in fields {
            if let Role::Row(table) = field.role {
                self.write(out, table);
            }
        }
    }

    /// Writes a table.
    pub(crate) fn write(&self, out: &mut Vec<u8>, table: Table) {
        let Self { dictionary, rows, .. } = self;
        let number = G::VERSION.table(table);
        match table {
            Table::Mapping => {
                self.row_0(out, number, self.mapping_row_0);
                self.mappings().for_each(|row| self.mapping(out, row));
            }
            Table::Location => {
                self.row_0(out, number, self.location_row_0);
                rows.locations.rows().for_each(|row| self.location(out, row));
            }
            Table::Function => {
                self.row_0(out, number, self.function_row_0);
                rows.functions.rows().for_each(|row| self.function(out, row));
            }
            Table::Link => {
                for row in self.link_row_0.then_some(0).into_iter().chain(rows.links.rows()) {
                    field_message(out, number, |out| self.link_row(out, row));
                }
            }
            Table::String => self.string_table(out),
            Table::Attribute => {
                let number = const { G::VERSION.table(Table::Attribute) };
                self.row_0(out, number, G::CAPABILITIES.rows == Rows::NullFirst);
                for row in rows.attributes.rows() {
                    field_message(out, number, |out| self.attribute(out, row));
                }
                for &name in &self.defaults {
                    field_message(out, number, |out| self.default_attribute(out, name));
                }
            }
            Table::AttributeUnit => {
                for (key, unit) in &self.units.rows {
                    field_message(out, number, |out| self.attribute_unit(out, *key, *unit));
                }
            }
            Table::Stack => {
                for row in iter::once(0).chain(rows.stacks.rows()) {
                    self.stack_row(out, dictionary.stacks.row(row));
                }
            }
            Table::Slice | Table::SampleType => {}
        }
    }

    fn string_table(&self, out: &mut Vec<u8>) {
        let number = const { G::VERSION.table(Table::String) };
        let strings = &self.dictionary.strings;
        let arena = strings.arena().as_bytes();
        for &id in self.strings.ids() {
            field_text(out, number, arena, strings.range(id).unwrap_or_default());
        }
        for text in self.strings.extra() {
            field_bytes(out, number, text.as_bytes());
        }
    }

    fn attribute_unit(&self, out: &mut Vec<u8>, key: StringId, unit: StringId) {
        emit!(ATTRIBUTE_UNIT in G; {
            "attribute_key_strindex" => |number| field_varint(out, number, self.string(key).into()),
            "unit_strindex" => |number| field_varint(out, number, self.string(unit).into()),
        });
    }

    fn stack_row(&self, out: &mut Vec<u8>, stack: &[LocationId]) {
        let number = const { G::VERSION.table(Table::Stack) };
        // The list has a tag and a length, which usually take up to three bytes.
        let expected = self.locations.expected(stack.len()) + 3;
        field_large(out, number, expected, |out| {
            let parts = (stack.len(), iter::once(stack));
            self.location_indices(out, number!(STACK "location_indices" in G::VERSION), parts);
        });
    }

    /// Writes the empty row 0, if the generation requires it or a reference of 0 needs it.
    ///
    /// It is an empty message: a tag and a length of 0.
    fn row_0(&self, out: &mut Vec<u8>, number: u32, written: bool) {
        if written {
            field_bytes(out, number, &[]);
        }
    }

    /// Returns the index of a string.
    #[inline]
    pub(crate) fn string(&self, id: StringId) -> u32 {
        self.strings.index(id)
    }

    /// Returns the difference between a row's place and its index.
    ///
    /// `row_0` is whether the empty row is written. If the generation always writes it, the difference is 0.
    #[inline]
    pub(super) fn below(row_0: bool) -> u32 {
        match G::CAPABILITIES.rows {
            Rows::NullFirst => 0,
            Rows::FromZero | Rows::Presence => u32::from(!row_0),
        }
    }

    /// Writes a reference to a mapping or a link, which may be unset.
    ///
    /// An index of 0 is omitted, as in proto3, except if the field is `optional`: there, omitting it would
    /// unset the reference.
    // Always inlined. Without any in the library, encoding 1.10 takes up to 25 % more instructions.
    #[inline(always)]
    fn reference(&self, fields: &mut Fields, number: u32, place: u32, row_0: bool) {
        // Place 0 is an unset reference and stays 0.
        let index = place.saturating_sub(Self::below(row_0));
        if index != 0 {
            fields.index(number, index);
        } else if G::CAPABILITIES.rows == Rows::Presence && place != 0 {
            fields.zero(number);
        }
    }

    /// Writes a sample's reference to its link.
    ///
    /// An unset link is an omitted field in every generation.
    #[inline(always)]
    pub(crate) fn link(&self, fields: &mut Fields, number: u32, id: LinkId) {
        if id != LinkId::NONE {
            self.reference(fields, number, self.rows.links.position(id.0), self.link_row_0);
        }
    }

    /// Writes indices of attributes.
    ///
    /// `unpacked` is for the compact layout: a single index takes a byte less without a length.
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

    /// Writes indices of locations.
    ///
    /// `parts` is their total number and the lists that contain them: one stack, or all slices of a profile.
    #[inline]
    pub(crate) fn location_indices<'s>(
        &self,
        out: &mut Vec<u8>,
        number: u32,
        parts: (usize, impl Iterator<Item = &'s [LocationId]>),
    ) {
        field_codes(out, number, parts, &self.locations, LocationId::row);
    }

    /// Returns the index of a stack.
    ///
    /// The stack table has had an empty row since its introduction, so a place is an index.
    #[inline]
    pub(crate) fn stack(&self, id: StackId) -> u32 {
        self.rows.stacks.position(id.0)
    }

    /// Writes a line of a location. Without a function, the reference is unset.
    ///
    /// Inlined, so that writing a location is one loop without calls.
    #[inline(always)]
    fn line(&self, fields: &mut Fields, line: &Line) {
        emit!(LINE in G; {
            "function_index" => |number| {
                fields.code(number, self.functions.get(line.function.row()));
            },
            "line" => |number| fields.varint(number, line.line as u64),
            "column" => |number| fields.varint(number, line.column as u64),
        });
    }

    /// Writes a location. Up to 1.7 some of its attributes are written as fields.
    ///
    /// Reserves an upper bound of the size of all fields once.
    fn location(&self, out: &mut Vec<u8>, row: usize) {
        let locations = &self.dictionary.locations;
        // All mappings are written, so the row is the place.
        let mapping = locations.mappings[row].0;
        let lines = locations.lines.row(row);
        let attributes = locations.attributes.row(row);
        // Two indices, of the mapping and the frame type; two varints, the address and `is_folded`.
        let capacity = 2 * Fields::INDEX
            + 2 * Fields::VARINT
            + LINE * lines.len()
            + Fields::MESSAGE
            + Fields::INDEX * attributes.len();
        record(out, const { G::VERSION.table(Table::Location) }, capacity, |fields| {
            emit!(LOCATION in G; {
                "mapping_index" => |number| {
                    self.reference(fields, number, mapping, self.mapping_row_0);
                },
                "address" => |number| fields.varint(number, locations.addresses[row]),
                "lines" => |number| for line in lines {
                    fields.message(number, |fields| self.line(fields, line));
                },
            });
            if !attributes.is_empty() {
                self.location_extras(fields, row);
            }
        });
    }

    /// Writes the fields of a location that represent attributes, and its remaining attributes.
    ///
    /// `is_folded` is a field up to 1.7, and the type is a field in 1.3; these are then not written as
    /// attributes.
    fn location_extras(&self, fields: &mut Fields, row: usize) {
        let attributes: Vec<AttributeId> = self.row_fields.location_attributes(row).collect();
        emit!(LOCATION in G; {
            "is_folded" => |number| fields.varint(number, self.row_fields.folded(row).into()),
            "type_index" => |number| match self.row_fields.frame_type(row) {
                Some((_, FrameType::Text(text))) => fields.code(number, self.strings.code(text)),
                Some((_, FrameType::Old(name))) => {
                    fields.index(number, self.strings.index_of(name));
                }
                None => {}
            },
            "attribute_indices" => |number| {
                self.attribute_indices(fields, number, &attributes, false);
            },
        });
    }

    /// Writes a function. A line of 0 is omitted, as in proto3.
    ///
    /// Writes no id in 1.3, where references are indices.
    fn function(&self, out: &mut Vec<u8>, row: usize) {
        let function = &self.dictionary.functions[row];
        let strings = &self.strings;
        let number = const { G::VERSION.table(Table::Function) };
        record(out, number, 4 * Fields::INDEX + Fields::VARINT, |fields| {
            emit!(FUNCTION in G; {
                "id" => |number| if G::CAPABILITIES.numbered_rows {
                    fields.index(number, self.rows.functions.position(row as u32));
                },
                "name_strindex" => |number| fields.code(number, strings.code(function.name)),
                "system_name_strindex" => |number| {
                    fields.code(number, strings.code(function.system_name));
                },
                "filename_strindex" => |number| fields.code(number, strings.code(function.filename)),
                "start_line" => |number| fields.varint(number, function.start_line as u64),
            });
        });
    }

    /// Writes a mapping.
    ///
    /// [`attributes_to_fields`](crate::tables::attributes::attributes_to_fields) finds the flags and the build id among the attributes.
    fn mapping(&self, out: &mut Vec<u8>, row: usize) {
        let mapping = &self.dictionary.mappings.rows[row];
        let attributes: Vec<AttributeId> = self.row_fields.mapping_attributes(row).collect();
        let flags = self.row_fields.mapping_flags(row);
        let flag = |bit: u32| u64::from(flags >> bit & 1);
        let build_id = self.row_fields.build_id(row);
        // Ten fields besides the attributes: six numbers and indices, and four flags.
        let capacity = 10 * Fields::VARINT + Fields::MESSAGE + Fields::INDEX * attributes.len();
        record(out, const { G::VERSION.table(Table::Mapping) }, capacity, |fields| {
            emit!(rare MAPPING in G; {
                "memory_start" => |number| fields.varint(number, mapping.memory_start),
                "memory_limit" => |number| fields.varint(number, mapping.memory_limit),
                "file_offset" => |number| fields.varint(number, mapping.file_offset),
                "filename_strindex" => |number| {
                    fields.code(number, self.strings.code(mapping.filename));
                },
                "build_id" => |number| if let Some((_, text, _)) = build_id {
                    fields.code(number, self.strings.code(text));
                },
                "has_functions" => |number| fields.varint(number, flag(0)),
                "has_filenames" => |number| fields.varint(number, flag(1)),
                "has_line_numbers" => |number| fields.varint(number, flag(2)),
                "has_inline_frames" => |number| fields.varint(number, flag(3)),
                "build_id_kind" => |number| {
                    fields.varint(number, build_id.map_or(0, |(_, _, kind)| kind));
                },
                "attribute_indices" => |number| {
                    self.attribute_indices(fields, number, &attributes, false);
                },
            });
        });
    }

    /// Writes a link. If the generation has an empty row 0, an empty link is an empty message.
    ///
    /// Up to 1.7 there is no empty row, so a link of zeros is written with zero ids.
    fn link_row(&self, out: &mut Vec<u8>, row: usize) {
        let link = &self.dictionary.links[row];
        if *link != Default::default() || G::CAPABILITIES.rows != Rows::NullFirst {
            emit!(LINK in G; {
                "trace_id" => |number| field_bytes(out, number, &link.trace_id),
                "span_id" => |number| field_bytes(out, number, &link.span_id),
            });
        }
    }

    /// Writes a sample type or a period type, with a temporality up to 1.8.
    ///
    /// Omits the temporality if the generation lacks it; the caller counts the loss.
    pub(crate) fn value_type(&self, out: &mut Vec<u8>, value_type: ValueType) {
        let temporality = value_type.temporality.map_or(0, |temporality| temporality.0);
        emit!(VALUE_TYPE in G; {
            "type_strindex" => |number| {
                field_varint(out, number, self.string(value_type.name).into());
            },
            "unit_strindex" => |number| {
                field_varint(out, number, self.string(value_type.unit).into());
            },
            "aggregation_temporality" => |number| field_varint(out, number, temporality as u64),
        });
    }

    /// Returns the rows of a profile's attributes, except those that fields represent.
    ///
    /// `default` is the name of the default sample type, if an attribute of this profile must represent it.
    pub(crate) fn profile_attribute_rows(&self, profile: &Profile, default: StringId) -> Vec<u64> {
        let below = Self::below(false);
        let default = self.default_rows.get(&default);
        // Defaults are rows after the others. Places count from 1, so subtracting `below` does not underflow.
        let default = default.map(|at| (self.rows.attributes.len() + 1 + at) as u32 - below);
        let ids = self.profile_attributes(profile);
        let places = ids.map(|id| self.rows.attributes.position(id.0).saturating_sub(below));
        places.chain(default).map(u64::from).collect()
    }

    /// Returns the attributes of a profile, except those that fields represent.
    pub(crate) fn profile_attributes(
        &self,
        profile: &Profile,
    ) -> impl Iterator<Item = AttributeId> {
        let ids = profile.attributes.iter().copied();
        ids.filter(|id| !is_profile_field::<G>(self.roles.get(*id)))
    }

    /// Returns the indices of the strings of a profile's attributes that a field represents.
    pub(crate) fn profile_texts(&self, profile: &Profile, role: AttributeRole) -> Vec<u64> {
        let ids = profile.attributes.iter().filter(|id| self.roles.get(**id) == role);
        let attributes = ids.filter_map(|id| self.dictionary.attribute(*id));
        let texts = attributes.flat_map(|attribute| semantic_attributes::texts(&attribute.value));
        texts.map(|id| self.string(id).into()).collect()
    }
}
