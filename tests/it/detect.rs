//! Detects payloads of every generation, of pprof and of other signals, and random bytes.
#![allow(clippy::needless_update)]
#![cfg(feature = "proto-all")]

use crate::support::sized;
use otlp_profiles::proto::prost::Message;
use otlp_profiles::proto::prost::encoding::{
    WireType, decode_key, decode_varint, encode_key, encode_varint,
};
use otlp_profiles::proto::{pprof, v1_3, v1_4, v1_5, v1_6, v1_7, v1_8, v1_9, v1_10};
use otlp_profiles::{
    Ambiguity, Certainty, Detected, ErrorKind, Format, Limits, ReadOptions, detect,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// Profiles that every generation can represent, as far as possible.
#[derive(Clone, Debug)]
struct Input {
    profiles: Vec<Profile>,
    locations: usize,
    mappings: usize,
    links: usize,
    units: bool,
    resource: bool,
    references: bool,
}

#[derive(Clone, Debug)]
struct Profile {
    samples: Vec<Sample>,
    types: usize,
    time: u64,
    duration: u64,
    period: i64,
    id: bool,
    dropped: u32,
    original: bool,
    attributes: bool,
    comments: usize,
    temporality: i32,
}

#[derive(Clone, Debug)]
struct Sample {
    stack: usize,
    attributes: [bool; 5],
    link: bool,
    value: i64,
    valued: bool,
    times: usize,
}

prop_compose! {
    fn sample()(
        stack in 0usize..4,
        attributes in prop_oneof![2 => Just([false; 5]), 3 => any::<[bool; 5]>()],
        link in prop::bool::weighted(0.2),
        value in prop_oneof![1i64..9, any::<i64>()],
        valued: bool,
        times in prop_oneof![3 => Just(0), 2 => 0usize..4],
    ) -> Sample {
        Sample { stack, attributes, link, value, valued, times }
    }
}

prop_compose! {
    fn profile()(
        samples in vec(sample(), 0..4),
        types in 1usize..3,
        time in prop_oneof![Just(0), 1u64 << 60..1 << 61],
        duration in prop_oneof![Just(0), 1u64..1 << 40],
        period in prop_oneof![Just(0), 1i64..1 << 30],
        [id, original, attributes] in [(); 3].map(|()| prop::bool::weighted(0.3)),
        dropped in 0u32..2,
        comments in 0usize..2,
        temporality in 0..3i32,
    ) -> Profile {
        Profile { samples, types, time, duration, period, id, dropped, original, attributes, comments, temporality }
    }
}

prop_compose! {
    fn input()(
        profiles in vec(profile(), 0..3),
        locations in 1usize..5,
        mappings in 0usize..3,
        links in 0usize..3,
        [units, resource, references] in any::<[bool; 3]>(),
    ) -> Input {
        Input { profiles, locations, mappings, links, units, resource, references }
    }
}

const STRINGS: [&str; 12] = [
    "",
    "samples",
    "count",
    "main",
    "main.rs",
    "a",
    "b",
    "c",
    "d",
    "e",
    "/usr/bin/app",
    "a comment",
];

/// Random, as profile ids are.
const PROFILE_ID: [u8; 16] = *b"\xb3\x1c\x9e\x07\xd4\x55\x4a\xf2\x8b\xe0\x61\x3d\xc7\x12\xa8\x6f";

impl Input {
    /// The referenced attributes, each with its row if rows begin with `first`.
    fn attributes(&self) -> Vec<usize> {
        let samples = self.profiles.iter().flat_map(|profile| &profile.samples);
        let used = |row: usize| samples.clone().any(|sample| sample.attributes[row]);
        (0..5)
            .filter(|&row| {
                used(row) || row == 0 && self.profiles.iter().any(|profile| profile.attributes)
            })
            .collect()
    }

    fn rows(&self, sample: &Sample, first: usize) -> Vec<usize> {
        let rows = self.attributes();
        let at = |row: usize| rows.iter().position(|&other| other == row).unwrap() + first;
        (0..5).filter(|&row| sample.attributes[row]).map(at).collect()
    }

    fn link(&self, sample: &Sample) -> Option<usize> {
        self.links.checked_sub(1).filter(|_| sample.link)
    }

    fn stack(&self, sample: &Sample) -> (usize, usize) {
        let start = sample.stack.min(self.locations - 1);
        (start, self.locations - start)
    }
}

impl Profile {
    fn id(&self) -> Vec<u8> {
        if self.id { PROFILE_ID.to_vec() } else { Vec::new() }
    }

    /// The format of the original payload, and the payload.
    fn original(&self) -> (&'static str, &'static [u8]) {
        if self.original { ("pprof", b"\x0a\x00") } else { ("", b"") }
    }

    /// The only attribute of the profile, if rows begin with `first`.
    fn attributes(&self, first: i32) -> Vec<i32> {
        if self.attributes { vec![first] } else { Vec::new() }
    }
}

impl Sample {
    fn times(&self) -> Vec<u64> {
        (0..self.times as u64).map(|at| (1 << 60) + at).collect()
    }

    /// A value for each timestamp, one value, or no value.
    fn series(&self) -> Vec<i64> {
        match (self.times, self.valued) {
            (0, _) => vec![self.value],
            (_, false) => Vec::new(),
            (times, true) => vec![self.value; times],
        }
    }
}

/// Attributes in place: of a resource, or in a table.
macro_rules! key_value {
    ($version:ident, $key:expr) => {{
        let value = $version::any_value::Value::StringValue(format!("value of {}", $key));
        let value = Some($version::AnyValue { value: Some(value) });
        $version::KeyValue { key: $key.into(), value, ..Default::default() }
    }};
}

/// One resource and one scope with profiles.
macro_rules! envelope {
    ($version:ident, $input:expr, $profiles:expr) => {{
        let attributes =
            if $input.resource { vec![key_value!($version, "service.name")] } else { Vec::new() };
        let resource = Some($version::Resource { attributes, ..Default::default() });
        let scope =
            Some($version::InstrumentationScope { name: "scope".into(), ..Default::default() });
        let scope = $version::ScopeProfiles { scope, profiles: $profiles, ..Default::default() };
        vec![$version::ResourceProfiles {
            resource,
            scope_profiles: vec![scope],
            ..Default::default()
        }]
    }};
}

/// Encodes a generation whose tables begin with the empty row.
macro_rules! series {
    ($name:ident, $version:ident, $samples:ident, $lines:ident, $value_type:expr, $profile:expr, $resources:expr) => {
        fn $name(input: &Input) -> Vec<u8> {
            use $version::*;
            let value_type = |profile: &super_profile::Profile| {
                let mut value_type =
                    ValueType { type_strindex: 1, unit_strindex: 2, ..Default::default() };
                $value_type(&mut value_type, profile);
                Some(value_type)
            };
            let profiles = input.profiles.iter().map(|from| {
                let samples = from.samples.iter().map(|sample| Sample {
                    stack_index: 1 + sample.stack.min(input.locations - 1) as i32,
                    values: sample.series(),
                    attribute_indices: input
                        .rows(sample, 1)
                        .into_iter()
                        .map(|row| row as i32)
                        .collect(),
                    link_index: input.link(sample).map_or(0, |row| row as i32 + 1),
                    timestamps_unix_nano: sample.times(),
                });
                let mut profile = Profile {
                    sample_type: value_type(from),
                    $samples: samples.collect(),
                    time_unix_nano: from.time,
                    duration_nano: from.duration,
                    period: from.period,
                    period_type: (from.period != 0).then(|| value_type(from)).flatten(),
                    dropped_attributes_count: from.dropped,
                    profile_id: from.id().into(),
                    original_payload_format: from.original().0.into(),
                    original_payload: from.original().1.to_vec().into(),
                    attribute_indices: from.attributes(1),
                    ..Default::default()
                };
                $profile(&mut profile, from);
                profile
            });
            let empty = Mapping::default();
            let mapping = Mapping {
                memory_start: 4096,
                memory_limit: 8192,
                filename_strindex: 10,
                ..Default::default()
            };
            let location = |row: usize| Location {
                mapping_index: input.mappings as i32,
                address: 4096 + row as u64,
                $lines: vec![Line { function_index: 1, line: 5, column: 0 }],
                ..Default::default()
            };
            let stack = |row: usize| Stack {
                location_indices: (1 + row as i32..=input.locations as i32).collect(),
            };
            let attribute = |row: usize| KeyValueAndUnit {
                key_strindex: 5 + row as i32,
                value: Some(AnyValue { value: Some(any_value::Value::IntValue(row as i64)) }),
                unit_strindex: if input.units { 2 } else { 0 },
            };
            let link = |row: usize| Link {
                trace_id: vec![1 + row as u8; 16].into(),
                span_id: vec![1; 8].into(),
            };
            let dictionary = ProfilesDictionary {
                mapping_table: std::iter::once(empty)
                    .chain((0..input.mappings).map(|_| mapping.clone()))
                    .collect(),
                location_table: std::iter::once(Location::default())
                    .chain((0..input.locations).map(location))
                    .collect(),
                function_table: vec![
                    Function::default(),
                    Function { name_strindex: 3, filename_strindex: 4, ..Default::default() },
                ],
                link_table: std::iter::once(Link::default())
                    .chain((0..input.links).map(link))
                    .collect(),
                string_table: STRINGS.map(Into::into).into(),
                attribute_table: std::iter::once(KeyValueAndUnit::default())
                    .chain(input.attributes().into_iter().map(attribute))
                    .collect(),
                stack_table: std::iter::once(Stack::default())
                    .chain((0..input.locations).map(stack))
                    .collect(),
            };
            let mut resource_profiles = envelope!($version, input, profiles.collect());
            $resources(&mut resource_profiles, input);
            ProfilesData { resource_profiles, dictionary: Some(dictionary) }.encode_to_vec()
        }
    };
}

mod super_profile {
    pub(super) use super::Profile;
}

fn nothing<T, U>(_: &mut T, _: &U) {}

series!(
    encode_1_10,
    v1_10,
    samples,
    lines,
    nothing,
    nothing,
    |all: &mut Vec<ResourceProfiles>, input: &Input| {
        for pair in all
            .iter_mut()
            .flat_map(|one| &mut one.resource.as_mut().unwrap().attributes)
            .filter(|_| input.references)
        {
            (pair.key, pair.key_strindex) = (String::new(), 3);
        }
    }
);
series!(encode_1_9, v1_9, samples, lines, nothing, nothing, nothing);
series!(
    encode_1_8,
    v1_8,
    sample,
    line,
    |value_type: &mut ValueType, from: &super_profile::Profile| value_type
        .aggregation_temporality =
        from.temporality,
    |profile: &mut Profile, from: &super_profile::Profile| profile.comment_strindices =
        vec![11; from.comments],
    nothing
);

/// Rows without an empty first row, and the samples that refer to them.
macro_rules! rows {
    ($version:ident, $input:ident) => {{
        use $version::*;
        let value_type = |from: &super_profile::Profile| ValueType {
            type_strindex: 1,
            unit_strindex: 2,
            aggregation_temporality: from.temporality,
        };
        let sample = move |from: &super_profile::Profile, sample: &super_sample::Sample| {
            let (start, length) = $input.stack(sample);
            Sample {
                locations_start_index: start as i32,
                locations_length: length as i32,
                value: vec![sample.value; from.types],
                attribute_indices: $input
                    .rows(sample, 0)
                    .into_iter()
                    .map(|row| row as i32)
                    .collect(),
                link_index: $input.link(sample).map(|row| row as i32),
                timestamps_unix_nano: sample.times(),
            }
        };
        let mapping = Mapping {
            memory_start: 4096,
            memory_limit: 8192,
            filename_strindex: 10,
            has_functions: true,
            ..Default::default()
        };
        let location = |row: usize| Location {
            mapping_index: ($input.mappings > 0).then_some(0),
            address: 4096 + row as u64,
            line: vec![Line { function_index: 0, line: 5, column: 0 }],
            ..Default::default()
        };
        let link = |row: usize| Link {
            trace_id: vec![1 + row as u8; 16].into(),
            span_id: vec![1; 8].into(),
        };
        let unit = AttributeUnit { attribute_key_strindex: 5, unit_strindex: 2 };
        (
            value_type,
            sample,
            vec![mapping; $input.mappings],
            (0..$input.locations).map(location).collect::<Vec<_>>(),
            vec![Function { name_strindex: 3, filename_strindex: 4, ..Default::default() }],
            (0..$input.links).map(link).collect::<Vec<_>>(),
            $input
                .attributes()
                .into_iter()
                .map(|row| key_value!($version, STRINGS[5 + row]))
                .collect::<Vec<_>>(),
            if $input.units { vec![unit] } else { Vec::new() },
        )
    }};
}

mod super_sample {
    pub(super) use super::Sample;
}

/// The fields of a profile other than its samples.
macro_rules! rest {
    ($version:ident, $from:ident, $value_type:expr, $sample:expr) => {
        $version::Profile {
            sample_type: vec![$value_type($from); $from.types],
            sample: $from.samples.iter().map(|one| $sample($from, one)).collect(),
            time_nanos: $from.time as i64,
            duration_nanos: $from.duration as i64,
            period: $from.period,
            period_type: ($from.period != 0).then(|| $value_type($from)),
            comment_strindices: vec![11; $from.comments],
            profile_id: $from.id().into(),
            dropped_attributes_count: $from.dropped,
            original_payload_format: $from.original().0.into(),
            original_payload: $from.original().1.to_vec().into(),
            ..Default::default()
        }
    };
}

fn all_locations(input: &Input) -> Vec<i32> {
    (0..input.locations as i32).collect()
}

macro_rules! shared_tables {
    ($name:ident, $version:ident, |$profiles:ident, $tables:ident| $data:expr) => {
        fn $name(input: &Input) -> Vec<u8> {
            let (value_type, sample, mappings, locations, functions, links, attributes, units) =
                rows!($version, input);
            let profiles = input.profiles.iter().map(|from| $version::Profile {
                location_indices: all_locations(input),
                attribute_indices: from.attributes(0),
                ..rest!($version, from, value_type, sample)
            });
            let $profiles = envelope!($version, input, profiles.collect());
            let $tables = (
                mappings,
                locations,
                functions,
                links,
                STRINGS.map(String::from).to_vec(),
                attributes,
                units,
            );
            $data.encode_to_vec()
        }
    };
}

shared_tables!(encode_1_7, v1_7, |resource_profiles, tables| {
    v1_7::ProfilesData {
        resource_profiles,
        dictionary: Some(v1_7::ProfilesDictionary {
            mapping_table: tables.0,
            location_table: tables.1,
            function_table: tables.2,
            link_table: tables.3,
            string_table: tables.4,
            attribute_table: tables.5,
            attribute_units: tables.6,
        }),
    }
});
shared_tables!(encode_1_6, v1_6, |resource_profiles, tables| {
    v1_6::ProfilesData {
        resource_profiles,
        mapping_table: tables.0,
        location_table: tables.1,
        function_table: tables.2,
        link_table: tables.3,
        string_table: tables.4,
        attribute_table: tables.5,
        attribute_units: tables.6,
    }
});

macro_rules! own_tables {
    ($name:ident, $version:ident, $attributes:expr) => {
        fn $name(input: &Input) -> Vec<u8> {
            let (value_type, sample, mappings, locations, functions, links, attributes, units) =
                rows!($version, input);
            let profiles = input.profiles.iter().map(|from| {
                let mut profile = $version::Profile {
                    location_indices: all_locations(input),
                    mapping_table: mappings.clone(),
                    location_table: locations.clone(),
                    function_table: functions.clone(),
                    link_table: links.clone(),
                    string_table: STRINGS.map(String::from).to_vec(),
                    attribute_table: attributes.clone(),
                    attribute_units: units.clone(),
                    ..rest!($version, from, value_type, sample)
                };
                $attributes(&mut profile, from);
                profile
            });
            let resource_profiles = envelope!($version, input, profiles.collect());
            $version::ProfilesData { resource_profiles }.encode_to_vec()
        }
    };
}

own_tables!(encode_1_5, v1_5, |profile: &mut v1_5::Profile, from: &Profile| {
    profile.attribute_indices = from.attributes(0);
});
own_tables!(encode_1_4, v1_4, |profile: &mut v1_4::Profile, from: &Profile| {
    profile.attributes =
        if from.attributes { vec![key_value!(v1_4, "host.name")] } else { Vec::new() };
});

fn encode_1_3(input: &Input) -> Vec<u8> {
    let containers = input.profiles.iter().map(|from| v1_3::ProfileContainer {
        profile_id: from.id().into(),
        start_time_unix_nano: from.time,
        end_time_unix_nano: if from.time == 0 { 0 } else { from.time + from.duration },
        attributes: if from.attributes { vec![key_value!(v1_3, "host.name")] } else { Vec::new() },
        dropped_attributes_count: from.dropped,
        profile: Some(inner_1_3(input, from)),
        ..Default::default()
    });
    let resource_profiles = envelope!(v1_3, input, containers.collect());
    v1_3::ProfilesData { resource_profiles }.encode_to_vec()
}

fn inner_1_3(input: &Input, from: &Profile) -> v1_3::Profile {
    let value_type =
        v1_3::ValueType { r#type: 1, unit: 2, aggregation_temporality: from.temporality };
    let samples = from.samples.iter().map(|sample| {
        let (start, length) = input.stack(sample);
        v1_3::Sample {
            locations_start_index: start as u64,
            locations_length: length as u64,
            value: vec![sample.value; from.types],
            attributes: input.rows(sample, 0).into_iter().map(|row| row as u64).collect(),
            link: input.link(sample).unwrap_or(0) as u64,
            timestamps_unix_nano: sample.times(),
            ..Default::default()
        }
    });
    let location = |row: usize| v1_3::Location {
        address: 4096 + row as u64,
        line: vec![v1_3::Line { function_index: 0, line: 5, column: 0 }],
        ..Default::default()
    };
    v1_3::Profile {
        sample_type: vec![value_type; from.types],
        sample: samples.collect(),
        location: (0..input.locations).map(location).collect(),
        location_indices: (0..input.locations as i64).collect(),
        function: vec![v1_3::Function { name: 3, filename: 4, ..Default::default() }],
        string_table: STRINGS.map(String::from).to_vec(),
        attribute_table: input
            .attributes()
            .into_iter()
            .map(|row| key_value!(v1_3, STRINGS[5 + row]))
            .collect(),
        link_table: (0..input.links)
            .map(|row| v1_3::Link {
                trace_id: vec![row as u8; 16].into(),
                span_id: vec![1; 8].into(),
            })
            .collect(),
        period: from.period,
        ..Default::default()
    }
}

fn encode_pprof(input: &Input) -> Vec<u8> {
    let from = input.profiles.first();
    let types = from.map_or(1, |from| from.types);
    let samples = from.iter().flat_map(|from| &from.samples).map(|sample| {
        let (start, _) = input.stack(sample);
        let label = |row: usize| pprof::Label { key: 5 + row as i64, str: 3, ..Default::default() };
        pprof::Sample {
            location_id: (start as u64 + 1..=input.locations as u64).collect(),
            value: vec![sample.value; types],
            label: (0..5).filter(|&row| sample.attributes[row]).map(label).collect(),
        }
    });
    let location = |row: usize| pprof::Location {
        id: row as u64 + 1,
        address: 4096 + row as u64,
        line: vec![pprof::Line { function_id: 1, line: 5, ..Default::default() }],
        ..Default::default()
    };
    let profile = pprof::Profile {
        sample_type: vec![pprof::ValueType { r#type: 1, unit: 2 }; types],
        sample: samples.collect(),
        location: (0..input.locations).map(location).collect(),
        function: vec![pprof::Function { id: 1, name: 3, filename: 4, ..Default::default() }],
        string_table: STRINGS.map(String::from).to_vec(),
        time_nanos: from.map_or(0, |from| from.time as i64),
        period: from.map_or(0, |from| from.period),
        comment: vec![11; from.map_or(0, |from| from.comments)],
        doc_url: if input.references { 11 } else { 0 },
        ..Default::default()
    };
    profile.encode_to_vec()
}

type Encode = fn(&Input) -> Vec<u8>;

const ENCODERS: [(&str, Encode); 9] = [
    ("otlp-1.10", encode_1_10),
    ("otlp-1.9", encode_1_9),
    ("otlp-1.8", encode_1_8),
    ("otlp-1.7", encode_1_7),
    ("otlp-1.6", encode_1_6),
    ("otlp-1.5", encode_1_5),
    ("otlp-1.4", encode_1_4),
    ("otlp-1.3", encode_1_3),
    ("pprof", encode_pprof),
];

fn found(payload: &[u8]) -> Detected {
    detect(payload, &ReadOptions::default()).unwrap()
}

fn as_format(payload: &[u8], name: &str) -> otlp_profiles::Result<Detected> {
    detect(payload, &ReadOptions::default().format(format(name)))
}

/// The certainty of an answer that includes the true format and is not a guess.
fn truth(payload: &[u8], name: &str) -> Result<Certainty, TestCaseError> {
    let Detected { format, certainty, evidence, .. } = found(payload);
    let is_in = format.name() == name || certainty.others().contains(&self::format(name));
    let answer = format!("{name} is {} ({certainty}): {evidence:#?}", format.name());
    prop_assert!(is_in, "{answer}");
    prop_assert!(!matches!(certainty, Certainty::Ambiguous(_)), "{answer}");
    Ok(certainty)
}

/// The payload with every field at the path repeated `times` times.
fn grown(mut rest: &[u8], path: &[u32], times: usize) -> Vec<u8> {
    let mut out = Vec::new();
    while !rest.is_empty() {
        let field = rest;
        let (number, kind) = decode_key(&mut rest).unwrap();
        let length = match kind {
            WireType::SixtyFourBit => 8,
            WireType::LengthDelimited => decode_varint(&mut rest).unwrap() as usize,
            _ => decode_varint(&mut rest).map(|_| 0).unwrap(),
        };
        let body = rest.split_off(..length).unwrap();
        let field = &field[..field.len() - rest.len()];
        match path {
            [last] if *last == number => out.extend(field.repeat(times)),
            [first, inner @ ..] if *first == number && kind == WireType::LengthDelimited => {
                let body = grown(body, inner, times);
                encode_key(number, kind, &mut out);
                encode_varint(body.len() as u64, &mut out);
                out.extend(body);
            }
            _ => out.extend(field),
        }
    }
    out
}

/// Returns the format with a name.
fn format(name: &str) -> Format {
    name.parse().expect("a known format")
}

/// Whether every sample has timestamps, and an equal number of elements in one other list.
fn timed(input: &Input) -> bool {
    input.profiles.iter().flat_map(|profile| &profile.samples).all(|sample| {
        let attributes = sample.attributes.iter().filter(|&&has| has).count();
        let values = if sample.valued { sample.times } else { 0 };
        sample.times > 0
            && (attributes == 0 || values == 0)
            && attributes.max(values) == sample.times
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: sized(1024) as u32, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(20_251_121), ..ProptestConfig::default() })]

    /// The true format is among the answers. The answer may be uncertain only if the bytes fit several generations.
    #[test]
    fn every_generation_is_found(input in input()) {
        for (name, encode) in ENCODERS {
            if let Certainty::Preferred(_) = truth(&encode(&input), name)? {
                prop_assert!(timed(&input), "{name}");
            }
        }
    }

    /// A true hint is always followed. The answer is certain, or names the other formats that fit.
    #[test]
    fn a_true_hint_is_followed(input in input()) {
        for (name, encode) in ENCODERS {
            let detected = as_format(&encode(&input), name).unwrap();
            prop_assert_eq!(detected.format.name(), name);
            prop_assert!(!matches!(detected.certainty, Certainty::Ambiguous(_)));
        }
    }

    #[test]
    fn noise_is_no_profile(bytes in vec(any::<u8>(), 12..400)) {
        if let Ok(detected) = detect(&bytes, &ReadOptions::default()) {
            prop_assert!(false, "{} ({}): {:?}", detected.format.name(), detected.certainty, detected.evidence);
        }
    }

    /// Any mutation of a payload gives an answer or an error.
    #[test]
    fn broken_payloads_get_an_answer(input in input(), which in 0..ENCODERS.len(), at in any::<prop::sample::Index>(), byte: u8, cut: bool) {
        let mut payload = ENCODERS[which].1(&input);
        if cut { payload.truncate(at.index(payload.len())) } else { let at = at.index(payload.len()); payload[at] = byte }
        for hint in [None, Some("pprof"), Some("otlp-1.10"), Some("otlp-1.3")] {
            let _ = detect(&payload, &ReadOptions::default().format(hint.map(format)));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: sized(48) as u32, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(20_251_121), ..ProptestConfig::default() })]

    /// The same with so many samples that detection skips some, for each kind of sample.
    #[test]
    fn large_payloads_are_found(input in input(), times in 1_000usize..9_000) {
        for (name, encode) in ENCODERS {
            let samples: &[u32] = match name {
                "pprof" => &[2],
                "otlp-1.3" => &[1, 2, 2, 8, 2],
                _ => &[1, 2, 2, 2],
            };
            truth(&grown(&encode(&input), samples, times), name)?;
        }
    }
}

/// Returns the payload as the newest generation represents it, to compare two readings.
fn reads_as(payload: &[u8], name: &str) -> Option<Vec<u8>> {
    let options = ReadOptions::default().format(format(name));
    let profiles = otlp_profiles::read(payload, &options).ok()?.profiles;
    let written = otlp_profiles::write(&profiles, Format::OTLP, &Default::default());
    Some(written.unwrap().payload)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: sized(256) as u32, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(20_251_121), ..ProptestConfig::default() })]

    /// Formats reported as equivalent read as the same profiles.
    #[test]
    fn equivalent_means_equal(input in input()) {
        for (name, encode) in ENCODERS {
            let payload = encode(&input);
            let detected = found(&payload);
            if let Certainty::Equivalent(others) = detected.certainty {
                let first = reads_as(&payload, detected.format.name());
                prop_assert!(first.is_some(), "{} is not read as {}", name, detected.format.name());
                for other in others {
                    prop_assert_eq!(&first, &reads_as(&payload, other.name()), "{} as {} and {}", name, detected.format.name(), other);
                }
            }
        }
    }
}

