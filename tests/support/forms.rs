//! Every generation of OTLP as prost's types: converts a [`Doc`] to bytes and back.
//!
//! Uses none of the crate's readers and writers, only the message types that prost generated.
#![allow(dead_code, reason = "not every test that includes this file needs all of it")]

use std::collections::HashMap;
use std::iter::once as first;

use otlp_profiles::proto::prost::{DecodeError, Message};

use super::doc::{
    self, Attribute, Doc, Function, Location, Mapping, Profile, Resource, Sample, Scope, Tables,
    Type, Val,
};

/// The fields that a generation has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Caps {
    pub columns: bool,
    pub default: DefaultBy,
    pub temporality: bool,
    pub entities: bool,
    pub comments: bool,
    pub drop_keep: bool,
    pub flags: bool,
    pub build_id: bool,
    pub frame_type: bool,
    pub stacktrace_id: bool,
    pub units_by_key: bool,
    pub signed_time: bool,
    pub required_id: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DefaultBy {
    Unsaid,
    Name,
    Column,
}

pub struct Form {
    pub name: &'static str,
    pub caps: Caps,
    /// The compiled schema: a `FileDescriptorSet`.
    pub descriptors: &'static [u8],
    /// Encodes a document with prost.
    pub lower: fn(&Doc) -> Vec<u8>,
    /// Decodes bytes with prost.
    pub raise: fn(&[u8]) -> Result<Doc, DecodeError>,
    /// Decodes bytes with prost and encodes them again.
    pub again: fn(&[u8]) -> Result<Vec<u8>, DecodeError>,
}

const NEW: Caps = Caps {
    columns: false,
    default: DefaultBy::Unsaid,
    temporality: false,
    entities: true,
    comments: false,
    drop_keep: false,
    flags: false,
    build_id: false,
    frame_type: false,
    stacktrace_id: false,
    units_by_key: false,
    signed_time: false,
    required_id: false,
};
const V1_8: Caps = Caps { comments: true, temporality: true, ..NEW };
const V1_7: Caps = Caps {
    columns: true,
    default: DefaultBy::Column,
    flags: true,
    units_by_key: true,
    signed_time: true,
    required_id: true,
    ..V1_8
};
const V1_5: Caps = Caps { default: DefaultBy::Name, entities: false, ..V1_7 };
const V1_3: Caps =
    Caps { drop_keep: true, build_id: true, frame_type: true, stacktrace_id: true, ..V1_5 };

macro_rules! form {
    ($name:literal, $module:ident, $caps:expr) => {
        Form {
            name: $name,
            caps: $caps,
            descriptors: otlp_profiles::proto::$module::FILE_DESCRIPTOR_SET,
            lower: |doc| $module::lower(&desugar(doc, &$caps)).encode_to_vec(),
            raise: |bytes| {
                Ok($module::raise(&otlp_profiles::proto::$module::ProfilesData::decode(bytes)?))
            },
            again: |bytes| {
                Ok(otlp_profiles::proto::$module::ProfilesData::decode(bytes)?.encode_to_vec())
            },
        }
    };
}

/// All generations, the newest first.
pub const FORMS: &[Form] = &[
    form!("otlp-1.10", v1_10, NEW),
    form!("otlp-1.9", v1_9, NEW),
    form!("otlp-1.8", v1_8, V1_8),
    form!("otlp-1.7", v1_7, V1_7),
    form!("otlp-1.6", v1_6, V1_7),
    form!("otlp-1.5", v1_5, V1_5),
    form!("otlp-1.4", v1_4, V1_5),
    form!("otlp-1.3", v1_3, V1_3),
];

pub fn form(name: &str) -> &'static Form {
    FORMS
        .iter()
        .find(|form| form.name == name || name == "otlp")
        .expect("every generation has a form")
}

/// Returns the document with attributes in place of fields that the generation lacks.
pub fn desugar(doc: &Doc, caps: &Caps) -> Doc {
    let mut doc = doc.clone();
    let tables = &mut doc.tables;
    let mut rows = std::mem::take(&mut tables.attributes);
    let mut add = |key: String, value: Val| {
        rows.push(Attribute { key, value, unit: String::new() });
        rows.len() - 1
    };
    for mapping in &mut tables.mappings {
        if !caps.flags {
            let flags = std::mem::take(&mut mapping.flags);
            doc::flag_attributes(flags)
                .into_iter()
                .for_each(|(key, value)| mapping.attributes.push(add(key, value)));
        }
        if !caps.build_id && !mapping.build_id.is_empty() {
            let text = std::mem::take(&mut mapping.build_id);
            mapping.attributes.push(add(doc::build_id_key(&text).to_owned(), Val::Str(text)));
        }
    }
    for location in &mut tables.locations {
        if !caps.flags && std::mem::take(&mut location.folded) {
            location.attributes.push(add("pprof.location.is_folded".to_owned(), Val::Bool(true)));
        }
        if !caps.frame_type && !location.frame_type.is_empty() {
            let text = std::mem::take(&mut location.frame_type);
            location.attributes.push(add("profile.frame.type".to_owned(), Val::Str(text)));
        }
    }
    for profile in
        doc.resources.iter_mut().flat_map(|r| &mut r.scopes).flat_map(|s| &mut s.profiles)
    {
        if !caps.comments && !profile.comments.is_empty() {
            let texts = std::mem::take(&mut profile.comments).into_iter().map(Val::Str).collect();
            profile.attributes.push(add("pprof.profile.comment".to_owned(), Val::Array(texts)));
        }
        for (key, text) in [("drop", &mut profile.drop_frames), ("keep", &mut profile.keep_frames)]
        {
            if !caps.drop_keep && !text.is_empty() {
                let value = Val::Str(std::mem::take(text));
                profile.attributes.push(add(format!("pprof.profile.{key}_frames"), value));
            }
        }
    }
    tables.attributes = rows;
    doc
}

/// A string table in progress.
#[derive(Default)]
struct Strs {
    table: Vec<String>,
    index: HashMap<String, usize>,
    repeat: bool,
    /// Whether every other string of a value is a reference.
    refs: bool,
    asked: usize,
}

impl Strs {
    fn new(tables: &Tables) -> Self {
        let (repeat, first) = (tables.repeat_strings, tables.string_0.clone());
        let index = HashMap::from([(first.clone(), 0)]);
        Self { table: vec![first], index, repeat, refs: repeat, ..Self::default() }
    }

