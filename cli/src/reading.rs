//! Reads the messages of an input; all subcommands share this part.
//!
//! ```text
//! Input ─► File or stdin ─► Counted ─► MessageReader (gzip, zstd, frames) ─► one message ─► Summarised ─► f
//! ```
//!
//! `info` needs summaries and the others profiles. [`Summarised`] abstracts over both, so framing,
//! limits, guesses and messages on stderr are the same for all.
//!
//! | input | handling |
//! |---|---|
//! | a file without frames | one message; places count from its beginning |
//! | frames, JSON lines | one after the other; places begin with `message[3]` |
//! | a long text | read line by line, never completely in memory |

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{self, Read};
use std::rc::Rc;

use otlp_profiles::detect::Endpoint;
use otlp_profiles::framing::Framing;
use otlp_profiles::stream::MessageReader;
use otlp_profiles::{
    Ambiguity, Certainty, Detected, ErrorKind, Format, Limits, Policy, Profiles, ReadOptions,
    Reading,
};
use xxhash_rust::xxh3::Xxh3;

use crate::console::{Console, Level, Line, Progress};
use crate::exit::{Exit, Failure};
use crate::formats::FormatParser;
use crate::input::{Input, unreadable};
use crate::limits::ReadLimits;
use crate::notices::Notices;
use crate::skipped::Skipped;
use crate::source::SourceArgs;
use crate::trace;

/// Arguments that control reading.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct ReadArgs {
    /// The format of the input [default: detected]
    #[arg(long, value_name = "FORMAT", value_parser = FormatParser::Read)]
    pub(crate) from: Option<Format>,
    /// The endpoint that the input was sent to, such as /v1development/profiles; decides if several generations fit
    #[arg(long, value_name = "PATH|SERVICE", value_parser = parse_endpoint, hide_short_help = true)]
    endpoint: Option<Endpoint>,
    /// Drop the broken parts of an input, and report them
    #[arg(long)]
    repair: bool,
    /// Skip inputs and messages that cannot be read, and list them; fail only if nothing was read
    #[arg(long, hide_short_help = true)]
    skip_unreadable: bool,
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    limits: ReadLimits,
}

impl ReadArgs {
    /// The `--type` flags.
    pub(crate) fn types(&self) -> &[(String, String)] {
        self.source.types()
    }

    /// The first `--type` flag, with its unit if it has one.
    pub(crate) fn sample_type(&self) -> Option<String> {
        let (name, unit) = self.types().first()?;
        Some(if unit.is_empty() { name.clone() } else { format!("{name}:{unit}") })
    }

    /// Whether to drop malformed parts (`--repair`).
    pub(crate) fn repairs(&self) -> bool {
        self.repair
    }

    /// Whether to continue without inputs and messages that cannot be read (`--skip-unreadable`).
    pub(crate) fn skips_unreadable(&self) -> bool {
        self.skip_unreadable
    }

    /// Converts flags to options of the library. The limits are those of files, which exceed the
    /// defaults for servers. [`read_or_guess`] handles ambiguity, to tell guesses from certain
    /// readings.
    pub(crate) fn options(&self) -> ReadOptions {
        let policy = if self.repair { Policy::Repair } else { Policy::Refuse };
        ReadOptions::default()
            .limits(self.limits.set(Limits::file()))
            .policy(policy)
            .format(self.from)
            .endpoint(self.endpoint)
            .source(self.source.options())
            .ambiguity(Ambiguity::Prefer)
    }
}

/// Parses an endpoint. clap adds its words around the library's message.
fn parse_endpoint(text: &str) -> Result<Endpoint, String> {
    text.parse().map_err(|error: otlp_profiles::Error| error.message().to_owned())
}

/// An open input.
pub(crate) struct Content<'a> {
    /// The input, for messages that name the file and for suggested commands.
    input: &'a Input,
    /// The name of the input, which may contain any characters.
    pub(crate) name: String,
    /// Decompresses and splits into frames. Memory holds one message.
    payloads: MessageReader<Counted<Box<dyn Read>>>,
    /// The bytes read so far and their hash, shared with the counting reader that [`MessageReader`] owns.
    stored: Rc<Cell<u64>>,
    hash: Rc<RefCell<Xxh3>>,
    /// The likeliest format of an unreadable message.
    pub(crate) seems: Option<Detected>,
    /// Whether `--type` selects the types to write, if the format read has no use for it.
    pub(crate) types_may_choose: bool,
    /// Whether [`each`](Self::each) skips the malformed messages of a framed input.
    pub(crate) skips_messages: bool,
    /// The messages that were skipped.
    pub(crate) skipped: Skipped,
}

