//! Inflates zstd, and with the feature `zstd` compresses it.
//!
//! The crate `ruzstd` inflates, without C, so every build reads zstd. Facebook's library, through the crate `zstd`,
//! compresses.
//!
//! A frame is inflated block by block. It may declare a window of any size; memory grows with what was inflated, so a
//! false claim costs nothing. Skippable frames, such as a seek table, are counted and have no content.

use std::io::{self, Read};

use ruzstd::decoding::errors::FrameDecoderError;
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use xxhash_rust::xxh64::Xxh64;

#[cfg(feature = "zstd")]
pub use self::compress::zstd;

use super::window::Window;
use crate::error::{Error, GzipFault, Result};
use crate::limits::{Limits, within};

/// The magic number of a frame.
pub(super) const FRAME: &[u8] = b"\x28\xb5\x2f\xfd";

/// The window that every decoder must support (RFC 8878), and the largest that zstd writes.
const WINDOWS: [u64; 2] = [8 << 20, 1 << 31];

/// Inflates the frames of a stream.
pub(super) struct Frames {
    decoder: FrameDecoder,
    /// Whether a frame was begun but has not ended.
    is_inside: bool,
    /// Checksum and length of the content of the frame so far.
    hash: Xxh64,
    length: u64,
    /// The limit on inflated bytes, which no window needs to exceed.
    most_bytes: u64,
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
    /// Creates an inflater. `max_gzip_members` limits frames as well.
    pub(super) fn new(limits: &Limits) -> Self {
        let (decoder, hash) = (FrameDecoder::new(), Xxh64::new(0));
        let (most_bytes, most) = (limits.max_decompressed_bytes, limits.max_gzip_members);
        Self { decoder, is_inside: false, hash, length: 0, most_bytes, most, begun: 0 }
    }

    /// Inflates until there is at least one byte. Returns 0 at the end of the last frame.
    ///
    /// # Errors
    ///
    /// A frame is damaged or truncated, other data follows the last one, or there are too many.
    pub(super) fn read<R: Read>(
        &mut self,
        input: &mut Window<R>,
        buffer: &mut [u8],
    ) -> io::Result<usize> {
        loop {
            let written = self.decoder.read(buffer)?;
            if written > 0 {
                self.hash.update(buffer.get(..written).unwrap_or_default());
                self.length += written as u64;
                return Ok(written);
            }
            if self.is_inside && self.decoder.is_finished() {
                self.end().map_err(|error| input.failed(error.at(input.rest())))?;
            } else if self.is_inside {
                let mut source = Source::new(input);
                let read =
                    self.decoder.decode_blocks(&mut source, BlockDecodingStrategy::UptoBlocks(1));
                source.outcome(read)?;
            } else if !self.begin(input)? {
                return Ok(0);
            }
        }
    }

    /// Begins the next frame, or skips one without content. Returns false at the end of the input.
    fn begin<R: Read>(&mut self, input: &mut Window<R>) -> io::Result<bool> {
        // A read may end within the magic number.
        while input.rest().len() < FRAME.len() && !input.at_end {
            input.more()?;
        }
        let rest = input.rest();
        if rest.is_empty() && self.begun > 0 {
            return Ok(false);
        }
        self.begun += 1;
        check_frame(rest)
            .and_then(|()| within("max_gzip_members", self.most, self.begun))
            .map_err(|error| input.failed(error.at(rest)))?;
        if is_skippable(rest) {
            skip(input)?;
            return Ok(true);
        }
        // Not reset: a reset reserves the window that the next frame declares.
        self.decoder = FrameDecoder::new();
        let [least, most] = WINDOWS;
        self.decoder.set_max_window_size(self.most_bytes.clamp(least, most));
        let mut source = Source::new(input);
        let begun = self.decoder.init(&mut source);
        match begun {
            Err(FrameDecoderError::WindowSizeTooBig { requested, .. }) => {
                let fits = within("max_decompressed_bytes", self.most_bytes, requested);
                let error = fits.err().unwrap_or_else(|| {
                    malformed(&format!("the zstd frame requests a window of {requested} bytes"))
                });
                Err(input.failed(error.at(input.rest())))
            }
            begun => {
                source.outcome(begun)?;
                self.hash.reset(0);
                (self.is_inside, self.length) = (true, 0);
                Ok(true)
            }
        }
    }

    /// Compares the content of a frame with the checksum and the size that the frame stores.
    fn end(&mut self) -> Result<()> {
        self.is_inside = false;
        // The low half of the hash is stored.
        let found = self.hash.digest() & u64::from(u32::MAX);
        if let Some(stored) = self.decoder.get_checksum_from_data().map(u64::from)
            && stored != found
        {
            return Err(malformed(&format!(
                "zstd checksum mismatch: the frame stores {stored:#010x}, the data has {found:#010x}"
            )));
        }
        match (self.decoder.content_size(), self.length) {
            // A frame need not declare a size; the decoder then returns 0.
            (0, _) => Ok(()),
            (stored, found) if stored == found => Ok(()),
            (stored, found) => Err(malformed(&format!(
                "zstd size mismatch: the frame stores {stored} bytes, the data has {found} bytes"
            ))),
        }
    }
}

