//! The messages of timestamped events, a proposal (opentelemetry-proto 594) that was never released. They resemble
//! OTLP's messages but are independent of them.
//!
//! The names are those of `proto/events/eventprofile.proto`. The two sides share no message, so that neither
//! depends on the other. Reading, detection, sizes and the test against the descriptors treat these messages like
//! all others.

use super::field::Kind::*;
use super::field::{EnumType, MessageType, Role, Table, case, many, one, optional};
use super::noun::{Noun, Package};
use super::version::Version;
use super::version::Version::Events as EVENTS;

/// The only version of the proposal.
const IN: (Version, Version) = (EVENTS, EVENTS);

/// A profile with all tables. A payload is one profile, without resource and scope. The numbers 2, 9 and 13 to 15
/// are unused.
#[rustfmt::skip]
pub(crate) static EVENT_PROFILE: MessageType = MessageType::new(Package::Events, Noun::Profile, "Profile", &[
    many(IN, 1, "events", Message(&EVENT)),
    many(IN, 3, "event_types", Message(&EVENT_TYPE)),
    many(IN, 4, "stacks", Message(&EVENT_STACK)).rows(Table::Stack),
    many(IN, 5, "locations", Message(&EVENT_LOCATION)).rows(Table::Location),
    many(IN, 6, "functions", Message(&EVENT_FUNCTION)).rows(Table::Function),
    many(IN, 7, "mappings", Message(&EVENT_MAPPING)).rows(Table::Mapping),
    many(IN, 8, "attributes", Message(&EVENT_KEY_VALUE)).rows(Table::Attribute),
    many(IN, 10, "links", Message(&EVENT_LINK)).rows(Table::Link),
    many(IN, 11, "strings", String).rows(Table::String),
    many(IN, 12, "clocks", Message(&CLOCK)),
    one(IN, 16, "time_unix_nano", Fixed64),
    one(IN, 17, "duration_nanos", Int64),
    many(IN, 18, "comment_string_index", Uint32).to(Table::String),
]);

