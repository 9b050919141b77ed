//! That no reference of any generation is forgotten: neither by the reader, which proves them, nor by
//! the rules.
//!
//! Both are held against the same payloads, made of the schema and of nothing else: a reference
//! that is added to it is asked for here without a line of test.
//!
//! ```text
//! ProfilesData ─► … ─► the message of the field, in it the index 9999     every table has one empty row
//! ```

use crate::check::{Options, validate};
use crate::format::{Encoding, Format};
use crate::reader::{ReadOptions, read};
use crate::schema::{self, Field, Kind, MessageType, Role, Version};
use crate::wire::record::field_varint;
use crate::wire::write::{field_bytes, field_message, varint};

/// Past every table of the payloads made here.
const PAST: u64 = 9_999;

/// A payload that has nothing but the messages that lead to a field, and in it an index; and before
/// that, where tables have a row that stands for none, this row.
///
/// Wrapped from the inside out. The dictionary comes first, which protobuf allows.
fn payload(version: Version, path: &[&Field], field: &Field) -> Vec<u8> {
    let mut message = Vec::new();
    match field.is_repeated() {
        true => field_message(&mut message, field.number, |list| varint(list, PAST)),
        false => field_varint(&mut message, field.number, PAST),
    }
    for field in path.iter().rev() {
        let body = std::mem::take(&mut message);
        field_bytes(&mut message, field.number, &body);
    }
    let mut payload = Vec::new();
    if let Some(dictionary) = schema::PROFILES_DATA.field(version, "dictionary") {
        field_message(&mut payload, dictionary.number, |out| {
            empty_rows(out, &schema::PROFILES_DICTIONARY, version);
        });
    }
    empty_rows(&mut payload, &schema::PROFILES_DATA, version);
    payload.extend(message);
    payload
}

/// Appends an empty row for each table that a message has.
///
/// Row 0, so that what is left out refers to something and the one index is all that is wrong.
fn empty_rows(out: &mut Vec<u8>, message: &MessageType, version: Version) {
    let tables = message.fields_in(version).filter(|field| matches!(field.role, Role::Row(_)));
    tables.for_each(|table| field_bytes(out, table.number, &[]));
}

/// Every reference of a version, and the fields that lead to it.
///
/// A walk over the messages of the schema, each once, so that recursion (a value in a value) ends.
/// Value types are entered twice, as that of samples and that of the period have rules of their
/// own.
fn references(
    version: Version,
) -> Vec<(Vec<&'static Field>, &'static MessageType, &'static Field)> {
    let mut found = Vec::new();
    let mut left: Vec<(Vec<&'static Field>, &'static MessageType)> =
        vec![(Vec::new(), &schema::PROFILES_DATA)];
    let mut seen: Vec<&'static str> = Vec::new();
    while let Some((path, message)) = left.pop() {
        for field in message.fields_in(version) {
            if let Role::Ref(_) = field.role {
                found.push((path.clone(), message, field));
            }
            if let Kind::Message(inner) = field.kind {
                // Attributes of the resource, the scope and the container are of one message.
                if seen.contains(&inner.name) && inner.name != "ValueType" {
                    continue;
                }
                seen.push(inner.name);
                let path = path.iter().copied().chain([field]).collect();
                left.push((path, inner));
            }
        }
    }
    found
}

/// Counted at the end, or a walk that finds no reference would pass.
#[test]
fn every_reference_past_its_table_is_refused_and_found() {
    let mut count = 0;
    for format in Format::ALL {
        let Encoding::Otlp(version) = format.encoding() else { continue };
        for (path, message, field) in references(version) {
            let what = format!("{format} {}.{}", message.name, field.name);
            let payload = payload(version, &path, field);
            let error = read(&payload, &ReadOptions::default().format(*format)).expect_err(&what);
            assert!(error.to_string().contains("index 9999 is out of range"), "{what}: {error}");
            let options = Options { format: Some(*format), ..Options::default() };
            let report = validate(&payload, &options);
            let mut found = report.findings().map(|finding| finding.to_string());
            let index = |finding: &String| {
                finding.contains(field.name)
                    && finding.contains(" error ")
                    && finding.contains("9999")
            };
            assert!(found.any(|finding| index(&finding)), "{what} is not found: {report:?}");
            count += 1;
        }
    }
    assert!(count > 100, "{count} references");
}
