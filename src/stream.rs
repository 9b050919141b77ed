//! Iterates over the payloads of a file or stream: decompresses it and removes the framing.

mod head;
mod members;
mod page;
mod unicode;

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufReader, Chain, Cursor, Read};
use std::path::Path;

use crate::compression::{self, Inflater, unpack_until};
use crate::error::{Error, Result, unreadable};
use crate::framing::{Framing, MAGIC, Opening, fill, next_frame, opening, take};
use crate::limits::{Limits, within};

use self::head::{WINDOW, inflated, is_long_text, members};
use self::members::second_member;
pub(crate) use self::members::{are_messages, messages_of};
pub use self::page::{PAGE_START, base64, page_script};
pub(crate) use self::unicode::{Decoder, Encoding, unpack};

/// Iterates over the payloads of a file or stream, decompressed and without framing.
///
/// A file is one payload unless it is [framed](crate::framing). Gzip members are messages if the first is a whole
/// pprof, OTLP or JSON payload and the second begins another; otherwise they are pieces of one payload. The payloads
/// of a framed file are read one by one, so memory depends on the largest payload and not on the file. If the first
/// member exceeds 64 KiB, the compressed file is in memory, too.
/// [`Limits`] apply to each payload; the limit of gzip members also applies to the file. A long text
/// stays unread until requested, so that [`read_text`](crate::read_text) can read it line
/// by line. Any other file is read whole.
///
/// ```
/// use otlp_profiles::Limits;
/// use otlp_profiles::framing::{Framing, frame};
/// use otlp_profiles::stream::MessageReader;
///
/// let file = frame(Framing::LengthPrefixed, [&b"\x0a\0"[..], b"\x12\0"])?;
/// let mut payloads = MessageReader::new(&file[..], Limits::network())?;
/// assert_eq!(payloads.framing(), Framing::LengthPrefixed);
/// assert_eq!(payloads.next().transpose()?.as_deref(), Some(&b"\x0a\0"[..]));
/// assert_eq!(payloads.next().transpose()?.as_deref(), Some(&b"\x12\0"[..]));
/// assert!(payloads.next().is_none());
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Debug)]
pub struct MessageReader<R> {
    /// The unread part of the input.
    source: Source<R>,
    /// Framing of the inflated input.
    framing: Framing,
    /// The compression of the file as a whole.
    packing: Option<&'static str>,
    /// Limits of each payload.
    limits: Limits,
    /// Inflated bytes of the payloads returned so far.
    given: u64,
}

/// The unread part of an input.
#[derive(Debug)]
enum Source<R> {
    /// An unframed payload in memory.
    Whole(Vec<u8>),
    /// An unframed text of which only the beginning is in memory.
    Text(Box<Unread<R>>),
    /// A stream of frames.
    Frames(Box<BufReader<Inflater<Input<R>>>>),
    /// Gzip members that are messages.
    Members(Box<Inflater<Input<R>>>),
    /// The end, or an error of the file itself.
    End,
}

/// The bytes that were examined to find the framing, followed by the rest of the input.
type Input<R> = Chain<Cursor<Vec<u8>>, R>;

/// A file whose beginning was examined.
#[derive(Debug)]
struct Unread<R> {
    /// Its first bytes, as stored.
    head: Vec<u8>,
    /// The content of `head`, if it is compressed or not in UTF-8.
    inflated: Option<Vec<u8>>,
    /// The input after `head`.
    input: R,
    /// Size of the file in bytes; 0 if unknown.
    size: u64,
}

impl<R> Unread<R> {
    /// Returns the beginning of the content.
    fn start(&self) -> &[u8] {
        self.inflated.as_deref().unwrap_or(&self.head)
    }
}

impl MessageReader<File> {
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// The same as [`new`](Self::new).
    ///
    /// ```
    /// use otlp_profiles::{Limits, stream::MessageReader};
    ///
    /// let mut payloads = MessageReader::open("testdata/go-heap.pb.gz", Limits::file())?;
    /// assert!(payloads.is_gzip());
    /// let payload = payloads.next().unwrap()?;
    /// assert!(payload.len() > 3_000 && payloads.next().is_none());
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn open(path: impl AsRef<Path>, limits: Limits) -> Result<Self> {
        let file = File::open(path).map_err(|error| Error::io("the file cannot be read", error))?;
        // Only regular files have a size. Reading reports what is wrong with others, such as directories.
        let size = file.metadata().ok().filter(|metadata| metadata.is_file());
        let size = size.map_or(0, |metadata| metadata.len());
        Self::with_size(file, size, limits)
    }
}

impl<R: Read> MessageReader<R> {
    /// Creates a reader over `input`.
    ///
    /// # Errors
    ///
    /// - [`Io`](crate::ErrorKind::Io): reading fails.
    /// - [`Limit`](crate::ErrorKind::Limit): an unframed file exceeds its limits.
    /// - [`Malformed`](crate::ErrorKind::Malformed): the file is broken gzip.
    ///
    /// ```
    /// use otlp_profiles::{ErrorKind, Limits, stream::MessageReader};
    ///
    /// let limits = Limits::network().max_input_bytes(3);
    /// let error = MessageReader::new(&b"a longer file"[..], limits).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::Limit);
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn new(input: R, limits: Limits) -> Result<Self> {
        Self::with_size(input, 0, limits)
    }

