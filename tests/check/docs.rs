//! `docs/RULES.md` is what the registry says.

use std::fmt::Write;

use otlp_profiles::check::Rule;

const HEAD: &str = "# Rules

What `otlp-profiles validate` and `otlp_profiles::check` ask of a payload. This page is made from the registry:
`cargo test --features proto-all --test check docs` compares them, and writes the page with `BLESS=1`.

Severities are E (error), W (warning) and I (info), by generation where they differ. Generations: 1 is OTLP 1.3
(OTEP 0239), 2 is 1.4 and 1.5, 3 is 1.6, 4 is 1.7, 5 is 1.8, 6 is 1.9, 7 is 1.10 and 1.11; P is pprof, A is anything.
Rules with a * are asked only when they are named, those of OP92xx of payloads that are for a receiver (`--for`) as well. What `validate --fix` mends has an F: there is one right answer.
";

fn page() -> String {
    let cell = |text: &str| text.replace('|', "\\|");
    let mut page = HEAD.to_owned();
    let mut family = "";
    for rule in Rule::all() {
        let id = rule.id();
        if &id[..4] != family {
            family = &id[..4];
            let _ = write!(
                page,
                "\n## {family}xx\n\n| id | name | severity | | generations | where | broken when | source |\n|---|---|---|---|---|---|---|---|\n"
            );
        }
        let fixed = if rule.fixed_by().is_some() { "F" } else { "" };
        // Links of SARIF and of `--explain` lead here.
        let anchor = format!("<a id=\"{}\"></a>", id.to_lowercase());
        let star = if rule.is_on() { "" } else { "\\*" };
        let (name, severity, generations) = (rule.name(), rule.severity(), rule.generations());
        let (place, statement) = (cell(rule.place()), cell(rule.statement()));
        let source = cell(rule.source());
        let _ = writeln!(
            page,
            "| {anchor}{id}{star} | {name} | {severity} | {fixed} | {generations} | {place} | {statement} | {source} |"
        );
    }
    page
}

#[test]
fn the_page_of_rules_is_the_registry() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/RULES.md");
    let page = page();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &page).expect("docs can be written");
    }
    let found = std::fs::read_to_string(path).expect("the page is there");
    assert!(found == page, "docs/RULES.md is not what the registry says: run with BLESS=1");
}

#[test]
fn the_link_of_each_rule_leads_to_its_row() {
    let page = page();
    for rule in Rule::all() {
        let url = rule.url();
        let (path, anchor) = url.split_once('#').unwrap();
        assert!(path.ends_with("/blob/main/docs/RULES.md"), "{url}");
        assert!(page.contains(&format!("| <a id=\"{anchor}\"></a>{}", rule.id())), "{url}");
    }
}

#[test]
fn ids_and_names_are_unique_and_there_are_all() {
    let ids: std::collections::BTreeSet<_> = Rule::all().map(Rule::id).collect();
    let names: std::collections::BTreeSet<_> = Rule::all().map(Rule::name).collect();
    assert_eq!((ids.len(), names.len()), (293, 293));
    assert!(Rule::all().all(|rule| !rule.statement().is_empty() && !rule.fix().is_empty()));
}
