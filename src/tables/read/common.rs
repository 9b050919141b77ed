//! Reader of messages that all signals share: values, resources, scopes.
//!
//! Inline strings are interned at once ([`StringInterner::intern`]). References to strings are resolved at once as
//! well, because the first pass has collected the string table.
//!
//! The messages are those of `common.proto` and `resource.proto`. Their field numbers never changed. 1.6 and
//! 1.10 added some fields; the schema lacks these for older generations.

use crate::error::{Error, Result};
use crate::limits::within;
use crate::losses::{self, LossCode};
use crate::model::dictionary::Attribute;
use crate::model::id::StringId;
use crate::model::value::{KeyValue, Value};
use crate::model::{EntityRef, Resource, Scope};
use crate::read_context::ReadContext;
use crate::schema::{ANY_VALUE, Generation, KEY_VALUE, Version};
use crate::tables::fields::{fields, number};
use crate::tables::read::oneof::Oneof;
use crate::tables::read::string_interner::StringInterner;
use crate::wire::LEN;
use crate::wire::read::Reader;

/// Reads an id of fixed length, or an empty id.
///
/// # Errors
///
/// Any other length, unless the policy is to repair. Then the id is all zeros, which means unset.
pub(crate) fn fixed_id<const N: usize>(
    id: &[u8],
    out: &mut [u8; N],
    code: LossCode,
    cx: &mut ReadContext,
) -> Result<()> {
    match <&[u8; N]>::try_from(id) {
        Ok(id) => *out = *id,
        Err(_) if id.is_empty() => *out = [0; N],
        Err(_) => {
            let error = Error::malformed(format!(
                "the id has {} bytes, expected {N} bytes or an empty id",
                id.len()
            ));
            cx.repair(code, error.at(id))?;
            *out = [0; N];
        }
    }
    Ok(())
}

/// Resolves an index into the string table. 0 is the empty string even if there is no table.
///
/// # Errors
///
/// An index past the table, unless the policy is to repair. Then the string is unset.
pub(crate) fn table_text(
    index: u32,
    texts: &StringInterner,
    cx: &mut ReadContext,
) -> Result<StringId> {
    if let Some(ids) = &texts.merged {
        return find(ids, index, cx);
    }
    // `table_rows` counts the empty string that a repair put first; indices of the payload do not.
    let rows = texts.table_rows - texts.own;
    if index == 0 {
        return Ok(StringId::NONE);
    } else if index < rows {
        return Ok(StringId(index + texts.own));
    }
    let message = format!("{} is out of range: the table has {rows} strings", show(index));
    cx.repair(losses::INDEX_OUT_OF_RANGE, Error::malformed(message))?;
    Ok(StringId::NONE)
}

/// Returns the id of a row of a table whose equal rows were merged; unset for row 0 of an empty table.
///
/// # Errors
///
/// An index past the table, unless the policy is to repair. Then the reference is unset.
pub(crate) fn find<I: Copy + Default>(ids: &[I], index: u32, cx: &mut ReadContext) -> Result<I> {
    match ids.get(index as usize) {
        Some(id) => Ok(*id),
        None if index == 0 => Ok(I::default()),
        None => {
            let rows = ids.len();
            let message = format!("{} is out of range: the table has {rows} rows", show(index));
            cx.repair(losses::INDEX_OUT_OF_RANGE, Error::malformed(message))?;
            Ok(I::default())
        }
    }
}

/// Resolves an index like [`table_text`], for a field that requires a string: 0 is string 0, even if that is
/// not empty.
pub(crate) fn table_name(
    index: u32,
    texts: &StringInterner,
    cx: &mut ReadContext,
) -> Result<StringId> {
    if index == 0 { Ok(StringId(texts.own)) } else { table_text(index, texts, cx) }
}

/// Reads a field that is the index of a string.
///
/// `field` is the name in the schema, for the place of an error.
pub(crate) fn text_at(
    reader: &mut Reader,
    field: &'static str,
    texts: &StringInterner,
    cx: &mut ReadContext,
) -> Result<StringId> {
    table_text(reader.index()?, texts, cx).map_err(|e| e.within(field))
}

