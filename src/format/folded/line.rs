//! The parts of a line, found from its end, since a stack may hold anything.
//!
//! ```text
//! Foo::bar(int, char) const;baz 42 region=us,n=5 1687841528000000000
//! └──────────── stack ─────────┘ │  └─ pairs ─┘  └──── stamps ─────┘
//!                              values
//! ```
//!
//! Names of functions have blanks, signs of equality and commas, so a line is extended only where
//! all of its end fits: attributes behind whole numbers, with or without timestamps behind them.
//! What fits only in part belongs to the stack. A writer that means a plain line and would be
//! misread ends it with ` -`.

use super::attributes::{self, Pairs};
use crate::error::{Error, Result};
use crate::format::intake::Intake;
use crate::format::lines::{Lines, find, is_int, shown};
use crate::format::losses::{COLUMNS_UNREAD, LEFT_OUT};
use crate::format::source::TimeUnit;

/// A line taken apart.
#[derive(Debug, PartialEq)]
pub(crate) struct Line<'a> {
    /// Frames from the root to the leaf with `;` between them; may be empty.
    pub(crate) stack: &'a [u8],
    /// The value, or several with commas between them.
    ///
    /// Of a plain line one word that nobody has looked into yet; of an extended one whole numbers.
    pub(crate) values: &'a [u8],
    /// What an extended line has besides.
    pub(crate) more: Option<More<'a>>,
}

/// The attributes and the timestamps of an extended line.
#[derive(Debug, PartialEq)]
pub(crate) struct More<'a> {
    /// Keys and values; none where the line says `-`.
    pub(crate) pairs: Pairs<'a>,
    /// Several with commas between them, or none.
    pub(crate) stamps: &'a [u8],
}

impl<'a> Line<'a> {
    /// The parts of a line.
    ///
    /// Linear in the line: where quotes could make it look at a part again, a quote that does not
    /// close ends that look at once.
    ///
    /// # Errors
    ///
    /// No blank: then there is no value.
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

/// Whether one of some lines is extended.
///
/// Asked of the first lines of a file, and of each piece after them, so the signs of an extended
/// line are looked for in all of the bytes first: most plain files have none.
pub(crate) fn has_extended(lines: &Lines<'_>) -> bool {
    may_be_extended(lines.rest) && lines.clone().filter_map(row_of).any(|(_, row)| is_extended(row))
}

/// A line that is neither empty nor a [comment](is_comment).
///
/// Only the end is trimmed: a name may begin with a blank.
#[inline]
pub(crate) fn row_of((number, line): (usize, &[u8])) -> Option<(usize, &[u8])> {
    let line = line.trim_ascii_end();
    (!line.is_empty() && !is_comment(line)).then_some((number, line))
}

/// Whether a line is a comment, as austin and flame graph tools write them: `# KEY: VALUE`, or a `#` and no count.
///
/// Frames may begin with a `#`, too: `#<Thread:0x1 app.rb:3 run>;work 7`.
#[inline]
pub(crate) fn is_comment(line: &[u8]) -> bool {
    line.first() == Some(&b'#') && !is_stack(line)
}

/// Whether a line that begins with a `#` holds a stack, with its count or broken.
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

/// Whether a word is a number, or several with commas between them.
fn is_count(word: &[u8]) -> bool {
    let numbers = std::str::from_utf8(word).unwrap_or_default().split(',');
    let is_number = |text: &str| text.parse().is_ok_and(f64::is_finite);
    numbers.into_iter().all(is_number)
}

/// The [row](row_of) that a line is. Reports a comment that may be a stack: it ends with a number, without a key before.
#[inline]
pub(super) fn row<'a>(line: &'a [u8], number: usize, intake: &mut Intake) -> Option<&'a [u8]> {
    let row = row_of((number, line));
    if row.is_none() && !line.windows(2).any(|pair| pair == b": ") {
        let line = line.trim_ascii_end();
        if split_last(line).is_ok_and(|(stack, word)| stack.len() > 1 && is_count(word)) {
            let message = || format!("{} was skipped as a comment", shown(line));
            intake.note(LEFT_OUT, || format!("line {number}"), message);
        }
    }
    row.map(|(_, line)| line)
}

