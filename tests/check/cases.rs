//! Each rule on a payload that breaks only this rule, and on one that almost breaks it.

use std::collections::BTreeSet;

use otlp_profiles::Severity;
use otlp_profiles::check::{Options, Report, Rule, validate};
use otlp_profiles::fuzzing::{Case, File, cases};

use super::bases::{GENERATIONS, base, format};
use super::tree::Schema;

/// Formats errors and warnings, one per line.
fn told(report: &Report) -> Vec<String> {
    let findings = report.findings().filter(|found| found.severity > Severity::Info);
    findings.map(|found| found.to_string()).collect()
}

#[test]
fn nothing_is_wrong_with_the_bases() {
    for (generation, _) in GENERATIONS {
        let options = Options::default().format(format(generation));
        let report = validate(&base(generation).encode(), &options);
        let odd = report.findings().filter(|found| !matches!(found.rule.id(), "OP3006" | "OP0032"));
        let odd: Vec<String> = odd.map(|found| found.to_string()).collect();
        assert!(odd.is_empty(), "{generation}: {odd:#?}");
    }
}

fn severity(letter: &str) -> Severity {
    match letter {
        "E" => Severity::Error,
        "W" => Severity::Warning,
        "I" => Severity::Info,
        other => panic!("{other} is no severity"),
    }
}

/// Parses generations such as `1-4,6,P`.
fn generations_in(text: &str) -> Vec<&'static str> {
    let parts: Vec<_> =
        text.split(',').map(|part| part.split_once('-').unwrap_or((part, part))).collect();
    let names = GENERATIONS.iter().map(|(name, _)| *name);
    names.filter(|name| parts.iter().any(|(from, to)| (*from..=*to).contains(name))).collect()
}

/// The severity that an entry such as `W6-7/I1-5` of the catalogue gives for a generation.
fn level(rule: &Rule, generation: &str) -> Option<Severity> {
    let mut parts = rule.severity().split('/').map(|part| part.split_at(1));
    let part = parts.find(|(_, of)| of.is_empty() || generations_in(of).contains(&generation));
    part.map(|(letter, _)| severity(letter))
}

/// Whether a finding is an unavoidable consequence of breaking another rule.
fn is_consequence(rule: &str, other: &Rule) -> bool {
    let id = other.id();
    match rule {
        // Entries that lose their only reference become orphans.
        _ if (id.starts_with("OP33") || id == "PP1038") && !rule.starts_with("OP33") => true,
        // A row 0 with contents may equal another row, and so may a second zero row.
        "OP3004" | "OP3208" | "OP4008" | "OP6004" | "OP7010" if id.starts_with("OP32") => true,
        "OP3308" if id == "OP3307" => true,
        "OP3004" => id == "OP7009",
        "OP3208" => id == "OP8001",
        "OP6004" => id == "OP6005",
        "OP2028" => matches!(id, "OP2010" | "OP6010" | "OP2004"),
        "OP5021" => id == "OP2002",
        "OP5022" => id == "OP2003",
        // A sample type without a name, or a profile without sample types.
        "OP2009" => id == "OP2010",
        "OP2014" => id == "OP2010",
        _ => false,
    }
}

/// Checks a file with its options.
fn of_file(file: &File) -> Report {
    validate(&file.bytes, &file.options)
}

/// Whether a case is about a file or an option: then no path and no other rule is certain.
fn is_of_a_file(case: &Case) -> bool {
    case.place().is_empty()
}

