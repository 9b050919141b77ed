//! What is known of a point, by the names of OpenTelemetry's conventions.
//!
//! Only what the conventions have a name for is taken by default. `all_info` takes the rest, under
//! `osprofiler.info.…`, but never arguments and results, which may hold anything that was handed
//! over: those need `secrets`.

use crate::error::{Result, Shown};
use crate::format::assembly::Assembly;
use crate::format::intake::Intake;
use crate::format::json::object::int_of;
use crate::format::json::tree::Json;
use crate::format::losses::LEFT_OUT;
use crate::format::source::SourceOptions;
use crate::model::value::Value;

/// The conventions' names for what OSProfiler has names of its own for.
///
/// Both `request.…`, of a server, and `requests.…`, of Python's library for clients, since a point
/// has one of them.
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

/// What holds arguments, parameters and results, and so whatever was handed over.
///
/// With what is below them, such as `db.params.0`.
const SECRETS: [&str; 5] =
    ["function.args", "function.kwargs", "function.result", "db.params", "db.result"];

/// The key of an attribute that a part of `info` is, if it is wanted.
///
/// None of what is left out.
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

/// Notes that a part of `info` has no key here.
pub(super) fn left_out(part: &str, intake: &mut Intake) {
    let said = || format!("dropped {} of info: an option keeps it", Shown(part.as_bytes()));
    intake.note(LEFT_OUT, String::new, said);
}

/// A value of `info` as that of an attribute.
///
/// A port or a status that is a text of digits becomes a number, as the conventions say.
///
/// A number past 64 bits is a double. Recursion as deep as the JSON, which `max_nesting` bounds.
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
