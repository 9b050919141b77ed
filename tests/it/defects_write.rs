//! Regression tests of writers: missing rows, tables of other profiles, merged labels.
#![cfg(feature = "proto-all")]

use crate::support;
use crate::support::doc::{
    Attribute, Doc, Function, Location, Mapping, Profile, Resource, Sample, Scope, Type, Val,
};
use crate::support::forms::form;
use crate::support::{codes, read, write};
use otlp_profiles::builder::{NewValue, root_first};
use otlp_profiles::format::{StringEncoding, Timestamps};
use otlp_profiles::proto::prost::Message;
use otlp_profiles::proto::{pprof, v1_5, v1_10};
use otlp_profiles::{Builder, Format, Losses, Profiles, WriteOptions, write_all};

/// A scope with one profile, which has one sample of a stack.
fn scope(stack: usize, value: i64) -> Scope {
    let profile = Profile {
        time: 1_700_000_000_000_000_000,
        duration: 1_000_000_000,
        types: vec![Type { name: "cpu".into(), unit: "ns".into(), temporality: 0 }],
        samples: vec![Sample { stack: Some(stack), values: vec![value], ..Sample::default() }],
        ..Profile::default()
    };
    Scope { profiles: vec![profile], ..Scope::default() }
}

fn resource(scope: Scope) -> Resource {
    Resource { scopes: vec![scope], ..Resource::default() }
}

fn mapping(filename: &str) -> Mapping {
    Mapping { range: [0x1000, 0x2000, 0], filename: filename.into(), ..Mapping::default() }
}

/// A location with one line in a mapping.
fn location(mapping: usize, function: usize) -> Location {
    Location {
        mapping: Some(mapping),
        address: 0x1100 + function as u64,
        lines: vec![(Some(function), 1, 0)],
        ..Location::default()
    }
}

fn function(name: &str) -> Function {
    Function { names: [name.into(), String::new(), String::new()], start_line: 0 }
}

fn model(doc: &Doc) -> Profiles {
    read("otlp", &(form("otlp").lower)(doc))
}

/// Writes profiles as pprof files.
fn pprofs(model: &Profiles) -> (Vec<pprof::Profile>, Losses) {
    let (payloads, losses) = write_all(model, Format::PPROF, &WriteOptions::default()).unwrap();
    let decoded = payloads.iter().map(|bytes| pprof::Profile::decode(&bytes[..]).unwrap());
    (decoded.collect(), losses)
}

fn text(profile: &pprof::Profile, index: i64) -> &str {
    &profile.string_table[index as usize]
}

fn filenames(profile: &pprof::Profile) -> Vec<&str> {
    profile.mapping.iter().map(|mapping| text(profile, mapping.filename)).collect()
}

fn functions(profile: &pprof::Profile) -> Vec<&str> {
    profile.function.iter().map(|function| text(profile, function.name)).collect()
}

/// A pprof with three sample types, and three mappings of which two are unreferenced.
fn unreferenced_mappings() -> pprof::Profile {
    let names =
        ["", "cpu", "ns", "alloc", "bytes", "samples", "count", "main", "libc.so", "[vdso]"];
    let kind = |r#type, unit| pprof::ValueType { r#type, unit };
    let mapping = |id: u64, filename| pprof::Mapping {
        id,
        memory_start: id << 12,
        memory_limit: (id << 12) + 0x800,
        filename,
        has_functions: id == 1,
        ..Default::default()
    };
    pprof::Profile {
        string_table: names.map(str::to_owned).to_vec(),
        sample_type: vec![kind(1, 2), kind(5, 6), kind(3, 4)],
        sample: vec![pprof::Sample { location_id: vec![1], value: vec![5, 6, 7], label: vec![] }],
        mapping: vec![mapping(1, 7), mapping(2, 8), mapping(3, 9)],
        location: vec![pprof::Location {
            id: 1,
            mapping_id: 1,
            address: 0x1100,
            ..Default::default()
        }],
        time_nanos: 1,
        duration_nanos: 1,
        ..Default::default()
    }
}

