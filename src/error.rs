//! Errors and their places in a payload.

mod finding;
mod gzip;
mod kind;
mod shown;

use std::fmt;

pub use self::finding::{ReadFinding, Severity};
pub use self::kind::ErrorKind;
pub(crate) use self::{gzip::GzipFault, shown::Shown};

/// Converts for code that uses [`std::io`]. An error of the operating system keeps its kind; any other error becomes
/// [`InvalidData`](std::io::ErrorKind::InvalidData).
///
/// ```
/// fn load(path: &str) -> std::io::Result<otlp_profiles::Profiles> {
///     Ok(otlp_profiles::read(&std::fs::read(path)?, &Default::default())?.profiles)
/// }
/// assert_eq!(load("Cargo.toml").unwrap_err().kind(), std::io::ErrorKind::InvalidData);
/// ```
impl From<Error> for std::io::Error {
    fn from(error: Error) -> Self {
        let source = std::error::Error::source(&error);
        let kind = source.and_then(|source| source.downcast_ref::<Self>()).map(Self::kind);
        Self::new(kind.unwrap_or(std::io::ErrorKind::InvalidData), error)
    }
}

/// An error: a message and its place in the payload. It is one word wide.
///
/// ```
/// use otlp_profiles::{Format, ReadOptions, read};
///
/// // A resource whose scope is truncated.
/// let error = read(b"\x0a\x02\x12\x05", &ReadOptions::default().format(Format::OTLP)).unwrap_err();
/// assert_eq!((error.place().as_str(), error.byte()), ("resource_profiles[0]", Some(4)));
/// assert_eq!(error.message(), "length 5 exceeds the remaining 0 bytes");
/// assert_eq!(size_of_val(&error), size_of::<usize>());
/// ```
///
/// `{}` is the text for people who sent or opened the payload. `{:?}`, which a `main` that returns an error prints,
/// appends the [hint](Error::hint) for the programmer. `{:#?}` shows the parts.
#[derive(thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<Inner>);

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match f.alternate() {
            true => fmt::Debug::fmt(&self.0, f),
            false => match self.hint() {
                Some(hint) => write!(f, "{self} ({hint})"),
                None => fmt::Display::fmt(self, f),
            },
        }
    }
}

/// The parts of an error, boxed so that a successful `Result` is small.
#[derive(Debug, thiserror::Error)]
struct Inner {
    kind: ErrorKind,
    message: String,
    /// Steps from the innermost to the outermost: each level appends one while it returns the error.
    place: Vec<Step>,
    /// Address of the offending bytes, until [`Error::located`] converts it to an offset.
    address: Option<usize>,
    byte: Option<u64>,
    /// The error of another library that caused this one.
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
    detail: Detail,
}

/// Machine-readable details of an error, so that callers need not parse the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    None,
    /// The limit that was reached, if it can be raised.
    Limit(&'static str),
    /// The repair under [`Policy::Repair`](crate::Policy): `drops the sample`.
    Repair(&'static str),
    /// The bytes are clearly not a profile.
    NoProfile,
    /// The bytes are another OTLP signal, or profiles of no released generation.
    Signal,
    /// The fault of a compressed file.
    Gzip(GzipFault),
}

/// A step of a place: a field by its name in the schema, or a row of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Field(&'static str),
    Row(usize),
    /// A line of a text, counted from 1.
    Line(usize),
}

