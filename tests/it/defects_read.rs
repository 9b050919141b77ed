//! Regression tests of readers: input that was misread, or that vanished silently.
#![cfg(feature = "proto-all")]

use crate::support::wire::{LEN, int, len, nest, overlong, tag, varint};
use crate::support::{codes, options, read, try_read, write};
use otlp_profiles::proto::prost::Message;
use otlp_profiles::proto::{pprof, v1_3, v1_7, v1_10};
use otlp_profiles::{ErrorKind, Format, Limits, Policy, Profiles, ReadOptions};

const TEXTS: [&str; 9] = [
    "",
    "cpu",
    "ns",
    "a.out",
    "pprof.profile.comment",
    "pprof.profile.drop_frames",
    "pprof.location.is_folded",
    "pprof.scope.default_sample_type",
    "k",
];

/// A payload of one sample. Its stack is a location with an address in the only mapping.
fn payload() -> v1_10::ProfilesData {
    let profile = v1_10::Profile {
        sample_type: Some(v1_10::ValueType { type_strindex: 1, unit_strindex: 2 }),
        samples: vec![v1_10::Sample { stack_index: 1, values: vec![5], ..Default::default() }],
        ..Default::default()
    };
    let scope = v1_10::ScopeProfiles { profiles: vec![profile], ..Default::default() };
    let resource = v1_10::ResourceProfiles { scope_profiles: vec![scope], ..Default::default() };
    let mapping = v1_10::Mapping {
        memory_start: 0x1000,
        memory_limit: 0x2000,
        filename_strindex: 3,
        ..Default::default()
    };
    let location = v1_10::Location { mapping_index: 1, address: 0x1100, ..Default::default() };
    v1_10::ProfilesData {
        resource_profiles: vec![resource],
        dictionary: Some(v1_10::ProfilesDictionary {
            mapping_table: vec![Default::default(), mapping],
            location_table: vec![Default::default(), location],
            function_table: vec![Default::default()],
            link_table: vec![Default::default()],
            string_table: TEXTS.map(Into::into).to_vec(),
            attribute_table: vec![Default::default()],
            stack_table: vec![Default::default(), v1_10::Stack { location_indices: vec![1] }],
        }),
    }
}

fn int_value(value: i64) -> v1_10::AnyValue {
    v1_10::AnyValue { value: Some(v1_10::any_value::Value::IntValue(value)) }
}

fn dictionary(data: &mut v1_10::ProfilesData) -> &mut v1_10::ProfilesDictionary {
    data.dictionary.as_mut().unwrap()
}

fn profile(data: &mut v1_10::ProfilesData) -> &mut v1_10::Profile {
    &mut data.resource_profiles[0].scope_profiles[0].profiles[0]
}

/// Returns the profiles, and the codes of the findings.
fn noticed(name: &str, bytes: &[u8]) -> (Profiles, Vec<&'static str>) {
    let reading = otlp_profiles::read(bytes, &options(name)).unwrap();
    (reading.profiles, reading.findings.iter().map(|finding| finding.code).collect())
}

/// The name of the mapping, if any, and the address of each frame of the only stack.
fn frames(profiles: &Profiles) -> Vec<(String, u64)> {
    let dictionary = profiles.dictionary();
    let sample = profiles.iter().next().unwrap().samples().get(0).unwrap();
    let frame = |&id: &_| {
        let mapping = dictionary.mappings().get(dictionary.locations().mapping(id));
        (dictionary.text(mapping.filename).to_owned(), dictionary.locations().address(id))
    };
    dictionary.stack(sample.stack).iter().map(frame).collect()
}

/// Regression: the location was kept, and 1.3 made it a location in the first mapping.
#[test]
fn location_0_in_a_stack_is_noticed_and_never_becomes_another() {
    let mut data = payload();
    dictionary(&mut data).stack_table[1].location_indices = vec![0, 1, 0];
    let (profiles, codes) = noticed("otlp", &data.encode_to_vec());
    assert_eq!(codes, ["stack.location_0"]);
    let expected = [(String::new(), 0), ("a.out".to_owned(), 0x1100), (String::new(), 0)];
    assert_eq!(frames(&profiles), expected);
    for format in Format::ALL.iter().filter(|format| format.is_whole()) {
        let bytes = write(format.name(), &profiles).0;
        let (again, codes) = noticed(format.name(), &bytes);
        assert_eq!(frames(&again), expected, "{format}");
        assert!(!codes.contains(&"stack.location_0"), "{format}: {codes:?}");
    }
}

