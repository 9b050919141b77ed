//! Findings as SARIF 2.1.0, which code scanning services read.
//!
//! One run, whatever the number of files. A finding's place in the message is a logical location,
//! its byte a region of no length where it is one of the file, as regions of artifacts are: a payload has no lines.
//! Rules are listed once, those with findings only, and results refer to them by their index. A file that could not be
//! read is a notification of the run and no result.

use std::collections::BTreeMap;

use otlp_profiles::Severity;
use otlp_profiles::check::{Finding, Rule};
use serde_json::{Value, json};

use super::Checked;

/// `rows` is sorted, as the map it comes from: an index is found by bisection and is the same every
/// run.
pub(super) fn page(files: &[Checked]) -> String {
    let mut rules: BTreeMap<&str, &'static Rule> = BTreeMap::new();
    let reports = || files.iter().filter_map(|file| Some((file, file.report.as_ref().ok()?)));
    for (_, report) in reports() {
        rules.extend(report.findings().map(|finding| (finding.rule.id(), finding.rule)));
    }
    let rows: Vec<&str> = rules.keys().copied().collect();
    let results: Vec<Value> = reports()
        .flat_map(|(file, report)| report.findings().map(|finding| result(file, finding, &rows)))
        .collect();
    let failures: Vec<Value> = files.iter().filter_map(notification).collect();
    let document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "otlp-profiles",
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules.values().map(|rule| descriptor(rule)).collect::<Vec<_>>(),
            }},
            "invocations": [{
                "executionSuccessful": failures.is_empty(),
                "toolExecutionNotifications": failures,
            }],
            "results": results,
        }],
    });
    format!("{document:#}\n")
}

/// A file that could not be read.
fn notification(file: &Checked) -> Option<Value> {
    let failure = file.report.as_ref().err()?;
    Some(json!({
        "level": "error",
        "message": { "text": format!("{}: {}", file.name, failure.message) },
    }))
}

/// The level is the worst that the rule has in any generation; a result has its own.
///
/// Of the catalogue alone: the same rule has the same descriptor in every run, as services compare
/// runs by it.
fn descriptor(rule: &Rule) -> Value {
    json!({
        "id": rule.id(),
        "name": rule.name(),
        "shortDescription": { "text": format!("{}: {}", rule.place(), rule.statement()) },
        "fullDescription": { "text": format!("{} Source: {}.", rule.statement(), rule.source()) },
        "help": { "text": rule.fix() },
        "defaultConfiguration": { "level": level(rule.worst()) },
    })
}

/// SARIF has no `info`; `note` is its lowest that is shown.
fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

/// `occurrenceCount` is how many findings the library put into this one, since equal ones are
/// counted.
fn result(file: &Checked, finding: &Finding, rules: &[&str]) -> Value {
    let mut location = json!({
        "physicalLocation": { "artifactLocation": { "uri": uri(&file.name) } },
    });
    if let Some(byte) = finding.byte.filter(|_| finding.in_file) {
        location["physicalLocation"]["region"] = json!({ "byteOffset": byte, "byteLength": 0 });
    }
    if !finding.path.is_empty() {
        location["logicalLocations"] = json!([{ "fullyQualifiedName": finding.path }]);
    }
    json!({
        "ruleId": finding.rule.id(),
        "ruleIndex": rules.binary_search(&finding.rule.id()).ok(),
        "level": level(finding.severity),
        "message": { "text": finding.to_string() },
        "locations": [location],
        "occurrenceCount": finding.count,
    })
}

/// A path as a reference: relative to where the command runs, as code scanning wants it, or a file's where it begins at
/// the root.
///
/// Percent-encoded, so that a path of any bytes is a valid reference.
fn uri(path: &str) -> String {
    let path = path.strip_prefix("./").unwrap_or(path);
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