    fn id(&mut self, text: &str) -> usize {
        if text.is_empty() {
            return 0;
        }
        self.asked += 1;
        let again = self.repeat && self.asked.is_multiple_of(3);
        match self.index.get(text) {
            Some(&at) if !again => at,
            _ => {
                self.table.push(text.to_owned());
                self.index.insert(text.to_owned(), self.table.len() - 1);
                self.table.len() - 1
            }
        }
    }

    /// Returns the index of a string, if it should be a reference.
    fn reference(&mut self, text: &str) -> Option<usize> {
        let wanted = self.refs && !text.is_empty() && self.asked.is_multiple_of(2);
        self.asked += 1;
        wanted.then(|| self.id(text))
    }
}

/// The unit of each key, in generations with units by key.
fn units(tables: &Tables) -> Vec<(&str, &str)> {
    let mut units: Vec<(&str, &str)> = Vec::new();
    for attribute in tables.attributes.iter().filter(|attribute| !attribute.unit.is_empty()) {
        if !units.iter().any(|(key, _)| *key == attribute.key) {
            units.push((&attribute.key, &attribute.unit));
        }
    }
    units
}

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    if bytes.is_empty() { [0; N] } else { bytes.try_into().expect("an id of the right length") }
}

fn id_bytes(id: &[u8; 16]) -> Vec<u8> {
    if *id == [0; 16] { Vec::new() } else { id.to_vec() }
}

