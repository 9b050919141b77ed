//! Exit codes, and why something was not done.

use std::fmt;

use otlp_profiles::{Error, ErrorKind};
use serde_json::{Value, json};

/// How the command ends. With several inputs the highest wins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Exit {
    #[default]
    Done = 0,
    LossRefused = 1,
    Usage = 2,
    Input = 3,
    Output = 4,
    Limit = 5,
    Ambiguous = 6,
}

impl Exit {
    pub(crate) fn code(self) -> u8 {
        self as u8
    }
}

/// Why one input was not done, or not written.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// Where in the message it went wrong; empty when it is about all of it.
    pub(crate) place: String,
    pub(crate) message: String,
    pub(crate) byte: Option<u64>,
    /// Whether it will be the same for everything that follows.
    pub(crate) fatal: bool,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        let (place, message) = (String::new(), message.into());
        Self { exit, place, message, byte: None, fatal: false }
    }

    /// A failure of the library while it read.
    pub(crate) fn reading(error: &Error) -> Self {
        Self::of(error, Exit::Input)
    }

    /// A failure of the library while it wrote.
    pub(crate) fn writing(error: &Error) -> Self {
        Self::of(error, Exit::Output)
    }

    fn of(error: &Error, otherwise: Exit) -> Self {
        let exit = match error.kind() {
            ErrorKind::Limit => Exit::Limit,
            ErrorKind::Ambiguous => Exit::Ambiguous,
            _ => otherwise,
        };
        let place = error.place();
        Self { place, byte: error.byte(), ..Self::new(exit, error.message()) }
    }

    /// The failure is in message `row` of a file of several.
    pub(crate) fn within_message(mut self, row: usize) -> Self {
        let dot = if self.place.is_empty() { "" } else { "." };
        self.place = format!("message[{row}]{dot}{}", self.place);
        self
    }

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
