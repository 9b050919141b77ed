//! The report for people: findings grouped by rule within a file, then a summary.
//!
//! ```text
//! cpu.pb.gz: pprof
//!   info PP1038 pprof-orphan: mapping[1]: unused entry; drop the entry … and 6 more
//! 1 file: 0 errors, 0 warnings, 7 infos
//! ```
//!
//! Files with equal findings share their lines. So lines are held until there are many different ones: output of a few
//! files is grouped as a whole, and memory does not grow with the number of files. With `--all` each finding has a line
//! that begins with the file, as compilers print it.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::mem::take;

use otlp_profiles::check::output::Checked;
use otlp_profiles::check::{Finding, Known, Report, Rule, RuleCount};
use otlp_profiles::{Format, Severity};

use crate::input::{quoted, with_file};
use crate::numbers::{counted, grouped};
use crate::style::{BAD, BOLD, WARN, styled};
use crate::text::shown;

/// The parts of the page that depend on flags.
pub(super) struct View {
    /// Whether to print one line for each finding.
    pub(super) all: bool,
    /// The lowest severity that is shown.
    pub(super) least: Severity,
    /// Whether the arguments name a single file, whose format the summary then shows.
    pub(super) single: bool,
}

/// The most different texts that are held.
const WINDOW: usize = 64;

/// The page, which is printed in parts.
pub(super) struct Page {
    view: View,
    groups: Groups,
    /// Files without a format, by rule.
    unrecognised: BTreeMap<&'static str, Unrecognised>,
    /// The number of texts in these.
    texts: usize,
    sums: Sums,
}

/// The files without a format that break a rule.
struct Unrecognised {
    rule: &'static Rule,
    severity: Severity,
    files: u64,
    groups: Groups,
}

/// Texts, each with the number of the first file that it belongs to, the names of some and the number of all.
#[derive(Default)]
struct Groups(BTreeMap<String, (usize, Vec<String>, u64)>);

/// The numbers of the summary.
#[derive(Default)]
struct Sums {
    /// By severity and id: how many findings of the rule, in how many files.
    rules: BTreeMap<(Reverse<Severity>, &'static str), (&'static Rule, u64, u64)>,
    files: u64,
    unread: u64,
    /// Errors, warnings and infos.
    findings: [u64; 3],
    /// Files without findings.
    fine: u64,
    fixable: u64,
    /// The number of fixed findings, with `--fix`.
    fixed: Option<u64>,
    /// Whether something was not fixed that could be.
    is_left: bool,
    /// The format of the first file.
    format: Option<Format>,
}

const SEVERITIES: [(Severity, &str); 3] =
    [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Info, "info")];

impl Page {
    pub(super) fn new(view: View) -> Self {
        let (groups, unrecognised) = (Groups::default(), BTreeMap::new());
        Self { view, groups, unrecognised, texts: 0, sums: Sums::default() }
    }

    /// Adds a file, and returns the lines that can be printed. A file that could not be read has its line on stderr.
    pub(super) fn add(&mut self, file: &Checked) -> String {
        self.sums.add(file, self.view.least);
        let mut page = repairs(file);
        match &file.report {
            Ok(report) if self.view.all => {
                for finding in report.findings().filter(|found| found.severity >= self.view.least) {
                    let _ = writeln!(page, "{}", shown(&format!("{}: {finding}", file.name)));
                }
            }
            Ok(report) if report.format.is_some() => {
                self.texts += self.groups.add(&file.name, of_file(report, &self.view));
            }
            Ok(report) => {
                for finding in report.findings() {
                    let (rule, severity) = (finding.rule, finding.severity);
                    let row = self.unrecognised.entry(rule.id()).or_insert_with(|| Unrecognised {
                        rule,
                        severity,
                        files: 0,
                        groups: Groups::default(),
                    });
                    row.files += 1;
                    self.texts += row.groups.add(&file.name, sentence(finding));
                }
            }
            Err(_) => {}
        }
        if self.texts >= WINDOW {
            self.flush(&mut page);
        }
        page
    }

    /// Returns the last lines and the summary.
    pub(super) fn finish(mut self, known: Option<Known>, updated: bool) -> String {
        let mut page = String::new();
        self.flush(&mut page);
        self.sums.print(&mut page, &self.view, known, updated);
        page
    }