#[test]
fn mappings_of_no_location_stay_where_columns_become_one_profile() {
    let before = unreferenced_mappings();
    let bytes = before.encode_to_vec();
    for middle in ["otlp-1.8", "otlp-1.9", "otlp-1.10", "otlp-json"] {
        let split = read(middle, &write(middle, &read("pprof", &bytes)).0);
        for old in ["otlp-1.3", "otlp-1.4", "otlp-1.5"] {
            let (there, losses) = write(old, &split);
            assert_eq!(losses.get("orphan.dropped"), None, "{middle} to {old}");
            let after = pprofs(&read(old, &there)).0;
            assert_eq!(after.len(), 1, "{middle} to {old}");
            let expected = support::pprof::meaning(&before);
            assert_eq!(support::pprof::meaning(&after[0]), expected, "{middle} to {old}");
        }
    }
}

/// Two pprofs as a collector batches them: in separate scopes, with one dictionary.
fn two_pprofs() -> Doc {
    let mut doc = Doc::default();
    doc.tables.mappings = vec![mapping("/bin/a"), mapping("/bin/b")];
    doc.tables.functions = vec![function("a"), function("b")];
    doc.tables.locations = vec![location(0, 0), location(1, 1)];
    doc.tables.stacks = vec![vec![0], vec![1]];
    for stack in 0..2 {
        let mut scope = scope(stack, 5);
        let order = Val::Array(vec![Val::Int(0)]);
        scope.attributes.push(("pprof.scope.sample_type_order".into(), order));
        doc.resources.push(resource(scope));
    }
    doc
}

#[test]
fn pprofs_of_one_payload_have_their_own_tables() {
    let (written, losses) = pprofs(&model(&two_pprofs()));
    let [a, b] = &written[..] else { panic!("two pprofs") };
    assert_eq!((filenames(a), functions(a)), (vec!["/bin/a"], vec!["a"]));
    assert_eq!((filenames(b), functions(b)), (vec!["/bin/b"], vec!["b"]));
    assert_eq!(b.sample[0].location_id, [1]);
    assert!(!b.string_table.iter().any(|text| text == "a" || text == "/bin/a"));
    assert_eq!(codes(&losses), [""; 0]);
}

#[test]
fn what_one_pprof_of_a_payload_says_of_flags_is_not_said_for_the_others() {
    let mut doc = two_pprofs();
    doc.resources.iter_mut().for_each(|resource| resource.scopes[0].attributes.clear());
    doc.tables.mappings[0].flags = 2;
    let (written, losses) = pprofs(&model(&doc));
    let flags = |p: &pprof::Profile| (p.mapping[0].has_functions, p.mapping[0].has_filenames);
    assert_eq!(flags(&written[0]), (false, true), "as the source said");
    assert_eq!(flags(&written[1]), (true, false), "as its locations say");
    assert_eq!(codes(&losses), ["mapping.flags_inferred"]);
}

/// The second profile shares a library with the first, and has a separate program.
fn shared_library() -> Doc {
    let mut doc = two_pprofs();
    doc.tables.mappings.insert(1, mapping("/lib/libc.so.6"));
    doc.tables.functions.push(function("malloc"));
    doc.tables.locations = vec![location(0, 0), location(2, 1), location(1, 2)];
    doc.tables.stacks = vec![vec![2, 0], vec![2, 1]];
    doc
}

#[test]
fn the_main_binary_of_a_profile_is_the_first_mapping_it_has() {
    let (written, losses) = pprofs(&model(&shared_library()));
    assert_eq!(filenames(&written[0]), ["/bin/a", "/lib/libc.so.6"]);
    assert_eq!(filenames(&written[1]), ["/bin/b", "/lib/libc.so.6"]);
    assert_eq!(codes(&losses), ["mapping.main_assumed"]);
    let (there, losses) = write("otlp-1.5", &model(&shared_library()));
    let data = v1_5::ProfilesData::decode(&there[..]).unwrap();
    let profile = &data.resource_profiles[1].scope_profiles[0].profiles[0];
    let filename = profile.mapping_table[0].filename_strindex as usize;
    assert_eq!(profile.string_table[filename], "/bin/b");
    assert!(codes(&losses).contains(&"mapping.main_assumed"));
}

