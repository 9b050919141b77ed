//! The report as one JSON document.
//!
//! ```text
//! {"schema": "otlp-profiles/validate/1", "files": [
//!   {"path": "x.otlp", "format": "otlp-1.5", "verdict": "accept", "errors": 0, "warnings": 0, "infos": 3,
//!    "rules": [{"rule": "OP0006", "severity": "info", "count": 1}, …],
//!    "findings": [{"rule": "OP0006", "name": "generation-ambiguous", "byte": null, "path": "", …}]}]}
//! ```

use super::builder::{list, maybe, quoted};
use super::checked::{Checked, Mended};
use crate::check::finding::Finding;
use crate::check::report::Report;
use crate::error::Severity;

/// The form of the document. Keys are only ever added to it.
const SCHEMA: &str = "otlp-profiles/validate/1";

/// Returns one JSON document. Files with a finding of severity `deny` or higher have the verdict `reject`.
///
/// `findings` of a file contains the listed findings; `rules` has the count of each rule.
pub fn to_json(files: &[Checked], deny: Severity) -> String {
    let files = files.iter().map(|file| {
        let body = match &file.report {
            Ok(report) => checked(report, deny),
            Err(unread) => {
                let (exit, message) = (unread.exit, quoted(&unread.message));
                format!(
                    r#""error": {{"exit": {exit}, "place": "", "message": {message}, "byte": null}}"#
                )
            }
        };
        let fixed = file.fixed.as_ref().map(fixed).unwrap_or_default();
        format!(r#"{{"path": {}, {body}{fixed}}}"#, quoted(&file.name))
    });
    format!("{{\"schema\": \"{SCHEMA}\", \"files\": {}}}\n", list(files))
}

fn checked(report: &Report, deny: Severity) -> String {
    let format = report.format.map_or("null".to_owned(), |format| quoted(format.name()));
    let verdict = match report.worst() {
        Some(worst) if worst >= deny => "reject",
        Some(Severity::Warning) => "warn",
        _ => "accept",
    };
    let [errors, warnings, infos] =
        [Severity::Error, Severity::Warning, Severity::Info].map(|it| report.count(it));
    let rules = report.rule_counts().map(|it| {
        let (rule, severity, count) = (it.rule.id(), it.severity, it.count);
        format!(r#"{{"rule": "{rule}", "severity": "{severity}", "count": {count}}}"#)
    });
    format!(
        r#""format": {format}, "verdict": "{verdict}", "errors": {errors}, "warnings": {warnings}, "infos": {infos}, "findings": {}, "rules": {}"#,
        list(report.findings().map(finding)),
        list(rules)
    )
}

/// Each finding repeats the texts of its rule, so that readers need no catalogue.
fn finding(finding: &Finding) -> String {
    let (rule, severity, count) = (finding.rule, finding.severity, finding.count);
    let [path, message, value, bound] =
        [&finding.path, &finding.message(), &finding.value, &finding.bound].map(|it| quoted(it));
    let [byte, line, column] = [finding.byte, finding.line, finding.column].map(maybe);
    let [statement, source, fix] = [rule.statement(), rule.source(), rule.fix()].map(quoted);
    let (id, name, fixable) = (rule.id(), rule.name(), rule.fixed_by().is_some());
    format!(
        r#"{{"rule": "{id}", "name": "{name}", "severity": "{severity}", "path": {path}, "byte": {byte}, "line": {line}, "column": {column}, "message": {message}, "value": {value}, "bound": {bound}, "count": {count}, "statement": {statement}, "source": {source}, "fix": {fix}, "fixable": {fixable}}}"#
    )
}

/// `count` findings of a rule were fixed by one change.
fn fixed(mended: &Mended) -> String {
    let changes = mended.changes.iter().map(|it| {
        let (id, name, path) = (it.rule.id(), it.rule.name(), quoted(&it.path));
        let (byte, count, done) = (maybe(it.byte), it.count, quoted(it.done));
        format!(
            r#"{{"rule": "{id}", "name": "{name}", "path": {path}, "byte": {byte}, "count": {count}, "done": {done}}}"#
        )
    });
    let left = mended.not_fixed.iter();
    let left =
        left.map(|it| format!(r#"{{"path": {}, "why": {}}}"#, quoted(&it.path), quoted(&it.why)));
    format!(r#", "fixed": {}, "not_fixed": {}"#, list(changes), list(left))
}
