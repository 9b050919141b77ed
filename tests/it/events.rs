//! Reads timestamped events as the proposal defines them, and writes them back.
#![cfg(feature = "proto-all")]

use crate::support::files;
use crate::support::sized;
use std::collections::BTreeMap;

use otlp_profiles::format::{EventTime, SourceOptions};
use otlp_profiles::proto::events::{
    AnyValue, Clock, Event, EventType, Function, KeyValue, Line, Link, Location, Mapping, Profile,
    Stack, any_value,
};
use otlp_profiles::proto::prost::Message;
use otlp_profiles::transform::{MaxBytes, split_max};
use otlp_profiles::{
    Builder, Certainty, ErrorKind, Format, Limits, Policy, Profiles, ReadOptions, Reading,
    WriteOptions, detect, read, write,
};

const FIXTURES: [&str; 5] = [
    "aggregated-cpu",
    "aggregated-memory",
    "go-mutex-goroutine",
    "timestamped-cpu",
    "timestamped-cpu-offcpu",
];

fn fixture(name: &str) -> Option<Vec<u8>> {
    files::corpus(&format!("made/eventprofile/{name}"))
}

fn again(profiles: &Profiles) -> Vec<u8> {
    write(profiles, Format::EVENTS, &WriteOptions::default()).unwrap().payload
}

fn reading(payload: &[u8]) -> Reading {
    read(payload, &ReadOptions::default().format(Format::EVENTS)).unwrap()
}

/// A profile with the stacks `main;run` and `main;wait`, a clock of 2 GHz, and types with and without it.
fn profile(events: Vec<Event>) -> Profile {
    const NAMES: [&str; 8] = ["", "main", "run", "wait", "cpu", "ms", "heap", "By"];
    let location = |function_index| Location {
        line: vec![Line { function_index, line: 10, column: 0 }],
        ..Default::default()
    };
    let function =
        |id: u32| Function { id: id.into(), name_string_uindex: id, ..Default::default() };
    let kind = |name, unit, clock, default| EventType {
        name_string_index: name,
        unit_string_index: unit,
        clock_index: clock,
        default_value: default,
        attribute_incidices: Vec::new(),
    };
    let key = |key, value| KeyValue {
        key_string_index: key,
        value: Some(AnyValue { value: Some(value) }),
    };
    Profile {
        events,
        event_types: vec![kind(4, 5, Some(0), 10), kind(6, 7, None, 0), kind(6, 7, None, 16)],
        stacks: [vec![], vec![1, 0], vec![2, 0]]
            .map(|location_index| Stack { location_index })
            .into(),
        locations: [0, 1, 2].map(location).into(),
        functions: [1, 2, 3].map(function).into(),
        attributes: vec![
            key(2, any_value::Value::IntValue(7)),
            key(3, any_value::Value::StringIndex(1)),
        ],
        links: vec![Link { trace_id: vec![1; 16].into(), span_id: vec![2; 8].into() }],
        strings: NAMES.map(String::from).into(),
        clocks: vec![Clock {
            frequency: 2_000_000_000,
            time_unix_nano: 1_000_000_000_000,
            attribute_indices: Vec::new(),
        }],
        time_unix_nano: 1_010_000_000_000,
        duration_nanos: 10_000_000_000,
        ..Default::default()
    }
}

fn event(kind: u32, stack: u32) -> Event {
    Event { event_type_index: kind, stack_index: stack, ..Default::default() }
}

/// Formats every sample as `type unit: root;leaf values at times {attributes} link`.
fn said(profiles: &Profiles) -> Vec<String> {
    let dictionary = profiles.dictionary();
    let mut lines = Vec::new();
    for profile in profiles {
        let kind = profile.sample_types()[0];
        let [name, unit] = [kind.name, kind.unit].map(|text| dictionary.text(text));
        for sample in profile.samples() {
            let frames = dictionary.frames(sample.stack).rev();
            let names: Vec<String> = frames.map(|frame| frame.to_string()).collect();
            let mut line = format!("{name} {unit}: {} {:?}", names.join(";"), sample.values);
            if !sample.timestamps_unix_nano.is_empty() {
                line += &format!(" at {:?}", sample.timestamps_unix_nano);
            }
            let attributes = dictionary.resolve(sample.attributes);
            if !attributes.is_empty() {
                line += &format!(" {attributes:?}");
            }
            if sample.link != Default::default() {
                line += &format!(" {:?}", dictionary.link(sample.link).span_id);
            }
            lines.push(line);
        }
    }
    lines
}

/// The same in sorted order.
fn sorted(profiles: &Profiles) -> Vec<String> {
    let mut said = said(profiles);
    said.sort();
    said
}

