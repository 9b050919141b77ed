//! Fixes violations that have a single right correction, and reports each change. Leaves everything else unchanged.
//!
//! A payload is read with its defects repaired, rewritten in its generation, and checked again: the changes are the
//! findings that are gone. If that would lose data or change the meaning, the payload stays unchanged, and the
//! reason is reported.

mod edit;
mod rewrite;
mod rules;

use std::borrow::Cow;
use std::fmt;

use self::rewrite::Rewritten;
use super::catalogue::{OP0006, OP5021, OP5022, OP9008};
use super::container;
use super::finding::{Finding, RuleCount};
use super::options::Options;
use super::report::Report;
use super::rule::{Family, Rule};
use crate::compression;
use crate::error::{Result, Severity};
use crate::format::Format;
use crate::format::detect::{Depth, detect_payload};
use crate::framing::{Framing, frame};
use crate::limits::Limits;
use crate::losses::INDEX_OUT_OF_RANGE;
use crate::stream::messages_of;

/// The result of [`fix`].
///
/// ```
/// use otlp_profiles::check::{Options, fix};
///
/// let file = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
/// let fixed = fix(&file, &Options::default());
/// assert!(fixed.changes.is_empty() && *fixed.bytes == file[..], "nothing is wrong with it");
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fixed<'a> {
    /// The file; unchanged input is returned as given, without a copy.
    pub bytes: Cow<'a, [u8]>,
    /// The changes, payload by payload, in the byte order of each.
    pub changes: Vec<Change>,
    /// Payloads, and rules of a payload, that were not fixed although something could be.
    pub not_fixed: Vec<NotFixed>,
    /// The findings in the fixed file.
    pub report: Report,
}

/// A violation that was fixed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The violated rule.
    pub rule: &'static Rule,
    /// The place of the violation; empty if it concerned the whole payload or the file.
    pub path: String,
    /// The offset of the place in the inflated payload before the change.
    pub byte: Option<u64>,
    /// The number of occurrences, if more than this place.
    pub count: u64,
    /// The change that was made.
    pub done: &'static str,
}

/// Formats as `dictionary.string_table[3]: fixed OP3201 duplicate-string: the equal rows became one (byte 213)`.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "fixed {} {}: {}", self.rule.id(), self.rule.name(), self.done)?;
        if self.count > 1 {
            write!(f, " ({} times)", self.count)?;
        }
        match self.byte {
            Some(byte) => write!(f, " (byte {byte})"),
            None => Ok(()),
        }
    }
}

/// A payload, or a part of one, that was not fixed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotFixed {
    /// Which of several payloads it is, such as `message[3]`; empty for a single one.
    pub path: String,
    /// The reason: the data that rewriting would lose, an obstacle, or another rule that reports the same.
    pub why: String,
}

/// The change reported for a rule without a fix that another fix resolved.
const WITH_IT: &str = "it went with what was fixed";

/// Fixes every violation that has exactly one right correction, in a file with one payload or several, compressed or not.
///
/// [`Rule::fixed_by`] reports which rules it fixes. Format, framing and compression stay the same. A payload is rewritten as
/// a whole, so the [changes](Fixed::changes) include all corrections in it, also by rules that `options` exclude. A
/// fixed violation is no longer reported, the meaning is unchanged, and fixing the file again changes nothing. The
/// [report](Fixed::report) has the remaining findings.
///
/// A payload is left unchanged if it cannot be read, or if rewriting it would lose data without a
/// single right correction: an unknown field, a missing stack, text that is not UTF-8. [`Fixed::not_fixed`] gives the
/// reason.
///
/// ```
/// use otlp_profiles::check::{Options, fix};
/// use otlp_profiles::Format;
///
/// // A profile with a sample of 7, and a dictionary with a string that nothing refers to.
/// let payload = b"\x0a\x09\x12\x07\x12\x05\x12\x03\x22\x01\x07\
///     \x12\x11\x0a\x00\x12\x00\x1a\x00\x22\x00\x2a\x00\x2a\x01a\x32\x00\x3a\x00";
/// let fixed = fix(payload, &Options::default().format(Format::OTLP));
/// assert_eq!(fixed.changes[0].to_string(),
///     "dictionary.string_table[1]: fixed OP3301 orphan-string: the unused row was left out (byte 25)");
/// assert!(fixed.bytes.len() < payload.len());
/// ```
pub fn fix<'a>(bytes: &'a [u8], options: &Options) -> Fixed<'a> {
    let before = container::file(bytes, options);
    let mut fixing = Fixing { options, changes: Vec::new(), not_fixed: Vec::new() };
    match fixing.file(bytes, &before) {
        Some(fixed) => {
            let report = container::file(&fixed, options);
            let Fixing { changes, not_fixed, .. } = fixing;
            Fixed { bytes: Cow::Owned(fixed), changes, not_fixed, report }
        }
        None => {
            let (bytes, changes) = (Cow::Borrowed(bytes), Vec::new());
            Fixed { bytes, changes, not_fixed: fixing.not_fixed, report: before }
        }
    }
}

