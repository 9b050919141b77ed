//! Packs several messages into one file and splits them again.

mod header;
mod kind;
mod opening;
mod write;

use std::io::{self, BufRead, Read};
use std::iter::FusedIterator;

use crate::error::{Error, Result, unreadable};
use crate::framing::header::{Header, cut_header, header, overrun, split};
use crate::framing::kind::{MAX_VARINT, lines};
use crate::limits::{Limits, within};

pub use kind::Framing;
pub(crate) use kind::MAGIC;
pub(crate) use opening::{ONE_DOCUMENT, Opening, opening};
pub use write::frame;

/// The messages of a payload in order, returned by [`messages`].
///
/// ```text
/// rest ─► │00 00 00 03│0a 01 00│00 00 00 02│0a 00│      framing LengthPrefixed, left 2
///          length      message  length      message
/// ```
///
/// The chain of lengths was validated beforehand, so iteration never fails and allocates nothing.
///
/// ```
/// use otlp_profiles::Limits;
/// use otlp_profiles::framing::{Framing, messages};
///
/// let messages = messages(b"\0\0\0\x03\x0a\x01\0\0\0\0\x02\x0a\0", &Limits::network())?;
/// assert_eq!(messages.framing(), Framing::LengthPrefixed);
/// assert_eq!(messages.len(), 2);
/// assert!(messages.eq([&b"\x0a\x01\0"[..], b"\x0a\0"]));
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Messages<'a> {
    framing: Framing,
    /// The unread part of the payload.
    rest: &'a [u8],
    /// The number of messages in `rest`.
    left: usize,
    /// The lengths of the messages, if they are gzip members.
    lengths: &'a [usize],
}

impl Messages<'_> {
    /// Returns the framing of the messages.
    /// [`Framing::None`] if the payload itself is the one message.
    ///
    /// ```
    /// use otlp_profiles::Limits;
    /// use otlp_profiles::framing::{Framing, frame, messages};
    ///
    /// let file = frame(Framing::LengthPrefixed, [b"\x0a\x00", b"\x0a\x00"])?;
    /// assert_eq!(messages(&file, &Limits::network())?.framing(), Framing::LengthPrefixed);
    /// assert_eq!(messages(b"\x0a\x00", &Limits::network())?.framing(), Framing::None);
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn framing(&self) -> Framing {
        self.framing
    }
}

impl<'a> Iterator for Messages<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        self.left = self.left.checked_sub(1)?;
        // Inflated members are adjacent, without a frame between them.
        let split = match self.lengths.split_off_first() {
            Some(length) => self.rest.split_at_checked(*length),
            None => split(self.framing, self.rest),
        };
        let (message, rest) = split?;
        self.rest = rest;
        Some(message)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Messages<'_> {}
impl FusedIterator for Messages<'_> {}

/// Splits `payload` into its messages; an unframed payload is its only message.
///
/// A payload is framed if lengths and messages alternate to its end, no message begins with a byte less than 8, and
/// at least one message is not empty. The last message may be truncated, as after a crash, only if the first one
/// begins like a payload. A payload is JSON lines if its first line, from brace to brace, is followed by a line
/// that begins with a brace: in a JSON object, `{` never follows `}`. The lines of OSProfiler are an exception,
/// because its messages form one payload.
///
/// A bare message is never mistaken for a framed payload. It begins with a tag, and tags are at least 8, because
/// field numbers begin with 1. Frames begin with a smaller byte: gRPC with its flag, 0 or 1, and a length prefix
/// with its highest byte, less than 8 below 128 MiB. Larger prefixes are not recognised. Text and gzip begin with
/// larger bytes as well, and a brace is not a valid tag: it would begin a group. The two framings could be confused
/// only if the lengths of one formed a valid chain within the messages of the other and ended at the same byte. The
/// length prefix then wins, because files use it. A delimited message begins with a varint, which may look like a
/// tag or a letter. So bytes are delimited messages only if each message begins like a payload, but their
/// concatenation neither begins like one nor consists of the fields of one.
///
/// Messages may be compressed individually, as gRPC's flag indicates or as the Collector is configured. Call
/// [`inflate`](crate::compression::inflate) on each, with the remaining limit.
///
/// ```
/// use otlp_profiles::Limits;
/// use otlp_profiles::compression::{Level, deflate, inflate};
/// use otlp_profiles::framing::{Framing, frame, messages};
///
/// let compressed = deflate(b"\x12\x00", Level::DEFAULT);
/// let stream = frame(Framing::Grpc, [b"\x0a\x00", &compressed[..]])?;
///
/// let mut limits = Limits::network();
/// for message in messages(&stream, &limits)? {
///     let message = inflate(message, &limits)?;
///     limits.max_decompressed_bytes -= message.len() as u64;
///     assert_eq!(message.len(), 2);
/// }
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
///
/// # Errors
///
/// - [`Limit`](crate::ErrorKind::Limit): there are more messages than `max_table_entries`.
/// - [`Malformed`](crate::ErrorKind::Malformed): the payload ends within a message.
pub fn messages<'a>(payload: &'a [u8], limits: &Limits) -> Result<Messages<'a>> {
    let (messages, cut) = whole_messages(payload, limits)?;
    cut.map_or(Ok(messages), Err)
}