/// Row 0 of every table means no entry. Regression: a reference to attribute 0 was kept.
#[test]
fn attribute_0_in_a_list_is_noticed_and_left_out() {
    let mut data = payload();
    profile(&mut data).samples[0].attribute_indices = vec![0, 1, 0];
    profile(&mut data).attribute_indices = vec![0];
    dictionary(&mut data).mapping_table[1].attribute_indices = vec![0, 1];
    dictionary(&mut data)
        .attribute_table
        .push(v1_10::KeyValueAndUnit { key_strindex: 8, ..Default::default() });
    let reading = otlp_profiles::read(&data.encode_to_vec(), &options("otlp")).unwrap();
    let [finding] = &reading.findings[..] else { panic!("{:?}", reading.findings) };
    assert_eq!((finding.code, finding.count), ("attr.row_0", 4));
    let profile = reading.profiles.iter().next().unwrap();
    assert_eq!(profile.samples().get(0).unwrap().attributes.len(), 1);
    assert!(profile.attributes().is_empty());
}

/// Protobuf's libraries reject a length of more than five bytes; five bytes are valid.
#[test]
fn a_length_of_more_bytes_than_protobuf_allows_is_refused() {
    let long = |number: u32, bytes: usize, body: &[u8]| {
        [tag(number, LEN), overlong(body.len() as u64, bytes), body.to_vec()].concat()
    };
    let strings = [len(5, b""), len(5, b"cpu")].concat();
    for bytes in 1..=10 {
        let sample = [int(1, 0), long(4, bytes, &[5])].concat();
        let profile = [len(1, &int(1, 1)), len(2, &sample)].concat();
        let label = [int(1, 1), int(3, 5)].concat();
        let cases = [
            ("otlp", long(100, bytes, b"unknown")),
            ("otlp", [long(1, bytes, b""), len(2, &strings)].concat()),
            ("otlp", nest(&[2], &[strings.clone(), long(5, bytes, b"text")].concat())),
            ("otlp", [nest(&[1, 2, 2], &profile), len(2, &strings)].concat()),
            ("pprof", [long(6, bytes, b""), len(6, b"cpu")].concat()),
            (
                "pprof",
                [
                    len(1, &int(1, 1)),
                    len(2, &[len(2, &[1]), long(3, bytes, &label)].concat()),
                    len(6, b""),
                    len(6, b"cpu"),
                ]
                .concat(),
            ),
        ];
        for (name, case) in cases {
            // The fast paths of the reader need bytes after the end. Test with and without them.
            for behind in [vec![], [tag(200, LEN), varint(100), vec![0; 100]].concat()] {
                let result = try_read(name, &[case.clone(), behind].concat());
                assert_eq!(result.is_ok(), bytes <= 5, "{name} of {bytes} bytes: {case:02x?}");
                // Bytes that are not a message of profiles are rejected before they are read.
                if let Err(error) = result
                    && error.kind() == ErrorKind::Malformed
                {
                    let said = format!("the length is encoded in {bytes} bytes; protobuf allows 5");
                    assert!(error.message().starts_with(&said), "{error}");
                }
            }
        }
    }
}

