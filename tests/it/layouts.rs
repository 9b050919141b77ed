//! Layouts change only the order of written data, in every generation, for recorded and for random profiles.
#![cfg(feature = "proto-all")]

use crate::support;

use crate::support::doc::{Doc, Mask, meaning, same};
use crate::support::forms::{FORMS, form};
use crate::support::generate::{Room, docs, pprofs};
use crate::support::sized;
use crate::support::{codes, read, testdata, write};
use otlp_profiles::builder::root_first;
use otlp_profiles::format::Layout;
use otlp_profiles::losses::LossKind;
use otlp_profiles::proto::prost::Message;
use otlp_profiles::proto::{pprof, v1_10};
use otlp_profiles::{Builder, Format, Losses, Profiles, ReadOptions, WriteOptions, detect};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

const LAYOUTS: [Layout; 3] = [Layout::Default, Layout::Keep, Layout::Compact];

fn write_as(format: &str, profiles: &Profiles, layout: Layout) -> (Vec<u8>, Losses) {
    let options = WriteOptions::default().layout(layout).max_output_bytes(u64::MAX);
    let written = otlp_profiles::write(profiles, support::format(format), &options)
        .unwrap_or_else(|error| panic!("{format} is not written {layout:?}: {error}"));
    (written.payload, written.losses)
}

/// A pprof comes back from every layout of every format, and no layout loses more than another.
fn pprof_comes_back(name: &str, before: &pprof::Profile) -> Result<(), TestCaseError> {
    let said = support::pprof::meaning(before);
    let model = read("pprof", &before.encode_to_vec());
    for format in Format::ALL.iter().filter(|format| format.is_whole()) {
        let plain = codes(&write(format.name(), &model).1);
        for layout in LAYOUTS {
            let (there, losses) = write_as(format.name(), &model, layout);
            let more: Vec<_> = codes(&losses)
                .into_iter()
                .filter(|code| !plain.contains(code) && *code != "orphan.dropped")
                .collect();
            prop_assert_eq!(more, [""; 0], "{} {} {:?}", name, format, layout);
            let back = write("pprof", &read(format.name(), &there)).0;
            let after = pprof::Profile::decode(&back[..]).expect("a pprof that prost decodes");
            let what = format!("{name} through {format} {layout:?}");
            same(&what, &said, &support::pprof::meaning(&after))?;
        }
    }
    Ok(())
}

/// The pprofs of the corpus below a size, if the corpus is present.
fn corpus(below: u64) -> Vec<(String, Vec<u8>)> {
    let files = support::files::corpus_files();
    let pprofs = files.into_iter().filter_map(|(name, path)| {
        path.metadata().is_ok_and(|file| file.len() < below).then_some(())?;
        let extensions = [".pb", ".pb.gz", ".pprof"];
        extensions.iter().any(|extension| name.ends_with(extension)).then_some(())?;
        Some((name, support::inflated(&std::fs::read(path).ok()?)))
    });
    pprofs.collect()
}

