//! Rules about bytes: file, compression, frames, wire format. No option names the format.

use otlp_profiles::check::{Options, Report, Rule, validate};
use otlp_profiles::compression::{Level, deflate};
use otlp_profiles::framing::{Framing, frame};
use otlp_profiles::fuzzing::Payload;
use otlp_profiles::{Format, Limits, Severity};

use super::bases::{GENERATIONS, base, format, in_full};
use super::wire::nest;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    deflate(bytes, Level::DEFAULT)
}

fn newest() -> Vec<u8> {
    base("7").encode()
}

/// The ids of errors and warnings, or of infos if there are no others.
fn found(report: &Report) -> Vec<&'static str> {
    let mut ids: Vec<_> = report
        .findings()
        .filter(|found| found.severity > Severity::Info)
        .map(|found| found.rule.id())
        .collect();
    ids.dedup();
    ids
}

#[track_caller]
fn is(bytes: &[u8], wanted: &[&str]) {
    let report = validate(bytes, &Options::default());
    let all: Vec<String> = report.findings().map(|found| found.to_string()).collect();
    assert_eq!(found(&report), wanted, "{:?} {all:#?}", report.format);
}

/// Checks bytes as the body of a request.
#[track_caller]
fn on_the_wire(bytes: &[u8], wanted: &[&str]) {
    let report = validate(bytes, &Options::default().wire(true));
    assert_eq!(found(&report), wanted, "{:?}", report.format);
}

/// Appends malformed fields to a message of each generation.
#[test]
fn what_is_wrong_with_the_wire_format_is_found_in_every_generation() {
    for (generation, name) in GENERATIONS {
        let whole = base(generation).encode();
        for (bytes, wanted) in WIRE {
            let mut payload = whole.clone();
            payload.extend_from_slice(bytes);
            let format = format(generation);
            for options in [Options::default(), Options::default().format(format)] {
                let report = validate(&payload, &options);
                let all: Vec<String> = report.findings().map(|found| found.to_string()).collect();
                assert_eq!(found(&report), [*wanted], "{name} {bytes:x?} {all:#?}");
                let named = options.format.is_some();
                assert!(!named || report.format == Some(format), "{name} {:?}", report.format);
            }
        }
        let empty = validate(&whole, &Options::default());
        assert!(found(&empty).iter().all(|id| *id == "OP0005"), "{name}: {:?}", found(&empty));
    }
}

