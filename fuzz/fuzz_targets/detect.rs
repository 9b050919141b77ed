//! Detection never panics and is deterministic. It ignores the first byte, which selects a format for other targets.
#![no_main]

use libfuzzer_sys::fuzz_target;
use otlp_profiles::{Format, ReadOptions, detect};

fuzz_target!(|input: (u8, &[u8])| {
    let options = ReadOptions::default();
    let Ok(first) = detect(input.1, &options) else {
        return;
    };
    let second = detect(input.1, &options).expect("the same bytes are detected again");
    assert_eq!(first.format.name(), second.format.name());
    assert_eq!((&first.certainty, &first.evidence), (&second.certainty, &second.evidence));
    assert!(Format::ALL.iter().any(|format| format.name() == first.format.name()));
});
