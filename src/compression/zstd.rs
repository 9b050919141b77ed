//! Compresses and decompresses zstd in memory: inflates several frames within limits, and writes equal bytes for
//! equal input.
//!
//! Uses Facebook's library through the crate `zstd`.
//!
//! A frame may declare its size, and a small file may declare a large one. Up to 64 times the size of the file is
//! allocated at once; beyond that, the allocation grows with the inflated data. Skippable frames, such as a seek
//! table, are counted and have no content.

use std::io;

use zstd::stream::raw::{CParameter, DParameter, Decoder, InBuffer, Operation, OutBuffer};
use zstd::zstd_safe::get_frame_content_size;

use super::level::Level;
use super::window::Window;
use crate::error::{Error, GzipFault, Result};
use crate::limits::{Limits, within};

/// The window size that every decoder must support, 8 MiB (RFC 8878), and the largest that a decoder accepts by
/// default.
/// As powers of two.
const WINDOWS: std::ops::RangeInclusive<u32> = 23..=27;

/// Inflates all frames. Returns their concatenated content and their number.
///
/// # Errors
///
/// A frame is damaged or truncated, other data follows the last one, or the file exceeds a limit. Each error has an
/// offset in the file.
pub(super) fn inflate(file: &[u8], limits: &Limits) -> Result<(Vec<u8>, u64)> {
    let mut decoder = decoder(limits).map_err(|error| corrupt(&error, file))?;
    let mut input = InBuffer::around(file);
    let claimed = get_frame_content_size(file).ok().flatten().unwrap_or(0);
    let most = limits.max_decompressed_bytes;
    // Trust the declared size up to the allocation that a file of unknown size would get.
    let believed = claimed.min(FIRST.max(MAX_BELIEVED.saturating_mul(file.len() as u64)));
    let mut inflated = Vec::with_capacity(capacity(believed.min(most)));
    let mut frames = 0;
    // An empty file enters the loop, and `check_frame` rejects it.
    while input.pos() < file.len() || frames == 0 {
        let rest = file.get(input.pos()..).unwrap_or_default();
        check_frame(rest)?;
        frames += 1;
        within("max_gzip_members", limits.max_gzip_members, frames).map_err(|e| e.at(rest))?;
        frame(&mut decoder, &mut input, file, &mut inflated, most)?;
    }
    Ok((inflated, frames))
}

/// The magic number of a frame.
const FRAME: &[u8] = b"\x28\xb5\x2f\xfd";

/// Bytes to allocate before the size is known.
const FIRST: u64 = 64 << 10;

/// Maximum ratio of declared to compressed size that is allocated in advance.
const MAX_BELIEVED: u64 = 64;

/// Returns the capacity for `bytes` bytes plus one, so that a full buffer means that there is more data.
fn capacity(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX).saturating_add(1)
}

/// Creates a decoder that rejects frames with larger windows than the limits need.
fn decoder(limits: &Limits) -> io::Result<Decoder<'static>> {
    let mut decoder = Decoder::new()?;
    decoder.set_parameter(DParameter::WindowLogMax(window(limits)))?;
    Ok(decoder)
}

/// Returns the largest permitted window as a power of two: no larger than the permitted output.
fn window(limits: &Limits) -> u32 {
    let window_log = limits.max_decompressed_bytes.max(1).ilog2() + 1;
    window_log.clamp(*WINDOWS.start(), *WINDOWS.end())
}

