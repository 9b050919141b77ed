//! The rows of the attribute table.
//!
//! Since 1.8 a row is a `KeyValueAndUnit`, whose key and unit are references ([`entry`]). Before, it is a
//! `KeyValue` with its texts in place, and units have a separate table ([`in_place`]). Both call [`conflict`],
//! which compares each row with the earlier rows of its key.

use super::attributes::{key_style, value_type};
use super::*;
use crate::check::canonical::{Message, Place, Window};
use crate::check::text;
use crate::units::ucum::is_ucum;

/// Cells of a row's fields: members of its value, and its key, value and unit in both forms.
const DOUBLE: usize = ANY_VALUE.cell("double_value");
const TEXT: usize = ANY_VALUE.cell("string_value");
const INT: usize = ANY_VALUE.cell("int_value");
const PAIR_VALUE: usize = KEY_VALUE.cell("value");
const ENTRY_KEY: usize = KEY_VALUE_AND_UNIT.cell("key_strindex");
const ENTRY_VALUE: usize = KEY_VALUE_AND_UNIT.cell("value");
const ENTRY_UNIT: usize = KEY_VALUE_AND_UNIT.cell("unit_strindex");

/// Checks a row of the attribute table.
///
/// Row 0 is checked by [`zero`], which also reports empty rows after it. The other checks run in the order key,
/// value, unit. A key that does not resolve ends them, because all remaining rules depend on the key.
pub(crate) fn entry(cx: &mut CheckContext<'_>, record: &Record) {
    if cx.row() == 0 {
        return;
    }
    if zero::is_zero_attribute(cx, record) {
        zero::extra(cx, record);
        return;
    }
    let key = cx.string(record.number(ENTRY_KEY));
    let place = record.field(ENTRY_KEY);
    if key.is_some_and(<[u8]>::is_empty) {
        cx.report(&OP5003, place, "\"\"", "");
    }
    let body = record.body(ENTRY_VALUE);
    let kind = value_type(&cx.peek_field(record, ENTRY_VALUE));
    if kind == 0 {
        let at = if record.has(ENTRY_VALUE) { body.start } else { record.start };
        cx.report(&OP5005, Position::at(at).field("value"), "", "");
    }
    let unit = record.number(ENTRY_UNIT);
    note_unit(cx, unit, || ([], record.field(ENTRY_UNIT)));
    let Some(key) = key else { return };
    key_style(cx, place, key);
    let attribute = cx.attributes.get(cx.row());
    if let Some(attribute) = attribute.filter(|found| found.key != Attribute::NO_KEY) {
        conflict(cx, record, *attribute, kind, unit);
    }
    conventions::entry(cx, record, key, body);
}

/// Decodes and checks a canonical row: a key that no convention defines, and one string or integer with the type
/// and unit that its key has.
///
/// ```text
/// 08 05  12 04 0a 02 6f 6b  18 07      { key_strindex: 5, value: { string_value: "ok" }, unit_strindex: 7 }
/// ```
#[inline]
pub(crate) fn canonical(cx: &mut CheckContext<'_>, message: &Message) -> Option<()> {
    let mut fields = message.fields(cx)?;
    let tags = &message.shape.tags;
    let key = fields.exact(tags[ENTRY_KEY]);
    let value = fields.part(tags[ENTRY_VALUE])?;
    let unit_at = fields.at();
    let unit = fields.exact(tags[ENTRY_UNIT]);
    let bytes = value.left();
    let kind = kind_of(cx.value_shape?, value).filter(|_| bytes <= cx.long)?;
    let attribute = *cx.attributes.get(message.row())?;
    // Rows with a key that a convention defines, or without a key, are walked.
    let known = attribute.class != Class::Other || attribute.key == Attribute::NO_KEY;
    if !fields.is_done() || message.row() == 0 || key == 0 || known || cx.check_key_style {
        return None;
    }
    cx.has(Table::String, key)?;
    cx.has(Table::String, unit)?;
    let seen = cx.payload.keys.get_mut(attribute.key as usize)?;
    // The last check: it changes state if it passes.
    seen.agrees(kind, unit).then(|| seen.add(kind, unit))?;
    if unit > 0 {
        note_unit(cx, unit, message.place(unit_at, ENTRY_UNIT));
        cx.tables.mark(Table::String, unit);
    }
    cx.tables.mark(Table::String, key);
    cx.tables.note_plain(Table::Attribute, message.row());
    cx.owns(MessageKind::AnyValue, bytes);
    Some(())
}

/// The member of a canonical value, as a bit of its cell: a printable string, or an integer other than 0.
#[inline]
fn kind_of(shape: &'static MessageLayout, mut value: Window<'_>) -> Option<u64> {
    if let Some(text) = value.part(shape.tags[TEXT]) {
        return (value.is_done() && !text::needs_check(text.rest()?)).then_some(1 << TEXT);
    }
    (value.exact(shape.tags[INT]) != 0 && value.is_done()).then_some(1 << INT)
}

/// Reports a unit that is not a UCUM unit. A profiler that writes one writes it in every row, so this does not end
/// canonical decoding.
///
/// Most attributes have the unit of the row before, so the last result is cached.
#[inline]
fn note_unit(cx: &mut CheckContext<'_>, unit: u64, place: impl Place) {
    if unit == 0 || cx.unit == (unit, true) {
        return;
    }
    let Some(text) = cx.string(unit) else { return };
    if cx.unit.0 != unit {
        cx.unit = (unit, cx.memo.is(text, is_ucum));
    }
    if !cx.unit.1 {
        cx.tell(&OP5013, place, Shown(text), "");
    }
}

/// Checks a row of the attribute table before 1.8, whose unit is that of its key. Ignores other pairs.
///
/// A `KeyValue` occurs in many places; the last step of the path shows whether it is a row. Rules for every pair
/// have already run in [`attributes`].
pub(crate) fn in_place(cx: &mut CheckContext<'_>, record: &Record) {
    let is_row = cx.findings.path.last().is_some_and(|step| step.name == "attribute_table");
    let attribute = cx.attributes.get(cx.row()).filter(|_| is_row);
    let Some(attribute) = attribute.filter(|found| found.key != Attribute::NO_KEY) else { return };
    let kind = value_type(&cx.peek_field(record, PAIR_VALUE));
    conflict(cx, record, *attribute, kind, 0);
}

/// Reports rows whose key has another type or unit in an earlier row, and rows with a double.
///
/// Types are compared as bits of the member that is set, units as rows of the string table. A value without a
/// member (0) conflicts with no other. Findings are folded by key: one key with two types is one mistake, however
/// many rows have it.
fn conflict(
    cx: &mut CheckContext<'_>,
    record: &Record,
    attribute: Attribute,
    kind: u64,
    unit: u64,
) {
    let Some(seen) = cx.payload.keys.get_mut(attribute.key as usize) else { return };
    let conflicts = !seen.agrees(kind, unit) && kind != 0;
    seen.add(kind, unit);
    let double = kind == 1 << DOUBLE;
    if !conflicts && !double {
        return;
    }
    let (id, spot) = (u64::from(attribute.key), Position::at(record.start));
    let key = Shown(lists::key_of(cx, cx.row() as u64)).to_string();
    if conflicts {
        cx.findings.report_folded(&OP5031, id, spot, &key, "one type and one unit");
    }
    if double {
        cx.findings.report_folded(&OP5016, id, spot, &key, "");
    }
}
