//! Profiles in an order that depends on their contents only.
//!
//! Tables are sorted one after the other, each after those that its rows refer to, so that a row compares by the new
//! numbers of what it refers to:
//!
//! ```text
//! strings ─► functions, attributes, links ─► mappings ─► locations ─► stacks ─► samples ─► profiles
//! ```

use std::cmp::Ordering;

use crate::model::dictionary::{Attribute, Dictionary};
use crate::model::id::{
    AttributeId, FunctionId, Id, LinkId, LocationId, MappingId, StackId, StringId,
};
use crate::model::order::{columns, sample_type_order, set_sample_type_order};
use crate::model::profile::{Profile, ValueType};
use crate::model::ragged::Ragged;
use crate::model::samples::Samples;
use crate::model::value::{KeyValue, Value};
use crate::model::{EntityRef, Profiles, ResourceProfiles, ScopeProfiles};
use crate::tables::profile::covered::Covered;
use crate::tables::rows::reach::Reach;

/// Sorts tables, samples, profiles, scopes and resources by content. `beside` holds the covered time of each profile and
/// is sorted with them. `main` comes first of the mappings; unreferenced rows are dropped.
pub(super) fn canonical(profiles: &mut Profiles, main: MappingId, beside: &mut Vec<Covered>) {
    let dictionary = &profiles.dictionary;
    let mut reach = Reach::of(dictionary);
    profiles.iter().for_each(|profile| reach.profile(profile));
    reach.tree(&profiles.resources);
    reach.mark(main);
    reach.finish(dictionary);
    sort_tables(&mut reach, dictionary, main);
    let mut sorted = reach.keep(dictionary);
    sort_rows(&mut sorted.mappings.attributes);
    sort_rows(&mut sorted.locations.attributes);
    profiles.resources.iter_mut().for_each(|resource| reach.new.resource_profiles(resource));
    profiles.dictionary = sorted;
    let mut numbers = beside.drain(..);
    let dictionary = &profiles.dictionary;
    let resources = std::mem::take(&mut profiles.resources).into_iter();
    let mut resources: Vec<(ResourceProfiles, Vec<Covered>)> = resources
        .map(|mut resource| {
            let beside = sort_scopes(&mut resource, &mut numbers, dictionary);
            (resource, beside)
        })
        .collect();
    drop(numbers);
    resources.sort_by(|(a, _), (b, _)| compare_resources(a, b));
    for (resource, numbers) in resources {
        profiles.resources.push(resource);
        beside.extend(numbers);
    }
}

/// Sorts the rows that are reached, table by table.
fn sort_tables(reach: &mut Reach, dictionary: &Dictionary, main: MappingId) {
    sort::<StringId>(reach, |_, a, b| {
        let text = |row: u32| dictionary.strings.bytes(StringId(row));
        text(a).cmp(text(b))
    });
    sort::<LinkId>(reach, |_, a, b| {
        let ids = |row: u32| {
            let link = dictionary.link(LinkId(row));
            (link.trace_id, link.span_id)
        };
        ids(a).cmp(&ids(b))
    });
    sort::<FunctionId>(reach, |reach, a, b| {
        let key = |row: u32| {
            let function = reach.new.function(&dictionary.functions[row as usize]);
            (function.name, function.system_name, function.filename, function.start_line)
        };
        key(a).cmp(&key(b))
    });
    sort::<AttributeId>(reach, |reach, a, b| {
        let [a, b] = [a, b].map(|row| reach.new.attribute(&dictionary.attributes[row as usize]));
        compare_attributes(&a, &b)
    });
    let set = |reach: &Reach, ids: &[AttributeId]| {
        let mut set = Vec::new();
        reach.new.attribute_set(ids, &mut set);
        set
    };
    sort::<MappingId>(reach, |reach, a, b| {
        let key = |row: u32| {
            let of = reach.new.mapping(&dictionary.mappings.rows[row as usize]);
            let attributes = set(reach, dictionary.mappings.attributes.row(row as usize));
            let addresses = (of.memory_start, of.memory_limit, of.file_offset);
            // `false` sorts first, and so does the main mapping.
            (MappingId(row) != main, addresses, of.filename, attributes)
        };
        key(a).cmp(&key(b))
    });
    sort::<LocationId>(reach, |reach, a, b| {
        let key = |row: u32| {
            let (table, id) = (&dictionary.locations, LocationId(row));
            (reach.new.id(table.mapping(id)), table.address(id))
        };
        let lines = |row: u32| {
            let lines = dictionary.locations.lines(LocationId(row)).iter();
            lines.map(|line| (reach.new.id(line.function), line.line, line.column))
        };
        let attributes = |row: u32| set(reach, dictionary.locations.attributes(LocationId(row)));
        let more = || lines(a).cmp(lines(b)).then_with(|| attributes(a).cmp(&attributes(b)));
        key(a).cmp(&key(b)).then_with(more)
    });
    sort::<StackId>(reach, |reach, a, b| {
        let locations = |row: u32| reach.new.ids(dictionary.stack(StackId(row)));
        locations(a).cmp(locations(b))
    });
}

