//! Rows of the attribute table.
//!
//! A `KeyValueAndUnit` holds a message that holds a value; proving all three by one look saves two
//! walks for each row. What is left to the walk: values of other kinds, keys that a convention
//! knows, rows of which the type or unit is not that of their key, and texts that are not printable
//! ASCII.
//!
//! ```text
//! 08 05  12 04 0a 02 6f 6b  18 07      { key_strindex: 5, value: { string_value: "ok" }, unit_strindex: 7 }
//! ```

use super::message::{Message, Window};
use crate::check::catalogue::OP5013;
use crate::check::context::CheckContext;
use crate::check::findings::{Position, Shown};
use crate::check::layout::MessageLayout;
use crate::check::rules::ucum;
use crate::check::state::{Attribute, Class, KeyState};
use crate::check::text;
use crate::schema::{ANY_VALUE, KEY_VALUE_AND_UNIT, Noun, Table};

/// Cells of the row and of the two members that are usual.
const KEY: usize = KEY_VALUE_AND_UNIT.cell("key_strindex");
const VALUE: usize = KEY_VALUE_AND_UNIT.cell("value");
const UNIT: usize = KEY_VALUE_AND_UNIT.cell("unit_strindex");
const TEXT: usize = ANY_VALUE.cell("string_value");
const INT: usize = ANY_VALUE.cell("int_value");

/// A row of the attribute table: a key that no convention names, and one text or integer of the type that its key has.
///
/// Type and unit of each key are held in [`KeyState`]; the first row of a key says what they are.
///
/// A unit that is none of UCUM is told here and is no reason to walk the row: a profiler that
/// writes one writes it in every row.
#[inline(always)]
pub(super) fn entry(cx: &mut CheckContext<'_>, message: &Message) -> Option<()> {
    let mut fields = message.short(cx)?;
    let tags = &message.shape.tags;
    let key = fields.exact(tags[KEY]);
    let value = fields.part(tags[VALUE])?;
    let unit_at = fields.at();
    let unit = fields.exact(tags[UNIT]);
    let bytes = value.left();
    let kind = kind_of(cx.value_shape?, value).filter(|_| bytes <= cx.long)?;
    let attribute = *cx.attributes.get(message.row())?;
    let plain = attribute.class == Class::Other && attribute.key != Attribute::NO_KEY;
    if !fields.is_done() || message.row() == 0 || key == 0 || !plain || cx.check_key_style {
        return None;
    }
    cx.has(Table::String, key)?;
    cx.has(Table::String, unit)?;
    let known = cx.payload.keys.get_mut(attribute.key as usize)?;
    if known.rows == 0 {
        *known = KeyState { kind, unit, rows: 0, ..*known };
    } else if (known.kind, known.unit) != (kind, unit) {
        return None;
    }
    known.rows += 1;
    if unit > 0 {
        is_usual(cx, message, unit, unit_at);
        cx.tables.mark(Table::String, unit);
    }
    cx.tables.mark(Table::String, key);
    cx.tables.note_plain(Table::Attribute, message.row());
    cx.owns(Noun::AnyValue, bytes);
    Some(())
}

/// The member that a value has, if it is a text or a number of which there is nothing to say.
///
/// As a bit of the member's cell, which is how [`KeyState`] holds types. The integer 0 is walked: a
/// oneof may say it, and nobody has to know here.
#[inline(always)]
fn kind_of(shape: &'static MessageLayout, mut value: Window<'_>) -> Option<u64> {
    if let Some(text) = value.part(shape.tags[TEXT]) {
        return (value.is_done() && !text::needs_check(text.rest()?)).then_some(1 << TEXT);
    }
    (value.exact(shape.tags[INT]) != 0 && value.is_done()).then_some(1 << INT)
}

/// Tells of a unit that is not usual; most attributes have that of the one before.
///
/// One unit is remembered, with the answer; it is asked again where another comes between.
#[inline(always)]
fn is_usual(cx: &mut CheckContext<'_>, message: &Message, unit: u64, at: usize) {
    if cx.unit != (unit, true) {
        let text = cx.string(unit).unwrap_or_default();
        if cx.unit.0 != unit {
            cx.unit = (unit, cx.memo.is(text, ucum::is_ucum));
        }
        if !cx.unit.1 {
            let spot = Position::at(message.start + at).field("unit_strindex");
            cx.findings.path.push(message.step);
            cx.report(&OP5013, spot, Shown(text), "");
            cx.findings.path.pop();
        }
    }
}
