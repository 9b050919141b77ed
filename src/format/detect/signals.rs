//! Schemas of the other OTLP signals, as far as detection needs to name them.
//!
//! Traces, metrics and logs have the same envelope as profiles. Their records differ in fields that profiles
//! lack.
//!
//! A walk does not enter messages inside a record (`Bytes`): the fields of the record identify it, and a
//! wrong schema would hide profiles. The field numbers are those of the stable protos of opentelemetry-proto
//! and cannot change.

use Kind::{Bytes, Enum, Fixed32, Fixed64, Int64, Message, String, Uint32};

use super::grammar::Grammar;
use crate::schema::{
    ANY_VALUE, EnumType, Field, INSTRUMENTATION_SCOPE, KEY_VALUE, Kind, MessageKind, MessageType,
    PROFILE, Package, RESOURCE, Role, Version, many, one,
};

/// The version of resources and scopes. It has no references into a dictionary, which only profiles use.
pub(super) const VERSION: Version = Version::V1_9;
const IN: (Version, Version) = (VERSION, VERSION);
/// The version of timestamped events.
const AT: (Version, Version) = (Version::Events, Version::Events);

/// Declares the resources and scopes around a record, which all OTLP signals share.
///
/// Only profiles have a dictionary beside the resources, so a message there contradicts another signal. The
/// rest of a small profile may also be that of a metric.
macro_rules! envelope {
    ($name:ident, $in:ident, $resource:expr, $scope:expr, $record:expr) => {
        pub(super) static $name: MessageType = {
            static SCOPE: MessageType = message(
                MessageKind::ScopeProfiles,
                &[
                    one($in, 1, "scope", $scope),
                    many($in, 2, "records", Message(&$record)),
                    one($in, 3, "schema_url", String),
                ],
            );
            static RESOURCES: MessageType = message(
                MessageKind::ResourceProfiles,
                &[
                    one($in, 1, "resource", $resource),
                    many($in, 2, "scopes", Message(&SCOPE)),
                    one($in, 3, "schema_url", String),
                ],
            );
            message(
                MessageKind::ProfilesData,
                &[many($in, 1, "resources", Message(&RESOURCES)), one($in, 2, "none", Int64)],
            )
        };
    };
}

envelope!(TRACES, IN, Message(&RESOURCE), Message(&INSTRUMENTATION_SCOPE), SPAN);
envelope!(METRICS, IN, Message(&RESOURCE), Message(&INSTRUMENTATION_SCOPE), METRIC);
envelope!(LOGS, IN, Message(&RESOURCE), Message(&INSTRUMENTATION_SCOPE), LOG);
// Profiles of events in an OTLP envelope. Their proposal lacks this form, and no known profiler writes it.
envelope!(EVENTS, AT, Bytes, Bytes, PROFILE);

/// Requires both ids of a span.
pub(super) fn traces() -> Grammar {
    signal("traces", &TRACES, &[1, 2])
}

/// Requires the name of a metric.
pub(super) fn metrics() -> Grammar {
    signal("metrics", &METRICS, &[1])
}

/// Requires no field, because a log record may be empty.
pub(super) fn logs() -> Grammar {
    signal("logs", &LOGS, &[])
}

fn signal(name: &'static str, root: &'static MessageType, needs: &[u32]) -> Grammar {
    let mut grammar = Grammar::new(name, root, VERSION);
    grammar.needs.extend(needs.iter().map(|number| (MessageKind::Record, 0, *number)));
    grammar
}

const fn message(kind: MessageKind, fields: &'static [Field]) -> MessageType {
    MessageType::new(Package::Others, kind, "record", fields)
}

const fn id(number: u32, name: &'static str, length: u8) -> Field {
    one(IN, number, name, Bytes).with(Role::Id(length))
}

/// An enumeration, whose values do not matter here.
static SMALL: EnumType = EnumType { name: "enum", values: &[] };

/// `opentelemetry.proto.trace.v1.Span`.
static SPAN: MessageType = message(
    MessageKind::Record,
    &[
        id(1, "trace_id", 16),
        id(2, "span_id", 8),
        one(IN, 3, "trace_state", String),
        id(4, "parent_span_id", 8),
        one(IN, 5, "name", String),
        one(IN, 6, "kind", Enum(&SMALL)),
        one(IN, 7, "start_time_unix_nano", Fixed64),
        one(IN, 8, "end_time_unix_nano", Fixed64),
        many(IN, 9, "attributes", Message(&KEY_VALUE)),
        one(IN, 10, "dropped_attributes_count", Uint32),
        many(IN, 11, "events", Bytes),
        one(IN, 12, "dropped_events_count", Uint32),
        many(IN, 13, "links", Bytes),
        one(IN, 14, "dropped_links_count", Uint32),
        one(IN, 15, "status", Bytes),
        one(IN, 16, "flags", Fixed32),
    ],
);

/// `opentelemetry.proto.metrics.v1.Metric`.
static METRIC: MessageType = message(
    MessageKind::Record,
    &[
        one(IN, 1, "name", String),
        one(IN, 2, "description", String),
        one(IN, 3, "unit", String),
        one(IN, 5, "gauge", Bytes),
        one(IN, 7, "sum", Bytes),
        one(IN, 9, "histogram", Bytes),
        one(IN, 10, "exponential_histogram", Bytes),
        one(IN, 11, "summary", Bytes),
        many(IN, 12, "metadata", Message(&KEY_VALUE)),
    ],
);

/// `opentelemetry.proto.logs.v1.LogRecord`.
static LOG: MessageType = message(
    MessageKind::Record,
    &[
        one(IN, 1, "time_unix_nano", Fixed64),
        one(IN, 2, "severity_number", Enum(&SMALL)),
        one(IN, 3, "severity_text", String),
        one(IN, 5, "body", Message(&ANY_VALUE)),
        many(IN, 6, "attributes", Message(&KEY_VALUE)),
        one(IN, 7, "dropped_attributes_count", Uint32),
        one(IN, 8, "flags", Fixed32),
        id(9, "trace_id", 16),
        id(10, "span_id", 8),
        one(IN, 11, "observed_time_unix_nano", Fixed64),
        one(IN, 12, "event_name", String),
    ],
);