    /// Like [`new`](Self::new), with the number of bytes, such as the length of a file. The reader then
    /// allocates once and rejects oversized input before reading it. 0 means unknown.
    ///
    /// # Errors
    ///
    /// The same as [`new`](Self::new).
    ///
    /// ```
    /// use otlp_profiles::{Limits, stream::MessageReader};
    ///
    /// let file = std::fs::File::open("testdata/go-heap.pb.gz").unwrap();
    /// let size = file.metadata().unwrap().len();
    /// let mut payloads = MessageReader::with_size(file, size, Limits::file())?;
    /// assert!(payloads.next().unwrap()?.len() as u64 > size);
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn with_size(mut input: R, mut size: u64, limits: Limits) -> Result<Self> {
        // Reserve one byte more than the file has, so that the last read can return 0 without growing the buffer.
        let mut head = Vec::with_capacity(size.min(WINDOW as u64) as usize + 1);
        // Examine a larger part of the input until the framing is known.
        let mut window = WINDOW;
        loop {
            let more = window.saturating_sub(head.len());
            take(&mut input, more as u64, &mut head)?;
            if page::begins(&head) {
                head = page::members(head, &mut input, size, &limits)?;
                (size, window) = (head.len() as u64, head.len() + 1);
            }
            let at_end = head.len() < window;
            let packed = compression::magic(&head);
            let inflated = packed.and_then(|packed| inflated(&head, packed, &limits));
            let opening = match &inflated {
                Some((start, is_whole)) => opening(start, at_end && *is_whole),
                None => opening(&head, at_end),
            };
            let opening = match opening {
                // For a smaller file, which is read whole, inflating finds the members.
                Opening::Bare if packed == Some("gzip") && !at_end => members(&head, &limits),
                opening => opening,
            };
            match opening {
                Opening::Open if !at_end && (window as u64) < limits.max_input_bytes => window *= 4,
                Opening::Open | Opening::Bare => {
                    let inflated = inflated.map(|(start, _)| start);
                    return Self::bare(Unread { head, inflated, input, size }, limits);
                }
                Opening::Framed(framing) => {
                    let source = frames(Cursor::new(head).chain(input), packed, framing, &limits)?;
                    return Ok(Self { source, framing, packing: packed, limits, given: 0 });
                }
            }
        }
    }

    /// Creates a reader for a file whose beginning shows no frames. Reads all of it unless it is a long text.
    fn bare(file: Unread<R>, limits: Limits) -> Result<Self> {
        within("max_input_bytes", limits.max_input_bytes, file.size)?;
        let packed = compression::magic(&file.head);
        let decoded = unicode::beginning(file.start());
        let is_long = is_long_text(file.start(), decoded.as_deref());
        let file = Unread { inflated: decoded.or(file.inflated), ..file };
        let (source, framing) = match is_long {
            true => (Source::Text(Box::new(file)), Framing::None),
            false => Self::whole(file, &limits)?,
        };
        Ok(Self { source, framing, packing: packed, limits, given: 0 })
    }

    /// Reads all of a file whose beginning shows no frames.
    fn whole(file: Unread<R>, limits: &Limits) -> Result<(Source<R>, Framing)> {
        let Unread { head: mut file, mut input, size, .. } = file;
        let most = limits.max_input_bytes;
        fill(&mut input, size, &mut file)?;
        // One byte more than the limit is enough to detect an oversized file.
        let more = most.saturating_add(1).saturating_sub(file.len() as u64);
        take(&mut input, more, &mut file)?;
        within("max_input_bytes", most, file.len() as u64)?;
        let mut members = false;
        let unpacked = unpack_until(&file, limits, |first, second| {
            members = second_member(first, second, true) != Opening::Bare;
            members
        })?;
        if members {
            let framing = Framing::GzipMembers;
            let file = Cursor::new(file).chain(input);
            return Ok((frames(file, Some("gzip"), framing, limits)?, framing));
        }
        let payload = match unicode::decoded(unpacked.bytes, limits)? {
            Cow::Owned(content) => content,
            Cow::Borrowed(_) => file,
        };
        // The whole payload decides if its first bytes did not.
        Ok(match opening(&payload, true) {
            Opening::Framed(framing) => {
                (frames(Cursor::new(payload).chain(input), None, framing, limits)?, framing)
            }
            Opening::Bare | Opening::Open => (Source::Whole(payload), Framing::None),
        })
    }

