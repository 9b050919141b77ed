//! Helpers for several tests.
#![allow(dead_code, reason = "not every test needs all of it")]

pub mod alloc;
#[cfg(feature = "proto-all")]
pub mod doc;
pub mod files;
#[cfg(feature = "proto-all")]
pub mod forms;
#[cfg(feature = "proto-all")]
#[path = "gen.rs"]
pub mod generate;
#[cfg(feature = "proto-all")]
pub mod model;
#[cfg(feature = "proto-all")]
pub mod pprof;
#[cfg(feature = "proto-all")]
pub mod profcheck;
pub mod shapes;
mod sized;
mod sources;
pub mod wire;

pub use sized::{sized, some};
pub use sources::sources;

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};

use otlp_profiles::{
    Format, Losses, Profiles, ReadOptions, Reader, Reading, Verdict, WriteOptions,
};

/// Reads bytes as a format. Panics on an error.
#[track_caller]
pub fn read(name: &str, bytes: &[u8]) -> Profiles {
    try_read(name, bytes).unwrap_or_else(|error| panic!("{name} is not read: {error}"))
}

pub fn try_read(name: &str, bytes: &[u8]) -> otlp_profiles::Result<Profiles> {
    Ok(otlp_profiles::read(bytes, &options(name))?.profiles)
}

/// Returns the format with a name. Panics if it is unknown.
#[track_caller]
pub fn format(name: &str) -> Format {
    name.parse().expect("a known format")
}

/// Reads every message of a file.
pub fn read_all(bytes: &[u8], options: &ReadOptions) -> otlp_profiles::Result<Vec<Reading>> {
    Reader::new(bytes, options)?.collect()
}

pub fn options(name: &str) -> ReadOptions {
    ReadOptions::default().format(format(name))
}

/// Writes profiles as one payload of a format. Panics on an error.
#[track_caller]
pub fn write(name: &str, profiles: &Profiles) -> (Vec<u8>, Losses) {
    let options = WriteOptions::default().folded_labels(name == "folded");
    match otlp_profiles::write(profiles, format(name), &options) {
        Ok(written) => (written.payload, written.losses),
        Err(error) => panic!("{name} is not written: {error}"),
    }
}

pub fn codes(losses: &Losses) -> Vec<&'static str> {
    losses.iter().map(|loss| loss.code.as_str()).collect()
}

/// Whether a conversion reports that it kept the meaning.
pub fn kept(losses: &Losses) -> bool {
    losses.verdict() <= Verdict::Semantic
}

/// Returns the files of `testdata/` whose name ends in one of `endings`, inflated, by name.
pub fn testdata(endings: &[&str]) -> Vec<(String, Vec<u8>)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata");
    let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(folder)
        .expect("testdata is there")
        .map(|entry| entry.expect("testdata can be listed").path())
        .filter_map(|path| Some((path.file_name()?.to_str()?.to_owned(), path)))
        .filter(|(name, _)| endings.iter().any(|ending| name.ends_with(ending)))
        .map(|(name, path)| (name, inflated(&std::fs::read(path).expect("testdata can be read"))))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

/// Calls `work` for each item, on all processors. For tests of many files.
pub fn on_every_core<T: Sync>(items: &[T], work: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    work(item);
                }
            });
        }
    });
}

pub fn inflated(bytes: &[u8]) -> Vec<u8> {
    otlp_profiles::compression::inflate(bytes, &otlp_profiles::Limits::file())
        .expect("a whole gzip stream")
        .into_owned()
}