/// Returns the complete messages of a payload, and the error of a truncated last one.
///
/// # Errors
///
/// [`Limit`](crate::ErrorKind::Limit) if there are more messages than `max_table_entries`.
pub(crate) fn whole_messages<'a>(
    payload: &'a [u8],
    limits: &Limits,
) -> Result<(Messages<'a>, Option<Error>)> {
    let Opening::Framed(framing) = opening(payload, true) else {
        let framing = Framing::None;
        return Ok((Messages { framing, rest: payload, left: 1, lengths: &[] }, None));
    };
    // Only `DelimitedFile` begins with the magic bytes: `opening` tests for them before it tests other frames.
    let payload = payload.strip_prefix(MAGIC).unwrap_or(payload);
    let (mut left, mut rest, mut cut) = (0, payload, None);
    if framing == Framing::JsonLines {
        left = lines(payload).count();
    } else {
        while !rest.is_empty() {
            let Some((_, after)) = split(framing, rest) else {
                let error = match header(framing, rest) {
                    Header::Length(length, body) => overrun(length, body.len()),
                    Header::Cut | Header::Invalid => cut_header(),
                };
                cut = Some(error.at(rest).within_row("message", left));
                break;
            };
            (left, rest) = (left + 1, after);
        }
    }
    within("max_table_entries", limits.max_table_entries, left as u64)?;
    Ok((Messages { framing, rest: payload, left, lengths: &[] }, cut))
}

/// Returns the inflated gzip members of `bytes` as messages.
pub(crate) fn members<'a>(
    bytes: &'a [u8],
    lengths: &'a [usize],
    limits: &Limits,
) -> Result<Messages<'a>> {
    let left = lengths.len();
    within("max_table_entries", limits.max_table_entries, left as u64)?;
    Ok(Messages { framing: Framing::GzipMembers, rest: bytes, left, lengths })
}

/// Reads the next frame of a stream. `None` at its end.
pub(crate) fn next_frame(
    input: &mut impl BufRead,
    framing: Framing,
    limits: &Limits,
) -> Result<Option<Vec<u8>>> {
    if framing == Framing::JsonLines {
        return next_line(input, limits);
    }
    let head = next_header(input, framing)?;
    match header(framing, &head) {
        _ if head.is_empty() => Ok(None),
        Header::Length(length, _) => {
            within("max_input_bytes", limits.max_input_bytes, length as u64)?;
            // Grows with the bytes that arrive, so a false length costs no memory.
            let mut message = Vec::new();
            take(input, length as u64, &mut message)?;
            match message.len() {
                read if read == length => Ok(Some(message)),
                read => Err(overrun(length, read)),
            }
        }
        Header::Cut => Err(cut_header()),
        Header::Invalid => Err(Error::malformed(format!(
            "expected the length of a message in {framing} framing, found the bytes {head:02x?}"
        ))),
    }
}