/// Resolves the index of a field that requires a string.
fn name_at(
    index: u32,
    field: &'static str,
    texts: &StringInterner,
    cx: &mut ReadContext,
) -> Result<StringId> {
    table_name(index, texts, cx).map_err(|e| e.within(field))
}

/// Formats an index for a message.
///
/// The reader decodes a negative varint and one of more than 32 bits to two marker values past the end of any
/// table; this function translates them back.
pub(crate) fn show(index: u32) -> String {
    match index {
        crate::wire::varint::NEGATIVE_INDEX => "negative index".to_owned(),
        crate::wire::varint::OVERSIZED_INDEX => "index of more than 32 bits".to_owned(),
        index => format!("index {index}"),
    }
}

/// Reads a `KeyValueAndUnit` of `profiles.proto`: a row of the attribute table since 1.8, with indices for
/// key and unit.
///
/// # Errors
///
/// An index past the string table, values nested too deep, the budget.
pub(crate) fn key_value_and_unit<G: Generation>(
    body: &[u8],
    texts: &mut StringInterner,
    cx: &mut ReadContext,
) -> Result<Attribute> {
    let mut reader = Reader::new(body);
    let (mut attribute, mut value, mut key) = (Attribute::default(), Oneof::default(), 0);
    fields!(reader, KEY_VALUE_AND_UNIT in G::VERSION, cx; {
        "key_strindex" => key = reader.index()?,
        "value" => {
            any_value::<G>(reader.bytes()?, &mut value, texts, cx, 0)
                .map_err(|e| e.within("value"))?;
        },
        "unit_strindex" => attribute.unit = text_at(&mut reader, "unit_strindex", texts, cx)?,
    });
    attribute.value = value.value();
    // An empty row is row 0 even if string 0 is missing or not empty.
    if key != 0 || attribute != Attribute::default() {
        attribute.key = name_at(key, "key_strindex", texts, cx)?;
    }
    Ok(attribute)
}

/// Reads a pair with an inline key or, in 1.10, a reference. `depth` is the number of value messages around
/// it.
///
/// By the proto, the inline key is empty if a reference is set. If both are set, the inline key wins.
///
/// # Errors
///
/// An index past the string table, values nested too deep, the budget.
pub(crate) fn key_value<G: Generation>(
    body: &[u8],
    texts: &mut StringInterner,
    cx: &mut ReadContext,
    depth: u64,
) -> Result<KeyValue> {
    let mut reader = Reader::new(body);
    let (mut pair, mut value) = (KeyValue::default(), Oneof::default());
    let mut reference = 0;
    fields!(reader, KEY_VALUE in G::VERSION, cx; {
        "key" => pair.key = texts.intern(reader.bytes()?, cx)?,
        "value" => {
            any_value::<G>(reader.bytes()?, &mut value, texts, cx, depth)
                .map_err(|e| e.within("value"))?;
        },
        "key_strindex" => reference = reader.index()?,
    });
    if G::CAPABILITIES.string_references {
        let field = const { KEY_VALUE.field_name(G::VERSION, "key_strindex") };
        let key = name_at(reference, field, texts, cx)?;
        pair.key = pair.key.some().unwrap_or(key);
    }
    pair.value = value.value();
    Ok(pair)
}

/// The maximum number of arrays and maps around a value of events.
const MOST_IN_EVENTS: u64 = 32;

