//! The Firefox Profiler's processed profiles, written with the crate made for it: a viewer with a
//! time line for each thread.
//!
//! ```text
//! process ─► thread ─► samples: stack, time, weight
//!                      stackTable: prefix, frame ─► frameTable ─► funcTable ─► stringArray
//! ```
//!
//! The crate knows weights of 32 bits and no source files and lines. What it makes is JSON, and these are
//! put into that (`finish`).
//!
//! The viewer's files are columns of JSON by thread, with rows that refer to each other by index;
//! who looks for a field finds it in `src/types/profile` of the profiler, in the processed form
//! and not in what Gecko sends.

mod finish;
mod frames;
mod markers;
mod room;
mod threads;
mod write;

use crate::format::{Codec, Encoding};

/// The Firefox Profiler's files as a format.
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
