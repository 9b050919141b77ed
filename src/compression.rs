//! Compresses and decompresses gzip, and decompresses zlib and zstd; the feature `zstd` adds writing zstd.
//!
//! Equal input deflates to equal bytes, on one thread or several. Files are written without a name or a time, and
//! inflated within [`Limits`]. Other compressions are recognised by their magic numbers and named in the error.
//! [`stream`](crate::stream) inflates input that does not fit into memory frame by frame.
//!
//! Three limits apply before memory is allocated: the size of the input, the number of members and the
//! inflated size. Only one layer is removed: compressed data inside compressed data is an error.

mod deflater;
mod gunzip;
mod inflater;
mod level;
mod snappy;
pub(crate) mod window;
mod zlib;
mod zstd;

use std::borrow::Cow;
use std::io::Read;

use flate2::{Decompress, FlushDecompress, Status};

use crate::error::{Error, ErrorKind, GzipFault, Result, unreadable};
use crate::limits::{Limits, within};

use self::gunzip::{Gunzip, Inflated};
use self::zlib::zlib;

pub use self::deflater::{deflate, deflate_in_parallel};

pub(crate) use self::deflater::deflated_length;
pub(crate) use self::gunzip::some as gunzip_some;
pub(crate) use self::inflater::Inflater;
pub use self::level::Level;
#[cfg(feature = "zstd")]
pub use self::zstd::zstd;

/// The names and magic numbers of compressions. bzip2 and zlib need more than a magic number ([`magic`]).
const MAGICS: [(&str, &[u8]); 7] = [
    ("gzip", gunzip::GZIP),
    ("zstd", zstd::FRAME),
    ("xz", b"\xfd7zXZ\0"),
    ("lz4", b"\x04\x22\x4d\x18"),
    ("snappy", b"\xff\x06\0\0sNaPpY"),
    ("zip", b"PK\x03\x04"),
    ("zip", b"PK\x05\x06"),
];

/// Bytes to inflate to test whether input is zlib.
const ZLIB_START: usize = 1 << 10;

/// Returns the compression whose magic number begins `bytes`.
///
/// No message begins with one of them: 0x1f is a tag of wire type 7; 0x03, 0x04 and 0x05 are tags of field 0; 0xfd
/// and 0xff begin tags far above any field in use. A skippable frame of zstd begins like field 10 or 11, followed
/// by field 9 with an invalid wire type. The two bytes of zlib also occur in text and as pprof's `doc_url`, so such
/// input counts as zlib only if it inflates.
pub(crate) fn magic(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [b'B', b'Z', b'h', b'1'..=b'9', block @ ..]
            if block.starts_with(b"1AY&SY") || block.starts_with(b"\x17rE8P\x90") =>
        {
            Some("bzip2")
        }
        // A skippable frame may precede the others.
        [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some("zstd"),
        // Only memray reads its recordings, compressed or not, so they are not named as lz4.
        _ if is_memray(bytes) => None,
        [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..] if is_zlib(bytes) => Some("zlib"),
        _ => MAGICS.iter().find(|(_, magic)| bytes.starts_with(magic)).map(|(name, _)| *name),
    }
}

/// Returns whether `bytes` are a recording of memray. They begin with its name, which lz4 stores among its first
/// literals.
pub(crate) fn is_memray(bytes: &[u8]) -> bool {
    const NAME: &[u8] = b"memray";
    let start = bytes.get(..32).unwrap_or(bytes);
    let is_lz4 = start.starts_with(b"\x04\x22\x4d\x18");
    start.starts_with(NAME) || is_lz4 && start.windows(NAME.len()).any(|part| part == NAME)
}

/// Returns whether `bytes` inflate as zlib, to their end or to at least [`ZLIB_START`] bytes.
fn is_zlib(bytes: &[u8]) -> bool {
    let mut zlib = Decompress::new(true);
    let mut buffer = vec![0; ZLIB_START];
    match zlib.decompress(bytes, &mut buffer, FlushDecompress::Finish) {
        Ok(Status::StreamEnd) => true,
        Ok(_) => zlib.total_out() == ZLIB_START as u64,
        Err(_) => false,
    }
}

/// Decompresses gzip, zlib or zstd. Returns uncompressed bytes unchanged, and the concatenated content of several
/// gzip members or zstd frames, which count as members.
///
/// Limits apply while inflating, so a bomb costs no more than they allow. Every checksum and every size
/// is verified. Only zeros, the padding of tapes, may follow the last member.
///
/// ```
/// use otlp_profiles::compression::{inflate};
/// use otlp_profiles::{Limits};
///
/// let file = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
/// let message = inflate(&file, &Limits::network())?;
/// assert!(message.len() > file.len());
///
/// // Uncompressed input is borrowed, not copied.
/// let again = inflate(&message, &Limits::network())?;
/// assert_eq!(again.as_ptr(), message.as_ptr());
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
///
/// # Errors
///
/// - [`ErrorKind::Limit`]: the file exceeds `max_input_bytes`, `max_gzip_members` or `max_decompressed_bytes`.
/// - [`ErrorKind::Malformed`]: the data is truncated, damaged or followed by other data.
/// - [`ErrorKind::Unrecognised`]: another compression, or gzip inside gzip.
///
/// The offset of such an error is an offset in `bytes`, not in the inflated data.
pub fn inflate<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Cow<'a, [u8]>> {
    Ok(unpack(bytes, limits)?.bytes)
}