/// An event. `value`, `count` and `sum` exclude or complete each other, as `format/events/resolve.rs` explains.
#[rustfmt::skip]
pub(crate) static EVENT: MessageType = MessageType::new(Package::Events, Noun::Event, "Event", &[
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
pub(crate) static EVENT_TYPE: MessageType = MessageType::new(Package::Events, Noun::EventType, "EventType", &[
    one(IN, 1, "name_string_index", Uint32).to(Table::String),
    one(IN, 2, "unit_string_index", Uint32).to(Table::String),
    optional(IN, 3, "clock_index", Uint32),
    one(IN, 4, "default_value", Uint64),
    many(IN, 7, "attribute_incidices", Uint32).to(Table::Attribute).now("attribute_indices"),
]);

/// A clock. Times of events are in its cycles.
#[rustfmt::skip]
pub(crate) static CLOCK: MessageType = MessageType::new(Package::Events, Noun::Clock, "Clock", &[
    one(IN, 1, "frequency", Uint64),
    one(IN, 2, "time_unix_nano", Fixed64),
    many(IN, 3, "attribute_indices", Uint32).to(Table::Attribute),
]);

/// A stack: a row of locations, as in OTLP since 1.8.
#[rustfmt::skip]
pub(crate) static EVENT_STACK: MessageType = MessageType::new(Package::Events, Noun::Stack, "Stack", &[
    many(IN, 1, "location_index", Uint32).to(Table::Location),
]);

/// A location of OTLP before 1.8, with its type as a string. Code uses the current names of OTLP as keys.
#[rustfmt::skip]
pub(crate) static EVENT_LOCATION: MessageType = MessageType::new(Package::Events, Noun::Location, "Location", &[
    one(IN, 1, "mapping_index", Uint32).to(Table::Mapping),
    one(IN, 2, "address", Uint64),
    many(IN, 3, "line", Message(&EVENT_LINE)).now("lines"),
    one(IN, 4, "is_folded", Bool),
    one(IN, 5, "type_string_index", Int32).to(Table::String).now("type_index"),
    many(IN, 6, "attribute_index", Uint32).to(Table::Attribute).now("attribute_indices"),
]);

/// A link, as in OTLP.
#[rustfmt::skip]
pub(crate) static EVENT_LINK: MessageType = MessageType::new(Package::Events, Noun::Link, "Link", &[
    one(IN, 1, "trace_id", Bytes).with(Role::Id(16)),
    one(IN, 2, "span_id", Bytes).with(Role::Id(8)),
]);

/// A mapping with pprof's flags and a build id, as in OTEP 0239.
#[rustfmt::skip]
pub(crate) static EVENT_MAPPING: MessageType = MessageType::new(Package::Events, Noun::Mapping, "Mapping", &[
    one(IN, 1, "memory_start", Uint64),
    one(IN, 2, "memory_limit", Uint64),
    one(IN, 3, "file_offset", Uint64),
    one(IN, 4, "filename_string_index", Uint32).to(Table::String),
    one(IN, 5, "build_id_string_index", Uint32).to(Table::String),
    one(IN, 6, "build_id_kind", Enum(&EVENT_BUILD_ID_KIND)),
    many(IN, 7, "attributes", Uint64).to(Table::Attribute).now("attribute_indices"),
    one(IN, 8, "has_functions", Bool),
    one(IN, 9, "has_filenames", Bool),
    one(IN, 10, "has_line_numbers", Bool),
    one(IN, 11, "has_inline_frames", Bool),
]);

/// The kind of a build id, as in OTEP 0239. `format/events/rows.rs` converts both kinds.
pub(crate) static EVENT_BUILD_ID_KIND: EnumType =
    EnumType { name: "BuildIdKind", values: &["BUILD_ID_LINKER", "BUILD_ID_BINARY_HASH"] };

/// A line. The first line of a location has the innermost function.
#[rustfmt::skip]
pub(crate) static EVENT_LINE: MessageType = MessageType::new(Package::Events, Noun::Line, "Line", &[
    one(IN, 1, "function_index", Uint32).to(Table::Function),
    one(IN, 2, "line", Int64),
    one(IN, 3, "column", Int64),
]);

/// A function. `name_string_uindex` is the spelling of the proposal.
#[rustfmt::skip]
pub(crate) static EVENT_FUNCTION: MessageType = MessageType::new(Package::Events, Noun::Function, "Function", &[
    one(IN, 1, "id", Uint64),
    one(IN, 2, "name_string_uindex", Uint32).to(Table::String),
    one(IN, 3, "system_name_string_index", Uint32).to(Table::String),
    one(IN, 4, "filename_string_index", Uint32).to(Table::String),
    one(IN, 5, "start_line", Int64),
]);

/// A row of the attribute table, without a unit.
#[rustfmt::skip]
pub(crate) static EVENT_KEY_VALUE: MessageType = MessageType::new(Package::Events, Noun::KeyValue, "KeyValue", &[
    one(IN, 1, "key_string_index", Uint32).to(Table::String),
    one(IN, 2, "value", Message(&EVENT_ANY_VALUE)),
]);

/// A value as in OTLP, with references instead of strings.
#[rustfmt::skip]
pub(crate) static EVENT_ANY_VALUE: MessageType = MessageType::new(Package::Events, Noun::AnyValue, "AnyValue", &[
    case(IN, 1, "string_index", Uint32).to(Table::String),
    case(IN, 2, "bool_value", Bool),
    case(IN, 3, "int_value", Int64),
    case(IN, 4, "double_value", Double),
    case(IN, 5, "array_value", Message(&EVENT_ARRAY_VALUE)),
    case(IN, 6, "kvlist_value", Message(&EVENT_KEY_VALUE_LIST)),
    case(IN, 7, "bytes_value", Bytes),
]);

/// A list of values. Only lists and the next message can nest without limit.
#[rustfmt::skip]
pub(crate) static EVENT_ARRAY_VALUE: MessageType = MessageType::new(Package::Events, Noun::ArrayValue, "ArrayValue", &[
    many(IN, 1, "values", Message(&EVENT_ANY_VALUE)),
]);

/// A list of pairs.
#[rustfmt::skip]
pub(crate) static EVENT_KEY_VALUE_LIST: MessageType = MessageType::new(Package::Events, Noun::KeyValueList, "KeyValueList", &[
    many(IN, 1, "values", Message(&EVENT_KEY_VALUE)),
]);
