//! A summary equals the summary of a full reading, except that an unchecked summary may accept more payloads.
#![no_main]

use libfuzzer_sys::fuzz_target;
use otlp_profiles::{Summary, read};
use otlp_profiles_fuzz::{facts, options};

fuzz_target!(|input: (u8, &[u8])| {
    let options = options(input.0);
    match (read(input.1, &options), Summary::of(input.1, &options)) {
        (Ok(reading), summary) => {
            let summary = summary.expect("a readable payload has a summary");
            assert_eq!(facts(&summary), facts(&Summary::of_reading(reading)));
        }
        (Err(error), Ok(summary)) => assert!(!summary.is_checked(), "{error}"),
        (Err(error), Err(other)) => assert_eq!(error.to_string(), other.to_string()),
    }
});
