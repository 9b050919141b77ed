//! Reads hostile input: no reader panics, allocates memory out of proportion, or trusts it.
#![cfg(feature = "proto-all")]

use crate::support;
use crate::support::alloc::cost;
use crate::support::doc::{Attribute, Doc, Profile, Resource, Scope, Type, Val};
use crate::support::forms::{FORMS, form};
use crate::support::generate::{Room, Tape, doc};
use crate::support::some;
use crate::support::wire::{
    FIXED32, FIXED64, GROUP, GROUP_END, LEN, VARINT, deep, int, len, nest, overlong, tag, varint,
};
use crate::support::{options, read, testdata, try_read, write};
use otlp_profiles::builder::root_first;
use otlp_profiles::compression::{Level, deflate};
use otlp_profiles::proto::{pprof, prost::Message, v1_3, v1_7, v1_10};
use otlp_profiles::{
    Builder, ErrorKind, Format, Limits, Policy, Profiles, ReadOptions, WriteOptions,
};
use proptest::prelude::*;

const MIB: i64 = 1 << 20;

/// The protobuf formats.
fn protobufs() -> impl Iterator<Item = &'static str> {
    let protobufs = Format::ALL.iter().filter(|format| format.is_whole() && !format.is_json());
    protobufs.map(|format| format.name())
}

/// A small payload of each format with data in most of its messages.
fn small(name: &str) -> Vec<u8> {
    let numbers = |seed: u32| {
        let at = (1..=500u32).map(move |at| at + seed * 1000);
        at.map(|at| at.wrapping_mul(2_654_435_761) >> 3).collect()
    };
    let known = FORMS.iter().find(|form| form.name == name);
    let form = known.unwrap_or(form("otlp"));
    let room = Room { caps: form.caps, portable: true };
    let rich = |doc: &Doc| {
        let scopes = doc.resources.iter().flat_map(|r| &r.scopes);
        let profiles: Vec<_> = scopes.flat_map(|s| &s.profiles).collect();
        profiles.len() == 1 && profiles[0].samples.len() > 2 && doc.tables.stacks.len() > 1
    };
    let mut documents = (0..).map(|seed| doc(&mut Tape::new(numbers(seed)), room));
    let document = documents.find(rich).expect("one of many");
    match name {
        "pprof" => support::generate::pprof_profile(&mut Tape::new(
            (1..=200u32).map(|at| at.wrapping_mul(40_503_001)).collect(),
        ))
        .encode_to_vec(),
        "otlp-json" => write(name, &read("otlp", &(form.lower)(&document))).0,
        _ => (form.lower)(&document),
    }
}

/// Reads with either policy. A successful result is valid: every format can write it.
fn survive(name: &str, bytes: &[u8]) -> otlp_profiles::Result<Profiles> {
    let repairing = options(name).policy(Policy::Repair);
    if let Ok(readings) = support::read_all(bytes, &repairing) {
        for reading in readings {
            for format in ["pprof", "otlp", "otlp-1.3", "folded"] {
                let _ = otlp_profiles::write_all(
                    &reading.profiles,
                    support::format(format),
                    &WriteOptions::default(),
                );
            }
        }
    }
    let _ = otlp_profiles::detect(bytes, &ReadOptions::default());
    let _ = support::read_all(bytes, &ReadOptions::default());
    try_read(name, bytes)
}

#[test]
fn illegal_tags_are_refused() {
    let mut cases = Vec::new();
    for kind in [VARINT, FIXED64, LEN, FIXED32] {
        cases.push([vec![kind], vec![0; 8]].concat()); // field 0
    }
    cases.push([varint((1 << 29) << 3), vec![0]].concat());
    cases.push([varint(u64::MAX >> 3 << 3), vec![0]].concat());
    cases.push([overlong(100 << 3, 6), vec![0]].concat());
    cases.push([overlong(100 << 3, 11), vec![0]].concat());
    for kind in [6, 7] {
        for number in [1, 2, 6, 100, 1000] {
            cases.push([tag(number, kind), vec![0; 8]].concat());
        }
    }
    for name in protobufs() {
        for case in &cases {
            for bytes in [case.clone(), [small(name), case.clone()].concat()] {
                assert!(survive(name, &bytes).is_err(), "{name} reads {bytes:02x?}");
            }
        }
    }
}

#[test]
fn flags_of_a_mapping_are_varints() {
    for number in 7..=10 {
        let mapping = |flag: Vec<u8>| {
            let mapping = [int(1, 99), flag].concat();
            survive("pprof", &[small("pprof"), len(3, &mapping)].concat())
        };
        assert!(mapping(int(number, 1)).is_ok(), "{number}");
        let fixed = [tag(number, FIXED32), vec![0; 4]].concat();
        assert!(mapping(fixed).is_err(), "{number}");
        assert!(mapping(len(number, &[1])).is_err(), "{number}");
    }
}

