//! Conversion of attributes to pprof's labels.
//!
//! A label has a key with a string, or with a number and its unit. OTLP's attributes can represent more:
//!
//! | attribute | labels | loss |
//! |---|---|---|
//! | a string, an integer with its unit | one | no loss |
//! | an array | one for each element | for one element, that it was an array |
//! | a list of pairs ([`PAIR_TEXT`], [`PAIR_NUMBER`]), as labels of mixed types are read | one for each pair | for equal types and units, or a unit on the attribute, that it was a list of pairs |
//! | a boolean, a double, bytes, key-values | its text | one code for each type |
//! | empty | no label | `attr.empty` |
//!
//! OTLP 1.3 to 1.7 represent a label as pairs if its unit differs from that of its key.

use crate::losses::{self, Losses};
use crate::model::dictionary::{Attribute, Dictionary};
use crate::model::id::StringId;
use crate::model::value::{KeyValue, Value};
use crate::schema::{Generation, Pprof};
use crate::tables::attributes::labels::{PAIR_NUMBER, PAIR_TEXT, PAIR_UNIT};
use crate::tables::fields::{emit, number};
use crate::tables::write::strings::StringTable;
use crate::wire::record::field_varint;
use crate::wire::write::field_message;

/// The value of a label: a string, or a number with a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LabelValue {
    /// A string of the dictionary: `Label.str`.
    Text(StringId),
    /// A string that the dictionary lacks.
    Made(String),
    /// A number: `Label.num` and `Label.num_unit`. The unit may be unset.
    Number(i64, StringId),
}

/// Appends the labels that represent an attribute.
///
/// Called once per attribute for all its samples, so losses count attributes.
///
/// An array becomes several labels with one key; the reader converts them back to an array.
pub(crate) fn attribute_labels(
    attribute: &Attribute,
    dictionary: &Dictionary,
    losses: &mut Losses,
    out: &mut Vec<LabelValue>,
) {
    let place = || format!("attribute[{}]", dictionary.text(attribute.key));
    match &attribute.value {
        Value::Array(values) => {
            if let Some(labels) = paired(values, dictionary) {
                if attribute.unit != StringId::NONE || !is_mixed(&labels, dictionary) {
                    losses.add(losses::LABEL_PAIRS, place);
                }
                out.extend(labels);
                return;
            }
            match values.len() {
                0 => losses.add(losses::ATTR_EMPTY, place),
                1 => losses.add(losses::ATTR_ARRAY1, place),
                _ => {}
            }
            for value in values {
                out.extend(scalar(value, attribute, dictionary, losses));
            }
        }
        value => out.extend(scalar(value, attribute, dictionary, losses)),
    }
}

/// Converts a scalar value. Labels hold strings and numbers; a value of another type becomes a string, with a
/// loss that names the type.
///
/// Returns `None` only for an empty value. An integer 0 without a unit is written, but readers of pprof
/// cannot distinguish it from a label without a value; this is counted.
///
/// An empty string is written as a label without string and number, because index 0 means unset; this is
/// counted.
fn scalar(
    value: &Value,
    attribute: &Attribute,
    dictionary: &Dictionary,
    losses: &mut Losses,
) -> Option<LabelValue> {
    let place = || format!("attribute[{}]", dictionary.text(attribute.key));
    let value = match value {
        Value::Int(number) => {
            if *number == 0 && attribute.unit == StringId::NONE {
                losses.add(losses::LABEL_ZERO, place);
            }
            return Some(LabelValue::Number(*number, attribute.unit));
        }
        Value::String(StringId::NONE) => {
            losses.add(losses::ATTR_EMPTY_STRING, place);
            return Some(LabelValue::Number(0, StringId::NONE));
        }
        Value::String(text) => LabelValue::Text(*text),
        Value::Empty => {
            losses.add(losses::ATTR_EMPTY, place);
            return None;
        }
        value => {
            let code = match value {
                Value::Bool(_) => losses::ATTR_BOOL,
                Value::Double(_) => losses::ATTR_DOUBLE,
                Value::Bytes(_) => losses::ATTR_BYTES,
                // Also an array inside an array.
                _ => losses::ATTR_KVLIST,
            };
            losses.add(code, place);
            LabelValue::Made(dictionary.value(value).to_string())
        }
    };
    if attribute.unit != StringId::NONE {
        losses.add(losses::ATTR_UNIT_ON_STRING, place);
    }
    Some(value)
}

