//! The grammars of the other signals of OTLP, as far as it takes to name them.
//!
//! Traces, metrics and logs have the same envelope as profiles. Their records are told by fields that profiles do
//! not have.
//!
//! Bodies that a record holds are not looked into (`Bytes`, `Opaques`): its own fields are enough
//! to tell it, and a wrong guess would hide profiles. The numbers are those of the stable protos of
//! opentelemetry-proto and cannot change.

use Holds::{Bytes, Fixed32, Fixed64, Id, Many, Number, One, Opaques, Prose, Small, Text};

use super::generations::envelope;
use super::grammar::{Fields, Grammar, Holds, Message};

/// A span has both ids.
pub(super) fn traces() -> Grammar {
    let mut grammar = signal("traces", SPAN);
    grammar.require(Message::Record, 1).require(Message::Record, 2);
    grammar
}

/// A metric has a name.
pub(super) fn metrics() -> Grammar {
    let mut grammar = signal("metrics", METRIC);
    grammar.require(Message::Record, 1);
    grammar
}

/// A log record need not have anything.
pub(super) fn logs() -> Grammar {
    signal("logs", LOG)
}

/// Resources and scopes around records of another signal, by today's schema.
fn signal(name: &'static str, record: Fields) -> Grammar {
    let mut grammar = envelope(name);
    grammar.add_all(RECORDS).add_all(record);
    grammar
}

/// What a receiver answers, the same for every signal.
pub(super) fn response() -> Grammar {
    let mut grammar = Grammar::new("response", Message::Data);
    grammar.add_all(RESPONSE);
    grammar
}

/// Only profiles have a dictionary beside the resources: a message there contradicts another signal. Of a
/// small profile all else may be that of a metric.
const RECORDS: Fields = &[
    (Message::Data, &[(2, "none", Number)]),
    (Message::ScopeProfiles, &[(2, "records", Many(Message::Record))]),
];

const RESPONSE: Fields = &[
    (Message::Data, &[(1, "partial_success", One(Message::Record))]),
    (Message::Record, &[(1, "rejected", Number), (2, "error_message", Prose)]),
];

/// `opentelemetry.proto.trace.v1.Span`.
const SPAN: Fields = &[(
    Message::Record,
    &[
        (1, "trace_id", Id(16)),
        (2, "span_id", Id(8)),
        (3, "trace_state", Text),
        (4, "parent_span_id", Id(8)),
        (5, "name", Text),
        (6, "kind", Small),
        (7, "start_time_unix_nano", Fixed64),
        (8, "end_time_unix_nano", Fixed64),
        (9, "attributes", Many(Message::KeyValue)),
        (10, "dropped_attributes_count", Small),
        (11, "events", Opaques),
        (12, "dropped_events_count", Small),
        (13, "links", Opaques),
        (14, "dropped_links_count", Small),
        (15, "status", Bytes),
        (16, "flags", Fixed32),
    ],
)];

/// `opentelemetry.proto.metrics.v1.Metric`.
const METRIC: Fields = &[(
    Message::Record,
    &[
        (1, "name", Text),
        (2, "description", Text),
        (3, "unit", Text),
        (5, "gauge", Bytes),
        (7, "sum", Bytes),
        (9, "histogram", Bytes),
        (10, "exponential_histogram", Bytes),
        (11, "summary", Bytes),
        (12, "metadata", Many(Message::KeyValue)),
    ],
)];

/// `opentelemetry.proto.logs.v1.LogRecord`.
const LOG: Fields = &[(
    Message::Record,
    &[
        (1, "time_unix_nano", Fixed64),
        (2, "severity_number", Small),
        (3, "severity_text", Text),
        (5, "body", One(Message::AnyValue)),
        (6, "attributes", Many(Message::KeyValue)),
        (7, "dropped_attributes_count", Small),
        (8, "flags", Fixed32),
        (9, "trace_id", Id(16)),
        (10, "span_id", Id(8)),
        (11, "observed_time_unix_nano", Fixed64),
        (12, "event_name", Text),
    ],
)];