#[test]
fn illegal_lengths_are_refused() {
    for name in protobufs() {
        for length in [u64::MAX, 1 << 63, 1 << 32, u64::from(u32::MAX), 1 << 31, 1 << 20, 3] {
            for number in [1, 2, 3, 4, 5, 6, 7, 100] {
                let bytes = [small(name), tag(number, LEN), varint(length), vec![0, 0]].concat();
                assert!(
                    survive(name, &bytes).is_err(),
                    "{name} reads field {number} of {length} bytes"
                );
            }
        }
        let bytes = [tag(1, LEN), overlong(0, 11)].concat();
        assert!(survive(name, &bytes).is_err(), "{name} reads a length of 11 bytes");
    }
}

#[test]
fn unmatched_groups_are_refused_and_whole_ones_skipped() {
    let (begin, end) = (tag(200, GROUP), tag(200, GROUP_END));
    let bad = [
        end.clone(),
        begin.clone(),
        [begin.clone(), begin.clone(), end.clone()].concat(),
        [begin.clone(), tag(201, GROUP_END)].concat(),
        [begin.clone(), tag(201, GROUP), end.clone(), tag(201, GROUP_END)].concat(),
        [begin.clone(), len(1, &end)].concat(),
        [tag(1, GROUP), tag(1, GROUP_END)].concat(),
    ];
    let good = [
        [begin.clone(), end.clone()].concat(),
        [begin.clone(), int(1, 5), len(2, b"x"), begin.clone(), end.clone(), end.clone()].concat(),
    ];
    for name in protobufs() {
        for case in &bad {
            assert!(
                survive(name, &[small(name), case.clone()].concat()).is_err(),
                "{name} reads {case:02x?}"
            );
        }
        for case in &good {
            let model = survive(name, &[small(name), case.clone()].concat())
                .unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(model, read(name, &small(name)), "{name}");
        }
        let deep: Vec<u8> = begin.iter().copied().cycle().take(begin.len() * 100_000).collect();
        assert!(survive(name, &deep).is_err(), "{name}");
    }
}

#[test]
fn every_prefix_of_a_small_payload_is_an_end_or_an_error() {
    for name in Format::ALL.iter().filter(|format| format.is_whole()).map(|format| format.name()) {
        let bytes = small(name);
        assert!(bytes.len() > 60, "{name}: {}", bytes.len());
        // JSON has no lengths that truncation could break, and is the longest: test every eighth end.
        let step = if name == "otlp-json" { 8 } else { 1 };
        let ends = some((0..bytes.len()).step_by(step));
        let read = ends.filter(|&end| survive(name, &bytes[..end]).is_ok()).count();
        // Reading succeeds only at the end of an outermost field. Most of those of pprof are strings and rows.
        let fields = top_level_fields(name, &bytes);
        assert!(
            read <= fields,
            "{name}: {read} prefixes of {} bytes in {fields} fields are read",
            bytes.len()
        );
    }
}

fn top_level_fields(name: &str, bytes: &[u8]) -> usize {
    if name == "otlp-json" {
        return 2;
    }
    let (mut at, mut fields) = (0, 1);
    while at < bytes.len() {
        let mut varint = || {
            let (mut value, mut shift) = (0u64, 0);
            loop {
                value |= u64::from(bytes[at] & 0x7f) << shift;
                (at, shift) = (at + 1, shift + 7);
                if bytes[at - 1] < 0x80 {
                    return value;
                }
            }
        };
        if varint() & 7 == u64::from(LEN) {
            let length = varint() as usize;
            at += length;
        } else {
            varint();
        }
        fields += 1;
    }
    fields
}

#[test]
fn every_prefix_of_recorded_payloads_is_survived() {
    for (name, bytes) in testdata(&[
        "threadcreate.pb.gz",
        "mutex.pb.gz",
        "block.pb.gz",
        "gperftools-heap.pb.gz",
        ".binpb",
    ]) {
        let format = match &*name {
            name if name.contains(".pb.") => "pprof",
            name if name.starts_with("otlp-1.3") => "otlp-1.3",
            _ => "otlp",
        };
        for end in some(0..bytes.len()) {
            let _ = survive(format, &bytes[..end]);
        }
        // No prefix of a gzip stream is complete.
        let gzip = deflate(&bytes, Level::default());
        for end in some(2..gzip.len()) {
            assert!(
                support::read_all(&gzip[..end], &options(format)).is_err(),
                "{name}, {end} bytes of gzip"
            );
        }
    }
}

