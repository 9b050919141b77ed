//! pprof: `perftools.profiles.Profile`.

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
mod strings;
mod times;
pub(crate) mod unsaid;
mod write;
mod write_samples;
mod write_tables;

use crate::format::{Codec, Encoding};

/// pprof as a format.
pub(crate) static PPROF: Codec = Codec {
    name: "pprof",
    aliases: &[],
    about: "pprof's profile.proto, as Go and most profilers write it",
    extensions: &["pb", "pprof", "prof"],
    gzip_on_disk: true,
    deprecated: None,
    encoding: Encoding::Pprof,
    read: Some(read::read),
    write: Some(write::write),
    options: &[],
};