/// Reads a value, or a further part of one.
///
/// If strings may be inline, a reference of 0 means that there is no string. Then `string_value_strindex`
/// cannot represent the empty string.
///
/// # Errors
///
/// [`Limit`](crate::ErrorKind::Limit) if `max_nesting` is exceeded, counted in messages: two for each array
/// around the value, three for each map. In events an array counts as three messages, too.
fn any_value<G: Generation>(
    body: &[u8],
    value: &mut Oneof,
    texts: &mut StringInterner,
    cx: &mut ReadContext,
    depth: u64,
) -> Result<()> {
    // The four outer messages: payload, resource, attribute list, attribute.
    within("max_nesting", cx.limits().max_nesting, 4 + depth)?;
    let is_event = G::VERSION == Version::Events;
    if is_event && depth > 3 * MOST_IN_EVENTS {
        let message = format!("values are nested more than {MOST_IN_EVENTS} levels deep");
        return Err(Error::malformed(message));
    }
    let mut reader = Reader::new(body);
    fields!(reader, ANY_VALUE in G::VERSION, cx; {
        "string_value" => value.set(Value::String(texts.intern(reader.bytes()?, cx)?)),
        "bool_value" => value.set(Value::Bool(reader.varint()? != 0)),
        "int_value" => value.set(Value::Int(reader.varint()? as i64)),
        "double_value" => value.set(Value::Double(f64::from_bits(reader.fixed64()?))),
        "array_value" => {
            let depth = depth + if is_event { 3 } else { 2 };
            array::<G>(reader.bytes()?, value.array(), texts, cx, depth)?;
        },
        "kvlist_value" => {
            key_values::<G>(reader.bytes()?, value.pairs(), texts, cx, depth + 3)?;
        },
        "bytes_value" => {
            let bytes = reader.bytes()?;
            cx.budget.charge::<u8>(bytes.len())?;
            value.set(Value::Bytes(bytes.into()));
        },
        "string_value_strindex" => {
            let field = const { ANY_VALUE.field_name(G::VERSION, "string_value_strindex") };
            let text = name_at(reader.index()?, field, texts, cx)?;
            let may_be_inline = number!(ANY_VALUE "string_value" in G::VERSION) != 0;
            value.set(match text {
                StringId::NONE if may_be_inline => Value::Empty,
                text => Value::String(text),
            });
        },
    });
    Ok(())
}

/// Appends the elements of an `ArrayValue` to those of earlier occurrences of the field.
fn array<G: Generation>(
    body: &[u8],
    values: &mut Vec<Value>,
    texts: &mut StringInterner,
    cx: &mut ReadContext,
    depth: u64,
) -> Result<()> {
    let mut reader = Reader::new(body);
    fields!(reader, ARRAY_VALUE in G::VERSION, cx; {
        "values" => {
            let row = values.len();
            let mut value = Oneof::default();
            any_value::<G>(reader.bytes()?, &mut value, texts, cx, depth)
                .map_err(|e| e.within_row("values", row).within("array_value"))?;
            cx.budget.push(values, value.value())?;
        },
    });
    Ok(())
}

/// Appends the pairs of a `KeyValueList`.
///
/// Keeps pairs with repeated keys: validation is not the reader's task.
fn key_values<G: Generation>(
    body: &[u8],
    pairs: &mut Vec<KeyValue>,
    texts: &mut StringInterner,
    cx: &mut ReadContext,
    depth: u64,
) -> Result<()> {
    let mut reader = Reader::new(body);
    fields!(reader, KEY_VALUE_LIST in G::VERSION, cx; {
        "values" => {
            let row = pairs.len();
            let pair = key_value::<G>(reader.bytes()?, texts, cx, depth)
                .map_err(|e| e.within_row("values", row).within("kvlist_value"))?;
            cx.budget.push(pairs, pair)?;
        },
    });
    Ok(())
}

/// Appends an attribute of a resource, a scope or a container.
///
/// Keeps repeated keys: `otlp-profiles validate` reports them, not the reader.
///
/// # Errors
///
/// [`Limit`](crate::ErrorKind::Limit) if `max_attributes_per_item` is exceeded.
pub(crate) fn attribute_in_place<G: Generation>(
    reader: &mut Reader,
    out: &mut Vec<KeyValue>,
    texts: &mut StringInterner,
    cx: &mut ReadContext,
) -> Result<()> {
    let row = out.len();
    within("max_attributes_per_item", cx.limits().max_attributes_per_item, row as u64 + 1)?;
    let pair = key_value::<G>(reader.bytes()?, texts, cx, 0)
        .map_err(|e| e.within_row("attributes", row))?;
    cx.budget.push(out, pair)
}

