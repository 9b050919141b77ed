//! The text that `perf script` prints, and the same of Android's simpleperf.
//!
//! ```text
//! busy  3105/3107 [001]  2121.621847:   20408163 cpu-clock: text of a tracepoint
//!             123a sort_work+0x5e (/home/build/busy)        leaf first
//!   busy.c:15                                               with -F srcline
//! ```
//!
//! | part | in the model |
//! |---|---|
//! | `pid` | a resource with `process.pid`, and with the header's `host.name`, `os.version` |
//! | the event's name | a profile of its own; `cpu-clock` and `task-clock` with a period measure nanoseconds |
//! | the period | the value; 1 where perf was not asked for it |
//! | command, `tid`, processor | `thread.name`, `thread.id`, `cpu.logical_number` |
//! | the time | the timestamp, once it is known when the machine was started (`anchor`) |
//! | a frame | a location in a mapping without a range, as the text has no more of it |
//!
//! simpleperf's `report_sample.py` prints the same with tabs; its `report-sample` prints [records](simpleperf).
//! Which fields are printed depends on `perf script -F`, so nothing but an event's beginning is
//! counted on.

mod anchor;
mod block;
pub(in crate::format) mod event;
pub(in crate::format) mod frame;
pub(in crate::format) mod messages;
mod read;
pub(in crate::format) mod simpleperf;
mod trace;

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
    about: "output of Linux `perf script`",
    extensions: &[],
    gzip_on_disk: false,
    deprecated: None,
    encoding: Encoding::Own { json: false },
    read: Some(Read::Lines(read::read)),
    write: None,
    options: &["boot-time", "trace-fields", "secrets"],
};
