//! A builder that is merged from two equals a map with the samples of both. Its OTLP breaks no rule.
#![no_main]

use libfuzzer_sys::fuzz_target;
use otlp_profiles::check::{Options, validate};
use otlp_profiles::{Format, write};
use otlp_profiles_fuzz::builder::{Sample, add, built, expected, samples};

fuzz_target!(|input: (u8, Vec<Sample>)| {
    let (first, second) = input.1.split_at(input.1.len() * usize::from(input.0) / 256);
    let (mut builder, other) = (built(first), built(second));
    builder.merge(&other);
    add(&mut builder, first);
    let profiles = builder.finish().expect("no limit is reached");
    assert_eq!(samples(&profiles), expected([first, second, first]));
    let written = write(&profiles, Format::OTLP, &Default::default()).expect("OTLP has all of it");
    let report = validate(&written.payload, &Options::default().format(Format::OTLP));
    assert!(input.1.is_empty() || report.is_ok(), "{report:?}");
});
