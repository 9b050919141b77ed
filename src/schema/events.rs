//! The messages that only timestamped events have, a proposal (opentelemetry-proto 594) that was never released.
//!
//! The names are those of `proto/events/eventprofile.proto`. The proposal's other messages are those of OTLP with
//! different names and numbers, so they are rows of OTLP's tables, in `profiles` and `common`.

use super::field::Kind::*;
use super::field::{MessageType, Table, many, one, optional};
use super::message_kind::{MessageKind, Package};
use super::version::Version;
use super::version::Version::Events as EVENTS;

/// The only version of the proposal.
const IN: (Version, Version) = (EVENTS, EVENTS);

/// An event. `value`, `count` and `sum` exclude or complete each other, as `format/events/resolve.rs` explains.
#[rustfmt::skip]
pub(crate) static EVENT: MessageType = MessageType::new(Package::Profiles, MessageKind::Event, "Event", &[
    one(IN, 1, "event_type_index", Uint32),
    one(IN, 2, "stack_index", Uint32).to(Table::Stack),
    optional(IN, 3, "link_index", Uint32).to(Table::Link),
    many(IN, 4, "attribute_indices", Uint32).to(Table::Attribute),
    one(IN, 5, "time", Int64),
    one(IN, 6, "duration", Uint64),
    one(IN, 7, "value", Uint64),
    one(IN, 8, "count", Uint64),
    one(IN, 9, "sum", Uint64),
]);

/// A type of events. `attribute_incidices` is the spelling of the proposal, and therefore of its JSON.
#[rustfmt::skip]
pub(crate) static EVENT_TYPE: MessageType = MessageType::new(Package::Profiles, MessageKind::EventType, "EventType", &[
    one(IN, 1, "name_string_index", Uint32).to(Table::String),
    one(IN, 2, "unit_string_index", Uint32).to(Table::String),
    optional(IN, 3, "clock_index", Uint32),
    one(IN, 4, "default_value", Uint64),
    many(IN, 7, "attribute_incidices", Uint32).to(Table::Attribute).now("attribute_indices"),
]);

/// A clock. Times of events are in its cycles.
#[rustfmt::skip]
pub(crate) static CLOCK: MessageType = MessageType::new(Package::Profiles, MessageKind::Clock, "Clock", &[
    one(IN, 1, "frequency", Uint64),
    one(IN, 2, "time_unix_nano", Fixed64),
    many(IN, 3, "attribute_indices", Uint32).to(Table::Attribute),
]);
