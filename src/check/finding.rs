//! A finding: the rule, the place and the message. Also the count of violations of a rule.

use std::fmt::{self, Display};

use super::rule::Rule;
use crate::error::Severity;

/// A violation of a rule, with its place.
///
/// ```
/// use otlp_profiles::check::{Options, validate};
///
/// let report = validate(b"\x0a\x00", &Options::default());
/// let finding = report.findings().find(|finding| finding.rule.id() == "OP2002").unwrap();
/// assert_eq!(finding.path, "resource_profiles[0].scope_profiles");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The violated rule.
    pub rule: &'static Rule,
    /// The severity in this generation.
    pub severity: Severity,
    /// The path, with the names of the generation's schema and absolute indices:
    /// `dictionary.stack_table[3].location_indices[7]`. Empty if the finding concerns the whole payload.
    pub path: String,
    /// The offset of the field in the inflated payload, or in the file if the file itself is broken.
    pub byte: Option<u64>,
    /// Whether `byte` is an offset in the file as stored. Offsets in an inflated payload, or in one message of several,
    /// count from the start of that payload or message.
    pub in_file: bool,
    /// The line of that byte, from 1, if the file is JSON text that is not compressed.
    pub line: Option<u64>,
    /// The character of that byte within its line, from 1.
    pub column: Option<u64>,
    /// The value found, with its unit. Escaped and cut at 120 characters; empty if there is nothing to show.
    pub value: String,
    /// The expected value, such as `16 bytes`, or the fact that a value contradicts. Empty if the rule states it.
    pub bound: String,
    /// The number of occurrences: more than 1 if equal findings are counted as one.
    pub count: u64,
}

/// Formats one line, as compilers print it: place, severity, rule, message.
///
/// `samples[3].stack_index: error OP3101 index-sample-stack-index: stack index 9 is out of range: the stack table has 4
/// entries (byte 213)`
impl Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "{} {} {}: ", self.severity, self.rule.id, self.rule.name)?;
        f.write_str(&self.message())?;
        if self.count > 1 {
            write!(f, " ({} times)", self.count)?;
        }
        match (self.line, self.column, self.byte) {
            (Some(line), Some(column), _) => write!(f, " (line {line}, column {column})"),
            (.., Some(byte)) => write!(f, " (byte {byte})"),
            (.., None) => Ok(()),
        }
    }
}

impl Finding {
    /// Returns the message without the place, the severity and the rule.
    ///
    /// ```
    /// use otlp_profiles::check::{Options, validate};
    ///
    /// let report = validate(b"", &Options::default());
    /// assert_eq!(report.findings().next().unwrap().message(), "the input is empty: no bytes");
    /// ```
    pub fn message(&self) -> String {
        let Rule { statement, finding, .. } = self.rule;
        let missing = |mark, text: &str| text.is_empty() && finding.contains(mark);
        if !finding.is_empty() && !missing("{v}", &self.value) && !missing("{b}", &self.bound) {
            // The bound is trusted; the value may contain `{b}`, so it is replaced last.
            return finding.replace("{b}", &self.bound).replacen("{v}", &self.value, 1);
        }
        match (self.value.as_str(), self.bound.as_str()) {
            ("", "") => (*statement).to_owned(),
            (value, "") => format!("{statement}: {value}"),
            ("", bound) => format!("{statement}: expected {bound}"),
            (value, bound) => format!("{statement}: expected {bound}, found {value}"),
        }
    }

    /// The path and the message, for documents with members for the rule and its severity.
    pub(crate) fn sentence(&self) -> String {
        let colon = if self.path.is_empty() { "" } else { ": " };
        format!("{}{colon}{}", self.path, self.message())
    }

    /// The names of the path, without rows: `dictionary.stack_table.location_indices`.
    pub(crate) fn place(&self) -> String {
        let names = self.path.split('.').map(|step| step.split('[').next().unwrap_or_default());
        let names: Vec<_> = names.filter(|name| !name.is_empty()).collect();
        names.strip_prefix(&["message"]).unwrap_or(&names).join(".")
    }
}

/// The number of violations of a rule, listed or not.
///
/// ```
/// use otlp_profiles::check::{Options, validate};
///
/// let report = validate(b"", &Options::default());
/// let tally = report.rule_counts().next().unwrap();
/// assert_eq!((tally.rule.id(), tally.count), ("OP0001", 1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleCount {
    /// The rule.
    pub rule: &'static Rule,
    /// The highest severity among its findings.
    pub severity: Severity,
    /// The number of violations.
    pub count: u64,
}
