//! Checks that the time for a payload of very many profiles depends on their content, for writing every format and
//! reading it back.
#![cfg(feature = "proto-all")]

use crate::support::{self, sized};
use otlp_profiles::builder::root_first;
use otlp_profiles::format::Layout;
use otlp_profiles::{Builder, Format, Profiles, WriteOptions, write_all};

/// So many that a writer of quadratic time would not finish.
fn many() -> usize {
    sized(100_000)
}

/// The same for profiles with separate rows, which are read back.
fn with_rows() -> usize {
    sized(10_000)
}

/// Writes profiles to every format.
fn written(model: &Profiles) -> impl Iterator<Item = (&'static str, Vec<Vec<u8>>)> {
    let options = WriteOptions::default().max_output_bytes(u64::MAX);
    Format::ALL.iter().filter(|format| format.is_whole()).map(move |format| {
        let (payloads, _) = write_all(model, *format, &options).unwrap();
        (format.name(), payloads)
    })
}

/// Writes profiles to every format and reads the result.
fn there_and_back(model: &Profiles, expected: usize) {
    for (name, payloads) in written(model) {
        let profiles = payloads.iter().map(|bytes| support::read(name, bytes).iter().count());
        assert_eq!(profiles.sum::<usize>(), expected, "{name}");
    }
}

/// OTLP 1.10 of profiles with nothing but a time, so that no two are columns of one.
fn bare(profiles: usize) -> Profiles {
    use crate::support::wire::{len, nest, tag};
    let mut list = Vec::new();
    for time in 1..=profiles as u64 {
        let mut body = tag(3, 1);
        body.extend(time.to_le_bytes());
        list.extend(len(2, &body));
    }
    support::read("otlp-1.10", &nest(&[1, 2], &list))
}

#[test]
fn profiles_that_hold_nothing() {
    for (name, payloads) in written(&bare(many())) {
        let bytes: usize = payloads.iter().map(Vec::len).sum();
        assert!(bytes > many(), "{name}");
    }
}

#[test]
fn profiles_with_rows_of_their_own() {
    let mut builder = Builder::new();
    for row in 0..with_rows() {
        let cpu = builder.profile(&format!("cpu {row}"), "nanoseconds");
        builder.profile_mut(cpu).time(1 + row as u64).duration(1);
        let leaf = format!("leaf {row}");
        builder.sample(cpu, root_first(["main", "serve", &leaf])).value(1).attr("row", row as i64);
    }
    there_and_back(&builder.finish().unwrap(), with_rows());
}

/// OTLP 1.5 of profiles with different default sample types. Later generations store the default as an attribute of
/// the profile.
fn with_defaults(profiles: usize) -> Profiles {
    use crate::support::wire::{int, len, nest};
    let mut list = Vec::new();
    for row in 1..=profiles as u64 {
        let strings = [len(10, b""), len(10, format!("type {row}").as_bytes())].concat();
        let body = [strings, int(11, row), int(16, 1), len(17, &[7; 16])].concat();
        list.extend(len(2, &body));
    }
    support::read("otlp-1.5", &nest(&[1, 2], &list))
}

#[test]
fn profiles_with_defaults_of_their_own() {
    there_and_back(&with_defaults(with_rows()), with_rows());
}

/// A pprof with very many sample types, followed by `samples`.
fn with_types(samples: &[u8]) -> Profiles {
    use crate::support::wire::{int, len};
    let types = |row: u64| len(1, &[int(1, row), int(2, row)].concat());
    let names = (1..=many()).map(|row| len(6, format!("type {row}").as_bytes()));
    let mut pprof: Vec<u8> = (1..=many() as u64).flat_map(types).chain(len(6, b"")).collect();
    pprof.extend(samples);
    pprof.extend(names.flatten());
    pprof.extend(int(14, many() as u64 / 2));
    support::read("pprof", &pprof)
}

/// A sample with a value for each of very many sample types. Formats of stacks write a file or a part for each.
#[test]
fn a_sample_of_very_many_values() {
    use crate::support::wire::len;
    let model = with_types(&len(2, &len(2, &vec![1; many()])));
    let options = WriteOptions::default().max_output_bytes(u64::MAX);
    for format in [Format::FOLDED, Format::SPEEDSCOPE] {
        let (payloads, _) = write_all(&model, format, &options).unwrap();
        assert!(!payloads.is_empty(), "{}", format.name());
    }
}

/// The generations since 1.8 write a profile for each type.
#[test]
fn a_profile_of_very_many_sample_types() {
    let model = with_types(b"");
    for layout in [Layout::Default, Layout::Compact] {
        let options = WriteOptions::default().max_output_bytes(u64::MAX).layout(layout);
        for format in Format::ALL.iter().filter(|format| format.is_whole()) {
            let (payloads, _) = write_all(&model, *format, &options).unwrap();
            assert!(!payloads.is_empty(), "{}", format.name());
        }
    }
}
