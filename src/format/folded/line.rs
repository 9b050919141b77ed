//! Splits a line into its parts. It works from the end, because a stack may contain any characters.
//!
//! ```text
//! Foo::bar(int, char) const;baz 42 region=us,n=5 1687841528000000000
//! └──────────── stack ─────────┘ │  └─ pairs ─┘  └──── stamps ─────┘
//!                              values
//! ```
//!
//! Function names contain spaces, equals signs and commas. So a line is extended only if its whole end
//! matches: integers, then attributes, then timestamps or nothing. Otherwise the text belongs to the stack. A
//! writer ends a plain line with ` -` if it would otherwise be read as extended.

use super::attributes::{self, Pairs};
use crate::error::{Error, Result};
use crate::format::lines::{Lines, find, is_int, shown};
use crate::losses::{COLUMNS_UNREAD, LEFT_OUT};
use crate::read_context::ReadContext;
use crate::source_options::TimeUnit;

/// The parts of a line.
#[derive(Debug, PartialEq)]
pub(crate) struct Line<'a> {
    /// Frames from the root to the leaf, separated by `;`; may be empty.
    pub(crate) stack: &'a [u8],
    /// The value, or several separated by commas.
    ///
    /// In a plain line, an unparsed word; in an extended line, integers.
    pub(crate) values: &'a [u8],
    /// The further parts of an extended line.
    pub(crate) more: Option<More<'a>>,
}

/// The attributes and the timestamps of an extended line.
#[derive(Debug, PartialEq)]
pub(crate) struct More<'a> {
    /// Keys and values; empty if the line has `-`.
    pub(crate) pairs: Pairs<'a>,
    /// Timestamps separated by commas, or empty.
    pub(crate) stamps: &'a [u8],
}

impl<'a> Line<'a> {
    /// Splits a line.
    ///
    /// Takes linear time: quotes may require several attempts to split, but each ends at the first
    /// unclosed quote.
    ///
    /// # Errors
    ///
    /// The line has no space, and so no value.
    #[inline]
    pub(crate) fn of(line: &'a [u8]) -> Result<Self> {
        if may_be_extended(line)
            && let Some(line) = extended(line)
        {
            return Ok(line);
        }
        let (stack, values) = split_last(line)?;
        Ok(Self { stack, values, more: None })
    }
}

/// Returns whether one of some lines is extended.
///
/// The reader calls this on the first lines of a file and on each later piece. So it first searches all bytes
/// for the characters of an extended line, which most plain files lack.
pub(crate) fn has_extended(lines: &Lines<'_>) -> bool {
    may_be_extended(lines.rest) && lines.clone().filter_map(row_of).any(|(_, row)| is_extended(row))
}

/// Returns a line that is neither empty nor a [comment](is_comment).
///
/// Trims only the end, because a name may begin with a space.
#[inline]
pub(crate) fn row_of((number, line): (usize, &[u8])) -> Option<(usize, &[u8])> {
    let line = line.trim_ascii_end();
    (!line.is_empty() && !is_comment(line)).then_some((number, line))
}

/// Returns whether a line is a comment of austin or of a flame graph tool: `# KEY: VALUE`, or a `#` without a
/// count.
///
/// Frames may also begin with a `#`: `#<Thread:0x1 app.rb:3 run>;work 7`.
#[inline]
pub(crate) fn is_comment(line: &[u8]) -> bool {
    line.first() == Some(&b'#') && !is_stack(line)
}

/// Returns whether a line that begins with `#` holds a stack, even with a broken count.
#[cold]
fn is_stack(line: &[u8]) -> bool {
    let (is_prose, has_frames) = (line.starts_with(b"# "), line.contains(&b';'));
    let has_count = || split_last(line).is_ok_and(|(_, word)| is_count(word));
    match (is_prose, has_frames) {
        (true, false) => false,
        (false, true) => true,
        _ => has_count() || is_extended(line),
    }
}

/// Returns whether a word is a number, or several separated by commas.
fn is_count(word: &[u8]) -> bool {
    let numbers = std::str::from_utf8(word).unwrap_or_default().split(',');
    let is_number = |text: &str| text.parse().is_ok_and(f64::is_finite);
    numbers.into_iter().all(is_number)
}

