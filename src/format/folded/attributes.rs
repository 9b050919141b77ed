//! Parses and writes the attributes of an extended line.
//!
//! ```text
//! region=us          a string          n=5        an integer       "n"="5"     strings, by their quotes
//! ok=true            a boolean         x=1.5      a double         b=0x0102    bytes
//! s="a \"b\", c\n"   a string with characters that would end a word, and a line feed
//! ```
//!
//! The form of a word determines its type, because OTEP 0239 declares none. The writer quotes strings that
//! would parse as another type, so every value survives a round trip.

use std::borrow::Cow;

use crate::losses::{LINK_AS_ATTRIBUTE, LINK_INVALID};
use crate::model::dictionary::Link;
use crate::model::value::Value;
use crate::read_context::ReadContext;
use crate::wire::hex::hex_bytes;

/// A word as written. A quoted word is always a string.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Written<'a> {
    /// The text without quotes and escapes. It is borrowed if it has neither.
    pub(crate) text: Cow<'a, [u8]>,
    /// Whether the word was quoted: `"5"` is a string, `5` a number.
    pub(crate) quoted: bool,
}

impl std::ops::Deref for Written<'_> {
    /// Bytes, because a text need not be UTF-8.
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.text
    }
}

/// Keys and values in the order of the line.
///
/// Repeated keys are kept; the reader rejects them with an error that names the key.
pub(crate) type Pairs<'a> = Vec<(Cow<'a, [u8]>, Written<'a>)>;

/// The meaning of an unquoted word.
#[derive(Debug, PartialEq)]
pub(crate) enum Word {
    /// A boolean, a number or bytes.
    Value(Value),
    /// A string.
    Text,
}

/// Parses a text that consists of attributes only.
///
/// Returns `None` if any part is something else: the text then belongs to the stack or the value.
pub(crate) fn pairs(text: &[u8]) -> Option<Pairs<'_>> {
    if text == b"-" {
        return Some(Vec::new());
    }
    let mut pairs = Vec::new();
    let mut rest = text;
    loop {
        let (key, after) = part(rest, true)?;
        let (value, after) = part(after.strip_prefix(b"=")?, false)?;
        // An empty key needs quotes: `=v` is part of a frame.
        if key.text.is_empty() && !key.quoted {
            return None;
        }
        pairs.push((key.text, value));
        match after {
            [] => return Some(pairs),
            [b',', after @ ..] => rest = after,
            _ => return None,
        }
    }
}

/// Splits off a key or a value.
///
/// A key ends at `=`, a value at a comma. A space ends both, because it separates the parts of a line.
fn part(text: &[u8], key: bool) -> Option<(Written<'_>, &[u8])> {
    if let Some(quoted) = text.strip_prefix(b"\"") {
        let (text, after) = unquoted(quoted)?;
        return Some((Written { text: Cow::Owned(text), quoted: true }, after));
    }
    let ends = |byte: &u8| *byte == b',' || *byte == b' ' || key && *byte == b'=';
    let end = text.iter().position(ends).unwrap_or(text.len());
    let (word, after) = text.split_at_checked(end)?;
    let is_word = !word.contains(&b'"') && (key || !word.is_empty());
    is_word.then_some((Written { text: Cow::Borrowed(word), quoted: false }, after))
}

/// Unescapes a text up to the closing quote, and returns the rest as well.
///
/// `\n` and `\r` are line ends, which a line cannot contain; any other byte after a `\` stands for itself.
/// Returns `None` without a closing quote.
fn unquoted(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut out = Vec::new();
    let mut rest = text;
    loop {
        match rest {
            [] => return None,
            [b'"', after @ ..] => return Some((out, after)),
            [b'\\', escaped, after @ ..] => {
                out.push(match escaped {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    other => *other,
                });
                rest = after;
            }
            [byte, after @ ..] => {
                out.push(*byte);
                rest = after;
            }
        }
    }
}

/// Parses an unquoted word: a boolean, a 64-bit integer, `0x` and an even number of hex digits, or a double,
/// in this order.
///
/// An integer must have its canonical form, so `007` stays a string.
pub(crate) fn word(bytes: &[u8]) -> Word {
    let Ok(text) = std::str::from_utf8(bytes) else { return Word::Text };
    let value = match text {
        "true" => Some(Value::Bool(true)),
        "false" => Some(Value::Bool(false)),
        _ => None,
    };
    let int = || text.parse::<i64>().ok().filter(|int| int.to_string() == text).map(Value::Int);
    let bytes = || text.strip_prefix("0x").and_then(hex_bytes).map(|b| Value::Bytes(b.into()));
    let value = value.or_else(int).or_else(bytes).or_else(|| double(text).map(Value::Double));
    value.map_or(Word::Text, Word::Value)
}

