//! Writing what all signals share: values, resources, scopes.
//!
//! What proto3 leaves out is left out: an empty text, a zero count, an empty value. An element of a
//! list is written though it is empty, or its neighbours would change places.
//!
//! A text is in place or an index, never both: [`TextRefs::index`] is 0 for "in place", which no
//! text that can be referred to has, since string 0 is the empty one.

use crate::format::columns::is_in_fields;
use crate::format::fields::{emit, number};
use crate::format::otlp::write::refs::TextRefs;
use crate::model::dictionary::Dictionary;
use crate::model::id::StringId;
use crate::model::strings::Strings;
use crate::model::value::{KeyValue, Value};
use crate::model::{EntityRef, Resource, Scope};
use crate::schema::{ANY_VALUE, Generation};
use crate::semconv::{PPROF_SCOPE_DEFAULT_SAMPLE_TYPE, PPROF_SCOPE_SAMPLE_TYPE_ORDER};
use crate::wire::record::field_varint;
use crate::wire::write::{field_bytes, field_bytes_nonempty, field_message, varint};

/// A value; where `refs` has an index for a text, it is said by that.
///
/// An empty text in place is written all the same: a `oneof` that is set differs from one that is
/// not.
///
/// Recursion as deep as the value.
pub(crate) fn any_value<G: Generation>(
    out: &mut Vec<u8>,
    value: &Value,
    strings: &Strings,
    refs: &TextRefs,
) {
    match value {
        Value::Empty => {}
        Value::String(text) => match refs.index(*text) {
            0 => {
                let number = number!(ANY_VALUE "string_value" in G::VERSION);
                field_bytes(out, number, strings.get(*text).as_bytes());
            }
            index => {
                let number = number!(ANY_VALUE "string_value_strindex" in G::VERSION);
                field_varint(out, number, index.into());
            }
        },
        // A case of a `oneof` is written though it is 0.
        Value::Bool(truth) => {
            varint(out, const { ANY_VALUE.tag(G::VERSION, "bool_value") }.into());
            varint(out, u64::from(*truth));
        }
        Value::Int(number) => {
            varint(out, const { ANY_VALUE.tag(G::VERSION, "int_value") }.into());
            varint(out, *number as u64);
        }
        Value::Double(number) => {
            varint(out, const { ANY_VALUE.tag(G::VERSION, "double_value") }.into());
            out.extend_from_slice(&number.to_bits().to_le_bytes());
        }
        Value::Array(values) => {
            array::<G>(out, values, |out, value| any_value::<G>(out, value, strings, refs));
        }
        Value::KeyValues(pairs) => {
            pairs_of::<G, _>(out, pairs, |out, pair| key_value::<G>(out, pair, strings, refs));
        }
        Value::Bytes(bytes) => {
            field_bytes(out, number!(ANY_VALUE "bytes_value" in G::VERSION), bytes);
        }
    }
}

/// The `array_value` of a value: `write` appends each element.
pub(super) fn array<G: Generation>(
    out: &mut Vec<u8>,
    values: &[Value],
    write: impl Fn(&mut Vec<u8>, &Value),
) {
    field_message(out, number!(ANY_VALUE "array_value" in G::VERSION), |out| {
        for value in values {
            let number = number!(ARRAY_VALUE "values" in G::VERSION);
            field_message(out, number, |out| write(out, value));
        }
    });
}

/// The `kvlist_value` of a value: `write` appends each pair.
pub(super) fn pairs_of<G: Generation, T>(
    out: &mut Vec<u8>,
    pairs: &[T],
    write: impl Fn(&mut Vec<u8>, &T),
) {
    field_message(out, number!(ANY_VALUE "kvlist_value" in G::VERSION), |out| {
        for pair in pairs {
            let number = number!(KEY_VALUE_LIST "values" in G::VERSION);
            field_message(out, number, |out| write(out, pair));
        }
    });
}

/// A named value.
pub(crate) fn key_value<G: Generation>(
    out: &mut Vec<u8>,
    pair: &KeyValue,
    strings: &Strings,
    refs: &TextRefs,
) {
    let index = refs.index(pair.key);
    let key = if index == 0 { strings.get(pair.key).as_bytes() } else { &[] };
    emit!(KEY_VALUE in G; {
        "key" => |number| field_bytes_nonempty(out, number, key),
        "value" => |number| if pair.value != Value::Empty {
            field_message(out, number, |out| any_value::<G>(out, &pair.value, strings, refs));
        },
        "key_strindex" => |number| field_varint(out, number, index.into()),
    });
}

/// Entities only where the generation has them; that they are lost is counted once, for the payload.
///
/// Resources have no reference of their own; only texts of their attributes may be references. Where they are in place
/// many may be one text of the model: none is written past `most` bytes, which the caller refuses.
pub(crate) fn resource<G: Generation>(
    out: &mut Vec<u8>,
    resource: &Resource,
    strings: &Strings,
    refs: &TextRefs,
    most: u64,
) {
    emit!(RESOURCE in G; {
        "attributes" => |number| for pair in &resource.attributes {
            if out.len() as u64 > most {
                break;
            }
            field_message(out, number, |out| key_value::<G>(out, pair, strings, refs));
        },
        "dropped_attributes_count" => |number| {
            field_varint(out, number, resource.dropped_attributes_count.into());
        },
        "entity_refs" => |number| for entity in &resource.entity_refs {
            field_message(out, number, |out| entity_ref::<G>(out, entity, strings));
        },
    });
}

