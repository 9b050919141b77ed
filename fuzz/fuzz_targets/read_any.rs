//! No reader panics on any input, with either policy. The first byte selects the format.
#![no_main]

use libfuzzer_sys::fuzz_target;
use otlp_profiles::{Format, Limits, Policy, ReadOptions, Reader};

fuzz_target!(|input: (u8, &[u8])| {
    let from = Some(Format::ALL[input.0 as usize % Format::ALL.len()]);
    let limits = Limits::network().max_owned_bytes(64 << 20);
    for policy in [Policy::Refuse, Policy::Repair] {
        let options = ReadOptions::default().limits(limits).policy(policy).format(from);
        if let Ok(reader) = Reader::new(input.1, &options) {
            reader.for_each(drop);
        }
    }
});