/// Messages that all signals share.
macro_rules! common {
    (entities: [$($entity_refs:ident)?], refs: [$($key_strindex:ident)?]) => {
        fn any(value: &Val, strs: &mut Strs) -> Option<wire::AnyValue> {
            use wire::any_value::Value;
            let value = match value {
                Val::Empty => return None,
                Val::Str(text) => {
                    $(
                        let _ = stringify!($key_strindex);
                        if let Some(at) = strs.reference(text) {
                            return Some(wire::AnyValue { value: Some(Value::StringValueStrindex(at as i32)) });
                        }
                    )?
                    Value::StringValue(text.clone())
                }
                Val::Bool(truth) => Value::BoolValue(*truth),
                Val::Int(number) => Value::IntValue(*number),
                Val::Double(number) => Value::DoubleValue(*number),
                Val::Bytes(bytes) => Value::BytesValue(bytes.clone().into()),
                Val::Array(values) => {
                    let values = values.iter().map(|v| any(v, strs).unwrap_or_default()).collect();
                    Value::ArrayValue(wire::ArrayValue { values })
                }
                Val::Map(pairs) => Value::KvlistValue(wire::KeyValueList { values: key_values(pairs, strs) }),
            };
            Some(wire::AnyValue { value: Some(value) })
        }

        #[allow(clippy::needless_update)]
        fn key_value(key: &str, value: &Val, strs: &mut Strs) -> wire::KeyValue {
            $(
                if let Some(at) = strs.reference(key) {
                    return wire::KeyValue { $key_strindex: at as i32, value: any(value, strs), ..Default::default() };
                }
            )?
            wire::KeyValue { key: key.to_owned(), value: any(value, strs), ..Default::default() }
        }

        fn key_values(pairs: &[(String, Val)], strs: &mut Strs) -> Vec<wire::KeyValue> {
            pairs.iter().map(|(key, value)| key_value(key, value, strs)).collect()
        }

        fn val(value: &Option<wire::AnyValue>, strings: &[String]) -> Val {
            use wire::any_value::Value;
            let _ = strings;
            match value.as_ref().and_then(|any| any.value.as_ref()) {
                None => Val::Empty,
                Some(Value::StringValue(text)) => Val::str(text),
                Some(Value::BoolValue(truth)) => Val::Bool(*truth),
                Some(Value::IntValue(number)) => Val::Int(*number),
                Some(Value::DoubleValue(number)) => Val::Double(*number),
                Some(Value::BytesValue(bytes)) => Val::Bytes(bytes.to_vec()),
                Some(Value::ArrayValue(array)) => {
                    Val::Array(array.values.iter().map(|v| val(&Some(v.clone()), strings)).collect())
                }
                Some(Value::KvlistValue(list)) => Val::Map(vals(&list.values, strings)),
                $(Some(Value::StringValueStrindex(at)) => {
                    let _ = stringify!($key_strindex);
                    if *at == 0 { Val::Empty } else { Val::str(&strings[*at as usize]) }
                })?
            }
        }

        fn key<'a>(pair: &'a wire::KeyValue, strings: &'a [String]) -> &'a str {
            let _ = strings;
            $(if pair.key.is_empty() { return &strings[pair.$key_strindex as usize]; })?
            &pair.key
        }

        fn vals(pairs: &[wire::KeyValue], strings: &[String]) -> Vec<(String, Val)> {
            pairs.iter().map(|pair| (key(pair, strings).to_owned(), val(&pair.value, strings))).collect()
        }

        #[allow(clippy::needless_update)]
        fn envelope(doc: &Doc, strs: &mut Strs, mut profile: impl FnMut(&Profile, &mut Strs) -> Wire) -> Vec<wire::ResourceProfiles> {
            let scope = |scope: &Scope, strs: &mut Strs, profile: &mut dyn FnMut(&Profile, &mut Strs) -> Wire| wire::ScopeProfiles {
                scope: Some(wire::InstrumentationScope {
                    name: scope.name.clone(),
                    version: scope.version.clone(),
                    attributes: key_values(&scope.attributes, strs),
                    dropped_attributes_count: scope.dropped,
                }),
                profiles: scope.profiles.iter().map(|p| profile(p, strs)).collect(),
                schema_url: scope.schema_url.clone(),
            };
            doc.resources.iter().map(|resource| wire::ResourceProfiles {
                resource: Some(wire::Resource {
                    attributes: key_values(&resource.attributes, strs),
                    dropped_attributes_count: resource.dropped,
                    $($entity_refs: resource.entities.iter().map(|(url, kind, ids, more)| wire::EntityRef {
                        schema_url: url.clone(),
                        r#type: kind.clone(),
                        id_keys: ids.clone(),
                        description_keys: more.clone(),
                    }).collect(),)?
                }),
                scope_profiles: resource.scopes.iter().map(|s| scope(s, strs, &mut profile)).collect(),
                schema_url: resource.schema_url.clone(),
            }).collect()
        }

        fn resources(all: &[wire::ResourceProfiles], strings: &[String], profile: &mut dyn FnMut(&Wire) -> Profile) -> Vec<Resource> {
            all.iter().map(|resource| {
                let own = resource.resource.clone().unwrap_or_default();
                Resource {
                    attributes: vals(&own.attributes, strings),
                    dropped: own.dropped_attributes_count,
                    entities: {
                        #[allow(unused_mut)]
                        let mut entities = Vec::new();
                        $(for e in own.$entity_refs {
                            entities.push((e.schema_url, e.r#type, e.id_keys, e.description_keys));
                        })?
                        entities
                    },
                    schema_url: resource.schema_url.clone(),
                    scopes: resource.scope_profiles.iter().map(|scope| {
                        let own = scope.scope.clone().unwrap_or_default();
                        Scope {
                            name: own.name,
                            version: own.version,
                            attributes: vals(&own.attributes, strings),
                            dropped: own.dropped_attributes_count,
                            schema_url: scope.schema_url.clone(),
                            profiles: scope.profiles.iter().map(&mut *profile).collect(),
                        }
                    }).collect(),
                }
            }).collect()
        }
    };
}

/// 1.8 and later: one sample type per profile, row 0 of every table is empty, units belong to attributes.
macro_rules! since_1_8 {
    ($m:ident, $samples:ident, $lines:ident, comments: [$($comments:ident)?], temporality: [$($temporality:ident)?], refs: [$($ref:ident)?]) => {
        mod $m {
            use super::*;
            use otlp_profiles::proto::$m as wire;
            type Wire = wire::Profile;
            common!(entities: [entity_refs], refs: [$($ref)?]);

            fn up(row: Option<usize>) -> i32 {
                row.map_or(0, |row| row as i32 + 1)
            }
            fn ups(rows: &[usize]) -> Vec<i32> {
                rows.iter().map(|row| *row as i32 + 1).collect()
            }
            fn down(index: i32) -> Option<usize> {
                (index as usize).checked_sub(1)
            }
            fn downs(indices: &[i32]) -> Vec<usize> {
                indices.iter().map(|index| *index as usize - 1).collect()
            }

            fn value_type(kind: &Type, strs: &mut Strs) -> Option<wire::ValueType> {
                (*kind != Type::default()).then(|| wire::ValueType {
                    type_strindex: strs.id(&kind.name) as i32,
                    unit_strindex: strs.id(&kind.unit) as i32,
                    $($temporality: kind.temporality,)?
                })
            }

            fn un_type(kind: &wire::ValueType, strings: &[String]) -> Type {
                let text = |index: i32| strings[index as usize].clone();
                let mut said = Type { name: text(kind.type_strindex), unit: text(kind.unit_strindex), temporality: 0 };
                said.temporality += 0;
                $(said.temporality = kind.$temporality;)?
                said
            }

            pub(super) fn lower(doc: &Doc) -> wire::ProfilesData {
                let strs = &mut Strs::new(&doc.tables);
                let tables = &doc.tables;
                let mapping = |m: &Mapping, strs: &mut Strs| wire::Mapping {
                    memory_start: m.range[0],
                    memory_limit: m.range[1],
                    file_offset: m.range[2],
                    filename_strindex: strs.id(&m.filename) as i32,
                    attribute_indices: ups(&m.attributes),
                };
                let location = |l: &Location| wire::Location {
                    mapping_index: up(l.mapping),
                    address: l.address,
                    $lines: l.lines.iter().map(|&(function, line, column)| wire::Line { function_index: up(function), line, column }).collect(),
                    attribute_indices: ups(&l.attributes),
                };
                let function = |f: &Function, strs: &mut Strs| wire::Function {
                    name_strindex: strs.id(&f.names[0]) as i32,
                    system_name_strindex: strs.id(&f.names[1]) as i32,
                    filename_strindex: strs.id(&f.names[2]) as i32,
                    start_line: f.start_line,
                };
                let attribute = |a: &Attribute, strs: &mut Strs| wire::KeyValueAndUnit {
                    key_strindex: strs.id(&a.key) as i32,
                    value: any(&a.value, strs),
                    unit_strindex: strs.id(&a.unit) as i32,
                };
                let link = |(trace_id, span_id): &([u8; 16], [u8; 8])| wire::Link {
                    trace_id: trace_id.to_vec().into(),
                    span_id: span_id.to_vec().into(),
                };
                let mut dictionary = wire::ProfilesDictionary {
                    mapping_table: first(wire::Mapping::default()).chain(tables.mappings.iter().map(|m| mapping(m, strs))).collect(),
                    location_table: first(wire::Location::default()).chain(tables.locations.iter().map(location)).collect(),
                    function_table: first(wire::Function::default()).chain(tables.functions.iter().map(|f| function(f, strs))).collect(),
                    link_table: first(wire::Link::default()).chain(tables.links.iter().map(link)).collect(),
                    attribute_table: first(wire::KeyValueAndUnit::default()).chain(tables.attributes.iter().map(|a| attribute(a, strs))).collect(),
                    stack_table: first(wire::Stack::default())
                        .chain(tables.stacks.iter().map(|stack| wire::Stack { location_indices: ups(stack) })).collect(),
                    string_table: Vec::new(),
                };
                let resource_profiles = envelope(doc, strs, |p, strs| wire::Profile {
                    sample_type: p.types.first().and_then(|kind| value_type(kind, strs)),
                    $samples: p.samples.iter().map(|s| wire::Sample {
                        stack_index: up(s.stack),
                        values: s.values.clone(),
                        attribute_indices: ups(&s.attributes),
                        link_index: up(s.link),
                        timestamps_unix_nano: s.times.clone(),
                    }).collect(),
                    time_unix_nano: p.time as u64,
                    duration_nano: p.duration as u64,
                    period_type: value_type(&p.period_type, strs),
                    period: p.period,
                    $($comments: p.comments.iter().map(|text| strs.id(text) as i32).collect(),)?
                    profile_id: id_bytes(&p.id).into(),
                    dropped_attributes_count: p.dropped,
                    original_payload_format: p.original.0.clone(),
                    original_payload: p.original.1.clone().into(),
                    attribute_indices: ups(&p.attributes),
                });
                dictionary.string_table = std::mem::take(&mut strs.table);
                wire::ProfilesData { resource_profiles, dictionary: Some(dictionary) }
            }

            pub(super) fn raise(data: &wire::ProfilesData) -> Doc {
                let dictionary = data.dictionary.clone().unwrap_or_default();
                let strings = &dictionary.string_table[..];
                let text = |index: i32| strings.get(index as usize).cloned().unwrap_or_default();
                let mapping = |m: &wire::Mapping| Mapping {
                    range: [m.memory_start, m.memory_limit, m.file_offset],
                    filename: text(m.filename_strindex),
                    attributes: downs(&m.attribute_indices),
                    ..Mapping::default()
                };
                let location = |l: &wire::Location| Location {
                    mapping: down(l.mapping_index),
                    address: l.address,
                    lines: l.$lines.iter().map(|l| (down(l.function_index), l.line, l.column)).collect(),
                    attributes: downs(&l.attribute_indices),
                    ..Location::default()
                };
                let function = |f: &wire::Function| Function {
                    names: [f.name_strindex, f.system_name_strindex, f.filename_strindex].map(text),
                    start_line: f.start_line,
                };
                let attribute = |a: &wire::KeyValueAndUnit| Attribute { key: text(a.key_strindex), value: val(&a.value, strings), unit: text(a.unit_strindex) };
                let tables = Tables {
                    mappings: dictionary.mapping_table.iter().skip(1).map(mapping).collect(),
                    locations: dictionary.location_table.iter().skip(1).map(location).collect(),
                    functions: dictionary.function_table.iter().skip(1).map(function).collect(),
                    stacks: dictionary.stack_table.iter().skip(1).map(|stack| downs(&stack.location_indices)).collect(),
                    links: dictionary.link_table.iter().skip(1).map(|link| (array(&link.trace_id), array(&link.span_id))).collect(),
                    attributes: dictionary.attribute_table.iter().skip(1).map(attribute).collect(),
                    ..Tables::default()
                };
                let mut profile = |p: &wire::Profile| Profile {
                    id: array(&p.profile_id),
                    time: p.time_unix_nano.into(),
                    duration: p.duration_nano.into(),
                    types: p.sample_type.iter().map(|kind| un_type(kind, strings)).collect(),
                    period_type: p.period_type.as_ref().map(|kind| un_type(kind, strings)).unwrap_or_default(),
                    period: p.period,
                    comments: {
                        #[allow(unused_mut)]
                        let mut comments: Vec<String> = Vec::new();
                        $(comments.extend(p.$comments.iter().map(|at| text(*at)));)?
                        comments
                    },
                    attributes: downs(&p.attribute_indices),
                    dropped: p.dropped_attributes_count,
                    original: (p.original_payload_format.clone(), p.original_payload.to_vec()),
                    samples: p.$samples.iter().map(|s| Sample {
                        stack: down(s.stack_index),
                        attributes: downs(&s.attribute_indices),
                        link: down(s.link_index),
                        stacktrace_id: String::new(),
                        values: s.values.clone(),
                        times: s.timestamps_unix_nano.clone(),
                    }).collect(),
                    ..Profile::default()
                };
                Doc { resources: resources(&data.resource_profiles, strings, &mut profile), tables }
            }
        }
    };
}

since_1_8!(v1_10, samples, lines, comments: [], temporality: [], refs: [key_strindex]);
since_1_8!(v1_9, samples, lines, comments: [], temporality: [], refs: []);
since_1_8!(v1_8, sample, line, comments: [comment_strindices], temporality: [aggregation_temporality], refs: []);

/// The index of a row in generations up to 1.7. An empty first row counts, if present.
fn at(row: usize, empty_rows: bool) -> usize {
    row + usize::from(empty_rows)
}

/// Whether the first row of a table is empty and so stands for no entry.
fn first_empty<T: PartialEq + Default>(rows: &[T]) -> bool {
    rows.first().is_some_and(|row| *row == T::default())
}

/// The stacks of a profile's samples, concatenated, with the slice of each.
fn slices(profile: &Profile, tables: &Tables) -> (Vec<usize>, Vec<(usize, usize)>) {
    let mut starts: HashMap<usize, usize> = HashMap::new();
    let mut all = Vec::new();
    let slice = |sample: &Sample| match sample.stack.map(|row| (row, &tables.stacks[row])) {
        Some((row, stack)) if !stack.is_empty() => {
            let start = *starts.entry(row).or_insert_with(|| {
                all.extend(stack);
                all.len() - stack.len()
            });
            (start, stack.len())
        }
        _ => (0, 0),
    };
    let each = profile.samples.iter().map(slice).collect();
    (all, each)
}

/// Adds the stack of a slice as a row.
fn stack_row(
    stacks: &mut Vec<Vec<usize>>,
    all: &[usize],
    start: usize,
    length: usize,
) -> Option<usize> {
    stacks.push(all[start..start + length].to_vec());
    (length != 0).then(|| stacks.len() - 1)
}

/// Converts the attributes in a profile to rows, with units by key.
fn rows_in_place(
    tables: &mut Tables,
    pairs: Vec<(String, Val)>,
    units: &[(String, String)],
) -> Vec<usize> {
    let from = tables.attributes.len();
    tables.attributes.extend(pairs.into_iter().map(|(key, value)| {
        let unit = units
            .iter()
            .find(|(of, _)| *of == key)
            .map(|(_, unit)| unit.clone())
            .unwrap_or_default();
        Attribute { key, value, unit }
    }));
    (from..tables.attributes.len()).collect()
}

fn column(types: &[Type], name: &str) -> usize {
    let named = types.iter().position(|kind| kind.name == name && !name.is_empty());
    named.unwrap_or(types.len().saturating_sub(1))
}

fn column_name(types: &[Type], column: usize) -> String {
    if column + 1 == types.len() {
        String::new()
    } else {
        types.get(column).map(|kind| kind.name.clone()).unwrap_or_default()
    }
}

/// 1.4 to 1.7: slices, units by key, references with presence.
macro_rules! until_1_7 {
    (
        $m:ident, entities: [$($entity:ident)?],
        default: |$p:ident, $strs:ident| $default:ident = $default_of:expr,
        |$wire:ident, $strings:ident, $types:ident| $undefault:expr,
        in_place: [$($in_place:ident)?], indices: [$($indices:ident)?],
        own: [$($own:ident)?], shared: |$doc:ident, $all:ident| $wrap:expr, |$data:ident| $unwrap:expr
    ) => {
        mod $m {
            use super::*;
            use otlp_profiles::proto::$m as wire;
            type Wire = wire::Profile;
            common!(entities: [$($entity)?], refs: []);

            pub(super) struct AllTables {
                pub mapping_table: Vec<wire::Mapping>,
                pub location_table: Vec<wire::Location>,
                pub function_table: Vec<wire::Function>,
                pub link_table: Vec<wire::Link>,
                pub string_table: Vec<String>,
                pub attribute_table: Vec<wire::KeyValue>,
                pub attribute_units: Vec<wire::AttributeUnit>,
            }

            fn value_type(kind: &Type, strs: &mut Strs) -> wire::ValueType {
                wire::ValueType {
                    type_strindex: strs.id(&kind.name) as i32,
                    unit_strindex: strs.id(&kind.unit) as i32,
                    aggregation_temporality: kind.temporality,
                }
            }

            fn indices(rows: &[usize]) -> Vec<i32> {
                rows.iter().map(|row| *row as i32).collect()
            }

            fn rows(indices: &[i32]) -> Vec<usize> {
                indices.iter().map(|index| *index as usize).collect()
            }

            fn table(tables: &Tables, strs: &mut Strs) -> AllTables {
                let empty = tables.empty_rows;
                let flag = |m: &Mapping, bit: u8| m.flags & 1 << bit != 0;
                let no_function = tables.locations.iter().flat_map(|l| &l.lines).any(|(function, ..)| function.is_none());
                let first_function = empty || no_function;
                let mapping = |m: &Mapping, strs: &mut Strs| wire::Mapping {
                    memory_start: m.range[0],
                    memory_limit: m.range[1],
                    file_offset: m.range[2],
                    filename_strindex: strs.id(&m.filename) as i32,
                    attribute_indices: indices(&m.attributes),
                    has_functions: flag(m, 0),
                    has_filenames: flag(m, 1),
                    has_line_numbers: flag(m, 2),
                    has_inline_frames: flag(m, 3),
                };
                let line = |&(function, line, column): &(Option<usize>, i64, i64)| wire::Line {
                    function_index: function.map_or(0, |row| at(row, first_function)) as i32,
                    line,
                    column,
                };
                let location = |l: &Location| wire::Location {
                    mapping_index: l.mapping.map(|row| at(row, empty) as i32),
                    address: l.address,
                    line: l.lines.iter().map(line).collect(),
                    is_folded: l.folded,
                    attribute_indices: indices(&l.attributes),
                };
                let function = |f: &Function, strs: &mut Strs| wire::Function {
                    name_strindex: strs.id(&f.names[0]) as i32,
                    system_name_strindex: strs.id(&f.names[1]) as i32,
                    filename_strindex: strs.id(&f.names[2]) as i32,
                    start_line: f.start_line,
                };
                let link = |(trace_id, span_id): &([u8; 16], [u8; 8])| wire::Link {
                    trace_id: trace_id.to_vec().into(),
                    span_id: span_id.to_vec().into(),
                };
                AllTables {
                    mapping_table: empty.then(wire::Mapping::default).into_iter()
                        .chain(tables.mappings.iter().map(|m| mapping(m, strs))).collect(),
                    location_table: tables.locations.iter().map(location).collect(),
                    function_table: first_function.then(wire::Function::default).into_iter()
                        .chain(tables.functions.iter().map(|f| function(f, strs))).collect(),
                    link_table: empty.then(wire::Link::default).into_iter().chain(tables.links.iter().map(link)).collect(),
                    attribute_table: tables.attributes.iter().map(|a| key_value(&a.key, &a.value, strs)).collect(),
                    attribute_units: units(tables).iter().map(|(key, unit)| wire::AttributeUnit {
                        attribute_key_strindex: strs.id(key) as i32,
                        unit_strindex: strs.id(unit) as i32,
                    }).collect(),
                    string_table: Vec::new(),
                }
            }

            #[allow(clippy::needless_update)]
            fn profile($p: &Profile, tables: &Tables, $strs: &mut Strs) -> wire::Profile {
                let (all, slices) = slices($p, tables);
                #[allow(unused_mut)]
                let mut profile = wire::Profile {
                    sample_type: $p.types.iter().map(|kind| value_type(kind, $strs)).collect(),
                    sample: $p.samples.iter().zip(slices).map(|(s, (start, length))| wire::Sample {
                        locations_start_index: start as i32,
                        locations_length: length as i32,
                        value: s.values.clone(),
                        attribute_indices: indices(&s.attributes),
                        link_index: s.link.map(|row| at(row, tables.empty_rows) as i32),
                        timestamps_unix_nano: s.times.clone(),
                    }).collect(),
                    location_indices: indices(&all),
                    time_nanos: $p.time as i64,
                    duration_nanos: $p.duration as i64,
                    period_type: ($p.period_type != Type::default()).then(|| value_type(&$p.period_type, $strs)),
                    period: $p.period,
                    comment_strindices: $p.comments.iter().map(|text| $strs.id(text) as i32).collect(),
                    $default: $default_of,
                    profile_id: id_bytes(&$p.id).into(),
                    dropped_attributes_count: $p.dropped,
                    original_payload_format: $p.original.0.clone(),
                    original_payload: $p.original.1.clone().into(),
                    $($in_place: $p.attributes.iter().map(|&row| {
                        let Attribute { key, value, .. } = &tables.attributes[row];
                        key_value(key, value, $strs)
                    }).collect(),)?
                    $($indices: indices(&$p.attributes),)?
                    ..Default::default()
                };
                $({
                    let _ = stringify!($own);
                    let mut own = table(tables, $strs);
                    own.string_table = std::mem::take(&mut $strs.table);
                    $strs.table.push(String::new());
                    $strs.index.clear();
                    let AllTables { mapping_table, location_table, function_table, link_table, string_table, attribute_table, attribute_units } = own;
                    profile = wire::Profile { mapping_table, location_table, function_table, link_table, string_table, attribute_table, attribute_units, ..profile };
                })?
                profile
            }

            pub(super) fn lower($doc: &Doc) -> wire::ProfilesData {
                let strs = &mut Strs::new(&$doc.tables);
                let resource_profiles = envelope($doc, strs, |p, strs| profile(p, &$doc.tables, strs));
                #[allow(unused_mut, unused_variables)]
                let mut $all = table(&$doc.tables, strs);
                $all.string_table = std::mem::take(&mut strs.table);
                #[allow(clippy::needless_update)]
                wire::ProfilesData { resource_profiles, ..$wrap }
            }

            fn untable(all: &AllTables) -> (Tables, bool, bool, bool, Vec<(String, String)>) {
                let text = |index: i32| all.string_table.get(index as usize).cloned().unwrap_or_default();
                let units: Vec<(String, String)> =
                    all.attribute_units.iter().map(|u| (text(u.attribute_key_strindex), text(u.unit_strindex))).collect();
                let unit = |key: &str| units.iter().find(|(of, _)| of == key).map(|(_, unit)| unit.clone()).unwrap_or_default();
                let (no_mapping, no_function, no_link) =
                    (first_empty(&all.mapping_table), first_empty(&all.function_table), first_empty(&all.link_table));
                let down = |index: i32, empty: bool| (index as usize).checked_sub(usize::from(empty));
                let mapping = |m: &wire::Mapping| Mapping {
                    range: [m.memory_start, m.memory_limit, m.file_offset],
                    filename: text(m.filename_strindex),
                    build_id: String::new(),
                    flags: u8::from(m.has_functions) | u8::from(m.has_filenames) << 1 | u8::from(m.has_line_numbers) << 2 | u8::from(m.has_inline_frames) << 3,
                    attributes: rows(&m.attribute_indices),
                };
                let location = |l: &wire::Location| Location {
                    mapping: l.mapping_index.and_then(|index| down(index, no_mapping)),
                    address: l.address,
                    lines: l.line.iter().map(|l| (down(l.function_index, no_function), l.line, l.column)).collect(),
                    folded: l.is_folded,
                    frame_type: String::new(),
                    attributes: rows(&l.attribute_indices),
                };
                let function = |f: &wire::Function| Function {
                    names: [f.name_strindex, f.system_name_strindex, f.filename_strindex].map(text),
                    start_line: f.start_line,
                };
                let attribute = |a: &wire::KeyValue| Attribute { key: a.key.clone(), value: val(&a.value, &[]), unit: unit(&a.key) };
                let tables = Tables {
                    mappings: all.mapping_table.iter().skip(usize::from(no_mapping)).map(mapping).collect(),
                    locations: all.location_table.iter().map(location).collect(),
                    functions: all.function_table.iter().skip(usize::from(no_function)).map(function).collect(),
                    links: all.link_table.iter().skip(usize::from(no_link)).map(|l| (array(&l.trace_id), array(&l.span_id))).collect(),
                    attributes: all.attribute_table.iter().map(attribute).collect(),
                    ..Tables::default()
                };
                (tables, no_mapping, no_function, no_link, units)
            }

            pub(super) fn raise($data: &wire::ProfilesData) -> Doc {
                let shared: Option<AllTables> = $unwrap;
                let mut profile = |$wire: &wire::Profile| {
                    #[allow(unused_mut, unused_assignments)]
                    let mut own: Option<AllTables> = None;
                    $({
                        let _ = stringify!($own);
                        let wire::Profile { mapping_table, location_table, function_table, link_table, string_table, attribute_table, attribute_units, .. } = $wire.clone();
                        own = Some(AllTables { mapping_table, location_table, function_table, link_table, string_table, attribute_table, attribute_units });
                    })?
                    let all = own.as_ref().or(shared.as_ref()).expect("tables are somewhere");
                    #[allow(unused_mut)]
                    let (mut tables, _, _, no_link, units) = untable(all);
                    let $strings = &all.string_table;
                    let text = |index: i32| $strings.get(index as usize).cloned().unwrap_or_default();
                    let un_type = |kind: &wire::ValueType| Type {
                        name: text(kind.type_strindex),
                        unit: text(kind.unit_strindex),
                        temporality: kind.aggregation_temporality,
                    };
                    let $types: Vec<Type> = $wire.sample_type.iter().map(un_type).collect();
                    let locations = rows(&$wire.location_indices);
                    let samples = $wire.sample.iter().map(|s| Sample {
                        stack: stack_row(&mut tables.stacks, &locations, s.locations_start_index as usize, s.locations_length as usize),
                        attributes: rows(&s.attribute_indices),
                        link: s.link_index.and_then(|index| (index as usize).checked_sub(usize::from(no_link))),
                        stacktrace_id: String::new(),
                        values: s.value.clone(),
                        times: s.timestamps_unix_nano.clone(),
                    }).collect();
                    #[allow(unused_mut, unused_assignments)]
                    let mut attributes = Vec::new();
                    $(attributes = rows_in_place(&mut tables, vals(&$wire.$in_place, &[]), &units);)?
                    $(attributes.extend(rows(&$wire.$indices));)?
                    let _ = &units;
                    Profile {
                        id: array(&$wire.profile_id),
                        time: $wire.time_nanos.into(),
                        duration: $wire.duration_nanos.into(),
                        default: $undefault,
                        types: $types,
                        period_type: $wire.period_type.as_ref().map(un_type).unwrap_or_default(),
                        period: $wire.period,
                        comments: $wire.comment_strindices.iter().map(|index| text(*index)).collect(),
                        attributes,
                        dropped: $wire.dropped_attributes_count,
                        original: ($wire.original_payload_format.clone(), $wire.original_payload.to_vec()),
                        samples,
                        tables: Some(tables),
                        ..Profile::default()
                    }
                };
                Doc { resources: resources(&$data.resource_profiles, &[], &mut profile), tables: Tables::default() }
            }
        }
    };
}

until_1_7!(
    v1_7, entities: [entity_refs],
    default: |p, strs| default_sample_type_index = column(&p.types, &p.default) as i32,
    |wire, strings, types| column_name(&types, wire.default_sample_type_index as usize),
    in_place: [], indices: [attribute_indices], own: [],
    shared: |doc, all| {
        let AllTables { mapping_table, location_table, function_table, link_table, string_table, attribute_table, attribute_units } = all;
        let dictionary = wire::ProfilesDictionary { mapping_table, location_table, function_table, link_table, string_table, attribute_table, attribute_units };
        wire::ProfilesData { dictionary: Some(dictionary), ..Default::default() }
    },
    |data| {
        let wire::ProfilesDictionary { mapping_table, location_table, function_table, link_table, string_table, attribute_table, attribute_units } =
            data.dictionary.clone().unwrap_or_default();
        Some(AllTables { mapping_table, location_table, function_table, link_table, string_table, attribute_table, attribute_units })
    }
);
until_1_7!(
    v1_6, entities: [entity_refs],
    default: |p, strs| default_sample_type_index = column(&p.types, &p.default) as i32,
    |wire, strings, types| column_name(&types, wire.default_sample_type_index as usize),
    in_place: [], indices: [attribute_indices], own: [],
    shared: |doc, all| {
        let AllTables { mapping_table, location_table, function_table, link_table, string_table, attribute_table, attribute_units } = all;
        wire::ProfilesData { mapping_table, location_table, function_table, link_table, string_table, attribute_table, attribute_units, ..Default::default() }
    },
    |data| {
        let wire::ProfilesData { mapping_table, location_table, function_table, link_table, string_table, attribute_table, attribute_units, .. } = data.clone();
        Some(AllTables { mapping_table, location_table, function_table, link_table, string_table, attribute_table, attribute_units })
    }
);
until_1_7!(
    v1_5, entities: [],
    default: |p, strs| default_sample_type_strindex = strs.id(&p.default) as i32,
    |wire, strings, types| strings[wire.default_sample_type_strindex as usize].clone(),
    in_place: [], indices: [attribute_indices], own: [yes],
    shared: |doc, all| wire::ProfilesData::default(), |data| None
);
until_1_7!(
    v1_4, entities: [],
    default: |p, strs| default_sample_type_strindex = strs.id(&p.default) as i32,
    |wire, strings, types| strings[wire.default_sample_type_strindex as usize].clone(),
    in_place: [attributes], indices: [], own: [yes],
    shared: |doc, all| wire::ProfilesData::default(), |data| None
);

mod v1_3 {
    use super::*;
    use otlp_profiles::proto::v1_3 as wire;
    type Wire = wire::ProfileContainer;
    common!(entities: [], refs: []);

    fn value_type(kind: &Type, strs: &mut Strs) -> wire::ValueType {
        wire::ValueType {
            r#type: strs.id(&kind.name) as i64,
            unit: strs.id(&kind.unit) as i64,
            aggregation_temporality: kind.temporality,
        }
    }

    fn indices(rows: &[usize]) -> Vec<u64> {
        rows.iter().map(|row| *row as u64).collect()
    }

    fn rows(indices: &[u64]) -> Vec<usize> {
        indices.iter().map(|index| *index as usize).collect()
    }

    /// An empty row precedes the others in tables whose references may be absent.
    fn mapping(m: &Mapping, strs: &mut Strs) -> wire::Mapping {
        let flag = |bit: u8| m.flags & 1 << bit != 0;
        wire::Mapping {
            memory_start: m.range[0],
            memory_limit: m.range[1],
            file_offset: m.range[2],
            filename: strs.id(&m.filename) as i64,
            build_id: strs.id(&m.build_id) as i64,
            has_functions: flag(0),
            has_filenames: flag(1),
            has_line_numbers: flag(2),
            has_inline_frames: flag(3),
            attributes: indices(&m.attributes),
            ..Default::default()
        }
    }

    fn location(l: &Location, strs: &mut Strs) -> wire::Location {
        let line = |&(function, line, column): &(Option<usize>, i64, i64)| wire::Line {
            function_index: function.map_or(0, |row| row as u64 + 1),
            line,
            column,
        };
        wire::Location {
            mapping_index: l.mapping.map_or(0, |row| row as u64 + 1),
            address: l.address,
            line: l.lines.iter().map(line).collect(),
            is_folded: l.folded,
            type_index: strs.id(&l.frame_type) as u32,
            attributes: indices(&l.attributes),
            ..Default::default()
        }
    }

    fn function(f: &Function, strs: &mut Strs) -> wire::Function {
        let [name, system_name, filename] = [0, 1, 2].map(|at| strs.id(&f.names[at]) as i64);
        wire::Function {
            name,
            system_name,
            filename,
            start_line: f.start_line,
            ..Default::default()
        }
    }

    fn container(p: &Profile, tables: &Tables) -> wire::ProfileContainer {
        let strs = &mut Strs::new(tables);
        let (all, slices) = slices(p, tables);
        let sample = |s: &Sample, (start, length): (usize, usize), strs: &mut Strs| wire::Sample {
            value: s.values.clone(),
            locations_start_index: start as u64,
            locations_length: length as u64,
            stacktrace_id_index: strs.id(&s.stacktrace_id) as u32,
            attributes: indices(&s.attributes),
            link: s.link.map_or(0, |row| row as u64 + 1),
            timestamps_unix_nano: s.times.clone(),
            ..Default::default()
        };
        let link = |(trace_id, span_id): &([u8; 16], [u8; 8])| wire::Link {
            trace_id: trace_id.to_vec().into(),
            span_id: span_id.to_vec().into(),
        };
        let mut profile = wire::Profile {
            sample_type: p.types.iter().map(|kind| value_type(kind, strs)).collect(),
            sample: p.samples.iter().zip(slices).map(|(s, slice)| sample(s, slice, strs)).collect(),
            mapping: first(wire::Mapping::default())
                .chain(tables.mappings.iter().map(|m| mapping(m, strs)))
                .collect(),
            location: tables.locations.iter().map(|l| location(l, strs)).collect(),
            function: first(wire::Function::default())
                .chain(tables.functions.iter().map(|f| function(f, strs)))
                .collect(),
            string_table: Vec::new(),
            drop_frames: strs.id(&p.drop_frames) as i64,
            keep_frames: strs.id(&p.keep_frames) as i64,
            time_nanos: p.time as i64,
            duration_nanos: p.duration as i64,
            period_type: (p.period_type != Type::default())
                .then(|| value_type(&p.period_type, strs)),
            period: p.period,
            comment: p.comments.iter().map(|text| strs.id(text) as i64).collect(),
            default_sample_type: strs.id(&p.default) as i64,
            location_indices: all.iter().map(|row| *row as i64).collect(),
            attribute_table: tables
                .attributes
                .iter()
                .map(|a| key_value(&a.key, &a.value, strs))
                .collect(),
            attribute_units: units(tables)
                .iter()
                .map(|(key, unit)| wire::AttributeUnit {
                    attribute_key: strs.id(key) as i64,
                    unit: strs.id(unit) as i64,
                })
                .collect(),
            link_table: first(wire::Link::default()).chain(tables.links.iter().map(link)).collect(),
        };
        profile.string_table = std::mem::take(&mut strs.table);
        let start = u64::try_from(p.time).unwrap_or(0);
        wire::ProfileContainer {
            profile_id: id_bytes(&p.id).into(),
            start_time_unix_nano: start,
            end_time_unix_nano: start + u64::try_from(p.duration).unwrap_or(0),
            attributes: p
                .attributes
                .iter()
                .map(|&row| {
                    key_value(&tables.attributes[row].key, &tables.attributes[row].value, strs)
                })
                .collect(),
            dropped_attributes_count: p.dropped,
            original_payload_format: p.original.0.clone(),
            original_payload: p.original.1.clone().into(),
            profile: Some(profile),
        }
    }

    pub(super) fn lower(doc: &Doc) -> wire::ProfilesData {
        let strs = &mut Strs::new(&doc.tables);
        wire::ProfilesData {
            resource_profiles: envelope(doc, strs, |p, _| container(p, &doc.tables)),
        }
    }

    pub(super) fn raise(data: &wire::ProfilesData) -> Doc {
        let mut profile = |container: &wire::ProfileContainer| {
            let inner = container.profile.clone().unwrap_or_default();
            let text =
                |index: i64| inner.string_table.get(index as usize).cloned().unwrap_or_default();
            let units: Vec<_> = inner
                .attribute_units
                .iter()
                .map(|u| (text(u.attribute_key), text(u.unit)))
                .collect();
            let unit = |key: &str| {
                units
                    .iter()
                    .find(|(of, _)| of == key)
                    .map(|(_, unit)| unit.clone())
                    .unwrap_or_default()
            };
            let no_mapping = first_empty(&inner.mapping);
            let no_function = first_empty(&inner.function);
            let no_link = inner.link_table.first().is_some_and(|link| {
                let mut bytes = link.trace_id.iter().chain(&link.span_id);
                bytes.all(|byte| *byte == 0)
            });
            let down = |index: u64, empty: bool| (index as usize).checked_sub(usize::from(empty));
            let mapping = |m: &wire::Mapping| Mapping {
                range: [m.memory_start, m.memory_limit, m.file_offset],
                filename: text(m.filename),
                build_id: text(m.build_id),
                flags: u8::from(m.has_functions)
                    | u8::from(m.has_filenames) << 1
                    | u8::from(m.has_line_numbers) << 2
                    | u8::from(m.has_inline_frames) << 3,
                attributes: rows(&m.attributes),
            };
            // 0 and absent are the same: 0 refers to the first mapping only if the address may be in it.
            let holds = |address: u64| {
                let first = inner.mapping.first();
                first.is_some_and(|m| {
                    address == 0
                        || m.memory_limit == 0
                        || (m.memory_start..m.memory_limit).contains(&address)
                })
            };
            let function_of =
                |index: u64| down(index, no_function).filter(|row| *row < inner.function.len());
            let location = |l: &wire::Location| Location {
                mapping: down(l.mapping_index, no_mapping)
                    .filter(|_| l.mapping_index != 0 || holds(l.address)),
                address: l.address,
                lines: l
                    .line
                    .iter()
                    .map(|l| (function_of(l.function_index), l.line, l.column))
                    .collect(),
                folded: l.is_folded,
                frame_type: text(l.type_index.into()),
                attributes: rows(&l.attributes),
            };
            let function = |f: &wire::Function| Function {
                names: [f.name, f.system_name, f.filename].map(text),
                start_line: f.start_line,
            };
            let attribute = |a: &wire::KeyValue| Attribute {
                key: a.key.clone(),
                value: val(&a.value, &[]),
                unit: unit(&a.key),
            };
            let mut tables = Tables {
                mappings: inner.mapping.iter().skip(usize::from(no_mapping)).map(mapping).collect(),
                locations: inner.location.iter().map(location).collect(),
                functions: inner
                    .function
                    .iter()
                    .skip(usize::from(no_function))
                    .map(function)
                    .collect(),
                links: inner
                    .link_table
                    .iter()
                    .skip(usize::from(no_link))
                    .map(|l| (array(&l.trace_id), array(&l.span_id)))
                    .collect(),
                attributes: inner.attribute_table.iter().map(attribute).collect(),
                ..Tables::default()
            };
            let attributes = rows_in_place(&mut tables, vals(&container.attributes, &[]), &units);
            let all: Vec<usize> =
                inner.location_indices.iter().map(|index| *index as usize).collect();
            let un_type = |kind: &wire::ValueType| Type {
                name: text(kind.r#type),
                unit: text(kind.unit),
                temporality: kind.aggregation_temporality,
            };
            let samples = inner.sample.iter().map(|s| {
                let (start, length) =
                    (s.locations_start_index as usize, s.locations_length as usize);
                // Labels hold the attributes whose unit differs from that of their key.
                let mut attributes = rows(&s.attributes);
                for label in &s.label {
                    let value = if label.str == 0 {
                        Val::Int(label.num)
                    } else {
                        Val::Str(text(label.str))
                    };
                    tables.attributes.push(Attribute {
                        key: text(label.key),
                        value,
                        unit: text(label.num_unit),
                    });
                    attributes.push(tables.attributes.len() - 1);
                }
                Sample {
                    stack: stack_row(&mut tables.stacks, &all, start, length),
                    attributes,
                    link: (s.link != 0).then(|| s.link as usize - usize::from(no_link)),
                    stacktrace_id: text(s.stacktrace_id_index.into()),
                    values: s.value.clone(),
                    times: s.timestamps_unix_nano.clone(),
                }
            });
            Profile {
                samples: samples.collect(),
                id: array(&container.profile_id),
                time: inner.time_nanos.into(),
                duration: inner.duration_nanos.into(),
                types: inner.sample_type.iter().map(un_type).collect(),
                default: text(inner.default_sample_type),
                period_type: inner.period_type.as_ref().map(un_type).unwrap_or_default(),
                period: inner.period,
                comments: inner.comment.iter().map(|index| text(*index)).collect(),
                drop_frames: text(inner.drop_frames),
                keep_frames: text(inner.keep_frames),
                attributes,
                dropped: container.dropped_attributes_count,
                original: (
                    container.original_payload_format.clone(),
                    container.original_payload.to_vec(),
                ),
                tables: Some(tables),
            }
        };
        Doc {
            resources: resources(&data.resource_profiles, &[], &mut profile),
            tables: Tables::default(),
        }
    }
}
