//! Each loss of a conversion is reported with its code and no other.
#![cfg(feature = "proto-all")]

use crate::support;
use std::collections::BTreeSet;

use crate::support::doc::{
    Attribute, Doc, Function, Location, Mapping, Profile, Resource, Sample, Scope, Type, Val,
};
use crate::support::forms::form;
use crate::support::{codes, options, read, try_read};
use otlp_profiles::format::Timestamps;
use otlp_profiles::losses::LossCode;
use otlp_profiles::proto::prost::Message;
use otlp_profiles::proto::{pprof, v1_3, v1_7, v1_10};
use otlp_profiles::{Format, Policy, WriteOptions};

/// A profile with one sample that every format can represent completely.
fn base() -> Doc {
    let profile = Profile {
        types: vec![Type { name: "cpu".into(), unit: "ns".into(), temporality: 0 }],
        samples: vec![Sample { values: vec![5], ..Sample::default() }],
        ..Profile::default()
    };
    let scope = Scope { profiles: vec![profile], ..Scope::default() };
    Doc {
        resources: vec![Resource { scopes: vec![scope], ..Resource::default() }],
        ..Doc::default()
    }
}

fn scope(doc: &mut Doc) -> &mut Scope {
    &mut doc.resources[0].scopes[0]
}

fn profile(doc: &mut Doc) -> &mut Profile {
    &mut scope(doc).profiles[0]
}

fn sample(doc: &mut Doc) -> &mut Sample {
    &mut profile(doc).samples[0]
}

/// Sets the sample type and unit.
fn named(doc: &mut Doc, name: &str, unit: &str) {
    profile(doc).types[0] = Type { name: name.into(), unit: unit.into(), temporality: 0 };
}

/// Adds an attribute to the sample.
fn attribute(doc: &mut Doc, key: &str, value: Val, unit: &str) {
    let row = row(doc, key, value, unit);
    sample(doc).attributes.push(row);
}

fn row(doc: &mut Doc, key: &str, value: Val, unit: &str) -> usize {
    doc.tables.attributes.push(Attribute { key: key.into(), value, unit: unit.into() });
    doc.tables.attributes.len() - 1
}

/// The reader's value for a label that is a string, among several labels with one key.
fn text_pair(text: &str) -> Val {
    Val::Map(vec![("str".into(), Val::str(text))])
}

/// The same for a number.
fn number_pair(number: i64) -> Val {
    Val::Map(vec![("num".into(), Val::Int(number))])
}

/// Gives the sample a stack of one location in a mapping.
fn located(doc: &mut Doc) {
    doc.tables.mappings.push(Mapping {
        range: [0x1000, 0x2000, 0],
        filename: "a.out".into(),
        ..Mapping::default()
    });
    doc.tables.locations.push(Location {
        mapping: Some(0),
        address: 0x1234,
        ..Location::default()
    });
    doc.tables.stacks.push(vec![0]);
    sample(doc).stack = Some(0);
}

fn lined(doc: &mut Doc, function: Option<usize>) {
    located(doc);
    doc.tables
        .functions
        .push(Function { names: ["main".into(), String::new(), String::new()], start_line: 0 });
    doc.tables.locations[0].lines.push((function, 3, 0));
}

fn mapping_attribute(doc: &mut Doc, key: &str, value: Val) {
    let row = row(doc, key, value, "");
    doc.tables.mappings[0].attributes.push(row);
}

fn ints(values: &[i64]) -> Val {
    Val::Array(values.iter().map(|value| Val::Int(*value)).collect())
}

/// Adds a second profile with the same samples.
fn second_column(doc: &mut Doc) {
    let mut column = profile(doc).clone();
    column.types[0].name = "wall".into();
    scope(doc).profiles.push(column);
}

type Case = (&'static [&'static str], &'static str, &'static str, fn(&mut Doc));