/// Returns whether a frame is skippable. Such frames contain metadata, for example the table of a seekable file.
fn is_skippable(bytes: &[u8]) -> bool {
    matches!(bytes, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// Inflates one frame. The capacity doubles, up to one byte past `most`. A decoder without progress has reached the
/// end of a truncated frame.
fn frame(
    decoder: &mut Decoder<'_>,
    input: &mut InBuffer<'_>,
    file: &[u8],
    inflated: &mut Vec<u8>,
    most: u64,
) -> Result<()> {
    loop {
        let (read, had) = (input.pos(), inflated.len());
        if had == inflated.capacity() {
            // One byte past the limit is enough to detect too large a frame.
            let more =
                FIRST.max(had as u64).min(most.saturating_add(1).saturating_sub(had as u64)).max(1);
            inflated.reserve_exact(usize::try_from(more).unwrap_or(usize::MAX));
        }
        let mut output = OutBuffer::around_pos(inflated, had);
        let left = decoder.run(input, &mut output);
        let rest = file.get(input.pos()..).unwrap_or_default();
        let left = left.map_err(|error| corrupt(&error, rest))?;
        within("max_decompressed_bytes", most, inflated.len() as u64).map_err(|e| e.at(rest))?;
        if left == 0 {
            return Ok(());
        }
        if input.pos() == read && inflated.len() == had && had < inflated.capacity() {
            return Err(truncated(rest));
        }
    }
}

/// Inflates the frames of a stream.
pub(super) struct Frames {
    decoder: Decoder<'static>,
    /// Whether a frame was begun but has not ended.
    is_inside: bool,
    /// The limit on frames, and how many were begun.
    most: u64,
    begun: u64,
}

impl std::fmt::Debug for Frames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Frames")
    }
}

impl Frames {
    /// Creates an inflater.
    ///
    /// # Errors
    ///
    /// The library cannot allocate a decoder.
    pub(super) fn new(limits: &Limits) -> Result<Self> {
        let decoder = decoder(limits).map_err(|error| corrupt(&error, &[]))?;
        Ok(Self { decoder, is_inside: false, most: limits.max_gzip_members, begun: 0 })
    }

    /// Inflates into `buffer`, like the members of gzip. Skips frames without content.
    pub(super) fn read<R: io::Read>(
        &mut self,
        input: &mut Window<R>,
        buffer: &mut [u8],
    ) -> io::Result<usize> {
        loop {
            // A read may end within the magic number.
            while !self.is_inside && input.rest().len() < FRAME.len() && !input.at_end {
                input.more()?;
            }
            let rest = input.some()?;
            if !self.is_inside {
                if rest.is_empty() && self.begun > 0 {
                    return Ok(0);
                }
                self.begin(rest).map_err(|error| input.failed(error))?;
            }
            let rest = input.rest();
            let mut from = InBuffer::around(rest);
            let mut to = OutBuffer::around(&mut *buffer);
            let left = self.decoder.run(&mut from, &mut to);
            let (read, written) = (from.pos(), to.pos());
            let is_empty = rest.is_empty();
            // Precedes the error, so that its offset includes the bytes that the decoder consumed.
            input.pass(read);
            let left = left.map_err(|error| input.failed(corrupt(&error, input.rest())))?;
            self.is_inside = left != 0;
            if self.is_inside && is_empty && written == 0 {
                return Err(input.failed(truncated(input.rest())));
            }
            if written > 0 {
                return Ok(written);
            }
        }
    }

    /// Begins a frame.
    ///
    /// # Errors
    ///
    /// The bytes are not a frame; there are more frames than `max_gzip_members`, which limits frames as well.
    fn begin(&mut self, rest: &[u8]) -> Result<()> {
        check_frame(rest)?;
        self.begun += 1;
        self.is_inside = true;
        within("max_gzip_members", self.most, self.begun).map_err(|error| error.at(rest))
    }
}

/// Returns an error unless a frame begins here.
fn check_frame(rest: &[u8]) -> Result<()> {
    if rest.starts_with(FRAME) || is_skippable(rest) {
        return Ok(());
    }
    let message = "the bytes after the last zstd frame are not a zstd frame";
    Err(Error::malformed(message).gzip(GzipFault::Other).at(rest))
}

/// Returns the error of a truncated frame.
#[cold]
fn truncated(rest: &[u8]) -> Error {
    let message = "the file ends inside a zstd frame";
    Error::malformed(message).gzip(GzipFault::Other).at(rest)
}

/// Returns the error of damaged data.
#[cold]
fn corrupt(error: &io::Error, rest: &[u8]) -> Error {
    let message = format!("the zstd data is corrupt: {error}");
    Error::malformed(message).gzip(GzipFault::Other).at(rest)
}

