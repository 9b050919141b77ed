//! Formats untrusted text for errors and findings.
//!
//! Messages are printed to terminals, logs and pull requests, and the payload may come from an attacker. An escape
//! sequence must not control the reader's terminal, and a long name must not fill it.
//!
//! ```text
//! 61 1b 5b 32 4a ff   ─►   "a\u{1b}[2J\xff"
//! ```

use std::fmt::{self, Display, Write};

use crate::escape::is_hidden;

/// Maximum characters of a text to print, including escapes.
const SHOWN: usize = 120;

/// Untrusted text: quoted, escaped and truncated; `{:#}` omits the quotes.
///
/// Bytes that are not UTF-8 are printed as `\xff`, so that readers can search for them. Reads at most 480 bytes,
/// whatever the length.
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

/// Escapes hidden characters. Quotes and backslashes are escaped too, so that the output is unambiguous.
fn escape(char: char) -> impl Iterator<Item = char> {
    let plain = !is_hidden(char) && char != '"' && char != '\\';
    let escaped = (!plain).then(|| char.escape_default());
    plain.then_some(char).into_iter().chain(escaped.into_iter().flatten())
}