/// The codes, worst first; the format to read; the format to write; the change to the base document.
const CASES: &[Case] = &[
    (&[], "otlp-1.10", "pprof", |_| {}),
    (&[], "otlp-1.10", "otlp-1.9", |_| {}),
    (&[], "otlp-1.7", "otlp-1.10", |_| {}),
    (&["temporality.assumed"], "otlp-1.10", "otlp-1.8", |_| {}),
    (&["profile_id.synthesized", "temporality.assumed"], "otlp-1.10", "otlp-1.7", |_| {}),
    (&["profile_id.synthesized", "temporality.assumed"], "otlp-1.10", "otlp-1.3", |_| {}),
    (&["temporality.dropped"], "otlp-1.8", "otlp-1.9", |d| profile(d).types[0].temporality = 2),
    // Formats of other tools: folded stacks do not contain the sample type.
    (&["sample_type.dropped", "stack.empty"], "otlp-1.10", "folded", |_| {}),
    (&["stack.empty"], "otlp-1.10", "folded", |d| named(d, "samples", "count")),
    (&["period.dropped", "time.dropped", "stack.empty"], "otlp-1.10", "folded", |d| {
        named(d, "samples", "count");
        (profile(d).period, profile(d).duration) = (5, 7);
    }),
    (&["mapping.dropped"], "otlp-1.10", "folded", |d| {
        named(d, "samples", "count");
        located(d);
    }),
    (
        &["function.source_dropped", "location.address_dropped", "mapping.dropped"],
        "otlp-1.10",
        "folded",
        |d| {
            named(d, "samples", "count");
            lined(d, Some(0));
        },
    ),
    (
        &["location.address_dropped", "mapping.dropped", "frame.text", "location.inline_spread"],
        "otlp-1.10",
        "folded",
        |d| {
            named(d, "samples", "count");
            lined(d, Some(0));
            d.tables.functions[0].names[0] = "a;b".into();
            d.tables.locations[0].lines = vec![(Some(0), 0, 0); 2];
        },
    ),
    (&["function.system_name_dropped", "mapping.dropped"], "otlp-1.10", "folded", |d| {
        named(d, "samples", "count");
        lined(d, Some(0));
        d.tables.functions[0].names[1] = "_Z4main".into();
        d.tables.locations[0].address = 0;
        d.tables.locations[0].lines[0].1 = 0;
    }),
    (&["columns.zero_filled", "stack.empty"], "otlp-1.10", "folded", |d| {
        named(d, "samples", "count");
        sample(d).values.clear();
        attribute(d, "size", Val::Int(5), "");
    }),
    (&["attr.unit_dropped", "stack.empty"], "otlp-1.10", "folded", |d| {
        named(d, "samples", "count");
        attribute(d, "size", Val::Int(5), "bytes");
    }),
    // A temporality that the reader would assume anyway is not lost.
    (&[], "otlp-1.8", "otlp-1.9", |d| profile(d).types[0].temporality = 1),
    (&[], "otlp-1.8", "pprof", |d| profile(d).types[0].temporality = 1),
    (&["temporality.dropped"], "otlp-1.8", "otlp-1.10", |d| profile(d).period_type.temporality = 1),
    (&["temporality.dropped"], "otlp-1.8", "pprof", |d| profile(d).types[0].temporality = 2),
    (&["stacktrace_id.dropped"], "otlp-1.3", "otlp-1.10", |d| sample(d).stacktrace_id = "x".into()),
    (&["stacktrace_id.dropped"], "otlp-1.3", "pprof", |d| sample(d).stacktrace_id = "x".into()),
    (
        &["entity_refs.dropped", "profile_id.synthesized", "temporality.assumed"],
        "otlp-1.10",
        "otlp-1.5",
        |d| {
            d.resources[0].entities.push(("".into(), "service".into(), vec![], vec![]));
        },
    ),
    (&["entity_refs.dropped"], "otlp-1.10", "pprof", |d| {
        d.resources[0].entities.push(("".into(), "service".into(), vec![], vec![]));
    }),
    (&["resource.dropped"], "otlp-1.10", "pprof", |d| {
        d.resources[0].attributes.push(("k".into(), Val::Int(1)))
    }),
    (&["scope.dropped"], "otlp-1.10", "pprof", |d| scope(d).name = "go".into()),
    (&["scope.dropped"], "otlp-1.10", "pprof", |d| {
        scope(d).attributes.push(("k".into(), Val::Int(1)))
    }),
    (&["schema_url.dropped"], "otlp-1.10", "pprof", |d| scope(d).schema_url = "u".into()),
    (&["schema_url.dropped"], "otlp-1.10", "pprof", |d| d.resources[0].schema_url = "u".into()),
    (&["dropped_count.dropped"], "otlp-1.10", "pprof", |d| profile(d).dropped = 1),
    (&["dropped_count.dropped"], "otlp-1.10", "pprof", |d| scope(d).dropped = 1),
    (&["dropped_count.dropped"], "otlp-1.10", "pprof", |d| d.resources[0].dropped = 1),
    (&["profile_id.dropped"], "otlp-1.10", "pprof", |d| profile(d).id = [1; 16]),
    (&["original.dropped"], "otlp-1.10", "pprof", |d| {
        profile(d).original = ("jfr".into(), vec![1])
    }),
    (&["attr.profile.dropped"], "otlp-1.10", "pprof", |d| {
        let row = row(d, "k", Val::Int(1), "");
        profile(d).attributes.push(row);
    }),
    // Comments that are separate numbers become strings, and pprof has no unit for them.
    (&["attr.profile.dropped"], "otlp-1.10", "pprof", |d| {
        let row = row(d, "pprof.profile.comment.0", Val::Int(7), "");
        profile(d).attributes.push(row);
    }),
    (&["attr.profile.dropped"], "otlp-1.10", "pprof", |d| {
        let row = row(d, "pprof.profile.comment.0", Val::str("x"), "By");
        profile(d).attributes.push(row);
    }),
    (&[], "otlp-1.10", "pprof", |d| {
        let row = row(d, "pprof.profile.comment.0", Val::str("x"), "");
        profile(d).attributes.push(row);
    }),
    (&["attr.location.dropped"], "otlp-1.10", "pprof", |d| {
        located(d);
        let row = row(d, "k", Val::Int(1), "");
        d.tables.locations[0].attributes.push(row);
    }),
    (&["attr.mapping.dropped"], "otlp-1.10", "pprof", |d| {
        located(d);
        mapping_attribute(d, "k", Val::Int(1));
    }),
    (&["attr.empty_field"], "otlp-1.10", "pprof", |d| {
        located(d);
        mapping_attribute(d, "process.executable.build_id.gnu", Val::str(""));
        let row = row(d, "pprof.profile.drop_frames", Val::str(""), "");
        profile(d).attributes.push(row);
    }),
    (&["frame_type.dropped"], "otlp-1.10", "pprof", |d| {
        located(d);
        d.tables.locations[0].frame_type = "kernel".into();
    }),
    (&["mapping.build_id_extra"], "otlp-1.10", "pprof", |d| {
        located(d);
        mapping_attribute(d, "process.executable.build_id.gnu", Val::str("0123456789abcdef"));
        mapping_attribute(d, "process.executable.build_id.go", Val::str("a/b/c/d"));
    }),
    (&["mapping.build_id_kind"], "otlp-1.10", "pprof", |d| {
        located(d);
        mapping_attribute(d, "process.executable.build_id.htlhash", Val::str("0123456789abcdef"));
    }),
    (&["mapping.flags_inferred"], "otlp-1.10", "pprof", |d| lined(d, Some(0))),
    (&["function.empty_synthesized", "mapping.flags_inferred"], "otlp-1.10", "pprof", |d| {
        lined(d, None)
    }),
    (&["attr.type_bool"], "otlp-1.10", "pprof", |d| attribute(d, "k", Val::Bool(true), "")),
    (&["attr.type_double"], "otlp-1.10", "pprof", |d| attribute(d, "k", Val::Double(1.5), "")),
    (&["attr.type_bytes"], "otlp-1.10", "pprof", |d| attribute(d, "k", Val::Bytes(vec![1]), "")),
    (&["attr.type_kvlist"], "otlp-1.10", "pprof", |d| {
        attribute(d, "k", Val::Map(vec![("a".into(), Val::Int(1))]), "")
    }),
    (&["attr.array1"], "otlp-1.10", "pprof", |d| attribute(d, "k", ints(&[1]), "")),
    (&[], "otlp-1.10", "pprof", |d| attribute(d, "k", ints(&[1, 2]), "By")),
    // The reader returns a list of pairs only if a list of plain values cannot represent the labels.
    (&["label.pairs"], "otlp-1.10", "pprof", |d| {
        attribute(d, "k", Val::Array(vec![text_pair("a")]), "")
    }),
    (&["label.pairs"], "otlp-1.10", "pprof", |d| {
        attribute(d, "k", Val::Array(vec![text_pair("a"), text_pair("b")]), "")
    }),
    (&["label.pairs"], "otlp-1.10", "pprof", |d| {
        attribute(d, "k", Val::Array(vec![text_pair("a"), number_pair(1)]), "By")
    }),
    (&["attr.type_kvlist"], "otlp-1.10", "pprof", |d| {
        attribute(d, "k", Val::Array(vec![text_pair("a"), Val::str("b")]), "")
    }),
    (&["attr.type_kvlist"], "otlp-1.10", "pprof", |d| {
        attribute(d, "k", Val::Array(vec![text_pair(""), number_pair(1)]), "")
    }),
    (&[], "otlp-1.10", "pprof", |d| {
        attribute(d, "k", Val::Array(vec![text_pair("a"), number_pair(1)]), "")
    }),
    (&["attr.empty"], "otlp-1.10", "pprof", |d| attribute(d, "k", Val::Empty, "")),
    (&["attr.empty"], "otlp-1.10", "pprof", |d| attribute(d, "k", Val::Array(vec![]), "")),
    (&["attr.empty_string"], "otlp-1.10", "pprof", |d| attribute(d, "k", Val::str(""), "")),
    (&["attr.unit_on_string"], "otlp-1.10", "pprof", |d| attribute(d, "k", Val::str("x"), "By")),
    (&["label.zero_or_empty"], "otlp-1.10", "pprof", |d| attribute(d, "k", Val::Int(0), "")),
    (&["link.label_conflict"], "otlp-1.10", "pprof", |d| {
        d.tables.links.push(([1; 16], [1; 8]));
        sample(d).link = Some(0);
        attribute(d, "trace_id", Val::str("mine"), "");
    }),
    (&["link.invalid"], "otlp-1.10", "pprof", |d| {
        d.tables.links.push(([0; 16], [1; 8]));
        sample(d).link = Some(0);
    }),
    (&["time.negative"], "otlp-1.7", "otlp-1.10", |d| profile(d).time = -1),
    (&["time.negative"], "otlp-1.7", "otlp-1.8", |d| profile(d).duration = -1),
    (&["time.overflow"], "otlp-1.10", "pprof", |d| profile(d).time = u64::MAX.into()),
    (&["time.overflow", "temporality.assumed"], "otlp-1.10", "otlp-1.7", |d| {
        profile(d).id = [1; 16];
        profile(d).duration = u64::MAX.into();
    }),
    (&["timestamps.value_split"], "otlp-1.7", "otlp-1.10", |d| sample(d).times = vec![1, 2]),
    (&[], "otlp-1.7", "otlp-1.10", |d| sample(d).times = vec![1]),
    (&[], "otlp-1.7", "otlp-1.10", |d| sample(d).times = vec![1, 2, 3, 4, 5]),
    (&["timestamps.value_split"], "otlp-1.7", "pprof", |d| sample(d).times = vec![1, 2]),
    // Neither a value nor a timestamp: only a series of timestamps can be empty.
    (&[], "otlp-1.10", "otlp-1.9", |d| sample(d).values.clear()),
    (&["columns.zero_filled"], "otlp-1.10", "pprof", |d| sample(d).values.clear()),
    (&["columns.zero_filled", "temporality.assumed"], "otlp-1.10", "otlp-1.7", |d| {
        profile(d).id = [1; 16];
        sample(d).values.clear();
    }),
    (&["columns.zero_filled", "temporality.assumed"], "otlp-1.10", "otlp-1.3", |d| {
        profile(d).id = [1; 16];
        sample(d).values.clear();
    }),
    (&["unit.key_conflict", "temporality.assumed"], "otlp-1.10", "otlp-1.7", |d| {
        profile(d).id = [1; 16];
        attribute(d, "k", Val::Int(1), "By");
        let mut other = sample(d).clone();
        other.attributes = vec![row(d, "k", Val::Int(1), "ns")];
        profile(d).samples.push(other);
    }),
    // OTEP 0239 has a label for each of these, because its units belong to keys.
    (&["temporality.assumed"], "otlp-1.10", "otlp-1.3", |d| {
        profile(d).id = [1; 16];
        attribute(d, "k", Val::Int(1), "By");
        for (value, unit) in [(Val::Int(1), "ns"), (Val::str("x"), "")] {
            let mut other = sample(d).clone();
            other.attributes = vec![row(d, "k", value, unit)];
            profile(d).samples.push(other);
        }
    }),
    // … but none for a list, or for the attributes of a location.
    (&["unit.key_conflict", "temporality.assumed"], "otlp-1.10", "otlp-1.3", |d| {
        profile(d).id = [1; 16];
        attribute(d, "k", Val::Int(1), "By");
        let mut other = sample(d).clone();
        other.attributes = vec![row(d, "k", ints(&[1, 2]), "ns")];
        profile(d).samples.push(other);
    }),
    (&["unit.key_conflict", "temporality.assumed"], "otlp-1.10", "otlp-1.3", |d| {
        profile(d).id = [1; 16];
        located(d);
        attribute(d, "k", Val::Int(1), "By");
        let row = row(d, "k", Val::Int(1), "ns");
        d.tables.locations[0].attributes.push(row);
    }),
    (&["mapping.flags_inferred", "temporality.assumed"], "otlp-1.10", "otlp-1.7", |d| {
        profile(d).id = [1; 16];
        lined(d, Some(0));
    }),
    (&["temporality.assumed"], "otlp-1.10", "otlp-1.7", |d| {
        profile(d).id = [1; 16];
        lined(d, Some(0));
        mapping_attribute(d, "pprof.mapping.has_functions", Val::Bool(false));
    }),
    // Unreferenced attributes are dropped if others become fields.
    (&["orphan.dropped"], "otlp-1.8", "otlp-1.8", |d| {
        profile(d).comments.push("c".into());
        row(d, "k", Val::Int(1), "");
    }),
    (&[], "otlp-1.8", "otlp-1.8", |d| {
        row(d, "k", Val::Int(1), "");
    }),
    // There, tables belong to profiles. Without a profile they have no place.
    (&["orphan.dropped"], "otlp-1.10", "otlp-1.5", |d| {
        lined(d, Some(0));
        scope(d).profiles.clear();
    }),
    (&["default.synthesized"], "otlp-1.10", "pprof", second_column),
    (&[], "otlp-1.10", "pprof", |d| {
        second_column(d);
        scope(d).attributes.push(("pprof.scope.sample_type_order".into(), ints(&[1, 0])));
    }),
    (&["scope.bad_sample_type_order", "default.synthesized"], "otlp-1.10", "pprof", |d| {
        second_column(d);
        scope(d).attributes.push(("pprof.scope.sample_type_order".into(), ints(&[0, 0])));
    }),
];