/// Compresses `bytes` as one zstd frame with its size and a checksum. Equal bytes give equal frames.
///
/// The levels are those of zstd, except that 0 is treated as 1.
///
/// ```
/// use otlp_profiles::Limits;
/// use otlp_profiles::compression::{Level, inflate, zstd};
///
/// let file = zstd(b"profile", Level::DEFAULT);
/// assert_eq!(file, zstd(b"profile", Level::DEFAULT));
/// assert_eq!(*inflate(&file, &Limits::network())?, *b"profile");
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub fn zstd(bytes: &[u8], level: Level) -> Vec<u8> {
    // zstd treats level 0 as its default, which is slower than level 1.
    let level = i32::try_from(level.get()).unwrap_or(0).max(1);
    let compressed = zstd::bulk::Compressor::new(level).and_then(|mut compressor| {
        compressor.set_parameter(CParameter::ChecksumFlag(true))?;
        compressor.compress(bytes)
    });
    match compressed {
        Ok(file) => file,
        Err(error) => unreachable!("a vector takes every frame: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compression;
    use crate::error::ErrorKind;

    const TEXT: &[u8] = b"main;work;read 17\nmain;work;write 4\n";

    fn packed(bytes: &[u8]) -> Vec<u8> {
        zstd(bytes, Level::DEFAULT)
    }

    #[track_caller]
    fn fails(file: &[u8], limits: Limits, kind: ErrorKind, message: &str) {
        let error = compression::inflate(file, &limits).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(message), "{error}");
    }

    #[test]
    fn frames_are_read_one_after_the_other() {
        let limits = Limits::network();
        let skipped = [&b"\x50\x2a\x4d\x18\x03\0\0\0"[..], b"abc"].concat();
        let file = [packed(TEXT), skipped, packed(b""), packed(TEXT)].concat();
        assert_eq!(*compression::inflate(&file, &limits).unwrap(), *[TEXT, TEXT].concat());
        // A frame that does not declare its size.
        let mut streamed = Vec::new();
        zstd::stream::copy_encode(TEXT, &mut streamed, 3).unwrap();
        assert_eq!(*compression::inflate(&streamed, &limits).unwrap(), *TEXT);
        let random: Vec<u8> = (0..300_000u32).map(|at| (at.wrapping_mul(at) >> 7) as u8).collect();
        assert_eq!(*compression::inflate(&packed(&random), &limits).unwrap(), *random);
    }

    #[test]
    fn what_is_broken_is_refused() {
        let (file, limits) = (packed(TEXT), Limits::network());
        for end in 4..file.len() {
            fails(&file[..end], limits, ErrorKind::Malformed, "zstd");
        }
        for at in 4..file.len() {
            let mut bent = file.clone();
            bent[at] ^= 0x11;
            if let Ok(inflated) = compression::inflate(&bent, &limits) {
                panic!("{at}: {inflated:?}");
            }
        }
        let garbage = [&file[..], b"garbage"].concat();
        fails(
            &garbage,
            limits,
            ErrorKind::Malformed,
            "the bytes after the last zstd frame are not a zstd frame",
        );
        fails(
            &packed(&file),
            limits,
            ErrorKind::Unrecognised,
            "the content of the zstd file is compressed with zstd",
        );
    }

    #[test]
    fn limits_hold_while_inflating() {
        let bomb = packed(&vec![0; 50 << 20]);
        let limits = Limits::network().max_decompressed_bytes(1 << 20);
        fails(&bomb, limits, ErrorKind::Limit, "decompressed bytes exceed the limit of");
        let frames = packed(b"").repeat(1_000);
        fails(
            &frames,
            limits.max_gzip_members(10),
            ErrorKind::Limit,
            "11 gzip members exceed the limit of 10",
        );
        // A window of 128 MiB or more is not allocated for a file that may not inflate to that size.
        let wide = b"\x28\xb5\x2f\xfd\x00\xa0\x01\x00\x00";
        fails(wide, limits, ErrorKind::Malformed, "zstd data is corrupt");
        assert_eq!((window(&limits), window(&Limits::unlimited())), (23, 27));
    }
}
