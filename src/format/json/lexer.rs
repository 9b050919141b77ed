//! A pull parser for JSON. It builds no tree, does not recurse, and reports the byte offset of every error.
//!
//! A [`Lexer`] is a cursor that is cheap to clone, for example to look ahead. Methods consume what they name,
//! after any white space before it.
//!
//! ```text
//! { "a" : [ 1 , 2 ] }      open('{')  key → "a"  open('[')  another  number  another  number  another → no
//! ```
//!
//! The caller limits nesting; [`skip`](Lexer::skip) keeps a list of open brackets instead of recursing.

use std::borrow::Cow;

use crate::error::{Error, ErrorKind, Result};
use crate::format::json::scalars::number_length;
use crate::limits::within;

/// A cursor in a JSON text.
#[derive(Clone, Debug)]
pub(crate) struct Lexer<'a> {
    text: &'a str,
    /// A byte offset, always at a character boundary.
    at: usize,
}

impl<'a> Lexer<'a> {
    /// Creates a cursor at the beginning of a text.
    ///
    /// # Errors
    ///
    /// The bytes are not UTF-8.
    pub(crate) fn new(payload: &'a [u8]) -> Result<Self> {
        match std::str::from_utf8(payload) {
            // Skip a byte order mark, as RFC 8259 allows.
            Ok(text) => Ok(Self { text, at: if text.starts_with('\u{feff}') { 3 } else { 0 } }),
            Err(error) => {
                let at = payload.get(error.valid_up_to()..).unwrap_or_default();
                Err(Error::malformed("the text is not UTF-8").at(at))
            }
        }
    }

