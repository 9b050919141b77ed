//! Findings as annotations of GitHub Actions.
//!
//! A runner parses each line of its output that begins with `::` as a command, so newlines in messages and the
//! separators in properties are escaped.

use std::fmt::Write;

use super::checked::Checked;
use crate::error::Severity;
use crate::escape::{workflow_data, workflow_property};

/// Appends a line for each finding of a file.
pub(super) fn add(page: &mut String, file: &Checked) {
    let name = workflow_property(&file.name);
    let report = match &file.report {
        Ok(report) => report,
        Err(unread) => {
            let _ = writeln!(page, "::error file={name}::{}", workflow_data(&unread.message));
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
        let title = format!("{} {}", finding.rule.id(), finding.rule.name());
        let title = workflow_property(&title);
        let times = match finding.count {
            0 | 1 => String::new(),
            count => format!(" ({count} times)"),
        };
        let message = format!("{}{times}; {}", finding.sentence(), finding.rule.fix());
        let message = workflow_data(&message);
        let _ = writeln!(page, "::{command} file={name}{place},title={title}::{message}");
    }
}
