//! The result of a check: the listed findings, and how often each rule was broken.

use super::finding::{Finding, RuleCount};
use super::rule::{Fact, Rule};
use crate::error::Severity;
use crate::format::Format;

/// The result of a check: the findings, and the number of violations of each rule.
///
/// ```
/// use otlp_profiles::Severity;
/// use otlp_profiles::check::{Options, validate};
///
/// let report = validate(b"\x0a\xff", &Options::default());
/// assert_eq!(report.worst(), Some(Severity::Error));
/// println!("{}", report.findings().next().unwrap().rule.id());
/// ```
///
/// With the feature `serde` a report serialises as its file in [`Form::Json`](super::output::Form::Json) without
/// `path` and `verdict`, which depends on the deny level.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// The format of the payload; of the last one if the file has several. `None` if it was not recognised.
    pub format: Option<Format>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) rule_counts: Vec<RuleCount>,
    /// The number of findings of a rule at each place, listed or not, by the names of their paths, without rows.
    pub(crate) places: Vec<(&'static Rule, String, u64)>,
}

impl<'a> IntoIterator for &'a Report {
    type Item = &'a Finding;
    type IntoIter = std::slice::Iter<'a, Finding>;

    fn into_iter(self) -> Self::IntoIter {
        self.findings.iter()
    }
}

impl Report {
    /// Iterates over the findings in the order of their bytes. Each rule lists up to
    /// [`Options::max_findings`](super::Options::max_findings) findings; a finding of rule `OP9008` counts the others.
    pub fn findings(&self) -> impl ExactSizeIterator<Item = &Finding> {
        self.findings.iter()
    }

    /// Iterates over the number of violations of each rule, listed or not, by id.
    ///
    /// ```
    /// use otlp_profiles::check::{Options, validate};
    ///
    /// let file = std::fs::read("testdata/go-heap.pb.gz").unwrap();
    /// for tally in validate(&file, &Options::default().max_findings(1)).rule_counts() {
    ///     println!("{} {} {} times", tally.severity, tally.rule.id(), tally.count);
    /// }
    /// ```
    pub fn rule_counts(&self) -> impl ExactSizeIterator<Item = &RuleCount> {
        self.rule_counts.iter()
    }

    /// Returns the number of findings of a severity, listed or not.
    ///
    /// ```
    /// use otlp_profiles::Severity;
    /// use otlp_profiles::check::{Options, validate};
    ///
    /// let report = validate(b"garbage text", &Options::default());
    /// assert_eq!(report.count(Severity::Error), 1);
    /// assert!(!report.is_readable());
    /// ```
    pub fn count(&self, severity: Severity) -> u64 {
        let same = self.rule_counts.iter().filter(|tally| tally.severity == severity);
        same.map(|tally| tally.count).sum()
    }

    /// Returns the highest severity among the findings.
    pub fn worst(&self) -> Option<Severity> {
        self.rule_counts.iter().map(|tally| tally.severity).max()
    }

    /// Returns whether the bytes could be parsed completely. An error about a file, its compression, its framing or the
    /// wire format means that they could not.
    pub fn is_readable(&self) -> bool {
        !self.errors().any(Rule::is_unreadable)
    }

    /// Returns whether a limit was reached.
    pub fn is_limited(&self) -> bool {
        self.errors().any(|rule| rule.is(Fact::Limit))
    }

    /// The rules with findings of severity error.
    fn errors(&self) -> impl Iterator<Item = &'static Rule> {
        let errors = self.rule_counts.iter().filter(|tally| tally.severity == Severity::Error);
        errors.map(|tally| tally.rule)
    }

    /// Returns whether the report has no errors. Warnings and infos are permitted; to exclude them, use
    /// [`worst`](Self::worst).
    pub fn is_ok(&self) -> bool {
        self.worst() < Some(Severity::Error)
    }

    /// Keeps as many findings as [`places`](Self::places) counts: at each place the last listed ones.
    ///
    /// Findings past the limit of distinct places count as findings of the rule's first place.
    pub(crate) fn keep_places(&mut self) {
        let mut left = std::mem::take(&mut self.places);
        left.retain(|(.., count)| *count > 0);
        self.places = left.clone();
        // From the end: the first findings of a place are the known ones.
        for finding in self.findings.iter_mut().rev() {
            let place = finding.place();
            let of_rule = |(rule, ..): &(&Rule, String, u64)| *rule == finding.rule;
            let here = left.iter().position(|known| of_rule(known) && known.1 == place);
            let here = here.or_else(|| left.iter().position(of_rule));
            let mut none = 0;
            let left = here.map_or(&mut none, |here| &mut left[here].2);
            finding.count = finding.count.min(*left);
            *left -= finding.count;
        }
        self.findings.retain(|finding| finding.count > 0);
        for tally in &mut self.rule_counts {
            let of_rule = self.places.iter().filter(|(rule, ..)| *rule == tally.rule);
            tally.count = of_rule.map(|(.., count)| count).sum();
            let listed = self.findings.iter().filter(|finding| finding.rule == tally.rule);
            tally.severity = listed.map(|finding| finding.severity).max().unwrap_or(tally.severity);
        }
        self.rule_counts.retain(|tally| tally.count > 0);
    }
}