/// Strings that labels need, such as the unit of a time, may already be in the table.
#[test]
fn a_text_is_in_a_pprof_once() {
    let mut doc = Doc { resources: vec![resource(scope(0, 1))], ..Doc::default() };
    doc.tables.mappings.push(mapping("/bin/a"));
    doc.tables.functions.push(function("true"));
    doc.tables.locations.push(location(0, 0));
    doc.tables.stacks.push(vec![0]);
    doc.tables.links.push(([1; 16], [1; 8]));
    let attribute = |key: &str, value: Val| Attribute { key: key.into(), value, unit: "".into() };
    doc.tables.attributes = vec![
        attribute("on", Val::Bool(true)),
        attribute("span", Val::str("0101010101010101")),
        attribute("half", Val::Double(0.5)),
        attribute("other half", Val::Double(0.5)),
    ];
    let profile = &mut doc.resources[0].scopes[0].profiles[0];
    profile.types[0].unit = "nanoseconds".into();
    let sample = &mut profile.samples[0];
    (sample.attributes, sample.link) = (vec![0, 1, 2, 3], Some(0));
    sample.times = vec![1_700_000_000_000_000_001];
    let (written, _) = pprofs(&model(&doc));
    let mut texts = written[0].string_table.clone();
    for text in ["nanoseconds", "true", "0101010101010101", "0.5"] {
        assert!(texts.iter().any(|it| it == text), "{text}: {texts:?}");
    }
    let all = texts.len();
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), all, "{:?}", written[0].string_table);
}

/// Unreferenced rows in every table, in addition to two profiles.
fn orphans() -> Doc {
    let mut doc = two_pprofs();
    doc.tables.mappings.push(mapping("unused.so"));
    doc.tables.functions.push(function("unused"));
    doc.tables.locations.push(location(2, 2));
    doc.tables.stacks.push(vec![2]);
    doc.tables.links.push(([1; 16], [1; 8]));
    let attribute = Attribute { key: "k".into(), value: Val::Int(1), unit: "".into() };
    doc.tables.attributes.push(attribute);
    doc
}

/// The number of rows that were left out.
fn dropped(losses: &Losses) -> u64 {
    losses.get("orphan.dropped").map_or(0, |loss| loss.count)
}

#[test]
fn rows_of_nothing_are_counted_where_several_pprofs_are_written() {
    let (written, losses) = pprofs(&model(&orphans()));
    assert_eq!(written.len(), 2);
    assert_eq!(dropped(&losses), 6, "one of each table: {losses:?}");
    assert_eq!(codes(&losses), ["orphan.dropped"]);
}

#[test]
fn rows_that_one_pprof_has_no_table_for_are_counted() {
    let mut doc = orphans();
    doc.resources.truncate(1);
    let (written, losses) = pprofs(&model(&doc));
    assert_eq!(filenames(&written[0]), ["/bin/a", "/bin/b", "unused.so"]);
    assert_eq!(dropped(&losses), 4, "a link, an attribute and two stacks: {losses:?}");
}

/// The labels of a pprof's samples: keys, strings, numbers.
fn labels(profile: &pprof::Profile) -> Vec<Vec<(&str, &str, i64)>> {
    let label = |l: &pprof::Label| (text(profile, l.key), text(profile, l.str), l.num);
    let samples = profile.sample.iter();
    samples.map(|sample| sample.label.iter().map(label).collect()).collect()
}

/// A profile whose second sample has a timestamp.
fn timed(time: u64) -> Doc {
    let mut doc = Doc { resources: vec![resource(scope(0, 5))], ..Doc::default() };
    doc.tables.locations = vec![location(0, 0)];
    doc.tables.mappings = vec![mapping("a.out")];
    doc.tables.functions = vec![function("main")];
    doc.tables.stacks = vec![vec![0]];
    let samples = &mut doc.resources[0].scopes[0].profiles[0].samples;
    samples.push(Sample { times: vec![time], ..samples[0].clone() });
    doc
}

#[test]
fn a_time_past_what_a_label_holds_is_cut_there_and_said() {
    let last = i64::MAX as u64;
    for (time, written) in [(last, 0), (last + 1, 1), (u64::MAX, 1)] {
        let (profiles, losses) = pprofs(&model(&timed(time)));
        assert_eq!(labels(&profiles[0])[1], [("end_timestamp_ns", "", i64::MAX)], "{time}");
        let told = losses.get("time.overflow").map_or(0, |loss| loss.count);
        assert_eq!(told, written, "{time}: {losses:?}");
    }
}

