//! pprof: `perftools.profiles.Profile`.
//!
//! The message is that of [`profile.proto`](https://github.com/google/pprof/blob/main/proto/profile.proto). Rows of its
//! tables go by ids that they carry, and the tables lie between one another, so a file is looked over once
//! ([`layout`]) and then read table by table. Its rows are read by the same code as OTLP's.
//!
//! | reading | |
//! |---|---|
//! | [`layout`], [`strings`], [`ids`] | where rows are; which strings are used; which row an id is |
//! | [`header`] | what is said once |
//! | [`samples`], [`sample_labels`], [`seen`] | stacks and labels, each decoded once however often it comes |
//! | [`mend`], [`finish`], [`equal`], [`times`] | what breaks a rule; the dictionary; equal rows; labels that are times |
//!
//! | writing | |
//! |---|---|
//! | [`write`](mod@write), [`write_samples`], [`write_tables`] | one payload for each set of columns |
//! | [`labels`], [`flags`] | attributes as labels; flags that nobody said |
//! | [`unsaid`](crate::format::unsaid) | what has no place, counted |

mod ahead;
mod equal;
mod finish;
mod flags;
mod header;
mod ids;
mod labels;
mod layout;
mod mend;
mod read;
mod sample_labels;
mod samples;
mod seen;
pub(crate) mod strings;
mod times;
mod write;
mod write_samples;
mod write_tables;

use crate::format::{Codec, Encoding, Read};

/// pprof as a format.
///
/// `gzip_on_disk`, as `profile.proto` asks for: "On disk, the serialized proto must be
/// gzip-compressed".
pub(crate) static PPROF: Codec = Codec {
    name: "pprof",
    aliases: &[],
    about: "pprof (profile.proto), which Go and most profilers write",
    extensions: &["pb", "pprof", "prof"],
    gzip_on_disk: true,
    deprecated: None,
    encoding: Encoding::Pprof,
    read: Some(Read::Bytes(read::read)),
    write: Some(write::write),
    options: &["timestamp-label", "no-links", "timestamps"],
};
