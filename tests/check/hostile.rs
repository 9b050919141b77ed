//! Mutated and inflated payloads: no panic, and linear time and memory.

use otlp_profiles::check::{Options, validate};
use otlp_profiles::{Format, Limits};

use super::bases::{GENERATIONS, base};
use otlp_profiles::fuzzing::{Random, mutate_bytes};

use super::sized::sized;
use super::wire::{nest, overlong};

#[test]
fn bent_payloads_make_findings_and_nothing_else() {
    let mut numbers = Random::new(7);
    for (generation, name) in GENERATIONS {
        let whole = base(generation).encode();
        let format: Format = name.parse().unwrap();
        for round in 0..sized(1_500) {
            let bent = mutate_bytes(&whole, &mut numbers);
            let options = Options::default();
            let options = if round % 3 == 0 { options } else { options.format(format) };
            let report = validate(&bent, &options);
            // The reader accepts every payload that the checker accepts.
            if round % 3 > 0 && report.is_ok() && !bent.is_empty() {
                let options = otlp_profiles::ReadOptions::default().format(format);
                let read = otlp_profiles::read(&bent, &options);
                let kind = read.as_ref().err().map(otlp_profiles::Error::kind);
                let malformed = kind == Some(otlp_profiles::ErrorKind::Malformed);
                assert!(!malformed, "{name}: {:?} of {bent:x?}", read.err());
            }
        }
    }
}

/// A hundred thousand occurrences of each repeatable field.
#[test]
fn swollen_payloads_are_checked_in_time() {
    let options = Options::default().limits(Limits::file());
    let many = |field: &[u8]| field.repeat(100_000);
    for format in
        [Format::OTLP, Format::OTLP_1_8, Format::OTLP_1_6, Format::OTLP_1_3, Format::PPROF]
    {
        for field in [
            &b"\x0a\x00"[..],
            b"\x12\x00",
            b"\x1a\x00",
            b"\x2a\x00",
            b"\x32\x00",
            b"\x3a\x00",
            b"\xf8\x01\x01",
        ] {
            validate(&many(field), &options.clone().format(format));
        }
    }
    // The same within a dictionary.
    for tag in [0x0a, 0x12, 0x1a, 0x22, 0x2a, 0x32, 0x3a] {
        let rows = many(&[tag, 2, 8, 1]);
        let payload = [vec![0x12], overlong(rows.len() as u64, 4), rows].concat();
        let report = validate(&payload, &options.clone().format(Format::OTLP));
        assert!(report.findings().len() < 2_000);
    }
    // Nested groups and values.
    let deep = [b"\xfb\x01".repeat(100_000), b"\xfc\x01".repeat(100_000)].concat();
    assert!(!validate(&deep, &options.clone().format(Format::OTLP)).is_ok());
    let mut value = vec![0x18, 1];
    for _ in 0..2_000 {
        value = nest(&[5, 1], &value);
    }
    let value = nest(&[1, 1, 1, 2], &value);
    let report = validate(&value, &options.format(Format::OTLP));
    for rule in ["OP1017", "OP5010"] {
        assert!(report.rule_counts().any(|tally| tally.rule.id() == rule), "{rule}: {report:?}");
    }
}
