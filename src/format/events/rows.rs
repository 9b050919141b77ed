//! Reading the rows of tables.

use super::references::{find, text};
use super::tables::Tables;
use super::{number, values};
use crate::build::interner::Spot;
use crate::error::Result;
use crate::format::build_id;
use crate::format::fields::fields;
use crate::format::intake::Intake;
use crate::format::losses;
use crate::format::otlp::read::common::fixed_id;
use crate::format::otlp::read::tables::indices;
use crate::limits::within;
use crate::model::dictionary::{Attribute, Function, Line, Link, Mapping};
use crate::model::id::{AttributeId, FunctionId, LinkId, LocationId, MappingId, StringId};
use crate::model::value::Value;
use crate::schema::Version;
use crate::semconv;
use crate::wire::read::Reader;
use crate::wire::{LEN, VARINT};

/// The keys of a mapping's four flags, in the order of their fields.
pub(super) const FLAGS: [&str; 4] = [
    semconv::PPROF_MAPPING_HAS_FUNCTIONS,
    semconv::PPROF_MAPPING_HAS_FILENAMES,
    semconv::PPROF_MAPPING_HAS_LINE_NUMBERS,
    semconv::PPROF_MAPPING_HAS_INLINE_FRAMES,
];

impl Tables {
    pub(super) fn attribute(&mut self, body: &[u8], intake: &mut Intake) -> Result<AttributeId> {
        let pair = values::pair(body, &self.texts, intake, 0)?;
        let attribute = Attribute { key: pair.key, value: pair.value, unit: StringId::NONE };
        Ok(self.assembly.interner.attribute(attribute)?)
    }

    pub(super) fn mapping(&mut self, body: &[u8], intake: &mut Intake) -> Result<MappingId> {
        let mut reader = Reader::new(body);
        let mut mapping = Mapping::default();
        let (mut build_id, mut kind, mut flags) = (StringId::NONE, 0, [false; 4]);
        self.indices.clear();
        fields!(reader, EVENT_MAPPING in Version::Events, intake; {
            (number!(EVENT_MAPPING "memory_start"), VARINT) => mapping.memory_start = reader.varint()?,
            (number!(EVENT_MAPPING "memory_limit"), VARINT) => mapping.memory_limit = reader.varint()?,
            (number!(EVENT_MAPPING "file_offset"), VARINT) => mapping.file_offset = reader.varint()?,
            (number!(EVENT_MAPPING "filename_string_index"), VARINT) => {
                mapping.filename =
                    text(reader.index()?, "filename_string_index", &self.texts, intake)?;
            },
            (number!(EVENT_MAPPING "build_id_string_index"), VARINT) => {
                build_id = text(reader.index()?, "build_id_string_index", &self.texts, intake)?;
            },
            (number!(EVENT_MAPPING "build_id_kind"), VARINT) => kind = reader.varint()?,
            (number!(EVENT_MAPPING "attribute_indices"), LEN) => {
                indices(LEN, &mut reader, &mut self.indices, intake)?;
            },
            (number!(EVENT_MAPPING "attribute_indices"), VARINT) => {
                indices(VARINT, &mut reader, &mut self.indices, intake)?;
            },
            (number!(EVENT_MAPPING "has_functions"), VARINT) => flags[0] = reader.varint()? != 0,
            (number!(EVENT_MAPPING "has_filenames"), VARINT) => flags[1] = reader.varint()? != 0,
            (number!(EVENT_MAPPING "has_line_numbers"), VARINT) => flags[2] = reader.varint()? != 0,
            (number!(EVENT_MAPPING "has_inline_frames"), VARINT) => flags[3] = reader.varint()? != 0,
        });
        let mut attributes = self.attributes(intake)?;
        if build_id != StringId::NONE {
            let key = self.build_id_key(build_id, kind, intake);
            let value = Value::String(build_id);
            attributes.push(self.assembly.attribute(key.as_bytes(), value)?);
        }
        for (key, _) in FLAGS.iter().zip(flags).filter(|(_, set)| *set) {
            attributes.push(self.assembly.attribute(key.as_bytes(), Value::Bool(true))?);
        }
        Ok(self.assembly.interner.mapping(mapping, &attributes)?)
    }

