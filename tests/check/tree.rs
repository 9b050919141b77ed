//! Payloads as trees of named fields, built and changed by edits such as
//! `dictionary.stack_table[1].location_indices[0]=9`.
//!
//! This module uses neither readers nor writers of the crate. Names and numbers come from the
//! descriptors of the prost types.

use std::collections::BTreeMap;
use std::iter::once;
use std::ops::Range;

use otlp_profiles::proto;
use prost::Message as _;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{FieldDescriptorProto, FileDescriptorSet};

/// A message: its fields by number, each with its values.
#[derive(Clone, Debug, Default)]
pub struct Node(BTreeMap<i32, (Type, bool, Vec<Value>)>);

/// The field `raw`: bytes after all fields of a message.
const RAW: i32 = i32::MAX;

#[derive(Clone, Debug)]
enum Value {
    Number(u64),
    Bytes(Vec<u8>),
    Node(Node),
}

/// The messages of a generation, by their last names.
pub struct Schema {
    messages: BTreeMap<String, Vec<FieldDescriptorProto>>,
    pub root: &'static str,
}

impl Schema {
    pub fn of(format: &str) -> Self {
        let (root, descriptors) = match format {
            "otlp-1.10" => ("ProfilesData", proto::v1_10::FILE_DESCRIPTOR_SET),
            "otlp-1.9" => ("ProfilesData", proto::v1_9::FILE_DESCRIPTOR_SET),
            "otlp-1.8" => ("ProfilesData", proto::v1_8::FILE_DESCRIPTOR_SET),
            "otlp-1.7" => ("ProfilesData", proto::v1_7::FILE_DESCRIPTOR_SET),
            "otlp-1.6" => ("ProfilesData", proto::v1_6::FILE_DESCRIPTOR_SET),
            "otlp-1.5" => ("ProfilesData", proto::v1_5::FILE_DESCRIPTOR_SET),
            "otlp-1.4" => ("ProfilesData", proto::v1_4::FILE_DESCRIPTOR_SET),
            "otlp-1.3" => ("ProfilesData", proto::v1_3::FILE_DESCRIPTOR_SET),
            "pprof" => ("Profile", proto::pprof::FILE_DESCRIPTOR_SET),
            other => panic!("{other} is no generation"),
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

    /// Applies edits, separated by `;`.
    #[track_caller]
    pub fn edit(&self, node: &mut Node, edits: &str) {
        for edit in edits.split(';').map(str::trim).filter(|edit| !edit.is_empty()) {
            let (path, value) = edit.split_once('=').unwrap_or_else(|| panic!("{edit}: no ="));
            self.set(node, self.root, path.trim(), value.trim());
        }
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

    #[track_caller]
    fn set(&self, node: &mut Node, message: &str, path: &str, value: &str) {
        let (step, rest) = path.split_once('.').unwrap_or((path, ""));
        let (name, row) = match step.split_once('[') {
            Some((name, row)) => (name, row.trim_end_matches(']').parse().expect("a row")),
            None => (step, 0),
        };
        if name == "raw" {
            let raw = if value == "-" { Vec::new() } else { vec![parse(Type::Bytes, value)] };
            node.0.insert(RAW, (Type::Bytes, false, raw));
            return;
        }
        let field = self.field(message, name);
        let many = field.label() == Label::Repeated;
        let entry = node.0.entry(field.number()).or_insert((field.r#type(), many, Vec::new()));
        let list = &mut entry.2;
        if rest.is_empty() {
            match value {
                "-" if step.contains('[') => drop(list.remove(row)),
                "-" => list.clear(),
                _ => {
                    let value = parse(field.r#type(), value);
                    match row {
                        row if row < list.len() => list[row] = value,
                        row => {
                            assert_eq!(row, list.len(), "{path} leaves a gap");
                            list.push(value);
                        }
                    }
                }
            }
            return;
        }
        if row == list.len() {
            list.push(Value::Node(Node::default()));
        }
        let inner = field.type_name().rsplit('.').next().expect("a message").to_owned();
        match list.get_mut(row) {
            Some(Value::Node(node)) => self.set(node, &inner, rest, value),
            _ => panic!("{path} is no message, or leaves a gap"),
        }
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

/// Parses a value: `5`, `-1`, `"text"`, `x00ff*2` or `{}`.
fn parse(kind: Type, text: &str) -> Value {
    match kind {
        Type::Message => Value::Node(Node::default()),
        Type::String | Type::Bytes => {
            if let Some(hex) = text.strip_prefix('x') {
                let (hex, times) = hex.split_once('*').unwrap_or((hex, "1"));
                let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex");
                let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
                return Value::Bytes(bytes.repeat(times.parse().expect("a number")));
            }
            Value::Bytes(text.trim_matches('"').as_bytes().to_vec())
        }
        Type::Double => Value::Number(text.parse::<f64>().expect("a double").to_bits()),
        _ => {
            let number: i128 = text.parse().unwrap_or_else(|_| panic!("{text} is no number"));
            Value::Number(number as u64)
        }
    }
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

impl Node {
    /// Changes one value of the message or of a nested one. `below` returns a random number below
    /// its argument.
    pub fn bend(&mut self, below: &mut impl FnMut(usize) -> usize) {
        const ODD: [u64; 9] = [0, 1, 2, 3, 9, 105, u64::MAX, 1 << 32, 1 << 63];
        const TEXTS: [&[u8]; 5] = [b"", b"a", b"k1", b"\xff", &[0; 16]];
        let Some((kind, many, values)) = ({
            let fields = self.0.len();
            self.0.values_mut().nth(below(fields))
        }) else {
            return;
        };
        let row = below(values.len());
        let Some(value) = values.get_mut(row) else { return };
        if let Value::Node(node) = value
            && below(5) > 0
        {
            return node.bend(below);
        }
        match below(6) {
            0 => drop(values.remove(row)),
            1 => {
                let again = values[row].clone();
                values.insert(row, again);
            }
            2 if *many => values.push(match kind {
                Type::Message => Value::Node(Self::default()),
                Type::String | Type::Bytes => Value::Bytes(TEXTS[below(TEXTS.len())].to_vec()),
                _ => Value::Number(ODD[below(ODD.len())]),
            }),
            3 => {
                let other = below(values.len());
                values.swap(row, other);
            }
            _ => match value {
                Value::Number(number) => *number = ODD[below(ODD.len())],
                Value::Bytes(bytes) => *bytes = TEXTS[below(TEXTS.len())].to_vec(),
                Value::Node(node) => *node = Self::default(),
            },
        }
    }

    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (number, (kind, many, values)) in &self.0 {
            let number = *number as u64;
            let fixed = matches!(kind, Type::Fixed64 | Type::Double);
            let packed = *many && values.iter().all(|value| matches!(value, Value::Number(_)));
            if packed && !values.is_empty() {
                let mut body = Vec::new();
                for value in values {
                    if let Value::Number(value) = value {
                        match fixed {
                            true => body.extend(value.to_le_bytes()),
                            false => varint(&mut body, *value),
                        }
                    }
                }
                delimited(&mut out, number, &body);
                continue;
            }
            for value in values {
                match value {
                    Value::Bytes(raw) if number == RAW as u64 => out.extend_from_slice(raw),
                    Value::Number(value) if fixed => {
                        varint(&mut out, number << 3 | 1);
                        out.extend(value.to_le_bytes());
                    }
                    Value::Number(value) => {
                        varint(&mut out, number << 3);
                        varint(&mut out, *value);
                    }
                    Value::Bytes(bytes) => delimited(&mut out, number, bytes),
                    Value::Node(node) => delimited(&mut out, number, &node.encode()),
                }
            }
        }
        out
    }
}

fn delimited(out: &mut Vec<u8>, number: u64, body: &[u8]) {
    varint(out, number << 3 | 2);
    varint(out, body.len() as u64);
    out.extend_from_slice(body);
}