/// Reads the bytes of a header. Returns fewer only at the end of the input.
fn next_header(input: &mut impl BufRead, framing: Framing) -> Result<Vec<u8>> {
    let size = if framing == Framing::Grpc { 5 } else { 4 };
    let mut head = Vec::with_capacity(size);
    if !matches!(framing, Framing::Delimited | Framing::DelimitedFile) {
        take(input, size as u64, &mut head)?;
        return Ok(head);
    }
    // Byte by byte, because the bytes after the varint belong to the message.
    while head.len() < MAX_VARINT && head.last().is_none_or(|byte| *byte >= 0x80) {
        let before = head.len();
        take(input, 1, &mut head)?;
        if head.len() == before {
            break;
        }
    }
    Ok(head)
}

/// Reads the next line that is not blank. `None` at the end.
fn next_line(input: &mut impl BufRead, limits: &Limits) -> Result<Option<Vec<u8>>> {
    loop {
        let mut line = Vec::new();
        // One byte past the limit distinguishes a longer line from one that just fits.
        let most = limits.max_input_bytes.saturating_add(1);
        let read = input.take(most).read_until(b'\n', &mut line);
        let read = read.map_err(unreadable)?;
        within("max_input_bytes", limits.max_input_bytes, read as u64)?;
        match line.trim_ascii() {
            [] if read == 0 => return Ok(None),
            [] => {}
            text => return Ok(Some(text.to_vec())),
        }
    }
}

/// Reads up to `most` bytes. Reads fewer only at the end of the input.
pub(crate) fn take(input: &mut impl Read, most: u64, bytes: &mut Vec<u8>) -> Result<()> {
    let read = input.take(most).read_to_end(bytes);
    read.map(drop).map_err(unreadable)
}

