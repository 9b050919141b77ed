//! Bounds the memory in proportion to the input: reads rows of two bytes in every list of every format.
#![cfg(feature = "proto-all")]

use crate::support::alloc::cost;
use crate::support::some;
use crate::support::wire::{int, len, nest};
use otlp_profiles::check::{Options, validate};
use otlp_profiles::{Ambiguity, Format, Limits, Policy, ReadOptions, WriteOptions};

/// Maximum bytes of memory per byte of an input that is accepted.
const PER_BYTE: u64 = 12;
/// Bytes of each bomb, some 100,000 rows.
const BYTES: usize = 200_000;
const MIB: u64 = 1 << 20;

/// The field numbers of the lists in a generation.
struct Fields {
    name: &'static str,
    /// The message that contains the tables.
    tables: &'static [u32],
    /// The rows of mappings, locations, functions, links, strings, attributes, units and stacks.
    rows: &'static [u32],
    attribute: u32,
    location: u32,
    line: u32,
    samples: u32,
    duration: u32,
    /// Lists of strings or of locations in a profile.
    lists: &'static [u32],
    /// Lists in a sample.
    sample_lists: &'static [u32],
}

const DICTIONARY: &[u32] = &[2];

const GENERATIONS: &[Fields] = &[
    Fields {
        name: "otlp-1.10",
        tables: DICTIONARY,
        rows: &[1, 2, 3, 4, 5, 6, 7],
        attribute: 6,
        location: 2,
        line: 3,
        samples: 2,
        duration: 4,
        lists: &[11],
        sample_lists: &[2, 4, 5],
    },
    Fields {
        name: "otlp-1.9",
        tables: DICTIONARY,
        rows: &[1, 2, 3, 4, 5, 6, 7],
        attribute: 6,
        location: 2,
        line: 3,
        samples: 2,
        duration: 4,
        lists: &[11],
        sample_lists: &[2, 3, 5],
    },
    Fields {
        name: "otlp-1.8",
        tables: DICTIONARY,
        rows: &[1, 2, 3, 4, 5, 6, 7],
        attribute: 6,
        location: 2,
        line: 3,
        samples: 2,
        duration: 4,
        lists: &[7, 12],
        sample_lists: &[2, 3, 5],
    },
    Fields {
        name: "otlp-1.7",
        tables: DICTIONARY,
        rows: &[1, 2, 3, 4, 5, 6, 7],
        attribute: 6,
        location: 2,
        line: 3,
        samples: 2,
        duration: 5,
        lists: &[3, 8, 14],
        sample_lists: &[3, 4, 6],
    },
    Fields {
        name: "otlp-1.6",
        tables: &[],
        rows: &[2, 3, 4, 5, 6, 7, 8],
        attribute: 7,
        location: 3,
        line: 3,
        samples: 2,
        duration: 5,
        lists: &[3, 8, 14],
        sample_lists: &[3, 4, 6],
    },
    Fields {
        name: "otlp-1.5",
        tables: &[1, 2, 2],
        rows: &[3, 4, 6, 7, 8, 9, 10],
        attribute: 7,
        location: 4,
        line: 3,
        samples: 2,
        duration: 12,
        lists: &[5, 15, 22],
        sample_lists: &[3, 4, 6],
    },
    Fields {
        name: "otlp-1.4",
        tables: &[1, 2, 2],
        rows: &[3, 4, 6, 7, 8, 9, 10, 18],
        attribute: 7,
        location: 4,
        line: 3,
        samples: 2,
        duration: 12,
        lists: &[5, 15],
        sample_lists: &[3, 4, 6],
    },
    Fields {
        name: "otlp-1.3",
        tables: &[1, 2, 2, 8],
        rows: &[3, 4, 5, 6, 16, 17, 18],
        attribute: 16,
        location: 4,
        line: 4,
        samples: 2,
        duration: 10,
        lists: &[13, 15],
        sample_lists: &[1, 2, 3, 10, 13],
    },
    Fields {
        name: "pprof",
        tables: &[],
        rows: &[1, 3, 4, 5, 6],
        attribute: 0,
        location: 4,
        line: 4,
        samples: 2,
        duration: 10,
        lists: &[13],
        sample_lists: &[1, 2, 3],
    },
];

/// Repeats bytes to make a bomb.
fn fill(bytes: &[u8]) -> Vec<u8> {
    bytes.repeat(BYTES / bytes.len())
}

/// The same, with bytes that depend on a number.
fn fill_with(bytes: impl Fn(u32) -> Vec<u8>) -> Vec<u8> {
    let rows = BYTES / bytes(0).len();
    (0..rows as u32).flat_map(bytes).collect()
}

/// Four bytes of text that are unique to a number.
fn text(number: u32) -> Vec<u8> {
    (0..4).map(|at| b'a' + (number >> (4 * at) & 15) as u8).collect()
}

