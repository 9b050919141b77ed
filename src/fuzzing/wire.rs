//! Mutations that apply to any protobuf message, and the choice of a place for one.

use super::meaning;
use super::payload::Payload;
use super::random::Random;
use super::tree::{Field, Message, Value};
use super::values::{NUMBERS, TEXTS, element};
use crate::schema::{Kind, MessageType, Version};

/// Malformed ends of a message: cut numbers and lengths, field 0, groups, wire types 6 and 7.
const ENDS: [&[u8]; 12] = [
    b"\x80",
    b"\x08\x80",
    b"\x0a\x05\x00",
    b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",
    b"\x00\x00",
    b"\x0b",
    b"\x0c",
    b"\xfb\x01\xfc\x01",
    b"\x0e",
    b"\x8a\x80\x80\x80\x80\x80\x00",
    b"\x09\x01\x02",
];

impl Payload {
    /// Makes one random change that a protobuf decoder or a reader of profiles has to handle.
    pub fn mutate(&mut self, random: &mut Random) {
        mutate(self, random);
    }
}

fn mutate(payload: &mut Payload, random: &mut Random) {
    if random.below(2) == 0 && meaning::mutate(payload, random) {
        return;
    }
    let (schema, version) = (payload.schema(), payload.version);
    match random.below(40) {
        0 => payload.rearrange(random),
        1 => move_field(&mut payload.root, random),
        _ => descend(&mut payload.root, Some(schema), version, random),
    }
}

/// Changes a message, or with a chance of four in five one inside.
fn descend(
    message: &mut Message,
    schema: Option<&'static MessageType>,
    version: Version,
    random: &mut Random,
) {
    let at = random.below(message.fields.len());
    let deeper = random.below(5) > 0;
    if let Some(Field { number, value: Value::Message(inner), .. }) = message.fields.get_mut(at)
        && deeper
    {
        let declared = schema.and_then(|schema| schema.numbered(*number, version));
        let inside = declared.and_then(|declared| match declared.kind {
            Kind::Message(inner) => Some(inner),
            _ => None,
        });
        return descend(inner, inside, version, random);
    }
    match random.below(8) {
        0 | 1 => list(message, at, random),
        2 => append(message, schema, version, random),
        3 => message.raw = random.pick(&ENDS).to_vec(),
        _ => match message.fields.get_mut(at) {
            Some(field) => change(field, message_len(schema), random),
            None => append(message, schema, version, random),
        },
    }
}

fn message_len(schema: Option<&'static MessageType>) -> usize {
    schema.map_or(1, |schema| schema.fields.len())
}

/// Deletes, duplicates or swaps fields, or splits one message into two that decoders merge.
fn list(message: &mut Message, at: usize, random: &mut Random) {
    let Some(field) = message.fields.get(at).cloned() else { return };
    let other = random.below(message.fields.len());
    match (random.below(4), field) {
        (0, _) => drop(message.fields.remove(at)),
        (1, field) => message.fields.insert(other, field),
        (2, Field { number, width, value: Value::Message(mut head) }) => {
            let mut tail = Message { raw: std::mem::take(&mut head.raw), ..Message::default() };
            tail.fields = head.fields.split_off(random.below(head.fields.len() + 1));
            let half = |message| Field { number, width, value: Value::Message(message) };
            message.fields.splice(at..=at, [half(head), half(tail)]);
        }
        _ => message.fields.swap(at, other),
    }
}

/// Appends a field of the schema with a random value, or an unknown one.
fn append(
    message: &mut Message,
    schema: Option<&'static MessageType>,
    version: Version,
    random: &mut Random,
) {
    let fields = schema.map_or(0, |schema| schema.fields_in(version).count());
    let chosen = random.below(fields + 1);
    let declared = schema.and_then(|schema| schema.fields_in(version).nth(chosen));
    let number = declared.map_or(100 + random.below(30) as u32, |declared| declared.number);
    let value = match declared.map(|declared| declared.kind) {
        Some(Kind::Message(_)) => Value::Message(Message::default()),
        Some(Kind::String | Kind::Bytes) => Value::Bytes(random.pick(&TEXTS).to_vec()),
        Some(Kind::Fixed64 | Kind::Double) => Value::Fixed64(*random.pick(&NUMBERS)),
        _ => Value::Varint(*random.pick(&NUMBERS), 0),
    };
    message.fields.push(Field::new(number, value));
}

/// Changes a field: its number, its encoding or its value.
fn change(field: &mut Field, numbers: usize, random: &mut Random) {
    let number = *random.pick(&NUMBERS);
    match random.below(8) {
        0 => field.number = 1 + random.below(numbers + 2) as u32,
        1 => field.width = 2 + random.below(9),
        2 => {
            let inner = Message { fields: vec![field.clone()], raw: Vec::new() };
            field.value = Value::Group(inner);
        }
        3 => deepen(field, random),
        4 => field.value = other_wire_type(&field.value, number),
        _ => match &mut field.value {
            Value::Varint(_, width) if random.below(3) == 0 => *width = 2 + random.below(10),
            Value::Varint(value, _) => *value = number,
            Value::Fixed64(value) => *value = number,
            Value::Fixed32(value) => *value = number as u32,
            Value::Bytes(bytes) => text(bytes, random),
            Value::Packed(list) | Value::PackedFixed(list) => element(list, number, random),
            Value::Message(message) | Value::Group(message) => *message = Message::default(),
        },
    }
}

/// Nests a message in copies of its field, like recursive messages.
fn deepen(field: &mut Field, random: &mut Random) {
    let number = field.number;
    for _ in 0..*random.pick(&[1, 2, 30, 60, 120]) {
        let inner = std::mem::replace(&mut field.value, Value::Packed(Vec::new()));
        let fields = vec![Field::new(number, inner)];
        field.value = Value::Message(Message { fields, raw: Vec::new() });
    }
}

/// Packs or unpacks a number, or replaces a value with one of another wire type.
fn other_wire_type(value: &Value, number: u64) -> Value {
    match value {
        Value::Varint(value, _) => Value::Packed(vec![*value]),
        Value::Fixed64(value) => Value::PackedFixed(vec![*value]),
        Value::Packed(list) => Value::Varint(list.first().copied().unwrap_or(number), 0),
        Value::PackedFixed(list) => Value::Fixed64(list.first().copied().unwrap_or(number)),
        Value::Bytes(_) => Value::Fixed32(number as u32),
        Value::Fixed32(_) | Value::Message(_) | Value::Group(_) => Value::Varint(number, 0),
    }
}

fn text(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(bytes.len());
    match random.below(4) {
        0 => bytes.truncate(at),
        1 => bytes.extend_from_within(at..),
        2 if !bytes.is_empty() => bytes[at] = random.next_u64() as u8,
        _ => *bytes = random.pick(&TEXTS).to_vec(),
    }
}

/// Moves a field of one message to the end of another.
fn move_field(root: &mut Message, random: &mut Random) {
    let mut count = 0;
    root.walk(&mut |_| count += 1);
    let (from, to) = (random.below(count), random.below(count));
    let mut moved = None;
    nth(root, from, |message| {
        let at = random.below(message.fields.len());
        moved = (at < message.fields.len()).then(|| message.fields.remove(at));
    });
    if let Some(field) = moved {
        nth(root, to, |message| message.fields.push(field.clone()));
    }
}

/// Calls a function with the message of an index in the order of [`Message::walk`].
fn nth(root: &mut Message, index: usize, mut call: impl FnMut(&mut Message)) {
    let mut at = 0;
    root.walk(&mut |message| {
        if at == index {
            call(message);
        }
        at += 1;
    });
}
