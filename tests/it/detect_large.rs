//! Detects large payloads, of which detection examines only parts, and whose beginning fits several generations.
#![allow(clippy::needless_update)]
#![cfg(feature = "proto-all")]

use otlp_profiles::builder::root_first;
use otlp_profiles::proto::prost::Message;
use otlp_profiles::proto::{pprof, v1_8, v1_9, v1_10};
use otlp_profiles::{Builder, Certainty, Format, Limits, ReadOptions, detect, write};

/// Enough samples for a payload of more than a megabyte, whatever their content.
const MANY: usize = 600_000;
const TIME: u64 = 1 << 60;

/// A payload of a generation with one profile of these samples, and a dictionary of twelve strings, four stacks and
/// two attributes. `$change` may modify it.
macro_rules! payload {
    ($version:ident, $samples:ident, $sample:expr) => {
        payload!($version, $samples, $sample, |_: &mut $version::Profile, _| {})
    };
    ($version:ident, $samples:ident, $sample:expr, $change:expr) => {{
        use $version::*;
        let mut profile = Profile {
            sample_type: Some(ValueType {
                type_strindex: 1,
                unit_strindex: 2,
                ..Default::default()
            }),
            $samples: (0..MANY).map($sample).collect(),
            ..Default::default()
        };
        let attribute = |key| KeyValueAndUnit {
            key_strindex: key,
            value: Some(AnyValue { value: Some(any_value::Value::IntValue(7)) }),
            ..Default::default()
        };
        let stack = |row: i32| Stack { location_indices: (0..row.min(1)).map(|_| 1).collect() };
        let strings =
            (0..12).map(|row| if row == 0 { String::new() } else { format!("string {row}") });
        let mut dictionary = ProfilesDictionary {
            mapping_table: vec![Mapping::default()],
            location_table: vec![
                Location::default(),
                Location { address: 4096, ..Default::default() },
            ],
            function_table: vec![Function::default()],
            link_table: vec![Link::default()],
            string_table: strings.collect(),
            attribute_table: vec![KeyValueAndUnit::default(), attribute(3), attribute(4)],
            stack_table: (0..4).map(stack).collect(),
        };
        $change(&mut profile, &mut dictionary);
        let scope = ScopeProfiles { profiles: vec![profile], ..Default::default() };
        let resource = ResourceProfiles { scope_profiles: vec![scope], ..Default::default() };
        let resource = ProfilesData { resource_profiles: vec![resource], dictionary: None };
        let dictionary =
            ProfilesData { resource_profiles: Vec::new(), dictionary: Some(dictionary) };
        (resource.encode_to_vec(), dictionary.encode_to_vec())
    }};
}

/// Checks the result for a payload with its dictionary last, and with its dictionary first.
#[track_caller]
fn is((resource, dictionary): (Vec<u8>, Vec<u8>), name: &str, certainty: Certainty) {
    for payload in [[&resource[..], &dictionary].concat(), [&dictionary[..], &resource].concat()] {
        assert!(payload.len() > 1 << 20, "{} bytes", payload.len());
        let detected = detect(&payload, &ReadOptions::default()).unwrap();
        let said = (detected.format.name(), &detected.certainty);
        assert_eq!(said, (name, &certainty), "{:#?}", detected.evidence);
    }
}

/// A sample of 1.10.
fn newest(values: &[i64], attributes: &[i32], times: usize) -> v1_10::Sample {
    v1_10::Sample {
        stack_index: 1,
        values: values.to_vec(),
        attribute_indices: attributes.to_vec(),
        timestamps_unix_nano: vec![TIME; times],
        ..Default::default()
    }
}

/// A sample of 1.8 and 1.9.
macro_rules! before {
    ($version:ident, $values:expr, $attributes:expr, $times:expr) => {
        $version::Sample {
            stack_index: 1,
            values: $values.to_vec(),
            attribute_indices: $attributes.to_vec(),
            timestamps_unix_nano: vec![TIME; $times],
            ..Default::default()
        }
    };
}

fn preferred() -> Certainty {
    Certainty::Preferred(vec![Format::OTLP_1_9, Format::OTLP_1_8])
}

/// The true format is among the answers, and formats are equivalent only if all of the payload was examined.
#[test]
fn what_nothing_tells_is_preferred() {
    let timed = payload!(v1_10, samples, |_| newest(&[], &[], 1));
    is(timed, "otlp-1.10", preferred());
    let same = payload!(v1_9, samples, |_| before!(v1_9, [], [], 1));
    is(same, "otlp-1.10", preferred());
    let on_cpu = payload!(v1_10, samples, |row| newest(&[], &[1 + row as i32 % 2], 1));
    is(on_cpu, "otlp-1.10", preferred());
    let nothing = payload!(v1_10, samples, |_| v1_10::Sample::default());
    is(nothing, "otlp-1.10", preferred());
}

