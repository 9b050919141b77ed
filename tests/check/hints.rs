//! Hints, which are off by default; lists too long to write down; and ways to use fewer bytes.

use otlp_profiles::check::{Options, Report, Rule, validate};
use otlp_profiles::{Format, Severity};

use super::bases::{GENERATIONS, base, edited, in_full};
use super::cases::misplaced;

fn asked(rule: &str, generation: &str, payload: &[u8]) -> Report {
    let (_, format) = GENERATIONS.iter().find(|(name, _)| *name == generation).expect("one");
    let format: Format = format.parse().expect("a format");
    let rule = Rule::find(rule).expect("a rule");
    validate(payload, &Options::default().format(format).only(vec![rule]))
}

/// The paths of the findings of a rule that is enabled by name; all are infos.
fn paths(rule: &str, generation: &str, payload: &[u8]) -> Vec<String> {
    let report = asked(rule, generation, payload);
    assert!(report.worst() <= Some(Severity::Info), "{rule} {generation}: {report:#?}");
    assert_eq!(misplaced(generation, payload, &report), [""; 0]);
    report.findings().map(|found| found.path.clone()).collect()
}

const OTLP: [&str; 7] = ["1", "2", "3", "4", "5", "6", "7"];

#[test]
fn hints_are_given_to_who_asks() {
    let profile = |generation| in_full(generation, "$P");
    for generation in ["5", "6", "7"] {
        let ones = edited(generation, "$S.values[0]=1");
        assert_eq!(paths("OP9103", generation, &ones), [profile(generation)]);
        let others = edited(generation, "$S.values[0]=2");
        assert!(paths("OP9103", generation, &others).is_empty(), "{generation}");
        let usual = validate(&ones, &Options::default());
        assert!(usual.rule_counts().all(|tally| tally.rule.id() != "OP9103"), "nobody asked");
    }
    for generation in OTLP {
        let key =
            |key: &str| edited(generation, &format!("$R.resource.attributes[0].key=\"{key}\""));
        let place = in_full(generation, "$R.resource.attributes[0].key");
        for odd in ["ThreadID", "thread id"] {
            assert_eq!(paths("OP5018", generation, &key(odd)), [place.as_str()]);
        }
        assert!(paths("OP5018", generation, &key("thread.id")).is_empty(), "{generation}");
    }
    // By reference in a resource, inline, and in the table.
    let place = "$R.resource.attributes[0].key";
    let key = format!("{place}=-; {place}_strindex=9; $D.string_table[9]=\"ThreadID\"");
    let found = paths("OP5018", "7", &edited("7", &key));
    assert_eq!(found, [in_full("7", &format!("{place}_strindex"))]);
    let key = "$D.string_table[6]=\"ThreadID\"";
    let found = paths("OP5018", "7", &edited("7", key));
    assert_eq!(found, ["dictionary.attribute_table[1].key_strindex"]);
}

#[test]
fn texts_in_place_could_be_references() {
    let twice =
        "$K.scope.attributes[0].key=\"service.name\"; $K.scope.attributes[0].value.int_value=1";
    let report = asked("OP9101", "7", &edited("7", twice));
    let found: Vec<_> = report.findings().map(|found| found.value.as_str()).collect();
    // "service.name" is stored once more; the tag and the length of its row in the table are saved.
    assert_eq!(found, ["10 bytes more"]);
    assert!(paths("OP9101", "7", &base("7").encode()).is_empty());
}

#[test]
fn an_older_generation_could_be_smaller() {
    for generation in ["1", "2", "3", "4"] {
        // A hundred samples that each repeat the ten locations of one stack.
        let locations: String =
            (0..1_000).map(|row| format!("; $P.location_indices[{row}]=0")).collect();
        let sample = |row: usize| {
            format!(
                "; $P.$s[{row}].locations_start_index={}; $P.$s[{row}].locations_length=10; $P.$s[{row}].$V[0]=7",
                row * 10
            )
        };
        let samples: String = (0..100).map(sample).collect();
        let report = asked(
            "OP9104",
            generation,
            &edited(generation, &format!("$P.period=10{locations}{samples}")),
        );
        let found = report.findings().next().expect("it could be smaller");
        assert!(found.severity == Severity::Info && found.value.ends_with(" % more)"), "{found}");
    }
    for generation in ["5", "6", "7"] {
        assert!(paths("OP9104", generation, &base(generation).encode()).is_empty());
    }
}

