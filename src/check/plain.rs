//! The one form that equal rows of a table have: bytes of protobuf with fields by number, each said once and in its
//! shortest form, what is left out where it may be left out, references to the first of equal rows, sets in order.
//!
//! Nearly all rows are written so: their own bytes are their form, and nothing has to be made.

use super::cx::Cx;
use super::record::Record;
use super::shape::{Kind, Shape, Slot, Take};
use super::tables::{Fields, again};
use crate::schema::Table;
use crate::wire::read::Reader;
use crate::wire::short::Short;
use crate::wire::write::{field_bytes, field_message, varint};
use crate::wire::{FIXED64, VARINT};

/// The form of a row; in `out` where it is not the row's own bytes.
pub(crate) fn form<'b, 'a: 'b>(
    cx: &Cx<'a>,
    shape: &'static Shape,
    body: (usize, usize),
    out: &'b mut Vec<u8>,
) -> &'b [u8] {
    let is_plain = match shape.kind {
        Kind::Stack => is_plain_stack(cx, shape, body),
        _ => {
            let fields = Reader::within(cx.bytes, body.0, body.1).short();
            fields.is_some_and(|fields| is_plain(cx, shape, fields).is_some())
        }
    };
    if is_plain {
        return cx.bytes.get(body.0..body.1).unwrap_or_default();
    }
    out.clear();
    make(cx, shape, body, out, 0);
    out
}

/// Whether a short message is in that form.
fn is_plain(cx: &Cx<'_>, shape: &'static Shape, mut fields: Short<'_>) -> Option<()> {
    let mut last = 0;
    while !fields.is_over() {
        let (tag, value) = fields.exact()?;
        let slot = shape.slot_of_code(tag)?;
        let again = tag == last && slot.repeated && slot.take == Take::Message;
        if (tag <= last && !again) || slot.is_id {
            return None;
        }
        last = tag;
        match slot.take {
            Take::Varint if !slot.repeated => {
                (cx.first_equal(slot, value) == value).then_some(())?;
            }
            Take::Varint => is_plain_list(cx, slot, fields.body(value)?)?,
            Take::Message => is_plain(cx, cx.shapes.get(slot.child), fields.body(value)?)?,
            Take::Text | Take::Bytes if !slot.repeated => drop(fields.body(value)?),
            _ => return None,
        }
    }
    fields.is_done().then_some(())
}

fn is_plain_list(cx: &Cx<'_>, slot: &Slot, mut list: Short<'_>) -> Option<()> {
    let mut last = 0;
    while !list.is_over() {
        let value = list.packed_exact()?;
        let sorted = !slot.is_set || value >= last;
        (sorted && cx.first_equal(slot, value) == value).then_some(())?;
        last = value;
    }
    list.is_done().then_some(())
}

fn is_plain_stack(cx: &Cx<'_>, shape: &'static Shape, body: (usize, usize)) -> bool {
    let list = cx.bytes.get(body.0).and_then(|tag| {
        let slot = shape.slot_of_code(*tag)?;
        let (start, end) = again(cx.bytes, body.0, body.1, *tag)?;
        (slot.repeated && end == body.1).then(|| cx.bytes.get(start..end))?
    });
    // A number in its shortest form has no byte of zeros, unless it is 0.
    let exact = |list: &[u8]| !list.iter().fold(false, |any, byte| any | (*byte == 0));
    let ends = |list: &[u8]| list.last().is_some_and(|byte| *byte < 0x80);
    cx.tables.equal[Table::Location as usize].is_empty()
        && list.is_some_and(|list| ends(list) && exact(list))
}

/// Appends the form of a message.
fn make(
    cx: &Cx<'_>,
    shape: &'static Shape,
    (start, end): (usize, usize),
    out: &mut Vec<u8>,
    depth: u64,
) {
    let found = cx.peek(shape, start, end);
    for slot in &shape.slots {
        // What a row is called says nothing of what it is.
        if !found.has(slot.cell) || slot.is_id || depth > cx.limits.max_nesting {
            continue;
        }
        let tag = slot.field.number << 3;
        match slot.take {
            Take::Varint | Take::Fixed if slot.repeated => list(cx, shape, slot, &found, out),
            Take::Varint => {
                let value = cx.first_equal(slot, found.number(slot.cell));
                if value != 0 || !slot.plain {
                    varint(out, u64::from(tag | VARINT));
                    varint(out, value);
                }
            }
            Take::Fixed => {
                let value = found.number(slot.cell);
                if value != 0 || !slot.plain {
                    varint(out, u64::from(tag | FIXED64));
                    out.extend_from_slice(&value.to_le_bytes());
                }
            }
            Take::Text | Take::Bytes if !slot.repeated => {
                let body = cx.body(&found, slot.cell);
                if !body.is_empty() || !slot.plain {
                    field_bytes(out, slot.field.number, body);
                }
            }
            _ => {
                let fields = Fields::new(cx.bytes, start, end);
                let bodies = fields.filter(|(number, _)| *number == slot.field.number);
                for body in bodies.filter_map(|(_, body)| body) {
                    field_message(out, slot.field.number, |out| match slot.take {
                        Take::Message => make(cx, cx.shapes.get(slot.child), body, out, depth + 1),
                        _ => {
                            out.extend_from_slice(cx.bytes.get(body.0..body.1).unwrap_or_default())
                        }
                    });
                }
            }
        }
    }
}

/// Appends a list of numbers, packed; nothing of an empty one.
fn list(
    cx: &Cx<'_>,
    shape: &'static Shape,
    slot: &'static Slot,
    found: &Record,
    out: &mut Vec<u8>,
) {
    let mut numbers = cx.numbers(shape, found, slot.cell).map(|row| cx.first_equal(slot, row));
    let Some(first) = numbers.next() else { return };
    let numbers = std::iter::once(first).chain(numbers);
    field_message(out, slot.field.number, |out| match slot.take {
        Take::Fixed => out.extend(numbers.flat_map(u64::to_le_bytes)),
        _ if slot.is_set => {
            let mut set: Vec<u64> = numbers.collect();
            set.sort_unstable();
            set.into_iter().for_each(|value| varint(out, value));
        }
        _ => numbers.for_each(|value| varint(out, value)),
    });
}
