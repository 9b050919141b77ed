//! For each rule and generation, a file that breaks the rule and a similar one that does not.

use std::sync::LazyLock;

use super::file::File;
use super::payload::Payload;
use crate::check::Rule;
use crate::error::{Error, ErrorKind, Result, Severity};
use crate::format::Format;

/// The generations of the catalogue of rules, with a format for each.
const GENERATIONS: [(&str, Format); 8] = [
    ("1", Format::OTLP_1_3),
    ("2", Format::OTLP_1_5),
    ("3", Format::OTLP_1_6),
    ("4", Format::OTLP_1_7),
    ("5", Format::OTLP_1_8),
    ("6", Format::OTLP_1_9),
    ("7", Format::OTLP_1_10),
    ("P", Format::PPROF),
];

/// A rule in a generation, with one way to break it.
///
/// ```
/// use otlp_profiles::check::validate;
/// use otlp_profiles::fuzzing::cases;
///
/// for case in cases().iter().filter(|case| case.rule().id() == "OP3101") {
///     let breaks = |file: otlp_profiles::fuzzing::File| {
///         let report = validate(&file.bytes, &file.options);
///         report.findings().any(|finding| *finding.rule == *case.rule())
///     };
///     assert!(breaks(case.broken()?) && !breaks(case.near_miss()?));
/// }
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Case {
    rule: &'static Rule,
    /// The row of [`GENERATIONS`].
    row: usize,
    /// The severity, if it differs from the catalogue.
    severity: Option<Severity>,
    edits: &'static str,
    steps: &'static str,
    place: &'static str,
    mend: &'static str,
}

/// Returns all cases, in the order of rules and generations. Every rule has one in each of its generations, except
/// for two that no file breaks: unreadable files and oversized output.
pub fn cases() -> &'static [Case] {
    static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
        let lines = include_str!("cases.txt").lines();
        lines.filter(|line| !line.is_empty() && !line.starts_with('#')).flat_map(of_line).collect()
    });
    &CASES
}

/// Parses a line: a case for each of its generations.
fn of_line(line: &'static str) -> Vec<Case> {
    let parsed = parse(line);
    debug_assert!(parsed.is_some(), "not a case: {line}");
    let Some((case, generations)) = parsed else { return Vec::new() };
    let rows = (0..GENERATIONS.len()).filter(|row| includes(generations, GENERATIONS[*row].0));
    rows.map(|row| Case { row, ..case.clone() }).collect()
}

/// Parses a line: the case, and its generations.
fn parse(line: &'static str) -> Option<(Case, &'static str)> {
    let (head, rest) = line.split_once(": ")?;
    let mut head = head.split(' ');
    let rule = head.next().and_then(Rule::find)?;
    let generations = head.next()?;
    let severity = match head.next() {
        Some("E") => Some(Severity::Error),
        Some("W") => Some(Severity::Warning),
        Some("I") => Some(Severity::Info),
        _ => None,
    };
    let (broken, rest) = rest.split_once('@')?;
    let (place, mend) = rest.split_once('!')?;
    let (edits, steps) = broken.split_once('>').unwrap_or((broken, ""));
    Some((Case { rule, row: 0, severity, edits, steps, place: place.trim(), mend }, generations))
}

/// Whether a list such as `1-4,6,P` includes a generation.
fn includes(list: &str, generation: &str) -> bool {
    let mut parts = list.split(',').map(|part| part.split_once('-').unwrap_or((part, part)));
    parts.any(|(from, to)| (from..=to).contains(&generation))
}

impl Case {
    /// Returns the rule.
    pub fn rule(&self) -> &'static Rule {
        self.rule
    }

    /// Returns the generation as the catalogue of rules counts them: `1` to `7`, or `P` for pprof.
    pub fn generation(&self) -> &'static str {
        GENERATIONS[self.row].0
    }

    /// Returns the format of the generation.
    pub fn format(&self) -> Format {
        GENERATIONS[self.row].1
    }

    /// Returns the severity of the finding.
    pub fn severity(&self) -> Option<Severity> {
        // The catalogue counts pprof as generation 0.
        self.severity.or_else(|| self.rule.levels[(self.row + 1) % GENERATIONS.len()])
    }

    /// Returns the path of the finding. It is empty if the finding is about the whole file or the path varies.
    pub fn place(&self) -> String {
        Payload::new(self.format()).map_or_else(|_| String::new(), |all| all.expand(self.place))
    }

    /// Returns the file that breaks the rule.
    ///
    /// # Errors
    ///
    /// None of the declared cases returns one.
    pub fn broken(&self) -> Result<File> {
        self.file(&[self.edits], self.steps)
    }

    /// Returns a file that differs in one edit and does not break the rule.
    ///
    /// # Errors
    ///
    /// None of the declared cases returns one.
    pub fn near_miss(&self) -> Result<File> {
        let (edit, steps) = self.mend.split_once('>').unwrap_or((self.mend, self.steps));
        self.file(&[self.edits, edit], steps)
    }

    fn file(&self, edits: &[&str], steps: &str) -> Result<File> {
        let mut payload = Payload::valid(self.format())?;
        let mut file = edits.iter().try_for_each(|edits| payload.edit(edits)).and_then(|()| {
            let mut file = File::new(payload.encode(), self.format());
            file.apply(steps).map(|()| file)
        });
        if let Err(error) = &mut file {
            let id = self.rule.id();
            let message = format!("case of {id} in {}: {}", self.format(), error.message());
            return Err(Error::new(ErrorKind::InvalidOption, message));
        }
        file
    }

    /// Applies the edits of the case to a payload of its format. Returns whether all of them apply.
    pub(super) fn apply(&self, payload: &mut Payload) -> bool {
        payload.edit(self.edits).is_ok()
    }
}
