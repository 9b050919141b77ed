//! Reads recorded profiles: facts from other readers hold in the model, before and after conversion to every
//! format.
#![cfg(feature = "proto-all")]

use crate::support;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use crate::support::doc::difference;
use crate::support::{inflated, kept, read, testdata, write};
use otlp_profiles::model::{LinkId, LocationId, SampleRef, Value};
use otlp_profiles::proto::pprof;
use otlp_profiles::proto::prost::Message;
use otlp_profiles::{Dictionary, Format, Limits, Profile, Profiles};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

/// Returns the lines `root;…;leaf [key=value,…] v1,v2,…` of profiles that are the columns of one.
pub fn canonical(profiles: &Profiles) -> Vec<String> {
    let dictionary = profiles.dictionary();
    let columns: Vec<&Profile> = profiles.iter().collect();
    let order = sample_type_order(profiles).unwrap_or_else(|| (0..columns.len()).collect());
    let mut lines: BTreeMap<(String, String), Vec<i64>> = BTreeMap::new();
    for row in 0..columns[0].samples().len() {
        let key = {
            let sample = columns[0].samples().get(row).unwrap();
            (stack(sample, dictionary), labels(sample, dictionary))
        };
        // Profile k of the scope was column order[k].
        let mut values = vec![Vec::new(); columns.len()];
        for (profile, &column) in columns.iter().zip(&order) {
            values[column] = profile.samples().get(row).unwrap().values.to_vec();
        }
        let values = values.concat();
        let sums = lines.entry(key).or_insert_with(|| vec![0; values.len()]);
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
    }
    let text = |values: Vec<i64>| values.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
    lines
        .into_iter()
        .map(|((stack, labels), values)| format!("{stack} [{labels}] {}", text(values)))
        .collect()
}

fn sample_type_order(profiles: &Profiles) -> Option<Vec<usize>> {
    let scope = profiles.resource_profiles()[0].scope_profiles()[0].scope();
    let dictionary = profiles.dictionary();
    let order = scope
        .attributes()
        .iter()
        .find(|a| dictionary.text(a.key) == "pprof.scope.sample_type_order")?;
    let Value::Array(columns) = &order.value else {
        return None;
    };
    columns
        .iter()
        .map(
            |column| {
                if let Value::Int(column) = column { usize::try_from(*column).ok() } else { None }
            },
        )
        .collect()
}

fn stack(sample: SampleRef, dictionary: &Dictionary) -> String {
    let frames = |id: &LocationId| -> Vec<String> {
        let lines = dictionary.locations().lines(*id);
        if lines.is_empty() {
            return vec![format!("0x{:x}", dictionary.locations().address(*id))];
        }
        let name = |line: &otlp_profiles::model::Line| {
            dictionary.text(dictionary.function(line.function).name).to_owned()
        };
        lines.iter().rev().map(name).collect()
    };
    dictionary.stack(sample.stack).iter().rev().flat_map(frames).collect::<Vec<_>>().join(";")
}

fn labels(sample: SampleRef, dictionary: &Dictionary) -> String {
    let mut labels = Vec::new();
    for attribute in sample.attributes.iter().filter_map(|id| dictionary.attribute(*id)) {
        let (key, unit) = (dictionary.text(attribute.key), dictionary.text(attribute.unit));
        let values = if let Value::Array(values) = &attribute.value {
            &values[..]
        } else {
            std::slice::from_ref(&attribute.value)
        };
        labels.extend(values.iter().map(|value| match value {
            Value::String(text) => format!("{key}={}", dictionary.text(*text)),
            Value::Int(number) => format!("{key}={number}{unit}"),
            other => panic!("{key} is {other:?}"),
        }));
    }
    if sample.link != LinkId::NONE {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let link = dictionary.link(sample.link);
        labels.push(format!("trace_id={}", hex(&link.trace_id)));
        labels.push(format!("span_id={}", hex(&link.span_id)));
    }
    labels.sort();
    labels.join(",")
}

pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Compares the model with the facts about a pprof in facts.json.
fn check_facts(name: &str, profiles: &Profiles, facts: &Json) {
    let lines = canonical(profiles);
    assert_eq!(lines.len() as u64, facts["canon_lines"].as_u64().unwrap(), "{name}");
    assert_eq!(sha256((lines.join("\n") + "\n").as_bytes()), facts["canon_sha256"], "{name}");
}

