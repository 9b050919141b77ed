//! Reader of the rows of tables.
//!
//! Each function parses one row and returns the id of an equal row of the model. Fields of the proposal that
//! the current data model represents by attributes are converted here.
//! [`AttributesToFields`](crate::tables::attributes::attributes_to_fields) converts them back:
//!
//! | field | attribute |
//! |---|---|
//! | `build_id_string_index`, `build_id_kind` | `process.executable.build_id.gnu`, `.go`, `.htlhash` |
//! | `has_functions` and the other three | `pprof.mapping.has_functions` … |
//! | `Location.is_folded` | `pprof.location.is_folded` |
//! | `Location.type_string_index` | `profile.frame.type` |

use super::tables::Tables;
use crate::error::Result;
use crate::limits::within;
use crate::losses;
use crate::model::dictionary::{Attribute, Line, Link, Mapping};
use crate::model::id::{AttributeId, FunctionId, LinkId, LocationId, MappingId, StringId};
use crate::model::value::Value;
use crate::read_context::ReadContext;
use crate::schema::{Events, Version};
use crate::semconv;
use crate::tables::attributes::build_id;
use crate::tables::attributes::fields_to_attributes::semconv_flags;
use crate::tables::fields::fields;
use crate::tables::read::common::{find, fixed_id, key_value, table_text, text_at};
use crate::tables::read::references::indices;
use crate::tables::read::rows::function_slow;
use crate::tables::rows::row::BorrowedLocation;
use crate::wire::read::Reader;

impl Tables {
    /// Reads a key and a value. Attributes of events have no unit.
    ///
    /// # Errors
    ///
    /// An index past the strings, values nested too deep.
    pub(super) fn attribute(&mut self, body: &[u8], cx: &mut ReadContext) -> Result<AttributeId> {
        let pair = key_value::<Events>(body, &mut self.texts, cx, 0)?;
        let attribute = Attribute { key: pair.key, value: pair.value, unit: StringId::NONE };
        Ok(self.assembly.interner.attribute(attribute)?)
    }

    /// Reads a mapping. Its build id and its four flags become attributes.
    ///
    /// False flags are omitted, because proto3 does not distinguish false from absent.
    pub(super) fn mapping(&mut self, body: &[u8], cx: &mut ReadContext) -> Result<MappingId> {
        let mut reader = Reader::new(body);
        let mut mapping = Mapping::default();
        let (mut build_id, mut kind, mut flags) = (StringId::NONE, 0, [false; 4]);
        self.indices.clear();
        fields!(reader, MAPPING in Version::Events, cx; {
            "memory_start" => mapping.memory_start = reader.varint()?,
            "memory_limit" => mapping.memory_limit = reader.varint()?,
            "file_offset" => mapping.file_offset = reader.varint()?,
            "filename_strindex" => {
                mapping.filename =
                    text_at(&mut reader, "filename_string_index", &self.texts, cx)?;
            },
            "build_id" => {
                build_id = text_at(&mut reader, "build_id_string_index", &self.texts, cx)?;
            },
            "build_id_kind" => kind = reader.varint()?,
            "attribute_indices" as tag => indices(tag, &mut reader, &mut self.indices, cx)?,
            "has_functions" => flags[0] = reader.varint()? != 0,
            "has_filenames" => flags[1] = reader.varint()? != 0,
            "has_line_numbers" => flags[2] = reader.varint()? != 0,
            "has_inline_frames" => flags[3] = reader.varint()? != 0,
        });
        let mut attributes = self.attributes(cx)?;
        let text = self.assembly.interner.dictionary.strings.bytes(build_id);
        if build_id::is_unknown(text) {
            let message = || "the build id is the text unknown: it was left out".to_owned();
            cx.note(losses::BUILD_ID_UNKNOWN, || "mappings.build_id".to_owned(), message);
        } else if build_id != StringId::NONE {
            let key = self.build_id_key(build_id, kind, cx);
            let value = Value::String(build_id);
            attributes.push(self.assembly.attribute(key.as_bytes(), value)?);
        }
        for (key, _) in semconv_flags().iter().zip(flags).filter(|(_, set)| *set) {
            attributes.push(self.assembly.attribute(key.as_bytes(), Value::Bool(true))?);
        }
        Ok(self.assembly.interner.intern((mapping, &attributes[..]))?)
    }

