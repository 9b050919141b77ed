//! The labels of samples: attributes and links in the form that pprof has them.

use std::borrow::Cow;

use hashbrown::HashMap;

use crate::look::unit;
use crate::model::dictionary::{Attribute, Dictionary};
use crate::model::id::{LinkId, StringId};
use crate::model::samples::SampleRef;
use crate::model::value::Value;
use crate::model::{Profile, Profiles};
use crate::semconv::{LABEL_SPAN_ID, LABEL_TRACE_ID};
use crate::tables::attributes::labels::{PAIR_NUMBER, PAIR_TEXT, PAIR_UNIT};
use crate::wire::hex::hex;

/// A key with a text, or with a number and its unit.
#[derive(Clone, Debug)]
pub(super) struct Label<'a> {
    pub(super) key: &'a str,
    pub(super) value: LabelValue<'a>,
}

#[derive(Clone, Debug)]
pub(super) enum LabelValue<'a> {
    Text(Cow<'a, str>),
    Number(i64, &'a str),
}

/// The labels of a sample: one for each attribute, several for an attribute that is a list, and two for a link.
pub(super) fn labels<'a>(dictionary: &'a Dictionary, sample: &SampleRef<'_>) -> Vec<Label<'a>> {
    let attributes = sample.attributes.iter().filter_map(|id| dictionary.attribute(*id));
    let mut labels: Vec<_> = attributes.flat_map(|one| of_attribute(dictionary, one)).collect();
    if sample.link != LinkId::NONE {
        let link = dictionary.link(sample.link);
        for (key, id) in [(LABEL_TRACE_ID, &link.trace_id[..]), (LABEL_SPAN_ID, &link.span_id[..])]
        {
            labels.push(Label { key, value: LabelValue::Text(Cow::Owned(hex(id))) });
        }
    }
    labels
}

fn of_attribute<'a>(
    dictionary: &'a Dictionary,
    attribute: &'a Attribute,
) -> impl Iterator<Item = Label<'a>> {
    let key = dictionary.text(attribute.key);
    let items = match &attribute.value {
        Value::Array(items) => &items[..],
        item => std::slice::from_ref(item),
    };
    items.iter().map(move |item| Label { key, value: value(dictionary, item, attribute.unit) })
}

/// One value of an attribute. A list of pairs is a label that shares its key with labels of other types or units.
fn value<'a>(dictionary: &'a Dictionary, value: &'a Value, unit: StringId) -> LabelValue<'a> {
    match value {
        Value::Int(number) => LabelValue::Number(*number, dictionary.text(unit)),
        Value::String(text) => LabelValue::Text(Cow::Borrowed(dictionary.text(*text))),
        Value::KeyValues(pairs) => {
            let of = |name| pairs.iter().find(|pair| dictionary.text(pair.key) == name);
            let text = |name| match of(name).map(|pair| &pair.value) {
                Some(Value::String(text)) => Some(dictionary.text(*text)),
                _ => None,
            };
            match of(PAIR_NUMBER).map(|pair| &pair.value) {
                Some(Value::Int(number)) => {
                    LabelValue::Number(*number, text(PAIR_UNIT).unwrap_or_default())
                }
                _ => LabelValue::Text(
                    text(PAIR_TEXT)
                        .map_or_else(|| dictionary.value(value).to_string().into(), Cow::Borrowed),
                ),
            }
        }
        _ => LabelValue::Text(dictionary.value(value).to_string().into()),
    }
}

/// The values of one key of a sample as text: texts first, then numbers in a fitting unit, separated by commas.
pub(super) fn joined(labels: &[Label<'_>], key: &str) -> String {
    let of_key = || labels.iter().filter(|label| label.key == key);
    let texts = of_key().filter_map(|label| match &label.value {
        LabelValue::Text(text) => Some(text.to_string()),
        LabelValue::Number(..) => None,
    });
    let numbers = of_key().filter_map(|label| match &label.value {
        LabelValue::Number(number, from) => Some(unit::label((*number).into(), from, unit::AUTO)),
        LabelValue::Text(_) => None,
    });
    texts.chain(numbers).collect::<Vec<_>>().join(",")
}

/// The unit of each key with numbers: the first unit of any sample, else one that the key implies.
#[derive(Default)]
pub(super) struct Units(HashMap<String, String, foldhash::fast::RandomState>);

impl Units {
    /// The units of all samples.
    pub(super) fn of(profiles: &Profiles) -> Self {
        let dictionary = &profiles.dictionary;
        let mut seen = vec![false; dictionary.attributes.len()];
        let mut new = Vec::new();
        for sample in profiles.iter().flat_map(Profile::samples) {
            for id in sample.attributes {
                if !std::mem::replace(&mut seen[id.row()], true) {
                    new.push(*id);
                }
            }
        }
        Self::of_labels(new.iter().flat_map(|id| {
            let row = &dictionary.attributes[id.row()];
            of_attribute(dictionary, row)
        }))
    }

    pub(super) fn of_labels<'a>(labels: impl Iterator<Item = Label<'a>>) -> Self {
        let mut units: HashMap<String, String, _> = HashMap::default();
        for label in labels {
            if let LabelValue::Number(_, unit) = label.value {
                let known = units.entry_ref(label.key).or_default();
                if known.is_empty() {
                    unit.clone_into(known);
                }
            }
        }
        for (key, unit) in units.iter_mut().filter(|(_, unit)| unit.is_empty()) {
            // As in pprof, a key without a unit implies one: bytes for these two, or else its name.
            let implied = if matches!(&key[..], "alignment" | "request") { "bytes" } else { key };
            implied.clone_into(unit);
        }
        Self(units)
    }

    pub(super) fn unit(&self, key: &str) -> &str {
        self.0.get(key).map_or("", |unit| unit)
    }
}