#[test]
fn each_rule_is_found_at_its_place_and_nothing_else_is() {
    let mut wrong = Vec::new();
    for case in cases() {
        let (rule, generation, place) = (case.rule(), case.generation(), case.place());
        let broken = case.broken().expect("it applies");
        let report = of_file(&broken);
        let here = report.findings().any(|found| {
            *found.rule == *rule
                && (found.path == place || is_of_a_file(case))
                && Some(found.severity) == case.severity()
        });
        let others = report.findings().filter(|found| {
            found.severity > Severity::Info
                && *found.rule != *rule
                && !is_of_a_file(case)
                && broken.options.receiver.is_none()
                && !is_consequence(rule.id(), found.rule)
        });
        if !here || others.count() > 0 {
            let all: Vec<_> = report.findings().map(|found| found.to_string()).collect();
            wrong.push(format!("{case:?} @ {place}: {all:#?}"));
        }
        let near = case.near_miss().expect("it applies");
        // A low limit turns off the fast path that approves rows as a whole.
        let limits = near.options.limits;
        let by_rows = limits.max_attributes_per_item(limits.max_attributes_per_item.min(7));
        let by_rows = File { options: near.options.clone().limits(by_rows), ..near.clone() };
        for report in [of_file(&near), of_file(&by_rows)] {
            let limited = rule.id() == "OP9010" || rule.id() == "OP5014";
            if report.findings().any(|found| *found.rule == *rule) && !limited {
                wrong.push(format!("{case:?} is no near miss: {:#?}", told(&report)));
            }
        }
        if generation != "2" && level(rule, generation).is_none() {
            wrong.push(format!("{} has no severity in {generation}", rule.id()));
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

/// A case changes the severity of the catalogue only if its line says so.
#[test]
fn severities_are_those_of_the_catalogue() {
    let usual =
        cases().iter().filter(|case| case.severity() == level(case.rule(), case.generation()));
    assert!(usual.count() * 100 > cases().len() * 97);
}

/// Whether a rule is about bytes that no path names: tags and lengths as written, and unknown
/// fields.
fn is_of_other_bytes(id: &str) -> bool {
    let broken = ("OP1001"..="OP1011").contains(&id) || ("OP1014"..="OP1016").contains(&id);
    broken || matches!(id, "OP1019" | "OP1020" | "OP5017")
}

/// Whether a rule is about a whole file or a missing table.
fn has_no_byte(id: &str) -> bool {
    matches!(id, "OP0032" | "OP3001" | "OP3003")
}

/// The findings whose byte is not at their path, as defined in docs/CLI.md.
pub fn misplaced(generation: &str, payload: &[u8], report: &Report) -> Vec<String> {
    let schema = Schema::of(format(generation).name());
    let findings = report.findings().filter(|found| !is_of_other_bytes(found.rule.id()));
    let findings = findings.filter(|found| match found.byte {
        None => !has_no_byte(found.rule.id()),
        Some(byte) => !schema.bytes_of(payload, &found.path).contains(&(byte as usize)),
    });
    let wanted = |path: &str| schema.bytes_of(payload, path);
    findings.map(|found| format!("{found}, wanted {:?}", wanted(&found.path))).collect()
}

#[test]
fn each_finding_is_at_the_byte_of_its_place() {
    let mut wrong = Vec::new();
    for case in cases().iter().filter(|case| !is_of_a_file(case)) {
        let file = case.broken().expect("it applies");
        let misplaced = misplaced(case.generation(), &file.bytes, &of_file(&file));
        wrong.extend(misplaced.into_iter().map(|it| format!("{case:?}: {it}")));
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

/// Rules that no file breaks: an unreadable file, and an output that grows too large.
const NO_FILE: [&str; 2] = ["OP0012", "OP9009"];

#[test]
fn every_rule_has_a_case_in_every_generation() {
    let mut missing = Vec::new();
    for rule in Rule::all().filter(|rule| !NO_FILE.contains(&rule.id())) {
        let has = |generation: &str| {
            cases().iter().any(|case| *case.rule() == *rule && case.generation() == generation)
        };
        // One case is enough for any input, `A`, and for a payload that several generations share.
        let any = matches!((rule.generations(), rule.id()), ("A", _) | (_, "OP0006"))
            && GENERATIONS.iter().any(|(name, _)| has(name));
        let all = generations_in(rule.generations()).into_iter().all(has);
        if !any && (rule.generations() == "A" || !all) {
            missing.push((rule.id(), rule.generations()));
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}

/// Messages read well after the place and before the advice of the rule.
#[test]
fn findings_are_sentences() {
    let exact = [
        "OP1008 the wire type of a field differs from the schema: expected wire type 0 (varint), found wire type 2",
        "OP1009 a field of 2 bytes extends past the end of its message: 1 byte left",
        "OP1012 a packed list ends within a number: expected a multiple of 8 bytes, found 12 bytes",
        "OP1015 a group does not end, or ends with another number: expected the end of group 31, found the end of group 30",
        "OP1018 a string is not valid UTF-8: \"\\xff\"",
        "OP2013 the aggregation temporality is cumulative",
        "OP3004 the first entry of the table sets address, expected Location{}",
        "OP3105 mapping index 7 is out of range: the mapping table has 1 entry",
        "OP4002 the sample has 1 value and 2 timestamps, expected equal numbers",
        "OP4015 a timestamp is 0",
        "OP5002 attribute index 1 (key \"k1\") repeats the key of entry 0",
        "OP5017 the field 3 is of OTLP 1.10",
        "OP6006 the trace_id of the link is all zeros",
        "OP7003 the mapping starts at 0x1fff, before 0x2000, the end of mapping 0",
        "PP1005 the mapping id is 1, expected a unique id",
        "PP1029 found 9223372036854775807 ns + 1000000000 ns, expected a sum of 64 bits",
    ];
    let mut missing: BTreeSet<&str> = exact.into();
    for case in cases() {
        for found in of_file(&case.broken().expect("it applies")).findings() {
            let message = found.message();
            let odd = ["wanted", "none", " 1 entries", " 1 bytes", "no entry"];
            assert!(odd.iter().all(|odd| !message.contains(odd)), "{found}");
            missing.remove(&*format!("{} {message}", found.rule.id()));
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}