/// Its texts are in place in every generation that has it.
fn entity_ref<G: Generation>(out: &mut Vec<u8>, entity: &EntityRef, strings: &Strings) {
    let text = |id: StringId| strings.get(id).as_bytes();
    emit!(ENTITY_REF in G; {
        "schema_url" => |number| field_bytes_nonempty(out, number, text(entity.schema_url)),
        "type" => |number| field_bytes_nonempty(out, number, text(entity.entity_type)),
        "id_keys" => |number| for key in &entity.id_keys {
            field_bytes(out, number, text(*key));
        },
        "description_keys" => |number| for key in &entity.description_keys {
            field_bytes(out, number, text(*key));
        },
    });
}

/// A scope, less the attributes that the generation says elsewhere, and the order it adds.
///
/// A split or joined profile changes what its scope has to say, and nothing of the model may be
/// changed for it; so the difference is kept here and applied while the scope is written.
pub(crate) struct ScopeSaid<'a> {
    /// As the model has it.
    pub(crate) scope: &'a Scope,
    /// Keys that the generation's own fields say.
    pub(crate) hidden: &'a [&'static str],
    /// The columns that the profiles were, where one became several.
    pub(crate) order: Option<&'a [i64]>,
    /// The default sample type, where a scope has to say it.
    pub(crate) default: Option<StringId>,
}

impl ScopeSaid<'_> {
    /// Those that are still said as attributes.
    fn attributes<'b>(&'b self, dictionary: &'b Dictionary) -> impl Iterator<Item = &'b KeyValue> {
        self.scope.attributes.iter().filter(|pair| {
            !self.hidden.contains(&dictionary.text(pair.key)) || !is_in_fields(pair, dictionary)
        })
    }

    /// Whether there is nothing to say.
    ///
    /// Then the message is left out, unless `WriteOptions::empty_messages` asks for it.
    pub(crate) fn is_empty(&self, dictionary: &Dictionary) -> bool {
        let bare = Scope { attributes: Vec::new(), ..self.scope.clone() };
        bare.is_empty()
            && self.order.is_none()
            && self.default.is_none()
            && self.attributes(dictionary).next().is_none()
    }
}

/// The scope's own attributes first, then those added.
///
/// The two attributes that may be added are how a scope tells that its profiles were columns of
/// one. None is written past `most` bytes, as of a [`resource`].
pub(crate) fn scope<G: Generation>(
    out: &mut Vec<u8>,
    said: &ScopeSaid,
    dictionary: &Dictionary,
    refs: &TextRefs,
    most: u64,
) {
    let strings = &dictionary.strings;
    let added = [
        (PPROF_SCOPE_DEFAULT_SAMPLE_TYPE, said.default.map(Value::String)),
        (PPROF_SCOPE_SAMPLE_TYPE_ORDER, said.order.map(ints)),
    ];
    emit!(INSTRUMENTATION_SCOPE in G; {
        "name" => |number| {
            field_bytes_nonempty(out, number, strings.get(said.scope.name).as_bytes());
        },
        "version" => |number| {
            field_bytes_nonempty(out, number, strings.get(said.scope.version).as_bytes());
        },
        "attributes" => |number| {
            for pair in said.attributes(dictionary) {
                if out.len() as u64 > most {
                    break;
                }
                field_message(out, number, |out| key_value::<G>(out, pair, strings, refs));
            }
            for (key, value) in &added {
                if let Some(value) = value {
                    field_message(out, number, |out| {
                        added_pair::<G>(out, key, value, strings, refs);
                    });
                }
            }
        },
        "dropped_attributes_count" => |number| {
            field_varint(out, number, said.scope.dropped_attributes_count.into());
        },
    });
}

/// A named value whose name is of the writer's own.
///
/// `refs` has an index for the key where texts go by reference: the dictionary need not have it.
fn added_pair<G: Generation>(
    out: &mut Vec<u8>,
    key: &str,
    value: &Value,
    strings: &Strings,
    refs: &TextRefs,
) {
    let index = refs.key(key);
    let key = if index == 0 { key.as_bytes() } else { &[] };
    emit!(KEY_VALUE in G; {
        "key" => |number| field_bytes_nonempty(out, number, key),
        "value" => |number| {
            field_message(out, number, |out| any_value::<G>(out, value, strings, refs));
        },
        "key_strindex" => |number| field_varint(out, number, index.into()),
    });
}

/// An attribute's value as OTLP has it in place.
fn ints(values: &[i64]) -> Value {
    Value::Array(values.iter().map(|&value| Value::Int(value)).collect())
}
