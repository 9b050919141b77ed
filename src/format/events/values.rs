//! Attribute values. They equal OTLP's, except that strings are references.
//!
//! ```text
//! KeyValue { key_string_index, AnyValue }     AnyValue is a oneof: string_index, bool, int, double,
//!                                             array_value, kvlist_value, bytes
//! ```
//!
//! A string is an index here, whereas OTLP stores it inline. Otherwise both have the same cases, so both
//! convert to [`Value`] without loss.

use super::references::{Texts, text};
use crate::error::{Error, Result};
use crate::limits::within;
use crate::model::value::{KeyValue, Value};
use crate::read_context::ReadContext;
use crate::schema::Version;
use crate::tables::fields::fields;
use crate::tables::read::oneof::Oneof;
use crate::wire::read::Reader;

/// The maximum nesting of values, whatever the limits are.
///
/// Each level is a call of [`value`], so without a maximum the input would determine the depth of the call
/// stack. The limits may be stricter.
const MOST_NESTING: u64 = 32;

/// Reads a key and a value at nesting depth `depth`.
///
/// A pair without a value has [`Value::Empty`].
///
/// # Errors
///
/// An index past `texts`; nesting past `max_nesting` or [`MOST_NESTING`]; the budget.
pub(super) fn pair(
    body: &[u8],
    texts: &Texts,
    cx: &mut ReadContext,
    depth: u64,
) -> Result<KeyValue> {
    let mut reader = Reader::new(body);
    let (mut pair, mut oneof) = (KeyValue::default(), Oneof::default());
    fields!(reader, KEY_VALUE in Version::Events, cx; {
        "key_strindex" => {
            pair.key = text(reader.index()?, "key_string_index", texts, cx)?;
        },
        "value" => {
            value(reader.bytes()?, &mut oneof, texts, cx, depth)
                .map_err(|e| e.within("value"))?;
        },
    });
    pair.value = oneof.value();
    Ok(pair)
}

/// Reads a value, or a further part of one.
///
/// Protobuf allows a message to be split. [`Oneof`] merges the parts as protobuf does: the last case wins,
/// and lists of the same case are appended.
///
/// `max_nesting` counts messages as for OTLP: four for a value and three for each one around it.
fn value(
    body: &[u8],
    value: &mut Oneof,
    texts: &Texts,
    cx: &mut ReadContext,
    depth: u64,
) -> Result<()> {
    within("max_nesting", cx.limits().max_nesting, 4 + depth * 3)?;
    if depth > MOST_NESTING {
        let message = format!("values are nested more than {MOST_NESTING} levels deep");
        return Err(Error::malformed(message));
    }
    let mut reader = Reader::new(body);
    fields!(reader, ANY_VALUE in Version::Events, cx; {
        "string_value_strindex" => {
            value.set(Value::String(text(reader.index()?, "string_index", texts, cx)?));
        },
        "bool_value" => value.set(Value::Bool(reader.varint()? != 0)),
        "int_value" => value.set(Value::Int(reader.varint()? as i64)),
        "double_value" => {
            value.set(Value::Double(f64::from_bits(reader.fixed64()?)));
        },
        "array_value" => array(reader.bytes()?, value.array(), texts, cx, depth + 1)?,
        "kvlist_value" => list(reader.bytes()?, value.pairs(), texts, cx, depth + 1)?,
        "bytes_value" => {
            let bytes = reader.bytes()?;
            cx.budget.charge::<u8>(bytes.len())?;
            value.set(Value::Bytes(bytes.into()));
        },
    });
    Ok(())
}

/// Appends the elements of a list, which may be lists themselves.
///
/// `values` contains the elements of earlier parts, so the index in a place counts across all parts.
fn array(
    body: &[u8],
    values: &mut Vec<Value>,
    texts: &Texts,
    cx: &mut ReadContext,
    depth: u64,
) -> Result<()> {
    let mut reader = Reader::new(body);
    fields!(reader, ARRAY_VALUE in Version::Events, cx; {
        "values" => {
            let row = values.len();
            let mut oneof = Oneof::default();
            value(reader.bytes()?, &mut oneof, texts, cx, depth)
                .map_err(|e| e.within_row("values", row).within("array_value"))?;
            cx.budget.push(values, oneof.value())?;
        },
    });
    Ok(())
}

/// Appends the pairs of a list of keys and values.
///
/// Keeps repeated keys: the checker has a rule for them.
fn list(
    body: &[u8],
    pairs: &mut Vec<KeyValue>,
    texts: &Texts,
    cx: &mut ReadContext,
    depth: u64,
) -> Result<()> {
    let mut reader = Reader::new(body);
    fields!(reader, KEY_VALUE_LIST in Version::Events, cx; {
        "values" => {
            let row = pairs.len();
            let pair = pair(reader.bytes()?, texts, cx, depth)
                .map_err(|e| e.within_row("values", row).within("kvlist_value"))?;
            cx.budget.push(pairs, pair)?;
        },
    });
    Ok(())
}
