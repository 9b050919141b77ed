//! The attributes that apply to samples, in the form of pprof's labels.
//!
//! A sample has its own attributes, the ids of its link, and the attributes of its profile, its scope and its resource.
//! For one key, the first of these that has it counts.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::model::dictionary::{Attribute, Dictionary};
use crate::model::id::{AttributeId, LinkId, StringId};
use crate::model::samples::SampleRef;
use crate::model::value::{KeyValue, Value};
use crate::model::{Entry, Profile, Profiles, ResourceProfiles, ScopeProfiles};
use crate::semconv::{LABEL_SPAN_ID, LABEL_TRACE_ID};
use crate::tables::attributes::labels::{PAIR_NUMBER, PAIR_TEXT, PAIR_UNIT};
use crate::units::{self, Unit, of_key};
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

/// The labels of a sample itself: one for each attribute, several for an attribute that is a list, and two for a link.
pub(super) fn labels<'a>(dictionary: &'a Dictionary, sample: &SampleRef<'_>) -> Vec<Label<'a>> {
    let mut labels: Vec<_> = of_rows(dictionary, sample.attributes).collect();
    labels.extend(of_link(dictionary, sample.link));
    labels
}

/// The two labels of a link.
fn of_link<'a>(dictionary: &Dictionary, link: LinkId) -> impl Iterator<Item = Label<'a>> {
    let link = (link != LinkId::NONE).then(|| dictionary.link(link));
    let ids = link.map(|link| {
        [(LABEL_TRACE_ID, hex(&link.trace_id[..])), (LABEL_SPAN_ID, hex(&link.span_id[..]))]
    });
    let label = |(key, id)| Label { key, value: LabelValue::Text(Cow::Owned(id)) };
    ids.into_iter().flatten().map(label)
}

fn of_rows<'a>(
    dictionary: &'a Dictionary,
    rows: &[AttributeId],
) -> impl Iterator<Item = Label<'a>> {
    let rows = rows.iter().filter_map(|id| dictionary.attribute(*id));
    rows.flat_map(move |row| {
        let Attribute { key, value, unit } = row;
        of_value(dictionary, *key, value, *unit)
    })
}

fn of_value<'a>(
    dictionary: &'a Dictionary,
    key: StringId,
    value: &'a Value,
    unit: StringId,
) -> impl Iterator<Item = Label<'a>> {
    let key = dictionary.text(key);
    let items = match value {
        Value::Array(items) => &items[..],
        item => std::slice::from_ref(item),
    };
    items.iter().map(move |item| Label { key, value: value_of(dictionary, item, unit) })
}

/// One value of an attribute. A list of pairs is a label that shares its key with labels of other types or units.
fn value_of<'a>(dictionary: &'a Dictionary, value: &'a Value, unit: StringId) -> LabelValue<'a> {
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

/// An attribute value as text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct AttributeText {
    /// Texts first, then numbers in a fitting unit, separated by commas: as pprof prints labels. A 0 without a unit is
    /// left out, because pprof cannot tell it from an empty string.
    pub(crate) labels: String,
    /// The same with the units that keys imply.
    pub(crate) printed: String,
    /// The same with numbers as they are.
    pub(crate) exact: String,
}

impl AttributeText {
    /// The text of the labels of one key.
    fn of<'l>(labels: impl Iterator<Item = &'l Label<'l>> + Clone) -> Self {
        let join = |number: &dyn Fn(i64, &str, &str) -> Option<String>| {
            let texts = labels.clone().filter_map(|label| match &label.value {
                LabelValue::Text(text) => Some(text.to_string()),
                LabelValue::Number(..) => None,
            });
            let numbers = labels.clone().filter_map(|label| match &label.value {
                LabelValue::Number(value, unit) => number(*value, unit, label.key),
                LabelValue::Text(_) => None,
            });
            texts.chain(numbers).collect::<Vec<_>>().join(",")
        };
        Self {
            labels: join(&|value, unit, _| {
                (value != 0 || !unit.is_empty())
                    .then(|| units::label(value.into(), unit, units::AUTO))
            }),
            printed: join(&|value, unit, key| {
                let unit = Some(of_key(key, unit)).filter(|unit| Unit::of(unit).is_some());
                let scaled = unit.map(|unit| units::label(value.into(), unit, units::AUTO));
                scaled.or_else(|| Some(value.to_string()))
            }),
            exact: join(&|value, unit, _| Some(format!("{value}{unit}"))),
        }
    }
}

/// The labels that all samples of a profile, a scope or a resource share.
#[derive(Default)]
pub(super) struct Shared<'a> {
    pub(super) labels: Vec<Label<'a>>,
    by_key: HashMap<&'a str, Range<usize>, RandomState>,
}

impl<'a> Shared<'a> {
    fn new(labels: impl Iterator<Item = Label<'a>>) -> Self {
        let labels: Vec<_> = labels.collect();
        let mut by_key = HashMap::default();
        let mut start = 0;
        for of_key in labels.chunk_by(|a, b| a.key == b.key) {
            by_key.entry(of_key[0].key).or_insert(start..start + of_key.len());
            start += of_key.len();
        }
        Self { labels, by_key }
    }

