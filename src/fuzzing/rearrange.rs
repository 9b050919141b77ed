//! Other encodings of the same contents.

use super::payload::Payload;
use super::random::Random;
use super::tree::{Field, Message, Value};
use crate::schema::{Kind, Label, MessageType, Version};

impl Payload {
    /// Encodes the same contents in another way: other order of fields, other packing of lists. Decoders must read
    /// the result like the original.
    pub fn rearrange(&mut self, random: &mut Random) {
        self.root.walk(&mut |message| repack(message, random));
        self.reorder(random);
    }

    /// Changes the order of fields. Fields of one number keep theirs, as do the members of a oneof.
    pub fn reorder(&mut self, random: &mut Random) {
        let schema = self.schema();
        reorder(&mut self.root, Some(schema), self.version, random);
    }
}

/// Packs, unpacks and splits lists.
fn repack(message: &mut Message, random: &mut Random) {
    let fields = std::mem::take(&mut message.fields);
    for field in fields {
        let part = |value| Field { value, ..field.clone() };
        match (&field.value, random.below(3)) {
            (Value::Packed(values), 0) => {
                message.fields.extend(values.iter().map(|value| part(Value::Varint(*value, 0))));
            }
            (Value::PackedFixed(values), 0) => {
                message.fields.extend(values.iter().map(|value| part(Value::Fixed64(*value))));
            }
            (Value::Packed(values), 1) if values.len() > 1 => {
                let (head, tail) = values.split_at(1 + random.below(values.len() - 1));
                message.fields.extend([head, tail].map(|half| part(Value::Packed(half.to_vec()))));
            }
            _ => message.fields.push(field),
        }
    }
}

fn reorder(
    message: &mut Message,
    schema: Option<&'static MessageType>,
    version: Version,
    random: &mut Random,
) {
    for field in &mut message.fields {
        if let Value::Message(inner) = &mut field.value {
            let declared = schema.and_then(|schema| schema.numbered(field.number, version));
            let inside = declared.and_then(|declared| match declared.kind {
                Kind::Message(inner) => Some(inner),
                _ => None,
            });
            reorder(inner, inside, version, random);
        }
    }
    let oneof = schema.is_some_and(|schema| schema.fields.iter().any(|it| it.label == Label::Case));
    if !oneof {
        shuffle(&mut message.fields, random);
    }
}

/// Swaps neighbours of different numbers.
fn shuffle(fields: &mut [Field], random: &mut Random) {
    for _ in 0..2 * fields.len() {
        let at = random.below(fields.len().saturating_sub(1));
        if let Some([one, other]) = fields.get_mut(at..at + 2)
            && one.number != other.number
        {
            std::mem::swap(one, other);
        }
    }
}
