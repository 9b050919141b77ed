//! The front door: bytes of any known kind to profiles, and profiles to bytes.

use crate::error::{Error, ErrorKind, Finding, Result};
use crate::format::detect::{Detected, Endpoint, detect_payload};
use crate::format::intake::{Intake, Policy};
use crate::format::losses::Losses;
use crate::format::{Format, WriteOptions};
use crate::limits::{Limits, within};
use crate::model::Profiles;

/// How to read.
///
/// ```
/// use otlp_profiles::{Limits, Policy, ReadOptions, format};
///
/// let options = ReadOptions { limits: Limits::file(), policy: Policy::Repair, ..Default::default() };
/// let as_pprof = ReadOptions { from: format("pprof"), ..options };
/// # let _ = as_pprof;
/// ```
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// What the input may cost.
    pub limits: Limits,
    /// What happens to input that breaks a rule it can be read without.
    pub policy: Policy,
    /// The format, where it is known; it decides between readings that are equally good, and is
    /// taken at its word when no other was found.
    pub from: Option<&'static dyn Format>,
    /// What the payload was sent to, where it came by a network: it decides between generations that
    /// fit equally well, and never against what the payload says.
    pub endpoint: Option<Endpoint>,
    /// Whether the pprof labels `trace_id` and `span_id` become links.
    pub links: bool,
    /// The numeric pprof label to take for the time of a sample, such as `end_timestamp_ns`.
    pub timestamp_label: Option<String>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            limits: Limits::network(),
            policy: Policy::Refuse,
            from: None,
            endpoint: None,
            links: true,
            timestamp_label: None,
        }
    }
}

/// Profiles, what they were read from and what was noticed.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let reading = otlp_profiles::read(&bytes, &Default::default())?;
/// assert_eq!(reading.detected.format.name(), "pprof");
/// assert_eq!(reading.profiles.iter().next().unwrap().sample_types().len(), 4);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Reading {
    /// What was read.
    pub profiles: Profiles,
    /// What was noticed.
    pub findings: Vec<Finding>,
    /// Which format it is, how sure that is and why.
    pub detected: Detected,
}

/// A payload, and what could not be said in it.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
/// let written = otlp_profiles::write(&profiles, otlp_profiles::format("otlp").unwrap(), &Default::default())?;
/// assert!(!written.payload.is_empty());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Written {
    /// The bytes, neither compressed nor framed.
    pub payload: Vec<u8>,
    /// What they do not say.
    pub losses: Losses,
}

/// Reads one message: inflates it, takes it out of its frame, finds out what it is.
///
/// # Errors
///
/// The bytes are of no known format, or not what they seem, or past a limit, or several messages
/// in one file: [`read_all`] reads those.
pub fn read(bytes: &[u8], options: &ReadOptions) -> Result<Reading> {
    let mut readings = read_all(bytes, options)?;
    match (readings.pop(), readings.len()) {
        (Some(reading), 0) => Ok(reading),
        (_, more) => {
            let message = format!("{} messages in one file where one is wanted", more + 1);
            Err(Error::new(ErrorKind::Unrepresentable, message))
        }
    }
}

/// Reads every message of a file; most files are one message.
///
/// # Errors
///
/// As [`read`], for the first message that has one.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// assert_eq!(otlp_profiles::read_all(&bytes, &Default::default())?.len(), 1);
/// # Ok(()) }
/// ```
pub fn read_all(bytes: &[u8], options: &ReadOptions) -> Result<Vec<Reading>> {
    let limits = &options.limits;
    let file = crate::compression::inflate(bytes, limits)?;
    let messages = crate::framing::messages(&file, limits)?;
    let mut left = limits.max_decompressed_bytes;
    let several = messages.len() > 1;
    messages
        .enumerate()
        .map(|(row, message)| {
            let limits = Limits { max_decompressed_bytes: left, ..*limits };
            let payload = crate::compression::inflate(message, &limits)?;
            left = left.saturating_sub(payload.len() as u64);
            read_payload(&payload, options)
                .map_err(|e| if several { e.within_row("message", row) } else { e })
        })
        .collect()
}

fn read_payload(payload: &[u8], options: &ReadOptions) -> Result<Reading> {
    // Positions in the model are of 32 bits.
    within("max_input_bytes", u64::from(u32::MAX - 16), payload.len() as u64)?;
    read_detected(payload, detect_payload(payload, options.from, options.endpoint)?, options)
}

/// Reads a payload whose format is known.
pub(crate) fn read_detected(
    payload: &[u8],
    detected: Detected,
    options: &ReadOptions,
) -> Result<Reading> {
    let mut intake = Intake::new(options.limits, options.policy);
    intake.links = options.links;
    intake.timestamp_label.clone_from(&options.timestamp_label);
    let profiles =
        detected.format.read(payload, &mut intake).map_err(|error| error.located(payload))?;
    Ok(Reading { profiles, findings: intake.findings, detected })
}

/// Writes profiles as one payload.
///
/// # Errors
///
/// The format cannot hold the profiles in one payload ([`write_all`] writes several), or a limit
/// is reached.
pub fn write(profiles: &Profiles, format: &dyn Format, options: &WriteOptions) -> Result<Written> {
    let (payloads, losses) = write_all(profiles, format, options)?;
    let payload = only(payloads, format)?;
    Ok(Written { payload, losses })
}

/// The one payload there is.
fn only(mut payloads: Vec<Vec<u8>>, format: &dyn Format) -> Result<Vec<u8>> {
    match (payloads.pop(), payloads.len()) {
        (Some(payload), 0) => Ok(payload),
        (None, _) => Err(Error::new(
            ErrorKind::Unrepresentable,
            format!("{} cannot say that there is no profile", format.name()),
        )),
        (_, more) => {
            let message = format!(
                "{} needs {} payloads for these profiles, one for each scope or shape",
                format.name(),
                more + 1
            );
            Err(Error::new(ErrorKind::Unrepresentable, message))
        }
    }
}

