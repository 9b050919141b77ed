//! The log: levels, units of work, and messages that appear once.

use std::fs;

use serde_json::Value;

use crate::*;

/// Whether a message names a unit of work: a noun and a verb in the past tense.
fn is_unit_of_work(line: &str) -> bool {
    let Some((_, message)) = line.split_once("[-] ") else {
        return false;
    };
    let message = message
        .strip_prefix("[profile: ")
        .map_or(message, |rest| &rest[rest.find("] ").unwrap() + 2..]);
    let mut words =
        message.split(' ').take_while(|word| word.bytes().all(|byte| byte.is_ascii_alphabetic()));
    let noun = words.next().is_some_and(|word| word.starts_with(|c: char| c.is_ascii_uppercase()));
    noun && words.any(|word| word.ends_with("ed")) && !message.contains("ing ")
}

#[test]
fn the_log_has_a_line_for_each_unit_of_work() {
    let room = room("log");
    PPROFS.iter().for_each(|name| copy(name, &room.join("in").join(name)));
    let output = logged(&room, "convert in --to otlp -o quiet", 0);
    assert_eq!(lines(&output, "INFO"), [""; 0]);
    let output = logged(&room, "-v convert in --to otlp -o loud", 0);
    let units = lines(&output, "INFO");
    assert_eq!(units.len(), 3, "{units:#?}");
    assert!(units.iter().all(|line| is_unit_of_work(line)), "{units:#?}");
    let output = logged(&room, "-vv convert in --to otlp -o steps", 0);
    let steps = lines(&output, "DEBUG");
    let count = |word: &str| steps.iter().filter(|line| line.contains(word)).count();
    assert!(count("] Starting ") > 0);
    assert_eq!(count("] Starting "), count(" ended after "), "{steps:#?}");
    let mut json = command("-v convert in --to otlp -o json");
    let output = json.current_dir(&room).env("OTLP_PROFILES_LOG", "json").output().unwrap();
    let objects: Vec<Value> =
        stderr(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let done: Vec<_> = objects.iter().filter(|line| line["level"] == "INFO").collect();
    assert_eq!(done.len(), 3);
    assert!(done.iter().all(|line| line["samples"].is_u64() && line["bytes"].is_string()));
}

#[test]
fn validate_logs_its_files_and_steps() {
    let room = room("log_validate");
    PPROFS.iter().for_each(|name| copy(name, &room.join("in").join(name)));
    fs::write(room.join("bad.otlp"), b"\x0a\x05\x00").unwrap();
    assert_eq!(stderr(&run(&room, "validate in", 0)), "");
    let output = logged(&room, "-v validate in bad.otlp", 3);
    let units = lines(&output, "INFO");
    assert_eq!(units.len(), 4, "{units:#?}");
    assert!(units.iter().all(|line| is_unit_of_work(line)), "{units:#?}");
    let found = "Payload validated format=pprof errors=0 warnings=0 infos=2 in=in/go-cpu";
    assert!(units[0].contains(found), "{units:#?}");
    for (arguments, step) in [("validate in", "check"), ("validate in --fix", "fix")] {
        let steps = lines(&logged(&room, &format!("-vv {arguments}"), 0), "DEBUG");
        let count = |word: &str| steps.iter().filter(|line| line.contains(word)).count();
        assert_eq!(count("] Starting load of in/"), 3, "{steps:#?}");
        assert_eq!(count(&format!("] Starting {step} of in/")), 3, "{steps:#?}");
        assert_eq!(count("] Starting "), count(" ended after "), "{steps:#?}");
    }
}

#[test]
fn the_log_says_once_what_is_deprecated_and_what_failed() {
    let room = room("once");
    for name in ["a", "b", "c"] {
        copy(OTLP_1_3, &room.join(format!("in/{name}.otlp")));
    }
    let output = logged(&room, "convert in --to pprof -o out", 0);
    let warnings = lines(&output, "WARNING");
    let deprecated: Vec<_> = warnings.iter().filter(|line| line.contains("deprecated")).collect();
    assert_eq!(deprecated.len(), 1, "{warnings:#?}");
    assert!(
        deprecated[0].contains("--to otlp") && deprecated[0].ends_with("(2 more)"),
        "{deprecated:?}"
    );
    let lost: Vec<_> = warnings.iter().filter(|line| line.contains("profile_id.dropped")).collect();
    assert_eq!(lost.len(), 1, "{warnings:#?}");
    copy(PPROFS[0], &room.join("cpu.pb.gz"));
    let output = logged(&room, "convert cpu.pb.gz --to 1.7 -o cpu.otlp", 0);
    let made_up = lines(&output, "WARNING").join("\n");
    assert!(made_up.contains("Data synthesized: 1 × profile_id.synthesized"), "{made_up}");
    fs::write(room.join("bad.pb.gz"), b"\x1f\x8b\x08\0\0").unwrap();
    let output = logged(&room, "convert bad.pb.gz -o bad.otlp", 3);
    let errors = lines(&output, "ERROR");
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert!(errors[0].contains("bad.pb.gz") && errors[0].contains("byte"), "{errors:?}");
    assert!(!stderr(&output).contains("panicked"));
}