/// The state of fixing a file.
struct Fixing<'a> {
    /// They decide whether a payload is fixed; the changes include all rules.
    options: &'a Options,
    changes: Vec<Change>,
    not_fixed: Vec<NotFixed>,
}

impl Fixing<'_> {
    /// Returns the file with its payloads fixed, or `None` without a change.
    fn file(&mut self, bytes: &[u8], before: &Report) -> Option<Vec<u8>> {
        if !before.rule_counts().any(|tally| tally.rule.fixed_by().is_some()) {
            return None;
        }
        let limits = &self.options.limits;
        let unpacked = compression::unpack(bytes, limits).ok()?;
        // A file that ends within a message cannot be framed again.
        let framed = match messages_of(&unpacked, limits) {
            Ok((framed, None)) => framed,
            Ok((_, Some(error))) | Err(error) => {
                let (path, why) = (error.place(), error.message().to_owned());
                self.not_fixed.push(NotFixed { path, why });
                return None;
            }
        };
        let framing = framed.framing();
        let mut fixed = Vec::with_capacity(framed.len());
        for (row, message) in framed.enumerate() {
            let path = match framing {
                Framing::None => String::new(),
                _ => format!("message[{row}]"),
            };
            fixed.push(self.message(message, path));
        }
        if unpacked.members > 1 || unpacked.padding > 0 {
            self.container(before);
        }
        if self.changes.is_empty() {
            return None;
        }
        let file = frame(framing, &fixed).ok()?;
        match framing {
            Framing::GzipMembers => Some(file),
            _ => match unpacked.again(file) {
                Ok(file) => Some(file),
                Err(why) => {
                    self.changes.clear();
                    self.not_fixed.push(NotFixed { path: String::new(), why: why.to_owned() });
                    None
                }
            },
        }
    }

    /// Returns a message of a file, fixed, and compressed if it was.
    ///
    /// A message that cannot be decompressed stays unchanged; the report has the reason.
    fn message<'m>(&mut self, message: &'m [u8], path: String) -> Cow<'m, [u8]> {
        let Ok(inner) = compression::unpack(message, &self.options.limits) else {
            return Cow::Borrowed(message);
        };
        let fixed = self.payload(&inner.bytes, &path);
        match fixed.and_then(|fixed| Ok(fixed.map(|payload| inner.again(payload)).transpose()?)) {
            Ok(Some(message)) => Cow::Owned(message),
            Ok(None) => Cow::Borrowed(message),
            Err(why) => {
                self.not_fixed.push(NotFixed { path, why });
                Cow::Borrowed(message)
            }
        }
    }

    /// Returns a fixed payload, `None` without a change, or the reason why it cannot be fixed.
    fn payload(&mut self, payload: &[u8], path: &str) -> Result<Option<Vec<u8>>, String> {
        let enabled = container::file(payload, self.options);
        if !enabled.rule_counts().any(|tally| is_fixed_in_payload(tally.rule)) {
            return Ok(None);
        }
        let all = Options::default()
            .limits(self.options.limits)
            .format(self.options.format)
            .max_findings(self.options.max_findings);
        let before = container::file(payload, &all);
        let format = writable(&before)?;
        let fixed = rewritten(payload, format, &before, &self.options.limits)?;
        let Rewritten { payload: fixed, joined, .. } = fixed;
        same_format(payload, &fixed, format)?;
        let after = container::file(&fixed, &all.format(format));
        if let Some(worse) = first_worse(&before, &after) {
            return Err(format!("written anew it would break {} {}", worse.id(), worse.name()));
        }
        let fewer = changes(&before, &after, path);
        let stays = enabled.rule_counts().map(|tally| tally.rule);
        let stays = stays.filter(|rule| is_fixed_in_payload(rule) && count(&after, rule) > 0);
        self.not_fixed.extend(
            stays.map(|rule| NotFixed { path: path.to_owned(), why: stays_the_same(rule) }),
        );
        if !fewer.iter().any(|change| change.rule.fixed_by().is_some()) {
            return Ok(None);
        }
        let untold = untold(joined, &fewer, path);
        self.changes.extend(fewer);
        self.changes.extend(untold);
        Ok(Some(fixed))
    }

    /// Adds the changes to the compression of the file as a whole.
    fn container(&mut self, before: &Report) {
        let findings = before.findings().filter(|finding| !is_fixed_in_payload(finding.rule));
        for finding in findings.filter(|finding| finding.path.is_empty()) {
            if let Some(done) = finding.rule.fixed_by() {
                let (rule, path, byte) = (finding.rule, String::new(), finding.byte);
                self.changes.push(Change { rule, path, byte, count: finding.count, done });
            }
        }
    }
}

