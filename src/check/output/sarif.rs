//! Findings as SARIF 2.1.0, which code scanning services read.
//!
//! The path of a finding in its message is a logical location; the line is 1 unless the file is JSON text. The byte is
//! a property of the region: SARIF forbids lines and byte offsets in one region unless they are equal.

use std::collections::BTreeMap;

use super::builder::{list, quoted};
use super::checked::Checked;
use crate::check::baseline::portable;
use crate::check::finding::Finding;
use crate::check::rule::Rule;
use crate::error::Severity;

/// Returns a SARIF 2.1.0 document of one run.
///
/// It contains the rules that have findings. A file that could not be read is a notification of the run, not a result.
/// `partialFingerprints` derive from the file, the rule and the names of the path, so that they stay the same when
/// rows and bytes move.
pub fn to_sarif(files: &[Checked]) -> String {
    let mut rules: BTreeMap<&str, &'static Rule> = BTreeMap::new();
    for report in files.iter().filter_map(|file| file.report.as_ref().ok()) {
        rules.extend(report.findings().map(|finding| (finding.rule.id(), finding.rule)));
    }
    let rows: Vec<&str> = rules.keys().copied().collect();
    let unread = files.iter().filter_map(|file| Some((&file.name, file.report.as_ref().err()?)));
    let notifications = unread.map(|(name, unread)| {
        let text = quoted(&format!("{name}: {}", unread.message));
        format!(r#"{{"level": "error", "message": {{"text": {text}}}}}"#)
    });
    let notifications = list(notifications);
    let descriptors = list(rules.values().map(|rule| descriptor(rule)));
    let results = list(files.iter().flat_map(|file| results(file, &rows)));
    let (version, repository) = (env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_REPOSITORY"));
    let is_done = files.iter().all(|file| file.report.is_ok());
    format!(
        r#"{{"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [{{
"tool": {{"driver": {{"name": "otlp-profiles", "version": "{version}", "informationUri": "{repository}", "rules": {descriptors}}}}},
"columnKind": "unicodeCodePoints",
"invocations": [{{"executionSuccessful": {is_done}, "toolExecutionNotifications": {notifications}}}],
"results": {results}
}}]}}
"#
    )
}

/// Services compare the rules of runs, so a rule's descriptor depends on the catalogue alone.
fn descriptor(rule: &Rule) -> String {
    let (id, name, url, level) = (rule.id(), rule.name(), rule.url(), level(rule.worst()));
    let short = quoted(&format!("{}: {}", rule.place(), rule.statement()));
    let full = quoted(&format!("{} Source: {}.", rule.statement(), rule.source()));
    let help = quoted(rule.fix());
    format!(
        r#"{{"id": "{id}", "name": "{name}", "shortDescription": {{"text": {short}}}, "fullDescription": {{"text": {full}}}, "help": {{"text": {help}}}, "helpUri": "{url}", "defaultConfiguration": {{"level": "{level}"}}}}"#
    )
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

/// Results with equal fingerprints are numbered.
fn results(file: &Checked, rules: &[&str]) -> Vec<String> {
    let mut equal: BTreeMap<u64, u64> = BTreeMap::new();
    let findings = file.report.iter().flat_map(|report| report.findings());
    let result = |finding: &Finding| {
        let (id, count) = (finding.rule.id(), finding.count);
        let key = format!("{}\0{id}\0{}", portable(&file.name), finding.place());
        let hash = xxhash_rust::xxh3::xxh3_64(key.as_bytes());
        let number = equal.entry(hash).or_default();
        *number += 1;
        let row = rules.binary_search(&id).unwrap_or_default();
        let (level, text) = (level(finding.severity), quoted(&message(finding)));
        let location = location(file, finding);
        format!(
            r#"{{"ruleId": "{id}", "ruleIndex": {row}, "level": "{level}", "message": {{"text": {text}}}, "locations": [{location}], "partialFingerprints": {{"primaryLocationLineHash": "{hash:016x}:{number}"}}, "occurrenceCount": {count}}}"#
        )
    };
    findings.map(result).collect()
}

fn location(file: &Checked, finding: &Finding) -> String {
    let (uri, line) = (quoted(&uri(&file.name)), finding.line.unwrap_or(1));
    let column = finding.column.map(|column| format!(r#", "startColumn": {column}"#));
    let byte = finding.byte.filter(|_| finding.in_file);
    let byte = byte.map(|byte| format!(r#", "properties": {{"byteOffset": {byte}}}"#));
    let (column, byte) = (column.unwrap_or_default(), byte.unwrap_or_default());
    let logical = match finding.path.as_str() {
        "" => String::new(),
        path => format!(r#", "logicalLocations": [{{"fullyQualifiedName": {}}}]"#, quoted(path)),
    };
    format!(
        r#"{{"physicalLocation": {{"artifactLocation": {{"uri": {uri}}}, "region": {{"startLine": {line}{column}{byte}}}}}{logical}}}"#
    )
}

/// A path as a URI reference: relative, as code scanning requires, or a `file:` URI if it is absolute.
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
