//! Findings about data that a receiver rejects, drops or truncates appear only if the payload is
//! for that receiver.

use std::path::Path;

use otlp_profiles::check::{Options, Report, validate};
use otlp_profiles::format::Receiver;
use otlp_profiles::{Format, Limits, ReadOptions, Severity, WriteOptions};

use super::bases::{base, in_full};
use super::cases::misplaced;

fn report(edits: &str, receiver: Option<Receiver>) -> Report {
    let mut node = base("7");
    node.edit(edits).expect("it applies");
    let payload = node.encode();
    let report = validate(&payload, &Options::default().format(Format::OTLP).receiver(receiver));
    assert_eq!(misplaced("7", &payload, &report), [""; 0]);
    report
}

fn found(report: &Report, rule: &str) -> Option<(Severity, String)> {
    let found = report.findings().find(|found| found.rule.id() == rule);
    found.map(|found| (found.severity, found.path.clone()))
}

/// A rule, the receiver, the edits that break the rule, the severity, the place, and the further
/// edit that fixes it.
const CASES: &[(&str, Receiver, &str, Severity, &str, &str)] = {
    use Receiver::{Collector, Parca, Pyroscope};
    use Severity::{Error, Warning};
    const BOOL: &str =
        "$D.attribute_table[1].value.string_value=-; $D.attribute_table[1].value.bool_value=1";
    const REFERENCE: &str = "$D.string_table[9]=\"service.name\"; $R.resource.attributes[0].key=-; $R.resource.attributes[0].key_strindex=9";
    &[
        (
            "OP9202",
            Parca,
            REFERENCE,
            Error,
            "$R.resource.attributes[0].key_strindex",
            "$R.resource=-",
        ),
        (
            "OP9202",
            Pyroscope,
            REFERENCE,
            Warning,
            "$R.resource.attributes[0].key_strindex",
            "$R.resource=-",
        ),
        ("OP9203", Collector, "", Warning, "$R.resource.attributes[0].key", "$R.resource=-"),
        (
            "OP9204",
            Pyroscope,
            BOOL,
            Warning,
            "$S.attribute_indices[0]",
            "$D.attribute_table[1].value={}; $D.attribute_table[1].value.int_value=1",
        ),
        (
            "OP9204",
            Parca,
            BOOL,
            Warning,
            "$S.attribute_indices[0]",
            "$D.attribute_table[1].value={}; $D.attribute_table[1].value.string_value=\"1\"",
        ),
        (
            "OP9205",
            Pyroscope,
            "$D.location_table[1].attribute_indices[0]=1",
            Warning,
            "$D.location_table[1].attribute_indices",
            "$D.location_table[1].attribute_indices=-",
        ),
        ("OP9206", Pyroscope, "", Warning, "$S.timestamps_unix_nano", "$S.timestamps_unix_nano=-"),
        (
            "OP9207",
            Pyroscope,
            "$D.location_table[1].lines[0].column=3",
            Warning,
            "$D.location_table[1].lines[0].column",
            "$D.location_table[1].lines[0].column=-",
        ),
        (
            "OP9208",
            Pyroscope,
            "$S.values[1]=1; $S.timestamps_unix_nano[1]=1700000000000000002",
            Error,
            "$S.values",
            "$P.period=-",
        ),
        (
            "OP9208",
            Pyroscope,
            "$S.values[1]=1; $S.timestamps_unix_nano[1]=1700000000000000002",
            Error,
            "$S.values",
            "$D.string_table[1]=\"off_cpu\"",
        ),
        ("OP9209", Parca, "$P.period_type=-", Error, "$P.period_type", "$P.period_type={}"),
        ("OP9209", Parca, "$R.resource=-", Error, "$R.resource", "$R.resource={}"),
        ("OP9209", Parca, "$K.scope=-", Error, "$K.scope", "$K.scope={}"),
    ]
};

#[test]
fn what_a_receiver_does_not_take_is_told_for_it() {
    for (rule, receiver, edits, severity, place, mended) in CASES {
        let here = found(&report(edits, Some(*receiver)), rule);
        assert_eq!(here, Some((*severity, in_full("7", place))), "{rule} {receiver}");
        let both = format!("{edits}; {mended}");
        assert_eq!(found(&report(&both, Some(*receiver)), rule), None, "{rule} {mended}");
        assert_eq!(found(&report(edits, None), rule), None, "{rule} for nobody");
    }
}

#[test]
fn limits_of_a_receiver_are_its_own() {
    let frames = |many: usize| -> String {
        let rows = (1..many).map(|row| format!("; $D.stack_table[1].location_indices[{row}]=1"));
        format!("$P.period=10{}", rows.collect::<String>())
    };
    let deep = report(&frames(1_001), Some(Receiver::Pyroscope));
    let place = in_full("7", "$D.stack_table[1].location_indices");
    assert_eq!(found(&deep, "OP9210"), Some((Severity::Warning, place)));
    assert_eq!(found(&report(&frames(1_000), Some(Receiver::Pyroscope)), "OP9210"), None);
    assert_eq!(found(&report(&frames(1_001), Some(Receiver::Parca)), "OP9210"), None);
    let samples = |many: usize| {
        let payload = super::wire::nest(&[1, 2, 2], &b"\x12\x00".repeat(many));
        let options = Options::default().format(Format::OTLP).receiver(Receiver::Pyroscope);
        found(&validate(&payload, &options), "OP9210")
    };
    let place = in_full("7", "$P.samples");
    assert_eq!((samples(16_000), samples(16_001)), (None, Some((Severity::Error, place))));
}

