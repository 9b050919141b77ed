//! The JSON names of fields.
//!
//! Protobuf's mapping writes `lowerCamelCase`, and reads that or the name in the proto. Both derive from the
//! names of the schema, so there is no second list.

use crate::schema::{Field, MessageType, Version};

/// Returns the field that a version names `key`, in the form of the schema or of JSON.
pub(super) fn named(message: &MessageType, key: &str, version: Version) -> Option<&'static Field> {
    message.fields_in(version).find(|field| matches(field.name, key))
}

/// Converts a name of the schema to `lowerCamelCase`.
pub(crate) fn lower_camel_case(name: &str) -> impl Iterator<Item = u8> {
    let mut after = false;
    name.bytes().filter_map(move |byte| {
        let begins = std::mem::replace(&mut after, byte == b'_');
        let byte_here = if begins { byte.to_ascii_uppercase() } else { byte };
        (byte != b'_').then_some(byte_here)
    })
}

/// Returns whether a key is the name in the schema although JSON has a different one.
///
/// OTLP/JSON: "Original field names are not valid to use as keys".
#[inline]
pub(super) fn is_original(field: &Field, key: &str) -> bool {
    key.len() == field.name.len() && key.contains('_')
}

/// Returns whether `key` is `name` in either form.
fn matches(name: &str, key: &str) -> bool {
    name.as_bytes().first() == key.as_bytes().first()
        && (name == key || lower_camel_case(name).eq(key.bytes()))
}
