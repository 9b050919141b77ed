//! Converts the model to a [`Doc`], through its public accessors only.

use otlp_profiles::model::{AttributeId, LinkId, StackId, Value};
use otlp_profiles::{Dictionary, Profiles, model};

use super::doc::{
    Attribute, Doc, Function, Location, Mapping, Profile, Resource, Sample, Scope, Tables, Type,
    Val,
};

/// Returns the content of the model. Row 0 of every table means no entry, so the `Doc` does not contain it.
pub fn doc_of(profiles: &Profiles) -> Doc {
    let dictionary = profiles.dictionary();
    let text = |id| dictionary.text(id).to_owned();
    let pairs = |pairs: &[model::KeyValue]| {
        pairs.iter().map(|p| (text(p.key), val(&p.value, dictionary))).collect::<Vec<_>>()
    };
    let entity = |e: &model::EntityRef| {
        let keys = |keys: &[model::StringId]| keys.iter().map(|key| text(*key)).collect();
        (text(e.schema_url), text(e.entity_type), keys(&e.id_keys), keys(&e.description_keys))
    };
    let scope = |scope: &model::ScopeProfiles| Scope {
        name: text(scope.scope().name()),
        version: text(scope.scope().version()),
        attributes: pairs(scope.scope().attributes()),
        dropped: scope.scope().dropped_attributes_count(),
        schema_url: text(scope.schema_url()),
        profiles: scope.profiles().iter().map(|p| profile(p, dictionary)).collect(),
    };
    let resource = |r: &model::ResourceProfiles| Resource {
        attributes: pairs(r.resource().attributes()),
        dropped: r.resource().dropped_attributes_count(),
        entities: r.resource().entity_refs().iter().map(entity).collect(),
        schema_url: text(r.schema_url()),
        scopes: r.scope_profiles().iter().map(scope).collect(),
    };
    Doc {
        resources: profiles.resource_profiles().iter().map(resource).collect(),
        tables: tables(dictionary),
    }
}

fn row(id: usize) -> Option<usize> {
    id.checked_sub(1)
}

fn rows(ids: &[AttributeId]) -> Vec<usize> {
    ids.iter().map(|id| row(id.row()).expect("no list holds attribute 0")).collect()
}

fn profile(profile: &model::Profile, dictionary: &Dictionary) -> Profile {
    let text = |id| dictionary.text(id).to_owned();
    let kind = |kind: &model::ValueType| Type {
        name: text(kind.name),
        unit: text(kind.unit),
        temporality: kind.temporality.map_or(0, |temporality| temporality.0),
    };
    let sample = |sample: model::SampleRef| Sample {
        stack: (sample.stack != StackId::NONE).then(|| sample.stack.row() - 1),
        attributes: rows(sample.attributes),
        link: (sample.link != LinkId::NONE).then(|| sample.link.row() - 1),
        stacktrace_id: text(sample.stacktrace_id),
        values: sample.values.to_vec(),
        times: sample.timestamps_unix_nano.to_vec(),
    };
    let (format, bytes) = profile.original_payload();
    Profile {
        id: profile.profile_id().0,
        time: profile.time_unix_nano(),
        duration: profile.duration_nanos(),
        types: profile.sample_types().iter().map(kind).collect(),
        default: text(profile.default_sample_type()),
        period_type: kind(&profile.period_type()),
        period: profile.period(),
        attributes: rows(profile.attributes()),
        dropped: profile.dropped_attributes_count(),
        original: (text(format), bytes.to_vec()),
        samples: profile.samples().iter().map(sample).collect(),
        ..Profile::default()
    }
}

pub fn tables(dictionary: &Dictionary) -> Tables {
    let text = |id| dictionary.text(id).to_owned();
    let mappings = dictionary.mappings();
    let locations = dictionary.locations();
    // Only the crate can create ids, so collect the ids of all rows from their uses.
    let mut tables = Tables::default();
    for attribute in &dictionary.attributes()[1..] {
        let value = val(&attribute.value, dictionary);
        tables.attributes.push(Attribute {
            key: text(attribute.key),
            value,
            unit: text(attribute.unit),
        });
    }
    for function in &dictionary.functions()[1..] {
        let names = [function.name, function.system_name, function.filename].map(text);
        tables.functions.push(Function { names, start_line: function.start_line });
    }
    tables.links =
        dictionary.links()[1..].iter().map(|link| (link.trace_id, link.span_id)).collect();
    tables.mappings = vec![Mapping::default(); mappings.rows().len() - 1];
    for (place, mapping) in tables.mappings.iter_mut().zip(&mappings.rows()[1..]) {
        place.range = [mapping.memory_start, mapping.memory_limit, mapping.file_offset];
        place.filename = text(mapping.filename);
    }
    tables.locations = vec![Location::default(); locations.len() - 1];
    for stack in dictionary.stacks().rows().skip(1) {
        for &id in stack {
            let lines = locations.lines(id).iter();
            let Some(at) = row(id.row()) else { continue };
            let mapping = locations.mapping(id);
            tables.locations[at] = Location {
                mapping: row(mapping.row()),
                address: locations.address(id),
                lines: lines
                    .map(|line| (row(line.function.row()), line.line, line.column))
                    .collect(),
                attributes: rows(locations.attributes(id)),
                ..Location::default()
            };
            if let Some(at) = row(mapping.row()) {
                tables.mappings[at].attributes = rows(mappings.attributes(mapping));
            }
        }
        tables.stacks.push(
            stack.iter().map(|id| row(id.row()).expect("no stack holds location 0")).collect(),
        );
    }
    tables
}

fn val(value: &Value, dictionary: &Dictionary) -> Val {
    match value {
        Value::Empty => Val::Empty,
        Value::String(id) => Val::str(dictionary.text(*id)),
        Value::Bool(truth) => Val::Bool(*truth),
        Value::Int(number) => Val::Int(*number),
        Value::Double(number) => Val::Double(*number),
        Value::Bytes(bytes) => Val::Bytes(bytes.to_vec()),
        Value::Array(values) => Val::Array(values.iter().map(|v| val(v, dictionary)).collect()),
        Value::KeyValues(pairs) => Val::Map(
            pairs
                .iter()
                .map(|p| (dictionary.text(p.key).to_owned(), val(&p.value, dictionary)))
                .collect(),
        ),
        other => panic!("a kind of value that is not known: {other:?}"),
    }
}
