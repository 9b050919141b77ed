//! Findings as SARIF 2.1.0, which code scanning services read.
//!
//! The path of a finding in its message is a logical location; the line is 1 unless the file is JSON text. The byte is
//! a property of the region: SARIF forbids lines and byte offsets in one region unless they are equal.

use std::collections::BTreeMap;

use super::builder::Json;
use super::checked::Checked;
use crate::check::baseline::portable;
use crate::check::finding::Finding;
use crate::check::rule::Rule;
use crate::error::Severity;

/// A SARIF 2.1.0 document of one run.
///
/// Its rules are those with findings. A file that could not be read is a notification of the run and no result.
/// `partialFingerprints` are made of the file, the rule and the names of the path, so that they stay the same when
/// rows and bytes move.
pub fn to_sarif(files: &[Checked]) -> String {
    let mut rules: BTreeMap<&str, &'static Rule> = BTreeMap::new();
    for report in files.iter().filter_map(|file| file.report.as_ref().ok()) {
        rules.extend(report.findings().map(|finding| (finding.rule.id(), finding.rule)));
    }
    let rows: Vec<&str> = rules.keys().copied().collect();
    Json::document(|json| {
        json.text("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
        json.text("version", "2.1.0");
        json.list("runs", [()], |json, ()| {
            json.object("", |json| {
                json.object("tool", |json| json.object("driver", |json| driver(json, &rules)));
                json.text("columnKind", "unicodeCodePoints");
                json.list("invocations", [()], |json, ()| invocation(json, files));
                json.list("results", files, |json, file| results(json, file, &rows));
            });
        });
    })
}

/// Services compare the rules of runs, so a rule's descriptor depends on the catalogue alone.
fn driver(json: &mut Json, rules: &BTreeMap<&str, &'static Rule>) {
    json.text("name", "otlp-profiles");
    json.text("version", env!("CARGO_PKG_VERSION"));
    json.text("informationUri", env!("CARGO_PKG_REPOSITORY"));
    let message = |json: &mut Json, key: &str, text: &str| {
        json.object(key, |json| json.text("text", text));
    };
    json.list("rules", rules.values(), |json, rule| {
        json.object("", |json| {
            json.text("id", rule.id());
            json.text("name", rule.name());
            message(json, "shortDescription", &format!("{}: {}", rule.place(), rule.statement()));
            let full = format!("{} Source: {}.", rule.statement(), rule.source());
            message(json, "fullDescription", &full);
            message(json, "help", rule.fix());
            json.text("helpUri", &rule.url());
            json.object("defaultConfiguration", |json| json.text("level", level(rule.worst())));
        });
    });
}

fn invocation(json: &mut Json, files: &[Checked]) {
    let unread = files.iter().filter_map(|file| Some((&file.name, file.report.as_ref().err()?)));
    json.object("", |json| {
        json.value("executionSuccessful", unread.clone().next().is_none());
        json.list("toolExecutionNotifications", unread, |json, (name, unread)| {
            json.object("", |json| {
                json.text("level", "error");
                let text = format!("{name}: {}", unread.message);
                json.object("message", |json| json.text("text", &text));
            });
        });
    });
}

/// SARIF has no `info`; `note` is its lowest level that is shown.
fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

/// The path and the sentence: a result has its rule and its level as members.
fn message(finding: &Finding) -> String {
    let colon = if finding.path.is_empty() { "" } else { ": " };
    format!("{}{colon}{}", finding.path, finding.message())
}

/// Of findings with equal fingerprints each has its number as well.
fn results(json: &mut Json, file: &Checked, rules: &[&str]) {
    let mut equal: BTreeMap<u64, u64> = BTreeMap::new();
    for finding in file.report.iter().flat_map(|report| report.findings()) {
        let key = format!("{}\0{}\0{}", portable(&file.name), finding.rule.id(), finding.place());
        let hash = xxhash_rust::xxh3::xxh3_64(key.as_bytes());
        let number = equal.entry(hash).or_default();
        *number += 1;
        json.object("", |json| {
            json.text("ruleId", finding.rule.id());
            json.maybe(
                "ruleIndex",
                rules.binary_search(&finding.rule.id()).ok().map(|row| row as u64),
            );
            json.text("level", level(finding.severity));
            json.object("message", |json| json.text("text", &message(finding)));
            json.list("locations", [finding], |json, finding| location(json, file, finding));
            json.object("partialFingerprints", |json| {
                json.text("primaryLocationLineHash", &format!("{hash:016x}:{number}"));
            });
            json.value("occurrenceCount", finding.count);
        });
    }
}

fn location(json: &mut Json, file: &Checked, finding: &Finding) {
    json.object("", |json| {
        json.object("physicalLocation", |json| {
            json.object("artifactLocation", |json| json.text("uri", &uri(&file.name)));
            json.object("region", |json| {
                json.value("startLine", finding.line.unwrap_or(1));
                finding.column.iter().for_each(|column| json.value("startColumn", column));
                if let Some(byte) = finding.byte.filter(|_| finding.in_file) {
                    json.object("properties", |json| json.value("byteOffset", byte));
                }
            });
        });
        if !finding.path.is_empty() {
            json.list("logicalLocations", [&finding.path], |json, path| {
                json.object("", |json| json.text("fullyQualifiedName", path));
            });
        }
    });
}

/// A path as a reference: relative, as code scanning wants it, or a `file:` URI if it begins at the root.
///
/// Percent-encoded, so that a path of any bytes is a valid reference.
fn uri(path: &str) -> String {
    let path = portable(path);
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                uri.push(char::from(byte));
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}
