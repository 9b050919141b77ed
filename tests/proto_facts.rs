//! The schemas in `proto/` against a table of facts about each generation, in both directions: no
//! field is missing, none is wrong, none is too many.
#![cfg(feature = "proto-all")]

use std::collections::{BTreeMap, BTreeSet};

use otlp_profiles::proto::{self, prost::Message};
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorSet};

/// Every dialect, oldest first, with its stage and its compiled schema.
const DIALECTS: &[(&str, &str, &[u8])] = &[
    ("pprof", "", proto::pprof::FILE_DESCRIPTOR_SET),
    ("1.3", "v1experimental", proto::v1_3::FILE_DESCRIPTOR_SET),
    ("1.4", "v1development", proto::v1_4::FILE_DESCRIPTOR_SET),
    ("1.5", "v1development", proto::v1_5::FILE_DESCRIPTOR_SET),
    ("1.6", "v1development", proto::v1_6::FILE_DESCRIPTOR_SET),
    ("1.7", "v1development", proto::v1_7::FILE_DESCRIPTOR_SET),
    ("1.8", "v1development", proto::v1_8::FILE_DESCRIPTOR_SET),
    ("1.9", "v1development", proto::v1_9::FILE_DESCRIPTOR_SET),
    ("1.10", "v1development", proto::v1_10::FILE_DESCRIPTOR_SET),
];

