//! The members of JSON objects that somebody wants, in whatever order they come.
//!
//! Members come in any order, so a reader that needs one before another takes the places first
//! ([`pick`]) and reads from them after. The object is scanned once, and nothing of it is copied.
//!
//! ```text
//! {"profiles": […], "shared": {…}}  ─►  pick(["shared", "profiles"])  ─►  [place of {…}, place of […]]
//! ```
//!
//! A place ([`Text`]) is two words, so a reader keeps it and comes back, and the text is scanned
//! twice at the most: once by `pick`, once when it is read.

use crate::error::{Error, Result};
use crate::format::decimal::Decimal;
use crate::format::json::scalars::whole;
use crate::format::json::text::Text;

/// Where the values of some keys begin in the object that comes next, which is taken; of a key that
/// is said twice, the last. What is null was not said.
pub(crate) fn pick<'a, const N: usize>(
    text: &mut Text<'a>,
    keys: [&str; N],
    max_nesting: u64,
) -> Result<[Option<Text<'a>>; N]> {
    let mut found = [const { None }; N];
    let mut first = true;
    text.open(b'{', "an object")?;
    while let Some(key) = text.key(&mut first)? {
        let wanted = keys.iter().position(|wanted| *wanted == key);
        if let Some(at) = wanted.and_then(|at| found.get_mut(at)) {
            *at = (!text.clone().word("null")).then(|| text.clone());
        }
        text.skip(max_nesting)?;
    }
    Ok(found)
}

/// A list whose elements are taken one after the other.
pub(crate) struct List<'a> {
    /// At the next element once [`another`](Self::another) says that there is one: the caller takes
    /// it.
    pub(crate) text: Text<'a>,
    first: bool,
    /// The number of the next element.
    pub(crate) row: usize,
}

impl<'a> List<'a> {
    /// The list that a text begins with.
    pub(crate) fn of(mut text: Text<'a>) -> Result<Self> {
        text.open(b'[', "a list")?;
        Ok(Self { text, first: true, row: 0 })
    }

    /// Whether there is another element, which is what the text goes on with.
    pub(crate) fn another(&mut self) -> Result<bool> {
        let another = self.text.another(&mut self.first, b']')?;
        self.row += usize::from(another);
        Ok(another)
    }
}

/// A text that may be missing.
///
/// # Errors
///
/// Anything else than a string, named as `what`.
pub(crate) fn string(text: Option<Text<'_>>, what: &str) -> Result<String> {
    match text {
        None => Ok(String::new()),
        Some(mut text) => Ok(text.string(what)?.into_owned()),
    }
}

/// A whole number that 64 bits hold.
///
/// # Errors
///
/// A fraction, a number past 64 bits, or none.
pub(crate) fn int(text: &mut Text<'_>, what: &str) -> Result<i64> {
    let at = text.rest();
    let number = text.number(what)?;
    let whole = whole(number).and_then(|number| i64::try_from(number).ok());
    whole.ok_or_else(|| {
        Error::malformed(format!("{number} is not {what} of at most 64 bits")).at(at)
    })
}

/// The whole number of 64 bits that a number is, if it is one.
pub(crate) fn int_of(number: &str) -> Option<i64> {
    whole(number).and_then(|number| i64::try_from(number).ok())
}

/// A number times `scale`, rounded, halves away from 0, and whether that changed it.
///
/// In decimal digits and not by way of a double, which would round twice.
///
/// # Errors
///
/// What does not fit into 64 bits.
pub(crate) fn scaled(text: &mut Text<'_>, scale: i64, what: &str) -> Result<(i64, bool)> {
    let at = text.rest();
    let number = text.number(what)?;
    let scaled = Decimal::of(number).and_then(|number| number.times(scale.into()));
    scaled.ok_or_else(|| Error::malformed(format!("{what} {number} overflows 64 bits")).at(at))
}

/// Appends a text in quotes.
///
/// What JSON demands is escaped and nothing else, so text of any language stays readable.
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