/// Regression: the second of two occurrences of a value was read alone. Occurrences of one field must be merged.
#[test]
fn a_value_that_is_said_again_is_merged() {
    let array = |item: i64| v1_10::AnyValue {
        value: Some(v1_10::any_value::Value::ArrayValue(v1_10::ArrayValue {
            values: vec![int_value(item)],
        })),
    };
    let text = v1_10::AnyValue { value: Some(v1_10::any_value::Value::StringValue("v".into())) };
    for (values, merged) in [
        (
            vec![array(1), array(2)],
            r#"{"arrayValue":{"values":[{"intValue":"1"},{"intValue":"2"}]}}"#,
        ),
        (vec![text.clone(), v1_10::AnyValue::default()], r#"{"stringValue":"v"}"#),
        (vec![array(1), text, array(2)], r#"{"arrayValue":{"values":[{"intValue":"2"}]}}"#),
        (vec![array(1), int_value(7)], r#"{"intValue":"7"}"#),
    ] {
        let values: Vec<u8> =
            values.iter().flat_map(|value| len(2, &value.encode_to_vec())).collect();
        // As a row of the table, and as an attribute in place.
        let mut data = payload();
        profile(&mut data).attribute_indices.push(1);
        let mut tables = data.dictionary.take().unwrap().encode_to_vec();
        tables.extend(len(6, &[int(1, 8), values.clone()].concat()));
        let resource = len(1, &len(1, &[len(1, b"k"), values].concat()));
        let bytes = [data.encode_to_vec(), len(2, &tables), len(1, &resource)].concat();
        let json = String::from_utf8(write("otlp-json", &read("otlp-1.10", &bytes)).0).unwrap();
        let said = format!(r#""value":{merged}}}"#);
        assert_eq!(json.matches(&said).count(), 2, "{said}: {json}");
    }
}

/// Regression: the other id silently became zero.
#[test]
fn half_a_link_is_noticed_in_every_generation() {
    for (trace_id, span_id) in [(vec![1; 16], vec![]), (vec![], vec![1; 8])] {
        let link = v1_10::Link { trace_id: trace_id.into(), span_id: span_id.into() };
        let bytes = link.encode_to_vec();
        let mut data = payload();
        dictionary(&mut data).link_table.push(link);
        profile(&mut data).samples[0].link_index = 1;
        assert_eq!(noticed("otlp", &data.encode_to_vec()).1, ["link.half"]);
        let string = len(6, b"");
        let otep = nest(&[1, 2, 2, 8], &[string, len(18, b""), len(18, &bytes)].concat());
        assert_eq!(noticed("otlp-1.3", &otep).1, ["link.half"]);
    }
}

/// pprof's own reader uses the text and ignores the number. So does this one, and it reports a finding.
#[test]
fn a_label_of_text_and_number_is_read_as_its_text() {
    for (num, num_unit) in [(7, 0), (0, 3), (7, 3)] {
        let label = pprof::Label { key: 1, str: 2, num, num_unit };
        let profile = pprof::Profile {
            string_table: ["", "cpu", "text", "bytes"].map(Into::into).to_vec(),
            sample_type: vec![pprof::ValueType { r#type: 1, unit: 0 }],
            sample: vec![pprof::Sample {
                value: vec![1],
                label: vec![label],
                ..Default::default()
            }],
            ..Default::default()
        };
        let (profiles, found) = noticed("pprof", &profile.encode_to_vec());
        assert_eq!(found, ["label.str_and_num"]);
        let (bytes, losses) = write("pprof", &profiles);
        assert_eq!(codes(&losses), [""; 0]);
        let again = pprof::Profile::decode(&bytes[..]).unwrap();
        let label = again.sample[0].label[0];
        let text = |at: i64| again.string_table[at as usize].as_str();
        assert_eq!((text(label.str), label.num, label.num_unit), ("text", 0, 0));
    }
}

/// Regression: an attribute that no field can represent was lost, although it could have stayed an attribute.
#[test]
fn attributes_that_fields_cannot_say_stay_attributes() {
    use v1_10::any_value::Value;
    let attribute = |key_strindex, value| v1_10::KeyValueAndUnit {
        key_strindex,
        value: Some(v1_10::AnyValue { value: Some(value) }),
        unit_strindex: 0,
    };
    let none = || Value::ArrayValue(Default::default());
    for (value, on_location, code) in [
        (attribute(4, none()), false, "attr.profile.dropped"),
        (attribute(5, Value::StringValue(String::new())), false, "attr.empty_field"),
        (attribute(6, Value::BoolValue(false)), true, "attr.location.dropped"),
    ] {
        let mut data = payload();
        dictionary(&mut data).attribute_table.push(value);
        match on_location {
            true => dictionary(&mut data).location_table[1].attribute_indices = vec![1],
            false => profile(&mut data).attribute_indices = vec![1],
        }
        let profiles = read("otlp", &data.encode_to_vec());
        let attributes = |profiles: &Profiles| profiles.dictionary().attributes()[1].value.clone();
        for format in Format::ALL.iter().filter(|format| format.is_otlp()) {
            let again = read(format.name(), &write(format.name(), &profiles).0);
            assert_eq!(attributes(&again), attributes(&profiles), "{format}");
        }
        assert!(codes(&write("pprof", &profiles).1).contains(&code), "{code}");
    }
}

/// Regression: a default sample type that is not a string was treated as the value of a field.
#[test]
fn a_default_of_a_scope_that_is_no_text_is_not_lost() {
    let mut data = payload();
    let value = v1_10::AnyValue { value: Some(v1_10::any_value::Value::IntValue(3)) };
    let pair =
        v1_10::KeyValue { key: TEXTS[7].to_owned(), value: Some(value), ..Default::default() };
    let scope = v1_10::InstrumentationScope { attributes: vec![pair], ..Default::default() };
    data.resource_profiles[0].scope_profiles[0].scope = Some(scope);
    let profiles = read("otlp", &data.encode_to_vec());
    for format in Format::ALL.iter().filter(|format| format.is_otlp()) {
        let again = read(format.name(), &write(format.name(), &profiles).0);
        let scope = again.resource_profiles()[0].scope_profiles()[0].scope();
        assert_eq!(scope.attributes().len(), 1, "{format}");
    }
    assert_eq!(codes(&write("pprof", &profiles).1), ["scope.dropped"]);
}

/// The memory limit grows with the payload. Regression: it was 8 GiB for a kilobyte of gzip.
#[test]
fn what_the_model_may_take_grows_with_the_payload() {
    // Resources with one profile that has a duration: some five hundred bytes of memory for each eight bytes of
    // payload.
    let bytes = len(1, &nest(&[2, 2], &int(4, 1))).repeat(320_000);
    let options = |limits| ReadOptions::default().format(Format::OTLP).limits(limits);
    for limits in [Limits::file(), Limits::network()] {
        let error = otlp_profiles::read(&bytes, &options(limits)).map(drop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit);
        assert!(error.to_string().ends_with("exceed the limit of 134217728"), "{error}");
        assert_eq!(error.hint().as_deref(), Some("Limits::max_owned_per_byte raises it"));
    }
    let more = Limits::file().max_owned_per_byte(64);
    assert_eq!(read_resources(&bytes, &options(more)), 320_000);
    // 128 MiB of memory are always allowed.
    assert_eq!(read_resources(&bytes[..1_600_000], &options(Limits::network())), 200_000);
}

fn read_resources(bytes: &[u8], options: &ReadOptions) -> usize {
    otlp_profiles::read(bytes, options).unwrap().profiles.resource_profiles().len()
}

/// An empty message takes one word, because payloads may contain millions of them.
#[test]
fn a_hundred_thousand_empty_profiles_take_a_megabyte() {
    for name in
        Format::ALL.iter().map(|format| format.name()).filter(|name| name.starts_with("otlp-1"))
    {
        let bytes = nest(&[1, 2], &len(2, b"").repeat(100_000));
        let limits = Limits::network().max_owned_bytes(1200 << 10);
        let reading = otlp_profiles::read(&bytes, &options(name).limits(limits)).unwrap();
        assert_eq!(reading.profiles.iter().count(), 100_000, "{name}");
    }
}

/// Concatenation appends tables, so references of the second payload would refer to rows of the first.
#[test]
fn payloads_end_to_end_are_refused_where_they_share_tables() {
    let profiles = read("otlp-1.10", &payload().encode_to_vec());
    for name in ["otlp-1.6", "otlp-1.7", "otlp-1.8", "otlp-1.9", "otlp-1.10"] {
        let (one, _) = write(name, &profiles);
        let twice = [&one[..], &one].concat();
        for options in [options(name), ReadOptions::default()] {
            let error = otlp_profiles::read(&twice, &options).unwrap_err().to_string();
            assert!(error.contains("the file is several concatenated payloads"), "{name}: {error}");
        }
    }
    for name in ["otlp-1.3", "otlp-1.4", "otlp-1.5"] {
        let (one, _) = write(name, &profiles);
        assert_eq!(read(name, &[&one[..], &one].concat()).iter().count(), 2, "{name}");
    }
    // In consecutive parts of one payload, a dictionary may follow.
    let whole = payload();
    let dictionary = whole.dictionary.clone().unwrap();
    let (first, rest) = dictionary.string_table.split_at(3);
    let rest = v1_10::ProfilesDictionary { string_table: rest.to_vec(), ..Default::default() };
    let first = v1_10::ProfilesDictionary { string_table: first.to_vec(), ..dictionary };
    let parts = v1_10::ProfilesData { dictionary: Some(first), ..whole.clone() }.encode_to_vec();
    let rest = v1_10::ProfilesData { dictionary: Some(rest), ..Default::default() };
    let parts = [parts, rest.encode_to_vec()].concat();
    let (parts, whole) = (read("otlp-1.10", &parts), read("otlp-1.10", &whole.encode_to_vec()));
    assert_eq!(write("otlp-1.10", &parts).0, write("otlp-1.10", &whole).0);
}

/// Regression: a label with another unit was read as nanoseconds, and one that is not a time was kept silently.
#[test]
fn a_timestamp_label_is_read_in_its_unit() {
    let payload = |time: i64, unit: &str, types: usize| {
        let label = pprof::Label { key: 3, num: time, num_unit: 4, ..Default::default() };
        let profile = pprof::Profile {
            string_table: ["", "cpu", "ns", "source.event.time", unit].map(Into::into).to_vec(),
            sample_type: vec![pprof::ValueType { r#type: 1, unit: 2 }; types],
            sample: vec![pprof::Sample {
                value: vec![5; types],
                label: vec![label],
                ..Default::default()
            }],
            ..Default::default()
        };
        let options = options("pprof").timestamp_label("source.event.time".to_owned());
        let reading = otlp_profiles::read(&profile.encode_to_vec(), &options).unwrap();
        let sample = reading.profiles.iter().next().unwrap().samples().get(0).unwrap();
        assert_eq!(sample.attributes.len() + sample.timestamps_unix_nano.len(), 1);
        let codes: Vec<_> = reading.findings.iter().map(|finding| finding.code).collect();
        (sample.timestamps_unix_nano.first().copied(), codes)
    };
    for (time, unit, nanos) in [
        (1_700_000_000_123, "milliseconds", 1_700_000_000_123_000_000),
        (1_700_000_000_123, "ms", 1_700_000_000_123_000_000),
        (1_700_000_000_123_456, "microseconds", 1_700_000_000_123_456_000),
        (1_700_000_000, "seconds", 1_700_000_000_000_000_000),
        (7, "nanoseconds", 7),
        (7, "", 7),
    ] {
        assert_eq!(payload(time, unit, 1), (Some(nanos), vec![]), "{time} {unit}");
    }
    for (time, unit, types) in
        [(7, "ticks", 1), (-7, "ms", 1), (i64::MAX, "seconds", 1), (7, "nanoseconds", 2)]
    {
        assert_eq!(payload(time, unit, types), (None, vec!["timestamps.as_attribute"]), "{unit}");
    }
}

/// Regression: an empty default of a profile hid the default of its scope.
#[test]
fn a_default_of_a_profile_that_is_no_name_leaves_that_of_the_scope() {
    use v1_10::any_value::Value;
    for own in [Value::StringValue(String::new()), Value::IntValue(3)] {
        let mut data = payload();
        let value = |value| Some(v1_10::AnyValue { value: Some(value) });
        let pair = v1_10::KeyValue {
            key: TEXTS[7].to_owned(),
            value: value(Value::StringValue("cpu".to_owned())),
            ..Default::default()
        };
        let scope = v1_10::InstrumentationScope { attributes: vec![pair], ..Default::default() };
        data.resource_profiles[0].scope_profiles[0].scope = Some(scope);
        let tables = dictionary(&mut data);
        tables.string_table.push("pprof.profile.default_sample_type".to_owned());
        tables.attribute_table.push(v1_10::KeyValueAndUnit {
            key_strindex: TEXTS.len() as i32,
            value: value(own),
            unit_strindex: 0,
        });
        profile(&mut data).attribute_indices = vec![1];
        let (bytes, _) = write("pprof", &read("otlp", &data.encode_to_vec()));
        let written = pprof::Profile::decode(&bytes[..]).unwrap();
        assert_eq!(written.string_table[written.default_sample_type as usize], "cpu");
    }
}

/// Regression: an error had the place of the location instead of the line, and a finding had no place.
#[test]
fn a_bad_line_has_its_place() {
    let mut data = payload();
    let line = |function_index| v1_10::Line { function_index, ..Default::default() };
    let tables = dictionary(&mut data);
    tables.location_table[1].lines = vec![line(0), line(0)];
    let bad = v1_10::Location { lines: vec![line(0), line(5)], ..Default::default() };
    tables.location_table.push(bad);
    let bytes = data.encode_to_vec();
    let place = "location_table[2].lines[1].function_index";
    let error = try_read("otlp", &bytes).unwrap_err();
    assert_eq!(error.place(), format!("dictionary.{place}"));
    let repairing = options("otlp").policy(Policy::Repair);
    let reading = otlp_profiles::read(&bytes, &repairing).unwrap();
    assert_eq!(reading.findings[0].place, error.place());
}

/// Regression: an id above 32 bits was reported as a negative index of another table.
#[test]
fn ids_of_more_than_32_bits_in_a_container_are_named() {
    let container = |ids: [u64; 3]| {
        let [location, function, mapping] = ids;
        let profile = pprof::Profile {
            string_table: ["", "cpu", "ns", "main"].map(Into::into).to_vec(),
            sample_type: vec![pprof::ValueType { r#type: 1, unit: 2 }],
            sample: vec![pprof::Sample {
                location_id: vec![location],
                value: vec![5],
                ..Default::default()
            }],
            mapping: vec![pprof::Mapping { id: mapping, memory_limit: 99, ..Default::default() }],
            location: vec![pprof::Location {
                id: location,
                mapping_id: mapping,
                line: vec![pprof::Line { function_id: function, ..Default::default() }],
                ..Default::default()
            }],
            function: vec![pprof::Function { id: function, name: 3, ..Default::default() }],
            ..Default::default()
        };
        let profile = v1_3::Profile::decode(&profile.encode_to_vec()[..]).unwrap();
        let container = v1_3::ProfileContainer { profile: Some(profile), ..Default::default() };
        try_read("otlp-1.3", &nest(&[1, 2, 2], &container.encode_to_vec()))
    };
    assert!(container([7, 8, 9]).is_ok());
    for (ids, table) in [
        ([1 << 32, 1, 1], "location_table"),
        ([1, u64::MAX, 1], "function_table"),
        ([1, 1, 1 << 40], "mapping_table"),
    ] {
        let error = container(ids).unwrap_err();
        assert!(error.place().ends_with(&format!("{table}[0].id")), "{error}");
        assert!(error.message().contains("exceeds 32 bits"), "{error}");
    }
}

/// Regression: the number of a column became its name, which an earlier column may have as well.
#[test]
fn a_default_column_without_a_name_of_its_own_is_noticed() {
    let codes_of = |names: &[i32], default: i32| {
        let kind = |name: &i32| v1_7::ValueType { type_strindex: *name, ..Default::default() };
        let profile = v1_7::Profile {
            sample_type: names.iter().map(kind).collect(),
            default_sample_type_index: default,
            ..Default::default()
        };
        let dictionary = v1_7::ProfilesDictionary {
            string_table: ["", "cpu", "off"].map(str::to_owned).to_vec(),
            ..Default::default()
        };
        let profiles = nest(&[1, 2, 2], &profile.encode_to_vec());
        noticed("otlp-1.7", &[profiles, len(2, &dictionary.encode_to_vec())].concat()).1
    };
    assert_eq!(codes_of(&[1, 1, 2], 0), [""; 0]);
    assert_eq!(codes_of(&[1, 1, 2], 1), ["default.ambiguous"]);
    assert_eq!(codes_of(&[1, 0, 2], 1), ["default.ambiguous"]);
    assert_eq!(codes_of(&[1, 1, 2], 2), [""; 0], "the last is shown anyway");
}

/// Readers append rows to the attribute table: for the attributes of a container or profile (1.3, 1.4), for a
/// comment (1.7, 1.8), and for labels (1.3). Regression: an index past the table referred to these rows.
#[test]
fn an_attribute_index_past_its_table_leads_to_no_row_that_was_made() {
    let containers = v1_3::ProfileContainer {
        attributes: vec![v1_3::KeyValue { key: "made".to_owned(), ..Default::default() }],
        profile: Some(v1_3::Profile {
            sample: [false, true].map(old_sample).to_vec(),
            attribute_table: vec![v1_3::KeyValue { key: "k".to_owned(), ..Default::default() }],
            string_table: TEXTS.map(Into::into).to_vec(),
            sample_type: vec![v1_3::ValueType { r#type: 1, unit: 2, ..Default::default() }],
            ..Default::default()
        }),
        ..Default::default()
    };
    let scope = v1_3::ScopeProfiles { profiles: vec![containers], ..Default::default() };
    let resource = v1_3::ResourceProfiles { scope_profiles: vec![scope], ..Default::default() };
    let oldest = v1_3::ProfilesData { resource_profiles: vec![resource] }.encode_to_vec();

    let strings = TEXTS.map(|text| len(5, text.as_bytes())).concat();
    // For 1.7 and 1.8: a sample whose attribute is row 1 of a table of one row, and a profile with a comment.
    let v1_7 =
        [len(1, &[int(1, 1), int(2, 2)].concat()), len(2, &[len(3, &[7]), len(4, &[1])].concat())];
    let v1_7 = nest(&[1, 2, 2], &[v1_7.concat(), len(8, &[3])].concat());
    let v1_7 = [v1_7, len(2, &[strings.clone(), len(6, &len(1, b"k"))].concat())].concat();
    let v1_8 =
        [len(1, &[int(1, 1), int(2, 2)].concat()), len(2, &[len(2, &[7]), len(3, &[1])].concat())];
    let v1_8 = nest(&[1, 2, 2], &[v1_8.concat(), len(7, &[3])].concat());
    let v1_8 = [v1_8, len(2, &[strings, len(6, &[])].concat())].concat();
    for (name, bytes, rows) in
        [("otlp-1.3", oldest, 1), ("otlp-1.7", v1_7, 1), ("otlp-1.8", v1_8, 1)]
    {
        let error = try_read(name, &bytes).map(drop).expect_err(name);
        assert_eq!(error.kind(), ErrorKind::Malformed, "{name}");
        let said = format!("index 1 is out of range: the table has {rows} rows");
        assert!(error.to_string().contains(&said), "{name}: {error}");
        let repaired = otlp_profiles::read(&bytes, &options(name).policy(Policy::Repair)).unwrap();
        let found: Vec<_> = repaired.findings.iter().map(|found| found.code).collect();
        assert!(found.contains(&"index.out_of_range"), "{name}: {found:?}");
        let attributes = repaired.profiles.iter().flat_map(|profile| profile.samples().iter());
        assert!(attributes.take(1).all(|sample| sample.attributes.is_empty()), "{name}");
    }
}

/// A sample with an attribute past the table, with or without a label.
fn old_sample(labelled: bool) -> v1_3::Sample {
    let label = v1_3::Label { key: 8, num: 7, ..Default::default() };
    v1_3::Sample {
        attributes: if labelled { vec![0] } else { vec![1] },
        label: if labelled { vec![label] } else { Vec::new() },
        value: vec![5],
        ..Default::default()
    }
}

/// The presence of the field distinguishes the first link from no link. Regression: without a link table, the
/// reference was ignored.
#[test]
fn a_reference_to_the_first_row_of_no_rows_is_refused() {
    let read_as_1_7 = |link_table: Vec<v1_7::Link>, mapping_table: Vec<v1_7::Mapping>| {
        let sample = v1_7::Sample { link_index: Some(0), value: vec![5], ..Default::default() };
        let profile = v1_7::Profile {
            sample_type: vec![Default::default()],
            sample: vec![sample],
            ..Default::default()
        };
        let location = v1_7::Location { mapping_index: Some(0), ..Default::default() };
        let dictionary = v1_7::ProfilesDictionary {
            location_table: vec![location],
            string_table: vec![String::new()],
            link_table,
            mapping_table,
            ..Default::default()
        };
        let profiles = nest(&[1, 2, 2], &profile.encode_to_vec());
        try_read("otlp-1.7", &[profiles, len(2, &dictionary.encode_to_vec())].concat())
    };
    let link = v1_7::Link { trace_id: vec![1; 16].into(), span_id: vec![2; 8].into() };
    for links in [vec![link.clone()], vec![Default::default()]] {
        assert!(read_as_1_7(links, vec![Default::default()]).is_ok());
    }
    let error = read_as_1_7(Vec::new(), vec![Default::default()]).unwrap_err();
    assert!(error.place().ends_with("link_index"), "{error}");
    assert_eq!(error.message(), "index 0 is out of range: the table has 0 rows");
    let error = read_as_1_7(vec![link], Vec::new()).unwrap_err();
    assert!(error.place().ends_with("mapping_index"), "{error}");
    assert_eq!(error.message(), "index 0 is out of range: the table has 0 rows");
}

/// Regression: the place was that of the type, or of a field other than the bad one.
#[test]
fn bad_types_units_and_slices_have_their_places() {
    let profile = |sample: v1_7::Sample, kind: v1_7::ValueType, period: v1_7::ValueType| {
        let profile = v1_7::Profile {
            sample_type: vec![Default::default(), kind],
            sample: vec![sample],
            period_type: Some(period),
            location_indices: vec![0],
            ..Default::default()
        };
        let dictionary = v1_7::ProfilesDictionary {
            location_table: vec![Default::default()],
            string_table: vec![String::new()],
            ..Default::default()
        };
        let profiles = nest(&[1, 2, 2], &profile.encode_to_vec());
        let error = try_read("otlp-1.7", &[profiles, len(2, &dictionary.encode_to_vec())].concat());
        error.unwrap_err().to_string()
    };
    let kind = |type_strindex, unit_strindex| v1_7::ValueType {
        type_strindex,
        unit_strindex,
        ..Default::default()
    };
    let slice = |locations_start_index, locations_length| v1_7::Sample {
        locations_start_index,
        locations_length,
        value: vec![1, 2],
        ..Default::default()
    };
    for (error, said) in [
        (
            profile(slice(0, 1), kind(9, 0), kind(0, 0)),
            "sample_type[1].type_strindex: index 9 is out of range",
        ),
        (
            profile(slice(0, 1), kind(0, 9), kind(0, 0)),
            "sample_type[1].unit_strindex: index 9 is out of range",
        ),
        (
            profile(slice(0, 1), kind(0, 0), kind(0, 9)),
            "period_type.unit_strindex: index 9 is out of range",
        ),
        (
            profile(slice(-1, 1), kind(0, 0), kind(0, 0)),
            "locations_start_index: the slice starts at negative index",
        ),
        (
            profile(slice(0, -1), kind(0, 0), kind(0, 0)),
            "locations_length: the length of the slice is negative",
        ),
        (
            profile(slice(0, 2), kind(0, 0), kind(0, 0)),
            "locations_length: the slice ends at 0 + 2, past the end of the 1 location_indices",
        ),
    ] {
        assert!(error.contains(said), "{said}: {error}");
    }
    let mut newest = payload();
    self::profile(&mut newest).sample_type =
        Some(v1_10::ValueType { type_strindex: 1, unit_strindex: 99 });
    let error = try_read("otlp-1.10", &newest.encode_to_vec()).unwrap_err();
    assert!(error.place().ends_with("profiles[0].sample_type.unit_strindex"), "{error}");
    // The profile of OTEP 0239 is inside a container.
    let old = v1_3::Profile {
        period_type: Some(v1_3::ValueType { r#type: 9, ..Default::default() }),
        ..Default::default()
    };
    let container = v1_3::ProfileContainer { profile: Some(old), ..Default::default() };
    let error = try_read("otlp-1.3", &nest(&[1, 2, 2], &container.encode_to_vec())).unwrap_err();
    assert!(error.place().ends_with("profiles[0].profile.period_type.type"), "{error}");
}

/// Comments are one value of one attribute. Regression: the limit on attributes rejected 65,537 comments, whereas
/// 1.10 permits any number.
#[test]
fn a_profile_has_as_many_comments_as_it_likes() {
    let profile = pprof::Profile {
        comment: vec![1; 70_000],
        string_table: vec![String::new(), "c".to_owned()],
        ..Default::default()
    };
    let profiles = read("pprof", &profile.encode_to_vec());
    for format in ["pprof", "otlp-1.3", "otlp-1.7", "otlp-1.8", "otlp-1.10"] {
        let back = write("pprof", &read(format, &write(format, &profiles).0)).0;
        let back = pprof::Profile::decode(&back[..]).unwrap();
        assert_eq!(back.comment.len(), 70_000, "{format}");
    }
}
