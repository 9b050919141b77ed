//! Whatever is read is written in every format or refused, and what is written is read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use otlp_profiles::{FORMATS, Limits, Policy, ReadOptions, WriteOptions, read, write_all};

fuzz_target!(|input: (u8, &[u8])| {
    let from = Some(FORMATS[input.0 as usize % FORMATS.len()]);
    let options = ReadOptions { policy: Policy::Repair, from, ..ReadOptions::default() };
    let Ok(reading) = read(input.1, &options) else {
        return;
    };
    for &format in FORMATS {
        let Ok((payloads, _)) = write_all(&reading.profiles, format, &WriteOptions::default())
        else {
            continue;
        };
        let options = ReadOptions {
            from: Some(format),
            limits: Limits::unlimited(),
            ..ReadOptions::default()
        };
        payloads
            .iter()
            .for_each(|payload| _ = read(payload, &options).expect("what is written is read"));
    }
});
