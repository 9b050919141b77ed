//! A message, out of whatever envelope it was kept in.
//!
//! Stores wrap the same message in their own ways:
//!
//! | where it lies | kept by |
//! |---|---|
//! | the object itself | a file, a log |
//! | `raw.payload`, `traits` | events |
//! | `_source` | a search index |
//! | `metadata`, `resource_metadata` | metering samples |
//!
//! `info` is an object, members whose keys begin with `info.`, or JSON as text in `data`; all three
//! end as one list of keys with points between their parts.

use crate::error::{Error, Result};
use crate::format::calendar::unix_nanos;
use crate::format::intake::Intake;
use crate::format::json::text::Text;
use crate::format::json::tree::Json;

/// What was said at the start or the stop of a point.
#[derive(Clone, Debug)]
pub(super) struct Message<'a> {
    /// The name of the point.
    pub(super) name: String,
    pub(super) is_stop: bool,
    /// The trace: the same for all messages of a request.
    pub(super) base_id: String,
    /// The point, in spite of its name: start and stop share it.
    pub(super) trace_id: String,
    /// The `trace_id` of the point that called this one; the `base_id` for the first.
    pub(super) parent_id: String,
    /// Nanoseconds since 1970; in a report without messages, since its beginning.
    pub(super) at: i64,
    pub(super) origin: Origin,
    /// What is known besides, by keys with points between their parts.
    pub(super) info: Vec<(String, Json<'a>)>,
}

/// Which service it is of, and where that ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Origin {
    pub(super) project: String,
    pub(super) service: String,
    pub(super) host: String,
}

/// Whether a value is a message, in an envelope or without.
pub(super) fn is_message(json: &Json) -> bool {
    opened(json).is_some_and(|fields| fields.get("trace_id").is_some())
        || json.get("traits").is_some()
}

/// What has the fields of a message.
fn opened<'j, 'a>(json: &'j Json<'a>) -> Option<&'j Json<'a>> {
    let places = [&["raw", "payload"][..], &["_source"], &["metadata"], &["resource_metadata"]];
    let inner = places.iter().find_map(|place| {
        let inner = place.iter().try_fold(json, |json, key| json.get(key));
        inner.filter(|inner| inner.get("trace_id").is_some())
    });
    inner.or_else(|| json.get("trace_id").map(|_| json))
}

impl<'a> Message<'a> {
    /// A message by its fields, wherever they are.
    ///
    /// # Errors
    ///
    /// A message without its ids, its name or a time; `data` that is no JSON.
    pub(super) fn of(json: &Json<'a>, intake: &mut Intake) -> Result<Self> {
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
        members(fields, &mut info, intake)?;
        let host = info.iter().rev().find(|(key, _)| key == "host");
        let host =
            host.and_then(|(_, host)| host.text()).or(fields.get("host").and_then(Json::text));
        let origin = Origin {
            project: said(fields.get("project")),
            service: said(fields.get("service")),
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
    /// The bytes that may be in its text once and in memory many times: keys, which begin with those of
    /// the objects they are in, and the id of a trace, which a report says at its root alone.
    pub(super) fn repeated(&self) -> usize {
        let keys = self.info.iter().map(|(key, _)| key.len());
        self.base_id.len() + keys.sum::<usize>()
    }
}

/// A text that need not be there.
pub(super) fn said(json: Option<&Json>) -> String {
    json.and_then(Json::text).map(|text| text.to_string()).unwrap_or_default()
}

/// The name of a point: what is before the first dash of a message's name.
pub(super) fn point(name: &str) -> &str {
    name.split_once('-').map_or(name, |(point, _)| point)
}

/// What an event says as traits, as fields.
fn traits<'a>(json: &Json<'a>) -> Json<'a> {
    let traits = json.get("traits").and_then(Json::list).unwrap_or_default();
    let pair = |each: &Json<'a>| {
        let name = each.get("name").and_then(Json::text)?.clone();
        Some((name, each.get("value")?.clone()))
    };
    Json::Object(traits.iter().filter_map(pair).collect())
}

/// When a message was sent; MongoDB keeps times as objects.
///
/// A text as Python writes it, or milliseconds as a number.
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

/// What is known besides: the members of `info`, or those whose keys begin so. Stores keep it as
/// text, too, in `data`.
fn members<'a>(
    fields: &Json<'a>,
    out: &mut Vec<(String, Json<'a>)>,
    intake: &mut Intake,
) -> Result<()> {
    if let Some(info) = fields.get("info") {
        flatten("", info, out, intake)?;
    }
    if let Some(Json::Text(data)) = fields.get("data") {
        let parsed = Json::of(&mut Text::new(data.as_bytes())?, intake);
        let parsed = parsed.map_err(|error| error.within("data"))?;
        let info = parsed.get("info").unwrap_or(&parsed).clone().into_owned();
        flatten("", &info, out, intake)?;
    }
    let Json::Object(all) = fields else { return Ok(()) };
    for (key, value) in all {
        if let Some(key) = key.strip_prefix("info.") {
            flatten(&key.replace(':', "."), value, out, intake)?;
        }
    }
    Ok(())
}

/// The members of objects in objects, by keys with points between their parts.
///
/// Recursion as deep as the JSON, which `max_nesting` bounds. What is null was not said.
fn flatten<'a>(
    prefix: &str,
    json: &Json<'a>,
    out: &mut Vec<(String, Json<'a>)>,
    intake: &mut Intake,
) -> Result<()> {
    let Json::Object(members) = json else {
        if *json != Json::Null && !prefix.is_empty() {
            intake.budget.take::<u8>(prefix.len())?;
            intake.budget.push(out, (prefix.to_owned(), json.clone()))?;
        }
        return Ok(());
    };
    for (key, value) in members {
        match prefix {
            "" => flatten(key, value, out, intake)?,
            prefix => flatten(&format!("{prefix}.{key}"), value, out, intake)?,
        }
    }
    Ok(())
}
