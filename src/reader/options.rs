//! Options of reading.

use crate::format::Format;
use crate::format::detect::Endpoint;
use crate::limits::{Limits, setters};
use crate::read_context::Policy;
use crate::source_options::SourceOptions;

/// Options of [`read`](crate::read()), [`Reader`](crate::Reader) and [`detect`](crate::detect()).
///
/// A setter named like each field changes it. The default suits untrusted input: network limits,
/// no repairs, no guesses.
///
/// ```
/// use otlp_profiles::{Format, Limits, Policy, ReadOptions};
///
/// let options = ReadOptions::default().limits(Limits::file()).policy(Policy::Repair);
/// let as_pprof = options.format(Format::PPROF);
/// assert_eq!(as_pprof.format, Some(Format::PPROF));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Limits on the size and cost of the input.
    /// [`Limits::network`] by default.
    pub limits: Limits,
    /// Policy for input that breaks a rule but can still be read.
    /// [`Policy::Refuse`] by default.
    pub policy: Policy,
    /// The expected format, if known. It decides between readings that fit equally well, and applies
    /// when detection finds no format.
    pub format: Option<Format>,
    /// Policy for payloads that several formats read differently.
    /// [`Ambiguity::Refuse`] by default. It has no effect if [`format`](Self::format) is set.
    pub ambiguity: Ambiguity,
    /// The path or gRPC service that received the payload. If set, only OTLP, as protobuf or JSON, is accepted: any
    /// other format is [`Unrecognised`](crate::ErrorKind::Unrecognised). Among generations that fit equally well, the reader
    /// prefers those that senders send to this endpoint. The endpoint never overrides the content of the payload.
    pub endpoint: Option<Endpoint>,
    /// Whether the pprof labels `trace_id` and `span_id` become links.
    /// True by default. If false, they stay attributes, as in the file.
    pub links: bool,
    /// The numeric pprof label to use as the time of a sample, such as `end_timestamp_ns`.
    /// It counts from 1970 in its unit, or in nanoseconds if it has no unit. `None` keeps such labels as attributes.
    pub timestamp_label: Option<String>,
    /// Options for formats of other tools. An option that the format does not support is an error.
    /// [`Format::options`] lists the options of each format.
    pub source: SourceOptions,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            limits: Limits::network(),
            policy: Policy::Refuse,
            format: None,
            ambiguity: Ambiguity::Refuse,
            endpoint: None,
            links: true,
            timestamp_label: None,
            source: SourceOptions::default(),
        }
    }
}

setters! { ReadOptions {
    limits: Limits,
    policy: Policy,
    format: impl Into<Option<Format>>,
    ambiguity: Ambiguity,
    endpoint: impl Into<Option<Endpoint>>,
    links: bool,
    timestamp_label: impl Into<Option<String>>,
    source: SourceOptions,
} }

/// Policy for payloads that fit several formats and read as different profiles.
///
/// In OTLP 1.10, samples with one attribute and one timestamp each look like samples of 1.9
/// with one value and one timestamp. The payload does not show which it is, and the sums
/// differ.
///
/// ```
/// use otlp_profiles::{Ambiguity, ErrorKind, ReadOptions, read};
///
/// let payload = std::fs::read("testdata/ambiguous-1.10-or-1.9.otlp").unwrap();
/// let error = read(&payload, &ReadOptions::default()).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Ambiguous);
///
/// let reading = read(&payload, &ReadOptions::default().ambiguity(Ambiguity::Prefer))?;
/// assert!(reading.detected.certainty.is_guess());
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ambiguity {
    /// Return an error of kind [`ErrorKind::Ambiguous`](crate::ErrorKind::Ambiguous) that names the formats.
    #[default]
    Refuse,
    /// Read the likelier format; [`Detected::certainty`](crate::Detected::certainty) marks it as a guess.
    Prefer,
}
