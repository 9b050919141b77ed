//! Compares the accessors with a walk over the tables, for real profiles.
#![cfg(feature = "proto-all")]

use crate::support;
use std::time::{Duration, UNIX_EPOCH};

use crate::support::doc::{self, Doc, Val};
use crate::support::forms::form;
use crate::support::sized;
use crate::support::{read, testdata, write};
use otlp_profiles::builder::root_first;
use otlp_profiles::model::{Entry, FrameRef, LocationId, SampleRef, Value};
use otlp_profiles::{Builder, Dictionary, Format, Limits, Profiles};
use serde_json::Value as Json;

/// Every profile of testdata, unchanged and converted through every format.
fn every_form() -> impl Iterator<Item = (String, Profiles)> {
    testdata(&[".pb", ".pb.gz", ".binpb"]).into_iter().flat_map(|(name, bytes)| {
        let format = match &*name {
            name if name.starts_with("otlp-1.3") => "otlp-1.3",
            name if name.ends_with(".binpb") => "otlp",
            _ => "pprof",
        };
        let model = read(format, &bytes);
        let through = Format::ALL.iter().filter(|to| to.is_whole()).filter_map(|to| {
            let there = otlp_profiles::write_all(&model, *to, &Default::default()).ok()?;
            let [payload] = &there.0[..] else { return None };
            Some((format!("{name} as {}", to.name()), read(to.name(), payload)))
        });
        let through: Vec<_> = through.collect();
        [(name, model)].into_iter().chain(through)
    })
}