#[test]
fn each_loss_has_its_code_and_no_other() {
    for (expected, from, to, edit) in CASES {
        let mut doc = base();
        edit(&mut doc);
        let model = read(from, &(form(from).lower)(&doc));
        let losses = support::write(to, &model).1;
        let what = format!("{from} to {to}: {:?}", &doc);
        assert_eq!(&codes(&losses), expected, "{what}");
        assert!(losses.iter().all(|loss| LossCode::ALL.contains(&loss.code)), "{what}");
    }
}

#[test]
fn a_unit_that_a_profile_attribute_cannot_keep_is_reported() {
    for to in ["otlp-1.3", "otlp-1.4"] {
        let mut doc = base();
        attribute(&mut doc, "k", Val::Int(1), "s");
        let own = row(&mut doc, "k", Val::Int(2), "ms");
        profile(&mut doc).attributes.push(own);
        let model = read("otlp-1.10", &(form("otlp-1.10").lower)(&doc));
        let losses = support::write(to, &model).1;
        assert!(codes(&losses).contains(&"unit.key_conflict"), "{to}: {:?}", codes(&losses));
    }
}

/// Two profiles with a stack whose mapping is the second of two, a link and a function. All other rows are
/// unreferenced.
fn two_profiles_and_more() -> Doc {
    let mut doc = base();
    profile(&mut doc).id = [1; 16];
    profile(&mut doc).types[0].temporality = 1;
    doc.tables.mappings.push(Mapping {
        range: [0x8000, 0x9000, 0],
        filename: "vdso".into(),
        ..Mapping::default()
    });
    lined(&mut doc, Some(0));
    doc.tables.locations[0].mapping = Some(1);
    doc.tables
        .functions
        .push(Function { names: ["unused".into(), String::new(), String::new()], start_line: 1 });
    doc.tables.locations.push(Location {
        mapping: Some(0),
        address: 0x8123,
        lines: vec![(Some(1), 7, 0)],
        ..Location::default()
    });
    doc.tables.links.push(([1; 16], [1; 8]));
    second_column(&mut doc);
    scope(&mut doc).profiles[1].id = [2; 16];
    scope(&mut doc).profiles[1].time = 5;
    doc
}

