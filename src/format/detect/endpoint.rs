//! The endpoint that received a payload, which narrows down its generation.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, ErrorKind};
use crate::schema::Version;

/// The HTTP path or gRPC service that received a payload, identified by the version in its name.
///
/// Pass it as [`ReadOptions::endpoint`](crate::ReadOptions::endpoint) to narrow down the generations of a payload.
///
/// A path may have a prefix. Generations 1.4 to 1.10 share one path.
///
/// ```
/// use otlp_profiles::detect::{Endpoint};
/// use otlp_profiles::{ReadOptions};
///
/// let endpoint: Endpoint = "/v1development/profiles".parse()?;
/// assert_eq!(endpoint, Endpoint::V1Development);
/// let service = "opentelemetry.proto.collector.profiles.v1experimental.ProfilesService/Export";
/// assert_eq!(service.parse::<Endpoint>()?, Endpoint::V1Experimental);
/// assert!("/v1/traces".parse::<Endpoint>().is_err());
///
/// let options = ReadOptions::default().endpoint(endpoint);
/// # let _ = options;
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Endpoint {
    /// `/v1experimental/profiles`: OTLP 1.3.
    V1Experimental,
    /// `/v1development/profiles`: OTLP 1.4 and later.
    V1Development,
}

impl Endpoint {
    /// Returns whether this endpoint accepts a generation.
    pub(super) fn takes(self, version: Version) -> bool {
        version.capabilities().containers == (self == Self::V1Experimental)
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V1Experimental => "v1experimental",
            Self::V1Development => "v1development",
        })
    }
}

/// Parses a path, a URL that contains it, or a service with or without its method.
impl FromStr for Endpoint {
    type Err = Error;

    /// # Errors
    ///
    /// The text does not name profiles with exactly one of the two versions.
    fn from_str(text: &str) -> Result<Self, Error> {
        let has = |word: &str| {
            text.split(['/', '.', '?', '#']).any(|part| part.eq_ignore_ascii_case(word))
        };
        match (has("profiles"), has("v1experimental"), has("v1development")) {
            (true, true, false) => Ok(Self::V1Experimental),
            (true, false, true) => Ok(Self::V1Development),
            _ => Err(unknown(text)),
        }
    }
}

#[cold]
fn unknown(text: &str) -> Error {
    let message = format!(
        "{text:?} is not an endpoint for profiles; examples are /v1development/profiles and opentelemetry.proto.collector.profiles.v1experimental.ProfilesService"
    );
    Error::new(ErrorKind::Unrecognised, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_services_are_endpoints() {
        for text in [
            "/v1experimental/profiles",
            "v1experimental/profiles",
            "http://localhost:4318/v1experimental/profiles?a=b",
            "opentelemetry.proto.collector.profiles.v1experimental.ProfilesService",
            "/opentelemetry.proto.collector.profiles.v1experimental.ProfilesService/Export",
        ] {
            assert_eq!(text.parse().ok(), Some(Endpoint::V1Experimental), "{text}");
            let newer = text.replace("v1experimental", "v1development");
            assert_eq!(newer.parse().ok(), Some(Endpoint::V1Development), "{newer}");
        }
        for text in ["", "profiles", "v1development", "/v1development/traces", "/v1/profiles"] {
            assert!(text.parse::<Endpoint>().is_err(), "{text}");
        }
    }
}
