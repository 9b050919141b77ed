//! The two forms of a response's body: fields of protobuf and members of JSON.

use std::time::Duration;

use crate::error::{Error, Result};
use crate::format::json::lexer::Lexer;
use crate::format::json::object::{int_of, write_string};
use crate::format::json::tree::Json;
use crate::limits::Limits;
use crate::read_context::{Policy, ReadContext};
use crate::wire::read::Reader;
use crate::wire::write::field_bytes;
use crate::wire::{LEN, VARINT};

/// The type URL of the detail that tells a sender when to retry.
pub(super) const RETRY_INFO: &str = "type.googleapis.com/google.rpc.RetryInfo";

/// The fields of a protobuf message that are varints or have a length; the others are skipped.
#[derive(Default)]
pub(super) struct Message<'a> {
    ints: Vec<(u32, u64)>,
    bytes: Vec<(u32, &'a [u8])>,
}

impl<'a> Message<'a> {
    /// Parses all fields of a message.
    pub(super) fn of(body: &'a [u8]) -> Result<Self> {
        let mut message = Self::default();
        let mut reader = Reader::new(body);
        while let Some(tag) = reader.tag()? {
            match tag & 7 {
                VARINT => message.ints.push((tag >> 3, reader.varint()?)),
                LEN => message.bytes.push((tag >> 3, reader.bytes()?)),
                _ => reader.skip(tag, Limits::network().max_nesting)?,
            }
        }
        Ok(message)
    }

    /// Returns the value of a field, or 0 if it is absent. The last occurrence wins, as in protobuf.
    pub(super) fn int(&self, number: u32) -> i64 {
        self.ints.iter().rfind(|field| field.0 == number).map_or(0, |field| field.1 as i64)
    }

    /// Returns the bytes of all occurrences of a field.
    pub(super) fn all(&self, number: u32) -> impl Iterator<Item = &'a [u8]> {
        self.bytes.iter().filter(move |field| field.0 == number).map(|field| field.1)
    }

    /// Returns the bytes of a field, or an empty slice. The last occurrence wins.
    pub(super) fn bytes(&self, number: u32) -> &'a [u8] {
        self.all(number).last().unwrap_or_default()
    }

    /// Returns the text of a field.
    pub(super) fn text(&self, number: u32) -> Result<String> {
        let text = String::from_utf8(self.bytes(number).to_vec());
        text.map_err(|error| Error::malformed("the message is not UTF-8").caused_by(error))
    }
}

/// Returns the delay in a `google.protobuf.Any`, if it contains a `RetryInfo`.
pub(super) fn retry_delay(detail: &[u8]) -> Result<Option<Duration>> {
    let any = Message::of(detail)?;
    if any.bytes(1) != RETRY_INFO.as_bytes() {
        return Ok(None);
    }
    let duration = Message::of(Message::of(any.bytes(2))?.bytes(1))?;
    let (secs, nanos) = (duration.int(1).try_into(), duration.int(2).try_into());
    Ok(secs.ok().zip(nanos.ok()).and_then(duration_of))
}

/// Builds a duration from its parts. `None` for nanoseconds of a second or more.
fn duration_of((secs, nanos): (u64, u32)) -> Option<Duration> {
    (nanos < 1_000_000_000).then(|| Duration::new(secs, nanos))
}

/// Parses a duration in its JSON form, such as `1.5s`.
pub(super) fn seconds(text: &str) -> Option<Duration> {
    let (secs, nanos) =
        text.strip_suffix('s')?.split_once('.').unwrap_or((text.strip_suffix('s')?, "0"));
    duration_of((secs.parse().ok()?, format!("{nanos:0<9.9}").parse().ok()?))
}

/// Writes a string field, unless it is empty.
pub(super) fn field_text(out: &mut Vec<u8>, number: u32, text: &str) {
    if !text.is_empty() {
        field_bytes(out, number, text.as_bytes());
    }
}

/// Quotes a string for JSON.
pub(super) fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    write_string(&mut out, text);
    String::from_utf8_lossy(&out).into_owned()
}

/// Parses a body that is one JSON value.
pub(super) fn json(body: &[u8]) -> Result<Json<'_>> {
    let mut text = Lexer::new(body)?;
    let mut cx = ReadContext::new(Limits::network(), Policy::Refuse, body.len());
    let object = Json::of(&mut text, &mut cx)?;
    text.end()?;
    Ok(object)
}

/// Returns a member of an object by its name in JSON or in the schema: parsers of protobuf's JSON accept both.
pub(super) fn member<'j, 'a>(
    object: &'j Json<'a>,
    key: &str,
    original: &str,
) -> Option<&'j Json<'a>> {
    object.get(key).or_else(|| object.get(original))
}

/// Parses an integer. In protobuf's JSON, integers of 64 bits are quoted.
pub(super) fn int(value: &Json) -> Option<i64> {
    match value {
        Json::Number(digits) | Json::Text(digits) => int_of(digits),
        _ => None,
    }
}

/// Returns the string of a JSON value, or an empty string.
pub(super) fn text(value: Option<&Json>) -> String {
    value.and_then(Json::text).map(|text| text.to_string()).unwrap_or_default()
}
