//! `validate` for programs, with hostile names and contents: SARIF follows its schema, JUnit's XML
//! is well formed, and each annotation for GitHub is one line.

use std::fs;

use serde_json::{Map, Value};

use crate::*;

/// A payload whose strings would be markup, commands and control characters if they were not
/// escaped.
fn payload() -> Vec<u8> {
    let field = |number: u8, body: &[u8]| [&[number << 3 | 2, body.len() as u8], body].concat();
    let text = b"a<b>&\"'\x1b[31m%0A::error::\r\n\xef\xbf\xbe";
    let strings = [field(5, b""), field(5, text), field(5, text)].concat();
    let tables = [1, 2, 3, 4, 6, 7].map(|table| field(table, b"")).concat();
    let sample = field(2, b"\x08\x09\x22\x01\x07");
    let profile = field(1, &field(2, &field(2, &sample)));
    [profile, field(2, &[tables, strings].concat())].concat()
}

const NAME: &str = "a,b;c:%d&e<f>'.otlp";

fn form(name: &str) -> String {
    let room = room(&format!("validate_odd_{name}"));
    fs::write(room.join(NAME), payload()).unwrap();
    fs::write(room.join("empty.otlp"), b"").unwrap();
    let arguments = format!("validate . absent.otlp --from otlp --format {name}");
    let output = command(&arguments).current_dir(&room).output().expect("it runs");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The keys of an object: name, whether it is required, and the check of its value.
type Keys = &'static [(&'static str, bool, fn(&Value, &str))];

#[track_caller]
fn object(value: &Value, place: &str, keys: Keys) {
    let map: &Map<String, Value> = value.as_object().unwrap_or_else(|| panic!("{place}: {value}"));
    for (key, value) in map {
        let known = keys.iter().find(|(known, ..)| known == key);
        let (.., check) = known.unwrap_or_else(|| panic!("{place} has no {key}"));
        check(value, &format!("{place}.{key}"));
    }
    for (key, required, _) in keys {
        assert!(!required || map.contains_key(*key), "{place} without {key}");
    }
}

#[track_caller]
fn list(value: &Value, place: &str, check: fn(&Value, &str)) {
    let list = value.as_array().unwrap_or_else(|| panic!("{place}: {value}"));
    list.iter().enumerate().for_each(|(row, value)| check(value, &format!("{place}[{row}]")));
}

fn text(value: &Value, place: &str) {
    assert!(value.is_string(), "{place}: {value}");
}

fn count(value: &Value, place: &str) {
    assert!(value.is_u64(), "{place}: {value}");
}

fn flag(value: &Value, place: &str) {
    assert!(value.is_boolean(), "{place}: {value}");
}

fn level(value: &Value, place: &str) {
    let known = ["none", "note", "warning", "error"];
    assert!(value.as_str().is_some_and(|level| known.contains(&level)), "{place}: {value}");
}

/// Checks for the characters that RFC 3986 allows in a reference, and that there is no accidental
/// scheme.
fn uri(value: &Value, place: &str) {
    let text = value.as_str().unwrap_or_else(|| panic!("{place}: {value}"));
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-._~/%".contains(c);
    assert!(text.chars().all(is_allowed) && !text.is_empty(), "{place}: {text}");
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        let hex = rest.get(at + 1..at + 3).unwrap_or_else(|| panic!("{place}: {text}"));
        assert!(hex.bytes().all(|byte| byte.is_ascii_hexdigit()), "{place}: {text}");
        rest = &rest[at + 3..];
    }
}

fn message(value: &Value, place: &str) {
    object(value, place, &[("text", true, text)]);
}

fn rule(value: &Value, place: &str) {
    object(
        value,
        place,
        &[
            ("id", true, text),
            ("name", false, text),
            ("shortDescription", false, message),
            ("fullDescription", false, message),
            ("help", false, message),
            ("helpUri", true, text),
            ("defaultConfiguration", false, |value, place| {
                object(value, place, &[("level", false, level)])
            }),
        ],
    );
}

fn driver(value: &Value, place: &str) {
    object(
        value,
        place,
        &[
            ("name", true, text),
            ("version", false, text),
            ("informationUri", false, text),
            ("rules", false, |value, place| list(value, place, rule)),
        ],
    );
}

fn notification(value: &Value, place: &str) {
    object(value, place, &[("level", false, level), ("message", true, message)]);
}

fn invocation(value: &Value, place: &str) {
    object(
        value,
        place,
        &[
            ("executionSuccessful", true, flag),
            ("toolExecutionNotifications", false, |value, place| list(value, place, notification)),
        ],
    );
}

