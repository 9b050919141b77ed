//! How to read.

use crate::format::Format;
use crate::format::detect::Endpoint;
use crate::format::intake::Policy;
use crate::format::source::SourceOptions;
use crate::limits::{Limits, setters};

/// How to read.
///
/// A method named like each field changes it. The default is for strangers' input: the limits of a network,
/// nothing repaired, nothing guessed.
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
    /// What the input may cost.
    /// [`Limits::network`] unless others are asked for.
    pub limits: Limits,
    /// What happens to input that breaks a rule it can be read without.
    /// [`Policy::Refuse`] unless repairs are asked for.
    pub policy: Policy,
    /// The format, where it is known; it decides between readings that are equally good, and is
    /// taken at its word when no other was found.
    pub format: Option<Format>,
    /// What happens where formats fit that read something else.
    /// [`Ambiguity::Refuse`] unless a guess is asked for. It has no say where [`format`](Self::format) is given.
    pub ambiguity: Ambiguity,
    /// The path or gRPC service that received the payload. Only OTLP, as protobuf or JSON, is accepted then: anything
    /// else is [`Unrecognised`](crate::ErrorKind::Unrecognised). Among generations that fit equally well, those that
    /// senders send there win; it never overrides what the payload contains.
    pub endpoint: Option<Endpoint>,
    /// Whether the pprof labels `trace_id` and `span_id` become links.
    /// True by default; false leaves them attributes, as the file has them.
    pub links: bool,
    /// The numeric pprof label to take for the time of a sample, such as `end_timestamp_ns`.
    /// It counts from 1970 in its unit, or in nanoseconds where it has none. `None` leaves such labels attributes.
    pub timestamp_label: Option<String>,
    /// What formats of other tools leave to be said; an error where the format does not take it.
    /// [`Format::options`] says which format takes which.
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

/// What happens where several formats fit a payload and read different profiles from it.
///
/// Samples of OTLP 1.10 that have one attribute and one timestamp each look like samples of 1.9
/// that have one value and one timestamp. Nothing in such a payload says which it is; its sums
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
    /// It is an error of kind [`ErrorKind::Ambiguous`](crate::ErrorKind::Ambiguous), which names the formats.
    #[default]
    Refuse,
    /// The likelier format is read; [`Detected::certainty`](crate::Detected::certainty) says that it is a guess.
    Prefer,
}
