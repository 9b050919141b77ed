//! Kinds of errors, for code that handles them differently.

use std::fmt;

/// Kinds of errors. The command maps them to exit codes.
///
/// ```
/// use otlp_profiles::{ErrorKind, read};
/// let error = read(b"not a profile", &Default::default()).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Unrecognised);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes do not match the format they were read as.
    Malformed,
    /// The bytes are of a format that this crate does not read or the caller does not accept: with an
    /// [endpoint](crate::ReadOptions::endpoint), anything but OTLP.
    Unrecognised,
    /// Several formats fit and read the payload differently, and the options choose none of them.
    /// Set [`ReadOptions::format`](crate::ReadOptions::format), or permit a guess with [`Ambiguity`](crate::Ambiguity).
    Ambiguous,
    /// The file contains several messages instead of one; [`Reader`](crate::Reader) reads them.
    SeveralMessages,
    /// The input exceeds a [limit](crate::Limits), checked before memory is allocated.
    /// [`Error::limit`](crate::Error::limit) names it, unless it is a fixed limit of the model.
    Limit,
    /// The target format cannot represent the data.
    /// For example, a pprof holds one profile: [`write_all`](crate::write_all) writes two profiles as two files.
    Unrepresentable,
    /// An option does not apply to the format or does not fit the data.
    /// [`Format::options`](crate::Format::options) lists those that apply.
    InvalidOption,
    /// The operating system failed to read or write; the source of the error has the details.
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
