//! Package profiles: pprof's messages, and those derived from them, including the proposal of timestamped events.
//!
//! How a reference is read depends on the version, which [`Role`] does not show: see
//! [`Rows`](super::capabilities::Rows).
//!
//! A row declares a field in the versions `(first, last)`, both inclusive, with the name of those versions. If a
//! field was renamed, [`now`](super::field::Field::now) sets the newest name, which code uses as its key. `to`,
//! `rows` and `with` set the role of its value: a reference into a table, the rows of a table, or another role.
//!
//! ```text
//!                tables are in            stacks are                    a sample's values
//! pprof, 1.3     the profile              ids or slices, in the sample  one a sample type
//! 1.4, 1.5       the profile              slices of the profile's list  one a sample type
//! 1.6            ProfilesData             slices of the profile's list  one a sample type
//! 1.7            ProfilesDictionary       slices of the profile's list  one a sample type
//! 1.8 to 1.11    ProfilesDictionary       rows of the stack table       one a timestamp, or one
//! ```
//!
//! To add a release that moves a field, end the range of its row and add a row below it (docs/DESIGN.md, "Adding a
//! generation").

use super::common::*;
use super::events::*;
use super::field::Kind::*;
use super::field::{EnumType, MessageType, Role, Table, many, one, optional};
use super::message_kind::{MessageKind, Package};
use super::version::NOW;
use super::version::Version::{
    Events as EVENTS, Pprof as PPROF, V1_3, V1_4, V1_5, V1_6, V1_7, V1_8, V1_9, V1_10,
};

/// The payload of a file; since 1.7 with the numbers of an export request.
///
/// Only 1.6 has its tables here, for which its export request has no fields.
#[rustfmt::skip]
pub(crate) static PROFILES_DATA: MessageType = MessageType::new(Package::Profiles, MessageKind::ProfilesData, "ProfilesData", &[
    many((V1_3, NOW), 1, "resource_profiles", Message(&RESOURCE_PROFILES)),
    many((V1_6, V1_6), 2, "mapping_table", Message(&MAPPING)).rows(Table::Mapping),
    many((V1_6, V1_6), 3, "location_table", Message(&LOCATION)).rows(Table::Location),
    many((V1_6, V1_6), 4, "function_table", Message(&FUNCTION)).rows(Table::Function),
    many((V1_6, V1_6), 5, "link_table", Message(&LINK)).rows(Table::Link),
    many((V1_6, V1_6), 6, "string_table", String).rows(Table::String),
    many((V1_6, V1_6), 7, "attribute_table", Message(&KEY_VALUE)).rows(Table::Attribute),
    many((V1_6, V1_6), 8, "attribute_units", Message(&ATTRIBUTE_UNIT)).rows(Table::AttributeUnit),
    one((V1_7, NOW), 2, "dictionary", Message(&PROFILES_DICTIONARY)),
]);

/// The tables that all profiles share, since 1.7.
///
/// Since 1.8, row 0 of each table is the empty row. So an index of 0, which is omitted on the wire, refers to no
/// row.
#[rustfmt::skip]
pub(crate) static PROFILES_DICTIONARY: MessageType = MessageType::new(Package::Profiles, MessageKind::Dictionary, "ProfilesDictionary", &[
    many((V1_7, NOW), 1, "mapping_table", Message(&MAPPING)).rows(Table::Mapping),
    many((V1_7, NOW), 2, "location_table", Message(&LOCATION)).rows(Table::Location),
    many((V1_7, NOW), 3, "function_table", Message(&FUNCTION)).rows(Table::Function),
    many((V1_7, NOW), 4, "link_table", Message(&LINK)).rows(Table::Link),
    many((V1_7, NOW), 5, "string_table", String).rows(Table::String),
    many((V1_7, V1_7), 6, "attribute_table", Message(&KEY_VALUE)).rows(Table::Attribute),
    many((V1_7, V1_7), 7, "attribute_units", Message(&ATTRIBUTE_UNIT)).rows(Table::AttributeUnit),
    many((V1_8, NOW), 6, "attribute_table", Message(&KEY_VALUE_AND_UNIT)).rows(Table::Attribute),
    many((V1_8, NOW), 7, "stack_table", Message(&STACK)).rows(Table::Stack),
]);

