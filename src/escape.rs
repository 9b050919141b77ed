//! Escapes the text of a file for the place that it is written to: one function for each target.
//!
//! Names, labels and units come from files that anyone may have made. In a terminal, an escape sequence moves the
//! cursor, a line feed forges a row, and a directional mark makes one name read as another. In a log of GitHub Actions, a
//! line that begins with `::` is a command. Every report, picture and message of this crate and its command passes such
//! texts through one of these functions:
//!
//! | target | function |
//! |---|---|
//! | terminal, log, message | [`terminal`] |
//! | the same, at the start of a line | [`line()`] |
//! | workflow command of GitHub Actions | [`workflow_data`], [`workflow_property`] |
//! | SVG, HTML, XML | [`markup`] |
//! | JSON | [`json`] |
//! | folded stacks | [`folded`] |
//! | cell of a spreadsheet | [`spreadsheet`] |
//!
//! ```
//! use otlp_profiles::escape;
//!
//! assert_eq!(escape::terminal("a\nb\u{202e}c"), "a\\nb\\u{202e}c");
//! assert_eq!(escape::markup("a<b>\u{1b}"), "a&lt;b&gt;\\u{1b}");
//! assert_eq!(escape::json("{\"a\u{202e}\": 1}"), "{\"a\\u202e\": 1}");
//! assert_eq!(escape::folded("a;b\nc"), "a:b c");
//! assert_eq!(escape::workflow_property("a:b,c\n"), "a%3Ab%2Cc%0A");
//! assert_eq!(escape::spreadsheet("=1+1"), "'=1+1");
//! ```

use std::borrow::Cow;
use std::fmt::Write;

/// Returns whether a character acts on a terminal or hides from the reader: controls, line separators, marks of
/// direction, zero-width and tag characters. Joiners and variation selectors, which words and emoji need, are not among
/// them.
///
/// ```
/// use otlp_profiles::escape::is_hidden;
/// assert!("\n\u{1b}\u{9b}\u{61c}\u{202e}\u{2066}\u{feff}\u{e0001}".chars().all(is_hidden));
/// assert!(!"aé字\u{200d}".chars().any(is_hidden));
/// ```
pub fn is_hidden(char: char) -> bool {
    char.is_control()
        || matches!(char,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}'
            | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}')
}

/// Escapes a text for a terminal or a log, where it stays on its line: hidden characters become `\n` or `\u{202e}`. So
/// do the brackets of `##[`, `##vso[` and `##teamcity[`, which begin commands of build servers anywhere in a line.
pub fn terminal(text: &str) -> Cow<'_, str> {
    let safe = replaced(text, is_hidden, |char, safe| safe.extend(char.escape_default()));
    without_commands(safe, "\\u{5b}")
}

/// Escapes a text that begins a line of a terminal or a log: as [`terminal`], and the first colon of `::error::`, which
/// is a command of GitHub Actions there.
///
/// ```
/// use otlp_profiles::escape::line;
/// assert_eq!(line("::error file=a::b"), "\\u{3a}:error file=a::b");
/// assert_eq!(line("::operator new"), "::operator new");
/// ```
pub fn line(text: &str) -> Cow<'_, str> {
    let safe = terminal(text);
    let start = safe.len() - safe.trim_start().len();
    match safe[start..].strip_prefix("::") {
        Some(rest) if rest.contains("::") => format!("{}\\u{{3a}}:{rest}", &safe[..start]).into(),
        _ => safe,
    }
}

/// Escapes a text for the message of a workflow command.
pub fn workflow_data(text: &str) -> Cow<'_, str> {
    encoded(text, "%\r\n")
}

/// Escapes a text for a property of a workflow command, such as the name of a file.
pub fn workflow_property(text: &str) -> Cow<'_, str> {
    encoded(text, "%\r\n:,")
}

