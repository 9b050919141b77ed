//! What is refused, with which exit code and which hint.

use crate::*;

#[test]
fn what_is_not_known_is_named() {
    let room = room("unknown");
    for (name, word) in [
        ("java.jfr", "JFR"),
        ("linux.perf.data", "perf"),
        ("speedscope.json", "JSON"),
    ] {
        copy(name, &room.join(name));
        let output = run(&room, &format!("convert {name} -o x.otlp"), 3);
        let said = stderr(&output).to_lowercase();
        assert!(said.contains(&word.to_lowercase()), "{name}: {said}");
        run(&room, &format!("info {name}"), 3);
    }
    run(&room, "convert absent.pb.gz -o x.otlp", 3);
    run(&room, "convert absent*.pb.gz --to otlp -o x/", 3);
    assert_eq!(
        files(&room),
        ["java.jfr", "linux.perf.data", "speedscope.json"]
    );
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
    for flag in [
        "--max-input-bytes",
        "--max-decompressed-bytes",
        "--max-samples",
        "--max-owned-bytes",
    ] {
        let output = run(&room, &format!("info a.pb.gz {flag} 1"), 5);
        says(&output, flag);
        run(&room, &format!("info a.pb.gz {flag} 1GiB"), 0);
    }
    run(&room, "convert a.pb.gz -o a.otlp --max-output 10", 5);
    run(&room, "info a.pb.gz --max-input 1k", 5);
    assert_eq!(files(&room), ["a.pb.gz"]);
}
