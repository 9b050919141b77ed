//! Writer of attribute rows and inline attributes: how each generation encodes a key, a value and a unit.
//!
//! ```text
//! 1.8 on      key 5, value "GET", unit 7               KeyValueAndUnit, all strings by reference
//! up to 1.7   "http.method": "GET"                     KeyValue; the unit by key, in attribute_units
//! conflict    "size": [{"number": 3, "unit": "kB"}]    a unit that differs from its key's: a list of pairs
//! ```
//!
//! The reader of pprof converts labels of mixed types to the last form, so reading it gives the same
//! attribute as a label would.

use crate::model::dictionary::Attribute;
use crate::model::id::{AttributeId, StringId};
use crate::model::value::{KeyValue, Value};
use crate::schema::Generation;
use crate::semconv::PPROF_PROFILE_DEFAULT_SAMPLE_TYPE;
use crate::tables::attributes::labels::{PAIR_NUMBER, PAIR_TEXT, PAIR_UNIT};
use crate::tables::fields::{emit, number};
use crate::tables::write::common;
use crate::tables::write::tables::TableWriter;
use crate::wire::record::field_varint;
use crate::wire::write::{field_bytes, field_bytes_nonempty, field_message};

impl<G: Generation> TableWriter<'_, G> {
    /// Writes a row of the table: a key, a value and its unit since 1.8, a pair before.
    ///
    /// Omits an empty value, because OTLP does not distinguish absent and empty values.
    pub(super) fn attribute(&self, out: &mut Vec<u8>, row: usize) {
        let attribute = &self.dictionary.attributes[row];
        if !G::CAPABILITIES.attribute_units {
            return self.attribute_in_place(out, AttributeId(row as u32), attribute);
        }
        emit!(KEY_VALUE_AND_UNIT in G; {
            "key_strindex" => |number| {
                field_varint(out, number, self.string(attribute.key).into());
            },
            "value" => |number| if attribute.value != Value::Empty {
                field_message(out, number, |out| {
                    common::any_value::<G>(out, &attribute.value, &self.strings)
                });
            },
            "unit_strindex" => |number| {
                field_varint(out, number, self.string(attribute.unit).into());
            },
        });
    }

    /// Writes a default sample type that a profile references as an attribute.
    ///
    /// The model has no such row: the key is the one of the conventions, the value is the name of the type.
    pub(super) fn default_attribute(&self, out: &mut Vec<u8>, name: StringId) {
        let number = if G::CAPABILITIES.attribute_units {
            let key = self.strings.index_of(PPROF_PROFILE_DEFAULT_SAMPLE_TYPE);
            field_varint(out, number!(KEY_VALUE_AND_UNIT "key_strindex" in G::VERSION), key.into());
            number!(KEY_VALUE_AND_UNIT "value" in G::VERSION)
        } else {
            let key = PPROF_PROFILE_DEFAULT_SAMPLE_TYPE.as_bytes();
            field_bytes(out, number!(KEY_VALUE "key" in G::VERSION), key);
            number!(KEY_VALUE "value" in G::VERSION)
        };
        let value = Value::String(name);
        field_message(out, number, |out| common::any_value::<G>(out, &value, &self.strings));
    }

    /// Writes an attribute with an inline key. If its unit differs from that of its key, writes a list of
    /// pairs.
    ///
    /// Each element of a list becomes a separate pair. The keys of the pairs are inline: up to 1.9 no key can
    /// be a reference, and later generations have no such conflict.
    pub(crate) fn attribute_in_place(
        &self,
        out: &mut Vec<u8>,
        id: AttributeId,
        attribute: &Attribute,
    ) {
        if !self.units.conflict(id) {
            let pair = KeyValue { key: attribute.key, value: attribute.value.clone() };
            return common::key_value::<G>(out, &pair, &self.strings);
        }
        let any = |out: &mut Vec<u8>, value: &Value| {
            common::any_value::<G>(out, value, &self.strings);
        };
        let named = |out: &mut Vec<u8>, (name, value): &(&str, Value)| {
            field_bytes(out, number!(KEY_VALUE "key" in G::VERSION), name.as_bytes());
            field_message(out, number!(KEY_VALUE "value" in G::VERSION), |out| any(out, value));
        };
        let element = |out: &mut Vec<u8>, value: &Value| {
            let name = match value {
                // The value is such a list already, as the reader of pprof makes from labels of mixed types.
                Value::KeyValues(_) => return any(out, value),
                Value::String(_) => PAIR_TEXT,
                _ => PAIR_NUMBER,
            };
            let pairs = [(name, value.clone()), (PAIR_UNIT, Value::String(attribute.unit))];
            let has_unit = attribute.unit != StringId::NONE;
            common::pairs_of::<G, _>(out, &pairs[..1 + usize::from(has_unit)], named);
        };
        let values = match &attribute.value {
            Value::Array(values) => &values[..],
            value => std::slice::from_ref(value),
        };
        let key = self.dictionary.text(attribute.key).as_bytes();
        field_bytes_nonempty(out, number!(KEY_VALUE "key" in G::VERSION), key);
        field_message(out, number!(KEY_VALUE "value" in G::VERSION), |out| {
            common::array::<G>(out, values, element);
        });
    }
}
