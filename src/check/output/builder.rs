//! Pieces of JSON: strings, numbers that may be absent, lists.

use crate::format::json::object::write_string;

/// A text as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    write_string(&mut out, text);
    String::from_utf8_lossy(&out).into_owned()
}

/// A number, or null.
pub(super) fn maybe(number: Option<u64>) -> String {
    number.map_or_else(|| "null".to_owned(), |number| number.to_string())
}

/// A list with one element a line.
pub(super) fn list(elements: impl Iterator<Item = String>) -> String {
    let elements: Vec<_> = elements.collect();
    match elements.is_empty() {
        true => "[]".to_owned(),
        false => format!("[\n{}\n]", elements.join(",\n")),
    }
}
