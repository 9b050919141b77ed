//! Detection never panics and is deterministic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use otlp_profiles::{Format, ReadOptions, detect};

fuzz_target!(|bytes: &[u8]| {
    let options = ReadOptions::default();
    let Ok(first) = detect(bytes, &options) else {
        return;
    };
    let second = detect(bytes, &options).expect("the same bytes are detected again");
    assert_eq!(first.format.name(), second.format.name());
    assert_eq!((&first.certainty, &first.evidence), (&second.certainty, &second.evidence));
    assert!(Format::ALL.iter().any(|format| format.name() == first.format.name()));
});
