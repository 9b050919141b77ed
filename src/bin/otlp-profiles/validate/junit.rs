//! Findings as JUnit's XML: a test case for each file, with a failure where one is denied.
//!
//! | a file | is a test case with |
//! |---|---|
//! | that cannot be read | an `error` |
//! | with findings at or above the deny level | a `failure` that lists them |
//! | with other findings | their lines as `system-out` |
//!
//! CI systems show a failed test by its message and its text, and have nowhere to put a severity:
//! so what fails is decided here, by `deny`, as the exit code is.

use std::fmt::Write;

use otlp_profiles::Severity;

use super::Checked;
use crate::exit::Exit;
use crate::numbers::counted;

/// JUnit keeps errors (the test could not run) and failures (it ran, and said no) apart, and so
/// does this: a file that cannot be read is an error.
pub(super) fn page(files: &[Checked], deny: Severity) -> String {
    let failed = files.iter().filter(|file| file.report.is_ok() && file.exit(deny) != Exit::Done);
    let failed = failed.count();
    let broken = files.iter().filter(|file| file.report.is_err()).count();
    let mut page = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    let all = files.len();
    let _ = writeln!(
        page,
        "  <testsuite name=\"otlp-profiles validate\" tests=\"{all}\" failures=\"{failed}\" errors=\"{broken}\">"
    );
    for file in files {
        case(&mut page, file, deny);
    }
    page.push_str("  </testsuite>\n</testsuites>\n");
    page
}

/// A finding that is not listed, past `--max-findings`, still counts in the message.
fn case(page: &mut String, file: &Checked, deny: Severity) {
    let name = escaped(&file.name);
    let _ = writeln!(page, "    <testcase classname=\"otlp-profiles\" name=\"{name}\">");
    match &file.report {
        Err(failure) => {
            let message = escaped(&failure.message);
            let _ = writeln!(page, "      <error message=\"{message}\"/>");
        }
        Ok(report) => {
            let denied = |severity: Severity| severity >= deny;
            let lines = |wanted: bool| {
                let findings = report.findings().filter(|found| denied(found.severity) == wanted);
                findings.map(|found| format!("{found}\n")).collect::<String>()
            };
            let (bad, other) = (lines(true), lines(false));
            // All of them, listed or not: the test has failed without a line, too.
            let tallies = report.rule_counts().filter(|tally| denied(tally.severity));
            let count: u64 = tallies.map(|tally| tally.count).sum();
            if count > 0 {
                let count = counted(count, "finding");
                let text = escaped(&bad);
                let _ = writeln!(
                    page,
                    "      <failure message=\"{count}\" type=\"finding\">{text}</failure>"
                );
            }
            if !other.is_empty() {
                let _ = writeln!(page, "      <system-out>{}</system-out>", escaped(&other));
            }
        }
    }
    page.push_str("    </testcase>\n");
}

/// Text as XML can hold it.
///
/// Characters that XML 1.0 cannot hold, even as references, are written as Rust's escapes.
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