const WIRE: &[(&[u8], &str)] = &[
    (b"\xf8\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "OP1001"),
    (b"\xf8\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", "OP1001"),
    (b"\xf8\x01\x80", "OP1002"),
    (b"\x80", "OP1002"),
    (b"\x8a\x80\x80\x80\x80\x80\x00", "OP1004"),
    (b"\x00", "OP1005"),
    (b"\x02\x00", "OP1005"),
    (b"\x88\x80\x80\x80\x40\x00", "OP1006"),
    (b"\xfe\x01", "OP1007"),
    (b"\xff\x01", "OP1007"),
    (b"\x0d\0\0\0\0", "OP1008"),
    (b"\x08\0", "OP1008"),
    (b"\x0a\x05\x00", "OP1009"),
    (b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "OP1010"),
    (b"\xfa\x01\x80\x80\x80\x80\x80\x00", "OP1010"),
    (b"\xf9\x01\x01\x02\x03", "OP1011"),
    (b"\xfd\x01\x01\x02\x03", "OP1011"),
    (b"\xfc\x01", "OP1014"),
    (b"\x0c", "OP1014"),
    (b"\xfb\x01", "OP1015"),
    (b"\xfb\x01\xf4\x01", "OP1015"),
    (b"\x0b", "OP1015"),
    (b"\x0b\x0c", "OP1008"),
    (b"\xfb\x01\xfc\x01", "OP1016"),
    (b"\xf8\x01\x01", "OP1019"),
];

#[test]
fn what_is_wrong_inside_is_found_there() {
    // A sample with 12 bytes of packed timestamps, and one whose attributes end within a varint.
    for (sample, rule, field) in [
        (&b"\x08\x01\x2a\x0c\0\0\0\0\0\0\0\0\0\0\0\0"[..], "OP1012", "timestamps_unix_nano"),
        (b"\x08\x01\x12\x01\x80", "OP1012", "attribute_indices"),
        (b"\x0a\x00", "OP1008", "stack_index"),
    ] {
        let profile = [&[0x12, sample.len() as u8], sample].concat();
        let scope = [&[0x12, profile.len() as u8], &profile[..]].concat();
        let resource = [&[0x12, scope.len() as u8], &scope[..]].concat();
        let mut payload = [&[0x0a, resource.len() as u8], &resource[..]].concat();
        payload.extend(newest());
        let report = validate(&payload, &Options::default().format(Format::OTLP));
        let finding = report.findings().find(|found| found.rule.id() == rule).expect(rule);
        let place =
            format!("resource_profiles[0].scope_profiles[0].profiles[0].samples[0].{field}");
        assert_eq!((finding.path.as_str(), found(&report)), (place.as_str(), vec![rule]));
        assert!(!report.is_readable());
    }
}

/// Generation 1.8 reads the profile id of 1.9 as a list of comments, whose strings would be
/// missing.
#[test]
fn an_id_of_a_wrong_length_is_no_list_of_comments() {
    for length in [15, 17] {
        let mut payload = base("6");
        payload.edit(&format!("$P.profile_id=x7f*{length}")).expect("it applies");
        let report = validate(&payload.encode(), &Options::default());
        assert_eq!(report.format, Some(Format::OTLP_1_9), "{report:?}");
        assert!(report.findings().any(|finding| finding.rule.id() == "OP6002"), "{report:?}");
    }
}

/// Regression: a finding about an element of a packed list had the byte where the list begins.
#[test]
fn a_number_of_a_list_is_found_at_its_own_byte() {
    let mut payload = base("7");
    let edits = "$S.attribute_indices[1]=1; $S.timestamps_unix_nano[1]=7; $S.values[1]=8";
    payload.edit(edits).expect("it applies");
    let payload = payload.encode();
    let report = validate(&payload, &Options::default());
    let byte = |rule: &str| {
        let finding = report.findings().find(|finding| finding.rule.id() == rule);
        finding.and_then(|finding| finding.byte).expect("a byte") as usize
    };
    let twice = byte("OP5002");
    assert_eq!(payload[twice - 3..=twice], [0x12, 2, 1, 1], "the second of two");
    let time = byte("OP4012");
    assert_eq!(payload[time..time + 8], 7u64.to_le_bytes());
}

/// If two keys repeat, both are reported, in the words of each format.
#[test]
fn each_key_that_comes_twice_is_found() {
    for (generation, rule, sample) in [("1", "OP4024", "$S"), ("P", "PP1018", "sample[0]")] {
        let mut payload = base(generation);
        let label = |row: usize, key: u64| {
            format!("{sample}.label[{row}].key={key}; {sample}.label[{row}].num=3; ")
        };
        let labels: String = (0..4).zip([5, 4, 5, 4]).map(|(row, key)| label(row, key)).collect();
        payload.edit(&labels).expect("it applies");
        let format = format(generation);
        let report = validate(&payload.encode(), &Options::default().format(format));
        let found = report.findings().filter(|found| found.rule.id() == rule);
        let found: Vec<_> = found.map(|found| (found.path.clone(), &*found.bound)).collect();
        let place = |row: usize| in_full(generation, &format!("{sample}.label[{row}]"));
        assert_eq!(found, [(place(2), "0"), (place(3), "1")]);
    }
}

/// An empty row of the string table is not a name.
#[test]
fn a_function_whose_names_are_empty_has_none() {
    let found = |name: &str| {
        let mut payload = base("7");
        let edits = format!(
            "$D.string_table[9]=\"\"; $D.function_table[1].name_strindex={name};
            $D.function_table[1].filename_strindex=-"
        );
        payload.edit(&edits).expect("it applies");
        let report = validate(&payload.encode(), &Options::default());
        report.findings().any(|finding| finding.rule.id() == "OP7008")
    };
    assert!(found("9") && found("-") && !found("3"));
}

#[test]
fn fields_that_come_twice_are_found() {
    let sample = |body: &[u8]| {
        let mut payload = newest();
        // One more sample, in a separate profile.
        let mut inner = body.to_vec();
        for tag in [0x12, 0x12, 0x12, 0x0a] {
            inner = [&[tag, inner.len() as u8], &inner[..]].concat();
        }
        payload.extend(inner);
        let report = validate(&payload, &Options::default().format(Format::OTLP));
        report.findings().map(|found| found.rule.id()).collect::<Vec<_>>()
    };
    assert!(sample(b"\x08\x01\x08\x01\x22\x01\x01").contains(&"OP1021"));
    assert!(
        sample(b"\x08\x01\x2a\x08\0\0\0\0\0\0\0\x01\x2a\x08\0\0\0\0\0\0\0\x01").contains(&"OP1024")
    );
    let twice = |field: &[u8]| {
        let mut payload = newest();
        payload.extend_from_slice(field);
        validate(&payload, &Options::default().format(Format::OTLP))
            .findings()
            .map(|found| found.rule.id())
            .collect::<Vec<_>>()
    };
    assert!(twice(b"\x0a\x04\x0a\x00\x0a\x00").contains(&"OP1022"));
    assert!(twice(b"\x12\x00").contains(&"OP2006"));
    assert!(twice(b"\x0a\x03\xc0\x3e\x01").contains(&"OP1020"));
    // An attribute of a resource whose value has two kinds.
    assert!(
        twice(b"\x0a\x0d\x0a\x0b\x0a\x09\x0a\x01k\x12\x04\x18\x01\x10\x01").contains(&"OP1023")
    );
}

#[test]
fn fields_of_a_later_generation_are_found() {
    // A 1.9 payload with a key by reference.
    let mut payload = base("6").encode();
    payload.extend(b"\x0a\x08\x0a\x06\x0a\x04\x12\x00\x18\x06");
    let report = validate(&payload, &Options::default().format(Format::OTLP_1_9));
    assert!(report.findings().any(|found| found.rule.id() == "OP5017"));
    // A 1.9 payload that the options name as 1.10.
    let report = validate(&base("6").encode(), &Options::default().format(Format::OTLP));
    assert!(report.rule_counts().any(|tally| tally.rule.id() == "OP0007"), "{report:#?}");
}

/// If the caller names a format without rules, the payload is not checked as another format.
#[test]
fn a_format_without_rules_is_not_checked_as_another() {
    for name in ["folded", "speedscope", "perf-script", "pprof-legacy", "osprofiler", "events"] {
        let report =
            validate(&newest(), &Options::default().format(name.parse::<Format>().unwrap()));
        let codes: Vec<_> = report.rule_counts().map(|tally| tally.rule.id()).collect();
        assert_eq!(codes, ["OP0004"], "{name}");
    }
}

#[test]
fn all_old_forms_that_pprof_reads_are_named() {
    // Java's format, with a 1; a thread of a server; counts of a Go program.
    let words = [0u32, 3, 1, 10_000, 0];
    is(&words.map(u32::to_le_bytes).concat(), &["OP0009"]);
    is(&words.map(|word| u64::from(word).to_be_bytes()).concat(), &["OP0009"]);
    is(b"--- Thread 7f794ab90940 (name: main/14748) stack: ---\n", &["OP0009"]);
    is(b"open.files profile: total 3\n3 @ 0x1 0x2\n", &["OP0009"]);
    // Other tools read jemalloc's format.
    is(b"heap_v2/524288\n  t*: 1: 2 [0: 0]\n", &["OP0004"]);
}

#[test]
fn what_contains_a_payload_is_checked() {
    let file = gzip(&newest());
    let at_end = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut file = file.clone();
        change(&mut file);
        file
    };
    let end = file.len();
    is(b"", &["OP0001"]);
    is(&gzip(b""), &["OP0001"]);
    is(b"garbage text", &["OP0004"]);
    is(b"\xff\xfe\xfd\xfc", &["OP0004"]);
    for json in
        [&b" {\"resourceProfiles\":[]}"[..], "\u{feff} {\"resourceProfiles\":[]}".as_bytes()]
    {
        is(json, &["OP2001"]);
        on_the_wire(json, &["OP0008"]);
    }
    is(b"{\"error\": \"no\"}", &["OP0008"]);
    is(b"heap profile: 1: 2 [3: 4] @ heap_v2/1\n", &["OP0009"]);
    let words = [0u32, 3, 0, 10_000, 0];
    is(&words.map(u32::to_le_bytes).concat(), &["OP0009"]);
    is(&words.map(u32::to_be_bytes).concat(), &["OP0009"]);
    is(&words.map(|word| u64::from(word).to_be_bytes()).concat(), &["OP0009"]);
    for framing in [Framing::LengthPrefixed, Framing::Grpc] {
        is(&frame(framing, [newest()]).unwrap(), &[]);
        on_the_wire(&frame(framing, [newest()]).unwrap(), &["OP0010"]);
    }
    let mut delimited = vec![(newest().len() & 0x7f) as u8 | 0x80, (newest().len() >> 7) as u8];
    delimited.extend(newest());
    is(&delimited, &[]);
    on_the_wire(&delimited, &["OP0010"]);
    is(&at_end(&|file| file[2] = 7), &["OP0020"]);
    is(&at_end(&|file| file[3] = 0xe0), &["OP0020"]);
    is(b"\x1f\x8b", &["OP0021"]);
    is(&file[..end - 9], &["OP0021"]);
    is(&at_end(&|file| file[end - 8] ^= 1), &["OP0022"]);
    is(&at_end(&|file| file[end - 1] ^= 1), &["OP0023"]);
    is(&at_end(&|file| file[10] |= 7), &["OP0024"]);
    is(&at_end(&|file| file.extend(b"garbage")), &["OP0025"]);
    is(&at_end(&|file| file.extend([0; 512])), &["OP0026"]);
    let (head, tail) = (newest()[..40].to_vec(), newest()[40..].to_vec());
    is(&[gzip(&head), gzip(&tail)].concat(), &["OP0027"]);
    is(&gzip(b"").repeat(10_000), &["OP0028"]);
    is(&gzip(&file), &["OP0030"]);
    is(b"\x28\xb5\x2f\xfd\x04\0\x01\0\0", &["OP0031"]);
    is(
        &at_end(&|file| {
            file[3] = 2;
            file.splice(10..10, [0, 0]);
        }),
        &["OP0033"],
    );
    is(
        &at_end(&|file| {
            file[3] = 8;
            file.splice(10..10, [b'a'; 100_000]);
        }),
        &["OP0029"],
    );
    let bomb = gzip(&vec![0; 1 << 20]);
    let limits = Limits::network().max_decompressed_bytes(1 << 16).max_input_bytes(1 << 11);
    let report = validate(&bomb, &Options::default().limits(limits));
    assert_eq!(found(&report), ["OP0003"]);
    let report = validate(&[0x0a; 1 << 12], &Options::default().limits(limits));
    assert_eq!(found(&report), ["OP0002"]);
    assert!(report.is_limited());
}

