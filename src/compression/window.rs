//! The part of a stream that is in memory: of a compressed file while it is inflated, or of a text while it is read
//! by lines.
//!
//! ```text
//! stream  ……consumed………│ start … end │ not read yet
//!                       └─ rest() ──┘  more() reads after `end`, moving the rest to the front
//! ```
//!
//! Offsets of errors are offsets in the stream: an offset in `rest` is shifted by the consumed bytes.

use std::io::{self, Read};

use crate::error::{Error, GzipFault, Result};
use crate::limits::past;

/// The bytes of a stream that are in memory.
pub(crate) struct Window<R> {
    /// The stream. Each read requests as much as fits.
    input: R,
    /// Grows if a long header or line does not fit. Never shrinks.
    bytes: Vec<u8>,
    /// The range of `bytes` that was read but not consumed.
    start: usize,
    end: usize,
    /// Whether the stream has ended.
    pub(crate) at_end: bool,
    /// The total number of consumed bytes.
    pub(crate) passed: u64,
    /// The limit on bytes of the stream, and how many were read.
    pub(crate) most: u64,
    read: u64,
}

impl<R> std::fmt::Debug for Window<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Window")
    }
}

impl<R> Window<R> {
    /// Creates a window. Reads and allocates nothing until the first request.
    pub(crate) fn new(input: R, most: u64) -> Self {
        let (bytes, at_end) = (Vec::new(), false);
        Self { input, bytes, start: 0, end: 0, at_end, passed: 0, most, read: 0 }
    }

    /// Returns the rest of the stream, and drops the window.
    pub(crate) fn into_inner(self) -> R {
        self.input
    }

    /// Returns the bytes that were read but not consumed. Empty before the first read and at the end.
    pub(crate) fn rest(&self) -> &[u8] {
        self.bytes.get(self.start..self.end).unwrap_or_default()
    }

    /// Consumes bytes. They stay in memory until the next read.
    pub(crate) fn pass(&mut self, bytes: usize) {
        self.start += bytes;
        self.passed += bytes as u64;
    }

    /// Converts an error in the bytes of [`rest`](Self::rest) to an [`io::Error`] with an offset in the stream.
    #[cold]
    pub(crate) fn failed(&self, error: Error) -> io::Error {
        io::Error::other(error.located(self.rest()).offset_by(self.passed))
    }
}

/// Initial size of the window in bytes.
///
/// A few pages: large enough to make the cost of system calls negligible, and small compared with an inflater's
/// tables.
const WINDOW: usize = 64 << 10;

impl<R: Read> Window<R> {
    /// Reads the bytes after the window into `buffer`.
    ///
    /// # Errors
    ///
    /// The stream exceeds `max_input_bytes`, or reading it fails.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.read += read as u64;
        match self.read > self.most {
            // `read` exceeds `most`, so adding 1 does not overflow.
            true => Err(io::Error::other(past("max_input_bytes", self.most, self.most + 1))),
            false => Ok(read),
        }
    }

    /// Reads more bytes into the window.
    ///
    /// Moves the rest to the front first, so that the window grows only if the rest fills it. Ignores interrupted
    /// reads; callers call again.
    pub(crate) fn more(&mut self) -> io::Result<()> {
        // Taken out, because `self.read` borrows the window.
        let mut bytes = std::mem::take(&mut self.bytes);
        if self.start > 0 {
            bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        // The rest fills the window.
        if self.end == bytes.len() {
            bytes.resize(WINDOW.max(2 * self.end), 0);
        }
        let read = self.read(bytes.get_mut(self.end..).unwrap_or_default());
        self.bytes = bytes;
        match read {
            // The buffer was not empty, so 0 bytes mean the end of the stream.
            Ok(read) => (self.end, self.at_end) = (self.end + read, read == 0),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Returns the rest, after reading more if it is empty. Empty only at the end of the stream.
    pub(crate) fn some(&mut self) -> io::Result<&[u8]> {
        while self.rest().is_empty() && !self.at_end {
            self.more()?;
        }
        Ok(self.rest())
    }

    /// Consumes a header or trailer once it is complete; `after` parses it and returns the bytes after it.
    ///
    /// A truncated part is parsed again after more was read, which is cheap because parts have few bytes.
    pub(crate) fn part(&mut self, after: impl Fn(&[u8]) -> Result<&[u8]>) -> io::Result<()> {
        loop {
            let rest = self.rest();
            let error = match after(rest) {
                Ok(behind) => {
                    let part = rest.len() - behind.len();
                    self.pass(part);
                    return Ok(());
                }
                Err(error) => error,
            };
            if error.gzip_fault() != Some(GzipFault::Truncated) || self.at_end {
                return Err(self.failed(error));
            }
            self.more()?;
        }
    }

    /// Consumes zeros. Returns whether other bytes follow.
    pub(crate) fn pass_zeros(&mut self) -> io::Result<bool> {
        loop {
            let rest = self.some()?;
            let zeros = rest.iter().take_while(|byte| **byte == 0).count();
            let is_all = zeros == rest.len();
            self.pass(zeros);
            if !is_all || self.at_end {
                return Ok(!is_all);
            }
        }
    }

    /// Consumes all remaining bytes. Returns how many there were.
    pub(crate) fn pass_all(&mut self) -> io::Result<u64> {
        let before = self.passed;
        loop {
            match self.some()?.len() {
                0 => return Ok(self.passed - before),
                bytes => self.pass(bytes),
            }
        }
    }
}
