//! Faults of compressed files.

/// A fault of a compressed file. Rules of the validator report it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GzipFault {
    Header,
    HeaderCrc,
    HeaderLength,
    Truncated,
    Checksum,
    Size,
    Deflate,
    Garbage,
    /// The decompressed bytes are compressed again.
    Nested,
    /// The file uses another compression.
    Other,
}