fn physical(value: &Value, place: &str) {
    object(
        value,
        place,
        &[
            ("artifactLocation", true, |value, place| object(value, place, &[("uri", true, uri)])),
            ("region", false, |value, place| {
                let of_region: Keys = &[
                    ("startLine", true, count),
                    ("startColumn", false, count),
                    ("properties", false, |value, place| {
                        object(value, place, &[("byteOffset", true, count)]);
                    }),
                ];
                object(value, place, of_region);
            }),
        ],
    );
}

fn logical(value: &Value, place: &str) {
    object(value, place, &[("fullyQualifiedName", true, text)]);
}

fn location(value: &Value, place: &str) {
    object(
        value,
        place,
        &[
            ("physicalLocation", true, physical),
            ("logicalLocations", false, |value, place| list(value, place, logical)),
        ],
    );
}

fn result(value: &Value, place: &str) {
    object(
        value,
        place,
        &[
            ("ruleId", true, text),
            ("ruleIndex", true, count),
            ("level", true, level),
            ("message", true, message),
            ("locations", true, |value, place| list(value, place, location)),
            ("partialFingerprints", true, |value, place| {
                object(value, place, &[("primaryLocationLineHash", true, text)]);
            }),
            ("occurrenceCount", false, |value, place| {
                assert!(value.as_u64() >= Some(1), "{place}")
            }),
        ],
    );
}

fn run_of_sarif(value: &Value, place: &str) {
    object(
        value,
        place,
        &[
            ("tool", true, |value, place| object(value, place, &[("driver", true, driver)])),
            ("columnKind", true, |value, _| assert_eq!(value, "unicodeCodePoints")),
            ("invocations", false, |value, place| list(value, place, invocation)),
            ("results", false, |value, place| list(value, place, result)),
        ],
    );
}

#[test]
fn sarif_keeps_the_rules_of_its_schema() {
    let document: Value = serde_json::from_str(&form("sarif")).unwrap();
    object(
        &document,
        "$",
        &[
            ("$schema", false, text),
            ("version", true, |value, _| assert_eq!(value, "2.1.0")),
            ("runs", true, |value, place| list(value, place, run_of_sarif)),
        ],
    );
    let run = &document["runs"][0];
    assert!(run["results"].as_array().unwrap().len() > 5, "{run:#}");
    assert_eq!(run["invocations"][0]["toolExecutionNotifications"].as_array().unwrap().len(), 1);
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let ids: Vec<&str> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    assert!(ids.iter().enumerate().all(|(row, id)| !ids[..row].contains(id)), "{ids:?}");
    for result in run["results"].as_array().unwrap() {
        assert_eq!(result["ruleId"], ids[result["ruleIndex"].as_u64().unwrap() as usize]);
    }
}

/// Tags match, entities are predefined, and there are no control characters.
#[test]
fn xml_of_junit_is_well_formed() {
    let page = form("junit");
    assert!(!page.chars().any(|c| c.is_control() && c != '\n' && c != '\t'), "{page}");
    assert!(!page.contains(['\u{fffe}', '\u{ffff}']), "{page}");
    let (mut open, mut rest) =
        (Vec::new(), page.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>").unwrap());
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at(at);
        assert!(!before.contains('>'), "{before}");
        let (tag, after) = tag[1..].split_once('>').expect("it ends");
        let name = tag.trim_matches('/').split(' ').next().unwrap();
        match (tag.starts_with('/'), tag.ends_with('/')) {
            (true, _) => assert_eq!(open.pop(), Some(name)),
            (_, true) => {}
            _ => open.push(name),
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        rest = after;
    }
    assert!(open.is_empty(), "{open:?}");
    for (at, _) in page.match_indices('&') {
        let known = ["&amp;", "&lt;", "&gt;", "&quot;"];
        assert!(known.iter().any(|entity| page[at..].starts_with(entity)), "{}", &page[at..]);
    }
    assert!(page.contains("tests=\"3\" failures=\"1\" errors=\"1\""), "{page}");
}

#[test]
fn an_annotation_of_github_is_one_line() {
    let page = form("github");
    assert!(!page.contains(['\r', '\x1b']), "{page}");
    let name = "a%2Cb;c%3A%25d&e<f>'.otlp";
    for line in page.lines() {
        let rest =
            ["::error ", "::warning ", "::notice "].iter().find_map(|c| line.strip_prefix(c));
        let (properties, message) = rest.and_then(|rest| rest.split_once("::")).expect(line);
        assert!(!message.is_empty(), "{line}");
        for property in properties.split(',') {
            let (key, value) = property.split_once('=').expect(line);
            assert!(["file", "title"].contains(&key) && !value.contains(':'), "{line}");
        }
    }
    assert!(page.contains(name), "{page}");
}
