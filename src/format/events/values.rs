//! Values of attributes: as OTLP's, with texts by their rows.
//!
//! ```text
//! KeyValue { key_string_index, AnyValue }     AnyValue is a oneof: string_index, bool, int, double,
//!                                             array_value, kvlist_value, bytes
//! ```
//!
//! One text is one index here, where OTLP has it in place; else the two have the same cases, so
//! values of either become one [`Value`] and no case is lost on the way.

use super::references::{Texts, text};
use crate::error::{Error, Result};
use crate::format::fields::{emit, fields, number};
use crate::format::intake::Intake;
use crate::format::oneof::Oneof;
use crate::limits::within;
use crate::model::dictionary::Dictionary;
use crate::model::id::StringId;
use crate::model::value::{KeyValue, Value};
use crate::schema::EVENT_ANY_VALUE;
use crate::schema::{Events, Generation, Version};
use crate::wire::read::Reader;
use crate::wire::record::field_varint;
use crate::wire::write::{field_bytes, field_message, varint};

/// How deep values may be nested, whatever the limits say.
///
/// Each level is a call of [`value`], so the depth of input would otherwise be the depth of the
/// stack. The limits may ask for less.
const MOST_NESTING: u64 = 32;

/// A key and a value, `depth` values deep.
///
/// A pair whose value is absent has [`Value::Empty`].
///
/// # Errors
///
/// An index past `texts`; nesting past `max_nesting` or [`MOST_NESTING`]; the budget.
pub(super) fn pair(
    body: &[u8],
    texts: &Texts,
    intake: &mut Intake,
    depth: u64,
) -> Result<KeyValue> {
    let mut reader = Reader::new(body);
    let (mut pair, mut oneof) = (KeyValue::default(), Oneof::default());
    fields!(reader, EVENT_KEY_VALUE in Version::Events, intake; {
        "key_string_index" => {
            pair.key = text(reader.index()?, "key_string_index", texts, intake)?;
        },
        "value" => {
            value(reader.bytes()?, &mut oneof, texts, intake, depth)
                .map_err(|e| e.within("value"))?;
        },
    });
    pair.value = oneof.value();
    Ok(pair)
}

/// A value, or more of one.
///
/// A message may come in pieces, as protobuf allows: [`Oneof`] merges what is said several times as
/// protobuf does, so the last case wins and lists of one case are appended.
///
/// `max_nesting` counts messages as OTLP does: four for a value and three for each around it.
fn value(
    body: &[u8],
    value: &mut Oneof,
    texts: &Texts,
    intake: &mut Intake,
    depth: u64,
) -> Result<()> {
    within("max_nesting", intake.limits().max_nesting, 4 + depth * 3)?;
    if depth > MOST_NESTING {
        let message = format!("values are nested more than {MOST_NESTING} levels deep");
        return Err(Error::malformed(message));
    }
    let mut reader = Reader::new(body);
    fields!(reader, EVENT_ANY_VALUE in Version::Events, intake; {
        "string_index" => {
            value.set(Value::String(text(reader.index()?, "string_index", texts, intake)?));
        },
        "bool_value" => value.set(Value::Bool(reader.varint()? != 0)),
        "int_value" => value.set(Value::Int(reader.varint()? as i64)),
        "double_value" => {
            value.set(Value::Double(f64::from_bits(reader.fixed64()?)));
        },
        "array_value" => array(reader.bytes()?, value.array(), texts, intake, depth + 1)?,
        "kvlist_value" => list(reader.bytes()?, value.pairs(), texts, intake, depth + 1)?,
        "bytes_value" => {
            let bytes = reader.bytes()?;
            intake.budget.take::<u8>(bytes.len())?;
            value.set(Value::Bytes(bytes.into()));
        },
    });
    Ok(())
}

/// Appends the elements of a list, each of which may be a list again.
///
/// `values` holds what an earlier piece said, so the row in a place counts over all pieces.
fn array(
    body: &[u8],
    values: &mut Vec<Value>,
    texts: &Texts,
    intake: &mut Intake,
    depth: u64,
) -> Result<()> {
    let mut reader = Reader::new(body);
    fields!(reader, EVENT_ARRAY_VALUE in Version::Events, intake; {
        "values" => {
            let row = values.len();
            let mut oneof = Oneof::default();
            value(reader.bytes()?, &mut oneof, texts, intake, depth)
                .map_err(|e| e.within_row("values", row).within("array_value"))?;
            intake.budget.push(values, oneof.value())?;
        },
    });
    Ok(())
}