#[test]
fn what_is_told_late_is_certain() {
    // Fields that do not occur in the first half.
    let late = |row: usize| row > MANY / 2;
    let values = payload!(v1_10, samples, |row| match late(row) {
        true => newest(&[9], &[], 1),
        false => newest(&[], &[], 1),
    });
    is(values, "otlp-1.10", Certainty::Certain);
    let attributes = payload!(v1_9, samples, |row| match late(row) {
        true => before!(v1_9, [9], [1], 1),
        false => before!(v1_9, [], [], 1),
    });
    is(attributes, "otlp-1.9", Certainty::Equivalent(vec![Format::OTLP_1_8]));
    // Numbers that are not attributes.
    let numbers = payload!(v1_9, samples, |row| match late(row) {
        true => before!(v1_9, [1_000], [], 1),
        false => before!(v1_9, [1], [], 1),
    });
    is(numbers, "otlp-1.9", Certainty::Equivalent(vec![Format::OTLP_1_8]));
}

/// More strings than detection counts at the beginning of a dictionary.
fn many(strings: &mut Vec<String>) {
    strings.extend((12..500).map(|row| format!("string {row}")));
}

/// A field of the profile after all its samples.
#[test]
fn what_is_told_behind_the_samples_is_found() {
    let id = b"\xb3\x1c\x9e\x07\xd4\x55\x4a\xf2\x8b\xe0\x61\x3d\xc7\x12\xa8\x6f".to_vec();
    let identified = payload!(
        v1_9,
        samples,
        |_| before!(v1_9, [9], [], 0),
        |profile: &mut Profile, _: &mut ProfilesDictionary| profile.profile_id = id.clone().into()
    );
    is(identified, "otlp-1.9", Certainty::Certain);
    // It would be comments past the last string. Detection counts all strings to exclude that.
    let among_many = payload!(
        v1_9,
        samples,
        |_| before!(v1_9, [9], [], 0),
        |profile: &mut Profile, dictionary: &mut ProfilesDictionary| {
            profile.profile_id = id.clone().into();
            many(&mut dictionary.string_table);
        }
    );
    is(among_many, "otlp-1.9", Certainty::Certain);
    let among_many = payload!(
        v1_8,
        sample,
        |_| before!(v1_8, [9], [], 0),
        |profile: &mut Profile, dictionary: &mut ProfilesDictionary| {
            profile.comment_strindices = vec![400];
            many(&mut dictionary.string_table);
        }
    );
    is(among_many, "otlp-1.8", Certainty::Certain);
    let commented = payload!(
        v1_8,
        sample,
        |_| before!(v1_8, [9], [], 0),
        |profile: &mut Profile, _: &mut ProfilesDictionary| profile.comment_strindices = vec![3]
    );
    is(commented, "otlp-1.8", Certainty::Certain);
    let neither = payload!(v1_9, samples, |_| before!(v1_9, [9], [], 0));
    is(neither, "otlp-1.9", Certainty::Equivalent(vec![Format::OTLP_1_8]));
}

/// Faults that every reading has neither force a complete examination nor affect the result.
#[test]
fn what_is_odd_is_no_less_told() {
    let odd = payload!(
        v1_10,
        samples,
        |_| newest(&[9], &[1], 0),
        |_: &mut Profile, dictionary: &mut ProfilesDictionary| dictionary.string_table.remove(0)
    );
    is(odd, "otlp-1.10", Certainty::Certain);

    let mut profile = pprof::Profile {
        sample_type: vec![pprof::ValueType { r#type: 0, unit: 1 }],
        location: vec![pprof::Location { id: 1, ..Default::default() }],
        string_table: vec!["no empty text".into(), "first".into()],
        ..Default::default()
    };
    profile.sample = (0..MANY)
        .map(|row| pprof::Sample {
            location_id: vec![1],
            value: vec![row as i64],
            ..Default::default()
        })
        .collect();
    is((profile.encode_to_vec(), Vec::new()), "pprof", Certainty::Certain);
}

/// Nearly empty profiles from many resources: before the dictionary, all of it may be metrics or spans.
#[test]
fn many_resources_are_no_other_signal() {
    for (period, time) in [(false, false), (true, false), (true, true)] {
        let mut builder = Builder::with_limits(Limits::file(), Default::default());
        for resource in 0..5000 {
            builder.resource().attr("service.name", format!("service-{resource}"));
            let profile = builder.profile("cpu", "nanoseconds");
            if period {
                builder.profile_mut(profile).period("cpu", "nanoseconds", 77_777);
            }
            if time {
                builder.profile_mut(profile).time(1 << 60);
            }
            builder.sample(profile, root_first(["main"])).value(1);
        }
        let profiles = builder.finish().unwrap();
        for format in [Format::OTLP, Format::OTLP_1_8, Format::OTLP_1_7, Format::OTLP_1_6] {
            let payload = write(&profiles, format, &Default::default()).unwrap().payload;
            assert!(payload.len() > 1 << 17);
            let detected = detect(&payload, &Default::default()).unwrap();
            let same = |other: &Format| *other == format;
            let found = detected.format == format || detected.certainty.others().iter().any(same);
            assert!(found, "{format}: {} ({})", detected.format, detected.certainty);
        }
    }
}
