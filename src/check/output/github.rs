//! Findings as annotations of GitHub Actions.
//!
//! A runner parses each line of its output that begins with `::` as a command, so newlines in messages and the
//! separators in properties are escaped.

use std::fmt::Write;

use super::checked::Checked;
use crate::error::Severity;

/// Appends a line for each finding of a file.
pub(super) fn add(page: &mut String, file: &Checked) {
    let name = property(&file.name);
    let report = match &file.report {
        Ok(report) => report,
        Err(unread) => {
            let _ = writeln!(page, "::error file={name}::{}", data(&unread.message));
            return;
        }
    };
    for finding in report.findings() {
        let command = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "notice",
        };
        let place = match (finding.line, finding.column) {
            (Some(line), Some(column)) => format!(",line={line},col={column}"),
            _ => String::new(),
        };
        let title = property(&format!("{} {}", finding.rule.id(), finding.rule.name()));
        let message = data(&finding.to_string());
        let _ = writeln!(page, "::{command} file={name}{place},title={title}::{message}");
    }
}

/// Text after the `::` of a workflow command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Text in a property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
