//! Baselines: known findings are omitted, new ones are reported.

use otlp_profiles::check::{Baseline, Options, Report, validate};
use otlp_profiles::framing::{Framing, frame};
use otlp_profiles::{Format, Severity};

/// A payload of OTLP 1.10 with samples whose `stack_index` is out of range, and one unused string.
fn payload(samples: &[u8]) -> Vec<u8> {
    let samples: Vec<u8> = samples.iter().flat_map(|index| [0x12, 2, 0x08, *index]).collect();
    let nested = |tag: u8, body: &[u8]| [&[tag, body.len() as u8], body].concat();
    let resource = nested(0x12, &nested(0x12, &samples));
    let dictionary = b"\x12\x11\x0a\x00\x12\x00\x1a\x00\x22\x00\x2a\x00\x2a\x01a\x32\x00\x3a\x00";
    [&nested(0x0a, &resource), &dictionary[..]].concat()
}

fn options() -> Options {
    Options::default().format(Format::OTLP_1_10).only(
        ["OP3101", "OP3301"].iter().filter_map(|id| otlp_profiles::check::Rule::find(id)).collect(),
    )
}

fn counts(report: &Report) -> Vec<(&str, u64)> {
    report.rule_counts().map(|tally| (tally.rule.id(), tally.count)).collect()
}

fn baseline(bytes: &[u8]) -> Baseline {
    let mut baseline = Baseline::default();
    baseline.add("./a.otlp", &validate(bytes, &options()));
    baseline
}

#[test]
fn known_findings_are_not_reported_wherever_they_move() {
    let before = payload(&[7, 8]);
    let json = baseline(&before).to_string();
    assert_eq!(
        json,
        r#"{
  "schema": "otlp-profiles/baseline/1",
  "findings": [
    {"file": "a.otlp", "rule": "OP3101", "path": "resource_profiles.scope_profiles.profiles.samples.stack_index", "count": 2},
    {"file": "a.otlp", "rule": "OP3301", "path": "dictionary.string_table", "count": 1}
  ]
}
"#
    );
    let baseline = Baseline::parse(json.as_bytes()).unwrap();
    // Rows and bytes move, and a third sample adds a new finding.
    let mut report = validate(&payload(&[0, 9, 0, 8, 7]), &options());
    let known = baseline.apply("a.otlp", &mut report);
    assert_eq!((known.known, known.gone, counts(&report)), (3, 0, vec![("OP3101", 1)]));
    let paths: Vec<_> = report.findings().map(|finding| finding.path.as_str()).collect();
    assert_eq!(
        paths,
        ["resource_profiles[0].scope_profiles[0].profiles[0].samples[4].stack_index"]
    );
    assert_eq!(report.worst(), Some(Severity::Error));
    // One sample is fixed.
    let mut report = validate(&payload(&[0, 8]), &options());
    let known = baseline.apply("a.otlp", &mut report);
    assert_eq!((known.known, known.gone, report.worst()), (2, 1, None));
    // The entries of one file do not apply to another.
    let mut report = validate(&before, &options());
    let known = baseline.apply("b.otlp", &mut report);
    assert_eq!((known.known, known.gone, counts(&report).len()), (0, 0, 2));
}

#[test]
fn findings_that_are_not_listed_are_known_too() {
    let bytes = payload(&[7, 8, 9]);
    let few = options().max_findings(1);
    let mut baseline = Baseline::default();
    baseline.add("a", &validate(&bytes, &few));
    let mut report = validate(&bytes, &options());
    assert_eq!(baseline.apply("a", &mut report).known, 4);
    assert_eq!(report.findings().count(), 0);
    // One finding exceeds the known count. It is the only listed one.
    let mut report = validate(&payload(&[7, 8, 9, 6]), &few);
    baseline.apply("a", &mut report);
    assert_eq!((counts(&report), report.findings().count()), (vec![("OP3101", 1)], 1));
}

#[test]
fn messages_of_one_file_share_their_places() {
    let framed = frame(Framing::LengthPrefixed, [payload(&[7]), payload(&[8])]).unwrap();
    let json = baseline(&framed).to_string();
    assert!(json.contains(r#"profiles.samples.stack_index", "count": 2}"#), "{json}");
}

#[test]
fn other_json_is_rejected() {
    for (json, error) in [
        ("", "expected an object, found the end of the text (byte 0)"),
        ("{}", "not a baseline: its schema is not \"otlp-profiles/baseline/1\""),
        (
            r#"{"schema": "otlp-profiles/baseline/1", "findings": [7]}"#,
            "expected an object, found '7' (byte 52)",
        ),
    ] {
        assert_eq!(Baseline::parse(json.as_bytes()).unwrap_err().to_string(), error);
    }
}

#[test]
fn findings_below_a_severity_are_neither_listed_nor_counted() {
    let report = validate(&payload(&[7]), &Options::default().format(Format::OTLP_1_10));
    assert!(report.count(Severity::Info) > 0 && report.count(Severity::Warning) > 0);
    for (least, warnings) in
        [(Severity::Warning, report.count(Severity::Warning)), (Severity::Error, 0)]
    {
        let options = Options::default().format(Format::OTLP_1_10).min_severity(least);
        let fewer = validate(&payload(&[7]), &options);
        assert_eq!(fewer.count(Severity::Info), 0);
        assert_eq!(fewer.count(Severity::Warning), warnings);
        assert_eq!(fewer.count(Severity::Error), report.count(Severity::Error));
        assert!(fewer.findings().all(|finding| finding.severity >= least));
    }
}
