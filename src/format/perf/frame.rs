//! Parses lines of stack frames.
//!
//! ```text
//!         123a sort_work+0x5e (/home/build/busy)      address, symbol, binary
//!         98 helper (inlined)                         no binary: see the next line
//!     ffffffff81 [unknown] ([kernel.kallsyms])        no symbol
//!   busy.c:15                                        -F srcline, after its frame
//! ```
//!
//! C++ symbols contain spaces and parentheses. So the parser takes the address from the beginning and the
//! binary from the end; the rest is the symbol.

use crate::error::{Error, Result};
use crate::format::lines::{hex, int, is_int, open_parenthesis, shown};

/// A line of a stack.
#[derive(Debug, PartialEq)]
pub(crate) struct Frame<'a> {
    /// The program counter. The offset after the symbol is dropped, because the address includes it.
    pub(crate) address: u64,
    /// The symbol, or empty if unknown.
    pub(crate) symbol: &'a [u8],
    /// The binary, or `None` if the line omits it.
    pub(crate) binary: Option<&'a [u8]>,
    /// Whether the function is inlined into that of the next line, which has the binary.
    pub(crate) inlined: bool,
}

impl<'a> Frame<'a> {
    /// Parses `123a sort_work+0x5e (/home/build/busy)`.
    ///
    /// # Errors
    ///
    /// The line does not begin with hex digits.
    pub(crate) fn of(line: &'a [u8]) -> Result<Self> {
        Self::parse(line).ok_or_else(|| {
            Error::malformed(format!("expected `ADDRESS SYMBOL (BINARY)`, found {}", shown(line)))
        })
    }

    /// Parses a line like [`of`](Self::of), or returns `None`.
    pub(crate) fn parse(line: &'a [u8]) -> Option<Self> {
        let line = line.trim_ascii();
        let end = line.iter().position(|byte| *byte == b' ').unwrap_or(line.len());
        let (word, rest) = line.split_at(end);
        let address = hex(word.strip_prefix(b"0x").unwrap_or(word))?;
        let rest = rest.trim_ascii();
        let (symbol, binary, inlined) = match rest.strip_suffix(b")").and_then(open_parenthesis) {
            Some((symbol, b"inlined")) => (symbol, None, true),
            // `-F dsoff` prints the offset in the binary.
            Some((symbol, binary)) => (symbol, Some(without_offset(binary)), false),
            None => (rest, None, false),
        };
        let symbol = without_offset(symbol.trim_ascii());
        let symbol = if symbol == b"[unknown]" { b"" } else { symbol };
        Some(Self { address, symbol, binary, inlined })
    }

    /// Parses the frame on the line of an event without a stack. Also returns whether the text has no other
    /// data.
    ///
    /// The frame must have a binary or an offset. The address of accessed data may precede it. A branch
    /// target (`=> FRAME`) or the branches before the sample (`-F brstack`) may follow it.
    pub(crate) fn alone(text: &'a [u8]) -> Option<(Self, bool)> {
        let text = text.trim_ascii();
        let end = branches(text).unwrap_or(text.len());
        let start = code(text.get(..end)?);
        let line = text.get(start.unwrap_or(0)..end)?;
        // After the address of accessed data, perf describes the access between bars.
        let is_data = || line.windows(2).any(|pair| pair == b" |");
        let frame = Self::parse(line).filter(|frame| frame.binary.is_some() || is_sure(line));
        let frame = frame.filter(|_| start.is_some() || !is_data())?;
        Some((frame, line.len() == text.len()))
    }
}

/// Returns the offset of a code address after the address of data. Numbers are padded to a width of 16, but a
/// symbol follows a single space.
fn code(text: &[u8]) -> Option<usize> {
    let (mut at, mut found) = (0, None);
    for word in text.split(|byte| *byte == b' ') {
        if at == 0 {
            hex(word)?;
        }
        let is_filled = text.get(..at).is_some_and(|before| before.ends_with(b"  "));
        let digits = hex_digits(word);
        if at > 0 && digits == word.len() && (is_filled && digits > 0 || digits == 16) {
            found = Some(at);
        }
        at += word.len() + 1;
    }
    found
}

/// Returns the offset of the data after a frame: ` => `, or a word such as `0x7f2/0x7f3/P/-/-/1`.
fn branches(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    for word in text.split(|byte| *byte == b' ') {
        let slashes = word.iter().filter(|byte| **byte == b'/').count();
        let is_behind = text.get(..at)?.ends_with(b") ") || word.starts_with(b"0x");
        let is_entry = slashes >= 5 && is_behind && word.first() != Some(&b'/');
        if is_entry || word == b"=>" {
            return at.checked_sub(1);
        }
        at += word.len() + 1;
    }
    None
}

/// Returns whether a frame without a binary is valid: its symbol has an offset or is unknown.
fn is_sure(line: &[u8]) -> bool {
    without_offset(line).len() < line.len() || line.ends_with(b" [unknown]")
}

