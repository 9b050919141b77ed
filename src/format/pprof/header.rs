//! What a file says once: times, the period, comments.
//!
//! These fields stand anywhere in the file, between the rows of tables; [`layout`](super::layout)
//! has listed where. They refer to strings that may come later, so they are kept as indices and
//! become texts at the end.
//!
//! | field of `Profile` | in the model |
//! |---|---|
//! | `time_nanos`, `duration_nanos`, `period`, `period_type` | fields of the profile |
//! | `sample_type`, `default_sample_type` | fields of the profile |
//! | `comment` | `pprof.profile.comment`, a list |
//! | `drop_frames`, `keep_frames`, `doc_url` | `pprof.profile.drop_frames` … |

use crate::error::{Error, Result};
use crate::format::fields::fields;
use crate::format::intake::Intake;
use crate::format::losses;
use crate::format::otlp::read::common::any_indices;
use crate::format::otlp::read::tables::Tables;
use crate::format::texts::Texts;
use crate::model::id::StringId;
use crate::model::profile::{Profile, ValueType};
use crate::model::value::Value;
use crate::schema::Version;
use crate::semconv;
use crate::wire::read::Reader;

use crate::format::pprof::strings::{CONCATENATED, Table};
/// What is said once.
///
/// Numbers are indices into the string table of the file, which is read later: it may lie behind.
#[derive(Debug, Default)]
pub(super) struct Header {
    /// In the order of the columns of values.
    pub(super) sample_types: Vec<ValueType>,
    /// What one `period` counts, such as `cpu` in `nanoseconds`.
    period_type: ValueType,
    /// In the unit of `period_type`; 0: not said.
    period: i64,
    /// Nanoseconds since 1970. Said twice, the file is two files put together by `cat`.
    time: i64,
    /// In nanoseconds.
    duration: i64,
    /// In their order.
    comments: Vec<u32>,
    /// A string: the name of a sample type.
    ///
    /// 0: none, and tools show the last column.
    default_sample_type: u32,
    /// A regular expression, as a string index.
    drop_frames: u32,
    /// What `drop_frames` would drop and is kept all the same.
    keep_frames: u32,
    /// Only pprof has it; OTLP gets it as an attribute.
    doc_url: u32,
}

impl Header {
    /// A field that is not of a table.
    ///
    /// # Errors
    ///
    /// A time that is said again; what is no protobuf.
    pub(super) fn field(
        &mut self,
        tag: u32,
        mut reader: Reader,
        intake: &mut Intake,
    ) -> Result<()> {
        fields!(tag of reader, PROFILE in Version::Pprof, intake; {
            "drop_frames" => self.drop_frames = reader.index()?,
            "keep_frames" => self.keep_frames = reader.index()?,
            "time_unix_nano" => {
                let time = reader.varint()? as i64;
                if self.time != 0 && time != 0 {
                    let message = format!("the field occurs twice: {CONCATENATED}");
                    return Err(Error::malformed(message).within("time_nanos"));
                }
                self.time = if time == 0 { self.time } else { time };
            },
            "duration_nano" => self.duration = reader.varint()? as i64,
            "period_type" => {
                self.period_type = value_type(reader.message()?, self.period_type, intake)
                    .map_err(|e| e.within("period_type"))?;
            },
            "period" => self.period = reader.varint()? as i64,
            "comment_strindices" as tag => {
                any_indices(tag, &mut reader, &mut self.comments, intake)?;
            },
            "default_sample_type_strindex" => self.default_sample_type = reader.index()?,
            "doc_url" => self.doc_url = reader.index()?,
        });
        Ok(())
    }

