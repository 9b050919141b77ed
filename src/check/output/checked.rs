//! A file of a run, with its report.

use crate::check::fix::{Change, NotFixed};
use crate::check::report::Report;
use crate::error::Severity;

/// A file of a run, with its report.
///
/// ```
/// use otlp_profiles::check::output::Checked;
/// use otlp_profiles::check::{Options, validate};
///
/// let bytes = std::fs::read("testdata/otlp-1.11-aggregated-cpu.binpb").unwrap();
/// let checked = Checked::new("cpu.otlp", validate(&bytes, &Options::default()));
/// let missing = Checked::unread("heap.otlp", 3, "no such file");
/// assert!(checked.report.is_ok() && missing.report.is_err());
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Checked {
    /// The path, as shown in findings.
    pub name: String,
    /// The report, or the reason why the file could not be read or written.
    pub report: Result<Report, Unread>,
    /// The result of [`fix`](crate::check::fix()), if the file was fixed.
    pub fixed: Option<FixSummary>,
}

/// Why a file has no report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// A sentence in lower case, without a full stop.
    pub message: String,
    /// The exit code of a command that fails on this file.
    pub exit: u8,
}

/// The repairs of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixSummary {
    /// The repairs, in the order of the file.
    pub changes: Vec<Change>,
    /// Findings that were left, and why.
    pub not_fixed: Vec<NotFixed>,
}

impl Checked {
    /// Creates the entry of a checked file.
    pub fn new(name: impl Into<String>, report: Report) -> Self {
        Self { name: name.into(), report: Ok(report), fixed: None }
    }

    /// Creates the entry of a file that could not be read or written.
    pub fn unread(name: impl Into<String>, exit: u8, message: impl Into<String>) -> Self {
        let unread = Unread { message: message.into(), exit };
        Self { name: name.into(), report: Err(unread), fixed: None }
    }

    /// Adds the repairs of the file.
    #[must_use]
    pub fn fixed(self, changes: Vec<Change>, not_fixed: Vec<NotFixed>) -> Self {
        Self { fixed: Some(FixSummary { changes, not_fixed }), ..self }
    }

    /// Returns whether the file has a finding of this severity or a higher one.
    pub fn fails(&self, deny: Severity) -> bool {
        self.report.as_ref().is_ok_and(|report| report.worst() >= Some(deny))
    }
}