#[test]
fn a_payload_that_reads_otherwise_as_well_is_a_warning() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/ambiguous-1.10-or-1.9.otlp");
    let report = validate(&std::fs::read(path).unwrap(), &Options::default());
    assert!(found(&report).contains(&"OP0005"), "{:?}", found(&report));
    let nothing = |payload: &[u8]| found(&validate(payload, &Options::default()));
    assert!(nothing(b"\x0a\0\x0a\0").contains(&"OP0005"));
    assert!(!nothing(b"\x0a\x02\x0a\0").contains(&"OP0005"));
}

/// The limit on attributes applies to labels, in OTEP 0239 as in pprof.
#[test]
fn labels_have_a_limit() {
    let sample = |labels: usize| nest(&[2], &b"\x1a\x02\x08\x01".repeat(labels));
    let limits = Limits::network().max_attributes_per_item(2);
    for (format, path) in [(Format::PPROF, &[][..]), (Format::OTLP_1_3, &[1, 2, 2, 8])] {
        for (labels, wanted) in [(2, false), (3, true)] {
            let payload = nest(path, &sample(labels));
            let report = validate(&payload, &Options::default().limits(limits).format(format));
            assert_eq!(found(&report).contains(&"OP9010"), wanted, "{format}: {labels}");
        }
    }
}

