//! The log: levels, units of work, and messages that appear once.

use std::fs;
use std::path::Path;

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

/// A subcommand that reads profiles.
struct Subcommand {
    /// Its name and arguments; IN stands for three inputs.
    arguments: &'static str,
    /// The units of work of three inputs.
    units: usize,
    /// Reading a deprecated generation is a finding of `validate`, and a warning of others.
    warns: bool,
}

const SUBCOMMANDS: &[Subcommand] = &[
    Subcommand { arguments: "convert IN --to pprof -o OUT", units: 3, warns: true },
    Subcommand { arguments: "info IN", units: 3, warns: true },
    Subcommand { arguments: "validate IN", units: 3, warns: false },
    Subcommand { arguments: "merge IN -o OUT.pb", units: 1, warns: true },
    Subcommand { arguments: "diff IN", units: 1, warns: true },
    Subcommand { arguments: "filter IN --to pprof -o OUT", units: 3, warns: true },
    Subcommand { arguments: "redact IN --to pprof -o OUT", units: 3, warns: true },
    Subcommand { arguments: "split IN --by type --to pprof -o OUT", units: 3, warns: true },
    Subcommand { arguments: "top IN", units: 1, warns: true },
    Subcommand { arguments: "export IN -o OUT", units: 3, warns: true },
    Subcommand { arguments: "view IN -o OUT.html", units: 1, warns: true },
    Subcommand { arguments: "pipeline -c pipeline.yaml --force IN", units: 1, warns: true },
];

/// Subcommands that read no profiles.
const OTHERS: [&str; 6] = ["completions", "corpus", "import", "man", "help", "sql"];

#[test]
fn every_subcommand_is_in_the_table() {
    let help = stdout(&run(&room("log_table"), "--help", 0));
    let commands = help.split_once("Commands:\n").unwrap().1.split_once("\n\n").unwrap().0;
    for line in commands.lines() {
        let name = line.split_whitespace().next().unwrap();
        let has_row = SUBCOMMANDS.iter().any(|of| of.arguments.split(' ').next() == Some(name));
        assert!(has_row || OTHERS.contains(&name), "{name} needs a row in SUBCOMMANDS");
    }
}

#[test]
fn every_subcommand_logs_units_steps_and_failures_alike() {
    for Subcommand { arguments, units, warns } in SUBCOMMANDS {
        let room = room(&format!("units_{}", arguments.split(' ').next().unwrap()));
        for name in ["a", "b", "c"] {
            copy(PPROFS[0], &room.join(format!("good/{name}.pb.gz")));
            copy(OTLP_1_3, &room.join(format!("old/{name}.otlp")));
        }
        let config = "sources: [{name: all, meters: ['*'], sinks: [one]}]\n\
            sinks: [{name: one, publishers: ['file://published.otlp']}]\n";
        fs::write(room.join("pipeline.yaml"), config).unwrap();
        fs::write(room.join("bad.pb.gz"), b"\x1f\x8b\x08\0\0").unwrap();
        let asked = |files: &[&str], out: &str| {
            let files = match arguments.starts_with("diff") {
                true => format!("{} {} -- {}", files[0], files[1], files[2]),
                false => files.join(" "),
            };
            arguments.replace("IN", &files).replace("OUT", out)
        };
        let good = ["good/a.pb.gz", "good/b.pb.gz", "good/c.pb.gz"];

        let quiet = logged(&room, &asked(&good, "quiet"), 0);
        assert_eq!(lines(&quiet, "INFO"), [""; 0], "{arguments}");
        let loud = logged(&room, &format!("-v {}", asked(&good, "loud")), 0);
        let done = lines(&loud, "INFO");
        assert_eq!(done.len(), *units, "{arguments}: {done:#?}");
        assert!(done.iter().all(|line| is_unit_of_work(line)), "{arguments}: {done:#?}");

        let steps = logged(&room, &format!("-vv {}", asked(&good, "steps")), 0);
        let debug = lines(&steps, "DEBUG");
        let begun: Vec<_> =
            debug.iter().filter_map(|line| line.split_once("] Starting ")).collect();
        assert!(begun.len() >= 3, "{arguments}: {debug:#?}");
        for (_, step) in &begun {
            let ends = debug.iter().filter(|line| {
                line.to_lowercase().contains(&format!("] {} ended after ", step.to_lowercase()))
            });
            let starts = begun.iter().filter(|(_, other)| other == step);
            assert_eq!(ends.count(), starts.count(), "{arguments}: {step} in {debug:#?}");
        }
        // Names of functions, values of labels, and paths of the profiled program.
        for payload in ["sha256", "/v1/", "us-east", "godemo/"] {
            assert!(!stderr(&steps).contains(payload), "{arguments}: {payload}");
        }

        let old = logged(&room, &asked(&["old/a.otlp", "old/b.otlp", "old/c.otlp"], "old_out"), 0);
        let warnings = lines(&old, "WARNING");
        let deprecated: Vec<_> =
            warnings.iter().filter(|line| line.contains("is deprecated")).collect();
        assert_eq!(deprecated.len(), usize::from(*warns), "{arguments}: {warnings:#?}");
        assert!(deprecated.iter().all(|line| line.ends_with("(2 more)")), "{deprecated:#?}");

        let failed = logged(&room, &asked(&[good[0], "bad.pb.gz", good[1]], "bad_out"), 3);
        let errors = lines(&failed, "ERROR");
        assert_eq!(errors.len(), 1, "{arguments}: {}", stderr(&failed));
        assert!(errors[0].contains("bad.pb.gz") && errors[0].contains("byte"), "{errors:?}");
        assert_eq!(lines(&failed, "CRITICAL"), [""; 0], "{arguments}");
        assert!(!stderr(&failed).contains("panicked"), "{arguments}");
    }
}

/// Variables that hold strings.
const STRINGS: [&str; 9] =
    ["asked", "excluded", "key", "name", "other", "sink", "text", "url", "value"];

/// Messages name values in words, never in their debug form.
#[test]
fn no_message_has_the_debug_form_of_a_value() {
    let mut sources = vec![];
    for name in files(&Path::new(ROOT).join("cli/src")) {
        let text = fs::read_to_string(Path::new(ROOT).join("cli/src").join(&name)).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        let found = code.lines().filter(|line| line.contains(":?}"));
        // Strings are quoted in this form.
        let is_string = |line: &&str| {
            let mut names = line.match_indices(":?}").map(|(end, _)| &line[..end]);
            names.all(|start| STRINGS.iter().any(|name| start.ends_with(&format!("{{{name}"))))
        };
        let found = found.filter(|line| !is_string(line));
        sources.extend(found.map(|line| format!("{name}: {line}")));
    }
    assert_eq!(sources, [""; 0]);
}

#[test]
fn validate_logs_its_files_and_steps() {
    let room = room("log_validate");
    PPROFS.iter().for_each(|name| copy(name, &room.join("in").join(name)));
    fs::write(room.join("bad.otlp"), b"\x0a\x05\x00").unwrap();
    assert_eq!(stderr(&run(&room, "validate in", 0)), "");
    let output = logged(&room, "-v validate in bad.otlp", 3);
    let units = lines(&output, "INFO");
    assert_eq!(units.len(), 3, "{units:#?}");
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
fn the_log_has_one_line_for_a_deprecation_and_for_a_failure() {
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
