//! Findings as JUnit's XML: a test case for each file.
//!
//! | a file | is a test case with |
//! |---|---|
//! | that cannot be read | an `error` |
//! | with findings at or above the deny level | a `failure` that lists them |
//! | with other findings | their lines as `system-out` |
//!
//! CI systems show a failed test by its message and its text, and have no place for a severity.

use std::fmt::Write;

use super::checked::Checked;
use crate::check::report::Report;
use crate::error::Severity;
use crate::escape::markup;

/// The test cases so far, and their numbers, which precede them in the document.
#[derive(Debug, Default)]
pub(super) struct Suite {
    cases: String,
    tests: u64,
    failures: u64,
    errors: u64,
}

impl Suite {
    pub(super) fn add(&mut self, file: &Checked, deny: Severity) {
        let (page, name) = (&mut self.cases, markup(&file.name));
        let _ = writeln!(page, "    <testcase classname=\"otlp-profiles\" name=\"{name}\">");
        match &file.report {
            Ok(report) => findings(page, report, deny),
            Err(unread) => {
                let message = markup(&unread.message);
                let _ = writeln!(page, "      <error message=\"{message}\"/>");
            }
        }
        page.push_str("    </testcase>\n");
        self.tests += 1;
        self.failures += u64::from(file.fails(deny));
        self.errors += u64::from(file.report.is_err());
    }

    pub(super) fn finish(self) -> String {
        let Self { cases, tests, failures, errors } = self;
        format!(
            r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="otlp-profiles validate" tests="{tests}" failures="{failures}" errors="{errors}">
{cases}  </testsuite>
</testsuites>
"#
        )
    }
}

/// The message of a failure counts all denied findings, listed or not.
fn findings(page: &mut String, report: &Report, deny: Severity) {
    let lines = |denied: bool| {
        let findings = report.findings().filter(|found| (found.severity >= deny) == denied);
        // Each on a line of its own: line feeds within one are escaped.
        findings.map(|found| format!("{}\n", markup(&found.to_string()))).collect::<String>()
    };
    let tallies = report.rule_counts().filter(|tally| tally.severity >= deny);
    let count: u64 = tallies.map(|tally| tally.count).sum();
    if count > 0 {
        let (s, text) = (if count == 1 { "" } else { "s" }, lines(true));
        let _ = writeln!(
            page,
            "      <failure message=\"{count} finding{s}\" type=\"finding\">{text}</failure>"
        );
    }
    let other = lines(false);
    if !other.is_empty() {
        let _ = writeln!(page, "      <system-out>{other}</system-out>");
    }
}