impl<'a> Content<'a> {
    /// Opens an input and detects its compression and framing.
    ///
    /// # Errors
    ///
    /// The file cannot be opened, or its beginning is malformed gzip, zstd or framing.
    pub(crate) fn open(
        input: &'a Input,
        limits: &Limits,
        console: &Console,
    ) -> Result<Self, Failure> {
        let reader: Box<dyn Read> = match &input.path {
            None => Box::new(io::stdin().lock()),
            Some(path) => Box::new(File::open(path).map_err(|error| unreadable(&error))?),
        };
        let name = input.name();
        let step = console.step("read", "load", &name);
        let (stored, hash) = (Rc::new(Cell::new(0)), Rc::<RefCell<Xxh3>>::default());
        let progress = console.progress().clone();
        let (read, hashed) = (Rc::clone(&stored), Rc::clone(&hash));
        let counted = Counted { reader, read, hash: hashed, progress };
        let payloads = MessageReader::with_size(counted, input.size(), *limits)
            .map_err(|error| input.failure(&error, None))?;
        drop(step);
        Ok(Self {
            input,
            name,
            payloads,
            stored,
            hash,
            seems: None,
            types_may_choose: false,
            skips_messages: false,
            skipped: Skipped::default(),
        })
    }

    /// The number of stored bytes read so far.
    pub(crate) fn stored(&self) -> u64 {
        self.stored.get()
    }

    /// The hash of the stored bytes read so far. After the last message, it covers the whole input, which a pipe
    /// provides only once.
    pub(crate) fn hash(&self) -> u128 {
        self.hash.borrow().digest128()
    }

    /// The number of decompressed bytes read so far.
    pub(crate) fn inflated(&self) -> u64 {
        self.payloads.bytes()
    }

