//! Recognises payloads that are not protobuf by their beginning: JSON, text and binary files of other tools.
//!
//! Detection calls [`binary`] before it tries protobuf, because those bytes cannot begin a message of
//! profiles. It calls [`text`] afterwards, only if no grammar fits. A recognised kind is read, or named in an
//! error with advice.

use super::foreign::Signature::{Bytes, Compression, Json, Line, Magic, Text};
use super::foreign::{Foreign, profile};
use super::kinds::{FOREIGN, OTLP};
use super::{decide, signatures};
use crate::error::{Error, ErrorKind};

/// Recognises JSON and first bytes that never begin a message of profiles.
pub(super) fn binary(payload: &[u8]) -> Option<Foreign> {
    of_bytes(payload).or_else(|| json(payload, false))
}

/// Recognises first bytes that no other kind has.
fn of_bytes(payload: &[u8]) -> Option<Foreign> {
    let compressed = |name| {
        profile(
            name,
            Compression,
            "decompress it first: one layer of gzip, zlib or zstd is supported",
        )
    };
    let named = || {
        FOREIGN.iter().copied().find(|foreign| match foreign.signature {
            Magic(magics) => magics.iter().any(|magic| payload.starts_with(magic)),
            Bytes(is) => is(payload),
            _ => false,
        })
    };
    crate::compression::magic(payload).map(compressed).or_else(named)
}

/// Recognises a JSON document by the strings in its beginning.
fn of_json(start: &str) -> Option<Foreign> {
    FOREIGN.iter().copied().find(|foreign| match foreign.signature {
        Json(names) => names.iter().all(|name| start.contains(name)),
        _ => false,
    })
}

/// Recognises a text by its beginning.
fn of_text(start: &str) -> Option<Foreign> {
    FOREIGN.iter().copied().find(|foreign| match foreign.signature {
        Line(begins) => begins.iter().any(|begin| start.starts_with(begin)),
        Text(is) => is(start),
        _ => false,
    })
}

/// How much of a text is examined: enough for a header and some lines.
const START: usize = 4096;

/// Returns whether a text begins like an object or list of JSON. The headings of a TOML file begin with a
/// bracket, too.
pub(super) fn begins_json(text: &[u8]) -> bool {
    let inner = |rest: &[u8], first: &[u8]| {
        let rest = rest.trim_ascii_start();
        rest.first().is_none_or(|byte| first.contains(byte))
    };
    match text {
        [b'{', rest @ ..] => inner(rest, b"\"}"),
        [b'[', rest @ ..] => {
            let words: [&[u8]; 3] = [b"true", b"false", b"null"];
            let word = |rest: &[u8]| words.iter().any(|word| rest.starts_with(word));
            inner(rest, b"\"{[]-0123456789") || word(rest.trim_ascii_start())
        }
        _ => false,
    }
}

/// Recognises JSON by the member names in its first kilobytes. `is_cut` means that the document continues
/// after `payload`.
fn json(payload: &[u8], is_cut: bool) -> Option<Foreign> {
    let start = payload.get(..START).unwrap_or(payload);
    // A stack frame may begin like a list: `[1234];main 3`.
    if !begins_json(start)
        || is_folded(payload, is_cut)
        || !start.is_ascii() && std::str::from_utf8(payload).is_err()
    {
        return None;
    }
    let is_empty = payload.len() < 64 && payload.trim_ascii_end() == b"{}";
    if is_empty { Some(OTLP) } else { of_json(&String::from_utf8_lossy(start)) }
}

/// Returns whether the lines at the beginning are folded stacks.
///
/// A truncated line does not count: any number of a list at its end might be its count.
fn is_folded(payload: &[u8], is_cut: bool) -> bool {
    let start = beginning(payload);
    let is_whole = !is_cut && start.len() == payload.len();
    (is_whole || start.contains(&b'\n'))
        && signatures::is_any_folded(&String::from_utf8_lossy(start))
}

/// Returns the examined part of a text, which extends to the end of a long first line.
fn beginning(payload: &[u8]) -> &[u8] {
    let long = payload.get(..16 * START);
    let line = long.unwrap_or(payload).iter().position(|byte| *byte == b'\n');
    let end = match line {
        Some(end) => START.max(end + 1),
        None => long.map_or(payload.len(), |_| START),
    };
    payload.get(..end).unwrap_or(payload)
}

/// Recognises a text by its beginning.
///
/// Text contains no control characters, and is UTF-8 or mostly ASCII. Names in folded stacks may hold any bytes but line
/// ends, so another text must consist of stacks.
pub(super) fn text(payload: &[u8]) -> Option<Foreign> {
    let start = beginning(payload);
    // Text may contain white space, form feeds and escape sequences, but no other control characters.
    let is_control = |byte: &u8| *byte < b' ' && !b"\t\n\r\x0c\x1b".contains(byte) || *byte == 0x7f;
    let ascii = start.iter().filter(|byte| byte.is_ascii()).count();
    let is_utf8 = std::str::from_utf8(start).map_or_else(|e| e.error_len().is_none(), |_| true);
    if start.is_empty() {
        return None;
    }
    let is_plain = !start.iter().any(is_control) && (is_utf8 || ascii * 4 >= start.len() * 3);
    if !is_plain {
        let start = String::from_utf8_lossy(start);
        return Some(&start)
            .filter(|start| signatures::is_stacks(start))
            .and_then(|start| of_text(start));
    }
    let is_cut = start.len() < payload.len();
    let start = String::from_utf8_lossy(start);
    // Stack frames are indented, so spaces before them matter; blank lines do not.
    let start = start.trim_start_matches('\u{feff}').trim_start_matches(['\n', '\r']);
    json(start.trim_start().as_bytes(), is_cut).or_else(|| of_text(start))
}

/// Returns the error for an unrecognised payload.
pub(super) fn nothing(payload: &[u8]) -> Error {
    if let Some(error) = crate::compression::raw_snappy(payload) {
        return error;
    }
    let message = match payload {
        [] => "the input is empty".to_owned(),
        [..] if decide::fields(payload).is_some() => {
            "this is a protobuf message of an unknown type: if it is a profile, name its format"
                .to_owned()
        }
        [first, ..] => {
            let length = payload.len();
            format!(
                "unknown format: {length} bytes that begin with 0x{first:02x} and are not a complete protobuf message: check that the file is complete"
            )
        }
    };
    Error::new(ErrorKind::Unrecognised, message)
}
