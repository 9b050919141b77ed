//! Package collector: what exporters send, and what receivers answer.
//!
//! Nothing but the test against `proto/` reads the request, which has the numbers of `ProfilesData`. Detection
//! knows what a receiver answers by it, and OTLP/JSON has its names from here.

use super::field::Kind::*;
#[cfg(test)]
use super::field::many;
use super::field::{MessageType, one};
use super::noun::{Noun, Package};
#[cfg(test)]
use super::profiles::*;
use super::version::NOW;
use super::version::Version::V1_3;
#[cfg(test)]
use super::version::Version::V1_7;

/// A request and `ProfilesData` are the same bytes in every generation but 1.6, so one reader takes
/// both.
#[cfg(test)]
#[rustfmt::skip]
pub(crate) static EXPORT_PROFILES_SERVICE_REQUEST: MessageType = MessageType::new(Package::Collector, Noun::Other, "ExportProfilesServiceRequest", &[
    many((V1_3, NOW), 1, "resource_profiles", Message(&RESOURCE_PROFILES)),
    // 1.6 has nowhere to put its tables.
    one((V1_7, NOW), 2, "dictionary", Message(&PROFILES_DICTIONARY)),
]);

/// Empty where all was taken.
#[rustfmt::skip]
pub(crate) static EXPORT_PROFILES_SERVICE_RESPONSE: MessageType = MessageType::new(Package::Collector, Noun::Other, "ExportProfilesServiceResponse", &[
    one((V1_3, NOW), 1, "partial_success", Message(&EXPORT_PROFILES_PARTIAL_SUCCESS)),
]);

#[rustfmt::skip]
pub(crate) static EXPORT_PROFILES_PARTIAL_SUCCESS: MessageType = MessageType::new(Package::Collector, Noun::Other, "ExportProfilesPartialSuccess", &[
    one((V1_3, NOW), 1, "rejected_profiles", Int64),
    one((V1_3, NOW), 2, "error_message", String),
]);
