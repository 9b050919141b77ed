//! `docs/RULES.md` equals the catalogue.

use std::fmt::Write;

use otlp_profiles::check::Rule;

const HEAD: &str = "# Rules

Look up what a finding of `otlp-profiles validate` means and what to do about it. `otlp-profiles validate --explain RULE`
prints the same for one rule.

Severities are E (error), W (warning) and I (info), by generation where they differ. The generations:

| number | release |
|---|---|
| 1 | OTLP 1.3 (OTEP 0239) |
| 2 | OTLP 1.4 and 1.5 |
| 3 | OTLP 1.6 |
| 4 | OTLP 1.7 |
| 5 | OTLP 1.8 |
| 6 | OTLP 1.9 |
| 7 | OTLP 1.10 and 1.11 |
| P | pprof |
| A | any input |

This page is generated from the catalogue in `src/check/catalogue`. After a change run
`BLESS=1 cargo test --all-features --test check docs`.
";

/// The families of rules, by the beginning of their ids.
const FAMILIES: &[(&str, &str)] = &[
    ("OP00", "Files and compression"),
    ("OP10", "Protobuf and JSON encoding"),
    ("OP20", "Structure of payloads and profiles"),
    ("OP30", "First entries of tables"),
    ("OP31", "Indices"),
    ("OP32", "Duplicate entries"),
    ("OP33", "Unused entries"),
    ("OP34", "Duplicate ids"),
    ("OP35", "Attribute units"),
    ("OP40", "Samples"),
    ("OP50", "Attributes, resources and scopes"),
    ("OP60", "Ids and times"),
    ("OP70", "Mappings, locations and functions"),
    ("OP80", "Semantic conventions"),
    ("OP90", "Limits"),
    ("OP91", "Hints about size"),
    ("OP92", "Receivers"),
    ("PP10", "pprof"),
];

/// Writes the section of a rule, whose anchor is the id: `#op3101`.
fn section(page: &mut String, rule: &Rule) {
    let (id, name, statement) = (rule.id(), rule.name(), rule.statement());
    let _ = writeln!(page, "\n### {id}\n\n**{name}**: {statement}.\n");
    let why = rule.why();
    let _ = writeln!(page, "{why}\n");
    let links: Vec<_> = rule.links().iter().map(|(n, u)| format!("[{n}]({u})")).collect();
    let off = match (rule.is_on(), id.starts_with("OP92")) {
        (true, _) => "",
        (false, true) => "; off unless `--for` names a receiver",
        (false, false) => "; off unless it is named",
    };
    let rows = [
        ("severity", format!("{} in generations {}{off}", rule.severity(), rule.generations())),
        ("place", rule.place().to_owned()),
        ("example", rule.example().to_owned()),
        ("corrected", rule.correction().to_owned()),
        ("what to do", rule.fix().to_owned()),
        ("`--fix`", rule.fixed_by().unwrap_or_default().to_owned()),
        ("source", rule.source().to_owned()),
        ("links", links.join(", ")),
        ("also checked by", rule.checked_by().join("; ")),
    ];
    page.push_str("| | |\n|---|---|\n");
    for (title, text) in rows.iter().filter(|(_, text)| !text.is_empty()) {
        let _ = writeln!(page, "| {title} | {} |", text.replace('|', "\\|"));
    }
}

fn page() -> String {
    let mut page = HEAD.to_owned();
    for (family, title) in FAMILIES {
        let rules = || Rule::all().filter(|rule| rule.id().starts_with(family));
        let _ = writeln!(
            page,
            "\n## {family}: {title}\n\n| rule | name | severity | finding |\n|---|---|---|---|"
        );
        for rule in rules() {
            let (id, name, severity) = (rule.id(), rule.name(), rule.severity());
            let anchor = id.to_ascii_lowercase();
            let statement = rule.statement().replace('|', "\\|");
            let _ = writeln!(page, "| [{id}](#{anchor}) | {name} | {severity} | {statement} |");
        }
        rules().for_each(|rule| section(&mut page, rule));
    }
    page
}

#[test]
fn the_page_of_rules_is_the_catalogue() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/RULES.md");
    let page = page();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &page).expect("docs can be written");
    }
    let found = std::fs::read_to_string(path).expect("the page is there");
    assert!(found == page, "docs/RULES.md differs from the catalogue: run with BLESS=1");
}

#[test]
fn ids_and_names_are_unique_and_each_rule_is_complete() {
    let ids: std::collections::BTreeSet<_> = Rule::all().map(Rule::id).collect();
    let names: std::collections::BTreeSet<_> = Rule::all().map(Rule::name).collect();
    assert_eq!(ids.len(), names.len());
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md"));
    let count = format!("against {} rules", ids.len());
    assert!(readme.expect("a README").contains(&count), "README.md: write {count:?}");
    for rule in Rule::all() {
        let id = rule.id();
        assert!(FAMILIES.iter().any(|(family, _)| id.starts_with(family)), "{id} has no family");
        let texts = [rule.statement(), rule.fix(), rule.example(), rule.correction()];
        assert!(texts.iter().all(|text| !text.is_empty()), "{id} lacks a text");
        assert!(
            !rule.why().is_empty() && !rule.links().is_empty(),
            "{id} lacks a reason or a link"
        );
    }
}

#[test]
fn the_link_of_each_rule_leads_to_its_section() {
    let page = page();
    for rule in Rule::all() {
        let url = rule.url();
        let (path, anchor) = url.split_once('#').unwrap();
        assert!(path.ends_with("/docs/RULES.md"), "{url}");
        assert_eq!(anchor, rule.id().to_ascii_lowercase());
        assert!(page.contains(&format!("\n### {}\n", rule.id())), "{url}");
    }
}