#[test]
fn events_mean_what_the_proposal_says() {
    let events = vec![
        Event { time: 2_000_000, attribute_indices: vec![0, 1], ..event(0, 1) },
        Event { time: -1_000_001, value: 5, count: 1, link_index: Some(0), ..event(0, 2) },
        Event { time: 3, duration: 5, ..event(0, 1) },
        Event { count: 3, sum: 96, ..event(1, 1) },
        Event { value: 7, ..event(1, 2) },
        Event { count: 4, ..event(2, 0) },
        // Aggregated events have no times.
        Event { time: 10, count: 2, ..event(0, 2) },
    ];
    let payload = profile(events).encode_to_vec();
    let reading = reading(&payload);
    assert_eq!(
        sorted(&reading.profiles),
        [
            "cpu ms: main;run [10] at [1000000500001]",
            "cpu ms: main;run [10] at [1000001000000] {\"run\": 7, \"wait\": \"main\"}",
            "cpu ms: main;wait [20]",
            "cpu ms: main;wait [5] at [1000000499999] [2, 2, 2, 2, 2, 2, 2, 2]",
            "cpu_duration ns: main;run [0] at [1000001000000] {\"run\": 7, \"wait\": \"main\"}",
            "cpu_duration ns: main;run [2] at [1000000500001]",
            "cpu_duration ns: main;wait [0] at [1000000499999] [2, 2, 2, 2, 2, 2, 2, 2]",
            "heap By:  [64]",
            "heap By: main;run [96]",
            "heap By: main;wait [7]",
            "heap_count {count}: main;run [3]",
            "heap_count {count}: main;wait [1]",
        ]
    );
    let codes: Vec<&str> = reading.findings.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, ["timestamps.dropped"]);
    let first = reading.profiles.iter().next().unwrap();
    let (start, length) = (first.time_unix_nano(), first.duration_nanos());
    assert_eq!((start, length), (1_000_000_000_000, 10_000_000_000));
    // Profiles that were read are written so that they read the same.
    let again = self::reading(&again(&reading.profiles)).profiles;
    assert_eq!(sorted(&again), sorted(&reading.profiles));
}

#[test]
fn the_time_of_an_event_is_its_start_or_its_end() {
    let events = vec![Event { time: 2_000_000, duration: 1_000_000, ..event(0, 1) }];
    let payload = profile(events).encode_to_vec();
    for (time, at) in [(EventTime::Start, 1_000_001_000_000), (EventTime::End, 1_000_000_500_000)] {
        let source = SourceOptions::default().event_time(time);
        let profiles = read(&payload, &ReadOptions::default().source(source)).unwrap().profiles;
        let sample = profiles.iter().next().unwrap().samples().get(0).unwrap();
        assert_eq!(sample.timestamps_unix_nano, [at]);
    }
    let source = SourceOptions::default().event_time(EventTime::End);
    let error = read(b"a 1\n", &ReadOptions::default().source(source)).unwrap_err();
    assert_eq!(error.to_string(), "event-time does not apply to folded: it applies to events");
}

#[test]
fn they_are_recognised_and_taken_for_nothing_else() {
    let payload = profile(vec![Event { time: 5, ..event(0, 1) }]).encode_to_vec();
    let detected = detect(&payload, &ReadOptions::default()).unwrap();
    assert_eq!((detected.format, detected.certainty), (Format::EVENTS, Certainty::Certain));
    assert!(!detected.evidence.is_empty());
    let error = read(&payload, &ReadOptions::default().format(Format::PPROF)).unwrap_err();
    assert!(error.to_string().contains("the payload is events, not pprof ("), "{error}");
}

