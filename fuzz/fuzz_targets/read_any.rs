//! No reader panics on any input, with either policy. The first byte selects the format.
#![no_main]

use libfuzzer_sys::fuzz_target;
use otlp_profiles::{Limits, Policy, ReadOptions, Reader};
use otlp_profiles_fuzz::format;

fuzz_target!(|input: (u8, &[u8])| {
    let from = Some(format(input.0));
    let limits = Limits::network().max_owned_bytes(64 << 20);
    for policy in [Policy::Refuse, Policy::Repair] {
        let options = ReadOptions::default().limits(limits).policy(policy).format(from);
        if let Ok(reader) = Reader::new(input.1, &options) {
            reader.for_each(drop);
        }
    }
});
