//! Derived ids of profiles without ids, in generations that require them: they depend on the meaning of a profile
//! and on nothing else.
#![cfg(feature = "proto-all")]

use crate::support;
use std::collections::HashSet;

use crate::support::doc::{
    Attribute, Doc, Function, Location, Mapping, Profile, Resource, Sample, Scope, Tables, Type,
    Val,
};
use crate::support::forms::form;
use crate::support::generate::pprofs;
use crate::support::{codes, read, write};
use otlp_profiles::model::ProfileId;
use otlp_profiles::proto::pprof;
use otlp_profiles::proto::prost::Message;
use otlp_profiles::{ErrorKind, Format, Profiles, WriteOptions};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

/// The generations that require an id.
const REQUIRED: [&str; 5] = ["otlp-1.3", "otlp-1.4", "otlp-1.5", "otlp-1.6", "otlp-1.7"];

/// The ids of the profiles in a generation.
fn ids(name: &str, model: &Profiles) -> Vec<[u8; 16]> {
    let there = read(name, &write(name, model).0);
    there.iter().map(|profile| profile.profile_id().0).collect()
}

/// The id of the first profile, which must be the same in every generation.
#[track_caller]
fn id(model: &Profiles) -> [u8; 16] {
    let ids = REQUIRED.map(|name| ids(name, model)[0]);
    assert_eq!(ids, [ids[0]; 5], "one id in every generation");
    assert_ne!(ids[0], [0; 16]);
    ids[0]
}

fn of(doc: &Doc) -> [u8; 16] {
    id(&read("otlp", &(form("otlp").lower)(doc)))
}

fn function(name: &str) -> Function {
    Function { names: [name.into(), format!("_{name}"), "main.c".into()], start_line: 3 }
}

fn attribute(key: &str, value: Val, unit: &str) -> Attribute {
    Attribute { key: key.into(), value, unit: unit.into() }
}

/// A profile of one sample with every kind of data.
fn full() -> Doc {
    let tables = Tables {
        mappings: vec![Mapping {
            range: [0x1000, 0x9000, 0x10],
            filename: "/bin/main".into(),
            build_id: "0123456789abcdef0123456789abcdef01234567".into(),
            flags: 1,
            attributes: vec![],
        }],
        locations: vec![
            Location {
                mapping: Some(0),
                address: 0x1234,
                lines: vec![(Some(0), 5, 1), (Some(1), 7, 0)],
                ..Location::default()
            },
            Location { mapping: Some(0), address: 0x5678, ..Location::default() },
        ],
        functions: vec![function("main"), function("serve")],
        stacks: vec![vec![0, 1]],
        links: vec![([1; 16], [2; 8])],
        attributes: vec![
            attribute("thread", Val::str("worker"), ""),
            attribute("bytes", Val::Int(7), "By"),
            attribute("of profile", Val::Bool(true), ""),
        ],
        ..Tables::default()
    };
    let sample = Sample {
        stack: Some(0),
        attributes: vec![0, 1],
        link: Some(0),
        values: vec![5],
        times: vec![1_000],
        ..Sample::default()
    };
    let profile = Profile {
        time: 900,
        duration: 200,
        types: vec![Type { name: "cpu".into(), unit: "ns".into(), temporality: 0 }],
        period_type: Type { name: "cpu".into(), unit: "ns".into(), temporality: 0 },
        period: 10,
        attributes: vec![2],
        samples: vec![sample],
        ..Profile::default()
    };
    let scope = Scope { profiles: vec![profile], ..Scope::default() };
    let resource = Resource { scopes: vec![scope], ..Resource::default() };
    Doc { resources: vec![resource], tables }
}

fn profile(doc: &mut Doc) -> &mut Profile {
    &mut doc.resources[0].scopes[0].profiles[0]
}

fn sample(doc: &mut Doc) -> &mut Sample {
    &mut profile(doc).samples[0]
}

