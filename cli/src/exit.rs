//! Exit codes, and why something was not done.
//!
//! A [`Failure`] is about one input and becomes a line or a JSON object; the run goes on. The
//! library's errors become failures here and nowhere else: its kinds are mapped to exit codes, a
//! limit to the flag that raises it, `FILE` in a hint to the name of the input.

use std::fmt;

use otlp_profiles::{Error, ErrorKind};
use serde_json::{Value, json};

use crate::limits;

/// How the command ends. With several inputs the highest wins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Exit {
    #[default]
    Done = 0,
    /// A loss or a finding that is not allowed.
    Denied = 1,
    /// The arguments ask for what cannot be: clap's own code, and that of most commands.
    Usage = 2,
    /// An input cannot be opened, recognised or decoded.
    Input = 3,
    /// An output cannot be written, or its format cannot say what there is.
    Output = 4,
    /// A budget of `Limits` was reached; its flag raises it, so that a caller may try again with
    /// more.
    Limit = 5,
    /// Several generations fit and read other values; `--from` decides.
    Ambiguous = 6,
    /// A difference exceeds a limit of the gate.
    OverGate = 7,
}

impl Exit {
    /// The code as the system takes it.
    pub(crate) fn code(self) -> u8 {
        self as u8
    }
}

/// Why one input was not done, or not written.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// The code that the run ends with if nothing worse happens.
    pub(crate) exit: Exit,
    /// Where in the message it went wrong; empty when it is about all of it.
    pub(crate) place: String,
    /// A sentence in lower case without a full stop; it may name files and texts of payloads, so it
    /// is printed through `text::shown`.
    pub(crate) message: String,
    /// As the library's error counts it; none where it is about no byte.
    pub(crate) byte: Option<u64>,
    /// Whether it will be the same for everything that follows.
    pub(crate) fatal: bool,
    /// Whether the input is plainly no profile.
    pub(crate) is_no_profile: bool,
    /// Whether the bytes are wrong, and others may be right: no limit, no disk, no option is to blame.
    pub(crate) is_broken: bool,
}

impl Failure {
    /// A failure about all of an input, which is neither fatal nor a sign of broken bytes.
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        let (place, message) = (String::new(), message.into());
        Self {
            exit,
            place,
            message,
            byte: None,
            fatal: false,
            is_no_profile: false,
            is_broken: false,
        }
    }

    /// A failure of the library while it wrote.
    pub(crate) fn writing(error: &Error) -> Self {
        Self::of(error, Exit::Output)
    }

    /// A failure of the library.
    ///
    /// `otherwise` is the code for what is neither a limit, an ambiguity nor an option: an input
    /// when reading, an output when writing.
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

    /// The failure is in message `row` of a file of several.
    pub(crate) fn within_message(mut self, row: usize) -> Self {
        let dot = if self.place.is_empty() { "" } else { "." };
        self.place = format!("message[{row}]{dot}{}", self.place);
        self
    }

    /// The object `error` of all three JSON documents; `place` is empty and `byte` null where it is
    /// about the whole input.
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
