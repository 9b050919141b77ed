//! No reader panics on any bytes, under either policy; the first byte picks the format.
#![no_main]

use libfuzzer_sys::fuzz_target;
use otlp_profiles::{FORMATS, Limits, Policy, ReadOptions, read_all};

fuzz_target!(|input: (u8, &[u8])| {
    let from = Some(FORMATS[input.0 as usize % FORMATS.len()]);
    let limits = Limits { max_owned_bytes: 64 << 20, ..Limits::network() };
    for policy in [Policy::Refuse, Policy::Repair] {
        let _ = read_all(input.1, &ReadOptions { limits, policy, from, ..ReadOptions::default() });
    }
});
