//! The responses of OTLP: encode them in a receiver, decode them in a sender, over HTTP and gRPC.
//!
//! A receiver answers an accepted request with an [`ExportResponse`], which may report a partial success, and a rejected
//! one with a [`Status`]. Both have a protobuf and a JSON form; a response uses the [`Encoding`] of its request. gRPC
//! carries the bytes of a [`Status`] in `grpc-status-details-bin`. Neither needs prost.
//!
//! ```
//! use std::time::Duration;
//! use otlp_profiles::response::{Encoding, ExportResponse, Status, http_status, is_retryable_http};
//! use otlp_profiles::{ReadOptions, detect::Endpoint, read};
//!
//! // The receiver: status and body of an HTTP response.
//! fn export(content_type: &str, body: &[u8]) -> (u16, Vec<u8>) {
//!     let encoding = Encoding::of_content_type(content_type).unwrap_or(Encoding::Protobuf);
//!     let options = ReadOptions::default().endpoint(Endpoint::V1Development);
//!     match read(body, &options) {
//!         Ok(_reading) => (200, ExportResponse::default().encode(encoding)),
//!         Err(error) => (http_status(error.kind()), Status::from(&error).encode(encoding)),
//!     }
//! }
//! let (status, body) = export("application/json", b"main;work 7\n");
//! assert_eq!(status, 415);
//!
//! // The sender.
//! let rejected = Status::decode(&body, Encoding::Json)?;
//! assert!(!is_retryable_http(status));
//! assert_eq!(rejected.code, Status::INVALID_ARGUMENT);
//! # Ok::<(), otlp_profiles::Error>(())
//! ```

mod body;

use std::time::Duration;

use self::body::{
    Message, RETRY_INFO, field_text, int, json, member, quoted, retry_delay, seconds, text,
};
use crate::error::{Error, ErrorKind, Result};
use crate::format::json::tree::Json;
use crate::wire::record::field_varint;
use crate::wire::write::field_bytes;

/// The encoding of a request and its response over HTTP.
///
/// ```
/// use otlp_profiles::response::Encoding;
///
/// let encoding = Encoding::of_content_type("application/json; charset=utf-8").unwrap();
/// assert_eq!(encoding, Encoding::Json);
/// assert_eq!(encoding.content_type(), "application/json");
/// assert_eq!(Encoding::of_content_type("text/plain"), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Encoding {
    /// `application/x-protobuf`.
    #[default]
    Protobuf,
    /// `application/json`.
    Json,
}

impl Encoding {
    /// Returns the encoding that a `Content-Type` header names. `None` for a type that OTLP does not use.
    pub fn of_content_type(header: &str) -> Option<Self> {
        let media_type = header.split(';').next().unwrap_or_default().trim();
        let is = |encoding: &Self| media_type.eq_ignore_ascii_case(encoding.content_type());
        [Self::Protobuf, Self::Json].into_iter().find(is)
    }

    /// Returns the value of the `Content-Type` header.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Protobuf => "application/x-protobuf",
            Self::Json => "application/json",
        }
    }
}

/// `ExportProfilesServiceResponse`: the body of a response to an accepted request.
///
/// The default accepts everything and encodes to no bytes, or to `{}`. A sender must not retry after a partial success.
///
/// ```
/// use otlp_profiles::response::{Encoding, ExportResponse};
///
/// let response = ExportResponse::partial(3, "profiles are older than 24 hours");
/// assert_eq!(
///     String::from_utf8(response.encode(Encoding::Json)).unwrap(),
///     r#"{"partialSuccess":{"rejectedProfiles":"3","errorMessage":"profiles are older than 24 hours"}}"#
/// );
/// let body = response.encode(Encoding::Protobuf);
/// assert_eq!(ExportResponse::decode(&body, Encoding::Protobuf)?, response);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExportResponse {
    /// The number of profiles that the receiver rejected.
    pub rejected_profiles: i64,
    /// The reason for the rejection, or a warning to the sender if the receiver accepted all profiles.
    pub error_message: String,
}

impl ExportResponse {
    /// Creates a response to a request of which the receiver rejected some profiles.
    pub fn partial(rejected_profiles: i64, error_message: impl Into<String>) -> Self {
        Self { rejected_profiles, error_message: error_message.into() }
    }

