//! What receivers refuse or drop weighs more where a payload is meant for them.

use otlp_profiles::check::{Options, check};
use otlp_profiles::format::Receiver;
use otlp_profiles::{Format, Severity};

use super::bases::{base, expand};

#[test]
fn a_receiver_makes_errors_of_what_it_refuses() {
    for (receiver, edits, rule, severity) in [
        (Receiver::Parca, "$P.period_type=-", "OP2014", Severity::Error),
        (
            Receiver::Parca,
            "$S.timestamps_unix_nano[0]=1700000001000000000",
            "OP4012",
            Severity::Error,
        ),
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
        let (schema, mut node) = base("7");
        schema.edit(&mut node, &expand("7", edits));
        let severities = [None, Some(receiver)].map(|receiver| {
            let options = Options::default().from(Format::OTLP).receiver(receiver);
            let report = check(&node.encode(), &options);
            let found = report.findings().find(|found| found.rule.id() == rule).map(|f| f.severity);
            found.expect(rule)
        });
        assert!(severities[0] < severity, "{rule}");
        assert_eq!(severities[1], severity, "{rule}");
    }
}
