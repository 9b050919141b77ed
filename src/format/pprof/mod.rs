//! pprof: `perftools.profiles.Profile`.
//!
//! The message is defined in
//! [`profile.proto`](https://github.com/google/pprof/blob/main/proto/profile.proto). Rows have ids, and rows
//! of different tables may alternate in a file. So the reader first indexes the file ([`layout`]) and then
//! reads it table by table. It shares the readers of rows with OTLP.
//!
//! | reading | |
//! |---|---|
//! | [`layout`], [`strings`], [`row_ids`] | the places of rows; used strings; the rows of ids |
//! | [`header`] | fields that occur once |
//! | [`samples`], [`sample_labels`], [`byte_strings`] | stacks and labels; each distinct one is decoded once |
//! | [`repair`], [`finish`], [`equal`], [`times`] | repair of samples; the dictionary; equal rows; timestamps in labels |
//!
//! | writing | |
//! |---|---|
//! | [`write`](mod@write), [`write_samples`], [`write_tables`] | one payload for each set of columns |
//! | [`labels`], [`flags`] | attributes as labels; inferred flags |
//! | [`unsupported`](crate::tables::write::unsupported) | data that pprof cannot represent |

mod byte_strings;
mod equal;
mod finish;
mod flags;
mod header;
mod labels;
mod layout;
mod prefetch;
mod read;
mod repair;
mod row_ids;
mod sample_labels;
mod samples;
pub(crate) mod strings;
mod times;
mod write;
mod write_samples;
mod write_tables;

use crate::format::{Codec, Encoding, Read};

/// The registry entry of pprof.
///
/// `gzip_on_disk` follows `profile.proto`: "On disk, the serialized proto must be gzip-compressed".
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
