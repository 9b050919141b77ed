//! Writer of messages that all signals share: values, resources, scopes.
//!
//! Omits fields that proto3 omits: an empty string, a zero count, an empty value. Elements of a list are
//! written even if empty, because omitting one would move its neighbours.
//!
//! A string is either inline or an index. [`StringTable::reference`] returns 0 for inline, which is unambiguous
//! because string 0 is the empty string.

use crate::model::dictionary::Dictionary;
use crate::model::id::StringId;
use crate::model::strings::Strings;
use crate::model::value::{KeyValue, Value};
use crate::model::{EntityRef, Resource, Scope};
use crate::schema::{ANY_VALUE, Generation};
use crate::semconv::{PPROF_SCOPE_DEFAULT_SAMPLE_TYPE, PPROF_SCOPE_SAMPLE_TYPE_ORDER};
use crate::tables::fields::{emit, number};
use crate::tables::profile::columns::is_in_fields;
use crate::tables::write::strings::StringTable;
use crate::wire::record::field_varint;
use crate::wire::write::{field_bytes, field_bytes_nonempty, field_message, varint};

/// Writes a value. Writes the index of a string that is a reference.
///
/// An empty inline string is written as well, because a `oneof` that is set differs from one that is unset.
///
/// Recurses to the depth of the value.
pub(crate) fn any_value<G: Generation>(out: &mut Vec<u8>, value: &Value, strings: &StringTable) {
    match value {
        Value::Empty => {}
        // A set case of a `oneof` is written even if it is 0.
        Value::String(text) => match strings.reference(*text) {
            0 if number!(ANY_VALUE "string_value" in G::VERSION) != 0 => {
                let number = number!(ANY_VALUE "string_value" in G::VERSION);
                field_bytes(out, number, strings.strings.get(*text).as_bytes());
            }
            // Also index 0 if the generation has no inline strings: string 0 is the empty string.
            index => {
                varint(out, const { ANY_VALUE.tag(G::VERSION, "string_value_strindex") }.into());
                varint(out, index.into());
            }
        },
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
            array::<G>(out, values, |out, value| any_value::<G>(out, value, strings));
        }
        Value::KeyValues(pairs) => {
            pairs_of::<G, _>(out, pairs, |out, pair| key_value::<G>(out, pair, strings));
        }
        Value::Bytes(bytes) => {
            field_bytes(out, number!(ANY_VALUE "bytes_value" in G::VERSION), bytes);
        }
    }
}

/// Writes the `array_value` of a value. `write` appends each element.
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

/// Writes the `kvlist_value` of a value. `write` appends each pair.
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

/// Writes a pair of a key and a value.
pub(crate) fn key_value<G: Generation>(out: &mut Vec<u8>, pair: &KeyValue, strings: &StringTable) {
    let index = strings.reference(pair.key);
    let key = if index == 0 { strings.strings.get(pair.key).as_bytes() } else { &[] };
    emit!(KEY_VALUE in G; {
        "key" => |number| field_bytes_nonempty(out, number, key),
        "value" => |number| if pair.value != Value::Empty {
            field_message(out, number, |out| any_value::<G>(out, &pair.value, strings));
        },
        "key_strindex" => |number| field_varint(out, number, index.into()),
    });
}

/// Writes a resource. Entities are written if the generation has them; `notes` counts their loss once for the
/// payload.
///
/// Strings of attributes may be references; a resource has no other references. Inline, many of them may be
/// the same string of the model, so writing stops past `most` bytes, and the caller returns an error.
pub(crate) fn resource<G: Generation>(
    out: &mut Vec<u8>,
    resource: &Resource,
    strings: &StringTable,
    most: u64,
) {
    emit!(RESOURCE in G; {
        "attributes" => |number| for pair in &resource.attributes {
            if out.len() as u64 > most {
                break;
            }
            field_message(out, number, |out| key_value::<G>(out, pair, strings));
        },
        "dropped_attributes_count" => |number| {
            field_varint(out, number, resource.dropped_attributes_count.into());
        },
        "entity_refs" => |number| for entity in &resource.entity_refs {
            field_message(out, number, |out| entity_ref::<G>(out, entity, strings.strings));
        },
    });
}

