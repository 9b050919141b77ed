//! Writer of the rows of tables, in which row 0 is an ordinary row.
//!
//! ```text
//! position          0     1        2          1 + position among the written rows, 0 is unset
//! index            –     0        1          strings, stacks and, if needed, mappings and functions
//!                  0     1        2          have an empty row first, so that index and place are equal
//! ```
//!
//! Attributes that become fields here are read back as the same attributes in `rows`.

use super::select::{Selected, is_field};
use super::values::write_pair;
use crate::model::dictionary::{Line, Link};
use crate::model::id::{AttributeId, FunctionId, LocationId, MappingId, StringId};
use crate::model::value::Value;
use crate::schema::{Events, Generation};
use crate::tables::attributes::semantic_attributes::{AttributeRole, BuildId};
use crate::tables::fields::{emit, number};
use crate::wire::record::{field_varint, field_varints};
use crate::wire::write::{field_bytes, field_message};

impl Selected<'_> {
    /// Writes all tables, in the order of their fields.
    ///
    /// The empty row of stacks and strings is always written, because events and fields reference it by 0.
    pub(super) fn write_tables(&self, out: &mut Vec<u8>) {
        let dictionary = self.dictionary;
        let (mapping_row_0, function_row_0) = (self.has_mapping_row_0(), self.has_function_row_0());
        emit!(PROFILE in Events; {
            "stack_table" => |number| {
                // The first stack is that of events without a stack.
                field_bytes(out, number, &[]);
                for row in self.stacks.rows() {
                    field_message(out, number, |out| self.stack(out, dictionary.stacks.row(row)));
                }
            },
            "location_table" => |number| for row in self.locations.rows() {
                field_message(out, number, |out| {
                    self.location(out, row, mapping_row_0, function_row_0);
                });
            },
            "function_table" => |number| {
                if function_row_0 {
                    field_bytes(out, number, &[]);
                }
                for row in self.functions.rows() {
                    field_message(out, number, |out| self.function(out, row));
                }
            },
            "mapping_table" => |number| {
                if mapping_row_0 {
                    field_bytes(out, number, &[]);
                }
                for row in self.mappings.rows() {
                    field_message(out, number, |out| self.mapping(out, row));
                }
            },
            "attribute_table" => |number| for row in self.attributes.rows() {
                let Some(attribute) = dictionary.attributes.get(row) else { continue };
                field_message(out, number, |out| {
                    let pair = (attribute.key, &attribute.value);
                    write_pair(out, pair, dictionary, &|text| self.string(text));
                });
            },
            "link_table" => |number| for row in self.links.rows() {
                let link = dictionary.links.get(row).copied().unwrap_or_default();
                field_message(out, number, |out| self.link(out, &link));
            },
            "string_table" => |number| self.strings(out, number),
        });
    }

    fn stack(&self, out: &mut Vec<u8>, locations: &[LocationId]) {
        let rows = locations.iter().map(|id| u64::from(index(self.locations.position(id.0))));
        field_varints(out, number!(STACK "location_indices" in Events::VERSION), rows);
    }

    fn link(&self, out: &mut Vec<u8>, link: &Link) {
        emit!(LINK in Events; {
            "trace_id" => |number| field_bytes(out, number, &link.trace_id),
            "span_id" => |number| field_bytes(out, number, &link.span_id),
        });
    }

    /// Writes the strings: the empty one, those that are reached, then new ones, such as names of types.
    ///
    /// In the order of the indices of [`Selected::string`] and [`Selected::names`].
    fn strings(&self, out: &mut Vec<u8>, number: u32) {
        field_bytes(out, number, &[]);
        for row in self.strings.rows() {
            field_bytes(out, number, self.dictionary.text(StringId(row as u32)).as_bytes());
        }
        self.made.iter().for_each(|text| field_bytes(out, number, text.as_bytes()));
    }

    /// Returns whether the table begins with an empty mapping, so that index 0 means no mapping.
    fn has_mapping_row_0(&self) -> bool {
        self.mappings.len() > 0
    }

    /// Returns whether the table begins with an empty function. Without it, index 0 of a line without a
    /// function would refer to the first function.
    fn has_function_row_0(&self) -> bool {
        let lines = &self.dictionary.locations.lines;
        let has_none =
            |row: usize| lines.row(row).iter().any(|line| line.function == FunctionId::NONE);
        self.functions.len() > 0 && self.locations.rows().any(has_none)
    }

    /// Writes a location. If a table has no empty first row, indices are one less than places.
    ///
    /// Fields are in ascending order.
    fn location(&self, out: &mut Vec<u8>, row: usize, mapping_row_0: bool, function_row_0: bool) {
        let locations = &self.dictionary.locations;
        let mapping = locations.mappings.get(row).copied().unwrap_or_default();
        let place = self.mappings.position(mapping.0);
        let mapping =
            if mapping == MappingId::NONE || mapping_row_0 { place } else { index(place) };
        let address = locations.addresses.get(row).copied().unwrap_or_default();
        let attributes = locations.attributes.row(row);
        emit!(LOCATION in Events; {
            "mapping_index" => |number| field_varint(out, number, mapping.into()),
            "address" => |number| field_varint(out, number, address),
            "lines" => |number| for line in locations.lines.row(row) {
                field_message(out, number, |out| self.line(out, line, function_row_0));
            },
            "is_folded" => |number| {
                let is_folded = self.fields(attributes).any(|(role, _)| role == AttributeRole::Folded);
                field_varint(out, number, is_folded.into());
            },
            "type_index" => |number| for (role, value) in self.fields(attributes) {
                if let (AttributeRole::FrameType, Value::String(text)) = (role, value) {
                    field_varint(out, number, self.string(*text).into());
                }
            },
            "attribute_indices" => |number| self.indices(out, number, attributes),
        });
    }

    fn line(&self, out: &mut Vec<u8>, line: &Line, function_row_0: bool) {
        let place = self.functions.position(line.function.0);
        let function = if function_row_0 { place } else { index(place) };
        emit!(LINE in Events; {
            "function_index" => |number| field_varint(out, number, function.into()),
            "line" => |number| field_varint(out, number, line.line as u64),
            "column" => |number| field_varint(out, number, line.column as u64),
        });
    }

    /// Returns the attributes of a mapping or a location that become fields.
    ///
    /// `roles` decides instead of the key, so an attribute whose value does not fit the field stays an
    /// attribute.
    fn fields<'s>(
        &'s self,
        attributes: &'s [AttributeId],
    ) -> impl Iterator<Item = (AttributeRole, &'s Value)> {
        let classified = attributes.iter().map(|id| (self.roles.get(*id), id));
        classified.filter(|(role, _)| is_field(*role)).filter_map(|(role, id)| {
            self.dictionary.attribute(*id).map(|attribute| (role, &attribute.value))
        })
    }

    /// Writes the rows of the attributes that stay attributes.
    ///
    /// Omits an empty list, which would take two bytes.
    fn indices(&self, out: &mut Vec<u8>, number: u32, attributes: &[AttributeId]) {
        let rows = attributes.iter().filter(|id| !is_field(self.roles.get(**id)));
        let rows: Vec<u64> = rows.map(|id| index(self.attributes.position(id.0)).into()).collect();
        if !rows.is_empty() {
            field_varints(out, number, rows.into_iter());
        }
    }

    /// Writes a function. Its `id` is its number from 1, as in pprof; readers use rows and ignore it.
    fn function(&self, out: &mut Vec<u8>, row: usize) {
        let function = self.dictionary.functions.get(row).copied().unwrap_or_default();
        let string = |text| u64::from(self.string(text));
        let id = u64::from(self.functions.position(row as u32));
        emit!(FUNCTION in Events; {
            "id" => |number| field_varint(out, number, id),
            "name_strindex" => |number| field_varint(out, number, string(function.name)),
            "system_name_strindex" => |number| {
                field_varint(out, number, string(function.system_name));
            },
            "filename_strindex" => |number| {
                field_varint(out, number, string(function.filename));
            },
            "start_line" => |number| field_varint(out, number, function.start_line as u64),
        });
    }

    /// Writes a mapping, with its build id and its four flags as fields.
    ///
    /// `FLAGS` are in the order of the proto, so the number of a flag determines its field.
    fn mapping(&self, out: &mut Vec<u8>, row: usize) {
        let mapping = self.dictionary.mappings.rows.get(row).copied().unwrap_or_default();
        let attributes = self.dictionary.mappings.attributes.row(row);
        emit!(MAPPING in Events; {
            "memory_start" => |number| field_varint(out, number, mapping.memory_start),
            "memory_limit" => |number| field_varint(out, number, mapping.memory_limit),
            "file_offset" => |number| field_varint(out, number, mapping.file_offset),
            "filename_strindex" => |number| {
                field_varint(out, number, self.string(mapping.filename).into());
            },
            "build_id" => |number| for (role, value) in self.fields(attributes) {
                if let (AttributeRole::BuildId(kind), Value::String(text)) = (role, value) {
                    field_varint(out, number, self.string(*text).into());
                    let kind = u64::from(kind == BuildId::Htlhash);
                    field_varint(out, number!(MAPPING "build_id_kind" in Events::VERSION), kind);
                }
            },
            "attribute_indices" => |number| self.indices(out, number, attributes),
            "has_functions" => |number| for (role, value) in self.fields(attributes) {
                if let (AttributeRole::MappingFlag(bit), Value::Bool(true)) = (role, value) {
                    field_varint(out, number + u32::from(bit), 1);
                }
            },
        });
    }
}

/// Converts a place to an index; 0 if unset.
fn index(place: u32) -> u32 {
    place.saturating_sub(1)
}
