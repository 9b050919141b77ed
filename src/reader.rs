//! Reads profiles from bytes of any format.

mod options;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::error::{Error, ErrorKind, ReadFinding, Result};
use crate::format::Format;
use crate::format::detect::{Certainty, Depth, Detected, detect_payload, names};
use crate::format::line_reader::LineReader;
use crate::framing::Framing;
use crate::limits::Limits;
use crate::model::Profiles;
use crate::read_context::ReadContext;
use crate::stream::{MessageReader, messages_of, unpack};
use crate::write_options::WriteOptions;
use crate::writer::write;

pub use self::options::{Ambiguity, ReadOptions};

/// Profiles with the detected format and the findings of the reader.
///
/// It owns its data and does not borrow from the input.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// use otlp_profiles::Format;
///
/// let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let reading = otlp_profiles::read(&bytes, &Default::default())?;
/// assert_eq!(reading.detected.format, Format::PPROF);
/// assert_eq!(reading.profiles.iter().next().unwrap().sample_types().len(), 4);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Reading {
    /// The profiles.
    pub profiles: Profiles,
    /// Repairs under [`Policy::Repair`](crate::Policy::Repair), and irregularities that were kept.
    /// Each code has one entry, with a count.
    pub findings: Vec<ReadFinding>,
    /// The format, its certainty and the evidence.
    pub detected: Detected,
}

/// Reads one message: decompresses it, removes the framing and detects the format.
///
/// Time and memory are linear in the decompressed size. [`ReadOptions::format`] skips the detection.
///
/// # Errors
///
/// - [`ErrorKind::Unrecognised`]: the bytes are of no known format.
/// - [`ErrorKind::Malformed`]: the bytes are broken.
/// - [`ErrorKind::Limit`]: the input exceeds a limit.
/// - [`ErrorKind::Ambiguous`]: several formats read the bytes differently.
/// - [`ErrorKind::SeveralMessages`]: the file contains several messages; read it with [`Reader`].
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let reading = otlp_profiles::read(&bytes, &Default::default())?;
/// println!("{}: {}", reading.detected.format, reading.detected.certainty);
/// # Ok(()) }
/// ```
pub fn read(bytes: &[u8], options: &ReadOptions) -> Result<Reading> {
    of_one(bytes, &options.limits, |payload| read_payload(payload, options))
}

/// Inflates and unframes a file, and calls `f` with its only payload.
pub(crate) fn of_one<T>(
    bytes: &[u8],
    limits: &Limits,
    f: impl FnOnce(&[u8]) -> Result<T>,
) -> Result<T> {
    let file = unpack(bytes, limits)?;
    let (mut messages, cut) = messages_of(&file, limits)?;
    cut.map_or(Ok(()), Err)?;
    match (messages.len(), messages.next()) {
        (1, Some(message)) => f(&unpack(message, limits)?.bytes),
        (several, _) => {
            let message = format!("the file contains {several} messages, expected one");
            Err(Error::new(ErrorKind::SeveralMessages, message))
        }
    }
}

/// Reads the messages of a file or stream, one after the other.
///
/// Most files contain one message. Those of the Collector's file exporter and of gRPC streams contain many.
/// Only one message is in memory at a time, and [`Limits`] apply to each.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// use otlp_profiles::{ReadOptions, Reader};
///
/// for reading in Reader::open("testdata/go-heap.pb.gz", &ReadOptions::default())? {
///     println!("{} profiles", reading?.profiles.iter().count());
/// }
/// # Ok(()) }
/// ```
///
/// A message that cannot be read returns an error whose place begins with `message[3]`. The reader continues with the
/// next message. After an error of the file itself it ends.
#[derive(Debug)]
pub struct Reader<R> {
    /// Removes compression and framing.
    payloads: MessageReader<R>,
    options: ReadOptions,
    /// Index of the next message, for the place of an error.
    row: usize,
}