#[test]
fn an_attribute_with_the_label_of_a_timestamp_gives_way_and_is_said() {
    let mut doc = timed(1_700_000_000_000_000_007);
    let attribute =
        |key: &str, value, unit: &str| Attribute { key: key.into(), value, unit: unit.into() };
    doc.tables.attributes = vec![
        attribute("end_timestamp_ns", Val::Int(5), "nanoseconds"),
        attribute("end_timestamp_ns", Val::str("soon"), ""),
        attribute("thread", Val::str("worker"), ""),
    ];
    let samples = &mut doc.resources[0].scopes[0].profiles[0].samples;
    samples[0].attributes = vec![0, 2];
    samples[1].attributes = vec![2, 0];
    samples.push(Sample { attributes: vec![1], ..samples[1].clone() });
    let (profiles, losses) = pprofs(&model(&doc));
    let [untimed, timed, other] = &labels(&profiles[0])[..] else { panic!("three samples") };
    assert_eq!(untimed[..], [("end_timestamp_ns", "", 5), ("thread", "worker", 0)]);
    let time = ("end_timestamp_ns", "", 1_700_000_000_000_000_007);
    assert_eq!(timed[..], [("thread", "worker", 0), time]);
    assert_eq!(other[..], [time]);
    assert_eq!(losses.get("timestamps.label_conflict").map(|loss| loss.count), Some(2));
    assert!(!support::kept(&losses));
}

#[test]
fn what_joining_leaves_out_of_other_columns_is_said() {
    let mut doc = two_pprofs();
    let mut columns = scope(0, 5);
    let mut second = columns.profiles[0].clone();
    second.types[0].name = "wall".into();
    (columns.profiles[0].id, second.id, second.dropped) = ([1; 16], [2; 16], 3);
    columns.profiles.push(second);
    let order = Val::Array(vec![Val::Int(0), Val::Int(1)]);
    columns.attributes.push(("pprof.scope.sample_type_order".into(), order));
    doc.resources = vec![resource(columns)];
    for old in ["otlp-1.3", "otlp-1.5", "otlp-1.7"] {
        let losses = write(old, &model(&doc)).1;
        let told = codes(&losses);
        assert!(told.contains(&"profile_id.dropped"), "{old}: {told:?}");
        assert!(told.contains(&"dropped_count.dropped"), "{old}: {told:?}");
    }
}

#[test]
fn a_sum_past_what_a_value_holds_is_cut_there_and_said() {
    let mut doc = timed(7);
    let sample = &mut doc.resources[0].scopes[0].profiles[0].samples[1];
    (sample.values, sample.times) = (vec![i64::MAX, 1], vec![7, 8]);
    let options = WriteOptions::default().timestamps(Timestamps::Drop);
    let (payloads, losses) = write_all(&model(&doc), Format::PPROF, &options).unwrap();
    let profile = pprof::Profile::decode(&payloads[0][..]).unwrap();
    assert_eq!(profile.sample[1].value, [i64::MAX]);
    let expected = ["timestamps.dropped", "value.overflow", "mapping.flags_inferred"];
    assert_eq!(codes(&losses), expected);
}

#[test]
fn an_order_of_columns_that_are_not_joined_is_said() {
    let mut doc = two_pprofs();
    let mut columns = scope(0, 5);
    let mut second = columns.profiles[0].clone();
    (second.types[0].name, second.time) = ("wall".into(), 1);
    columns.profiles.push(second);
    let order = |columns: [i64; 2]| Val::Array(columns.map(Val::Int).to_vec());
    columns.attributes.push(("pprof.scope.sample_type_order".into(), order([1, 0])));
    doc.resources = vec![resource(columns)];
    let bad = "scope.bad_sample_type_order";
    assert!(codes(&pprofs(&model(&doc)).1).contains(&bad));
    doc.resources[0].scopes[0].attributes[0].1 = order([0, 1]);
    assert!(!codes(&pprofs(&model(&doc)).1).contains(&bad), "files are in that order");
}