/// A change that makes a valid profile invalid, and the expected message.
type Break = (fn(&mut Profile), &'static str);

const BREAKS: [Break; 22] = [
    (
        |p| p.events[0].event_type_index = 3,
        "events[0].event_type_index: index 3 is out of range: there are 3 types",
    ),
    (
        |p| p.events[0].stack_index = 3,
        "events[0].stack_index: index 3 is out of range: the table has 3 rows",
    ),
    (
        |p| p.events[0].link_index = Some(1),
        "events[0].link_index: index 1 is out of range: the table has 1 rows",
    ),
    (
        |p| {
            p.links.clear();
            p.events[0].link_index = Some(0);
        },
        "events[0].link_index: index 0 is out of range: the table has 0 rows",
    ),
    (
        |p| p.events[0].attribute_indices[0] = 2,
        "events[0].attribute_indices[0]: index 2 is out of range: the table has 2 rows",
    ),
    (
        |p| p.clocks[0].frequency = 0,
        "clocks[0].frequency: the frequency of the clock is 0 and must be greater than 0",
    ),
    (
        |p| p.event_types[0].clock_index = Some(1),
        "event_types[0].clock_index: index 1 is out of range: there are 1 clocks",
    ),
    (
        |p| p.event_types[0].name_string_index = 8,
        "event_types[0].name_string_index: index 8 is out of range: the table has 8 rows",
    ),
    (
        |p| p.event_types[1].unit_string_index = 9,
        "event_types[1].unit_string_index: index 9 is out of range: the table has 8 rows",
    ),
    (
        |p| p.events[0].time = -2_000_000_000_002,
        "events[0].time: -2000000000002 cycles after 1000000000000 ns overflow 64 bits of nanoseconds",
    ),
    (
        |p| p.clocks[0].time_unix_nano = u64::MAX,
        "events[0].time: 5 cycles after 18446744073709551615 ns overflow 64 bits of nanoseconds",
    ),
    (
        |p| {
            p.clocks[0].frequency = 1;
            p.events[0].duration = u64::MAX;
        },
        "events[0].duration: 18446744073709551615 cycles overflow 64 bits of nanoseconds",
    ),
    (
        |p| p.events[0].event_type_index = 1,
        "events[0]: an event without a clock needs a count, a value or a sum",
    ),
    (
        |p| {
            p.events[0].event_type_index = 1;
            p.events[0].value = 1;
        },
        "events[0].time: the event's type has no clock: a time or duration needs one",
    ),
    (
        |p| {
            p.events[0] = Event { duration: 1, value: 1, ..event(1, 1) };
        },
        "events[0].duration: the event's type has no clock: a time or duration needs one",
    ),
    (
        |p| p.events[0].value = 1 << 63,
        "events[0].value: 9223372036854775808 overflows a signed 64-bit integer",
    ),
    (
        |p| p.events[0] = Event { count: 1 << 62, ..event(2, 1) },
        "events[0].count: 4611686018427387904 times the default value 16 overflows 64 bits",
    ),
    (|p| p.strings[0] = "x".into(), "strings[0]: string 0 must be empty, found \"x\""),
    (|p| p.stacks[0].location_index = vec![0], "stacks[0]: the first stack must be empty"),
    (
        |p| p.stacks[1].location_index[0] = 3,
        "stacks[1].location_index: index 3 is out of range: the table has 3 rows",
    ),
    (
        |p| p.locations[0].line[0].function_index = 3,
        "locations[0].line[0].function_index: index 3 is out of range: the table has 3 rows",
    ),
    (
        |p| {
            p.attributes[1].value = Some(AnyValue { value: Some(any_value::Value::StringIndex(8)) })
        },
        "attributes[1].value.string_index: index 8 is out of range: the table has 8 rows",
    ),
];

#[test]
fn every_rule_of_a_valid_profile_is_held() {
    let base = || profile(vec![Event { time: 5, attribute_indices: vec![0], ..event(0, 1) }]);
    for (change, message) in BREAKS {
        let mut profile = base();
        change(&mut profile);
        let options = ReadOptions::default().format(Format::EVENTS);
        let error = read(&profile.encode_to_vec(), &options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Malformed);
        let error = error.to_string();
        assert!(error.starts_with(message), "{error}\nnot {message}");
    }
    assert!(read(&base().encode_to_vec(), &ReadOptions::default()).is_ok());
}

#[test]
fn limits_hold() {
    type Set = fn(Limits) -> Limits;
    let cases: [(&str, Set); 7] = [
        ("max_samples", |l| l.max_samples(1)),
        ("max_strings", |l| l.max_strings(3)),
        ("max_string_bytes", |l| l.max_string_bytes(2)),
        ("max_stack_depth", |l| l.max_stack_depth(1)),
        ("max_table_entries", |l| l.max_table_entries(2)),
        ("max_attributes_per_item", |l| l.max_attributes_per_item(0)),
        ("max_owned_bytes", |l| l.max_owned_bytes(100)),
    ];
    let events = vec![Event { time: 5, attribute_indices: vec![0], ..event(0, 1) }; 2];
    let payload = profile(events).encode_to_vec();
    for (name, set) in cases {
        let options = ReadOptions::default().format(Format::EVENTS);
        let error = read(&payload, &options.limits(set(Limits::network()))).unwrap_err();
        assert_eq!(error.limit(), Some(name), "{error}");
    }
    let options = WriteOptions::default().max_output_bytes(5);
    let error = write(&reading(&payload).profiles, Format::EVENTS, &options).unwrap_err();
    assert_eq!(error.limit(), Some("max_output_bytes"));
}

#[test]
fn values_are_not_nested_without_end() {
    let mut value = AnyValue { value: Some(any_value::Value::BoolValue(true)) };
    for depth in 0..40 {
        let list = otlp_profiles::proto::events::ArrayValue { values: vec![value] };
        value = AnyValue { value: Some(any_value::Value::ArrayValue(list)) };
        let mut profile = profile(vec![Event { time: 5, ..event(0, 1) }]);
        profile.attributes[0].value = Some(value.clone());
        let options = ReadOptions::default().format(Format::EVENTS);
        let result = read(&profile.encode_to_vec(), &options);
        assert_eq!(result.is_ok(), depth < 32, "{depth}");
    }
}

#[test]
fn a_line_without_a_function_is_given_none() {
    let mut without = profile(vec![Event { time: 5, ..event(0, 1) }]);
    without.functions[1] = Function::default();
    let profiles = reading(&without.encode_to_vec()).profiles;
    let back = reading(&again(&profiles)).profiles;
    assert_eq!(said(&back), ["cpu ms: main;0x0 [10] at [1000000000002]"]);
    assert_eq!(said(&back), said(&profiles));
}

#[test]
fn comments_of_profiles_stay_their_own() {
    let commented = |comments: &[u32]| {
        let mut profile = profile(vec![Event { time: 5, ..event(0, 1) }]);
        profile.comment_string_index = comments.to_vec();
        reading(&profile.encode_to_vec()).profiles
    };
    let comments = |profiles: &Profiles| {
        let dictionary = profiles.dictionary();
        let of = |attributes| format!("{:?}", dictionary.resolve(attributes));
        let mut all: Vec<_> = profiles.iter().map(|profile| of(profile.attributes())).collect();
        all.sort();
        all
    };
    for (one, other) in [(&[1][..], &[2][..]), (&[], &[1]), (&[1, 2], &[1, 2])] {
        let mut builder = Builder::new();
        builder.add(&commented(one)).unwrap();
        builder.add(&commented(other)).unwrap();
        let both = builder.finish().unwrap();
        let back = reading(&again(&both)).profiles;
        assert_eq!(comments(&back), comments(&both));
    }
}

#[test]
fn attributes_of_a_clock_take_no_memory_out_of_proportion() {
    const MANY: u32 = 20_000;
    let mut many = profile((0..MANY).map(|at| Event { time: 1, ..event(at, 1) }).collect());
    let row = |at| KeyValue {
        key_string_index: 2,
        value: Some(AnyValue { value: Some(any_value::Value::IntValue(at)) }),
    };
    many.attributes = (0..i64::from(MANY)).map(row).collect();
    many.clocks[0].attribute_indices = (0..MANY).collect();
    many.event_types = vec![many.event_types[0].clone(); MANY as usize];
    let options = ReadOptions::default().format(Format::EVENTS).limits(Limits::file());
    let error = read(&many.encode_to_vec(), &options).unwrap_err();
    assert_eq!(error.limit(), Some("max_owned_per_byte"), "{error}");
}

#[test]
fn what_is_broken_is_repaired_when_asked_for() {
    let mut broken = profile(vec![Event { time: 5, ..event(0, 9) }]);
    broken.strings[0] = "x".into();
    let options = ReadOptions::default().format(Format::EVENTS).policy(Policy::Repair);
    let reading = read(&broken.encode_to_vec(), &options).unwrap();
    let codes: Vec<&str> = reading.findings.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, ["table.row_0", "index.out_of_range", "profiles.merged"]);
    assert_eq!(said(&reading.profiles), ["cpu ms:  [10] at [1000000000002]"]);
}