/// `(dialects, number, name, type)`: the dialects from the first to the last one named; `[T]` is
/// repeated, `?T` has presence, `|T` is a case of the message's oneof `value`, and a value of an
/// enum is `=`. A type of the schema is written by its short name.
type Fact = (&'static str, i32, &'static str, &'static str);

/// What each message and enum of each dialect is made of. The part before the dot is the package.
#[rustfmt::skip]
const FACTS: &[(&str, &[Fact])] = &[
    ("profiles.ProfilesData", &[
        ("1.3-1.10", 1, "resource_profiles", "[ResourceProfiles]"),
        ("1.6", 2, "mapping_table", "[Mapping]"),
        ("1.6", 3, "location_table", "[Location]"),
        ("1.6", 4, "function_table", "[Function]"),
        ("1.6", 5, "link_table", "[Link]"),
        ("1.6", 6, "string_table", "[string]"),
        ("1.6", 7, "attribute_table", "[KeyValue]"),
        ("1.6", 8, "attribute_units", "[AttributeUnit]"),
        ("1.7-1.10", 2, "dictionary", "ProfilesDictionary"),
    ]),
    ("profiles.ProfilesDictionary", &[
        ("1.7-1.10", 1, "mapping_table", "[Mapping]"),
        ("1.7-1.10", 2, "location_table", "[Location]"),
        ("1.7-1.10", 3, "function_table", "[Function]"),
        ("1.7-1.10", 4, "link_table", "[Link]"),
        ("1.7-1.10", 5, "string_table", "[string]"),
        ("1.7", 6, "attribute_table", "[KeyValue]"),
        ("1.7", 7, "attribute_units", "[AttributeUnit]"),
        ("1.8-1.10", 6, "attribute_table", "[KeyValueAndUnit]"),
        ("1.8-1.10", 7, "stack_table", "[Stack]"),
    ]),
    ("profiles.ResourceProfiles", &[
        ("1.3-1.10", 1, "resource", "Resource"),
        ("1.3-1.10", 2, "scope_profiles", "[ScopeProfiles]"),
        ("1.3-1.10", 3, "schema_url", "string"),
    ]),
    ("profiles.ScopeProfiles", &[
        ("1.3-1.10", 1, "scope", "InstrumentationScope"),
        ("1.3", 2, "profiles", "[ProfileContainer]"),
        ("1.4-1.10", 2, "profiles", "[Profile]"),
        ("1.3-1.10", 3, "schema_url", "string"),
    ]),
    ("profiles.ProfileContainer", &[
        ("1.3", 1, "profile_id", "bytes"),
        ("1.3", 2, "start_time_unix_nano", "fixed64"),
        ("1.3", 3, "end_time_unix_nano", "fixed64"),
        ("1.3", 4, "attributes", "[KeyValue]"),
        ("1.3", 5, "dropped_attributes_count", "uint32"),
        ("1.3", 6, "original_payload_format", "string"),
        ("1.3", 7, "original_payload", "bytes"),
        ("1.3", 8, "profile", "Profile"),
    ]),
    ("profiles.Profile", &[
        // pprof, and what 1.3 added to it.
        ("pprof-1.3", 3, "mapping", "[Mapping]"),
        ("pprof-1.3", 4, "location", "[Location]"),
        ("pprof-1.3", 5, "function", "[Function]"),
        ("pprof-1.3", 6, "string_table", "[string]"),
        ("pprof-1.3", 7, "drop_frames", "int64"),
        ("pprof-1.3", 8, "keep_frames", "int64"),
        ("pprof-1.3", 9, "time_nanos", "int64"),
        ("pprof-1.3", 10, "duration_nanos", "int64"),
        ("pprof-1.3", 11, "period_type", "ValueType"),
        ("pprof-1.3", 12, "period", "int64"),
        ("pprof-1.3", 13, "comment", "[int64]"),
        ("pprof-1.3", 14, "default_sample_type", "int64"),
        ("pprof", 15, "doc_url", "int64"),
        ("1.3", 15, "location_indices", "[int64]"),
        ("1.3", 16, "attribute_table", "[KeyValue]"),
        ("1.3", 17, "attribute_units", "[AttributeUnit]"),
        ("1.3", 18, "link_table", "[Link]"),
        // Tables in the profile, renumbered.
        ("1.4-1.5", 3, "mapping_table", "[Mapping]"),
        ("1.4-1.5", 4, "location_table", "[Location]"),
        ("1.4-1.5", 5, "location_indices", "[int32]"),
        ("1.4-1.5", 6, "function_table", "[Function]"),
        ("1.4-1.5", 7, "attribute_table", "[KeyValue]"),
        ("1.4-1.5", 8, "attribute_units", "[AttributeUnit]"),
        ("1.4-1.5", 9, "link_table", "[Link]"),
        ("1.4-1.5", 10, "string_table", "[string]"),
        ("1.4-1.5", 11, "time_nanos", "int64"),
        ("1.4-1.5", 12, "duration_nanos", "int64"),
        ("1.4-1.5", 13, "period_type", "ValueType"),
        ("1.4-1.5", 14, "period", "int64"),
        ("1.4-1.5", 15, "comment_strindices", "[int32]"),
        ("1.4-1.5", 16, "default_sample_type_strindex", "int32"),
        ("1.4-1.5", 17, "profile_id", "bytes"),
        ("1.4", 18, "attributes", "[KeyValue]"),
        ("1.4-1.5", 19, "dropped_attributes_count", "uint32"),
        ("1.4-1.5", 20, "original_payload_format", "string"),
        ("1.4-1.5", 21, "original_payload", "bytes"),
        ("1.5", 22, "attribute_indices", "[int32]"),
        // Tables in the payload.
        ("1.6-1.7", 3, "location_indices", "[int32]"),
        ("1.6-1.7", 4, "time_nanos", "int64"),
        ("1.6-1.7", 5, "duration_nanos", "int64"),
        ("1.6-1.7", 6, "period_type", "ValueType"),
        ("1.6-1.7", 7, "period", "int64"),
        ("1.6-1.7", 8, "comment_strindices", "[int32]"),
        ("1.6-1.7", 9, "default_sample_type_index", "int32"),
        ("1.6-1.7", 10, "profile_id", "bytes"),
        ("1.6-1.7", 11, "dropped_attributes_count", "uint32"),
        ("1.6-1.7", 12, "original_payload_format", "string"),
        ("1.6-1.7", 13, "original_payload", "bytes"),
        ("1.6-1.7", 14, "attribute_indices", "[int32]"),
        // Stacks in a table.
        ("pprof-1.7", 1, "sample_type", "[ValueType]"),
        ("1.8-1.10", 1, "sample_type", "ValueType"),
        ("pprof-1.8", 2, "sample", "[Sample]"),
        ("1.9-1.10", 2, "samples", "[Sample]"),
        ("1.8-1.10", 3, "time_unix_nano", "fixed64"),
        ("1.8-1.10", 4, "duration_nano", "uint64"),
        ("1.8-1.10", 5, "period_type", "ValueType"),
        ("1.8-1.10", 6, "period", "int64"),
        ("1.8", 7, "comment_strindices", "[int32]"),
        ("1.8", 8, "profile_id", "bytes"),
        ("1.8", 9, "dropped_attributes_count", "uint32"),
        ("1.8", 10, "original_payload_format", "string"),
        ("1.8", 11, "original_payload", "bytes"),
        ("1.8", 12, "attribute_indices", "[int32]"),
        ("1.9-1.10", 7, "profile_id", "bytes"),
        ("1.9-1.10", 8, "dropped_attributes_count", "uint32"),
        ("1.9-1.10", 9, "original_payload_format", "string"),
        ("1.9-1.10", 10, "original_payload", "bytes"),
        ("1.9-1.10", 11, "attribute_indices", "[int32]"),
    ]),
    ("profiles.ValueType", &[
        ("pprof-1.3", 1, "type", "int64"),
        ("pprof-1.3", 2, "unit", "int64"),
        ("1.4-1.10", 1, "type_strindex", "int32"),
        ("1.4-1.10", 2, "unit_strindex", "int32"),
        ("1.3-1.8", 3, "aggregation_temporality", "AggregationTemporality"),
    ]),
    ("profiles.AggregationTemporality", &[
        ("1.3-1.8", 0, "AGGREGATION_TEMPORALITY_UNSPECIFIED", "="),
        ("1.3-1.8", 1, "AGGREGATION_TEMPORALITY_DELTA", "="),
        ("1.3-1.8", 2, "AGGREGATION_TEMPORALITY_CUMULATIVE", "="),
    ]),
    ("profiles.AttributeUnit", &[
        ("1.3", 1, "attribute_key", "int64"),
        ("1.3", 2, "unit", "int64"),
        ("1.4-1.7", 1, "attribute_key_strindex", "int32"),
        ("1.4-1.7", 2, "unit_strindex", "int32"),
    ]),
    ("profiles.Link", &[
        ("1.3-1.10", 1, "trace_id", "bytes"),
        ("1.3-1.10", 2, "span_id", "bytes"),
    ]),
    ("profiles.Sample", &[
        ("pprof", 1, "location_id", "[uint64]"),
        ("1.3", 1, "location_index", "[uint64]"),
        ("pprof-1.3", 2, "value", "[int64]"),
        ("pprof-1.3", 3, "label", "[Label]"),
        ("1.3", 7, "locations_start_index", "uint64"),
        ("1.3", 8, "locations_length", "uint64"),
        ("1.3", 9, "stacktrace_id_index", "uint32"),
        ("1.3", 10, "attributes", "[uint64]"),
        ("1.3", 12, "link", "uint64"),
        ("1.3", 13, "timestamps_unix_nano", "[uint64]"),
        ("1.4-1.7", 1, "locations_start_index", "int32"),
        ("1.4-1.7", 2, "locations_length", "int32"),
        ("1.4-1.7", 3, "value", "[int64]"),
        ("1.4-1.7", 4, "attribute_indices", "[int32]"),
        ("1.4-1.7", 5, "link_index", "?int32"),
        ("1.4-1.7", 6, "timestamps_unix_nano", "[uint64]"),
        ("1.8-1.10", 1, "stack_index", "int32"),
        ("1.8-1.9", 2, "values", "[int64]"),
        ("1.8-1.9", 3, "attribute_indices", "[int32]"),
        ("1.8-1.9", 4, "link_index", "int32"),
        ("1.10", 2, "attribute_indices", "[int32]"),
        ("1.10", 3, "link_index", "int32"),
        ("1.10", 4, "values", "[int64]"),
        ("1.8-1.10", 5, "timestamps_unix_nano", "[fixed64]"),
    ]),
    ("profiles.Label", &[
        ("pprof-1.3", 1, "key", "int64"),
        ("pprof-1.3", 2, "str", "int64"),
        ("pprof-1.3", 4, "num_unit", "int64"),
        // Declared once more, used by nothing.
        ("1.4", 1, "key_strindex", "int32"),
        ("1.4", 2, "str_strindex", "int32"),
        ("pprof-1.4", 3, "num", "int64"),
        ("1.4", 4, "num_unit_strindex", "int32"),
    ]),
    ("profiles.Stack", &[
        ("1.8-1.10", 1, "location_indices", "[int32]"),
    ]),
    ("profiles.Mapping", &[
        ("pprof-1.3", 1, "id", "uint64"),
        ("pprof-1.3", 2, "memory_start", "uint64"),
        ("pprof-1.3", 3, "memory_limit", "uint64"),
        ("pprof-1.3", 4, "file_offset", "uint64"),
        ("pprof-1.3", 5, "filename", "int64"),
        ("pprof-1.3", 6, "build_id", "int64"),
        ("pprof-1.3", 7, "has_functions", "bool"),
        ("pprof-1.3", 8, "has_filenames", "bool"),
        ("pprof-1.3", 9, "has_line_numbers", "bool"),
        ("pprof-1.3", 10, "has_inline_frames", "bool"),
        ("1.3", 11, "build_id_kind", "BuildIdKind"),
        ("1.3", 12, "attributes", "[uint64]"),
        ("1.4-1.10", 1, "memory_start", "uint64"),
        ("1.4-1.10", 2, "memory_limit", "uint64"),
        ("1.4-1.10", 3, "file_offset", "uint64"),
        ("1.4-1.10", 4, "filename_strindex", "int32"),
        ("1.4-1.10", 5, "attribute_indices", "[int32]"),
        ("1.4-1.7", 6, "has_functions", "bool"),
        ("1.4-1.7", 7, "has_filenames", "bool"),
        ("1.4-1.7", 8, "has_line_numbers", "bool"),
        ("1.4-1.7", 9, "has_inline_frames", "bool"),
    ]),
    ("profiles.BuildIdKind", &[
        ("1.3", 0, "BUILD_ID_LINKER", "="),
        ("1.3", 1, "BUILD_ID_BINARY_HASH", "="),
    ]),
    ("profiles.Location", &[
        ("pprof-1.3", 1, "id", "uint64"),
        ("pprof", 2, "mapping_id", "uint64"),
        ("1.3", 2, "mapping_index", "uint64"),
        ("pprof-1.3", 3, "address", "uint64"),
        ("pprof-1.3", 4, "line", "[Line]"),
        ("pprof-1.3", 5, "is_folded", "bool"),
        ("1.3", 6, "type_index", "uint32"),
        ("1.3", 7, "attributes", "[uint64]"),
        ("1.4-1.7", 1, "mapping_index", "?int32"),
        ("1.8-1.10", 1, "mapping_index", "int32"),
        ("1.4-1.10", 2, "address", "uint64"),
        ("1.4-1.8", 3, "line", "[Line]"),
        ("1.9-1.10", 3, "lines", "[Line]"),
        ("1.4-1.7", 4, "is_folded", "bool"),
        ("1.4-1.7", 5, "attribute_indices", "[int32]"),
        ("1.8-1.10", 4, "attribute_indices", "[int32]"),
    ]),
    ("profiles.Line", &[
        ("pprof", 1, "function_id", "uint64"),
        ("1.3", 1, "function_index", "uint64"),
        ("1.4-1.10", 1, "function_index", "int32"),
        ("pprof-1.10", 2, "line", "int64"),
        ("pprof-1.10", 3, "column", "int64"),
    ]),
    ("profiles.Function", &[
        ("pprof-1.3", 1, "id", "uint64"),
        ("pprof-1.3", 2, "name", "int64"),
        ("pprof-1.3", 3, "system_name", "int64"),
        ("pprof-1.3", 4, "filename", "int64"),
        ("pprof-1.3", 5, "start_line", "int64"),
        ("1.4-1.10", 1, "name_strindex", "int32"),
        ("1.4-1.10", 2, "system_name_strindex", "int32"),
        ("1.4-1.10", 3, "filename_strindex", "int32"),
        ("1.4-1.10", 4, "start_line", "int64"),
    ]),
    ("profiles.KeyValueAndUnit", &[
        ("1.8-1.10", 1, "key_strindex", "int32"),
        ("1.8-1.10", 2, "value", "AnyValue"),
        ("1.8-1.10", 3, "unit_strindex", "int32"),
    ]),
    ("common.AnyValue", &[
        ("1.3-1.10", 1, "string_value", "|string"),
        ("1.3-1.10", 2, "bool_value", "|bool"),
        ("1.3-1.10", 3, "int_value", "|int64"),
        ("1.3-1.10", 4, "double_value", "|double"),
        ("1.3-1.10", 5, "array_value", "|ArrayValue"),
        ("1.3-1.10", 6, "kvlist_value", "|KeyValueList"),
        ("1.3-1.10", 7, "bytes_value", "|bytes"),
        ("1.10", 8, "string_value_strindex", "|int32"),
    ]),
    ("common.ArrayValue", &[("1.3-1.10", 1, "values", "[AnyValue]")]),
    ("common.KeyValueList", &[("1.3-1.10", 1, "values", "[KeyValue]")]),
    ("common.KeyValue", &[
        ("1.3-1.10", 1, "key", "string"),
        ("1.3-1.10", 2, "value", "AnyValue"),
        ("1.10", 3, "key_strindex", "int32"),
    ]),
    ("common.InstrumentationScope", &[
        ("1.3-1.10", 1, "name", "string"),
        ("1.3-1.10", 2, "version", "string"),
        ("1.3-1.10", 3, "attributes", "[KeyValue]"),
        ("1.3-1.10", 4, "dropped_attributes_count", "uint32"),
    ]),
    ("common.EntityRef", &[
        ("1.6-1.10", 1, "schema_url", "string"),
        ("1.6-1.10", 2, "type", "string"),
        ("1.6-1.10", 3, "id_keys", "[string]"),
        ("1.6-1.10", 4, "description_keys", "[string]"),
    ]),
    ("resource.Resource", &[
        ("1.3-1.10", 1, "attributes", "[KeyValue]"),
        ("1.3-1.10", 2, "dropped_attributes_count", "uint32"),
        ("1.6-1.10", 3, "entity_refs", "[EntityRef]"),
    ]),
    ("collector.ExportProfilesServiceRequest", &[
        ("1.3-1.10", 1, "resource_profiles", "[ResourceProfiles]"),
        // 1.6 has nowhere to put its tables.
        ("1.7-1.10", 2, "dictionary", "ProfilesDictionary"),
    ]),
    ("collector.ExportProfilesServiceResponse", &[
        ("1.3-1.10", 1, "partial_success", "ExportProfilesPartialSuccess"),
    ]),
    ("collector.ExportProfilesPartialSuccess", &[
        ("1.3-1.10", 1, "rejected_profiles", "int64"),
        ("1.3-1.10", 2, "error_message", "string"),
    ]),
];

/// One field or enum value: full name of what holds it, number, name, type. Of a type of the schema
/// the full name counts too.
type Entry = (String, i32, String, String);

/// The entries the table demands of a dialect.
fn demanded(dialect: usize) -> BTreeSet<Entry> {
    let stage = DIALECTS[dialect].1;
    let full = |name: &str| {
        let (package, short) = name.split_once('.').expect("package.Name");
        match package {
            _ if stage.is_empty() => format!("perftools.profiles.{short}"),
            "collector" => format!("opentelemetry.proto.collector.profiles.{stage}.{short}"),
            "profiles" => format!("opentelemetry.proto.profiles.{stage}.{short}"),
            other => format!("opentelemetry.proto.{other}.v1.{short}"),
        }
    };
    let by_short_name: BTreeMap<_, _> =
        FACTS.iter().map(|(name, _)| (name.split_once('.').unwrap().1, full(name))).collect();
    assert_eq!(by_short_name.len(), FACTS.len(), "short names are unique");

    let mut entries = BTreeSet::new();
    for (holder, facts) in FACTS {
        for (dialects, number, name, kind) in *facts {
            let (first, last) = dialects.split_once('-').unwrap_or((dialects, dialects));
            let place = |name| DIALECTS.iter().position(|d| d.0 == name).expect(name);
            if !(place(first)..=place(last)).contains(&dialect) {
                continue;
            }
            let bare = kind.trim_matches(['[', ']', '?', '|']);
            let kind = match by_short_name.get(bare) {
                Some(full) => kind.replace(bare, full),
                None => (*kind).to_owned(),
            };
            let entry = (full(holder), *number, (*name).to_owned(), kind);
            assert!(entries.insert(entry), "{holder}.{name} is in the table twice");
        }
    }
    entries
}

/// The entries a compiled schema has.
fn compiled(schema: &FileDescriptorSet) -> BTreeSet<Entry> {
    let mut entries = BTreeSet::new();
    for file in &schema.file {
        assert_eq!(file.syntax(), "proto3");
        assert!(file.extension.is_empty());
        for message in &file.message_type {
            assert!(message.nested_type.is_empty() && message.enum_type.is_empty());
            let holder = format!("{}.{}", file.package(), message.name());
            entries.extend(message.field.iter().map(|field| {
                let kind = kind(message, field);
                (holder.clone(), field.number(), field.name().to_owned(), kind)
            }));
        }
        for value in file.enum_type.iter().flat_map(|e| {
            let holder = format!("{}.{}", file.package(), e.name());
            e.value.iter().map(move |v| (holder.clone(), v))
        }) {
            let (holder, value) = value;
            entries.insert((holder, value.number(), value.name().to_owned(), "=".to_owned()));
        }
    }
    entries
}

/// A field's type as the table writes it.
fn kind(message: &DescriptorProto, field: &FieldDescriptorProto) -> String {
    let bare = match field.r#type() {
        Type::Message | Type::Enum => field.type_name().trim_start_matches('.').to_owned(),
        scalar => {
            let name = scalar.as_str_name();
            name.trim_start_matches("TYPE_").to_ascii_lowercase()
        }
    };
    assert!(field.options.is_none(), "{} has options", field.name());
    match field.oneof_index {
        _ if field.label() == Label::Repeated => format!("[{bare}]"),
        _ if field.proto3_optional() => format!("?{bare}"),
        Some(oneof) => {
            let oneof = &message.oneof_decl[usize::try_from(oneof).unwrap()];
            assert_eq!(oneof.name(), "value");
            format!("|{bare}")
        }
        None => bare,
    }
}

