//! What is shown to be fine is fine: with and without this room, payloads have the same findings.
//!
//! The walk without proofs is the oracle of the walk with them. MessageReader are those of real
//! profilers in each version, bent at random bytes from a fixed seed, so that both the proofs and
//! their refusals are exercised.

use std::rc::Rc;

use crate::check::context::CheckContext;
use crate::check::findings::{Finding, Findings, RuleCount};
use crate::check::options::Options;
use crate::check::walk;
use crate::format::Format;
use crate::limits::Limits;
use crate::schema::Version;
use crate::wire::record::field_varint;
use crate::wire::write::{field_bytes, field_message};
use crate::{ReadOptions, WriteOptions};

/// `owned` is compared as well, as it is added up in two places.
fn walked(
    bytes: &[u8],
    version: Version,
    options: &Rc<Options>,
    canonical: bool,
) -> (Vec<Finding>, Vec<RuleCount>, u64) {
    let findings = Findings::new(Rc::clone(options), Some(version));
    let mut cx = CheckContext::new(bytes, version, options.limits, findings);
    assert!(cx.canonical, "{version:?} is known here");
    cx.canonical = canonical;
    walk::walk(&mut cx);
    let owned = cx.payload.owned;
    let report = cx.findings.finish();
    (report.findings, report.rule_counts, owned)
}

/// From the files of `testdata`, each written as every version.
fn payloads() -> Vec<(Version, Vec<u8>)> {
    let mut payloads = Vec::new();
    for name in [
        "go-cpu-labels.pb.gz",
        "go-heap.pb.gz",
        "rust-heap.pb.gz",
        "rust-cpu.pb",
        "otlp-1.11-aggregated-cpu.binpb",
        "otlp-1.11-timestamped-cpu-offcpu.binpb",
    ] {
        let path = format!("{}/testdata/{name}", env!("CARGO_MANIFEST_DIR"));
        let Ok(file) = std::fs::read(path) else { continue };
        let Ok(reading) = crate::read(&file, &ReadOptions::default()) else { continue };
        for (version, format) in [
            (Version::Pprof, Format::PPROF),
            (Version::V1_3, Format::OTLP_1_3),
            (Version::V1_5, Format::OTLP_1_5),
            (Version::V1_7, Format::OTLP_1_7),
            (Version::V1_8, Format::OTLP_1_8),
            (Version::V1_9, Format::OTLP_1_9),
            (Version::V1_10, Format::OTLP_1_10),
        ] {
            let options = WriteOptions::default();
            // Of several profiles a pprof says one.
            let Ok(written) = crate::write(&reading.profiles, format, &options) else { continue };
            payloads.push((version, written.payload));
        }
    }
    assert!(payloads.len() >= 21, "{}", payloads.len());
    payloads
}

/// Every rule is asked, and all findings are listed.
fn all() -> Rc<Options> {
    let rules = crate::check::Rule::all().collect();
    Rc::new(Options::default().only(rules).max_findings(u64::MAX).limits(Limits::file()))
}

/// Inserting and removing a byte moves lengths, other changes move values; bytes are drawn from
/// those that matter to protobuf: ends of varints, tags, zeros.
#[test]
fn bent_payloads_have_the_same_findings_either_way() {
    let every = all();
    let usual = Rc::new(Options::default());
    let mut state = 99u64;
    let mut below = |end: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % end.max(1)
    };
    for (version, whole) in payloads() {
        for round in 0..60 {
            let mut bent = whole.clone();
            for _ in 0..round.min(6) {
                let at = below(bent.len());
                let odd = [0, 1, 2, 3, 0x7f, 0x80, 0xff, 0x0a, 0x12][below(9)];
                match below(6) {
                    0 => bent.insert(at, odd),
                    1 => drop(bent.remove(at)),
                    2 => bent[at] = bent[at].wrapping_add(1),
                    _ => bent[at] = odd,
                }
            }
            for options in [&every, &usual] {
                let slow = walked(&bent, version, options, false);
                let fast = walked(&bent, version, options, true);
                let told = |found: &(Vec<Finding>, Vec<RuleCount>, u64)| {
                    found.0.iter().map(|finding| finding.to_string()).collect::<Vec<_>>()
                };
                let (one, other) = (told(&slow), told(&fast));
                let odd: Vec<_> = one.iter().filter(|line| !other.contains(line)).collect();
                let new: Vec<_> = other.iter().filter(|line| !one.contains(line)).collect();
                let owned = (slow.2, fast.2);
                assert!(slow == fast, "{version:?} {round} {odd:#?} {new:#?} {owned:?}");
            }
        }
    }
}

