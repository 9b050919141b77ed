//! Rejected inputs and arguments: exit codes and hints.

use std::fs;

use crate::*;

#[test]
fn what_is_not_known_is_named() {
    let room = room("unknown");
    for (name, word) in
        [("java.jfr", "JFR"), ("linux.perf.data", "perf"), ("firefox.json", "Firefox")]
    {
        copy(name, &room.join(name));
        let output = run(&room, &format!("convert {name} -o x.otlp"), 3);
        let said = stderr(&output).to_lowercase();
        assert!(said.contains(&word.to_lowercase()), "{name}: {said}");
        run(&room, &format!("info {name}"), 3);
    }
    for text in ["{", "[]"] {
        fs::write(room.join("x.json"), text).unwrap();
        says(&run(&room, "info x.json", 3), "name its format with --from");
    }
    fs::remove_file(room.join("x.json")).unwrap();
    run(&room, "convert absent.pb.gz -o x.otlp", 3);
    run(&room, "convert absent*.pb.gz --to otlp -o x/", 3);
    let said = "no such file, and not a valid pattern: invalid range pattern (character 2)";
    says(&run(&room, "info no[such", 3), said);
    assert_eq!(files(&room), ["firefox.json", "java.jfr", "linux.perf.data"]);
}

#[test]
fn wrong_usage_says_what_to_give() {
    let room = room("usage");
    copy(PPROFS[0], &room.join("a.pb.gz"));
    for (arguments, hint) in [
        ("convert", "<IN>"),
        ("convert a.pb.gz", "--to FORMAT"),
        ("convert a.pb.gz -o a.unknown", "--to FORMAT"),
        ("convert a.pb.gz a.pb.gz --to otlp", "-o DIR/"),
        ("convert a.pb.gz a.pb.gz -o a.otlp", "-o DIR/"),
        ("convert a.pb.gz a.pb.gz --to otlp -o d/", "both"),
        ("convert a.pb.gz --to otlp-9", "otlp-1.10"),
        ("convert a.pb.gz --to otlp --level 10", "--level"),
        ("convert a.pb.gz --to otlp --profile-id 12", "expected 32 hexadecimal digits"),
        ("convert - - --to otlp -o d/", "stdin"),
        ("info --max-samples some a.pb.gz", "--max-samples"),
        ("info --endpoint /v1/traces a.pb.gz", "/v1development/profiles"),
        ("completions cmd", "powershell"),
        ("info a.pb.gz --max-nesting 300", "the largest value is 256"),
        ("info a.pb.gz --max-samples 5G", "the largest value is"),
        (
            "convert a.pb.gz --to 1.9 --refs dictionary -o x",
            "--refs does not apply to otlp-1.9, only to otlp-1.10",
        ),
        ("convert a.pb.gz -o .", ". is a directory"),
        ("convert a.pb.gz -o x.otlp --level 3", "nothing is compressed"),
        ("convert a.pb.gz -o x.pb.gz --no-gzip --level 3", "nothing is compressed"),
        ("convert a.pb.gz --to otlp -o x.otlp --level -1", "-1 is not in 0..=9"),
        ("convert a.pb.gz --to otlp --scale -1", "expected a number above 0"),
        ("convert a.pb.gz --to otlp --columns -1", "-1 is not in 1..=255"),
        ("convert a.pb.gz --to otlp --boot-time -1", "invalid value '-1'"),
        ("info a.pb.gz --max-samples -1", "a number such as 65536"),
        ("validate a.pb.gz --max-findings -1", "invalid value '-1'"),
    ] {
        let output = run(&room, arguments, 2);
        says(&output, hint);
    }
    assert_eq!(files(&room), ["a.pb.gz"]);
}

#[test]
fn limits_are_raised_by_the_flag_their_error_names() {
    let room = room("limit");
    copy(PPROFS[0], &room.join("a.pb.gz"));
    for flag in
        ["--max-input-bytes", "--max-decompressed-bytes", "--max-samples", "--max-owned-bytes"]
    {
        let output = run(&room, &format!("info a.pb.gz {flag} 1"), 5);
        says(&output, &format!("{flag} raises it"));
        assert!(!stderr(&output).contains("Limits"), "{}", stderr(&output));
        run(&room, &format!("info a.pb.gz {flag} 1GiB"), 0);
    }
    let output = run(&room, "convert a.pb.gz -o a.otlp --max-output 10", 5);
    says(
        &output,
        "this takes more than the limit of 10 bytes of output (--max-output-bytes raises it)",
    );
    run(&room, "info a.pb.gz --max-nesting unlimited --max-samples unlimited", 0);
    run(&room, "info a.pb.gz --max-input 1k", 5);
    assert_eq!(files(&room), ["a.pb.gz"]);
}