fn sort<I: Id>(reach: &mut Reach, compare: impl Fn(&Reach, u32, u32) -> Ordering) {
    let mut rows = reach.rows.of::<I>().to_vec();
    rows.sort_by(|a, b| compare(reach, *a, *b));
    reach.order::<I>(rows);
}

/// Sorts the ids of each row.
fn sort_rows(rows: &mut Ragged<AttributeId>) {
    let mut start = 0;
    for &end in &rows.ends {
        rows.items[start..end as usize].sort_unstable();
        start = end as usize;
    }
}

/// Sorts the scopes of a resource and their profiles. Returns the numbers beside them in the same order.
fn sort_scopes(
    resource: &mut ResourceProfiles,
    numbers: &mut impl Iterator<Item = Covered>,
    dictionary: &Dictionary,
) -> Vec<Covered> {
    resource.resource.attributes.sort_unstable_by_key(|pair| pair.key);
    let scopes = std::mem::take(&mut resource.scopes).into_iter();
    let mut scopes: Vec<(ScopeProfiles, Vec<Covered>)> = scopes
        .map(|mut scope| {
            let numbers = numbers.by_ref().take(scope.profiles.len()).collect();
            let numbers = sort_profiles(&mut scope, numbers, dictionary);
            (scope, numbers)
        })
        .collect();
    scopes.sort_by(|(a, _), (b, _)| compare_scopes(a, b));
    let mut sorted = Vec::new();
    for (scope, numbers) in scopes {
        resource.scopes.push(scope);
        sorted.extend(numbers);
    }
    sorted
}

fn sort_profiles(
    scope: &mut ScopeProfiles,
    beside: Vec<Covered>,
    dictionary: &Dictionary,
) -> Vec<Covered> {
    let order = sample_type_order(scope, dictionary).and_then(Result::ok);
    for profile in &mut scope.profiles {
        profile.attributes.sort_unstable();
        sort_samples(&mut profile.samples);
    }
    scope.scope.attributes.sort_unstable_by_key(|pair| pair.key);
    let profiles = std::mem::take(&mut scope.profiles).into_iter().zip(beside);
    let profiles: Vec<(Profile, Covered)> = profiles.collect();
    // The first profile of a pprof stays the first: it has the default sample type.
    let columns = order.as_deref().map(columns);
    let leader = |at: usize| columns.as_ref().map_or(at, |columns| columns[at].0);
    let compare = |a: usize, b: usize| compare_profiles(&profiles[a].0, &profiles[b].0);
    let mut rows: Vec<usize> = (0..profiles.len()).collect();
    rows.sort_by(|a, b| {
        let (of_a, of_b) = (leader(*a), leader(*b));
        let leaders = compare(of_a, of_b).then(of_a.cmp(&of_b));
        leaders.then((*a != of_a).cmp(&(*b != of_b))).then_with(|| compare(*a, *b))
    });
    if let Some(columns) = &columns {
        let mut start = 0;
        let order = rows.iter().enumerate().map(|(row, at)| {
            start = if columns[*at].0 == *at { row } else { start };
            start + columns[*at].1
        });
        set_sample_type_order(scope, &order.collect::<Vec<_>>(), dictionary);
    }
    let mut profiles: Vec<_> = profiles.into_iter().map(Some).collect();
    let sorted = rows.into_iter().filter_map(|row| profiles[row].take());
    let (profiles, beside): (Vec<_>, Vec<_>) = sorted.unzip();
    scope.profiles = profiles;
    beside
}

/// Sorts samples by stack, attributes, link, id, values and times.
fn sort_samples(samples: &mut Samples) {
    sort_rows(&mut samples.attributes);
    let mut order: Vec<usize> = (0..samples.len()).collect();
    let key = |row: usize| {
        let sample = samples.at(row);
        let identity = (sample.stack, sample.attributes, sample.link, sample.stacktrace_id);
        (identity, sample.values, sample.timestamps_unix_nano)
    };
    order.sort_by(|a, b| key(*a).cmp(&key(*b)));
    let mut sorted = Samples::default();
    for row in order {
        let sample = samples.at(row);
        let at = sorted.push(sample.stack, sample.attributes, sample.link);
        sorted.values.push_at(at, sample.values);
        sorted.timestamps.push_at(at, sample.timestamps_unix_nano);
        if sample.stacktrace_id != StringId::NONE {
            sorted.stacktrace_ids.resize(at, StringId::NONE);
            sorted.stacktrace_ids.push(sample.stacktrace_id);
        }
    }
    *samples = sorted;
}