#[test]
fn all_that_tables_say_comes_back() {
    let mut all = profile(vec![Event { time: 4, link_index: Some(0), ..event(0, 1) }]);
    all.strings.extend(["/bin/app", "0123456789abcdef0123", "native"].map(String::from));
    all.mappings = vec![
        Mapping::default(),
        Mapping {
            memory_start: 4096,
            memory_limit: 8192,
            file_offset: 16,
            filename_string_index: 8,
            build_id_string_index: 9,
            build_id_kind: 0,
            attributes: vec![0],
            has_functions: true,
            has_line_numbers: true,
            ..Default::default()
        },
    ];
    all.locations[1].mapping_index = 1;
    all.locations[1].address = 5000;
    all.locations[1].is_folded = true;
    all.locations[1].type_string_index = 10;
    all.locations[1].attribute_index = vec![1];
    all.functions[1].start_line = 9;
    all.comment_string_index = vec![1, 2];
    all.event_types =
        vec![EventType { attribute_incidices: vec![1], ..all.event_types[0].clone() }];
    // The third function is unreferenced.
    all.locations.truncate(2);
    all.functions.truncate(2);
    all.stacks.truncate(2);
    let payload = all.encode_to_vec();
    let profiles = reading(&payload).profiles;
    let written = write(&profiles, Format::EVENTS, &WriteOptions::default()).unwrap();
    assert!(written.losses.is_empty(), "{:?}", written.losses);
    assert_eq!(Profile::decode(&written.payload[..]).unwrap(), all);
    let otlp = write(&profiles, Format::OTLP, &WriteOptions::default()).unwrap();
    let codes: Vec<&str> = otlp.losses.iter().map(|loss| loss.code.as_str()).collect();
    assert_eq!(codes, ["event.clock_dropped"]);
}

