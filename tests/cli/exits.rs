//! What is refused, with which exit code and which hint.

use std::fs;

use crate::*;

#[test]
fn what_is_not_known_is_named() {
    let room = room("unknown");
    for (name, word) in
        [("java.jfr", "JFR"), ("linux.perf.data", "perf"), ("speedscope.json", "JSON")]
    {
        copy(name, &room.join(name));
        let output = run(&room, &format!("convert {name} -o x.otlp"), 3);
        let said = stderr(&output).to_lowercase();
        assert!(said.contains(&word.to_lowercase()), "{name}: {said}");
        run(&room, &format!("info {name}"), 3);
    }
    run(&room, "convert absent.pb.gz -o x.otlp", 3);
    run(&room, "convert absent*.pb.gz --to otlp -o x/", 3);
    assert_eq!(files(&room), ["java.jfr", "linux.perf.data", "speedscope.json"]);
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
        ("convert a.pb.gz --to otlp --profile-id 12", "32 hex digits"),
        ("convert - - --to otlp -o d/", "stdin"),
        ("info --max-samples some a.pb.gz", "--max-samples"),
        ("info --endpoint /v1/traces a.pb.gz", "/v1development/profiles"),
        ("completions cmd", "powershell"),
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
        says(&output, flag);
        run(&room, &format!("info a.pb.gz {flag} 1GiB"), 0);
    }
    run(&room, "convert a.pb.gz -o a.otlp --max-output 10", 5);
    run(&room, "info a.pb.gz --max-input 1k", 5);
    assert_eq!(files(&room), ["a.pb.gz"]);
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
        // Not all shells complete values.
        let values = script.contains("otlp-1.10");
        assert_eq!(values, !matches!(shell, "powershell" | "elvish"), "{shell}");
    }
}