/// Returns the number of rows of a pprof's tables that equal earlier ones, by the table's name in the facts.
fn merged(bytes: &[u8]) -> impl Fn(&str) -> u64 {
    let findings = otlp_profiles::read(bytes, &support::options("pprof")).unwrap().findings;
    move |table| {
        let code = format!("dedup.{}", table.trim_end_matches('s'));
        let of = findings.iter().find(|finding| finding.code == code);
        of.map_or(0, |finding| finding.count)
    }
}

/// Compares `bytes` with the facts about the file as pprof.
fn check_pprof_facts(name: &str, profiles: &Profiles, bytes: &[u8], facts: &Json) {
    check_facts(name, profiles, facts);
    let profile = profiles.iter().next().unwrap();
    let dictionary = profiles.dictionary();
    let kind = |kind: &otlp_profiles::model::ValueType| {
        serde_json::json!([dictionary.text(kind.name), dictionary.text(kind.unit)])
    };
    assert_eq!(
        profile.sample_types().iter().map(kind).collect::<Json>(),
        facts["sample_types"],
        "{name}"
    );
    let sums: Vec<i64> = (0..profile.sample_types().len())
        .map(|column| profile.samples().iter().map(|s| s.values[column]).sum())
        .collect();
    assert_eq!(serde_json::json!(sums), facts["sums"], "{name}");
    if !facts["period_type"].is_null() {
        assert_eq!(kind(&profile.period_type()), facts["period_type"], "{name}");
    }
    let counts = [
        ("samples", profile.samples().len()),
        ("locations", dictionary.locations().len() - 1),
        ("functions", dictionary.functions().len() - 1),
        ("mappings", dictionary.mappings().rows().len() - 1),
        ("stack_depth_max", dictionary.stacks().rows().map(<[_]>::len).max().unwrap()),
    ];
    let merged = merged(bytes);
    for (fact, count) in counts {
        assert_eq!(count as u64 + merged(fact), facts[fact].as_u64().unwrap(), "{name}: {fact}");
    }
    let numbers = [
        ("period", profile.period().into()),
        ("time_nanos", profile.time_unix_nano()),
        ("duration_nanos", profile.duration_nanos()),
    ];
    for (fact, number) in numbers {
        assert_eq!(number, i128::from(facts[fact].as_i64().unwrap()), "{name}: {fact}");
    }
    assert_eq!(
        dictionary.text(profile.default_sample_type()),
        facts["default_sample_type"],
        "{name}"
    );
}

/// Converts a pprof to every format and back. Nothing may be lost, by prost's reading and by the facts.
fn there_and_back(name: &str, bytes: &[u8], facts: Option<&Json>) {
    let model = read("pprof", bytes);
    let before = pprof::Profile::decode(bytes).ok();
    for format in Format::ALL.iter().filter(|format| format.is_whole()) {
        let (there, losses) = write(format.name(), &model);
        let utf8 = model.dictionary().strings().not_utf8().len() == 0;
        assert!(kept(&losses) || !utf8, "{name} to {}: {losses:?}", format.name());
        let middle = read(format.name(), &there);
        if let Some(facts) = facts {
            check_facts(&format!("{name} as {}", format.name()), &middle, facts);
        }
        let back = write("pprof", &middle).0;
        let after = pprof::Profile::decode(&back[..]);
        if let (Some(before), Ok(after)) = (&before, after) {
            let difference =
                difference(&support::pprof::meaning(before), &support::pprof::meaning(&after));
            assert_eq!(difference, None, "{name} through {}", format.name());
        }
        if let Some(facts) = facts {
            check_pprof_facts(
                &format!("{name} through {}", format.name()),
                &read("pprof", &back),
                bytes,
                facts,
            );
        }
    }
}

