//! Every byte of a payload belongs to one field, so tables and fields add up to the payload.
#![no_main]

use libfuzzer_sys::fuzz_target;
use otlp_profiles::summary::Sizes;
use otlp_profiles_fuzz::options;

fuzz_target!(|input: (u8, &[u8])| {
    let Ok(sizes) = Sizes::of(input.1, &options(input.0)) else { return };
    let tables: u64 = sizes.tables().iter().map(|table| table.bytes).sum();
    assert_eq!(tables, sizes.bytes());
    for table in sizes.tables().iter().filter(|table| !table.fields.is_empty()) {
        assert_eq!(table.fields.iter().map(|field| field.bytes).sum::<u64>(), table.bytes);
    }
    assert!(sizes.strings().is_sorted_by_key(|string| std::cmp::Reverse(string.bytes)));
    assert!(sizes.stacks().is_sorted_by_key(|stack| std::cmp::Reverse(stack.depth)));
});
