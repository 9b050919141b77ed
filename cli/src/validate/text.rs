//! The report for people: findings grouped by rule within a file, then a summary.
//!
//! ```text
//! cpu.pb.gz: pprof
//!   info PP1038 pprof-orphan: mapping[1]: unused entry; drop the entry … and 6 more
//! 1 file: 0 errors, 0 warnings, 7 infos
//! ```
//!
//! With `--all`, each finding has a line that begins with the file, as in compilers.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;

use otlp_profiles::Severity;
use otlp_profiles::check::output::Checked;
use otlp_profiles::check::{Finding, Known, Report, Rule, RuleCount};

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
    /// The comparison with the baseline, if there is one.
    pub(super) known: Option<Known>,
    /// Whether the findings were written to the baseline.
    pub(super) updated: bool,
}

/// Formats the report. Files with equal findings share their lines. Unreadable files have a line on
/// stderr.
pub(super) fn page(files: &[Checked], view: &View) -> String {
    let mut page = String::new();
    let mut groups = Groups::default();
    for file in files {
        fixes(&mut page, file);
        match &file.report {
            Ok(report) if view.all => {
                for finding in report.findings().filter(|found| found.severity >= view.least) {
                    let _ = writeln!(page, "{}: {finding}", shown(&file.name));
                }
            }
            Ok(report) if report.format.is_some() => {
                groups.add(&file.name, of_file(report, view));
            }
            _ => {}
        }
    }
    for (lines, names) in groups.in_order() {
        let _ = write!(page, "{}{lines}", joined(names));
    }
    if !view.all {
        unrecognised(&mut page, files);
    }
    summary(&mut page, files, view);
    page
}

/// Texts, each with the names of its files and the number of the first one.
#[derive(Default)]
struct Groups(BTreeMap<String, (usize, Vec<String>)>);

impl Groups {
    /// Adds a file to a text. Ignores empty texts.
    fn add(&mut self, name: &str, text: String) {
        if !text.is_empty() {
            let row = self.0.len();
            self.0.entry(text).or_insert((row, Vec::new())).1.push(shown(name));
        }
    }

    /// The texts with their files, in the order of each text's first file.
    fn in_order(&self) -> impl Iterator<Item = (&str, &[String])> {
        let mut rows: Vec<_> = self.0.iter().collect();
        rows.sort_by_key(|(_, (row, _))| *row);
        rows.into_iter().map(|(text, (_, names))| (text.as_str(), names.as_slice()))
    }
}

/// Joins names of files; prints at most eight and counts the rest.
fn joined(names: &[String]) -> String {
    let more = match names.len().saturating_sub(8) {
        0 => String::new(),
        more => format!(" and {}", counted(more as u64, "more file")),
    };
    let first: Vec<_> = names.iter().take(8).map(|name| styled(name, BOLD)).collect();
    format!("{}{more}: ", first.join(", "))
}

