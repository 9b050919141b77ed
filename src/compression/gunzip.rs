//! Inflates a gzip file in memory: members, headers and trailers, within limits.
//!
//! [RFC 1952](https://www.rfc-editor.org/rfc/rfc1952) permits several concatenated members, and zeros after the
//! last one. A file is inflated into one allocation. Its size is the one that the trailer declares, unless deflate
//! cannot expand the file that much. A false declaration costs no more memory than the limits allow.
//!
//! ```text
//! member    header (10 bytes + extra, name, comment, crc16) │ deflate data │ crc32, size mod 2³² (8 bytes)
//! file      member+ zeros*
//! out       [inflated bytes, `len` of them │ zeros: spare capacity]
//! ```
//!
//! flate2 inflates the data. This module reads headers and trailers, because limits and error offsets must account
//! for every byte, and because the declared size is needed before the first byte is inflated.

use flate2::{Crc, Decompress, DecompressError, FlushDecompress, Status};

use crate::error::{Error, GzipFault, Result};
use crate::limits::{Limits, within};

pub(super) const GZIP: &[u8] = &[0x1f, 0x8b];

/// Maximum ratio of deflate: inflated bytes per compressed byte.
const MAX_RATIO: u64 = 1032;
/// Bytes to allocate beyond the size or limit, which the inflater's fast loop needs as a margin.
const SLACK: usize = 1 << 10;
/// Bytes to allocate before any size is known.
const FIRST: u64 = 64 << 10;
/// Maximum length of a file name or comment in a gzip header.
///
/// The format does not bound the distance to the final zero byte.
const MAX_TEXT: usize = 65_535;
/// Length of the fixed header: magic, method, flags, time (4), extra flags, system.
const HEADER: usize = 10;

/// Header flags: which optional parts follow the fixed header.
const FHCRC: u8 = 1 << 1;
const FEXTRA: u8 = 1 << 2;
const FNAME: u8 = 1 << 3;
const FCOMMENT: u8 = 1 << 4;
const RESERVED: u8 = 0b1110_0000;

/// Inflates one gzip file.
pub(super) struct Gunzip<'a> {
    /// The caller's limits on inflated bytes and members.
    limits: &'a Limits,
    /// The unread part of the file.
    rest: &'a [u8],
    /// `len` inflated bytes, followed by zeros as spare capacity.
    out: Vec<u8>,
    len: usize,
    /// The size that the last trailer declares, but at most what deflate can produce from the file's bytes.
    claimed: u64,
    /// Reset for each member.
    state: Decompress,
    /// The inflated lengths of the non-empty members.
    lengths: Vec<usize>,
}

/// An inflated file.
pub(super) struct Inflated {
    pub(super) bytes: Vec<u8>,
    pub(super) members: u64,
    /// The number of zeros after the last member.
    pub(super) padding: usize,
    /// The inflated lengths of the non-empty members.
    pub(super) lengths: Vec<usize>,
}

impl<'a> Gunzip<'a> {
    /// Creates an inflater without inflating anything.
    pub(super) fn new(file: &'a [u8], limits: &'a Limits) -> Self {
        // The last trailer counts only its own member, modulo 2³², and padding may follow it. `body` grows the
        // allocation if the size is too small.
        let size = file.last_chunk().map_or(0, |size| u32::from_le_bytes(*size));
        let claimed = MAX_RATIO.saturating_mul(file.len() as u64).min(size.into());
        let (out, state, lengths) = (Vec::new(), Decompress::new(false), Vec::new());
        Self { limits, rest: file, out, len: 0, claimed, state, lengths }
    }

    /// Inflates all members, or only the first two non-empty ones if `ends` returns true for them.
    ///
    /// # Errors
    ///
    /// The file is truncated, damaged or followed by other data, or exceeds a limit. Each error has an offset in
    /// the file.
    pub(super) fn run(mut self, mut ends: impl FnMut(&[u8], &[u8]) -> bool) -> Result<Inflated> {
        // One allocation suffices for the usual file: its only member declares the size at its end.
        self.grow(self.claimed);
        let mut members = 0;
        // An empty file enters the loop and is rejected there. The search stops at the first byte of the next
        // member, so only padding is read to its end.
        while members == 0 || self.rest.iter().any(|byte| *byte != 0) {
            if !self.rest.starts_with(GZIP) {
                return Err(garbage(self.rest.len() as u64).at(self.rest));
            }
            members += 1;
            within("max_gzip_members", self.limits.max_gzip_members, members)
                .map_err(|error| error.at(self.rest))?;
            let start = self.len;
            self.member()?;
            if self.len == start {
                continue;
            }
            self.lengths.push(self.len - start);
            if let [first, _] = self.lengths[..]
                && let Some((first, second)) =
                    self.out.get(..self.len).and_then(|out| out.split_at_checked(first))
                && ends(first, second)
            {
                break;
            }
        }
        self.out.truncate(self.len);
        let Self { out: bytes, rest, lengths, .. } = self;
        Ok(Inflated { bytes, members, padding: rest.len(), lengths })
    }

