//! Parses the lengths before messages.

use super::kind::{Framing, MAX_PREFIXED, MAX_VARINT};
use crate::error::Error;
use crate::wire::read::Reader;
use crate::wire::write::varint_len;

/// The length before a message.
pub(super) enum Header<'a> {
    Invalid,
    /// The bytes end within the length.
    Cut,
    /// The length, and the bytes after it.
    Length(usize, &'a [u8]),
}

/// Parses the length at the beginning of `bytes`.
pub(super) fn header(framing: Framing, bytes: &[u8]) -> Header<'_> {
    let cut = Header::Cut;
    let (length, rest) = match framing {
        Framing::None | Framing::JsonLines | Framing::GzipMembers => return Header::Invalid,
        Framing::LengthPrefixed => match bytes.split_first_chunk() {
            Some((length, rest)) => (u32::from_be_bytes(*length), rest),
            None => return cut,
        },
        Framing::Delimited | Framing::DelimitedFile => {
            let mut rest = Reader::new(bytes);
            match rest.try_varint() {
                // Only the shortest form, which all writers use.
                Some(length) if varint_len(length) == rest.at() => match u32::try_from(length) {
                    Ok(length) => (length, rest.rest()),
                    Err(_) => return Header::Invalid,
                },
                // A varint that does not end within four bytes exceeds `MAX_PREFIXED`.
                None if bytes.len() < MAX_VARINT => return cut,
                _ => return Header::Invalid,
            }
        }
        Framing::Grpc => match bytes.split_first_chunk::<5>() {
            Some(([0 | 1, length @ ..], rest)) => (u32::from_be_bytes(*length), rest),
            Some(_) => return Header::Invalid,
            None if bytes.first().is_some_and(|flag| *flag > 1) => return Header::Invalid,
            None => return cut,
        },
    };
    // A frame of gRPC begins with its flag, so the first byte of a longer length cannot look like a tag.
    let fits = framing == Framing::Grpc || length < MAX_PREFIXED;
    match usize::try_from(length) {
        Ok(length) if fits => Header::Length(length, rest),
        _ => Header::Invalid,
    }
}

/// Splits `bytes` after the first message.
pub(super) fn split(framing: Framing, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    match framing {
        Framing::None | Framing::GzipMembers => Some((bytes, &[])),
        Framing::JsonLines => {
            let text = bytes.trim_ascii_start();
            let end = text.iter().position(|byte| *byte == b'\n');
            let (line, rest) = text.split_at_checked(end.unwrap_or(text.len()))?;
            Some((line.trim_ascii_end(), rest))
        }
        Framing::LengthPrefixed | Framing::Grpc | Framing::Delimited | Framing::DelimitedFile => {
            match header(framing, bytes) {
                Header::Length(length, rest) => rest.split_at_checked(length),
                Header::Cut | Header::Invalid => None,
            }
        }
    }
}

/// Returns the error of a truncated message.
#[cold]
pub(super) fn overrun(length: usize, left: usize) -> Error {
    Error::malformed(format!("length {length} exceeds the remaining {left} bytes of the file"))
}

/// Returns the error of a truncated length.
#[cold]
pub(super) fn cut_header() -> Error {
    Error::malformed("the file ends inside the length prefix of a message")
}
