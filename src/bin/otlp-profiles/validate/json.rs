//! Findings as one JSON document.
//!
//! A file has either `error` or the findings. `findings` is cut at `--max-findings` for each rule;
//! `rules` has the full counts.
//!
//! ```text
//! {"schema": "otlp-profiles/validate/1", "files": [
//!   {"path": "x.otlp", "format": "otlp-1.5", "verdict": "accept", "errors": 0, "warnings": 0, "infos": 3,
//!    "rules": [{"rule": "OP0006", "severity": "info", "count": 1}, …],
//!    "findings": [{"rule": "OP0006", "name": "generation-ambiguous", "byte": null, "path": "", …}]}]}
//! ```

use otlp_profiles::Severity;
use otlp_profiles::check::Change;
use otlp_profiles::check::{Finding, Report};
use serde_json::{Value, json};

use super::Checked;

/// The form of the document. Keys are only ever added to it.
const SCHEMA: &str = "otlp-profiles/validate/1";

/// Indented, as people look at it too; it ends with a line feed, as files do.
pub(super) fn page(files: &[Checked], deny: Severity) -> String {
    let files: Vec<Value> = files.iter().map(|one| file(one, deny)).collect();
    format!("{:#}\n", json!({ "schema": SCHEMA, "files": files }))
}

/// `fixed` and `not_fixed` are there only with `--fix`.
fn file(file: &Checked, deny: Severity) -> Value {
    let mut value = checked(file, deny);
    if let Some(fixed) = &file.fixed {
        value["fixed"] = fixed.changes.iter().map(change).collect();
        let left = fixed.not_fixed.iter().map(|left| json!({ "path": left.path, "why": left.why }));
        value["not_fixed"] = left.collect();
    }
    value
}

/// `count` findings of a rule went by one change: they are not listed one by one.
fn change(change: &Change) -> Value {
    json!({
        "rule": change.rule.id(),
        "name": change.rule.name(),
        "path": change.path,
        "byte": change.byte,
        "count": change.count,
        "done": change.done,
    })
}

/// `error` stands alone: of a file that was not read there is nothing to count.
fn checked(file: &Checked, deny: Severity) -> Value {
    match &file.report {
        Err(failure) => json!({ "path": file.name, "error": failure.to_json() }),
        Ok(report) => json!({
            "path": file.name,
            "format": report.format.map(|format| format.name()),
            "verdict": verdict(report, deny),
            "errors": report.count(Severity::Error),
            "warnings": report.count(Severity::Warning),
            "infos": report.count(Severity::Info),
            "findings": report.findings().map(finding).collect::<Vec<_>>(),
            "rules": report.rule_counts().map(|tally| json!({
                "rule": tally.rule.id(),
                "severity": tally.severity.to_string(),
                "count": tally.count,
            })).collect::<Vec<_>>(),
        }),
    }
}

/// `reject` where the command fails, else `warn` or `accept`.
fn verdict(report: &Report, deny: Severity) -> &'static str {
    match report.worst() {
        Some(worst) if worst >= deny => "reject",
        Some(Severity::Warning) => "warn",
        _ => "accept",
    }
}

/// The rule's own words are repeated in each, so that a reader needs no catalogue.
fn finding(finding: &Finding) -> Value {
    json!({
        "rule": finding.rule.id(),
        "name": finding.rule.name(),
        "severity": finding.severity.to_string(),
        "path": finding.path,
        "byte": finding.byte,
        "value": finding.value,
        "bound": finding.bound,
        "count": finding.count,
        "statement": finding.rule.statement(),
        "source": finding.rule.source(),
        "fix": finding.rule.fix(),
        "fixable": finding.rule.fixed_by().is_some(),
    })
}
