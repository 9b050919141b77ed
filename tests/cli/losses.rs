//! Losses: refused, and reported.

use serde_json::Value;

use crate::*;

#[test]
fn a_refused_loss_writes_nothing() {
    let room = room("deny");
    copy(OTLP_1_3, &room.join("old.otlp"));
    let output = run(&room, "convert old.otlp -o new.otlp --deny-loss", 1);
    says(&output, "temporality.dropped");
    assert_eq!(files(&room), ["old.otlp"]);
    let output = run(&room, "convert old.otlp -o new.otlp", 0);
    says(&output, "temporality.dropped");
    copy(PPROFS[0], &room.join("exact.pb.gz"));
    let output = run(&room, "convert exact.pb.gz -o exact.otlp --deny-loss", 0);
    assert_eq!(stderr(&output), "", "an exact conversion is silent");
}

#[test]
fn a_report_is_an_object() {
    let room = room("report");
    copy(OTLP_1_3, &room.join("old.otlp"));
    let output = run(&room, "convert old.otlp -o new.otlp --report json", 0);
    let stderr = stderr(&output);
    let line = stderr.lines().find(|line| line.starts_with('{')).unwrap();
    let report: Value = serde_json::from_str(line).unwrap();
    assert_eq!(report["schema"], "otlp-profiles/convert/1");
    assert_eq!(report["verdict"], "lossy");
    assert_eq!(
        (&report["from"], &report["to"]),
        (&"otlp-1.3".into(), &"otlp-1.10".into())
    );
    let code = |loss: &Value| loss["code"] == "temporality.dropped" && loss["count"].is_u64();
    assert!(
        report["losses"].as_array().unwrap().iter().any(code),
        "{report}"
    );
}