/// One field in every encoding that the wire format permits gives the same values.
#[test]
fn packed_unpacked_and_split_lists_are_one() {
    let strings = nest(&[5], b"");
    let dictionary = |stack: &[u8]| {
        let location = |address| len(2, &int(2, address));
        let rows =
            [len(2, b""), location(7), location(8), strings.clone(), len(7, b""), len(7, stack)]
                .concat();
        len(2, &rows)
    };
    let profile = |sample: &[u8]| nest(&[1, 2, 2], &[len(1, b""), len(2, sample)].concat());
    let stacks = [
        len(1, &[1, 2, 1]),
        [int(1, 1), int(1, 2), int(1, 1)].concat(),
        [len(1, &[1]), len(1, &[2, 1])].concat(),
        [int(1, 1), len(1, &[]), len(1, &[2]), int(1, 1)].concat(),
    ];
    let fixed = |value: u64| value.to_le_bytes();
    let samples = [
        [int(1, 1), len(4, &[5, 6]), len(5, &[fixed(1), fixed(2)].concat())].concat(),
        [len(4, &[5]), int(4, 6), tag(5, FIXED64), fixed(1).to_vec(), len(5, &fixed(2)), int(1, 1)]
            .concat(),
        // The last occurrence of a singular field wins.
        [
            int(1, 0),
            int(4, 5),
            int(4, 6),
            len(5, &[fixed(1), fixed(2)].concat()),
            int(3, 0),
            int(1, 1),
        ]
        .concat(),
    ];
    let mut models = Vec::new();
    for stack in &stacks {
        for sample in &samples {
            for bytes in [
                [profile(sample), dictionary(stack)].concat(),
                [dictionary(stack), profile(sample)].concat(),
            ] {
                let prost = v1_10::ProfilesData::decode(&bytes[..]).expect("prost reads it");
                assert_eq!(prost.dictionary.unwrap().stack_table[1].location_indices, [1, 2, 1]);
                models.push(read("otlp", &bytes));
            }
        }
    }
    let sample = models[0].iter().next().unwrap().samples().get(0).unwrap();
    assert_eq!((sample.values, sample.timestamps_unix_nano), (&[5, 6][..], &[1, 2][..]));
    assert_eq!(models[0].dictionary().stack(sample.stack).len(), 3);
    assert!(models.iter().all(|model| *model == models[0]), "and so are the models");
}

#[test]
fn a_location_that_is_none_is_placed_by_the_first_sample_whose_slice_has_it() {
    let sample = |start, length| v1_7::Sample {
        locations_start_index: start,
        locations_length: length,
        ..Default::default()
    };
    let profile = v1_7::Profile {
        location_indices: vec![1, 0, 1, 5, 0],
        sample: vec![sample(0, 2), sample(2, 3), sample(3, 2), sample(2, 3)],
        ..Default::default()
    };
    let data = v1_7::ProfilesData {
        resource_profiles: vec![v1_7::ResourceProfiles {
            scope_profiles: vec![v1_7::ScopeProfiles {
                profiles: vec![profile],
                ..Default::default()
            }],
            ..Default::default()
        }],
        dictionary: Some(v1_7::ProfilesDictionary {
            location_table: vec![v1_7::Location::default(); 2],
            string_table: vec![String::new()],
            ..Default::default()
        }),
    };
    let bytes = data.encode_to_vec();
    let place = "resource_profiles[0].scope_profiles[0].profiles[0].samples[1].location_indices[1]";
    let error = try_read("otlp-1.7", &bytes).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("{place}: index 5 is out of range: the table has 2 rows")
    );
    let options = options("otlp-1.7").policy(Policy::Repair);
    let repaired = otlp_profiles::read(&bytes, &options).unwrap();
    let found = |code: &str| repaired.findings.iter().find(|found| found.code == code);
    let found = found("index.out_of_range").expect("it is found");
    assert_eq!((found.place.as_str(), found.count), (place, 2));
    let profile = repaired.profiles.iter().next().unwrap();
    let depths = profile.samples().iter();
    let depths: Vec<usize> =
        depths.map(|sample| repaired.profiles.dictionary().stack(sample.stack).len()).collect();
    assert_eq!(depths, [2, 2, 1, 2]);
}

