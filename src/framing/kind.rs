//! The supported framings.

use std::fmt;

/// The framing of several messages in one file or stream.
///
/// ```
/// use otlp_profiles::framing::Framing;
///
/// assert_eq!(Framing::LengthPrefixed.to_string(), "length-prefixed");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Framing {
    /// No framing: the payload is the message.
    #[default]
    None,
    /// A length before each message, 4 bytes big-endian: the Collector's file exporter.
    LengthPrefixed,
    /// A flag before each message, 1 if it is compressed, and its length, 4 bytes big-endian: gRPC.
    Grpc,
    /// A length before each message, a varint: protobuf's delimited messages (`writeDelimitedTo`).
    Delimited,
    /// Delimited messages after `OTLP` and a version, 1 as 4 bytes little-endian: files of Jeffrey.
    DelimitedFile,
    /// One message per line: the Collector's file exporter for JSON. Blank lines are skipped.
    JsonLines,
    /// Profiles that were compressed with gzip individually and concatenated, as by `cat`: each member is a
    /// message.
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

/// The first bytes of a [`Framing::DelimitedFile`].
pub(crate) const MAGIC: &[u8] = b"OTLP\x01\0\0\0";

/// The smallest tag: field numbers begin with 1, and 3 bits hold the wire type.
pub(super) const FIRST_TAG: u8 = 8;

/// The first length that begins with [`FIRST_TAG`], 128 MiB. Delimited messages are limited to it as well, so that
/// their length is a varint of at most four bytes.
pub(super) const MAX_PREFIXED: u32 = (FIRST_TAG as u32) << 24;

/// Maximum size of the varint of a length below [`MAX_PREFIXED`].
pub(super) const MAX_VARINT: usize = 4;

/// Returns the lines that are not blank, without surrounding whitespace.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.filter(|line| !line.is_empty())
}