#[test]
fn a_mapping_keeps_several_build_ids() {
    let mut all = profile(vec![Event { time: 4, ..event(0, 1) }]);
    let texts = ["process.executable.build_id.htlhash", "00ff", "0123456789abcdef0123"];
    all.strings.extend(texts.map(String::from));
    let value = Some(AnyValue { value: Some(any_value::Value::StringIndex(9)) });
    all.attributes = vec![KeyValue { key_string_index: 8, value }];
    let mapping = Mapping { build_id_string_index: 10, attributes: vec![0], ..Default::default() };
    all.mappings = vec![Mapping::default(), mapping];
    all.locations.iter_mut().for_each(|location| location.mapping_index = 1);
    let written = Profile::decode(&again(&reading(&all.encode_to_vec()).profiles)[..]).unwrap();
    assert_eq!(written.mappings, all.mappings);
    assert_eq!(written.attributes, all.attributes);
}

/// Profiles of one type each, whose events encode their worth and count in every way.
fn said_in_every_way() -> Vec<Profile> {
    let of = |kind: usize, events: Vec<Event>| {
        let mut one = profile(events);
        one.event_types = vec![one.event_types[kind].clone()];
        if one.event_types[0].clock_index.is_none() {
            one.clocks.clear();
        }
        (one.attributes, one.links) = (Vec::new(), Vec::new());
        one
    };
    let (a, b) = (event(0, 1), event(0, 2));
    let clock = vec![
        Event { value: 7, time: 4, ..a.clone() },
        Event { sum: 7, time: 4, ..b.clone() },
        Event { count: 1, sum: 9, time: 4, ..a.clone() },
        Event { time: 4, ..b.clone() },
        Event { value: 9, sum: 9, time: 4, ..a.clone() },
        Event { value: 10, time: 4, ..b.clone() },
        Event { sum: 10, count: 1, time: 4, ..a.clone() },
        Event { value: 10, sum: 10, time: 4, ..b.clone() },
    ];
    let heap = vec![
        Event { value: 7, ..a.clone() },
        Event { value: 7, count: 1, ..b.clone() },
        Event { sum: 7, ..a.clone() },
        Event { sum: 7, count: 1, ..b.clone() },
        Event { value: 30, count: 3, ..a.clone() },
        Event { sum: 30, count: 3, ..b.clone() },
        Event { value: 30, sum: 30, ..a.clone() },
        Event { value: 30, sum: 30, count: 3, ..b.clone() },
    ];
    let told = vec![
        Event { count: 2, ..a.clone() },
        Event { value: 16, ..b.clone() },
        Event { value: 32, count: 2, ..a.clone() },
        Event { count: 1, ..b.clone() },
        Event { sum: 16, ..a.clone() },
        Event { sum: 32, count: 2, ..b.clone() },
        Event { value: 16, sum: 16, ..a.clone() },
        Event { value: 48, sum: 48, count: 3, ..b },
        Event { sum: 16, count: 1, ..a },
    ];
    vec![of(0, clock), of(1, heap), of(2, told)]
}

#[test]
fn worths_and_counts_come_back_as_they_were_said() {
    for of_type in said_in_every_way() {
        let profiles = reading(&of_type.encode_to_vec()).profiles;
        assert_eq!(Profile::decode(&again(&profiles)[..]).unwrap(), of_type);
        // Other encodings have the same meaning.
        let there = write(&profiles, Format::OTLP, &WriteOptions::default()).unwrap().payload;
        let there = read(&there, &ReadOptions::default()).unwrap().profiles;
        assert_eq!(said(&reading(&again(&there)).profiles), said(&profiles));
    }
}

#[test]
fn events_stay_as_they_were_said_when_payloads_are_put_together() {
    let payloads = said_in_every_way().into_iter().map(|profile| profile.encode_to_vec());
    for payload in payloads.clone() {
        let mut builder = Builder::new();
        builder.add(&reading(&payload).profiles).unwrap();
        assert_eq!(again(&builder.finish().unwrap()), payload);
    }
    let mut builder = Builder::new();
    let mut apart = Vec::new();
    for payload in payloads {
        let profiles = reading(&payload).profiles;
        builder.add(&profiles).unwrap();
        apart.extend(said(&profiles));
    }
    let together = builder.finish().unwrap();
    let written = write(&together, Format::EVENTS, &WriteOptions::default()).unwrap();
    assert!(written.losses.is_empty(), "{:?}", written.losses);
    assert_eq!(sorted(&reading(&written.payload).profiles), {
        apart.sort();
        apart
    });
    let clocks = Profile::decode(&written.payload[..]).unwrap().clocks;
    assert_eq!(clocks.iter().map(|clock| clock.frequency).collect::<Vec<_>>(), [2_000_000_000]);
}

