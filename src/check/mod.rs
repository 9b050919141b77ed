//! Checks payloads against the rules of their generation: every finding, at its place.
//!
//! The [catalogue](Rule::all) has a rule for each sentence of the specifications that can be checked,
//! with an id that never changes. [`check()`] walks the bytes of a payload once, whatever generation of
//! OTLP it is, or pprof, and says all that is wrong in one [`Report`].
//!
//! ```
//! use otlp_profiles::check::{Options, check};
//!
//! let file = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
//! let report = check(&file, &Options::default());
//! for finding in report.findings() {
//!     println!("{finding}");
//! }
//! assert!(report.is_ok());
//! ```

mod catalogue;
mod container;
mod cx;
mod fast;
mod fields;
mod findings;
pub mod fix;
mod guess;
mod json;
mod lists;
mod memo;
mod merged;
mod message;
mod odd;
mod options;
mod packed;
mod plain;
mod profcheck;
mod receivers;
mod record;
#[cfg(test)]
mod references;
mod rule;
mod rules;
mod said;
mod shape;
mod spot;
mod state;
mod tables;
mod take;
mod text;
mod varint;
mod walk;

pub use findings::{Finding, Tally};
pub use options::{Options, Profcheck};
pub use rule::Rule;

use crate::error::Severity;
use crate::format::Format;

/// What a payload breaks.
///
/// ```
/// use otlp_profiles::Severity;
/// use otlp_profiles::check::{Options, check};
///
/// let report = check(b"{}", &Options::default());
/// assert_eq!(report.worst(), Some(Severity::Error));
/// assert_eq!(report.findings().next().unwrap().rule.id(), "OP0008");
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// What the payload was checked as; of several the last. `None` where that cannot be told.
    pub format: Option<Format>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) tallies: Vec<Tally>,
}

impl<'a> IntoIterator for &'a Report {
    type Item = &'a Finding;
    type IntoIter = std::slice::Iter<'a, Finding>;

    fn into_iter(self) -> Self::IntoIter {
        self.findings.iter()
    }
}

impl Report {
    /// The findings, in the order of the bytes they are about. Of each rule as many are listed as
    /// [`Options::max_findings`] says; a finding of rule `OP9008` counts the others.
    pub fn findings(&self) -> impl ExactSizeIterator<Item = &Finding> {
        self.findings.iter()
    }

    /// How often each rule was broken, listed or not, by id.
    ///
    /// ```
    /// use otlp_profiles::check::{Options, check};
    ///
    /// let file = std::fs::read("testdata/go-heap.pb.gz").unwrap();
    /// for tally in check(&file, &Options::default().max_findings(1)).tallies() {
    ///     println!("{} {} {} times", tally.severity, tally.rule.id(), tally.count);
    /// }
    /// ```
    pub fn tallies(&self) -> impl ExactSizeIterator<Item = &Tally> {
        self.tallies.iter()
    }

    /// How many findings matter so much, listed or not.
    ///
    /// ```
    /// use otlp_profiles::Severity;
    /// use otlp_profiles::check::{Options, check};
    ///
    /// let report = check(b"garbage text", &Options::default());
    /// assert_eq!(report.count(Severity::Error), 1);
    /// assert!(!report.is_readable());
    /// ```
    pub fn count(&self, severity: Severity) -> u64 {
        let same = self.tallies.iter().filter(|tally| tally.severity == severity);
        same.map(|tally| tally.count).sum()
    }

    /// How much the worst finding matters.
    pub fn worst(&self) -> Option<Severity> {
        self.tallies.iter().map(|tally| tally.severity).max()
    }

    /// Whether the bytes could be taken apart: an error about a file, its compression, its framing or the
    /// wire format says that they could not, or not all of them.
    pub fn is_readable(&self) -> bool {
        !self.errors().any(catalogue::is_unreadable)
    }

    /// Whether a limit was reached.
    pub fn is_limited(&self) -> bool {
        self.errors().any(catalogue::is_limit)
    }

    /// The rules that were broken as errors.
    fn errors(&self) -> impl Iterator<Item = &'static Rule> {
        let errors = self.tallies.iter().filter(|tally| tally.severity == Severity::Error);
        errors.map(|tally| tally.rule)
    }

    /// Whether there is no error. Warnings and infos are no reason to refuse a payload; whoever wants none asks
    /// [`worst`](Self::worst).
    pub fn is_ok(&self) -> bool {
        self.worst() < Some(Severity::Error)
    }
}

/// Checks a file: one payload or several, compressed or not.
///
/// Nothing that the bytes hold makes it fail: what cannot be read is a finding too. It takes time that grows
/// with the bytes, and memory of a few times as many.
///
/// ```
/// use otlp_profiles::check::{Options, check};
///
/// let report = check(b"", &Options::default());
/// assert_eq!(report.findings().next().unwrap().to_string(),
///     "error OP0001 input-empty: no bytes, wanted a payload");
/// ```
pub fn check(bytes: &[u8], options: &Options) -> Report {
    container::file(bytes, options)
}