impl Reader<File> {
    /// Opens the file at `path`.
    ///
    /// # Errors
    ///
    /// The same as [`new`](Self::new).
    ///
    /// ```
    /// use otlp_profiles::{ErrorKind, ReadOptions, Reader};
    ///
    /// let error = Reader::open("testdata/missing.pb.gz", &ReadOptions::default()).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::Io);
    /// ```
    pub fn open(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self> {
        Ok(Self::over(MessageReader::open(path, options.limits)?, options))
    }
}

impl<R: Read> Reader<R> {
    /// Creates a reader over `input`: a file, a socket, `&bytes[..]`.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::Io`]: reading the input fails.
    /// - [`ErrorKind::Malformed`]: the input is broken gzip.
    /// - [`ErrorKind::Limit`]: the input is one message larger than its limit.
    ///
    /// ```
    /// use otlp_profiles::framing::{Framing, frame};
    /// use otlp_profiles::{ReadOptions, Reader};
    /// # let otlp = std::fs::read("testdata/otlp-1.11-aggregated-cpu.binpb").unwrap();
    /// // Two messages as the Collector's file exporter writes them.
    /// let file = frame(Framing::LengthPrefixed, [&otlp[..], &otlp])?;
    /// let readings: Vec<_> = Reader::new(&file[..], &ReadOptions::default())?.collect();
    /// assert_eq!(readings.len(), 2);
    /// assert!(readings.iter().all(|reading| reading.is_ok()));
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn new(input: R, options: &ReadOptions) -> Result<Self> {
        Ok(Self::over(MessageReader::new(input, options.limits)?, options))
    }
}

impl<R> Reader<R> {
    /// Creates a reader over `payloads`.
    fn over(payloads: MessageReader<R>, options: &ReadOptions) -> Self {
        Self { payloads, options: options.clone(), row: 0 }
    }