#[test]
fn messages_given_twice_are_merged_and_oneofs_take_the_last() {
    let value = |body: &[u8]| nest(&[1, 1, 1], &[len(1, b"k"), len(2, body)].concat());
    let said =
        |bytes: &[u8]| format!("{:?}", support::model::doc_of(&read("otlp", bytes)).resources);
    let cases: [(Vec<u8>, &str); 4] = [
        (value(&int(3, 0)), "(\"k\", Int(0))"),
        (value(&[int(3, 7), len(1, b"x")].concat()), "(\"k\", Str(\"x\"))"),
        (value(&[len(1, b"x"), int(2, 1)].concat()), "(\"k\", Bool(true))"),
        // Two resources in one ResourceProfiles: their attributes are combined, and the last count wins.
        (
            len(
                1,
                &[
                    len(1, &[len(1, &len(1, b"a")), int(2, 5)].concat()),
                    len(1, &[len(1, &len(1, b"b")), int(2, 6)].concat()),
                ]
                .concat(),
            ),
            "dropped: 6",
        ),
    ];
    for (bytes, expected) in cases {
        assert!(said(&bytes).contains(expected), "{}", said(&bytes));
        let prost = v1_10::ProfilesData::decode(&bytes[..]).expect("prost reads it");
        assert_eq!(said(&prost.encode_to_vec()), said(&bytes), "as prost merges them");
    }
    // A list that occurs twice in one value is one list. pprof's period type is one message in two halves.
    let array = |value: u64| len(5, &len(1, &int(3, value)));
    let twice = value(&[array(1), array(2)].concat());
    let prost = v1_10::ProfilesData::decode(&twice[..]).expect("prost reads it");
    assert_eq!(said(&prost.encode_to_vec()), said(&twice));
    let halves = [
        len(6, b""),
        len(6, b"cpu"),
        len(6, b"ns"),
        len(11, &int(1, 1)),
        len(11, &int(2, 2)),
        int(10, 1),
        int(10, 2),
    ]
    .concat();
    let model = read("pprof", &halves);
    let profile = model.iter().next().unwrap();
    let text = |id| model.dictionary().text(id);
    assert_eq!(
        (
            text(profile.period_type().name),
            text(profile.period_type().unit),
            profile.duration_nanos()
        ),
        ("cpu", "ns", 2)
    );
}

/// Replaces a byte of a marked string with one that begins no UTF-8 character.
#[test]
fn text_that_is_not_utf8_is_refused_wherever_it_is() {
    const MARK: &str = "here it is";
    type Mark = fn(&mut Doc);
    let places: [(&str, Mark); 9] = [
        ("schema url", |d| d.resources[0].schema_url = MARK.into()),
        ("resource key", |d| {
            d.resources[0].attributes = vec![(MARK.into(), Val::Int(1))];
        }),
        ("resource value", |d| {
            d.resources[0].attributes = vec![("k".into(), Val::Array(vec![Val::str(MARK)]))];
        }),
        ("scope name", |d| d.resources[0].scopes[0].name = MARK.into()),
        ("scope version", |d| d.resources[0].scopes[0].version = MARK.into()),
        ("scope schema url", |d| d.resources[0].scopes[0].schema_url = MARK.into()),
        ("type", |d| d.resources[0].scopes[0].profiles[0].types[0].name = MARK.into()),
        ("payload format", |d| {
            d.resources[0].scopes[0].profiles[0].original = (MARK.into(), vec![1]);
        }),
        ("attribute", |d| {
            let (key, value, unit) = ("k".to_owned(), Val::str(MARK), String::new());
            d.tables.attributes = vec![Attribute { key, value, unit }];
            d.resources[0].scopes[0].profiles[0].attributes = vec![0];
        }),
    ];
    for form in FORMS {
        for (place, mark) in places {
            let mut doc = Doc::default();
            doc.resources.push(Resource::default());
            doc.resources[0].scopes.push(Scope::default());
            let types = vec![Type { name: "cpu".into(), ..Type::default() }];
            doc.resources[0].scopes[0].profiles.push(Profile {
                id: [1; 16],
                types,
                ..Profile::default()
            });
            mark(&mut doc);
            let mut bytes = (form.lower)(&doc);
            assert!(try_read(form.name, &bytes).is_ok(), "{}, {place}", form.name);
            let at = bytes.windows(MARK.len()).position(|window| window == MARK.as_bytes());
            bytes[at.unwrap_or_else(|| panic!("{} has no {place}", form.name))] = 0xff;
            assert!((form.raise)(&bytes).is_err(), "prost reads {place} of {}", form.name);
            assert!(try_read(form.name, &bytes).is_err(), "{} reads {place}", form.name);
        }
    }
}