/// A subcommand accepts only flags that it uses.
#[test]
fn info_has_no_flags_of_writing() {
    let room = room("flags");
    copy(PPROFS[0], &room.join("a.pb.gz"));
    for flag in ["--max-output-bytes", "--max-output", "--max-expanded-samples"] {
        run(&room, &format!("info a.pb.gz {flag} 1GiB"), 2);
        run(&room, &format!("convert a.pb.gz -f -o a.otlp {flag} 1GiB"), 0);
    }
}

/// Regression: a failed `curl` before a pipe gave an OTLP file of 16 bytes.
#[test]
fn nothing_is_no_profile() {
    let room = room("empty");
    fs::write(room.join("a.otlp"), "").unwrap();
    for arguments in [
        "convert - --to otlp",
        "convert - --from otlp --to otlp",
        "info -",
        "convert a.otlp --to otlp",
        "info a.otlp --from otlp",
    ] {
        let output = run_with_stdin(&room, arguments, b"", 3);
        says(&output, "is empty");
        assert!(output.stdout.is_empty(), "{arguments}");
    }
}

#[test]
fn a_message_of_no_bytes_is_not_written() {
    let room = room("no-bytes");
    // A dictionary without profiles: up to 1.5, profiles contain the tables.
    fs::write(room.join("x.otlp"), [18, 2, 42, 0]).unwrap();
    for to in ["otlp-1.3", "otlp-1.4", "otlp-1.5"] {
        let output = run(&room, &format!("convert x.otlp --from 1.10 --to {to} -o y.otlp"), 4);
        says(&output, &format!("there is no profile to write: {to} needs one"));
    }
    assert_eq!(files(&room), ["x.otlp"]);
    run(&room, "convert x.otlp --from 1.10 --to 1.8 -o y.otlp", 0);
    run(&room, "info y.otlp --from 1.8", 0);
}

#[test]
fn what_is_no_profile_is_skipped_in_a_directory_and_refused_by_name() {
    let room = room("readme");
    copy(PPROFS[0], &room.join("in/a.pb.gz"));
    fs::write(room.join("in/README.md"), "# Profiles\n\nTaken on Friday.\n").unwrap();
    fs::write(room.join("in/package.json"), "{\"name\": \"checkout\"}").unwrap();
    let output = logged(&room, "convert in --to otlp -o out", 0);
    assert_eq!(lines(&output, "ERROR"), [""; 0]);
    let skipped = lines(&output, "WARNING");
    assert_eq!(skipped.len(), 1, "{skipped:#?}");
    assert!(skipped[0].ends_with("holds no profile and was skipped (1 more)"), "{skipped:#?}");
    let output = logged(&room, "-v info in", 0);
    let listed = lines(&output, "INFO").join("\n");
    for name in ["in/README.md", "in/package.json"] {
        assert!(listed.contains("File skipped") && listed.contains(name), "{listed}");
    }
    run(&room, "info in/README.md", 3);
    // Two directories contain a file of this name.
    fs::create_dir(room.join("other")).unwrap();
    fs::copy(room.join("in/README.md"), room.join("other/README.md")).unwrap();
    copy(PPROFS[1], &room.join("other/heap.pb.gz"));
    run(&room, "convert in other --to otlp -o both", 0);
    assert!(room.join("both/heap.otlp").exists() && !room.join("both/README.md.otlp").exists());
    // Profiles without an extension conflict only after they are recognised as profiles.
    for directory in ["in2", "other2"] {
        fs::create_dir(room.join(directory)).unwrap();
        copy(PPROFS[1], &room.join(directory).join("profile"));
    }
    let output = run(&room, "convert in2 other2 --to otlp -o twice --force", 4);
    says(&output, "was written for another input of this run");
    run(&room, "convert in/README.md --to otlp -o b.otlp", 3);
    for arguments in ["validate in", "validate in --fix", "validate in --compat profcheck"] {
        let exit = if arguments.contains("compat") { 3 } else { 0 };
        let output = logged(&room, arguments, exit);
        assert_eq!(lines(&output, "WARNING").len(), 1, "{arguments}: {}", stderr(&output));
        let page = String::from_utf8_lossy(&output.stdout);
        assert!(page.contains("1 file: ") && !page.contains("README"), "{arguments}: {page}");
    }
    run(&room, "validate in/README.md", 3);
    run(&room, "validate in/*.md", 3);
    // Files with the extension of a profile, and files of other profilers, are not skipped.
    for (name, bytes) in [("bad.pb", &b"<!DOCTYPE html>"[..]), ("b.jfr", b"FLR\0\0\x02")] {
        fs::write(room.join("in").join(name), bytes).unwrap();
        let output = logged(&room, "info in", 3);
        assert_eq!(lines(&output, "ERROR").len(), 1, "{}", stderr(&output));
        run(&room, "validate in", 3);
        fs::remove_file(room.join("in").join(name)).unwrap();
    }
    fs::remove_file(room.join("in/a.pb.gz")).unwrap();
    says(&run(&room, "info in", 3), "No profile was found");
    says(&run(&room, "validate in", 3), "No profile was found");
}

