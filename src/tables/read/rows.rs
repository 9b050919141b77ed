//! Reader of the rows of the other tables.
//!
//! Another module reads locations; the first pass collects strings ([`Tables::count`]).
//!
//! Every message has a reader for fields in any order, repeated or unknown, as protobuf requires. Functions
//! are numerous, so they have a second reader for the usual form ([`UncheckedReader`]). It keeps nothing if the form is
//! unusual, so both readers give the same row.
//!
//! ```text
//! function    functions, and in 1.3 ids.function
//! stack       stacks                              since 1.8
//! mapping     mappings, mapping_attributes, mapping_pprof
//! link        links
//! attribute   attributes                          with units since 1.8
//! unit        units                               up to 1.7
//! ```
//!
//! References are stored as read, because tables may refer to rows that follow later in the payload.

use crate::error::Result;
use crate::losses;
use crate::model::dictionary::{Attribute, Function, Link, Mapping};
use crate::model::id::StringId;
use crate::read_context::ReadContext;
use crate::schema::{FUNCTION, Generation, Rows};
use crate::tables::fields::fields;
use crate::tables::read::common;
use crate::wire::LEN;
use crate::wire::read::Reader;
use crate::wire::unchecked_reader::UncheckedReader;
use crate::wire::varint::index;

use crate::tables::read::references::attribute_ids;
use crate::tables::read::tables::{MappingPprof, Tables};

impl Tables {
    /// Reads a function. Most are a few bytes long and read without a bounds check for each field.
    ///
    /// # Errors
    ///
    /// Input that is not protobuf, a known field with another wire type, the budget.
    #[inline]
    pub(crate) fn function<G: Generation>(
        &mut self,
        reader: Reader,
        cx: &mut ReadContext,
    ) -> Result<()> {
        let (function, id) = match reader.unchecked().and_then(function_fast::<G>) {
            Some(function) => function,
            None => function_slow::<G>(reader, cx)?,
        };
        // `Tables::reserve` has charged the budget for the row.
        self.dictionary.functions.push(function);
        if G::CAPABILITIES.ids {
            self.ids.function.push(id);
        }
        Ok(())
    }

    /// Reads a stack, leaf first as in the payload (1.8 and later).
    ///
    /// `location_indices` may be split into several fields, packed or not; together they are the stack.
    ///
    /// # Errors
    ///
    /// A stack deeper than `max_stack_depth`, the budget.
    #[inline]
    pub(super) fn stack<G: Generation>(
        &mut self,
        mut reader: Reader,
        cx: &mut ReadContext,
    ) -> Result<()> {
        let first = self.stacks.locations.len();
        fields!(reader, STACK in G::VERSION, cx; {
            "location_indices" as tag => match tag & 7 {
                LEN => self.stacks.read(reader.message()?, cx)?,
                _ => self.stacks.locations.push(reader.index()?),
            },
        });
        self.stacks.end(first, 0, cx)
    }

    /// Reads a mapping.
    ///
    /// `has_functions` and the three similar fields, the build id and its kind are stored in `mapping_pprof`,
    /// because the current proto lacks these fields; [`fields_to_attributes`](crate::tables::attributes::fields_to_attributes) converts them to attributes.
    ///
    /// Mappings are few, so they have no second reader for the usual form.
    pub(crate) fn mapping<G: Generation>(
        &mut self,
        body: &[u8],
        cx: &mut ReadContext,
    ) -> Result<()> {
        let mut reader = Reader::new(body);
        let row = self.dictionary.mappings.rows.len();
        let (mut mapping, mut pprof, mut id) = (Mapping::default(), MappingPprof::default(), 0);
        fields!(reader, MAPPING in G::VERSION, cx; {
            "memory_start" => mapping.memory_start = reader.varint()?,
            "memory_limit" => mapping.memory_limit = reader.varint()?,
            "file_offset" => mapping.file_offset = reader.varint()?,
            "filename_strindex" => mapping.filename = StringId(reader.index()?),
            "attribute_indices" as tag => {
                let first = self.dictionary.mappings.attributes.open_row();
                let items = &mut self.dictionary.mappings.attributes.items;
                attribute_ids(tag, &mut reader, items, first, cx)?;
            },
            "id" => id = reader.varint()?,
            "build_id" => pprof.build_id = reader.index()?,
            // A number that is negative or too large becomes a marker, which is reported as an undefined kind.
            "build_id_kind" => pprof.build_id_kind = index(reader.varint()?),
            "has_functions" => pprof.set_flag(0, reader.varint()?),
            "has_filenames" => pprof.set_flag(1, reader.varint()?),
            "has_line_numbers" => pprof.set_flag(2, reader.varint()?),
            "has_inline_frames" => pprof.set_flag(3, reader.varint()?),
        });
        self.dictionary.mappings.attributes.end_row_at(row);
        self.dictionary.mappings.rows.push(mapping);
        if pprof != MappingPprof::default() {
            // Fills in the rows of earlier mappings without these fields.
            self.mapping_pprof.resize(row, MappingPprof::default());
            self.mapping_pprof.push(pprof);
        }
        if G::CAPABILITIES.ids {
            self.ids.mapping.push(id);
        }
        Ok(())
    }