#[test]
fn recorded_profiles_come_back_from_every_layout() {
    let files = testdata(&[".pb.gz", ".pb"]).into_iter().chain(corpus(1 << 14));
    for (name, bytes) in files {
        let Ok(before) = pprof::Profile::decode(&bytes[..]) else { continue };
        // Join equal rows first, so that writing again adds no rows.
        let once = write("pprof", &read("pprof", &bytes)).0;
        let before = pprof::Profile::decode(&once[..]).unwrap_or(before);
        pprof_comes_back(&name, &before).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// Writing in the same layout again gives the same bytes. Excludes payloads of which the compact layout omits
/// samples, because these are joined only for formats with several sample types per profile.
#[test]
fn recorded_profiles_are_written_the_same_again() {
    for (name, bytes) in testdata(&[".pb.gz", ".pb"]).into_iter().chain(corpus(1 << 14)) {
        if pprof::Profile::decode(&bytes[..]).is_err() {
            continue;
        }
        let model = read("pprof", &bytes);
        for format in ["otlp-1.3", "otlp-1.5", "otlp-1.7", "otlp-1.10"] {
            let splits = format == "otlp-1.10";
            for layout in LAYOUTS.into_iter().filter(|layout| !splits || *layout != Layout::Compact)
            {
                let once = write_as(format, &model, layout).0;
                let again = write_as(format, &read(format, &once), layout).0;
                assert!(once == again, "{name} as {format} {layout:?}");
            }
        }
    }
}

/// A payload of a generation has the same meaning in each of its layouts.
fn says_the_same(from: &str, doc: &Doc) -> Result<(), TestCaseError> {
    let model = read(from, &(form(from).lower)(doc));
    for to in FORMS {
        let plain = write(to.name, &model).0;
        let raise = |bytes: &[u8]| (to.raise)(bytes).expect("prost decodes what we write");
        for layout in LAYOUTS {
            let (written, losses) = write_as(to.name, &model, layout);
            let worse = losses.iter().find(|loss| loss.code.kind() >= LossKind::Approximated);
            prop_assert_eq!(worse, None, "{} to {} {:?}", from, to.name, layout);
            let what = format!("{from} to {} {layout:?}", to.name);
            // If one profile becomes several, join them again before the comparison.
            let (expected, got) = if form(from).caps.columns && !to.caps.columns {
                let back = |bytes: &[u8]| write(from, &read(to.name, bytes)).0;
                let raise = |bytes: &[u8]| (form(from).raise)(&back(bytes)).expect("ours");
                (raise(&plain), raise(&written))
            } else {
                (raise(&plain), raise(&written))
            };
            let mask = Mask::default();
            same(&what, &meaning(&expected, mask), &meaning(&got, mask))?;
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: sized(32) as u32, ..support::generate::config() })]

    #[test]
    fn made_pprofs_come_back_from_every_layout(profile in pprofs()) {
        pprof_comes_back("made", &profile)?;
    }

    #[test]
    fn payloads_say_the_same_in_every_layout(
        (from, doc) in (0..FORMS.len()).prop_flat_map(|at| {
            let caps = FORMS[at].caps;
            docs(Room { caps, portable: true }).prop_map(move |doc| (FORMS[at].name, doc))
        })
    ) {
        says_the_same(from, &doc)?;
    }

    #[test]
    fn a_layout_is_the_same_bytes_on_every_run(profile in pprofs()) {
        let bytes = profile.encode_to_vec();
        for format in Format::ALL.iter().filter(|format| format.is_whole()) {
            for layout in LAYOUTS {
                let once = write_as(format.name(), &read("pprof", &bytes), layout);
                let twice = write_as(format.name(), &read("pprof", &bytes), layout);
                prop_assert_eq!(once, twice);
            }
        }
    }
}

/// The samples of a payload in order: functions and values.
fn samples(profiles: &Profiles) -> Vec<(Vec<String>, Vec<i64>)> {
    let dictionary = profiles.dictionary();
    let samples = profiles.iter().flat_map(|profile| profile.samples().iter());
    let said = samples.map(|sample| {
        let names = dictionary.frames(sample.stack).map(|frame| frame.name().to_owned());
        (names.collect(), sample.values.to_vec())
    });
    said.collect()
}

/// Lists of one number that are written unpacked look like fields of another type in other generations.
#[test]
fn every_layout_is_known_for_what_it_is() {
    for (name, bytes) in testdata(&[".pb.gz", ".pb"]).into_iter().chain(corpus(100_000)) {
        let model = read("pprof", &bytes);
        for format in Format::ALL.iter().filter(|format| format.is_whole()) {
            for layout in LAYOUTS {
                let payload = write_as(format.name(), &model, layout).0;
                let detected = detect(&payload, &ReadOptions::default())
                    .unwrap_or_else(|error| panic!("{name} as {format} {layout:?}: {error}"));
                let fits =
                    detected.format == *format || detected.certainty.others().contains(format);
                assert!(fits, "{name} as {format} {layout:?}: {detected:?}");
            }
        }
    }
}

/// In such small profiles every number may be an index, so only the lists distinguish the generations.
#[test]
fn small_profiles_are_known_for_what_they_are() {
    let mut state = 7u64;
    let mut below = move |end: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    };
    for _ in 0..sized(400) {
        let mut builder = Builder::new();
        let cpu = builder.profile("cpu", "count");
        builder.profile_mut(cpu).time(1_700_000_000_000_000_000).duration(10_000_000_000);
        for row in 0..1 + below(8) {
            let frame = format!("f{}", below(4));
            let link = below(4);
            let key = builder.link([link as u8 + 1; 16], [1; 8]);
            let mut sample =
                builder.sample(cpu, root_first([frame.as_str()])).value(below(4) as i64);
            if link > 0 {
                sample = sample.link(key);
            }
            for key in ["a", "b"].into_iter().take(below(3) as usize) {
                sample = sample.attr(key, (row % 3) as i64);
            }
        }
        let model = builder.finish().unwrap();
        for format in Format::ALL.iter().filter(|format| format.is_whole()) {
            for layout in LAYOUTS {
                let payload = write_as(format.name(), &model, layout).0;
                let detected = detect(&payload, &ReadOptions::default()).unwrap();
                let fits =
                    detected.format == *format || detected.certainty.others().contains(format);
                assert!(fits, "{format} {layout:?}: {detected:?} {payload:02x?}");
            }
        }
    }
}

