//! The report as one JSON document.
//!
//! ```text
//! {"schema": "otlp-profiles/validate/1", "files": [
//!   {"path": "x.otlp", "format": "otlp-1.5", "verdict": "accept", "errors": 0, "warnings": 0, "infos": 3,
//!    "rules": [{"rule": "OP0006", "severity": "info", "count": 1}, …],
//!    "findings": [{"rule": "OP0006", "name": "generation-ambiguous", "byte": null, "path": "", …}]}]}
//! ```

use super::builder::Json;
use super::checked::{Checked, Mended};
use crate::check::finding::Finding;
use crate::check::report::Report;
use crate::error::Severity;

/// The form of the document. Keys are only ever added to it.
const SCHEMA: &str = "otlp-profiles/validate/1";

/// One JSON document. Files with a finding of severity `deny` or worse have the verdict `reject`.
///
/// `findings` of a file are those that are listed; `rules` has the count of each rule.
pub fn to_json(files: &[Checked], deny: Severity) -> String {
    Json::document(|json| {
        json.text("schema", SCHEMA);
        json.list("files", files, |json, file| {
            json.object("", |json| {
                json.text("path", &file.name);
                match &file.report {
                    Ok(report) => checked(json, report, deny),
                    Err(unread) => json.object("error", |json| {
                        json.value("exit", unread.exit);
                        json.text("place", "");
                        json.text("message", &unread.message);
                        json.value("byte", "null");
                    }),
                }
                file.fixed.iter().for_each(|mended| fixed(json, mended));
            });
        });
    })
}

fn checked(json: &mut Json, report: &Report, deny: Severity) {
    match report.format {
        Some(format) => json.text("format", format.name()),
        None => json.value("format", "null"),
    }
    let verdict = match report.worst() {
        Some(worst) if worst >= deny => "reject",
        Some(Severity::Warning) => "warn",
        _ => "accept",
    };
    json.text("verdict", verdict);
    json.value("errors", report.count(Severity::Error));
    json.value("warnings", report.count(Severity::Warning));
    json.value("infos", report.count(Severity::Info));
    json.list("findings", report.findings(), |json, found| {
        json.object("", |json| finding(json, found))
    });
    json.list("rules", report.rule_counts(), |json, tally| {
        json.object("", |json| {
            json.text("rule", tally.rule.id());
            json.text("severity", &tally.severity.to_string());
            json.value("count", tally.count);
        });
    });
}

/// Each finding repeats the texts of its rule, so that readers need no catalogue.
fn finding(json: &mut Json, finding: &Finding) {
    json.text("rule", finding.rule.id());
    json.text("name", finding.rule.name());
    json.text("severity", &finding.severity.to_string());
    json.text("path", &finding.path);
    json.maybe("byte", finding.byte);
    json.maybe("line", finding.line);
    json.maybe("column", finding.column);
    json.text("message", &finding.message());
    json.text("value", &finding.value);
    json.text("bound", &finding.bound);
    json.value("count", finding.count);
    json.text("statement", finding.rule.statement());
    json.text("source", finding.rule.source());
    json.text("fix", finding.rule.fix());
    json.value("fixable", finding.rule.fixed_by().is_some());
}

/// `count` findings of a rule were fixed by one change.
fn fixed(json: &mut Json, mended: &Mended) {
    json.list("fixed", &mended.changes, |json, change| {
        json.object("", |json| {
            json.text("rule", change.rule.id());
            json.text("name", change.rule.name());
            json.text("path", &change.path);
            json.maybe("byte", change.byte);
            json.value("count", change.count);
            json.text("done", change.done);
        });
    });
    json.list("not_fixed", &mended.not_fixed, |json, left| {
        json.object("", |json| {
            json.text("path", &left.path);
            json.text("why", &left.why);
        });
    });
}