/// Converts a nonempty list of pairs to labels.
///
/// Returns `None` if an element is not a pair. The elements then become strings.
fn paired(values: &[Value], dictionary: &Dictionary) -> Option<Vec<LabelValue>> {
    let labels: Option<Vec<LabelValue>> =
        values.iter().map(|value| pair(value, dictionary)).collect();
    labels.filter(|labels| !labels.is_empty())
}

/// Returns whether labels have different types or units. The reader converts such labels back to a list of
/// pairs.
///
/// Labels of one type are read as a plain array, so the pairs are lost.
fn is_mixed(labels: &[LabelValue], dictionary: &Dictionary) -> bool {
    let kind = |label: &LabelValue| match label {
        LabelValue::Number(_, unit) => Some(dictionary.text(*unit)),
        _ => None,
    };
    labels.iter().any(|label| kind(label) != kind(&labels[0]))
}

/// Converts a pair back to the label that a plain value could not represent. Rejects an empty string or unit,
/// which no label has.
fn pair(value: &Value, dictionary: &Dictionary) -> Option<LabelValue> {
    let Value::KeyValues(pairs) = value else {
        return None;
    };
    let named = |pair: &KeyValue, name: &str| dictionary.text(pair.key) == name;
    let is_some = |text: StringId| !dictionary.text(text).is_empty();
    match &pairs[..] {
        [KeyValue { value: Value::String(text), .. }]
            if named(&pairs[0], PAIR_TEXT) && is_some(*text) =>
        {
            Some(LabelValue::Text(*text))
        }
        [KeyValue { value: Value::Int(number), .. }] if named(&pairs[0], PAIR_NUMBER) => {
            Some(LabelValue::Number(*number, StringId::NONE))
        }
        [
            KeyValue { value: Value::Int(number), .. },
            KeyValue { value: Value::String(unit), .. },
        ] if named(&pairs[0], PAIR_NUMBER) && named(&pairs[1], PAIR_UNIT) && is_some(*unit) => {
            Some(LabelValue::Number(*number, *unit))
        }
        _ => None,
    }
}

/// Writes a label.
///
/// A new string gets the next index, so labels must be written in a deterministic order.
pub(crate) fn write_label(
    out: &mut Vec<u8>,
    key: u32,
    value: &LabelValue,
    strings: &mut StringTable,
) {
    let (text, number, unit) = match value {
        LabelValue::Text(text) => (strings.index(*text), 0, 0),
        LabelValue::Made(text) => (strings.add(text.clone().into()), 0, 0),
        LabelValue::Number(number, unit) => (0, *number, strings.index(*unit)),
    };
    put_label(out, key, text, number, unit);
}

/// Writes a label whose strings are indices into the string table.
///
/// Omits zeros, as in proto3: a label with the number 0 and no unit consists of its key.
pub(crate) fn put_label(out: &mut Vec<u8>, key: u32, text: u32, number: i64, unit: u32) {
    field_message(out, number!(SAMPLE "label" in Pprof::VERSION), |out| {
        emit!(LABEL in Pprof; {
            "key_strindex" => |field| field_varint(out, field, key.into()),
            "str_strindex" => |field| field_varint(out, field, text.into()),
            "num" => |field| field_varint(out, field, number as u64),
            "num_unit_strindex" => |field| field_varint(out, field, unit.into()),
        });
    });
}