/// pprof's tools show the first of two columns with equal names.
#[test]
fn profiles_of_equal_types_are_columns_only_where_an_order_says_so() {
    let mut doc = two_pprofs();
    let mut columns = scope(0, 5);
    let first = columns.profiles[0].clone();
    let mut wall = first.clone();
    wall.types[0].name = "wall".into();
    columns.profiles = vec![first.clone(), wall, first.clone(), first];
    doc.resources = vec![resource(columns)];
    let types = |doc: &Doc| -> Vec<usize> {
        pprofs(&model(doc)).0.iter().map(|profile| profile.sample_type.len()).collect()
    };
    assert_eq!(types(&doc), [2, 1, 1]);
    let order = Val::Array([0, 1, 2, 3].map(Val::Int).to_vec());
    let said = ("pprof.scope.sample_type_order".into(), order);
    doc.resources[0].scopes[0].attributes.push(said);
    assert_eq!(types(&doc), [4]);
}

#[test]
fn times_that_a_container_cannot_say_are_said_by_its_profile_alone() {
    for (time, duration) in [(-5, 10), (5, -10), (5, 10)] {
        let mut doc = timed(7);
        let profile = &mut doc.resources[0].scopes[0].profiles[0];
        (profile.time, profile.duration) = (time, duration);
        profile.samples.truncate(1);
        profile.id = [1; 16];
        let source = read("otlp-1.7", &(form("otlp-1.7").lower)(&doc));
        let there = write("otlp-1.3", &source).0;
        let reading = otlp_profiles::read(&there, &support::options("otlp-1.3")).unwrap();
        let conflict = reading.findings.iter().any(|finding| finding.code == "time.conflict");
        assert!(!conflict, "{time} and {duration}: {:?}", reading.findings);
        let profile = reading.profiles.iter().next().unwrap();
        assert_eq!(profile.time_unix_nano(), time);
        assert_eq!(profile.duration_nanos(), duration);
    }
}

/// Whether a payload has strings by reference, and whether it has strings in place.
fn ways(payload: &[u8]) -> [bool; 2] {
    use v1_10::any_value::Value;
    let data = v1_10::ProfilesData::decode(payload).unwrap();
    let scopes = data.resource_profiles.iter().flat_map(|resource| &resource.scope_profiles);
    let of_scopes = scopes.filter_map(|scope| scope.scope.as_ref()).flat_map(|s| &s.attributes);
    let resources = data.resource_profiles.iter().filter_map(|r| r.resource.as_ref());
    let pairs = resources.flat_map(|resource| &resource.attributes).chain(of_scopes);
    let keys = pairs.clone().map(|pair| pair.key_strindex != 0);
    let of_table = data.dictionary.as_ref().unwrap().attribute_table.iter();
    let values = pairs.filter_map(|pair| pair.value.as_ref());
    let values = values.chain(of_table.filter_map(|attribute| attribute.value.as_ref()));
    let values = values.filter_map(|value| match value.value.as_ref()? {
        Value::StringValue(_) => Some(false),
        Value::StringValueStrindex(_) => Some(true),
        _ => None,
    });
    let all: Vec<bool> = keys.chain(values).collect();
    [all.contains(&true), all.contains(&false)]
}

#[test]
fn texts_of_one_payload_are_said_in_one_way() {
    let mut doc = two_pprofs();
    for resource in &mut doc.resources {
        resource.attributes.push(("service.name".into(), Val::str("checkout")));
    }
    doc.tables.attributes.push(Attribute {
        key: "thread".into(),
        value: Val::str("worker"),
        unit: "".into(),
    });
    // The writer adds its order and its default to the scope.
    let mut columns = unreferenced_mappings();
    columns.default_sample_type = 1;
    for model in [model(&doc), read("pprof", &columns.encode_to_vec())] {
        for (refs, expected) in
            [(StringEncoding::Inline, [false, true]), (StringEncoding::Dictionary, [true, false])]
        {
            let options = WriteOptions::default().string_encoding(refs);
            let written = otlp_profiles::write(&model, Format::OTLP, &options).unwrap();
            assert_eq!(ways(&written.payload), expected, "{refs:?}");
            let back = read("otlp", &written.payload);
            let inline = |model| write("otlp", model).0;
            assert_eq!(inline(&back), inline(&read("otlp", &inline(&model))), "{refs:?}");
        }
    }
    assert_eq!(WriteOptions::default().string_encoding, StringEncoding::Inline);
}

