//! The part of a stream that lies in memory: of a compressed file while it is inflated, of a text while it is read by
//! lines.
//!
//! ```text
//! stream  ……passed over……│ start … end │ not read yet
//!                         └─ rest() ──┘  more() reads behind `end`, moving what is there to the front
//! ```
//!
//! Places of errors are places in the stream: an error in `rest` is moved by what was passed over.

use std::io::{self, Read};

use crate::error::{Error, GzipFault, Result};
use crate::limits::past;

/// The bytes of a stream that lie in memory.
pub(crate) struct Window<R> {
    /// Read in as large pieces as there is room for.
    input: R,
    /// Grows where what is wanted does not fit: a long header, a long line. Never shrinks.
    bytes: Vec<u8>,
    /// Of `bytes` those that were read and not passed over.
    start: usize,
    end: usize,
    /// Whether the stream has said that nothing follows.
    pub(crate) at_end: bool,
    /// How many bytes were passed over in all.
    pub(crate) passed: u64,
    /// How many bytes the stream may have, and how many were read.
    pub(crate) most: u64,
    read: u64,
}

impl<R> std::fmt::Debug for Window<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Window")
    }
}

impl<R> Window<R> {
    /// Nothing is read, and no memory taken, before the first byte is asked for.
    pub(crate) fn new(input: R, most: u64) -> Self {
        let (bytes, at_end) = (Vec::new(), false);
        Self { input, bytes, start: 0, end: 0, at_end, passed: 0, most, read: 0 }
    }

    /// What is behind, once nothing of the window is wanted.
    pub(crate) fn behind(self) -> R {
        self.input
    }

    /// What was read and not passed over; empty where nothing is there yet, or nothing is left.
    pub(crate) fn rest(&self) -> &[u8] {
        self.bytes.get(self.start..self.end).unwrap_or_default()
    }

    /// The bytes stay in memory until more is read.
    pub(crate) fn pass(&mut self, bytes: usize) {
        self.start += bytes;
        self.passed += bytes as u64;
    }

    /// An error in the bytes of [`rest`](Self::rest), on its way through a reader.
    #[cold]
    pub(crate) fn failed(&self, error: Error) -> io::Error {
        io::Error::other(error.located(self.rest()).behind(self.passed))
    }
}

/// As many bytes as lie in memory, where it takes no more to go on.
///
/// A few pages: enough that calls of the system do not count, and little beside an inflater's
/// tables.
const WINDOW: usize = 64 << 10;

impl<R: Read> Window<R> {
    /// Reads what is behind the window.
    ///
    /// # Errors
    ///
    /// `max_input_bytes` is past, or what the stream itself says.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.read += read as u64;
        match self.read > self.most {
            true => Err(io::Error::other(past("max_input_bytes", self.most, self.most + 1))),
            false => Ok(read),
        }
    }

    /// Reads what comes next behind what is there.
    ///
    /// Moves what is left to the front first, so room grows only if what is wanted is larger than
    /// the window. A read that was interrupted is no error: whoever waits asks again.
    pub(crate) fn more(&mut self) -> io::Result<()> {
        let mut bytes = std::mem::take(&mut self.bytes);
        if self.start > 0 {
            bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.end == bytes.len() {
            bytes.resize(WINDOW.max(2 * self.end), 0);
        }
        let read = self.read(bytes.get_mut(self.end..).unwrap_or_default());
        self.bytes = bytes;
        match read {
            Ok(read) => (self.end, self.at_end) = (self.end + read, read == 0),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Reads on where nothing is there.
    pub(crate) fn some(&mut self) -> io::Result<&[u8]> {
        while self.rest().is_empty() && !self.at_end {
            self.more()?;
        }
        Ok(self.rest())
    }

    /// Passes over a part, as soon as all of it is there, up to what `after` says is behind it.
    ///
    /// A part that is cut off is tried again once more was read: `after` is a header or a trailer,
    /// of a few bytes.
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

    /// Passes over zeros, and says whether anything else is left.
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

    /// Passes over all there is, and says how many bytes were.
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
