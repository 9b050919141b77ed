//! The report as one JSON document.
//!
//! ```text
//! {"schema": "otlp-profiles/validate/1", "files": [
//!   {"path": "x.otlp", "format": "otlp-1.5", "verdict": "accept", "errors": 0, "warnings": 0, "infos": 3,
//!    "rules": [{"rule": "OP0006", "severity": "info", "count": 1}, …],
//!    "findings": [{"rule": "OP0006", "name": "generation-ambiguous", "byte": null, "path": "", …}]}]}
//! ```

use super::builder::{Json, Members};
use super::checked::{Checked, FixSummary};
use crate::check::finding::{Finding, RuleCount};
use crate::check::report::Report;
use crate::error::Severity;

/// The identifier of the document's schema. Later versions only add keys.
const SCHEMA: &str = "otlp-profiles/validate/1";

/// Returns the beginning of the document, before the list of files.
pub(super) fn head() -> String {
    format!("{{\"schema\": \"{SCHEMA}\", \"files\": ")
}

/// Returns the object of a file.
pub(super) fn file(file: &Checked, deny: Severity) -> String {
    Json::Object(checked(file, deny)).to_string()
}

fn checked(file: &Checked, deny: Severity) -> Members<'_> {
    let mut members = match &file.report {
        Ok(report) => {
            let verdict = match report.worst() {
                Some(worst) if worst >= deny => "reject",
                Some(Severity::Warning) => "warn",
                _ => "accept",
            };
            let mut members = of_report(report);
            members.insert(1, ("verdict", verdict.into()));
            members
        }
        Err(unread) => {
            let (exit, message) = (u64::from(unread.exit).into(), (&unread.message).into());
            let place = [("exit", exit), ("place", "".into())];
            let error = place.into_iter().chain([("message", message), ("byte", None.into())]);
            vec![("error", Json::Object(error.collect()))]
        }
    };
    members.insert(0, ("path", (&file.name).into()));
    members.extend(file.fixed.iter().flat_map(fixed));
    members
}

fn of_report(report: &Report) -> Members<'_> {
    let [errors, warnings, infos] =
        [Severity::Error, Severity::Warning, Severity::Info].map(|it| report.count(it).into());
    vec![
        ("format", report.format.map_or(None.into(), |format| format.name().into())),
        ("errors", errors),
        ("warnings", warnings),
        ("infos", infos),
        ("findings", report.findings().map(of_finding).collect()),
        ("rules", report.rule_counts().map(of_count).collect()),
    ]
}

fn of_count(tally: &RuleCount) -> Members<'_> {
    let severity = tally.severity.to_string().into();
    vec![("rule", tally.rule.id().into()), ("severity", severity), ("count", tally.count.into())]
}

/// Each finding repeats the texts of its rule, so that readers need no catalogue.
fn of_finding(finding: &Finding) -> Members<'_> {
    let rule = finding.rule;
    vec![
        ("rule", rule.id().into()),
        ("name", rule.name().into()),
        ("severity", finding.severity.to_string().into()),
        ("path", (&finding.path).into()),
        ("byte", finding.byte.into()),
        ("line", finding.line.into()),
        ("column", finding.column.into()),
        ("message", finding.message().into()),
        ("value", (&finding.value).into()),
        ("bound", (&finding.bound).into()),
        ("count", finding.count.into()),
        ("statement", rule.statement().into()),
        ("source", rule.source().into()),
        ("fix", rule.fix().into()),
        ("fixable", rule.fixed_by().is_some().into()),
    ]
}

/// The changes of a file. One change may fix several findings; `count` is their number.
fn fixed(summary: &FixSummary) -> Members<'_> {
    let changes = summary.changes.iter().map(|it| {
        vec![
            ("rule", it.rule.id().into()),
            ("name", it.rule.name().into()),
            ("path", (&it.path).into()),
            ("byte", it.byte.into()),
            ("count", it.count.into()),
            ("done", it.done.into()),
        ]
    });
    let left = summary.not_fixed.iter();
    let left = left.map(|it| vec![("path", (&it.path).into()), ("why", (&it.why).into())]);
    vec![("fixed", changes.collect()), ("not_fixed", left.collect())]
}

/// Serialises types in the form of the document.
#[cfg(feature = "serde")]
macro_rules! serialize {
    ($($type:ty: $members:ident,)*) => {$(
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                Json::Object($members(self)).serialize(serializer)
            }
        }
    )*};
}

#[cfg(feature = "serde")]
serialize! {
    Report: of_report,
    Finding: of_finding,
    RuleCount: of_count,
}
