//! Reads tables whose row 0 is not empty: rejected, or kept by a repair if row 0 is referenced.
#![cfg(feature = "proto-all")]

use crate::support::doc::{
    Attribute, Doc, Function, Location, Mapping, Mask, Profile, Resource, Sample, Scope, Tables,
    Type, Val, difference, meaning,
};
use crate::support::forms::{FORMS, form};
use crate::support::model::doc_of;
use crate::support::{options, read, try_read, write};
use otlp_profiles::proto::prost::Message;
use otlp_profiles::proto::{v1_8, v1_9, v1_10};
use otlp_profiles::{Policy, Reading};

/// Two rows in every table, all referenced, and fields that refer to no string.
fn doc() -> Doc {
    let kind = |name: &str| Type { name: name.into(), unit: "ns".into(), temporality: 0 };
    let function = |name: &str, file: &str| Function {
        names: [name.into(), String::new(), file.into()],
        start_line: 3,
    };
    let mapping = |row: u64, name: &str| Mapping {
        range: [0x1000 * row, 0x1000 * row + 0x1000, 0],
        filename: name.into(),
        attributes: vec![2],
        ..Mapping::default()
    };
    let location = |row: u64, function: usize| Location {
        mapping: Some(row as usize - 1),
        address: 0x1000 * row + 0x10,
        lines: vec![(Some(function), 7, 0)],
        attributes: vec![0],
        ..Location::default()
    };
    let sample = |row: usize| Sample {
        stack: Some(row),
        attributes: vec![row],
        link: Some(row),
        values: vec![5 + row as i64],
        ..Sample::default()
    };
    let attribute =
        |key: &str, value: Val| Attribute { key: key.into(), value, unit: String::new() };
    let profile = Profile {
        id: [7; 16],
        time: 9,
        types: vec![kind("cpu")],
        period_type: kind("cpu"),
        attributes: vec![0],
        comments: vec!["note".into()],
        samples: vec![sample(0), sample(1)],
        ..Profile::default()
    };
    let scope = Scope { name: "scope".into(), profiles: vec![profile], ..Scope::default() };
    let attributes = vec![("service.name".into(), Val::str("shop"))];
    Doc {
        resources: vec![Resource { attributes, scopes: vec![scope], ..Resource::default() }],
        tables: Tables {
            mappings: vec![mapping(1, "a.out"), mapping(2, "")],
            locations: vec![location(1, 0), location(2, 1)],
            functions: vec![function("main", "main.go"), function("run", "")],
            stacks: vec![vec![1, 0], vec![0]],
            links: vec![([1; 16], [1; 8]), ([2; 16], [2; 8])],
            attributes: vec![
                attribute("k", Val::Int(1)),
                attribute("n", Val::str("text")),
                attribute("m", Val::Bool(true)),
            ],
            ..Tables::default()
        },
    }
}

fn said(doc: &Doc) -> Vec<String> {
    meaning(doc, Mask { temporality: true, ..Mask::default() })
}

/// Reads a payload as a generation, with repairs.
fn repaired(name: &str, bytes: &[u8]) -> Reading {
    otlp_profiles::read(bytes, &options(name).policy(Policy::Repair)).unwrap()
}

/// The payload is rejected with a hint. A repair reads the profiles of `expected`, with `count` findings, and the
/// repaired model comes back from its own generation.
fn is_kept(name: &str, bytes: &[u8], expected: &Doc, count: u64, place: &str) {
    let refused = try_read(name, bytes).unwrap_err();
    assert!(refused.place().ends_with(place), "{name}: {refused}");
    let hint = refused.hint().unwrap();
    assert_eq!(hint, "Policy::Repair repairs row 0", "{name}");
    let Reading { profiles, findings, .. } = repaired(name, bytes);
    let found: Vec<_> = findings.iter().map(|found| (found.code, found.count)).collect();
    assert_eq!(found, [("table.row_0", count)], "{name}: {findings:?}");
    for profiles in [&profiles, &read(name, &write(name, &profiles).0)] {
        let difference = difference(&said(expected), &said(&doc_of(profiles)));
        assert_eq!(difference, None, "{name}: {place}");
    }
}

/// Decrements a reference to a table whose empty row 0 was removed. References to row 0 stay.
fn less(index: &mut i32) {
    *index = (*index - 1).max(0);
}

