//! The one form that equal rows of a table have: bytes of protobuf with fields by number, each said once and in its
//! shortest form, what is left out where it may be left out, references to the first of equal rows, sets in order.
//!
//! Nearly all rows are written so, as [`canonical`](super::canonical) finds out: their own bytes are their form, and nothing
//! has to be made.
//!
//! Two locations that differ in nothing but which of two equal functions they name are equal, and so are two attributes
//! whose lists say the same in another order. The form takes those differences away, so that bytes can be compared:
//!
//! ```text
//! location {address: 16, lines: [{function_index: 7}]}   functions 3 and 7 are equal
//! form      18 10 22 02 08 03
//! ```
//!
//! Tables are compared in an order in which each refers only to those before it, so one pass is enough.
//!
//! Resources and scopes, which are rows of no table, have this form as well; their texts, and those of values, stand in
//! place or in the table.
//!
//! It is also how duplicates are told apart cheaply: equality of what rows mean is equality of
//! bytes.

use super::context::CheckContext;
use super::fields::{Body, Fields};
use super::layout::{MessageLayout, Slot, Take};
use super::record::Record;
use super::tables::Tables;
use crate::schema::{Noun, Table};
use crate::wire::write::{field_bytes, field_message, varint};
use crate::wire::{FIXED64, VARINT};

/// The forms of the rows of a table.
pub(crate) struct Forms {
    /// The table whose rows these are; a row's number in it tells whether it is plain.
    table: Table,
    /// `None` of strings, which are their own form.
    shape: Option<&'static MessageLayout>,
    /// Whether something that its rows refer to has an equal.
    shared: bool,
    /// Whether values of its rows may have their texts by reference.
    refers: bool,
}

impl Forms {
    /// What forms of a table's rows have to look at. Tables that they refer to were compared before.
    ///
    /// Looked up once for a table: as long as nothing that its rows refer to has an equal, plain
    /// rows stay as they are.
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
    #[inline(always)]
    pub(crate) fn is_own(&self, tables: &Tables, row: u32) -> bool {
        self.shape.is_none() || (!self.shared && tables.is_plain(self.table, row as usize))
    }

    /// The form of a row; in `out` where it is not the row's own bytes.
    ///
    /// Borrows from the payload or from `out`, so that nothing is copied for plain rows.
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

/// A fingerprint of the form of a message in place, a resource or a scope: what its texts are counts, not where they stand.
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
/// In the order of field numbers, from what [`peek`](CheckContext::peek) leaves: the last of a singular
/// field, all of a repeated one. Unknown fields are left out: two rows that differ in nothing else
/// are equal to every reader of this version.
fn make(
    cx: &CheckContext<'_>,
    shape: &'static MessageLayout,
    (start, end): (usize, usize),
    out: &mut Vec<u8>,
    depth: u64,
    in_place: bool,
) {
    let found = cx.peek(shape, start, end);
    let has_text = in_place && matches!(shape.noun, Noun::KeyValue | Noun::AnyValue);
    if has_text {
        text(cx, &found, out);
    }
    for slot in shape.slots.iter().filter(|slot| !has_text || !is_text(slot)) {
        // What a row is called says nothing of what it is.
        if !found.has(slot.cell) || slot.is_id || depth > cx.limits.max_nesting {
            continue;
        }
        let tag = slot.field.number << 3;
        match slot.take {
            Take::Varint | Take::Fixed if slot.repeated => list(cx, slot, &found, out),
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

/// Appends the messages of a field, or the texts of a list, each in its form.
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
        if slot.is_set {
            set.push(out.split_off(begin));
        }
    }
    set.sort_unstable();
    set.iter().for_each(|form| out.extend_from_slice(form));
}

/// Whether a field of a pair or a value is its text, or refers to it.
fn is_text(slot: &Slot) -> bool {
    slot.take == Take::Text || matches!(slot.table, Some((Table::String, _)))
}

/// Appends the text of a pair's key or of a value, in place or by reference: as a fingerprint, since any number of them may
/// refer to a long one.
fn text(cx: &CheckContext<'_>, found: &Record, out: &mut Vec<u8>) {
    for slot in found.shape.slots.iter().filter(|slot| is_text(slot) && found.has(slot.cell)) {
        let text = match slot.take {
            Take::Text => cx.body(found, slot.cell),
            _ => cx.string(found.number(slot.cell)).unwrap_or_default(),
        };
        if !text.is_empty() || !slot.plain {
            field_bytes(out, 1, &cx.memo.fingerprint(text).to_le_bytes());
        }
    }
}

/// Appends a list of numbers, packed; nothing of an empty one.
///
/// Sets are sorted, lists keep their order: the frames of a stack are a sequence, its attributes
/// are not.
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
