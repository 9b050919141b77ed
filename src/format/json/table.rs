//! Every message of OTLP profiles, of every generation: the names and kinds of its fields.

use crate::format::json::messages::Kind::{
    Bool, Bytes, Double, Enum, Fixed64, Hex, Int32, Int64, Message as Of, String, Uint32, Uint64,
};
use crate::format::json::messages::{Field, Message, messages};
use crate::format::otlp::schema::{Home, Schema};

/// Up to 1.3: pprof's own names and `ProfileContainer`.
fn to_1_3(schema: &Schema) -> bool {
    schema.container.profile != 0
}

/// Up to 1.7: slices of stacks, several sample types a profile.
fn to_1_7(schema: &Schema) -> bool {
    schema.tables.stack == 0
}

/// Up to 1.8: aggregation temporality, and lists with names in the singular.
fn to_1_8(schema: &Schema) -> bool {
    schema.temporality != 0
}

fn when(is: bool, number: u32) -> u32 {
    if is { number } else { 0 }
}

/// The field `at` places after `first`, where there is a first.
fn after(first: u32, at: u32) -> u32 {
    when(first != 0, first + at)
}

const TEMPORALITIES: &[&str] = &[
    "AGGREGATION_TEMPORALITY_UNSPECIFIED",
    "AGGREGATION_TEMPORALITY_DELTA",
    "AGGREGATION_TEMPORALITY_CUMULATIVE",
];

const BUILD_ID_KINDS: &[&str] = &["BUILD_ID_LINKER", "BUILD_ID_BINARY_HASH"];

