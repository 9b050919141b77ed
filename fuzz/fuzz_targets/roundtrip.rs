//! Reading and writing a payload twice gives the same bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use otlp_profiles::{ReadOptions, WriteOptions, read, write};
use otlp_profiles_fuzz::format;

fuzz_target!(|input: (u8, &[u8])| {
    let format = format(input.0);
    let options = ReadOptions::default().format(format);
    let again = |bytes: &[u8]| {
        Some(
            write(&read(bytes, &options).ok()?.profiles, format, &WriteOptions::default())
                .ok()?
                .payload,
        )
    };
    // The first pass puts the tables in order, the second the strings.
    let Some(first) = again(input.1) else { return };
    let second = again(&first).expect("the output is readable and writable");
    assert_eq!(again(&second).as_ref(), Some(&second));
});