/// Returns the [row](row_of) of a line. Notes a comment that may be a stack: one that ends with a number and
/// has no key.
#[inline]
pub(super) fn row<'a>(line: &'a [u8], number: usize, cx: &mut ReadContext) -> Option<&'a [u8]> {
    let row = row_of((number, line));
    if row.is_none() && !line.windows(2).any(|pair| pair == b": ") {
        let line = line.trim_ascii_end();
        if split_last(line).is_ok_and(|(stack, word)| stack.len() > 1 && is_count(word)) {
            let message = || format!("{} was skipped as a comment", shown(line));
            cx.note(LEFT_OUT, || format!("line {number}"), message);
        }
    }
    row.map(|(_, line)| line)
}

/// Counts the numbers at the end of a stack: a line may have more columns than were read.
pub(super) fn numbers_behind(mut stack: &[u8]) -> usize {
    let mut numbers = 0;
    while let Ok((before, word)) = split_last(stack)
        && is_count(word)
        && !before.is_empty()
    {
        (stack, numbers) = (before, numbers + 1);
    }
    numbers
}

/// Notes columns that became part of names: most stacks end with at least `numbers` numbers.
pub(super) fn report_columns(
    (unread, numbers): (usize, usize),
    stacks: usize,
    cx: &mut ReadContext,
) {
    if unread * 2 > stacks {
        let all = numbers + 1;
        let message = || {
            format!(
                "lines end with {all} numbers and the last was read as the value: --columns {all} reads all"
            )
        };
        cx.note(COLUMNS_UNREAD, String::new, message);
    }
}

/// Returns whether some lines may have attributes. It rarely returns `true` for text without any.
///
/// This is a quick test for files with millions of plain lines: attributes contain a `=`, and a line with
/// timestamps only has ` -`.
#[inline]
pub(crate) fn may_be_extended(text: &[u8]) -> bool {
    text.contains(&b'=') || has_dash_behind_blank(text)
}

/// Returns whether the text contains ` -`, which ends a line without attributes that might be read as
/// extended.
fn has_dash_behind_blank(text: &[u8]) -> bool {
    let mut rest = text;
    while let Some(at) = find(b'-', rest) {
        if rest.get(..at).is_some_and(|before| before.ends_with(b" ")) {
            return true;
        }
        rest = rest.get(at + 1..).unwrap_or_default();
    }
    false
}

/// Returns whether a line is extended.
pub(crate) fn is_extended(line: &[u8]) -> bool {
    may_be_extended(line) && extended(line).is_some()
}

/// Splits a line at its last space.
///
/// # Errors
///
/// The line has no space; the message quotes the line.
pub(crate) fn split_last(line: &[u8]) -> Result<(&[u8], &[u8])> {
    let split = line.iter().rposition(|byte| is_blank(*byte)).and_then(|at| cut(line, at));
    split
        .ok_or_else(|| Error::malformed(format!("the stack {} has no value after it", shown(line))))
}

/// Returns whether a byte is a space or a tab: flame graph tools split at both.
fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// Splits a text at byte `at`, and drops that byte.
fn cut(text: &[u8], at: usize) -> Option<(&[u8], &[u8])> {
    Some((text.get(..at)?, text.get(at + 1..)?))
}

/// Splits an extended line, or returns `None` for a plain one.
///
/// The last word holds timestamps only if attributes or ` -` precede it, and is attributes otherwise.
/// After ` -`, it may be negative, which is an error later.
fn extended(line: &[u8]) -> Option<Line<'_>> {
    let (before, last) = cut(line, line.iter().rposition(|byte| *byte == b' ')?)?;
    let is_stamp = !last.contains(&b'-') || before.ends_with(b" -");
    let stamped = (is_ints(last) && is_stamp).then(|| with_attributes(before, last)).flatten();
    stamped.or_else(|| with_attributes(line, b""))
}

