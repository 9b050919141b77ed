//! The rows of the attribute table.
//!
//! Since 1.8 a row is a `KeyValueAndUnit`, whose key and unit are references ([`entry`]); before,
//! it is a `KeyValue` with its texts in place, and units are a table of their own ([`in_place`]).
//! Both end in [`conflict`], which holds each row against the first one of its key.

use super::attributes::{key_style, value_type};
use super::ucum::is_ucum;
use super::*;

/// Cells of what a row holds: the member of its value that is a measurement, and its key, value and
/// unit in both forms.
const DOUBLE: usize = ANY_VALUE.cell("double_value");
const PAIR_VALUE: usize = KEY_VALUE.cell("value");
const ENTRY_KEY: usize = KEY_VALUE_AND_UNIT.cell("key_strindex");
const ENTRY_VALUE: usize = KEY_VALUE_AND_UNIT.cell("value");
const ENTRY_UNIT: usize = KEY_VALUE_AND_UNIT.cell("unit_strindex");

/// A row of the attribute table.
///
/// Row 0 is judged by [`zero`], which also has rows behind it that say nothing. The rest is asked
/// in the order key, value, unit; a key that leads nowhere ends it, as all that is left is asked by
/// key.
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
    let Some(value) = cx.shapes.find(Noun::AnyValue) else { return };
    let kind = value_type(&cx.peek(value, body.start, body.end));
    if kind == 0 {
        let at = if record.has(ENTRY_VALUE) { body.start } else { record.start };
        cx.report(&OP5005, Position::at(at).field("value"), "", "");
    }
    let unit = record.number(ENTRY_UNIT);
    if let Some(text) = cx.string(unit).filter(|text| unit != 0 && !cx.memo.is(text, is_ucum)) {
        cx.report(&OP5013, record.field(ENTRY_UNIT), Shown(text), "");
    }
    let Some(key) = key else { return };
    key_style(cx, place, key);
    let attribute = cx.attributes.get(cx.row());
    if let Some(attribute) = attribute.filter(|found| found.key != Attribute::NO_KEY) {
        conflict(cx, record, *attribute, kind, unit);
    }
    conventions::entry(cx, record, key, body);
}

/// A row of the attribute table before 1.8, if it is one: its unit is that of its key.
///
/// A `KeyValue` stands in many places; that it is a row shows in the last step of the path. What is
/// asked of every pair is asked by [`attributes`](super::attributes) already.
pub(crate) fn in_place(cx: &mut CheckContext<'_>, record: &Record) {
    let is_row = cx.findings.path.last().is_some_and(|step| step.name == "attribute_table");
    let Some(value) = cx.shapes.find(Noun::AnyValue).filter(|_| is_row) else { return };
    let body = record.body(PAIR_VALUE);
    let kind = value_type(&cx.peek(value, body.start, body.end));
    let attribute = cx.attributes.get(cx.row());
    let Some(attribute) = attribute.filter(|found| found.key != Attribute::NO_KEY) else { return };
    conflict(cx, record, *attribute, kind, 0);
}

/// One key: one type, and one unit.
///
/// Types are compared as bits of the member that is set, units as rows of the string table. A value
/// without a member (0) conflicts with nothing. Findings are folded by key: one key of two types is
/// one mistake, however many rows have it.
fn conflict(
    cx: &mut CheckContext<'_>,
    record: &Record,
    attribute: Attribute,
    kind: u64,
    unit: u64,
) {
    let Some(seen) = cx.payload.keys.get_mut(attribute.key as usize) else { return };
    if seen.rows == 0 {
        *seen = KeyState { kind, unit, rows: 0, ..*seen };
    }
    seen.rows += 1;
    let conflicts = (seen.kind, seen.unit) != (kind, unit) && kind != 0;
    let double = kind == 1 << DOUBLE;
    if !conflicts && !double {
        return;
    }
    let (id, spot) = (u64::from(attribute.key), Position::at(record.start));
    let key = Shown(lists::key_of(cx, cx.row() as u64)).to_string();
    if conflicts {
        cx.report_folded(&OP5031, id, spot, &key, "one type and one unit");
    }
    if double {
        cx.report_folded(&OP5016, id, spot, &key, "");
    }
}
