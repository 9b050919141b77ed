//! Reading what all signals share: values, resources, scopes.

use crate::error::{Error, Result};
use crate::format::intake::Intake;
use crate::format::losses::{self, LossCode};
use crate::format::otlp::schema::Generation;
use crate::format::otlp::tables::{is, unknown};
use crate::format::texts::Texts;
use crate::limits::within;
use crate::model::dictionary::Attribute;
use crate::model::id::StringId;
use crate::model::value::{KeyValue, Value};
use crate::model::{EntityRef, Resource, Scope};
use crate::wire::read::Reader;
use crate::wire::{FIXED64, LEN, VARINT};

/// Bytes that are an id of fixed length, or none at all.
pub(crate) fn fixed_id<const N: usize>(
    id: &[u8],
    out: &mut [u8; N],
    code: LossCode,
    intake: &mut Intake,
) -> Result<()> {
    match <&[u8; N]>::try_from(id) {
        Ok(id) => *out = *id,
        Err(_) if id.is_empty() => *out = [0; N],
        Err(_) => {
            let error =
                Error::malformed(format!("id has {} bytes, expected {N} or none", id.len()));
            intake.repair(code, error.at(id))?;
            *out = [0; N];
        }
    }
    Ok(())
}

/// A text of the string table, by its index.
pub(crate) fn table_text(index: u32, texts: &Texts, intake: &mut Intake) -> Result<StringId> {
    if index < texts.table_rows || index == 0 {
        return Ok(StringId(index));
    }
    let error = Error::malformed(format!(
        "{} is out of range: the table has {} strings",
        show(index),
        texts.table_rows
    ));
    intake.repair(losses::INDEX_OUT_OF_RANGE, error)?;
    Ok(StringId::NONE)
}

/// An index as its reader understood it.
pub(crate) fn show(index: u32) -> String {
    match index {
        crate::wire::read::BELOW => "negative index".to_owned(),
        crate::wire::read::BEYOND => "index of more than 32 bits".to_owned(),
        index => format!("index {index}"),
    }
}

pub(crate) fn key_value_and_unit<G: Generation>(
    body: &[u8],
    texts: &mut Texts,
    intake: &mut Intake,
) -> Result<Attribute> {
    let mut reader = Reader::new(body);
    let mut attribute = Attribute::default();
    while let Some(tag) = reader.tag()? {
        if is!(tag, 1, VARINT) {
            attribute.key =
                table_text(reader.index()?, texts, intake).map_err(|e| e.within("key_strindex"))?;
        } else if is!(tag, 2, LEN) {
            attribute.value =
                any_value::<G>(reader.bytes()?, texts, intake, 0).map_err(|e| e.within("value"))?;
        } else if is!(tag, 3, VARINT) {
            attribute.unit = table_text(reader.index()?, texts, intake)
                .map_err(|e| e.within("unit_strindex"))?;
        } else {
            let known = [(1, "key_strindex"), (2, "value"), (3, "unit_strindex")];
            unknown(&mut reader, tag, "KeyValueAndUnit", &known, intake)?;
        }
    }
    Ok(attribute)
}

pub(crate) fn key_value<G: Generation>(
    body: &[u8],
    texts: &mut Texts,
    intake: &mut Intake,
    depth: u64,
) -> Result<KeyValue> {
    let mut reader = Reader::new(body);
    let mut pair = KeyValue::default();
    let mut reference = StringId::NONE;
    while let Some(tag) = reader.tag()? {
        if is!(tag, 1, LEN) {
            pair.key = texts.intern(reader.bytes()?, intake)?;
        } else if is!(tag, 2, LEN) {
            pair.value = any_value::<G>(reader.bytes()?, texts, intake, depth)
                .map_err(|e| e.within("value"))?;
        } else if is!(tag, G::SCHEMA.key_strindex, VARINT) {
            reference =
                table_text(reader.index()?, texts, intake).map_err(|e| e.within("key_strindex"))?;
        } else {
            let known = [(1, "key"), (2, "value"), (G::SCHEMA.key_strindex, "key_strindex")];
            unknown(&mut reader, tag, "KeyValue", &known, intake)?;
        }
    }
    // 0 is not a reference to the empty string: it is no reference.
    if pair.key == StringId::NONE {
        pair.key = reference;
    }
    Ok(pair)
}

