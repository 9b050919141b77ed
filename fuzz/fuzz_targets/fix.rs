//! A fix changes bytes only if it reports a change, and keeps all totals.
#![no_main]

use libfuzzer_sys::fuzz_target;
use otlp_profiles::check::{Options, fix};
use otlp_profiles::{Policy, read};
use otlp_profiles_fuzz::{format, options, totals};

fuzz_target!(|input: (u8, &[u8])| {
    let fixed = fix(input.1, &Options::default().format(format(input.0)));
    if fixed.changes.is_empty() {
        assert_eq!(*fixed.bytes, *input.1);
        return;
    }
    let options = options(input.0).policy(Policy::Repair);
    let [before, after] = [input.1, &fixed.bytes].map(|bytes| read(bytes, &options));
    if let (Ok(before), after) = (before, after) {
        let after = after.expect("a fixed payload is readable");
        assert_eq!(totals(&before.profiles), totals(&after.profiles));
    }
});