/// A resource and, by scope, its profiles.
#[rustfmt::skip]
pub(crate) static RESOURCE_PROFILES: MessageType = MessageType::new(Package::Profiles, MessageKind::ResourceProfiles, "ResourceProfiles", &[
    one((V1_3, NOW), 1, "resource", Message(&RESOURCE)),
    many((V1_3, NOW), 2, "scope_profiles", Message(&SCOPE_PROFILES)),
    one((V1_3, NOW), 3, "schema_url", String),
]);

/// A scope and its profiles. Field 2 is a container in 1.3 and a profile since 1.4; only its content shows which.
#[rustfmt::skip]
pub(crate) static SCOPE_PROFILES: MessageType = MessageType::new(Package::Profiles, MessageKind::ScopeProfiles, "ScopeProfiles", &[
    one((V1_3, NOW), 1, "scope", Message(&INSTRUMENTATION_SCOPE)),
    many((V1_3, V1_3), 2, "profiles", Message(&PROFILE_CONTAINER)),
    many((V1_4, NOW), 2, "profiles", Message(&PROFILE)),
    one((V1_3, NOW), 3, "schema_url", String),
]);

/// OTLP's fields around a pprof profile, in OTEP 0239 only.
///
/// 1.4 moved them into the profile.
#[rustfmt::skip]
pub(crate) static PROFILE_CONTAINER: MessageType = MessageType::new(Package::Profiles, MessageKind::Container, "ProfileContainer", &[
    one((V1_3, V1_3), 1, "profile_id", Bytes).with(Role::Id(16)),
    one((V1_3, V1_3), 2, "start_time_unix_nano", Fixed64),
    one((V1_3, V1_3), 3, "end_time_unix_nano", Fixed64),
    many((V1_3, V1_3), 4, "attributes", Message(&KEY_VALUE)),
    one((V1_3, V1_3), 5, "dropped_attributes_count", Uint32),
    one((V1_3, V1_3), 6, "original_payload_format", String),
    one((V1_3, V1_3), 7, "original_payload", Bytes),
    one((V1_3, V1_3), 8, "profile", Message(&PROFILE)),
]);

