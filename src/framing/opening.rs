//! How a file is framed, by how it begins.

use super::header::{Header, header};
use super::kind::{FIRST_TAG, Framing, MAGIC};
use crate::wire::read::Reader;

/// What the beginning of a file says of its framing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    Framed(Framing),
    /// One payload without frames.
    Bare,
    /// More of the file has to be seen.
    Open,
}

/// How a file is framed, by its first bytes: all of them if they are `at_end`.
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
    // A chain that goes on behind the window may be a chance; one whose messages begin like
    // payloads is none.
    if let Some(chain) = framed().find(|chain| chain.begins_like_payload).or(framed().next()) {
        return chain.opening;
    }
    // A varint says the least: one byte can be a length, a tag or a letter. Nearly all files begin like a payload, and
    // are not looked at once more.
    if !head.first().copied().is_some_and(is_payload) {
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

/// How far lengths and messages alternate.
struct Chain {
    opening: Opening,
    /// Whether the first message that is not empty [begins like a payload](is_payload).
    begins_like_payload: bool,
}

fn chain(framing: Framing, head: &[u8], at_end: bool) -> Chain {
    let mut first: Option<u8> = None;
    let mut rest = head;
    // A letter is a short length, and texts are many.
    let may_be_cut =
        framing != Framing::Delimited || head.first().is_some_and(|byte| *byte >= 0x80);
    let bare = Chain { opening: Opening::Bare, begins_like_payload: false };
    while !rest.is_empty() {
        // A file that ends within a message lost its end, if what comes before begins like a payload.
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
        let may_begin = if framing == Framing::Delimited { is_payload } else { is_tag };
        if !message.first().copied().is_none_or(may_begin) {
            return bare;
        }
        first = first.or(message.first().copied());
        rest = after;
    }
    let opening = match first {
        Some(_) => Opening::Framed(framing),
        // Nothing but lengths of 0 is a file the disk has lost.
        None if at_end => Opening::Bare,
        None => Opening::Open,
    };
    Chain { opening, begins_like_payload: first.is_some_and(is_payload) }
}

/// Whether a byte may be a tag.
fn is_tag(first: u8) -> bool {
    first >= FIRST_TAG
}

/// Whether bytes are fields of one message, as far as they go, with numbers that the outermost messages of
/// profiles have: below 16, so that a tag is one byte.
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

/// Whether a message begins with field 1 or 2, gzip, zstd or a brace.
fn is_payload(first: u8) -> bool {
    matches!(first, 0x0a | 0x12 | 0x1f | 0x28 | b'{')
}

/// Names in lines of JSON that are one document, not messages of their own: OSProfiler sends a
/// message at the start and another at the stop of what it measures.
pub(crate) const ONE_DOCUMENT: &[&str] = &["\"base_id\"", "\"trace_id\"", "\"parent_id\""];

/// JSON is lines if its first line, from brace to brace, is followed by one that begins with a brace.
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
        // Looked for in files of lines alone, as a line may be all of a large file.
        Some(b'{') if ONE_DOCUMENT.iter().all(has) => Opening::Bare,
        Some(b'{') => Opening::Framed(Framing::JsonLines),
        Some(_) => Opening::Bare,
        None => unseen,
    }
}
