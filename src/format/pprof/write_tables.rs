//! Writing pprof's tables and what it says once.
//!
//! Tables are written behind the samples, in the order of their fields. The id of a row is its place in its table, so
//! that readers find it without a search.
//!
//! A function that a line needs but nothing names, and a location that a stack has as none, become
//! one made-up row each behind the last: pprof's ids start at 1, and 0 is none.
//!
//! | in the model | in pprof |
//! |---|---|
//! | `pprof.mapping.has_*`, build ids | fields of `Mapping` |
//! | `pprof.location.is_folded` | `Location.is_folded` |
//! | comments, filters, URL of the documentation | fields of `Profile` |
//! | other attributes of mappings and locations, frame types | nothing, with a loss |

use crate::format::fields::{emit, number};
use crate::format::known::{self, BuildId, Known};
use crate::format::losses::{self};
use crate::format::pprof::flags;
use crate::format::select::holds_none;
use crate::format::unsaid::numbered_comment;
use crate::model::dictionary::Line;
use crate::model::id::{AttributeId, FunctionId, StringId};
use crate::model::profile::ValueType;
use crate::model::value::Value;
use crate::schema::{Generation, Pprof};
use crate::wire::record::{Fields, field_varint, field_varints, records};
use crate::wire::write::{field_bytes, field_message, field_text};

use crate::format::pprof::write::Writer;

/// What a line of a location may take.
///
/// A bound, so that room is asked for once a location and not for each field.
const LINE: usize = Fields::MESSAGE + Fields::INDEX + 2 * Fields::VARINT;

impl Writer<'_, '_> {
    /// Without a temporality, for which pprof has no field.
    ///
    /// The loss of a temporality is counted by [`unsaid`](crate::format::unsaid).
    pub(super) fn value_type(&self, out: &mut Vec<u8>, value_type: ValueType) {
        let index = |id: StringId| u64::from(self.strings.table.index(id));
        emit!(VALUE_TYPE in Pprof; {
            "type_strindex" => |number| field_varint(out, number, index(value_type.name)),
            "unit_strindex" => |number| field_varint(out, number, index(value_type.unit)),
        });
    }

