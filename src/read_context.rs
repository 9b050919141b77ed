//! The state of one read: limits, policy and findings.

use crate::error::{Error, ReadFinding, Result, Severity};
use crate::limits::{Budget, Limits, within};
use crate::losses::{LossCode, LossKind};
use crate::schema::Table;
use crate::source_options::SourceOptions;

/// Policy for input that breaks a rule but can still be read.
///
/// ```
/// use otlp_profiles::{ErrorKind, Policy, ReadOptions, read};
///
/// // A pprof whose one sample names location 9, which does not exist.
/// let payload = b"\x0a\x00\x12\x05\x0a\x01\x09\x12\x00\x32\x00";
/// let options = ReadOptions::default().format(otlp_profiles::Format::PPROF);
/// assert_eq!(read(payload, &options).unwrap_err().kind(), ErrorKind::Malformed);
///
/// let repaired = read(payload, &options.policy(Policy::Repair))?;
/// assert!(repaired.findings.iter().any(|found| found.code == "pprof.dangling_location"));
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Policy {
    /// Return an error.
    /// Its kind is [`Malformed`](crate::ErrorKind::Malformed), with the place of the fault.
    #[default]
    Refuse,
    /// Repair the input and report each repair as a [`ReadFinding`].
    /// Input that cannot be parsed at all, such as a length past the end, is still an error.
    Repair,
}

#[doc(hidden)]
/// The state of one read: its budget, its policy and its findings.
#[derive(Debug)]
pub struct ReadContext {
    /// The rest of the limits.
    pub(crate) budget: Budget,
    pub(crate) policy: Policy,
    /// Whether to read links. This and the next fields are options of [`ReadOptions`](crate::ReadOptions)
    /// that some readers support.
    pub(crate) links: bool,
    pub(crate) timestamp_label: Option<String>,
    pub(crate) source: SourceOptions,
    /// The findings, one for each code.
    pub(crate) findings: Vec<ReadFinding>,
    /// The rows that the reader is in, outermost first.
    inside: Vec<(&'static str, usize)>,
    /// The facts about the format that the reader detected.
    pub(crate) evidence: Vec<String>,
    /// The samples of the profiles counted so far.
    samples: u64,
}

impl ReadContext {
    /// Creates the context for a payload of `payload` bytes.
    pub(crate) fn new(limits: Limits, policy: Policy, payload: usize) -> Self {
        Self {
            budget: Budget::new(limits, payload),
            policy,
            links: true,
            timestamp_label: None,
            source: SourceOptions::default(),
            findings: Vec::new(),
            inside: Vec::new(),
            evidence: Vec::new(),
            samples: 0,
        }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.budget.limits
    }

    /// Charges for the attributes of one item.
    #[inline]
    pub(crate) fn charge_attributes(&mut self, attributes: usize) -> Result<()> {
        self.charge_more_attributes(0, attributes)
    }

    /// Charges for more attributes of an item that already has `held`.
    #[inline]
    pub(crate) fn charge_more_attributes(&mut self, held: usize, more: usize) -> Result<()> {
        let most = self.limits().max_attributes_per_item;
        within("max_attributes_per_item", most, (held + more) as u64)?;
        self.budget.charge::<u32>(more)
    }

    /// Checks the limit for the samples of one more profile. The limit applies to all profiles together.
    pub(crate) fn check_samples(&mut self, samples: usize) -> Result<()> {
        self.samples = self.samples.saturating_add(samples as u64);
        within("max_samples", self.limits().max_samples, self.samples)
    }

    /// Checks the number of rows of a table. The error names the table.
    #[inline]
    pub(crate) fn check_rows(&self, table: Table, rows: u64) -> Result<()> {
        within("max_table_entries", self.limits().max_table_entries, rows)
            .map_err(|e| e.within(table.name()))
    }

    /// Checks the depth of a stack.
    #[inline]
    pub(crate) fn check_depth(&self, locations: usize) -> Result<()> {
        let most = self.limits().max_stack_depth;
        within("max_stack_depth", most, locations as u64)
    }

    /// Runs `f` inside the given rows, outermost first. Errors and findings of `f` include these rows in
    /// their place.
    pub(crate) fn inside<T>(
        &mut self,
        rows: &[(&'static str, usize)],
        f: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let outside = self.inside.len();
        self.inside.extend(rows);
        let result = f(self);
        self.inside.truncate(outside);
        result.map_err(|error| placed(error, rows))
    }

    /// Runs `f` inside the message `field`, if there is one. Errors and findings of `f` include it in their
    /// place.
    pub(crate) fn within<T>(
        &mut self,
        field: Option<&'static str>,
        f: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let known = self.findings.len();
        let result = f(self);
        let Some(field) = field else { return result };
        for finding in self.findings.iter_mut().skip(known) {
            finding.place = match finding.place.as_str() {
                "" => field.to_owned(),
                place => format!("{field}.{place}"),
            };
        }
        result.map_err(|error| error.within(field))
    }

    /// Reports a finding that needs no repair.
    #[cold]
    pub(crate) fn note(
        &mut self,
        code: LossCode,
        place: impl FnOnce() -> String,
        message: impl FnOnce() -> String,
    ) {
        let severity = match code.kind() {
            LossKind::Note | LossKind::Synthesized => Severity::Info,
            LossKind::Approximated | LossKind::Dropped => Severity::Warning,
            LossKind::Rejected => Severity::Error,
        };
        match self.findings.iter_mut().find(|finding| finding.code == code.as_str()) {
            Some(finding) => finding.count += 1,
            None => self.findings.push(ReadFinding {
                severity,
                code: code.as_str(),
                count: 1,
                place: place(),
                message: message(),
            }),
        }
    }

    /// Returns the error, or reports it as a finding if the policy is to repair. Readers call this before
    /// every repair, so that one place decides by the policy.
    #[cold]
    pub(crate) fn repair(&mut self, code: LossCode, error: Error) -> Result<()> {
        match self.policy {
            Policy::Refuse => Err(error.repaired_by(code.repair())),
            Policy::Repair => {
                let error = placed(error, &self.inside);
                self.note(code, || error.place(), || error.message().to_owned());
                Ok(())
            }
        }
    }
}

/// Adds the rows that enclose an error to its place.
#[cold]
pub(crate) fn placed(error: Error, rows: &[(&'static str, usize)]) -> Error {
    rows.iter().rev().fold(error, |error, (field, row)| error.within_row(field, *row))
}