/// Removes the empty row 0 of a table, as written by a producer that does not know of it.
macro_rules! without_row_0 {
    ($($m:ident $samples:ident $lines:ident),*) => {$(
        pub fn $m(bytes: &[u8], table: &str) -> Vec<u8> {
            let mut data = $m::ProfilesData::decode(bytes).unwrap();
            let d = data.dictionary.as_mut().unwrap();
            let p = &mut data.resource_profiles[0].scope_profiles[0].profiles[0];
            match table {
                "mapping_table" => {
                    d.mapping_table.remove(0);
                    d.location_table.iter_mut().for_each(|row| less(&mut row.mapping_index));
                }
                "location_table" => {
                    d.location_table.remove(0);
                    d.stack_table.iter_mut().flat_map(|row| &mut row.location_indices).for_each(less);
                }
                "function_table" => {
                    d.function_table.remove(0);
                    let lines = d.location_table.iter_mut().flat_map(|row| &mut row.$lines);
                    lines.for_each(|line| less(&mut line.function_index));
                }
                "link_table" => {
                    d.link_table.remove(0);
                    p.$samples.iter_mut().for_each(|sample| less(&mut sample.link_index));
                }
                "attribute_table" => {
                    d.attribute_table.remove(0);
                    d.mapping_table.iter_mut().flat_map(|row| &mut row.attribute_indices).for_each(less);
                    d.location_table.iter_mut().flat_map(|row| &mut row.attribute_indices).for_each(less);
                    p.$samples.iter_mut().flat_map(|row| &mut row.attribute_indices).for_each(less);
                    p.attribute_indices.iter_mut().for_each(less);
                }
                "stack_table" => {
                    d.stack_table.remove(0);
                    p.$samples.iter_mut().for_each(|sample| less(&mut sample.stack_index));
                }
                _ => panic!("{table} has no row 0"),
            }
            data.encode_to_vec()
        }
    )*};
}

/// Copies row 1 of a table to row 0, without references to row 0.
macro_rules! unused_row_0 {
    ($($m:ident)*) => {$(
        pub fn $m(bytes: &[u8], table: &str) -> Vec<u8> {
            let mut data = $m::ProfilesData::decode(bytes).unwrap();
            let d = data.dictionary.as_mut().unwrap();
            match table {
                "mapping_table" => d.mapping_table[0] = d.mapping_table[1].clone(),
                "location_table" => d.location_table[0] = d.location_table[1].clone(),
                "function_table" => d.function_table[0] = d.function_table[1].clone(),
                "link_table" => d.link_table[0] = d.link_table[1].clone(),
                "attribute_table" => d.attribute_table[0] = d.attribute_table[1].clone(),
                "stack_table" => d.stack_table[0] = d.stack_table[1].clone(),
                _ => panic!("{table} has no row 0"),
            }
            data.encode_to_vec()
        }
    )*};
}

/// Modules, because functions are named after the generations.
mod dropped {
    use super::*;
    without_row_0!(v1_8 sample line, v1_9 samples lines, v1_10 samples lines);
}

mod unused {
    use super::*;
    unused_row_0!(v1_8 v1_9 v1_10);
}

type Edit = fn(&[u8], &str) -> Vec<u8>;

/// Every generation with empty rows, with two edits: one removes row 0 of a table, one fills it.
const GENERATIONS: [(&str, Edit, Edit); 3] = [
    ("otlp-1.8", dropped::v1_8, unused::v1_8),
    ("otlp-1.9", dropped::v1_9, unused::v1_9),
    ("otlp-1.10", dropped::v1_10, unused::v1_10),
];

/// In the order of the reader's checks.
const TABLES: [&str; 6] = [
    "mapping_table",
    "location_table",
    "function_table",
    "link_table",
    "attribute_table",
    "stack_table",
];

#[test]
fn a_row_0_in_use_is_kept_in_every_table_of_every_generation() {
    let doc = doc();
    for (name, drop, _) in GENERATIONS {
        let whole = (form(name).lower)(&doc);
        for table in TABLES {
            is_kept(name, &drop(&whole, table), &doc, 1, &format!("{table}[0]"));
        }
        let bare = TABLES.iter().fold(whole, |bytes, table| drop(&bytes, table));
        is_kept(name, &bare, &doc, 6, "mapping_table[0]");
    }
}

