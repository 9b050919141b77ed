//! What readers report besides errors, and how much it matters.

use std::fmt;

/// How much a [`ReadFinding`] matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    /// No data differs for it.
    Info,
    /// Odd, kept as it was found.
    Warning,
    /// Broken; repaired, because [`Policy::Repair`](crate::Policy) asked for it.
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

/// Something the reader noticed, with a stable code; equal codes are counted, not repeated.
///
/// [`Reading::findings`](crate::Reading::findings) has those of a reading. What a checker says is a finding of
/// [`check`](crate::check), by its rules.
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
#[non_exhaustive]
pub struct ReadFinding {
    /// How much it matters.
    pub severity: Severity,
    /// A stable code, such as `index.out_of_range`.
    pub code: &'static str,
    /// How often it was met.
    pub count: u64,
    /// Where it was met first.
    pub place: String,
    /// What was found there.
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