    /// The attribute that a build id is.
    fn build_id_key(&self, id: StringId, kind: u64, intake: &mut Intake) -> &'static str {
        if kind == 1 {
            return semconv::BUILD_ID_HTLHASH;
        }
        let dictionary = &self.assembly.interner.dictionary;
        let (key, is_known) = build_id::key_of(dictionary.strings.bytes(id));
        if !is_known || kind > 1 {
            let said = || format!("{:?} was taken for a GNU one", dictionary.text(id));
            intake.note(losses::BUILD_ID_GUESS, || "mappings.build_id".to_owned(), said);
        }
        key
    }

    pub(super) fn function(&mut self, body: &[u8], intake: &mut Intake) -> Result<FunctionId> {
        let mut reader = Reader::new(body);
        let mut function = Function::default();
        let texts = &self.texts;
        fields!(reader, EVENT_FUNCTION in Version::Events, intake; {
            // Rows are what functions are referred to by.
            (number!(EVENT_FUNCTION "id"), VARINT) => { reader.varint()?; },
            (number!(EVENT_FUNCTION "name_string_uindex"), VARINT) => {
                function.name = text(reader.index()?, "name_string_uindex", texts, intake)?;
            },
            (number!(EVENT_FUNCTION "system_name_string_index"), VARINT) => {
                function.system_name =
                    text(reader.index()?, "system_name_string_index", texts, intake)?;
            },
            (number!(EVENT_FUNCTION "filename_string_index"), VARINT) => {
                function.filename = text(reader.index()?, "filename_string_index", texts, intake)?;
            },
            (number!(EVENT_FUNCTION "start_line"), VARINT) => {
                function.start_line = reader.varint()? as i64;
            },
        });
        Ok(self.assembly.interner.function(function)?)
    }

    pub(super) fn location(&mut self, body: &[u8], intake: &mut Intake) -> Result<LocationId> {
        let mut reader = Reader::new(body);
        let (mut mapping, mut address, mut folded, mut kind) = (0, 0, false, StringId::NONE);
        let mut lines = Vec::new();
        self.indices.clear();
        fields!(reader, EVENT_LOCATION in Version::Events, intake; {
            (number!(EVENT_LOCATION "mapping_index"), VARINT) => mapping = reader.index()?,
            (number!(EVENT_LOCATION "address"), VARINT) => address = reader.varint()?,
            (number!(EVENT_LOCATION "lines"), LEN) => {
                let line = self.line(reader.bytes()?, intake)
                    .map_err(|e| e.within_row("line", lines.len()))?;
                let most = intake.limits().max_lines_per_location;
                within("max_lines_per_location", most, lines.len() as u64 + 1)?;
                lines.push(line);
            },
            (number!(EVENT_LOCATION "is_folded"), VARINT) => folded = reader.varint()? != 0,
            (number!(EVENT_LOCATION "type_index"), VARINT) => {
                kind = text(reader.index()?, "type_string_index", &self.texts, intake)?;
            },
            (number!(EVENT_LOCATION "attribute_indices"), LEN) => {
                indices(LEN, &mut reader, &mut self.indices, intake)?;
            },
            (number!(EVENT_LOCATION "attribute_indices"), VARINT) => {
                indices(VARINT, &mut reader, &mut self.indices, intake)?;
            },
        });
        let mapping =
            find(&self.mappings, mapping, intake).map_err(|e| e.within("mapping_index"))?;
        let mut attributes = self.attributes(intake)?;
        if kind != StringId::NONE {
            let key = semconv::PROFILE_FRAME_TYPE.as_bytes();
            attributes.push(self.assembly.attribute(key, Value::String(kind))?);
        }
        if folded {
            let key = semconv::PPROF_LOCATION_IS_FOLDED.as_bytes();
            attributes.push(self.assembly.attribute(key, Value::Bool(true))?);
        }
        let spot = Spot { mapping, address, lines: &lines, attributes: &attributes };
        Ok(self.assembly.interner.location(spot)?)
    }

    fn line(&self, body: &[u8], intake: &mut Intake) -> Result<Line> {
        let mut reader = Reader::new(body);
        let (mut function, mut line) = (0, Line::default());
        fields!(reader, EVENT_LINE in Version::Events, intake; {
            (number!(EVENT_LINE "function_index"), VARINT) => function = reader.index()?,
            (number!(EVENT_LINE "line"), VARINT) => line.line = reader.varint()? as i64,
            (number!(EVENT_LINE "column"), VARINT) => line.column = reader.varint()? as i64,
        });
        line.function =
            find(&self.functions, function, intake).map_err(|e| e.within("function_index"))?;
        Ok(line)
    }

    pub(super) fn link(&mut self, body: &[u8], intake: &mut Intake) -> Result<LinkId> {
        let mut reader = Reader::new(body);
        let mut link = Link::default();
        fields!(reader, EVENT_LINK in Version::Events, intake; {
            (number!(EVENT_LINK "trace_id"), LEN) => {
                fixed_id(reader.bytes()?, &mut link.trace_id, losses::LINK_INVALID, intake)
                    .map_err(|e| e.within("trace_id"))?;
            },
            (number!(EVENT_LINK "span_id"), LEN) => {
                fixed_id(reader.bytes()?, &mut link.span_id, losses::LINK_INVALID, intake)
                    .map_err(|e| e.within("span_id"))?;
            },
        });
        self.assembly.link(link)
    }
}
