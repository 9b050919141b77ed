//! Findings of readers, and their severity.

use std::fmt;

/// The severity of a [`ReadFinding`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum Severity {
    /// Information about valid input.
    /// It does not change any data.
    Info,
    /// Irregular input, kept unchanged.
    Warning,
    /// Broken input, repaired under [`Policy::Repair`](crate::Policy).
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// An observation of the reader, with a stable code. Repeated codes are counted.
///
/// [`Reading::findings`](crate::Reading::findings) lists them. The validator's findings have a separate type,
/// [`check::Finding`](crate::check::Finding).
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// let reading = otlp_profiles::read(&std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap(), &Default::default())?;
/// for finding in reading.findings.iter() {
///     println!("{finding}");
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ReadFinding {
    /// The severity.
    pub severity: Severity,
    /// A stable code, such as `index.out_of_range`.
    pub code: &'static str,
    /// The number of occurrences.
    pub count: u64,
    /// The place of the first occurrence.
    pub place: String,
    /// A description of the first occurrence.
    pub message: String,
}

impl fmt::Display for ReadFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.severity, self.code)?;
        if !self.place.is_empty() {
            write!(f, " {}", self.place)?;
        }
        write!(f, ": {}", self.message)?;
        if self.count > 1 {
            write!(f, " ({} in all)", self.count)?;
        }
        Ok(())
    }
}