#[test]
fn fixtures_mean_what_their_facts_say() {
    for name in FIXTURES {
        let Some(payload) = fixture(&format!("{name}.binpb")) else { return };
        let facts = fixture(&format!("{name}.facts.json")).unwrap();
        let facts: serde_json::Value = serde_json::from_slice(&facts).unwrap();
        let reading = read(&payload, &ReadOptions::default()).unwrap();
        assert_eq!(reading.detected.format, Format::EVENTS, "{name}");
        assert_eq!(reading.detected.certainty, Certainty::Certain, "{name}");
        assert!(reading.findings.is_empty(), "{name}: {:?}", reading.findings);
        let mut theirs: BTreeMap<String, i64> = BTreeMap::new();
        for event in facts["events"].as_array().unwrap() {
            let text = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
            let int = |key: &str| event[key].as_i64().unwrap_or(0);
            let key = |kind: String| {
                let attributes = event["attributes"].as_object().unwrap();
                let attributes: Vec<String> =
                    attributes.iter().map(|(key, value)| format!("{key}={value}")).collect();
                let (at, link) = (int("time_unix_nano"), &event["link"]);
                format!("{kind} {} {at} {attributes:?} {link}", text("stack"))
            };
            let (kind, unit) = (text("type"), text("unit"));
            if !unit.is_empty() {
                *theirs.entry(key(format!("{kind} {unit}"))).or_default() += int("total");
            }
            *theirs.entry(key(format!("{kind}_duration ns"))).or_default() += int("duration_nano");
            if event["aggregate"] == true {
                *theirs.entry(key(format!("{kind}_count {{count}}"))).or_default() += int("count");
            }
        }
        let ours = measured(&reading.profiles);
        let kinds: Vec<&str> =
            ours.keys().filter_map(|key| key.split_once(" main")).map(|(kind, _)| kind).collect();
        theirs.retain(|key, _| kinds.iter().any(|kind| key.starts_with(&format!("{kind} main"))));
        assert_eq!(ours, theirs, "{name}");
        let otlp: Vec<(String, String, u64, i64)> =
            serde_json::from_value(facts["otlp_profiles"].clone()).unwrap();
        let sums: Vec<(String, String, u64, i64)> = reading
            .profiles
            .iter()
            .map(|profile| {
                let kind = profile.sample_types()[0];
                let [name, unit] = [kind.name, kind.unit]
                    .map(|id| reading.profiles.dictionary().text(id).to_owned());
                (name, unit, profile.samples().len() as u64, profile.sums()[0] as i64)
            })
            .collect();
        assert_eq!(sums, otlp, "{name}");
    }
}

/// The measurements by type, unit, stack, time, attributes and link.
fn measured(profiles: &Profiles) -> BTreeMap<String, i64> {
    let dictionary = profiles.dictionary();
    let mut measured = BTreeMap::new();
    for profile in profiles {
        let kind = profile.sample_types()[0];
        let [name, unit] = [kind.name, kind.unit].map(|id| dictionary.text(id));
        for sample in profile.samples() {
            let frames: Vec<String> =
                dictionary.frames(sample.stack).rev().map(|frame| frame.to_string()).collect();
            let mut attributes: Vec<String> = dictionary
                .resolve(sample.attributes)
                .iter()
                .map(|pair| format!("{}={:?}", pair.key, pair.value))
                .collect();
            attributes.sort();
            let link = dictionary.link(sample.link);
            let hex = |id: &[u8]| id.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            let link = match sample.link == Default::default() {
                true => "null".to_owned(),
                false => format!("[\"{}\",\"{}\"]", hex(&link.trace_id), hex(&link.span_id)),
            };
            for (at, value) in profile.observations(sample, 0) {
                let key = format!(
                    "{name} {unit} {} {} {attributes:?} {link}",
                    frames.join(";"),
                    at.unwrap_or(0)
                );
                *measured.entry(key).or_default() += value;
            }
        }
    }
    measured
}

#[test]
fn fixtures_are_the_given_otlp_and_come_back_to_the_byte() {
    for name in FIXTURES {
        let Some(payload) = fixture(&format!("{name}.binpb")) else { return };
        let given = fixture(&format!("{name}.otlp-1.11.binpb")).unwrap();
        let given = read(&given, &ReadOptions::default()).unwrap().profiles;
        let profiles = reading(&payload).profiles;
        let ours = write(&profiles, Format::OTLP, &WriteOptions::default()).unwrap().payload;
        let ours = read(&ours, &ReadOptions::default()).unwrap().profiles;
        // The given files have no lines.
        assert_eq!(said(&ours), said(&given), "{name}");
        let times = |profiles: &Profiles| -> Vec<(i128, i128)> {
            profiles.iter().map(|p| (p.time_unix_nano(), p.duration_nanos())).collect()
        };
        assert_eq!(times(&ours), times(&given), "{name}");
        assert_eq!(again(&profiles), payload, "{name}");
    }
}