/// A profile, in four layouts: pprof and 1.3, with tables (1.4, 1.5), without tables (1.6, 1.7), and with one
/// sample type (since 1.8).
///
/// Keys are the newest names: `duration_nano` also finds the earlier `duration_nanos`.
#[rustfmt::skip]
pub(crate) static PROFILE: MessageType = MessageType::new(Package::Profiles, MessageKind::Profile, "Profile", &[
    // Timestamped events.
    many((EVENTS, EVENTS), 1, "events", Message(&EVENT)),
    many((EVENTS, EVENTS), 3, "event_types", Message(&EVENT_TYPE)),
    many((EVENTS, EVENTS), 4, "stacks", Message(&STACK)).rows(Table::Stack).now("stack_table"),
    many((EVENTS, EVENTS), 5, "locations", Message(&LOCATION)).rows(Table::Location).now("location_table"),
    many((EVENTS, EVENTS), 6, "functions", Message(&FUNCTION)).rows(Table::Function).now("function_table"),
    many((EVENTS, EVENTS), 7, "mappings", Message(&MAPPING)).rows(Table::Mapping).now("mapping_table"),
    many((EVENTS, EVENTS), 8, "attributes", Message(&KEY_VALUE)).rows(Table::Attribute).now("attribute_table"),
    many((EVENTS, EVENTS), 10, "links", Message(&LINK)).rows(Table::Link).now("link_table"),
    many((EVENTS, EVENTS), 11, "strings", String).rows(Table::String).now("string_table"),
    many((EVENTS, EVENTS), 12, "clocks", Message(&CLOCK)),
    one((EVENTS, EVENTS), 16, "time_unix_nano", Fixed64),
    one((EVENTS, EVENTS), 17, "duration_nanos", Int64).now("duration_nano"),
    many((EVENTS, EVENTS), 18, "comment_string_index", Uint32).to(Table::String).now("comment_strindices"),
    // pprof, and the additions of 1.3.
    many((PPROF, V1_3), 3, "mapping", Message(&MAPPING)).rows(Table::Mapping).now("mapping_table"),
    many((PPROF, V1_3), 4, "location", Message(&LOCATION)).rows(Table::Location).now("location_table"),
    many((PPROF, V1_3), 5, "function", Message(&FUNCTION)).rows(Table::Function).now("function_table"),
    many((PPROF, V1_3), 6, "string_table", String).rows(Table::String),
    one((PPROF, V1_3), 7, "drop_frames", Int64).to(Table::String),
    one((PPROF, V1_3), 8, "keep_frames", Int64).to(Table::String),
    one((PPROF, V1_3), 9, "time_nanos", Int64).now("time_unix_nano"),
    one((PPROF, V1_3), 10, "duration_nanos", Int64).now("duration_nano"),
    one((PPROF, V1_3), 11, "period_type", Message(&VALUE_TYPE)),
    one((PPROF, V1_3), 12, "period", Int64),
    many((PPROF, V1_3), 13, "comment", Int64).to(Table::String).now("comment_strindices"),
    one((PPROF, V1_3), 14, "default_sample_type", Int64).to(Table::String).now("default_sample_type_strindex"),
    one((PPROF, PPROF), 15, "doc_url", Int64).to(Table::String),
    many((V1_3, V1_3), 15, "location_indices", Int64).with(Role::Sliced(Table::Location)),
    many((V1_3, V1_3), 16, "attribute_table", Message(&KEY_VALUE)).rows(Table::Attribute),
    many((V1_3, V1_3), 17, "attribute_units", Message(&ATTRIBUTE_UNIT)).rows(Table::AttributeUnit),
    many((V1_3, V1_3), 18, "link_table", Message(&LINK)).rows(Table::Link),
    // Tables in the profile, renumbered.
    many((V1_4, V1_5), 3, "mapping_table", Message(&MAPPING)).rows(Table::Mapping),
    many((V1_4, V1_5), 4, "location_table", Message(&LOCATION)).rows(Table::Location),
    many((V1_4, V1_5), 5, "location_indices", Int32).with(Role::Sliced(Table::Location)),
    many((V1_4, V1_5), 6, "function_table", Message(&FUNCTION)).rows(Table::Function),
    many((V1_4, V1_5), 7, "attribute_table", Message(&KEY_VALUE)).rows(Table::Attribute),
    many((V1_4, V1_5), 8, "attribute_units", Message(&ATTRIBUTE_UNIT)).rows(Table::AttributeUnit),
    many((V1_4, V1_5), 9, "link_table", Message(&LINK)).rows(Table::Link),
    many((V1_4, V1_5), 10, "string_table", String).rows(Table::String),
    one((V1_4, V1_5), 11, "time_nanos", Int64).now("time_unix_nano"),
    one((V1_4, V1_5), 12, "duration_nanos", Int64).now("duration_nano"),
    one((V1_4, V1_5), 13, "period_type", Message(&VALUE_TYPE)),
    one((V1_4, V1_5), 14, "period", Int64),
    many((V1_4, V1_5), 15, "comment_strindices", Int32).to(Table::String),
    one((V1_4, V1_5), 16, "default_sample_type_strindex", Int32).to(Table::String),
    one((V1_4, V1_5), 17, "profile_id", Bytes).with(Role::Id(16)),
    many((V1_4, V1_4), 18, "attributes", Message(&KEY_VALUE)),
    one((V1_4, V1_5), 19, "dropped_attributes_count", Uint32),
    one((V1_4, V1_5), 20, "original_payload_format", String),
    one((V1_4, V1_5), 21, "original_payload", Bytes),
    many((V1_5, V1_5), 22, "attribute_indices", Int32).to(Table::Attribute),
    // Tables in the payload.
    many((V1_6, V1_7), 3, "location_indices", Int32).with(Role::Sliced(Table::Location)),
    one((V1_6, V1_7), 4, "time_nanos", Int64).now("time_unix_nano"),
    one((V1_6, V1_7), 5, "duration_nanos", Int64).now("duration_nano"),
    one((V1_6, V1_7), 6, "period_type", Message(&VALUE_TYPE)),
    one((V1_6, V1_7), 7, "period", Int64),
    many((V1_6, V1_7), 8, "comment_strindices", Int32).to(Table::String),
    one((V1_6, V1_7), 9, "default_sample_type_index", Int32).to(Table::SampleType),
    one((V1_6, V1_7), 10, "profile_id", Bytes).with(Role::Id(16)),
    one((V1_6, V1_7), 11, "dropped_attributes_count", Uint32),
    one((V1_6, V1_7), 12, "original_payload_format", String),
    one((V1_6, V1_7), 13, "original_payload", Bytes),
    many((V1_6, V1_7), 14, "attribute_indices", Int32).to(Table::Attribute),
    // Stacks in a table.
    many((PPROF, V1_7), 1, "sample_type", Message(&VALUE_TYPE)).rows(Table::SampleType),
    one((V1_8, NOW), 1, "sample_type", Message(&VALUE_TYPE)),
    many((PPROF, V1_8), 2, "sample", Message(&SAMPLE)).now("samples"),
    many((V1_9, NOW), 2, "samples", Message(&SAMPLE)),
    one((V1_8, NOW), 3, "time_unix_nano", Fixed64),
    one((V1_8, NOW), 4, "duration_nano", Uint64),
    one((V1_8, NOW), 5, "period_type", Message(&VALUE_TYPE)),
    one((V1_8, NOW), 6, "period", Int64),
    many((V1_8, V1_8), 7, "comment_strindices", Int32).to(Table::String),
    one((V1_8, V1_8), 8, "profile_id", Bytes).with(Role::Id(16)),
    one((V1_8, V1_8), 9, "dropped_attributes_count", Uint32),
    one((V1_8, V1_8), 10, "original_payload_format", String),
    one((V1_8, V1_8), 11, "original_payload", Bytes),
    many((V1_8, V1_8), 12, "attribute_indices", Int32).to(Table::Attribute),
    one((V1_9, NOW), 7, "profile_id", Bytes).with(Role::Id(16)),
    one((V1_9, NOW), 8, "dropped_attributes_count", Uint32),
    one((V1_9, NOW), 9, "original_payload_format", String),
    one((V1_9, NOW), 10, "original_payload", Bytes),
    many((V1_9, NOW), 11, "attribute_indices", Int32).to(Table::Attribute),
]);

