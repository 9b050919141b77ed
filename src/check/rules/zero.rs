//! The zero value in row 0 of every table.
//!
//! It makes 0 a safe default: an omitted `int32` is 0 in proto3, so row 0 has to be empty. The string table has had
//! this since pprof; 1.8 extended it to all others ("MUST have a zero value encoded as the first element"). A
//! reference to row 0 is thus unset, without presence bits.

use super::*;

/// The tables whose first row is the zero value.
///
/// [`strings`] checks the string table, in all generations.
const TABLES: [Table; 6] =
    [Table::Mapping, Table::Location, Table::Function, Table::Link, Table::Attribute, Table::Stack];

/// Checks row 0 of the string table.
///
/// `name` is the name of the field. The path before it is that of the dictionary, the payload or the profile,
/// depending on the generation.
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

/// Checks row 0 of the other tables, in the order of the dictionary's fields.
///
/// Runs after the walk of the tables and decodes the row once more, because the rule needs all of its fields
/// together.
pub(crate) fn tables(cx: &mut CheckContext<'_>) {
    if cx.version < Version::V1_8 {
        return;
    }
    let Some(dictionary) = cx.shapes.find(MessageKind::Dictionary) else { return };
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
                let bound = format!("{}{{}}", shape.name);
                cx.report(&OP3004, spot, first_field(&record), bound);
            }
        }
    }
}

/// The first field that does not have its default value.
///
/// Findings name it, to show why the row is not zero.
fn first_field(record: &Record) -> String {
    let odd = record.shape.slots.iter().find(|slot| {
        record.get(slot.cell).is_some_and(|cell| cell.value != 0 || cell.end > 0 || slot.repeated)
    });
    odd.map_or(String::new(), |slot| slot.field.name.to_owned())
}

/// Cells of `Link`.
const TRACE: usize = LINK.cell("trace_id");
const SPAN: usize = LINK.cell("span_id");

/// Checks link 0, which has two forms: without fields, as the schema has it, or with ids of zeros, as some readers
/// want.
///
/// Some receivers reject the long form, which is an info (`OP3007`). The short form is an info only if its rule is
/// named, in 1.10 (`OP3006`). Every other length or byte is an error.
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
/// A value message without a member counts as absent: protobuf libraries write `{value: {}}` for a value that was
/// created and never set.
pub(crate) fn is_zero_attribute(cx: &CheckContext<'_>, record: &Record) -> bool {
    record.number(KEY) == 0
        && record.number(ATTRIBUTE_UNIT) == 0
        && cx.peek_field(record, VALUE).seen == 0
}

/// Whether a row is row 0 or has only default values, and so needs no further checks. Reports the latter.
///
/// Runs before the rules of mappings, locations and functions. Before 1.8 tables have no zero value, so every row
/// is checked.
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

/// Reports a zero value after row 0.
///
/// A separate cold function, because stacks and attributes have other tests for zero.
#[cold]
pub(crate) fn extra(cx: &mut CheckContext<'_>, record: &Record) {
    cx.report(&OP3208, Position::at(record.start), "", "");
}
