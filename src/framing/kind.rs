//! The ways of putting several messages into one file.

use std::fmt;

/// How several messages share one file or stream.
///
/// ```
/// use otlp_profiles::framing::Framing;
///
/// assert_eq!(Framing::LengthPrefixed.to_string(), "length-prefixed");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Framing {
    /// Not at all: the payload is the message.
    #[default]
    None,
    /// The Collector's file exporter: before each message its length, 4 bytes big-endian.
    LengthPrefixed,
    /// gRPC: before each message a flag, 1 where it is compressed, and its length, 4 bytes
    /// big-endian.
    Grpc,
    /// Protobuf's delimited messages (`writeDelimitedTo`): before each its length, a varint.
    Delimited,
    /// Delimited messages behind `OTLP` and a version, 1 as 4 bytes little-endian, as Jeffrey writes them to files.
    DelimitedFile,
    /// The Collector's file exporter for JSON: one message a line; blank lines are passed over.
    JsonLines,
    /// Profiles compressed with gzip one by one and joined, as by `cat`: each member is a message.
    GzipMembers,
}

impl fmt::Display for Framing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::LengthPrefixed => "length-prefixed",
            Self::Grpc => "grpc",
            Self::Delimited => "delimited",
            Self::DelimitedFile => "delimited-file",
            Self::JsonLines => "json-lines",
            Self::GzipMembers => "gzip-members",
        })
    }
}

/// What a [`Framing::DelimitedFile`] begins with.
pub(crate) const MAGIC: &[u8] = b"OTLP\x01\0\0\0";

/// A tag is never less: field numbers begin with 1, and 3 bits tell the wire type.
pub(super) const FIRST_TAG: u8 = 8;

/// The length that would begin with [`FIRST_TAG`], 128 MiB. Delimited messages are as short, so that their
/// length is a varint of four bytes at most.
pub(super) const MAX_PREFIXED: u32 = (FIRST_TAG as u32) << 24;

/// The longest varint of a length below [`MAX_PREFIXED`].
pub(super) const MAX_VARINT: usize = 4;

pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.filter(|line| !line.is_empty())
}
