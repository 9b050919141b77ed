//! Input of text in any Unicode encoding, as blocks of whole lines. A long text needs memory only for one
//! block and for the parsed result.

use std::io::{self, Cursor, Read};

use crate::compression::window::Window;
use crate::error::{Result, unreadable};
use crate::format::lines::Lines;
use crate::read_context::ReadContext;
use crate::stream::{Decoder, Encoding};

/// The rest of a text. A text in memory is one block. A streamed text has several, of which one is in memory
/// at a time.
pub(crate) struct LineReader<'a> {
    source: Source<'a>,
    /// The number of the next line.
    number: usize,
}

enum Source<'a> {
    Whole(&'a [u8]),
    Stream(Stream<'a>),
}

/// The byte order mark of UTF-8.
const UTF_8: &[u8] = b"\xef\xbb\xbf";

/// The number of bytes at the beginning of a text that decide its format.
const HEAD: usize = 64 << 10;

/// The number of bytes read at a time, unless a line is longer.
const BLOCK: usize = 256 << 10;

impl<'a> LineReader<'a> {
    /// Wraps a text in memory.
    pub(crate) fn of(payload: &'a [u8]) -> Self {
        let source = match payload {
            _ if Encoding::of(payload).is_some() => Source::Stream(Stream::of(payload)),
            _ => Source::Whole(payload.strip_prefix(UTF_8).unwrap_or(payload)),
        };
        Self { source, number: 1 }
    }

    /// Wraps a text that is read on demand.
    pub(crate) fn coming(input: impl Read + 'a) -> Self {
        Self { source: Source::Stream(Stream::of(input)), number: 1 }
    }

    /// Returns the whole lines in the first [`HEAD`] bytes, or the whole text if it is shorter. Consumes
    /// nothing.
    pub(crate) fn head(&mut self) -> Result<&[u8]> {
        let text = match &mut self.source {
            Source::Whole(text) => text,
            Source::Stream(stream) => {
                stream.fill(HEAD + 1)?;
                stream.window.rest()
            }
        };
        Ok(match text.get(..HEAD) {
            Some(start) if text.len() > HEAD => whole_lines(start),
            _ => text,
        })
    }

    /// Passes the text to `take` block by block. The unconsumed rest of a block begins the next one. `take`
    /// must consume the last block completely.
    ///
    /// # Errors
    ///
    /// Errors of `take`, and I/O errors.
    pub(crate) fn each(
        &mut self,
        cx: &mut ReadContext,
        mut take: impl FnMut(&mut Lines<'_>, &mut ReadContext) -> Result<()>,
    ) -> Result<()> {
        let mut least = BLOCK;
        loop {
            let (text, is_last) = match &mut self.source {
                Source::Whole(text) => (*text, true),
                Source::Stream(stream) => {
                    let block = stream.block(least)?;
                    cx.budget.grow_with(block.2);
                    (block.0, block.1)
                }
            };
            let mut lines = Lines { rest: text, number: self.number, is_last };
            take(&mut lines, cx)?;
            if is_last {
                return Ok(());
            }
            self.number = lines.number;
            let taken = text.len() - lines.rest.len();
            // Double the block if nothing was consumed, so that a long line eventually fits. Total time stays
            // linear.
            least = if taken > 0 { BLOCK } else { text.len().saturating_mul(2) };
            if let Source::Stream(stream) = &mut self.source {
                stream.window.pass(taken);
            }
        }
    }

    /// Returns the whole text in memory.
    pub(crate) fn whole(&mut self, cx: &mut ReadContext) -> Result<&[u8]> {
        match &mut self.source {
            Source::Whole(text) => Ok(text),
            Source::Stream(stream) => {
                while !stream.window.at_end {
                    stream.fill(stream.window.rest().len().saturating_mul(2).max(BLOCK))?;
                }
                cx.budget.charge::<u8>(stream.window.rest().len())?;
                Ok(stream.window.rest())
            }
        }
    }
}

/// A text that is streamed through a window.
struct Stream<'a> {
    window: Window<Box<dyn Read + 'a>>,
    is_begun: bool,
}

impl<'a> Stream<'a> {
    fn of(input: impl Read + 'a) -> Self {
        Self { window: Window::new(Box::new(input), u64::MAX), is_begun: false }
    }

    /// Returns lines of at least `least` bytes if available, whether they are the last, and the number of
    /// bytes read so far.
    fn block(&mut self, least: usize) -> Result<(&[u8], bool, u64)> {
        let mut least = least;
        loop {
            self.fill(least)?;
            let (rest, is_last) = (self.window.rest(), self.window.at_end);
            let length = if is_last { rest.len() } else { whole_lines(rest).len() };
            if is_last || length > 0 {
                let read = self.window.passed + rest.len() as u64;
                return Ok((self.window.rest().get(..length).unwrap_or_default(), is_last, read));
            }
            least = least.saturating_mul(2);
        }
    }

    /// Reads until the window holds `least` bytes or the text ends.
    fn fill(&mut self, least: usize) -> Result<()> {
        if !self.is_begun {
            self.is_begun = true;
            self.begin()?;
        }
        self.read_up_to(least)
    }

    /// Skips the byte order mark, and starts decoding if the text is not UTF-8.
    fn begin(&mut self) -> Result<()> {
        self.read_up_to(5)?;
        let Some((encoding, mark)) = Encoding::of(self.window.rest()) else {
            if self.window.rest().starts_with(UTF_8) {
                self.window.pass(UTF_8.len());
            }
            return Ok(());
        };
        let first = self.window.rest().get(mark..).unwrap_or_default().to_vec();
        let window = std::mem::replace(self, Self::of(io::empty())).window;
        let input = Cursor::new(first).chain(window.into_inner());
        *self = Self::of(Decoder::new(input, encoding));
        self.is_begun = true;
        Ok(())
    }

    fn read_up_to(&mut self, least: usize) -> Result<()> {
        while self.window.rest().len() < least && !self.window.at_end {
            self.window.more().map_err(unreadable)?;
        }
        Ok(())
    }
}

/// Returns the text up to its last line break.
fn whole_lines(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::read_context::Policy;

    /// A reader that returns at most the given number of bytes at a time.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = self.1.min(buffer.len());
            self.0.read(&mut buffer[..most])
        }
    }

    /// Returns all lines with their numbers.
    fn all(mut text: LineReader<'_>) -> Vec<(usize, String)> {
        let mut cx = ReadContext::new(Limits::network(), Policy::Refuse, 0);
        let mut all = Vec::new();
        let taken = text.each(&mut cx, |lines, _| {
            all.extend(lines.map(|(at, line)| (at, String::from_utf8_lossy(line).into_owned())));
            Ok(())
        });
        taken.unwrap();
        all
    }

    #[test]
    fn every_kind_of_text_is_lines() {
        let long = "𝄞".repeat(200_000);
        for middle in ["é 2", &long] {
            let text = format!("\u{feff}a 1\r\n{middle}\n\nb");
            let wide = |unit: fn(u16) -> [u8; 2]| -> Vec<u8> {
                text.encode_utf16().flat_map(unit).collect()
            };
            let bytes = [wide(u16::to_le_bytes), wide(u16::to_be_bytes), text.as_bytes().to_vec()];
            let lines = ["a 1", middle, "", "b"];
            let expected: Vec<_> = (1..).zip(lines.map(str::to_owned)).collect();
            for bytes in bytes {
                assert_eq!(all(LineReader::of(&bytes)), expected);
                for size in [1, 7, 64 << 10] {
                    assert_eq!(all(LineReader::coming(Slow(&bytes, size))), expected, "{size}");
                }
            }
        }
    }

    #[test]
    fn what_is_not_taken_comes_again_with_more() {
        let text = "a\n".repeat(300_000);
        let mut cx = ReadContext::new(Limits::network(), Policy::Refuse, 0);
        let mut offered = Vec::new();
        let mut stream = LineReader::coming(text.as_bytes());
        let taken = stream.each(&mut cx, |lines, _| {
            assert_eq!(lines.number, 1);
            offered.push(lines.rest.len());
            if lines.is_last {
                assert_eq!(lines.count(), 300_000);
            }
            Ok(())
        });
        taken.unwrap();
        assert_eq!(offered, [BLOCK, 2 * BLOCK, text.len()]);
    }

    #[test]
    fn the_head_is_the_same_however_it_comes() {
        let lines = "abc\n".repeat(HEAD);
        let line = "a".repeat(HEAD + 1);
        for (text, length) in [("", 0), ("a", 1), (&lines[1..], HEAD - 1), (&line, 0)] {
            for mut text in
                [LineReader::of(text.as_bytes()), LineReader::coming(Slow(text.as_bytes(), 9))]
            {
                assert_eq!(text.head().unwrap().len(), length);
            }
        }
    }
}
