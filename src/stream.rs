//! The payloads of a file or stream, one after the other: out of gzip and out of their frames.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufReader, Chain, Cursor, ErrorKind, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use crate::compression::{self, inflate};
use crate::error::{Error, Result};
use crate::framing::{Framing, Opening, UNREADABLE, next_frame, opening, take};
use crate::limits::{Limits, within};

/// The payloads of a file or stream, inflated and without their frames.
///
/// A file is one payload unless it is [framed](crate::framing). The payloads of a framed file are
/// read one by one, so that the memory needed is that of the largest one, however long the file;
/// [`Limits`] hold for each of them. Anything else is read whole.
///
/// ```
/// use otlp_profiles::Limits;
/// use otlp_profiles::framing::{Framing, frame};
/// use otlp_profiles::stream::Payloads;
///
/// let file = frame(Framing::LengthPrefixed, [&b"\x0a\0"[..], b"\x12\0"])?;
/// let mut payloads = Payloads::new(&file[..], Limits::network())?;
/// assert_eq!(payloads.framing(), Framing::LengthPrefixed);
/// assert_eq!(payloads.next().transpose()?.as_deref(), Some(&b"\x0a\0"[..]));
/// assert_eq!(payloads.next().transpose()?.as_deref(), Some(&b"\x12\0"[..]));
/// assert!(payloads.next().is_none());
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Debug)]
pub struct Payloads<R> {
    /// What is left.
    source: Source<R>,
    /// Of what the input is when it is inflated.
    framing: Framing,
    gzip: bool,
    zstd: bool,
    /// For each payload alone.
    limits: Limits,
}

/// What is left to read.
#[derive(Debug)]
enum Source<R> {
    /// A payload in memory, which no frame surrounds.
    Whole(Vec<u8>),
    /// Frames on their way in.
    Frames(Frames<R>),
    /// After the last, or after an error of the file itself.
    End,
}

/// The bytes that were looked at to find out what this is, and those behind them.
type Input<R> = BufReader<Chain<Cursor<Vec<u8>>, R>>;

#[derive(Debug)]
enum Frames<R> {
    /// The file is not compressed as a whole; its frames may be.
    Plain(Input<R>),
    Gzip(Box<BufReader<MultiGzDecoder<Input<R>>>>),
    #[cfg(feature = "zstd")]
    Zstd(Box<BufReader<compression::Unzstd<Input<R>>>>),
}

/// As much of a file as is looked at before more of it is needed to know how it is framed.
const WINDOW: usize = 64 << 10;

impl Payloads<File> {
    /// The payloads of a file.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    ///
    /// ```
    /// use otlp_profiles::{Limits, stream::Payloads};
    ///
    /// let mut payloads = Payloads::open("testdata/go-heap.pb.gz", Limits::file())?;
    /// assert!(payloads.is_gzip());
    /// let payload = payloads.next().unwrap()?;
    /// assert!(payload.len() > 3_000 && payloads.next().is_none());
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn open(path: impl AsRef<Path>, limits: Limits) -> Result<Self> {
        let file = File::open(path).map_err(|error| Error::io("the file cannot be read", error))?;
        // What is no regular file has no size; reading it says what is wrong with it.
        let size = file.metadata().ok().filter(|metadata| metadata.is_file());
        let size = size.map_or(0, |metadata| metadata.len());
        Self::with_size(file, size, limits)
    }
}

impl<R: Read> Payloads<R> {
    /// The payloads of what `input` gives.
    ///
    /// # Errors
    ///
    /// [`Io`](crate::ErrorKind::Io) if reading fails, [`Limit`](crate::ErrorKind::Limit) for a file that is no list of
    /// frames and larger than its limits, [`Malformed`](crate::ErrorKind::Malformed) if it is broken gzip.
    ///
    /// ```
    /// use otlp_profiles::{ErrorKind, Limits, stream::Payloads};
    ///
    /// let limits = Limits::network().max_input_bytes(3);
    /// let error = Payloads::new(&b"a longer file"[..], limits).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::Limit);
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn new(input: R, limits: Limits) -> Result<Self> {
        Self::with_size(input, 0, limits)
    }

    /// As [`new`](Self::new), where the number of bytes is known, as that of a file is: they are
    /// read into one allocation, and too many are refused before they are read. 0 is unknown.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    ///
    /// ```
    /// use otlp_profiles::{Limits, stream::Payloads};
    ///
    /// let file = std::fs::File::open("testdata/go-heap.pb.gz").unwrap();
    /// let size = file.metadata().unwrap().len();
    /// let mut payloads = Payloads::with_size(file, size, Limits::file())?;
    /// assert!(payloads.next().unwrap()?.len() as u64 > size);
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn with_size(mut input: R, size: u64, limits: Limits) -> Result<Self> {
        let mut head = Vec::new();
        // More and more of the input is looked at, until it is known how it is framed.
        let mut window = WINDOW;
        loop {
            let more = window.saturating_sub(head.len());
            take(&mut input, more as u64, &mut head)?;
            let at_end = head.len() < window;
            let packed = compression::magic(&head);
            let opening = match packed {
                Some("gzip") => packed_opening(MultiGzDecoder::new(&head[..]), &head, at_end),
                #[cfg(feature = "zstd")]
                Some("zstd") => match compression::unzstd_stream(&head[..], &limits) {
                    Ok(start) => packed_opening(start, &head, at_end),
                    Err(_) => Opening::Bare,
                },
                _ => opening(&head, at_end),
            };
            match opening {
                Opening::Open if !at_end && (window as u64) < limits.max_input_bytes => window *= 4,
                Opening::Open | Opening::Bare => return Self::whole(input, head, size, limits),
                Opening::Framed(framing) => {
                    let input = BufReader::new(Cursor::new(head).chain(input));
                    let (gzip, zstd) = (packed == Some("gzip"), packed == Some("zstd"));
                    let frames = match packed {
                        Some("gzip") => {
                            let inflater = BufReader::new(MultiGzDecoder::new(input));
                            Frames::Gzip(Box::new(inflater))
                        }
                        #[cfg(feature = "zstd")]
                        Some("zstd") => {
                            let inflater = compression::unzstd_stream(input, &limits)?;
                            Frames::Zstd(Box::new(BufReader::new(inflater)))
                        }
                        _ => Frames::Plain(input),
                    };
                    let source = Source::Frames(frames);
                    return Ok(Self { source, framing, gzip, zstd, limits });
                }
            }
        }
    }

