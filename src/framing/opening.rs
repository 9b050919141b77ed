//! Detects the framing of a file from its first bytes.

use super::header::{Header, header};
use super::kind::{FIRST_TAG, Framing, MAGIC};
use crate::wire::read::Reader;

/// The framing that the beginning of a file shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    Framed(Framing),
    /// One payload without frames.
    Bare,
    /// Undecided: more of the file is needed.
    Open,
}

/// Detects the framing of a file from its first bytes. `at_end` means that they are the whole file.
pub(crate) fn opening(head: &[u8], at_end: bool) -> Opening {
    if head.trim_ascii_start().first() == Some(&b'{') {
        return json_opening(head, at_end);
    }
    if head.starts_with(MAGIC) {
        return Opening::Framed(Framing::DelimitedFile);
    }
    let chains =
        [Framing::LengthPrefixed, Framing::Grpc].map(|framing| chain(framing, head, at_end));
    let is_framed = |chain: &&Chain| matches!(chain.opening, Opening::Framed(_));
    let framed = || chains.iter().filter(is_framed);
    // A chain that continues after the window may be a coincidence, unless its messages begin like payloads.
    if let Some(chain) = framed().find(|chain| chain.begins_like_payload).or(framed().next()) {
        return chain.opening;
    }
    // A varint is weak evidence: one byte can be a length, a tag or a letter. Nearly all files begin like a payload
    // and skip this test.
    if !is_payload(head) {
        let delimited = chain(Framing::Delimited, head, at_end);
        if is_framed(&&delimited) && !is_message(head, at_end) {
            return delimited.opening;
        }
    }
    match chains.iter().any(|chain| chain.opening == Opening::Open) {
        true => Opening::Open,
        false => Opening::Bare,
    }
}

/// A chain of alternating lengths and messages.
struct Chain {
    opening: Opening,
    /// Whether the first non-empty message [begins like a payload](is_payload).
    begins_like_payload: bool,
}

/// The most empty messages at the beginning of a file with frames. More of them are zeros that a disk left behind.
const MAX_EMPTY: usize = 1 << 14;

/// Follows the chain of lengths from the beginning of a file.
fn chain(framing: Framing, head: &[u8], at_end: bool) -> Chain {
    let mut first: Option<&[u8]> = None;
    let (mut rest, mut empty) = (head, 0);
    // A letter is a short length, and text files are frequent.
    let may_be_cut =
        framing != Framing::Delimited || head.first().is_some_and(|byte| *byte >= 0x80);
    let bare = Chain { opening: Opening::Bare, begins_like_payload: false };
    while !rest.is_empty() {
        // A truncated last message is accepted if the first one begins like a payload.
        let lost = at_end && !(may_be_cut && first.is_some_and(is_payload));
        let (message, after) = match header(framing, rest) {
            Header::Invalid => return bare,
            Header::Cut if lost => return bare,
            Header::Cut => break,
            Header::Length(length, body) => match body.split_at_checked(length) {
                None if lost => return bare,
                None => (body, &[][..]),
                Some(split) => split,
            },
        };
        let may_begin = if framing == Framing::Delimited { is_payload } else { begins_with_tag };
        if !message.is_empty() {
            if !may_begin(message) {
                return bare;
            }
            first = first.or(Some(message));
        }
        empty += usize::from(first.is_none());
        if empty > MAX_EMPTY {
            return bare;
        }
        rest = after;
    }
    let opening = match first {
        Some(_) => Opening::Framed(framing),
        // A file of zeros only was lost by the disk.
        None if at_end => Opening::Bare,
        None => Opening::Open,
    };
    Chain { opening, begins_like_payload: first.is_some_and(is_payload) }
}

/// Returns whether the first byte may be a tag.
fn begins_with_tag(message: &[u8]) -> bool {
    message.first().is_some_and(|first| *first >= FIRST_TAG)
}

/// Returns whether bytes consist of the fields of one message, as far as they go. Field numbers must be below 16,
/// as in the outermost messages of profiles, so that a tag is one byte.
fn is_message(head: &[u8], at_end: bool) -> bool {
    let mut fields = Reader::new(head);
    loop {
        match fields.rest().first() {
            Some(tag) if *tag < 0x80 => {}
            Some(_) => return false,
            None => return true,
        }
        let skipped = fields.tag().and_then(|tag| tag.map_or(Ok(()), |tag| fields.skip(tag, 1)));
        if skipped.is_err() {
            return !at_end;
        }
    }
}

/// Returns whether a message begins with field 1 or 2, gzip, zstd, zlib or a brace.
fn is_payload(message: &[u8]) -> bool {
    matches!(
        message,
        [0x0a | 0x12 | 0x1f | 0x28 | b'{', ..] | [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..]
    )
}

/// Names that occur in JSON lines that form one document instead of separate messages. OSProfiler sends a message
/// at the start and another at the end of what it measures.
pub(crate) const ONE_DOCUMENT: &[&str] = &["\"base_id\"", "\"trace_id\"", "\"parent_id\""];

/// Detects JSON lines: the first line, from brace to brace, is followed by a line that begins with a brace.
fn json_opening(head: &[u8], at_end: bool) -> Opening {
    let unseen = if at_end { Opening::Bare } else { Opening::Open };
    let text = head.trim_ascii_start();
    let Some(end) = text.iter().position(|byte| *byte == b'\n') else {
        return unseen;
    };
    let (first, rest) = text.split_at(end);
    let has = |name: &&str| first.windows(name.len()).any(|part| part == name.as_bytes());
    match rest.trim_ascii_start().first() {
        _ if !first.trim_ascii_end().ends_with(b"}") => Opening::Bare,
        // Search only files of lines, because a line may be a whole large file.
        Some(b'{') if ONE_DOCUMENT.iter().all(has) => Opening::Bare,
        Some(b'{') => Opening::Framed(Framing::JsonLines),
        Some(_) => Opening::Bare,
        None => unseen,
    }
}
