//! Reads the output of `perf script`, and similar output of Android's simpleperf.
//!
//! ```text
//! busy  3105/3107 [001]  2121.621847:   20408163 cpu-clock: text of a tracepoint
//!             123a sort_work+0x5e (/home/build/busy)        leaf first
//!   busy.c:15                                               with -F srcline
//! ```
//!
//! | part | in the model |
//! |---|---|
//! | `pid` | a resource with `process.pid`, and `host.name` and `os.version` of the header |
//! | event name | a separate profile; `cpu-clock` and `task-clock` with a period measure nanoseconds |
//! | period | the value; 1 if perf did not print it |
//! | command, `tid`, processor | `thread.name`, `thread.id`, `cpu.logical_number` |
//! | time | the timestamp, if the start of the machine is known (`anchor`) |
//! | frame | a location in a mapping without a range, which the text lacks |
//!
//! simpleperf's `report_sample.py` prints the same with tabs; its `report-sample` prints
//! [records](simpleperf). `perf script -F` selects the printed fields, so the reader requires only the
//! beginning of an event.

mod anchor;
mod block;
pub(in crate::format) mod event;
pub(in crate::format) mod frame;
pub(in crate::format) mod messages;
mod read;
pub(in crate::format) mod simpleperf;
mod trace;

use crate::format::{Codec, Encoding, Read};

/// The output of `perf script` as a format.
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
    about: "output of Linux `perf script`",
    extensions: &[],
    gzip_on_disk: false,
    deprecated: None,
    encoding: Encoding::Own { json: false },
    read: Some(Read::Lines(read::read)),
    write: None,
    options: &["boot-time", "trace-fields", "secrets"],
};