/// How many numbers end a stack, where a line may have more columns than were read.
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

/// Reports columns that became part of names: of so many stacks most end with numbers, each with so many at least.
pub(super) fn report_columns(
    (unread, numbers): (usize, usize),
    stacks: usize,
    intake: &mut Intake,
) {
    if unread * 2 > stacks {
        let all = numbers + 1;
        let message = || {
            format!(
                "lines end with {all} numbers and the last was read as the value: --columns {all} reads all"
            )
        };
        intake.note(COLUMNS_UNREAD, String::new, message);
    }
}

/// Whether a line, or any of several, may have attributes: seldom said of one that has none.
///
/// A sufficient look for files of millions of plain lines: pairs have a `=`, and a line without
/// pairs has the dash.
#[inline]
pub(crate) fn may_be_extended(text: &[u8]) -> bool {
    text.contains(&b'=') || has_dash_behind_blank(text)
}

/// Whether ` -` is anywhere: a line without attributes ends with it if it might be taken for one that has some.
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

/// Whether a line has attributes.
pub(crate) fn is_extended(line: &[u8]) -> bool {
    may_be_extended(line) && extended(line).is_some()
}

/// What stands before the last blank of a line, and behind it.
///
/// # Errors
///
/// There is no blank; the sentence shows the line.
pub(crate) fn split_last(line: &[u8]) -> Result<(&[u8], &[u8])> {
    let split = line.iter().rposition(|byte| is_blank(*byte)).and_then(|at| cut(line, at));
    split
        .ok_or_else(|| Error::malformed(format!("the stack {} has no value after it", shown(line))))
}

/// A blank or a tab: flame graph tools split at either.
fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// What is before byte `at`, and behind it.
fn cut(text: &[u8], at: usize) -> Option<(&[u8], &[u8])> {
    Some((text.get(..at)?, text.get(at + 1..)?))
}

/// The parts of an extended line; none of a plain one.
///
/// The last word is timestamps only if attributes stand before it, or their dash, behind which one below 0 is an error;
/// else it is attributes itself.
fn extended(line: &[u8]) -> Option<Line<'_>> {
    let (before, last) = cut(line, line.iter().rposition(|byte| *byte == b' ')?)?;
    let is_stamp = !last.contains(&b'-') || before.ends_with(b" -");
    let stamped = (is_ints(last) && is_stamp).then(|| with_attributes(before, last)).flatten();
    stamped.or_else(|| with_attributes(line, b""))
}

/// The parts of a text that ends with attributes behind values.
///
/// From the last blank to the left, as values in quotes may hold blanks: `k="a 1 b"`. Without any
/// quote on the way the last blank is the only one that can be right.
fn with_attributes<'a>(text: &'a [u8], stamps: &'a [u8]) -> Option<Line<'a>> {
    let mut end = text.len();
    let mut quoted = false;
    loop {
        let at = text.get(..end)?.iter().rposition(|byte| *byte == b' ')?;
        let (head, attributes) = cut(text, at)?;
        // A blank may be in quotes that end further on, and only there.
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

/// Whole numbers with commas between them.
///
/// A sign is allowed, a point is not: an extended line has values as OTLP has them.
fn is_ints(word: &[u8]) -> bool {
    word.split(|byte| *byte == b',').all(is_int)
}

/// A time in nanoseconds since 1970.
///
/// Without a unit the number of digits tells it: of today's times seconds have ten, milliseconds
/// 13, microseconds 16, nanoseconds 19 ([`TimeUnit::of_digits`]).
///
/// # Errors
///
/// What is no number, or past 64 bits of nanoseconds.
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
            let said = |line: Line| {
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
            assert_eq!(said(Line::of(line.as_bytes()).unwrap()), parts);
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
