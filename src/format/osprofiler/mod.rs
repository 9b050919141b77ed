//! Reads data of OpenStack's OSProfiler: the messages at the start and the stop of each point, in the
//! envelopes of several stores, and its reports.
//!
//! ```text
//! {"name": "wsgi-start", "base_id": …, "trace_id": …, "parent_id": …, "timestamp": …, "info": {…}}
//! {"name": "wsgi-stop", …}                   a Ceilometer sample: {"metadata": {…, "info.host": …}, …}
//! {"info": {"name": "total", …}, "children": […]}          an event: {"traits": […], "raw": {…}}
//! ```
//!
//! A point becomes a sample, whose stack has the names of the points from the root. The value is the time of
//! the point without that of its children.

mod attributes;
#[cfg(feature = "osprofiler-headers")]
pub(crate) mod headers;
mod message;
mod points;
mod read;
mod report;
mod tree;

use crate::format::{Codec, Encoding, Read};

/// OSProfiler's messages and reports as a format.
///
/// ```
/// use otlp_profiles::{Format, read};
///
/// let bytes = std::fs::read("testdata/osprofiler.jsonl").unwrap();
/// let reading = read(&bytes, &Default::default())?;
/// assert_eq!(reading.detected.format, Format::OSPROFILER);
/// let self_times: i128 = reading.profiles.iter().flat_map(|profile| profile.sums()).sum();
/// assert_eq!(self_times, 88_907_000);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub(crate) static OSPROFILER: Codec = Codec {
    name: "osprofiler",
    aliases: &[],
    about: "messages and reports of OpenStack's OSProfiler",
    extensions: &[],
    gzip_on_disk: false,
    deprecated: None,
    encoding: Encoding::Own { json: true },
    read: Some(Read::Bytes(read::read)),
    write: None,
    options: &["frames", "all-info", "secrets", "merge", "calls"],
};