/// The result of every fallible function of this crate.
/// Observations that are not failures are [`ReadFinding`]s or [`Losses`](crate::Losses).
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Creates an error without a place.
    #[cold]
    #[inline(never)]
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            place: Vec::new(),
            address: None,
            byte: None,
            source: None,
            detail: Detail::None,
        }))
    }

    /// Creates the error of a limit that was reached; `name` is the name of the option.
    #[cold]
    pub(crate) fn limit_reached(name: &'static str, message: String) -> Self {
        let mut error = Self::new(ErrorKind::Limit, message);
        error.0.detail = Detail::Limit(name);
        error
    }

    /// Records how a reader repairs the fault under [`Policy::Repair`](crate::Policy).
    #[cold]
    pub(crate) fn repaired_by(mut self, what: &'static str) -> Self {
        self.0.detail = Detail::Repair(what);
        self
    }

    /// Records the fault of a compressed file.
    #[cold]
    pub(crate) fn gzip(mut self, fault: GzipFault) -> Self {
        self.0.detail = Detail::Gzip(fault);
        self
    }

    /// Returns the fault of a compressed file.
    pub(crate) fn gzip_fault(&self) -> Option<GzipFault> {
        match self.0.detail {
            Detail::Gzip(fault) => Some(fault),
            _ => None,
        }
    }

    /// Marks bytes that are clearly not a profile.
    #[cold]
    pub(crate) fn no_profile(mut self) -> Self {
        self.0.detail = Detail::NoProfile;
        self
    }

    /// Marks bytes that are another OTLP signal, or profiles of no released generation.
    #[cold]
    pub(crate) fn signal(mut self) -> Self {
        self.0.detail = Detail::Signal;
        self
    }

    /// Returns whether the bytes are another OTLP signal, or profiles of no released generation. Such bytes
    /// resemble a profile.
    pub(crate) fn is_signal(&self) -> bool {
        self.0.detail == Detail::Signal
    }

    /// Creates the error of a failed operation of the operating system; `what` is the operation.
    #[cold]
    pub(crate) fn io(what: &str, error: std::io::Error) -> Self {
        Self::new(ErrorKind::Io, format!("{what}: {error}")).caused_by(error)
    }

    /// Keeps the error that caused this one, for [`source`](std::error::Error::source).
    #[cold]
    pub(crate) fn caused_by(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Creates an error of kind [`ErrorKind::Malformed`].
    #[cold]
    pub(crate) fn malformed(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Malformed, message)
    }

    /// Records the address of the offending bytes, unless an inner function already has.
    #[cold]
    pub(crate) fn at(mut self, bytes: &[u8]) -> Self {
        self.0.address.get_or_insert(bytes.as_ptr().addr());
        self
    }

    /// Adds the field that contains the fault to the place.
    #[cold]
    pub(crate) fn within(mut self, field: &'static str) -> Self {
        self.0.place.push(Step::Field(field));
        self
    }

    /// Adds the row of a repeated field that contains the fault to the place.
    #[cold]
    pub(crate) fn within_row(mut self, field: &'static str, row: usize) -> Self {
        self.0.place.push(Step::Row(row));
        self.0.place.push(Step::Field(field));
        self
    }

    /// Adds an element of a list to the place. The caller adds the name of the list.
    #[cold]
    pub(crate) fn element(mut self, row: usize) -> Self {
        self.0.place.push(Step::Row(row));
        self
    }

    /// Adds a line of a text to the place, counted from 1.
    #[cold]
    pub(crate) fn in_line(mut self, number: usize) -> Self {
        self.0.place.push(Step::Line(number));
        self
    }

    /// Converts the address of the offending bytes to their offset in `payload`.
    #[cold]
    pub(crate) fn located(mut self, payload: &[u8]) -> Self {
        let address = self.0.address.take();
        let offset = address.map(|address| address.wrapping_sub(payload.as_ptr().addr()));
        let inside = offset.filter(|offset| *offset <= payload.len());
        self.0.byte = inside.map(|offset| offset as u64).or(self.0.byte);
        self
    }

    /// Shifts the offset by the `bytes` that precede the payload.
    pub(crate) fn offset_by(mut self, bytes: u64) -> Self {
        self.0.byte = Some(self.0.byte.unwrap_or(0) + bytes);
        self
    }

    /// Appends an explanation to the message.
    #[cold]
    pub(crate) fn explained(mut self, why: &str) -> Self {
        self.0.message.push_str(why);
        self
    }

    /// Returns the kind of error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the path of the fault in the message, with the names of the schema:
    /// `resource_profiles[0].scope_profiles[0].profiles[2].samples[17].stack_index`, or `line 7` of a
    /// text. Empty if the error concerns the whole payload.
    pub fn place(&self) -> String {
        place(self.0.place.iter().rev().copied())
    }

    /// Returns the offset of the offending bytes in the (inflated) payload, if known.
    /// For broken gzip it is the offset in the file.
    pub fn byte(&self) -> Option<u64> {
        self.0.byte
    }

    /// Returns the message without its place.
    /// Use it to show the place separately.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the name of the limit that was reached and can be raised, as in [`Limits`](crate::Limits) or
    /// [`WriteOptions`](crate::WriteOptions), so that a program can tell its users how to raise it.
    ///
    /// ```
    /// use otlp_profiles::{Limits, ReadOptions, read};
    ///
    /// let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
    /// let options = ReadOptions::default().limits(Limits::network().max_samples(1));
    /// assert_eq!(read(&bytes, &options).unwrap_err().limit(), Some("max_samples"));
    /// ```
    pub fn limit(&self) -> Option<&'static str> {
        match self.0.detail {
            Detail::Limit(name) => Some(name),
            _ => None,
        }
    }

    /// Returns what to change in the call, in the names of this crate's API. `None` if the input has to change instead.
    ///
    /// The error's text is for clients of a server and users of a program, and names no item of this crate. A hint is for
    /// the programmer: `{:?}` appends it. A program with its own options translates the names.
    ///
    /// ```
    /// use otlp_profiles::{Format, Limits, ReadOptions, read};
    ///
    /// let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
    /// let error = read(&bytes, &ReadOptions::default().limits(Limits::network().max_samples(1))).unwrap_err();
    /// assert_eq!(error.to_string(), "56 samples exceed the limit of 1");
    /// assert_eq!(error.hint().unwrap(), "Limits::max_samples raises it");
    ///
    /// // A pprof whose one sample refers to location 9, which does not exist.
    /// let payload = b"\x0a\x00\x12\x05\x0a\x01\x09\x12\x00\x32\x00";
    /// let error = read(payload, &ReadOptions::default().format(Format::PPROF)).unwrap_err();
    /// assert_eq!(error.hint().unwrap(), "Policy::Repair drops the reference");
    /// ```
    pub fn hint(&self) -> Option<String> {
        match (self.0.detail, self.0.kind) {
            (Detail::Limit(name), _) => {
                let of = if WRITE_LIMITS.contains(&name) { "WriteOptions" } else { "Limits" };
                Some(format!("{of}::{name} raises it"))
            }
            (Detail::Repair(what), _) => Some(format!("Policy::Repair {what}")),
            (_, ErrorKind::Ambiguous) => Some(
                "ReadOptions::format names the format, Ambiguity::Prefer accepts a guess".into(),
            ),
            (_, ErrorKind::SeveralMessages) => Some("Reader reads them one by one".into()),
            _ => None,
        }
    }

    /// Returns whether the bytes are clearly not a profile of any kind: text, a program, a picture. A program that reads
    /// a directory of profiles can skip such a file.
    ///
    /// ```
    /// let error = otlp_profiles::read(b"Read me first.\n", &Default::default()).unwrap_err();
    /// assert!(error.is_no_profile());
    /// // An unsupported file may still be a profile.
    /// let error = otlp_profiles::read(b"@[\n    read+13\n]: 7\n", &Default::default()).unwrap_err();
    /// assert!(!error.is_no_profile());
    /// ```
    pub fn is_no_profile(&self) -> bool {
        self.0.detail == Detail::NoProfile
    }
}

