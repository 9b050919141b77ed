//! The checker and its fixes.

use otlp_profiles::check::{self, Finding, Options, Report, Rule, RuleCount};
use otlp_profiles::fuzzing::{Payload, Random};
use otlp_profiles::{Error, Limits, Policy, ReadOptions, Severity, WriteOptions, read, write};

use crate::measures::totals;
use crate::{is_bare, is_checked, options, parts};

/// The rules whose findings depend on the limit that turns the canonical decoder off.
const LIMITED: [&str; 3] = ["OP0007", "OP9010", "OP9104"];
/// The rules about the order, packing and repetition of fields; those whose verdict depends on detection or on the bytes of
/// labels.
const ENCODING: [&str; 7] = ["OP0007", "OP1021", "OP1022", "OP1023", "OP1024", "OP9102", "PP1032"];

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

/// Whether a warning explains an error of the reader. SECURITY.md lists them: references of more than 32 bits (D4), ids of a
/// wrong length that later ones overwrite (D5), payloads that are joined (D6), and fields that fit another format (D7 and
/// field 15 of a pprof).
fn explains(finding: &Finding, error: &Error) -> bool {
    // Errors have the names of the newest generation, and references their place before lists were moved.
    let name = |path: &str| {
        let name = path.rsplit('.').next().unwrap_or(path);
        name.split('[').next().unwrap_or(name).to_owned()
    };
    let (place, message) = (error.place(), error.message());
    let wide = ["more than 32 bits", "exceeds 32 bits", "negative"];
    match finding.rule.id() {
        "OP1013" => {
            wide.iter().any(|text| message.contains(text))
                && (name(&finding.path).starts_with(&name(&place))
                    || finding.path.starts_with(&place))
        }
        "OP1016" | "OP1019" | "OP5017" => place.is_empty(),
        "OP1021" => finding.path == place && message.contains("the id has"),
        "PP1035" => place == "doc_url" && message.contains("wire type"),
        "OP2006" => name(&place) == "string_table" && message.contains("starts a second time"),
        _ => false,
    }
}

/// A payload without errors is readable, writable in its format, and readable again, except for what a warning explains.
pub fn validate(input: &[u8]) {
    let Some((format, file)) = parts(input).filter(|(format, _)| is_checked(*format)) else {
        return;
    };
    let report = check::validate(file, &Options::default().format(format).max_findings(u64::MAX));
    if !report.is_ok() || file.is_empty() {
        return;
    }
    let options = ReadOptions::default().format(format);
    let reading = match read(file, &options) {
        Ok(reading) => reading,
        Err(error) => {
            // D6. Tables of 1.6 have no message around them, so no rule counts how often they start.
            let is_joined =
                format.name() == "otlp-1.6" && error.message().contains("starts a second time");
            return assert!(
                is_joined || report.findings().any(|it| explains(it, &error)),
                "{error}"
            );
        }
    };
    let written = write(&reading.profiles, format, &WriteOptions::default());
    // A pprof holds one profile, and limits of a format are errors of the writer.
    if let Ok(written) = written {
        read(&written.payload, &options).expect("the output is readable");
    }
}

/// The verdict depends on neither the order of fields nor the packing of lists. There is one exception: an empty string after
/// other fields of a pprof begins a second profile (PP1014), and is otherwise a superfluous row.
pub fn wire_forms(input: &[u8]) {
    let Some((format, file)) = parts(input).filter(|(format, _)| is_checked(*format)) else {
        return;
    };
    let Ok(mut payload) = Payload::parse(file, format) else { return };
    let options = Options::default().format(format).max_findings(u64::MAX);
    let before = payload.encode();
    payload.rearrange(&mut Random::new(file.len() as u64));
    let files = [before, payload.encode()];
    if !files.iter().all(|file| is_bare(file)) {
        return;
    }
    let reports = files.map(|file| check::validate(&file, &options));
    if !reports[0].is_readable() {
        return;
    }
    let rules = |report| findings(report, &ENCODING).1;
    let [before, after] = reports.each_ref().map(rules);
    let has = |all: &[(&str, u64)], rule| all.iter().any(|(id, _)| *id == rule);
    match (has(&before, "PP1014"), has(&after, "PP1014")) {
        (true, false) => assert!(has(&after, "PP1001") || has(&after, "PP1031"), "{after:?}"),
        (false, true) => assert!(has(&before, "PP1001") || has(&before, "PP1031"), "{before:?}"),
        _ => assert_eq!(before, after),
    }
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