impl Report {
    /// Returns the highest number of findings that [`fix`] could fix, according to the report.
    ///
    /// It fixes nothing in a payload with findings that have no single right correction.
    pub fn fixable(&self) -> u64 {
        let is_writable = writable(self).is_ok();
        let fixable = self.rule_counts().filter(|count| {
            count.rule.fixed_by().is_some() && (is_writable || !is_fixed_in_payload(count.rule))
        });
        fixable.map(|count| count.count).sum()
    }
}

/// Whether a rule is fixed by rewriting the payload, not by compressing it again.
fn is_fixed_in_payload(rule: &Rule) -> bool {
    rule.fixed.is_some() && rule.family != Family::File
}

/// Why a fixable rule stays broken: the last resource stays even if it is empty, and a referenced row stays even if
/// it is superfluous.
fn stays_the_same(rule: &Rule) -> String {
    format!("{} {}: it is the same when the payload is written anew", rule.id(), rule.name())
}

/// Returns the format of a payload that can be rewritten, or the reason why it cannot.
fn writable(report: &Report) -> Result<Format, String> {
    let mut ways = report.rule_counts().map(|tally| (tally.rule, rules::in_the_way(tally)));
    if let Some((rule, why)) = ways.find_map(|(rule, why)| Some((rule, why?))) {
        return Err(format!("{} {}: {why}", rule.id(), rule.name()));
    }
    let format = report.format.filter(|format| format.can_write() && !format.is_json());
    format.ok_or_else(|| "it is of no format that is fixed".to_owned())
}

/// Rewrites a payload, if no data is lost.
fn rewritten(
    payload: &[u8],
    format: Format,
    before: &Report,
    limits: &Limits,
) -> Result<Rewritten, String> {
    let rewritten = rewrite::rewrite(payload, format, limits).map_err(|error| error.to_string())?;
    // Each lost reference must have a finding.
    let dangling = before.rule_counts().filter(|tally| tally.rule.family == Family::Index);
    let dangling: u64 = dangling.map(|tally| tally.count).sum();
    let is_lost = |repair: &&crate::error::ReadFinding| {
        let more = repair.code == INDEX_OUT_OF_RANGE.as_str() && repair.count > dangling;
        more || !rules::is_tolerated(repair.code)
    };
    if let Some(repair) = rewritten.repairs.iter().find(is_lost) {
        return Err(repair.to_string());
    }
    let lost = rewritten.losses.iter().find(|loss| !rules::is_tolerated(loss.code.as_str()));
    match lost {
        Some(loss) => Err(loss.to_string()),
        None => Ok(rewritten),
    }
}

