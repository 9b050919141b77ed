//! The checker and its fixes.

use otlp_profiles::check::{self, Options, Report, Rule, RuleCount};
use otlp_profiles::fuzzing::{Payload, Random};
use otlp_profiles::{Limits, Policy, ReadOptions, Severity, WriteOptions, read, write};

use crate::measures::totals;
use crate::{is_checked, options, parts};

/// The rules whose findings depend on the limit that turns the canonical decoder off.
const LIMITED: [&str; 3] = ["OP0007", "OP9010", "OP9104"];
/// The rules about the order, packing and repetition of fields.
const ENCODING: [&str; 5] = ["OP1021", "OP1022", "OP1023", "OP1024", "OP9102"];

/// Findings and counts, without some rules.
fn findings(report: &Report, without: &[&str]) -> (Vec<String>, Vec<(&'static str, u64)>) {
    let listed = report.findings().filter(|finding| !without.contains(&finding.rule.id()));
    let counts = report.rule_counts().filter(|count| !without.contains(&count.rule.id()));
    let counts = counts.map(|count| (count.rule.id(), count.count));
    (listed.map(ToString::to_string).collect(), counts.collect())
}

fn count(report: &Report, rule: &Rule) -> u64 {
    report.rule_counts().find(|count| count.rule == rule).map_or(0, |count| count.count)
}

/// Both decoders of the checker give the same findings. Fixing a fixed file changes nothing, and no rule is broken
/// more often than before.
pub fn check(input: &[u8]) {
    let Some((format, file)) = parts(input).filter(|(format, _)| is_checked(*format)) else {
        return;
    };
    let every = Rule::all().filter(|rule| !LIMITED.contains(&rule.id())).collect();
    let options = Options::default().format(format).only(every).max_findings(u64::MAX);
    // The canonical decoder supports up to eight attributes. A lower limit sends every message to the other decoder.
    let records = options.clone().limits(Limits::network().max_attributes_per_item(7));
    let canonical = findings(&check::validate(file, &options), &LIMITED);
    assert_eq!(canonical, findings(&check::validate(file, &records), &LIMITED));

    let options = Options::default().format(format);
    let before = check::validate(file, &options);
    let fixed = check::fix(file, &options);
    let more = |after: &&RuleCount| {
        after.severity > Severity::Info && after.count > count(&before, after.rule)
    };
    assert_eq!(fixed.report.rule_counts().find(more), None);
    let again = check::fix(&fixed.bytes, &options);
    assert!(again.changes.is_empty(), "{:?}", again.changes);
    assert_eq!(again.bytes, fixed.bytes);
}

/// A payload without errors is readable, writable in its format, and readable again.
pub fn validate(input: &[u8]) {
    let Some((format, file)) = parts(input).filter(|(format, _)| is_checked(*format)) else {
        return;
    };
    let report = check::validate(file, &Options::default().format(format));
    if !report.is_ok() || file.is_empty() {
        return;
    }
    let options = ReadOptions::default().format(format);
    let reading = read(file, &options).expect("a payload without errors is readable");
    let written = write(&reading.profiles, format, &WriteOptions::default());
    // A pprof holds one profile, and limits of a format are errors of the writer.
    if let Ok(written) = written {
        read(&written.payload, &options).expect("the output is readable");
    }
}

/// The verdict depends on neither the order of fields nor the packing of lists.
pub fn wire_forms(input: &[u8]) {
    let Some((format, file)) = parts(input).filter(|(format, _)| is_checked(*format)) else {
        return;
    };
    let Ok(mut payload) = Payload::parse(file, format) else { return };
    let options = Options::default().format(format).max_findings(u64::MAX);
    let before = check::validate(&payload.encode(), &options);
    if file.starts_with(&[0x1f, 0x8b]) || !before.is_readable() {
        return;
    }
    payload.rearrange(&mut Random::new(file.len() as u64));
    let after = check::validate(&payload.encode(), &options);
    assert_eq!(findings(&before, &ENCODING).1, findings(&after, &ENCODING).1);
}

/// A fix changes bytes only if it reports a change, and keeps all totals.
pub fn fix(input: &[u8]) {
    let Some((format, file)) = parts(input) else { return };
    let fixed = check::fix(file, &Options::default().format(format));
    if fixed.changes.is_empty() {
        assert_eq!(*fixed.bytes, *file);
        return;
    }
    let options = options(format).policy(Policy::Repair);
    let [before, after] = [file, &fixed.bytes].map(|bytes| read(bytes, &options));
    if let (Ok(before), after) = (before, after) {
        let after = after.expect("a fixed payload is readable");
        assert_eq!(totals(&before.profiles), totals(&after.profiles));
    }
}
