//! From an input to its messages: what both subcommands do first.
//!
//! ```text
//! Input ─► File or stdin ─► Counted ─► MessageReader (gzip, zstd, frames) ─► one message ─► Known ─► f
//! ```
//!
//! `info` wants a summary and the others the profiles; [`Known`] is what they have in
//! common, so framing, limits, guesses and messages on stderr are the same for all.
//!
//! | of an input | what happens |
//! |---|---|
//! | a file without frames | one message; its place is said from its own beginning |
//! | frames, lines of JSON | one after the other; places begin with `message[3]` |
//! | a long text | read line by line, never whole in memory |

use std::cell::Cell;
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

use crate::console::{Console, Level, Line, Progress};
use crate::exit::{Exit, Failure};
use crate::formats::FormatParser;
use crate::input::{Input, unreadable};
use crate::limits::ReadLimits;
use crate::notices::Notices;
use crate::source::SourceArgs;
use crate::trace;

/// How to read.
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
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    limits: ReadLimits,
}

impl ReadArgs {
    /// What `--type` said.
    pub(crate) fn types(&self) -> &[(String, String)] {
        self.source.types()
    }

    /// Whether what is broken is left out.
    pub(crate) fn repairs(&self) -> bool {
        self.repair
    }

    /// The limits are those of files, larger than the library's own, which are meant for a server.
    /// Ambiguity is left to [`read_or_guess`], which tells a guess from a reading.
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

/// clap words the error; the library's sentence is its middle.
fn parse_endpoint(text: &str) -> Result<Endpoint, String> {
    text.parse().map_err(|error: otlp_profiles::Error| error.message().to_owned())
}

/// An input that is being read.
pub(crate) struct Content<'a> {
    /// For messages that name the file, and commands that can be typed.
    input: &'a Input,
    /// Its name, which may hold anything.
    pub(crate) name: String,
    /// Inflates and takes frames apart; the memory is that of the largest message.
    payloads: MessageReader<Counted<Box<dyn Read>>>,
    /// Shared with the counting reader, which [`MessageReader`] owns.
    stored: Rc<Cell<u64>>,
    /// What the message that could not be read seems to be.
    pub(crate) seems: Option<Detected>,
    /// Whether `--type` says what is written, where the format that is read does not take it.
    pub(crate) types_may_choose: bool,
}