/// Counts the hex digits at the beginning of a text.
fn hex_digits(text: &[u8]) -> usize {
    text.iter().position(|byte| !byte.is_ascii_hexdigit()).unwrap_or(text.len())
}

/// Strips an offset such as `+0x5e` from a symbol.
fn without_offset(symbol: &[u8]) -> &[u8] {
    let at = symbol.windows(3).rposition(|window| window == b"+0x");
    let offset = at.and_then(|at| Some((symbol.get(..at)?, symbol.get(at + 3..)?)));
    match offset {
        Some((name, digits)) if !digits.is_empty() && hex_digits(digits) == digits.len() => name,
        _ => symbol,
    }
}

/// Parses a file and a line, with an optional `(inlined)`: `busy.c:15`.
pub(crate) fn source(line: &[u8]) -> Option<(&[u8], i64)> {
    let line = line.trim_ascii();
    let line = line.strip_suffix(b" (inlined)").unwrap_or(line);
    let at = line.iter().rposition(|byte| *byte == b':')?;
    let (file, number) = (line.get(..at)?, line.get(at + 1..)?);
    let number = if number == b"?" { 0 } else { int(number).ok().filter(|_| is_int(number))? };
    (!file.is_empty()).then_some((file, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_taken_apart() {
        for (line, address, symbol, binary) in [
            (
                "\t 123a sort_work+0x5e (/home/a (b)/busy)",
                0x123a,
                "sort_work",
                Some("/home/a (b)/busy"),
            ),
            ("1 f(int)+0x5e (/bin/busy (deleted))", 1, "f(int)", Some("/bin/busy (deleted)")),
            ("3fb43 f(int, char)+0x1 (libc.so.6)", 0x3fb43, "f(int, char)", Some("libc.so.6")),
            (
                "ffffffff8161f520 a ([kernel.kallsyms])",
                0xffff_ffff_8161_f520,
                "a",
                Some("[kernel.kallsyms]"),
            ),
            ("989c8 malloc+0x98", 0x989c8, "malloc", None),
            ("989c8 malloc (inlined)", 0x989c8, "malloc", None),
            ("5607a9ccc2b0 [unknown] ([unknown])", 0x5607_a9cc_c2b0, "", Some("[unknown]")),
            ("1 (a.out)", 1, "", Some("a.out")),
            ("1 f ([kernel.kallsyms]+0x29d8f)", 1, "f", Some("[kernel.kallsyms]")),
            ("0x10 x", 16, "x", None),
        ] {
            let frame = Frame::of(line.as_bytes()).unwrap();
            assert_eq!(
                (frame.address, frame.symbol, frame.binary),
                (address, symbol.as_bytes(), binary.map(str::as_bytes))
            );
        }
        assert!(Frame::of(b"xyz").is_err() && Frame::of(b"12345678901234567 a").is_err());
        for (text, address) in [
            ("7fa68b1f2d84 _dl_start+0x4 (/usr/lib/ld-2.31.so)", Some(0x7fa6_8b1f_2d84)),
            ("1a                7fa68b1f add+0x4 (/bin/a)", Some(0x7fa6_8b1f)),
            ("1a ffffffff8161f520 add ([kernel.kallsyms])", Some(0xffff_ffff_8161_f520)),
            ("1a add ([kernel.kallsyms])", Some(0x1a)),
            ("ffffffff9b201293 [unknown] ([unknown])", Some(0xffff_ffff_9b20_1293)),
            ("7f1a main+0x10 (/bin/ls) => 7f2b foo+0x0 (/bin/ls)", Some(0x7f1a)),
            ("7f1 main (/bin/ls) 0x7f2/0x7f3/P/-/-/1 0x7f4/0x7f5/P/-/-/3", Some(0x7f1)),
            ("7f1 main+0x4 0x7f2/0x7f3/P/-/-/1 0x7f4/0x7f5/P/-/-/3", Some(0x7f1)),
            (
                "ffff8c0d68100142 |OP LOAD|BLK  N/A               34             7f1a f+0x1 (/b)",
                Some(0x7f1a),
            ),
            ("ffff8c0d68100142 |OP LOAD|BLK  N/A 7f1a f+0x1 (/b)", None),
            ("7fa68b1f2d84 fib+0x1a", Some(0x7fa6_8b1f_2d84)),
            ("7fa68b1f2d84 [unknown]", Some(0x7fa6_8b1f_2d84)),
            ("irq=5 name=x  12 foo (bar)", None),
            ("prev_comm=b prev_pid=1", None),
            ("1 add", None),
        ] {
            let frame = Frame::alone(text.as_bytes()).map(|(frame, _)| frame.address);
            assert_eq!(frame, address, "{text}");
        }
        assert_eq!(source(b"  busy.c:15"), Some((&b"busy.c"[..], 15)));
        assert_eq!(source(b"  busy.c:?"), Some((&b"busy.c"[..], 0)));
        assert_eq!(source(b"  msort.c:64 (inlined)"), Some((&b"msort.c"[..], 64)));
        assert_eq!(source(b"  [kernel.kallsyms][ffffffff8161f520]"), None);
    }
}