    /// Reads a link: ids of 16 and 8 bytes, or empty. A link with only one of them is kept and reported.
    ///
    /// If both ids are empty, it is the empty link, row 0 of a table.
    ///
    /// # Errors
    ///
    /// An id of any other length, unless the policy is to repair.
    pub(super) fn link<G: Generation>(&mut self, body: &[u8], cx: &mut ReadContext) -> Result<()> {
        let mut reader = Reader::new(body);
        let mut link = Link::default();
        // Since 1.8 row 0 means no link, whatever its contents.
        let code = match G::CAPABILITIES.rows == Rows::NullFirst && self.dictionary.links.is_empty()
        {
            true => losses::ROW_0,
            false => losses::LINK_INVALID,
        };
        let (mut has_trace, mut has_span) = (false, false);
        fields!(reader, LINK in G::VERSION, cx; {
            "trace_id" => {
                let id = reader.bytes()?;
                has_trace = !id.is_empty();
                common::fixed_id(id, &mut link.trace_id, code, cx)
                    .map_err(|e| e.within("trace_id"))?;
            },
            "span_id" => {
                let id = reader.bytes()?;
                has_span = !id.is_empty();
                common::fixed_id(id, &mut link.span_id, code, cx)
                    .map_err(|e| e.within("span_id"))?;
            },
        });
        if has_trace != has_span {
            let row = self.dictionary.links.len();
            let (has, lacks) = if has_trace { ("trace", "span") } else { ("span", "trace") };
            let message = || format!("the link has a {has} id and no {lacks} id");
            cx.note(losses::LINK_HALF, || format!("link_table[{row}]"), message);
        }
        self.dictionary.links.push(link);
        Ok(())
    }

    /// Reads a row of the attribute table: with its unit since 1.8, a plain pair before.
    ///
    /// Up to 1.7 `attribute_units` stores the unit for each key; `normalize` copies it to each attribute.
    ///
    /// # Errors
    ///
    /// An index past the string table, which was read before; values nested too deep.
    pub(super) fn attribute<G: Generation>(
        &mut self,
        body: &[u8],
        cx: &mut ReadContext,
    ) -> Result<()> {
        let attribute = if G::CAPABILITIES.attribute_units {
            common::key_value_and_unit::<G>(body, &mut self.texts, cx)?
        } else {
            let pair = common::key_value::<G>(body, &mut self.texts, cx, 0)?;
            Attribute { key: pair.key, value: pair.value, unit: StringId::NONE }
        };
        self.dictionary.attributes.push(attribute);
        Ok(())
    }

    /// Reads an `AttributeUnit`: the unit of all attributes of a key (1.3 to 1.7).
    ///
    /// Both are stored as string indices and validated after all tables are read.
    ///
    /// [`normalize`](crate::tables::resolve::normalize) resolves duplicate keys.
    pub(super) fn unit<G: Generation>(&mut self, body: &[u8], cx: &mut ReadContext) -> Result<()> {
        let mut reader = Reader::new(body);
        let (mut key, mut unit) = (0, 0);
        fields!(reader, ATTRIBUTE_UNIT in G::VERSION, cx; {
            "attribute_key_strindex" => key = reader.index()?,
            "unit_strindex" => unit = reader.index()?,
        });
        self.units.push((key, unit));
        Ok(())
    }
}

/// Reads the fields of a function in their usual order, and its id.
///
/// Returns `None` if the order differs or an unknown field follows; `is_done` is the only check. An omitted
/// field is 0, as in proto3.
// Always inlined. Without any in the library, decoding 1.10 takes up to 36 % more instructions.
#[inline(always)]
fn function_fast<G: Generation>(mut row: UncheckedReader) -> Option<(Function, u64)> {
    let id = match G::CAPABILITIES.ids {
        true => row.number(const { FUNCTION.tag(G::VERSION, "id") }),
        false => 0,
    };
    let mut string = |tag: u32| StringId(index(row.number(tag)));
    let function = Function {
        name: string(const { FUNCTION.tag(G::VERSION, "name_strindex") }),
        system_name: string(const { FUNCTION.tag(G::VERSION, "system_name_strindex") }),
        filename: string(const { FUNCTION.tag(G::VERSION, "filename_strindex") }),
        start_line: row.number(const { FUNCTION.tag(G::VERSION, "start_line") }) as i64,
    };
    row.is_done().then_some((function, id))
}

/// Reads the fields of a function in any order, and its id.
///
/// The last occurrence of a field wins, as in protobuf generally.
#[inline(never)]
pub(crate) fn function_slow<G: Generation>(
    mut reader: Reader,
    cx: &mut ReadContext,
) -> Result<(Function, u64)> {
    let (mut function, mut id) = (Function::default(), 0);
    fields!(reader, FUNCTION in G::VERSION, cx; {
        "name_strindex" => function.name = StringId(reader.index()?),
        "system_name_strindex" => function.system_name = StringId(reader.index()?),
        "filename_strindex" => function.filename = StringId(reader.index()?),
        "start_line" => function.start_line = reader.varint()? as i64,
        "id" => id = reader.varint()?,
    });
    Ok((function, id))
}