    /// Appends the lines that were held: first those of files with a format.
    fn flush(&mut self, page: &mut String) {
        self.texts = 0;
        for (lines, names, count) in take(&mut self.groups).in_order() {
            let _ = write!(page, "{}{lines}", joined(&names, count));
        }
        for row in take(&mut self.unrecognised).into_values() {
            let (title, fix) = (title(row.rule, row.severity), row.rule.fix());
            let _ = writeln!(page, "{title}: {}; {fix}", counted(row.files, "file"));
            for (sentence, names, count) in row.groups.in_order() {
                // The command that helps can be typed as it stands.
                let sentence = match &names[..] {
                    [name] => with_file(&sentence, &quoted(name)),
                    _ => sentence,
                };
                let _ = writeln!(page, "  {}{sentence}", joined(&names, count));
            }
        }
    }
}

impl Groups {
    /// The most files of a text that are named.
    const NAMES: usize = 8;

    /// Adds a file to a text, and returns the number of texts that are new. Empty texts are left out.
    fn add(&mut self, name: &str, text: String) -> usize {
        if text.is_empty() {
            return 0;
        }
        let row = self.0.len();
        let (_, names, count) = self.0.entry(text).or_insert((row, Vec::new(), 0));
        *count += 1;
        if names.len() < Self::NAMES {
            names.push(shown(name));
        }
        self.0.len() - row
    }

    /// Returns the texts with their files, in the order of the first files.
    fn in_order(self) -> impl Iterator<Item = (String, Vec<String>, u64)> {
        let mut rows: Vec<_> = self.0.into_iter().collect();
        rows.sort_by_key(|(_, (row, ..))| *row);
        rows.into_iter().map(|(text, (_, names, count))| (text, names, count))
    }
}

/// Returns names of files, and the number of those that are not named.
fn joined(names: &[String], count: u64) -> String {
    let more = match count - names.len() as u64 {
        0 => String::new(),
        more => format!(" and {}", counted(more, "more file")),
    };
    let names: Vec<_> = names.iter().map(|name| styled(name, BOLD)).collect();
    format!("{}{more}: ", names.join(", "))
}

/// Returns the repairs of a file, then the findings that were left and why.
fn repairs(file: &Checked) -> String {
    let (mut page, name) = (String::new(), shown(&file.name));
    for fixed in file.fixed.iter() {
        for change in &fixed.changes {
            let _ = writeln!(page, "{name}: {change}");
        }
        for left in &fixed.not_fixed {
            let colon = if left.path.is_empty() { "" } else { ": " };
            let _ = writeln!(page, "{name}: {}{colon}not fixed: {}", left.path, shown(&left.why));
        }
    }
    page
}

/// Formats the format of a file and a line for each rule that it breaks, the most severe first,
/// with the first finding.
fn of_file(report: &Report, view: &View) -> String {
    let mut tallies: Vec<&RuleCount> =
        report.rule_counts().filter(|tally| tally.severity >= view.least).collect();
    tallies.sort_by_key(|tally| Reverse(tally.severity));
    let format = report.format.filter(|_| !tallies.is_empty());
    let mut lines = format.map_or(String::new(), |format| format!("{format}\n"));
    for tally in tallies {
        let first = report.findings().find(|finding| finding.rule == tally.rule);
        let (title, fix) = (title(tally.rule, tally.severity), tally.rule.fix());
        let sentence = first.map_or(tally.rule.statement().to_owned(), sentence);
        let more = match tally.count {
            0 | 1 => String::new(),
            count => format!(" … and {} more", grouped(count - 1)),
        };
        let _ = writeln!(lines, "  {title}: {sentence}; {fix}{more}");
    }
    lines
}

/// `error   OP3101 index-sample-stack-index`, in columns.
fn title(rule: &Rule, severity: Severity) -> String {
    let padded = format!("{:<7}", severity.to_string());
    let severity = match severity {
        Severity::Error => styled(&padded, BAD),
        Severity::Warning => styled(&padded, WARN),
        _ => padded,
    };
    format!("{severity} {} {}", styled(rule.id(), BOLD), rule.name())
}

