//! `validate --explain`: prints one rule, or the list of all.

use std::fmt::Write;

use otlp_profiles::check::Rule;
use strsim::levenshtein;

use crate::style::{BOLD, styled};

/// Formats a rule with bold headings, or all rules for the name `all`. Returns `None` for an
/// unknown name.
pub(super) fn page(name: &str) -> Option<String> {
    let all = || (name == "all").then(catalogue);
    let rule = |rule: &Rule| {
        let text = rule.to_string();
        let lines = text.lines().map(|line| match line.starts_with(' ') || line.is_empty() {
            true => format!("{line}\n"),
            false => format!("{}\n", styled(line, BOLD)),
        });
        lines.collect()
    };
    Rule::find(name).map(rule).or_else(all)
}

/// Lists all rules by id, one per line.
fn catalogue() -> String {
    let mut page = String::new();
    for rule in Rule::all() {
        let (id, severity, name) = (rule.id(), rule.severity(), rule.name());
        let generations = rule.generations();
        let _ = writeln!(page, "{id} {severity:<12} {generations:<6} {name}: {}", rule.statement());
    }
    page
}

/// The error about an unknown rule, with suggestions of similar ids and names.
pub(super) fn unknown(name: &str) -> String {
    let wanted = name.to_lowercase();
    let distance = |rule: &Rule| {
        let contains = wanted.len() > 3 && rule.name().contains(&wanted);
        // A part of a name counts as one typo.
        let of_name = if contains { 1 } else { levenshtein(&wanted, rule.name()) };
        of_name.min(levenshtein(&wanted, &rule.id().to_lowercase()))
    };
    let mut near: Vec<_> = Rule::all().map(|rule| (distance(rule), rule)).collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.retain(|(distance, _)| *distance <= (wanted.chars().count() / 3).min(3));
    let near: Vec<_> =
        near.iter().take(3).map(|(_, rule)| format!("{} {}", rule.id(), rule.name())).collect();
    match near.is_empty() {
        true => "no such rule: `otlp-profiles validate --explain all` lists them".to_owned(),
        false => format!("no such rule; similar ones are {}", near.join(", ")),
    }
}