/// Orders profiles by everything but the payload they were read from, so that different ones are never equal.
fn compare_profiles(a: &Profile, b: &Profile) -> Ordering {
    let kind = |of: &ValueType| (of.name, of.unit, of.temporality.map(|of| of.0));
    let head = |of: &Profile| {
        let types: Vec<_> = of.sample_types.iter().map(kind).collect();
        (types, of.attributes.to_vec(), of.time_unix_nano, of.duration_nanos)
    };
    let period = |of: &Profile| (kind(&of.period_type), of.period, of.default_sample_type);
    let tail = |of: &Profile| (of.profile_id, of.dropped_attributes_count);
    let (first, second) = (&a.samples, &b.samples);
    head(a)
        .cmp(&head(b))
        .then_with(|| period(a).cmp(&period(b)))
        .then_with(|| tail(a).cmp(&tail(b)))
        .then_with(|| first.stacks.cmp(&second.stacks))
        .then_with(|| compare_rows(&first.values, &second.values))
        .then_with(|| compare_rows(&first.timestamps, &second.timestamps))
        .then_with(|| compare_rows(&first.attributes, &second.attributes))
        .then_with(|| first.links.cmp(&second.links))
        .then_with(|| first.stacktrace_ids.cmp(&second.stacktrace_ids))
}

fn compare_rows<T: Ord>(a: &Ragged<T>, b: &Ragged<T>) -> Ordering {
    a.items.cmp(&b.items).then_with(|| a.ends.cmp(&b.ends))
}

fn compare_scopes(a: &ScopeProfiles, b: &ScopeProfiles) -> Ordering {
    let dropped = |of: &ScopeProfiles| of.scope.dropped_attributes_count;
    let key = |of: &ScopeProfiles| (of.schema_url, of.scope.name, of.scope.version, dropped(of));
    let pairs = || compare_pairs(&a.scope.attributes, &b.scope.attributes);
    key(a).cmp(&key(b)).then_with(pairs)
}

fn compare_resources(a: &ResourceProfiles, b: &ResourceProfiles) -> Ordering {
    let entity = |of: &EntityRef| {
        (of.schema_url, of.entity_type, of.id_keys.clone(), of.description_keys.clone())
    };
    let entities =
        |of: &ResourceProfiles| -> Vec<_> { of.resource.entity_refs.iter().map(entity).collect() };
    let dropped = |of: &ResourceProfiles| of.resource.dropped_attributes_count;
    compare_pairs(&a.resource.attributes, &b.resource.attributes)
        .then_with(|| a.schema_url.cmp(&b.schema_url))
        .then_with(|| dropped(a).cmp(&dropped(b)))
        .then_with(|| entities(a).cmp(&entities(b)))
}

fn compare_attributes(a: &Attribute, b: &Attribute) -> Ordering {
    let value = || compare_values(&a.value, &b.value);
    a.key.cmp(&b.key).then_with(value).then_with(|| a.unit.cmp(&b.unit))
}

fn compare_pairs(a: &[KeyValue], b: &[KeyValue]) -> Ordering {
    let pair = |(a, b): (&KeyValue, &KeyValue)| {
        a.key.cmp(&b.key).then_with(|| compare_values(&a.value, &b.value))
    };
    let first = a.iter().zip(b).map(pair).find(|order| order.is_ne());
    first.unwrap_or(a.len().cmp(&b.len()))
}

/// Orders values by kind, then by content.
fn compare_values(a: &Value, b: &Value) -> Ordering {
    let rank = |value: &Value| match value {
        Value::Empty => 0,
        Value::String(_) => 1,
        Value::Bool(_) => 2,
        Value::Int(_) => 3,
        Value::Double(_) => 4,
        Value::Bytes(_) => 5,
        Value::Array(_) => 6,
        Value::KeyValues(_) => 7,
    };
    match (a, b) {
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::Double(a), Value::Double(b)) => a.total_cmp(b),
        (Value::Bytes(a), Value::Bytes(b)) => a.cmp(b),
        (Value::Array(a), Value::Array(b)) => {
            let first = a.iter().zip(b).map(|(a, b)| compare_values(a, b)).find(|o| o.is_ne());
            first.unwrap_or(a.len().cmp(&b.len()))
        }
        (Value::KeyValues(a), Value::KeyValues(b)) => compare_pairs(a, b),
        (a, b) => rank(a).cmp(&rank(b)),
    }
}