    /// Returns the rest of the text.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    /// Skips white space, and returns the next byte.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        let rest = self.rest();
        let white = rest.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
        self.at += white.unwrap_or(rest.len());
        self.rest().first().copied()
    }

    /// Returns the error for anything but `what` at the cursor.
    #[cold]
    pub(crate) fn expected(&mut self, what: &str) -> Error {
        self.peek();
        let message = match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            Some(found) => format!("expected {what}, found {found:?}"),
            None => format!("expected {what}, found the end of the text"),
        };
        Error::malformed(message).at(self.rest())
    }

    /// Consumes a required byte.
    pub(crate) fn open(&mut self, byte: u8, what: &str) -> Result<()> {
        if self.peek() != Some(byte) {
            return Err(self.expected(what));
        }
        self.at += 1;
        Ok(())
    }

    /// Returns whether another element precedes the bracket `close`, and consumes the bracket otherwise.
    pub(crate) fn another(&mut self, first: &mut bool, close: u8) -> Result<bool> {
        if self.peek() == Some(close) {
            self.at += 1;
            return Ok(false);
        }
        if !std::mem::replace(first, false) {
            self.open(b',', if close == b'}' { "',' or '}'" } else { "',' or ']'" })?;
        }
        Ok(true)
    }

    /// Returns the key of the next member and moves to its value, or returns `None` at the end of the object.
    ///
    /// The caller keeps `first` for each object: `true` until the first member, which no comma precedes.
    pub(crate) fn key(&mut self, first: &mut bool) -> Result<Option<Cow<'a, str>>> {
        if !self.another(first, b'}')? {
            return Ok(None);
        }
        let key = self.string("a key")?;
        self.open(b':', "':'")?;
        Ok(Some(key))
    }

    /// Consumes `word` if it is next.
    pub(crate) fn word(&mut self, word: &str) -> bool {
        let here = self.peek().is_some() && self.rest().starts_with(word.as_bytes());
        self.at += if here { word.len() } else { 0 };
        here
    }

    /// Returns a number as written.
    pub(crate) fn number(&mut self, what: &str) -> Result<&'a str> {
        self.peek();
        match number_length(self.rest()) {
            0 => Err(self.expected(what)),
            length => Ok(self.slice(length)),
        }
    }

    /// Returns a string without quotes and escapes.
    pub(crate) fn string(&mut self, what: &str) -> Result<Cow<'a, str>> {
        self.open(b'"', what)?;
        let run = self.run()?;
        if self.word("\"") {
            return Ok(Cow::Borrowed(run));
        }
        let mut text = run.to_owned();
        while self.rest().first() == Some(&b'\\') {
            text.push(self.escape()?);
            text.push_str(self.run()?);
        }
        self.at += 1;
        Ok(Cow::Owned(text))
    }

    /// Consumes `length` bytes, which must end at a character boundary.
    fn slice(&mut self, length: usize) -> &'a str {
        let start = self.at;
        self.at += length;
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// Returns the part of a string up to its next escape or its end.
    ///
    /// # Errors
    ///
    /// An unescaped control character, or the end of the text.
    fn run(&mut self) -> Result<&'a str> {
        let rest = self.rest();
        let Some(length) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20))
        else {
            return Err(Error::malformed("the text ends inside a string").at(rest));
        };
        if rest.get(length).is_some_and(|&byte| byte < 0x20) {
            let at = rest.get(length..).unwrap_or_default();
            return Err(Error::malformed("unescaped control character in a string").at(at));
        }
        Ok(self.slice(length))
    }

    /// Parses one escape, including the backslash.
    ///
    /// # Errors
    ///
    /// Another character follows the backslash.
    fn escape(&mut self) -> Result<char> {
        let start = self.rest();
        self.at += 2;
        Ok(match start.get(1) {
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\x08',
            Some(b'f') => '\x0c',
            Some(&byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'u') => return self.code_point(start),
            _ => return Err(Error::malformed("invalid escape in a string").at(start)),
        })
    }

    /// Parses the digits of `\u….`, or of both escapes of a surrogate pair.
    ///
    /// # Errors
    ///
    /// A surrogate without its other half, which is not a character.
    fn code_point(&mut self, start: &'a [u8]) -> Result<char> {
        let high = self.four_digits(start)?;
        let mut code = high;
        if (0xd800..0xdc00).contains(&high) && self.rest().starts_with(b"\\u") {
            self.at += 2;
            let low = self.four_digits(start)?;
            // Without a low surrogate after it, the high one stays unpaired, and is an error below.
            if (0xdc00..0xe000).contains(&low) {
                code = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
            }
        }
        char::from_u32(code)
            .ok_or_else(|| Error::malformed("unpaired surrogate in a string").at(start))
    }

    fn four_digits(&mut self, start: &'a [u8]) -> Result<u32> {
        let digits = self.rest().get(..4).unwrap_or_default();
        let code = digits
            .iter()
            .try_fold(0, |code, &digit| Some(code << 4 | char::from(digit).to_digit(16)?));
        self.at += digits.len();
        let bad = || Error::malformed("\\u must be followed by four hexadecimal digits").at(start);
        code.filter(|_| digits.len() == 4).ok_or_else(bad)
    }

    /// Skips a value of any kind.
    ///
    /// # Errors
    ///
    /// The text is not JSON, or brackets nest deeper than `max_nesting`.
    pub(crate) fn skip(&mut self, max_nesting: u64) -> Result<()> {
        let mut open = Vec::new();
        loop {
            let mut first = false;
            match self.peek() {
                Some(bracket @ (b'{' | b'[')) => {
                    within("max_nesting", max_nesting, open.len() as u64 + 1)
                        .map_err(|error| error.at(self.rest()))?;
                    open.push(bracket + 2); // the closing bracket of either kind
                    self.at += 1;
                    first = true;
                }
                Some(b'"') => drop(self.string("a value")?),
                _ if ["true", "false", "null"].iter().any(|word| self.word(word)) => {}
                _ => drop(self.number("a value")?),
            }
            loop {
                match open.last() {
                    None => return Ok(()),
                    Some(b'}') if self.key(&mut first)?.is_some() => break,
                    Some(b']') if self.another(&mut first, b']')? => break,
                    Some(_) => first = open.pop().is_none(),
                }
            }
        }
    }

    /// Checks that no further text follows.
    pub(crate) fn end(&mut self) -> Result<()> {
        match self.peek() {
            None => Ok(()),
            Some(b'{' | b'[') => Err(Error::new(
                ErrorKind::Unrecognised,
                "another JSON value follows the message: `jq -c . FILE > profiles.json` writes one message a line, which is read",
            )
            .at(self.rest())),
            Some(_) => {
                Err(Error::malformed("unexpected text after the end of the message")
                    .at(self.rest()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn string(text: &str) -> Result<String> {
        let mut text = Lexer::new(text.as_bytes())?;
        let string = text.string("a string")?.into_owned();
        text.end().map(|()| string)
    }

    fn skip(text: &str) -> Result<()> {
        let mut text = Lexer::new(text.as_bytes())?;
        text.skip(100)?;
        text.end()
    }

    #[test]
    fn strings_lose_their_escapes() {
        assert_eq!(string(r#" "" "#).unwrap(), "");
        assert_eq!(string(r#""\"\\\/\b\f\n\r\t""#).unwrap(), "\"\\/\x08\x0c\n\r\t");
        assert_eq!(string(r#""a\u00fC😀\uD83D\ude00z\u0000""#).unwrap(), "aü😀😀z\0");
        for bad in [
            r#"""#,
            r#""a"#,
            r#""\"#,
            r#""\""#,
            r#""\x""#,
            r#""\u12""#,
            r#""\u12g4""#,
            r#""\u+123""#,
            r#""\ud83d""#,
            r#""\ude00""#,
            r#""\ud83d\n""#,
            r#""\ud83da""#,
            "\"\n\"",
            "'a'",
            "\"\\ü\"",
            r#""\ud83d\u00e4""#,
            r#""\ud83d\ud83d""#,
        ] {
            assert!(string(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn anything_well_formed_is_skipped() {
        for good in [
            "1",
            "-0.5e+7",
            "true",
            "false",
            "null",
            "\"\"",
            "[]",
            "{}",
            " [ ] ",
            "[[],[{}],{\"\":[]}]",
            "{\"a\":1,\"b\":[1,2,{\"c\":null}],\"a\":{}}",
            "[1,\t2 ,\r\n3]",
        ] {
            skip(good).unwrap();
        }
        for bad in [
            "",
            " ",
            "[",
            "{",
            "]",
            "[1",
            "[1,",
            "[1,]",
            "[,1]",
            "[1 2]",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{,}",
            "{a:1}",
            "{1:1}",
            "[1}",
            "{\"a\":1]",
            "nul",
            "tru",
            "+1",
            "01",
            "1.",
            ".5",
            "1e",
            "--1",
            "NaN",
            "1 1",
            "[]]",
            "nulll",
            "1\u{feff}",
        ] {
            assert!(skip(bad).is_err(), "{bad}");
        }
        assert!(skip("\u{feff}[1]").is_ok());
        assert!(skip(&("[".repeat(100) + &"]".repeat(100))).is_ok());
        assert!(
            skip(&"[".repeat(100_000))
                .unwrap_err()
                .to_string()
                .contains("levels of nesting exceed the limit of")
        );
    }

    #[test]
    fn errors_know_their_byte() {
        let payload = b"{\"a\": [1, x]}";
        let error = Lexer::new(payload).unwrap().skip(9).unwrap_err().located(payload);
        assert_eq!(error.to_string(), "expected a value, found 'x' (byte 10)");
        let payload = b"{\"a\": \xff}";
        let error = Lexer::new(payload).unwrap_err().located(payload);
        assert_eq!(error.to_string(), "the text is not UTF-8 (byte 6)");
    }
}
