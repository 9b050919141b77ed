//! The bodies of the fuzz targets, and their mutator. docs/FUZZING.md explains how to run them.
//!
//! The first byte of an input selects a format, the rest is a file in it. `gunzip`, `page`, `builder`, `import` and
//! `command` use that byte for other choices.

#[allow(dead_code, reason = "tests of the library measure more than memory")]
#[path = "../../tests/support/alloc.rs"]
mod alloc;
mod builder;
mod checks;
mod codec;
mod command;
mod container;
mod dataset;
mod measures;
mod transforms;

use otlp_profiles::framing::{Framing, messages};
use otlp_profiles::fuzzing::{Random, mutate};
use otlp_profiles::{Ambiguity, Format, Limits, ReadOptions};

#[global_allocator]
static ALLOCATOR: alloc::Counting = alloc::Counting;

/// A target: its name, and a function that panics if an input shows a bug.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 21] = [
    ("builder", builder::builder),
    ("check", checks::check),
    ("command", command::command),
    ("convert", codec::convert),
    ("detect", container::detect),
    ("diff_prost", codec::diff_prost),
    ("fix", checks::fix),
    ("gunzip", container::gunzip),
    ("import", dataset::import),
    ("merge", transforms::merge),
    ("page", container::page),
    ("pipeline", transforms::pipeline),
    ("read", codec::read),
    ("redact", transforms::redact),
    ("roundtrip", codec::roundtrip),
    ("sizes", measures::sizes),
    ("split", transforms::split),
    ("strip", transforms::strip),
    ("summary", measures::summary),
    ("validate", checks::validate),
    ("wire_forms", checks::wire_forms),
];

/// Runs a target on an input.
pub fn run(target: &str, input: &[u8]) {
    let found = TARGETS.iter().find(|(name, _)| *name == target);
    found.unwrap_or_else(|| panic!("{target} is not a target")).1(input);
}

/// Mutates an input with the kit of the library: its format byte stays, except for one in 64.
pub fn mutated(input: &[u8], seed: u64, max_len: usize) -> Vec<u8> {
    let mut random = Random::new(!seed);
    let (byte, file) = input.split_first().unwrap_or((&0, &[]));
    let byte = if random.below(64) == 0 { random.next_u64() as u8 } else { *byte };
    let file = mutate(file, format(byte), seed, max_len.saturating_sub(1));
    [&[byte], &file[..]].concat()
}

/// Declares a fuzz target with the mutator of the library. libFuzzer's own runs once in eight times, as it knows the
/// comparisons that failed.
#[macro_export]
macro_rules! target {
    ($name:literal) => {
        libfuzzer_sys::fuzz_target!(|input: &[u8]| $crate::run($name, input));
        libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
            if seed % 8 == 0 {
                return libfuzzer_sys::fuzzer_mutate(data, size, max_size);
            }
            let mutated = $crate::mutated(&data[..size], seed.into(), max_size);
            data[..mutated.len()].copy_from_slice(&mutated);
            mutated.len()
        });
    };
}

/// The format that the first byte of an input selects.
fn format(byte: u8) -> Format {
    Format::ALL[byte as usize % Format::ALL.len()]
}

/// The format and the file of an input.
fn parts(input: &[u8]) -> Option<(Format, &[u8])> {
    input.split_first().map(|(byte, file)| (format(*byte), file))
}

/// Options for reading an input as a format, within 64 MiB.
fn options(format: Format) -> ReadOptions {
    let limits = Limits::network().max_owned_bytes(64 << 20);
    ReadOptions::default().format(format).limits(limits).ambiguity(Ambiguity::Prefer)
}

/// Whether a file is one message, neither compressed nor in frames.
fn is_bare(file: &[u8]) -> bool {
    let framing = messages(file, &Limits::network()).map(|messages| messages.framing());
    framing.ok() == Some(Framing::None) && !file.starts_with(&[0x1f, 0x8b])
}

/// Whether the format has rules.
fn is_checked(format: Format) -> bool {
    format == Format::PPROF || format.name().starts_with("otlp-1")
}