#[test]
fn otlp_through_events_loses_nothing() {
    for name in [
        "otlp-1.11-aggregated-cpu.binpb",
        "otlp-1.11-aggregated-memory.binpb",
        "otlp-1.11-go-mutex-goroutine.binpb",
        "otlp-1.11-timestamped-cpu-offcpu.binpb",
        "otlp-1.11-timestamped-cpu.binpb",
    ] {
        let path = format!("{}/testdata/{name}", env!("CARGO_MANIFEST_DIR"));
        let before = std::fs::read(path).unwrap();
        let profiles = read(&before, &ReadOptions::default()).unwrap().profiles;
        let events = write(&profiles, Format::EVENTS, &WriteOptions::default()).unwrap();
        assert!(events.losses.is_empty(), "{name}: {:?}", events.losses);
        let back = reading(&events.payload).profiles;
        assert_eq!(sorted(&back), sorted(&profiles), "{name}");
        // Convert through every generation, too.
        for format in Format::ALL.iter().filter(|format| format.is_otlp()) {
            let there = write(&back, *format, &WriteOptions::default()).unwrap().payload;
            let there = read(&there, &ReadOptions::default()).unwrap().profiles;
            let again = reading(&again(&there)).profiles;
            assert_eq!(sorted(&again), sorted(&profiles), "{name} through {format}");
        }
    }
}

#[test]
fn what_events_cannot_say_is_named() {
    let bytes =
        std::fs::read(format!("{}/testdata/go-cpu-labels.pb.gz", env!("CARGO_MANIFEST_DIR")));
    let profiles = read(&bytes.unwrap(), &ReadOptions::default()).unwrap().profiles;
    let written = write(&profiles, Format::EVENTS, &WriteOptions::default()).unwrap();
    let codes: Vec<&str> = written.losses.iter().map(|loss| loss.code.as_str()).collect();
    assert_eq!(codes, ["period.dropped", "orphan.dropped"]);
    let back = reading(&written.payload).profiles;
    let sums: Vec<i128> = back.iter().flat_map(|profile| profile.sums()).collect();
    assert_eq!(sums, [163, 1_630_000_000]);
    let links = |profiles: &Profiles| {
        let samples = profiles.iter().flat_map(|profile| profile.samples().iter());
        samples.filter(|sample| sample.link != Default::default()).count()
    };
    assert_eq!(links(&back), 2 * links(&profiles));
    // Heap profiles with several columns.
    let folded = b"a;b -5\na 3\n";
    let profiles = read(folded, &ReadOptions::default()).unwrap().profiles;
    let written = write(&profiles, Format::EVENTS, &WriteOptions::default()).unwrap();
    let codes: Vec<&str> = written.losses.iter().map(|loss| loss.code.as_str()).collect();
    assert_eq!(codes, ["value.unsigned"]);
}

#[test]
fn what_is_odd_is_noted_and_what_only_events_say_is_named() {
    let mut odd = profile(vec![
        Event { time: 40_000_000_000, ..event(0, 1) },
        Event { sum: 32, value: 5, ..event(1, 1) },
        Event { count: 3, ..event(2, 1) },
    ]);
    odd.clocks[0].attribute_indices = vec![0];
    odd.event_types.push(odd.event_types[0].clone());
    // All events of the first type have an explicit worth, in a unit that no other type has.
    odd.events[0].value = 7;
    odd.strings[5] = "tick".into();
    odd.attributes[1].key_string_index = odd.attributes[0].key_string_index;
    odd.events[2].attribute_indices = vec![0, 1];
    let reading = reading(&odd.encode_to_vec());
    let codes: Vec<&str> = reading.findings.iter().map(|finding| finding.code).collect();
    assert_eq!(
        codes,
        [
            "event.unit",
            "event.outside",
            "event.sum_conflict",
            "attr.duplicate_key",
            "event.default_unused",
            "profiles.merged",
            "event.clock_attribute",
        ]
    );
    let first = reading.profiles.iter().next().unwrap();
    assert_eq!(first.attributes().len(), 1);
    for format in [Format::OTLP_1_3, Format::OTLP, Format::PPROF, Format::FOLDED] {
        let written = otlp_profiles::write_all(&reading.profiles, format, &WriteOptions::default());
        let losses = written.unwrap().1;
        for code in ["event.clock_dropped", "event.count_dropped"] {
            assert_eq!(losses.get(code).unwrap().count, 1, "{format}: {code}");
        }
    }
}

#[test]
fn samples_with_times_and_without_become_two_types() {
    let folded = b"a 5 k=v\nb 2 - 1700000000000000000,1700000001000000000\n";
    let profiles = read(folded, &ReadOptions::default()).unwrap().profiles;
    let written = write(&profiles, Format::EVENTS, &WriteOptions::default()).unwrap();
    assert!(written.losses.get("profile.split").is_some());
    assert_eq!(
        said(&reading(&written.payload).profiles),
        [
            "samples count: b [1, 1] at [1700000000000000000, 1700000001000000000]",
            "samples count: a [5] {\"k\": \"v\"}"
        ]
    );
    let clock = &Profile::decode(&written.payload[..]).unwrap().clocks[0];
    assert_eq!((clock.frequency, clock.time_unix_nano), (1_000_000_000, 1_700_000_000_000_000_000));
}