    /// Grows `out` to `capacity` bytes plus slack, but never to more than the limit plus slack.
    ///
    /// A file that declares too large a size thus costs at most what `max_decompressed_bytes` allows.
    fn grow(&mut self, capacity: u64) {
        let capacity = capacity.min(self.limits.max_decompressed_bytes);
        let capacity = usize::try_from(capacity).unwrap_or(usize::MAX).saturating_add(SLACK);
        if self.out.is_empty() {
            // A zeroed allocation: the system provides zero pages, which are touched only when written.
            self.out = vec![0; capacity];
        } else {
            // Only a full buffer grows, so `len` is its length.
            self.out.reserve_exact(capacity.saturating_sub(self.len));
            self.out.resize(capacity, 0);
        }
    }

    /// Reads a header, a body and a trailer. The checksum of the inflated bytes is computed in one pass over `out`.
    fn member(&mut self) -> Result<()> {
        let start = self.len;
        self.rest = header(self.rest)?;
        self.state.reset(false);
        self.body()?;
        let mut crc = Crc::new();
        crc.update(self.out.get(start..self.len).unwrap_or_default());
        self.rest = trailer(self.rest, &crc)?;
        Ok(())
    }

    /// Inflates until the member ends. Doubles the capacity when `out` is full.
    ///
    /// # Errors
    ///
    /// The data is damaged, truncated or exceeds `max_decompressed_bytes`.
    fn body(&mut self) -> Result<()> {
        loop {
            let (read, written) = (self.state.total_in(), self.state.total_out());
            let spare = self.out.get_mut(self.len..).unwrap_or_default();
            let result = self.state.decompress(self.rest, spare, FlushDecompress::Finish);
            let read = advance(read, self.state.total_in());
            let written = advance(written, self.state.total_out());
            self.rest = self.rest.get(read..).unwrap_or_default();
            self.len += written;
            self.check_limit()?;
            match result {
                Err(error) => return Err(corrupt(&error, self.rest)),
                Ok(Status::StreamEnd) => return Ok(()),
                // Precedes the test for progress, because a full buffer also stops the inflater.
                Ok(_) if self.len == self.out.len() => {
                    self.grow(FIRST.max(self.len as u64 * 2));
                }
                // Only without any progress: zlib counts the bytes of a call in 32 bits and may stop early.
                Ok(_) if read == 0 && written == 0 => {
                    return Err(truncated("data", self.rest));
                }
                Ok(_) => {}
            }
        }
    }

    /// Checks the limit on inflated bytes. The error contains the size that the file would need, if known.
    fn check_limit(&self) -> Result<()> {
        let (limit, mut needed) = (self.limits.max_decompressed_bytes, self.len as u64);
        if needed > limit {
            // The likely size, if the trailer is correct.
            needed = needed.max(self.claimed);
        }
        within("max_decompressed_bytes", limit, needed).map_err(|error| error.at(self.rest))
    }
}

/// Inflates the first bytes of a file into `spare`. Returns how many; fewer if the first member ends or is damaged.
///
/// Needs neither a window nor a checksum, so that it is cheap enough to run on every file.
pub(crate) fn some(file: &[u8], spare: &mut [u8]) -> usize {
    let Ok(body) = header(file) else { return 0 };
    let mut state = Decompress::new(false);
    // A full read reports damage later.
    let _ = state.decompress(body, spare, FlushDecompress::None);
    advance(0, state.total_out())
}

/// Returns the number of bytes that one call processed, from the totals before and after it.
pub(super) fn advance(before: u64, after: u64) -> usize {
    usize::try_from(after.saturating_sub(before)).unwrap_or(usize::MAX)
}

