//! From an input to its messages: what both subcommands do first.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read};
use std::rc::Rc;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use otlp_profiles::detect::Endpoint;
use otlp_profiles::framing::Framing;
use otlp_profiles::stream::Payloads;
use otlp_profiles::{Ambiguity, Detected, Format, Limits, Policy, ReadOptions, Reading};

use crate::console::{Console, Level, Line};
use crate::exit::{Exit, Failure};
use crate::input::{Input, unreadable};
use crate::limits::LimitArgs;
use crate::trace;

/// How to read.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ReadArgs {
    /// What the input is, where that is not certain
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    pub(crate) from: Option<Format>,
    /// What the input was sent to, as /v1development/profiles: decides where several generations fit
    #[arg(long, value_name = "PATH|SERVICE", value_parser = parse_endpoint)]
    endpoint: Option<Endpoint>,
    /// Repair broken input where it can be read without what is broken, and say so
    #[arg(long)]
    repair: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

impl ReadArgs {
    pub(crate) fn options(&self) -> ReadOptions {
        let policy = if self.repair { Policy::Repair } else { Policy::Refuse };
        ReadOptions::default()
            .limits(self.limits.limits())
            .policy(policy)
            .from(self.from)
            .endpoint(self.endpoint)
            .ambiguity(Ambiguity::Prefer)
    }
}

fn parse_endpoint(text: &str) -> Result<Endpoint, String> {
    text.parse().map_err(|error: otlp_profiles::Error| error.message().to_owned())
}

/// Takes the name of a format; help and errors list what the registry has.
pub(crate) fn format_parser() -> impl TypedValueParser<Value = Format> {
    let values = Format::ALL.iter().map(|format| {
        let aliases = format.aliases();
        let short = format.name().strip_prefix("otlp-").filter(|_| !format.is_json());
        let also: Vec<&str> = short.into_iter().chain(aliases.iter().copied()).collect();
        let help = match also[..] {
            [] => format.about().to_owned(),
            _ => format!("{} (also: {})", format.about(), also.join(", ")),
        };
        PossibleValue::new(format.name()).aliases(also).help(help)
    });
    PossibleValuesParser::new(values).try_map(|name| name.parse::<Format>())
}

/// An input that is being read.
pub(crate) struct Content {
    /// Its name, as it may be printed.
    pub(crate) name: String,
    payloads: Payloads<Counted<Box<dyn Read>>>,
    stored: Rc<Cell<u64>>,
    inflated: u64,
    /// What the message that could not be read seems to be.
    pub(crate) seems: Option<Detected>,
}

impl Content {
    /// Opens an input and finds out how it is framed.
    pub(crate) fn open(input: &Input, limits: &Limits) -> Result<Self, Failure> {
        let reader: Box<dyn Read> = match &input.path {
            None => Box::new(io::stdin().lock()),
            Some(path) => Box::new(File::open(path).map_err(|error| unreadable(&error))?),
        };
        let stored = Rc::new(Cell::new(0));
        let counted = Counted { reader, read: Rc::clone(&stored) };
        let payloads = Payloads::with_size(counted, input.size(), *limits)
            .map_err(|error| Failure::reading(&error))?;
        Ok(Self { name: input.name(), payloads, stored, inflated: 0, seems: None })
    }

    /// The bytes it has where it is stored, as far as they were read.
    pub(crate) fn stored(&self) -> u64 {
        self.stored.get()
    }

    /// The bytes of its messages, as far as they were read.
    pub(crate) fn inflated(&self) -> u64 {
        self.inflated
    }

    pub(crate) fn is_gzip(&self) -> bool {
        self.payloads.is_gzip()
    }

    pub(crate) fn framing(&self) -> Framing {
        self.payloads.framing()
    }

    /// Reads the messages one by one, so that only one of them is in memory.
    pub(crate) fn each(
        &mut self,
        options: &ReadOptions,
        console: &Console,
        mut f: impl FnMut(Message) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let framed = self.framing() != Framing::None;
        // The file was within its limits; inflated, it may be more.
        let inner = options.clone().limits(options.limits.max_input_bytes(u64::MAX));
        let mut row = 0;
        while let Some(payload) = self.payloads.next() {
            let message = payload
                .map_err(|error| Failure::reading(&error))
                .and_then(|payload| self.read(&payload, &inner, framed, console))
                .and_then(&mut f);
            message
                .map_err(|failure| if framed { failure.within_message(row) } else { failure })?;
            row += 1;
        }
        Ok(())
    }

    fn read(
        &mut self,
        payload: &[u8],
        options: &ReadOptions,
        framed: bool,
        console: &Console,
    ) -> Result<Message, Failure> {
        let bytes = payload.len() as u64;
        self.inflated += bytes;
        if payload.is_empty() && !framed && options.from.is_none() {
            return Err(Failure::new(Exit::Input, "there are no bytes in it"));
        }
        let step = console.step("read", "decode", &self.name);
        let reading = otlp_profiles::read(payload, options);
        drop(step);
        let reading = reading.map_err(|error| {
            self.seems = otlp_profiles::detect(payload, options).ok();
            Failure::reading(&error)
        })?;
        if console.shows(Level::Debug) {
            let detected = &reading.detected;
            let line = Line::new(Level::Debug, "read", "Format detected")
                .with("format", detected.format)
                .with("certainty", &detected.certainty)
                .with("evidence", detected.evidence.join("; "))
                .with("in", &self.name);
            console.log(&line);
        }
        trace::entries(&reading.profiles, console);
        Ok(Message { bytes, reading })
    }
}

/// One message, read.
pub(crate) struct Message {
    /// The bytes of its payload, inflated.
    pub(crate) bytes: u64,
    pub(crate) reading: Reading,
}

/// A reader that counts the bytes it gives.
struct Counted<R> {
    reader: R,
    read: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.read.set(self.read.get() + read as u64);
        Ok(read)
    }
}
