//! The text that `perf script` prints.
//!
//! ```text
//! busy  3105/3107 [001]  2121.621847:   20408163 cpu-clock: text of a tracepoint
//!             123a sort_work+0x5e (/home/build/busy)        leaf first
//!   busy.c:15                                               with -F srcline
//! ```

mod anchor;
mod block;
pub(in crate::format) mod event;
pub(in crate::format) mod frame;
mod read;

use crate::format::{Codec, Encoding, Read};

/// The text of `perf script` as a format.
///
/// ```
/// use otlp_profiles::{Format, read};
///
/// let text = std::fs::read("testdata/linux-perf-script.txt").unwrap();
/// let reading = read(&text, &Default::default())?;
/// assert_eq!(reading.detected.format, Format::PERF_SCRIPT);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub(crate) static PERF_SCRIPT: Codec = Codec {
    name: "perf-script",
    aliases: &["perf"],
    about: "the text that Linux's perf script prints",
    extensions: &[],
    gzip_on_disk: false,
    deprecated: None,
    encoding: Encoding::Own { json: false },
    read: Some(Read::Lines(read::read)),
    write: None,
    options: &["boot-time", "trace-fields", "secrets"],
};
