//! A description as JSON.
//!
//! There is one object per file and per message. Releases only add keys; a key that does not apply
//! is absent. Numbers are exact. Long texts are truncated. The JSON encoder escapes control
//! characters.
//!
//! ```text
//! {"schema": "otlp-profiles/info/1", "files": [           info::SCHEMA; keys are sorted
//!   {"path": "cpu.pb.gz", "bytes": 16710, "inflated_bytes": 48903, "compression": "gzip",
//!    "framing": "none", "messages": [
//!      {"format": "pprof", "certainty": "certain", "others": [], "evidence": ["…"],
//!       "guessed": false, "tables": {"functions": 400, …}, "findings": [], "resources": [
//!         {"attributes": {}, "scopes": [
//!            {"name": "", "profiles": [
//!               {"samples": 175, "sample_types": [{"type": "time", "unit": "nanoseconds", "sum": 2104393918350}],
//!                "profile_id": null, "time": "2022-12-01T08:58:12.670395Z", …}]}]}]}]}]}
//! ```

use std::ops::Deref;

use otlp_profiles::framing::Framing;
use otlp_profiles::model::{
    ProfileId, Resource, ResourceProfiles, ScopeProfiles, StringId, ValueType,
};
use otlp_profiles::summary::ProfileSummary;
use otlp_profiles::{Dictionary, Summary};
use serde_json::{Value as Json, json};

use crate::info::facts::Listed;
use crate::info::{Described, Printed, facts};
use crate::reading::{Message, Summarised};
use crate::text::MOST_IN_JSON;
use crate::time::rfc3339;

/// Converts the description of a file.
///
/// `error` is the first failure of the file; each message in a frame has its own.
///
/// Takes the description by value to move its messages, which are JSON already, into the object.
pub(crate) fn file(described: Described) -> Json {
    let mut object = json!({ "path": described.name });
    if let Some(failure) = described.failures.first() {
        object["error"] = failure.to_json();
    }
    if !described.opened {
        return object;
    }
    object["bytes"] = described.stored.into();
    object["inflated_bytes"] = described.inflated.into();
    object["compression"] = described.compression.into();
    object["framing"] = described.framing.to_string().into();
    if let Some(seems) = &described.seems {
        object["seems"] = json!(seems);
    }
    let (failures, listed) = (described.failures, described.messages.len());
    let messages = described.messages.into_iter().filter_map(|message| match message {
        Printed::Json(message) => Some(message),
        // The failure of an unframed message is the `error` of the file.
        Printed::Failed(_) if described.framing == Framing::None => None,
        Printed::Failed(row) => {
            failures.get(row).map(|failure| json!({ "error": failure.to_json() }))
        }
        Printed::Text(_) => None,
    });
    object["messages"] = messages.collect();
    if described.count > listed {
        object["messages_not_listed"] = (described.count - listed).into();
    }
    object
}

/// Converts one message of a file.
///
/// The key `readings` is present only if the format was guessed.
pub(crate) fn message<T: Summarised + Deref<Target = Summary>>(
    message: &Message<'_, T>,
    listed: &Listed,
) -> Json {
    let summary: &Summary = &message.reading;
    let dictionary = summary.outline().dictionary();
    let mut profiles = summary.profiles();
    let resources = summary.outline().resource_profiles().iter();
    let resources = resources.filter_map(|one| resource(dictionary, one, &mut profiles, listed));
    let mut object = json!(summary);
    object["guessed"] = message.is_guess().into();
    if message.is_guess() {
        object["readings"] = readings(message);
    }
    object["bytes"] = message.bytes.into();
    object["resources"] = resources.collect();
    let unlisted = listed.take_unlisted();
    if unlisted > 0 {
        object["profiles_not_listed"] = unlisted.into();
    }
    object
}

/// The sums of each format that fits, if they differ. Users who know what was measured can then
/// choose the right format.
fn readings<T: Summarised + Deref<Target = Summary>>(message: &Message<'_, T>) -> Json {
    let others = message.other_readings();
    let all = [&message.reading].into_iter().chain(&others);
    let sums = |summary: &Summary| -> Json {
        let sums = facts::total(summary, MOST_IN_JSON);
        let sums = sums.into_iter().map(
            |(name, unit, sum)| json!({ "type": name, "unit": unit, "sum": facts::number(sum) }),
        );
        sums.collect()
    };
    all.map(|reading| json!({ "format": reading.detected().format, "sums": sums(reading) }))
        .collect()
}