    /// Passes the next payload to `read` as a stream, if it is a long [text](Self::text).
    pub(crate) fn take_text<T>(&mut self, read: impl FnOnce(&mut dyn Read) -> T) -> Option<T> {
        self.text()?;
        let Source::Text(text) = std::mem::replace(&mut self.source, Source::End) else {
            return None;
        };
        let packed = compression::magic(&text.head);
        let input = Cursor::new(text.head).chain(text.input);
        let mut text = Inflater::new(input, packed, &self.limits);
        let made = read(&mut text);
        self.given += text.given();
        Some(made)
    }
}

impl<R> MessageReader<R> {
    /// Returns the framing of the payloads.
    /// It is known from the first bytes.
    ///
    /// ```
    /// use otlp_profiles::framing::{Framing, frame};
    /// use otlp_profiles::{Limits, stream::MessageReader};
    ///
    /// let stream = frame(Framing::Grpc, [b"\x0a\x00", b"\x0a\x00"])?;
    /// let payloads = MessageReader::new(&stream[..], Limits::network())?;
    /// assert_eq!(payloads.framing(), Framing::Grpc);
    /// assert_eq!(payloads.count(), 2);
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn framing(&self) -> Framing {
        self.framing
    }

    /// Returns whether the file as a whole is gzip.
    /// Frames compressed individually do not count.
    pub fn is_gzip(&self) -> bool {
        self.packing == Some("gzip")
    }

    /// Returns the beginning of the next payload if it is a long text that is not yet in
    /// memory. [`read_text`](crate::read_text) reads it line by line if its format is
    /// line-based. [`next`](Iterator::next) reads all of it and returns the errors that [`new`](Self::new)
    /// returns for other files.
    ///
    /// ```
    /// use otlp_profiles::{Limits, stream::MessageReader};
    ///
    /// let text = "main;run;poll 42\n".repeat(10_000);
    /// let payloads = MessageReader::new(text.as_bytes(), Limits::file())?;
    /// assert!(payloads.text().is_some_and(|start| start.starts_with(b"main;run")));
    ///
    /// let short = MessageReader::new(&b"main;run;poll 42\n"[..], Limits::file())?;
    /// assert_eq!(short.text(), None);
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn text(&self) -> Option<&[u8]> {
        match &self.source {
            Source::Text(text) => Some(text.start()),
            _ => None,
        }
    }

    /// Returns the number of bytes of the payloads returned or read so far, inflated.
    pub fn bytes(&self) -> u64 {
        self.given
    }

    /// Returns the compression of the file as a whole: `gzip`, `zlib` or `zstd`.
    /// Frames compressed individually do not count.
    ///
    /// ```
    /// use otlp_profiles::{Limits, stream::MessageReader};
    ///
    /// let payloads = MessageReader::open("testdata/go-heap.pb.gz", Limits::file())?;
    /// assert_eq!(payloads.compression(), Some("gzip"));
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn compression(&self) -> Option<&'static str> {
        self.packing
    }
}

impl<R: Read> Iterator for MessageReader<R> {
    type Item = Result<Vec<u8>>;

    fn next(&mut self) -> Option<Result<Vec<u8>>> {
        let payload = match std::mem::replace(&mut self.source, Source::End) {
            Source::End => return None,
            Source::Whole(payload) => Ok(payload),
            Source::Text(text) => match Self::whole(*text, &self.limits) {
                Ok((source, framing)) => {
                    (self.source, self.framing) = (source, framing);
                    return self.next();
                }
                Err(error) => Err(error),
            },
            Source::Frames(mut input) => match next_frame(&mut input, self.framing, &self.limits) {
                Ok(frame) => {
                    let frame = frame?;
                    self.source = Source::Frames(input);
                    unpacked(frame, &self.limits)
                }
                Err(error) => Err(error),
            },
            Source::Members(mut input) => {
                let mut member = Vec::new();
                match input.member(&self.limits, &mut member).map_err(unreadable) {
                    Ok(false) => return None,
                    Ok(true) => {
                        self.source = Source::Members(input);
                        unpacked(member, &self.limits)
                    }
                    Err(error) => Err(error),
                }
            }
        };
        self.given += payload.as_ref().map_or(0, |payload| payload.len() as u64);
        Some(payload)
    }
}

/// Creates a source that reads frames, after the magic of a delimited file.
fn frames<R: Read>(
    input: Input<R>,
    packed: Option<&str>,
    framing: Framing,
    limits: &Limits,
) -> Result<Source<R>> {
    let inflater = Inflater::new(input, packed, limits).endless();
    if framing == Framing::GzipMembers {
        return Ok(Source::Members(Box::new(inflater)));
    }
    let mut frames = BufReader::new(inflater);
    if framing == Framing::DelimitedFile {
        take(&mut frames, MAGIC.len() as u64, &mut Vec::new())?;
    }
    Ok(Source::Frames(Box::new(frames)))
}

/// Decompresses and decodes the content of a frame.
fn unpacked(bytes: Vec<u8>, limits: &Limits) -> Result<Vec<u8>> {
    match unpack(&bytes, limits)?.bytes {
        Cow::Owned(content) => Ok(content),
        Cow::Borrowed(_) => Ok(bytes),
    }
}
