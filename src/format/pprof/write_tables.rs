//! Writer of pprof's tables and of the fields that occur once.
//!
//! Tables follow the samples, in the order of their fields. The id of a row is its place in its table, so
//! readers find it without a search.
//!
//! pprof's ids start at 1, and 0 means unset. If a line has no function, or a stack contains an unset
//! location, one synthesized row follows the last.
//!
//! | in the model | in pprof |
//! |---|---|
//! | `pprof.mapping.has_*`, build ids | fields of `Mapping` |
//! | `pprof.location.is_folded` | `Location.is_folded` |
//! | comments, filters, URL of the documentation | fields of `Profile` |
//! | other attributes of mappings and locations, frame types | dropped, with a loss |

use crate::format::pprof::flags;
use crate::losses::{self};
use crate::model::dictionary::Line;
use crate::model::id::{AttributeId, FunctionId, StringId};
use crate::model::profile::ValueType;
use crate::model::value::Value;
use crate::schema::{Generation, Pprof};
use crate::tables::attributes::semantic_attributes::{self, AttributeRole, BuildId, loss_of};
use crate::tables::fields::{emit, number};
use crate::tables::write::select::holds_none;
use crate::tables::write::unsupported::numbered_comment;
use crate::wire::record::{Fields, field_varint, field_varints, records};
use crate::wire::write::{field_bytes, field_message, field_text};

use crate::format::pprof::write::Writer;

/// The maximum size of a line of a location.
///
/// An upper bound, so that memory is reserved once per location and not for each field.
const LINE: usize = Fields::MESSAGE + Fields::INDEX + 2 * Fields::VARINT;

impl Writer<'_, '_> {
    /// Writes a value type without its temporality, for which pprof has no field.
    ///
    /// [`unsupported`](crate::tables::write::unsupported) counts that loss.
    pub(super) fn value_type(&self, out: &mut Vec<u8>, value_type: ValueType) {
        let index = |id: StringId| u64::from(self.strings.index(id));
        emit!(VALUE_TYPE in Pprof; {
            "type_strindex" => |number| field_varint(out, number, index(value_type.name)),
            "unit_strindex" => |number| field_varint(out, number, index(value_type.unit)),
        });
    }

    /// Writes the mappings. pprof has one build id: if there are several, that of the linker is written
    /// ([`BuildId`] is in order of preference). Unknown flags are inferred, unless the profile was converted
    /// from a pprof without flags.
    ///
    /// Flags matter: if a mapping has no flags, pprof assumes that its binary is not symbolized and looks up
    /// symbols.
    ///
    /// All mappings are written, referenced or not, and their ids are their rows.
    pub(super) fn mappings(&mut self, out: &mut Vec<u8>, from_pprof: bool) {
        let inferred =
            (!from_pprof).then(|| flags::infer(self.dictionary, self.rows.locations.rows()));
        for (at, mapping) in self.dictionary.mappings.rows.iter().skip(1).enumerate() {
            let row = at + 1;
            let mut flags = 0;
            let mut build_ids: Vec<(BuildId, StringId)> = Vec::new();
            for id in self.dictionary.mappings.attributes.row(row) {
                let Some(attribute) = self.dictionary.attribute(*id) else { continue };
                match (self.roles.get(*id), &attribute.value) {
                    (AttributeRole::MappingFlag(bit), value) => {
                        flags |= u32::from(*value == Value::Bool(true)) << bit
                    }
                    (AttributeRole::BuildId(kind), Value::String(text))
                        if kind != BuildId::Other =>
                    {
                        build_ids.push((kind, *text))
                    }
                    _ => {
                        let key = self.dictionary.text(attribute.key);
                        let code =
                            loss_of(self.dictionary, attribute, losses::ATTR_MAPPING_DROPPED);
                        self.losses.add(code, || format!("mapping[{at}].attribute[{key}]"));
                    }
                }
            }
            build_ids.sort_by_key(|(kind, _)| *kind);
            let place = || format!("mapping[{at}]");
            let extra = build_ids.len().saturating_sub(1) as u64;
            self.losses.add_many(losses::BUILD_ID_EXTRA, extra, place);
            // Without any attribute of pprof there is no flag that the inferred ones could overwrite.
            if let Some(inferred) = &inferred {
                flags = inferred.get(row).copied().unwrap_or(0);
                self.losses.add_many(losses::FLAGS_INFERRED, u64::from(flags != 0), place);
            }
            let build_id = build_ids.first().map_or(StringId::NONE, |(_, text)| *text);
            let kind = build_ids.first().map(|(kind, _)| *kind);
            self.losses.add_many(
                losses::BUILD_ID_KIND,
                u64::from(kind == Some(BuildId::Htlhash)),
                place,
            );
            let text = |id: StringId| u64::from(self.strings.index(id));
            let flag = |bit: u32| u64::from(flags >> bit & 1);
            field_message(out, number!(PROFILE "mapping_table" in Pprof::VERSION), |out| {
                emit!(rare MAPPING in Pprof; {
                    "id" => |number| field_varint(out, number, at as u64 + 1),
                    "memory_start" => |number| field_varint(out, number, mapping.memory_start),
                    "memory_limit" => |number| field_varint(out, number, mapping.memory_limit),
                    "file_offset" => |number| field_varint(out, number, mapping.file_offset),
                    "filename_strindex" => |number| field_varint(out, number, text(mapping.filename)),
                    "build_id" => |number| field_varint(out, number, text(build_id)),
                    "has_functions" => |number| field_varint(out, number, flag(0)),
                    "has_filenames" => |number| field_varint(out, number, flag(1)),
                    "has_line_numbers" => |number| field_varint(out, number, flag(2)),
                    "has_inline_frames" => |number| field_varint(out, number, flag(3)),
                });
            });
        }
    }

