//! Inputs from bug reports of profilers and viewers: each is read as what it is, or refused with a way forward.
#![cfg(feature = "cli")]

use std::process::Command;

use otlp_profiles::{Policy, Profiles, ReadOptions, Reading, read};

/// A reading, with broken rows repaired or refused.
fn reading(bytes: &[u8], policy: Policy) -> otlp_profiles::Result<Reading> {
    read(bytes, &ReadOptions::default().policy(policy))
}

/// Every sample as `root;leaf [values]`.
fn samples(profiles: &Profiles) -> Vec<String> {
    let dictionary = profiles.dictionary();
    let mut lines = Vec::new();
    for sample in profiles.iter().flat_map(|profile| profile.samples()) {
        let names = dictionary.frames(sample.stack).rev().map(|frame| frame.to_string());
        lines.push(format!("{} {:?}", names.collect::<Vec<_>>().join(";"), sample.values));
    }
    lines
}

fn codes(reading: &Reading) -> Vec<&'static str> {
    reading.findings.iter().map(|finding| finding.code).collect()
}

/// The exit code of the command and what it printed.
fn run(arguments: &[&str], bytes: &[u8]) -> (i32, String) {
    let name = format!("{}-{:x}", std::process::id(), bytes.as_ptr() as usize);
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, bytes).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_otlp-profiles"));
    let output = command.args(arguments).arg(&path).output().unwrap();
    std::fs::remove_file(&path).unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn only_headers_and_lines_without_a_count_are_comments() {
    for (text, wanted, noticed) in [
        (
            "<main>;run 5\n#<Thread:0x0001 app.rb:3 run>;call 7\n#<Ractor:#2 app.rb:9>;call 11\n",
            &[
                "<main>;run [5]",
                "#<Thread:0x0001 app.rb:3 run>;call [7]",
                "#<Ractor:#2 app.rb:9>;call [11]",
            ][..],
            &[][..],
        ),
        ("#<Fiber:1>;a 7\n#<Fiber:2>;b 8\n", &["#<Fiber:1>;a [7]", "#<Fiber:2>;b [8]"], &[]),
        ("#!/bin/sh;main 3\n# comment\nmain;b 4\n", &["#!/bin/sh;main [3]", "main;b [4]"], &[]),
        ("# a;b 3\n#{x} 4\nmain;b 4\n", &["# a;b [3]", "#{x} [4]", "main;b [4]"], &[]),
        ("# austin: 3.6.0\n# interval: 100\n#\n# duration: 7\nmain;b 4\n", &["main;b [4]"], &[]),
        ("# total samples 300\nmain;b 4\n", &["main;b [4]"], &["source.left_out"]),
        ("#1;a 3 k=v\nmain;b 4 k=v\n", &["#1;a [3]", "main;b [4]"], &[]),
        ("#x;y\nmain;a 1\nmain;b 4\n", &["main;a [1]", "main;b [4]"], &["text.bad_line"]),
    ] {
        let read = reading(text.as_bytes(), Policy::Repair).unwrap();
        assert_eq!(
            (samples(&read.profiles), codes(&read)),
            (wanted.iter().map(|s| s.to_string()).collect(), noticed.to_vec()),
            "{text}"
        );
    }
    let error = reading(b"#x;y\nmain;a 1\nmain;b 4\n", Policy::Refuse).unwrap_err().to_string();
    assert_eq!(error, "line 1: the stack \"#x;y\" has no value after it");
}

#[test]
fn columns_that_nobody_asked_for_are_reported() {
    for (text, columns) in [
        ("main;a 3 5\nmain;b 4 0\nmain;c 0 9\n", Some(2)),
        ("a 1 2 3\nb;c 4 5 6\n", Some(3)),
        ("a 1 2\nb 1.5 2\nc 7\n", Some(2)),
        ("main;worker 3 5\nmain;b 4\nmain;c 9\n", None),
        ("thread 12;main 5\n", None),
    ] {
        let read = reading(text.as_bytes(), Policy::Refuse).unwrap();
        let said: Vec<_> = read.findings.iter().map(|f| (f.code, f.message.clone())).collect();
        let wanted = columns.map(|n| ("columns.unread", format!("lines end with {n} numbers and the last was read as the value: --columns {n} reads all")));
        assert_eq!(said, Vec::from_iter(wanted), "{text}");
        let refused = run(
            &["convert", "--deny-loss", "--to", "otlp", "-f", "-o", "/dev/null"],
            text.as_bytes(),
        );
        assert_eq!(refused.0, i32::from(columns.is_some()), "{text}: {}", refused.1);
    }
    let two = run(
        &["convert", "--columns", "2", "--deny-loss", "--to", "otlp", "-f", "-o", "/dev/null"],
        b"main;a 3 5\n",
    );
    assert_eq!(two.0, 0, "{}", two.1);
}
