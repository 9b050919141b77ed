//! Compares the tables with the descriptors of `proto/` in both directions, so that no field is missing, wrong or
//! superfluous.
//!
//! `build.rs` compiles the descriptors from `proto/`, so a field that a release adds fails here before any reader
//! misses it. `MESSAGES` and `VERSIONS` list what to compare; add new messages and generations to them.

use std::collections::BTreeSet;

use prost_types::field_descriptor_proto::{Label as Cardinality, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorSet};

use super::*;
use crate::proto::{self, prost::Message as _};

/// Every version, with its stage and its compiled schema.
const VERSIONS: [(Version, &str, &[u8]); 10] = [
    (Version::Events, "events", proto::events::FILE_DESCRIPTOR_SET),
    (Version::Pprof, "", proto::pprof::FILE_DESCRIPTOR_SET),
    (Version::V1_3, "v1experimental", proto::v1_3::FILE_DESCRIPTOR_SET),
    (Version::V1_4, "v1development", proto::v1_4::FILE_DESCRIPTOR_SET),
    (Version::V1_5, "v1development", proto::v1_5::FILE_DESCRIPTOR_SET),
    (Version::V1_6, "v1development", proto::v1_6::FILE_DESCRIPTOR_SET),
    (Version::V1_7, "v1development", proto::v1_7::FILE_DESCRIPTOR_SET),
    (Version::V1_8, "v1development", proto::v1_8::FILE_DESCRIPTOR_SET),
    (Version::V1_9, "v1development", proto::v1_9::FILE_DESCRIPTOR_SET),
    (Version::V1_10, "v1development", proto::v1_10::FILE_DESCRIPTOR_SET),
];

/// Every message of every version. A message that a version lacks has no fields in it, and so requires none.
static MESSAGES: [&MessageType; 30] = [
    &EVENT,
    &EVENT_TYPE,
    &CLOCK,
    &PROFILES_DATA,
    &PROFILES_DICTIONARY,
    &RESOURCE_PROFILES,
    &SCOPE_PROFILES,
    &PROFILE_CONTAINER,
    &PROFILE,
    &VALUE_TYPE,
    &ATTRIBUTE_UNIT,
    &LINK,
    &SAMPLE,
    &LABEL,
    &STACK,
    &MAPPING,
    &LOCATION,
    &LINE,
    &FUNCTION,
    &KEY_VALUE_AND_UNIT,
    &ANY_VALUE,
    &ARRAY_VALUE,
    &KEY_VALUE_LIST,
    &KEY_VALUE,
    &INSTRUMENTATION_SCOPE,
    &ENTITY_REF,
    &RESOURCE,
    &EXPORT_PROFILES_SERVICE_REQUEST,
    &EXPORT_PROFILES_SERVICE_RESPONSE,
    &EXPORT_PROFILES_PARTIAL_SUCCESS,
];

/// A field or enum value: full name of its message or enum, number, name, type. `[T]` is repeated, `?T` has
/// presence, `|T` is a case of the oneof `value`, and `=` is a value of an enum.
type Entry = (String, i32, String, String);

/// Returns the entries that the tables require of a version.
///
/// `stage` is the part of the package's name that gives its stability, such as `v1development`.
fn demanded(version: Version, stage: &str) -> BTreeSet<Entry> {
    let mut entries = BTreeSet::new();
    for message in MESSAGES {
        for field in message.fields_in(version) {
            let bare = match field.kind {
                Kind::Message(inner) => full(inner.package, inner.name, stage),
                Kind::Enum(of) => {
                    let holder = full(message.package, of.name, stage);
                    entries.extend(of.values.iter().zip(0..).map(|(value, number)| {
                        (holder.clone(), number, (*value).to_owned(), "=".to_owned())
                    }));
                    holder
                }
                scalar => format!("{scalar:?}").to_lowercase(),
            };
            let kind = match field.label {
                Label::One => bare,
                Label::Optional => format!("?{bare}"),
                Label::Case => format!("|{bare}"),
                Label::Many => format!("[{bare}]"),
            };
            let holder = full(message.package, message.name, stage);
            entries.insert((holder, field.number as i32, field.name.to_owned(), kind));
        }
    }
    entries
}

/// Returns a full name. Several messages share short names such as `Profile`.
fn full(package: Package, name: &str, stage: &str) -> String {
    match package {
        _ if stage.is_empty() => format!("perftools.profiles.{name}"),
        _ if stage == "events" => format!("eventprofile.pr594.{name}"),
        Package::Profiles => format!("opentelemetry.proto.profiles.{stage}.{name}"),
        Package::Collector => format!("opentelemetry.proto.collector.profiles.{stage}.{name}"),
        Package::Common => format!("opentelemetry.proto.common.v1.{name}"),
        Package::Resource => format!("opentelemetry.proto.resource.v1.{name}"),
        Package::Others => name.to_owned(),
    }
}

/// Returns the entries of a compiled schema.
///
/// Rejects everything that the tables cannot represent: nested types, extensions, options of fields.
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

/// Returns a field's type in the notation of the tables.
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
        _ if field.label() == Cardinality::Repeated => format!("[{bare}]"),
        _ if field.proto3_optional() => format!("?{bare}"),
        Some(oneof) => {
            let oneof = &message.oneof_decl[usize::try_from(oneof).unwrap()];
            assert_eq!(oneof.name(), "value");
            format!("|{bare}")
        }
        None => bare,
    }
}

/// Lists differences in both directions, with full names, so that they show the fix.
#[test]
fn the_tables_are_the_protos() {
    for (version, stage, descriptors) in VERSIONS {
        let schema = FileDescriptorSet::decode(descriptors).expect("a file descriptor set");
        let (demanded, compiled) = (demanded(version, stage), compiled(&schema));
        let missing: Vec<_> = demanded.difference(&compiled).collect();
        let surplus: Vec<_> = compiled.difference(&demanded).collect();
        assert!(
            missing.is_empty() && surplus.is_empty(),
            "{version:?}: the protos lack {missing:#?} and have too much {surplus:#?}"
        );
    }
}

/// No two fields of a message share a number, a name or a key in one version. Overlapping ranges would fail here.
#[test]
fn fields_of_a_version_differ() {
    for (version, ..) in VERSIONS {
        for message in MESSAGES {
            let (mut numbers, mut names) = (BTreeSet::new(), BTreeSet::new());
            let mut keys = BTreeSet::new();
            for field in message.fields_in(version) {
                let place = format!("{version:?}: {}.{}", message.name, field.name);
                assert!(numbers.insert(field.number), "{place}");
                assert!(names.insert(field.name) && keys.insert(field.key), "{place}");
            }
        }
    }
}