/// Inflated bytes, with facts about the compression that the checker reports.
pub(crate) struct Unpacked<'a> {
    pub(crate) bytes: Cow<'a, [u8]>,
    /// The number of gzip members; 0 if the file is not gzip.
    pub(crate) members: u64,
    /// The number of zeros after the last member.
    pub(crate) padding: usize,
    /// The name of the compression.
    pub(crate) packing: Option<&'static str>,
    /// The inflated lengths of the non-empty gzip members.
    pub(crate) lengths: Vec<usize>,
}

impl Unpacked<'_> {
    /// Copies borrowed bytes.
    pub(crate) fn into_owned<'a>(self) -> Unpacked<'a> {
        Unpacked { bytes: Cow::Owned(self.bytes.into_owned()), ..self }
    }

    /// Compresses other bytes in the same way.
    ///
    /// # Errors
    ///
    /// This build cannot write the compression.
    pub(crate) fn again(&self, bytes: Vec<u8>) -> Result<Vec<u8>, &'static str> {
        Ok(match self.packing {
            Some("gzip") => deflate(&bytes, Level::DEFAULT),
            Some("zlib") => zlib(&bytes, Level::DEFAULT),
            #[cfg(feature = "zstd")]
            Some("zstd") => zstd(&bytes, Level::DEFAULT),
            Some(_) => {
                return Err(
                    "this build reads zstd but does not write it: decompress the file first, or build with the feature `zstd`",
                );
            }
            None => bytes,
        })
    }
}

/// Like [`inflate`], with facts about the compression.
pub(crate) fn unpack<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Unpacked<'a>> {
    unpack_until(bytes, limits, |_, _| false)
}

/// Like [`unpack`], but stops after the second non-empty gzip member if `ends` returns true for the first two.
pub(crate) fn unpack_until<'a>(
    bytes: &'a [u8],
    limits: &Limits,
    ends: impl FnMut(&[u8], &[u8]) -> bool,
) -> Result<Unpacked<'a>> {
    within("max_input_bytes", limits.max_input_bytes, bytes.len() as u64)?;
    let packing = magic(bytes);
    match packing {
        None => {
            let bytes = Cow::Borrowed(bytes);
            Ok(Unpacked { bytes, members: 0, padding: 0, packing, lengths: Vec::new() })
        }
        Some(name @ ("zlib" | "zstd")) => {
            let mut inflated = Vec::new();
            let read = Inflater::new(bytes, packing, limits).read_to_end(&mut inflated);
            read.map_err(unreadable)?;
            let bytes = one_layer(inflated, name)?;
            Ok(Unpacked { bytes, members: 0, padding: 0, packing, lengths: Vec::new() })
        }
        Some("gzip") => {
            let inflated = Gunzip::new(bytes, limits).run(ends);
            let Inflated { bytes, members, padding, lengths } =
                inflated.map_err(|error| error.located(bytes))?;
            let bytes = one_layer(bytes, "gzip")?;
            Ok(Unpacked { bytes, members, padding, packing, lengths })
        }
        Some(name) => Err(unsupported(name).gzip(GzipFault::Other)),
    }
}

/// Returns whether a compression is read. Others are named in an error.
pub(crate) fn is_read(packing: &str) -> bool {
    matches!(packing, "gzip" | "zlib" | "zstd")
}

/// Returns the content of a compressed file, unless it is compressed again.
///
/// # Errors
///
/// [`ErrorKind::Unrecognised`] if it is, with the command that removes one layer, or both if the inner one is not read.
fn one_layer(inflated: Vec<u8>, outer: &str) -> Result<Cow<'static, [u8]>> {
    let Some(inner) = magic(&inflated) else { return Ok(Cow::Owned(inflated)) };
    let command = match is_read(inner) {
        true => format!("{} < FILE > payload", inflating(outer)),
        false => format!("{} < FILE | {} > payload", inflating(outer), inflating(inner)),
    };
    let what = format!("the content of the {outer} file");
    Err(still_compressed(&what, inner, &command).gzip(GzipFault::Nested))
}

/// Returns the error of an unsupported compression, with the command that removes it.
#[cold]
fn unsupported(name: &str) -> Error {
    still_compressed("the file", name, &format!("{} < FILE > payload", inflating(name)))
}

/// Returns the command that inflates its standard input.
fn inflating(name: &str) -> String {
    match name {
        "zlib" => "pigz -dc".to_owned(),
        "snappy" => "szip -d".to_owned(),
        "raw snappy" => "szip -d --raw".to_owned(),
        "zip" => "funzip".to_owned(),
        name => format!("{name} -dc"),
    }
}

#[cold]
fn still_compressed(what: &str, name: &str, command: &str) -> Error {
    let install = if command.contains("szip") { " (`cargo install szip`)" } else { "" };
    let message = format!(
        "{what} is compressed with {name}; one layer of gzip, zlib or zstd is supported: run `{command}`{install} first"
    );
    Error::new(ErrorKind::Unrecognised, message)
}

/// Returns the error of snappy without frames, which has no magic number: bytes are examined only if nothing else
/// recognises them.
pub(crate) fn raw_snappy(bytes: &[u8]) -> Option<Error> {
    snappy::is_raw(bytes).then(|| unsupported("raw snappy"))
}