#[test]
fn numbers_one_by_one_could_be_packed() {
    for (generation, raw) in [
        ("1", "1007"),
        ("2", "1807"),
        ("3", "1807"),
        ("4", "1807"),
        ("5", "1007"),
        ("6", "1007"),
        ("7", "2007"),
    ] {
        let payload = edited(generation, &format!("$S.$V=-; $S.raw=x{raw}"));
        assert_eq!(paths("OP9102", generation, &payload), [in_full(generation, "$S.$V")]);
        assert!(paths("OP9102", generation, &base(generation).encode()).is_empty());
    }
    let payload = edited("P", "sample[0].value=-; sample[0].raw=x1007");
    assert_eq!(paths("OP9102", "P", &payload), ["sample[0].value"]);
}

#[test]
fn a_list_of_attributes_has_128_at_most() {
    for generation in OTLP {
        let list = |many: usize| -> Vec<u8> {
            let pair = |row| {
                format!(
                    "$K.scope.attributes[{row}].key=\"a{row}\"; $K.scope.attributes[{row}].value.int_value=1; "
                )
            };
            edited(generation, &(0..many).map(pair).collect::<String>())
        };
        assert_eq!(
            paths("OP5014", generation, &list(129)),
            [in_full(generation, "$K.scope.attributes")]
        );
        assert!(paths("OP5014", generation, &list(128)).is_empty());
    }
}

#[test]
fn a_key_of_nearly_as_many_values_as_samples_is_told() {
    for generation in OTLP {
        let key = if generation < "5" { "key=\"k1\"" } else { "key_strindex=6" };
        let first: usize = if generation < "5" { 1 } else { 3 };
        let many = |values: usize| -> Vec<u8> {
            let row = |row: usize| {
                format!(
                    "; $T.attribute_table[{row}].{key}; $T.attribute_table[{row}].value.int_value={row}"
                )
            };
            let rows: String = (first..first + values).map(row).collect();
            let sample = |sample: usize| {
                format!(
                    "; $P.$s[{sample}].$A[0]={}; $P.$s[{sample}].$V[0]=1",
                    first + sample % values
                )
            };
            edited(
                generation,
                &format!("$P.period=10{rows}{}", (1..1_001).map(sample).collect::<String>()),
            )
        };
        let place = in_full(generation, "$T.attribute_table[$1]");
        assert_eq!(paths("OP5016", generation, &many(950)), [place]);
        assert!(paths("OP5016", generation, &many(850)).is_empty(), "{generation}");
    }
}

#[test]
fn what_is_not_listed_is_counted() {
    for (generation, _) in GENERATIONS {
        let label = if generation == "P" { "sample" } else { "$P.$s" };
        let value = if generation == "P" { "value" } else { "$V" };
        let many: String = (1..150).map(|row| format!("; {label}[{row}].{value}[0]=0")).collect();
        let first = if generation == "P" { "period=10" } else { "$P.period=10" };
        let payload = edited(generation, &format!("{first}{many}"));
        let (_, format) = GENERATIONS.iter().find(|(name, _)| *name == generation).expect("one");
        let format: Format = format.parse().expect("a format");
        // Off unless it is named.
        let zeros = || vec![Rule::find("OP4019").expect("a rule")];
        let options = || Options::default().format(format).allow(zeros());
        let report = validate(&payload, &options());
        let rest = report.findings().filter(|found| found.rule.id() == "OP9008");
        let rest: Vec<_> = rest.map(|found| found.value.clone()).collect();
        let rule = if generation == "P" { "49 more of PP1033" } else { "50 more of OP4019" };
        assert!(rest.iter().any(|value| value == rule || value == "49 more of OP4019"), "{rest:?}");
        // With a single rule enabled, the report still counts its unlisted findings.
        let asked = rest[0].rsplit(' ').next().expect("a rule");
        let only = Options::default().format(format).only(vec![Rule::find(asked).expect("one")]);
        let only = validate(&payload, &only.max_findings(7));
        let found: Vec<_> = only.findings().map(|found| found.rule.id()).collect();
        assert_eq!(found[..7], [asked; 7], "{generation}");
        assert_eq!(found[7..], ["OP9008"], "{generation}");
        // Counts do not depend on the number of listed findings.
        let none = validate(&payload, &options().max_findings(0));
        let all = validate(&payload, &options().max_findings(u64::MAX));
        for severity in [Severity::Info, Severity::Warning, Severity::Error] {
            assert_eq!(none.count(severity), all.count(severity), "{generation}");
            assert_eq!(report.count(severity), all.count(severity), "{generation}");
        }
        assert!(none.findings().all(|found| found.rule.id() == "OP9008"));
        assert_eq!(none.findings().count(), all.rule_counts().count(), "{generation}");
        let denied =
            Options::default().format(format).deny(vec![Rule::find("OP9008").expect("one")]);
        assert!(!validate(&payload, &denied).is_ok(), "who asks for it is told by the verdict");
    }
}
