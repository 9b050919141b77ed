//! Fields that occur once in a file: times, the period, comments.
//!
//! These fields may be anywhere in the file, between rows of tables; [`layout`](super::layout) lists their
//! places. They refer to strings that may follow, so they are stored as indices and resolved at the end.
//!
//! | field of `Profile` | in the model |
//! |---|---|
//! | `time_nanos`, `duration_nanos`, `period`, `period_type` | fields of the profile |
//! | `sample_type`, `default_sample_type` | fields of the profile |
//! | `comment` | `pprof.profile.comment`, a list |
//! | `drop_frames`, `keep_frames`, `doc_url` | `pprof.profile.drop_frames` … |

use crate::error::{Error, Result};
use crate::losses;
use crate::model::id::StringId;
use crate::model::profile::{Profile, ValueType};
use crate::model::value::Value;
use crate::read_context::ReadContext;
use crate::schema::Version;
use crate::semconv;
use crate::tables::fields::fields;
use crate::tables::read::common::any_indices;
use crate::tables::read::string_interner::StringInterner;
use crate::tables::read::tables::Tables;
use crate::wire::read::Reader;

use crate::format::pprof::strings::{CONCATENATED, Table};
/// The fields that occur once.
///
/// Numbers are indices into the string table, which may follow in the file.
#[derive(Debug, Default)]
pub(super) struct Header {
    /// In the order of the columns of values.
    pub(super) sample_types: Vec<ValueType>,
    /// The type and the unit of `period`, such as `cpu` in `nanoseconds`.
    period_type: ValueType,
    /// In the unit of `period_type`; 0 means unset.
    period: i64,
    /// Nanoseconds since 1970. If it occurs twice, the file consists of two files joined by `cat`.
    time: i64,
    /// In nanoseconds.
    duration: i64,
    /// The comments in their order.
    comments: Vec<u32>,
    /// A string index: the name of a sample type.
    ///
    /// 0 means unset; tools then show the last column.
    default_sample_type: u32,
    /// A regular expression, as a string index.
    drop_frames: u32,
    /// A regular expression for exceptions from `drop_frames`.
    keep_frames: u32,
    /// A field of pprof only; an attribute in OTLP.
    doc_url: u32,
}

impl Header {
    /// Reads a field that is not a row of a table.
    ///
    /// # Errors
    ///
    /// A repeated time; input that is not protobuf.
    pub(super) fn field(
        &mut self,
        tag: u32,
        mut reader: Reader,
        cx: &mut ReadContext,
    ) -> Result<()> {
        fields!(tag of reader, PROFILE in Version::Pprof, cx; {
            "drop_frames" => self.drop_frames = reader.index()?,
            "keep_frames" => self.keep_frames = reader.index()?,
            "time_unix_nano" => {
                let time = reader.varint()? as i64;
                // A time of 0 equals an omitted one, so it does not show a second file.
                if self.time != 0 && time != 0 {
                    let message = format!("the field occurs twice: {CONCATENATED}");
                    return Err(Error::malformed(message).within("time_nanos"));
                }
                self.time = time;
            },
            "duration_nano" => self.duration = reader.varint()? as i64,
            "period_type" => {
                self.period_type = value_type(reader.message()?, self.period_type, cx)
                    .map_err(|e| e.within("period_type"))?;
            },
            "period" => self.period = reader.varint()? as i64,
            "comment_strindices" as tag => {
                any_indices(tag, &mut reader, &mut self.comments, cx)?;
            },
            "default_sample_type_strindex" => self.default_sample_type = reader.index()?,
            "doc_url" => self.doc_url = reader.index()?,
        });
        Ok(())
    }