impl<'a> Content<'a> {
    /// Opens an input and finds out how it is framed.
    ///
    /// # Errors
    ///
    /// A file that cannot be opened, or whose beginning is no frame, gzip or zstd it claims to be.
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
        let stored = Rc::new(Cell::new(0));
        let progress = console.progress().clone();
        let counted = Counted { reader, read: Rc::clone(&stored), progress };
        let payloads = MessageReader::with_size(counted, input.size(), *limits)
            .map_err(|error| input.failure(&error, false))?;
        drop(step);
        Ok(Self { input, name, payloads, stored, seems: None, types_may_choose: false })
    }

    /// The bytes it has where it is stored, as far as they were read.
    pub(crate) fn stored(&self) -> u64 {
        self.stored.get()
    }

    /// The bytes of its messages, as far as they were read.
    pub(crate) fn inflated(&self) -> u64 {
        self.payloads.bytes()
    }

    pub(crate) fn is_gzip(&self) -> bool {
        self.payloads.is_gzip()
    }

    pub(crate) fn is_zstd(&self) -> bool {
        self.payloads.is_zstd()
    }

    pub(crate) fn framing(&self) -> Framing {
        self.payloads.framing()
    }

    /// Reads the messages one by one, so that only one of them is in memory, until `f` fails. Behind
    /// one that cannot be read there may be more.
    ///
    /// `f` gets a message or why it could not be read, and ends the reading by an error of its own.
    ///
    /// Places of failures are made here: `f`'s own get the number of the message, too, as a failure
    /// to write is about one message as much as a failure to read.
    pub(crate) fn each<T: Known>(
        &mut self,
        options: &ReadOptions,
        console: &Console,
        mut f: impl FnMut(Result<Message<'_, T>, Failure>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let framed = self.framing() != Framing::None;
        // The file was within its limits; inflated, it may be more.
        let inner = options.clone().limits(options.limits.max_input_bytes(u64::MAX));
        if let Some(start) = self.payloads.text().map(<[u8]>::to_vec)
            && let Some(reading) = self.read_text(&start, &inner, console)
        {
            let bytes = self.inflated();
            let message = |reading| Message { payload: start, bytes, reading, options: &inner };
            return f(reading.map(message));
        }
        let mut row = 0;
        while let Some(payload) = self.payloads.next() {
            let placed =
                |failure: Failure| if framed { failure.within_message(row) } else { failure };
            let payload = payload.map_err(|error| self.input.failure(&error, self.is_gzip()));
            let message = payload.and_then(|payload| {
                let reading = self.read(&payload, &inner, console)?;
                let bytes = payload.len() as u64;
                Ok(Message { payload, bytes, reading, options: &inner })
            });
            match message {
                Ok(message) => f(Ok(message)).map_err(placed)?,
                Err(failure) => f(Err(placed(failure)))?,
            }
            row += 1;
        }
        Ok(())
    }

    /// Reads a long text that begins so line by line, if it has lines.
    ///
    /// None where the text has no lines to read by: then it is read whole, like any other payload.
    fn read_text<T: Known>(
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
        Some(self.known(reading.map(T::of), start, options, console))
    }

    /// `seems` is set where a message could not be read: `info` still says what it is likely to be.
    ///
    /// An empty file is refused here: as protobuf it would be a valid message without profiles.
    fn read<T: Known>(
        &mut self,
        payload: &[u8],
        options: &ReadOptions,
        console: &Console,
    ) -> Result<T, Failure> {
        if payload.is_empty() && self.framing() == Framing::None {
            return Err(Failure::new(Exit::Input, "there are no bytes in it"));
        }
        let step = console.step("read", "decode", &self.name);
        let without = self.without_types(payload, options);
        let options = without.as_ref().unwrap_or(options);
        let reading = read_or_guess::<T>(payload, options);
        drop(step);
        self.known(reading, payload, options, console)
    }

    /// What was made of a payload that begins so, or why nothing was.
    ///
    /// Logs what was detected and why, and with `-vvv` every entry, before anything is done with
    /// it: if the next step fails, the log has what it worked on.
    fn known<T: Known>(
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
                _ => self.input.failure(&error, self.is_gzip()),
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
    /// The options for a message of a format that `--type` is not for, but for what is written.
    ///
    /// `--type` has two meanings: what a format that leaves types open shall be read as, and which
    /// types are written. For a message of any other format only the second holds.
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

/// Reads a payload. Where formats fit that read something else, it is the likelier one if that is
/// allowed; all of the payload is looked at before that is said of it.
fn read_or_guess<T: Known>(payload: &[u8], options: &ReadOptions) -> otlp_profiles::Result<T> {
    match T::read(payload, &options.clone().ambiguity(Ambiguity::Refuse)) {
        Err(error)
            if error.kind() == ErrorKind::Ambiguous && options.ambiguity == Ambiguity::Prefer =>
        {
            T::read(payload, options)
        }
        result => result,
    }
}

/// What is made of a payload: its profiles, or what there is to say of them.
///
/// What [`Content::each`] needs to know of it, no more: the rest is the subcommand's.
pub(crate) trait Known: Sized {
    /// Reads one message that is complete.
    fn read(payload: &[u8], options: &ReadOptions) -> otlp_profiles::Result<Self>;
    /// The same of what was read in full.
    fn of(reading: Reading) -> Self;
    /// The format it was read as, and how sure that is.
    fn detected(&self) -> &Detected;
    /// The rows there are: all of them of a reading, an outline of a summary.
    fn profiles(&self) -> &Profiles;
}

impl Known for Reading {
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

/// A reading that is a guess, where none is wanted.
///
/// One sentence for all who refuse a guess, which names the formats and the flag that decides.
pub(crate) fn ambiguous(detected: &Detected) -> Failure {
    let (format, others) = (detected.format, names(detected.certainty.others()));
    let message = format!(
        "it reads as {format}, and with another meaning as {others}: say which it is with --from"
    );
    Failure::new(Exit::Ambiguous, message)
}

/// `otlp-1.9 and otlp-1.8`
pub(crate) fn names(formats: &[Format]) -> String {
    let names: Vec<_> = formats.iter().map(|format| format.name()).collect();
    names.join(" and ")
}

/// One message, read.
pub(crate) struct Message<'a, T = Reading> {
    /// Its bytes, inflated; of a long text that was read by lines, the first.
    pub(crate) payload: Vec<u8>,
    /// How many it has in all.
    pub(crate) bytes: u64,
    /// What was made of it.
    pub(crate) reading: T,
    /// Those it was read with, which the other readings of a guess need.
    options: &'a ReadOptions,
}

impl<T: Known> Message<'_, T> {
    /// Whether formats that fit as well read something else, and none was named.
    pub(crate) fn is_guess(&self) -> bool {
        self.options.format.is_none() && self.reading.detected().certainty.is_guess()
    }

    /// The message as the other formats that fit read it, if this reading is a guess.
    ///
    /// Readings that fail are left out: a guess that cannot be read is none.
    ///
    /// Reads the payload once more for each: only for a guess, which is rare.
    pub(crate) fn other_readings(&self) -> Vec<T> {
        let others = self.reading.detected().certainty.others();
        let guesses = if self.is_guess() { others } else { &[] };
        let read = |other: &Format| T::read(&self.payload, &self.options.clone().format(*other));
        guesses.iter().filter_map(|other| read(other).ok()).collect()
    }
}

impl Message<'_> {
    /// Notes what a user should know of how a message was read: a deprecated format, a guess, unused options.
    ///
    /// # Errors
    ///
    /// Another reading is as likely and has other sums: the user must choose.
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

/// A reader that counts the bytes it gives.
///
/// Below decompression, so the bytes are those of the file, which is what the progress bar knows
/// the total of.
struct Counted<R> {
    reader: R,
    /// Shared with [`Content`], which asks for the count while the reader belongs to [`MessageReader`].
    read: Rc<Cell<u64>>,
    progress: Progress,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.read.set(self.read.get() + read as u64);
        self.progress.read(read as u64);
        Ok(read)
    }
}