/// Writes profiles as the payloads they need: one, except where the format is of one profile and
/// there are several.
///
/// # Errors
///
/// As [`write()`], but for several payloads.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
/// let (payloads, losses) = otlp_profiles::write_all(&profiles, otlp_profiles::format("pprof").unwrap(), &Default::default())?;
/// assert_eq!(payloads.len(), 1);
/// assert!(losses.is_empty(), "{losses:?}");
/// # Ok(()) }
/// ```
pub fn write_all(
    profiles: &Profiles,
    format: &dyn Format,
    options: &WriteOptions,
) -> Result<(Vec<Vec<u8>>, Losses)> {
    write_parts(profiles, format, options, Vec::new())
}

/// Writes profiles into a buffer: what was in it is replaced, its memory used again. Its length
/// then is the payload's, before anything is sent, and
/// [`max_output_bytes`](WriteOptions::max_output_bytes) what it may be.
///
/// # Errors
///
/// As [`write()`]; the buffer is empty then.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// use otlp_profiles::{ErrorKind, WriteOptions, format, write_into};
/// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// # let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
///
/// let otlp = format("otlp").unwrap();
/// let mut body = Vec::new();
/// let losses = write_into(&profiles, otlp, &WriteOptions::default(), &mut body)?;
/// assert!(losses.is_empty());
///
/// let less = WriteOptions { max_output_bytes: body.len() as u64 - 1, ..Default::default() };
/// let error = write_into(&profiles, otlp, &less, &mut body).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Limit);
/// # Ok(()) }
/// ```
pub fn write_into(
    profiles: &Profiles,
    format: &dyn Format,
    options: &WriteOptions,
    payload: &mut Vec<u8>,
) -> Result<Losses> {
    let mut spare = std::mem::take(payload);
    spare.clear();
    let (payloads, losses) = write_parts(profiles, format, options, spare)?;
    *payload = only(payloads, format)?;
    Ok(losses)
}

impl Profiles {
    /// [`write()`], as a method: `builder.finish()?.write(format, &options)?`.
    ///
    /// # Errors
    ///
    /// As [`write()`].
    ///
    /// ```
    /// # fn main() -> otlp_profiles::Result<()> {
    /// use otlp_profiles::build::root_first;
    ///
    /// let mut builder = otlp_profiles::Builder::new();
    /// let cpu = builder.profile("cpu", "nanoseconds");
    /// builder.sample(cpu, root_first(["main", "serve", "parse"])).value(10_000_000);
    /// let otlp = otlp_profiles::format("otlp").unwrap();
    /// assert!(!builder.finish()?.write(otlp, &Default::default())?.payload.is_empty());
    /// # Ok(()) }
    /// ```
    pub fn write(&self, format: &dyn Format, options: &WriteOptions) -> Result<Written> {
        write(self, format, options)
    }

    /// The exact number of bytes [`write_all`] makes of these profiles, all payloads together.
    ///
    /// It takes as long as writing them. Whoever sends what fits uses [`write_into`], which keeps
    /// the bytes; this is for deciding what to send at all.
    ///
    /// # Errors
    ///
    /// As [`write_all`].
    ///
    /// ```
    /// # fn main() -> otlp_profiles::Result<()> {
    /// use otlp_profiles::build::root_first;
    ///
    /// let mut builder = otlp_profiles::Builder::new();
    /// let cpu = builder.profile("cpu", "nanoseconds");
    /// builder.sample(cpu, root_first(["main", "serve", "parse"])).value(10_000_000);
    /// let (otlp, options) = (otlp_profiles::format("otlp").unwrap(), Default::default());
    ///
    /// let interval = builder.seal()?;
    /// assert!(interval.encoded_len(otlp, &options)? <= 4 << 20, "one gRPC message is enough");
    /// assert_eq!(interval.write(otlp, &options)?.payload.len() as u64, interval.encoded_len(otlp, &options)?);
    /// # Ok(()) }
    /// ```
    pub fn encoded_len(&self, format: &dyn Format, options: &WriteOptions) -> Result<u64> {
        let (payloads, _) = write_all(self, format, options)?;
        Ok(payloads.iter().map(|payload| payload.len() as u64).sum())
    }
}

fn write_parts(
    profiles: &Profiles,
    format: &dyn Format,
    options: &WriteOptions,
    spare: Vec<u8>,
) -> Result<(Vec<Vec<u8>>, Losses)> {
    let mut losses = Losses::default();
    let payloads = format.write(profiles, options, &mut losses, spare)?;
    let bytes: u64 = payloads.iter().map(|payload| payload.len() as u64).sum();
    within("max_output_bytes", options.max_output_bytes, bytes)?;
    Ok((payloads, losses))
}

/// Says what some bytes are, without reading them: inflates them, takes the first message out of
/// its frame.
///
/// # Errors
///
/// The bytes are of no format this crate reads; the error names what they are, if it can.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let detected = otlp_profiles::detect(&bytes, &Default::default())?;
/// assert_eq!(detected.format.name(), "pprof");
/// println!("{} ({}): {}", detected.format.name(), detected.certainty, detected.evidence.join("; "));
/// # Ok(()) }
/// ```
pub fn detect(bytes: &[u8], options: &ReadOptions) -> Result<Detected> {
    let file = crate::compression::inflate(bytes, &options.limits)?;
    let first = crate::framing::messages(&file, &options.limits)?.next().unwrap_or_default();
    let payload = crate::compression::inflate(first, &options.limits)?;
    detect_payload(&payload, options.from, options.endpoint)
}