/// Reads until `file` has `size` bytes, or the input ends.
///
/// `read_to_end` would zero its buffer for readers outside the standard library. A new zeroed allocation costs
/// nothing, because the system provides zero pages.
pub(crate) fn fill(input: &mut impl Read, size: u64, file: &mut Vec<u8>) -> Result<()> {
    let Some(size) = usize::try_from(size).ok().filter(|size| *size > file.len()) else {
        return Ok(());
    };
    let mut filled = file.len();
    let mut all = vec![0; size];
    all[..filled].copy_from_slice(file);
    while filled < size {
        match input.read(&mut all[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(unreadable(error)),
        }
    }
    all.truncate(filled);
    *file = all;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compression::{Level, deflate, inflate};
    use crate::error::ErrorKind;
    use crate::framing::kind::{FIRST_TAG, MAX_PREFIXED};

    const FRAMINGS: [Framing; 3] = [Framing::LengthPrefixed, Framing::Grpc, Framing::Delimited];

    fn read(payload: &[u8]) -> (Framing, Vec<&[u8]>) {
        let messages = messages(payload, &Limits::network()).unwrap();
        assert_eq!(messages.len(), messages.clone().count());
        (messages.framing(), messages.collect())
    }

    #[test]
    fn what_is_framed_is_taken_apart_again() {
        let large = [&[0x0a, 0x80, 0x80, 4][..], &[0; 65_536]].concat();
        let lists: [&[&[u8]]; 4] =
            [&[b"\x0a\0"], &[b"\x0a\0", b"", b"\x12\0"], &[&large, &large], &[b"", b"", b"\x0a\0"]];
        for framing in FRAMINGS {
            for list in lists {
                let payload = frame(framing, list).unwrap();
                assert_eq!(read(&payload), (framing, list.to_vec()));
            }
        }
    }

    #[test]
    fn a_chain_of_which_no_message_is_whole_is_a_bare_message() {
        for framing in FRAMINGS {
            let payload = frame(framing, [&b"\x0a\0"[..], b"\x12\x01\0"]).unwrap();
            let first = frame(framing, [b"\x0a\0"]).unwrap().len();
            for end in 0..first {
                assert_eq!(read(&payload[..end]), (Framing::None, vec![&payload[..end]]));
            }
        }
    }

    #[test]
    fn no_bare_message_is_taken_for_frames() {
        // Any bytes may follow a tag, even a chain of lengths that ends exactly.
        for tag in FIRST_TAG..=u8::MAX {
            for rest in [&b""[..], b"\0\0\0", b"\0\0\x02\x0a\0", b"\0\0\0\x02\x0a\0"] {
                let payload = [&[tag], rest].concat();
                assert_eq!(read(&payload), (Framing::None, vec![&payload[..]]));
            }
        }
    }

    #[test]
    fn a_file_that_ends_within_a_message_is_framed_if_it_begins_like_payloads() {
        for framing in FRAMINGS {
            let first = [&b"\x0a\x80\x01"[..], &[0; 128]].concat();
            let file = frame(framing, [&first[..], b"\x12\0", b"\x0a\x04abcd"]).unwrap();
            let limits = Limits::network();
            for end in [file.len() - 1, file.len() - 6, file.len() - 8] {
                if framing == Framing::Delimited && end != file.len() - 1 {
                    continue; // whole: a length there is one byte
                }
                let (whole, cut) = whole_messages(&file[..end], &limits).unwrap();
                assert_eq!((whole.framing(), whole.len()), (framing, 2), "{end}");
                assert_eq!(cut.unwrap().place(), "message[2]");
                assert!(messages(&file[..end], &limits).is_err());
            }
            // Before it, the file has no complete message.
            assert_eq!(whole_messages(&file[..132], &limits).unwrap().0.framing(), Framing::None);
            // The magic numbers of gzip and zstd.
            for magic in [b"\x1f\x8b\x08\0", b"\x28\xb5\x2f\xfd"] {
                let compressed = &[&magic[..], &[0; 128]].concat();
                let file = frame(framing, [compressed, compressed]).unwrap();
                let (whole, _) = whole_messages(&file[..file.len() - 1], &limits).unwrap();
                assert_eq!((whole.framing(), whole.len()), (framing, 1));
            }
        }
        let other = b"\0\0\0\x02\x40\x01\0\0\0\x09rest";
        assert_eq!(messages(other, &Limits::network()).unwrap().framing(), Framing::None);
    }

    #[test]
    fn delimited_messages_are_no_message_and_no_text() {
        let one = [&b"\x0a\x28"[..], &[0; 40]].concat();
        for list in [&[&one[..]][..], &[&one, b"", &one]] {
            assert_eq!(read(&frame(Framing::Delimited, list).unwrap()).0, Framing::Delimited);
        }
        // As fields of one message they have lengths as well: 10 is a tag.
        let both = b"\x0a\x0a\x08\x12\x06\0\0\0\0\0\0\0";
        assert_eq!(read(&both[..]), (Framing::None, vec![&both[..]]));
        // A line feed and a name that begins like gzip.
        let text = b"\n\x1f\x8b\x08main 3\n";
        assert_eq!(read(&text[..]).0, Framing::None);
        // No message of a payload begins with field 3.
        assert_eq!(
            read(&frame(Framing::Delimited, [&one[..], b"\x1a\0"]).unwrap()).0,
            Framing::None
        );
        // Lengths of 97 and 123 before a line feed and a bracket, and a truncated one.
        let text = format!("a\n{}z\nb", "x".repeat(96));
        assert_eq!(read(text.as_bytes()).0, Framing::None);
        // A varint of five bytes, longer than necessary.
        let long = [&b"\x80\x80\x80\x80\x01"[..], &one].concat();
        assert_eq!(read(&long).0, Framing::None);
    }

    #[test]
    fn zeros_and_old_binaries_are_not_frames() {
        for zeros in 0..40 {
            assert_eq!(read(&vec![0; zeros]).0, Framing::None);
        }
        // A gperftools profile: words of 0, 3, 0, period, 0.
        let words = [0u32, 3, 0, 10_000, 0, 1, 1, 0x7f00];
        for bytes in [words.map(u32::to_le_bytes), words.map(u32::to_be_bytes)] {
            assert_eq!(read(&bytes.concat()).0, Framing::None);
        }
        // A message that begins with the tag of field 0.
        assert_eq!(read(b"\0\0\0\x02\x02\0").0, Framing::None);
        assert_eq!(read(b"\x02\0\0\0\x02\x0a\0").0, Framing::None);
    }

    #[test]
    fn lines_of_json_are_messages() {
        let two: [&[u8]; 2] = [b"{\"a\":1}", b"{}"];
        let framed = frame(Framing::JsonLines, two).unwrap();
        assert_eq!(framed, b"{\"a\":1}\n{}\n");
        for text in [&framed[..], b"{\"a\":1}\n{}", b"\n {\"a\":1}\r\n\r\n{}\r\n\n"] {
            assert_eq!(read(text), (Framing::JsonLines, two.to_vec()));
        }
        // A broken later line is a broken message.
        let broken = b"{}\n{\"a\":\nx";
        assert_eq!(read(broken).1, [&b"{}"[..], b"{\"a\":", b"x"]);
        for one in [
            &b"{}\n"[..],
            b"{\n\"a\": {}\n}",
            b"{\"a\":[{}\n,{}]}",
            b"{\"a\":[\n{},\n{}\n]}",
            b"[{}\n,{}]",
            b"{}\nx",
            b"a\n{}",
        ] {
            assert_eq!(read(one), (Framing::None, vec![one]));
        }
        for no_line in [&b"{\n}"[..], b"", b"\n"] {
            assert!(frame(Framing::JsonLines, [no_line]).is_err());
        }
    }

    #[test]
    fn messages_may_be_gzip() {
        let compressed = deflate(b"\x0a\0", Level::DEFAULT);
        for framing in FRAMINGS {
            let payload = frame(framing, [&compressed[..], b"\x0a\0"]).unwrap();
            let (found, messages) = read(&payload);
            assert_eq!(found, framing);
            for message in messages {
                assert_eq!(*inflate(message, &Limits::network()).unwrap(), *b"\x0a\0");
            }
        }
        assert_eq!(frame(Framing::Grpc, [&compressed]).unwrap()[0], 1);
    }

    #[test]
    fn messages_are_counted_before_they_are_taken() {
        let payload = frame(Framing::LengthPrefixed, [b"\x0a\0"; 3]).unwrap();
        let limits = Limits::network().max_table_entries(2);
        let error = messages(&payload, &limits).unwrap_err().to_string();
        assert!(error.starts_with("3 rows of one table exceed the limit of 2"), "{error}");
    }

    #[test]
    fn what_a_framing_cannot_hold_is_refused() {
        assert_eq!(frame(Framing::None, [b"\x0a\0"]).unwrap(), b"\x0a\0");
        let error = frame(Framing::None, [b"\x0a\0"; 2]).unwrap_err();
        let message = "a file without framing holds exactly one message, not 2: choose a framing";
        assert_eq!(error.to_string(), message);
        let long = vec![0x0a; MAX_PREFIXED as usize];
        let error = frame(Framing::LengthPrefixed, [&long]).unwrap_err();
        let message =
            "the message has 134217728 bytes; length-prefixed framing allows 134217727 bytes";
        assert_eq!(error.to_string(), message);
        assert_eq!(error.kind(), ErrorKind::Unrepresentable);
    }

    #[test]
    fn the_collectors_own_file_holds_two_messages() {
        let corpus = std::env::var_os("OTLP_PROFILES_CORPUS").filter(|path| !path.is_empty());
        let Some(corpus) = corpus else {
            eprintln!("SKIPPED: OTLP_PROFILES_CORPUS does not name a corpus to read k8s.otlp of");
            return;
        };
        let path = std::path::Path::new(&corpus).join("public/sig-profiling/k8s.otlp");
        let payload = std::fs::read(path).unwrap();
        let (framing, messages) = read(&payload);
        assert_eq!(framing, Framing::LengthPrefixed);
        assert_eq!(messages.iter().map(|message| message.len()).sum::<usize>() + 8, payload.len());
        assert_eq!(messages.len(), 2);
        assert_eq!(frame(framing, messages).unwrap(), payload);
    }
}