/// A payload with 70 keys: the numbers of two share a bit where they are 64 apart.
fn of_many_keys(list: [u8; 2]) -> Vec<u8> {
    let mut out = Vec::new();
    let profile = |out: &mut Vec<u8>| {
        for attributes in [&[2, 3], &list] {
            field_message(out, 2, |out| {
                field_varint(out, 1, 1);
                field_bytes(out, 2, attributes);
                field_bytes(out, 4, &[1]);
            });
        }
    };
    field_message(&mut out, 1, |out| {
        field_message(out, 2, |out| field_message(out, 2, profile));
    });
    field_message(&mut out, 2, |out| {
        (0..70)
            .for_each(|row: u8| field_bytes(out, 5, &[b'0', row][..if row == 0 { 0 } else { 2 }]));
        (0..70).for_each(|row| field_message(out, 6, |out| field_varint(out, 1, row)));
        (0..2).for_each(|_| field_bytes(out, 7, b""));
    });
    out
}

#[test]
fn keys_that_share_a_bit_are_two_keys() {
    let every = all();
    for (list, twice) in [([1, 65], 0), ([1, 1], 1), ([65, 65], 1)] {
        let bytes = of_many_keys(list);
        let [slow, fast] = [false, true].map(|fast| walked(&bytes, Version::V1_10, &every, fast));
        assert!(slow == fast, "{list:?}");
        let told = fast.0.iter().filter(|finding| finding.rule.id() == "OP5002");
        assert_eq!(told.count(), twice, "{list:?}");
    }
}

/// A payload with a profile of each list of samples, by stack and attributes; 300 locations, of which stacks refer to the
/// first few.
fn of_samples(profiles: &[&[(u8, &[u8])]]) -> Vec<u8> {
    let mut out = Vec::new();
    let profile = |out: &mut Vec<u8>, samples: &[(u8, &[u8])]| {
        field_message(out, 2, |out| {
            for (stack, attributes) in samples {
                field_message(out, 2, |out| {
                    field_varint(out, 1, u64::from(*stack));
                    if !attributes.is_empty() {
                        field_bytes(out, 2, attributes);
                    }
                    field_bytes(out, 4, &[1]);
                });
            }
        });
    };
    field_message(&mut out, 1, |out| {
        field_message(out, 2, |out| profiles.iter().for_each(|samples| profile(out, samples)));
    });
    field_message(&mut out, 2, |out| {
        (0..300).for_each(|row| field_message(out, 2, |out| field_varint(out, 2, row)));
        ["", "a", "b"].iter().for_each(|text| field_bytes(out, 5, text.as_bytes()));
        (0..3).for_each(|row| field_message(out, 6, |out| field_varint(out, 1, row)));
        field_bytes(out, 7, b"");
        for row in 1..150 {
            // Of two bytes of length as well.
            let list = vec![1 + row % 3; usize::from(row)];
            field_message(out, 7, |out| field_bytes(out, 1, &list));
        }
    });
    out
}

#[test]
fn what_tags_and_lengths_of_stacks_are_is_no_reference() {
    let every = all();
    let bytes = of_samples(&[&[(1, &[])]]);
    let [slow, fast] = [false, true].map(|fast| walked(&bytes, Version::V1_10, &every, fast));
    assert!(slow == fast);
    let orphans = fast.0.iter().filter(|finding| finding.rule.id() == "OP3303");
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
    let [slow, fast] = [false, true].map(|fast| walked(&bytes, Version::V1_10, &every, fast));
    assert!(slow == fast);
    let same = fast.0.iter().filter(|finding| finding.rule.id() == "OP4006");
    let told: Vec<_> = same.map(|finding| finding.to_string()).collect();
    let firsts = [2, 3, 0, 1, 2].map(|first| format!("duplicates sample {first} "));
    assert_eq!(told.len(), firsts.len(), "{told:#?}");
    assert!(told.iter().zip(firsts).all(|(told, first)| told.contains(&first)), "{told:#?}");
}