#[test]
fn an_empty_directory_is_a_failure() {
    let room = room("hollow");
    fs::create_dir_all(room.join("in/deep")).unwrap();
    fs::write(room.join("in/.hidden"), "").unwrap();
    for arguments in ["info in", "convert in --to otlp -o out"] {
        says(&run(&room, arguments, 3), "holds no files");
    }
}

#[test]
fn an_endpoint_decides_what_nothing_else_does() {
    let room = room("endpoint");
    fs::write(room.join("a.otlp"), b"\x0a\x00").unwrap();
    copy(OTLP_1_3, &room.join("old.otlp"));
    for (file, endpoint, format) in [
        ("a.otlp", "/v1experimental/profiles", "otlp-1.3"),
        ("a.otlp", "/v1development/profiles", "otlp-1.10"),
        ("old.otlp", "/v1development/profiles", "otlp-1.3"),
        (
            "a.otlp",
            "opentelemetry.proto.collector.profiles.v1experimental.ProfilesService/Export",
            "otlp-1.3",
        ),
    ] {
        let described = info(&room, &format!("{file} --endpoint {endpoint}"));
        assert_eq!(described["messages"][0]["format"], format, "{described}");
    }
}

#[test]
fn shells_are_told_what_completes() {
    let room = room("completions");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = run(&room, &format!("completions {shell}"), 0);
        let script = String::from_utf8(output.stdout).unwrap();
        for word in ["convert", "info", "deny-loss"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
        // Some shells complete only flags.
        let values = script.contains("otlp-1.10");
        assert_eq!(values, !matches!(shell, "powershell" | "elvish"), "{shell}");
    }
}

/// The suggested command inflates gzip, because some converters cannot read it.
#[test]
fn the_command_for_another_profiler_inflates() {
    let room = room("inflates");
    let traced = b"@[\n    read+13\n    main+9\n]: 7\n";
    let traced = otlp_profiles::compression::deflate(traced, Default::default());
    for (name, command) in [
        ("a.txt.gz", "`gunzip -c < a.txt.gz > a.txt && stackcollapse-bpftrace.pl a.txt |"),
        (
            "a b",
            "`gunzip -c < 'a b' > 'a b.inflated' && stackcollapse-bpftrace.pl 'a b.inflated' |",
        ),
    ] {
        fs::write(room.join(name), &traced).unwrap();
        let mut info = crate::command("info");
        let output = info.arg(name).current_dir(&room).output().unwrap();
        says(&output, command);
    }
    // Only the word `FILE` is replaced, not a part of another word.
    fs::write(room.join("m"), "desc: (none)\ncmd: ./busy\ntime_unit: i\n").unwrap();
    let output = crate::command("info").arg("m").current_dir(&room).output().unwrap();
    says(&output, "`HEAPPROFILE=/tmp/heap LD_PRELOAD=");
}

/// Regression: a pprof was written to a file with the extension of OTLP without a warning.
#[test]
fn a_name_that_says_another_format_is_a_warning() {
    let room = room("misnamed");
    copy(PPROFS[0], &room.join("a.pb.gz"));
    for (arguments, warning) in [
        ("-o f.pb.gz --for parca", "f.pb.gz is named like pprof, and otlp-1.10 is written to it"),
        ("-o f.json --to otlp", "f.json is named like otlp-json, and otlp-1.10 is written to it"),
        ("-o f.otlp --to pprof", "f.otlp is named like otlp-1.10, and pprof is written to it"),
    ] {
        says(&run(&room, &format!("convert a.pb.gz {arguments}"), 0), warning);
    }
    for arguments in ["-o g.otlp --to otlp", "-o g --to pprof", "-o g.binpb --for collector"] {
        let output = run(&room, &format!("convert a.pb.gz {arguments}"), 0);
        assert_eq!(stderr(&output), "", "{arguments}");
    }
}
