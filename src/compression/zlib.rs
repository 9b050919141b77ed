//! Inflates and deflates zlib (RFC 1950), which HTTP names `deflate`.

use std::io::{self, Read};

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::gunzip::advance;
use super::level::Level;
use super::window::Window;
use crate::error::{Error, GzipFault};

/// Inflates a stream of zlib data. flate2 reads the header and verifies the checksum.
#[derive(Debug)]
pub(super) struct Zlib {
    state: Decompress,
    is_done: bool,
}

impl Zlib {
    pub(super) fn new() -> Self {
        Self { state: Decompress::new(true), is_done: false }
    }

    /// Inflates until there is at least one byte. Returns 0 at the end.
    ///
    /// # Errors
    ///
    /// The data is damaged or truncated, or other bytes follow it.
    pub(super) fn read<R: Read>(
        &mut self,
        input: &mut Window<R>,
        buffer: &mut [u8],
    ) -> io::Result<usize> {
        loop {
            let rest = input.some()?;
            let is_cut = rest.is_empty();
            if self.is_done {
                return match is_cut {
                    true => Ok(0),
                    false => Err(failed(input, "other bytes follow the zlib data")),
                };
            }
            let (read, written) = (self.state.total_in(), self.state.total_out());
            let result = self.state.decompress(rest, buffer, FlushDecompress::None);
            input.pass(advance(read, self.state.total_in()));
            let written = advance(written, self.state.total_out());
            match result {
                Err(error) => {
                    let why = error.message().unwrap_or("invalid");
                    return Err(failed(input, &format!("zlib data is corrupt: {why}")));
                }
                Ok(status) => self.is_done = status == Status::StreamEnd,
            }
            if written > 0 {
                return Ok(written);
            }
            if is_cut && !self.is_done {
                return Err(failed(input, "the file ends inside the zlib data"));
            }
        }
    }
}

#[cold]
fn failed<R>(input: &Window<R>, message: &str) -> io::Error {
    input.failed(Error::malformed(message).gzip(GzipFault::Other).at(input.rest()))
}

/// Deflates `bytes` as zlib. Equal bytes give equal data.
pub(super) fn zlib(bytes: &[u8], level: Level) -> Vec<u8> {
    let mut state = Compress::new(Compression::new(level.get()), true);
    // Deflate expands by five bytes for each block of at least 16 KiB; the header and the checksum have six.
    let mut packed = Vec::with_capacity(bytes.len() + bytes.len() / 1024 + 64);
    loop {
        let rest = bytes.get(advance(0, state.total_in())..).unwrap_or_default();
        match state.compress_vec(rest, &mut packed, FlushCompress::Finish) {
            Ok(Status::StreamEnd) => return packed,
            _ => packed.reserve(1 + bytes.len() / 8),
        }
    }
}
