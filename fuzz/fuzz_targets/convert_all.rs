//! Every writer accepts or rejects any readable profile, and its output is readable.
#![no_main]

use libfuzzer_sys::fuzz_target;
use otlp_profiles::{Format, Limits, Policy, ReadOptions, WriteOptions, read, write_all};
use otlp_profiles_fuzz::format;

fuzz_target!(|input: (u8, &[u8])| {
    let from = Some(format(input.0));
    let options = ReadOptions::default().policy(Policy::Repair).format(from);
    let Ok(reading) = read(input.1, &options) else {
        return;
    };
    for &format in Format::ALL {
        let Ok((payloads, _)) = write_all(&reading.profiles, format, &WriteOptions::default())
        else {
            continue;
        };
        let options = ReadOptions::default().format(format).limits(Limits::unlimited());
        payloads
            .iter()
            .for_each(|payload| _ = read(payload, &options).expect("the output is readable"));
    }
});
