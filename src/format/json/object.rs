//! Finds members of JSON objects in any order.
//!
//! A reader that needs one member before another first collects their positions ([`pick`]) and then reads
//! from them. The object is scanned once, and no data is copied.
//!
//! ```text
//! {"profiles": […], "shared": {…}}  ─►  pick(["shared", "profiles"])  ─►  [position of {…}, position of […]]
//! ```
//!
//! A position ([`Lexer`]) takes two words. The text is scanned at most twice: by `pick`, and when the member
//! is read.

use crate::error::{Error, Result};
use crate::format::decimal::Decimal;
use crate::format::json::lexer::Lexer;
use crate::format::json::scalars::whole;

/// Skips the next object, and returns the positions of the values of some keys. If a key occurs twice, the
/// last one counts. A null value counts as absent.
pub(crate) fn pick<'a, const N: usize>(
    text: &mut Lexer<'a>,
    keys: [&str; N],
    max_nesting: u64,
) -> Result<[Option<Lexer<'a>>; N]> {
    let mut found = [const { None }; N];
    let mut first = true;
    text.open(b'{', "an object")?;
    while let Some(key) = text.key(&mut first)? {
        let position = keys.iter().position(|name| *name == key);
        if let Some(at) = position.and_then(|at| found.get_mut(at)) {
            *at = (!text.clone().word("null")).then(|| text.clone());
        }
        text.skip(max_nesting)?;
    }
    Ok(found)
}

/// An iterator over the elements of a list.
pub(crate) struct List<'a> {
    /// At the next element after [`another`](Self::another) returned `true`. The caller reads the element.
    pub(crate) text: Lexer<'a>,
    first: bool,
    /// The number of the next element.
    pub(crate) row: usize,
}

impl<'a> List<'a> {
    /// Opens the list at the beginning of a text.
    pub(crate) fn of(mut text: Lexer<'a>) -> Result<Self> {
        text.open(b'[', "a list")?;
        Ok(Self { text, first: true, row: 0 })
    }

    /// Returns whether there is another element, and moves `text` to it.
    pub(crate) fn another(&mut self) -> Result<bool> {
        let another = self.text.another(&mut self.first, b']')?;
        self.row += usize::from(another);
        Ok(another)
    }
}

/// Reads a string that may be absent.
///
/// # Errors
///
/// Any other value. The error names it as `what`.
pub(crate) fn string(text: Option<Lexer<'_>>, what: &str) -> Result<String> {
    match text {
        None => Ok(String::new()),
        Some(mut text) => Ok(text.string(what)?.into_owned()),
    }
}

/// Reads an integer of 64 bits.
///
/// # Errors
///
/// The value is a fraction, exceeds 64 bits, or is not a number.
pub(crate) fn int(text: &mut Lexer<'_>, what: &str) -> Result<i64> {
    let at = text.rest();
    let number = text.number(what)?;
    let whole = whole(number).and_then(|number| i64::try_from(number).ok());
    whole.ok_or_else(|| {
        Error::malformed(format!("{number} is not {what} of at most 64 bits")).at(at)
    })
}

/// Converts a number to an integer of 64 bits, if it is one.
pub(crate) fn int_of(number: &str) -> Option<i64> {
    whole(number).and_then(|number| i64::try_from(number).ok())
}

/// Reads a number, multiplies it by `scale` and rounds half away from 0. Also returns whether rounding
/// changed it.
///
/// Computes with decimal digits, because a double would round twice.
///
/// # Errors
///
/// The result exceeds 64 bits.
pub(crate) fn scaled(text: &mut Lexer<'_>, scale: i64, what: &str) -> Result<(i64, bool)> {
    let at = text.rest();
    let number = text.number(what)?;
    let scaled = Decimal::of(number).and_then(|number| number.times(scale.into()));
    scaled.ok_or_else(|| Error::malformed(format!("{what} {number} overflows 64 bits")).at(at))
}

/// Appends a quoted string.
///
/// Escapes only what JSON requires, so text in any language stays readable.
pub(crate) fn write_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    for char in text.chars() {
        match char {
            '"' => out.extend_from_slice(b"\\\""),
            '\\' => out.extend_from_slice(b"\\\\"),
            '\n' => out.extend_from_slice(b"\\n"),
            char if char < ' ' => {
                out.extend_from_slice(format!("\\u{:04x}", u32::from(char)).as_bytes());
            }
            char => out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'"');
}
