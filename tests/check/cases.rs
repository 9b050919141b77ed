//! Each rule on a payload that breaks it and nothing else, and on one that nearly does.

use std::collections::BTreeSet;

use otlp_profiles::check::{Options, Report, Rule, check};
use otlp_profiles::{Format, Severity};

use super::bases::{GENERATIONS, base, expand, format};

fn of(generation: &str, payload: &[u8]) -> Report {
    let format: Format = format(generation).parse().expect("a format");
    check(payload, &Options::default().from(format))
}

/// The findings that matter, in a line each.
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

/// One line of `cases.txt`.
pub struct Case {
    pub rule: &'static str,
    pub generations: Vec<&'static str>,
    pub bent: &'static str,
    place: &'static str,
    near: &'static str,
}

pub fn cases() -> Vec<Case> {
    let lines = include_str!("cases.txt").lines();
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (head, rest) = line.split_once(": ").expect("a rule and generations");
            let (rule, generations) = head.split_once(' ').expect("a rule and generations");
            let (bent, rest) = rest.split_once('@').expect("a place");
            let (place, near) = rest.split_once('!').expect("a near miss");
            let between = match generations.split_once('-') {
                Some((from, to)) => from..=to,
                None => generations..=generations,
            };
            let names = GENERATIONS.iter().map(|(name, _)| *name);
            let generations = names.filter(|name| between.contains(name)).collect();
            Case { rule, generations, bent, place: place.trim(), near }
        })
        .collect()
}

/// Short names that differ between generations.
pub fn in_full(generation: &str, text: &str) -> String {
    let (kind, unit, values) = if generation == "1" {
        ("type", "unit", "value")
    } else {
        ("type_strindex", "unit_strindex", "value")
    };
    let samples = if matches!(generation, "6" | "7") { "samples" } else { "sample" };
    let first = if generation >= "5" { "1" } else { "0" };
    let tables = if generation == "1" {
        ["mapping", "function", "location"]
    } else {
        ["mapping_table", "function_table", "location_table"]
    };
    let text = text.replace("$Y", kind).replace("$U", unit).replace("$V", values);
    let text = text.replace("$M", tables[0]).replace("$F", tables[1]).replace("$N", tables[2]);
    expand(generation, &text.replace("$s", samples).replace("$1", first))
}

/// What may be found beside: consequences that nobody could tell from causes.
fn is_consequence(rule: &str, other: &Rule) -> bool {
    let orphans = other.id().starts_with("OP33") || other.id() == "PP1038";
    match rule {
        // Whatever is no longer referred to is an orphan now.
        _ if orphans && !rule.starts_with("OP33") => true,
        // The zero row that is none equals others, and so does one too many.
        "OP3004" | "OP7010" => other.id().starts_with("OP32"),
        "OP2002" | "OP2003" | "OP2028" => matches!(other.id(), "OP2010" | "OP6010" | "OP2004"),
        _ => false,
    }
}

#[test]
fn each_rule_is_found_at_its_place_and_nothing_else_is() {
    let mut wrong = Vec::new();
    for case in cases() {
        for generation in &case.generations {
            let (schema, mut node) = base(generation);
            schema.edit(&mut node, &in_full(generation, case.bent));
            let report = of(generation, &node.encode());
            let place = in_full(generation, case.place);
            let fits = |path: &str| match place.strip_suffix('*') {
                Some(start) => path.starts_with(start),
                None => path == place,
            };
            let here = report.findings().any(|f| f.rule.id() == case.rule && fits(&f.path));
            let others = report.findings().filter(|found| {
                found.severity > Severity::Info
                    && found.rule.id() != case.rule
                    && !is_consequence(case.rule, found.rule)
            });
            let others: Vec<String> = others.map(|found| found.to_string()).collect();
            if !here || !others.is_empty() {
                let all = told(&report);
                wrong
                    .push(format!("{} {generation}: {} @ {place}: {all:#?}", case.rule, case.bent));
            }
            let (schema, mut node) = base(generation);
            schema.edit(&mut node, &in_full(generation, case.near));
            let report = of(generation, &node.encode());
            if report.findings().any(|found| found.rule.id() == case.rule) {
                let all = told(&report);
                wrong.push(format!("{} {generation} near {}: {all:#?}", case.rule, case.near));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

/// What no payload breaks: a file that the system does not give, and an output that grows too large.
const NO_PAYLOAD: &[&str] = &["OP0012", "OP9009"];

#[test]
fn every_error_and_warning_has_a_case() {
    let covered: BTreeSet<&str> = cases().iter().map(|case| case.rule).collect();
    let of_bytes = [include_str!("bytes.rs"), include_str!("hostile.rs")];
    let is_covered = |id: &str| {
        covered.contains(id)
            || NO_PAYLOAD.contains(&id)
            || of_bytes.iter().any(|text| text.contains(&format!("\"{id}\"")))
    };
    let missing = Rule::all().filter(|rule| rule.worst() > Severity::Info).map(Rule::id);
    let missing: Vec<&str> = missing.filter(|id| !is_covered(id)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