    /// Stores the fields in the model. Keeps the default sample type even if no sample type has that name.
    ///
    /// # Errors
    ///
    /// An index past the string table, unless the policy is to repair; the budget.
    pub(super) fn finish(
        self,
        profile: &mut Profile,
        table: &mut Table,
        tables: &mut Tables,
        cx: &mut ReadContext,
    ) -> Result<()> {
        profile.time_unix_nano = self.time.into();
        profile.duration_nanos = self.duration.into();
        profile.period = self.period;
        let texts = &mut tables.texts;
        profile.sample_types.reserve_exact(self.sample_types.len());
        for (row, value_type) in self.sample_types.iter().enumerate() {
            let value_type = named(*value_type, table, texts, cx)
                .map_err(|e| e.within_row("sample_type", row))?;
            profile.sample_types.push(value_type);
        }
        profile.period_type =
            named(self.period_type, table, texts, cx).map_err(|e| e.within("period_type"))?;
        let default = table
            .text(self.default_sample_type, texts, cx)
            .map_err(|e| e.within("default_sample_type"))?;
        profile.default_sample_type = default;
        let is_default = |value_type: &ValueType| value_type.name == default;
        if default != StringId::NONE && !profile.sample_types.iter().any(is_default) {
            let message = || "no sample type has this name".to_owned();
            cx.note(losses::DEFAULT_NO_MATCH, || "default_sample_type".to_owned(), message);
        }
        self.attributes(profile, table, tables, cx)
    }

    /// Converts comments, filters and the documentation URL to attributes.
    ///
    /// The comments become one list; each of the others becomes a separate attribute. Empty strings are
    /// dropped, because they equal unset fields.
    fn attributes(
        &self,
        profile: &mut Profile,
        table: &mut Table,
        tables: &mut Tables,
        cx: &mut ReadContext,
    ) -> Result<()> {
        let Tables { texts, new_attributes, .. } = tables;
        let mut text =
            |index: u32, field: &'static str, texts: &mut StringInterner, cx: &mut ReadContext| {
                table.text(index, texts, cx).map_err(|e| e.within(field))
            };
        // Intern all strings first: the order of interning is the order of the string table written.
        let mut attributes = Vec::new();
        if !self.comments.is_empty() {
            cx.budget.charge::<Value>(self.comments.len())?;
            let mut comments = Vec::with_capacity(self.comments.len());
            for &index in &self.comments {
                comments.push(Value::String(text(index, "comment", texts, cx)?));
            }
            attributes.push((semconv::PPROF_PROFILE_COMMENT, Value::Array(comments.into())));
        }
        for (index, key, field) in [
            (self.drop_frames, semconv::PPROF_PROFILE_DROP_FRAMES, "drop_frames"),
            (self.keep_frames, semconv::PPROF_PROFILE_KEEP_FRAMES, "keep_frames"),
            (self.doc_url, semconv::PPROF_PROFILE_DOC_URL, "doc_url"),
        ] {
            let text = text(index, field, texts, cx)?;
            if text != StringId::NONE {
                attributes.push((key, Value::String(text)));
            }
        }
        for (key, value) in attributes {
            let id = new_attributes.named(key, value, texts, cx)?;
            profile.attributes.push(id);
        }
        Ok(())
    }
}

/// Resolves the strings of a value type. `value_type` holds indices of the file.
fn named(
    value_type: ValueType,
    table: &mut Table,
    texts: &mut StringInterner,
    cx: &mut ReadContext,
) -> Result<ValueType> {
    let name = table.text(value_type.name.0, texts, cx)?;
    let unit = table.text(value_type.unit.0, texts, cx)?;
    Ok(ValueType { name, unit, temporality: None })
}

/// Reads a value type into an existing one.
///
/// If it occurs twice, the fields of the second occurrence win, and fields missing there are kept, as in
/// protobuf's merging of messages.
pub(super) fn value_type(
    mut reader: Reader,
    mut value_type: ValueType,
    cx: &mut ReadContext,
) -> Result<ValueType> {
    fields!(reader, VALUE_TYPE in Version::Pprof, cx; {
        "type_strindex" => value_type.name = StringId(reader.index()?),
        "unit_strindex" => value_type.unit = StringId(reader.index()?),
    });
    Ok(value_type)
}
