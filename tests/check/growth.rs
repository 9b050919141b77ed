//! An entry that many rows or samples refer to is checked once. If it were checked for every
//! reference, each of these payloads would take minutes.

use otlp_profiles::check::{Options, Profcheck, validate};
use otlp_profiles::format::Receiver;
use otlp_profiles::{Format, Limits};

use super::wire::{int, len, nest};

/// The number of references to one entry, and roughly the number of its bytes or fields.
const MANY: usize = 50_000;

/// Checks a payload of 1.10 in which each sample has attribute 1.
///
/// Returns the number of findings by rule.
fn broken(
    (strings, functions, attributes): (&[&[u8]], Vec<u8>, Vec<u8>),
    samples: usize,
    options: Options,
) -> Vec<(String, u64)> {
    let sample = len(2, &[len(2, &[1]), len(4, &[1])].concat()).repeat(samples);
    let profile = [len(1, &[int(1, 1), int(2, 1)].concat()), sample, int(4, 5)].concat();
    let strings: Vec<u8> = strings.iter().flat_map(|text| len(5, text)).collect();
    let rows = [1, 2, 3].map(|table| len(table, b"")).concat();
    let rest = [len(6, b""), attributes, len(7, b"")].concat();
    let tables = [rows, functions, len(4, b""), strings, rest].concat();
    let payload = [nest(&[1, 2, 2], &profile), len(2, &tables)].concat();
    let options = options.format(Format::OTLP_1_10).limits(Limits::file());
    let report = validate(&payload, &options);
    report.rule_counts().map(|tally| (tally.rule.id().to_owned(), tally.count)).collect()
}

/// The number of findings of a rule.
fn count(broken: &[(String, u64)], rule: &str) -> u64 {
    broken.iter().find(|(id, _)| id == rule).map_or(0, |(_, count)| *count)
}

#[test]
fn an_attribute_that_many_samples_have_is_looked_at_once() {
    let key = int(1, 1).repeat(MANY);
    let row = len(6, &[key, len(2, &len(1, b"a"))].concat());
    let strings: [&[u8]; 2] = [b"", b"k"];
    let tables = || (&strings[..], Vec::new(), row.clone());
    let options = Options::default();
    let found = broken(tables(), MANY, options.clone().receiver(Receiver::Pyroscope));
    assert_eq!(count(&found, "OP9204"), 0, "{found:?}");
    broken(tables(), MANY, options.compat(Profcheck::default()));

    let array = len(2, &len(5, &len(1, b"").repeat(MANY)));
    let row = len(6, &[int(1, 1), array].concat());
    let options = Options::default().receiver(Receiver::Pyroscope);
    let found = broken((&[b"", b"k"], Vec::new(), row), MANY, options);
    assert_eq!(count(&found, "OP9204"), MANY as u64, "{found:?}");
}

#[test]
fn a_list_with_one_attribute_many_times_finds_its_key_once() {
    let row = len(6, &[int(1, 1).repeat(MANY), len(2, &len(1, b"a"))].concat());
    let sample = [len(2, &vec![1; MANY]), len(4, &[1])].concat();
    let profile = nest(&[1, 2, 2, 2], &sample);
    let tables = [len(5, b""), len(5, &vec![b'k'; MANY]), len(6, b""), row].concat();
    let payload = [profile, len(2, &tables)].concat();
    let options = Options::default().format(Format::OTLP_1_10).limits(Limits::file());
    for options in [options.clone(), options.compat(Profcheck::default())] {
        let report = validate(&payload, &options);
        let tally = report.rule_counts().find(|tally| tally.rule.id() == "OP5002");
        assert_eq!(tally.map(|tally| tally.count), Some(MANY as u64 - 1), "{report:?}");
    }
}

/// All repeated keys are counted, and the listed ones have their places.
#[test]
fn a_sample_with_one_key_many_times_is_walked_once() {
    let row = len(6, &[int(1, 1), len(2, &int(2, 1))].concat());
    let sample = [len(2, &vec![1; MANY]), len(4, &[1])].concat();
    let tables = [len(5, b""), len(5, b"k"), len(6, b""), row].concat();
    let payload = [nest(&[1, 2, 2, 2], &sample), len(2, &tables)].concat();
    let label = len(3, &[int(1, 1), int(3, 3)].concat()).repeat(MANY);
    let sample = len(2, &[len(2, &[1]), label].concat());
    let file = [len(1, b"\x08\x01\x10\x01"), sample, len(6, b""), len(6, b"k")].concat();
    for (payload, format, rule, wanted) in
        [(payload, Format::OTLP_1_10, "OP9204", MANY), (file, Format::PPROF, "PP1018", MANY - 1)]
    {
        let options = Options::default().format(format).receiver(Receiver::Parca);
        let report = validate(&payload, &options.limits(Limits::file()));
        let tally = report.rule_counts().find(|tally| tally.rule.id() == rule);
        assert_eq!(tally.map(|tally| tally.count), Some(wanted as u64), "{report:?}");
    }
}