#[test]
fn a_row_0_without_references_is_emptied() {
    let doc = doc();
    for (name, _, fill) in GENERATIONS {
        for table in TABLES {
            let bytes = fill(&(form(name).lower)(&doc), table);
            let Reading { profiles, findings, .. } = repaired(name, &bytes);
            let found: Vec<_> = findings.iter().map(|found| (found.code, found.count)).collect();
            assert_eq!(found, [("table.row_0_unused", 1)], "{name}: {table}");
            assert_eq!(difference(&said(&doc), &said(&doc_of(&profiles))), None, "{name}: {table}");
            assert_eq!(doc_of(&read(name, &bytes)), doc_of(&profiles), "{name}: {table}");
        }
    }
}

#[test]
fn names_and_keys_refer_to_a_string_0_that_is_not_empty() {
    for form in FORMS {
        for (string, repeat_strings) in
            [("main", false), ("cpu", false), ("k", false), ("text", true), ("service.name", true)]
        {
            let mut doc = doc();
            (doc.tables.string_0, doc.tables.repeat_strings) = (string.into(), repeat_strings);
            is_kept(form.name, &(form.lower)(&doc), &doc, 1, "string_table[0]");
        }
    }
}

#[test]
fn a_producer_that_knows_no_empty_rows_is_understood() {
    let mut doc = doc();
    doc.tables.string_0 = "main".into();
    // A function that consists of string 0 only looks like the empty row.
    doc.tables.functions[0] =
        Function { names: ["main".into(), "".into(), "".into()], start_line: 0 };
    for (name, drop, _) in GENERATIONS {
        let whole = (form(name).lower)(&doc);
        let bare = TABLES.iter().fold(whole, |bytes, table| drop(&bytes, table));
        is_kept(name, &bare, &doc, 7, "string_table[0]");
    }
}

#[test]
fn a_location_outside_of_a_mapping_0_has_no_mapping() {
    let mut doc = doc();
    doc.tables.locations[1].mapping = Some(0);
    for (name, drop, _) in GENERATIONS {
        let bytes = drop(&(form(name).lower)(&doc), "mapping_table");
        let mut expected = doc.clone();
        expected.tables.locations[1].mapping = None;
        is_kept(name, &bytes, &expected, 1, "mapping_table[0]");
    }
}

#[test]
fn references_past_a_table_without_row_0_have_their_index_and_place() {
    type Break = fn(&mut v1_10::ProfilesDictionary, &mut v1_10::Profile);
    let broken: [(&str, Break, &str, u32); 7] = [
        (
            "location_table",
            |d, _| d.stack_table[1].location_indices[1] = 2,
            "dictionary.stack_table[1].location_indices[1]",
            2,
        ),
        (
            "mapping_table",
            |d, _| d.location_table[2].mapping_index = 2,
            "dictionary.location_table[2].mapping_index",
            2,
        ),
        (
            "function_table",
            |d, _| d.location_table[2].lines[0].function_index = 2,
            "dictionary.location_table[2].lines[0].function_index",
            2,
        ),
        // Rows of the shifted table refer to a table that is not shifted.
        (
            "location_table",
            |d, _| d.location_table[1].lines[0].function_index = 3,
            "dictionary.location_table[1].lines[0].function_index",
            3,
        ),
        ("link_table", |_, p| p.samples[1].link_index = 2, "samples[1].link_index", 2),
        ("attribute_table", |_, p| p.attribute_indices[0] = 4, "attribute_indices[0]", 4),
        ("stack_table", |_, p| p.samples[1].stack_index = 2, "samples[1].stack_index", 2),
    ];
    for (table, breaks, place, rows) in broken {
        let bytes = dropped::v1_10(&(form("otlp-1.10").lower)(&doc()), table);
        let mut data = v1_10::ProfilesData::decode(&bytes[..]).unwrap();
        let profile = &mut data.resource_profiles[0].scope_profiles[0].profiles[0];
        breaks(data.dictionary.as_mut().unwrap(), profile);
        let findings = repaired("otlp-1.10", &data.encode_to_vec()).findings;
        let found = findings.iter().find(|found| found.code == "index.out_of_range").unwrap();
        let message = format!("index {rows} is out of range: the table has {rows} rows");
        let of_profile = "resource_profiles[0].scope_profiles[0].profiles[0].";
        assert_eq!(found.place.strip_prefix(of_profile).unwrap_or(&found.place), place, "{table}");
        assert_eq!((&found.message, found.count), (&message, 1), "{table}");
    }
}