/// The records of the other signals, as far as detection needs them.
mod signals {
    use otlp_profiles::proto::v1_10::{AnyValue, InstrumentationScope, KeyValue, Resource};

    #[derive(Clone, PartialEq, prost::Message)]
    pub(crate) struct Request<R: prost::Message + Default + std::fmt::Debug> {
        #[prost(message, repeated, tag = "1")]
        pub(crate) resources: Vec<Records<R>>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(crate) struct Records<R: prost::Message + Default + std::fmt::Debug> {
        #[prost(message, optional, tag = "1")]
        pub(crate) resource: Option<Resource>,
        #[prost(message, repeated, tag = "2")]
        pub(crate) scopes: Vec<Scope<R>>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(crate) struct Scope<R: prost::Message + Default + std::fmt::Debug> {
        #[prost(message, optional, tag = "1")]
        pub(crate) scope: Option<InstrumentationScope>,
        #[prost(message, repeated, tag = "2")]
        pub(crate) records: Vec<R>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(crate) struct Span {
        #[prost(bytes = "vec", tag = "1")]
        pub(crate) trace_id: Vec<u8>,
        #[prost(bytes = "vec", tag = "2")]
        pub(crate) span_id: Vec<u8>,
        #[prost(string, tag = "5")]
        pub(crate) name: String,
        #[prost(int32, tag = "6")]
        pub(crate) kind: i32,
        #[prost(fixed64, tag = "7")]
        pub(crate) start: u64,
        #[prost(fixed64, tag = "8")]
        pub(crate) end: u64,
        #[prost(message, repeated, tag = "9")]
        pub(crate) attributes: Vec<KeyValue>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(crate) struct Log {
        #[prost(fixed64, tag = "1")]
        pub(crate) time: u64,
        #[prost(int32, tag = "2")]
        pub(crate) severity: i32,
        #[prost(string, tag = "3")]
        pub(crate) severity_text: String,
        #[prost(message, optional, tag = "5")]
        pub(crate) body: Option<AnyValue>,
        #[prost(message, repeated, tag = "6")]
        pub(crate) attributes: Vec<KeyValue>,
        #[prost(fixed64, tag = "11")]
        pub(crate) observed: u64,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(crate) struct Metric {
        #[prost(string, tag = "1")]
        pub(crate) name: String,
        #[prost(string, tag = "2")]
        pub(crate) description: String,
        #[prost(string, tag = "3")]
        pub(crate) unit: String,
        #[prost(message, optional, tag = "5")]
        pub(crate) gauge: Option<Points>,
        #[prost(message, optional, tag = "7")]
        pub(crate) sum: Option<Points>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(crate) struct Points {
        #[prost(message, repeated, tag = "1")]
        pub(crate) points: Vec<Point>,
        #[prost(int32, tag = "2")]
        pub(crate) temporality: i32,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(crate) struct Point {
        #[prost(fixed64, tag = "3")]
        pub(crate) time: u64,
        #[prost(sfixed64, tag = "6")]
        pub(crate) value: i64,
        #[prost(message, repeated, tag = "7")]
        pub(crate) attributes: Vec<KeyValue>,
    }
}

fn request<R: Message + Default + std::fmt::Debug>(records: Vec<R>) -> Vec<u8> {
    let attributes = vec![key_value!(v1_10, "service.name")];
    let resource = Some(v1_10::Resource { attributes, ..Default::default() });
    let scopes = vec![signals::Scope { scope: None, records }];
    signals::Request { resources: vec![signals::Records { resource, scopes }] }.encode_to_vec()
}

fn refused(payload: &[u8], name: &str) -> Result<(), TestCaseError> {
    match detect(payload, &ReadOptions::default()) {
        Ok(detected) => prop_assert!(
            false,
            "{name}: {} ({}): {:?}",
            detected.format.name(),
            detected.certainty,
            detected.evidence
        ),
        Err(error) => {
            prop_assert_eq!(error.kind(), ErrorKind::Unrecognised);
            prop_assert!(error.to_string().contains(name), "{}: {}", name, error);
        }
    }
    Ok(())
}

fn attributes() -> impl Strategy<Value = Vec<v1_10::KeyValue>> {
    vec("[a-z.]{1,12}", 0..3)
        .prop_map(|keys| keys.into_iter().map(|key| key_value!(v1_10, key.clone())).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: sized(1024) as u32, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(20_251_121), ..ProptestConfig::default() })]

    #[test]
    fn traces_are_named(spans in vec(("[a-zA-Z/ ]{0,16}", any::<[u8; 16]>(), 0..6i32, any::<u32>(), attributes()), 1..5)) {
        let span = |(name, id, kind, time, attributes): (String, [u8; 16], i32, u32, Vec<v1_10::KeyValue>)| {
            let start = if time % 3 == 0 { 0 } else { (1 << 60) + u64::from(time) };
            signals::Span { trace_id: id.to_vec(), span_id: id[..8].to_vec(), name, kind, start, end: start, attributes }
        };
        refused(&request(spans.into_iter().map(span).collect()), "traces")?;
    }

    #[test]
    fn metrics_are_named(metrics in vec(("[a-z.]{1,16}", "[a-z ]{0,12}", "[a-z]{0,2}", any::<bool>(), any::<i64>(), attributes()), 1..5)) {
        let metric = |(name, description, unit, sum, value, attributes)| {
            let points = Some(signals::Points { points: vec![signals::Point { time: 1 << 60, value, attributes }], temporality: i32::from(sum) * 2 });
            let (gauge, sum) = if sum { (None, points) } else { (points, None) };
            signals::Metric { name, description, unit, gauge, sum }
        };
        refused(&request(metrics.into_iter().map(metric).collect()), "metrics")?;
    }

    #[test]
    fn logs_are_named(logs in vec(("[a-zA-Z0-9 ]{1,30}", 0..24i32, any::<bool>(), any::<bool>(), attributes()), 1..5)) {
        let log = |(text, severity, timed, observed, attributes): (String, i32, bool, bool, _)| signals::Log {
            time: u64::from(timed) << 60,
            severity,
            severity_text: if severity > 8 { "INFO".into() } else { String::new() },
            body: Some(v1_10::AnyValue { value: Some(v1_10::any_value::Value::StringValue(text)) }),
            attributes,
            observed: u64::from(observed) << 60,
        };
        refused(&request(logs.into_iter().map(log).collect()), "logs")?;
    }

    #[test]
    fn responses_are_named(rejected in 1..i64::MAX, error_message in "[a-z ]{0,30}") {
        let partial_success = Some(v1_10::ExportProfilesPartialSuccess { rejected_profiles: rejected, error_message });
        refused(&v1_10::ExportProfilesServiceResponse { partial_success }.encode_to_vec(), "response")?;
    }

    /// A profile of OTEP 0239 without its container is named. Its additional fields exclude pprof.
    #[test]
    fn bare_profiles_are_named(input in input()) {
        for profile in input.profiles.iter().filter(|profile| !profile.samples.is_empty()) {
            refused(&inner_1_3(&input, profile).encode_to_vec(), "without its container")?;
        }
    }
}

/// A response is recognised only if it is the whole payload, because many short messages resemble it.
#[test]
fn what_is_not_a_response_is_not_called_one() {
    let answer = |payload: &[u8]| match detect(payload, &ReadOptions::default()) {
        Ok(detected) => detected.format.name().to_owned(),
        Err(error) => error.to_string(),
    };
    let responses: [&[u8]; 4] = [
        b"\x0a\x02\x08\x07",
        b"\x0a\x03\x08\xac\x02",
        b"\x0a\x10\x12\x0equota exceeded",
        b"\x0a\x12\x08\x07\x12\x0equota exceeded",
    ];
    for payload in responses {
        assert!(answer(payload).contains("an OTLP export response"), "{payload:?}");
    }
    assert_eq!(answer(b""), "otlp-1.10", "all was accepted, or nothing was sent");
    let others: [&[u8]; 6] = [
        // Two maps, from numbers to messages and to strings.
        b"\x0a\x0a\x08\x01\x12\x06\x0a\x04\x08\x01\x10\x03\x0a\x0a\x08\x03\x12\x06\x0a\x04\x08\x01\x10\x02\x12\x07\x08\x02\x12\x03one\x12\x07\x08\x01\x12\x03two",
        // The first of them, with one entry.
        b"\x0a\x0a\x08\x01\x12\x06\x0a\x04\x08\x01\x10\x03",
        // A singular field, twice.
        b"\x0a\x02\x08\x07\x0a\x02\x08\x07",
        b"\x0a\x12\x08\x07\x12\x0equota exceeded\x0a\x12\x08\x07\x12\x0equota exceeded",
        // More fields than a response has.
        b"\x0a\x12\x08\x07\x12\x0equota exceeded\x10\x01",
        b"\x0a\x14\x08\x07\x12\x0equota exceeded\x18\x01",
    ];
    for payload in others {
        let answer = answer(payload);
        assert!(!answer.contains("response"), "{payload:?}: {answer}");
    }
}

#[test]
fn json_of_something_else_is_told_what_is_read() {
    let error = detect(br#"{"a": [1]}"#, &ReadOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unrecognised);
    assert_eq!(
        error.to_string(),
        "this is JSON, which is not supported: OTLP/JSON of profiles has \"resourceProfiles\" or \"dictionary\" at its beginning; if this is some, name its format; it begins with \"{\\\"a\\\": [1]}\""
    );
}

/// Collects every file of the tree whose name marks it as a profile.
fn files(folder: &std::path::Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() { files(&entry.path(), found) } else { found.push(entry.path()) }
    }
}

fn expected(name: &str) -> Option<&'static str> {
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    if name.contains("otlp-1.11") && ends(&[".binpb"]) {
        Some("otlp-1.10")
    } else if name.contains("otlp-1.3") && ends(&[".binpb"]) || ends(&[".v1experimental.binpb"]) {
        Some("otlp-1.3")
    } else if ends(&["k8s.otlp", "profile.otlp"]) {
        Some("otlp-1.8")
    } else if ends(&[".pb.gz", ".pb", ".pprof", "large.cpu"]) {
        Some("pprof")
    } else {
        None
    }
}

/// Real files are detected with certainty. Files that are not profiles are rejected.
#[test]
fn real_files_are_found() {
    let corpus = std::env::var_os("OTLP_PROFILES_CORPUS");
    let mut paths = Vec::new();
    files("testdata".as_ref(), &mut paths);
    corpus.iter().for_each(|corpus| files(corpus.as_ref(), &mut paths));
    let mut profiles = 0;
    for path in paths {
        if path.ends_with("ambiguous-1.10-or-1.9.otlp") {
            continue; // constructed so that no evidence decides
        }
        let options = ReadOptions::default().limits(Limits::file());
        let answer = detect(&std::fs::read(&path).unwrap(), &options);
        match (expected(&path.to_string_lossy()), answer) {
            (Some(name), Ok(detected)) => {
                assert_eq!(
                    (detected.format.name(), &detected.certainty),
                    (name, &Certainty::Certain),
                    "{path:?}"
                );
                assert!(!detected.evidence.is_empty(), "{path:?}");
                profiles += 1;
            }
            (Some(name), Err(error)) => panic!("{path:?} is {name}: {error}"),
            (None, Ok(detected)) => {
                // Formats that are recognised by their first bytes.
                let by_start = detected.format.is_json() || !detected.format.is_whole();
                assert!(by_start, "{path:?}: {detected:?}");
            }
            (None, Err(error)) => {
                assert_eq!(error.kind(), ErrorKind::Unrecognised, "{path:?}: {error}")
            }
        }
    }
    assert!(profiles > 10);
}

/// A payload of samples with one timestamp and one number each: an attribute in 1.10, a value in 1.9.
fn ambiguous() -> Vec<u8> {
    std::fs::read("testdata/ambiguous-1.10-or-1.9.otlp").unwrap()
}

#[test]
fn what_two_generations_read_differently_is_refused_unless_a_guess_is_asked_for() {
    let payload = ambiguous();
    let error = otlp_profiles::read(&payload, &ReadOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Ambiguous);
    assert_eq!(
        error.to_string(),
        "the payload fits otlp-1.10 and, with another meaning, otlp-1.9, otlp-1.8"
    );

    let sum = |options: ReadOptions| -> i64 {
        let reading = otlp_profiles::read(&payload, &options).unwrap();
        let profile = reading.profiles.iter().next().unwrap();
        let value = |values: &[i64]| if values.is_empty() { 1 } else { values.iter().sum() };
        profile.samples().iter().map(|sample| value(sample.values)).sum()
    };
    let options = ReadOptions::default();
    assert_eq!(sum(options.clone().ambiguity(Ambiguity::Prefer)), 50);
    assert_eq!(sum(options.clone().format(Format::OTLP_1_10)), 50);
    assert_eq!(sum(options.format(Format::OTLP_1_9)), 81);
}

/// A payload without samples is read, because it has the same meaning in every generation that fits: an idle
/// interval, a filter that removed everything, a profile without samples.
#[test]
fn payloads_without_samples_are_no_guess() {
    use otlp_profiles::{Builder, Certainty, ReadOptions, Reading, write};
    let nothing = || Builder::new().finish().unwrap();
    let mut idle = Builder::new();
    idle.resource().attr("service.name", "checkout");
    idle.profile("cpu", "nanoseconds");
    for profiles in [nothing(), idle.finish().unwrap()] {
        for format in Format::ALL.iter().filter(|format| format.is_otlp()) {
            let payload = write(&profiles, *format, &Default::default()).unwrap().payload;
            let reading = otlp_profiles::read(&payload, &ReadOptions::default()).unwrap();
            let Reading { profiles: read, detected, .. } = reading;
            assert_eq!(read.iter().count(), profiles.iter().count(), "{format}");
            assert!(detected.format.is_otlp(), "{format}");
            let sure = matches!(detected.certainty, Certainty::Certain | Certainty::Equivalent(_));
            assert!(sure, "{format}: {}", detected.certainty);
        }
    }
}

/// A field that only 1.5 has distinguishes it from 1.4, even if the referenced rows are missing: a dangling
/// reference is a fault of the payload, not a field of an older generation.
#[test]
fn a_field_of_a_later_generation_is_not_passed_over() {
    let sample = v1_5::Sample { value: vec![1], ..Default::default() };
    let profile = v1_5::Profile {
        sample_type: vec![v1_5::ValueType {
            type_strindex: 1,
            unit_strindex: 2,
            ..Default::default()
        }],
        sample: vec![sample],
        string_table: ["", "cpu", "ns"].map(String::from).to_vec(),
        time_nanos: 1_700_000_000_000_000_000,
        duration_nanos: 1_000_000_000,
        period: 10_000_000,
        profile_id: vec![7; 16].into(),
        attribute_indices: vec![7, 8, 9],
        ..Default::default()
    };
    let scope = v1_5::ScopeProfiles { profiles: vec![profile], ..Default::default() };
    let resource = v1_5::ResourceProfiles { scope_profiles: vec![scope], ..Default::default() };
    let payload = v1_5::ProfilesData { resource_profiles: vec![resource] }.encode_to_vec();
    let found = found(&payload);
    assert_eq!((found.format, found.certainty), (Format::OTLP_1_5, Certainty::Certain));
    let field = "Profile field 22 is packed: attribute_indices of otlp-1.5, not of otlp-1.4";
    assert!(found.evidence.iter().any(|line| line == field), "{:#?}", found.evidence);
    assert!(as_format(&payload, "otlp-1.4").is_err());
}