#[test]
fn equal_rows_are_compared_without_making_the_first_again() {
    let unknown = int(15, 1);
    let first = len(3, &[int(1, 1), unknown.repeat(MANY)].concat());
    let others = len(3, &[int(1, 1), unknown].concat()).repeat(MANY);
    let found = broken((&[b"", b"k"], [first, others].concat(), Vec::new()), 0, Options::default());
    assert_eq!(count(&found, "OP3204"), MANY as u64, "{found:?}");
}

#[test]
fn a_long_text_that_many_attributes_have_is_read_once() {
    let text = vec![b'a'; 10 * MANY];
    let url = [b"a:", &text[..]].concat();
    let styled = Options::default().deny(vec![otlp_profiles::check::Rule::find("OP5018").unwrap()]);
    for (key, text, rule) in [
        ("profile.frame.type", &text, "OP8004"),
        ("process.executable.build_id.gnu", &text, "OP8003"),
        ("pprof.profile.drop_frames", &text, "OP8013"),
        ("pprof.profile.doc_url", &url, "OP8010"),
    ] {
        let row = len(6, &[int(1, 1), len(2, &int(8, 2))].concat());
        let tables = (&[b"", key.as_bytes(), text][..], Vec::new(), row.repeat(MANY));
        let found = broken(tables, 0, Options::default());
        let wanted = if rule == "OP8004" { MANY as u64 } else { 0 };
        assert_eq!(count(&found, rule), wanted, "{key}: {found:?}");
    }
    // Keys and units that alternate between two rows.
    let unit = b"m.".repeat(5 * MANY);
    let unit = unit.get(..unit.len() - 1).unwrap();
    let row = |unit: u64| len(6, &[int(1, 1), len(2, &len(1, b"a")), int(3, unit)].concat());
    let rows = [row(2), row(3)].concat().repeat(MANY / 2);
    let found = broken((&[b"", &text, unit, unit], Vec::new(), rows), 0, styled);
    assert_eq!(count(&found, "OP5013") + count(&found, "OP5018"), 0, "{found:?}");
}

#[test]
fn a_long_key_that_many_labels_and_pairs_have_is_read_once() {
    let text = vec![b'k'; 10 * MANY];
    let options = |format| Options::default().format(format).limits(Limits::file());
    let label = |key| len(3, &[int(1, key), int(2, 3)].concat());
    let sample = len(2, &[len(2, &[1]), label(1), label(2)].concat()).repeat(MANY);
    let strings = [len(6, b""), len(6, &text), len(6, &text), len(6, b"v")].concat();
    let file = [len(1, b"\x08\x03\x10\x03"), sample, strings].concat();
    let report = validate(&file, &options(Format::PPROF));
    let tally = report.rule_counts().find(|tally| tally.rule.id() == "PP1018");
    assert_eq!(tally.map(|tally| tally.count), Some(MANY as u64), "{report:?}");

    let pairs = len(1, &[int(3, 1), len(2, &len(1, b"a"))].concat()).repeat(MANY);
    let tables = [len(5, b""), len(5, &text)].concat();
    let entity = len(3, &[len(2, b"t"), len(3, b"k")].concat());
    let payload = [nest(&[1, 1], &[pairs, entity].concat()), len(2, &tables)].concat();
    let report = validate(&payload, &options(Format::OTLP_1_10));
    let tally = report.rule_counts().find(|tally| tally.rule.id() == "OP5001");
    assert_eq!(tally.map(|tally| tally.count), Some(MANY as u64 - 1), "{report:?}");
}

#[test]
fn long_names_of_sample_types_are_compared_once() {
    let text = vec![b't'; 10 * MANY];
    let kind = |row: u64| len(1, &[int(1, row), int(2, row)].concat());
    let kinds = [kind(1), kind(2)].concat().repeat(MANY / 2);
    let strings = [len(6, b""), len(6, &text), len(6, &text)].concat();
    let file = [kinds, strings, int(14, 2)].concat();
    let report = validate(&file, &Options::default().format(Format::PPROF).limits(Limits::file()));
    let tally = report.rule_counts().find(|tally| tally.rule.id() == "PP1022");
    assert_eq!(tally.map(|tally| tally.count), Some(MANY as u64 - 1), "{report:?}");
}
