//! Reads mutated JSON of other tools: values of other types, missing and repeated keys, huge numbers, deep nesting.
//! Each file is read, or rejected with a place.

use crate::support::files;
use crate::support::sized;
use otlp_profiles::{Error, ErrorKind, Format, Policy, ReadOptions, WriteOptions, read, write};
use serde_json::{Map, Value, json};

/// Marks text that no tree of `serde_json` can represent.
const RAW: &str = "raw text: ";

/// The number of values in a tree, including the root.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

/// Mutates the value with index `at`.
fn bend(value: &mut Value, at: &mut usize, random: &mut dyn FnMut() -> usize) {
    if *at == 0 {
        *value = bent(value, random);
    }
    *at = at.wrapping_sub(1);
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| bend(item, at, random)),
        Value::Object(fields) => fields.values_mut().for_each(|item| bend(item, at, random)),
        _ => {}
    }
}

fn bent(value: &Value, random: &mut dyn FnMut() -> usize) -> Value {
    let raw = |text: String| Value::String(format!("{RAW}{text}"));
    let others = [
        json!(null),
        json!(true),
        json!(-1),
        json!(0.5),
        json!(""),
        json!("text"),
        json!([]),
        json!({}),
        json!([[1, "x"], null]),
        json!({"name": 7, "type": [], "info": "x"}),
        json!(i64::MAX),
        json!(i64::MIN),
        json!(u64::MAX),
        json!(1e308),
        raw("1e999".to_owned()),
        raw("-123456789012345678901234567890".to_owned()),
        raw(format!("{}1{}", "[".repeat(300), "]".repeat(300))),
        raw(format!("{}1{}", "{\"children\":[".repeat(300), "]}".repeat(300))),
        raw("[".repeat(100_000)),
    ];
    let choice = random() % (others.len() + 8);
    match (value, others.get(choice)) {
        (_, Some(other)) => other.clone(),
        (Value::Object(fields), None) => {
            let keys: Vec<&String> = fields.keys().collect();
            let Some(key) = keys.get(random() % keys.len().max(1)) else { return json!(0) };
            let mut fields: Map<String, Value> = fields.clone();
            match random() % 3 {
                0 => drop(fields.remove(*key)),
                1 => drop(fields.insert(format!("{key}{RAW}"), json!("said twice"))),
                _ => {
                    let moved = fields.remove(*key).unwrap_or_default();
                    fields.insert("elsewhere".to_owned(), moved);
                }
            }
            Value::Object(fields)
        }
        (Value::Array(items), None) => {
            let mut items = items.clone();
            let at = random() % (items.len() + 1);
            match random() % 2 {
                0 => drop(items.drain(..at)),
                _ => items.insert(at, json!({"at": "x"})),
            }
            Value::Array(items)
        }
        (_, None) => json!([value]),
    }
}

/// Converts a tree to text, and replaces the marked strings.
fn text(value: &Value) -> String {
    let text = value.to_string().replace(&format!("{RAW}\":"), "\":");
    let quoted_raw = format!("\"{RAW}");
    let mut parts = text.split(&quoted_raw);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = quoted(part).unwrap();
        out.push_str(&part[..end].replace("\\\"", "\""));
        out.push_str(&part[end + 1..]);
    }
    out
}

/// Returns the position of the closing quote of a string.
fn quoted(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    (0..bytes.len()).find(|&at| bytes[at] == b'"' && (at == 0 || bytes[at - 1] != b'\\'))
}

/// Whether an error has a place, or concerns the whole file.
fn is_clear(error: &Error) -> bool {
    let whole = ["contains no OSProfiler message", "are missing", "a point"];
    let message = error.to_string();
    error.kind() == ErrorKind::SeveralMessages
        || error.byte().is_some()
        || !error.place().is_empty()
        || error.limit().is_some()
        || whole.iter().any(|words| message.contains(words))
}

fn survives(format: Format, file: &Value) {
    let mut random = files::random();
    let (mut refused, mut taken, rounds) = (0, 0, sized(500));
    for _ in 0..rounds {
        let mut tree = file.clone();
        for _ in 0..=random() % 2 {
            let mut at = random() % count(&tree);
            bend(&mut tree, &mut at, &mut random);
        }
        let text = text(&tree);
        for policy in [Policy::Refuse, Policy::Repair] {
            let options = ReadOptions::default().format(format).policy(policy);
            match read(text.as_bytes(), &options) {
                Ok(reading) => {
                    taken += 1;
                    let written = write(&reading.profiles, Format::OTLP, &WriteOptions::default());
                    assert!(written.is_ok(), "{text}");
                }
                Err(error) => {
                    refused += 1;
                    let start = text.get(..400).unwrap_or(&text);
                    assert!(is_clear(&error), "{error}\n{start}");
                }
            }
        }
        drop(read(text.as_bytes(), &ReadOptions::default()));
    }
    assert!(
        refused > rounds / 5 && taken > rounds / 10,
        "{format}: {refused} refused, {taken} taken"
    );
}

fn testdata(name: &str) -> String {
    let path = format!("{}/testdata/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn speedscope_survives_trees_that_are_bent() {
    let both = json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": {"frames": [{"name": "a", "file": "a.c", "line": 3, "col": 1}, {"name": "b"}]},
        "profiles": [
            {"type": "sampled", "name": "Thread 7 \"t\"", "unit": "seconds", "startValue": 0,
             "endValue": 3, "samples": [[0], [0, 1]], "weights": [1, 0.5]},
            {"type": "evented", "name": "e", "unit": "none", "startValue": 0, "endValue": 9,
             "events": [{"type": "O", "frame": 0, "at": 1}, {"type": "C", "frame": 0, "at": 4}]}
        ]
    });
    survives(Format::SPEEDSCOPE, &both);
    let evented = serde_json::from_str(&testdata("speedscope-evented.json")).unwrap();
    survives(Format::SPEEDSCOPE, &evented);
}

#[test]
fn osprofiler_survives_trees_that_are_bent() {
    let lines = testdata("osprofiler.jsonl");
    let messages = lines.lines().map(|line| serde_json::from_str(line).unwrap());
    survives(Format::OSPROFILER, &Value::Array(messages.collect()));
    if let Some(report) = files::corpus("made/osprofiler/trace-show.json") {
        survives(Format::OSPROFILER, &serde_json::from_slice(&report).unwrap());
    }
}