fn any_value<G: Generation>(
    body: &[u8],
    texts: &mut Texts,
    intake: &mut Intake,
    depth: u64,
) -> Result<Value> {
    // A level is a message AnyValue and a message list in it, and the list's element.
    within("max_nesting", intake.limits().max_nesting, 4 + depth * 3)?;
    let mut reader = Reader::new(body);
    let mut value = Value::Empty;
    // The elements of a list, until it is known that it is not said again.
    let (mut values, mut pairs) = (Vec::new(), Vec::new());
    while let Some(tag) = reader.tag()? {
        value = if is!(tag, 1, LEN) {
            Value::String(texts.intern(reader.bytes()?, intake)?)
        } else if is!(tag, 2, VARINT) {
            Value::Bool(reader.varint()? != 0)
        } else if is!(tag, 3, VARINT) {
            Value::Int(reader.varint()? as i64)
        } else if is!(tag, 4, FIXED64) {
            Value::Double(f64::from_bits(reader.fixed64()?))
        } else if is!(tag, 5, LEN) {
            // A list said again adds to the first, as protobuf has it.
            if !matches!(value, Value::Array(_)) {
                values.clear();
            }
            array::<G>(reader.bytes()?, &mut values, texts, intake, depth + 1)?;
            Value::Array(Box::default())
        } else if is!(tag, 6, LEN) {
            if !matches!(value, Value::KeyValues(_)) {
                pairs.clear();
            }
            key_values::<G>(reader.bytes()?, &mut pairs, texts, intake, depth + 1)?;
            Value::KeyValues(Box::default())
        } else if is!(tag, 7, LEN) {
            let bytes = reader.bytes()?;
            intake.budget.take::<u8>(bytes.len())?;
            Value::Bytes(bytes.into())
        } else if is!(tag, G::SCHEMA.string_value_strindex, VARINT) {
            match table_text(reader.index()?, texts, intake)
                .map_err(|e| e.within("string_value_strindex"))?
            {
                StringId::NONE => Value::Empty,
                text => Value::String(text),
            }
        } else {
            let known =
                [(1, "string_value"), (2, "bool_value"), (3, "int_value"), (4, "double_value")];
            let lists = [(5, "array_value"), (6, "kvlist_value"), (7, "bytes_value")];
            let strindex = [(G::SCHEMA.string_value_strindex, "string_value_strindex")];
            let known: Vec<_> = known.into_iter().chain(lists).chain(strindex).collect();
            unknown(&mut reader, tag, "AnyValue", &known, intake)?;
            value
        };
    }
    Ok(match value {
        Value::Array(_) => Value::Array(values.into()),
        Value::KeyValues(_) => Value::KeyValues(pairs.into()),
        value => value,
    })
}

fn array<G: Generation>(
    body: &[u8],
    values: &mut Vec<Value>,
    texts: &mut Texts,
    intake: &mut Intake,
    depth: u64,
) -> Result<()> {
    let mut reader = Reader::new(body);
    while let Some(tag) = reader.tag()? {
        if is!(tag, 1, LEN) {
            let row = values.len();
            let value = any_value::<G>(reader.bytes()?, texts, intake, depth)
                .map_err(|e| e.within_row("values", row).within("array_value"))?;
            intake.budget.push(values, value)?;
        } else {
            unknown(&mut reader, tag, "ArrayValue", &[(1, "values")], intake)?;
        }
    }
    Ok(())
}

fn key_values<G: Generation>(
    body: &[u8],
    pairs: &mut Vec<KeyValue>,
    texts: &mut Texts,
    intake: &mut Intake,
    depth: u64,
) -> Result<()> {
    let mut reader = Reader::new(body);
    while let Some(tag) = reader.tag()? {
        if is!(tag, 1, LEN) {
            let row = pairs.len();
            let pair = key_value::<G>(reader.bytes()?, texts, intake, depth)
                .map_err(|e| e.within_row("values", row).within("kvlist_value"))?;
            intake.budget.push(pairs, pair)?;
        } else {
            unknown(&mut reader, tag, "KeyValueList", &[(1, "values")], intake)?;
        }
    }
    Ok(())
}