/// Changes bytes at a position, in one of several ways.
fn change(bytes: &mut Vec<u8>, at: usize, next: &mut dyn FnMut() -> usize) {
    match next() % 4 {
        0 => bytes.truncate(at),
        1 => bytes[at] ^= 1 << (next() % 8),
        2 => bytes[at] = next() as u8,
        _ => drop(bytes.splice(at..at, [next() as u8, next() as u8])),
    }
}

#[test]
fn broken_ones_are_refused_or_read() {
    let events = vec![
        Event { time: 2_000_000, attribute_indices: vec![0, 1], ..event(0, 1) },
        Event { time: -1_000_001, value: 5, count: 1, link_index: Some(0), ..event(0, 2) },
        Event { count: 3, sum: 96, ..event(1, 1) },
        Event { count: 4, ..event(2, 0) },
    ];
    let mut files = vec![profile(events).encode_to_vec()];
    files.extend(FIXTURES.iter().filter_map(|name| fixture(&format!("{name}.binpb"))));
    for file in files {
        let (mut refused, count) = (0, sized(500));
        for bytes in files::mutants(&file, count, change) {
            for policy in [Policy::Refuse, Policy::Repair] {
                let options = ReadOptions::default().format(Format::EVENTS).policy(policy);
                match read(&bytes, &options) {
                    Ok(reading) => {
                        for format in [Format::EVENTS, Format::OTLP, Format::PPROF] {
                            let _ = write(&reading.profiles, format, &WriteOptions::default());
                        }
                    }
                    Err(error) => {
                        assert!(!error.message().is_empty());
                        refused += 1;
                    }
                }
            }
            let _ = read(&bytes, &ReadOptions::default());
        }
        assert!(refused > count / 5, "{refused}");
    }
}

/// Profiles of different times are written as separate payloads, each with only the rows it references, so that
/// writing one costs no time for the others.
#[test]
fn profiles_of_many_times_are_payloads_of_their_own_rows() {
    let many = sized(10_000) as u64;
    let mut builder = Builder::new();
    for at in 0..many {
        let mut own = profile(vec![Event { time: 5, ..event(0, 1) }]);
        (own.time_unix_nano, own.strings[2]) = (own.time_unix_nano + at, format!("f{at}"));
        builder.add(&reading(&own.encode_to_vec()).profiles).unwrap();
    }
    let all = builder.finish().unwrap();
    let options = WriteOptions::default();
    let (payloads, _) = otlp_profiles::write_all(&all, Format::EVENTS, &options).unwrap();
    assert_eq!(payloads.len() as u64, many);
    for (at, payload) in payloads.iter().enumerate() {
        let mut own = Profile::decode(&payload[..]).unwrap();
        own.strings.sort();
        assert_eq!(own.strings, ["", "cpu", &format!("f{at}"), "main", "ms"]);
    }
    assert_eq!(said(&reading(&payloads[7]).profiles), ["cpu ms: main;f7 [10] at [1000000000002]"]);
}

#[test]
fn many_of_everything_take_time_in_proportion() {
    let rows = sized(100_000) as u32;
    let mut many = profile(Vec::new());
    many.event_types.extend(vec![many.event_types[0].clone(); rows as usize]);
    many.clocks = vec![many.clocks[0].clone(); rows as usize];
    many.stacks.extend((0..rows).map(|at| Stack { location_index: vec![at % 3; 2] }));
    many.events = (0..rows)
        .map(|at| Event { time: (at % 7).into(), ..event(3 + at, 3 + at) })
        .chain((0..rows).map(|_| Event { time: 1, ..event(0, 1) }))
        .chain((0..rows).map(|at| Event { count: 2, sum: at.into(), ..event(1, at % 3) }))
        .collect();
    let payload = many.encode_to_vec();
    let options = ReadOptions::default().format(Format::EVENTS).limits(Limits::file());
    let profiles = read(&payload, &options).unwrap().profiles;
    assert_eq!(profiles.iter().count(), rows as usize + 3);
    let written = write(&profiles, Format::EVENTS, &WriteOptions::default()).unwrap().payload;
    let back = read(&written, &options).unwrap().profiles;
    assert_eq!(back.iter().count(), rows as usize + 3);
}

#[test]
fn parts_of_a_profile_keep_its_clock() {
    let payload = said_in_every_way()[0].encode_to_vec();
    let limit = MaxBytes::new(payload.len() as u64 - 1).format(Format::EVENTS);
    let parts = split_max(&reading(&payload).profiles, &limit).unwrap();
    assert!(parts.len() > 1);
    for part in &parts {
        let clocks = Profile::decode(&again(part)[..]).unwrap().clocks;
        assert_eq!(clocks[0].frequency, 2_000_000_000);
    }
}
