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

/// Returns JUnit XML. Files with a finding of severity `deny` or higher are failed tests.
///
/// A file that cannot be read is an error, not a failure: the test could not run.
pub fn to_junit(files: &[Checked], deny: Severity) -> String {
    let all = files.len();
    let failed = files.iter().filter(|file| file.fails(deny)).count();
    let broken = files.iter().filter(|file| file.report.is_err()).count();
    let mut page = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    let _ = writeln!(
        page,
        "  <testsuite name=\"otlp-profiles validate\" tests=\"{all}\" failures=\"{failed}\" errors=\"{broken}\">"
    );
    for file in files {
        let name = escaped(&file.name);
        let _ = writeln!(page, "    <testcase classname=\"otlp-profiles\" name=\"{name}\">");
        match &file.report {
            Ok(report) => findings(&mut page, report, deny),
            Err(unread) => {
                let message = escaped(&unread.message);
                let _ = writeln!(page, "      <error message=\"{message}\"/>");
            }
        }
        page.push_str("    </testcase>\n");
    }
    page.push_str("  </testsuite>\n</testsuites>\n");
    page
}

/// The message of a failure counts all denied findings, listed or not.
fn findings(page: &mut String, report: &Report, deny: Severity) {
    let lines = |denied: bool| {
        let findings = report.findings().filter(|found| (found.severity >= deny) == denied);
        escaped(&findings.map(|found| format!("{found}\n")).collect::<String>())
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

/// Text as XML can hold it.
///
/// XML 1.0 cannot hold some characters, even as references; they are written as Rust's escapes.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' | '\t' => safe.push(char),
            other if other.is_control() || matches!(other, '\u{fffe}' | '\u{ffff}') => {
                safe.extend(other.escape_default());
            }
            other => safe.push(other),
        }
    }
    safe
}