#[test]
fn numbers_are_as_wide_as_their_fields() {
    // bool: any number except 0 is true; uint32 and int32: the low half; int64: all of a varint of ten bytes.
    let count = |value: u64| nest(&[1, 1], &int(2, value));
    for value in [0, 1, u64::from(u32::MAX), 1 << 32, (1 << 32) + 7, u64::MAX] {
        let prost = v1_10::ProfilesData::decode(&count(value)[..]).unwrap();
        let ours = read("otlp", &count(value));
        let dropped =
            prost.resource_profiles[0].resource.as_ref().unwrap().dropped_attributes_count;
        assert_eq!(
            ours.resource_profiles()[0].resource().dropped_attributes_count(),
            dropped,
            "{value}"
        );
    }
    for (value, truth) in [(0, false), (1, true), (2, true), (1 << 40, true), (u64::MAX, true)] {
        let bytes = [
            len(6, b""),
            len(4, &[int(1, 1), int(5, value)].concat()),
            len(1, b""),
            len(2, &[int(1, 1), int(2, 3)].concat()),
        ]
        .concat();
        let folded = pprof::Profile::decode(&write("pprof", &read("pprof", &bytes)).0[..])
            .unwrap()
            .location[0]
            .is_folded;
        assert_eq!(folded, truth, "{value}");
    }
    for bytes in 1..=10 {
        let long = [tag(12, VARINT), overlong(5, bytes), len(6, b"")].concat();
        assert_eq!(read("pprof", &long).iter().next().unwrap().period(), 5);
    }
    assert!(survive("pprof", &[tag(12, VARINT), overlong(5, 11)].concat()).is_err());
}

#[test]
fn a_small_gzip_of_empty_messages_is_refused_before_memory_is_taken() {
    // Two bytes each in the payload, a few thousandths of that in gzip, and a hundred bytes in memory.
    let inflated = 1 << 20;
    let fill = |field: &[u8]| {
        field
            .iter()
            .copied()
            .cycle()
            .take(inflated / field.len() * field.len())
            .collect::<Vec<u8>>()
    };
    let pprof: [&[u32]; 5] = [&[1], &[2], &[3], &[4], &[5]];
    let current: [&[u32]; 6] = [&[1], &[1, 2], &[1, 2, 2], &[2, 1], &[2, 2], &[2, 6]];
    let cases =
        pprof.map(|path| ("pprof", path)).into_iter().chain(current.map(|path| ("otlp", path)));
    for (name, path) in cases {
        let (outer, last) = path.split_at(path.len() - 1);
        let bytes = [nest(outer, &fill(&len(last[0], b""))), len(6, b"")].concat();
        let gzip = deflate(&bytes, Level::default());
        assert!(gzip.len() < 10_000, "{name} {path:?}: {}", gzip.len());
        let limits = Limits::network().max_owned_bytes(4 << 20);
        let (result, cost) =
            cost(|| otlp_profiles::read(&gzip, &options(name).limits(limits)).map(drop));
        // The inflated bytes, the same again while inflating, and the budget.
        assert!(cost.peak < 10 * MIB, "{name} {path:?}: {} MiB", cost.peak / MIB);
        let error = result.expect_err(&format!("{name} {path:?} is past the budget"));
        assert!(
            matches!(error.kind(), ErrorKind::Limit | ErrorKind::Malformed),
            "{name} {path:?}: {error}"
        );
    }
}

#[test]
fn a_gzip_bomb_is_refused_while_inflating() {
    let bomb = deflate(&vec![0; 80 << 20], Level::default());
    let (result, cost) = cost(|| otlp_profiles::read(&bomb, &options("otlp")).map(drop));
    assert_eq!(result.unwrap_err().kind(), ErrorKind::Limit);
    assert!(cost.peak < 130 * MIB, "{} MiB", cost.peak / MIB);
    let members: Vec<u8> = deflate(b"", Level::default()).repeat(10_000);
    assert_eq!(
        otlp_profiles::read(&members, &options("otlp")).unwrap_err().kind(),
        ErrorKind::Limit
    );
}

#[test]
fn values_inside_values_stop_at_the_limit() {
    // AnyValue.array_value.values, and kvlist_value.values.value, in a resource and in the dictionary.
    for path in [&[5, 1][..], &[6, 1, 2]] {
        for depth in [1, 50, 80] {
            let value = deep(path, depth);
            let bytes = nest(&[1, 1, 1], &[len(1, b"k"), len(2, &value)].concat());
            assert!(survive("otlp", &bytes).is_ok(), "{depth} levels of {path:?}");
        }
        for depth in [200, 3_000, 100_000] {
            let value = deep(path, depth);
            for around in [&[1, 1, 1, 2][..], &[2, 6, 2], &[1, 2, 1, 3, 2]] {
                let error = survive("otlp", &nest(around, &value)).expect_err("too deep");
                assert!(matches!(error.kind(), ErrorKind::Limit), "{depth} levels: {error}");
            }
        }
    }
}

