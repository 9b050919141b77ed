//! Splitting of text into numbered lines, and parsing of the numbers in them.
//!
//! Lines are slices of the text, without a copy. A malformed line is an error with its line number. Under
//! [`Policy::Repair`](crate::Policy), it is a finding, and the reader continues with the next line.

use crate::compression;
use crate::error::{Error, ErrorKind, Result};
use crate::format::decimal::Decimal;
use crate::framing::{self, Opening};
use crate::losses::{BAD_LINE, VALUE_ROUNDED};
use crate::read_context::ReadContext;
pub(crate) use crate::wire::hex::hex_number as hex;

/// Returns whether detection would mistake the text for UTF-16, compressed bytes or framed messages.
pub(crate) fn is_disguised(text: &[u8]) -> bool {
    const MARKS: [&[u8]; 3] = [&[0xef, 0xbb, 0xbf], &[0xff, 0xfe], &[0xfe, 0xff]];
    MARKS.iter().any(|mark| text.starts_with(mark))
        || compression::magic(text).is_some()
        || matches!(framing::opening(text, true), Opening::Framed(_))
}

/// Iterates over the lines of a text, numbered from 1, without `\r` and `\n`.
pub(crate) fn lines(text: &[u8]) -> Lines<'_> {
    Lines { rest: text, number: 1, is_last: true }
}

/// An iterator over numbered lines.
#[derive(Clone)]
pub(crate) struct Lines<'t> {
    /// The rest of the text.
    pub(crate) rest: &'t [u8],
    /// The number of the next line.
    pub(crate) number: usize,
    /// Whether the text ends with these lines.
    pub(crate) is_last: bool,
}

impl<'t> Iterator for Lines<'t> {
    type Item = (usize, &'t [u8]);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (line, after) = first_line(self.rest)?;
        let number = self.number;
        (self.rest, self.number) = (after, number + 1);
        Some((number, line))
    }
}

/// Splits off the first line, without `\r` and `\n`. Returns `None` if the text is empty.
#[inline]
pub(crate) fn first_line(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = text.get(..find(b'\n', text).unwrap_or(text.len()))?;
    let after = text.get(line.len() + 1..).unwrap_or_default();
    (!text.is_empty()).then_some((line.strip_suffix(b"\r").unwrap_or(line), after))
}

/// Returns the position of the first occurrence of a byte.
///
/// Skips whole blocks without it: the compiler compares all bytes of a block at once.
#[inline]
pub(crate) fn find(byte: u8, text: &[u8]) -> Option<usize> {
    const BLOCK: usize = 32;
    let (blocks, _) = text.as_chunks::<BLOCK>();
    let has = |block: &[u8; BLOCK]| block.iter().fold(false, |has, other| has | (*other == byte));
    let start = blocks.iter().position(has).unwrap_or(blocks.len()) * BLOCK;
    text.get(start..)?.iter().position(|other| *other == byte).map(|at| start + at)
}

/// Returns the result for line `number`, or `None` if the line is malformed and skipped.
///
/// # Errors
///
/// Limits, and malformed lines unless the policy is to repair.
pub(crate) fn kept<T>(made: Result<T>, number: usize, cx: &mut ReadContext) -> Result<Option<T>> {
    let error = match made {
        Ok(made) => return Ok(Some(made)),
        Err(error) => error.in_line(number),
    };
    match error.kind() {
        ErrorKind::Malformed => cx.repair(BAD_LINE, error).map(|()| None),
        _ => Err(error),
    }
}

/// Quotes the beginning of a line for an error message.
pub(crate) fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line.get(..240).unwrap_or(line));
    let mut short: String = text.chars().take(60).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    format!("{short:?}")
}

