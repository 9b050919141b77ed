//! Exit codes and failures.
//!
//! A [`Failure`] concerns one input and becomes a line or a JSON object; the run goes on. This
//! module alone converts errors of the library: it maps kinds to exit codes, limits to the flags
//! that raise them, and `FILE` in a hint to the name of the input.

use std::fmt;

use otlp_profiles::{Error, ErrorKind};
use serde_json::{Value, json};

use crate::limits;
use crate::numbers::counted;

/// The exit code of the command. With several inputs, the highest wins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Exit {
    #[default]
    Done = 0,
    /// A denied loss, or a finding at or above the deny level.
    Denied = 1,
    /// Invalid arguments: the code that clap and most commands use.
    Usage = 2,
    /// An input cannot be opened, recognised or decoded.
    Input = 3,
    /// An output cannot be written, or its format cannot represent the data.
    Output = 4,
    /// A limit of `Limits` was reached. Its flag raises it, so a caller may retry with more.
    Limit = 5,
    /// Several generations fit and read different values. `--from` decides.
    Ambiguous = 6,
    /// A difference exceeds a limit of the gate.
    OverGate = 7,
}

impl Exit {
    /// The code for the operating system.
    pub(crate) fn code(self) -> u8 {
        self as u8
    }
}

/// The reason why an input was not processed, or not written.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// The code that the run ends with, unless another input has a higher one.
    pub(crate) exit: Exit,
    /// The place in the message, empty if the failure concerns all of it.
    pub(crate) place: String,
    /// A sentence in lower case without a full stop. It may quote file names and payloads, so print
    /// it through `text::shown`.
    pub(crate) message: String,
    /// The byte offset that the library's error reports, if any.
    pub(crate) byte: Option<u64>,
    /// Whether every further input would fail in the same way.
    pub(crate) fatal: bool,
    /// Whether the input is clearly not a profile.
    pub(crate) is_no_profile: bool,
    /// Whether the input has no sample that `--where` selects.
    pub(crate) is_unmatched: bool,
    /// Whether the bytes are malformed or unrecognised. Other causes, such as limits, disks and
    /// options, would affect other messages too.
    pub(crate) is_broken: bool,
}

impl Failure {
    /// Creates a failure of a whole input that is neither fatal nor a sign of malformed bytes.
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        let (place, message) = (String::new(), message.into());
        Self {
            exit,
            place,
            message,
            byte: None,
            fatal: false,
            is_no_profile: false,
            is_unmatched: false,
            is_broken: false,
        }
    }

    /// Converts an error of the library's writers.
    pub(crate) fn writing(error: &Error) -> Self {
        Self::of(error, Exit::Output)
    }

    /// Converts an error of a report.
    pub(crate) fn reporting(error: &Error) -> Self {
        match error.kind() {
            ErrorKind::Limit => Self::of(error, Exit::Usage),
            _ => Self::new(Exit::Usage, error.message()),
        }
    }

    /// Converts an error of the library.
    ///
    /// `otherwise` is the code for errors other than limits, ambiguity and invalid options: `Input`
    /// when reading, `Output` when writing.
    pub(crate) fn of(error: &Error, otherwise: Exit) -> Self {
        let exit = match error.kind() {
            ErrorKind::Limit => Exit::Limit,
            ErrorKind::Ambiguous => Exit::Ambiguous,
            ErrorKind::InvalidOption => Exit::Usage,
            _ => otherwise,
        };
        let option = if error.kind() == ErrorKind::InvalidOption { "--" } else { "" };
        let hint = error.hint().map(|hint| format!(" ({})", limits::in_flags(&hint)));
        let message = format!("{option}{}{}", error.message(), hint.unwrap_or_default());
        let (place, byte) = (error.place(), error.byte());
        let is_no_profile = error.is_no_profile();
        let is_broken = matches!(error.kind(), ErrorKind::Malformed | ErrorKind::Unrecognised);
        Self { place, byte, is_no_profile, is_broken, ..Self::new(exit, message) }
    }

    /// A report that cannot be represented in JSON.
    pub(crate) fn unserialised(error: serde_json::Error) -> Self {
        Self::new(Exit::Output, error.to_string())
    }

    /// Attributes the failure to the sum of the first `inputs`.
    pub(crate) fn of_sum(mut self, inputs: usize) -> Self {
        let hint = if self.exit == Exit::Limit {
            "; or merge fewer inputs, or remove labels that differ in every sample with \"otlp-profiles filter --taghide\""
        } else {
            ""
        };
        let inputs = counted(inputs as u64, "input");
        self.fatal = true;
        self.message = format!("the sum of {inputs} failed: {}{hint}", self.message);
        self
    }

    /// Prefixes the place with the message `row` of a file with several.
    pub(crate) fn within_message(mut self, row: usize) -> Self {
        let dot = if self.place.is_empty() { "" } else { "." };
        self.place = format!("message[{row}]{dot}{}", self.place);
        self
    }

    /// The object `error` of all three JSON documents. `place` is empty and `byte` null if the
    /// failure concerns the whole input.
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "exit": self.exit.code(),
            "place": self.place,
            "message": self.message,
            "byte": self.byte,
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        f.write_str(&self.message)?;
        match self.byte {
            Some(byte) => write!(f, " (byte {byte})"),
            None => Ok(()),
        }
    }
}