/// Splits a text that ends with values and attributes.
///
/// Tries the spaces from right to left, because quoted values may contain some: `k="a 1 b"`. Without a quote,
/// only the last space can be right.
fn with_attributes<'a>(text: &'a [u8], stamps: &'a [u8]) -> Option<Line<'a>> {
    let mut end = text.len();
    let mut quoted = false;
    loop {
        let at = text.get(..end)?.iter().rposition(|byte| *byte == b' ')?;
        let (head, attributes) = cut(text, at)?;
        // Only a quote after this space can make an earlier space the right one.
        quoted |= text.get(at..end)?.contains(&b'"');
        let values = head.iter().rposition(|byte| *byte == b' ').and_then(|at| cut(head, at));
        if let Some((stack, values)) = values.filter(|(_, values)| is_ints(values))
            && let Some(pairs) = attributes::pairs(attributes)
        {
            return Some(Line { stack, values, more: Some(More { pairs, stamps }) });
        }
        if !quoted {
            return None;
        }
        end = at;
    }
}

/// Returns whether a word consists of integers separated by commas.
///
/// Signs are valid and decimal points are not: values of an extended line are those of OTLP.
fn is_ints(word: &[u8]) -> bool {
    word.split(|byte| *byte == b',').all(is_int)
}

/// Parses a timestamp to nanoseconds since 1970.
///
/// Without a unit, the number of digits determines it: today, seconds have ten digits, milliseconds 13,
/// microseconds 16 and nanoseconds 19 ([`TimeUnit::of_digits`]).
///
/// # Errors
///
/// The word is not a number, or exceeds 64 bits of nanoseconds.
pub(crate) fn time(word: &[u8], unit: Option<TimeUnit>) -> Result<u64> {
    let text = std::str::from_utf8(word).unwrap_or_default();
    let unit = unit.unwrap_or(TimeUnit::of_digits(text.len()));
    let time = text.parse::<u64>().ok().and_then(|time| time.checked_mul(unit.nanos()));
    time.ok_or_else(|| {
        Error::malformed(format!("the timestamp {} overflows 64 bits of nanoseconds", shown(word)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_taken_apart_from_its_end() {
        for (line, parts) in [
            ("main;run 42", "main;run|42||"),
            ("x 12 5", "x 12|5||"),
            ("main;op =(x) 7", "main;op =(x)|7||"),
            ("main;a 1 k=v", "main;a|1|k=v|"),
            ("m a 1,2 k=v,w=\"x, 3 y=\\\"z\" 10,11", "m a|1,2|k=v,w=x, 3 y=\"z|10,11"),
            ("main;c 3 - 1687841528", "main;c|3||1687841528"),
            ("main;c 3 -", "main;c|3||"),
            ("main;d -3", "main;d|-3||"),
            ("a k=v 5", "a k=v|5||"),
            ("a 5 k=v,", "a 5|k=v,||"),
            ("a;k=v 12 k=v -3", "a;k=v 12 k=v|-3||"),
            ("a 5 k=\"v", "a 5|k=\"v||"),
            ("a 5 =v", "a 5|=v||"),
            ("a 5 \"\"=v", "a|5|=v|"),
        ] {
            let parsed = |line: Line| {
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                let (pairs, stamps) = line.more.map_or((vec![], &b""[..]), |m| (m.pairs, m.stamps));
                let pairs =
                    pairs.iter().map(|(key, value)| format!("{}={}", text(key), text(value)));
                let pairs: Vec<_> = pairs.collect();
                format!(
                    "{}|{}|{}|{}",
                    text(line.stack),
                    text(line.values),
                    pairs.join(","),
                    text(stamps)
                )
            };
            assert_eq!(parsed(Line::of(line.as_bytes()).unwrap()), parts);
        }
        assert!(Line::of(b"main;e").is_err());
    }

    #[test]
    fn a_long_line_takes_linear_time() {
        for part in ["1 k=\"x ", "1 k=v ", "1 k=\\\" ", "\" ", "=\" 1 "] {
            let line = format!("a {}", part.repeat(100_000));
            assert!(extended(line.as_bytes()).is_none(), "{part}");
        }
    }
}
