//! Findings as annotations of GitHub Actions.
//!
//! A line `::error file=…,title=…::message` for each finding. A runner takes any line of its output
//! that begins with `::` for a command, so newlines in messages and the separators in properties
//! are escaped.

use std::fmt::Write;

use otlp_profiles::Severity;

use super::Checked;

/// Runners show ten annotations of a kind for a step and drop the rest, so the exit code, not the
/// number of annotations, is what decides a job.
pub(super) fn page(files: &[Checked]) -> String {
    let mut page = String::new();
    for file in files {
        let name = property(&file.name);
        match &file.report {
            Err(failure) => {
                let _ = writeln!(page, "::error file={name}::{}", data(&failure.message));
            }
            Ok(report) => {
                for finding in report.findings() {
                    let command = match finding.severity {
                        Severity::Error => "error",
                        Severity::Warning => "warning",
                        Severity::Info => "notice",
                    };
                    let title = property(&format!("{} {}", finding.rule.id(), finding.rule.name()));
                    let message = data(&finding.to_string());
                    let _ = writeln!(page, "::{command} file={name},title={title}::{message}");
                }
            }
        }
    }
    page
}

/// Text after the `::` of a workflow command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Text in a property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
