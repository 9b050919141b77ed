//! Each rule on a payload that breaks only this rule, and on one that almost breaks it.

use std::collections::BTreeSet;

use otlp_profiles::check::{Options, Report, Rule, validate};
use otlp_profiles::{Format, Limits, Severity};

use super::bases::{GENERATIONS, base, expand, format};

fn of(generation: &str, payload: &[u8]) -> Report {
    let format: Format = format(generation).parse().expect("a format");
    validate(payload, &Options::default().format(format))
}

/// Validates without the fast path that approves rows as a whole. A low limit turns it off.
fn of_rows(generation: &str, payload: &[u8]) -> Report {
    let format: Format = format(generation).parse().expect("a format");
    let limits = Limits::network().max_attributes_per_item(7);
    validate(payload, &Options::default().format(format).limits(limits))
}

/// Formats errors and warnings, one per line.
fn told(report: &Report) -> Vec<String> {
    let findings = report.findings().filter(|found| found.severity > Severity::Info);
    findings.map(|found| found.to_string()).collect()
}

#[test]
fn nothing_is_wrong_with_the_bases() {
    for (generation, _) in GENERATIONS {
        let report = of(generation, &base(generation).1.encode());
        let odd = report.findings().filter(|found| !matches!(found.rule.id(), "OP3006" | "OP0032"));
        let odd: Vec<String> = odd.map(|found| found.to_string()).collect();
        assert!(odd.is_empty(), "{generation}: {odd:#?}");
    }
}

/// A line of `cases.txt`.
struct Case {
    rule: &'static Rule,
    generations: Vec<&'static str>,
    /// The severity, if it differs from the catalogue.
    severity: Option<Severity>,
    bent: &'static str,
    place: &'static str,
    /// A further edit that makes the payload valid.
    mended: &'static str,
}

fn cases() -> Vec<Case> {
    let lines = include_str!("cases.txt").lines();
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(case).collect()
}

fn case(line: &'static str) -> Case {
    let (head, rest) = line.split_once(": ").expect("a rule and generations");
    let mut head = head.split(' ');
    let rule = head.next().and_then(Rule::find).expect("a rule");
    let generations = head.next().expect("generations");
    let severity = head.next().map(severity);
    let (bent, rest) = rest.split_once('@').expect("a place");
    let (place, mended) = rest.split_once('!').expect("what mends it");
    assert!(!mended.contains(';'), "one edit mends it: {line}");
    let generations = generations_in(generations);
    Case { rule, generations, severity, bent, place: place.trim(), mended }
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

/// Expands short names that differ between generations.
pub fn in_full(generation: &str, text: &str) -> String {
    let otep = generation == "1";
    let columned = generation < "5";
    let pick = |old: &'static str, new: &'static str, is_old| if is_old { old } else { new };
    let next = match generation {
        "P" => "7",
        _ => pick("6", "9", columned),
    };
    let names = [
        ("$Y", pick("type", "type_strindex", otep)),
        ("$U", pick("unit", "unit_strindex", otep)),
        ("$i", pick("", "_strindex", otep)),
        ("$A", pick("attributes", "attribute_indices", otep)),
        ("$J", pick("link", "link_index", otep)),
        ("$I", pick("$C", "$P", otep)),
        ("$M", pick("mapping", "mapping_table", otep)),
        ("$F", pick("function", "function_table", otep)),
        ("$N", pick("location", "location_table", otep)),
        ("$V", pick("value", "values", columned)),
        ("$Z", pick("sample_type[0]", "sample_type", columned)),
        ("$1", pick("0", "1", columned)),
        ("$n", next),
        ("$s", pick("sample", "samples", generation < "6")),
    ];
    let text = names.iter().fold(text.to_owned(), |text, (short, name)| text.replace(short, name));
    expand(generation, &text)
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

/// Edits the valid payload of a generation.
fn edited(generation: &str, edits: &[&str]) -> Vec<u8> {
    let (schema, mut node) = base(generation);
    edits.iter().for_each(|edits| schema.edit(&mut node, &in_full(generation, edits)));
    node.encode()
}

#[test]
fn each_rule_is_found_at_its_place_and_nothing_else_is() {
    let mut wrong = Vec::new();
    for Case { rule, generations, severity, bent, place, mended } in cases() {
        for generation in generations {
            let report = of(generation, &edited(generation, &[bent]));
            let place = in_full(generation, place);
            let wanted = severity.or_else(|| level(rule, generation));
            let here = report.findings().any(|found| {
                *found.rule == *rule && found.path == place && Some(found.severity) == wanted
            });
            let others = report.findings().filter(|found| {
                found.severity > Severity::Info
                    && *found.rule != *rule
                    && !is_consequence(rule.id(), found.rule)
            });
            if !here || others.count() > 0 {
                let all: Vec<_> = report.findings().map(|found| found.to_string()).collect();
                wrong.push(format!("{} {generation}: {bent} @ {place}: {all:#?}", rule.id()));
            }
            let mended_payload = edited(generation, &[bent, mended]);
            for report in [of(generation, &mended_payload), of_rows(generation, &mended_payload)] {
                if report.findings().any(|found| *found.rule == *rule) {
                    let all = told(&report);
                    wrong.push(format!("{} {generation} mended by {mended}: {all:#?}", rule.id()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
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
    let (schema, _) = base(generation);
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
    for Case { generations, bent, .. } in cases() {
        for generation in generations {
            let payload = edited(generation, &[bent]);
            let report = of(generation, &payload);
            let misplaced = misplaced(generation, &payload, &report);
            wrong.extend(misplaced.into_iter().map(|it| format!("{generation}: {bent}: {it}")));
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

/// Whether the cases of a rule are in another file: bytes of files, limits, hints, long lists,
/// responses of receivers. Two rules have no payload that breaks them: an unreadable file, and an
/// output that grows too large.
fn is_elsewhere(id: &str) -> bool {
    const NO_PAYLOAD: [&str; 2] = ["OP0012", "OP9009"];
    const FILES: [&str; 5] = [
        include_str!("bytes.rs"),
        include_str!("hostile.rs"),
        include_str!("hints.rs"),
        include_str!("json.rs"),
        include_str!("receivers.rs"),
    ];
    NO_PAYLOAD.contains(&id) || FILES.iter().any(|text| text.contains(&format!("\"{id}\"")))
}

#[test]
fn every_rule_has_a_case_in_every_generation() {
    let mut covered = BTreeSet::new();
    for case in cases() {
        covered.extend(case.generations.iter().map(|generation| (case.rule.id(), *generation)));
    }
    let wanted = Rule::all().filter(|rule| !is_elsewhere(rule.id()));
    let wanted = wanted.flat_map(|rule| {
        generations_in(rule.generations()).into_iter().map(|generation| (rule.id(), generation))
    });
    let missing: Vec<_> = wanted.filter(|pair| !covered.contains(pair)).collect();
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
    for Case { generations, bent, .. } in cases() {
        for generation in generations {
            for found in of(generation, &edited(generation, &[bent])).findings() {
                let message = found.message();
                let odd = ["wanted", "none", " 1 entries", " 1 bytes", "no entry"];
                assert!(odd.iter().all(|odd| !message.contains(odd)), "{found}");
                missing.remove(&*format!("{} {message}", found.rule.id()));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}
