//! Text from strangers, as errors and findings show it.
//!
//! A message goes to terminals, logs and pull requests, while its text was written by whoever made
//! the payload. An escape sequence must not act upon the terminal of who reads the report, nor a
//! gigabyte of name fill it.
//!
//! ```text
//! 61 1b 5b 32 4a ff   ─►   "a\u{1b}[2J\xff"
//! ```

use std::fmt::{self, Display, Write};

/// The most characters of a text that are shown.
///
/// In characters of the output, escapes included.
const SHOWN: usize = 120;

/// Text from strangers: in quotes, escaped, and cut; with `{:#}` without the quotes.
///
/// Bytes that are no UTF-8 are shown as `\xff`, so nothing is replaced that could be searched for.
/// Costs at most 480 bytes of reading, whatever the length.
pub(crate) struct Shown<'a>(pub(crate) &'a [u8]);

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (quote, cut) = if f.alternate() { ("", "…") } else { ("\"", "…\"") };
        f.write_str(quote)?;
        let mut left = SHOWN;
        for chunk in self.0.get(..self.0.len().min(4 * SHOWN)).unwrap_or_default().utf8_chunks() {
            for char in chunk.valid().chars() {
                for escaped in escape(char) {
                    if left == 0 {
                        return f.write_str(cut);
                    }
                    left -= 1;
                    f.write_char(escaped)?;
                }
            }
            for byte in chunk.invalid() {
                if left < 4 {
                    return f.write_str(cut);
                }
                left -= 4;
                write!(f, "\\x{byte:02x}")?;
            }
        }
        f.write_str(if self.0.len() > 4 * SHOWN { cut } else { quote })
    }
}

/// What a terminal would act upon is escaped: controls, and marks that turn the direction of writing.
///
/// Quotes and backslashes are escaped too, so that what is shown can be read back without doubt.
fn escape(char: char) -> impl Iterator<Item = char> {
    let acts =
        matches!(char, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let plain = !char.is_control() && !acts && char != '"' && char != '\\';
    let escaped = (!plain).then(|| char.escape_default());
    plain.then_some(char).into_iter().chain(escaped.into_iter().flatten())
}