/// Formats the path, the message, and the position if the path does not lead to it.
fn sentence(finding: &Finding) -> String {
    let colon = if finding.path.is_empty() { "" } else { ": " };
    let position = match (finding.line, finding.column, finding.byte) {
        (Some(line), Some(column), _) => format!(" (line {line}, column {column})"),
        (.., Some(byte)) if byte > 0 && finding.path.is_empty() => format!(" (byte {byte})"),
        _ => String::new(),
    };
    shown(&format!("{}{colon}{}{position}", finding.path, finding.message()))
}

impl Sums {
    fn add(&mut self, file: &Checked, least: Severity) {
        self.files += 1;
        if let Some(fixed) = &file.fixed {
            let count: u64 = fixed.changes.iter().map(|change| change.count).sum();
            *self.fixed.get_or_insert(0) += count;
            self.is_left |= !fixed.not_fixed.is_empty();
        }
        let Ok(report) = &file.report else {
            self.unread += 1;
            return;
        };
        for tally in report.rule_counts().filter(|tally| tally.severity >= least) {
            let key = (Reverse(tally.severity), tally.rule.id());
            let (_, count, files) = self.rules.entry(key).or_insert((tally.rule, 0, 0));
            *count += tally.count;
            *files += 1;
        }
        for (sum, (severity, _)) in self.findings.iter_mut().zip(SEVERITIES) {
            *sum += report.count(severity);
        }
        self.fine += u64::from(report.worst() < Some(least));
        self.fixable += report.fixable();
        self.format = self.format.or(report.format);
    }

    /// Prints counts by rule if there are several files, then the totals, then the next steps.
    fn print(&self, page: &mut String, view: &View, known: Option<Known>, updated: bool) {
        if !view.single && self.rules.len() > 1 {
            page.push_str("By rule:\n");
            for ((severity, _), (rule, count, of)) in &self.rules {
                let (count, of) = (grouped(*count), counted(*of, "file"));
                let fix = if rule.fixed_by().is_some() { ", --fix" } else { "" };
                let title = title(rule, severity.0);
                let _ = writeln!(page, "{count:>8}  {title} ({of}{fix})");
            }
        }
        self.totals(page, view, if known.is_some() { "new " } else { "" });
        if let Some(Known { known, gone, .. }) = known {
            let known = counted(known, "finding");
            let _ = match gone {
                _ if updated => writeln!(page, "Baseline: {known} recorded."),
                0 => writeln!(page, "Baseline: {known} known."),
                gone => writeln!(
                    page,
                    "Baseline: {known} known, {} gone; run with --update-baseline to drop those.",
                    grouped(gone)
                ),
            };
        }
        if view.least > Severity::Info {
            return;
        }
        if self.fixable > 0 && self.fixed.is_none() {
            let findings = counted(self.fixable, "finding");
            let _ = writeln!(page, "Run with --fix to repair up to {findings}.");
        }
        if let Some((rule, ..)) = self.rules.values().next() {
            let _ = writeln!(
                page,
                "Run `otlp-profiles validate --explain {}` to read about a rule.",
                rule.id()
            );
        }
    }

    /// `3 files: 1 error, 2 warnings, 5 infos, 1 not read; 1 file without findings`
    ///
    /// The format of a single file is shown, as it may not be the one that was expected.
    fn totals(&self, page: &mut String, view: &View, new: &str) {
        let format = self.format.filter(|_| view.single);
        let what = format.map_or(counted(self.files, "file"), |format| format.to_string());
        let counts = self.findings.iter().zip(SEVERITIES);
        let counts = counts.filter(|(_, (severity, _))| *severity >= view.least);
        let mut parts: Vec<_> = counts.map(|(count, (_, noun))| counted(*count, noun)).collect();
        parts.extend((self.unread > 0).then(|| format!("{} not read", self.unread)));
        let fine = match self.fine {
            0 => String::new(),
            _ if view.single => String::new(),
            fine => format!("; {} without {new}findings", counted(fine, "file")),
        };
        let fixed = match self.fixed {
            None => String::new(),
            Some(0) if self.is_left => "; nothing fixed".to_owned(),
            Some(0) => "; nothing to fix".to_owned(),
            Some(fixes) => format!("; {} fixed", grouped(fixes)),
        };
        let _ = writeln!(page, "{}: {}{fine}{fixed}", styled(&what, BOLD), parts.join(", "));
    }
}