/// A type and unit. Numbers 1 and 2 have been those of pprof since 1.3.
#[rustfmt::skip]
pub(crate) static VALUE_TYPE: MessageType = MessageType::new(Package::Profiles, MessageKind::ValueType, "ValueType", &[
    one((PPROF, V1_3), 1, "type", Int64).to(Table::String).now("type_strindex"),
    one((PPROF, V1_3), 2, "unit", Int64).to(Table::String).now("unit_strindex"),
    one((V1_4, NOW), 1, "type_strindex", Int32).to(Table::String),
    one((V1_4, NOW), 2, "unit_strindex", Int32).to(Table::String),
    one((V1_3, V1_8), 3, "aggregation_temporality", Enum(&AGGREGATION_TEMPORALITY)),
]);

/// The temporality of values, until 1.8.
///
/// The index of a name is its number.
pub(crate) static AGGREGATION_TEMPORALITY: EnumType = EnumType {
    name: "AggregationTemporality",
    values: &[
        "AGGREGATION_TEMPORALITY_UNSPECIFIED",
        "AGGREGATION_TEMPORALITY_DELTA",
        "AGGREGATION_TEMPORALITY_CUMULATIVE",
    ],
};

/// The unit of all attributes with one key, until attributes had separate units.
///
/// Therefore 1.3 to 1.7 cannot represent two attributes with one key and different units.
#[rustfmt::skip]
pub(crate) static ATTRIBUTE_UNIT: MessageType = MessageType::new(Package::Profiles, MessageKind::AttributeUnit, "AttributeUnit", &[
    one((V1_3, V1_3), 1, "attribute_key", Int64).to(Table::String).now("attribute_key_strindex"),
    one((V1_3, V1_3), 2, "unit", Int64).to(Table::String).now("unit_strindex"),
    one((V1_4, V1_7), 1, "attribute_key_strindex", Int32).to(Table::String),
    one((V1_4, V1_7), 2, "unit_strindex", Int32).to(Table::String),
]);

/// A link to a span. It was never renumbered; both ids are those of traces.
///
/// A link of zeros means no link; since 1.8, row 0 is such a link.
#[rustfmt::skip]
pub(crate) static LINK: MessageType = MessageType::new(Package::Profiles, MessageKind::Link, "Link", &[
    one((EVENTS, EVENTS), 1, "trace_id", Bytes).with(Role::Id(16)),
    one((EVENTS, EVENTS), 2, "span_id", Bytes).with(Role::Id(8)),
    one((V1_3, NOW), 1, "trace_id", Bytes).with(Role::Id(16)),
    one((V1_3, NOW), 2, "span_id", Bytes).with(Role::Id(8)),
]);

