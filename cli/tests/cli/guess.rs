//! Payloads that several generations read with different values.

use std::fs;

use otlp_profiles::framing::{Framing, frame};

use crate::*;

/// Fits 1.10 with a sum of 50, and 1.9 and 1.8 with a sum of 81.
const AMBIGUOUS: &str = "ambiguous-1.10-or-1.9.otlp";

fn ambiguous(test: &str) -> PathBuf {
    let room = room(test);
    copy(AMBIGUOUS, &room.join("a.otlp"));
    room
}

#[test]
fn a_guess_between_generations_is_a_warning_in_every_form() {
    let room = ambiguous("guess");
    for form in ["human", "text", "json"] {
        let mut convert = command("convert a.otlp -f -o a.pb");
        convert.current_dir(&room).env("OTLP_PROFILES_LOG", form);
        let output = convert.output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        let said = stderr(&output);
        let warning = said.lines().find(|line| line.contains("--from")).unwrap_or_default();
        for part in ["a.otlp was read as otlp-1.10", "otlp-1.9 and otlp-1.8", "something else"] {
            assert!(warning.contains(part), "{form}: {part}: {said}");
        }
        assert!(warning.to_lowercase().contains("warning"), "{said}");
    }
    assert_eq!(sums(&room, "a.pb"), [("samples".into(), "count".into(), 50)]);
}

#[test]
fn a_guess_is_told_once_a_run() {
    let room = ambiguous("guess-once");
    for name in ["in/a.otlp", "in/b.otlp", "in/c.otlp"] {
        copy(AMBIGUOUS, &room.join(name));
    }
    let output = logged(&room, "convert in --to pprof -o out", 0);
    let guesses: Vec<_> =
        lines(&output, "WARNING").into_iter().filter(|line| line.contains("--from")).collect();
    assert_eq!(guesses.len(), 1, "{guesses:#?}");
    assert!(guesses[0].ends_with("(2 more)"), "{guesses:#?}");
}

#[test]
fn a_guess_is_reported_and_never_exact() {
    let room = ambiguous("guess-report");
    // Conversion to the same generation loses no data that was read.
    let output = run(&room, "convert a.otlp --to otlp-1.10 -o b.otlp --json", 0);
    let said = stderr(&output);
    let report: serde_json::Value = serde_json::from_str(said.lines().next().unwrap()).unwrap();
    assert_eq!(report["certainty"], "preferred");
    assert_eq!(report["others"], serde_json::json!(["otlp-1.9", "otlp-1.8"]));
    assert_eq!(report["guessed"], true);
    assert_ne!(report["verdict"], "exact");
    assert!(report["evidence"].as_array().unwrap().len() > 1);
    // With --from, the reading is not a guess.
    let arguments = "convert a.otlp --from 1.9 --to otlp-1.9 -o c.otlp --json --deny-loss";
    let output = run(&room, arguments, 0);
    let said = stderr(&output);
    let report: serde_json::Value = serde_json::from_str(said.lines().next().unwrap()).unwrap();
    assert_eq!((&report["guessed"], &report["verdict"]), (&false.into(), &"exact".into()));
}

/// A preferred format may read wrong sums, whereas the nearest one gives an error that names the
/// field.
#[test]
fn the_report_has_the_most_doubtful_detection_of_all_messages() {
    let room = ambiguous("guess-doubt");
    // A resource attribute with a field that KeyValue does not have.
    let attribute = b"\x0a\x0d\x0a\x0b\x0a\x09\x0a\x01k\x12\x02\x18\x01\x18\x01";
    let nearest = [&fs::read(testdata("otlp-1.3-simple.binpb")).unwrap()[..], attribute].concat();
    let preferred = fs::read(room.join("a.otlp")).unwrap();
    let certainty = |messages: &[&Vec<u8>]| {
        fs::write(room.join("in"), frame(Framing::LengthPrefixed, messages).unwrap()).unwrap();
        let said = stderr(&run(&room, "convert in --to otlp-1.10 -f -o out.otlp --json", 0));
        let report: serde_json::Value = serde_json::from_str(said.lines().next().unwrap()).unwrap();
        assert_eq!(report["messages"], messages.len());
        report["certainty"].clone()
    };
    assert_eq!(certainty(&[&nearest]), "nearest");
    assert_eq!(certainty(&[&nearest, &preferred]), "preferred");
    assert_eq!(certainty(&[&preferred, &nearest]), "preferred");
}

#[test]
fn a_guess_is_refused_where_nothing_may_be_lost() {
    let room = ambiguous("guess-denied");
    let output = run(&room, "convert a.otlp -o a.pb --deny-loss", 6);
    for part in ["otlp-1.10", "otlp-1.9 and otlp-1.8", "--from"] {
        says(&output, part);
    }
    assert!(!stderr(&output).contains("ReadOptions"), "{}", stderr(&output));
    assert_eq!(files(&room), ["a.otlp"]);
    for (from, sum) in [("1.10", 50), ("1.9", 81)] {
        run(
            &room,
            &format!("convert a.otlp --from {from} --to {from} -f -o b.otlp --deny-loss"),
            0,
        );
        let from = format!("b.otlp --from {from}");
        assert_eq!(sums(&room, &from), [("samples".into(), "count".into(), sum)]);
    }
}

#[test]
fn info_says_what_every_reading_gives() {
    let room = ambiguous("guess-info");
    let output = run(&room, "info a.otlp", 0);
    let page = String::from_utf8_lossy(&output.stdout).into_owned();
    for line in ["otlp-1.10: samples 50 count", "otlp-1.9: samples 81 count", "--from"] {
        assert!(page.contains(line), "{line}: {page}");
    }
    let message = &info(&room, "a.otlp")["messages"][0];
    assert_eq!((&message["certainty"], &message["guessed"]), (&"preferred".into(), &true.into()));
    let sums = message["readings"].as_array().unwrap().iter().map(|reading| {
        (reading["format"].as_str().unwrap(), reading["sums"][0]["sum"].as_i64().unwrap())
    });
    let wanted = [("otlp-1.10", 50), ("otlp-1.9", 81), ("otlp-1.8", 81)];
    assert_eq!(sums.collect::<Vec<_>>(), wanted);
    let message = &info(&room, "a.otlp --from 1.9")["messages"][0];
    assert_eq!((&message["guessed"], message.get("readings")), (&false.into(), None));
}

/// A large payload that fits one generation is not a guess, although detection skips parts of it.
#[test]
fn what_one_generation_reads_is_no_guess() {
    let room = room("no-guess");
    for (row, name) in PPROFS.iter().enumerate() {
        copy(name, &room.join(name));
        for to in ["otlp-1.10", "otlp-1.8", "otlp-1.7"] {
            run(&room, &format!("convert {name} --to {to} -o {row}-{to}.otlp"), 0);
            let back = format!("convert {row}-{to}.otlp -o {row}-{to}.pb.gz");
            let output = run(&room, &back, 0);
            assert!(!stderr(&output).contains("guess"), "{}", stderr(&output));
        }
    }
    assert!(fs::read_dir(&room).unwrap().count() > PPROFS.len());
}