#[test]
fn slices_that_expand_are_bounded() {
    // 1.3 to 1.7: every sample may refer to all of location_indices, so n + m bytes mean n × m frames. Equal slices
    // become one stack, but each is compared completely.
    let count = 100_000u64;
    let indices = vec![0u8; count as usize];
    for equal in [false, true] {
        let length = |start: u64| if equal { count / 2 } else { count - start - 1 };
        let samples: Vec<u8> = (0..2_000u64)
            .flat_map(|start| {
                len(2, &[int(1, start + 1), int(2, length(start)), int(3, 1)].concat())
            })
            .collect();
        let profile = [len(1, b""), samples, len(3, &indices)].concat();
        let bytes =
            [nest(&[1, 2, 2], &profile), len(2, &[len(2, b""), len(5, b"")].concat())].concat();
        let (result, cost) = cost(|| try_read("otlp-1.7", &bytes).map(drop));
        let error = result.expect_err("100 million frames or more from 150 kB");
        assert_eq!(error.kind(), ErrorKind::Limit);
        assert!(cost.peak < 64 * MIB, "{} MiB", cost.peak / MIB);
    }
}

#[test]
fn many_timestamps_do_not_become_more_samples_than_allowed() {
    let times: Vec<u8> = (0..1000u64).flat_map(u64::to_le_bytes).collect();
    let bytes =
        [nest(&[1, 2, 2], &[len(1, b""), len(2, &len(5, &times))].concat()), len(2, &len(5, b""))]
            .concat();
    let model = read("otlp", &bytes);
    let options = WriteOptions::default().max_expanded_samples(999);
    let written = otlp_profiles::write(&model, otlp_profiles::Format::PPROF, &options).unwrap();
    assert_eq!(pprof::Profile::decode(&written.payload[..]).unwrap().sample.len(), 1);
    assert_eq!(support::codes(&written.losses), ["timestamps.dropped"]);
    let output = WriteOptions::default().max_output_bytes(100);
    for format in Format::ALL.iter().filter(|format| format.can_write()) {
        // Plain folded stacks have no timestamps, so one short line would hold all samples.
        let output = output.clone().folded_labels(*format == Format::FOLDED);
        let error =
            otlp_profiles::write(&model, *format, &output).map(drop).expect_err(format.name());
        assert_eq!(error.kind(), ErrorKind::Limit, "{}", format.name());
    }
}

#[test]
fn every_limit_is_checked() {
    type Set = fn(&mut Limits);
    let limits: [(&str, Set); 9] = [
        ("max_input_bytes", |l| l.max_input_bytes = 10),
        ("max_decompressed_bytes", |l| l.max_decompressed_bytes = 10),
        ("max_samples", |l| l.max_samples = 1),
        ("max_strings", |l| l.max_strings = 1),
        ("max_table_entries", |l| l.max_table_entries = 1),
        ("max_string_bytes", |l| l.max_string_bytes = 1),
        ("max_stack_depth", |l| l.max_stack_depth = 1),
        ("max_lines_per_location", |l| l.max_lines_per_location = 1),
        ("max_owned_bytes", |l| l.max_owned_bytes = 100),
    ];
    let (_, heap) = testdata(&["go-heap.pb.gz"]).remove(0);
    let model = read("pprof", &heap);
    for name in protobufs() {
        let bytes = write(name, &model).0;
        for (limit, edit) in limits {
            let mut limits = Limits::network();
            edit(&mut limits);
            let input = if limit == "max_decompressed_bytes" {
                deflate(&bytes, Level::default())
            } else {
                bytes.clone()
            };
            let error = otlp_profiles::read(&input, &options(name).limits(limits))
                .map(drop)
                .expect_err(limit);
            assert_eq!(error.kind(), ErrorKind::Limit, "{name}: {error}");
            assert_eq!(error.limit(), Some(limit), "{name}: {error}");
            if limit == "max_table_entries" {
                assert!(error.to_string().contains(" table"), "{name}: {error}");
            }
        }
    }
}

/// Regression: the limit applied to each profile, so a payload of a thousand profiles could have a thousand times
/// as many samples.
#[test]
fn samples_are_limited_for_all_profiles_together() {
    let mut builder = Builder::new();
    for name in ["cpu", "wall"] {
        let profile = builder.profile(name, "nanoseconds");
        builder.resource().attr("of", name);
        for leaf in ["one", "two"] {
            builder.sample(profile, root_first(["main", leaf])).value(1);
        }
    }
    let model = builder.finish().unwrap();
    for format in Format::ALL.iter().filter(|format| format.name().starts_with("otlp-")) {
        let bytes =
            otlp_profiles::write(&model, *format, &WriteOptions::default()).unwrap().payload;
        let within = |most| {
            let limits = Limits::network().max_samples(most);
            otlp_profiles::read(&bytes, &options(format.name()).limits(limits)).map(drop)
        };
        within(4).unwrap();
        assert_eq!(within(3).unwrap_err().limit(), Some("max_samples"), "{format}");
    }
}