/// A pprof whose only function has this name.
fn named(name: &str) -> Vec<u8> {
    let strings = ["", "samples", "count", name, "f.c"];
    let line = pprof::Line { function_id: 1, line: 3, column: 0 };
    pprof::Profile {
        string_table: strings.map(str::to_owned).to_vec(),
        sample_type: vec![pprof::ValueType { r#type: 1, unit: 2 }],
        sample: vec![pprof::Sample { location_id: vec![1], value: vec![7], label: vec![] }],
        location: vec![pprof::Location { id: 1, line: vec![line], ..Default::default() }],
        function: vec![pprof::Function { id: 1, name: 3, filename: 4, ..Default::default() }],
        time_nanos: 1_700_000_000_000_000_000,
        ..Default::default()
    }
    .encode_to_vec()
}

#[test]
fn profiles_that_differ_in_the_name_of_a_function_have_different_ids() {
    let [alpha, beta] = ["alpha", "beta"].map(|name| id(&read("pprof", &named(name))));
    assert_ne!(alpha, beta);
}

/// Changes to a profile. Each gives another profile, and so another id.
const EDITS: &[fn(&mut Doc)] = &[
    |_| {},
    |d| d.tables.functions[0].names[0] = "other".into(),
    |d| d.tables.functions[1].names[1] = "other".into(),
    |d| d.tables.functions[0].names[2] = "other".into(),
    |d| d.tables.functions[0].start_line = 4,
    |d| d.tables.locations[0].lines[0].1 = 6,
    |d| d.tables.locations[0].lines[0].2 = 2,
    |d| d.tables.locations[0].lines.swap(0, 1),
    |d| d.tables.locations[1].address = 1,
    |d| d.tables.locations[1].mapping = None,
    |d| d.tables.locations[1].folded = true,
    |d| d.tables.mappings[0].range[1] = 0xa000,
    |d| d.tables.mappings[0].range[2] = 0,
    |d| d.tables.mappings[0].filename = "other".into(),
    |d| d.tables.mappings[0].build_id = "f".repeat(40),
    |d| d.tables.mappings[0].flags = 3,
    |d| d.tables.stacks[0].reverse(),
    |d| d.tables.stacks[0].push(0),
    |d| d.tables.links[0].1 = [3; 8],
    |d| d.tables.attributes[0].key = "other".into(),
    |d| d.tables.attributes[0].value = Val::str("other"),
    |d| d.tables.attributes[1].value = Val::Int(8),
    |d| d.tables.attributes[1].value = Val::Double(7.0),
    |d| d.tables.attributes[1].unit = "kBy".into(),
    |d| d.tables.attributes[2].value = Val::Array(vec![Val::Bool(true)]),
    |d| profile(d).time = 901,
    |d| profile(d).duration = 201,
    |d| profile(d).types[0].name = "wall".into(),
    |d| profile(d).types[0].unit = "us".into(),
    |d| profile(d).period = 11,
    |d| profile(d).period_type.unit = "us".into(),
    |d| profile(d).attributes.clear(),
    |d| profile(d).dropped = 1,
    |d| profile(d).original = ("jfr".into(), vec![1]),
    |d| profile(d).samples.clear(),
    |d| sample(d).stack = None,
    |d| sample(d).link = None,
    |d| sample(d).values = vec![6],
    |d| sample(d).times = vec![1_001],
    |d| sample(d).times.clear(),
    |d| sample(d).attributes = vec![0],
    |d| {
        let again = sample(d).clone();
        profile(d).samples.push(again);
    },
];

#[test]
fn whatever_a_profile_says_is_in_its_id() {
    let mut seen = HashSet::new();
    for (row, edit) in EDITS.iter().enumerate() {
        let mut doc = full();
        edit(&mut doc);
        assert!(seen.insert(of(&doc)), "edit {row} makes no other id");
    }
}

#[test]
fn resource_and_scope_are_not_in_the_id() {
    let mut doc = full();
    doc.resources[0].attributes.push(("service.name".into(), Val::str("checkout")));
    doc.resources[0].scopes[0].name = "profiler".into();
    assert_eq!(of(&doc), of(&full()));
}

/// The same profile with its rows in reverse order, and other rows between them.
fn renumbered() -> Doc {
    let mut doc = full();
    let tables = &mut doc.tables;
    tables.functions = vec![function("serve"), function("unused"), function("main")];
    tables.locations.reverse();
    tables.locations[1].lines = vec![(Some(2), 5, 1), (Some(0), 7, 0)];
    tables.stacks = vec![vec![0], vec![1, 0]];
    tables.links.insert(0, ([9; 16], [9; 8]));
    tables.attributes.reverse();
    tables.attributes.push(attribute("unused", Val::str("main.c"), ""));
    sample(&mut doc).attributes = vec![1, 2];
    sample(&mut doc).stack = Some(1);
    sample(&mut doc).link = Some(1);
    profile(&mut doc).attributes = vec![0];
    doc
}

#[test]
fn the_numbers_of_rows_are_not_in_the_id() {
    assert_eq!(of(&renumbered()), of(&full()));
}

#[test]
fn neighbours_are_not_in_the_id() {
    let mut doc = renumbered();
    let mut other = profile(&mut doc).clone();
    other.time += 1;
    doc.resources[0].scopes[0].profiles.insert(0, other);
    let model = read("otlp", &(form("otlp").lower)(&doc));
    for name in REQUIRED {
        let [other, same] = ids(name, &model)[..] else { panic!("{name}: two profiles") };
        assert_eq!(same, of(&full()), "{name}");
        assert_ne!(other, same, "{name}");
    }
}

#[test]
fn a_pprof_has_one_id_by_whatever_way_it_comes() {
    for (file, bytes) in support::testdata(&[".pb.gz", ".pb"]) {
        let direct = read("pprof", &bytes);
        let wanted = id(&direct);
        for way in ["otlp-1.8", "otlp-1.9", "otlp-1.10", "otlp-json", "pprof"] {
            let there = read(way, &write(way, &direct).0);
            assert_eq!(id(&there), wanted, "{file} by {way}");
        }
        for way in REQUIRED {
            let there = write(way, &direct).0;
            let back = read("pprof", &write("pprof", &read(way, &there)).0);
            assert_eq!(id(&back), wanted, "{file} by {way} and pprof");
        }
    }
}

#[test]
fn an_id_made_by_rule_is_no_loss_on_the_way_back() {
    for (file, bytes) in support::testdata(&[".pb.gz", ".pb"]) {
        let direct = read("pprof", &bytes);
        for way in REQUIRED.into_iter().chain(["otlp-1.8", "otlp-1.9", "otlp-1.10"]) {
            let (there, losses) = write(way, &direct);
            assert!(support::kept(&losses), "{file} to {way}: {losses:?}");
            let losses = write("pprof", &read(way, &there)).1;
            assert!(support::kept(&losses), "{file} by {way}: {losses:?}");
        }
    }
    // The id of a producer is a regular id.
    let mut doc = full();
    profile(&mut doc).id = [1; 16];
    let model = read("otlp", &(form("otlp").lower)(&doc));
    assert!(codes(&write("pprof", &model).1).contains(&"profile_id.dropped"));
}

/// A pprof is the same profile through every generation, unless a key has two units.
fn one_id(before: &pprof::Profile) -> Result<(), TestCaseError> {
    let direct = read("pprof", &before.encode_to_vec());
    let wanted = id(&direct);
    for way in REQUIRED.into_iter().chain(["otlp-1.8", "otlp-1.10", "otlp-json", "pprof"]) {
        let (there, losses) = write(way, &direct);
        let lossy = losses.iter().any(|l| {
            ["unit.key_conflict", "string.invalid_utf8", "time.negative"].contains(&l.code.as_str())
        });
        if !lossy {
            let back = read("pprof", &write("pprof", &read(way, &there)).0);
            prop_assert_eq!(id(&back), wanted, "by {}", way);
        }
    }
    Ok(())
}

#[test]
fn a_given_id_is_of_one_profile() {
    let id = ProfileId([7; 16]);
    let options = WriteOptions::default().profile_id(id);
    let mut doc = full();
    profile(&mut doc).id = [1; 16];
    let one = read("otlp", &(form("otlp").lower)(&doc));
    let mut other = profile(&mut doc).clone();
    other.time += 7;
    doc.resources[0].scopes[0].profiles.push(other);
    let two = read("otlp", &(form("otlp").lower)(&doc));
    for format in ["otlp-1.3", "otlp-1.7", "otlp-1.9", "otlp-1.10", "otlp-json"] {
        let written = otlp_profiles::write(&one, format.parse().unwrap(), &options).unwrap();
        let there = read(format, &written.payload);
        assert_eq!(there.iter().next().unwrap().profile_id(), id, "{format}");
        let error = otlp_profiles::write(&two, format.parse().unwrap(), &options).unwrap_err();
        let said = "profile-id sets one profile's id; the payload has 2 profiles";
        assert_eq!((error.kind(), error.message()), (ErrorKind::InvalidOption, said), "{format}");
    }
    // The columns of one pprof are one profile.
    let heap = std::fs::read("testdata/go-heap.pb.gz").unwrap();
    let heap = otlp_profiles::read(&heap, &Default::default()).unwrap().profiles;
    let written = otlp_profiles::write(&heap, Format::OTLP, &options).unwrap();
    let there = read("otlp", &written.payload);
    let known =
        there.iter().map(|profile| profile.profile_id()).filter(|id| *id != ProfileId::NONE);
    assert!(known.eq([id]) && there.iter().count() == 4);
    // Only the first of several profiles keeps the id. This loss has no effect on the data.
    assert_eq!(codes(&written.losses), ["profile_id.first_only"]);
}

proptest! {
    #![proptest_config(support::generate::config())]

    #[test]
    fn a_made_up_pprof_has_one_id(profile in pprofs()) {
        one_id(&profile)?;
    }
}