/// JSON is checked if the options name its format, and findings have the path in the message.
#[test]
fn json_is_checked_by_the_bytes_it_says() {
    let json =
        |text: &str| validate(text.as_bytes(), &Options::default().format(Format::OTLP_JSON));
    let report = json(
        r#"{"resourceProfiles":[{"scopeProfiles":[{"profiles":[{"samples":[{"stackIndex":9}]}]}]}],"dictionary":{"stackTable":[{}]}}"#,
    );
    let dangling = report.findings().find(|found| found.rule.id() == "OP3101").expect("it dangles");
    let place = "resource_profiles[0].scope_profiles[0].profiles[0].samples[0].stack_index";
    assert_eq!((dangling.path.as_str(), dangling.byte), (place, None));
    assert_eq!(report.format, Some(Format::OTLP_JSON));
    assert_eq!(found(&json("{\"resourceProfiles\":7}")), ["OP0004"]);
    assert_eq!(found(&json("{\"resourceProfiles\":[]}")), ["OP2001"]);
    // Unknown names are the commonest mistake in JSON. Findings about the protobuf encoding do not
    // apply to it.
    let text = r#"{"resourceProfiles":[{"scopeProfiles":[{"profiles":[{"sampleTyp":{},"samples":[{"stackIndex":0}]}]}]}],"dictionary":{"stackTable":[{}]}}"#;
    let report = json(text);
    let unknown = report.findings().find(|found| found.rule.id() == "OP1019").expect("unknown");
    assert!(unknown.value.contains("sampleTyp"), "{}", unknown.value);
    assert!(report.findings().all(|found| found.rule.id() != "OP1003"));
}

