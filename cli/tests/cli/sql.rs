//! `sql`: statements for all engines, their values, and docs/QUERIES.md.
//!
//! `cli/tests/engines/run` runs the statements in the engines.

use crate::*;

const ENGINES: [&str; 6] = ["duckdb", "datafusion", "polars", "clickhouse", "spark", "trino"];

/// Each question with the options that it needs.
pub(crate) const QUESTIONS: [&str; 11] = [
    "contents",
    "top --cum",
    "flame",
    "tree",
    "compare --version 1.0 1.1",
    "label --label endpoint",
    "p95",
    "functions --regex malloc|gc",
    "trace --trace-id 01020304010203040102030401020304",
    "hours",
    "tables --dir d",
];

fn statement(arguments: &str) -> String {
    stdout(&run(Path::new(ROOT), &format!("sql {arguments}"), 0))
}

#[test]
fn every_question_has_a_statement_for_every_engine() {
    let list = stdout(&run(Path::new(ROOT), "sql", 0));
    assert_eq!(list.lines().count(), QUESTIONS.len(), "{list}");
    for (question, line) in QUESTIONS.iter().zip(list.lines()) {
        let name = question.split(' ').next().unwrap();
        assert!(line.starts_with(&format!("{name} ")), "{line}");
        for engine in ENGINES {
            let text = statement(&format!("{question} --engine {engine}"));
            assert!(!text.contains(['{', '}']) && !text.contains("\n\n\n"), "{text}");
            assert!(!text.contains("()") || engine == "polars", "an empty fragment: {text}");
            let is_whole = match engine {
                "polars" => text.starts_with("import polars as pl\n"),
                _ => text.ends_with(";\n"),
            };
            assert!(is_whole, "{engine}, {question}: {text}");
        }
    }
}

#[test]
fn values_are_literals() {
    let value = r#"it's \d "${x}" {where}"#;
    for (engine, literal) in [
        ("duckdb", r#"'it''s \d "${x}" {where}'"#),
        ("datafusion", r#"'it''s \d "${x}" {where}'"#),
        ("trino", r#"'it''s \d "${x}" {where}'"#),
        ("clickhouse", r#"'it\'s \\d "${x}" {where}'"#),
        ("spark", r#"'it\'s \\d "\u0024{x}" {where}'"#),
        ("polars", r#"'it''s \\d \"${x}\" {where}'"#),
    ] {
        for (option, condition) in [
            ("top --service", "service_name = "),
            ("top --type", "type = "),
            ("top --version", "service_version = "),
            ("functions --regex", "(function_name, "),
        ] {
            let mut command = command(&format!("sql {option}"));
            let text = stdout(&command.arg(value).args(["--engine", engine]).output().unwrap());
            assert!(text.contains(&format!("{condition}{literal}")), "{engine}: {text}");
        }
    }
    let days = statement("top --since 2026-01-03 --until 2026-01-03T12:00:00Z");
    let range = "time_unix_nano >= 1767398400000000000 AND time_unix_nano < 1767441600000000000";
    assert!(days.contains(range), "{days}");
    let id = statement("trace --trace-id 0102030401020304010203040102ABCD");
    assert!(id.contains("trace_id = '0102030401020304010203040102abcd'"), "{id}");
}

#[test]
fn options_that_a_question_lacks_or_ignores_are_refused() {
    let room = room("sql_usage");
    for (arguments, message) in [
        ("label", "label needs --label KEY"),
        ("functions", "functions needs --regex REGEX"),
        ("trace", "trace needs --trace-id HEX"),
        ("compare --version 1.0", "compare needs --version OLD NEW"),
        ("tables", "tables needs --dir DIR"),
        ("top --label k", "--label does not apply to top"),
        ("top --version 1 2", "a second --version does not apply to top"),
        ("flame --cum", "--cum does not apply to flame"),
        ("tables --dir d --service s", "a selection does not apply to tables"),
        ("trace --trace-id 12", "expected 32 hex digits"),
        ("top --service a\tb", "control character \\t"),
        ("top --dir a*b", "engines interpret * in paths"),
        ("top --since yesterday", "expected a time"),
        ("nothing", "invalid value 'nothing'"),
    ] {
        says(&run(&room, &format!("sql {arguments}"), 2), message);
    }
}