/// A sample. This message changed most and separates the generations: it was renumbered in 1.4, 1.8 and 1.10.
///
/// 1.8 and 1.9 differ from 1.10 in three numbers: 2, 3 and 4. If all three fields are packed or small, the bytes of
/// one version may be readable as the other, with other sums. Detection then validates the references.
#[rustfmt::skip]
pub(crate) static SAMPLE: MessageType = MessageType::new(Package::Profiles, MessageKind::Sample, "Sample", &[
    many((PPROF, PPROF), 1, "location_id", Uint64).with(Role::RefById).now("location_index"),
    many((V1_3, V1_3), 1, "location_index", Uint64).with(Role::RefById),
    many((PPROF, V1_3), 2, "value", Int64).with(Role::Values).now("values"),
    many((PPROF, V1_3), 3, "label", Message(&LABEL)),
    one((V1_3, V1_3), 7, "locations_start_index", Uint64).with(Role::SliceStart),
    one((V1_3, V1_3), 8, "locations_length", Uint64).with(Role::SliceLength),
    one((V1_3, V1_3), 9, "stacktrace_id_index", Uint32).to(Table::String),
    many((V1_3, V1_3), 10, "attributes", Uint64).to(Table::Attribute).now("attribute_indices"),
    one((V1_3, V1_3), 12, "link", Uint64).to(Table::Link).now("link_index"),
    many((V1_3, V1_3), 13, "timestamps_unix_nano", Uint64).with(Role::Times),
    one((V1_4, V1_7), 1, "locations_start_index", Int32).with(Role::SliceStart),
    one((V1_4, V1_7), 2, "locations_length", Int32).with(Role::SliceLength),
    many((V1_4, V1_7), 3, "value", Int64).with(Role::Values).now("values"),
    many((V1_4, V1_7), 4, "attribute_indices", Int32).to(Table::Attribute),
    optional((V1_4, V1_7), 5, "link_index", Int32).to(Table::Link),
    many((V1_4, V1_7), 6, "timestamps_unix_nano", Uint64).with(Role::Times),
    one((V1_8, NOW), 1, "stack_index", Int32).to(Table::Stack),
    many((V1_8, V1_9), 2, "values", Int64).with(Role::Values),
    many((V1_8, V1_9), 3, "attribute_indices", Int32).to(Table::Attribute),
    one((V1_8, V1_9), 4, "link_index", Int32).to(Table::Link),
    many((V1_10, NOW), 2, "attribute_indices", Int32).to(Table::Attribute),
    one((V1_10, NOW), 3, "link_index", Int32).to(Table::Link),
    many((V1_10, NOW), 4, "values", Int64).with(Role::Values),
    many((V1_8, NOW), 5, "timestamps_unix_nano", Fixed64).with(Role::Times),
]);

/// A label of pprof; OTLP has attributes since 1.4.
///
/// It is a string or a number, depending on which field is set. So an empty string and 0 look alike.
#[rustfmt::skip]
pub(crate) static LABEL: MessageType = MessageType::new(Package::Profiles, MessageKind::Label, "Label", &[
    one((PPROF, V1_3), 1, "key", Int64).to(Table::String).now("key_strindex"),
    one((PPROF, V1_3), 2, "str", Int64).to(Table::String).now("str_strindex"),
    one((PPROF, V1_3), 4, "num_unit", Int64).to(Table::String).now("num_unit_strindex"),
    // 1.4 still declares the message but does not use it.
    one((V1_4, V1_4), 1, "key_strindex", Int32).to(Table::String),
    one((V1_4, V1_4), 2, "str_strindex", Int32).to(Table::String),
    one((PPROF, V1_4), 3, "num", Int64),
    one((V1_4, V1_4), 4, "num_unit_strindex", Int32).to(Table::String),
]);

/// A stack, leaf first as in pprof.
///
/// Before 1.8, stacks are slices of a profile's list, or lists in the sample.
#[rustfmt::skip]
pub(crate) static STACK: MessageType = MessageType::new(Package::Profiles, MessageKind::Stack, "Stack", &[
    many((EVENTS, EVENTS), 1, "location_index", Uint32).to(Table::Location).now("location_indices"),
    many((V1_8, NOW), 1, "location_indices", Int32).to(Table::Location),
]);