#[test]
fn rows_of_no_profile_are_counted_where_profiles_have_the_tables() {
    let mut doc = two_profiles_and_more();
    let own = row(&mut doc, "k", Val::Int(1), "");
    doc.tables.locations[1].attributes.push(own);
    let model = read("otlp-1.8", &(form("otlp-1.8").lower)(&doc));
    for name in ["otlp-1.3", "otlp-1.4", "otlp-1.5"] {
        let losses = support::write(name, &model).1;
        assert_eq!(codes(&losses), ["mapping.flags_inferred", "orphan.dropped"], "{name}");
        let orphans = losses.get("orphan.dropped").unwrap();
        assert_eq!(orphans.count, 5, "{name}: one of each table");
        assert_eq!(orphans.first, ["mapping_table", "location_table", "function_table"]);
    }
}

#[test]
fn a_stack_of_no_sample_is_dropped_where_stacks_are_slices() {
    let mut doc = base();
    lined(&mut doc, Some(0));
    let mut data = v1_10::ProfilesData::decode(&*(form("otlp-1.10").lower)(&doc)).unwrap();
    let stacks = &mut data.dictionary.as_mut().unwrap().stack_table;
    stacks.push(v1_10::Stack { location_indices: vec![1, 1, 1] });
    let model = read("otlp-1.10", &data.encode_to_vec());
    for (name, table) in [
        ("otlp-1.3", Some("stack_table")),
        ("otlp-1.7", Some("stack_table")),
        ("otlp-1.8", None),
        ("otlp-1.10", None),
    ] {
        let losses = support::write(name, &model).1;
        let first = losses.get("orphan.dropped").map(|loss| &*loss.first[0]);
        assert_eq!(first, table, "{name}");
    }
}

#[test]
fn flags_that_are_not_set_are_not_unknown() {
    let doc = two_profiles_and_more();
    for name in ["otlp-1.3", "otlp-1.4", "otlp-1.5", "otlp-1.6", "otlp-1.7"] {
        let model = read(name, &(form(name).lower)(&doc));
        let (bytes, losses) = support::write(name, &model);
        let harmless = |code: &&str| *code != "orphan.dropped";
        let said: Vec<_> = codes(&losses).into_iter().filter(harmless).collect();
        assert_eq!(said, [""; 0], "{name}");
        let again = support::write(name, &read(name, &bytes));
        assert_eq!((again.0, codes(&again.1)), (bytes, vec![]), "{name}");
    }
}

#[test]
fn options_that_lose_say_so() {
    let mut doc = base();
    sample(&mut doc).values.clear();
    sample(&mut doc).times = vec![1, 2];
    doc.tables.links.push(([1; 16], [1; 8]));
    sample(&mut doc).link = Some(0);
    let model = read("otlp-1.10", &(form("otlp-1.10").lower)(&doc));
    let pprof = Format::PPROF;
    let lost = |options: WriteOptions| {
        codes(&otlp_profiles::write(&model, pprof, &options).unwrap().losses)
    };
    assert_eq!(lost(WriteOptions::default()), [""; 0]);
    assert_eq!(lost(WriteOptions::default().timestamps(Timestamps::Drop)), ["timestamps.dropped"]);
    assert_eq!(lost(WriteOptions::default().max_expanded_samples(1)), ["timestamps.dropped"]);
    assert_eq!(lost(WriteOptions::default().links(false)).len(), 1);
    let labelled = support::write("pprof", &model).0;
    let findings = |label: &str| {
        let options = support::options("pprof").timestamp_label(label.to_owned());
        let findings = otlp_profiles::read(&labelled, &options).unwrap().findings;
        findings.into_iter().map(|found| found.code).collect::<Vec<_>>()
    };
    assert_eq!(findings("end_timestamp_ns"), [""; 0]);
    assert_eq!(findings("nope"), ["timestamps.label_unused"]);
}

#[test]
fn values_without_timestamps_become_samples() {
    // Two values instead of one: only a broken producer writes such a payload.
    let mut doc = base();
    sample(&mut doc).values = vec![5, 6];
    let bytes = (form("otlp-1.10").lower)(&doc);
    if let Ok(model) = try_read("otlp-1.10", &bytes) {
        assert_eq!(codes(&support::write("pprof", &model).1), ["series.expanded"]);
    }
}

#[test]
fn as_many_values_as_samples_are_not_one_for_each() {
    let mut doc = base();
    profile(&mut doc).samples =
        [vec![], vec![5, 6]].map(|values| Sample { values, ..Sample::default() }).to_vec();
    let mut other = base();
    named(&mut other, "allocations", "count");
    profile(&mut other).samples =
        [7, 8].map(|value| Sample { values: vec![value], ..Sample::default() }).to_vec();
    scope(&mut doc).profiles.append(&mut scope(&mut other).profiles);
    let model = read("otlp-1.10", &(form("otlp-1.10").lower)(&doc));
    let options = WriteOptions::default();
    let (payloads, losses) = otlp_profiles::write_all(&model, Format::PPROF, &options).unwrap();
    assert_eq!(payloads.len(), 2);
    assert_eq!(codes(&losses), ["columns.zero_filled", "series.expanded"]);
}