/// Converts an error of reading: one of the system, or one of this crate that an inner reader, such as an inflater,
/// returned.
#[cold]
pub(crate) fn unreadable(error: std::io::Error) -> Error {
    error.downcast().unwrap_or_else(|error| Error::io("the input cannot be read", error))
}

/// Formats a place such as `a[1].b` from its steps, outermost first.
pub(crate) fn place(steps: impl Iterator<Item = Step>) -> String {
    let mut text = String::new();
    for step in steps {
        match step {
            Step::Field(name) if text.is_empty() => text.push_str(name),
            Step::Field(name) => text.extend([".", name]),
            Step::Row(row) => text.push_str(&format!("[{row}]")),
            Step::Line(number) => {
                let dot = if text.is_empty() { "" } else { "." };
                text.push_str(&format!("{dot}line {number}"));
            }
        }
    }
    text
}

impl fmt::Display for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = place(self.place.iter().rev().copied());
        if !place.is_empty() {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.message)?;
        match self.byte {
            Some(byte) => write!(f, " (byte {byte})"),
            None => Ok(()),
        }
    }
}

/// The limits that are options of writing.
const WRITE_LIMITS: [&str; 3] = ["max_output_bytes", "max_output_per_byte", "max_expanded_samples"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_like_a_sentence() {
        let payload = [0u8; 64];
        let error = Error::malformed("index 4096 is out of range: the table has 12 rows")
            .at(&payload[17..])
            .within("stack_index")
            .within_row("samples", 17)
            .within_row("profiles", 2)
            .located(&payload);
        assert_eq!(
            error.to_string(),
            "profiles[2].samples[17].stack_index: index 4096 is out of range: the table has 12 rows (byte 17)"
        );
        assert_eq!(format!("{error:?}"), error.to_string());
        assert!(format!("{error:#?}").contains("kind: Malformed"), "{error:#?}");
        assert_eq!(size_of::<Error>(), size_of::<usize>());
    }
}
