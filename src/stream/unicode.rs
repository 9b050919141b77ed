//! Decodes text in UTF-16 and UTF-32 to UTF-8.
//!
//! PowerShell's `>` writes UTF-16 with a byte order mark. Input is decoded once, before its framing and format are
//! detected, so all later stages read UTF-8.

use std::borrow::Cow;
use std::io::{self, Cursor, Read};

use super::page;
use crate::compression::{self, Unpacked};
use crate::error::Result;
use crate::limits::{Limits, within};

/// An encoding with units of 2 or 4 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Encoding {
    width: usize,
    is_big: bool,
}

impl Encoding {
    /// Returns the encoding that the byte order mark of a text declares, and the length of the mark. `None` for
    /// UTF-8.
    ///
    /// A framed payload never begins with a mark of UTF-32: a message begins with a tag, which is at least 8.
    pub(crate) fn of(start: &[u8]) -> Option<(Self, usize)> {
        let (width, is_big) = match start {
            [0, 0, 0xfe, 0xff, 0, ..] => (4, true),
            [0xff, 0xfe, 0, 0, ..] => (4, false),
            [0xfe, 0xff, ..] => (2, true),
            [0xff, 0xfe, ..] => (2, false),
            _ => return None,
        };
        Some((Self { width, is_big }, width))
    }

    /// Appends the characters of `bytes` to `text` as UTF-8, and returns the number of bytes used. A character that
    /// is incomplete at the end of `bytes` is left, unless `is_last`.
    ///
    /// Invalid units become a byte that UTF-8 does not use, so that readers treat them like other invalid text.
    pub(crate) fn decode(self, bytes: &[u8], is_last: bool, text: &mut Vec<u8>) -> usize {
        const INVALID: u8 = 0xff;
        let unit = |bytes: &[u8]| {
            let join = |unit: u32, byte: &u8| unit << 8 | u32::from(*byte);
            if self.is_big { bytes.iter().fold(0, join) } else { bytes.iter().rfold(0, join) }
        };
        let mut units = bytes.chunks_exact(self.width);
        let mut used = 0;
        while let Some(first) = units.next() {
            let mut code = unit(first);
            let mut width = self.width;
            if self.width == 2 && matches!(code, 0xd800..0xdc00) {
                match units.clone().next().map(unit) {
                    // The second half of the pair follows in the next block.
                    None if !is_last => break,
                    Some(low @ 0xdc00..0xe000) => {
                        code = 0x1_0000 + ((code - 0xd800) << 10 | (low - 0xdc00));
                        width = 4;
                        units.next();
                    }
                    _ => {}
                }
            }
            match char::from_u32(code) {
                Some(char) => text.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
                None => text.push(INVALID),
            }
            used += width;
        }
        if is_last && used < bytes.len() {
            text.push(INVALID);
            used = bytes.len();
        }
        used
    }
}

/// Decodes the beginning of a text to UTF-8. `None` if no byte order mark declares another encoding.
pub(super) fn beginning(start: &[u8]) -> Option<Vec<u8>> {
    let (encoding, mark) = Encoding::of(start)?;
    let mut text = Vec::new();
    encoding.decode(start.get(mark..)?, false, &mut text);
    Some(text)
}

/// Decodes a text to UTF-8. Returns other payloads unchanged.
///
/// # Errors
///
/// `max_decompressed_bytes`.
pub(crate) fn decoded<'a>(payload: Cow<'a, [u8]>, limits: &Limits) -> Result<Cow<'a, [u8]>> {
    let Some((encoding, mark)) = Encoding::of(&payload) else { return Ok(payload) };
    // A unit of two bytes takes at most three bytes in UTF-8.
    let most = payload.len() as u64 / 2 * 3;
    let mut text = Vec::with_capacity(most.min(limits.max_decompressed_bytes) as usize);
    encoding.decode(payload.get(mark..).unwrap_or_default(), true, &mut text);
    within("max_decompressed_bytes", limits.max_decompressed_bytes, text.len() as u64)?;
    Ok(Cow::Owned(text))
}

