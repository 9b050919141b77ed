//! Writes profiles as bytes of any format.

use std::io;

use crate::error::{Error, ErrorKind, Result};
use crate::format::Format;
use crate::losses::Losses;
use crate::model::Profiles;
use crate::write_options::WriteOptions;

/// A payload with the losses of its conversion.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// use otlp_profiles::Format;
///
/// let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
/// let written = otlp_profiles::write(&profiles, Format::OTLP, &Default::default())?;
/// assert!(!written.payload.is_empty());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Written {
    /// The payload, neither compressed nor framed.
    pub payload: Vec<u8>,
    /// Content that the format cannot represent.
    /// Empty if the conversion is exact.
    pub losses: Losses,
}

/// Writes profiles as one payload.
///
/// The same profiles and options give the same bytes.
///
/// # Errors
///
/// - [`ErrorKind::Unrepresentable`]: the format cannot hold the profiles in one payload; [`write_all`] writes several.
/// - [`ErrorKind::Limit`]: the payload exceeds [`max_output_bytes`](WriteOptions::max_output_bytes) or another limit.
/// - [`ErrorKind::InvalidOption`]: an option does not apply to the format.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// use otlp_profiles::{ErrorKind, Format, Verdict, WriteOptions, read, write};
/// # let bytes = std::fs::read("testdata/otlp-1.11-aggregated-memory.binpb").unwrap();
/// let profiles = read(&bytes, &Default::default())?.profiles;
/// let older = write(&profiles, Format::OTLP_1_8, &WriteOptions::default())?;
/// assert_eq!(older.losses.verdict(), Verdict::Semantic);
///
/// let none = otlp_profiles::Profiles::default();
/// let error = write(&none, Format::PPROF, &WriteOptions::default()).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Unrepresentable, "a pprof is one profile, not none");
/// # Ok(()) }
/// ```
pub fn write(profiles: &Profiles, format: Format, options: &WriteOptions) -> Result<Written> {
    let (payloads, losses) = write_all(profiles, format, options)?;
    let payload = only(payloads, format)?;
    Ok(Written { payload, losses })
}

/// Returns the only payload, or an error if there is not exactly one.
fn only(mut payloads: Vec<Vec<u8>>, format: Format) -> Result<Vec<u8>> {
    let message = match (payloads.pop(), payloads.len()) {
        (Some(payload), 0) => return Ok(payload),
        (None, _) => format!("there is no profile to write: {format} needs one"),
        (_, more) => format!(
            "{format} holds one profile per payload, and these profiles need {} payloads: write_all writes all of them",
            more + 1
        ),
    };
    Err(Error::new(ErrorKind::Unrepresentable, message))
}

/// Writes profiles as one or more payloads: several if the format holds one profile per payload and
/// there are several profiles.
///
/// # Errors
///
/// The same as [`write()`], except that several payloads are permitted.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// use otlp_profiles::Format;
///
/// let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
/// let (payloads, losses) = otlp_profiles::write_all(&profiles, Format::PPROF, &Default::default())?;
/// assert_eq!(payloads.len(), 1);
/// assert!(losses.is_empty(), "{losses:?}");
/// # Ok(()) }
/// ```
pub fn write_all(
    profiles: &Profiles,
    format: Format,
    options: &WriteOptions,
) -> Result<(Vec<Vec<u8>>, Losses)> {
    write_parts(profiles, format, options, Vec::new())
}

/// Writes profiles into a buffer, replaces its contents and reuses its memory. The length of the payload
/// is known before you send it and is at most
/// [`max_output_bytes`](WriteOptions::max_output_bytes).
///
/// # Errors
///
/// The same as [`write()`]. On error the buffer is empty.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// use otlp_profiles::{ErrorKind, Format, WriteOptions, write_into};
/// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// # let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
///
/// let mut body = Vec::new();
/// let losses = write_into(&profiles, Format::OTLP, &WriteOptions::default(), &mut body)?;
/// assert!(losses.is_empty());
///
/// let less = WriteOptions::default().max_output_bytes(body.len() as u64 - 1);
/// let error = write_into(&profiles, Format::OTLP, &less, &mut body).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Limit);
/// # Ok(()) }
/// ```
pub fn write_into(
    profiles: &Profiles,
    format: Format,
    options: &WriteOptions,
    payload: &mut Vec<u8>,
) -> Result<Losses> {
    let mut spare = std::mem::take(payload);
    spare.clear();
    let (payloads, losses) = write_parts(profiles, format, options, spare)?;
    *payload = only(payloads, format)?;
    Ok(losses)
}

/// Writes profiles as one payload to a file, a socket or any other [`Write`](std::io::Write).
///
/// The payload is built in memory first, because the length of a message precedes its content. If encoding
/// fails, `output` stays untouched.
///
/// # Errors
///
/// The same as [`write()`], and [`ErrorKind::Io`] if `output` fails.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// # let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
/// use otlp_profiles::{Format, write_to};
///
/// let losses = write_to(&profiles, Format::OTLP, &Default::default(), std::io::sink())?;
/// assert!(losses.is_empty());
/// # Ok(()) }
/// ```
pub fn write_to(
    profiles: &Profiles,
    format: Format,
    options: &WriteOptions,
    mut output: impl io::Write,
) -> Result<Losses> {
    let written = write(profiles, format, options)?;
    let done = output.write_all(&written.payload).and_then(|()| output.flush());
    done.map_err(|error| Error::io("the output cannot be written", error))?;
    Ok(written.losses)
}

/// Writes all payloads, the first into the memory of `spare`, and checks the limit on their total size.
fn write_parts(
    profiles: &Profiles,
    format: Format,
    options: &WriteOptions,
    spare: Vec<u8>,
) -> Result<(Vec<Vec<u8>>, Losses)> {
    let mut losses = Losses::default();
    let limit = options.output_limit(profiles);
    let payloads = format
        .write(profiles, &options.limited(limit), &mut losses, spare)
        .map_err(|error| limit.named(error))?;
    limit.check(payloads.iter().map(|payload| payload.len() as u64).sum())?;
    Ok((payloads, losses))
}
