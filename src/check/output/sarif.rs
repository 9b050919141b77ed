//! Findings as SARIF 2.1.0, which code scanning services read.
//!
//! The path of a finding in its message is a logical location; the line is 1 unless the file is JSON text. The byte is
//! a property of the region: SARIF forbids lines and byte offsets in one region unless they are equal.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::builder::{Array, list, quoted};
use super::checked::Checked;
use crate::check::baseline::portable;
use crate::check::finding::Finding;
use crate::check::rule::Rule;
use crate::error::Severity;

/// The beginning of the document, before the results.
pub(super) const HEAD: &str = r#"{"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [{
"columnKind": "unicodeCodePoints",
"results": "#;

/// The parts of the run that follow its results.
#[derive(Debug, Default)]
pub(super) struct Run {
    results: Array,
    /// The rules with findings, in the order of their first ones.
    rules: Vec<&'static Rule>,
    /// A line for each file that could not be read.
    notifications: Vec<String>,
}

impl Run {
    pub(super) fn add(&mut self, text: &mut String, file: &Checked) {
        match &file.report {
            Ok(report) => {
                let mut equal = BTreeMap::new();
                for finding in report.findings() {
                    let result = self.result(file, finding, &mut equal);
                    self.results.push(text, &result);
                }
            }
            Err(unread) => {
                let text = quoted(&format!("{}: {}", file.name, unread.message));
                let line = format!(r#"{{"level": "error", "message": {{"text": {text}}}}}"#);
                self.notifications.push(line);
            }
        }
    }

    pub(super) fn finish(self, text: &mut String) {
        let is_done = self.notifications.is_empty();
        let notifications = list(self.notifications.into_iter());
        let descriptors = list(self.rules.iter().map(|rule| descriptor(rule)));
        let (version, repository) = (env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_REPOSITORY"));
        let end = self.results.end();
        let _ = write!(
            text,
            r#"{end},
"invocations": [{{"executionSuccessful": {is_done}, "toolExecutionNotifications": {notifications}}}],
"tool": {{"driver": {{"name": "otlp-profiles", "version": "{version}", "informationUri": "{repository}", "rules": {descriptors}}}}}
}}]}}
"#
        );
    }

    /// Returns the result of a finding. `equal` counts findings with equal fingerprints, which are numbered.
    fn result(
        &mut self,
        file: &Checked,
        finding: &Finding,
        equal: &mut BTreeMap<u64, u64>,
    ) -> String {
        let (id, count) = (finding.rule.id(), finding.count);
        let key = format!("{}\0{id}\0{}", portable(&file.name), finding.place());
        let hash = xxhash_rust::xxh3::xxh3_64(key.as_bytes());
        let number = equal.entry(hash).or_default();
        *number += 1;
        let row = self.rules.iter().position(|rule| rule.id() == id).unwrap_or_else(|| {
            self.rules.push(finding.rule);
            self.rules.len() - 1
        });
        let (level, text) = (level(finding.severity), quoted(&finding.sentence()));
        let location = location(file, finding);
        format!(
            r#"{{"ruleId": "{id}", "ruleIndex": {row}, "level": "{level}", "message": {{"text": {text}}}, "locations": [{location}], "partialFingerprints": {{"primaryLocationLineHash": "{hash:016x}:{number}"}}, "occurrenceCount": {count}}}"#
        )
    }
}

/// Services compare the rules of runs, so a rule's descriptor depends on the catalogue alone.
fn descriptor(rule: &Rule) -> String {
    let (id, name, url, level) = (rule.id(), rule.name(), rule.url(), level(rule.worst()));
    let short = quoted(&format!("{}: {}", rule.place(), rule.statement()));
    let full = quoted(&format!("{}. Source: {}.", rule.statement(), rule.source()));
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
