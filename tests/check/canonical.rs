//! Canonical messages have the same findings as any others: a limit on attributes turns the canonical decoder off.
//!
//! Payloads are those of real profilers in each generation, bent at random bytes, so that both the decoders and their
//! refusals are exercised.

use otlp_profiles::check::{Options, Report, Rule, validate};
use otlp_profiles::fuzzing::Random;
use otlp_profiles::{Format, Limits, ReadOptions, WriteOptions};

use super::sized::sized;
use super::wire::{int, len, nest};

/// Findings and counts. Left out are rules about the limit, and rules that read the payload within it.
fn findings(
    bytes: &[u8],
    format: Format,
    options: &Options,
    attributes: u64,
) -> (Vec<String>, Vec<(&'static str, u64)>) {
    // Both decoders add up the memory that messages take: a limit of one byte makes a finding of the sum.
    let limits = Limits::file().max_attributes_per_item(attributes).max_owned_bytes(1);
    let report: Report = validate(bytes, &options.clone().format(format).limits(limits));
    let asked = |rule: &Rule| !["OP0007", "OP9010", "OP9104"].contains(&rule.id());
    let found = report.findings().filter(|finding| asked(finding.rule)).map(ToString::to_string);
    let counts = report.rule_counts().filter(|count| asked(count.rule));
    (found.collect(), counts.map(|count| (count.rule.id(), count.count)).collect())
}

/// The findings of a payload, if both decoders have the same.
fn found(bytes: &[u8], format: Format, options: &Options, what: &str) -> Vec<String> {
    let [records, canonical] = [7, 8].map(|most| findings(bytes, format, options, most));
    assert_eq!(records, canonical, "{format} {what}");
    canonical.0
}

/// From the files of `testdata`, each written in every generation.
fn payloads() -> Vec<(Format, Vec<u8>)> {
    let mut payloads = Vec::new();
    for name in [
        "go-cpu-labels.pb.gz",
        "go-heap.pb.gz",
        "rust-heap.pb.gz",
        "rust-cpu.pb",
        "otlp-1.11-aggregated-cpu.binpb",
        "otlp-1.11-timestamped-cpu-offcpu.binpb",
    ] {
        let file = std::fs::read(format!("testdata/{name}")).unwrap();
        let profiles = otlp_profiles::read(&file, &ReadOptions::default()).unwrap().profiles;
        for format in Format::ALL.iter().filter(|format| format.is_whole() && !format.is_json()) {
            // Several profiles do not fit into one pprof.
            let Ok(written) = otlp_profiles::write(&profiles, *format, &WriteOptions::default())
            else {
                continue;
            };
            payloads.push((*format, written.payload));
        }
    }
    assert!(payloads.len() >= 40, "{}", payloads.len());
    payloads
}

/// Asks every rule and lists all findings.
fn all() -> Options {
    Options::default().only(Rule::all().collect()).max_findings(u64::MAX)
}

/// Inserting and removing a byte moves lengths, other changes move values; bytes are drawn from
/// those that matter to protobuf: ends of varints, tags, zeros.
#[test]
fn bent_payloads_have_the_same_findings_either_way() {
    let (every, usual) = (all(), Options::default());
    let mut numbers = Random::new(99);
    for (format, whole) in payloads() {
        for round in 0..sized(60) {
            let mut bent = whole.clone();
            for _ in 0..round.min(6) {
                let at = numbers.below(bent.len());
                let odd = [0, 1, 2, 3, 0x7f, 0x80, 0xff, 0x0a, 0x12][numbers.below(9)];
                match numbers.below(6) {
                    0 => bent.insert(at, odd),
                    1 => drop(bent.remove(at)),
                    2 => bent[at] = bent[at].wrapping_add(1),
                    _ => bent[at] = odd,
                }
            }
            for options in [&every, &usual] {
                found(&bent, format, options, &round.to_string());
            }
        }
    }
}

/// A payload with 70 keys: the numbers of two share a bit where they are 64 apart.
fn of_many_keys(list: [u8; 2]) -> Vec<u8> {
    let sample = |attributes| len(2, &[int(1, 1), len(2, attributes), len(4, &[1])].concat());
    let samples = [sample(&[2, 3]), sample(&list)].concat();
    let strings = (0..70).map(|row: u8| len(5, &[b'0', row][..if row == 0 { 0 } else { 2 }]));
    let attributes = (0..70).map(|row| len(6, &int(1, row)));
    let stacks = [len(7, b""), len(7, b"")];
    let dictionary: Vec<_> = strings.chain(attributes).chain(stacks).flatten().collect();
    [nest(&[1, 2, 2], &samples), len(2, &dictionary)].concat()
}

#[test]
fn keys_that_share_a_bit_are_two_keys() {
    let every = all();
    for (list, twice) in [([1, 65], 0), ([1, 1], 1), ([65, 65], 1)] {
        let found = found(&of_many_keys(list), Format::OTLP_1_10, &every, "");
        let told = found.iter().filter(|finding| finding.contains("OP5002"));
        assert_eq!(told.count(), twice, "{list:?}");
    }
}

/// A payload with a profile of each list of samples, by stack and attributes; 300 locations, of which stacks refer to the
/// first few.
fn of_samples(profiles: &[&[(u8, &[u8])]]) -> Vec<u8> {
    let sample = |(stack, attributes): &(u8, &[u8])| {
        let list = if attributes.is_empty() { Vec::new() } else { len(2, attributes) };
        len(2, &[int(1, (*stack).into()), list, len(4, &[1])].concat())
    };
    let profile = |samples: &&[(u8, &[u8])]| {
        let samples: Vec<_> = samples.iter().flat_map(sample).collect();
        len(2, &samples)
    };
    let profiles: Vec<_> = profiles.iter().flat_map(profile).collect();
    let locations = (0..300).map(|row| len(2, &int(2, row)));
    let strings = ["", "a", "b"].map(|text| len(5, text.as_bytes()));
    let attributes = (0..3).map(|row| len(6, &int(1, row)));
    // Of two bytes of length as well.
    let stack = |row: u8| len(7, &len(1, &vec![1 + row % 3; usize::from(row)]));
    let stacks = [len(7, b"")].into_iter().chain((1..150).map(stack));
    let dictionary: Vec<_> =
        locations.chain(strings).chain(attributes).chain(stacks).flatten().collect();
    [nest(&[1, 2], &profiles), len(2, &dictionary)].concat()
}

#[test]
fn what_tags_and_lengths_of_stacks_are_is_no_reference() {
    let every = all();
    let bytes = of_samples(&[&[(1, &[])]]);
    let found = found(&bytes, Format::OTLP_1_10, &every, "");
    let orphans = found.iter().filter(|finding| finding.contains("OP3303"));
    assert_eq!(orphans.count(), 300 - 4);
}

#[test]
fn samples_of_a_stack_are_told_apart_in_each_profile() {
    let every = all();
    let samples: &[(u8, &[u8])] = &[
        (1, &[]),
        (2, &[1]),
        (1, &[1]),
        (2, &[1, 2]),
        (1, &[1]),
        (2, &[2, 1]),
        (1, &[]),
        (3, &[]),
    ];
    let bytes = of_samples(&[samples, &samples[1..], &samples[..3]]);
    let found = found(&bytes, Format::OTLP_1_10, &every, "");
    let told: Vec<_> = found.iter().filter(|finding| finding.contains("OP4006")).collect();
    let firsts = [2, 3, 0, 1, 2].map(|first| format!("duplicates sample {first} "));
    assert_eq!(told.len(), firsts.len(), "{told:#?}");
    assert!(told.iter().zip(firsts).all(|(told, first)| told.contains(&first)), "{told:#?}");
}