    /// Returns the attribute key of a build id.
    ///
    /// `build_id_kind` is 0 for an id of the linker and 1 for a hash of the binary. The length and the
    /// letters of a linker's id distinguish GNU from Go ([`build_id::key_of`]). If they fit neither, GNU is
    /// assumed and reported.
    fn build_id_key(&self, id: StringId, kind: u64, cx: &mut ReadContext) -> &'static str {
        if kind == 1 {
            return semconv::BUILD_ID_HTLHASH;
        }
        let dictionary = &self.assembly.interner.dictionary;
        let (key, is_known) = build_id::key_of(dictionary.strings.bytes(id));
        if !is_known || kind > 1 {
            let message = || format!("{:?} was read as a GNU build id", dictionary.text(id));
            cx.note(losses::BUILD_ID_GUESS, || "mappings.build_id".to_owned(), message);
        }
        key
    }

    /// Reads a function. Ignores its `id`, because lines refer to rows.
    ///
    /// # Errors
    ///
    /// An index past the strings.
    pub(super) fn function(&mut self, body: &[u8], cx: &mut ReadContext) -> Result<FunctionId> {
        let (mut function, _) = function_slow::<Events>(Reader::new(body), cx)?;
        for (text, field) in [
            (&mut function.name, "name_string_uindex"),
            (&mut function.system_name, "system_name_string_index"),
            (&mut function.filename, "filename_string_index"),
        ] {
            *text = table_text(text.0, &self.texts, cx).map_err(|e| e.within(field))?;
        }
        Ok(self.assembly.interner.intern(function)?)
    }

    /// Reads a location with its lines, innermost first as encoded.
    ///
    /// Inlined functions precede their callers, as in pprof and OTLP, so the order stays the same.
    ///
    /// # Errors
    ///
    /// An index past its table, more lines than `max_lines_per_location`.
    pub(super) fn location(&mut self, body: &[u8], cx: &mut ReadContext) -> Result<LocationId> {
        let mut reader = Reader::new(body);
        let (mut mapping, mut address, mut folded, mut kind) = (0, 0, false, StringId::NONE);
        let mut lines = Vec::new();
        self.indices.clear();
        fields!(reader, LOCATION in Version::Events, cx; {
            "mapping_index" => mapping = reader.index()?,
            "address" => address = reader.varint()?,
            "lines" => {
                let line = self.line(reader.bytes()?, cx)
                    .map_err(|e| e.within_row("line", lines.len()))?;
                let most = cx.limits().max_lines_per_location;
                within("max_lines_per_location", most, lines.len() as u64 + 1)?;
                lines.push(line);
            },
            "is_folded" => folded = reader.varint()? != 0,
            "type_index" => {
                kind = text_at(&mut reader, "type_string_index", &self.texts, cx)?;
            },
            "attribute_indices" as tag => indices(tag, &mut reader, &mut self.indices, cx)?,
        });
        let mapping = find(&self.mappings, mapping, cx).map_err(|e| e.within("mapping_index"))?;
        let mut attributes = self.attributes(cx)?;
        if kind != StringId::NONE {
            let key = semconv::PROFILE_FRAME_TYPE.as_bytes();
            attributes.push(self.assembly.attribute(key, Value::String(kind))?);
        }
        if folded {
            let key = semconv::PPROF_LOCATION_IS_FOLDED.as_bytes();
            attributes.push(self.assembly.attribute(key, Value::Bool(true))?);
        }
        let location =
            BorrowedLocation { mapping, address, lines: &lines, attributes: &attributes };
        Ok(self.assembly.interner.intern(location)?)
    }

    /// Reads a line. Its function was read before, because tables are read in the order of their references.
    ///
    /// Index 0 into an empty table means that there is no function: an address without a name.
    fn line(&self, body: &[u8], cx: &mut ReadContext) -> Result<Line> {
        let mut reader = Reader::new(body);
        let (mut function, mut line) = (0, Line::default());
        fields!(reader, LINE in Version::Events, cx; {
            "function_index" => function = reader.index()?,
            "line" => line.line = reader.varint()? as i64,
            "column" => line.column = reader.varint()? as i64,
        });
        line.function =
            find(&self.functions, function, cx).map_err(|e| e.within("function_index"))?;
        Ok(line)
    }

    /// Reads a link. Ids of the wrong length become zeros, which is reported.
    ///
    /// # Errors
    ///
    /// Under `Policy::Refuse`, a nonempty id of the wrong length.
    pub(super) fn link(&mut self, body: &[u8], cx: &mut ReadContext) -> Result<LinkId> {
        let mut reader = Reader::new(body);
        let mut link = Link::default();
        fields!(reader, LINK in Version::Events, cx; {
            "trace_id" => {
                fixed_id(reader.bytes()?, &mut link.trace_id, losses::LINK_INVALID, cx)
                    .map_err(|e| e.within("trace_id"))?;
            },
            "span_id" => {
                fixed_id(reader.bytes()?, &mut link.span_id, losses::LINK_INVALID, cx)
                    .map_err(|e| e.within("span_id"))?;
            },
        });
        self.assembly.link(link)
    }
}