/// Findings about whole files, in each generation.
#[test]
fn files_of_every_generation_are_checked() {
    let ids = |bytes: &[u8], options: Options| -> Vec<&'static str> {
        validate(bytes, &options).findings().map(|found| found.rule.id()).collect()
    };
    for (generation, _) in GENERATIONS {
        let format = format(generation);
        let options = Options::default().format(format);
        let whole = base(generation).encode();
        // Up to 1.7, the specification required files to be compressed.
        let told = ids(&whole, options.clone()).contains(&"OP0032");
        assert_eq!(told, generation == "P" || generation < "5", "{generation}");
        assert!(!ids(&gzip(&whole), options).contains(&"OP0032"), "{generation}");
    }
    // A lone dictionary reads alike in all generations since 1.8.
    let mut node = Payload::new(Format::OTLP).unwrap();
    node.edit("$D.string_table[0]=\"\"; $D.mapping_table[0]={}").expect("it applies");
    let found = ids(&node.encode(), Options::default());
    assert!(found.contains(&"OP0006"), "{found:?}");
    assert!(!ids(&newest(), Options::default()).contains(&"OP0006"));
}

#[test]
fn answers_of_receivers_are_checked() {
    // A response with a message only, and a message that could be a scope of a request.
    is(b"\x0a\x0a\x12\x08too many", &[]);
    is(b"\x0a\x04\x12\x02\x1a\x00", &["OP2003"]);
    is(b"\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", &["OP2030"]);
    is(b"\x0a\x02\x08\x05", &[]);
    is(b"\x0a\x0b\x08\x05\x12\x07too \xffol", &["OP1018"]);
}

#[test]
fn two_profiles_in_one_file_are_found() {
    let one = base("P").encode();
    is(&[&one[..], &one].concat(), &["PP1014"]);
    // The inner profile of OTEP 0239.
    is(&[&one[..], b"\x7a\x01\x01"].concat(), &["PP1035"]);
    // The bytes before and after it are checked, too.
    is(&[&one[..], b"\x7a\x00\x6c"].concat(), &["PP1035", "OP1014"]);
}

#[test]
fn locations_that_are_written_one_by_one_tell_samples_apart() {
    let of = |samples: &[u8]| {
        let locations = b"\x22\x04\x08\x01\x18\x01\x22\x04\x08\x02\x18\x02\x22\x04\x08\x03\x18\x03";
        let strings = b"\x32\x00\x32\x03cpu\x32\x02ns";
        let payload = [&b"\x0a\x04\x08\x01\x10\x02"[..], samples, locations, strings].concat();
        let report = validate(&payload, &Options::default().format(Format::PPROF));
        assert!(report.is_ok(), "{report:?}");
        report.rule_counts().any(|tally| tally.rule.id() == "PP1032")
    };
    // Two stacks of two frames that share the last one, and then one stack in both forms.
    assert!(!of(b"\x12\x06\x08\x01\x08\x03\x10\x07\x12\x06\x08\x02\x08\x03\x10\x07"));
    assert!(of(b"\x12\x06\x08\x01\x08\x03\x10\x07\x12\x06\x0a\x02\x01\x03\x10\x07"));
}