#[test]
fn receivers_read_the_newest_generation() {
    for receiver in Receiver::ALL.iter().copied() {
        for (generation, format) in super::bases::GENERATIONS {
            let format: Format = format.parse().expect("a format");
            let options = Options::default().format(format).receiver(receiver);
            let report = validate(&base(generation).encode(), &options);
            let old = format != Format::OTLP && format != Format::PPROF;
            let told = found(&report, "OP9201").map(|(severity, _)| severity);
            assert_eq!(told, old.then_some(Severity::Error), "{receiver} {generation}");
        }
    }
}

/// Payloads written for a receiver are accepted, except for faults of the profile itself.
#[test]
fn what_is_written_for_a_receiver_is_taken() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let mut written = 0;
    for name in ["go-cpu-labels.pb.gz", "go-heap.pb.gz", "rust-cpu.pb", "node-wall.pb.gz"] {
        let bytes = std::fs::read(folder.join(name)).expect(name);
        let options = ReadOptions::default().limits(Limits::file());
        let profiles = otlp_profiles::read(&bytes, &options).expect(name).profiles;
        for receiver in Receiver::ALL.iter().copied() {
            let options = WriteOptions::for_receiver(receiver)
                .string_encoding(receiver.string_encoding_in_files());
            let payload =
                otlp_profiles::write(&profiles, Format::OTLP, &options).expect(name).payload;
            let report = validate(&payload, &Options::default().receiver(receiver));
            let errors: Vec<_> =
                report.findings().filter(|found| found.severity == Severity::Error).collect();
            assert!(errors.is_empty(), "{name} for {receiver}: {errors:#?}");
            let reader = ["OP9202", "OP9203", "OP9209"];
            assert!(
                reader.iter().all(|rule| found(&report, rule).is_none()),
                "{name} for {receiver}"
            );
            written += 1;
        }
    }
    assert_eq!(written, 12);
}

#[test]
fn a_receiver_makes_errors_of_what_it_refuses() {
    for (receiver, edits, rule, severity) in [
        (
            Receiver::Parca,
            "$S.timestamps_unix_nano[0]=1700000001000000001",
            "OP4012",
            Severity::Error,
        ),
        (Receiver::Parca, "$R=-", "OP2001", Severity::Error),
        (Receiver::Parca, "$R.resource.attributes[0].value=-", "OP5005", Severity::Error),
        (Receiver::Parca, "$R.resource.attributes[0].value={}", "OP5005", Severity::Error),
        (Receiver::Parca, "$D.attribute_table[1].value={}", "OP5005", Severity::Error),
        (
            Receiver::Parca,
            "$D.link_table[0].trace_id=x00*16; $D.link_table[0].span_id=x00*8",
            "OP3007",
            Severity::Error,
        ),
        (
            Receiver::Pyroscope,
            "$D.attribute_table[1].value.string_value=-; $D.attribute_table[1].value.double_value=inf",
            "OP5011",
            Severity::Warning,
        ),
    ] {
        let mut node = base("7");
        node.edit(edits).expect("it applies");
        let severities = [None, Some(receiver)].map(|receiver| {
            let options = Options::default().format(Format::OTLP).receiver(receiver);
            let report = validate(&node.encode(), &options);
            let found = report.findings().find(|found| found.rule.id() == rule).map(|f| f.severity);
            found.expect(rule)
        });
        assert!(severities[0] < severity, "{rule}");
        assert_eq!(severities[1], severity, "{rule}");
    }
}

#[test]
fn what_parca_takes_is_no_error() {
    const VALUE: &str = "$R.resource.attributes[0].value.kvlist_value.values[0]";
    for (edits, rule) in [
        ("$P.period=10; $P.period_type={}", "OP2014"),
        ("$S.timestamps_unix_nano[0]=1700000001000000000", "OP4012"),
        ("$K.scope.attributes[0].key=\"k\"", "OP5005"),
        ("$K.scope.attributes[0].key=\"k\"; $K.scope.attributes[0].value={}", "OP5005"),
        (&format!("$R.resource.attributes[0].value={{}}; {VALUE}.key=\"k\""), "OP5005"),
    ] {
        let report = report(edits, Some(Receiver::Parca));
        let told = report.findings().find(|found| found.rule.id() == rule);
        assert!(told.is_some_and(|found| found.severity < Severity::Error), "{edits}: {report:?}");
        assert!(report.is_ok(), "{edits}: {report:?}");
    }
    // A time of 0 has its own rule. The error here is that it is out of range.
    let zero = report("$S.timestamps_unix_nano[0]=0", Some(Receiver::Parca));
    assert_eq!(found(&zero, "OP4012").map(|(severity, _)| severity), Some(Severity::Error));
}