/// Parses a 64-bit integer.
pub(crate) fn int(word: &[u8]) -> Result<i64> {
    let text = std::str::from_utf8(word).unwrap_or_default();
    let is_int = is_int(word);
    text.parse().ok().filter(|_| is_int).ok_or_else(|| match is_int {
        true => Error::malformed(format!("the value {} overflows 64 bits", shown(word))),
        false => Error::malformed(format!("the value {} is not an integer", shown(word))),
    })
}

/// Returns whether the word is an integer: digits with an optional minus sign.
pub(crate) fn is_int(word: &[u8]) -> bool {
    let digits = word.strip_prefix(b"-").unwrap_or(word);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// Splits a text at the parenthesis that is still open at its end. The parenthesis must begin the text or
/// follow a blank, which excludes those of C++ signatures.
///
/// Counts parentheses from the end, because file names may contain pairs of them.
pub(crate) fn open_parenthesis(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut closed = 0_usize;
    let parenthesis = |byte: &u8| match byte {
        b')' => {
            closed += 1;
            false
        }
        b'(' if closed > 0 => {
            closed -= 1;
            false
        }
        byte => *byte == b'(',
    };
    let at = text.iter().rposition(parenthesis)?;
    let (before, behind) = (text.get(..at)?, text.get(at + 1..)?);
    (before.is_empty() || before.ends_with(b" ")).then_some((before, behind))
}

/// Parses a number, multiplies it by `scale` and rounds it, halves away from 0. Reports a finding if rounding
/// changed it.
pub(crate) fn scaled(word: &[u8], scale: Decimal, cx: &mut ReadContext) -> Result<i64> {
    let Some(number) = std::str::from_utf8(word).ok().and_then(Decimal::of) else {
        return Err(Error::malformed(format!("the value {} is not a number", shown(word))));
    };
    let Some((value, is_rounded)) = number.times(scale) else {
        let message = format!("the value {} overflows 64 bits after scaling", shown(word));
        return Err(Error::malformed(message));
    };
    if is_rounded {
        let message = || format!("the value {} was rounded to {value} after scaling", shown(word));
        cx.note(VALUE_ROUNDED, String::new, message);
    }
    Ok(value)
}

/// Rounds a number to a 64-bit integer, halves away from 0. Returns `None` if it overflows.
pub(crate) fn whole(number: f64) -> Option<i64> {
    const END: f64 = 9_223_372_036_854_775_808.0;
    let rounded = number.round();
    (-END..END).contains(&rounded).then_some(rounded as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_found_wherever_it_is_first() {
        for length in 0..100 {
            let mut text = vec![b'a'; length];
            assert_eq!(find(b'\n', &text), None);
            for at in (0..length).rev() {
                text[at] = b'\n';
                assert_eq!(find(b'\n', &text), Some(at));
            }
        }
        for (text, expected) in [("", 0), ("\n", 1), ("a", 1), ("a\n", 1), ("a\n\nb\r", 3)] {
            assert_eq!(lines(text.as_bytes()).count(), expected, "{text:?}");
        }
    }

    #[test]
    fn numbers_are_whole_or_scaled() {
        assert_eq!(int(b"00012").ok(), Some(12));
        assert_eq!(int(b"9223372036854775807").ok(), Some(i64::MAX));
        for wrong in ["", "-", "+1", "1e3", "2.5", "99999999999999999999", "0x1"] {
            assert!(int(wrong.as_bytes()).is_err(), "{wrong}");
        }
        let mut cx = ReadContext::new(crate::Limits::network(), crate::Policy::Refuse, 0);
        let mut scaled = |word: &str| {
            let scaled = scaled(word.as_bytes(), Decimal::from(10), &mut cx).ok();
            (scaled, cx.findings.len())
        };
        assert_eq!((scaled("-2.5"), scaled("1e300")), ((Some(-25), 0), (None, 0)));
        assert_eq!((scaled("inf"), scaled("0.04")), ((None, 0), (Some(0), 1)));
        assert_eq!((whole(f64::NAN), whole(-9_223_372_036_854_775_808.0)), (None, Some(i64::MIN)));
    }
}