/// Parses the id of a trace (16 bytes) or a span (8 bytes), with or without `0x`. Returns `None` for another
/// length.
pub(crate) fn id<const N: usize>(written: &Written) -> Option<[u8; N]> {
    let text = std::str::from_utf8(written).ok()?;
    hex_bytes(text.strip_prefix("0x").unwrap_or(text))?.try_into().ok()
}

/// Removes the link from the attributes of a line. Ids of other lengths stay attributes, with a note.
pub(super) fn take_link(pairs: &mut Pairs, cx: &mut ReadContext) -> Option<Link> {
    let of = |name: &str| pairs.iter().find(|(key, _)| &key[..] == name.as_bytes());
    let (trace, span) = (of("trace_id"), of("span_id"));
    if !cx.links || trace.is_none() && span.is_none() {
        return None;
    }
    let trace_id = trace.and_then(|(_, value)| id::<16>(value));
    let span_id = span.and_then(|(_, value)| id::<8>(value));
    let (Some(trace_id), Some(span_id)) = (trace_id, span_id) else {
        cx.note(LINK_AS_ATTRIBUTE, String::new, || {
            "a link needs a trace_id of 32 and a span_id of 16 hexadecimal digits".to_owned()
        });
        return None;
    };
    pairs.retain(|(key, _)| &key[..] != b"trace_id" && &key[..] != b"span_id");
    if trace_id == [0; 16] && span_id == [0; 8] {
        cx.note(LINK_INVALID, String::new, || "dropped a link whose ids are zero".to_owned());
        return None;
    }
    Some(Link { trace_id, span_id })
}

/// Parses a decimal number with a point or an exponent.
///
/// Other forms that Rust's parser accepts stay strings: `inf`, `nan`, `1.`, `.5`, and numbers beyond the
/// range of a double. So do integers over 64 bits.
fn double(text: &str) -> Option<f64> {
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (number, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    let is_decimal = [whole, part, exponent].iter().all(|part| !part.is_empty() && digits(part));
    let has_mark = unsigned.contains(['.', 'e', 'E']);
    text.parse().ok().filter(|double: &f64| is_decimal && has_mark && double.is_finite())
}

/// Writes a text as it is if it parses as the same text, else in quotes. This is the inverse of [`pairs`] and
/// [`word`].
///
/// A key is never parsed as a number, so it needs quotes only for bytes that would end it, and for `-` alone,
/// which means no attributes. Within quotes, only quotes, `\` and line ends are escaped.
pub(crate) fn write_text(out: &mut Vec<u8>, text: &[u8], key: bool) {
    let special = |byte: &u8| *byte < b' ' || b" ,\"\\\x7f".contains(byte) || key && *byte == b'=';
    let is_plain = !text.is_empty() && !text.iter().any(special);
    if is_plain && (key && text != b"-" || !key && word(text) == Word::Text) {
        return out.extend_from_slice(text);
    }
    out.push(b'"');
    for byte in text {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', *byte]),
            b'\n' => out.extend(b"\\n"),
            b'\r' => out.extend(b"\\r"),
            byte => out.push(*byte),
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_means_what_would_be_written_so() {
        for (text, value) in [
            ("true", Value::Bool(true)),
            ("-5", Value::Int(-5)),
            ("1.5", Value::Double(1.5)),
            ("1e300", Value::Double(1e300)),
            ("0x00fF", Value::Bytes([0, 255].into())),
        ] {
            assert_eq!(word(text.as_bytes()), Word::Value(value), "{text}");
        }
        for text in
            ["True", "007", "-0", "1.", ".5", "1e", "0x0", "inf", "NaN", "99999999999999999999"]
        {
            assert_eq!(word(text.as_bytes()), Word::Text, "{text}");
        }
    }

    #[test]
    fn texts_come_back() {
        for text in ["", "v", "5", "true", "a b", "x,y=\"z\"", "\\", "a\nb\r", "é", "-", "0x"] {
            for key in [false, true].into_iter().filter(|key| !key || !text.is_empty()) {
                let mut out = if key { Vec::new() } else { b"k=".to_vec() };
                write_text(&mut out, text.as_bytes(), key);
                if key {
                    out.extend(b"=v");
                }
                let pairs = pairs(&out).unwrap_or_else(|| panic!("{text:?}"));
                let (name, value) = &pairs[0];
                let got: &[u8] = if key { name } else { value };
                assert_eq!(got, text.as_bytes());
                assert!(key || value.quoted || word(value) == Word::Text);
            }
        }
    }
}