/// A label with a unit has the same name as an attribute that represents a field of pprof. Up to 1.7 the key has
/// one unit, so the label loses its unit.
#[test]
fn a_label_does_not_take_the_unit_of_what_stands_for_a_field() {
    let texts = [
        "",
        "cpu",
        "ns",
        "process.executable.build_id.gnu",
        "bytes",
        "a1b2",
        "pprof.profile.doc_url",
        "https://a",
    ];
    let label = |key| pprof::Label { key, num: 7, num_unit: 4, ..Default::default() };
    let profile = pprof::Profile {
        sample_type: vec![pprof::ValueType { r#type: 1, unit: 2 }],
        sample: vec![pprof::Sample {
            location_id: vec![1],
            value: vec![5],
            label: vec![label(3), label(6)],
        }],
        mapping: vec![pprof::Mapping {
            id: 1,
            memory_start: 0x1000,
            memory_limit: 0x2000,
            build_id: 5,
            ..Default::default()
        }],
        location: vec![pprof::Location {
            id: 1,
            mapping_id: 1,
            address: 0x1100,
            ..Default::default()
        }],
        string_table: texts.map(Into::into).to_vec(),
        doc_url: 7,
        ..Default::default()
    };
    let model = read("pprof", &profile.encode_to_vec());
    for format in Format::ALL.iter().filter(|format| format.is_whole()) {
        let there = write(format.name(), &model).0;
        let back = write("pprof", &read(format.name(), &there)).0;
        let back = pprof::Profile::decode(&back[..]).unwrap();
        let text = |index: i64| &back.string_table[index as usize];
        assert_eq!(text(back.mapping[0].build_id), "a1b2", "{format}");
        assert_eq!(text(back.doc_url), "https://a", "{format}");
        assert_eq!(back.sample[0].label.len(), 2, "{format}");
    }
}

/// A comment of one string stays one. The field for comments would make it a list.
#[test]
fn a_comment_of_one_text_is_no_list() {
    for value in [NewValue::from("x"), NewValue::array(["x"]), NewValue::array(["x", "y"])] {
        let mut builder = Builder::new();
        let cpu = builder.profile("cpu", "ns");
        builder.sample(cpu, root_first(["main"])).value(1);
        builder.profile_mut(cpu).attr("pprof.profile.comment", value.clone());
        let profiles = builder.finish().unwrap();
        let comment = |profiles: &Profiles| {
            let profile = profiles.iter().next().unwrap();
            let attributes = profiles.dictionary().resolve(profile.attributes());
            attributes.get("pprof.profile.comment").unwrap().to_string()
        };
        for format in Format::ALL.iter().filter(|format| format.name().starts_with("otlp-")) {
            let (written, _) = write(format.name(), &profiles);
            let after = read(format.name(), &written);
            assert_eq!(comment(&after), comment(&profiles), "{format}");
        }
    }
}

/// py-spy names profiles after threads, and the name is written.
#[test]
fn a_thread_in_the_name_of_a_speedscope_profile_is_not_lost() {
    let file = |name: &str| {
        format!(
            r#"{{"$schema":"https://www.speedscope.app/file-format-schema.json","profiles":[{{"type":"sampled","name":{name:?},"unit":"seconds","startValue":0,"endValue":1,"samples":[[0]],"weights":[1]}}],"shared":{{"frames":[{{"name":"f"}}]}}}}"#
        )
    };
    for name in ["Thread 27472 \"t-cpu\"", "Thread 7 \"\"", "main"] {
        let profiles = read("speedscope", file(name).as_bytes());
        let (written, losses) = write("speedscope", &profiles);
        assert_eq!(codes(&losses), [""; 0], "{name}");
        let again = read("speedscope", &written);
        let threads = |profiles: &Profiles| {
            let sample = profiles.iter().next().unwrap().samples().get(0).unwrap();
            let pairs = profiles.dictionary().resolve(sample.attributes);
            pairs.iter().map(|pair| format!("{}={}", pair.key, pair.value)).collect::<Vec<_>>()
        };
        assert_eq!(threads(&again), threads(&profiles));
    }
    // A thread other than the one in the name is lost.
    let profiles = read("folded", b"f 1 thread.id=8\n");
    assert_eq!(codes(&write("speedscope", &profiles).1), ["attr.sample.dropped"]);
}