    /// Reads all of a file whose beginning shows no frames.
    /// `file` is what was looked at before.
    fn whole(mut input: R, mut file: Vec<u8>, size: u64, limits: Limits) -> Result<Self> {
        let most = limits.max_input_bytes;
        within("max_input_bytes", most, size)?;
        fill(&mut input, size, &mut file)?;
        // One byte more than the limit is enough to see that it is too many.
        let more = most.saturating_add(1).saturating_sub(file.len() as u64);
        take(&mut input, more, &mut file)?;
        within("max_input_bytes", most, file.len() as u64)?;
        let packed = compression::magic(&file);
        let (gzip, zstd) = (packed == Some("gzip"), packed == Some("zstd"));
        let inflated = match inflate(&file, &limits)? {
            Cow::Owned(inflated) => Some(inflated),
            Cow::Borrowed(_) => None,
        };
        let payload = inflated.unwrap_or(file);
        // What its first bytes left open, all of them decide.
        let (source, framing) = match opening(&payload, true) {
            Opening::Framed(framing) => {
                let frames = BufReader::new(Cursor::new(payload).chain(input));
                (Source::Frames(Frames::Plain(frames)), framing)
            }
            Opening::Bare | Opening::Open => (Source::Whole(payload), Framing::None),
        };
        Ok(Self { source, framing, gzip, zstd, limits })
    }
}

impl<R> Payloads<R> {
    /// How the payloads are framed.
    /// Known as soon as it is made, from the first bytes.
    ///
    /// ```
    /// use otlp_profiles::framing::{Framing, frame};
    /// use otlp_profiles::{Limits, stream::Payloads};
    ///
    /// let stream = frame(Framing::Grpc, [b"\x0a\x00", b"\x0a\x00"])?;
    /// let payloads = Payloads::new(&stream[..], Limits::network())?;
    /// assert_eq!(payloads.framing(), Framing::Grpc);
    /// assert_eq!(payloads.count(), 2);
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn framing(&self) -> Framing {
        self.framing
    }

    /// Whether the file as a whole is gzip.
    /// Frames that are compressed each on its own do not count.
    pub fn is_gzip(&self) -> bool {
        self.gzip
    }

    /// Whether the file as a whole is zstd; only ever with the feature `zstd`.
    /// Without it such a file is an error that names the compression.
    pub fn is_zstd(&self) -> bool {
        self.zstd
    }
}

impl<R: Read> Iterator for Payloads<R> {
    type Item = Result<Vec<u8>>;

    fn next(&mut self) -> Option<Result<Vec<u8>>> {
        let frame = match &mut self.source {
            Source::End => return None,
            Source::Whole(payload) => {
                let payload = std::mem::take(payload);
                self.source = Source::End;
                return Some(Ok(payload));
            }
            Source::Frames(Frames::Plain(input)) => next_frame(input, self.framing, &self.limits),
            Source::Frames(Frames::Gzip(input)) => next_frame(input, self.framing, &self.limits),
            #[cfg(feature = "zstd")]
            Source::Frames(Frames::Zstd(input)) => next_frame(input, self.framing, &self.limits),
        };
        match frame {
            Ok(Some(frame)) => Some(unpacked(frame, &self.limits)),
            end => {
                self.source = Source::End;
                end.err().map(Err)
            }
        }
    }
}

/// Reads until there are `size` bytes, or the input ends.
///
/// `read_to_end` would write zeros into the buffer of a reader that is not the standard library's;
/// a new allocation of them is free.
fn fill(input: &mut impl Read, size: u64, file: &mut Vec<u8>) -> Result<()> {
    let Some(size) = usize::try_from(size).ok().filter(|size| *size > file.len()) else {
        return Ok(());
    };
    let mut filled = file.len();
    let mut all = vec![0; size];
    all[..filled].copy_from_slice(file);
    while filled < size {
        match input.read(&mut all[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::io(UNREADABLE, error)),
        }
    }
    all.truncate(filled);
    *file = all;
    Ok(())
}

/// How a compressed file is framed inside, by as much as its first bytes inflate to.
fn packed_opening(inflated: impl Read, head: &[u8], at_end: bool) -> Opening {
    let mut start = Vec::new();
    // What is cut off or broken shows when all of it is read.
    let most = 16 * head.len();
    let read = inflated.take(most as u64).read_to_end(&mut start);
    opening(&start, at_end && read.is_ok_and(|read| read < most))
}

/// A frame's own compression undone.
fn unpacked(frame: Vec<u8>, limits: &Limits) -> Result<Vec<u8>> {
    match inflate(&frame, limits)? {
        Cow::Owned(inflated) => Ok(inflated),
        Cow::Borrowed(_) => Ok(frame),
    }
}