fn facts() -> Json {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/facts.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn sums_are_what_other_tools_found() {
    let facts = facts();
    for (name, bytes) in testdata(&[".pb", ".pb.gz"]) {
        let model = read("pprof", &bytes);
        let sums: Vec<i128> = model.iter().flat_map(|profile| profile.sums()).collect();
        let sums: Vec<i64> = sums.into_iter().map(|sum| sum.try_into().unwrap()).collect();
        assert_eq!(serde_json::json!(sums), facts[&name]["sums"], "{name}");
        for to in ["otlp-1.3", "otlp-1.5", "otlp-1.8", "otlp-1.10"] {
            let there = read(to, &write(to, &model).0);
            let mut before: Vec<i64> = sums.clone();
            let mut after: Vec<i64> = Vec::new();
            for profile in &there {
                after.extend(profile.sums().into_iter().map(|sum| sum as i64));
            }
            before.sort();
            after.sort();
            assert_eq!(before, after, "{name} as {to}");
        }
    }
}

#[test]
fn totals_and_observations_add_up_to_the_sums() {
    for (name, model) in every_form() {
        for profile in &model {
            let sums = profile.sums();
            assert_eq!(sums.len(), profile.sample_types().len().max(1), "{name}");
            let mut totals = vec![0_i128; sums.len()];
            for sample in profile.samples() {
                for (column, total) in profile.totals(sample).enumerate() {
                    totals[column] += i128::from(total);
                    let observed: Vec<_> = profile.observations(sample, column).collect();
                    let sum: i64 = observed.iter().map(|(_, value)| value).sum();
                    assert_eq!(sum, total, "{name}: {sample:?}");
                    let times = observed.iter().filter_map(|(time, _)| *time);
                    assert!(times.eq(sample.timestamps_unix_nano.iter().copied()), "{name}");
                }
            }
            assert_eq!(totals, sums, "{name}");
        }
    }
}

/// The frames of a stack from the tables: name, file, line, column, address, inlined.
fn by_hand(
    sample: SampleRef,
    dictionary: &Dictionary,
) -> Vec<(String, String, i64, i64, u64, bool)> {
    let locations = dictionary.locations();
    let mut frames = Vec::new();
    for &id in dictionary.stack(sample.stack) {
        let (address, lines) = (locations.address(id), locations.lines(id));
        if lines.is_empty() {
            frames.push((String::new(), String::new(), 0, 0, address, false));
        }
        for (row, line) in lines.iter().enumerate() {
            let function = dictionary.function(line.function);
            let [name, file] =
                [function.name, function.filename].map(|id| dictionary.text(id).to_owned());
            frames.push((name, file, line.line, line.column, address, row + 1 < lines.len()));
        }
    }
    frames
}

#[test]
fn frames_are_what_the_tables_say_from_either_end() {
    let (mut inlined, mut bare) = (0, 0);
    for (name, model) in every_form() {
        let dictionary = model.dictionary();
        for sample in model.iter().flat_map(|profile| profile.samples()) {
            let said = |frame: FrameRef| {
                let texts = (frame.name().to_owned(), frame.filename().to_owned());
                let numbers = (frame.line(), frame.column(), frame.address());
                (texts.0, texts.1, numbers.0, numbers.1, numbers.2, frame.is_inlined())
            };
            let expected = by_hand(sample, dictionary);
            let frames = dictionary.frames(sample.stack);
            assert_eq!(frames.clone().map(said).collect::<Vec<_>>(), expected, "{name}");
            assert!(frames.clone().rev().map(said).eq(expected.iter().rev().cloned()), "{name}");
            inlined += frames.clone().filter(FrameRef::is_inlined).count();
            for frame in frames {
                let mapping = dictionary.mappings().get(frame.mapping());
                assert_eq!(frame.mapping_filename(), dictionary.text(mapping.filename));
                if frame.name().is_empty() && frame.system_name().is_empty() {
                    assert_eq!(frame.to_string(), format!("{:#x}", frame.address()));
                    bare += 1;
                } else if !frame.name().is_empty() {
                    assert_eq!(frame.to_string(), frame.name());
                }
            }
        }
    }
    assert!(inlined > 0 && bare > 0, "{inlined} inlined and {bare} bare frames");
}

#[test]
fn build_ids_and_frame_types_are_found() {
    let attribute = |key: &str, value: &str| doc::Attribute {
        key: key.to_owned(),
        value: Val::str(value),
        unit: String::new(),
    };
    let tables = doc::Tables {
        attributes: vec![
            attribute("process.executable.build_id.htlhash", "hash"),
            attribute("process.executable.build_id.gnu", "linker"),
            attribute("profile.frame.type", "kernel"),
        ],
        mappings: vec![
            doc::Mapping { attributes: vec![0, 1], filename: "both".into(), ..Default::default() },
            doc::Mapping { attributes: vec![0], filename: "one".into(), ..Default::default() },
        ],
        locations: vec![
            doc::Location {
                mapping: Some(0),
                attributes: vec![2],
                address: 1,
                ..Default::default()
            },
            doc::Location { mapping: Some(1), address: 2, ..Default::default() },
            doc::Location { address: 3, ..Default::default() },
        ],
        stacks: vec![vec![0, 1, 2]],
        ..Default::default()
    };
    let model = read("otlp", &(form("otlp").lower)(&Doc { tables, ..Doc::default() }));
    let dictionary = model.dictionary();
    let mut found = Vec::new();
    for &location in dictionary.stacks().row(1) {
        for frame in dictionary.location_frames(location) {
            found.push((frame.mapping_filename(), frame.build_id(), frame.frame_type()));
        }
    }
    let expected =
        [("both", Some("linker"), Some("kernel")), ("one", Some("hash"), None), ("", None, None)];
    assert_eq!(found, expected);
}

/// Converts a value by matching the model's enum.
fn by_match(value: &Value, dictionary: &Dictionary) -> Val {
    match value {
        Value::String(text) => Val::str(dictionary.text(*text)),
        Value::Int(number) => Val::Int(*number),
        Value::Bool(bool) => Val::Bool(*bool),
        Value::Array(values) => {
            Val::Array(values.iter().map(|value| by_match(value, dictionary)).collect())
        }
        other => panic!("no recorded profile has {other:?}"),
    }
}

#[test]
fn attributes_are_found_by_key_wherever_they_are() {
    let mut found = 0;
    for (name, model) in every_form() {
        let dictionary = model.dictionary();
        let mut lists = Vec::new();
        for entry in model.entries() {
            lists.extend([
                entry.scope_attributes(),
                entry.resource_attributes(),
                entry.attributes(),
            ]);
            for sample in entry.profile().samples() {
                lists.push(dictionary.resolve(sample.attributes));
                for frame in dictionary.frames(sample.stack) {
                    lists.extend([frame.attributes(), frame.mapping_attributes()]);
                }
            }
        }
        for list in lists {
            assert_eq!(list.iter().len(), list.len());
            for attribute in list.iter() {
                let value = list.get(attribute.key).unwrap();
                assert_eq!(value.value(), attribute.value.value(), "{name}: {}", attribute.key);
                let text = match by_match(value.value(), dictionary) {
                    Val::Str(text) => text,
                    Val::Int(number) => number.to_string(),
                    Val::Bool(bool) => bool.to_string(),
                    Val::Array(_) => value.to_string(),
                    other => panic!("{other:?}"),
                };
                assert_eq!(value.to_string(), text, "{name}");
                assert_eq!(
                    value.as_str().map(str::to_owned),
                    list.get_str(attribute.key).map(str::to_owned)
                );
                found += 1;
            }
            assert!(list.get("no such key").is_none());
        }
    }
    assert!(found > 1_000, "{found}");
}

#[test]
fn entries_are_the_profiles_with_what_they_stand_under() {
    let mut builder = Builder::new();
    for service in ["a", "b"] {
        builder.resource().attr("service.name", service);
        for scope in ["first", "second"] {
            builder.scope(scope).version("1");
            for kind in ["cpu", "wall"] {
                let profile = builder.profile(kind, "ns");
                builder.sample(profile, root_first([service, scope, kind])).value(1);
            }
        }
    }
    let profiles = builder.finish().unwrap();
    let said = |entry: Entry| {
        let text = |id| entry.dictionary().text(id).to_owned();
        let service = entry.resource_attributes().get_str("service.name").unwrap().to_owned();
        let kind = entry.profile().sample_types()[0];
        let sample = entry.profile().samples().get(0).unwrap();
        let frames = entry.dictionary().frames(sample.stack).rev();
        let stack: Vec<String> = frames.map(|frame| frame.to_string()).collect();
        assert_eq!(stack, [service.clone(), text(entry.scope().name()), text(kind.name)]);
        stack.join(" ")
    };
    let all: Vec<String> = profiles.entries().map(said).collect();
    let expected = ["a first cpu", "a first wall", "a second cpu", "a second wall"];
    assert_eq!(all[..4], expected);
    assert_eq!(all.len(), 8);
    let same = |(entry, profile): (Entry, &otlp_profiles::Profile)| entry.profile() == profile;
    assert!(profiles.entries().zip(&profiles).all(same));
    assert_eq!(profiles.iter().count(), 8);
}

#[test]
fn samples_are_walked_from_either_end() {
    let (_, bytes) = testdata(&["go-cpu-labels.pb.gz"]).remove(0);
    let model = read("pprof", &bytes);
    let samples = model.iter().next().unwrap().samples();
    let mut backwards: Vec<SampleRef> = samples.into_iter().rev().collect();
    backwards.reverse();
    assert_eq!(samples.into_iter().collect::<Vec<_>>(), backwards);
    assert_eq!(samples.iter().len(), samples.len());
    assert_eq!(samples.get(7), samples.iter().nth(7));
}

#[test]
fn times_are_the_numbers() {
    let mut timed = 0;
    for (name, model) in every_form() {
        for profile in &model {
            let since = profile.time().map(|time| time.duration_since(UNIX_EPOCH).unwrap());
            let nanos = since.map_or(0, |since| since.as_nanos());
            assert_eq!(nanos as i128, profile.time_unix_nano(), "{name}");
            let took = profile.duration().unwrap_or_default();
            assert_eq!(took.as_nanos() as i128, profile.duration_nanos(), "{name}");
            for sample in profile.samples() {
                timed += sample.times().len();
                let nanos = sample.timestamps_unix_nano.iter();
                let times = nanos.map(|nanos| UNIX_EPOCH + Duration::from_nanos(*nanos));
                assert!(sample.times().eq(times));
            }
        }
    }
    assert!(timed > 0);
}

/// Walks over 100,000 items of each kind.
#[test]
fn walks_take_time_in_proportion() {
    let many = sized(100_000);
    let sample = |row| doc::Sample {
        attributes: vec![row],
        stack: Some(0),
        values: vec![1],
        ..Default::default()
    };
    let profile = |row| doc::Profile { samples: vec![sample(row)], ..Default::default() };
    let profiles: Vec<doc::Profile> = (0..many).map(profile).collect();
    let scope = |profiles: &[doc::Profile]| doc::Scope {
        profiles: profiles.to_vec(),
        ..Default::default()
    };
    let scopes = profiles.chunks(2).map(scope).collect();
    let attribute = |row| doc::Attribute {
        key: "row".into(),
        value: Val::Int(row as i64),
        ..Default::default()
    };
    let tables = doc::Tables {
        attributes: (0..many).map(attribute).collect(),
        functions: vec![doc::Function::default(); 1],
        locations: vec![doc::Location { lines: vec![(Some(0), 1, 0); many], ..Default::default() }],
        stacks: vec![vec![0]],
        ..Default::default()
    };
    let resources = vec![doc::Resource { scopes, ..Default::default() }];
    let options = support::options("otlp").limits(Limits::unlimited());
    let bytes = (form("otlp").lower)(&Doc { resources, tables });
    let profiles = otlp_profiles::read(&bytes, &options).unwrap().profiles;
    let dictionary = profiles.dictionary();
    let mut rows = Vec::new();
    for entry in profiles.entries() {
        let sample = entry.profile().samples().get(0).unwrap();
        rows.extend(dictionary.resolve(sample.attributes).get("row").and_then(|row| row.as_i64()));
        assert_eq!(entry.profile().sums(), [1]);
    }
    assert!(rows.into_iter().eq(0..many as i64));
    assert_eq!(profiles.iter().count(), many);
    let stack = profiles.iter().next().unwrap().samples().get(0).unwrap().stack;
    assert_eq!(dictionary.frames(stack).rev().filter(|frame| frame.is_inlined()).count(), many - 1);
}

#[test]
fn ids_from_elsewhere_are_none() {
    let (_, bytes) = testdata(&["go-cpu-labels.pb.gz"]).remove(0);
    let model = read("pprof", &bytes);
    let sample = model.iter().next().unwrap().samples().get(100).unwrap();
    let empty = Profiles::default();
    assert_eq!(empty.dictionary().frames(sample.stack).count(), 0);
    let leaf: LocationId = model.dictionary().stack(sample.stack)[0];
    let frame = empty.dictionary().location_frames(leaf).next().unwrap();
    assert_eq!((frame.name(), frame.address(), frame.build_id()), ("", 0, None));
    assert!(empty.dictionary().resolve(sample.attributes).get("endpoint").is_none());
}