    pub(super) fn get(&self, key: &str) -> Option<&[Label<'a>]> {
        self.labels.get(self.by_key.get(key)?.clone())
    }
}

/// The labels of samples, with those that they share.
///
/// Those of a scope and of a resource are collected once, as a resource may have many profiles.
#[derive(Default)]
pub(crate) struct Labels<'a> {
    owners: Option<(&'a ResourceProfiles, &'a ScopeProfiles)>,
    /// Of the profile, the scope and the resource.
    pub(super) shared: [Shared<'a>; 3],
    /// Which of them the last call of [`enter`](Self::enter) changed.
    pub(super) is_new: [bool; 3],
}

impl<'a> Labels<'a> {
    /// Goes to the samples of another profile.
    pub(crate) fn enter(&mut self, entry: &Entry<'a>) {
        let dictionary = entry.dictionary();
        let (resource, scope) = (entry.resource_profiles(), entry.scope_profiles());
        let pairs = |pairs: &'a [KeyValue]| {
            let none = StringId::NONE;
            let labels = |pair: &'a KeyValue| of_value(dictionary, pair.key, &pair.value, none);
            Shared::new(pairs.iter().flat_map(labels))
        };
        let is_other_scope = self.owners.is_none_or(|(_, last)| !std::ptr::eq(last, scope));
        let is_other_resource = self.owners.is_none_or(|(last, _)| !std::ptr::eq(last, resource));
        self.is_new = [true, is_other_scope, is_other_resource];
        self.shared[0] = Shared::new(of_rows(dictionary, entry.profile().attributes()));
        if is_other_scope {
            self.shared[1] = pairs(entry.scope().attributes());
        }
        if is_other_resource {
            self.shared[2] = pairs(entry.resource().attributes());
        }
        self.owners = Some((resource, scope));
    }

    /// The value of a key for a sample of the profile.
    pub(crate) fn text(
        &self,
        dictionary: &Dictionary,
        sample: &SampleRef<'_>,
        key: &str,
    ) -> Option<AttributeText> {
        let has_key = |id: &AttributeId| {
            dictionary.attribute(*id).is_some_and(|row| dictionary.text(row.key) == key)
        };
        let rows: Vec<AttributeId> = sample.attributes.iter().copied().filter(has_key).collect();
        let mut own: Vec<_> = of_rows(dictionary, &rows).collect();
        if rows.is_empty() && matches!(key, LABEL_TRACE_ID | LABEL_SPAN_ID) {
            own.extend(of_link(dictionary, sample.link).filter(|label| label.key == key));
        }
        if !(rows.is_empty() && own.is_empty()) {
            return Some(AttributeText::of(own.iter()));
        }
        let shared = self.shared.iter().find_map(|shared| shared.get(key))?;
        Some(AttributeText::of(shared.iter()))
    }
}

/// Returns the keys of all attributes of samples, links, profiles, scopes, resources, locations and mappings.
///
/// ```
/// # let bytes = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
/// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
/// assert!(otlp_profiles::look::attribute_keys(&profiles).contains("endpoint"));
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub fn attribute_keys(profiles: &Profiles) -> BTreeSet<&str> {
    let dictionary = &profiles.dictionary;
    let mut keys: BTreeSet<&str> = BTreeSet::new();
    for resource in &profiles.resources {
        let scopes = resource.scopes.iter().map(|scope| scope.scope.attributes());
        let pairs = std::iter::once(resource.resource.attributes()).chain(scopes).flatten();
        keys.extend(pairs.map(|pair| dictionary.text(pair.key)));
    }
    keys.extend(dictionary.attributes.iter().skip(1).map(|row| dictionary.text(row.key)));
    if dictionary.links.len() > 1 {
        keys.extend([LABEL_TRACE_ID, LABEL_SPAN_ID]);
    }
    keys
}

/// The unit of each key with numbers: the first unit of any sample or profile, else one that the key implies.
#[derive(Default)]
pub(super) struct Units(HashMap<String, String, RandomState>);

impl Units {
    /// The units of all samples and profiles.
    pub(super) fn of(profiles: &Profiles) -> Self {
        let dictionary = &profiles.dictionary;
        let mut seen = vec![false; dictionary.attributes.len()];
        let mut new = Vec::new();
        let mut see = |ids: &[AttributeId]| {
            new.extend(ids.iter().filter(|id| !std::mem::replace(&mut seen[id.row()], true)));
        };
        profiles.iter().flat_map(Profile::samples).for_each(|sample| see(sample.attributes));
        profiles.iter().for_each(|profile| see(profile.attributes()));
        Self::of_labels(of_rows(dictionary, &new))
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
            *unit = of_key(key, "").to_owned();
        }
        Self(units)
    }

    pub(super) fn unit(&self, key: &str) -> &str {
        self.0.get(key).map_or("", |unit| unit)
    }
}
