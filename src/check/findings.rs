//! Collects findings with their places, up to a limit per rule, and counts the rest.

use std::fmt::{Display, Write};
use std::rc::Rc;

use super::catalogue::OP9008;
pub(crate) use super::finding::{Finding, RuleCount};
use super::options::Options;
pub(crate) use super::position::{Position, Step};
use super::report::Report;
use super::rule::Rule;
use crate::error::Severity;
pub(crate) use crate::error::Shown;
use crate::format::Receiver;
use crate::schema::Version;

/// The state of a rule during a walk.
///
/// One for each rule that was looked up, broken or not.
struct Count {
    rule: &'static Rule,
    severity: Option<Severity>,
    tally: u64,
    worst: Severity,
    /// The first byte that any of its findings is about.
    first: u64,
    listed: u64,
    /// The findings that absorb equal ones: the kind of each, and its index in `listed`.
    folded: Vec<(u64, usize)>,
    /// The number of findings at each place, by the names of its path, without rows.
    places: Vec<(Vec<&'static str>, u64)>,
}

impl Count {
    /// Counts findings of one place. Past [`KINDS`] places they count as findings of the first.
    fn add(&mut self, names: impl Iterator<Item = &'static str> + Clone, number: u64) {
        self.tally += number;
        let full = self.places.len() >= KINDS;
        match self.places.iter_mut().find(|place| place.0.iter().copied().eq(names.clone())) {
            Some(place) => place.1 += number,
            None if full => self.places[0].1 += number,
            None => self.places.push((names.collect(), number)),
        }
    }
}

/// Collects findings.
pub(crate) struct Findings {
    options: Rc<Options>,
    version: Option<Version>,
    /// The prefix of every path, such as `message[3]`.
    pub(crate) prefix: String,
    /// Whether bytes are offsets in the file as stored.
    pub(crate) in_file: bool,
    pub(crate) path: Vec<Step>,
    counts: Vec<Count>,
    /// The index of the rule looked up last: findings of one rule often follow one another.
    last: usize,
    pub(crate) listed: Vec<Finding>,
}

/// The number of findings per rule whose position is determined.
const MAX_POSITIONS: u64 = 100;

/// The number of kinds or places of a rule that are counted separately.
///
/// Bounds the search, which is linear.
const KINDS: usize = 64;

impl Findings {
    /// Creates an empty collection.
    pub(crate) fn new(options: Rc<Options>, version: Option<Version>) -> Self {
        let (path, prefix, in_file) = (Vec::new(), String::new(), true);
        let (counts, last, listed) = (Vec::new(), 0, Vec::new());
        Self { options, version, prefix, in_file, path, counts, last, listed }
    }

    /// Creates an empty collection with the same options and path, for another message or for another pass over
    /// this one.
    pub(crate) fn another(&self) -> Self {
        let (options, prefix) = (Rc::clone(&self.options), self.prefix.clone());
        let (path, in_file) = (self.path.clone(), self.in_file);
        Self { prefix, in_file, path, ..Self::new(options, self.version) }
    }

    /// Adds the findings of another collection.
    pub(crate) fn add(&mut self, other: Self) {
        for finding in other.listed {
            let at = self.count(finding.rule);
            let count = &mut self.counts[at];
            if count.listed < self.options.max_findings || *finding.rule == OP9008 {
                count.listed += 1;
                self.listed.push(finding);
            }
        }
        for more in other.counts.iter().filter(|count| count.tally > 0) {
            let at = self.count(more.rule);
            let count = &mut self.counts[at];
            for (names, number) in &more.places {
                count.add(names.iter().copied(), *number);
            }
            count.worst = count.worst.max(more.worst);
            count.first = count.first.min(more.first);
        }
    }

    /// Removes the bytes from all listed findings, because they are offsets in converted bytes that the user does
    /// not have.
    pub(crate) fn forget_bytes(&mut self) {
        self.listed.iter_mut().for_each(|finding| (finding.byte, finding.in_file) = (None, false));
    }

    /// Maps the bytes of all listed findings.
    pub(crate) fn move_bytes(&mut self, to: impl Fn(u64) -> u64) {
        for byte in self.listed.iter_mut().filter_map(|finding| finding.byte.as_mut()) {
            *byte = to(*byte);
        }
    }

    /// The receiver that the payload is meant for.
    pub(crate) fn receiver(&self) -> Option<Receiver> {
        self.options.receiver
    }

    /// Sets the version whose rules apply from here on.
    pub(crate) fn set_version(&mut self, version: Option<Version>) {
        self.version = version;
        self.counts.iter_mut().for_each(|count| {
            count.severity = self.options.level(count.rule, version);
        });
    }

