//! Packages common and resource: values in place, resources and scopes.
//!
//! The numbers are those of `common.proto` and `resource.proto`, which all signals share and which never change.
//! 1.6 added entities, and 1.10 the two references to the string table.

use super::field::Kind::*;
use super::field::{MessageType, Table, case, many, one};
use super::message_kind::{MessageKind, Package};
use super::version::NOW;
use super::version::Version::{Events as EVENTS, V1_3, V1_6, V1_10};

/// A value. It is a `oneof`: if several cases are on the wire, the last one wins.
#[rustfmt::skip]
pub(crate) static ANY_VALUE: MessageType = MessageType::new(Package::Common, MessageKind::AnyValue, "AnyValue", &[
    case((EVENTS, EVENTS), 1, "string_index", Uint32).to(Table::String).now("string_value_strindex"),
    case((EVENTS, EVENTS), 2, "bool_value", Bool),
    case((EVENTS, EVENTS), 3, "int_value", Int64),
    case((EVENTS, EVENTS), 4, "double_value", Double),
    case((EVENTS, EVENTS), 5, "array_value", Message(&ARRAY_VALUE)),
    case((EVENTS, EVENTS), 6, "kvlist_value", Message(&KEY_VALUE_LIST)),
    case((EVENTS, EVENTS), 7, "bytes_value", Bytes),
    case((V1_3, NOW), 1, "string_value", String),
    case((V1_3, NOW), 2, "bool_value", Bool),
    case((V1_3, NOW), 3, "int_value", Int64),
    case((V1_3, NOW), 4, "double_value", Double),
    case((V1_3, NOW), 5, "array_value", Message(&ARRAY_VALUE)),
    case((V1_3, NOW), 6, "kvlist_value", Message(&KEY_VALUE_LIST)),
    case((V1_3, NOW), 7, "bytes_value", Bytes),
    case((V1_10, NOW), 8, "string_value_strindex", Int32).to(Table::String),
]);

/// A list of values. Only lists and `KEY_VALUE_LIST` can nest without limit.
#[rustfmt::skip]
pub(crate) static ARRAY_VALUE: MessageType = MessageType::new(Package::Common, MessageKind::ArrayValue, "ArrayValue", &[
    many((EVENTS, EVENTS), 1, "values", Message(&ANY_VALUE)),
    many((V1_3, NOW), 1, "values", Message(&ANY_VALUE)),
]);

/// A list of pairs. Keys should be unique; a receiver may keep either of two equal ones.
#[rustfmt::skip]
pub(crate) static KEY_VALUE_LIST: MessageType = MessageType::new(Package::Common, MessageKind::KeyValueList, "KeyValueList", &[
    many((EVENTS, EVENTS), 1, "values", Message(&KEY_VALUE)),
    many((V1_3, NOW), 1, "values", Message(&KEY_VALUE)),
]);

/// A pair of key and value. The key is in place, or since 1.10 a reference.
#[rustfmt::skip]
pub(crate) static KEY_VALUE: MessageType = MessageType::new(Package::Common, MessageKind::KeyValue, "KeyValue", &[
    one((EVENTS, EVENTS), 1, "key_string_index", Uint32).to(Table::String).now("key_strindex"),
    one((EVENTS, EVENTS), 2, "value", Message(&ANY_VALUE)),
    one((V1_3, NOW), 1, "key", String),
    one((V1_3, NOW), 2, "value", Message(&ANY_VALUE)),
    one((V1_10, NOW), 3, "key_strindex", Int32).to(Table::String),
]);

/// The profiler that produced the profiles: name and version.
#[rustfmt::skip]
pub(crate) static INSTRUMENTATION_SCOPE: MessageType = MessageType::new(Package::Common, MessageKind::Scope, "InstrumentationScope", &[
    one((V1_3, NOW), 1, "name", String),
    one((V1_3, NOW), 2, "version", String),
    many((V1_3, NOW), 3, "attributes", Message(&KEY_VALUE)),
    one((V1_3, NOW), 4, "dropped_attributes_count", Uint32),
]);

/// The attributes of a resource that identify or describe an entity.
///
/// The keys are those of the resource's attributes.
#[rustfmt::skip]
pub(crate) static ENTITY_REF: MessageType = MessageType::new(Package::Common, MessageKind::EntityRef, "EntityRef", &[
    one((V1_6, NOW), 1, "schema_url", String),
    one((V1_6, NOW), 2, "type", String),
    many((V1_6, NOW), 3, "id_keys", String),
    many((V1_6, NOW), 4, "description_keys", String),
]);

/// A resource. Traces, metrics, logs and profiles share this message.
#[rustfmt::skip]
pub(crate) static RESOURCE: MessageType = MessageType::new(Package::Resource, MessageKind::Resource, "Resource", &[
    many((V1_3, NOW), 1, "attributes", Message(&KEY_VALUE)),
    one((V1_3, NOW), 2, "dropped_attributes_count", Uint32),
    many((V1_6, NOW), 3, "entity_refs", Message(&ENTITY_REF)),
]);
