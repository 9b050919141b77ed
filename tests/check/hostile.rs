//! Bent and swollen payloads: no panic, and time and memory that grow with the bytes.

use otlp_profiles::check::{Options, check};
use otlp_profiles::{Format, Limits};

use super::bases::{GENERATIONS, base};
use super::wire::{nest, overlong};

/// Numbers that look random, and are the same on every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

/// Flips, cuts, doubles and swaps bytes.
fn bend(payload: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    const ODD: [u8; 10] = [0, 1, 0x7f, 0x80, 0xff, 0x0a, 0x12, 0x22, 0x2a, 0x0b];
    let mut bent = payload.to_vec();
    for _ in 0..=numbers.below(4) {
        let at = numbers.below(bent.len());
        match numbers.below(6) {
            0 => bent.truncate(at),
            1 => drop(bent.get(at).is_some().then(|| bent.remove(at))),
            2 => bent.insert(at.min(bent.len()), ODD[numbers.below(ODD.len())]),
            3 => {
                let part = bent[at..(at + numbers.below(40)).min(bent.len())].to_vec();
                let to = numbers.below(bent.len());
                bent.splice(to..to, part);
            }
            _ => {
                let odd = ODD[numbers.below(ODD.len())];
                bent.get_mut(at).map(|byte| *byte = odd).unwrap_or_default();
            }
        }
    }
    bent
}

#[test]
fn bent_payloads_make_findings_and_nothing_else() {
    let mut numbers = Numbers(7);
    for (generation, name) in GENERATIONS {
        let whole = base(generation).1.encode();
        let format: Format = name.parse().unwrap();
        for round in 0..1_500 {
            let bent = bend(&whole, &mut numbers);
            let options = Options::default();
            let options = if round % 3 == 0 { options } else { options.from(format) };
            let report = check(&bent, &options);
            // Whatever the checker takes for sound, the reader reads.
            if round % 3 > 0 && report.is_ok() && !bent.is_empty() {
                let options = otlp_profiles::ReadOptions::default().from(format);
                let read = otlp_profiles::read(&bent, &options);
                let kind = read.as_ref().err().map(otlp_profiles::Error::kind);
                let malformed = kind == Some(otlp_profiles::ErrorKind::Malformed);
                assert!(!malformed, "{name}: {:?} of {bent:x?}", read.err());
            }
        }
    }
}

/// A hundred thousand of whatever there can be several of.
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
            check(&many(field), &options.clone().from(format));
        }
    }
    // The same inside a dictionary.
    for tag in [0x0a, 0x12, 0x1a, 0x22, 0x2a, 0x32, 0x3a] {
        let rows = many(&[tag, 2, 8, 1]);
        let payload = [vec![0x12], overlong(rows.len() as u64, 4), rows].concat();
        let report = check(&payload, &options.clone().from(Format::OTLP));
        assert!(report.findings().len() < 2_000);
    }
    // Groups and values inside one another.
    let deep = [b"\xfb\x01".repeat(100_000), b"\xfc\x01".repeat(100_000)].concat();
    assert!(!check(&deep, &options.clone().from(Format::OTLP)).is_ok());
    let mut value = vec![0x18, 1];
    for _ in 0..2_000 {
        value = nest(&[5, 1], &value);
    }
    let value = nest(&[1, 1, 1, 2], &value);
    let report = check(&value, &options.from(Format::OTLP));
    for rule in ["OP1017", "OP5010"] {
        assert!(report.tallies().any(|tally| tally.rule.id() == rule), "{rule}: {report:?}");
    }
}
