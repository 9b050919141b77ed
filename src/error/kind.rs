//! What kinds of errors there are, for code that goes on differently after each.

use std::fmt;

/// What kind of thing went wrong; the command turns it into an exit code.
///
/// ```
/// use otlp_profiles::{ErrorKind, read};
/// let error = read(b"not a profile", &Default::default()).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Unrecognised);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes are not the format they were read as.
    Malformed,
    /// The bytes are a format that this crate does not read or that is not accepted here: with an
    /// [endpoint](crate::ReadOptions::endpoint), anything but OTLP.
    Unrecognised,
    /// Formats that read the payload differently fit as well, and none was asked for.
    /// [`ReadOptions::format`](crate::ReadOptions::format) names the format, [`Ambiguity`](crate::Ambiguity) allows a guess.
    Ambiguous,
    /// A file holds several messages where one is wanted; [`Reader`](crate::Reader) reads them.
    SeveralMessages,
    /// A [limit](crate::Limits) was reached before the memory was taken.
    /// [`Error::limit`](crate::Error::limit) says which, unless it is one of the model's own.
    Limit,
    /// The data cannot be said in the format it should be written as.
    /// Such as two profiles as one pprof: [`write_all`](crate::write_all) writes them as two.
    Unrepresentable,
    /// An option was given that the format does not take, or that does not fit the data.
    /// [`Format::options`](crate::Format::options) has those it takes.
    InvalidOption,
    /// The operating system failed to read or write; the error's source says how.
    Io,
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "malformed",
            Self::Unrecognised => "unrecognised",
            Self::Ambiguous => "ambiguous",
            Self::SeveralMessages => "several messages",
            Self::Limit => "limit reached",
            Self::Unrepresentable => "unrepresentable",
            Self::InvalidOption => "wrong option",
            Self::Io => "input or output",
        })
    }
}