    /// Writes the locations. Ids are row numbers, so readers need no lookup.
    ///
    /// If a stack contains an unset location (`no_location`), a row for it follows the last.
    #[inline(never)]
    pub(super) fn locations(&mut self, out: &mut Vec<u8>) {
        let locations = &self.dictionary.locations;
        records(out, |out| {
            for at in 0..self.rows.locations.len() {
                let row = self.rows.locations.row(at);
                let attributes = locations.attributes.row(row);
                let folded = !attributes.is_empty() && self.location_attributes(at, attributes);
                let mapping = locations.mappings[row].0;
                let lines = locations.lines.row(row);
                let room = Fields::INDEX + 3 * Fields::VARINT + LINE * lines.len();
                out.record(number!(PROFILE "location_table" in Pprof::VERSION), room, |fields| {
                    emit!(LOCATION in Pprof; {
                        "id" => |number| fields.code(number, self.locations.get(row)),
                        "mapping_index" => |number| fields.index(number, mapping),
                        "address" => |number| fields.varint(number, locations.addresses[row]),
                        "lines" => |number| for line in lines {
                            fields.message(number, |fields| self.line(fields, line));
                        },
                        "is_folded" => |number| fields.varint(number, folded.into()),
                    });
                });
            }
        });
        if self.rows.stacks.items(&self.dictionary.stacks).any(holds_none) {
            field_message(out, number!(PROFILE "location_table" in Pprof::VERSION), |out| {
                field_varint(
                    out,
                    number!(LOCATION "id" in Pprof::VERSION),
                    self.no_location.into(),
                );
            });
        }
    }

    /// Writes a line of a location. Without a function, it refers to the synthesized function.
    ///
    /// Inlined, so that writing a location is one loop without calls.
    #[inline]
    pub(super) fn line(&self, fields: &mut Fields, line: &Line) {
        emit!(LINE in Pprof; {
            "function_index" => |number| {
                fields.code(number, self.functions.get(line.function.row()));
            },
            "line" => |number| fields.varint(number, line.line as u64),
            "column" => |number| fields.varint(number, line.column as u64),
        });
    }

    /// Returns whether a location is folded. Other attributes are lost.
    ///
    /// `at` is the place among the written locations, for losses.
    pub(super) fn location_attributes(&mut self, at: usize, attributes: &[AttributeId]) -> bool {
        let mut folded = false;
        for id in attributes {
            let Some(attribute) = self.dictionary.attribute(*id) else {
                continue;
            };
            let code = match self.roles.get(*id) {
                AttributeRole::Folded => {
                    folded |= attribute.value == Value::Bool(true);
                    continue;
                }
                AttributeRole::FrameType => losses::FRAME_TYPE_DROPPED,
                _ => losses::ATTR_LOCATION_DROPPED,
            };
            self.losses.add(code, || {
                format!("location[{at}].attribute[{}]", self.dictionary.text(attribute.key))
            });
        }
        folded
    }

    /// Writes the functions. pprof requires a function for each line, so lines without one share an empty
    /// function, the last.
    ///
    /// Each of these lines is counted, because tools show a frame without a name.
    #[inline(never)]
    pub(super) fn functions(&mut self, out: &mut Vec<u8>) {
        let strings = &self.strings;
        records(out, |out| {
            for row in self.rows.functions.rows() {
                let function = &self.dictionary.functions[row];
                let number = number!(PROFILE "function_table" in Pprof::VERSION);
                out.record(number, 4 * Fields::INDEX + Fields::VARINT, |fields| {
                    emit!(FUNCTION in Pprof; {
                        "id" => |number| fields.code(number, self.functions.get(row)),
                        "name_strindex" => |number| fields.code(number, strings.code(function.name)),
                        "system_name_strindex" => |number| {
                            fields.code(number, strings.code(function.system_name));
                        },
                        "filename_strindex" => |number| {
                            fields.code(number, strings.code(function.filename));
                        },
                        "start_line" => |number| fields.varint(number, function.start_line as u64),
                    });
                });
            }
        });
        let lines = self.rows.locations.items(&self.dictionary.locations.lines).flatten();
        let without = lines.filter(|line| line.function == FunctionId::NONE).count();
        if without > 0 {
            self.losses.add_many(losses::FUNCTION_SYNTHESIZED, without as u64, || {
                "location.line.function_id".to_owned()
            });
            field_message(out, number!(PROFILE "function_table" in Pprof::VERSION), |out| {
                field_varint(
                    out,
                    number!(FUNCTION "id" in Pprof::VERSION),
                    self.no_function.into(),
                );
            });
        }
    }