    /// Returns whether the receiver rejected profiles or has a warning.
    pub fn is_partial(&self) -> bool {
        *self != Self::default()
    }

    /// Encodes the body of the response.
    pub fn encode(&self, encoding: Encoding) -> Vec<u8> {
        let mut out = Vec::new();
        match encoding {
            Encoding::Protobuf if self.is_partial() => {
                let mut partial = Vec::new();
                field_varint(&mut partial, 1, self.rejected_profiles as u64);
                field_text(&mut partial, 2, &self.error_message);
                field_bytes(&mut out, 1, &partial);
            }
            Encoding::Protobuf => {}
            Encoding::Json if self.is_partial() => {
                let rejected = format!(r#""rejectedProfiles":"{}""#, self.rejected_profiles);
                let message = quoted(&self.error_message);
                return format!(r#"{{"partialSuccess":{{{rejected},"errorMessage":{message}}}}}"#)
                    .into();
            }
            Encoding::Json => out.extend_from_slice(b"{}"),
        }
        out
    }

    /// Decodes the body of a response.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Malformed`] if the body is neither protobuf nor JSON, as `encoding` requires, or the text is not UTF-8.
    pub fn decode(body: &[u8], encoding: Encoding) -> Result<Self> {
        match encoding {
            Encoding::Protobuf => {
                let partial = Message::of(Message::of(body)?.bytes(1))?;
                let error_message = partial.text(2)?;
                Ok(Self { rejected_profiles: partial.int(1), error_message })
            }
            Encoding::Json => {
                let response = json(body)?;
                let partial = member(&response, "partialSuccess", "partial_success");
                let member = |key, original| member(partial?, key, original);
                let rejected = member("rejectedProfiles", "rejected_profiles").and_then(int);
                let error_message = text(member("errorMessage", "error_message"));
                Ok(Self { rejected_profiles: rejected.unwrap_or(0), error_message })
            }
        }
    }
}

/// `google.rpc.Status`: the body of a response to a rejected request, and the details of a gRPC error.
///
/// ```
/// use std::time::Duration;
/// use otlp_profiles::response::{Encoding, Status};
///
/// let mut busy = Status::new(Status::RESOURCE_EXHAUSTED, "the ingest queue is full");
/// assert!(!busy.is_retryable());
/// busy.retry_delay = Some(Duration::from_secs(5));
/// assert!(busy.is_retryable());
///
/// let body = busy.encode(Encoding::Protobuf);
/// assert_eq!(Status::decode(&body, Encoding::Protobuf)?, busy);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// A [gRPC status code](https://grpc.io/docs/guides/status-codes/).
    pub code: i32,
    /// The fault, described for the operators of the sender.
    pub message: String,
    /// The time to wait before a retry: a detail of type `google.rpc.RetryInfo`.
    pub retry_delay: Option<Duration>,
}

impl Status {
    /// The request is wrong; sending it again cannot succeed.
    pub const INVALID_ARGUMENT: i32 = 3;
    /// The request is too large or too frequent. Senders retry only after a [`retry_delay`](Self::retry_delay).
    pub const RESOURCE_EXHAUSTED: i32 = 8;
    /// The receiver failed.
    pub const INTERNAL: i32 = 13;
    /// The receiver is overloaded or restarts. Senders retry.
    pub const UNAVAILABLE: i32 = 14;