/// A valid pprof; each case changes one detail.
fn whole() -> pprof::Profile {
    let strings = ["", "cpu", "ns", "main", "k", "x", "0123456789abcdef"];
    pprof::Profile {
        string_table: strings.map(str::to_owned).to_vec(),
        sample_type: vec![pprof::ValueType { r#type: 1, unit: 2 }],
        sample: vec![pprof::Sample { location_id: vec![1], value: vec![5], label: vec![] }],
        mapping: vec![pprof::Mapping {
            id: 1,
            memory_limit: 9,
            has_functions: true,
            ..Default::default()
        }],
        location: vec![pprof::Location {
            id: 1,
            mapping_id: 1,
            line: vec![pprof::Line { function_id: 1, line: 1, column: 0 }],
            ..Default::default()
        }],
        function: vec![pprof::Function { id: 1, name: 3, ..Default::default() }],
        ..Default::default()
    }
}

fn label(key: i64, str: i64, num: i64, num_unit: i64) -> pprof::Label {
    pprof::Label { key, str, num, num_unit }
}

/// Returns the codes of the findings under repair, and whether the payload is an error otherwise.
fn noticed(name: &str, bytes: &[u8]) -> (Vec<&'static str>, bool) {
    let options = options(name).policy(Policy::Repair);
    let reading = otlp_profiles::read(bytes, &options)
        .unwrap_or_else(|error| panic!("{name} is not repaired: {error}"));
    let model = &reading.profiles;
    // The repaired profiles are valid: they can be written, and read again without findings.
    let (payloads, _) =
        otlp_profiles::write_all(model, Format::OTLP, &WriteOptions::default()).unwrap();
    payloads.iter().for_each(|payload| _ = read("otlp", payload));
    let refused = try_read(name, bytes).err().map(|error| error.place());
    // The profile of the finding is the profile of the error.
    let profile = refused.as_deref().and_then(|place| place.split_once("].samples"));
    if let Some((profile, _)) = profile.filter(|_| name != "pprof") {
        let findings = &reading.findings;
        assert!(findings.iter().any(|f| f.place.starts_with(profile)), "{profile}: {findings:?}");
    }
    (reading.findings.iter().map(|finding| finding.code).collect(), refused.is_some())
}

type Broken = (&'static str, bool, fn(&mut pprof::Profile));

/// The code, whether it is an error without repair, and the fault.
const BROKEN: &[Broken] = &[
    ("pprof.bad_id", true, |p| {
        p.location.push(pprof::Location { id: 1, ..Default::default() });
    }),
    ("pprof.dangling_location", true, |p| p.sample[0].location_id.push(9)),
    ("pprof.dangling_function", true, |p| p.location[0].line[0].function_id = 9),
    ("pprof.dangling_mapping", false, |p| p.location[0].mapping_id = 9),
    ("pprof.bad_string_index", true, |p| p.function[0].name = 99),
    ("pprof.bad_string_index", true, |p| p.comment.push(-1)),
    ("pprof.label_without_key", false, |p| p.sample[0].label.push(label(0, 5, 0, 0))),
    ("pprof.value_count", true, |p| p.sample[0].value.push(1)),
    ("pprof.value_count", true, |p| p.sample[0].value.clear()),
    ("pprof.value_count", true, |p| p.sample_type.clear()),
    ("table.row_0", true, |p| p.string_table[0] = "not empty".into()),
    ("label.str_and_num", false, |p| p.sample[0].label.push(label(4, 5, 1, 0))),
    ("label.str_and_num", false, |p| p.sample[0].label.push(label(4, 5, 0, 2))),
    ("label.zero_or_empty", false, |p| p.sample[0].label.push(label(4, 0, 0, 0))),
    ("label.mixed", false, |p| p.sample[0].label.extend([label(4, 5, 0, 0), label(4, 0, 1, 0)])),
    ("label.mixed", false, |p| p.sample[0].label.extend([label(4, 0, 1, 2), label(4, 0, 1, 0)])),
    ("default.no_match", false, |p| p.default_sample_type = 5),
    ("mapping.build_id_guess", false, |p| p.mapping[0].build_id = 5),
    ("mapping.build_id_unknown", false, |p| {
        p.string_table.push("unknown".into());
        p.mapping[0].build_id = p.string_table.len() as i64 - 1;
    }),
    ("dedup.mapping", false, |p| {
        let equal = pprof::Mapping { id: 2, ..p.mapping[0] };
        p.mapping.push(equal);
    }),
    ("dedup.function", false, |p| {
        p.string_table.push("main".into());
        let name = p.string_table.len() as i64 - 1;
        p.function.push(pprof::Function { id: 2, name, ..Default::default() });
    }),
    ("dedup.location", false, |p| {
        let mut equal = p.location[0].clone();
        equal.id = 2;
        p.location.push(equal);
    }),
    ("ids.renumbered", false, |p| {
        p.function[0].id = 7;
        p.location[0].line[0].function_id = 7;
    }),
];

#[test]
fn what_is_wrong_with_a_pprof_is_found_by_its_code() {
    assert_eq!(noticed("pprof", &whole().encode_to_vec()), (vec![], false));
    for (code, refused, breaks) in BROKEN {
        let mut profile = whole();
        breaks(&mut profile);
        let (codes, error) = noticed("pprof", &profile.encode_to_vec());
        // A repeated or unusual id is also one that is not in order.
        let codes: Vec<_> = codes
            .into_iter()
            .filter(|found| *code == "ids.renumbered" || *found != "ids.renumbered")
            .collect();
        assert_eq!((codes, error), (vec![*code], *refused), "{profile:?}");
    }
}

/// Functions without ids, and a location for each, as written by profilers of .NET.
fn unnumbered() -> pprof::Profile {
    let mut profile = whole();
    profile.sample[0].location_id = vec![3, 2, 1];
    let (location, function) = (profile.location.remove(0), profile.function.remove(0));
    for (id, name) in [(1, 3), (2, 4), (3, 5)] {
        let line = pprof::Line { function_id: id, ..location.line[0] };
        profile.location.push(pprof::Location { id, line: vec![line], ..location.clone() });
        profile.function.push(pprof::Function { id: 0, name, ..function });
    }
    profile
}

#[test]
fn functions_without_ids_are_numbered_as_lines_name_them() {
    let bytes = unnumbered().encode_to_vec();
    let error = try_read("pprof", &bytes).unwrap_err().to_string();
    assert_eq!(
        error,
        "function[0].id: id must not be 0, and all 3 functions have the id 0: a repair numbers them in order, as the lines refer to them"
    );
    let repair = options("pprof").policy(Policy::Repair);
    let names = |profile: &pprof::Profile| {
        let reading = otlp_profiles::read(&profile.encode_to_vec(), &repair).unwrap();
        let found: Vec<_> = reading.findings.iter().map(|f| (f.code, f.count)).collect();
        let tables = reading.profiles.dictionary();
        let sample = reading.profiles.iter().next().unwrap().samples().get(0);
        let stack = tables.stack(sample.unwrap().stack);
        let lines = stack.iter().flat_map(|id| tables.locations().lines(*id));
        let names = lines.map(|line| tables.text(tables.function(line.function).name).to_owned());
        (names.collect::<Vec<_>>(), found)
    };
    let (stack, found) = names(&unnumbered());
    assert_eq!(stack, ["x", "k", "main"]);
    assert_eq!(found, [("pprof.bad_id", 3)]);

    // If the lines do not show what the ids were, the reader does not guess any.
    let others: [fn(&mut pprof::Profile); 5] = [
        |p| p.function[1].id = 2,
        |p| p.location[1].line[0].function_id = 3,
        |p| p.location[2].id = 4,
        |p| _ = p.function.pop(),
        |p| {
            let line = p.location[0].line[0];
            p.location[0].line.push(line);
        },
    ];
    for (row, edit) in others.into_iter().enumerate() {
        let mut profile = unnumbered();
        edit(&mut profile);
        profile.sample[0].location_id = vec![1];
        let (stack, found) = names(&profile);
        assert!(!stack.iter().any(|name| name == "main"), "{row}: {stack:?}");
        let dangling = |(code, _): &(&str, u64)| *code == "pprof.dangling_function";
        assert!(found.iter().any(dangling), "{row}: {found:?}");
    }
}

#[test]
fn equal_rows_of_a_pprof_become_the_first_of_them() {
    let mut profile = whole();
    // No flag is set on any mapping, so the reader adds an attribute for an unset flag to one mapping only.
    profile.mapping[0].has_functions = false;
    for id in 2..=3 {
        profile.mapping.push(pprof::Mapping { id, ..profile.mapping[0] });
        profile.function.push(pprof::Function { id, ..profile.function[0] });
        // Equal only once its mapping and its function are.
        let mut location = profile.location[0].clone();
        (location.id, location.mapping_id, location.line[0].function_id) = (id, id, id);
        profile.location.push(location);
    }
    profile.location[2].is_folded = true;
    for ids in [[1, 1], [2, 1], [1, 2], [3, 1]] {
        profile.sample.push(pprof::Sample {
            location_id: ids.to_vec(),
            value: vec![1],
            label: vec![],
        });
    }
    let reading = otlp_profiles::read(&profile.encode_to_vec(), &options("pprof")).unwrap();
    let found: Vec<_> = reading.findings.iter().map(|f| (f.code, f.count)).collect();
    let expected = [("dedup.mapping", 2), ("dedup.function", 2), ("dedup.location", 1)];
    assert_eq!(found, expected);
    let dictionary = reading.profiles.dictionary();
    // The stacks [], [1], [1, 1], [2, 1].
    assert_eq!(dictionary.stacks().len(), 4);
    let (written, losses) = support::write("pprof", &reading.profiles);
    assert_eq!(codes(&losses), [""; 0]);
    let after = pprof::Profile::decode(&written[..]).unwrap();
    let rows = (after.mapping.len(), after.function.len(), after.location.len());
    assert_eq!(rows, (1, 1, 2));
    assert_eq!(support::pprof::meaning(&profile), support::pprof::meaning(&after));
}

#[test]
fn unknown_fields_are_noticed_and_counted() {
    let mut bytes = whole().encode_to_vec();
    bytes.extend(b"\xa2\x06\x01x\xa2\x06\x01y");
    let reading = otlp_profiles::read(&bytes, &options("pprof")).unwrap();
    let found: Vec<_> =
        reading.findings.iter().map(|finding| (finding.code, finding.count)).collect();
    assert_eq!(found, [("field.unknown", 2)]);
}

/// A payload of 1.3 with one sample that refers to its location and link by index.
fn otep() -> v1_3::ProfilesData {
    let profile = v1_3::Profile {
        string_table: ["", "cpu", "ns", "main"].map(str::to_owned).to_vec(),
        sample_type: vec![v1_3::ValueType { r#type: 1, unit: 2, aggregation_temporality: 1 }],
        sample: vec![v1_3::Sample {
            locations_start_index: 0,
            locations_length: 1,
            value: vec![5],
            ..Default::default()
        }],
        location: vec![v1_3::Location { address: 0x10, ..Default::default() }],
        location_indices: vec![0],
        ..Default::default()
    };
    let container = v1_3::ProfileContainer {
        profile_id: vec![1; 16].into(),
        profile: Some(profile),
        ..Default::default()
    };
    let scope = v1_3::ScopeProfiles { profiles: vec![container], ..Default::default() };
    let resource = v1_3::ResourceProfiles { scope_profiles: vec![scope], ..Default::default() };
    v1_3::ProfilesData { resource_profiles: vec![resource] }
}

/// A mapping that has functions according to its field, and does or does not according to an attribute.
fn functions_said_twice(profile: &mut v1_3::Profile, attribute: bool) {
    let value = v1_3::AnyValue { value: Some(v1_3::any_value::Value::BoolValue(attribute)) };
    profile
        .attribute_table
        .push(v1_3::KeyValue { key: "pprof.mapping.has_functions".into(), value: Some(value) });
    profile.mapping.push(v1_3::Mapping {
        memory_limit: 0x100,
        has_functions: true,
        attributes: vec![0],
        ..Default::default()
    });
}

type Otep = (&'static [&'static str], fn(&mut v1_3::ProfileContainer, &mut v1_3::Profile));

/// Cases that OTEP 0239 leaves open, and the code that reports the decision.
const OTEP: &[Otep] = &[
    (&[], |_, _| {}),
    (&["g1.zero_mapping"], |_, p| {
        p.mapping.push(v1_3::Mapping { memory_limit: 0x100, ..Default::default() })
    }),
    (&["g1.no_mapping"], |_, p| {
        p.mapping.push(v1_3::Mapping {
            memory_start: 0x100,
            memory_limit: 0x200,
            ..Default::default()
        })
    }),
    // An attribute takes precedence over a field of the same name. A contradiction is reported.
    (&["g1.zero_mapping", "field.conflict"], |_, p| functions_said_twice(p, false)),
    (&["g1.zero_mapping"], |_, p| functions_said_twice(p, true)),
    (&["g1.zero_mapping", "mapping.build_id_kind", "mapping.build_id_guess"], |_, p| {
        p.mapping.push(v1_3::Mapping {
            memory_limit: 0x100,
            build_id: 3,
            build_id_kind: 5,
            ..Default::default()
        })
    }),
    (&["g1.zero_link"], |_, p| {
        p.link_table.push(v1_3::Link { trace_id: vec![1; 16].into(), span_id: vec![1; 8].into() });
    }),
    (&["g1.one_based"], |_, p| p.location_indices = vec![1]),
    (&["time.conflict"], |c, p| {
        (c.start_time_unix_nano, c.end_time_unix_nano) = (5, 6);
        p.time_nanos = 7;
    }),
    (&[], |c, _| (c.start_time_unix_nano, c.end_time_unix_nano) = (5, 6)),
    (&["time.conflict"], |c, _| (c.start_time_unix_nano, c.end_time_unix_nano) = (6, 5)),
    (&["index.out_of_range"], |_, p| p.sample[0].locations_length = 9),
    (&["g1.timestamp_unit"], |c, p| {
        (c.start_time_unix_nano, c.end_time_unix_nano) = (5_000_000_000, 6_000_000_000);
        p.sample[0].timestamps_unix_nano = vec![5_100];
    }),
    (&[], |c, p| {
        (c.start_time_unix_nano, c.end_time_unix_nano) = (5_000_000_000, 6_000_000_000);
        p.sample[0].timestamps_unix_nano = vec![6_000_000_000];
    }),
];

#[test]
fn what_the_otep_leaves_open_is_decided_and_said() {
    for (expected, edit) in OTEP {
        let mut data = otep();
        let container = &mut data.resource_profiles[0].scope_profiles[0].profiles[0];
        let mut profile = container.profile.take().unwrap();
        edit(container, &mut profile);
        container.profile = Some(profile);
        assert_eq!(noticed("otlp-1.3", &data.encode_to_vec()).0, *expected, "{data:?}");
    }
}

#[test]
fn what_a_label_says_comes_back_as_it_was() {
    let mut doc = base();
    profile(&mut doc).id = [1; 16];
    attribute(&mut doc, "k", Val::Int(1), "By");
    let others = [
        (Val::Int(4), "By"),
        (Val::Int(5), "By"),
        (Val::Int(2), "ns"),
        (Val::str("x"), ""),
        (Val::Int(3), ""),
    ];
    for (value, unit) in others {
        let mut other = sample(&mut doc).clone();
        other.attributes = vec![row(&mut doc, "k", value, unit)];
        profile(&mut doc).samples.push(other);
    }
    let model = read("otlp-1.10", &(form("otlp-1.10").lower)(&doc));
    let (there, _) = support::write("otlp-1.3", &model);
    let data = v1_3::ProfilesData::decode(&there[..]).unwrap();
    let container = &data.resource_profiles[0].scope_profiles[0].profiles[0];
    let inner = container.profile.as_ref().unwrap();
    assert_eq!(inner.attribute_table.len(), 3, "the others are labels");
    let labels: usize = inner.sample.iter().map(|sample| sample.label.len()).sum();
    assert_eq!(labels, 3);
    let (again, losses) = support::write("otlp-1.10", &read("otlp-1.3", &there));
    assert_eq!(codes(&losses), [""; 0], "the temporality was assumed, and would be again");
    let again = (form("otlp-1.10").raise)(&again).unwrap();
    assert_eq!(
        support::doc::meaning(&again, Default::default()),
        support::doc::meaning(&doc, Default::default())
    );
}

#[test]
fn frame_types_have_their_old_names_where_these_are_the_fields() {
    let frame_types = |names: &[&str]| {
        let mut data = otep();
        let container = &mut data.resource_profiles[0].scope_profiles[0].profiles[0];
        let profile = container.profile.as_mut().unwrap();
        for (row, name) in names.iter().enumerate() {
            profile.string_table.push((*name).to_owned());
            profile.location.push(v1_3::Location {
                address: row as u64 + 0x20,
                type_index: profile.string_table.len() as u32 - 1,
                ..Default::default()
            });
            profile.location_indices.push(row as i64 + 1);
        }
        data.encode_to_vec()
    };
    let names = ["python", "hotspot", "kernel", "python"];
    let source = frame_types(&names);
    let current = support::write("otlp", &read("otlp-1.3", &source)).0;
    for model in [read("otlp-1.3", &source), read("otlp", &current)] {
        let (written, _) = support::write("otlp-1.3", &model);
        let data = v1_3::ProfilesData::decode(&written[..]).unwrap();
        let container = &data.resource_profiles[0].scope_profiles[0].profiles[0];
        let profile = container.profile.as_ref().unwrap();
        let said = |location: &v1_3::Location| &*profile.string_table[location.type_index as usize];
        let said: Vec<&str> = profile.location.iter().skip(1).map(said).collect();
        assert_eq!(said, names);
        assert!(profile.attribute_table.is_empty());
        let mut strings = profile.string_table.clone();
        strings.sort();
        strings.dedup();
        assert_eq!(strings.len(), profile.string_table.len(), "each once");
    }
}

#[test]
fn what_is_dropped_leaves_no_text_behind() {
    let mut doc = base();
    sample(&mut doc).stacktrace_id = "0af7651916cd43dd".into();
    let model = read("otlp-1.3", &(form("otlp-1.3").lower)(&doc));
    let (written, losses) = support::write("otlp", &model);
    assert_eq!(codes(&losses), ["stacktrace_id.dropped"]);
    let data = v1_10::ProfilesData::decode(&written[..]).unwrap();
    let strings = data.dictionary.unwrap().string_table;
    assert_eq!(strings, ["", "cpu", "ns"]);
}

#[test]
fn a_default_that_a_column_says_is_said_once() {
    let mut doc = base();
    let second = Type { name: "wall".into(), unit: "ns".into(), temporality: 0 };
    profile(&mut doc).id = [1; 16];
    profile(&mut doc).types.push(second);
    profile(&mut doc).default = "cpu".into();
    sample(&mut doc).values.push(6);
    // A second profile without a default, so that the scope cannot hold the default of both.
    let mut other = profile(&mut doc).clone();
    other.default = String::new();
    (other.id, other.time) = ([2; 16], 7);
    scope(&mut doc).profiles.push(other);
    for old in ["otlp-1.6", "otlp-1.7"] {
        let source = (form(old).lower)(&doc);
        for new in ["otlp-1.8", "otlp-1.10"] {
            let (there, _) = support::write(new, &read(old, &source));
            let (back, losses) = support::write(old, &read(new, &there));
            assert!(support::kept(&losses), "{losses:?}");
            let said = |bytes: &[u8]| {
                let doc = (form(old).raise)(bytes).unwrap();
                let profiles = &doc.resources[0].scopes[0].profiles;
                let said = profiles.iter().map(|profile| {
                    let attributes = profile.attributes.len();
                    (profile.default.clone(), profile.types.len(), attributes)
                });
                (said.collect::<Vec<_>>(), doc.tables.attributes.len())
            };
            assert_eq!(said(&back), said(&source), "{old} to {new} and back");
        }
    }
}

#[test]
fn a_key_of_two_units_keeps_the_first() {
    let mut doc = base();
    attribute(&mut doc, "k", Val::Int(1), "By");
    let mut data = v1_7::ProfilesData::decode(&(form("otlp-1.7").lower)(&doc)[..]).unwrap();
    let dictionary = data.dictionary.as_mut().unwrap();
    let key = dictionary.attribute_units[0].attribute_key_strindex;
    dictionary
        .attribute_units
        .push(v1_7::AttributeUnit { attribute_key_strindex: key, unit_strindex: 0 });
    assert_eq!(noticed("otlp-1.7", &data.encode_to_vec()), (vec!["unit.duplicate"], false));
}

type Current = (&'static str, bool, fn(&mut v1_10::ProfilesDictionary, &mut v1_10::Profile));

/// Violations of rules of the current generation, and whether each is an error without repair.
const CURRENT: &[Current] = &[
    ("table.row_0", true, |d, _| d.string_table[0] = "x".into()),
    ("table.row_0_unused", false, |d, _| d.mapping_table[0].memory_start = 1),
    ("table.row_0_unused", false, |d, _| d.location_table[0].lines.push(Default::default())),
    ("table.row_0_unused", false, |d, _| d.function_table[0].start_line = 1),
    ("table.row_0_unused", false, |d, _| d.attribute_table[0].key_strindex = 1),
    ("table.row_0_unused", false, |d, _| d.stack_table[0].location_indices.push(1)),
    // Only an unreferenced row 0 refers to another row 0.
    ("table.row_0_unused", false, |d, _| {
        d.stack_table[0].location_indices.push(0);
        d.location_table[0].address = 7;
    }),
    ("table.row_0", true, |d, _| {
        d.mapping_table[0].memory_start = 1;
        d.location_table[1].mapping_index = 0;
    }),
    ("table.row_0", true, |d, _| {
        d.function_table[0].start_line = 1;
        d.location_table[1].lines = vec![Default::default()];
    }),
    ("table.row_0", true, |d, _| {
        d.link_table =
            vec![v1_10::Link { trace_id: vec![1; 16].into(), span_id: vec![1; 8].into() }];
    }),
    ("table.row_0", true, |d, p| {
        d.stack_table[0].location_indices.push(1);
        p.samples[0].stack_index = 0;
    }),
    ("index.out_of_range", true, |_, p| p.samples[0].stack_index = 99),
    ("index.out_of_range", true, |_, p| p.samples[0].stack_index = -1),
    ("index.out_of_range", true, |_, p| p.samples[0].attribute_indices.push(i32::MAX)),
    ("index.out_of_range", true, |_, p| p.attribute_indices.push(i32::MIN)),
    ("index.out_of_range", true, |_, p| p.samples[0].link_index = 7),
    ("index.out_of_range", true, |d, _| d.stack_table[1].location_indices[0] = 42),
    ("index.out_of_range", true, |d, _| d.location_table[1].mapping_index = 42),
    ("index.out_of_range", true, |d, _| d.mapping_table[1].filename_strindex = 42),
    ("index.out_of_range", true, |d, _| d.attribute_table[1].key_strindex = 42),
    ("pprof.value_count", true, |_, p| p.samples[0].timestamps_unix_nano = vec![1, 2]),
    ("attr.row_0", false, |_, p| p.samples[0].attribute_indices.push(0)),
    ("attr.row_0", false, |_, p| p.attribute_indices.push(0)),
    ("attr.row_0", false, |d, _| d.location_table[1].attribute_indices.push(0)),
    ("stack.location_0", false, |d, _| d.stack_table[1].location_indices.push(0)),
    ("link.half", false, |d, _| {
        d.link_table.push(v1_10::Link { trace_id: vec![1; 16].into(), ..Default::default() })
    }),
    ("link.half", false, |d, _| {
        d.link_table.push(v1_10::Link { span_id: vec![1; 8].into(), ..Default::default() })
    }),
    ("link.invalid", true, |d, _| {
        d.link_table.push(v1_10::Link { trace_id: vec![1; 5].into(), span_id: vec![1; 8].into() })
    }),
];

#[test]
fn what_breaks_a_rule_of_today_is_found_by_its_code() {
    for (code, refused, breaks) in CURRENT {
        let mut doc = base();
        located(&mut doc);
        attribute(&mut doc, "k", Val::Int(1), "");
        let mut data = v1_10::ProfilesData::decode(&(form("otlp").lower)(&doc)[..]).unwrap();
        breaks(
            data.dictionary.as_mut().unwrap(),
            &mut data.resource_profiles[0].scope_profiles[0].profiles[0],
        );
        assert_eq!(noticed("otlp", &data.encode_to_vec()), (vec![*code], *refused), "{data:?}");
    }
}

#[test]
fn every_code_has_a_case() {
    let mut seen: BTreeSet<&str> =
        CASES.iter().flat_map(|(codes, ..)| codes.iter().copied()).collect();
    seen.extend(BROKEN.iter().map(|(code, ..)| *code));
    seen.extend(OTEP.iter().flat_map(|(codes, _)| codes.iter().copied()));
    seen.extend(CURRENT.iter().map(|(code, ..)| *code));
    // Codes with separate tests.
    seen.extend([
        "timestamps.dropped",
        "timestamps.label_conflict",
        // In tests/it/defects_read.rs.
        "timestamps.as_attribute",
        "timestamps.label_unused",
        "default.ambiguous",
        "value.overflow",
        "mapping.main_assumed",
        "series.expanded",
        "unit.duplicate",
        "string.invalid_utf8",
        "field.unknown",
        "json.duplicate_key",
        // In tests/it/json.rs and tests/it/profile_ids.rs.
        "json.id_base64",
        "profile_id.first_only",
        // In cli/tests/cli/losses.rs.
        "sample_type.left_out",
        "message.unreadable",
        // In tests/it/tools.rs.
        "value.rounded",
        "value.negative_dropped",
        "time.no_anchor",
        "frame.unclosed",
        "time.coarse",
        "stack.handler",
        "source.left_out",
        // In tests/it/folded.rs.
        "profiles.merged",
        "value.negative",
        "link.as_attribute",
        "attr.sample.dropped",
        "link.dropped",
        "text.bad_line",
        // In cli/tests/defects_turn3.rs.
        "columns.unread",
        "pprof.equal_id",
        // In tests/it/transform.rs.
        "mapping.rebased",
        "unit.converted",
        "profile.repeated",
        "time.unknown",
        "unit.kilobyte",
        "split.total_not_divided",
        "delta.reset",
        "delta.first",
        "rate.no_duration",
        "derive.undefined",
        "merge.snapshots_summed",
        "columns.dropped",
        "value.zero_dropped",
        "default.dropped",
        // In tests/it/pipelines.rs.
        "profile.out_of_order",
        // In tests/it/osprofiler.rs.
        "point.unmatched",
        "point.skewed",
        // In tests/it/events.rs.
        "event.outside",
        "event.unit",
        "event.default_unused",
        "attr.duplicate_key",
        "event.clock_attribute",
        "event.sum_conflict",
        "event.count_dropped",
        "event.clock_dropped",
        "profile.split",
        "value.unsigned",
    ]);
    let missing: Vec<_> = LossCode::ALL
        .iter()
        .map(|code| code.as_str())
        .filter(|code| !seen.contains(code))
        .collect();
    assert_eq!(missing, [""; 0]);
}
