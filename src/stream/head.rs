//! The beginning of a file: how much of it is examined, and its contents once inflated.

use std::io::Read;

use super::members::second_member;
use super::unicode::Encoding;
use crate::compression::{self, Inflater};
use crate::framing::{Opening, opening};
use crate::limits::Limits;

/// Bytes of a file to examine first to find its framing.
pub(super) const WINDOW: usize = 64 << 10;

/// Inflated bytes that usually show that a file is one message. More would inflate small files twice.
const FEW: usize = 256;

/// Returns the inflated beginning of a file, and whether it is complete. `None` for an unsupported compression.
pub(super) fn inflated(head: &[u8], packed: &str, limits: &Limits) -> Option<(Vec<u8>, bool)> {
    if !compression::is_read(packed) {
        return None;
    }
    let mut start = vec![0; FEW];
    // Most gzip files end here, without the cost of a window and checksums.
    let few = packed == "gzip" && compression::gunzip_some(head, &mut start) == FEW;
    if few && is_bare_message(&start) {
        return Some((start, false));
    }
    start.clear();
    // Truncated or broken files are reported later, when the whole file is read.
    let most = WINDOW.max(16 * head.len());
    let mut inflater = Inflater::new(head, Some(packed), limits).endless().take(most as u64);
    let few = inflater.by_ref().take(FEW as u64).read_to_end(&mut start);
    if few.is_ok() && is_bare_message(&start) {
        return Some((start, false));
    }
    let read = few.and_then(|_| inflater.read_to_end(&mut start));
    let is_whole = read.is_ok() && start.len() < most;
    Some((start, is_whole))
}

/// Returns whether the members of a gzip file are messages, judged by the beginning of the file.
pub(super) fn members(head: &[u8], limits: &Limits) -> Opening {
    // Inflating a member takes longer than searching for the next one.
    let next = head.get(1..).unwrap_or_default();
    if !next.windows(3).any(|bytes| bytes == b"\x1f\x8b\x08") {
        return Opening::Bare;
    }
    let mut inflater = Inflater::new(head, Some("gzip"), limits).endless();
    let (mut first, mut second) = (Vec::new(), Vec::new());
    match inflater.member(limits, &mut first) {
        Ok(true) => {}
        _ => return Opening::Bare,
    }
    // On an error, usually because `head` ends within the member, `second` has its beginning.
    let is_whole = inflater.member(limits, &mut second).is_ok();
    second_member(&first, &second, is_whole)
}

/// Returns whether bytes begin neither frames nor a text, whatever follows.
fn is_bare_message(start: &[u8]) -> bool {
    let first = start.trim_ascii_start().first();
    first.is_some_and(|first| *first != b'{')
        && !is_text(start)
        && opening(start, false) == Opening::Bare
}

/// Returns whether a payload begins with a text that is long enough to read line by line. JSON has no such lines.
pub(super) fn is_long_text(start: &[u8], decoded: Option<&[u8]>) -> bool {
    start.get(..WINDOW).is_some_and(|start| is_text(decoded.unwrap_or(start)))
}

/// Returns whether bytes may be the beginning of a text.
fn is_text(start: &[u8]) -> bool {
    let is_odd = |byte: &u8| *byte < b' ' && !b"\t\n\r\x0c\x1b".contains(byte);
    match start {
        [] | [b'{' | b'[', ..] => false,
        start if Encoding::of(start).is_some() => true,
        start => !start.trim_ascii_start().is_empty() && !start.iter().any(is_odd),
    }
}