fn schema(descriptors: &[u8]) -> FileDescriptorSet {
    FileDescriptorSet::decode(descriptors).expect("a file descriptor set")
}

#[test]
fn every_schema_is_what_the_table_says() {
    for (dialect, (name, _, descriptors)) in DIALECTS.iter().enumerate() {
        let (demanded, compiled) = (demanded(dialect), compiled(&schema(descriptors)));
        let missing: Vec<_> = demanded.difference(&compiled).collect();
        let surplus: Vec<_> = compiled.difference(&demanded).collect();
        assert!(
            missing.is_empty() && surplus.is_empty(),
            "{name}: the schema lacks {missing:#?} and has too much {surplus:#?}"
        );
    }
}

/// No two fields of a message share a number or a name; a slip in the table's ranges would show here.
#[test]
fn the_table_is_consistent() {
    for (dialect, (name, ..)) in DIALECTS.iter().enumerate() {
        let (mut numbers, mut names) = (BTreeSet::new(), BTreeSet::new());
        for (holder, number, field, _) in demanded(dialect) {
            assert!(numbers.insert((holder.clone(), number)), "{name}: {holder} {number}");
            assert!(names.insert((holder.clone(), field.clone())), "{name}: {holder}.{field}");
        }
    }
}

#[test]
fn every_generation_has_the_service_and_the_reserved_number() {
    for (name, stage, descriptors) in &DIALECTS[1..] {
        let schema = schema(descriptors);
        let package = format!("opentelemetry.proto.collector.profiles.{stage}");
        let services: Vec<_> =
            schema.file.iter().flat_map(|f| f.service.iter().map(|s| (f.package(), s))).collect();
        let [(found, service)] = services[..] else {
            panic!("{name}: {} services", services.len());
        };
        assert_eq!((found, service.name()), (package.as_str(), "ProfilesService"));
        let [method] = &service.method[..] else {
            panic!("{name}: {} methods", service.method.len());
        };
        assert_eq!(method.name(), "Export");
        let message = |kind: &str| format!(".{package}.ExportProfilesService{kind}");
        assert_eq!(method.input_type(), message("Request"));
        assert_eq!(method.output_type(), message("Response"));
        assert!(!method.client_streaming() && !method.server_streaming());

        let mut messages = schema.file.iter().flat_map(|f| &f.message_type);
        let resource = messages.find(|m| m.name() == "ResourceProfiles").unwrap();
        let reserved: Vec<_> =
            resource.reserved_range.iter().map(|r| (r.start(), r.end())).collect();
        assert_eq!(reserved, [(1000, 1001)], "{name}");
    }
}