/// A mapping. Fields that 1.4 (`build_id`) and 1.8 (the flags) removed have become attributes.
#[rustfmt::skip]
pub(crate) static MAPPING: MessageType = MessageType::new(Package::Profiles, MessageKind::Mapping, "Mapping", &[
    one((EVENTS, EVENTS), 1, "memory_start", Uint64),
    one((EVENTS, EVENTS), 2, "memory_limit", Uint64),
    one((EVENTS, EVENTS), 3, "file_offset", Uint64),
    one((EVENTS, EVENTS), 4, "filename_string_index", Uint32).to(Table::String).now("filename_strindex"),
    one((EVENTS, EVENTS), 5, "build_id_string_index", Uint32).to(Table::String).now("build_id"),
    one((EVENTS, EVENTS), 6, "build_id_kind", Enum(&BUILD_ID_KIND)),
    many((EVENTS, EVENTS), 7, "attributes", Uint64).to(Table::Attribute).now("attribute_indices"),
    one((EVENTS, EVENTS), 8, "has_functions", Bool),
    one((EVENTS, EVENTS), 9, "has_filenames", Bool),
    one((EVENTS, EVENTS), 10, "has_line_numbers", Bool),
    one((EVENTS, EVENTS), 11, "has_inline_frames", Bool),
    one((PPROF, V1_3), 1, "id", Uint64),
    one((PPROF, V1_3), 2, "memory_start", Uint64),
    one((PPROF, V1_3), 3, "memory_limit", Uint64),
    one((PPROF, V1_3), 4, "file_offset", Uint64),
    one((PPROF, V1_3), 5, "filename", Int64).to(Table::String).now("filename_strindex"),
    one((PPROF, V1_3), 6, "build_id", Int64).to(Table::String),
    one((PPROF, V1_3), 7, "has_functions", Bool),
    one((PPROF, V1_3), 8, "has_filenames", Bool),
    one((PPROF, V1_3), 9, "has_line_numbers", Bool),
    one((PPROF, V1_3), 10, "has_inline_frames", Bool),
    one((V1_3, V1_3), 11, "build_id_kind", Enum(&BUILD_ID_KIND)),
    many((V1_3, V1_3), 12, "attributes", Uint64).to(Table::Attribute).now("attribute_indices"),
    one((V1_4, NOW), 1, "memory_start", Uint64),
    one((V1_4, NOW), 2, "memory_limit", Uint64),
    one((V1_4, NOW), 3, "file_offset", Uint64),
    one((V1_4, NOW), 4, "filename_strindex", Int32).to(Table::String),
    many((V1_4, NOW), 5, "attribute_indices", Int32).to(Table::Attribute),
    one((V1_4, V1_7), 6, "has_functions", Bool),
    one((V1_4, V1_7), 7, "has_filenames", Bool),
    one((V1_4, V1_7), 8, "has_line_numbers", Bool),
    one((V1_4, V1_7), 9, "has_inline_frames", Bool),
]);

/// The kind of a build id, in 1.3 only.
///
/// Since 1.4, the name of the attribute shows the kind.
pub(crate) static BUILD_ID_KIND: EnumType =
    EnumType { name: "BuildIdKind", values: &["BUILD_ID_LINKER", "BUILD_ID_BINARY_HASH"] };

