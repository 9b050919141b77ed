//! Finds OTLP profiles below the top level of a JSON document.
//!
//! Loggers, queues and mocks wrap a request: `{"request": {"resourceProfiles": […]}}`. Protobuf's mapping
//! ignores unknown keys, so such a document would read as a message without profiles.

use std::borrow::Cow;

use crate::error::{Error, ErrorKind, Result, Shown};
use crate::format::json::lexer::Lexer;
use crate::format::json::names::named;
use crate::format::json::object::{List, pick};
use crate::schema::{PROFILES_DATA, Version};

/// How many levels of objects and lists are searched.
const DEPTH: u64 = 16;
/// The key whose absence makes a message empty, in both spellings.
const PROFILES: [&str; 2] = ["resourceProfiles", "resource_profiles"];

/// Returns the error for a document that the reader would take for an empty message: its profiles are deeper,
/// or its keys are not those of OTLP. Returns `None` if `resourceProfiles` has elements at the top level, or
/// the document is empty.
pub(super) fn fault(text: &Lexer<'_>, version: Version, max_nesting: u64) -> Option<Error> {
    let mut top = text.clone();
    let found = pick(&mut top, PROFILES, max_nesting).unwrap_or_default();
    let has_rows = |list| List::of(list).and_then(|mut list| list.another()).unwrap_or(true);
    if found.into_iter().flatten().any(has_rows) {
        return None;
    }
    let mut search = Search { text: text.clone(), path: String::new(), max_nesting };
    let message = match search.value(0).ok()?.map(|is_text| search.found(is_text)) {
        Some(message) => message,
        None => other_keys(text.clone(), version, max_nesting)?,
    };
    Some(Error::new(ErrorKind::Unrecognised, message).at(text.rest()))
}

/// Names an unknown top-level key, if the document has no key of the profiles.
fn other_keys(mut text: Lexer<'_>, version: Version, max_nesting: u64) -> Option<String> {
    let (mut first, mut other) = (true, None);
    text.open(b'{', "an object").ok()?;
    while let Some(key) = text.key(&mut first).ok()? {
        let is_known = named(&PROFILES_DATA, &key, version).is_some();
        if is_known && PROFILES.contains(&&*key) {
            return None;
        }
        // A number or a string of a newer generation loses no profiles.
        let is_large = matches!(text.peek(), Some(b'{' | b'['));
        other = other.or((!is_known && is_large).then_some(key));
        text.skip(max_nesting).ok()?;
    }
    let key = other?;
    let key = Shown(key.as_bytes());
    Some(format!(
        "this JSON has no `resourceProfiles`, but {key}: OTLP/JSON of profiles is {{\"resourceProfiles\": […], \"dictionary\": {{…}}}}"
    ))
}

/// A depth-first search for the key, which keeps the path as a filter of jq.
struct Search<'a> {
    text: Lexer<'a>,
    path: String,
    max_nesting: u64,
}

impl Search<'_> {
    /// Searches the next value. On success, `path` leads to the key, and the result is whether a string holds
    /// the JSON.
    fn value(&mut self, depth: u64) -> Result<Option<bool>> {
        let (mut first, length) = (true, self.path.len());
        match self.text.peek() {
            Some(b'{') if depth < DEPTH => {
                self.text.open(b'{', "an object")?;
                while let Some(key) = self.text.key(&mut first)? {
                    if depth > 0 && PROFILES.contains(&&*key) && self.text.peek() == Some(b'[') {
                        return Ok(Some(false));
                    }
                    self.path.push_str(&step(&key));
                    if let Some(found) = self.value(depth + 1)? {
                        return Ok(Some(found));
                    }
                    self.path.truncate(length);
                }
                Ok(None)
            }
            Some(b'[') if depth < DEPTH => {
                self.text.open(b'[', "a list")?;
                self.path.push_str("[]");
                while self.text.another(&mut first, b']')? {
                    if let Some(found) = self.value(depth + 1)? {
                        return Ok(Some(found));
                    }
                }
                self.path.truncate(length);
                Ok(None)
            }
            Some(b'"') if depth > 0 => {
                let string = self.text.string("a value")?;
                let is_json = string.trim_start().starts_with(['{', '[']);
                let holds = is_json && PROFILES.iter().any(|name| string.contains(name));
                Ok(holds.then_some(true))
            }
            _ => self.text.skip(self.max_nesting).map(|()| None),
        }
    }

    /// Describes the position of the key, and the command that extracts it.
    fn found(&self, is_text: bool) -> String {
        let path = self.path.trim_start_matches('.');
        let (place, decode) = match (path, is_text) {
            ("[]", false) => ("an array or object".to_owned(), ""),
            (_, false) => (format!("`{path}`"), ""),
            (_, true) => (format!("a string, `{path}`"), " | fromjson"),
        };
        format!(
            "`resourceProfiles` is within {place}, not at the top level: extract it with `jq -c '.{path}{decode}' FILE > profiles.json`"
        )
    }
}

/// Formats one step of a jq filter. A key with special characters becomes `[]`, which selects every member.
fn step(key: &str) -> Cow<'static, str> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_plain = |byte: u8| is_word(byte) || b"-./:@ ".contains(&byte);
    if key.is_empty() || key.len() > 64 || !key.bytes().all(is_plain) {
        return "[]".into();
    }
    match key.bytes().all(is_word) && !key.starts_with(|first: char| first.is_ascii_digit()) {
        true => format!(".{key}").into(),
        false => format!(".\"{key}\"").into(),
    }
}
