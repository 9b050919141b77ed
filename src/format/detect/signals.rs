//! The grammars of the other signals of OTLP, as far as it takes to name them.
//!
//! Traces, metrics and logs have the same envelope as profiles. Their records are told by fields that profiles do
//! not have.
//!
//! Bodies that a record holds are not looked into (`Bytes`): its own fields are enough
//! to tell it, and a wrong guess would hide profiles. The numbers are those of the stable protos of
//! opentelemetry-proto and cannot change.

use Holds::{Bytes, Fixed32, Fixed64, Id, Message, Number, Prose, Small, Text};

use super::generations::envelope;
use super::grammar::{Field, Grammar, Holds, Message as Of, many, one};
use crate::schema::Version;

/// A span has both ids.
pub(super) fn traces() -> Grammar {
    signal("traces", SPAN, &[1, 2])
}

/// A metric has a name.
pub(super) fn metrics() -> Grammar {
    signal("metrics", METRIC, &[1])
}

/// A log record need not have anything.
pub(super) fn logs() -> Grammar {
    signal("logs", LOG, &[])
}

/// Resources and scopes around records of another signal, by today's schema.
fn signal(name: &'static str, fields: &[Field], needs: &[u32]) -> Grammar {
    let mut grammar = envelope(name, Version::V1_9, many(2, "records", Message(Of::Record)));
    fields.iter().for_each(|field| grammar.add(Of::Record, *field));
    grammar.needs.extend(needs.iter().map(|number| (Of::Record, 0, *number)));
    grammar
}

/// What a receiver answers, the same for every signal.
pub(super) fn response() -> Grammar {
    let mut grammar = Grammar::new("response", Of::Data, Version::V1_9);
    grammar.add(Of::Data, one(1, "partial_success", Message(Of::Record)));
    grammar.add(Of::Record, one(1, "rejected", Number));
    grammar.add(Of::Record, one(2, "error_message", Prose));
    grammar
}

/// `opentelemetry.proto.trace.v1.Span`.
const SPAN: &[Field] = &[
    one(1, "trace_id", Id(16)),
    one(2, "span_id", Id(8)),
    one(3, "trace_state", Text),
    one(4, "parent_span_id", Id(8)),
    one(5, "name", Text),
    one(6, "kind", Small),
    one(7, "start_time_unix_nano", Fixed64),
    one(8, "end_time_unix_nano", Fixed64),
    many(9, "attributes", Message(Of::KeyValue)),
    one(10, "dropped_attributes_count", Small),
    many(11, "events", Bytes),
    one(12, "dropped_events_count", Small),
    many(13, "links", Bytes),
    one(14, "dropped_links_count", Small),
    one(15, "status", Bytes),
    one(16, "flags", Fixed32),
];

/// `opentelemetry.proto.metrics.v1.Metric`.
const METRIC: &[Field] = &[
    one(1, "name", Text),
    one(2, "description", Text),
    one(3, "unit", Text),
    one(5, "gauge", Bytes),
    one(7, "sum", Bytes),
    one(9, "histogram", Bytes),
    one(10, "exponential_histogram", Bytes),
    one(11, "summary", Bytes),
    many(12, "metadata", Message(Of::KeyValue)),
];

/// `opentelemetry.proto.logs.v1.LogRecord`.
const LOG: &[Field] = &[
    one(1, "time_unix_nano", Fixed64),
    one(2, "severity_number", Small),
    one(3, "severity_text", Text),
    one(5, "body", Message(Of::AnyValue)),
    many(6, "attributes", Message(Of::KeyValue)),
    one(7, "dropped_attributes_count", Small),
    one(8, "flags", Fixed32),
    one(9, "trace_id", Id(16)),
    one(10, "span_id", Id(8)),
    one(11, "observed_time_unix_nano", Fixed64),
    one(12, "event_name", Text),
];