/// Parses the header of a member. Returns the bytes after it.
///
/// # Errors
///
/// A method other than 8, a reserved flag, an unterminated text, a wrong checksum.
pub(super) fn header(member: &[u8]) -> Result<&[u8]> {
    let Some((fixed, mut rest)) = member.split_first_chunk::<HEADER>() else {
        return Err(truncated("header", member));
    };
    let [_, _, method, flags, ..] = *fixed;
    if method != 8 {
        let message =
            format!("gzip compression method {method} is unknown: only 8 (deflate) is defined");
        return Err(Error::malformed(message).gzip(GzipFault::Header).at(member));
    }
    if flags & RESERVED != 0 {
        let message = format!("gzip flags {flags:#04x} set a reserved bit (mask {RESERVED:#04x})");
        return Err(Error::malformed(message).gzip(GzipFault::Header).at(member));
    }
    if flags & FEXTRA != 0 {
        let (length, field) = short(rest)?;
        let field = field.split_at_checked(length.into());
        (_, rest) = field.ok_or_else(|| truncated("header", rest))?;
    }
    if flags & FNAME != 0 {
        rest = after_text("file name", rest)?;
    }
    if flags & FCOMMENT != 0 {
        rest = after_text("comment", rest)?;
    }
    match flags & FHCRC {
        0 => Ok(rest),
        _ => after_header_crc(member, rest),
    }
}

/// Reads a little-endian number of two bytes. Returns it with the bytes after it.
fn short(rest: &[u8]) -> Result<(u16, &[u8])> {
    match rest.split_first_chunk() {
        Some((bytes, after)) => Ok((u16::from_le_bytes(*bytes), after)),
        None => Err(truncated("header", rest)),
    }
}

/// Skips a text that ends with a zero byte. Returns the bytes after it.
fn after_text<'a>(what: &str, text: &'a [u8]) -> Result<&'a [u8]> {
    // The final zero byte does not count as text.
    let most = text.get(..=MAX_TEXT).unwrap_or(text);
    match most.iter().position(|byte| *byte == 0) {
        Some(end) => Ok(text.get(end + 1..).unwrap_or_default()),
        None if most.len() <= MAX_TEXT => Err(truncated("header", text)),
        None => {
            let message = format!("the gzip {what} is longer than {MAX_TEXT} bytes");
            Err(Error::malformed(message).gzip(GzipFault::HeaderLength).at(text))
        }
    }
}

/// Verifies the header checksum, which is the low half of the CRC over the bytes before it. Returns the bytes after
/// it.
fn after_header_crc<'a>(member: &[u8], rest: &'a [u8]) -> Result<&'a [u8]> {
    let mut crc = Crc::new();
    // `rest` is a suffix of `member`, so the difference is the length of the header.
    crc.update(member.get(..member.len() - rest.len()).unwrap_or_default());
    let found = crc.sum() & 0xffff;
    let (stored, after) = short(rest)?;
    if found == u32::from(stored) {
        return Ok(after);
    }
    let message =
        format!("gzip header checksum mismatch: stored {stored:#06x}, computed {found:#06x}");
    Err(Error::malformed(message).gzip(GzipFault::HeaderCrc).at(rest))
}

/// Verifies the trailer of a member whose inflated bytes are in `crc`. Returns the bytes after it.
pub(super) fn trailer<'a>(rest: &'a [u8], crc: &Crc) -> Result<&'a [u8]> {
    let Some(([s @ .., a, b, c, d], after)) = rest.split_first_chunk::<8>() else {
        return Err(truncated("trailer", rest));
    };
    let (sum, size) = (u32::from_le_bytes(*s), u32::from_le_bytes([*a, *b, *c, *d]));
    let (message, fault) = match (crc.sum(), crc.amount()) {
        (found, _) if found != sum => (
            format!(
                "gzip checksum mismatch: the trailer stores {sum:#010x}, the data has {found:#010x}"
            ),
            GzipFault::Checksum,
        ),
        (_, found) if found != size => (
            format!(
                "gzip size mismatch: the trailer stores {size} bytes, the data has {found} bytes"
            ),
            GzipFault::Size,
        ),
        _ => return Ok(after),
    };
    Err(Error::malformed(message).gzip(fault).at(rest))
}

/// Returns the error of a file that ends within a part of a member.
#[cold]
pub(super) fn truncated(part: &str, rest: &[u8]) -> Error {
    let end = rest.get(rest.len()..).unwrap_or_default();
    Error::malformed(format!("the file ends inside the gzip {part}"))
        .gzip(GzipFault::Truncated)
        .at(end)
}

