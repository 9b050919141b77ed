//! The canonical form of table rows: equal rows have equal bytes. It is protobuf with fields by number, each once
//! and in its shortest form, without default values, with references to the first of equal rows, and with sorted
//! sets.
//!
//! Nearly all rows are written that way, which [`canonical`](super::canonical) detects: then their bytes are their
//! form, and no copy is made.
//!
//! Two locations are equal if they differ only in which of two equal functions they refer to, and two attributes if
//! they differ only in the order of a set. The form removes those differences, so that bytes can be compared:
//!
//! ```text
//! location {address: 16, lines: [{function_index: 7}]}   functions 3 and 7 are equal
//! form      18 10 22 02 08 03
//! ```
//!
//! Tables are compared in an order in which each refers only to those before it, so one pass suffices.
//!
//! Resources and scopes, which are not table rows, have a form as well. It is the same for strings in place and by
//! reference.

use super::context::CheckContext;
use super::fields::{Body, Fields};
use super::layout::{MessageLayout, Slot, Take};
use super::record::Record;
use super::tables::Tables;
use crate::schema::{MessageKind, Table};
use crate::wire::write::{field_bytes, field_message, varint};
use crate::wire::{FIXED64, VARINT};

/// The forms of the rows of a table.
pub(crate) struct CanonicalForms {
    /// The table of the rows, needed to look up whether a row is plain.
    table: Table,
    /// The layout of the rows; `None` for strings, which are their own form.
    shape: Option<&'static MessageLayout>,
    /// Whether any row that they refer to has an equal.
    shared: bool,
    /// Whether values in the rows may have strings by reference.
    refers: bool,
}

impl CanonicalForms {
    /// Prepares the forms of a table's rows. Tables that they refer to must have been compared before.
    ///
    /// Determined once for a table: as long as no referenced row has an equal, plain rows are their own form.
    pub(crate) fn of(cx: &CheckContext<'_>, table: Table) -> Self {
        let Some(shape) = cx.table_shape(table) else {
            return Self { table, shape: None, shared: false, refers: false };
        };
        let refers = |shape: &MessageLayout| {
            let mut tables = shape.slots.iter().filter_map(|slot| slot.table);
            tables.any(|(table, _)| !cx.tables.equal[table as usize].is_empty())
        };
        let mut inner = shape.slots.iter().filter(|slot| slot.take == Take::Message);
        let shared = refers(shape) || inner.any(|slot| refers(cx.shapes.get(slot.child)));
        let refers = table == Table::Attribute && cx.payload.refers;
        Self { table, shape: Some(shape), shared: shared || refers, refers }
    }

    /// Whether the form of a row is its own bytes.
    #[inline]
    pub(crate) fn is_own(&self, tables: &Tables, row: u32) -> bool {
        self.shape.is_none() || (!self.shared && tables.is_plain(self.table, row as usize))
    }

    /// The form of a row. Borrows from the payload if the row is its own form, otherwise from `out`.
    pub(crate) fn form<'b, 'a: 'b>(
        &self,
        cx: &CheckContext<'a>,
        row: u32,
        (start, end): (u32, u32),
        out: &'b mut Vec<u8>,
    ) -> &'b [u8] {
        let body = (start as usize, end as usize);
        match self.shape {
            Some(shape) if !self.is_own(&cx.tables, row) => {
                out.clear();
                make(cx, shape, body, out, 0, self.refers);
                out
            }
            _ => cx.bytes.get(body.0..body.1).unwrap_or_default(),
        }
    }
}

/// A fingerprint of the form of a resource or a scope. Strings count by value, whether in place or by reference.
pub(crate) fn in_place(
    cx: &mut CheckContext<'_>,
    shape: &'static MessageLayout,
    body: Body,
) -> u128 {
    let mut form = std::mem::take(&mut cx.scratch);
    form.clear();
    make(cx, shape, body, &mut form, 0, true);
    let print = cx.payload.fingerprint(&form);
    cx.scratch = form;
    print
}

/// Appends the form of a message.
///
/// Writes fields in the order of their numbers, as decoded by [`peek`](CheckContext::peek): the last occurrence of
/// a singular field, all of a repeated one. Omits unknown fields: rows that differ only in those are equal to every
/// reader of this version.
fn make(
    cx: &CheckContext<'_>,
    shape: &'static MessageLayout,
    (start, end): (usize, usize),
    out: &mut Vec<u8>,
    depth: u64,
    in_place: bool,
) {
    let found = cx.peek(shape, start, end);
    let has_text = in_place && matches!(shape.kind, MessageKind::KeyValue | MessageKind::AnyValue);
    if has_text {
        text(cx, &found, out);
    }
    for slot in shape.slots.iter().filter(|slot| !has_text || !is_text(slot)) {
        // The id of a row is no part of its value.
        // The limit on nesting bounds the recursion.
        if !found.has(slot.cell) || slot.is_id || depth > cx.limits.max_nesting {
            continue;
        }
        let tag = slot.field.number << 3;
        match slot.take {
            Take::Varint | Take::Fixed if slot.repeated => list(cx, slot, &found, out),
            // A default that is written out equals an absent field, unless presence counts (`oneof`, `optional`).
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
            _ => several(cx, slot, (start, end), out, depth, in_place),
        }
    }
}

/// Appends the messages of a field, or the strings of a list, each in its form.
fn several(
    cx: &CheckContext<'_>,
    slot: &'static Slot,
    (start, end): Body,
    out: &mut Vec<u8>,
    depth: u64,
    in_place: bool,
) {
    let mut set = Vec::new();
    for body in Fields::new(cx.bytes, start, end).bodies(slot.field.number) {
        let begin = out.len();
        field_message(out, slot.field.number, |out| match slot.take {
            Take::Message => make(cx, cx.shapes.get(slot.child), body, out, depth + 1, in_place),
            _ => out.extend_from_slice(cx.bytes.get(body.0..body.1).unwrap_or_default()),
        });
        // Collect the elements of a set, to sort them below.
        if slot.is_set {
            set.push(out.split_off(begin));
        }
    }
    set.sort_unstable();
    set.iter().for_each(|form| out.extend_from_slice(form));
}

/// Whether a field is a string or a reference to one.
fn is_text(slot: &Slot) -> bool {
    slot.take == Take::Text || matches!(slot.table, Some((Table::String, _)))
}

/// Appends the string of a key or a value, in place or by reference. Written as a fingerprint, because any number
/// of them may refer to a long string.
fn text(cx: &CheckContext<'_>, found: &Record, out: &mut Vec<u8>) {
    for slot in found.shape.slots.iter().filter(|slot| is_text(slot) && found.has(slot.cell)) {
        let text = match slot.take {
            Take::Text => cx.body(found, slot.cell),
            _ => cx.string(found.number(slot.cell)).unwrap_or_default(),
        };
        if !text.is_empty() || !slot.plain {
            // One number for both forms, so that a string in place equals the same string by reference.
            field_bytes(out, 1, &cx.memo.fingerprint(text).to_le_bytes());
        }
    }
}

/// Appends a list of numbers, packed; omits an empty one.
///
/// Sorts sets and keeps the order of lists: the frames of a stack are a sequence, its attributes are a set.
fn list(cx: &CheckContext<'_>, slot: &'static Slot, found: &Record, out: &mut Vec<u8>) {
    let mut numbers = cx.numbers(found, slot.cell).map(|row| cx.first_equal(slot, row));
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