    /// What the header says, in the model's words.
    /// It leaves the default sample type as it was said, also where no sample type has that name.
    ///
    /// # Errors
    ///
    /// An index past the string table, unless repairs are asked for; the budget.
    pub(super) fn finish(
        self,
        profile: &mut Profile,
        table: &mut Table,
        tables: &mut Tables,
        intake: &mut Intake,
    ) -> Result<()> {
        profile.time_unix_nano = self.time.into();
        profile.duration_nanos = self.duration.into();
        profile.period = self.period;
        let texts = &mut tables.texts;
        profile.sample_types.reserve_exact(self.sample_types.len());
        for (row, value_type) in self.sample_types.iter().enumerate() {
            let value_type = named(*value_type, table, texts, intake)
                .map_err(|e| e.within_row("sample_type", row))?;
            profile.sample_types.push(value_type);
        }
        profile.period_type =
            named(self.period_type, table, texts, intake).map_err(|e| e.within("period_type"))?;
        let default = table
            .text(self.default_sample_type, texts, intake)
            .map_err(|e| e.within("default_sample_type"))?;
        profile.default_sample_type = default;
        let is_default = |value_type: &ValueType| value_type.name == default;
        if default != StringId::NONE && !profile.sample_types.iter().any(is_default) {
            let message = || "no sample type has this name".to_owned();
            intake.note(losses::DEFAULT_NO_MATCH, || "default_sample_type".to_owned(), message);
        }
        self.attributes(profile, table, tables, intake)
    }

    /// Comments and filters, which the model has as attributes.
    ///
    /// The comments become one list; each filter and the URL of the documentation an attribute of
    /// its own. What is empty says nothing and is left out.
    fn attributes(
        &self,
        profile: &mut Profile,
        table: &mut Table,
        tables: &mut Tables,
        intake: &mut Intake,
    ) -> Result<()> {
        let Tables { texts, new_attributes, .. } = tables;
        let mut text = |index: u32, field: &'static str, texts: &mut Texts, intake: &mut Intake| {
            table.text(index, texts, intake).map_err(|e| e.within(field))
        };
        // All texts first: the order in which they are met is that of the string table written.
        let mut attributes = Vec::new();
        if !self.comments.is_empty() {
            intake.budget.take::<Value>(self.comments.len())?;
            let mut comments = Vec::with_capacity(self.comments.len());
            for &index in &self.comments {
                comments.push(Value::String(text(index, "comment", texts, intake)?));
            }
            attributes.push((semconv::PPROF_PROFILE_COMMENT, Value::Array(comments.into())));
        }
        for (index, key, field) in [
            (self.drop_frames, semconv::PPROF_PROFILE_DROP_FRAMES, "drop_frames"),
            (self.keep_frames, semconv::PPROF_PROFILE_KEEP_FRAMES, "keep_frames"),
            (self.doc_url, semconv::PPROF_PROFILE_DOC_URL, "doc_url"),
        ] {
            let text = text(index, field, texts, intake)?;
            if text != StringId::NONE {
                attributes.push((key, Value::String(text)));
            }
        }
        for (key, value) in attributes {
            let id = new_attributes.named(key, value, texts, intake)?;
            profile.attributes.push(id);
        }
        Ok(())
    }
}

/// A value type with the model's ids of its texts.
///
/// The ids of `value_type` are indices of the file until here.
fn named(
    value_type: ValueType,
    table: &mut Table,
    texts: &mut Texts,
    intake: &mut Intake,
) -> Result<ValueType> {
    let name = table.text(value_type.name.0, texts, intake)?;
    let unit = table.text(value_type.unit.0, texts, intake)?;
    Ok(ValueType { name, unit, temporality: None })
}

/// A value type, and what was said of it before.
///
/// Said twice, the later fields count and the earlier ones stay, as protobuf merges messages.
pub(super) fn value_type(
    mut reader: Reader,
    mut value_type: ValueType,
    intake: &mut Intake,
) -> Result<ValueType> {
    fields!(reader, VALUE_TYPE in Version::Pprof, intake; {
        "type_strindex" => value_type.name = StringId(reader.index()?),
        "unit_strindex" => value_type.unit = StringId(reader.index()?),
    });
    Ok(value_type)
}