    /// pprof has one build id; of several the linker's is written ([`BuildId`] is in that order). Flags that nobody said
    /// are inferred, unless the profile came from a pprof that had none.
    ///
    /// The flags matter: of a mapping that has none, pprof takes its binary for one without symbols
    /// and looks for them.
    ///
    /// All mappings are written, whether or not a location is in them, and their ids are their
    /// rows.
    pub(super) fn mappings(&mut self, out: &mut Vec<u8>, from_pprof: bool) {
        let inferred =
            (!from_pprof).then(|| flags::infer(self.dictionary, self.rows.locations.rows()));
        for (at, mapping) in self.dictionary.mappings.rows.iter().skip(1).enumerate() {
            let row = at + 1;
            let mut flags = 0;
            let mut build_ids: Vec<(BuildId, StringId)> = Vec::new();
            for id in self.dictionary.mappings.attributes.row(row) {
                let Some(attribute) = self.dictionary.attribute(*id) else {
                    continue;
                };
                match (self.known.get(*id), &attribute.value) {
                    (Known::MappingFlag(bit), value) => {
                        flags |= u32::from(*value == Value::Bool(true)) << bit
                    }
                    (Known::BuildId(kind), Value::String(text)) if kind != BuildId::Other => {
                        build_ids.push((kind, *text))
                    }
                    _ => self.losses.add(losses::ATTR_MAPPING_DROPPED, || {
                        format!("mapping[{at}].attribute[{}]", self.dictionary.text(attribute.key))
                    }),
                }
            }
            build_ids.sort_by_key(|(kind, _)| *kind);
            self.losses.add_many(
                losses::BUILD_ID_EXTRA,
                build_ids.len().saturating_sub(1) as u64,
                || format!("mapping[{at}]"),
            );
            if let Some(inferred) = &inferred {
                flags = inferred.get(row).copied().unwrap_or(0);
                self.losses.add_many(losses::FLAGS_INFERRED, u64::from(flags != 0), || {
                    format!("mapping[{at}]")
                });
            }
            let build_id = build_ids.first().map_or(StringId::NONE, |(_, text)| *text);
            let kind = build_ids.first().map(|(kind, _)| *kind);
            self.losses.add_many(
                losses::BUILD_ID_KIND,
                u64::from(kind == Some(BuildId::Htlhash)),
                || format!("mapping[{at}]"),
            );
            let text = |id: StringId| u64::from(self.strings.table.index(id));
            let flag = |bit: u32| u64::from(flags >> bit & 1);
            field_message(out, number!(PROFILE "mapping_table" in Pprof::VERSION), |out| {
                emit!(MAPPING in Pprof; {
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

    /// Ids are row numbers, so that a reader need not look any up.
    ///
    /// Of a location without a place in the table (`no_location`) there is one row at the end, if a
    /// stack has it.
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

    /// A line within a location; one without a function refers to the one that is made up for these.
    ///
    /// Inlined so that writing a location is one loop without calls.
    #[inline(always)]
    pub(super) fn line(&self, fields: &mut Fields, line: &Line) {
        emit!(LINE in Pprof; {
            "function_index" => |number| {
                fields.code(number, self.functions.get(line.function.row()));
            },
            "line" => |number| fields.varint(number, line.line as u64),
            "column" => |number| fields.varint(number, line.column as u64),
        });
    }

    /// Whether a location is folded; what else is said of it is lost.
    ///
    /// `at` is the place among those that are written, which losses name.
    pub(super) fn location_attributes(&mut self, at: usize, attributes: &[AttributeId]) -> bool {
        let mut folded = false;
        for id in attributes {
            let Some(attribute) = self.dictionary.attribute(*id) else {
                continue;
            };
            let code = match self.known.get(*id) {
                Known::Folded => {
                    folded |= attribute.value == Value::Bool(true);
                    continue;
                }
                Known::FrameType => losses::FRAME_TYPE_DROPPED,
                _ => losses::ATTR_LOCATION_DROPPED,
            };
            self.losses.add(code, || {
                format!("location[{at}].attribute[{}]", self.dictionary.text(attribute.key))
            });
        }
        folded
    }

    /// A line must name a function in pprof: lines without one get an empty function, the last.
    ///
    /// Each of these lines is counted: the tools that read it show a frame without a name.
    #[inline(never)]
    pub(super) fn functions(&mut self, out: &mut Vec<u8>) {
        let strings = &self.strings.table;
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

    /// With the bytes that the source had where they were not UTF-8: pprof's readers take them.
    ///
    /// From the arena in one piece where all of it is UTF-8, as it nearly always is.
    #[inline(never)]
    pub(super) fn string_table(&self, out: &mut Vec<u8>) {
        let strings = &self.dictionary.strings;
        let number = number!(PROFILE "string_table" in Pprof::VERSION);
        let arena = strings.arena().as_bytes();
        let utf8 = strings.not_utf8().len() == 0;
        for &id in self.strings.table.ids() {
            match strings.range(id) {
                Some(part) if utf8 => field_text(out, number, arena, part),
                _ => field_bytes(out, number, strings.bytes(id)),
            }
        }
        self.strings.made.iter().for_each(|text| field_bytes(out, number, text.as_bytes()));
    }

    /// The fields after the string table.
    /// Made before the string table is written, since its texts are strings too.
    ///
    /// Times are nanoseconds since 1970; `period` is in the unit of `period_type`.
    ///
    /// All of it is of the first profile: those that were joined agree on it, or would not have
    /// been.
    pub(super) fn header(&mut self) -> Vec<u8> {
        let profile = self.joined.first();
        let mut bytes = Vec::new();
        let out = &mut bytes;
        emit!(PROFILE in Pprof; {
            "drop_frames" => |number| {
                field_varint(out, number, self.attribute_text(Known::DropFrames).into());
            },
            "keep_frames" => |number| {
                field_varint(out, number, self.attribute_text(Known::KeepFrames).into());
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
                field_varint(out, number, self.strings.table.index(self.default).into());
            },
            "doc_url" => |number| {
                field_varint(out, number, self.attribute_text(Known::DocUrl).into());
            },
        });
        bytes
    }

    /// The text of the first attribute of a kind.
    ///
    /// 0 where there is none: the empty string, which is left out.
    pub(super) fn attribute_text(&self, wanted: Known) -> u32 {
        let mut of =
            self.joined.first().attributes.iter().filter(|id| self.known.get(**id) == wanted);
        let attribute = of.next().and_then(|id| self.dictionary.attribute(*id));
        let text = attribute.and_then(|attribute| known::texts(&attribute.value).next());
        text.map_or(0, |text| self.strings.table.index(text))
    }

    /// The comments: of one list, or each with a number of its own.
    /// As indices into the string table.
    ///
    /// Other converters number comments (`pprof.profile.comment.0` …): they are put in the order of
    /// the numbers.
    pub(super) fn comments(&self) -> Vec<u32> {
        let attributes = || self.joined.first().attributes.iter();
        let listed = attributes()
            .filter(|id| matches!(self.known.get(**id), Known::Comment | Known::Comments))
            .filter_map(|id| self.dictionary.attribute(*id));
        let mut comments: Vec<StringId> =
            listed.flat_map(|attribute| known::texts(&attribute.value)).collect();
        let mut numbered: Vec<(u64, StringId)> = attributes()
            .filter_map(|id| self.dictionary.attribute(*id))
            .filter_map(|attribute| numbered_comment(attribute, self.dictionary))
            .collect();
        numbered.sort_by_key(|(number, _)| *number);
        comments.extend(numbered.into_iter().map(|(_, text)| text));
        comments.into_iter().map(|text| self.strings.table.index(text)).collect()
    }

    /// What 64 signed bits cannot say is the latest they can, and counts as a loss.
    ///
    /// pprof has both as `int64`; the model takes any `uint64` of OTLP.
    pub(super) fn nanos(&mut self, nanos: i128, field: &'static str) -> i64 {
        i64::try_from(nanos).unwrap_or_else(|_| {
            self.losses.add(losses::TIME_OVERFLOW, || field.to_owned());
            i64::MAX
        })
    }
}
