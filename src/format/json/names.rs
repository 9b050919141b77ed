//! The names that JSON has for the fields of messages.
//!
//! Protobuf's mapping writes `lowerCamelCase` and reads that or the name of the proto; both are
//! derived from the schema's names, so there is no second list.

use crate::schema::{Field, MessageType, Version};

/// The field that a version calls `key`, in the form of the schema or of JSON.
pub(super) fn named(message: &MessageType, key: &str, version: Version) -> Option<&'static Field> {
    message.fields_in(version).find(|field| says(field.name, key))
}

/// The bytes of a name of the schema as JSON says it.
pub(crate) fn camel(name: &str) -> impl Iterator<Item = u8> {
    let mut after = false;
    name.bytes().filter_map(move |byte| {
        let begins = std::mem::replace(&mut after, byte == b'_');
        let byte_here = if begins { byte.to_ascii_uppercase() } else { byte };
        (byte != b'_').then_some(byte_here)
    })
}

/// Whether the key of a field is its name in the schema, where JSON has a shorter one.
///
/// OTLP/JSON: "Original field names are not valid to use as keys".
#[inline]
pub(super) fn is_original(field: &Field, key: &str) -> bool {
    key.len() == field.name.len() && key.contains('_')
}

/// Whether `key` is `name`, in either of its forms.
fn says(name: &str, key: &str) -> bool {
    name.as_bytes().first() == key.as_bytes().first()
        && (name == key || camel(name).eq(key.bytes()))
}
