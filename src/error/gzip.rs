//! What can be wrong with a compressed file, for the rules that say it.

/// What is wrong with a compressed file.
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
    /// The bytes inside are compressed again.
    Nested,
    /// It is another compression.
    Other,
}