#[test]
fn limits_are_findings() {
    let limits = Limits::network;
    for (limits, rule) in [
        (limits().max_strings(3), "OP9001"),
        (limits().max_samples(0), "OP9002"),
        (limits().max_table_entries(1), "OP9003"),
        (limits().max_string_bytes(3), "OP9004"),
        (limits().max_stack_depth(0), "OP9005"),
        (limits().max_owned_bytes(10), "OP9006"),
        (limits().max_lines_per_location(0), "OP9007"),
        (limits().max_attributes_per_item(0), "OP9010"),
        (limits().max_nesting(3), "OP1017"),
    ] {
        let options = Options::default().limits(limits).format(Format::OTLP);
        let report = validate(&newest(), &options);
        assert!(
            report.is_limited() && found(&report).contains(&rule),
            "{rule}: {:?}",
            found(&report)
        );
        // Tables are in the dictionary, whose limits are checked before the walk.
        if matches!(rule, "OP9001" | "OP9003") {
            let found = report.findings().find(|found| found.rule.id() == rule).unwrap();
            assert!(found.path.starts_with("dictionary."), "{found}");
        }
    }
}

#[test]
fn all_messages_of_a_file_share_the_limit_of_inflated_bytes() {
    let message = newest();
    let file = frame(Framing::LengthPrefixed, [&gzip(&message), &gzip(&message)]).expect("frames");
    let of = |most: usize| {
        let limits = Limits::network().max_decompressed_bytes(most as u64);
        let report = validate(&file, &Options::default().limits(limits));
        report.is_limited()
    };
    assert!(!of(2 * message.len()), "both fit");
    assert!(of(2 * message.len() - 1), "each fits, both do not");
}

/// Values without findings can be read: checker and reader both count an array as two messages and
/// a map as three.
#[test]
fn values_are_as_deep_as_readers_take_them() {
    let field = |number: u8, body: Vec<u8>| {
        let mut out = vec![number << 3 | 2];
        prost::encoding::encode_varint(body.len() as u64, &mut out);
        out.extend(body);
        out
    };
    let key = |value: Vec<u8>| [b"\x0a\x01k".to_vec(), field(2, value)].concat();
    let array = |value: Vec<u8>| field(5, field(1, value));
    let map = |value: Vec<u8>| field(6, field(1, key(value)));
    for (around, deepest) in [(&array as &dyn Fn(Vec<u8>) -> Vec<u8>, 126), (&map, 84)] {
        for depth in deepest - 1..deepest + 3 {
            let value = (0..depth).fold(b"\x18\x07".to_vec(), |value, _| around(value));
            let mut payload = newest();
            payload.splice(0..0, field(1, field(1, field(1, key(value)))));
            let report = validate(&payload, &Options::default().format(Format::OTLP));
            let options = otlp_profiles::ReadOptions::default().format(Format::OTLP);
            let read = otlp_profiles::read(&payload, &options).map(|_| ());
            assert_eq!(read.is_ok(), depth <= deepest, "{depth}: {read:?}");
            assert_eq!(report.is_limited(), read.is_err(), "{depth}: {report:?}");
        }
    }
}

#[test]
fn rows_of_a_pprof_are_found_at_their_bytes() {
    for (rule, edit) in [
        ("PP1001", "string_table[0]=\"odd text\""),
        ("PP1031", "string_table[7]=\"odd text\"; string_table[8]=\"odd text\""),
        ("PP1038", "string_table[7]=\"odd text\""),
    ] {
        let mut node = base("P");
        node.edit(edit).expect("it applies");
        let bytes = node.encode();
        let at = bytes.windows(8).rposition(|part| part == b"odd text").map(|at| at as u64);
        let report = validate(&bytes, &Options::default().format(Format::PPROF));
        let found = report.findings().find(|found| found.rule.id() == rule).unwrap();
        assert_eq!(found.byte, at, "{found}");
    }
}

/// A hundred findings of a rule are listed and the others counted, in linear time.
#[test]
fn findings_are_counted() {
    let mut payload = nest(&[1, 2, 2], &b"\x12\x02\x08\x09".repeat(32_000));
    payload.extend(b"\x12\x0e\x0a\x00\x12\x00\x1a\x00\x22\x00\x2a\x00\x32\x00\x3a\x00");
    let report = validate(&payload, &Options::default().format(Format::OTLP));
    let count = |id: &str| {
        report.rule_counts().find(|tally| tally.rule.id() == id).map(|tally| tally.count)
    };
    assert_eq!((count("OP3101"), count("OP4001")), (Some(32_000), Some(32_000)));
    assert!(report.findings().len() < 1_000);
    assert!(report.findings().any(|found| found.value == "31900 more of OP3101"));
}

