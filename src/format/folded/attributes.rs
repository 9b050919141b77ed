//! Attributes of an extended line, as text.
//!
//! ```text
//! region=us          a text            n=5        an integer       "n"="5"     texts, by their quotes
//! ok=true            a boolean         x=1.5      a double         b=0x0102    bytes
//! s="a \"b\", c\n"   a text with what would end a word, and a line feed
//! ```
//!
//! Types are told by the look of a word, since OTEP 0239 says none. Writing puts a text in quotes
//! that would be taken for something else, so what is written is read as the same value.

use std::borrow::Cow;

use crate::format::intake::Intake;
use crate::format::json::scalars::hex_bytes;
use crate::format::losses::{LINK_AS_ATTRIBUTE, LINK_INVALID};
use crate::model::dictionary::Link;
use crate::model::value::Value;

/// A value as it is written: one in quotes is a text whatever is in it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Written<'a> {
    /// Without its quotes and escapes; borrowed where there were none.
    pub(crate) text: Cow<'a, [u8]>,
    /// Whether it stood in quotes: `"5"` is a text, `5` a number.
    pub(crate) quoted: bool,
}

impl std::ops::Deref for Written<'_> {
    /// As bytes, since a text need not be UTF-8.
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.text
    }
}

/// Keys and values in the order of the line.
///
/// Keys that repeat are kept here: the reader refuses them by name.
pub(crate) type Pairs<'a> = Vec<(Cow<'a, [u8]>, Written<'a>)>;

/// What a word means that is in no quotes.
#[derive(Debug, PartialEq)]
pub(crate) enum Word {
    /// A boolean, a number or bytes.
    Value(Value),
    /// A text.
    Text,
}

/// The pairs of a text that is nothing but attributes.
///
/// None of a text of which any part is something else: then it belongs to the stack, or to the
/// value.
pub(crate) fn pairs(text: &[u8]) -> Option<Pairs<'_>> {
    if text == b"-" {
        return Some(Vec::new());
    }
    let mut pairs = Vec::new();
    let mut rest = text;
    loop {
        let (key, after) = part(rest, true)?;
        let (value, after) = part(after.strip_prefix(b"=")?, false)?;
        // An empty key has to be in quotes: `=v` is part of a frame.
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

/// A key or a value, and what follows it.
///
/// A key ends at `=`, a value at a comma; a blank ends both, since it separates the parts of a
/// line.
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

/// The text up to the quote that ends it, and what follows.
///
/// `\n` and `\r` are line ends, as a line cannot hold them; any other byte behind a `\` is itself.
/// None where no quote ends it.
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

/// What a word means. A number is one only as it would be written again, so that `007` stays a
/// text.
///
/// Tried in this order: a boolean, an integer of 64 bits, `0x` and an even number of hex digits, a
/// double.
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

/// The id that a value is, with `0x` before it or without.
///
/// 16 bytes of a trace, 8 of a span; none of another length.
pub(crate) fn id<const N: usize>(written: &Written) -> Option<[u8; N]> {
    let text = std::str::from_utf8(written).ok()?;
    hex_bytes(text.strip_prefix("0x").unwrap_or(text))?.try_into().ok()
}

/// Takes the link out of the attributes of a line. Ids of other lengths stay attributes, and are reported.
pub(super) fn take_link(pairs: &mut Pairs, intake: &mut Intake) -> Option<Link> {
    let of = |name: &str| pairs.iter().find(|(key, _)| &key[..] == name.as_bytes());
    let (trace, span) = (of("trace_id"), of("span_id"));
    if !intake.links || trace.is_none() && span.is_none() {
        return None;
    }
    let trace_id = trace.and_then(|(_, value)| id::<16>(value));
    let span_id = span.and_then(|(_, value)| id::<8>(value));
    let (Some(trace_id), Some(span_id)) = (trace_id, span_id) else {
        intake.note(LINK_AS_ATTRIBUTE, String::new, || {
            "a link needs a trace_id of 32 and a span_id of 16 hexadecimal digits".to_owned()
        });
        return None;
    };
    pairs.retain(|(key, _)| &key[..] != b"trace_id" && &key[..] != b"span_id");
    if trace_id == [0; 16] && span_id == [0; 8] {
        intake.note(LINK_INVALID, String::new, || "dropped a link whose ids are zero".to_owned());
        return None;
    }
    Some(Link { trace_id, span_id })
}

/// A decimal number with a point or an exponent.
///
/// What Rust's parser takes beyond this stays a text: `inf`, `nan`, `1.`, `.5`, and numbers past
/// the largest double. An integer without a mark is none either, past 64 bits included.
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

/// Writes a text: as it is if it means itself, else in quotes.
///
/// A key is never taken for a number, so only what ends it needs quotes; `-` alone would be no
/// attributes. The inverse of [`pairs`] and [`word`]: quotes, `\` and line ends are escaped, other
/// bytes are not.
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