    pub(crate) fn compression(&self) -> Option<&'static str> {
        self.payloads.compression()
    }

    pub(crate) fn framing(&self) -> Framing {
        self.payloads.framing()
    }

    /// Reads the messages one by one, with only one in memory, until `f` fails. It continues after
    /// an unreadable message.
    ///
    /// `f` gets a message or the error of reading it, and stops the iteration by returning an
    /// error.
    ///
    /// Adds the number of the message to the places of all failures, including those that `f`
    /// returns.
    ///
    /// Skips malformed messages if [`skips_messages`](Self::skips_messages) is set; if no other
    /// message was read, the failure of the first is returned.
    pub(crate) fn each<T: Summarised>(
        &mut self,
        options: &ReadOptions,
        console: &Console,
        mut f: impl FnMut(Result<Message<'_, T>, Failure>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let framed = self.framing() != Framing::None;
        // The file is within its limit; a decompressed message may exceed it.
        let inner = options.clone().limits(options.limits.max_input_bytes(u64::MAX));
        if let Some(start) = self.payloads.text().map(<[u8]>::to_vec)
            && let Some(reading) = self.read_text(&start, &inner, console)
        {
            let bytes = self.inflated();
            let message = |reading| Message { payload: start, bytes, reading, options: &inner };
            return f(reading.map(message));
        }
        let (mut row, mut is_empty) = (0, true);
        while let Some(payload) = self.payloads.next() {
            let placed =
                |failure: Failure| if framed { failure.within_message(row) } else { failure };
            let payload = payload.map_err(|error| self.input.failure(&error, self.compression()));
            let message = payload.and_then(|payload| {
                let reading = self.read(&payload, &inner, console)?;
                let bytes = payload.len() as u64;
                Ok(Message { payload, bytes, reading, options: &inner })
            });
            match message {
                Ok(message) => {
                    is_empty = false;
                    f(Ok(message)).map_err(placed)?;
                }
                Err(failure) if framed && self.skips_messages && failure.is_broken => {
                    self.skipped.add(placed(failure));
                }
                Err(failure) => f(Err(placed(failure)))?,
            }
            row += 1;
        }
        let first = self.skipped.first().filter(|_| is_empty);
        first.map_or(Ok(()), |failure| Err(failure.clone()))
    }

    /// Reads a long text line by line. `start` is its beginning.
    ///
    /// Returns `None` if its format is not line-based; the text is then read like any other
    /// payload.
    fn read_text<T: Summarised>(
        &mut self,
        start: &[u8],
        options: &ReadOptions,
        console: &Console,
    ) -> Option<Result<T, Failure>> {
        let without = self.without_types(start, options);
        let options = without.as_ref().unwrap_or(options);
        let step = console.step("read", "decode", &self.name);
        let reading = otlp_profiles::read_text(&mut self.payloads, options)?;
        drop(step);
        Some(self.log_detection(reading.map(T::of), start, options, console))
    }

    /// Reads a payload. If that fails, sets `seems`, so that `info` can report the likeliest
    /// format.
    ///
    /// Rejects an empty file, which as protobuf would be a valid message without profiles.
    fn read<T: Summarised>(
        &mut self,
        payload: &[u8],
        options: &ReadOptions,
        console: &Console,
    ) -> Result<T, Failure> {
        if payload.is_empty() && self.framing() == Framing::None {
            return Err(Failure::new(Exit::Input, "is empty"));
        }
        let step = console.step("read", "decode", &self.name);
        let without = self.without_types(payload, options);
        let options = without.as_ref().unwrap_or(options);
        let reading = read_or_guess::<T>(payload, options);
        drop(step);
        self.log_detection(reading, payload, options, console)
    }

    /// Logs the detection, or converts the error. `start` is the beginning of the payload.
    ///
    /// Logs the format with its evidence, and every table entry with `-vvv`, before further steps:
    /// if one of them fails, the log has its input.
    fn log_detection<T: Summarised>(
        &mut self,
        reading: otlp_profiles::Result<T>,
        start: &[u8],
        options: &ReadOptions,
        console: &Console,
    ) -> Result<T, Failure> {
        let reading = reading.map_err(|error| {
            self.seems = otlp_profiles::detect(start, options).ok();
            match &self.seems {
                Some(seems) if error.kind() == ErrorKind::Ambiguous => ambiguous(seems),
                _ => self.input.failure(&error, self.compression()),
            }
        })?;
        if console.shows(Level::Debug) {
            let detected = reading.detected();
            let line = Line::new(Level::Debug, "read", "Format detected")
                .with("format", detected.format)
                .with("certainty", &detected.certainty)
                .with("evidence", detected.evidence.join("; "));
            console.log(&line.about(&self.name));
        }
        trace::entries(reading.profiles(), console);
        Ok(reading)
    }
}

impl Content<'_> {
    /// Returns options without `--type` for a message whose format has no use for it.
    ///
    /// `--type` has two meanings: the types of an input whose format does not store types, and the
    /// types to write. For a message of any other format, only the second applies.
    fn without_types(&self, payload: &[u8], options: &ReadOptions) -> Option<ReadOptions> {
        if !self.types_may_choose || options.source.sample_types.is_empty() {
            return None;
        }
        let detected = otlp_profiles::detect(payload, options).ok()?;
        let is_taken = detected.format.options().contains(&"type");
        let mut options = options.clone();
        options.source.sample_types.clear();
        (!is_taken).then_some(options)
    }
}

/// Reads a payload. If formats fit that read different values, uses the likelier one if `options`
/// allow it.
///
/// The first attempt refuses ambiguity, which makes the library compare the whole payload.
fn read_or_guess<T: Summarised>(payload: &[u8], options: &ReadOptions) -> otlp_profiles::Result<T> {
    match T::read(payload, &options.clone().ambiguity(Ambiguity::Refuse)) {
        Err(error)
            if error.kind() == ErrorKind::Ambiguous && options.ambiguity == Ambiguity::Prefer =>
        {
            T::read(payload, options)
        }
        result => result,
    }
}

/// The result of reading a payload: profiles, or a summary of them.
///
/// It has only the functions that [`Content::each`] needs; the subcommands use the types directly.
pub(crate) trait Summarised: Sized {
    /// Reads one complete message.
    fn read(payload: &[u8], options: &ReadOptions) -> otlp_profiles::Result<Self>;
    /// Converts a message that was already read.
    fn of(reading: Reading) -> Self;
    /// The detected format and its certainty.
    fn detected(&self) -> &Detected;
    /// The rows of the message: all of them for a reading, an outline for a summary.
    fn profiles(&self) -> &Profiles;
}

