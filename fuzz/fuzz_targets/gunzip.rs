//! Inflating gives what flate2 gives, or refuses; nothing is inflated past the limit.
#![no_main]

use std::io::Read;

use libfuzzer_sys::fuzz_target;
use otlp_profiles::{Limits, inflate};

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits {
        max_decompressed_bytes: 1 << 20,
        ..Limits::network()
    };
    let Ok(ours) = inflate(bytes, &limits) else {
        return;
    };
    assert!(ours.len() <= 1 << 20 || *ours == *bytes);
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut theirs = Vec::new();
        flate2::read::MultiGzDecoder::new(bytes)
            .read_to_end(&mut theirs)
            .expect("flate2 reads what we read");
        assert_eq!(*ours, *theirs);
    }
});
