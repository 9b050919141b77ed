//! Tests for defects that other converters have or had. Each test name begins with the number of the defect in this
//! project's list.
#![cfg(feature = "proto-all")]

use crate::support;
use crate::support::forms::form;
use crate::support::{codes, read, try_read, write};
use otlp_profiles::proto::prost::Message;
use otlp_profiles::proto::{pprof, v1_10};
use otlp_profiles::{Format, WriteOptions};

/// A pprof with one sample, one location and these strings.
fn profile(strings: &[&str]) -> pprof::Profile {
    let mut string_table = vec![String::new(), "cpu".to_owned(), "nanoseconds".to_owned()];
    string_table.extend(strings.iter().map(|text| (*text).to_owned()));
    pprof::Profile {
        string_table,
        sample_type: vec![pprof::ValueType { r#type: 1, unit: 2 }],
        sample: vec![pprof::Sample { location_id: vec![1], value: vec![7], label: vec![] }],
        location: vec![pprof::Location { id: 1, address: 0x10, ..Default::default() }],
        ..Default::default()
    }
}

fn label(key: i64, str: i64, num: i64, num_unit: i64) -> pprof::Label {
    pprof::Label { key, str, num, num_unit }
}

/// Converts a pprof to the current generation and back.
fn back(profile: &pprof::Profile) -> pprof::Profile {
    let (there, losses) = write("otlp", &read("pprof", &profile.encode_to_vec()));
    assert!(support::kept(&losses), "{losses:?}");
    decode(&write("pprof", &read("otlp", &there)).0)
}

fn decode(bytes: &[u8]) -> pprof::Profile {
    pprof::Profile::decode(bytes).expect("prost decodes what we write")
}

fn current(bytes: &[u8]) -> v1_10::ProfilesData {
    v1_10::ProfilesData::decode(bytes).expect("prost decodes what we write")
}

fn to_current(profile: &pprof::Profile) -> v1_10::ProfilesData {
    current(&write("otlp", &read("pprof", &profile.encode_to_vec())).0)
}

#[track_caller]
fn same(before: &pprof::Profile, after: &pprof::Profile) {
    assert_eq!(
        support::doc::difference(&support::pprof::meaning(before), &support::pprof::meaning(after)),
        None
    );
}

/// Functions with these names, and lines of them in this order.
fn with_lines(names: &[&str], lines: &[i64]) -> pprof::Profile {
    let mut profile = profile(names);
    let ids = 1..=names.len() as u64;
    profile.function = ids
        .clone()
        .map(|id| pprof::Function { id, name: id as i64 + 2, ..Default::default() })
        .collect();
    profile.location[0].line = ids
        .zip(lines)
        .map(|(function_id, &line)| pprof::Line { function_id, line, column: 0 })
        .collect();
    profile
}

/// The envelope and dictionary of a payload of the current generation with one profile.
fn payload(dictionary: v1_10::ProfilesDictionary, profile: v1_10::Profile) -> v1_10::ProfilesData {
    let scope = v1_10::ScopeProfiles { profiles: vec![profile], ..Default::default() };
    let resource = v1_10::ResourceProfiles { scope_profiles: vec![scope], ..Default::default() };
    v1_10::ProfilesData { resource_profiles: vec![resource], dictionary: Some(dictionary) }
}

/// A dictionary with valid tables, and these strings after the empty one.
fn dictionary(strings: &[&str]) -> v1_10::ProfilesDictionary {
    v1_10::ProfilesDictionary {
        mapping_table: vec![Default::default()],
        location_table: vec![Default::default()],
        function_table: vec![Default::default()],
        link_table: vec![Default::default()],
        string_table: std::iter::once("")
            .chain(strings.iter().copied())
            .map(str::to_owned)
            .collect(),
        attribute_table: vec![Default::default()],
        stack_table: vec![Default::default()],
    }
}

fn int(value: i64) -> Option<v1_10::AnyValue> {
    Some(v1_10::AnyValue { value: Some(v1_10::any_value::Value::IntValue(value)) })
}

fn text(value: &str) -> Option<v1_10::AnyValue> {
    Some(v1_10::AnyValue { value: Some(v1_10::any_value::Value::StringValue(value.to_owned())) })
}

#[test]
fn d01_inlined_lines_keep_their_order() {
    let before = with_lines(&["innermost", "middle", "outermost"], &[90, 10, 50]);
    let lines = &to_current(&before).dictionary.unwrap().location_table[1].lines;
    assert_eq!(lines.iter().map(|line| line.line).collect::<Vec<_>>(), [90, 10, 50]);
    same(&before, &back(&before));
}

#[test]
fn d02_a_line_without_function_refers_to_none() {
    let mut before = profile(&[]);
    before.location[0].line.push(pprof::Line { function_id: 0, line: 20, column: 3 });
    let data = to_current(&before);
    assert_eq!(data.dictionary.unwrap().location_table[1].lines[0].function_index, 0);
    // pprof's own reader requires a function, so it gets an empty one.
    let after = back(&before);
    assert_eq!(after.location[0].line[0].line, 20);
    assert!(
        after.function.iter().any(|f| f.id == after.location[0].line[0].function_id && f.name == 0)
    );
}

#[test]
fn d03_rows_that_look_alike_when_joined_stay_apart() {
    let mut before = profile(&["ab", "c", "a", "bc", "id1", "id2"]);
    before.function = vec![
        pprof::Function { id: 1, name: 3, system_name: 4, ..Default::default() },
        pprof::Function { id: 2, name: 5, system_name: 6, ..Default::default() },
    ];
    before.mapping = vec![
        pprof::Mapping { id: 1, memory_limit: 9, build_id: 7, ..Default::default() },
        pprof::Mapping {
            id: 2,
            memory_limit: 9,
            build_id: 8,
            has_functions: true,
            ..Default::default()
        },
    ];
    let line = |function_id| vec![pprof::Line { function_id, line: 1, column: 0 }];
    before.location = vec![
        pprof::Location { id: 1, mapping_id: 1, line: line(1), ..Default::default() },
        pprof::Location { id: 2, mapping_id: 1, line: line(2), ..Default::default() },
        pprof::Location { id: 3, mapping_id: 2, line: line(1), ..Default::default() },
        pprof::Location {
            id: 4,
            mapping_id: 1,
            line: line(1),
            is_folded: true,
            ..Default::default()
        },
    ];
    before.sample[0].location_id = vec![1, 2, 3, 4];
    for name in support::forms::FORMS.iter().map(|form| form.name) {
        let there = write(name, &read("pprof", &before.encode_to_vec())).0;
        same(&before, &decode(&write("pprof", &read(name, &there)).0));
    }
}

#[test]
fn d04_profiles_of_one_payload_keep_their_own_settings() {
    let mut data = v1_10::ProfilesData::default();
    let mut tables = dictionary(&["cpu", "pprof.profile.doc_url", "pprof.profile.comment"]);
    for (row, url) in ["one", "two"].into_iter().enumerate() {
        tables.attribute_table.push(v1_10::KeyValueAndUnit {
            key_strindex: 2,
            value: text(url),
            unit_strindex: 0,
        });
        let sample_type = Some(v1_10::ValueType { type_strindex: 1, unit_strindex: 0 });
        let profile = v1_10::Profile {
            sample_type,
            attribute_indices: vec![row as i32 + 1],
            ..Default::default()
        };
        data.resource_profiles.extend(payload(Default::default(), profile).resource_profiles);
    }
    data.dictionary = Some(tables);
    let model = read("otlp", &data.encode_to_vec());
    let (payloads, _) =
        otlp_profiles::write_all(&model, Format::PPROF, &WriteOptions::default()).unwrap();
    let urls: Vec<String> = payloads
        .iter()
        .map(|bytes| decode(bytes))
        .map(|p| p.string_table[p.doc_url as usize].clone())
        .collect();
    assert_eq!(urls, ["one", "two"]);
}

#[test]
fn d05_the_default_column_goes_first_and_the_order_is_said() {
    let mut before = profile(&["alloc_space"]);
    before.sample_type =
        [1, 3, 1, 1].map(|name| pprof::ValueType { r#type: name, unit: 2 }).to_vec();
    before.sample[0].value = vec![10, 20, 30, 40];
    before.default_sample_type = 3;
    let data = to_current(&before);
    let scope = &data.resource_profiles[0].scope_profiles[0];
    let firsts: Vec<i64> = scope.profiles.iter().map(|p| p.samples[0].values[0]).collect();
    assert_eq!(firsts, [20, 10, 30, 40], "not the last one swapped with the first");
    same(&before, &back(&before));
    // Without a default, pprof shows the last type. So the last type is written first, as in the example of the
    // conventions.
    before.default_sample_type = 0;
    let data = to_current(&before);
    let order = data.resource_profiles[0].scope_profiles[0].scope.clone().unwrap().attributes;
    assert_eq!(order[0].key, "pprof.scope.sample_type_order");
    let Some(v1_10::any_value::Value::ArrayValue(list)) = order[0].value.clone().unwrap().value
    else {
        panic!("a list")
    };
    assert_eq!(list.values, [3, 0, 1, 2].map(|column| int(column).unwrap()));
    same(&before, &back(&before));
}

#[test]
fn d06_labels_of_every_kind_survive() {
    let mut before = profile(&["bytes", "By", "thread", "main", "worker", "multi"]);
    before.sample[0].label = vec![
        label(3, 0, 512, 4),
        label(5, 6, 0, 0),
        label(8, 6, 0, 0),
        label(8, 7, 0, 0),
        label(1, 0, 0, 0),
    ];
    same(&before, &back(&before));
    // A single value is not a list, and a string has no unit.
    let attributes = to_current(&before).dictionary.unwrap().attribute_table;
    let plain = |a: &v1_10::KeyValueAndUnit| {
        a.value.clone().is_some_and(|v| {
            matches!(v.value, Some(v1_10::any_value::Value::StringValue(_))) && a.unit_strindex == 0
        })
    };
    assert_eq!(attributes.iter().filter(|a| plain(a)).count(), 1);
}

#[test]
fn d06_times_are_whole_and_stacks_are_not_sorted() {
    let mut before = profile(&[]);
    before.time_nanos = 1_795_168_916_473_858_804;
    before.duration_nanos = 10_000_000_001;
    before.location = (1..=3)
        .map(|id| pprof::Location { id, address: 0x100 - id, ..Default::default() })
        .collect();
    before.sample[0].location_id = vec![2, 1, 3, 1];
    same(&before, &back(&before));
    let data = to_current(&before);
    assert_eq!(
        data.resource_profiles[0].scope_profiles[0].profiles[0].time_unix_nano,
        1_795_168_916_473_858_804
    );
    assert_eq!(data.dictionary.unwrap().stack_table[1].location_indices, [2, 1, 3, 1]);
}

#[test]
fn d07_profiles_that_are_not_columns_of_one_are_not_joined() {
    let mut tables = dictionary(&["cpu", "wall", "k"]);
    tables.attribute_table.extend([1, 2].map(|n| v1_10::KeyValueAndUnit {
        key_strindex: 3,
        value: int(n),
        unit_strindex: 0,
    }));
    let column = |name, attribute| v1_10::Profile {
        sample_type: Some(v1_10::ValueType { type_strindex: name, unit_strindex: 0 }),
        samples: vec![v1_10::Sample {
            values: vec![1],
            attribute_indices: vec![attribute],
            ..Default::default()
        }],
        ..Default::default()
    };
    let mut data = payload(tables, column(1, 1));
    data.resource_profiles[0].scope_profiles[0].profiles.push(column(2, 2));
    let model = read("otlp", &data.encode_to_vec());
    let (payloads, _) =
        otlp_profiles::write_all(&model, Format::PPROF, &WriteOptions::default()).unwrap();
    assert_eq!(payloads.len(), 2, "samples of different attributes have no values in common");
    assert!(otlp_profiles::write(&model, Format::PPROF, &WriteOptions::default()).is_err());
}

/// A payload whose resource has an attribute with an unknown value.
#[test]
fn d08_an_odd_attribute_does_not_make_a_profile_vanish() {
    let mut data = to_current(&profile(&[]));
    let odd = v1_10::KeyValue {
        key: "service.name".to_owned(),
        value: Some(v1_10::AnyValue { value: None }),
        key_strindex: 0,
    };
    data.resource_profiles[0].resource =
        Some(v1_10::Resource { attributes: vec![odd], ..Default::default() });
    let model = read("otlp", &data.encode_to_vec());
    let (bytes, losses) = write("pprof", &model);
    assert_eq!(decode(&bytes).sample[0].value, [7]);
    assert_eq!(codes(&losses), ["resource.dropped"]);
}

#[test]
fn d09_writing_does_not_change_what_is_written() {
    let model = read("pprof", &profile(&[]).encode_to_vec());
    let before = model.clone();
    let once = write("pprof", &model);
    let twice = write("pprof", &model);
    assert_eq!(once, twice);
    assert_eq!(model, before);
    assert_eq!(decode(&once.0).sample[0].value, [7]);
}

#[test]
fn d10_values_that_fit_no_sample_type_are_refused() {
    let mut before = profile(&[]);
    before.sample[0].value = vec![1, 2];
    assert!(try_read("pprof", &before.encode_to_vec()).is_err());
    let mut data = to_current(&profile(&[]));
    let sample = &mut data.resource_profiles[0].scope_profiles[0].profiles[0].samples[0];
    (sample.values, sample.timestamps_unix_nano) = (vec![1, 2, 3], vec![1, 2]);
    assert!(try_read("otlp", &data.encode_to_vec()).is_err(), "without a period as well");
}

#[test]
fn d11_mappings_are_written_once_and_the_empty_one_never() {
    let mut before = profile(&["a.out", "libc.so"]);
    before.mapping = vec![
        pprof::Mapping { id: 1, memory_limit: 9, filename: 3, ..Default::default() },
        pprof::Mapping { id: 2, memory_limit: 9, filename: 4, ..Default::default() },
    ];
    before.location.push(pprof::Location {
        id: 2,
        mapping_id: 2,
        address: 0x11,
        ..Default::default()
    });
    before.sample = vec![before.sample[0].clone(); 5];
    before.sample.push(pprof::Sample { location_id: vec![2], value: vec![1], label: vec![] });
    let after = back(&before);
    assert_eq!(after.mapping.len(), 2);
    assert_eq!(after.location[0].mapping_id, 0);
    same(&before, &after);
}

#[test]
fn d12_inline_frames_are_inferred_from_more_than_one_line() {
    let mut tables = dictionary(&["cpu", "inner", "outer"]);
    tables.mapping_table.push(v1_10::Mapping { memory_limit: 9, ..Default::default() });
    tables.function_table.extend(
        [2, 3].map(|name_strindex| v1_10::Function { name_strindex, ..Default::default() }),
    );
    let lines =
        [1, 2].map(|function_index| v1_10::Line { function_index, line: 5, column: 0 }).to_vec();
    tables.location_table.push(v1_10::Location { mapping_index: 1, lines, ..Default::default() });
    tables.stack_table.push(v1_10::Stack { location_indices: vec![1] });
    let sample = v1_10::Sample { stack_index: 1, values: vec![1], ..Default::default() };
    let sample_type = Some(v1_10::ValueType { type_strindex: 1, unit_strindex: 0 });
    let data = payload(
        tables,
        v1_10::Profile { sample_type, samples: vec![sample], ..Default::default() },
    );
    let (bytes, losses) = write("pprof", &read("otlp", &data.encode_to_vec()));
    let mapping = decode(&bytes).mapping[0];
    let flags = [
        mapping.has_functions,
        mapping.has_filenames,
        mapping.has_line_numbers,
        mapping.has_inline_frames,
    ];
    assert_eq!(flags, [true, false, true, true]);
    assert_eq!(codes(&losses), ["mapping.flags_inferred"]);
}

#[test]
fn d13_unknown_times_stay_unknown() {
    let after = back(&profile(&[]));
    assert_eq!((after.time_nanos, after.duration_nanos, after.period), (0, 0, 0));
}

#[test]
fn d14_a_line_gets_its_own_function_not_the_one_before() {
    let before = with_lines(&["zero", "one", "two"], &[1, 2, 3]);
    let model = read("otlp", &to_current(&before).encode_to_vec());
    let dictionary = model.dictionary();
    let leaf = dictionary.stacks().row(1)[0];
    let names: Vec<&str> = dictionary
        .locations()
        .lines(leaf)
        .iter()
        .map(|line| dictionary.text(dictionary.function(line.function).name))
        .collect();
    assert_eq!(names, ["zero", "one", "two"]);
}

#[test]
fn d15_optional_messages_may_be_absent() {
    let profile = v1_10::Profile {
        samples: vec![v1_10::Sample { values: vec![3], ..Default::default() }],
        ..Default::default()
    };
    let mut data = payload(dictionary(&[]), profile);
    data.resource_profiles[0].resource = None;
    data.resource_profiles[0].scope_profiles[0].scope = None;
    let model = read("otlp", &data.encode_to_vec());
    assert_eq!(decode(&write("pprof", &model).0).sample[0].value, [3]);
    data.dictionary = None;
    assert_eq!(read("otlp", &data.encode_to_vec()).iter().count(), 1);
    data.resource_profiles[0].scope_profiles[0].profiles.clear();
    assert_eq!(read("otlp", &data.encode_to_vec()).iter().count(), 0);
}

#[test]
fn d16_zero_is_a_value() {
    let mut before = profile(&[]);
    before.sample[0].value = vec![0];
    same(&before, &back(&before));
    assert_eq!(back(&before).sample.len(), 1);
}

#[test]
fn d17_keys_by_index_alone_are_read() {
    let mut data = to_current(&profile(&[]));
    let tables = data.dictionary.as_mut().unwrap();
    let key_strindex = tables.string_table.len() as i32;
    tables.string_table.extend(["service.name".to_owned(), "shop".to_owned()]);
    let value = Some(v1_10::AnyValue {
        value: Some(v1_10::any_value::Value::StringValueStrindex(key_strindex + 1)),
    });
    let attribute = v1_10::KeyValue { key: String::new(), value, key_strindex };
    data.resource_profiles[0].resource =
        Some(v1_10::Resource { attributes: vec![attribute], ..Default::default() });
    let bytes = data.encode_to_vec();
    let said = |bytes: &[u8]| {
        format!("{:?}", (form("otlp").raise)(bytes).unwrap().resources[0].attributes)
    };
    assert_eq!(said(&bytes), "[(\"service.name\", Str(\"shop\"))]");
    // For a reader without references, keys are written in place.
    let older = write("otlp-1.9", &read("otlp", &bytes)).0;
    assert_eq!(
        format!("{:?}", (form("otlp-1.9").raise)(&older).unwrap().resources[0].attributes),
        said(&bytes)
    );
}

#[test]
fn d17_a_profile_without_samples_and_a_time_at_its_end_are_read() {
    let mut data = to_current(&profile(&[]));
    let profile = &mut data.resource_profiles[0].scope_profiles[0].profiles[0];
    (profile.time_unix_nano, profile.duration_nano) = (100, 10);
    profile.samples[0].timestamps_unix_nano = vec![110];
    assert_eq!(read("otlp", &data.encode_to_vec()).iter().next().unwrap().samples().len(), 1);
    data.resource_profiles[0].scope_profiles[0].profiles[0].samples.clear();
    assert_eq!(read("otlp", &data.encode_to_vec()).iter().next().unwrap().samples().len(), 0);
}

#[test]
fn d18_index_zero_is_no_reference() {
    // A key in place next to an index of 0, and one next to a value reference of 0.
    let mut data = to_current(&profile(&[]));
    let empty =
        Some(v1_10::AnyValue { value: Some(v1_10::any_value::Value::StringValueStrindex(0)) });
    let attributes = vec![
        v1_10::KeyValue { key: "inline".to_owned(), value: text("kept"), key_strindex: 0 },
        v1_10::KeyValue { key: "nothing".to_owned(), value: empty, key_strindex: 0 },
    ];
    data.resource_profiles[0].resource = Some(v1_10::Resource { attributes, ..Default::default() });
    let model = read("otlp", &data.encode_to_vec());
    let again = (form("otlp").raise)(&write("otlp", &model).0).unwrap();
    assert_eq!(
        format!("{:?}", again.resources[0].attributes),
        "[(\"inline\", Str(\"kept\")), (\"nothing\", Empty)]"
    );
}

#[test]
fn rustprofile_mappings_without_a_build_id_and_negative_times_are_kept() {
    let mut before = profile(&["a.out", "regex"]);
    before.mapping =
        vec![pprof::Mapping { id: 1, memory_limit: 9, filename: 3, ..Default::default() }];
    (before.drop_frames, before.keep_frames, before.doc_url, before.comment) =
        (4, 4, 4, vec![4, 3, 4]);
    same(&before, &back(&before));
    before.time_nanos = -1;
    let (_, losses) = write("otlp", &read("pprof", &before.encode_to_vec()));
    assert_eq!(codes(&losses), ["time.negative"], "and what cannot be kept is said");
}

/// Profilers of interpreters (PHP, Rust) write one mapping with only an id.
#[test]
fn a_mapping_of_nothing_but_its_id_is_no_missing_mapping() {
    let mut before = profile(&["a.out", "regex"]);
    before.mapping = vec![pprof::Mapping { id: 1, ..Default::default() }];
    for location in &mut before.location {
        location.mapping_id = 1;
    }
    let mut beside = before.clone();
    beside.location[0].mapping_id = 0;
    for before in [before, beside] {
        for form in support::forms::FORMS {
            let name = form.name;
            let there = write(name, &read("pprof", &before.encode_to_vec())).0;
            let after = decode(&write("pprof", &read(name, &there)).0);
            assert_eq!(after.mapping, before.mapping, "{name}");
            assert_eq!(after.location, before.location, "{name}");
        }
    }
}

#[test]
fn otep_prototype_says_types_periods_and_references() {
    let mut before = with_lines(&["f", "g"], &[1, 2]);
    (before.period, before.period_type) = (100, Some(pprof::ValueType { r#type: 1, unit: 2 }));
    before.sample[0].label = vec![label(3, 4, 0, 0)];
    let there = write("otlp-1.3", &read("pprof", &before.encode_to_vec())).0;
    let doc = (form("otlp-1.3").raise)(&there).unwrap();
    let profile = &doc.resources[0].scopes[0].profiles[0];
    assert_eq!(profile.types.len(), 1);
    assert_eq!((profile.period, &*profile.period_type.name), (100, "cpu"));
    assert_eq!(profile.samples[0].attributes.len(), 1);
    same(&before, &decode(&write("pprof", &read("otlp-1.3", &there)).0));
}

#[test]
fn profcheck_missing_dictionaries_and_empty_tables_are_no_crash() {
    let sample = v1_10::Sample { values: vec![1], ..Default::default() };
    let profile = v1_10::Profile { samples: vec![sample], ..Default::default() };
    let mut data = payload(v1_10::ProfilesDictionary::default(), profile);
    assert!(try_read("otlp", &data.encode_to_vec()).is_ok());
    data.dictionary = None;
    assert!(try_read("otlp", &data.encode_to_vec()).is_ok());
    data.resource_profiles[0].scope_profiles[0].profiles[0].samples[0].stack_index = 1;
    assert!(try_read("otlp", &data.encode_to_vec()).is_err());
}