    /// Returns the framing of the messages.
    /// [`Framing::None`] if the file is one message.
    pub fn framing(&self) -> Framing {
        self.payloads.framing()
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Reading>;

    fn next(&mut self) -> Option<Result<Reading>> {
        if let Some(reading) = read_text(&mut self.payloads, &self.options) {
            return Some(reading);
        }
        let payload = self.payloads.next()?;
        let row = self.row;
        self.row += 1;
        let reading = payload.and_then(|payload| read_payload(&payload, &self.options));
        let framed = self.framing() != Framing::None;
        Some(reading.map_err(|e| if framed { e.within_row("message", row) } else { e }))
    }
}

/// Reads the next payload line by line if it is a long [text](MessageReader::text) of a line-based format: folded
/// stacks or the text of `perf script`. Memory grows with the distinct content, not with the length.
///
/// Returns `None` for any other payload, which [`MessageReader::next`] then returns. [`Reader`] does both.
///
/// The format is detected from the first 64 KiB, as for a text in memory. The result is the same profiles or the same
/// error, with two exceptions. A later fault of the file, such as broken gzip, is reported after an earlier fault of the
/// text. [`Limits::max_owned_per_byte`] counts the bytes read so far.
///
/// ```
/// use otlp_profiles::stream::MessageReader;
/// use otlp_profiles::{Limits, ReadOptions, read_text};
///
/// let text = "main;run;poll 42\nmain;idle 7\n".repeat(10_000);
/// let mut payloads = MessageReader::new(text.as_bytes(), Limits::file())?;
/// let reading = read_text(&mut payloads, &ReadOptions::default()).unwrap()?;
/// assert_eq!(reading.profiles.iter().next().unwrap().sums(), [490_000]);
/// assert_eq!(payloads.bytes(), text.len() as u64);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub fn read_text<R: Read>(
    payloads: &mut MessageReader<R>,
    options: &ReadOptions,
) -> Option<Result<Reading>> {
    let start = payloads.text()?;
    let detected = detect_payload(start, options.format, options.endpoint, Depth::Bounded).ok()?;
    let read = detected.format.lines()?;
    let mut cx = cx(options, 0);
    let profiles = payloads.take_text(|input| {
        detected.format.check_options(cx.source.specified(), Format::can_read)?;
        read(&mut LineReader::coming(input), &mut cx)
    })?;
    Some(profiles.map(|profiles| reading(profiles, detected, cx)))
}

/// Returns an error if `bytes` cannot be addressed with 32 bits. The model stores positions in 32 bits, so no limit
/// can raise this maximum.
fn addressable(bytes: usize) -> Result<()> {
    let most = u32::MAX as usize - 16;
    if bytes <= most {
        return Ok(());
    }
    let message = format!("the payload has {bytes} bytes; the maximum is {most} bytes");
    Err(Error::new(ErrorKind::Limit, message))
}

/// Reads a payload that is neither compressed nor framed.
fn read_payload(payload: &[u8], options: &ReadOptions) -> Result<Reading> {
    addressable(payload.len())?;
    // A format that the caller named is not a guess.
    let refuse = options.ambiguity == Ambiguity::Refuse && options.format.is_none();
    let depth = if refuse { Depth::Whole } else { Depth::Bounded };
    let detected = detect_payload(payload, options.format, options.endpoint, depth)?;
    if !refuse || !detected.certainty.is_guess() {
        return read_detected(payload, detected, options);
    }
    if !is_read_alike(payload, &detected, options) {
        return Err(ambiguous(&detected));
    }
    let others = detected.certainty.others().to_vec();
    read_detected(
        payload,
        Detected { certainty: Certainty::Equivalent(others), ..detected },
        options,
    )
}

/// Returns whether the payload has no samples and reads as the same profiles in all formats that fit. Empty tables
/// have other field numbers in each generation but the same meaning.
fn is_read_alike(payload: &[u8], detected: &Detected, options: &ReadOptions) -> bool {
    // Compares the written forms, which are small without samples, so that only one reading is in memory at a time.
    let canonical = |format: Format| -> Result<Option<Vec<u8>>> {
        let detected = Detected { format, ..detected.clone() };
        let mut profiles = read_detected(payload, detected, options)?.profiles;
        if profiles.iter().any(|profile| !profile.samples().is_empty()) {
            return Ok(None);
        }
        profiles.compact();
        let written = write(&profiles, Format::OTLP, &WriteOptions::default())?;
        Ok(Some(written.payload))
    };
    let Ok(Some(ours)) = canonical(detected.format) else {
        return false;
    };
    // A format that fails to read the payload does not count as another reading.
    let others = detected.certainty.others().iter();
    others.map(|&other| canonical(other)).all(|theirs| match theirs {
        Ok(theirs) => theirs.is_some_and(|theirs| theirs == ours),
        Err(_) => true,
    })
}

/// Returns the error of a payload that reads differently in several formats.
#[cold]
fn ambiguous(detected: &Detected) -> Error {
    let (format, others) = (detected.format, names(detected.certainty.others()));
    let message = format!("the payload fits {format} and, with another meaning, {others}");
    Error::new(ErrorKind::Ambiguous, message)
}

/// Reads a payload whose format is known. Errors from here on contain an offset in `payload`.
pub(crate) fn read_detected(
    payload: &[u8],
    detected: Detected,
    options: &ReadOptions,
) -> Result<Reading> {
    let mut cx = cx(options, payload.len());
    let profiles = detected.format.read(payload, &mut cx);
    let profiles = profiles.map_err(|error| error.located(payload))?;
    Ok(reading(profiles, detected, cx))
}

/// Creates the context for a payload of `payload` bytes.
fn cx(options: &ReadOptions, payload: usize) -> ReadContext {
    let mut cx = ReadContext::new(options.limits, options.policy, payload);
    cx.links = options.links;
    cx.timestamp_label.clone_from(&options.timestamp_label);
    cx.source.clone_from(&options.source);
    cx
}

/// Assembles the result: profiles, findings and the evidence of detection.
fn reading(profiles: Profiles, mut detected: Detected, mut cx: ReadContext) -> Reading {
    detected.evidence.append(&mut cx.evidence);
    Reading { profiles, findings: cx.findings, detected }
}

/// Detects the format of some bytes without reading all of them: decompresses them and takes the first message
/// out of its frame. Ambiguity is not an error; [`Detected::certainty`] reports it.
///
/// Apart from decompression, the cost does not depend on the size: detection samples evenly spaced parts of large
/// payloads. [`read()`] examines more before it treats two readings as the same.
///
/// # Errors
///
/// [`ErrorKind::Unrecognised`] if this crate reads no such format; the error names the format if it is known.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// use otlp_profiles::Format;
///
/// let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let detected = otlp_profiles::detect(&bytes, &Default::default())?;
/// assert_eq!(detected.format, Format::PPROF);
/// println!("{} ({}): {}", detected.format, detected.certainty, detected.evidence.join("; "));
/// # Ok(()) }
/// ```
pub fn detect(bytes: &[u8], options: &ReadOptions) -> Result<Detected> {
    let file = unpack(bytes, &options.limits)?;
    let (mut messages, cut) = messages_of(&file, &options.limits)?;
    cut.map_or(Ok(()), Err)?;
    let first = messages.next().unwrap_or_default();
    let payload = unpack(first, &options.limits)?.bytes;
    detect_payload(&payload, options.format, options.endpoint, Depth::Bounded)
}
