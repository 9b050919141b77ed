//! From an input to its messages: what both subcommands do first.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use otlp_profiles::{
    Detected, Endpoint, FORMATS, Format, Framing, Limits, Messages, Policy, ReadOptions, Reading,
    format,
};

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
    from: Option<&'static dyn Format>,
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
        let (limits, from) = (self.limits.limits(), self.from);
        ReadOptions { limits, policy, from, endpoint: self.endpoint, ..Default::default() }
    }
}

fn parse_endpoint(text: &str) -> Result<Endpoint, String> {
    text.parse().map_err(|error: otlp_profiles::Error| error.message().to_owned())
}

/// Takes the name of a format; help and errors list what the registry has.
pub(crate) fn format_parser() -> impl TypedValueParser<Value = &'static dyn Format> {
    let values = FORMATS.iter().map(|format| {
        let aliases = format.aliases();
        let also = match aliases {
            [] => String::new(),
            some => format!(" (also: {})", some.join(", ")),
        };
        PossibleValue::new(format.name()).aliases(aliases).help(format!("{}{also}", format.about()))
    });
    PossibleValuesParser::new(values).try_map(|name| format(&name).ok_or("is no format"))
}

/// An input in memory, inflated.
pub(crate) struct Content {
    /// Its name, as it may be printed.
    pub(crate) name: String,
    /// The bytes it has where it is stored.
    pub(crate) stored: u64,
    pub(crate) gzip: bool,
    payload: Vec<u8>,
}

impl Content {
    /// Reads an input and inflates it.
    pub(crate) fn load(input: &Input, limits: &Limits) -> Result<Self, Failure> {
        let bytes = match &input.path {
            None => take(io::stdin().lock(), 0, limits).map_err(|error| unreadable(&error))?,
            Some(path) => load_file(path, limits)?,
        };
        let stored = bytes.len() as u64;
        let inflated = match otlp_profiles::inflate(&bytes, limits) {
            Ok(Cow::Owned(inflated)) => Some(inflated),
            Ok(Cow::Borrowed(_)) => None,
            Err(error) => return Err(Failure::reading(&error)),
        };
        let (name, gzip) = (input.name(), inflated.is_some());
        let payload = inflated.unwrap_or(bytes);
        Ok(Self { name, stored, gzip, payload })
    }

    pub(crate) fn inflated(&self) -> u64 {
        self.payload.len() as u64
    }

    /// What the first message seems to be, for when it cannot be read.
    pub(crate) fn detect(&self, options: &ReadOptions) -> Option<Detected> {
        let limits = Limits { max_input_bytes: u64::MAX, ..options.limits };
        let options = ReadOptions { limits, ..options.clone() };
        otlp_profiles::detect(&self.payload, &options).ok()
    }

    fn messages(&self, limits: &Limits) -> Result<Messages<'_>, Failure> {
        otlp_profiles::messages(&self.payload, limits).map_err(|error| Failure::reading(&error))
    }

    pub(crate) fn framing(&self, limits: &Limits) -> Result<Framing, Failure> {
        Ok(self.messages(limits)?.framing())
    }

    /// Reads the messages one by one, so that only one of them is in memory as profiles.
    pub(crate) fn each(
        &self,
        options: &ReadOptions,
        console: &Console,
        mut f: impl FnMut(Message) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let messages = self.messages(&options.limits)?;
        let several = messages.len() > 1;
        let mut left = options.limits.max_decompressed_bytes;
        for (row, message) in messages.enumerate() {
            let mut one = || {
                let limits = Limits {
                    // The file was within its limits; inflated, it may be more.
                    max_input_bytes: u64::MAX,
                    max_decompressed_bytes: left,
                    ..options.limits
                };
                let payload = otlp_profiles::inflate(message, &limits)
                    .map_err(|error| Failure::reading(&error))?;
                left = left.saturating_sub(payload.len() as u64);
                let options = ReadOptions { limits, ..options.clone() };
                f(self.read(&payload, &options, console)?)
            };
            one().map_err(|failure| if several { failure.within_message(row) } else { failure })?;
        }
        Ok(())
    }

    fn read(
        &self,
        payload: &[u8],
        options: &ReadOptions,
        console: &Console,
    ) -> Result<Message, Failure> {
        let step = console.step("read", "decode", &self.name);
        let reading =
            otlp_profiles::read(payload, options).map_err(|error| Failure::reading(&error));
        drop(step);
        let reading = reading?;
        if console.shows(Level::Debug) {
            let detected = &reading.detected;
            let line = Line::new(Level::Debug, "read", "Format detected")
                .with("format", detected.format.name())
                .with("certainty", &detected.certainty)
                .with("evidence", detected.evidence.join("; "))
                .with("in", &self.name);
            console.log(&line);
        }
        trace::entries(&reading.profiles, console);
        let bytes = payload.len() as u64;
        Ok(Message { bytes, reading })
    }
}

/// One message, read.
pub(crate) struct Message {
    /// The bytes of its payload, inflated.
    pub(crate) bytes: u64,
    pub(crate) reading: Reading,
}

fn load_file(path: &Path, limits: &Limits) -> Result<Vec<u8>, Failure> {
    let most = limits.max_input_bytes;
    let file = File::open(path).map_err(|error| unreadable(&error))?;
    let metadata = file.metadata().map_err(|error| unreadable(&error))?;
    let size = metadata.len();
    if metadata.is_file() && size > most {
        let message = format!(
            "needs {size}, more than max_input_bytes allows ({most}); --max-input-bytes raises it"
        );
        return Err(Failure::new(Exit::Limit, message));
    }
    take(file, size, limits).map_err(|error| unreadable(&error))
}

/// At most one byte more than the limit, which is enough to see that it is too many.
fn take(from: impl Read, size: u64, limits: &Limits) -> io::Result<Vec<u8>> {
    let most = limits.max_input_bytes.saturating_add(1);
    let mut bytes = Vec::new();
    // One more, to see the end without growing.
    bytes.try_reserve_exact(usize::try_from(size.min(most)).unwrap_or(0).saturating_add(1))?;
    from.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}