#[test]
fn keep_keeps_the_order_of_samples() {
    for (name, bytes) in testdata(&[".pb.gz"]) {
        let model = read("pprof", &bytes);
        for format in ["pprof", "otlp-1.3", "otlp-1.7"] {
            let kept = read(format, &write_as(format, &model, Layout::Keep).0);
            assert_eq!(samples(&kept), samples(&model), "{name} as {format}");
        }
        let split = read("otlp", &write("otlp", &model).0);
        let kept = read("otlp", &write_as("otlp", &model, Layout::Keep).0);
        assert_eq!(samples(&kept), samples(&split), "{name}");
    }
}

/// The number of samples in each profile of a payload of OTLP 1.10.
fn counts(payload: &[u8]) -> Vec<usize> {
    let data = v1_10::ProfilesData::decode(payload).expect("prost decodes what we write");
    let scope = &data.resource_profiles[0].scope_profiles[0];
    scope.profiles.iter().map(|profile| profile.samples.len()).collect()
}

/// Samples of three columns: many of one stack, with zeros in every possible place.
fn with_zeros() -> pprof::Profile {
    let mut profile = pprof::Profile {
        string_table: ["", "a", "b", "c", "count", "f"].map(str::to_owned).to_vec(),
        function: vec![pprof::Function { id: 1, name: 5, ..Default::default() }],
        ..Default::default()
    };
    profile.sample_type = [1, 2, 3].map(|name| pprof::ValueType { r#type: name, unit: 4 }).to_vec();
    for id in [1, 2, 3] {
        let line = vec![pprof::Line { function_id: 1, line: id as i64, column: 0 }];
        profile.location.push(pprof::Location { id, line, ..Default::default() });
    }
    let mut add = |id: u64, value: [i64; 3]| {
        let (location_id, value) = (vec![id], value.to_vec());
        profile.sample.push(pprof::Sample { location_id, value, ..Default::default() });
    };
    for value in 0..8i64 {
        let bits = [0, 1, 2].map(|bit| (value >> bit & 1) * (10 + value));
        add(1, bits);
        add(1, bits);
        add(2 + value as u64 % 2, [0, 0, 0]);
    }
    add(3, [0, 7, 0]);
    profile
}

#[test]
fn zeros_are_written_once_and_come_back() {
    let before = with_zeros();
    let model = read("pprof", &before.encode_to_vec());
    let all = counts(&write("otlp", &model).0);
    assert_eq!(all, [25, 25, 25]);
    let compact = write_as("otlp", &model, Layout::Compact).0;
    let fewer = counts(&compact);
    assert!(fewer[1..].iter().all(|count| *count < 20), "{fewer:?}");
    for format in Format::ALL.iter().filter(|format| format.is_whole()) {
        let there = write(format.name(), &read("otlp", &compact)).0;
        let back = write("pprof", &read(format.name(), &there)).0;
        let after = pprof::Profile::decode(&back[..]).unwrap();
        same(format.name(), &support::pprof::meaning(&before), &support::pprof::meaning(&after))
            .unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn rows_that_nothing_refers_to_are_counted_and_mappings_stay() {
    let mut profile = with_zeros();
    profile.function.push(pprof::Function { id: 9, name: 1, ..Default::default() });
    let line = vec![pprof::Line { function_id: 9, line: 9, column: 0 }];
    profile.location.push(pprof::Location { id: 9, line, ..Default::default() });
    profile.mapping.push(pprof::Mapping { id: 1, memory_start: 5, ..Default::default() });
    let model = read("pprof", &profile.encode_to_vec());
    for format in ["pprof", "otlp-1.3", "otlp-1.10"] {
        for layout in [Layout::Keep, Layout::Compact] {
            let (written, losses) = write_as(format, &model, layout);
            assert_eq!(losses.get("orphan.dropped").map(|loss| loss.count), Some(2), "{format}");
            let dictionary = read(format, &written).dictionary().clone();
            let rows = [dictionary.locations().len(), dictionary.functions().len()];
            assert_eq!((rows, dictionary.mappings().rows().len()), ([4, 2], 2), "{format}");
        }
    }
}

/// The order puts an empty function before the others, where OTLP 1.3 to 1.7 would read it as no function.
#[test]
fn an_empty_function_stays_a_function_wherever_it_stands() {
    let function = |id, name| pprof::Function { id, name, ..Default::default() };
    let line = |function_id| vec![pprof::Line { function_id, ..Default::default() }];
    let location = |id| pprof::Location { id, line: line(id), ..Default::default() };
    let profile = pprof::Profile {
        string_table: ["", "cpu", "a"].map(str::to_owned).to_vec(),
        sample_type: vec![pprof::ValueType { r#type: 1, unit: 0 }],
        function: vec![function(1, 2), function(2, 0)],
        location: vec![location(1), location(2)],
        sample: vec![pprof::Sample {
            location_id: vec![2, 1],
            value: vec![1],
            ..Default::default()
        }],
        ..Default::default()
    };
    let model = read("pprof", &profile.encode_to_vec());
    for format in ["otlp-1.3", "otlp-1.7", "otlp-1.10", "pprof"] {
        for layout in LAYOUTS {
            let (there, _) = write_as(format, &model, layout);
            let losses = write("pprof", &read(format, &there)).1;
            let made = losses.get("function.empty_synthesized");
            assert_eq!(made, None, "{format} {layout:?}");
        }
    }
}

#[test]
fn compact_takes_fewer_bytes() {
    // Other files consist almost entirely of strings, which no order shortens.
    for (name, bytes) in testdata(&["heap.pb.gz", "labels.pb.gz", "wall.pb.gz"]) {
        if name.starts_with("rust") {
            continue;
        }
        let model = read("pprof", &bytes);
        let length = |layout| write_as("otlp", &model, layout).0.len();
        assert!(length(Layout::Compact) <= length(Layout::Default), "{name}");
    }
}

/// A chain of calls, each with separate samples, and as many equal samples with labels.
#[test]
fn a_hundred_thousand_of_everything() {
    let mut builder = Builder::new();
    let cpu = builder.profile("cpu", "nanoseconds");
    let names: Vec<String> = (0..400).map(|at| format!("function_{at:03}")).collect();
    let many = sized(100_000);
    for at in 0..many {
        let depth = 1 + at % 40;
        let stack = names[at / 1000..at / 1000 + depth.min(names.len() - at / 1000)].iter();
        let label = format!("{}", at % 7919);
        builder
            .sample(cpu, root_first(stack.map(String::as_str)))
            .attr("request", label.as_str())
            .value((at % 3) as i64);
    }
    let model = builder.finish().expect("a payload");
    for format in ["otlp-1.3", "otlp-1.10", "pprof"] {
        for layout in LAYOUTS {
            let back = read(format, &write_as(format, &model, layout).0);
            let count: usize = back.iter().map(|profile| profile.samples().len()).sum();
            let sum = |model: &Profiles| -> i64 {
                samples(model).iter().flat_map(|(_, values)| values).sum()
            };
            assert_eq!((count, sum(&back)), (many, sum(&model)), "{format} {layout:?}");
        }
    }
}