    /// The index of a rule's state. A linear search, since payloads look up a few dozen rules at most, and findings
    /// of one rule mostly follow one another.
    fn count(&mut self, rule: &'static Rule) -> usize {
        let is_it = |count: &Count| std::ptr::eq(count.rule, rule);
        if self.counts.get(self.last).is_some_and(is_it) {
            return self.last;
        }
        if let Some(at) = self.counts.iter().position(is_it) {
            self.last = at;
            return at;
        }
        let severity = self.options.level(rule, self.version);
        let (tally, listed, folded) = (0, 0, Vec::new());
        let (worst, first, places) = (Severity::Info, u64::MAX, Vec::new());
        self.counts.push(Count { rule, severity, tally, worst, first, listed, folded, places });
        self.counts.len() - 1
    }

    /// Whether a rule is enabled.
    pub(crate) fn is_enabled(&mut self, rule: &'static Rule) -> bool {
        let at = self.count(rule);
        self.counts[at].severity.is_some()
    }

    /// Whether one more finding of a rule would be listed and get a position. Determining a position is costly, so
    /// it is done for the first [`MAX_POSITIONS`] findings only, whatever the options.
    pub(crate) fn lists(&mut self, rule: &'static Rule) -> bool {
        let at = self.count(rule);
        let count = &self.counts[at];
        let least = Some(self.options.min_severity);
        // A disabled rule has no severity, and `None` is less than any.
        count.severity >= least && count.listed < self.options.max_findings.min(MAX_POSITIONS)
    }

    /// Whether a rule that satisfies `is` has findings.
    pub(crate) fn any(&self, is: impl Fn(&Rule) -> bool) -> bool {
        self.counts.iter().any(|count| count.tally > 0 && is(count.rule))
    }

    /// The number of findings of a rule.
    pub(crate) fn tally(&self, rule: &'static Rule) -> u64 {
        self.counts.iter().find(|count| count.rule == rule).map_or(0, |count| count.tally)
    }

    /// The first byte that findings of some rules are about, listed or not.
    pub(crate) fn first(&self, is: impl Fn(&Rule) -> bool) -> u64 {
        let of_these = self.counts.iter().filter(|count| is(count.rule));
        of_these.map(|count| count.first).min().unwrap_or(u64::MAX)
    }

    /// Reports a finding, if its rule is enabled. It is counted, and listed up to the limit of its rule.
    ///
    /// Formats the value and the bound only if the finding is listed.
    #[cold]
    #[inline(never)]
    pub(crate) fn report(
        &mut self,
        rule: &'static Rule,
        spot: Position,
        value: impl Display,
        bound: impl Display,
    ) {
        self.report_as(rule, None, spot, value, bound);
    }

    /// Reports a violation by the whole payload or file.
    pub(crate) fn report_whole(
        &mut self,
        rule: &'static Rule,
        value: impl Display,
        bound: impl Display,
    ) {
        self.report(rule, Position::nowhere(), value, bound);
    }

    /// Reports a finding with another severity than that of its rule, if the rule is enabled.
    #[cold]
    #[inline(never)]
    pub(crate) fn report_as(
        &mut self,
        rule: &'static Rule,
        severity: Option<Severity>,
        spot: Position,
        value: impl Display,
        bound: impl Display,
    ) {
        let at = self.count(rule);
        let Some(own) = self.counts[at].severity else {
            return;
        };
        let given = severity.filter(|_| !self.options.names(rule));
        let severity = given.unwrap_or(own);
        if severity < self.options.min_severity {
            return;
        }
        let names = self.path.iter().map(|step| step.name).chain(spot.field);
        let count = &mut self.counts[at];
        count.add(names, 1);
        count.worst = count.worst.max(severity);
        count.first = count.first.min(spot.byte.unwrap_or(u64::MAX));
        // `OP9008` counts what this limit leaves out, so it has no limit.
        if count.listed >= self.options.max_findings && *rule != OP9008 {
            return;
        }
        count.listed += 1;
        let path = self.place(spot);
        let (value, bound) = (value.to_string(), bound.to_string());
        let (byte, count) = (spot.byte, 1);
        let in_file = self.in_file && byte.is_some();
        let (line, column) = (None, None);
        let finding =
            Finding { rule, severity, path, byte, in_file, line, column, value, bound, count };
        self.listed.push(finding);
    }