/// `bytes` fields share the input, and the packages of a generation are one module.
#[test]
fn the_types_have_the_shape_users_rely_on() {
    use proto::{pprof, v1_3, v1_10};

    let link = v1_10::Link { trace_id: bytes::Bytes::from_static(&[1; 16]), ..Default::default() };
    let key = v1_10::KeyValue { key_strindex: 1, ..Default::default() };
    let request = v1_10::ExportProfilesServiceRequest {
        resource_profiles: vec![v1_10::ResourceProfiles {
            resource: Some(v1_10::Resource { attributes: vec![key], ..Default::default() }),
            ..Default::default()
        }],
        dictionary: Some(v1_10::ProfilesDictionary {
            link_table: vec![v1_10::Link::default(), link],
            ..Default::default()
        }),
    };
    // From 1.7 on the two envelopes are the same bytes.
    let data = v1_10::ProfilesData::decode(request.encode_to_vec().as_slice()).unwrap();
    assert_eq!(data.dictionary, request.dictionary);
    assert_eq!(data.resource_profiles, request.resource_profiles);

    // Field 15 is `doc_url` in one and `location_indices` in the other.
    let pprof = pprof::Profile { doc_url: 7, ..Default::default() };
    let otep = v1_3::ProfileContainer {
        profile: Some(v1_3::Profile::decode(pprof.encode_to_vec().as_slice()).unwrap()),
        ..Default::default()
    };
    assert_eq!(otep.profile.unwrap().location_indices, [7]);
}
