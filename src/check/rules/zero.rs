//! The zero element that begins every table.
//!
//! It is what makes 0 a safe default: an `int32` that is left out is 0 in proto3, so row 0 has to
//! mean nothing. The string table has had this since pprof; 1.8 gave it to all others ("MUST have a
//! zero value encoded as the first element"). A field that refers to row 0 thus says "unset"
//! without presence bits.

use super::*;

/// The tables whose first row is the zero value.
///
/// Strings are asked by [`strings`], in all generations.
const TABLES: [Table; 6] =
    [Table::Mapping, Table::Location, Table::Function, Table::Link, Table::Attribute, Table::Stack];

/// The string table of what the path leads to.
///
/// `name` is the field's, as it changed its place but not its name: the path before it is the
/// dictionary, the payload or the profile.
pub(crate) fn strings(cx: &mut CheckContext<'_>, name: &'static str) {
    match cx.tables.row(Table::String, 0) {
        None => {
            cx.report(&OP3001, Position::nowhere().field(name), "", "the empty string as entry 0")
        }
        Some((start, end)) if start < end => {
            let text = cx.bytes.get(start..end).unwrap_or_default();
            cx.report(&OP3002, Position::at(start).field(name).row(0), Shown(text), "\"\"");
        }
        Some(_) => {}
    }
}

/// The first rows of the other tables.
///
/// In the order of the dictionary's fields. The row is taken apart once more, as the rule needs all
/// of it at once, when the walk of the table is over.
pub(crate) fn tables(cx: &mut CheckContext<'_>) {
    if cx.version < Version::V1_8 {
        return;
    }
    let Some(dictionary) = cx.shapes.find(Noun::Dictionary) else { return };
    for slot in &dictionary.slots {
        let Role::Row(table) = slot.field.role else { continue };
        if !TABLES.contains(&table) {
            continue;
        }
        let spot = Position::nowhere().field(slot.field.name);
        let Some((start, end)) = cx.tables.row(table, 0) else {
            cx.report(&OP3003, spot, "", "the zero value as entry 0");
            continue;
        };
        let shape = cx.shapes.get(slot.child);
        let record = cx.peek(shape, start, end);
        let spot = Position::at(start).field(slot.field.name).row(0);
        match table {
            Table::Link => first_link(cx, &record, spot),
            Table::Attribute if !is_zero_attribute(cx, &record) => {
                cx.report(&OP3008, spot, first_field(&record), "KeyValueAndUnit{}");
            }
            Table::Attribute => {}
            _ if record.is_zero() => {}
            _ => {
                let bound = format_args!("{}{{}}", shape.name);
                cx.report(&OP3004, spot, first_field(&record), bound);
            }
        }
    }
}

/// The first field that is not what it is when it is left out.
///
/// For the finding, so that people see what makes the row a row.
fn first_field(record: &Record) -> String {
    let odd = record.shape.slots.iter().find(|slot| {
        record.get(slot.cell).is_some_and(|cell| cell.value != 0 || cell.end > 0 || slot.repeated)
    });
    odd.map_or(String::new(), |slot| slot.field.name.to_owned())
}

/// Cells of `Link`.
const TRACE: usize = LINK.cell("trace_id");
const SPAN: usize = LINK.cell("span_id");

/// Link 0 in its two forms: without fields, which is the schema's, or with ids of zeros, which some readers want.
///
/// Four outcomes: the short form is an info in 1.10 alone (`OP3006`), the long one an info
/// everywhere (`OP3007`), since each is refused by somebody; every other length or byte is an
/// error.
fn first_link(cx: &mut CheckContext<'_>, record: &Record, spot: Position) {
    let (trace, span) = (cx.body(record, TRACE), cx.body(record, SPAN));
    let found = format!("ids of {} and {} bytes", trace.len(), span.len());
    match (trace.len(), span.len()) {
        (0, 0) => cx.report(&OP3006, spot, "Link{}", "16 and 8 zero bytes"),
        (16, 8) if trace.iter().chain(span).all(|byte| *byte == 0) => {
            cx.report(&OP3007, spot, "16 and 8 zero bytes", "Link{}");
        }
        (16, 8) => cx.report(&OP3005, spot, "an id that is not zero", "zero bytes"),
        _ => cx.report(&OP3005, spot, found, "empty ids, or 16 and 8 zero bytes"),
    }
}

/// Cells of `KeyValueAndUnit`.
const VALUE: usize = KEY_VALUE_AND_UNIT.cell("value");
const KEY: usize = KEY_VALUE_AND_UNIT.cell("key_strindex");
const ATTRIBUTE_UNIT: usize = KEY_VALUE_AND_UNIT.cell("unit_strindex");

/// Whether an attribute has neither key nor unit, nor a value with a member.
///
/// A value message without a member counts as absent: `{value: {}}` is what protobuf libraries
/// write for a value that was created and never set.
pub(crate) fn is_zero_attribute(cx: &CheckContext<'_>, record: &Record) -> bool {
    record.number(KEY) == 0 && record.number(ATTRIBUTE_UNIT) == 0 && {
        let value = record.shape.of_cell(VALUE).map(|slot| cx.shapes.get(slot.child));
        let body = record.body(VALUE);
        value.is_none_or(|value| cx.peek(value, body.start, body.end).seen == 0)
    }
}

/// Whether a row of a table says nothing, or is the zero value: then no rule of its kind is asked.
///
/// For mappings, locations and functions, before their own rules. Before 1.8 every row is a row.
#[inline]
pub(crate) fn is_zero_row(cx: &mut CheckContext<'_>, record: &Record) -> bool {
    if cx.version < Version::V1_8 {
        return false;
    }
    let first = cx.row() == 0;
    if first || !record.is_zero() {
        return first;
    }
    extra(cx, record);
    true
}

/// A zero value behind the first one.
///
/// Cold, and apart, as stacks and attributes decide for themselves what is zero.
#[cold]
pub(crate) fn extra(cx: &mut CheckContext<'_>, record: &Record) {
    cx.report(&OP3208, Position::at(record.start), "", "");
}
