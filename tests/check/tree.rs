//! The bytes at which a finding may be, by its path.
//!
//! This module uses neither readers nor writers of the crate. Names and numbers come from the descriptors of the prost
//! types.

use std::collections::BTreeMap;
use std::iter::once;
use std::ops::Range;

use otlp_profiles::proto;
use prost::Message as _;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{FieldDescriptorProto, FileDescriptorSet};

use super::forms::form;

/// The messages of a generation, by their last names.
pub struct Schema {
    messages: BTreeMap<String, Vec<FieldDescriptorProto>>,
    pub root: &'static str,
}

impl Schema {
    pub fn of(format: &str) -> Self {
        let (root, descriptors) = match format {
            "pprof" => ("Profile", proto::pprof::FILE_DESCRIPTOR_SET),
            otlp => ("ProfilesData", form(otlp).descriptors),
        };
        let files = FileDescriptorSet::decode(descriptors).expect("prost's own").file;
        let messages = files.into_iter().flat_map(|file| file.message_type);
        let messages = messages.map(|message| (message.name().to_owned(), message.field)).collect();
        Self { messages, root }
    }

    #[track_caller]
    fn field(&self, message: &str, name: &str) -> &FieldDescriptorProto {
        let fields = &self.messages[message];
        let found = fields.iter().find(|field| field.name() == name);
        found.unwrap_or_else(|| panic!("{message} has no field {name}"))
    }

    /// The offsets in a payload at which a finding with this path may be: the tag of a field, the
    /// contents of a message or row, or an element of a packed list. For a missing field it is the
    /// beginning of its message. A repeated field gives several offsets.
    pub fn bytes_of(&self, payload: &[u8], path: &str) -> Vec<usize> {
        let (mut message, mut places) = (self.root, Vec::from_iter(once(0..payload.len())));
        for step in path.split('.').filter(|step| !step.is_empty()) {
            let (name, row) = match step.split_once('[') {
                Some((name, row)) => (name, row.trim_end_matches(']').parse().ok()),
                None => (step, None),
            };
            let field = self.field(message, name);
            let found = places.iter().flat_map(|place| fields(payload, place.clone()));
            let found: Vec<_> = found.filter(|found| found.0 == field.number() as u64).collect();
            if found.is_empty() {
                break;
            }
            let is_message = field.r#type() == Type::Message;
            places = match row {
                None if !is_message || field.label() == Label::Repeated => {
                    found.into_iter().map(|(_, tag, ..)| tag..tag).collect()
                }
                row => {
                    let values =
                        found.into_iter().flat_map(|it| values(payload, field.r#type(), it));
                    values.skip(row.unwrap_or(0)).take(row.map_or(usize::MAX, |_| 1)).collect()
                }
            };
            message = field.type_name().rsplit('.').next().expect("a name");
        }
        places.into_iter().map(|place| place.start).collect()
    }
}

/// A field of a message: its number, the offset of its tag, the range of its value, and whether it
/// is length-delimited.
type Field = (u64, usize, Range<usize>, bool);

/// The ranges of a field's values: a message, a text, or the elements of a packed list. For an
/// unpacked number, the offset of its tag.
fn values(payload: &[u8], kind: Type, (_, tag, value, has_length): Field) -> Vec<Range<usize>> {
    let begins = |at: &usize| *at == value.start || payload[*at - 1] < 0x80;
    match kind {
        Type::Message | Type::String | Type::Bytes => vec![value],
        _ if !has_length => once(tag..tag).collect(),
        Type::Fixed64 | Type::Double => value.step_by(8).map(|at| at..at).collect(),
        _ => value.clone().filter(begins).map(|at| at..at).collect(),
    }
}

/// The fields of a message, up to the first malformed one.
fn fields(payload: &[u8], body: Range<usize>) -> Vec<Field> {
    let (mut found, mut at) = (Vec::new(), body.start);
    let varint = |at: &mut usize| {
        let length = payload[*at..body.end].iter().position(|byte| *byte < 0x80)?;
        let bytes = &payload[*at..=*at + length];
        *at += bytes.len();
        Some(bytes.iter().rev().fold(0, |value, byte| value << 7 | u64::from(byte & 0x7f)))
    };
    let mut field = || {
        let tag_at = at;
        let tag = varint(&mut at)?;
        let from = at;
        let value = match tag & 7 {
            0 => varint(&mut at).map(|_| from..at)?,
            1 => from..from + 8,
            2 => varint(&mut at).map(|length| at..at + length as usize)?,
            5 => from..from + 4,
            _ => return None,
        };
        at = value.end;
        (at <= body.end).then_some((tag >> 3, tag_at, value, tag & 7 == 2))
    };
    while let Some(next) = field() {
        found.push(next);
    }
    found
}
