//! Mutations that keep the wire format valid and break the meaning: references, tables, ids, times.

use super::payload::Payload;
use super::random::Random;
use super::tree::{Field, Message, Value};
use super::values::{NUMBERS, TEXTS, element};
use crate::schema::{self, Kind, Label, MessageType, Role, Table, Version};

/// The effect of a mutation.
#[derive(Clone, Copy, PartialEq)]
enum Target {
    /// A reference: its value becomes the last row, the row after it, negative, or larger than 32 bits.
    Reference,
    /// A row of a table: it is removed, repeated or swapped.
    Row,
    /// An id of bytes or of a number: it becomes zero, shorter or longer.
    Id,
    /// A time, a duration or a list of timestamps.
    Time,
    /// A number of another meaning, such as a value.
    Number,
    /// A case of a oneof: a second one is set.
    Case,
}

const TARGETS: [Target; 6] =
    [Target::Reference, Target::Row, Target::Id, Target::Time, Target::Number, Target::Case];

fn target(field: &schema::Field) -> Option<Target> {
    Some(match (field.role, field.kind) {
        (Role::Ref(_) | Role::RefById | Role::Sliced(_), _) => Target::Reference,
        (Role::SliceStart | Role::SliceLength, _) => Target::Reference,
        (Role::Row(_), _) => Target::Row,
        (Role::Id(_), _) => Target::Id,
        (Role::Times, _) => Target::Time,
        _ if field.key.contains("_nano") => Target::Time,
        _ if field.key == "id" || field.key.ends_with("_id") => Target::Id,
        _ if field.label == Label::Case => Target::Case,
        (_, Kind::Message(_) | Kind::String | Kind::Bytes) => return None,
        _ => Target::Number,
    })
}

/// Changes a random field of a random target. Returns whether there was one.
pub(super) fn mutate(payload: &mut Payload, random: &mut Random) -> bool {
    let (schema, version) = (payload.schema(), payload.version);
    let wanted = *random.pick(&TARGETS);
    let mut rows = [0; Table::COUNT];
    let mut places = 0;
    each(&mut payload.root, schema, version, &mut |message, at, field| {
        places += usize::from(target(field) == Some(wanted));
        if let Role::Row(table) | Role::Sliced(table) = field.role {
            let sliced = matches!(field.role, Role::Sliced(_));
            let table = if sliced { Table::Slice } else { table };
            rows[table as usize] += match &message.fields[at].value {
                Value::Packed(list) => list.len(),
                _ => 1,
            };
        }
    });
    let mut left = random.below(places);
    let mut done = false;
    each(&mut payload.root, schema, version, &mut |message, at, field| {
        if done || target(field) != Some(wanted) {
            return;
        }
        if left == 0 {
            done = true;
            change(message, at, field, &rows, random);
        }
        // Wraps only after the choice, when `done` stops all calls.
        left = left.wrapping_sub(1);
    });
    done
}

/// Calls a function with each field of the schema: its message and its place there.
fn each(
    message: &mut Message,
    schema: &'static MessageType,
    version: Version,
    call: &mut impl FnMut(&mut Message, usize, &'static schema::Field),
) {
    let mut at = 0;
    while let Some(field) = message.fields.get_mut(at) {
        if let Some(declared) = schema.numbered(field.number, version) {
            if let (Kind::Message(inner), Value::Message(message)) =
                (declared.kind, &mut field.value)
            {
                // Before the call, which may remove the field.
                each(message, inner, version, call);
            }
            call(message, at, declared);
        }
        at += 1;
    }
}

fn change(
    message: &mut Message,
    at: usize,
    field: &'static schema::Field,
    rows: &[usize; Table::COUNT],
    random: &mut Random,
) {
    let number = match field.role {
        Role::Ref(table) | Role::Sliced(table) => index(rows[table as usize], random),
        Role::SliceStart | Role::SliceLength => index(rows[Table::Slice as usize], random),
        _ => *random.pick(&NUMBERS),
    };
    match (&mut message.fields[at].value, target(field)) {
        (_, Some(Target::Row)) => table(message, at, random),
        (_, Some(Target::Case)) => {
            let other = Field::new(2 + random.below(2) as u32, Value::Varint(number, 0));
            message.fields.insert(at + random.below(2), other);
        }
        (Value::Bytes(id), _) => match random.below(4) {
            0 => id.fill(0),
            1 => drop(id.pop()),
            2 => id.push(1),
            _ => *id = random.pick(&TEXTS).to_vec(),
        },
        (Value::Varint(value, width), _) if random.below(6) == 0 => (*value, *width) = (number, 10),
        (Value::Varint(value, _) | Value::Fixed64(value), _) => {
            *value = near(*value, number, random)
        }
        (Value::Packed(list), _) if random.below(3) > 0 && !list.is_empty() => {
            let at = random.below(list.len());
            list[at] = near(list[at], number, random);
        }
        (Value::Packed(list) | Value::PackedFixed(list), _) => element(list, number, random),
        _ => {}
    }
}

/// Returns an index at the edge of a table with this number of rows.
fn index(rows: usize, random: &mut Random) -> u64 {
    let rows = rows as u64;
    match random.below(8) {
        0 => rows.wrapping_sub(1),
        1 => rows,
        2 => u64::MAX,
        3 => i32::MIN as u64,
        4 => i32::MAX as u64,
        5 => (1 << 32) + random.below(rows as usize + 1) as u64,
        _ => random.below(rows as usize + 2) as u64,
    }
}

/// Returns the number, or with a chance of one in three a neighbour of the old value.
fn near(old: u64, number: u64, random: &mut Random) -> u64 {
    match random.below(6) {
        0 => old.wrapping_add(1),
        1 => old.wrapping_sub(1),
        _ => number,
    }
}

/// Removes, repeats, swaps or cuts the rows of a table.
fn table(message: &mut Message, at: usize, random: &mut Random) {
    let number = message.fields[at].number;
    let rows: Vec<usize> =
        (0..message.fields.len()).filter(|other| message.fields[*other].number == number).collect();
    let other = *random.pick(&rows);
    match random.below(4) {
        0 => drop(message.fields.remove(at)),
        1 => message.fields.insert(other, message.fields[at].clone()),
        2 => message.fields.swap(at, other),
        _ => rows.iter().rev().filter(|row| **row >= at).for_each(|row| {
            message.fields.remove(*row);
        }),
    }
}