/// One more attribute of a resource, a scope or a container.
pub(crate) fn attribute_in_place<G: Generation>(
    reader: &mut Reader,
    out: &mut Vec<KeyValue>,
    texts: &mut Texts,
    intake: &mut Intake,
) -> Result<()> {
    let row = out.len();
    within("max_attributes_per_item", intake.limits().max_attributes_per_item, row as u64 + 1)?;
    let pair = key_value::<G>(reader.bytes()?, texts, intake, 0)
        .map_err(|e| e.within_row("attributes", row))?;
    intake.budget.push(out, pair)
}

/// Reads a resource into `resource`; a second occurrence adds to the first.
pub(crate) fn resource<G: Generation>(
    body: &[u8],
    resource: &mut Resource,
    texts: &mut Texts,
    intake: &mut Intake,
) -> Result<()> {
    let mut reader = Reader::new(body);
    while let Some(tag) = reader.tag()? {
        if is!(tag, 1, LEN) {
            attribute_in_place::<G>(&mut reader, &mut resource.attributes, texts, intake)?;
        } else if is!(tag, 2, VARINT) {
            resource.dropped_attributes_count = reader.varint()? as u32;
        } else if is!(tag, G::SCHEMA.entity_refs, LEN) {
            let row = resource.entity_refs.len();
            let entity = entity_ref(reader.bytes()?, texts, intake)
                .map_err(|e| e.within_row("entity_refs", row))?;
            intake.budget.push(&mut resource.entity_refs, entity)?;
        } else {
            let known = [
                (1, "attributes"),
                (2, "dropped_attributes_count"),
                (G::SCHEMA.entity_refs, "entity_refs"),
            ];
            unknown(&mut reader, tag, "Resource", &known, intake)?;
        }
    }
    Ok(())
}

fn entity_ref(body: &[u8], texts: &mut Texts, intake: &mut Intake) -> Result<EntityRef> {
    let mut reader = Reader::new(body);
    let mut entity = EntityRef::default();
    while let Some(tag) = reader.tag()? {
        if is!(tag, 1, LEN) {
            entity.schema_url = texts.intern(reader.bytes()?, intake)?;
        } else if is!(tag, 2, LEN) {
            entity.entity_type = texts.intern(reader.bytes()?, intake)?;
        } else if is!(tag, 3, LEN) {
            let key = texts.intern(reader.bytes()?, intake)?;
            intake.budget.push(&mut entity.id_keys, key)?;
        } else if is!(tag, 4, LEN) {
            let key = texts.intern(reader.bytes()?, intake)?;
            intake.budget.push(&mut entity.description_keys, key)?;
        } else {
            let known = [(1, "schema_url"), (2, "type"), (3, "id_keys"), (4, "description_keys")];
            unknown(&mut reader, tag, "EntityRef", &known, intake)?;
        }
    }
    Ok(entity)
}

/// Reads a scope into `scope`; a second occurrence adds to the first.
pub(crate) fn scope<G: Generation>(
    body: &[u8],
    scope: &mut Scope,
    texts: &mut Texts,
    intake: &mut Intake,
) -> Result<()> {
    let mut reader = Reader::new(body);
    while let Some(tag) = reader.tag()? {
        if is!(tag, 1, LEN) {
            scope.name = texts.intern(reader.bytes()?, intake)?;
        } else if is!(tag, 2, LEN) {
            scope.version = texts.intern(reader.bytes()?, intake)?;
        } else if is!(tag, 3, LEN) {
            attribute_in_place::<G>(&mut reader, &mut scope.attributes, texts, intake)?;
        } else if is!(tag, 4, VARINT) {
            scope.dropped_attributes_count = reader.varint()? as u32;
        } else {
            let known =
                [(1, "name"), (2, "version"), (3, "attributes"), (4, "dropped_attributes_count")];
            unknown(&mut reader, tag, "InstrumentationScope", &known, intake)?;
        }
    }
    Ok(())
}