/// Converts a resource, or returns `None` beyond the budget.
///
/// Consumes its profiles from `profiles` in either case: the iterator covers the whole message, and
/// the profiles of the next resource follow.
fn resource<'a>(
    dictionary: &Dictionary,
    of: &ResourceProfiles,
    profiles: &mut impl Iterator<Item = ProfileSummary<'a>>,
    listed: &Listed,
) -> Option<Json> {
    let has_room = listed.has_room();
    let scopes = of.scope_profiles().iter();
    let scopes = scopes.filter_map(|one| scope(dictionary, one, profiles, listed));
    let scopes: Vec<Json> = scopes.collect();
    has_room.then(|| {
        json!({
            "attributes": facts::pairs(dictionary, of.resource().attributes(), MOST_IN_JSON),
            "dropped_attributes_count": of.resource().dropped_attributes_count(),
            "entity_refs": entities(dictionary, of.resource()),
            "schema_url": text(dictionary, of.schema_url()),
            "scopes": scopes,
        })
    })
}

/// The types of the entities in `Resource.entity_refs`, such as `service` and `host`.
fn entities(dictionary: &Dictionary, resource: &Resource) -> Json {
    let types = resource.entity_refs().iter().map(|entity| text(dictionary, entity.entity_type));
    types.collect()
}

/// Converts a scope. Consumes its profiles from `profiles`, listed or not: see [`resource`].
fn scope<'a>(
    dictionary: &Dictionary,
    of: &ScopeProfiles,
    profiles: &mut impl Iterator<Item = ProfileSummary<'a>>,
    listed: &Listed,
) -> Option<Json> {
    let has_room = listed.has_room();
    let profiles = profiles.take(of.profiles().len()).filter(|_| listed.has_room_for_profile());
    let profiles: Vec<Json> = profiles.map(|one| profile(dictionary, one)).collect();
    let scope = of.scope();
    has_room.then(|| {
        json!({
            "name": text(dictionary, scope.name()),
            "version": text(dictionary, scope.version()),
            "attributes": facts::pairs(dictionary, scope.attributes(), MOST_IN_JSON),
            "dropped_attributes_count": scope.dropped_attributes_count(),
            "schema_url": text(dictionary, of.schema_url()),
            "profiles": profiles,
        })
    })
}

/// Converts a profile. `time` is RFC 3339, and null if the time is unset or outside the calendar.
/// `time_unix_nano` is always present.
fn profile(dictionary: &Dictionary, summary: ProfileSummary<'_>) -> Json {
    let of = summary.profile;
    let types = of.sample_types().iter().zip(summary.sums).map(|(one, sum)| {
        let mut object = value_type(dictionary, *one);
        object["sum"] = facts::number(*sum);
        object
    });
    let time = Some(of.time_unix_nano()).filter(|time| *time != 0).and_then(rfc3339);
    let (payload_format, payload) = of.original_payload();
    json!({
        "profile_id": Some(of.profile_id()).filter(|id| *id != ProfileId::NONE).map(|id| id.to_string()),
        "sample_types": types.collect::<Vec<_>>(),
        "samples": summary.samples,
        "timestamps": summary.timestamps,
        "time": time,
        "time_unix_nano": facts::number(of.time_unix_nano()),
        "duration_nanos": facts::number(of.duration_nanos()),
        "period_type": value_type(dictionary, of.period_type()),
        "period": of.period(),
        "attributes": facts::attributes(dictionary, of.attributes(), MOST_IN_JSON),
        "dropped_attributes_count": of.dropped_attributes_count(),
        "original_payload_format": text(dictionary, payload_format),
        "original_payload_bytes": payload.len(),
    })
}

/// A string of the payload, truncated.
fn text(dictionary: &Dictionary, id: StringId) -> String {
    facts::text(dictionary, id, MOST_IN_JSON)
}

/// Converts a sample type. `aggregation_temporality` is absent if the format does not store it.
fn value_type(dictionary: &Dictionary, of: ValueType) -> Json {
    let [name, unit] = [of.name, of.unit].map(|id| text(dictionary, id));
    let mut object = json!({ "type": name, "unit": unit });
    if let Some(temporality) = of.temporality {
        object["aggregation_temporality"] = temporality.to_string().into();
    }
    object
}
