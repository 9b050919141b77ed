//! The kit for tests of decoders: it is deterministic, and its payloads are what it promises.

use std::collections::BTreeSet;

use otlp_profiles::check::{Options, validate};
use otlp_profiles::fuzzing::{Payload, Random, mutate, profiles};
use otlp_profiles::{Format, ReadOptions, Severity, read, write};

use crate::support::sized;

/// The formats with a valid payload.
fn formats() -> impl Iterator<Item = Format> {
    Format::ALL.iter().copied().filter(|format| Payload::valid(*format).is_ok())
}

#[test]
fn valid_payloads_are_valid_in_any_order_and_packing() {
    assert_eq!(formats().count(), 9);
    for format in formats() {
        let valid = Payload::valid(format).unwrap();
        let options = ReadOptions::default().format(format);
        let expected = read(&valid.encode(), &options).unwrap().profiles;
        let mut encodings = BTreeSet::new();
        for seed in 0..20 {
            let mut other = valid.clone();
            other.rearrange(&mut Random::new(seed));
            let bytes = other.encode();
            assert_eq!(Payload::parse(&bytes, format).unwrap().encode(), bytes);
            let report = validate(&bytes, &Options::default().format(format));
            assert_eq!(
                report.worst().filter(|worst| *worst > Severity::Warning),
                None,
                "{report:?}"
            );
            let profiles = read(&bytes, &options).unwrap().profiles;
            assert_eq!(profiles.iter().count(), expected.iter().count());
            for (one, other) in profiles.iter().zip(expected.iter()) {
                assert_eq!(one.samples(), other.samples(), "{format} {seed}");
            }
            encodings.insert(bytes);
        }
        assert!(encodings.len() > 15, "{format}");
    }
}

/// Equal seeds give equal files within the limit. Most mutants stay protobuf, and many stay readable.
#[test]
fn mutants_are_deterministic_and_of_all_kinds() {
    for format in formats() {
        let valid = Payload::valid(format).unwrap().encode();
        let gzip = otlp_profiles::compression::deflate(&valid, Default::default());
        let (mut distinct, mut readable) = (BTreeSet::new(), 0);
        for seed in 0..sized(1000) as u64 {
            for file in [&valid, &gzip] {
                let mutant = mutate(file, format, seed, 1000);
                assert_eq!(mutant, mutate(file, format, seed, 1000));
                assert!(mutant.len() <= 1000);
                readable +=
                    usize::from(read(&mutant, &ReadOptions::default().format(format)).is_ok());
                distinct.insert(mutant);
            }
        }
        let all = 2 * sized(1000);
        assert!(
            distinct.len() * 10 > all * 8,
            "{format}: {} of {all} are distinct",
            distinct.len()
        );
        assert!(readable * 10 > all && readable * 10 < all * 9, "{format}: {readable} of {all}");
    }
}

/// Profiles of random bytes use all of the builder, and break no rule as OTLP.
#[test]
fn random_profiles_are_valid() {
    let mut samples = 0;
    for seed in 0..sized(500) as u64 {
        let random = &mut Random::new(seed);
        let bytes: Vec<u8> = (0..random.below(600)).map(|_| random.next_u64() as u8).collect();
        let made = profiles(&bytes);
        samples += made.iter().map(|profile| profile.samples().len()).sum::<usize>();
        let payload = write(&made, Format::OTLP, &Default::default()).unwrap().payload;
        if made.iter().count() > 0 {
            let report = validate(&payload, &Options::default().format(Format::OTLP));
            assert!(report.is_ok(), "{seed}: {report:?}");
        }
    }
    assert!(samples > sized(500), "{samples}");
}

#[test]
fn edits_that_do_not_apply_name_the_reason() {
    let mut payload = Payload::valid(Format::OTLP).unwrap();
    for (edit, reason) in [
        ("$P.period", "it has no `=`"),
        ("$P.perod=1", "Profile has no field perod"),
        ("$D.string_table[99]=\"a\"", "it skips a row: there are 9"),
        ("$P.period=many", "many is not a number"),
        ("$P.profile_id=x0", "its bytes are not hex"),
    ] {
        let message = payload.edit(edit).unwrap_err().to_string();
        assert!(message.ends_with(reason), "{message}");
    }
    let message = Payload::valid(Format::FOLDED).unwrap_err().to_string();
    assert_eq!(message, "folded is not a protobuf format");
}