messages! { s:
    // Also ExportProfilesServiceRequest, which has the same fields.
    PROFILES_DATA = "ProfilesData", tables of Data {
        many "resource_profiles": Of(&RESOURCE_PROFILES) => 1;
        one "dictionary": Of(&DICTIONARY) => when(s.home == Home::Dictionary, 2);
    }

    DICTIONARY = "ProfilesDictionary", tables of Dictionary {}

    // Not a message: fields of the one that is their home.
    TABLES = "" {
        many "mapping_table" ("mapping" to_1_3): Of(&MAPPING) => s.tables.mapping;
        many "location_table" ("location" to_1_3): Of(&LOCATION) => s.tables.location;
        many "function_table" ("function" to_1_3): Of(&FUNCTION) => s.tables.function;
        many "link_table": Of(&LINK) => s.tables.link;
        many "string_table": String => s.tables.string;
        many "attribute_table": Of(&KEY_VALUE_AND_UNIT) => when(!to_1_7(s), s.tables.attribute);
        many "attribute_table": Of(&KEY_VALUE) => when(to_1_7(s), s.tables.attribute);
        many "attribute_units": Of(&ATTRIBUTE_UNIT) => s.tables.attribute_units;
        many "stack_table": Of(&STACK) => s.tables.stack;
    }

    RESOURCE_PROFILES = "ResourceProfiles" {
        one "resource": Of(&RESOURCE) => 1;
        many "scope_profiles": Of(&SCOPE_PROFILES) => 2;
        one "schema_url": String => 3;
    }

    SCOPE_PROFILES = "ScopeProfiles" {
        one "scope": Of(&SCOPE) => 1;
        many "profiles": Of(&PROFILE) => when(!to_1_3(s), 2);
        many "profiles": Of(&CONTAINER) => when(to_1_3(s), 2);
        one "schema_url": String => 3;
    }

    CONTAINER = "ProfileContainer" {
        one "profile_id": Hex => s.container.profile_id;
        one "start_time_unix_nano": Fixed64 => s.container.start;
        one "end_time_unix_nano": Fixed64 => s.container.end;
        many "attributes": Of(&KEY_VALUE) => s.container.attributes;
        one "dropped_attributes_count": Uint32 => s.container.dropped_attributes_count;
        one "original_payload_format": String => s.container.original_payload_format;
        one "original_payload": Bytes => s.container.original_payload;
        one "profile": Of(&PROFILE) => s.container.profile;
    }

    PROFILE = "Profile", tables of Profile {
        one "sample_type": Of(&VALUE_TYPE) => when(!to_1_7(s), s.profile.sample_type);
        many "sample_type": Of(&VALUE_TYPE) => when(to_1_7(s), s.profile.sample_type);
        many "samples" ("sample" to_1_8): Of(&SAMPLE) => s.profile.samples;
        many "location_indices": Int32 => s.profile.location_indices;
        one "time_unix_nano": Fixed64 => when(s.profile.unsigned_time, s.profile.time);
        one "time_nanos": Int64 => when(!s.profile.unsigned_time, s.profile.time);
        one "duration_nano": Uint64 => when(s.profile.unsigned_time, s.profile.duration);
        one "duration_nanos": Int64 => when(!s.profile.unsigned_time, s.profile.duration);
        one "period_type": Of(&VALUE_TYPE) => s.profile.period_type;
        one "period": Int64 => s.profile.period;
        many "comment_strindices" ("comment" to_1_3): Int32 => s.profile.comment;
        one "default_sample_type_strindex" ("default_sample_type" to_1_3): Int32 =>
            when(s.profile.default_by_name, s.profile.default_sample_type);
        one "default_sample_type_index": Int32 =>
            when(!s.profile.default_by_name, s.profile.default_sample_type);
        one "drop_frames": Int32 => s.profile.drop_frames;
        one "keep_frames": Int32 => s.profile.keep_frames;
        one "profile_id": Hex => s.profile.profile_id;
        many "attributes": Of(&KEY_VALUE) => s.profile.attributes;
        one "dropped_attributes_count": Uint32 => s.profile.dropped_attributes_count;
        one "original_payload_format": String => s.profile.original_payload_format;
        one "original_payload": Bytes => s.profile.original_payload;
        many "attribute_indices": Int32 => s.profile.attribute_indices;
    }

    VALUE_TYPE = "ValueType" {
        one "type_strindex" ("type" to_1_3): Int32 => 1;
        one "unit_strindex" ("unit" to_1_3): Int32 => 2;
        one "aggregation_temporality": Enum(TEMPORALITIES) => s.temporality;
    }

    SAMPLE = "Sample" {
        one "stack_index": Int32 => s.sample.stack;
        many "attribute_indices" ("attributes" to_1_3): Int32 => s.sample.attributes;
        one "link_index" ("link" to_1_3): Int32 => s.sample.link;
        many "values" ("value" to_1_7): Int64 => s.sample.values;
        many "timestamps_unix_nano": Fixed64 => when(s.sample.fixed_timestamps, s.sample.timestamps);
        many "timestamps_unix_nano": Uint64 => when(!s.sample.fixed_timestamps, s.sample.timestamps);
        one "locations_start_index": Int32 => s.sample.slice_start;
        one "locations_length": Int32 => s.sample.slice_length;
        many "location_index": Int32 => s.sample.location_index;
        many "label": Of(&LABEL) => s.sample.label;
        one "stacktrace_id_index": Int32 => s.sample.stacktrace_id;
    }

    LABEL = "Label" {
        one "key": Int32 => 1;
        one "str": Int32 => 2;
        one "num": Int64 => 3;
        one "num_unit": Int32 => 4;
    }

    MAPPING = "Mapping" {
        one "id": Uint64 => s.mapping.id;
        one "memory_start": Uint64 => s.mapping.memory_start;
        one "memory_limit": Uint64 => s.mapping.memory_limit;
        one "file_offset": Uint64 => s.mapping.file_offset;
        one "filename_strindex" ("filename" to_1_3): Int32 => s.mapping.filename;
        one "build_id": Int32 => s.mapping.build_id;
        one "build_id_kind": Enum(BUILD_ID_KINDS) => s.mapping.build_id_kind;
        one "has_functions": Bool => s.mapping.has_functions;
        one "has_filenames": Bool => after(s.mapping.has_functions, 1);
        one "has_line_numbers": Bool => after(s.mapping.has_functions, 2);
        one "has_inline_frames": Bool => after(s.mapping.has_functions, 3);
        many "attribute_indices" ("attributes" to_1_3): Int32 => s.mapping.attributes;
    }

    LOCATION = "Location" {
        one "id": Uint64 => s.location.id;
        one "mapping_index": Int32 => s.location.mapping;
        one "address": Uint64 => s.location.address;
        many "lines" ("line" to_1_8): Of(&LINE) => s.location.lines;
        one "is_folded": Bool => s.location.is_folded;
        one "type_index": Int32 => s.location.frame_type;
        many "attribute_indices" ("attributes" to_1_3): Int32 => s.location.attributes;
    }

    LINE = "Line" {
        one "function_index": Int32 => 1;
        one "line": Int64 => 2;
        one "column": Int64 => 3;
    }

    FUNCTION = "Function" {
        one "id": Uint64 => s.function.id;
        one "name_strindex" ("name" to_1_3): Int32 => s.function.name;
        one "system_name_strindex" ("system_name" to_1_3): Int32 => s.function.system_name;
        one "filename_strindex" ("filename" to_1_3): Int32 => s.function.filename;
        one "start_line": Int64 => s.function.start_line;
    }

    STACK = "Stack" {
        many "location_indices": Int32 => 1;
    }

    LINK = "Link" {
        one "trace_id": Hex => 1;
        one "span_id": Hex => 2;
    }

    ATTRIBUTE_UNIT = "AttributeUnit" {
        one "attribute_key_strindex" ("attribute_key" to_1_3): Int32 => 1;
        one "unit_strindex" ("unit" to_1_3): Int32 => 2;
    }

    KEY_VALUE_AND_UNIT = "KeyValueAndUnit" {
        one "key_strindex": Int32 => 1;
        one "value": Of(&ANY_VALUE) => 2;
        one "unit_strindex": Int32 => 3;
    }

    KEY_VALUE = "KeyValue" {
        one "key": String => 1;
        one "value": Of(&ANY_VALUE) => 2;
        one "key_strindex": Int32 => s.key_strindex;
    }

    ANY_VALUE = "AnyValue" {
        one "string_value": String => 1;
        one "bool_value": Bool => 2;
        one "int_value": Int64 => 3;
        one "double_value": Double => 4;
        one "array_value": Of(&ARRAY_VALUE) => 5;
        one "kvlist_value": Of(&KEY_VALUE_LIST) => 6;
        one "bytes_value": Bytes => 7;
        one "string_value_strindex": Int32 => s.string_value_strindex;
    }

    ARRAY_VALUE = "ArrayValue" {
        many "values": Of(&ANY_VALUE) => 1;
    }

    KEY_VALUE_LIST = "KeyValueList" {
        many "values": Of(&KEY_VALUE) => 1;
    }

    RESOURCE = "Resource" {
        many "attributes": Of(&KEY_VALUE) => 1;
        one "dropped_attributes_count": Uint32 => 2;
        many "entity_refs": Of(&ENTITY_REF) => s.entity_refs;
    }

    ENTITY_REF = "EntityRef" {
        one "schema_url": String => 1;
        one "type": String => 2;
        many "id_keys": String => 3;
        many "description_keys": String => 4;
    }

    SCOPE = "InstrumentationScope" {
        one "name": String => 1;
        one "version": String => 2;
        many "attributes": Of(&KEY_VALUE) => 3;
        one "dropped_attributes_count": Uint32 => 4;
    }
}