    /// Reports a finding, or counts it in an earlier one of the same `kind`.
    #[cold]
    #[inline(never)]
    pub(crate) fn report_folded(
        &mut self,
        rule: &'static Rule,
        kind: u64,
        spot: Position,
        value: impl Display,
        bound: impl Display,
    ) {
        let found = self.folded(rule, kind);
        let at = self.count(rule);
        if let Some(finding) = found.and_then(|finding| self.listed.get_mut(finding)) {
            finding.count += 1;
            let names = self.path.iter().map(|step| step.name).chain(spot.field);
            return self.counts[at].add(names, 1);
        }
        let before = self.listed.len();
        self.report(rule, spot, value, bound);
        let count = &mut self.counts[at];
        // Only a listed finding can absorb later ones.
        if self.listed.len() > before && count.folded.len() < KINDS {
            count.folded.push((kind, before));
        }
    }

    /// The finding of a rule and a kind that absorbs equal ones, if any.
    fn folded(&mut self, rule: &'static Rule, kind: u64) -> Option<usize> {
        let at = self.count(rule);
        let mut folded = self.counts[at].folded.iter();
        folded.find(|(known, _)| *known == kind).map(|(_, finding)| *finding)
    }

    /// Whether [`report_folded`](Self::report_folded) would only count: then callers need no position.
    pub(crate) fn folds(&mut self, rule: &'static Rule, kind: u64) -> bool {
        self.folded(rule, kind).is_some()
    }

    /// Formats the path to a place, in the names of the schema. Called only for listed findings.
    fn place(&self, spot: Position) -> String {
        let mut text = self.prefix.clone();
        for step in &self.path {
            push_step(&mut text, step.name, step.row.map(|row| row as usize));
        }
        match (spot.field, spot.row) {
            (Some(name), row) => push_step(&mut text, name, row),
            (None, Some(row)) => drop(write!(text, "[{row}]")),
            (None, None) => {}
        }
        text
    }

    /// Keeps only the rules that satisfy `keep`, and drops all state of the others.
    pub(crate) fn retain(&mut self, keep: impl Fn(&Rule) -> bool) {
        self.counts.retain(|count| keep(count.rule));
        self.listed.retain(|finding| keep(finding.rule));
        // The list has moved, so indices into it are stale.
        self.counts.iter_mut().for_each(|count| count.folded.clear());
    }

    /// Creates the report: sorts findings by byte, counts the unlisted ones, and counts the violations of each
    /// rule.
    pub(crate) fn finish(mut self) -> Report {
        self.path.clear();
        let mut unlisted: Vec<(&'static Rule, u64)> = Vec::new();
        for count in &self.counts {
            let listed =
                self.listed.iter().filter(|finding| std::ptr::eq(finding.rule, count.rule));
            let listed: u64 = listed.map(|finding| finding.count).sum();
            if count.tally > listed {
                unlisted.push((count.rule, count.tally - listed));
            }
        }
        // The order of look-ups must not affect the report.
        unlisted.sort_by_key(|(rule, _)| rule.id);
        self.listed.sort_by(|one, other| {
            let key = |finding: &Finding| (finding.byte.is_none(), finding.byte, finding.rule.id);
            key(one).cmp(&key(other))
        });
        for (rule, left) in unlisted {
            let value = format_args!("{left} more of {}", rule.id).to_string();
            self.report_whole(&OP9008, value, "");
        }
        // Unlisted findings are not a violation themselves, unless the caller raised the severity of that rule.
        let counts = |count: &&Count| *count.rule != OP9008 || count.worst > Severity::Info;
        self.counts.sort_by_key(|count| count.rule.id);
        let counts = self.counts.iter().filter(|count| count.tally > 0).filter(counts);
        let (mut rule_counts, mut places) = (Vec::new(), Vec::new());
        for count in counts {
            let (rule, severity) = (count.rule, count.worst);
            rule_counts.push(RuleCount { rule, severity, count: count.tally });
            let of_rule = count.places.iter();
            places.extend(of_rule.map(|(names, count)| (rule, names.join("."), *count)));
        }
        Report { format: None, findings: self.listed, rule_counts, places }
    }
}

/// A number with its noun: `1 entry`, `2 entries`.
pub(crate) struct Counted(pub(crate) usize, pub(crate) &'static str);

impl Display for Counted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.0, self.1.strip_suffix('y')) {
            (1, _) => write!(f, "1 {}", self.1),
            (number, Some(stem)) => write!(f, "{number} {stem}ies"),
            (number, None) => write!(f, "{number} {}s", self.1),
        }
    }
}

/// Appends a step to a path, as in `samples[3].stack_index`.
fn push_step(text: &mut String, name: &str, row: Option<usize>) {
    if !text.is_empty() {
        text.push('.');
    }
    text.push_str(name);
    if let Some(row) = row {
        let _ = write!(text, "[{row}]");
    }
}