/// A finding declares whether its byte offset refers to the original file.
#[test]
fn findings_know_whose_byte_they_have() {
    let with_sample = nest(&[1, 2, 2], b"\x12\x02\x08\x09");
    let payload =
        [&with_sample[..], b"\x12\x0e\x0a\x00\x12\x00\x1a\x00\x22\x00\x2a\x00\x32\x00\x3a\x00"];
    let payload = payload.concat();
    let of = |file: &[u8], rule: &str| {
        let report = validate(file, &Options::default().format(Format::OTLP));
        let found = report.findings().find(|found| found.rule.id() == rule).expect("a finding");
        (found.byte.is_some(), found.in_file)
    };
    assert_eq!(of(&payload, "OP3101"), (true, true));
    assert_eq!(of(&gzip(&payload), "OP3101"), (true, false));
    let padded = [&gzip(&payload)[..], &[0; 9]].concat();
    assert_eq!((of(&padded, "OP0026"), of(&padded, "OP3101")), ((true, true), (true, false)));
    // The byte of a finding about compression within a frame does not refer to the file either.
    let framed = frame(Framing::LengthPrefixed, [&payload[..], &padded]).unwrap();
    assert_eq!((of(&framed, "OP0010"), of(&framed, "OP3101")), ((true, true), (true, false)));
    assert_eq!(of(&framed, "OP0026"), (true, false));
}

#[test]
fn a_message_that_is_cut_off_is_named_once() {
    let framed = frame(Framing::LengthPrefixed, [newest(), newest()]).unwrap();
    let report = validate(&framed[..framed.len() - 3], &Options::default().format(Format::OTLP));
    let cut = report.findings().find(|found| found.rule.id() == "OP1009").expect("it is cut off");
    assert_eq!(cut.path, "message[1]");
}

/// Traces are recognised as another signal, not reported as broken profiles: field 8 of a span does
/// not exist in a profile.
#[test]
fn traces_are_no_broken_profiles() {
    let times = [&[0x39][..], &1u64.to_le_bytes(), &[0x41], &2u64.to_le_bytes()].concat();
    let ids = [&b"\x0a\x10"[..], &[1; 16], b"\x12\x08", &[2; 8], b"\x2a\x04span\x30\x01"].concat();
    let traces = nest(&[1, 2, 2], &[ids, times].concat());
    let report = validate(&traces, &Options::default());
    assert_eq!(found(&report), ["OP0004"], "{report:?}");
    assert!(report.findings().next().is_some_and(|found| found.value.contains("traces")));
}

/// The number of faults decides. Only between equal numbers does the first place decide.
#[test]
fn a_broken_message_is_checked_as_the_format_with_the_fewest_faults() {
    let mut node = base("4");
    node.edit("$R.resource.raw=x1800; $S.raw=x00").expect("it applies");
    let payload = node.encode();
    let faults = |name: &str| {
        let rules = ["OP1005", "OP1008", "OP1019"].map(|id| Rule::find(id).expect("a rule"));
        let options = Options::default().format(name.parse::<Format>().expect("a format"));
        let report = validate(&payload, &options.only(rules.into()));
        let errors = report.findings().filter(|found| found.severity == Severity::Error);
        let first = errors.filter_map(|found| found.byte).min();
        (report.rule_counts().map(|tally| tally.count).sum::<u64>(), first)
    };
    let own = faults("otlp-1.7");
    let others = GENERATIONS.iter().map(|(_, name)| faults(name));
    assert!(others.clone().any(|other| other.0 > own.0 && other.1 > own.1), "{own:?}");
    let report = validate(&payload, &Options::default());
    assert_eq!(report.format, Some(Format::OTLP_1_7));
}

#[test]
fn a_length_near_2_to_the_64_does_not_overflow() {
    let payload = [&b"\x0a"[..], &[0xff; 9], b"\x01"].concat();
    assert_eq!(found(&validate(&payload, &Options::default())), ["OP1010"]);
}

#[test]
fn a_resource_without_profiles_needs_the_dictionary_for_its_keys() {
    // An attribute with `key_strindex` 6.
    let resource = |key: u8| vec![0x0a, 6, 0x0a, 4, 0x0a, 2, 0x18, key];
    let options = Options::default().format(Format::OTLP);
    assert_eq!(found(&validate(&resource(6), &options)), ["OP2005", "OP2002"]);
    assert_eq!(found(&validate(&[0x0a, 2, 0x0a, 0], &options)), ["OP2002"]);
}