impl Summarised for Reading {
    fn read(payload: &[u8], options: &ReadOptions) -> otlp_profiles::Result<Self> {
        otlp_profiles::read(payload, options)
    }

    fn of(reading: Reading) -> Self {
        reading
    }

    fn detected(&self) -> &Detected {
        &self.detected
    }

    fn profiles(&self) -> &Profiles {
        &self.profiles
    }
}

/// The failure for a guess where guesses are refused.
///
/// The message names the formats and the flag that decides.
pub(crate) fn ambiguous(detected: &Detected) -> Failure {
    let (format, others) = (detected.format, names(detected.certainty.others()));
    let message = format!(
        "it reads as {format}, and with another meaning as {others}: say which it is with --from"
    );
    Failure::new(Exit::Ambiguous, message)
}

/// Lists formats: `otlp-1.9 and otlp-1.8`.
pub(crate) fn names(formats: &[Format]) -> String {
    let names: Vec<_> = formats.iter().map(|format| format.name()).collect();
    names.join(" and ")
}

/// A message that was read.
pub(crate) struct Message<'a, T = Reading> {
    /// The decompressed bytes, or the beginning of a long text that was read line by line.
    pub(crate) payload: Vec<u8>,
    /// The number of bytes in all.
    pub(crate) bytes: u64,
    /// The profiles, or a summary of them.
    pub(crate) reading: T,
    /// The options it was read with, which [`other_readings`](Self::other_readings) uses again.
    options: &'a ReadOptions,
}

impl<T: Summarised> Message<'_, T> {
    /// Whether the format was detected and other formats fit that read different values.
    pub(crate) fn is_guess(&self) -> bool {
        self.options.format.is_none() && self.reading.detected().certainty.is_guess()
    }

    /// Reads the message in the other formats that fit, if its format is a guess.
    ///
    /// Omits formats in which reading fails, because they cannot be right.
    ///
    /// Reads the payload once per format, which is acceptable because guesses are rare.
    pub(crate) fn other_readings(&self) -> Vec<T> {
        let others = self.reading.detected().certainty.others();
        let guesses = if self.is_guess() { others } else { &[] };
        let read = |other: &Format| T::read(&self.payload, &self.options.clone().format(*other));
        guesses.iter().filter_map(|other| read(other).ok()).collect()
    }
}

impl Message<'_> {
    /// Adds notices about the reading of a message: a deprecated format, a guess, an unused option.
    ///
    /// # Errors
    ///
    /// Another format is equally likely and gives different sums, so the user must choose.
    pub(crate) fn check_certainty(&self, name: &str, notices: &mut Notices) -> Result<(), Failure> {
        let Reading { detected, findings, .. } = &self.reading;
        notices.deprecated_read(name, detected.format);
        if let Some(unused) = findings.iter().find(|f| f.code == "timestamps.label_unused") {
            notices.warn(unused.code, name, || {
                format!("{name} has no such times: {}", unused.message)
            });
        }
        if !self.is_guess() {
            return Ok(());
        }
        if let Certainty::Ambiguous(_) = detected.certainty {
            return Err(ambiguous(detected));
        }
        let (format, others) = (detected.format, names(detected.certainty.others()));
        notices.warn(&format!("{format} or {others}"), name, || {
            format!(
                "{name} was read as {format}, which is a guess: {others} fit as well and read something else; say which it is with --from"
            )
        });
        Ok(())
    }
}

/// A reader that counts and hashes its bytes.
///
/// It is below decompression, so it counts stored bytes, whose total the progress bar knows.
struct Counted<R> {
    reader: R,
    /// Shared with [`Content`], which reads the count while [`MessageReader`] owns the reader.
    read: Rc<Cell<u64>>,
    hash: Rc<RefCell<Xxh3>>,
    progress: Progress,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.read.set(self.read.get() + read as u64);
        self.hash.borrow_mut().update(buffer.get(..read).unwrap_or_default());
        self.progress.read(read as u64);
        Ok(read)
    }
}