/// Returns the error of damaged deflate data.
#[cold]
pub(super) fn corrupt(error: &DecompressError, rest: &[u8]) -> Error {
    let why = error.message().unwrap_or("invalid");
    Error::malformed(format!("deflate data is corrupt: {why}")).gzip(GzipFault::Deflate).at(rest)
}

/// Returns the error of bytes after the last member that are neither a member nor zeros.
#[cold]
pub(super) fn garbage(left: u64) -> Error {
    Error::malformed(format!("the {left} bytes after the last gzip member are not a gzip member"))
        .gzip(GzipFault::Garbage)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::compression::{Level, deflate, inflate, magic};
    use crate::error::ErrorKind;

    const TEXT: &[u8] = b"main;work;read 17\nmain;work;write 4\n";
    const TRAILER: usize = 8;

    fn gz(bytes: &[u8]) -> Vec<u8> {
        deflate(bytes, Level::DEFAULT)
    }

    /// Builds a member of `text` with `flags`, and with `fields` after the fixed header.
    fn member(flags: u8, fields: &[u8], text: &[u8]) -> Vec<u8> {
        let mut member = gz(text);
        member[3] = flags;
        member.splice(HEADER..HEADER, fields.iter().copied());
        member
    }

    #[track_caller]
    fn fails(bytes: &[u8], kind: ErrorKind, message: &str) {
        let error = inflate(bytes, &Limits::network()).unwrap_err();
        assert_eq!((error.to_string().as_str(), error.kind()), (message, kind));
    }

    #[test]
    fn what_is_not_compressed_is_lent() {
        let limits = Limits::network().max_input_bytes(3);
        for bytes in [&b""[..], b"\x1f", b"\x0a\x00", b"{}"] {
            assert!(matches!(inflate(bytes, &limits), Ok(Cow::Borrowed(same)) if same == bytes));
        }
        let error = inflate(b"\x0a\x02\x0a\x00", &limits).unwrap_err();
        assert!(error.to_string().starts_with("4 bytes of input exceed the limit of 3"));
    }

    #[test]
    fn equal_bytes_make_equal_files_that_inflate_to_them() {
        let noise: Vec<u8> = (0..200_000u32).map(|n| (n.wrapping_mul(n) >> 7) as u8).collect();
        for bytes in [&b""[..], TEXT, &[0; 70_000], &noise] {
            for level in (0..=9).filter_map(Level::new) {
                let file = deflate(bytes, level);
                assert_eq!(file, deflate(bytes, level));
                assert_eq!(file[3..8], [0; 5], "no flags, no time");
                assert_eq!(file[9], 255, "no system");
                assert_eq!(*inflate(&file, &Limits::network()).unwrap(), *bytes, "{level:?}");
            }
        }
        assert_eq!(Level::default(), Level::DEFAULT);
        assert_eq!(Level::new(10), None);
    }

    #[test]
    fn the_usual_file_is_inflated_into_one_allocation() {
        let file = gz(&TEXT.repeat(1000));
        let inflated = inflate(&file, &Limits::network()).unwrap().into_owned();
        assert_eq!(inflated.capacity(), inflated.len() + SLACK);
    }

    #[test]
    fn members_are_joined() {
        let (one, two) = TEXT.split_at(20);
        let big = TEXT.repeat(9_000);
        let file = [gz(one), gz(two), gz(b""), gz(&big), gz(one)].concat();
        let inflated = inflate(&file, &Limits::network()).unwrap();
        assert_eq!(*inflated, *[TEXT, &big, one].concat());
    }

    #[test]
    fn many_empty_members_neither_recurse_nor_pass_the_limit() {
        let file = gz(b"").repeat(10_000);
        assert_eq!(*inflate(&file, &Limits::unlimited()).unwrap(), *b"");
        fails(&file, ErrorKind::Limit, "17 gzip members exceed the limit of 16 (byte 320)");
    }

    #[test]
    fn every_truncation_is_an_error() {
        let fields = [&[3, 0, 1, 2, 3][..], b"name\0comment\0"].concat();
        let file = member(FEXTRA | FNAME | FCOMMENT, &fields, TEXT);
        assert_eq!(*inflate(&file, &Limits::network()).unwrap(), *TEXT);
        for end in GZIP.len()..file.len() {
            let error = inflate(&file[..end], &Limits::network()).unwrap_err();
            let part = match end {
                _ if end < HEADER + fields.len() => "header",
                _ if end < file.len() - TRAILER => "data",
                _ => "trailer",
            };
            let expected = format!("the file ends inside the gzip {part} (byte {end})");
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn every_flipped_bit_of_the_trailer_is_an_error() {
        let file = gz(TEXT);
        for bit in 0..8 * TRAILER {
            let mut file = file.clone();
            let start = file.len() - TRAILER;
            file[start + bit / 8] ^= 1 << (bit % 8);
            let error = inflate(&file, &Limits::network()).unwrap_err().to_string();
            let what = if bit < 32 { "checksum" } else { "size" };
            let message = format!("gzip {what} mismatch: the trailer stores ");
            assert!(error.starts_with(&message), "{error}");
            let end = if bit < 32 { "" } else { "the data has 36 bytes " };
            assert!(error.ends_with(&format!("{end}(byte {start})")), "{error}");
        }
    }

    #[test]
    fn no_flipped_bit_makes_it_panic_or_take_more_than_it_may() {
        let limits = Limits { max_decompressed_bytes: 1 << 16, ..Limits::network() };
        let fields = [&[3, 0, 1, 2, 3][..], b"name\0comment\0"].concat();
        let file = member(FEXTRA | FNAME | FCOMMENT, &fields, TEXT);
        for bit in 0..8 * file.len() {
            let mut file = file.clone();
            file[bit / 8] ^= 1 << (bit % 8);
            if let Ok(inflated) = inflate(&file, &limits) {
                // Without the magic number it is not gzip; the last bits of the data are padding.
                assert!(bit < 16 || *inflated == *TEXT);
            }
        }
    }

    #[test]
    fn headers_are_checked() {
        let mut method = gz(TEXT);
        method[2] = 7;
        let message = "gzip compression method 7 is unknown: only 8 (deflate) is defined (byte 0)";
        fails(&method, ErrorKind::Malformed, message);
        for bit in [0x20, 0x40, 0x80] {
            let message = format!("gzip flags {bit:#04x} set a reserved bit (mask 0xe0) (byte 0)");
            fails(&member(bit, b"", TEXT), ErrorKind::Malformed, &message);
        }
        let second = [gz(TEXT), member(0x20, b"", TEXT)].concat();
        let message =
            format!("gzip flags 0x20 set a reserved bit (mask 0xe0) (byte {})", gz(TEXT).len());
        fails(&second, ErrorKind::Malformed, &message);
        let text_hint = member(1, b"", TEXT);
        assert_eq!(*inflate(&text_hint, &Limits::network()).unwrap(), *TEXT);
    }

    #[test]
    fn header_checksums_are_checked() {
        let header = [&member(FHCRC | FNAME, b"", TEXT)[..HEADER], b"name\0"].concat();
        let mut crc = Crc::new();
        crc.update(&header);
        let [low, high, ..] = crc.sum().to_le_bytes();
        let file = |low, high| member(FHCRC | FNAME, &[b"name\0", &[low, high][..]].concat(), TEXT);
        assert_eq!(*inflate(&file(low, high), &Limits::network()).unwrap(), *TEXT);
        let (right, wrong) = ([low, high], [!low, high]);
        let [right, wrong] = [right, wrong].map(u16::from_le_bytes);
        let message = format!(
            "gzip header checksum mismatch: stored {wrong:#06x}, computed {right:#06x} (byte 15)"
        );
        fails(&file(!low, high), ErrorKind::Malformed, &message);
        let cut = &file(low, high)[..HEADER + 6];
        let message = "the file ends inside the gzip header (byte 16)";
        fails(cut, ErrorKind::Malformed, message);
    }

    #[test]
    fn names_and_comments_are_bounded() {
        for (flag, what) in [(FNAME, "file name"), (FCOMMENT, "comment")] {
            let mut text = vec![b'x'; MAX_TEXT];
            text.push(0);
            let file = member(flag, &text, TEXT);
            assert_eq!(*inflate(&file, &Limits::network()).unwrap(), *TEXT);
            text.insert(0, b'x');
            let message = format!("the gzip {what} is longer than 65535 bytes (byte 10)");
            fails(&member(flag, &text, TEXT), ErrorKind::Malformed, &message);
        }
    }

    #[test]
    fn corrupt_deflate_data_is_named() {
        let mut file = gz(TEXT);
        file[HEADER] |= 0b110;
        let error = inflate(&file, &Limits::network()).unwrap_err().to_string();
        assert!(
            error.starts_with("deflate data is corrupt: invalid block type (byte 1"),
            "{error}"
        );
    }

    #[test]
    fn zeros_may_follow_and_nothing_else() {
        let mut file = gz(TEXT);
        let end = file.len();
        file.resize(end + 512, 0);
        assert_eq!(*inflate(&file, &Limits::network()).unwrap(), *TEXT);
        *file.last_mut().unwrap() = 1;
        let message =
            format!("the 512 bytes after the last gzip member are not a gzip member (byte {end})");
        fails(&file, ErrorKind::Malformed, &message);
        file.truncate(end);
        file.push(0x1f);
        let message =
            format!("the 1 bytes after the last gzip member are not a gzip member (byte {end})");
        fails(&file, ErrorKind::Malformed, &message);
    }

    /// Builds a file of 100 MB of zeros by repeating one deflated MB. The checksum is wrong.
    fn bomb(claim: u32) -> Vec<u8> {
        let mut state = flate2::Compress::new(flate2::Compression::best(), false);
        let mut block = Vec::with_capacity(SLACK * 4);
        let flush = flate2::FlushCompress::Full;
        state.compress_vec(&vec![0; 1_000_000], &mut block, flush).unwrap();
        let mut file = gz(b"")[..HEADER].to_vec();
        file.extend(block.repeat(100));
        file.extend([3, 0, 0, 0, 0, 0]);
        file.extend(claim.to_le_bytes());
        file
    }

    #[test]
    fn a_bomb_is_refused_before_it_goes_off() {
        for claim in [0, 100_000_000, u32::MAX] {
            let file = bomb(claim);
            assert!(file.len() < 110_000);
            let limits = Limits::network().max_decompressed_bytes(1_000_000);
            let mut gunzip = Gunzip::new(&file, &limits);
            gunzip.grow(gunzip.claimed);
            assert_eq!(gunzip.member().unwrap_err().kind(), ErrorKind::Limit);
            assert!(gunzip.out.capacity() <= 1_000_000 + SLACK, "{}", gunzip.out.capacity());
        }
        let error = inflate(&bomb(100_000_000), &Limits::network()).unwrap_err().to_string();
        let message = "100000000 decompressed bytes exceed the limit of 67108864";
        assert!(error.starts_with(message), "{error}");
    }

    #[test]
    fn a_limit_is_what_still_fits() {
        for (size, fits) in [(99, false), (100, true), (101, true)] {
            let limits = Limits::network().max_decompressed_bytes(size);
            let one = gz(&[7; 100]);
            let two = [gz(&[7; 50]), gz(&[8; 50])].concat();
            assert_eq!(inflate(&one, &limits).is_ok(), fits);
            assert_eq!(inflate(&two, &limits).is_ok(), fits);
        }
    }

    #[test]
    fn one_layer_only() {
        fails(
            &gz(&gz(TEXT)),
            ErrorKind::Unrecognised,
            "the content of the gzip file is compressed with gzip; one layer of gzip, zlib or zstd is supported: run `gzip -dc < FILE > payload` first",
        );
        fails(
            &gz(b"\x04\x22\x4d\x18"),
            ErrorKind::Unrecognised,
            "the content of the gzip file is compressed with lz4; one layer of gzip, zlib or zstd is supported: run `gzip -dc < FILE | lz4 -dc > payload` first",
        );
    }

    #[test]
    fn other_compressions_are_named() {
        let files: [(&[u8], &str, &str); 7] = [
            (b"BZh91AY&SY", "bzip2", "`bzip2 -dc < FILE > payload`"),
            (b"\xfd7zXZ\0\0", "xz", "`xz -dc < FILE > payload`"),
            (b"\x04\x22\x4d\x18", "lz4", "`lz4 -dc < FILE > payload`"),
            (b"\xff\x06\0\0sNaPpY", "snappy", "`szip -d < FILE > payload` (`cargo install szip`)"),
            (b"PK\x03\x04", "zip", "`funzip < FILE > payload`"),
            (b"PK\x05\x06", "zip", "`funzip < FILE > payload`"),
            (b"BZh1\x17rE8P\x90", "bzip2", "`bzip2 -dc < FILE > payload`"),
        ];
        for (file, name, command) in files {
            let message = format!(
                "the file is compressed with {name}; one layer of gzip, zlib or zstd is supported: run {command} first"
            );
            fails(file, ErrorKind::Unrecognised, &message);
        }
    }

    #[test]
    fn text_and_messages_are_no_zlib_and_no_bzip2() {
        for bytes in [&b"x^2;square 7\n"[..], b"x\x01\x0a\x00", b"BZh9;main 1\n", b"x\x9c"] {
            assert_eq!(magic(bytes), None, "{bytes:?}");
        }
    }
}