/// Reads row indices, packed or not.
///
/// Keeps order and repetitions, for the locations of a stack and the comments of a profile. For attributes,
/// which are a set, use [`indices`](crate::tables::read::references::indices), which also enforces the limit of attributes
/// per item.
///
/// # Errors
///
/// A number that is not an index, the budget.
pub(crate) fn any_indices(
    tag: u32,
    reader: &mut Reader,
    out: &mut Vec<u32>,
    cx: &mut ReadContext,
) -> Result<()> {
    if tag & 7 != LEN {
        let index = reader.index()?;
        return cx.budget.push(out, index);
    }
    let mut packed = reader.message()?;
    while !packed.is_empty() {
        let index = packed.index()?;
        cx.budget.push(out, index)?;
    }
    Ok(())
}

/// Reads a resource into `resource`. A second occurrence adds to the first.
///
/// # Errors
///
/// Those of its attributes, with their place; the budget.
pub(crate) fn resource<G: Generation>(
    body: &[u8],
    resource: &mut Resource,
    texts: &mut StringInterner,
    cx: &mut ReadContext,
) -> Result<()> {
    let mut reader = Reader::new(body);
    fields!(reader, RESOURCE in G::VERSION, cx; {
        "attributes" => {
            attribute_in_place::<G>(&mut reader, &mut resource.attributes, texts, cx)?;
        },
        // Protobuf truncates a uint32 that has more bits.
        "dropped_attributes_count" => resource.dropped_attributes_count = reader.varint()? as u32,
        "entity_refs" => {
            let row = resource.entity_refs.len();
            let entity = entity_ref::<G>(reader.bytes()?, texts, cx)
                .map_err(|e| e.within_row("entity_refs", row))?;
            cx.budget.push(&mut resource.entity_refs, entity)?;
        },
    });
    Ok(())
}

/// Reads an `EntityRef`, whose strings are all inline.
///
/// Its keys refer to attributes of the same resource; this is not validated here.
fn entity_ref<G: Generation>(
    body: &[u8],
    texts: &mut StringInterner,
    cx: &mut ReadContext,
) -> Result<EntityRef> {
    let mut reader = Reader::new(body);
    let mut entity = EntityRef::default();
    fields!(reader, ENTITY_REF in G::VERSION, cx; {
        "schema_url" => entity.schema_url = texts.intern(reader.bytes()?, cx)?,
        "type" => entity.entity_type = texts.intern(reader.bytes()?, cx)?,
        "id_keys" => {
            let key = texts.intern(reader.bytes()?, cx)?;
            cx.budget.push(&mut entity.id_keys, key)?;
        },
        "description_keys" => {
            let key = texts.intern(reader.bytes()?, cx)?;
            cx.budget.push(&mut entity.description_keys, key)?;
        },
    });
    Ok(entity)
}

/// Reads a scope into `scope`. A second occurrence adds to the first.
///
/// # Errors
///
/// Those of its attributes, with their place.
pub(crate) fn scope<G: Generation>(
    body: &[u8],
    scope: &mut Scope,
    texts: &mut StringInterner,
    cx: &mut ReadContext,
) -> Result<()> {
    let mut reader = Reader::new(body);
    fields!(reader, INSTRUMENTATION_SCOPE in G::VERSION, cx; {
        "name" => scope.name = texts.intern(reader.bytes()?, cx)?,
        "version" => scope.version = texts.intern(reader.bytes()?, cx)?,
        "attributes" => {
            attribute_in_place::<G>(&mut reader, &mut scope.attributes, texts, cx)?;
        },
        "dropped_attributes_count" => scope.dropped_attributes_count = reader.varint()? as u32,
    });
    Ok(())
}