/// Appends the pairs of a list of keys and values.
///
/// Keys may repeat: an attribute's value is kept as it is, and the checker has a rule for it.
fn list(
    body: &[u8],
    pairs: &mut Vec<KeyValue>,
    texts: &Texts,
    intake: &mut Intake,
    depth: u64,
) -> Result<()> {
    let mut reader = Reader::new(body);
    fields!(reader, EVENT_KEY_VALUE_LIST in Version::Events, intake; {
        "values" => {
            let row = pairs.len();
            let pair = pair(reader.bytes()?, texts, intake, depth)
                .map_err(|e| e.within_row("values", row).within("kvlist_value"))?;
            intake.budget.push(pairs, pair)?;
        },
    });
    Ok(())
}

/// The texts that a value refers to.
///
/// Keys included, for marking what has to be in the table of texts. It descends as far as the value
/// was read, which [`MOST_NESTING`] or OTLP's own limit bounds.
pub(super) fn each_text(value: &Value, f: &mut impl FnMut(StringId)) {
    match value {
        Value::String(text) => f(*text),
        Value::Array(values) => values.iter().for_each(|value| each_text(value, f)),
        Value::KeyValues(pairs) => pairs.iter().for_each(|pair| {
            f(pair.key);
            each_text(&pair.value, f);
        }),
        _ => {}
    }
}

/// Writes a key and a value; `index` says the row of a text.
///
/// A key of index 0 is written as nothing, which proto3 reads as 0 again.
pub(super) fn write_pair(
    out: &mut Vec<u8>,
    (key, value): (StringId, &Value),
    dictionary: &Dictionary,
    index: &impl Fn(StringId) -> u32,
) {
    emit!(EVENT_KEY_VALUE in Events; {
        "key_string_index" => |number| field_varint(out, number, index(key).into()),
        "value" => |number| if *value != Value::Empty {
            field_message(out, number, |out| write_value(out, value, dictionary, index));
        },
    });
}

/// Writes a value; what is 0 or empty is written all the same, as a case that is set differs from one that is not.
fn write_value(
    out: &mut Vec<u8>,
    value: &Value,
    dictionary: &Dictionary,
    index: &impl Fn(StringId) -> u32,
) {
    // A case of a oneof is written though it is 0.
    let number = |out: &mut Vec<u8>, tag: u32, number: u64| {
        varint(out, tag.into());
        varint(out, number);
    };
    match value {
        Value::Empty => {}
        Value::String(text) => {
            number(out, EVENT_ANY_VALUE.tag(Events::VERSION, "string_index"), index(*text).into())
        }
        Value::Bool(truth) => {
            number(out, EVENT_ANY_VALUE.tag(Events::VERSION, "bool_value"), u64::from(*truth))
        }
        Value::Int(int) => {
            number(out, EVENT_ANY_VALUE.tag(Events::VERSION, "int_value"), *int as u64)
        }
        Value::Double(double) => {
            varint(out, EVENT_ANY_VALUE.tag(Events::VERSION, "double_value").into());
            out.extend_from_slice(&double.to_bits().to_le_bytes());
        }
        Value::Bytes(bytes) => {
            field_bytes(out, number!(EVENT_ANY_VALUE "bytes_value" in Events::VERSION), bytes)
        }
        Value::Array(values) => {
            field_message(out, number!(EVENT_ANY_VALUE "array_value" in Events::VERSION), |out| {
                for value in values {
                    field_message(
                        out,
                        number!(EVENT_ARRAY_VALUE "values" in Events::VERSION),
                        |out| {
                            write_value(out, value, dictionary, index);
                        },
                    );
                }
            })
        }
        Value::KeyValues(pairs) => {
            field_message(out, number!(EVENT_ANY_VALUE "kvlist_value" in Events::VERSION), |out| {
                for pair in pairs {
                    field_message(
                        out,
                        number!(EVENT_KEY_VALUE_LIST "values" in Events::VERSION),
                        |out| {
                            write_pair(out, (pair.key, &pair.value), dictionary, index);
                        },
                    );
                }
            });
        }
    }
}