/// Decompresses and decodes a file. A page gives the profiles in it.
///
/// # Errors
///
/// Those of [`inflate`](compression::inflate).
pub(crate) fn unpack<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Unpacked<'a>> {
    let unpacked = match page::unwrapped(bytes)? {
        Cow::Borrowed(bytes) => compression::unpack(bytes, limits)?,
        Cow::Owned(members) => compression::unpack(&members, limits)?.into_owned(),
    };
    let is_text = Encoding::of(&unpacked.bytes).is_some();
    // The lengths count bytes before decoding. Text is never split at members, so drop them.
    let lengths = if is_text { Vec::new() } else { unpacked.lengths };
    let bytes = decoded(unpacked.bytes, limits)?;
    Ok(Unpacked { bytes, lengths, ..unpacked })
}

/// Decodes a text while it is read.
pub(crate) struct Decoder<'a> {
    input: Box<dyn Read + 'a>,
    encoding: Encoding,
    /// Bytes that were read but not yet decoded.
    raw: Vec<u8>,
    text: Cursor<Vec<u8>>,
}

impl<'a> Decoder<'a> {
    /// Creates a decoder of `input`, which begins after the byte order mark.
    pub(crate) fn new(input: impl Read + 'a, encoding: Encoding) -> Self {
        Self { input: Box::new(input), encoding, raw: Vec::new(), text: Cursor::default() }
    }
}

/// Bytes to read at once.
const BLOCK: u64 = 64 << 10;

impl Read for Decoder<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let given = self.text.read(buffer)?;
            if given > 0 || buffer.is_empty() {
                return Ok(given);
            }
            let read = self.input.by_ref().take(BLOCK).read_to_end(&mut self.raw)?;
            // The last, incomplete character is decoded once more with `is_last`, so bytes may remain at the end of
            // the input.
            if read == 0 && self.raw.is_empty() {
                return Ok(0);
            }
            // Reuses the allocation of the previous block.
            let mut text = std::mem::take(&mut self.text).into_inner();
            text.clear();
            let used = self.encoding.decode(&self.raw, read == 0, &mut text);
            self.raw.drain(..used);
            self.text = Cursor::new(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_encoding_is_decoded_and_errors_become_invalid_bytes() {
        let text = "{\"é\": \"𝄞\"}\n";
        let utf16 = |unit: fn(u16) -> [u8; 2]| -> Vec<u8> {
            format!("\u{feff}{text}").encode_utf16().flat_map(unit).collect()
        };
        let utf32 = |unit: fn(u32) -> [u8; 4]| -> Vec<u8> {
            format!("\u{feff}{text}").chars().flat_map(|char| unit(char.into())).collect()
        };
        let all = [
            utf16(u16::to_le_bytes),
            utf16(u16::to_be_bytes),
            utf32(u32::to_le_bytes),
            utf32(u32::to_be_bytes),
        ];
        for bytes in all {
            let limits = Limits::network();
            let whole = decoded(Cow::Borrowed(&bytes), &limits).unwrap();
            assert_eq!(*whole, *text.as_bytes());
            for cut in 0..bytes.len() {
                if let Some(start) = beginning(&bytes[..cut]) {
                    assert!(text.as_bytes().starts_with(&start), "{cut}");
                }
                let (encoding, mark) = Encoding::of(&bytes).unwrap();
                let mut ends = Vec::new();
                encoding.decode(&bytes[mark..cut.max(mark)], true, &mut ends);
                let is_whole = std::str::from_utf8(&ends).is_ok();
                assert!(is_whole == text.as_bytes().starts_with(&ends), "{cut}");
            }
            let error = decoded(Cow::Borrowed(&bytes), &limits.max_decompressed_bytes(9));
            assert_eq!(error.unwrap_err().limit(), Some("max_decompressed_bytes"));
            let (encoding, mark) = Encoding::of(&bytes).unwrap();
            let mut streamed = String::new();
            Decoder::new(&bytes[mark..], encoding).read_to_string(&mut streamed).unwrap();
            assert_eq!(streamed, text);
        }
        let mut lone = Vec::new();
        let (encoding, _) = Encoding::of(b"\xff\xfe").unwrap();
        encoding.decode(b"a\0\x00\xd8b\0\x00\xdc", true, &mut lone);
        assert_eq!(lone, b"a\xffb\xff");
        // A message of 65,279 bytes after its length.
        assert_eq!(Encoding::of(b"\0\0\xfe\xff\x0a\x05"), None);
        assert_eq!(Encoding::of(b"\xef\xbb\xbfa"), None);
    }
}
