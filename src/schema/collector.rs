//! Package collector: export requests and their responses.
//!
//! Only the test against `proto/` uses the request, which has the numbers of `ProfilesData`. Detection recognises
//! responses by this schema, and OTLP/JSON takes their names from it.

use super::field::Kind::*;
#[cfg(test)]
use super::field::many;
use super::field::{MessageType, one};
use super::message_kind::{MessageKind, Package};
#[cfg(test)]
use super::profiles::*;
use super::version::NOW;
use super::version::Version::V1_3;
#[cfg(test)]
use super::version::Version::V1_7;

/// The request. Its bytes equal those of `ProfilesData` in every generation except 1.6, so one reader handles both.
#[cfg(test)]
#[rustfmt::skip]
pub(crate) static EXPORT_PROFILES_SERVICE_REQUEST: MessageType = MessageType::new(Package::Collector, MessageKind::Other, "ExportProfilesServiceRequest", &[
    many((V1_3, NOW), 1, "resource_profiles", Message(&RESOURCE_PROFILES)),
    // 1.6 has no field for the tables.
    one((V1_7, NOW), 2, "dictionary", Message(&PROFILES_DICTIONARY)),
]);

/// The response. Empty if the receiver accepted everything.
#[rustfmt::skip]
pub(crate) static EXPORT_PROFILES_SERVICE_RESPONSE: MessageType = MessageType::new(Package::Collector, MessageKind::Other, "ExportProfilesServiceResponse", &[
    one((V1_3, NOW), 1, "partial_success", Message(&EXPORT_PROFILES_PARTIAL_SUCCESS)),
]);

/// The number of rejected profiles, and the reason.
#[rustfmt::skip]
pub(crate) static EXPORT_PROFILES_PARTIAL_SUCCESS: MessageType = MessageType::new(Package::Collector, MessageKind::Other, "ExportProfilesPartialSuccess", &[
    one((V1_3, NOW), 1, "rejected_profiles", Int64),
    one((V1_3, NOW), 2, "error_message", String),
]);