/// The input of the decoder, which records why bytes are missing.
struct Source<'a, R> {
    input: &'a mut Window<R>,
    failed: Option<io::Error>,
    is_cut: bool,
}

impl<'a, R> Source<'a, R> {
    fn new(input: &'a mut Window<R>) -> Self {
        Self { input, failed: None, is_cut: false }
    }

    /// Converts the error of the decoder.
    fn outcome<T>(self, result: Result<T, FrameDecoderError>) -> io::Result<T> {
        result.map_err(|error| {
            if let Some(failed) = self.failed {
                return failed;
            }
            let error = match error {
                _ if self.is_cut => malformed("the file ends inside the zstd data"),
                FrameDecoderError::DictNotProvided { dict_id } => malformed(&format!(
                    "the zstd frame needs dictionary {dict_id}: run `zstd -dc -D DICTIONARY < FILE > payload` first"
                )),
                error => malformed(&format!("the zstd data is corrupt: {error}")),
            };
            self.input.failed(error.at(self.input.rest()))
        })
    }
}

impl<R: Read> Read for Source<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.input.some() {
            Ok(mut rest) => {
                let read = rest.read(buffer)?;
                self.is_cut |= read < buffer.len().min(1);
                self.input.pass(read);
                Ok(read)
            }
            Err(error) => {
                self.failed = Some(error);
                Ok(0)
            }
        }
    }
}

/// Returns whether a frame is skippable. Such frames contain metadata, for example the table of a seekable file.
fn is_skippable(bytes: &[u8]) -> bool {
    matches!(bytes, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// Skips a frame without content: a magic number, a length and as many bytes.
fn skip<R: Read>(input: &mut Window<R>) -> io::Result<()> {
    let mut source = Source::new(input);
    let mut header = [0; 8];
    // A truncated header leaves a mark in `source`.
    let _ = source.read_exact(&mut header);
    let [_, _, _, _, length @ ..] = header;
    let length = u64::from(u32::from_le_bytes(length));
    io::copy(&mut source.by_ref().take(length), &mut io::sink())?;
    match source.is_cut || source.failed.is_some() {
        true => source.outcome(Err(FrameDecoderError::FailedToSkipFrame)),
        false => Ok(()),
    }
}

/// Returns an error unless a frame begins here.
fn check_frame(rest: &[u8]) -> Result<()> {
    if rest.starts_with(FRAME) || is_skippable(rest) {
        return Ok(());
    }
    Err(malformed("the bytes after the last zstd frame are not a zstd frame"))
}

#[cold]
fn malformed(message: &str) -> Error {
    Error::malformed(message).gzip(GzipFault::Other)
}

#[cfg(feature = "zstd")]
mod compress {
    use zstd::stream::raw::CParameter;

    use crate::compression::level::Level;

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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compression;
    use crate::error::ErrorKind;

    const TEXT: &[u8] = b"main;work;read 17\nmain;work;write 4\n";

    #[cfg(feature = "zstd")]
    fn packed(bytes: &[u8]) -> Vec<u8> {
        zstd(bytes, compression::Level::DEFAULT)
    }

    /// Without a checksum, so that some damage passes.
    #[cfg(not(feature = "zstd"))]
    fn packed(bytes: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
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
        #[cfg(feature = "zstd")]
        {
            let mut streamed = Vec::new();
            ::zstd::stream::copy_encode(TEXT, &mut streamed, 3).unwrap();
            assert_eq!(*compression::inflate(&streamed, &limits).unwrap(), *TEXT);
        }
        let random: Vec<u8> = (0..300_000u32).map(|at| (at.wrapping_mul(at) >> 7) as u8).collect();
        assert_eq!(*compression::inflate(&packed(&random), &limits).unwrap(), *random);
    }

    #[cfg(feature = "zstd")]
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
        // A window of 1 TiB is refused before it is allocated, also for a stream.
        let wide = b"\x28\xb5\x2f\xfd\x00\xf0\x01\x00\x00";
        let message = "decompressed bytes exceed the limit of";
        fails(wide, limits, ErrorKind::Limit, message);
        let message = "requests a window of 1099511627776 bytes";
        fails(wide, Limits::unlimited(), ErrorKind::Malformed, message);
        // A window of 2 GiB is accepted and costs nothing: the frame is empty.
        let wide = b"\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00";
        assert_eq!(*compression::inflate(wide, &Limits::unlimited()).unwrap(), *b"");
        // A frame that needs a dictionary.
        let message = "needs dictionary 7: run `zstd -dc -D DICTIONARY < FILE > payload` first";
        fails(b"\x28\xb5\x2f\xfd\x21\x07\x00\x01\x00\x00", limits, ErrorKind::Malformed, message);
    }
}