/// Rejects a rewritten payload that would be detected as another format: the corrected defect may be the only
/// evidence of its generation.
///
/// Skipped if the original format is known only because the options named it.
fn same_format(before: &[u8], after: &[u8], format: Format) -> Result<(), String> {
    let seems = |payload| {
        let detected = detect_payload(payload, None, None, Depth::Whole).ok()?;
        Some((detected.format, detected.certainty.is_guess()))
    };
    let Some((was, guess)) = seems(before).filter(|(was, _)| *was == format) else {
        // The format is known only from the options.
        return Ok(());
    };
    match seems(after) {
        Some((is, guess_now)) if is == was && (guess || !guess_now) => Ok(()),
        Some((is, _)) if is == was => Err("written anew it might be of another format".to_owned()),
        Some((is, _)) => Err(format!("written anew it would be taken for {is}")),
        None => Err("after rewriting, its format could not be detected".to_owned()),
    }
}

/// The first rule, other than infos, with more violations than before.
fn first_worse(before: &Report, after: &Report) -> Option<&'static Rule> {
    let matters = after.rule_counts().filter(|tally| tally.severity > Severity::Info);
    matters.filter(|tally| count(before, tally.rule) < tally.count).map(|tally| tally.rule).next()
}

/// The number of violations of a rule, listed or not.
fn count(report: &Report, rule: &'static Rule) -> u64 {
    report.rule_counts().find(|tally| tally.rule == rule).map_or(0, |tally| tally.count)
}

/// The changes between two reports. Lists each place if all findings of a rule are gone; a count if some are left;
/// the first place and a count if not all were listed.
///
/// Ignores the rule about the assumed format, because a payload is rewritten in its own.
fn changes(before: &Report, after: &Report, path: &str) -> Vec<Change> {
    let mut changes = Vec::new();
    let reported = |tally: &&RuleCount| ![&OP0006, &OP9008].contains(&tally.rule);
    for tally in before.rule_counts().filter(reported) {
        let fewer = tally.count.saturating_sub(count(after, tally.rule));
        if fewer == 0 {
            continue;
        }
        let done = tally.rule.fixed_by().unwrap_or(WITH_IT);
        let found = || before.findings().filter(|finding| finding.rule == tally.rule);
        let change = |found: Option<&Finding>, count| Change {
            rule: tally.rule,
            path: within(path, found.map_or("", |found| &found.path)),
            byte: found.and_then(|found| found.byte),
            count,
            done,
        };
        let listed: u64 = found().map(|finding| finding.count).sum();
        if fewer == tally.count && listed == tally.count {
            changes.extend(found().map(|finding| change(Some(finding), finding.count)));
        } else {
            changes.push(change(found().next().filter(|_| fewer == tally.count), fewer));
        }
    }
    changes.sort_by_key(|change| (change.byte.is_none(), change.byte, change.rule.id()));
    changes
}

/// The merged resources and scopes that no rule reported as equal: absent ones.
fn untold(joined: [u64; 2], told: &[Change], path: &str) -> Vec<Change> {
    let rules = [&OP5021, &OP5022].into_iter().zip(joined);
    let untold = rules.filter_map(|(rule, joined)| {
        let told = told.iter().filter(|change| change.rule == rule);
        let count = joined.saturating_sub(told.map(|change| change.count).sum());
        let done = rule.fixed_by().filter(|_| count > 0)?;
        Some(Change { rule, path: path.to_owned(), byte: None, count, done })
    });
    untold.collect()
}

/// Joins two paths.
fn within(outer: &str, inner: &str) -> String {
    match (outer, inner) {
        ("", inner) => inner.to_owned(),
        (outer, "") => outer.to_owned(),
        (outer, inner) => format!("{outer}.{inner}"),
    }
}