    /// Creates a status without a retry delay.
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), retry_delay: None }
    }

    /// Returns whether a gRPC sender may send the request again, by the table of the
    /// [OTLP specification](https://opentelemetry.io/docs/specs/otlp/#failures).
    ///
    /// Over HTTP the status of the response decides instead: see [`is_retryable_http`].
    pub fn is_retryable(&self) -> bool {
        match self.code {
            Self::RESOURCE_EXHAUSTED => self.retry_delay.is_some(),
            // CANCELLED, DEADLINE_EXCEEDED, ABORTED, OUT_OF_RANGE, UNAVAILABLE, DATA_LOSS
            code => matches!(code, 1 | 4 | 10 | 11 | 14 | 15),
        }
    }

    /// Encodes the body of the response, which is also the value of `grpc-status-details-bin`.
    pub fn encode(&self, encoding: Encoding) -> Vec<u8> {
        let mut out = Vec::new();
        match encoding {
            Encoding::Protobuf => {
                field_varint(&mut out, 1, self.code as u64);
                field_text(&mut out, 2, &self.message);
                if let Some(delay) = self.retry_delay {
                    let [mut duration, mut info, mut any] = [const { Vec::new() }; 3];
                    field_varint(&mut duration, 1, delay.as_secs());
                    field_varint(&mut duration, 2, delay.subsec_nanos().into());
                    field_bytes(&mut info, 1, &duration);
                    field_text(&mut any, 1, RETRY_INFO);
                    field_bytes(&mut any, 2, &info);
                    field_bytes(&mut out, 3, &any);
                }
            }
            Encoding::Json => {
                let details = self.retry_delay.map(|delay| {
                    let delay = format!("{}.{:09}s", delay.as_secs(), delay.subsec_nanos());
                    format!(r#","details":[{{"@type":"{RETRY_INFO}","retryDelay":"{delay}"}}]"#)
                });
                let (details, message) = (details.unwrap_or_default(), quoted(&self.message));
                out = format!(r#"{{"code":{},"message":{message}{details}}}"#, self.code).into();
            }
        }
        out
    }

    /// Decodes a body or the value of `grpc-status-details-bin`. Skips details other than the retry delay.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Malformed`] if the body is neither protobuf nor JSON, as `encoding` requires, or the text is not UTF-8.
    pub fn decode(body: &[u8], encoding: Encoding) -> Result<Self> {
        match encoding {
            Encoding::Protobuf => {
                let status = Message::of(body)?;
                let retry_delay = status.all(3).map(retry_delay).collect::<Result<Vec<_>>>()?;
                let retry_delay = retry_delay.into_iter().flatten().next();
                Ok(Self { code: status.int(1) as i32, message: status.text(2)?, retry_delay })
            }
            Encoding::Json => {
                let status = json(body)?;
                let code = status.get("code").and_then(int).and_then(|code| code.try_into().ok());
                let details = status.get("details").and_then(Json::list).unwrap_or_default();
                let delay = |detail| member(detail, "retryDelay", "retry_delay")?.text();
                let retry_delay = details.iter().filter_map(delay).find_map(|text| seconds(text));
                let message = text(status.get("message"));
                Ok(Self { code: code.unwrap_or(0), message, retry_delay })
            }
        }
    }
}

/// The status for an error of [`read()`](crate::read()), with its message and place.
impl From<&Error> for Status {
    fn from(error: &Error) -> Self {
        let code = match http_status(error.kind()) {
            413 => Self::RESOURCE_EXHAUSTED,
            500 => Self::INTERNAL,
            _ => Self::INVALID_ARGUMENT,
        };
        Self::new(code, error.to_string())
    }
}

/// Returns the HTTP status with which a receiver rejects a request that [`read()`](crate::read()) fails on.
///
/// Senders retry after no status returned here. An overloaded receiver responds with 429 or 503 and a `Retry-After`
/// header.
///
/// ```
/// use otlp_profiles::{ErrorKind, response::http_status};
///
/// assert_eq!(http_status(ErrorKind::Malformed), 400);
/// assert_eq!(http_status(ErrorKind::Limit), 413);
/// assert_eq!(http_status(ErrorKind::Unrecognised), 415);
/// ```
pub fn http_status(kind: ErrorKind) -> u16 {
    match kind {
        ErrorKind::Malformed | ErrorKind::Ambiguous | ErrorKind::SeveralMessages => 400,
        ErrorKind::Limit => 413,
        ErrorKind::Unrecognised => 415,
        ErrorKind::Unrepresentable | ErrorKind::InvalidOption | ErrorKind::Io => 500,
    }
}

/// Returns whether a sender may repeat a request after a response with this HTTP status: 429, 502, 503 or 504.
///
/// The sender waits for the time in the `Retry-After` header, or else backs off exponentially.
pub fn is_retryable_http(status: u16) -> bool {
    matches!(status, 429 | 502..=504)
}
