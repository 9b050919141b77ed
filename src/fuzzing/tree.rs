//! A protobuf message as a tree of fields in wire order, including encodings that no encoder emits.

use crate::schema::{Kind, MessageType, Version};
use crate::wire::{END_GROUP, FIXED32, FIXED64, LEN, START_GROUP, VARINT, write::varint};

/// The depth below which messages stay bytes, so that parsing does not recurse on input.
const DEEPEST: usize = 64;

/// A message: its fields in order, then bytes that are not a field.
#[derive(Clone, Debug, Default)]
pub(crate) struct Message {
    pub(crate) fields: Vec<Field>,
    /// Bytes after all fields. The path step `raw` sets them.
    pub(crate) raw: Vec<u8>,
}

/// A field as it is on the wire.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) number: u32,
    /// The least number of bytes of the tag: more than necessary makes it overlong.
    pub(crate) width: usize,
    pub(crate) value: Value,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A number, and the least number of its bytes.
    Varint(u64, usize),
    Fixed64(u64),
    Fixed32(u32),
    Bytes(Vec<u8>),
    Message(Message),
    Packed(Vec<u64>),
    /// A packed list of fixed64.
    PackedFixed(Vec<u64>),
    Group(Message),
}

impl Field {
    pub(crate) fn new(number: u32, value: Value) -> Self {
        Self { number, width: 0, value }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let tag = |wire: u32, out: &mut Vec<u8>| {
            put(out, u64::from(self.number) << 3 | u64::from(wire), self.width);
        };
        let mut body = Vec::new();
        match &self.value {
            Value::Varint(value, width) => {
                tag(VARINT, out);
                return put(out, *value, *width);
            }
            Value::Fixed64(value) => {
                tag(FIXED64, out);
                return out.extend(value.to_le_bytes());
            }
            Value::Fixed32(value) => {
                tag(FIXED32, out);
                return out.extend(value.to_le_bytes());
            }
            Value::Group(message) => {
                tag(START_GROUP, out);
                message.encode(out);
                return tag(END_GROUP, out);
            }
            Value::Bytes(bytes) => body.extend_from_slice(bytes),
            Value::Message(message) => message.encode(&mut body),
            Value::Packed(values) => values.iter().for_each(|value| varint(&mut body, *value)),
            Value::PackedFixed(values) => {
                body.extend(values.iter().flat_map(|it| it.to_le_bytes()))
            }
        }
        tag(LEN, out);
        varint(out, body.len() as u64);
        out.extend(body);
    }
}

/// Appends a varint of at least `width` bytes.
fn put(out: &mut Vec<u8>, value: u64, width: usize) {
    let start = out.len();
    varint(out, value);
    while out.len() - start < width {
        if let Some(last) = out.last_mut() {
            *last |= 0x80;
        }
        out.push(0);
    }
}

impl Message {
    /// Parses bytes. Fields that the schema declares become messages, lists or bytes; the first malformed field and
    /// everything after it becomes `raw`.
    pub(crate) fn parse(bytes: &[u8], schema: Option<(&'static MessageType, Version)>) -> Self {
        Self::parse_at(bytes, schema, 0)
    }

    fn parse_at(
        bytes: &[u8],
        schema: Option<(&'static MessageType, Version)>,
        depth: usize,
    ) -> Self {
        let (mut message, mut rest) = (Self::default(), bytes);
        while !rest.is_empty() {
            let mut at = rest;
            let Some(field) = field(&mut at, schema, depth) else { break };
            message.fields.push(field);
            rest = at;
        }
        message.raw = rest.to_vec();
        message
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        self.fields.iter().for_each(|field| field.encode(out));
        out.extend_from_slice(&self.raw);
    }

    /// Calls a function with the message and all messages inside, from the outermost.
    pub(crate) fn walk(&mut self, each: &mut impl FnMut(&mut Self)) {
        each(self);
        for field in &mut self.fields {
            if let Value::Message(inner) | Value::Group(inner) = &mut field.value {
                inner.walk(each);
            }
        }
    }
}

/// Splits a varint off the front: its value and length.
fn number(rest: &mut &[u8]) -> Option<(u64, usize)> {
    let length = rest.iter().take(10).position(|byte| *byte < 0x80)? + 1;
    let (bytes, after) = rest.split_at_checked(length)?;
    *rest = after;
    let value = bytes.iter().rev().fold(0u64, |value, byte| value << 7 | u64::from(byte & 0x7f));
    Some((value, length))
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (bytes, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(bytes)
}

fn field(
    rest: &mut &[u8],
    schema: Option<(&'static MessageType, Version)>,
    depth: usize,
) -> Option<Field> {
    let (tag, width) = number(rest)?;
    let number_of_field = u32::try_from(tag >> 3).ok()?;
    let value = match (tag & 7) as u32 {
        VARINT => number(rest).map(|(value, width)| Value::Varint(value, width))?,
        FIXED64 => Value::Fixed64(u64::from_le_bytes(take(rest, 8)?.try_into().ok()?)),
        FIXED32 => Value::Fixed32(u32::from_le_bytes(take(rest, 4)?.try_into().ok()?)),
        LEN => {
            let length = usize::try_from(number(rest)?.0).ok()?;
            delimited(take(rest, length)?, number_of_field, schema, depth)
        }
        // A group stays raw: no schema here has one.
        _ => return None,
    };
    Some(Field { number: number_of_field, width, value })
}

fn delimited(
    body: &[u8],
    number_of_field: u32,
    schema: Option<(&'static MessageType, Version)>,
    depth: usize,
) -> Value {
    let declared = schema.and_then(|(of, version)| of.numbered(number_of_field, version));
    let Some((declared, (_, version))) = declared.zip(schema) else {
        return Value::Bytes(body.to_vec());
    };
    match declared.kind {
        Kind::Message(inner) if depth < DEEPEST => {
            Value::Message(Message::parse_at(body, Some((inner, version)), depth + 1))
        }
        _ if !declared.is_list() => Value::Bytes(body.to_vec()),
        kind if kind.wire() == FIXED64 && body.len().is_multiple_of(8) => {
            let word =
                |bytes: &[u8]| bytes.iter().rev().fold(0, |all, it| all << 8 | u64::from(*it));
            Value::PackedFixed(body.chunks_exact(8).map(word).collect())
        }
        _ => {
            let (mut values, mut rest) = (Vec::new(), body);
            while let Some((value, _)) = number(&mut rest) {
                values.push(value);
            }
            if rest.is_empty() { Value::Packed(values) } else { Value::Bytes(body.to_vec()) }
        }
    }
}
