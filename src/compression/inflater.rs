//! Inflates a stream. The result, or the error, is the same as for a file in memory, with the memory of a window.
//!
//! ```text
//! input ─► Window (64 KiB, larger if a header or trailer needs it) ─► Members, Zlib or Frames ─► the caller's buffer
//! ```
//!
//! zlib and zstd have no other path. The in-memory path of gzip ([`gunzip`]) inflates into one allocation; this one
//! serves input that is read message by message or line by line. Both use the same functions for headers, trailers
//! and limits, so a file fails in the same way.

use std::io::{self, Read};

use flate2::{Crc, Decompress, FlushDecompress, Status};

use super::gunzip::{self, GZIP};
use super::window::Window;
use super::zlib::Zlib;
use super::zstd::Frames;
use crate::limits::{Limits, within};

/// Inflates a stream that may be compressed.
///
/// Its [`io::Error`]s contain errors of this crate with an offset in the file.
#[derive(Debug)]
pub(crate) struct Inflater<R> {
    /// The compressed bytes that were read but not used.
    input: Window<R>,
    state: State,
    /// The limit on inflated bytes, and how many were returned.
    most: u64,
    given: u64,
}

/// The state of decompression. Boxed, because it is large and most streams are uncompressed.
#[derive(Debug)]
enum State {
    /// Uncompressed: bytes bypass the window.
    Plain,
    Gzip(Box<Members>),
    Zlib(Box<Zlib>),
    Zstd(Box<Frames>),
}

impl<R: Read> Inflater<R> {
    /// Creates an inflater for the compression that the [magic number](super::magic) of `input` shows.
    pub(crate) fn new(input: R, packed: Option<&str>, limits: &Limits) -> Self {
        let state = match packed {
            Some("gzip") => State::Gzip(Box::new(Members::new(limits.max_gzip_members))),
            Some("zlib") => State::Zlib(Box::new(Zlib::new())),
            Some("zstd") => State::Zstd(Box::new(Frames::new(limits))),
            _ => State::Plain,
        };
        let input = Window::new(input, limits.max_input_bytes);
        Self { input, state, most: limits.max_decompressed_bytes, given: 0 }
    }

    /// Removes the limits on bytes, for a file of messages with separate limits. The limit on members still applies
    /// to the file.
    pub(crate) fn endless(mut self) -> Self {
        (self.input.most, self.most) = (u64::MAX, u64::MAX);
        self
    }

    /// Returns the number of bytes returned so far.
    pub(crate) fn given(&self) -> u64 {
        self.given
    }

    /// Inflates the next gzip member that is not empty into `bytes`, and returns whether there was one.
    ///
    /// # Errors
    ///
    /// Those of [`read`](Read::read), with an offset in the file; the member exceeds `max_decompressed_bytes`.
    pub(crate) fn member(&mut self, limits: &Limits, bytes: &mut Vec<u8>) -> io::Result<bool> {
        match &mut self.state {
            State::Gzip(members) => members.member(&mut self.input, limits, bytes),
            _ => Ok(self.read_to_end(bytes)? > 0),
        }
    }

    /// Inflates into `buffer`.
    ///
    /// # Errors
    ///
    /// The inflated data exceeds `max_decompressed_bytes`. The offset is the position in the file at which this was
    /// noticed.
    fn inflate(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let input = &mut self.input;
        let given = match &mut self.state {
            // Not inflated, so only `max_input_bytes` applies, which the window checks.
            State::Plain => return input.read(buffer),
            State::Gzip(members) => members.read(input, buffer)?,
            State::Zlib(zlib) => zlib.read(input, buffer)?,
            State::Zstd(frames) => frames.read(input, buffer)?,
        };
        within("max_decompressed_bytes", self.most, self.given + given as u64)
            .map_err(|error| input.failed(error.at(input.rest())))?;
        Ok(given)
    }
}

impl<R: Read> Read for Inflater<R> {
    /// Returns 0 at the end of the last member. Does not read for an empty buffer.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let given = if buffer.is_empty() { 0 } else { self.inflate(buffer)? };
        self.given += given as u64;
        Ok(given)
    }
}

/// Bytes to allocate before the size of a member is known.
const LEAST: usize = 4 << 10;