    /// Writes the string table. Strings that are not UTF-8 keep their original bytes, which readers of pprof
    /// accept.
    ///
    /// If all strings are UTF-8, as is usual, they are copied from the arena.
    #[inline(never)]
    pub(super) fn string_table(&self, out: &mut Vec<u8>) {
        let strings = &self.dictionary.strings;
        let number = number!(PROFILE "string_table" in Pprof::VERSION);
        let arena = strings.arena().as_bytes();
        let utf8 = strings.not_utf8().len() == 0;
        for &id in self.strings.ids() {
            match strings.range(id) {
                Some(part) if utf8 => field_text(out, number, arena, part),
                _ => field_bytes(out, number, strings.bytes(id)),
            }
        }
        self.strings.extra().iter().for_each(|text| field_bytes(out, number, text.as_bytes()));
    }

    /// Encodes the fields after the string table. Called before the string table is written, because these
    /// fields refer to strings.
    ///
    /// Times are nanoseconds since 1970; `period` is in the unit of `period_type`.
    ///
    /// All fields are those of the first profile: joined profiles agree on them.
    pub(super) fn header(&mut self) -> Vec<u8> {
        let profile = self.joined.first();
        let mut bytes = Vec::new();
        let out = &mut bytes;
        emit!(rare PROFILE in Pprof; {
            "drop_frames" => |number| {
                field_varint(out, number, self.attribute_text(AttributeRole::DropFrames).into());
            },
            "keep_frames" => |number| {
                field_varint(out, number, self.attribute_text(AttributeRole::KeepFrames).into());
            },
            "time_unix_nano" => |number| {
                let time = self.nanos(profile.time_unix_nano, "time_nanos");
                field_varint(out, number, time as u64);
            },
            "duration_nano" => |number| {
                let duration = self.nanos(profile.duration_nanos, "duration_nanos");
                field_varint(out, number, duration as u64);
            },
            "period_type" => |number| if !profile.period_type.is_none() {
                let period_type = profile.period_type;
                field_message(out, number, |out| self.value_type(out, period_type));
            },
            "period" => |number| field_varint(out, number, profile.period as u64),
            "comment_strindices" => |number| {
                field_varints(out, number, self.comments().into_iter().map(u64::from));
            },
            "default_sample_type_strindex" => |number| {
                field_varint(out, number, self.strings.index(self.default).into());
            },
            "doc_url" => |number| {
                field_varint(out, number, self.attribute_text(AttributeRole::DocUrl).into());
            },
        });
        bytes
    }

    /// Returns the index of the string of the first attribute of a kind.
    ///
    /// 0 if there is no such attribute: the empty string, which is omitted.
    pub(super) fn attribute_text(&self, role: AttributeRole) -> u32 {
        let mut of =
            self.joined.first().attributes.iter().filter(|id| self.roles.get(**id) == role);
        let attribute = of.next().and_then(|id| self.dictionary.attribute(*id));
        let text =
            attribute.and_then(|attribute| semantic_attributes::texts(&attribute.value).next());
        text.map_or(0, |text| self.strings.index(text))
    }

    /// Returns the comments as indices into the string table: those of a list, and those with a number in
    /// their key.
    ///
    /// Other converters number comments (`pprof.profile.comment.0` …); these are sorted by number.
    pub(super) fn comments(&self) -> Vec<u32> {
        let attributes = || self.joined.first().attributes.iter();
        let listed = attributes()
            .filter(|id| {
                matches!(self.roles.get(**id), AttributeRole::Comment | AttributeRole::Comments)
            })
            .filter_map(|id| self.dictionary.attribute(*id));
        let mut comments: Vec<StringId> =
            listed.flat_map(|attribute| semantic_attributes::texts(&attribute.value)).collect();
        let mut numbered: Vec<(u64, StringId)> = attributes()
            .filter_map(|id| self.dictionary.attribute(*id))
            .filter_map(|attribute| numbered_comment(attribute, self.dictionary))
            .collect();
        numbered.sort_by_key(|(number, _)| *number);
        comments.extend(numbered.into_iter().map(|(_, text)| text));
        comments.into_iter().map(|text| self.strings.index(text)).collect()
    }

    /// Converts a time. One that overflows 64 signed bits becomes the maximum, and counts as a loss.
    ///
    /// Both of pprof's times are `int64`; the model holds any `uint64` of OTLP.
    pub(super) fn nanos(&mut self, nanos: i128, field: &'static str) -> i64 {
        i64::try_from(nanos).unwrap_or_else(|_| {
            self.losses.add(losses::TIME_OVERFLOW, || field.to_owned());
            i64::MAX
        })
    }
}