#[test]
fn fifty_thousand_of_anything_take_linear_time() {
    let alternating: Vec<u8> = (0..50_000u32).flat_map(|at| int(100 + at % 2, 1)).collect();
    let merged: Vec<u8> = std::iter::repeat_n(len(1, b""), 50_000).flatten().collect();
    for (name, bytes) in [
        ("otlp", [alternating.clone(), len(2, &len(5, b""))].concat()),
        ("otlp", len(1, &merged)),
        ("pprof", [alternating, len(6, b"")].concat()),
    ] {
        let (result, cost) = cost(|| survive(name, &bytes).map(drop));
        assert!(result.is_ok() || result.unwrap_err().kind() == ErrorKind::Limit);
        assert!(cost.count < 1_000, "{name}: {} allocations", cost.count);
    }
}

proptest! {
    #![proptest_config(support::generate::config())]

    #[test]
    fn random_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        for name in Format::ALL.iter().filter(|format| format.can_read()).map(|f| f.name()) {
            let _ = survive(name, &bytes);
        }
    }

    /// Reads a payload of one generation as every other.
    #[test]
    fn a_generation_taken_for_another_is_survived(at in 0..FORMS.len(), numbers in support::generate::tapes()) {
        let document = doc(&mut Tape::new(numbers), Room { caps: FORMS[at].caps, portable: false });
        let bytes = (FORMS[at].lower)(&document);
        for name in Format::ALL.iter().filter(|format| format.can_read()).map(|f| f.name()) {
            let _ = survive(name, &bytes);
        }
    }
}

