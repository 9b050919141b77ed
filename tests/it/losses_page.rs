//! `docs/LOSSES.md` is generated from the table of loss codes and from `tests/it/losses/`: a preamble, and for each code the
//! formats that report it, an example and advice. Conversions of test data and of random profiles check the formats.
#![cfg(feature = "proto-all")]

use crate::support;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::support::forms::FORMS;
use crate::support::generate::{Room, docs, pprofs};
use otlp_profiles::losses::{LossCode, LossKind};
use otlp_profiles::proto::prost::Message;
use otlp_profiles::{Format, Policy, ReadOptions, WriteOptions, write_all};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

const HEAD: &str = include_str!("losses/head.md");
const ROWS: &str = include_str!("losses/codes.txt");

const SECTIONS: [(LossKind, &str); 5] = [
    (LossKind::Note, "The data is unchanged. The verdict is semantic."),
    (
        LossKind::Synthesized,
        "A rule chose a value that the source does not have. The verdict is semantic.",
    ),
    (LossKind::Approximated, "A value was kept in another form. The verdict is lossy."),
    (LossKind::Dropped, "Data is missing from the output. The verdict is lossy."),
    (
        LossKind::Rejected,
        "`--repair` corrected or removed damaged input. Without it the file is refused. The verdict is lossy.",
    ),
];

/// The columns that `codes.txt` adds to a code.
struct Row {
    formats: &'static str,
    example: &'static str,
    advice: &'static str,
}

fn rows() -> BTreeMap<&'static str, Row> {
    let row = |line: &'static str| match line.split(" | ").collect::<Vec<_>>()[..] {
        [code, formats, example, advice] => (code, Row { formats, example, advice }),
        _ => panic!("not `code | formats | example | advice`: {line}"),
    };
    ROWS.lines().filter(|line| !line.starts_with('#')).map(row).collect()
}

fn page() -> String {
    let rows = rows();
    let mut page = HEAD.trim_end().to_owned() + "\n";
    for (kind, about) in SECTIONS {
        let name = kind.to_string();
        let _ = writeln!(page, "\n## {}{}\n\n{about}", name[..1].to_uppercase(), &name[1..]);
        for code in LossCode::ALL.iter().filter(|code| code.kind() == kind) {
            let row = &rows[code.as_str()];
            let meaning = code.meaning();
            let mut first = meaning.chars();
            let letter = first.next().into_iter().flat_map(char::to_uppercase).collect::<String>();
            let _ = writeln!(
                page,
                "\n### `{code}`\n\n{letter}{}.\n\n* Formats: {}\n* Example: {}\n* What to do: {}",
                first.as_str(),
                row.formats,
                row.example,
                row.advice
            );
        }
    }
    page
}

/// Expands a list such as `reading OTLP 1.3 to 1.5, events; writing pprof` to `read otlp-1.3`, ….
fn expand(formats: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for part in formats.split("; ") {
        // Transforms report losses for every format.
        let Some((verb, list)) = part.split_once(' ') else { continue };
        let verb = verb.strip_suffix("ing").expect("reading or writing").replace("writ", "write");
        for item in list.split(", ") {
            let versions =
                item.strip_prefix("OTLP ").and_then(|versions| versions.split_once(" to "));
            let minor = |version: &str| {
                version.strip_prefix("1.").and_then(|minor| minor.parse::<u32>().ok())
            };
            let names: Vec<String> = match (item, versions) {
                ("all formats", _) => Format::ALL.iter().map(Format::to_string).collect(),
                ("OTLP", _) => {
                    let names = Format::ALL.iter().map(Format::to_string);
                    names.filter(|name| name.starts_with("otlp-1.")).collect()
                }
                ("OTLP/JSON", _) => vec!["otlp-json".to_owned()],
                (_, Some((first, last))) => {
                    let [first, last] = [first, last].map(|version| minor(version).expect(item));
                    (first..=last).map(|minor| format!("otlp-1.{minor}")).collect()
                }
                (one, None) => vec![one.replace("OTLP ", "otlp-")],
            };
            for name in names {
                assert!(name.parse::<Format>().is_ok(), "{name} in {formats}");
                all.insert(format!("{verb} {name}"));
            }
        }
    }
    all
}

/// The codes with the formats that reported them, over test data and random profiles.
fn observed() -> BTreeSet<(&'static str, String)> {
    let mut payloads: Vec<_> = support::testdata(&[""]).into_iter().map(|file| file.1).collect();
    let mut runner = TestRunner::deterministic();
    for _ in 0..50 {
        for form in FORMS {
            let room = Room { caps: form.caps, portable: false };
            let doc = docs(room).new_tree(&mut runner).expect("a profile").current();
            payloads.push((form.lower)(&doc));
        }
        let pprof = pprofs().new_tree(&mut runner).expect("a profile").current();
        payloads.push(pprof.encode_to_vec());
    }
    let mut seen = BTreeSet::new();
    let options = ReadOptions::default().policy(Policy::Repair);
    for payload in payloads {
        let Ok(reading) = otlp_profiles::read(&payload, &options) else { continue };
        let format = reading.detected.format;
        seen.extend(reading.findings.iter().map(|found| (found.code, format!("read {format}"))));
        for format in Format::ALL.iter().filter(|format| format.can_write()) {
            if let Ok((_, losses)) = write_all(&reading.profiles, *format, &WriteOptions::default())
            {
                seen.extend(losses.iter().map(|l| (l.code.as_str(), format!("write {format}"))));
            }
        }
    }
    seen
}

#[test]
fn the_page_is_generated_from_the_table() {
    let rows = rows();
    let codes: BTreeSet<_> = LossCode::ALL.iter().map(|code| code.as_str()).collect();
    let listed: BTreeSet<_> = rows.keys().copied().collect();
    assert_eq!(listed, codes, "tests/it/losses/codes.txt has one line for each code");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/LOSSES.md");
    let page = page();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &page).expect("docs can be written");
    }
    let found = std::fs::read_to_string(path).expect("the page exists");
    assert!(found == page, "docs/LOSSES.md is out of date: run with BLESS=1");
}

#[test]
fn every_code_that_the_preamble_names_exists() {
    let names = HEAD.split('`').skip(1).step_by(2);
    let codes = names.filter(|name| name.contains('.') && !name.contains([' ', ':', '-']));
    for code in codes {
        assert!(code.parse::<LossCode>().is_ok(), "{code}");
    }
}

#[test]
fn every_reported_loss_is_listed_for_its_format() {
    let formats: BTreeMap<_, _> =
        rows().into_iter().map(|(code, row)| (code, expand(row.formats))).collect();
    let seen = observed();
    assert!(seen.len() > 150, "{}", seen.len());
    let unlisted: Vec<_> = seen
        .iter()
        .filter(|(code, _)| code.parse::<LossCode>().is_ok())
        .filter(|(code, format)| !formats[code].contains(format))
        .collect();
    assert!(unlisted.is_empty(), "{unlisted:?}");
}
