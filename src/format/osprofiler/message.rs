//! Parses a message from the envelope of its store.
//!
//! Stores wrap messages in different ways:
//!
//! | place of the message | store |
//! |---|---|
//! | the object itself | a file, a log |
//! | `raw.payload`, `traits` | events |
//! | `_source` | a search index |
//! | `metadata`, `resource_metadata` | metering samples |
//!
//! `info` is an object, members whose keys begin with `info.`, or a JSON string in `data`. All three become
//! one list, whose keys join the parts by points.

use crate::calendar::unix_nanos;
use crate::error::{Error, Result};
use crate::format::json::lexer::Lexer;
use crate::format::json::tree::Json;
use crate::read_context::ReadContext;

/// The message at the start or the stop of a point.
#[derive(Clone, Debug)]
pub(super) struct Message<'a> {
    pub(super) name: String,
    pub(super) is_stop: bool,
    /// The id of the trace, which all messages of a request share.
    pub(super) base_id: String,
    /// The id of the point, despite the name: its start and stop share it.
    pub(super) trace_id: String,
    /// The `trace_id` of the calling point, or `base_id` for the first point.
    pub(super) parent_id: String,
    /// Nanoseconds since 1970; in a report without messages, nanoseconds since its beginning.
    pub(super) at: i64,
    pub(super) origin: Origin,
    /// The members of `info`. Keys of nested members are joined by points.
    pub(super) info: Vec<(String, Json<'a>)>,
}

/// The service of a message, and its host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Origin {
    pub(super) project: String,
    pub(super) service: String,
    pub(super) host: String,
}

/// Returns whether a value is a message, with or without an envelope.
pub(super) fn is_message(json: &Json) -> bool {
    opened(json).is_some_and(|fields| fields.get("trace_id").is_some())
        || json.get("traits").is_some()
}

/// Returns the object with the fields of a message.
fn opened<'j, 'a>(json: &'j Json<'a>) -> Option<&'j Json<'a>> {
    let places = [&["raw", "payload"][..], &["_source"], &["metadata"], &["resource_metadata"]];
    let inner = places.iter().find_map(|place| {
        let inner = place.iter().try_fold(json, |json, key| json.get(key));
        inner.filter(|inner| inner.get("trace_id").is_some())
    });
    inner.or_else(|| json.get("trace_id").map(|_| json))
}

impl<'a> Message<'a> {
    /// Parses a message in any envelope.
    ///
    /// # Errors
    ///
    /// An id, the name or the time is missing, or `data` is not JSON.
    pub(super) fn of(json: &Json<'a>, cx: &mut ReadContext) -> Result<Self> {
        let from_traits = traits(json);
        let fields = match opened(json) {
            Some(fields) => fields,
            None => &from_traits,
        };
        let id = |key: &'static str| {
            let text = fields.get(key).and_then(Json::text);
            text.map(|text| text.to_string())
                .ok_or_else(|| Error::malformed("expected a string").within(key))
        };
        let full = id("name")?;
        let at = [fields, json].iter().find_map(|json| json.get("timestamp"));
        let at = at.ok_or_else(|| {
            Error::malformed("the message and its envelope have no timestamp").within("timestamp")
        })?;
        let mut info = Vec::new();
        members(fields, &mut info, cx)?;
        let host = info.iter().rev().find(|(key, _)| key == "host");
        let host =
            host.and_then(|(_, host)| host.text()).or(fields.get("host").and_then(Json::text));
        let origin = Origin {
            project: string_or_empty(fields.get("project")),
            service: string_or_empty(fields.get("service")),
            host: host.map(|host| host.to_string()).unwrap_or_default(),
        };
        info.retain(|(key, _)| key != "host");
        Ok(Self {
            name: point(&full).to_owned(),
            is_stop: full.ends_with("stop"),
            base_id: id("base_id")?,
            trace_id: id("trace_id")?,
            parent_id: id("parent_id")?,
            at: time(at)?,
            origin,
            info,
        })
    }
}

impl Message<'_> {
    /// Returns the number of bytes that may be in memory more often than in the text: keys, which repeat
    /// those of the enclosing objects, and the id of the trace, which a report contains only at its root.
    pub(super) fn repeated(&self) -> usize {
        let keys = self.info.iter().map(|(key, _)| key.len());
        self.base_id.len() + keys.sum::<usize>()
    }
}

/// Returns a string, or an empty one if it is absent.
pub(super) fn string_or_empty(json: Option<&Json>) -> String {
    json.and_then(Json::text).map(|text| text.to_string()).unwrap_or_default()
}

/// Returns the name of a point: the name of its message up to the first dash.
pub(super) fn point(name: &str) -> &str {
    name.split_once('-').map_or(name, |(point, _)| point)
}

/// Converts the traits of an event to an object.
fn traits<'a>(json: &Json<'a>) -> Json<'a> {
    let traits = json.get("traits").and_then(Json::list).unwrap_or_default();
    let pair = |each: &Json<'a>| {
        let name = each.get("name").and_then(Json::text)?.clone();
        Some((name, each.get("value")?.clone()))
    };
    Json::Object(traits.iter().filter_map(pair).collect())
}

/// Parses the time of a message: a string in Python's format, or milliseconds. MongoDB wraps times in an
/// object.
fn time(json: &Json) -> Result<i64> {
    let date = json.get("$date").unwrap_or(json);
    let millis = |millis: f64| crate::format::lines::whole(millis * 1e6);
    let at = match date {
        Json::Text(text) => unix_nanos(text),
        date => date.number().and_then(millis),
    };
    at.filter(|at| *at >= 0).ok_or_else(|| {
        Error::malformed("expected a time since 1970, such as 2026-01-02T03:04:05.000000")
            .within("timestamp")
    })
}

/// Collects the members of `info`, of JSON in `data`, and of keys that begin with `info.`.
fn members<'a>(
    fields: &Json<'a>,
    out: &mut Vec<(String, Json<'a>)>,
    cx: &mut ReadContext,
) -> Result<()> {
    if let Some(info) = fields.get("info") {
        flatten("", info, out, cx)?;
    }
    if let Some(Json::Text(data)) = fields.get("data") {
        let parsed = Json::of(&mut Lexer::new(data.as_bytes())?, cx);
        let parsed = parsed.map_err(|error| error.within("data"))?;
        let info = parsed.get("info").unwrap_or(&parsed).clone().into_owned();
        flatten("", &info, out, cx)?;
    }
    let Json::Object(all) = fields else { return Ok(()) };
    for (key, value) in all {
        if let Some(key) = key.strip_prefix("info.") {
            flatten(&key.replace(':', "."), value, out, cx)?;
        }
    }
    Ok(())
}

/// Flattens nested objects, and joins the parts of keys by points.
///
/// Recurses as deeply as the JSON, which `max_nesting` limits. A null value counts as absent.
fn flatten<'a>(
    prefix: &str,
    json: &Json<'a>,
    out: &mut Vec<(String, Json<'a>)>,
    cx: &mut ReadContext,
) -> Result<()> {
    let Json::Object(members) = json else {
        if *json != Json::Null && !prefix.is_empty() {
            cx.budget.charge::<u8>(prefix.len())?;
            cx.budget.push(out, (prefix.to_owned(), json.clone()))?;
        }
        return Ok(());
    };
    for (key, value) in members {
        match prefix {
            "" => flatten(key, value, out, cx)?,
            prefix => flatten(&format!("{prefix}.{key}"), value, out, cx)?,
        }
    }
    Ok(())
}