/// Escapes hidden characters as a terminal needs it, and those of `codes` as `%0A`.
fn encoded<'a>(text: &'a str, codes: &str) -> Cow<'a, str> {
    let acts = |char: char| is_hidden(char) || codes.contains(char);
    replaced(text, acts, |char, safe| match codes.contains(char) {
        true => _ = write!(safe, "%{:02X}", u32::from(char)),
        false => safe.extend(char.escape_default()),
    })
}

/// Escapes a text for an element or an attribute of SVG, HTML or XML. Hidden characters, some of which XML forbids, are
/// escaped as in [`terminal`], line feeds included.
pub fn markup(text: &str) -> Cow<'_, str> {
    let acts = |char: char| match char {
        '&' | '<' | '>' | '"' | '\u{fffe}' | '\u{ffff}' => true,
        other => is_hidden(other),
    };
    let safe = replaced(text, acts, |char, safe| match char {
        '&' => safe.push_str("&amp;"),
        '<' => safe.push_str("&lt;"),
        '>' => safe.push_str("&gt;"),
        '"' => safe.push_str("&quot;"),
        other => safe.extend(other.escape_default()),
    });
    without_commands(safe, "&#91;")
}

/// Escapes the strings of a complete JSON document: hidden characters become `\u202e`. JSON has them in strings only,
/// except the line feeds and tabs between values. So does the bracket of `##[`, as in [`terminal`].
pub fn json(document: &str) -> Cow<'_, str> {
    let acts = |char: char| is_hidden(char) && !matches!(char, '\n' | '\t' | '\r');
    let safe = replaced(document, acts, |char, safe| {
        for unit in char.encode_utf16(&mut [0; 2]) {
            _ = write!(safe, "\\u{unit:04x}");
        }
    });
    without_commands(safe, "\\u005b")
}

/// Replaces the characters of a name that would divide a frame or a line of folded stacks: `;` by `:`, and line ends by
/// spaces.
pub fn folded(name: &str) -> Cow<'_, str> {
    let acts = |char: char| char.is_ascii() && folded_byte(char as u8) != char as u8;
    replaced(name, acts, |char, safe| safe.push(folded_byte(char as u8).into()))
}

/// [`folded`], for a byte of a name.
pub(crate) fn folded_byte(byte: u8) -> u8 {
    match byte {
        b';' => b':',
        b'\n' | b'\r' => b' ',
        byte => byte,
    }
}

/// Guards a text that a spreadsheet would take for a formula, by an apostrophe before it: one that begins with `=`, `+`,
/// `-`, `@`, a tab or a carriage return ([OWASP](https://owasp.org/www-community/attacks/CSV_Injection)).
pub fn spreadsheet(text: &str) -> Cow<'_, str> {
    match text.starts_with(['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠']) {
        true => format!("'{text}").into(),
        false => text.into(),
    }
}

/// What begins a command anywhere in a line of a log: of GitHub Actions, Azure Pipelines and TeamCity.
const COMMANDS: [&str; 3] = ["##[", "##vso[", "##teamcity["];

/// Escapes the bracket of commands.
fn without_commands<'a>(mut text: Cow<'a, str>, bracket: &str) -> Cow<'a, str> {
    if !text.contains("##") {
        return text;
    }
    for command in COMMANDS {
        if text.contains(command) {
            text = text.replace(command, &command.replace('[', bracket)).into();
        }
    }
    text
}

/// Replaces the characters that act. Most texts have none and are not copied.
fn replaced(
    text: &str,
    acts: impl Fn(char) -> bool,
    mut put: impl FnMut(char, &mut String),
) -> Cow<'_, str> {
    let Some(first) = text.find(&acts) else { return Cow::Borrowed(text) };
    let mut safe = String::with_capacity(text.len() + 8);
    safe.push_str(&text[..first]);
    for char in text[first..].chars() {
        if acts(char) { put(char, &mut safe) } else { safe.push(char) }
    }
    Cow::Owned(safe)
}
