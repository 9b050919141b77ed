//! `info` truncates long strings and values that many rows refer to.

use std::fs;

use otlp_profiles::builder::{NewFunction, NewLine, NewLocation, NewValue, root_first};
use otlp_profiles::format::StringEncoding;
use otlp_profiles::{Builder, Format, WriteOptions, write};

use crate::*;

/// The number of references to each string below.
const TIMES: usize = 300;
const LONG: usize = 100_000;

/// Writes the profiles with string references.
fn file(room: &Path, mut builder: Builder) {
    let profiles = builder.finish().unwrap();
    let options = WriteOptions::default().string_encoding(StringEncoding::Dictionary);
    fs::write(room.join("a.otlp"), write(&profiles, Format::OTLP_1_10, &options).unwrap().payload)
        .unwrap();
    assert!(fs::metadata(room.join("a.otlp")).unwrap().len() < 10 * LONG as u64);
}

/// Returns the text, and the first message of the JSON document. Checks that both are short.
#[track_caller]
fn said(room: &Path, flags: &str) -> (String, Value) {
    let page = run(room, &format!("info a.otlp{flags}"), 0).stdout;
    let document = run(room, &format!("info --json a.otlp{flags}"), 0).stdout;
    for said in [&page, &document] {
        assert!(said.len() < 15_000 * TIMES, "{} bytes", said.len());
    }
    let document: Value = serde_json::from_slice(&document).unwrap();
    (String::from_utf8(page).unwrap(), document["files"][0]["messages"][0].clone())
}

/// A long string as the text shows it.
fn cut(letter: &str) -> String {
    format!("{}… (100,000 bytes)", letter.repeat(200))
}

/// A long string as JSON shows it.
fn kept(letter: &str) -> String {
    format!("{}… (100,000 bytes)", letter.repeat(1_000))
}

/// Regression: a long name was printed completely for each profile.
#[test]
fn long_names_of_types_are_cut() {
    let room = room("cut-types");
    let [name, unit] = ["n", "u"].map(|letter| letter.repeat(LONG));
    let mut builder = Builder::new();
    for row in 0..TIMES {
        builder.scope(&row.to_string());
        let profile = builder.profile(&name, &unit);
        builder.sample(profile, root_first(["main"])).value(1);
        builder.profile_mut(profile).period(&name, &unit, 1);
    }
    file(&room, builder);
    for flags in ["", " --full"] {
        let (page, message) = said(&room, flags);
        let all = profiles(&message);
        assert_eq!(all.len(), TIMES);
        for of in [&all[0]["sample_types"][0], &all[0]["period_type"]] {
            assert_eq!((&of["type"], &of["unit"]), (&kept("n").into(), &kept("u").into()));
        }
        assert!(page.contains(&format!("  profile    {} in {}\n", cut("n"), cut("u"))));
        assert!(page.contains(&format!("    sum      {} 1 {}\n", cut("n"), cut("u"))));
        assert!(page.contains(&format!("    period   1 of {} in {}\n", cut("n"), cut("u"))));
    }
}

/// Regression: referenced strings were copied completely for each reference.
#[test]
fn long_texts_by_reference_are_cut() {
    let room = room("cut-references");
    let text = "t".repeat(LONG);
    let mut builder = Builder::new();
    let mut resource = builder.resource().attr(text.as_str(), 1);
    for row in 0..TIMES {
        resource = resource.attr(row.to_string(), text.as_str());
    }
    let list = NewValue::array([text.as_str(); TIMES]);
    let pairs = NewValue::key_values((0..TIMES).map(|row| (row.to_string(), text.as_str())));
    let short = NewValue::key_values((100..200).map(|row| (format!("k{row}"), "serve")));
    resource.attr("list", list).attr("pairs", pairs).attr("short", short);
    let profile = builder.profile("cpu", "count");
    builder.sample(profile, root_first(["main"])).value(1);
    file(&room, builder);
    let (page, message) = said(&room, "");
    let shown = &message["resources"][0]["attributes"];
    assert_eq!((&shown["7"], &shown[kept("t")]), (&kept("t").into(), &1.into()));
    assert!(page.contains(&format!(", 7={}, ", cut("t"))));
    // All strings of a list share the budget of one.
    let list = shown["list"].as_array().unwrap();
    assert_eq!(list[1..], ["… (299 more)"], "{list:?}");
    assert!(list[0].as_str().unwrap().ends_with("t… (100,000 bytes)"));
    assert_eq!(shown["pairs"]["…"], "(299 more)");
    // No short value is truncated.
    let short = shown["short"].as_object().unwrap();
    let whole = short.iter().filter(|(key, value)| key.starts_with('k') && *value == "serve");
    assert_eq!((short.len(), whole.count()), (41, 40), "{short:?}");
}

/// Regression: attributes that profiles refer to were copied completely, with nested values.
#[test]
fn long_attributes_of_profiles_are_cut() {
    let room = room("cut-attributes");
    let text = "t".repeat(LONG);
    let bytes = vec![0xab_u8; LONG];
    let mut builder = Builder::new();
    let all: Vec<i64> = (0..LONG as i64 / 10).collect();
    for row in 0..TIMES {
        builder.scope(&row.to_string());
        let profile = builder.profile("cpu", "count");
        builder.sample(profile, root_first(["main"])).value(1);
        let profile = builder.profile_mut(profile).attr("text", text.as_str());
        let profile = profile.attr("bytes", &bytes[..]).attr("short", NewValue::array(["a", "b"]));
        profile.attr("list", NewValue::array(all.iter().copied()));
    }
    file(&room, builder);
    let (page, message) = said(&room, "");
    let shown = &profiles(&message)[7]["attributes"];
    assert_eq!(shown["text"], kept("t"));
    assert_eq!(shown["bytes"]["bytes"], format!("{}… (100,000 bytes)", "ab".repeat(500)));
    assert_eq!(shown["short"], serde_json::json!(["a", "b"]));
    let list = shown["list"].as_array().unwrap();
    assert_eq!((list.len(), &list[248], &list[249]), (250, &248.into(), &"… (9,751 more)".into()));
    assert!(page.contains(&format!("text={}\n", cut("t"))));
}

/// The log has each string once, and its beginning wherever a row refers to it.
#[test]
fn long_texts_in_the_log_are_cut() {
    let room = room("cut-log");
    let name = "n".repeat(LONG);
    let mut builder = Builder::new();
    let profile = builder.profile("cpu", "count");
    for row in 0..TIMES {
        let function = NewFunction::new(name.as_str()).start_line(row as u32);
        let lines = [NewLine::new(builder.function(function))];
        let location = builder.location(NewLocation::new().lines(&lines));
        builder.sample(profile, root_first([location])).value(1);
    }
    file(&room, builder);
    let log = run(&room, "-vvv info a.otlp", 0).stderr;
    assert!(log.len() < 5_000 * TIMES, "{} bytes", log.len());
    let log = String::from_utf8(log).unwrap();
    assert!(log.contains(&name) && log.contains(&cut("n")));
}
