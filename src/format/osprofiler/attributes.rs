//! Converts the `info` of a point to attributes with the names of OpenTelemetry's conventions.
//!
//! By default, only members with such a name are kept. `all_info` keeps the rest as `osprofiler.info.…`,
//! except for arguments and results, which may contain any data: those need `secrets`.

use crate::error::{Result, Shown};
use crate::format::assembly::Assembly;
use crate::format::json::object::int_of;
use crate::format::json::tree::Json;
use crate::losses::LEFT_OUT;
use crate::model::value::Value;
use crate::read_context::ReadContext;
use crate::source_options::SourceOptions;

/// The conventional names of OSProfiler's keys.
///
/// A point has either `request.…`, from a server, or `requests.…`, from Python's client library.
const KNOWN: [(&str, &str); 14] = [
    ("request.method", "http.request.method"),
    ("request.path", "url.path"),
    ("request.query", "url.query"),
    ("request.scheme", "url.scheme"),
    ("requests.method", "http.request.method"),
    ("requests.path", "url.path"),
    ("requests.query", "url.query"),
    ("requests.scheme", "url.scheme"),
    ("requests.hostname", "server.address"),
    ("requests.port", "server.port"),
    ("requests.status_code", "http.response.status_code"),
    ("db.statement", "db.query.text"),
    ("function.name", "code.function.name"),
    ("etype", "error.type"),
];

/// Keys of arguments, parameters and results, and of their members, such as `db.params.0`. They may contain
/// any data of the program.
const SECRETS: [&str; 5] =
    ["function.args", "function.kwargs", "function.result", "db.params", "db.result"];

/// Returns the key of the attribute for a member of `info`, or `None` if it is dropped.
pub(super) fn key(part: &str, options: &SourceOptions) -> Option<String> {
    if let Some((_, key)) = KNOWN.iter().find(|(known, _)| *known == part) {
        return Some((*key).to_owned());
    }
    if part == "message" {
        return Some("exception.message".to_owned());
    }
    let is_secret = SECRETS.iter().any(|secret| {
        part.strip_prefix(secret).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    });
    let is_wanted = if is_secret { options.secrets } else { options.all_info };
    is_wanted.then(|| format!("osprofiler.info.{part}"))
}

/// Notes a dropped member of `info`.
pub(super) fn left_out(part: &str, cx: &mut ReadContext) {
    let message = || format!("dropped {} of info: an option keeps it", Shown(part.as_bytes()));
    cx.note(LEFT_OUT, String::new, message);
}

/// Converts a value of `info` to that of an attribute.
///
/// A port or status in a string of digits becomes an integer, as the conventions require. A number over 64
/// bits becomes a double. Recurses as deeply as the JSON, which `max_nesting` limits.
pub(super) fn value(key: &str, json: &Json, assembly: &mut Assembly) -> Result<Value> {
    let is_number = matches!(key, "server.port" | "http.response.status_code");
    Ok(match json {
        Json::Null => Value::Empty,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Number(number) => match int_of(number) {
            Some(int) => Value::Int(int),
            None => Value::Double(number.parse().unwrap_or_default()),
        },
        Json::Text(text) => match text.parse() {
            Ok(number) if is_number => Value::Int(number),
            _ => Value::String(assembly.text(text.as_bytes())?),
        },
        Json::List(values) => {
            let values = values.iter().map(|json| value("", json, assembly));
            Value::Array(values.collect::<Result<_>>()?)
        }
        Json::Object(members) => {
            let pairs = members.iter().map(|(name, json)| {
                let value = value("", json, assembly)?;
                assembly.pair(name, value)
            });
            Value::KeyValues(pairs.collect::<Result<_>>()?)
        }
    })
}