/// The bombs of a generation, with their names.
fn bombs(fields: &Fields) -> Vec<(String, Vec<u8>)> {
    let mut bombs = Vec::new();
    let mut add = |what: &str, path: &[u32], body: Vec<u8>| {
        bombs.push((format!("{} {what} {path:?}", fields.name), nest(path, &body)));
    };
    let join = |path: &[u32], more: &[u32]| [path, more].concat();
    let profile: &[u32] = match fields.name {
        "pprof" => &[],
        "otlp-1.3" => &[1, 2, 2, 8],
        _ => &[1, 2, 2],
    };
    if fields.name != "pprof" {
        add("resources", &[], fill(&len(1, b"")));
        add("scopes", &[1], fill(&len(2, b"")));
        add("profiles", &[1, 2], fill(&len(2, b"")));
        add("resources of a scope", &[], fill(&len(1, &len(2, b""))));
        add("profiles of a field", &[1, 2], fill(&nest(&profile[2..], &int(fields.duration, 1))));
        add("attributes", &[1, 1], fill(&len(1, b"")));
        add("texts", &[1, 1], fill_with(|at| len(1, &len(1, &text(at)))));
        add("schema urls", &[], fill_with(|at| len(1, &len(3, &text(at)))));
        add("entities", &[1, 1], fill(&len(3, b"")));
        add("keys of an entity", &[1, 1, 3], fill(&len(3, b"")));
        for value in [&[1, 1, 1, 2][..], &join(fields.tables, &[fields.attribute, 2])] {
            add("elements", &join(value, &[5]), fill(&len(1, b"")));
            add("pairs", &join(value, &[6]), fill(&len(1, b"")));
            add("lists", &join(value, &[5]), fill(&len(1, &len(5, b""))));
            add("lists of lists", &join(value, &[5]), fill(&len(1, &len(5, &len(1, b"")))));
            add("lists said again", value, fill(&len(5, &len(1, b""))));
        }
    }
    for &row in fields.rows {
        let rows = |of: &str| format!("rows {row} {of}");
        add(&rows(""), fields.tables, fill(&len(row, b"")));
        add(&rows("of a field"), fields.tables, fill(&len(row, &int(1, 1))));
        add(
            &rows("of two"),
            fields.tables,
            fill_with(|at| len(row, &[int(1, at.into()), int(2, 1)].concat())),
        );
        add(&rows("of text"), fields.tables, fill_with(|at| len(row, &text(at))));
        add(
            &rows("of no text"),
            fields.tables,
            fill_with(|at| len(row, &[b'a' + at as u8 % 16, 0xff])),
        );
    }
    let lines = len(fields.location, &len(fields.line, b"").repeat(100));
    add("lines", fields.tables, fill(&lines));
    add("samples", profile, fill(&len(fields.samples, b"")));
    if matches!(fields.name, "pprof" | "otlp-1.3") {
        let label = |at: u32| len(3, &[int(1, 1), int(3, at.into())].concat());
        add("labels", profile, fill_with(|at| len(2, &label(1_000_000 + at))));
        let two = |at: u32| len(2, &[label(at), label(at + 1)].concat());
        add("labels of one key", profile, fill_with(|at| two(1_000_000 + at)));
        let text = |at: u32| [len(6, &text(at)), len(5, &[int(1, 1), int(2, at.into())].concat())];
        add("names", profile, fill_with(|at| text(at).concat()));
    }
    for &list in fields.lists {
        add("packed", profile, len(list, &fill(&[0])));
        add("one by one", profile, fill(&int(list, 0)));
    }
    for &list in fields.sample_lists {
        let sample = &join(profile, &[fields.samples]);
        add("packed", sample, len(list, &fill(&[0])));
        add("one by one", sample, fill(&int(list, 0)));
        add("of samples", profile, fill(&len(fields.samples, &len(list, &[0]))));
        add("of samples", profile, fill(&len(fields.samples, &int(list, 1))));
    }
    bombs
}

/// Reads a bomb as far as possible. It takes memory in proportion to its bytes, or is rejected.
fn defused(what: &str, format: Format, bytes: &[u8]) {
    let limits = Limits::file().max_owned_bytes(PER_BYTE * bytes.len() as u64);
    let options = ReadOptions::default().limits(limits).policy(Policy::Repair).format(format);
    // Skip the comparison of other readings, which takes time.
    let options = options.ambiguity(Ambiguity::Prefer);
    let (result, cost) = cost(|| otlp_profiles::read(bytes, &options).map(drop));
    let peak = cost.peak as f64 / bytes.len() as f64;
    // Hash tables are not counted while they grow.
    assert!(
        cost.peak as u64 <= (PER_BYTE + 3) * bytes.len() as u64 + MIB,
        "{what}: {peak:.1} bytes a byte, {result:?}"
    );
}

