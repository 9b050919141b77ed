//! OTLP/JSON: deviations from OTLP's form with their places, and JSON responses of receivers.

use otlp_profiles::check::{Finding, Options, Report, validate};
use otlp_profiles::{Format, Severity};

/// The ids of the broken rules.
fn found(report: &Report) -> Vec<&'static str> {
    report.rule_counts().map(|tally| tally.rule.id()).collect()
}

fn json(text: &str) -> Report {
    validate(text.as_bytes(), &Options::default().format(Format::OTLP_JSON))
}

/// A payload with one profile, which has the given members, and a dictionary of two strings.
fn profile(members: &str) -> String {
    format!(
        r#"{{"resourceProfiles":[{{"scopeProfiles":[{{"profiles":[{{{members}}}]}}]}}],"dictionary":{{"stringTable":["","cpu"]}}}}"#
    )
}

const PROFILE: &str = "resource_profiles[0].scope_profiles[0].profiles[0]";

/// The findings of a rule.
fn of<'r>(report: &'r Report, rule: &str) -> Vec<&'r Finding> {
    report.findings().filter(|found| found.rule.id() == rule).collect()
}

#[test]
fn keys_are_in_lower_camel_case() {
    let text = profile(r#""samples":[{"stack_index":0},{"stack_index":0}],"period_type":{}"#);
    let report = json(&text);
    let [stack, period] = of(&report, "OP1031")[..] else { panic!("{report:?}") };
    assert_eq!((&*stack.path, stack.count), (&*format!("{PROFILE}.samples[0].stack_index"), 2));
    assert_eq!(stack.byte, text.find(r#""stack_index""#).map(|at| at as u64));
    assert_eq!((&*stack.value, &*stack.bound), (r#""stack_index""#, "stackIndex"));
    assert_eq!(
        (stack.severity, &*period.path),
        (Severity::Error, &*format!("{PROFILE}.period_type"))
    );
    // Names of one word are equal in both styles, and `null` means absent.
    let fine = profile(r#""samples":[{"stackIndex":0,"link_index":null}],"period":1"#);
    assert_eq!(of(&json(&fine), "OP1031"), Vec::<&Finding>::new());
}

#[test]
fn enums_are_numbers() {
    let temporality = |value: &str| {
        profile(&format!(
            r#""sampleType":[{{"typeStrindex":1,"aggregationTemporality":{value}}}],"timeNanos":"1""#
        ))
    };
    for value in [r#""AGGREGATION_TEMPORALITY_DELTA""#, r#""1""#] {
        let text = temporality(value);
        let report = json(&text);
        let [found] = of(&report, "OP1032")[..] else { panic!("{report:?}") };
        let place = format!("{PROFILE}.sample_type[0].aggregation_temporality");
        assert_eq!((&found.path, &*found.value), (&place, value));
        assert_eq!(found.byte, text.find(value).map(|at| at as u64));
        assert_eq!(found.severity, Severity::Error);
    }
    assert_eq!(of(&json(&temporality("1")), "OP1032"), Vec::<&Finding>::new());
}

#[test]
fn unknown_keys_are_counted_by_message_and_name() {
    let text = r#"{"resourceProfiles":[{"neu":1},{"neu":{"neu":2}},{"alt\u001b":[],"scopeProfiles":[{"neu":7}]}],"neu":0}"#;
    let report = json(text);
    let told: Vec<_> =
        of(&report, "OP1019").iter().map(|it| (&*it.path, &*it.value, it.count)).collect();
    let wanted = [
        ("resource_profiles[0]", r#""neu""#, 2),
        ("resource_profiles[2]", r#""alt\u{1b}""#, 1),
        ("resource_profiles[2].scope_profiles[0]", r#""neu""#, 1),
        ("", r#""neu""#, 1),
    ];
    assert_eq!(told, wanted);
    assert_eq!(of(&report, "OP1019")[0].byte, text.find(r#""neu""#).map(|at| at as u64));
}

#[test]
fn what_is_said_twice_is_told_at_its_place() {
    let text = profile(
        r#""period":"1","samples":[],"period":"2","samples":[{"values":[1]}],"attributeIndices":[]"#,
    );
    let report = json(&text);
    let told: Vec<_> = of(&report, "OP1021").iter().map(|it| (it.path.clone(), it.byte)).collect();
    let at = |key: &str| text.rfind(key).map(|at| at as u64);
    let wanted = [
        (format!("{PROFILE}.period"), at(r#""period""#)),
        (format!("{PROFILE}.samples"), at(r#""samples""#)),
    ];
    assert_eq!(told, wanted);
    // The same for two members of a value.
    let text = r#"{"resourceProfiles":[{"resource":{"attributes":[{"key":"a","value":{"intValue":1,"stringValue":"b"}}]},"scopeProfiles":[{"profiles":[{}]}]}],"dictionary":{}}"#;
    let report = json(text);
    let [member] = of(&report, "OP1023")[..] else { panic!("{report:?}") };
    assert_eq!(member.path, "resource_profiles[0].resource.attributes[0].value.string_value");
    assert_eq!(member.byte, text.find(r#""stringValue""#).map(|at| at as u64));
}

/// A separate rule reports the nesting limit, even where the limit cannot be raised.
#[test]
fn what_nests_too_deep_is_told_as_that() {
    let deep = format!(r#"{{"x":{}{}}}"#, "[".repeat(1000), "]".repeat(1000));
    let report = json(&deep);
    assert_eq!(found(&report), ["OP1017"]);
    assert!(report.is_limited());
}

/// Ids are hex in OTLP/JSON. All other bytes are base64, which also accepts hex digits.
#[test]
fn ids_in_base64_are_told_at_their_place() {
    let text = r#"{"dictionary":{"linkTable":[{},{"traceId":"AQEBAQEBAQEBAQEBAQEBAQ==","spanId":"0202020202020202"}]}}"#;
    let report = json(text);
    let first = report.findings().next().expect("it is none");
    assert_eq!((first.rule.id(), &*first.path), ("OP1033", "dictionary.link_table[1].trace_id"));
    let hex = text.replace("AQEBAQEBAQEBAQEBAQEBAQ==", &"01".repeat(16));
    assert!(!found(&json(&hex)).contains(&"OP1033"));
}

#[test]
fn answers_of_receivers_in_json_are_checked() {
    let answer = |inner: &str| format!(r#"{{"partialSuccess":{inner}}}"#);
    let cases: [(String, &[&str], Option<Severity>); 8] = [
        (answer(r#"{"rejectedProfiles":"-1"}"#), &["OP2030"], Some(Severity::Error)),
        (
            answer(r#"{"rejectedProfiles":-1,"errorMessage":"too many"}"#),
            &["OP2030"],
            Some(Severity::Error),
        ),
        (answer("{}"), &["OP2030"], Some(Severity::Info)),
        (answer(r#"{"rejectedProfiles":"0"}"#), &["OP2030"], Some(Severity::Info)),
        (answer(r#"{"rejectedProfiles":"3"}"#), &[], None),
        (answer(r#"{"errorMessage":"slow down"}"#), &[], None),
        (
            answer(r#"{"rejected_profiles":"3","neu":1}"#),
            &["OP1019", "OP1031"],
            Some(Severity::Error),
        ),
        (answer(r#"{"rejectedProfiles":"many"}"#), &["OP0004"], Some(Severity::Error)),
    ];
    for (text, rules, worst) in cases {
        for from in [None, Some(Format::OTLP_JSON)] {
            let report = validate(text.as_bytes(), &Options::default().format(from));
            assert_eq!((&found(&report)[..], report.worst()), (rules, worst), "{text} {from:?}");
        }
    }
    // A payload that has this key as well is a payload.
    let report = json(r#"{"resourceProfiles":[],"partialSuccess":{"rejectedProfiles":-1}}"#);
    assert_eq!(found(&report), ["OP1019", "OP2001"]);
    // The response is checked with any choice of rules, as in protobuf.
    let only = Options::default().only(vec![otlp_profiles::check::Rule::find("OP2030").unwrap()]);
    let text = answer(r#"{"rejectedProfiles":"-1"}"#);
    assert_eq!(found(&validate(text.as_bytes(), &only.format(Format::OTLP_JSON))), ["OP2030"]);
}

/// Each line of JSON Lines is a message, and line numbers count from the start of the file.
#[test]
fn findings_in_a_text_have_a_line_and_a_column() {
    let places = |bytes: &[u8]| -> Vec<(Option<u64>, Option<u64>)> {
        let report = validate(bytes, &Options::default().format(Format::OTLP_JSON));
        of(&report, "OP1019").iter().map(|it| (it.line, it.column)).collect()
    };
    let text = "{\n  \"resourceProfiles\": [{}],\n  \"ä\": 1, \"neu\": 2,\r\n\"alt\": 3}";
    let wanted = [(Some(3), Some(3)), (Some(3), Some(11)), (Some(4), Some(1))];
    assert_eq!(places(text.as_bytes()), wanted);
    let shown = validate(text.as_bytes(), &Options::default().format(Format::OTLP_JSON));
    assert!(of(&shown, "OP1019")[1].to_string().ends_with(" (line 3, column 11)"));
    let line = "{\"resourceProfiles\": [{}], \"neu\": 1}\n";
    assert_eq!(
        places(format!("{line}\n{line}").as_bytes()),
        [(Some(1), Some(28)), (Some(3), Some(28))]
    );
    // Inflated text has no lines in the file.
    let gzip = otlp_profiles::compression::deflate(text.as_bytes(), Default::default());
    assert_eq!(places(&gzip), [(None, None); 3]);
}

#[test]
fn ids_are_hexadecimal_digits() {
    let link = |trace: &str, span: &str| {
        format!(
            r#"{{"resourceProfiles":[],"dictionary":{{"linkTable":[{{}},{{"traceId":"{trace}","spanId":"{span}"}}]}}}}"#
        )
    };
    let text = link("AQIDBAUGBwgJCgsMDQ4PEA==", "AQIDBAUGBwg=");
    let report = json(&text);
    let [trace, span] = of(&report, "OP1033")[..] else { panic!("{report:?}") };
    assert_eq!(
        (&*trace.path, &*span.path),
        ("dictionary.link_table[1].trace_id", "dictionary.link_table[1].span_id")
    );
    assert_eq!(trace.byte, text.find(r#""AQIDBAUGBwgJ"#).map(|at| at as u64));
    assert_eq!((trace.severity, &*trace.bound), (Severity::Error, "hexadecimal digits"));
    let hex = link("0102030405060708090a0b0c0d0e0f10", "0102030405060708");
    assert_eq!(of(&json(&hex), "OP1033"), Vec::<&Finding>::new());
}