/// Writes an entity reference, whose strings are inline in every generation that has entities.
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

/// A scope to be written: without the attributes that the generation represents elsewhere, and with
/// attributes to add.
///
/// Splitting or joining profiles changes the attributes of their scope. The model must not change, so this
/// type applies the difference while the scope is written.
pub(crate) struct ScopeExtras<'a> {
    /// The scope of the model.
    pub(crate) scope: &'a Scope,
    /// Keys of attributes that the generation represents by fields.
    pub(crate) hidden: &'a [&'static str],
    /// The original columns of the profiles, if one profile becomes several.
    pub(crate) order: Option<&'a [i64]>,
    /// The default sample type, if the scope must store it.
    pub(crate) default: Option<StringId>,
}

impl ScopeExtras<'_> {
    /// Returns the attributes to write.
    fn attributes<'b>(&'b self, dictionary: &'b Dictionary) -> impl Iterator<Item = &'b KeyValue> {
        self.scope.attributes.iter().filter(|pair| {
            // A value that the fields cannot represent is written even if its key is hidden.
            !self.hidden.contains(&dictionary.text(pair.key)) || !is_in_fields(pair, dictionary)
        })
    }

    /// Returns whether the scope has no contents.
    ///
    /// If so, the message is omitted, unless `WriteOptions::empty_messages` is set.
    pub(crate) fn is_empty(&self, dictionary: &Dictionary) -> bool {
        let bare = Scope { attributes: Vec::new(), ..self.scope.clone() };
        bare.is_empty()
            && self.order.is_none()
            && self.default.is_none()
            && self.attributes(dictionary).next().is_none()
    }
}

/// Writes the attributes of the scope, then the added ones.
///
/// The two attributes that may be added record that the profiles were columns of one profile. Writing stops
/// past `most` bytes, as for a [`resource`].
pub(crate) fn scope<G: Generation>(
    out: &mut Vec<u8>,
    extras: &ScopeExtras,
    dictionary: &Dictionary,
    strings: &StringTable,
    most: u64,
) {
    let added = [
        (PPROF_SCOPE_DEFAULT_SAMPLE_TYPE, extras.default.map(Value::String)),
        (PPROF_SCOPE_SAMPLE_TYPE_ORDER, extras.order.map(ints)),
    ];
    emit!(INSTRUMENTATION_SCOPE in G; {
        "name" => |number| {
            field_bytes_nonempty(out, number, strings.strings.get(extras.scope.name).as_bytes());
        },
        "version" => |number| {
            field_bytes_nonempty(out, number, strings.strings.get(extras.scope.version).as_bytes());
        },
        "attributes" => |number| {
            for pair in extras.attributes(dictionary) {
                if out.len() as u64 > most {
                    break;
                }
                field_message(out, number, |out| key_value::<G>(out, pair, strings));
            }
            for (key, value) in &added {
                if let Some(value) = value {
                    field_message(out, number, |out| {
                        added_pair::<G>(out, key, value, strings);
                    });
                }
            }
        },
        "dropped_attributes_count" => |number| {
            field_varint(out, number, extras.scope.dropped_attributes_count.into());
        },
    });
}

/// Writes a pair whose key the writer adds.
///
/// If strings are references, the table has the key, even if the dictionary lacks it.
fn added_pair<G: Generation>(out: &mut Vec<u8>, key: &str, value: &Value, strings: &StringTable) {
    // `refer_all` has requested the key, so the table has it.
    let index = if strings.has_references { strings.index_of(key) } else { 0 };
    let key = if index == 0 { key.as_bytes() } else { &[] };
    emit!(KEY_VALUE in G; {
        "key" => |number| field_bytes_nonempty(out, number, key),
        "value" => |number| {
            field_message(out, number, |out| any_value::<G>(out, value, strings));
        },
        "key_strindex" => |number| field_varint(out, number, index.into()),
    });
}

/// Converts integers to an attribute value.
fn ints(values: &[i64]) -> Value {
    Value::Array(values.iter().map(|&value| Value::Int(value)).collect())
}
