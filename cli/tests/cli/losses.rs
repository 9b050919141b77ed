//! Losses: refused and reported.

use std::fs;

use serde_json::Value;

use crate::*;

#[test]
fn a_refused_loss_writes_nothing() {
    let room = room("deny");
    copy(OTLP_1_3, &room.join("old.otlp"));
    let output = run(&room, "convert old.otlp -o new.pb.gz --deny-loss", 1);
    says(&output, "profile_id.dropped");
    assert_eq!(files(&room), ["old.otlp"]);
    let output = run(&room, "convert old.otlp -o new.pb.gz", 0);
    says(&output, "profile_id.dropped");
    copy(PPROFS[0], &room.join("exact.pb.gz"));
    let output = run(&room, "convert exact.pb.gz -o exact.otlp --deny-loss", 0);
    assert_eq!(stderr(&output), "", "an exact conversion is silent");
}

/// A pprof with one sample that has a text and a number under one key.
fn mixed_labels() -> Vec<u8> {
    let mut bytes = vec![0x0a, 4, 0x08, 1, 0x10, 2]; // sample_type
    bytes.extend([0x12, 17, 0x12, 1, 5]); // sample: value,
    bytes.extend([0x1a, 4, 0x08, 3, 0x10, 4, 0x1a, 6, 0x08, 3, 0x18, 7, 0x20, 2]); // labels
    for text in ["", "cpu", "ns", "k", "x"] {
        bytes.extend([0x32, text.len() as u8]);
        bytes.extend(text.as_bytes());
    }
    bytes
}

#[test]
fn what_a_format_can_say_is_no_loss() {
    let room = room("mixed");
    fs::write(room.join("mixed.pb"), mixed_labels()).unwrap();
    run(&room, "convert mixed.pb --from pprof -o same.pb --deny-loss", 0);
    let output = run(&room, "convert mixed.pb --from pprof -o new.otlp --deny-loss", 0);
    says(&output, "label.mixed");
    // The labels are restored, so the list of pairs is no loss.
    run(&room, "convert new.otlp -o back.pb --deny-loss", 0);
    run(&room, "convert back.pb --from pprof -o again.otlp --deny-loss", 0);
    let bytes = |name: &str| fs::read(room.join(name)).unwrap();
    assert_eq!(bytes("new.otlp"), bytes("again.otlp"));
}

#[test]
fn a_report_is_an_object() {
    let room = room("report");
    copy(OTLP_1_3, &room.join("old.otlp"));
    let output = run(&room, "convert old.otlp -o new.pb.gz --report json", 0);
    let stderr = stderr(&output);
    let line = stderr.lines().find(|line| line.starts_with('{')).unwrap();
    let report: Value = serde_json::from_str(line).unwrap();
    assert_eq!(report["schema"], "otlp-profiles/convert/1");
    assert_eq!(report["verdict"], "lossy");
    assert_eq!((&report["from"], &report["to"]), (&"otlp-1.3".into(), &"pprof".into()));
    let code = |loss: &Value| loss["code"] == "profile_id.dropped" && loss["count"].is_u64();
    assert!(report["losses"].as_array().unwrap().iter().any(code), "{report}");
}

#[test]
fn what_was_asked_to_be_left_out_is_said() {
    let room = room("left_out");
    let cpu = testdata(PPROFS[0]).display().to_string();
    let convert = |flags: &str, exit: i32| {
        run(&room, &format!("convert {cpu} -f -o a.speedscope.json {flags}"), exit)
    };
    let output = convert("--type cpu --deny-loss", 1);
    says(&output, "sample_type.left_out");
    assert_eq!(files(&room), [""; 0]);
    let output = convert("--type cpu:nanoseconds --json", 0);
    let report: Value = serde_json::from_str(stderr(&output).lines().next().unwrap()).unwrap();
    assert_eq!(report["verdict"], "lossy");
    let losses = report["losses"].as_array().unwrap();
    let loss = losses.iter().find(|loss| loss["code"] == "sample_type.left_out").unwrap();
    assert_eq!((&loss["kind"], &loss["count"]), (&"dropped".into(), &1.into()));
    assert_eq!(loss["first"], serde_json::json!(["samples:count"]));
    // If all types are requested, none is left out.
    let output = convert("--type cpu --type samples --json", 0);
    assert!(!stderr(&output).contains("sample_type.left_out"));
}

#[test]
fn what_is_rounded_is_a_loss() {
    let room = room("rounded");
    fs::write(room.join("r.folded"), "a;b 1.4\n").unwrap();
    let output = run(&room, "convert r.folded -o r.otlp --scale 1 --deny-loss", 1);
    says(&output, "value.rounded");
    run(&room, "convert r.folded -o r.otlp --scale 10 --deny-loss", 0);
    let output = run(&room, "convert r.folded -o s.otlp", 3);
    says(&output, "is not an integer; --scale makes integers");
    for scale in ["0", "-1", "inf", "nan", "x"] {
        let output = run(&room, &format!("convert r.folded -o s.otlp --scale={scale}"), 2);
        says(&output, "expected a number above 0");
    }
}

/// A viewer's format gets one line about omitted data, where six to eight lines were not helpful.
#[test]
fn one_line_says_what_a_viewer_does_not_show() {
    let room = room("viewer");
    copy(PPROFS[0], &room.join("cpu.pb.gz"));
    copy(PPROFS[0], &room.join("in/a.pb.gz"));
    copy(PPROFS[0], &room.join("in/b.pb.gz"));
    let output = run(&room, "convert cpu.pb.gz -o cpu.speedscope.json", 0);
    let line = "speedscope keeps names and values only; 7 kinds of data left out (-v lists them)";
    assert_eq!(stderr(&output), format!("otlp-profiles: cpu.pb.gz: {line}\n"));
    let output = run(&room, "convert in --to speedscope -o out", 0);
    assert_eq!(stderr(&output), format!("otlp-profiles: in/a.pb.gz: {line} (1 more)\n"));
    assert_eq!(stderr(&run(&room, "convert cpu.pb.gz -fo cpu.speedscope.json -q", 0)), "");
    for (flags, exit) in [("-v", 0), ("--json", 0), ("--deny-loss", 1)] {
        let output =
            run(&room, &format!("convert cpu.pb.gz -fo cpu.speedscope.json {flags}"), exit);
        let said = stderr(&output);
        assert_eq!(said.matches("link.dropped").count(), 1, "{flags}: {said}");
        assert!(!said.contains("kinds of data"), "{flags}: {said}");
    }
}

/// Values below 0 are listed even for viewers' formats, whose summary does not cover them.
#[test]
fn lost_values_are_listed_for_viewers_too() {
    let room = room("viewer_values");
    fs::write(room.join("a.folded"), "a;b -3\na 5\n").unwrap();
    let output = run(&room, "convert a.folded -o a.speedscope.json", 0);
    says(&output, "dropped  1 × value.negative_dropped");
}