/// Comparing each row with all others would take minutes for this number.
#[test]
fn time_is_in_proportion_to_the_rows() {
    const ROWS: u64 = 100_000;
    let begun = std::time::Instant::now();
    let strings = |more: usize| {
        let more = (0..more).map(|row| format!("text {row}"));
        [String::new(), "cpu".to_owned()].into_iter().chain(more).collect::<Vec<_>>()
    };
    // Folded locations, each the stack of a sample; the last stack also contains a missing location.
    let profile = pprof::Profile {
        string_table: strings(0),
        sample_type: vec![pprof::ValueType { r#type: 1, unit: 0 }],
        location: (1..=ROWS)
            .map(|id| pprof::Location { id, is_folded: true, ..Default::default() })
            .collect(),
        sample: (1..=ROWS)
            .map(|id| pprof::Sample {
                location_id: vec![id, ROWS + 1],
                value: vec![1],
                ..Default::default()
            })
            .collect(),
        ..Default::default()
    };
    let mended = options("pprof").policy(Policy::Repair);
    let reading = otlp_profiles::read(&profile.encode_to_vec(), &mended).unwrap();
    let samples = reading.profiles.iter().next().unwrap().samples();
    let dictionary = reading.profiles.dictionary();
    assert_eq!(dictionary.stack(samples.get(7).unwrap().stack).len(), 1);

    // Samples with one key, each with another unit.
    let label =
        |row: u64| pprof::Label { key: 1, num: 1, num_unit: row as i64 + 2, ..Default::default() };
    let profile = pprof::Profile {
        string_table: strings(ROWS as usize),
        sample_type: vec![pprof::ValueType { r#type: 1, unit: 0 }],
        sample: (0..ROWS)
            .map(|row| pprof::Sample {
                value: vec![1],
                label: vec![label(row)],
                ..Default::default()
            })
            .collect(),
        ..Default::default()
    };
    let before = read("pprof", &profile.encode_to_vec());
    let after = read("otlp-1.3", &write("otlp-1.3", &before).0);
    assert_eq!(after.dictionary().attributes().len(), before.dictionary().attributes().len());
    assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
}

/// A payload of 1.3 with one sample of such labels, with as many strings.
fn otep_labels(labels: Vec<v1_3::Label>) -> Vec<u8> {
    let keys = (0..labels.len()).map(|row| format!("key {row}"));
    let strings = [String::new(), "cpu".to_owned()].into_iter().chain(keys).collect();
    let sample = v1_3::Sample { value: vec![1], label: labels, ..Default::default() };
    let profile = v1_3::Profile {
        string_table: strings,
        sample_type: vec![v1_3::ValueType { r#type: 1, ..Default::default() }],
        sample: vec![sample],
        ..Default::default()
    };
    let container = v1_3::ProfileContainer { profile: Some(profile), ..Default::default() };
    nest(&[1, 2, 2], &container.encode_to_vec())
}

/// Comparing each label with all others would take minutes for this number.
#[test]
fn labels_of_one_sample_take_time_in_proportion() {
    const LABELS: i64 = 60_000;
    let begun = std::time::Instant::now();
    // Each has a different key, except the last one, which repeats the second.
    let keys = |count: i64| (0..count).map(|row| 2 + if row + 1 == LABELS { 1 } else { row });
    let label = |key| pprof::Label { key, num: key, ..Default::default() };
    let texts = (0..LABELS).map(|row| format!("key {row}"));
    let profile = |count| pprof::Profile {
        string_table: ["", "cpu"].map(str::to_owned).into_iter().chain(texts.clone()).collect(),
        sample_type: vec![pprof::ValueType { r#type: 1, unit: 0 }],
        sample: vec![pprof::Sample {
            value: vec![1],
            label: keys(count).map(label).collect(),
            ..Default::default()
        }],
        ..Default::default()
    };
    let old = |key| v1_3::Label { key, num: key, ..Default::default() };
    let otep = |count| otep_labels(keys(count).map(old).collect());
    for (name, bytes) in [
        ("pprof", profile(LABELS).encode_to_vec()),
        ("otlp-1.3", otep(LABELS)),
        ("pprof", profile(LABELS - 1).encode_to_vec()),
        ("otlp-1.3", otep(LABELS - 1)),
    ] {
        let model =
            otlp_profiles::read(&bytes, &options(name).limits(Limits::file())).unwrap().profiles;
        let sample = model.iter().next().unwrap().samples().get(0).unwrap();
        let dictionary = model.dictionary();
        let said: Vec<_> = dictionary.resolve(sample.attributes).iter().collect();
        assert_eq!(said.len() as i64, LABELS - 1);
        for (row, attribute) in said.iter().enumerate() {
            assert_eq!(attribute.key, format!("key {row}"));
        }
    }
    assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
}

/// Indices that arrive one by one or in several parts count as much as those that arrive at once.
#[test]
fn attributes_are_counted_by_the_item_however_they_come() {
    let ways: [fn(u32) -> Vec<u8>; 4] = [
        |field| len(field, &[1, 1, 1, 1]),
        |field| int(field, 1).repeat(4),
        |field| [len(field, &[1, 1]), len(field, &[1, 1])].concat(),
        |field| [len(field, &[1, 1, 1]), int(field, 1)].concat(),
    ];
    let payload = |sample: &[u8], location: &[u8], mapping: &[u8], profile: &[u8]| {
        let profile = [len(1, b""), len(2, sample), len(2, sample), profile.to_vec()].concat();
        let tables = [
            [len(1, b""), len(1, mapping), len(1, mapping)].concat(),
            [len(2, b""), len(2, location), len(2, location)].concat(),
            [len(3, b""), len(4, b""), len(5, b""), len(5, b"k")].concat(),
            [len(6, b""), len(6, &[int(1, 1), len(2, &int(3, 1))].concat()), len(7, b"")].concat(),
        ];
        [nest(&[1, 2, 2], &profile), len(2, &tables.concat())].concat()
    };
    let limited = |most: u64, bytes: &[u8]| {
        let limits = Limits::file().max_attributes_per_item(most);
        otlp_profiles::read(bytes, &options("otlp").limits(limits)).map(drop)
    };
    for four in ways {
        for bytes in [
            payload(&four(2), b"", b"", b""),
            payload(b"", &four(4), b"", b""),
            payload(b"", b"", &four(5), b""),
            payload(b"", b"", b"", &four(11)),
        ] {
            v1_10::ProfilesData::decode(&bytes[..]).expect("prost reads it");
            limited(4, &bytes).unwrap();
            let error = limited(3, &bytes).expect_err("four are more than three");
            assert!(error.limit() == Some("max_attributes_per_item"), "{error}");
        }
    }
    let old = |key| v1_3::Label { key, num: 1, ..Default::default() };
    let bytes = otep_labels((2..6).map(old).collect());
    let limits = |most| options("otlp-1.3").limits(Limits::file().max_attributes_per_item(most));
    otlp_profiles::read(&bytes, &limits(4)).unwrap();
    let error = otlp_profiles::read(&bytes, &limits(3)).expect_err("labels are attributes");
    assert!(error.limit() == Some("max_attributes_per_item"), "{error}");
}

/// A message quotes the beginning of a string of the payload, escaped, and not all of a megabyte.
#[test]
fn messages_show_the_beginning_of_a_text() {
    let text = [&b"\xff"[..], &[1; 1 << 19]].concat();
    let tables = |string: &[u8]| nest(&[2], &len(5, string));
    for (format, payload) in [
        (Format::PPROF, len(6, &text)),
        (Format::OTLP, tables(&text)),
        (Format::OTLP, [len(1, b""), nest(&[2], &[len(5, b""), len(5, &text)].concat())].concat()),
    ] {
        let options = ReadOptions::default().format(format);
        let error = otlp_profiles::read(&payload, &options).unwrap_err();
        assert!(error.to_string().len() < 1_000, "{format}: {} bytes", error.to_string().len());
        let reading = otlp_profiles::read(&payload, &options.policy(Policy::Repair)).unwrap();
        let longest = reading.findings.iter().map(|found| found.message.len()).max();
        assert!(longest.is_some_and(|longest| longest < 1_000), "{format}: {longest:?}");
    }
}
