//! Frames messages.

use crate::compression::{self, Level, deflate};
use crate::error::{Error, ErrorKind, Result};
use crate::framing::kind::{Framing, MAGIC, MAX_PREFIXED, lines};
use crate::wire::write::varint;

/// Frames `messages` as one payload. [`messages`](crate::framing::messages) splits it again if at least one message
/// is not empty. Delimited messages must begin like a payload, too.
///
/// gRPC's flag is set for messages that are gzip, zlib or zstd. Lines end with a line feed.
/// Gzip members are compressed here, and only [`MessageReader`](crate::stream::MessageReader) splits them.
///
/// ```
/// use otlp_profiles::framing::{Framing, frame};
///
/// assert_eq!(frame(Framing::LengthPrefixed, [b"\x0a\0"])?, b"\0\0\0\x02\x0a\0");
/// assert_eq!(frame(Framing::Grpc, [b"\x0a\0"])?, b"\0\0\0\0\x02\x0a\0");
/// assert_eq!(frame(Framing::Delimited, [b"\x0a\0"])?, b"\x02\x0a\0");
/// assert!(frame(Framing::None, [b"\x0a\0", b"\x0a\0"]).is_err());
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
///
/// # Errors
///
/// [`ErrorKind::Unrepresentable`]: a message has 128 MiB or more after a length prefix or a varint, or 4 GiB or
/// more in gRPC; a message of JSON lines is not one line; or the number of messages without framing is not one.
pub fn frame<M: AsRef<[u8]>>(
    framing: Framing,
    messages: impl IntoIterator<Item = M>,
) -> Result<Vec<u8>> {
    let mut payload = Vec::new();
    if framing == Framing::DelimitedFile {
        payload.extend_from_slice(MAGIC);
    }
    let mut count = 0u64;
    for message in messages {
        let message = message.as_ref();
        let length = || length_of(framing, message).map(u32::to_be_bytes);
        match framing {
            Framing::JsonLines if lines(message).count() != 1 => return Err(no_line()),
            // A gzip member ends by itself, so it needs no length before it.
            Framing::GzipMembers => {
                payload.extend(deflate(message, Level::DEFAULT));
                count += 1;
                continue;
            }
            Framing::None | Framing::JsonLines => {}
            Framing::LengthPrefixed => payload.extend(length()?),
            Framing::Grpc => {
                payload.push(u8::from(is_compressed(message)));
                payload.extend(length()?);
            }
            Framing::Delimited | Framing::DelimitedFile => {
                varint(&mut payload, u64::from(length_of(framing, message)?));
            }
        }
        payload.extend_from_slice(message);
        if framing == Framing::JsonLines {
            payload.push(b'\n');
        }
        count += 1;
    }
    match (framing, count) {
        (Framing::None, 0 | 2..) => Err(not_one(count)),
        _ => Ok(payload),
    }
}

/// Returns whether a message is compressed in a way that this crate reads.
fn is_compressed(message: &[u8]) -> bool {
    compression::magic(message).is_some_and(compression::is_read)
}

/// Returns the length of a message if the framing can represent it.
fn length_of(framing: Framing, message: &[u8]) -> Result<u32> {
    let most = if framing == Framing::Grpc { u32::MAX } else { MAX_PREFIXED - 1 };
    u32::try_from(message.len()).ok().filter(|length| *length <= most).ok_or_else(|| {
        let length = message.len();
        let message =
            format!("the message has {length} bytes; {framing} framing allows {most} bytes");
        Error::new(ErrorKind::Unrepresentable, message)
    })
}

/// Returns the error of a message that is not one line.
#[cold]
fn no_line() -> Error {
    let message = "a message of JSON lines must be exactly one line of text: write the JSON without line breaks";
    Error::new(ErrorKind::Unrepresentable, message)
}

/// Returns the error of a file without framing that does not hold one message.
#[cold]
fn not_one(count: u64) -> Error {
    let message =
        format!("a file without framing holds exactly one message, not {count}: choose a framing");
    Error::new(ErrorKind::Unrepresentable, message)
}