/// A location. Since 1.8, mapping 0 means no mapping. In 1.4 to 1.7 the field is `optional`. Before, 0 and absent
/// are the same.
#[rustfmt::skip]
pub(crate) static LOCATION: MessageType = MessageType::new(Package::Profiles, MessageKind::Location, "Location", &[
    one((EVENTS, EVENTS), 1, "mapping_index", Uint32).to(Table::Mapping),
    one((EVENTS, EVENTS), 2, "address", Uint64),
    many((EVENTS, EVENTS), 3, "line", Message(&LINE)).now("lines"),
    one((EVENTS, EVENTS), 4, "is_folded", Bool),
    one((EVENTS, EVENTS), 5, "type_string_index", Int32).to(Table::String).now("type_index"),
    many((EVENTS, EVENTS), 6, "attribute_index", Uint32).to(Table::Attribute).now("attribute_indices"),
    one((PPROF, V1_3), 1, "id", Uint64),
    one((PPROF, PPROF), 2, "mapping_id", Uint64).with(Role::RefById).now("mapping_index"),
    one((V1_3, V1_3), 2, "mapping_index", Uint64).to(Table::Mapping),
    one((PPROF, V1_3), 3, "address", Uint64),
    many((PPROF, V1_3), 4, "line", Message(&LINE)).now("lines"),
    one((PPROF, V1_3), 5, "is_folded", Bool),
    one((V1_3, V1_3), 6, "type_index", Uint32).to(Table::String),
    many((V1_3, V1_3), 7, "attributes", Uint64).to(Table::Attribute).now("attribute_indices"),
    optional((V1_4, V1_7), 1, "mapping_index", Int32).to(Table::Mapping),
    one((V1_8, NOW), 1, "mapping_index", Int32).to(Table::Mapping),
    one((V1_4, NOW), 2, "address", Uint64),
    many((V1_4, V1_8), 3, "line", Message(&LINE)).now("lines"),
    many((V1_9, NOW), 3, "lines", Message(&LINE)),
    one((V1_4, V1_7), 4, "is_folded", Bool),
    many((V1_4, V1_7), 5, "attribute_indices", Int32).to(Table::Attribute),
    many((V1_8, NOW), 4, "attribute_indices", Int32).to(Table::Attribute),
]);

/// A line, with the same numbers in every version.
///
/// Several lines of a location are functions inlined into each other, the innermost first.
#[rustfmt::skip]
pub(crate) static LINE: MessageType = MessageType::new(Package::Profiles, MessageKind::Line, "Line", &[
    one((EVENTS, EVENTS), 1, "function_index", Uint32).to(Table::Function),
    one((PPROF, PPROF), 1, "function_id", Uint64).with(Role::RefById).now("function_index"),
    one((V1_3, V1_3), 1, "function_index", Uint64).to(Table::Function),
    one((V1_4, NOW), 1, "function_index", Int32).to(Table::Function),
    one((EVENTS, NOW), 2, "line", Int64),
    one((EVENTS, NOW), 3, "column", Int64),
]);

/// A function. Since 1.4 it has no id: rows are identified by their index.
#[rustfmt::skip]
pub(crate) static FUNCTION: MessageType = MessageType::new(Package::Profiles, MessageKind::Function, "Function", &[
    one((EVENTS, EVENTS), 1, "id", Uint64),
    one((EVENTS, EVENTS), 2, "name_string_uindex", Uint32).to(Table::String).now("name_strindex"),
    one((EVENTS, EVENTS), 3, "system_name_string_index", Uint32).to(Table::String).now("system_name_strindex"),
    one((EVENTS, EVENTS), 4, "filename_string_index", Uint32).to(Table::String).now("filename_strindex"),
    one((EVENTS, EVENTS), 5, "start_line", Int64),
    one((PPROF, V1_3), 1, "id", Uint64),
    one((PPROF, V1_3), 2, "name", Int64).to(Table::String).now("name_strindex"),
    one((PPROF, V1_3), 3, "system_name", Int64).to(Table::String).now("system_name_strindex"),
    one((PPROF, V1_3), 4, "filename", Int64).to(Table::String).now("filename_strindex"),
    one((PPROF, V1_3), 5, "start_line", Int64),
    one((V1_4, NOW), 1, "name_strindex", Int32).to(Table::String),
    one((V1_4, NOW), 2, "system_name_strindex", Int32).to(Table::String),
    one((V1_4, NOW), 3, "filename_strindex", Int32).to(Table::String),
    one((V1_4, NOW), 4, "start_line", Int64),
]);

/// A row of the attribute table since 1.8. Earlier versions have plain pairs and `AttributeUnit`.
///
/// So a unit belongs to one attribute and not to a key.
#[rustfmt::skip]
pub(crate) static KEY_VALUE_AND_UNIT: MessageType = MessageType::new(Package::Profiles, MessageKind::KeyValueAndUnit, "KeyValueAndUnit", &[
    one((V1_8, NOW), 1, "key_strindex", Int32).to(Table::String),
    one((V1_8, NOW), 2, "value", Message(&ANY_VALUE)),
    one((V1_8, NOW), 3, "unit_strindex", Int32).to(Table::String),
]);
