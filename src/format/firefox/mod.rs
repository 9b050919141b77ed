//! Writes the processed profiles of the Firefox Profiler, a viewer with a timeline for each thread.
//!
//! ```text
//! process ─► thread ─► samples: stack, time, weight
//!                      stackTable: prefix, frame ─► frameTable ─► funcTable ─► stringArray
//! ```
//!
//! The crate `fxprof-processed-profile` builds the JSON. It supports only 32-bit weights and no source files
//! and lines, so `finish` adds these to its JSON.
//!
//! A file contains columns of JSON per thread, with rows that refer to each other by index. The profiler's
//! `src/types/profile` documents the fields. This is the processed form, not the one that Gecko sends.

mod finish;
mod frames;
mod markers;
mod output_budget;
mod threads;
mod write;

use crate::format::{Codec, Encoding};

/// The files of the Firefox Profiler as a format.
///
/// ```
/// use otlp_profiles::{Format, WriteOptions, read, write_all};
///
/// let bytes = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
/// let profiles = read(&bytes, &Default::default())?.profiles;
/// // One for each sample type.
/// let (files, losses) = write_all(&profiles, Format::FIREFOX, &WriteOptions::default())?;
/// assert_eq!(files.len(), 2);
/// assert!(losses.get("attr.sample.dropped").is_some());
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub(crate) static FIREFOX: Codec = Codec {
    name: "firefox",
    aliases: &[],
    about: "files of the Firefox Profiler (profiler.firefox.com), a viewer with timelines",
    extensions: &["firefox.json"],
    gzip_on_disk: false,
    deprecated: None,
    encoding: Encoding::Own { json: true },
    read: None,
    write: Some(write::write),
    options: &["type"],
};