/// Lists the fixes of a file, then the findings that were not fixed and the reasons.
fn fixes(page: &mut String, file: &Checked) {
    let name = shown(&file.name);
    for mended in file.fixed.iter() {
        for change in &mended.changes {
            let _ = writeln!(page, "{name}: {change}");
        }
        for left in &mended.not_fixed {
            let colon = if left.path.is_empty() { "" } else { ": " };
            let _ = writeln!(page, "{name}: {}{colon}not fixed: {}", left.path, shown(&left.why));
        }
    }
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

/// Lists files without a recognised format: for each rule, files with equal findings share a line.
fn unrecognised(page: &mut String, files: &[Checked]) {
    let mut rules: BTreeMap<&str, (&Finding, u64, Groups)> = BTreeMap::new();
    for file in files {
        let reports = file.report.iter().filter(|report| report.format.is_none());
        for finding in reports.flat_map(Report::findings) {
            let new = (finding, 0, Groups::default());
            let (_, count, groups) = rules.entry(finding.rule.id()).or_insert(new);
            *count += 1;
            groups.add(&file.name, sentence(finding));
        }
    }
    for (first, count, groups) in rules.values() {
        let (title, fix) = (title(first.rule, first.severity), first.rule.fix());
        let _ = writeln!(page, "{title}: {}; {fix}", counted(*count, "file"));
        for (sentence, names) in groups.in_order() {
            // Users can copy the suggested command.
            let sentence = match names {
                [name] => with_file(sentence, &quoted(name)),
                _ => sentence.to_owned(),
            };
            let _ = writeln!(page, "  {}{sentence}", joined(names));
        }
    }
}

/// Formats the severity, the id and the name of a rule: `error   OP3101 index-sample-stack-index`.
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

/// Appends counts by rule if there are several files, then the totals, then the next steps.
fn summary(page: &mut String, files: &[Checked], view: &View) {
    let reports = || files.iter().filter_map(|file| file.report.as_ref().ok());
    let mut rules: BTreeMap<_, (&Rule, u64, u64)> = BTreeMap::new();
    for tally in reports().flat_map(Report::rule_counts) {
        if tally.severity >= view.least {
            let key = (Reverse(tally.severity), tally.rule.id());
            let (_, count, of) = rules.entry(key).or_insert((tally.rule, 0, 0));
            *count += tally.count;
            *of += 1;
        }
    }
    if !view.single && rules.len() > 1 {
        page.push_str("By rule:\n");
        for ((severity, _), (rule, count, of)) in &rules {
            let (count, of) = (grouped(*count), counted(*of, "file"));
            let fix = if rule.fixed_by().is_some() { ", --fix" } else { "" };
            let title = title(rule, severity.0);
            let _ = writeln!(page, "{count:>8}  {title} ({of}{fix})");
        }
    }
    totals(page, files, view);
    if let Some(Known { known, gone, .. }) = view.known {
        let known = counted(known, "finding");
        let _ = match gone {
            _ if view.updated => writeln!(page, "Baseline: {known} recorded."),
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
    let fixable: u64 = reports().map(Report::fixable).sum();
    if fixable > 0 && files.iter().all(|file| file.fixed.is_none()) {
        let _ = writeln!(page, "Run with --fix to mend up to {}.", counted(fixable, "finding"));
    }
    if let Some((rule, ..)) = rules.values().next() {
        let _ = writeln!(
            page,
            "Run `otlp-profiles validate --explain {}` to read about a rule.",
            rule.id()
        );
    }
}

/// Appends the totals: `3 files: 1 error, 2 warnings, 5 infos, 1 not read; 1 file without findings`
///
/// Shows the format of a single file, which may differ from the expected one.
fn totals(page: &mut String, files: &[Checked], view: &View) {
    let reports = || files.iter().filter_map(|file| file.report.as_ref().ok());
    let format = reports().next().and_then(|report| report.format).filter(|_| view.single);
    let what = format.map_or(counted(files.len() as u64, "file"), |format| format.to_string());
    let severities =
        [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Info, "info")];
    let mut parts = Vec::new();
    for (severity, noun) in severities.iter().filter(|(severity, _)| *severity >= view.least) {
        parts.push(counted(reports().map(|report| report.count(*severity)).sum(), noun));
    }
    let unread = files.iter().filter(|file| file.report.is_err()).count();
    parts.extend((unread > 0).then(|| format!("{unread} not read")));
    let fine = reports().filter(|report| report.worst() < Some(view.least)).count() as u64;
    let new = if view.known.is_some() { "new " } else { "" };
    let fine = match fine {
        0 => String::new(),
        _ if view.single => String::new(),
        fine => format!("; {} without {new}findings", counted(fine, "file")),
    };
    let mended = || files.iter().filter_map(|file| file.fixed.as_ref());
    let fixes = mended().flat_map(|mended| &mended.changes).map(|change| change.count).sum();
    let fixed = match (mended().count(), fixes) {
        (0, _) => String::new(),
        (_, 0) if mended().any(|mended| !mended.not_fixed.is_empty()) => {
            "; nothing fixed".to_owned()
        }
        (_, 0) => "; nothing to fix".to_owned(),
        (_, fixes) => format!("; {} fixed", grouped(fixes)),
    };
    let _ = writeln!(page, "{}: {}{fine}{fixed}", styled(&what, BOLD), parts.join(", "));
}