/// Inflates the members of a gzip file.
///
/// All members share one inflater, which is reset for each.
#[derive(Debug)]
struct Members {
    /// Inflates raw deflate; `Members` reads headers and trailers.
    state: Decompress,
    /// Checksum of the current member.
    crc: Crc,
    /// Whether a header was read but its trailer was not.
    is_inside: bool,
    /// The limit on members, and how many were begun.
    most: u64,
    begun: u64,
}

impl Members {
    /// Creates an inflater for up to `most` members.
    fn new(most: u64) -> Self {
        let (state, crc) = (Decompress::new(false), Crc::new());
        Self { state, crc, is_inside: false, most, begun: 0 }
    }

    /// Inflates until there is at least one byte: members may be empty, and headers may be longer than the bytes
    /// read so far.
    ///
    /// # Errors
    ///
    /// Those of a file in memory; the input ends inside a member.
    fn read<R: Read>(&mut self, input: &mut Window<R>, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.is_inside && !self.begin(input)? {
                return Ok(0);
            }
            let written = self.inflate(input, buffer)?;
            if written > 0 {
                return Ok(written);
            }
        }
    }

    /// Inflates the next non-empty member into `bytes`. Returns false at the end of the file.
    ///
    /// On error, `bytes` contains the beginning of the member.
    fn member<R: Read>(
        &mut self,
        input: &mut Window<R>,
        limits: &Limits,
        bytes: &mut Vec<u8>,
    ) -> io::Result<bool> {
        let mut length = 0;
        while length == 0 && self.begin(input)? {
            let start = input.passed;
            while self.is_inside {
                // The limits are checked after every step, so the buffer has at most twice the permitted size.
                if length == bytes.len() {
                    bytes.resize(LEAST.max(2 * length), 0);
                }
                let spare = bytes.get_mut(length..).unwrap_or_default();
                match self.inflate(input, spare) {
                    Ok(written) => length += written,
                    Err(error) => {
                        bytes.truncate(length);
                        return Err(error);
                    }
                }
                within("max_input_bytes", limits.max_input_bytes, input.passed - start)
                    .and(within(
                        "max_decompressed_bytes",
                        limits.max_decompressed_bytes,
                        length as u64,
                    ))
                    .map_err(|error| input.failed(error.at(input.rest())))?;
            }
        }
        bytes.truncate(length);
        Ok(length > 0)
    }

    /// Inflates part of the member, and verifies the trailer at its end.
    fn inflate<R: Read>(&mut self, input: &mut Window<R>, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = input.some()?;
        // `some` returns no bytes only at the end of the input.
        let is_cut = rest.is_empty();
        let (read, written) = (self.state.total_in(), self.state.total_out());
        let result = self.state.decompress(rest, buffer, FlushDecompress::None);
        let read = gunzip::advance(read, self.state.total_in());
        let written = gunzip::advance(written, self.state.total_out());
        input.pass(read);
        self.crc.update(buffer.get(..written).unwrap_or_default());
        match result {
            Err(error) => return Err(input.failed(gunzip::corrupt(&error, input.rest()))),
            Ok(Status::StreamEnd) => self.end(input)?,
            // Neither input nor output: the file ends inside the data.
            Ok(_) if is_cut && written == 0 => {
                return Err(input.failed(gunzip::truncated("data", input.rest())));
            }
            Ok(_) => {}
        }
        Ok(written)
    }

    /// Begins the next member, if there is one.
    ///
    /// Zeros after the last member are padding, as on tapes and block devices. Anything else is an error that
    /// contains the number of remaining bytes, so all of them are read.
    fn begin<R: Read>(&mut self, input: &mut Window<R>) -> io::Result<bool> {
        // Read enough bytes to compare the magic number.
        while input.rest().len() < GZIP.len() && !input.at_end {
            input.more()?;
        }
        if !input.rest().starts_with(GZIP) {
            let behind = input.passed;
            if !input.pass_zeros()? && self.begun > 0 {
                return Ok(false);
            }
            // The zeros that `pass_zeros` consumed belong to the garbage if other bytes follow them.
            let left = input.passed - behind + input.pass_all()?;
            return Err(io::Error::other(gunzip::garbage(left).offset_by(behind)));
        }
        self.begun += 1;
        let begun = within("max_gzip_members", self.most, self.begun);
        begun.map_err(|error| input.failed(error.at(input.rest())))?;
        input.part(gunzip::header)?;
        self.state.reset(false);
        self.crc.reset();
        self.is_inside = true;
        Ok(true)
    }

    /// Verifies the trailer of a member.
    fn end<R: Read>(&mut self, input: &mut Window<R>) -> io::Result<()> {
        self.is_inside = false;
        input.part(|rest| gunzip::trailer(rest, &self.crc))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compression::{Level, deflate, inflate, magic};
    use crate::error::{Result, unreadable};

    /// A reader that returns one byte per call.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = buffer.len().min(1);
            self.0.read(&mut buffer[..most])
        }
    }

    /// Returns the content of a file, or the error.
    fn come(file: impl Read, packed: Option<&str>, limits: &Limits) -> Result<Vec<u8>, String> {
        let mut inflated = Vec::new();
        let read = Inflater::new(file, packed, limits).read_to_end(&mut inflated);
        read.map_err(|error| unreadable(error).to_string()).map(|_| inflated)
    }

    #[track_caller]
    fn is_the_same(file: &[u8], limits: &Limits) {
        let whole = inflate(file, limits).map(|bytes| bytes.into_owned());
        let whole = whole.map_err(|error| error.to_string());
        assert!(come(file, magic(file), limits) == whole);
        assert!(come(Slow(file), magic(file), limits) == whole);
    }

    /// Compares kinds of errors only: where damage is found, and its description, depend on how much is inflated at
    /// once.
    #[track_caller]
    fn is_as_damaged(file: &[u8], limits: &Limits) {
        let with_message = |error: String| {
            let kind = error.split(" (byte").next().unwrap_or_default();
            kind.split(" corrupt: ").next().unwrap_or_default().to_owned()
        };
        let whole = inflate(file, limits).map(|bytes| bytes.into_owned());
        let whole = whole.map_err(|error| with_message(error.to_string()));
        assert_eq!(come(file, magic(file), limits).map_err(with_message), whole);
        assert_eq!(come(Slow(file), magic(file), limits).map_err(with_message), whole);
    }

    #[test]
    fn what_comes_is_what_is_inflated_as_a_whole() {
        let limits = Limits::network();
        let noise: Vec<u8> = (0..500_000u32).map(|n| (n.wrapping_mul(n) >> 7) as u8).collect();
        for pack in [|bytes: &[u8]| deflate(bytes, Level::DEFAULT), zlib, other] {
            let text = pack(b"main;work;read 17\n");
            let files = [
                text.clone(),
                pack(b""),
                pack(&noise),
                [&text[..], &pack(&noise), &pack(b""), &text].concat(),
                text.repeat(17),
                [&text[..], &[0; 9]].concat(),
                [&text[..], &[0; 500_000]].concat(),
                [&text[..], &[0; 9], b"garbage"].concat(),
                [&text[..], b"garbage".repeat(100_000).as_slice()].concat(),
                [&text[..], b"\x1f"].concat(),
            ];
            for file in files {
                is_the_same(&file, &limits);
            }
            for cut in 0..text.len() {
                is_the_same(&text[..cut], &limits);
                let mut bent = text.clone();
                bent[cut] ^= 0x11;
                is_as_damaged(&bent, &limits);
            }
            is_the_same(&text, &limits.max_decompressed_bytes(18));
            // Uncompressed input has no limit on inflated bytes.
            if magic(&text).is_some() {
                let error = come(&text[..], magic(&text), &limits.max_decompressed_bytes(17));
                assert!(
                    error.unwrap_err().contains("18 decompressed bytes exceed the limit of 17")
                );
            }
            let error = come(&text[..], magic(&text), &limits.max_input_bytes(17)).unwrap_err();
            assert!(error.contains("bytes of input exceed the limit of 17"), "{error}");
        }
    }

    fn zlib(bytes: &[u8]) -> Vec<u8> {
        crate::compression::zlib(bytes, Level::DEFAULT)
    }

    /// zstd at its only level without C.
    fn other(bytes: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
    }
}
