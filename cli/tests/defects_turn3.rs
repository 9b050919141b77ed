//! Inputs from bug reports of profilers and viewers: each is read correctly, or rejected with a way
//! forward.

use std::process::Command;

use otlp_profiles::check::{Options, validate};
use otlp_profiles::proto::pprof;
use otlp_profiles::proto::prost::Message;
use otlp_profiles::{ErrorKind, Policy, Profiles, ReadOptions, Reading, read};

/// Reads bytes; the policy repairs or refuses broken rows.
fn reading(bytes: &[u8], policy: Policy) -> otlp_profiles::Result<Reading> {
    read(bytes, &ReadOptions::default().policy(policy))
}

/// Formats every sample as `root;leaf [values]`.
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

/// Runs the command on `bytes`; returns the exit code and the output.
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

/// A profile with a function for each name, and a sample of each function with the given values.
fn pprof(names: &[&str], values: &[&[i64]]) -> pprof::Profile {
    let mut profile = pprof::Profile {
        string_table: ["", "samples", "count", "cpu", "nanoseconds"].map(Into::into).to_vec(),
        sample_type: vec![
            pprof::ValueType { r#type: 1, unit: 2 },
            pprof::ValueType { r#type: 3, unit: 4 },
        ],
        ..Default::default()
    };
    for (id, name) in (1..).zip(names) {
        let function = pprof::Function { id, name: id as i64 + 4, ..Default::default() };
        let line = vec![pprof::Line { function_id: id, ..Default::default() }];
        profile.location.push(pprof::Location { id, line, ..Default::default() });
        profile.function.push(function);
        profile.string_table.push((*name).to_owned());
    }
    for (at, value) in values.iter().enumerate() {
        let location_id = vec![at as u64 % names.len() as u64 + 1];
        profile.sample.push(pprof::Sample { location_id, value: value.to_vec(), label: vec![] });
    }
    profile
}

const TO_NOWHERE: [&str; 6] = ["convert", "--to", "otlp", "-f", "-o", "/dev/null"];

#[test]
fn two_profiles_in_a_row_are_refused_and_never_repaired() {
    let one = pprof(&["main", "w1"], &[&[1, 10]]);
    let two = pprof(&["main", "w2"], &[&[2, 20]]);
    let timed = |profile: &pprof::Profile| pprof::Profile { time_nanos: 17, ..profile.clone() };
    let period = |profile: &pprof::Profile| pprof::Profile { period: 9, ..profile.clone() };
    // Only the first half has sample types, and the halves share no id.
    let mut rest = pprof(&["main", "other", "third"], &[&[], &[], &[2, 20]]);
    rest.sample_type.clear();
    (rest.sample, rest.location, rest.function) =
        (rest.sample.split_off(2), rest.location.split_off(2), rest.function.split_off(2));
    // Strings first, as some writers do, so that each table is contiguous.
    let strings = |profile: &pprof::Profile| {
        let string_table = profile.string_table.clone();
        let table = pprof::Profile { string_table, ..Default::default() };
        let others = pprof::Profile { string_table: vec![], ..profile.clone() };
        (table.encode_to_vec(), others.encode_to_vec())
    };
    let (table, others) = strings(&one);
    let (other_table, second) = strings(&two);
    let three = [one.encode_to_vec(), two.encode_to_vec(), one.encode_to_vec()].concat();
    for joined in [
        [one.encode_to_vec(), two.encode_to_vec()].concat(),
        [timed(&one).encode_to_vec(), timed(&two).encode_to_vec()].concat(),
        [timed(&one).encode_to_vec(), two.encode_to_vec()].concat(),
        [period(&one).encode_to_vec(), period(&two).encode_to_vec()].concat(),
        [one.encode_to_vec(), rest.encode_to_vec()].concat(),
        [others, table.clone(), other_table.clone(), second.clone()].concat(),
        three,
    ] {
        for policy in [Policy::Refuse, Policy::Repair] {
            let error = reading(&joined, policy).unwrap_err().to_string();
            let advice =
                "several concatenated profiles: split it into its profiles and convert each one";
            let error = error.split(" (byte").next().unwrap();
            assert!(error.ends_with(advice), "{error}");
        }
        for arguments in [&["info"][..], &TO_NOWHERE, &[&TO_NOWHERE[..], &["--repair"]].concat()] {
            assert_eq!(run(arguments, &joined).0, 3, "{arguments:?}");
        }
        let (code, findings) = run(&["validate"], &joined);
        assert!(code == 1 && findings.contains("PP1014"), "{findings}");
        assert!(run(&["validate", "--fix"], &joined).1.contains("PP1014"), "{findings}");
    }
    // A repeated empty string is not the start of a second table.
    let mut twice = one.clone();
    twice.string_table.push(String::new());
    twice.string_table.push("w3".to_owned());
    twice.function[1].name = 8;
    let read = reading(&twice.encode_to_vec(), Policy::Refuse).unwrap();
    assert_eq!(samples(&read.profiles), ["main [1, 10]"]);
}

#[test]
fn samples_with_other_numbers_of_values_are_dropped_and_counted() {
    for (values, kept, dropped) in [
        (&[&[1][..], &[1, 2, 3], &[4, 5]][..], &["main [4, 5]"][..], 2),
        (&[&[][..], &[1, 2]], &["main [1, 2]"], 1),
        (&[&[1][..]], &[], 1),
        (&[&[1, 2][..], &[3, 4]], &["main [1, 2]", "main [3, 4]"], 0),
    ] {
        let bytes = pprof(&["main"], values).encode_to_vec();
        let read = reading(&bytes, Policy::Repair).unwrap();
        assert_eq!(samples(&read.profiles), kept, "{values:?}");
        let found: Vec<_> = read.findings.iter().map(|f| (f.code, f.count)).collect();
        let wanted = (dropped > 0).then_some(("pprof.value_count", dropped));
        assert_eq!(found, Vec::from_iter(wanted), "{values:?}");
        let code = if dropped > 0 { 3 } else { 0 };
        assert_eq!((run(&["info"], &bytes).0, run(&TO_NOWHERE, &bytes).0), (code, code));
        let denied = [&TO_NOWHERE[..], &["--repair", "--deny-loss"]].concat();
        assert_eq!(run(&denied, &bytes).0, i32::from(dropped > 0), "{values:?}");
        assert_eq!(run(&["validate"], &bytes).0, i32::from(dropped > 0), "{values:?}");
    }
}

#[test]
fn equal_entries_with_one_id_are_merged() {
    type Edit = fn(&mut pprof::Profile);
    let edits: [(Edit, &str); 4] = [
        (|p| p.function.insert(1, p.function[0]), "PP1006"),
        (|p| p.location.push(p.location[0].clone()), "PP1007"),
        (|p| p.mapping.push(p.mapping[0]), "PP1005"),
        (|p| p.function.extend_from_slice(&[p.function[0], p.function[1]]), "PP1006"),
    ];
    for (edit, rule) in edits {
        let mut profile = pprof(&["main", "w"], &[&[1, 10], &[2, 20]]);
        let mapping = pprof::Mapping { id: 1, memory_limit: 9, ..Default::default() };
        profile.mapping.push(mapping);
        profile.location[0].mapping_id = 1;
        edit(&mut profile);
        let bytes = profile.encode_to_vec();
        let wanted = ["main [1, 10]", "w [2, 20]"];
        assert!(reading(&bytes, Policy::Refuse).unwrap_err().to_string().contains("are equal"));
        let read = reading(&bytes, Policy::Repair).unwrap();
        assert_eq!(samples(&read.profiles), wanted, "{rule}");
        assert!(codes(&read).contains(&"pprof.equal_id"), "{rule}: {:?}", codes(&read));
        assert!(run(&["validate"], &bytes).1.contains(rule), "{rule}");
        let fixed = otlp_profiles::check::fix(&bytes, &Default::default());
        assert!(
            fixed.changes.iter().any(|change| change.rule.id() == rule),
            "{:?}",
            fixed.not_fixed
        );
        let read = reading(&fixed.bytes, Policy::Refuse).unwrap();
        assert_eq!(samples(&read.profiles), wanted, "{rule}");
        // Different entries with one id remain an error.
        let mut other = pprof(&["main", "w"], &[&[1, 10], &[2, 20]]);
        other.function[1].id = 1;
        let left = otlp_profiles::check::fix(&other.encode_to_vec(), &Default::default()).not_fixed;
        assert!(left[0].why.contains("there is no single correct value"), "{left:?}");
    }
}

#[test]
fn gzip_files_in_a_row_are_messages() {
    let deflate = |profile: &pprof::Profile| {
        otlp_profiles::compression::deflate(&profile.encode_to_vec(), Default::default())
    };
    let [one, two] = ["w1", "w2"].map(|name| deflate(&pprof(&[name], &[&[2, 20]])));
    let file = [&one[..], &two, &two].concat();
    let (code, said) = run(&["info"], &file);
    assert!(code == 0 && said.contains("gzip-members, 3 messages"), "{code} {said}");
    let (code, said) = run(&["validate", "--ignore", "OP0010"], &file);
    assert_eq!(code, 0, "{said}");
    let folded = ["convert", "--to", "folded", "--type", "cpu", "-o", "-"];
    let (code, said) = run(&folded, &file);
    assert!(code == 0 && said.starts_with("w1 20\nw2 20\nw2 20\n"), "{code} {said}");
    // Frames of the output are not compressed individually.
    let framed = run(&["convert", "--to", "otlp", "--no-gzip", "-o", "-"], &file).1;
    assert!(framed.starts_with("\0\0\0"), "{framed:?}");
}

#[test]
fn delimited_messages_behind_the_magic_of_a_file_are_read() {
    let otlp = |name: &str| {
        let profiles = reading(format!("{name} 3\n").as_bytes(), Policy::Refuse).unwrap().profiles;
        let options = otlp_profiles::WriteOptions::default();
        otlp_profiles::write(&profiles, otlp_profiles::Format::OTLP, &options).unwrap().payload
    };
    let (one, two) = (otlp("main"), otlp(&"long".repeat(100)));
    let delimited = otlp_profiles::framing::frame(
        otlp_profiles::framing::Framing::Delimited,
        [&one, &two, &one],
    );
    let file = [&b"OTLP\x01\0\0\0"[..], &delimited.unwrap()].concat();
    let compressed = otlp_profiles::compression::deflate(&file, Default::default());
    for file in [&file, &compressed] {
        let options = ReadOptions::default();
        let read: Vec<_> = otlp_profiles::Reader::new(&file[..], &options).unwrap().collect();
        let texts: Vec<_> =
            read.iter().map(|read| samples(&read.as_ref().unwrap().profiles)).collect();
        assert_eq!(texts, [["main [3]"], [&*format!("{} [3]", "long".repeat(100))], ["main [3]"]]);
        for arguments in [&["info"][..], &TO_NOWHERE] {
            let (code, said) = run(arguments, file);
            assert_eq!(code, 0, "{arguments:?}: {said}");
        }
        // As for other frames, a note reports that the file is not a single message.
        let (code, said) = run(&["validate"], file);
        assert!(code == 0 && said.contains("0 errors, 0 warnings"), "{said}");
        assert!(said.contains("OP0010"), "{said}");
    }
    // A fixed file keeps its magic, and a truncated one is an error.
    let fixed = otlp_profiles::check::fix(&file, &Default::default());
    assert!(fixed.bytes.starts_with(b"OTLP\x01\0\0\0"));
    assert_eq!(run(&["info"], &file[..file.len() - 3]).0, 3);
}

#[test]
fn an_unknown_file_is_no_file() {
    for (text, files) in [
        (
            "app 1 [000] 1.0: 1 cycles: \n\t10 _start+0x20 (/bin/app)\n  ??:0\n\t20 main+0x1 (/bin/app)\n  main.c:7\n",
            &["main.c:7"][..],
        ),
        (
            "app 1 [000] 1.0: 1 cycles: \n\t10 _start (/bin/app)\n  ??:?\n\t20 main (/bin/app)\n  main.c:?\n",
            &["main.c:0"],
        ),
        (
            "heap profile: 1: 9 [1: 9] @ heap/2\n1: 9 [1: 9] @ 0x10 0x20\n#\t0x0f\tmain+0x1\t??:0\n#\t0x1f\trun+0x1\tb.c:2\n",
            &["b.c:2"],
        ),
    ] {
        let profiles = reading(text.as_bytes(), Policy::Refuse).unwrap().profiles;
        let dictionary = profiles.dictionary();
        let sample = profiles.iter().next().unwrap().samples().get(0).unwrap();
        let named = dictionary.frames(sample.stack).filter_map(|frame| {
            let (file, line) = (dictionary.text(frame.function().filename), frame.line());
            (!file.is_empty() || line != 0).then(|| format!("{file}:{line}"))
        });
        assert_eq!(named.collect::<Vec<_>>(), files, "{text}");
    }
}

#[test]
fn messages_and_records_in_front_of_a_profile_are_skipped() {
    let heap = b"<jemalloc>: Leak approximation summary: ~3 bytes\n<jemalloc>: Run jeprof\nheap_v2/1\n  t*: 1: 64 [0: 0]\n@ 0x10 0x20\n  t*: 1: 64 [0: 0]\n";
    let read = reading(heap, Policy::Refuse).unwrap();
    assert_eq!(read.profiles.iter().next().unwrap().sums(), [0, 0, 1, 64]);
    let records =
        "a 1 [000] 1.0: PERF_RECORD_MMAP2 1/1: [0x1(0x2) @ 0 08:02 1 1]: r-xp /bin/a\n".repeat(90);
    let perf = format!("{records}a 1 [000] 2.0: 1 cycles: \n\t10 main (/bin/a)\n");
    let read = reading(perf.as_bytes(), Policy::Refuse).unwrap();
    assert_eq!(samples(&read.profiles), ["main [1]"]);
}

/// The findings of `validate` about functions of lines, and the code, place and text of the
/// reader's findings.
fn without_function(profile: &[u8], policy: Policy) -> (Vec<String>, Vec<String>) {
    let report = validate(profile, &Options::default());
    let findings = report.findings().filter(|finding| finding.rule.id() == "PP1009");
    let findings = findings.map(|finding| format!("{:?} {}", finding.severity, finding.path));
    let noticed = match reading(profile, policy) {
        Ok(reading) => {
            let noticed =
                reading.findings.iter().filter(|finding| finding.code != "ids.renumbered");
            noticed
                .map(|f| format!("{:?} {} × {} {}", f.severity, f.count, f.code, f.place))
                .collect()
        }
        Err(error) => vec![error.to_string()],
    };
    (findings.collect(), noticed)
}

#[test]
fn lines_without_a_function_are_errors_to_check_and_findings_to_read() {
    // Two sample types; function 1; location 1 with the function 0.
    let head = b"\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04\x2a\x0a\x08\x01\x10\x05\x18\x00\x20\x00\x28\x00\x22\x0a\x08\x01\x18\x10\x22\x04\x08\x00\x10\x00";
    // Location 2 with the function 9, which is missing.
    let missing = b"\x22\x0a\x08\x02\x18\x20\x22\x04\x08\x09\x10\x04";
    // Location 3 with the function 1.
    let last = b"\x22\x08\x08\x03\x22\x04\x08\x01\x10\x01";
    let sample = b"\x12\x08\x0a\x02\x01\x03\x12\x02\x01\x0a";
    let strings = b"2\x002\x07samples2\x05count2\x03cpu2\x0bnanoseconds2\x04main";

    let profile = [&head[..], last, sample, strings].concat();
    let checked = vec!["Error location[0].line[0].function_id".to_owned()];
    let noticed = vec!["Error 1 × pprof.dangling_function location[0].line.function_id".to_owned()];
    for policy in [Policy::Refuse, Policy::Repair] {
        assert_eq!(without_function(&profile, policy), (checked.clone(), noticed.clone()));
    }

    let sample = b"\x12\x09\x0a\x03\x01\x02\x03\x12\x02\x01\x0a";
    let profile = [&head[..], missing, last, sample, strings].concat();
    let checked = [0, 1].map(|row| format!("Error location[{row}].line[0].function_id"));
    let noticed = "location[1].line.function_id: no function has this id";
    assert_eq!(
        without_function(&profile, Policy::Refuse),
        (checked.to_vec(), vec![noticed.into()])
    );
    let noticed = ["Error 2 × pprof.dangling_function location[0].line.function_id".to_owned()];
    assert_eq!(without_function(&profile, Policy::Repair), (checked.to_vec(), noticed.to_vec()));
}

#[test]
fn forms_of_the_proto_between_releases_are_named() {
    // No container around the profile, with fields numbered as in 1.3.
    let no_container = b"\x0a\x57\x12\x55\x12\x53\x0a\x04\x08\x01\x10\x02\x12\x08\x12\x01\x0a\x40\x01\x52\x01\x00\x22\x08\x08\x01\x18\x10\x22\x02\x10\x01\x2a\x04\x08\x01\x10\x032\x002\x03cpu2\x02ns2\x04main\x48\x80\x80\xa8\xb1\xe3\x9f\xe7\xcb\x17\x50\x0a\x7a\x01\x00\x9a\x01\x10\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10";
    let dictionary = b"\x12\x1d\x12\x06\x10\x10\x1a\x02\x10\x01\x1a\x02\x08\x03\x2a\x00\x2a\x03cpu\x2a\x02ns\x2a\x04main";
    let id = b"\x4a\x10\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10";
    let sample = b"\x0a\x04\x08\x01\x10\x02\x12\x05\x10\x01\x1a\x01\x0a\x1a\x01\x00";
    // Field 9 is the id, and field 4 has 8 bytes.
    let id_moved: &[&[u8]] = &[
        b"\x0a\x32\x12\x30\x12\x2e",
        sample,
        b"\x20\x80\x80\xa8\xb1\xe3\x9f\xe7\xcb\x17\x28\x0a",
        id,
        dictionary,
    ];
    let fixed_time: &[&[u8]] = &[
        b"\x0a\x31\x12\x2f\x12\x2d",
        sample,
        b"\x21\x00\x00\x2a\x36\xfe\x9c\x97\x17\x28\x0a",
        id,
        dictionary,
    ];
    for (payload, before, after) in [
        (no_container.to_vec(), "1.3", "1.4"),
        (id_moved.concat(), "1.7", "1.8"),
        (fixed_time.concat(), "1.7", "1.8"),
    ] {
        let wanted = format!(
            "this is the form of the proto between {before} and {after}, which no release has: update the profiler to OTLP {after} or later"
        );
        for policy in [Policy::Refuse, Policy::Repair] {
            let error = reading(&payload, policy).unwrap_err();
            assert_eq!(
                (error.kind(), error.to_string()),
                (ErrorKind::Unrecognised, wanted.clone())
            );
        }
        let report = validate(&payload, &Options::default());
        let [finding] = &*report.findings().collect::<Vec<_>>() else { panic!("{report:?}") };
        assert_eq!((finding.rule.id(), &*finding.value), ("OP0004", &*wanted));
    }
}

#[test]
fn stacks_that_begin_with_a_hash_are_written_as_they_are() {
    for (text, wanted) in [
        ("#<Thread:1>;a 7\n<main>;b 4\n", "#<Thread:1>;a 7\n<main>;b 4\n"),
        ("# a;b 3\n#{x} 4\n#!/bin/sh;main 3\n", "# a;b 3\n#{x} 4\n#!/bin/sh;main 3\n"),
        ("main;b 4\n # total 5\n", "main;b 4\n # total 5\n"),
    ] {
        let profiles = reading(text.as_bytes(), Policy::Refuse).unwrap().profiles;
        let options = otlp_profiles::WriteOptions::default();
        let written =
            otlp_profiles::write(&profiles, otlp_profiles::Format::FOLDED, &options).unwrap();
        assert_eq!(String::from_utf8_lossy(&written.payload), wanted);
        assert!(written.losses.get("frame.text").is_none(), "{text}");
        let again = reading(&written.payload, Policy::Refuse).unwrap().profiles;
        assert_eq!(samples(&again), samples(&profiles), "{text}");
    }
    // Such a line would be a comment, so a space comes first.
    let mut builder = otlp_profiles::Builder::new();
    let profile = builder.profile("samples", "count");
    builder.sample(profile, otlp_profiles::builder::root_first(["# total"])).value(5);
    let options = otlp_profiles::WriteOptions::default();
    let profiles = builder.finish().unwrap();
    let written = otlp_profiles::write(&profiles, otlp_profiles::Format::FOLDED, &options).unwrap();
    assert_eq!(String::from_utf8_lossy(&written.payload), " # total 5\n");
    assert_eq!(written.losses.get("frame.text").unwrap().count, 1);
}