/// Takes every other generation, so that two tests can run in parallel.
fn bombs_of_rows_are_defused(odd: usize) {
    for fields in GENERATIONS.iter().skip(odd).step_by(2) {
        let format = fields.name.parse().unwrap();
        for (what, bytes) in some(bombs(fields).into_iter()) {
            defused(&what, format, &bytes);
        }
    }
}

#[test]
fn a_bomb_of_rows_takes_no_more_than_its_bytes_allow() {
    bombs_of_rows_are_defused(0);
}

#[test]
fn nor_does_one_of_the_other_formats() {
    bombs_of_rows_are_defused(1);
}

/// Maximum memory of checking per byte: the position of every row of two bytes, its reference count, and facts
/// about it.
const CHECKED_PER_BYTE: u64 = 24;

#[test]
fn checking_a_bomb_takes_no_more_than_its_bytes_allow() {
    let told = ["otlp-1.10", "otlp-1.3", "pprof"];
    for fields in GENERATIONS.iter().filter(|fields| told.contains(&fields.name)) {
        let format: Format = fields.name.parse().unwrap();
        let options = Options::default().limits(Limits::file()).format(format);
        for (what, bytes) in some(bombs(fields).into_iter()) {
            let (report, cost) = cost(|| validate(&bytes, &options));
            let peak = cost.peak as f64 / bytes.len() as f64;
            assert!(
                cost.peak as u64 <= CHECKED_PER_BYTE * bytes.len() as u64 + MIB,
                "{what}: {peak:.1} bytes a byte, {} findings",
                report.findings().len()
            );
        }
    }
}

#[test]
fn a_bomb_of_json_takes_no_more_than_its_bytes_allow() {
    let json = Format::OTLP_JSON;
    let inside = |before: &str, element: &str, behind: &str| {
        let elements = vec![element; BYTES / (element.len() + 1)].join(",");
        format!("{{{before}[{elements}]{behind}}}").into_bytes()
    };
    for table in [
        "mappingTable",
        "locationTable",
        "functionTable",
        "linkTable",
        "attributeTable",
        "stackTable",
    ] {
        let before = format!("\"dictionary\":{{\"{table}\":");
        defused(table, json, &inside(&before, "{}", "}"));
    }
    defused("strings", json, &inside("\"dictionary\":{\"stringTable\":", "\"\"", "}"));
    defused("resources", json, &inside("\"resourceProfiles\":", "{}", ""));
    let scopes = "\"resourceProfiles\":[{\"scopeProfiles\":";
    defused("scopes", json, &inside(scopes, "{}", "}]"));
    let profiles = &format!("{scopes}[{{\"profiles\":");
    defused("profiles", json, &inside(profiles, "{}", "}]}]"));
    let samples = &format!("{profiles}[{{\"samples\":");
    defused("samples", json, &inside(samples, "{}", "}]}]}]"));
    let values = &format!("{samples}[{{\"values\":");
    defused("values", json, &inside(values, "0", "}]}]}]}]"));
    let attributes = "\"resourceProfiles\":[{\"resource\":{\"attributes\":";
    defused("attributes", json, &inside(attributes, "{}", "}}]"));
    let elements = &format!("{attributes}[{{\"value\":{{\"arrayValue\":{{\"values\":");
    defused("elements", json, &inside(elements, "{}", "}}}]}}]"));
}

/// One string that very many attributes refer to. In place, it would be written for each.
#[test]
fn texts_that_are_said_often_are_not_written_past_the_limit() {
    let text = "x".repeat(20_000);
    let pair = nest(&[1], &len(2, &int(8, 1)));
    let resource = nest(&[1, 1], &pair.repeat(5_000));
    let scope = nest(&[1, 2, 1], &nest(&[3], &len(2, &int(8, 1))).repeat(5_000));
    let strings = [len(5, b""), len(5, text.as_bytes())].concat();
    for said in [resource, scope] {
        let payload = [said, nest(&[2], &strings)].concat();
        let options = ReadOptions::default().format(Format::OTLP).limits(Limits::file());
        let profiles = otlp_profiles::read(&payload, &options).expect("readable").profiles;
        for format in ["otlp-1.10", "otlp-1.8", "otlp-json"] {
            let options = WriteOptions::default().max_output_bytes(1 << 20);
            let format = format.parse().expect("a format");
            let (written, cost) = cost(|| otlp_profiles::write(&profiles, format, &options));
            assert_eq!(written.unwrap_err().limit(), Some("max_output_bytes"), "{format}");
            assert!((cost.peak as u64) < 4 * MIB, "{format}: {}", cost.peak);
        }
    }
}