fn facts() -> Json {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/facts.json"))
        .unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn every_pprof_of_testdata_through_every_format() {
    let facts = facts();
    for (name, bytes) in testdata(&[".pb", ".pb.gz"]) {
        let facts = &facts[&name];
        assert_eq!(facts["format"], "pprof", "{name}");
        check_pprof_facts(&name, &read("pprof", &bytes), &bytes, facts);
        there_and_back(&name, &bytes, Some(facts));
    }
}

#[test]
fn every_otlp_file_of_testdata_is_read() {
    let facts = facts();
    for (name, bytes) in testdata(&[".binpb"]) {
        let format = if name.starts_with("otlp-1.3") { "otlp-1.3" } else { "otlp" };
        let profiles = read(format, &bytes);
        let dictionary = profiles.dictionary();
        let found: Vec<Json> = profiles
            .iter()
            .map(|profile| {
                let kind = profile.sample_types()[0];
                let value = |s: SampleRef| {
                    if s.values.is_empty() {
                        s.timestamps_unix_nano.len() as i64
                    } else {
                        s.values.iter().sum()
                    }
                };
                let sum: i64 = profile.samples().iter().map(value).sum();
                serde_json::json!([
                    dictionary.text(kind.name),
                    dictionary.text(kind.unit),
                    profile.samples().len(),
                    sum
                ])
            })
            .collect();
        if let Some(expected) = facts[&name].get("otlp_profiles") {
            assert_eq!(&Json::from(found), expected, "{name}");
        }
        let written = write(format, &profiles).0;
        let again = write(format, &read(format, &written)).0;
        assert_eq!(written, again, "{name} is written twice");
    }
}

/// Returns the folder of files that other projects publish, from `OTLP_PROFILES_CORPUS`.
fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("OTLP_PROFILES_CORPUS").map(PathBuf::from);
    if folder.is_none() {
        // Bypasses the test harness, which captures the output of passing tests.
        let message =
            "SKIPPED: OTLP_PROFILES_CORPUS is not set, so published profiles are not read\n";
        let _ = std::io::stderr().write_all(message.as_bytes());
    }
    folder
}

#[test]
fn every_pprof_of_the_corpus_through_every_format() {
    let Some(folder) = corpus() else { return };
    let text =
        std::fs::read_to_string(folder.join("made/facts.json")).expect("the corpus has facts");
    let made: Json = serde_json::from_str(&text).expect("facts are JSON");
    let mut files = Vec::new();
    for (name, path) in support::files::corpus_files() {
        let gzipped_or_pprof = [".pb", ".pb.gz", ".pprof", ".cpu", ".heap", ".contention"]
            .iter()
            .any(|e| name.ends_with(e));
        let bytes = std::fs::read(&path).unwrap();
        let message = if gzipped_or_pprof {
            inflated(&bytes)
        } else {
            continue;
        };
        // The older formats of gperftools and Go use the same file extensions as pprof.
        if pprof::Profile::decode(&message[..]).is_err() && !name.ends_with(".pb.gz") {
            continue;
        }
        files.push((name, message));
    }
    assert!(files.len() >= 5, "only {} pprof files in {}", files.len(), folder.display());
    support::on_every_core(&files, |(name, message)| {
        let facts = name
            .strip_prefix("made/")
            .map(|name| &made[name])
            .filter(|facts| facts["format"] == "pprof");
        there_and_back(name, message, facts);
    });
}

#[test]
fn every_otlp_file_of_the_corpus_is_read() {
    let Some(folder) = corpus() else { return };
    // The published files have generation 1.8; one is framed, with two messages.
    for (name, messages) in
        [("public/sig-profiling/profile.otlp", 1), ("public/sig-profiling/k8s.otlp", 2)]
    {
        let bytes = std::fs::read(folder.join(name)).unwrap();
        let options = support::options("otlp-1.8").limits(Limits::file());
        let readings =
            support::read_all(&bytes, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(readings.len(), messages, "{name}");
        for reading in readings {
            let samples: usize =
                reading.profiles.iter().map(|profile| profile.samples().len()).sum();
            assert!(samples > 0, "{name}");
            let written = write("otlp-1.8", &reading.profiles).0;
            let form = support::forms::form("otlp-1.8");
            let mask = support::doc::Mask::default();
            let meaning = |doc| support::doc::meaning(&doc, mask);
            let ours = meaning(support::model::doc_of(&reading.profiles));
            let again = meaning((form.raise)(&written).unwrap());
            assert_eq!(difference(&ours, &again), None, "{name}");
        }
    }
}
