//! Makes untrusted text safe for a terminal.
//!
//! Escape sequences in a file name can move the cursor, hide a line or change colours. Directional
//! marks can make a name read as another. Both are printed as Rust escapes.

use std::path::Path;

use otlp_profiles::escape;
use serde_json::Value;

use crate::numbers::bytes;

/// The most characters shown of a string of a payload, and of all strings of a list together.
pub(crate) const MOST_SHOWN: usize = 200;
/// The same limit in JSON.
pub(crate) const MOST_IN_JSON: usize = 1_000;

/// Escapes a text for a terminal or a log.
pub(crate) fn shown(text: &str) -> String {
    escape::terminal(text).into_owned()
}

/// Formats a JSON document for stdout or stderr, in lines if `is_pretty`.
pub(crate) fn json(document: &Value, is_pretty: bool) -> String {
    let text = if is_pretty { format!("{document:#}") } else { document.to_string() };
    escape::json(&text).into_owned()
}

/// Returns `text`, or its first `most` characters and its size.
///
/// Truncates before copying, because many rows may refer to one long string.
pub(crate) fn beginning(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}… ({})", &text[..at], bytes(text.len() as u64)),
        None => text.to_owned(),
    }
}

/// Escapes a path for printing.
pub(crate) fn shown_path(path: &Path) -> String {
    shown(&path.to_string_lossy())
}

/// Escapes `text`, and quotes it if it is not a single word.
pub(crate) fn word(text: &str) -> String {
    let safe = shown(text);
    if safe.is_empty() || safe.contains([' ', '"', '=']) {
        format!("\"{}\"", safe.replace('"', "\\\""))
    } else {
        safe
    }
}

/// Formats bytes as hex, at most `most` digits; appends the size if it omits some.
pub(crate) fn hex_beginning(all: &[u8], most: usize) -> String {
    match all.get(..most / 2) {
        Some(first) if first.len() < all.len() => {
            format!("{}… ({})", hex(first), bytes(all.len() as u64))
        }
        _ => hex(all),
    }
}

/// Formats bytes as hex digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_are_escaped() {
        assert_eq!(shown("a\x1b[31m\nb\u{85}\u{202e}é"), "a\\u{1b}[31m\\nb\\u{85}\\u{202e}é");
        assert_eq!(word("a b"), "\"a b\"");
        assert_eq!(word("a.pb"), "a.pb");
    }

    #[test]
    fn what_is_long_is_cut_between_characters() {
        let long = "é".repeat(MOST_SHOWN);
        assert_eq!(beginning(&long, MOST_SHOWN), long);
        assert_eq!(beginning(&format!("{long}ab"), MOST_SHOWN), format!("{long}… (402 bytes)"));
        assert_eq!(hex_beginning(&[1, 2], 4), "0102");
        assert_eq!(hex_beginning(&[1, 2, 3], 5), "0102… (3 bytes)");
    }
}
