//! What a format has no place for: every bit of it is counted, thing by thing, before it is left out.
//!
//! A pprof, and most formats of other tools, has no resource, no scope, no ids of profiles and one string a build
//! id; OTLP's generations without stack traces of OTEP 0239 or with one sample type a profile share some of it.
//!
//! Counting happens on the model and before writing, so that a writer only has to leave things out.
//! A value that this crate made itself because a format required one (an id, a temporality) and
//! would make again is not counted: nothing is lost then.

use crate::format::columns::{Joined, is_in_fields};
use crate::format::fingerprint::Fingerprints;
use crate::format::known::{Known, KnownAttributes};
use crate::format::losses::{self, Losses};
use crate::format::temporality;
use crate::model::dictionary::{Attribute, Dictionary};
use crate::model::id::StringId;
use crate::model::profile::{AggregationTemporality, Profile, ProfileId};
use crate::model::value::Value;
use crate::model::{Attributes, Profiles, ResourceProfiles, ScopeProfiles};
use crate::semconv::PPROF_PROFILE_COMMENT;

/// Which of some attributes a format says, by their keys. Asked once for all, as there may be many.
pub(crate) type SaidKeys = fn(&Attributes) -> [Option<&'static str>; 2];

/// Whether a key is one of these.
pub(crate) fn is_one_of(keys: &[Option<&str>], key: &str) -> bool {
    keys.iter().flatten().any(|one| *one == key)
}

/// Counts what is said of resources and scopes.
/// Once for all payloads that the profiles become. Attributes of a resource are lost but for those
/// that the format says, if the resource has a profile to say them with.
pub(crate) fn envelope(profiles: &Profiles, said_keys: Option<SaidKeys>, losses: &mut Losses) {
    for (row, resource) in profiles.resources.iter().enumerate() {
        let is_met = resource.scopes.iter().any(|scope| !scope.profiles.is_empty());
        let said_keys = said_keys.filter(|_| is_met);
        resource_unsaid(resource, row, said_keys, &profiles.dictionary, losses);
        for scope in &resource.scopes {
            scope_unsaid(scope, &profiles.dictionary, losses);
        }
    }
}

/// A pprof does not say whose it is.
fn resource_unsaid(
    profiles: &ResourceProfiles,
    row: usize,
    said_keys: Option<SaidKeys>,
    dictionary: &Dictionary,
    losses: &mut Losses,
) {
    let resource = &profiles.resource;
    let attributes = dictionary.resolve(&resource.attributes[..]);
    let said = said_keys.map_or([None; 2], |said_keys| said_keys(&attributes));
    for pair in &resource.attributes {
        if is_one_of(&said, dictionary.text(pair.key)) {
            continue;
        }
        losses.add(losses::RESOURCE_DROPPED, || {
            format!("resource_profiles[{row}].resource.{}", dictionary.text(pair.key))
        });
    }
    losses.add_many(losses::ENTITY_REFS_DROPPED, resource.entity_refs.len() as u64, || {
        "resource.entity_refs".to_owned()
    });
    let counted = u64::from(resource.dropped_attributes_count != 0);
    losses.add_many(losses::DROPPED_COUNT_DROPPED, counted, || {
        "resource.dropped_attributes_count".to_owned()
    });
    let url = u64::from(profiles.schema_url != StringId::NONE);
    losses.add_many(losses::SCHEMA_URL_DROPPED, url, || "resource_profiles.schema_url".to_owned());
}

/// Of a scope, only what pprof says in fields of the profile survives: the default sample type and the order.
fn scope_unsaid(profiles: &ScopeProfiles, dictionary: &Dictionary, losses: &mut Losses) {
    let scope = &profiles.scope;
    for (id, field) in [(scope.name, "scope.name"), (scope.version, "scope.version")] {
        losses
            .add_many(losses::SCOPE_DROPPED, u64::from(id != StringId::NONE), || field.to_owned());
    }
    for pair in scope.attributes.iter().filter(|pair| !is_in_fields(pair, dictionary)) {
        losses.add(losses::SCOPE_DROPPED, || format!("scope.{}", dictionary.text(pair.key)));
    }
    let counted = u64::from(scope.dropped_attributes_count != 0);
    losses.add_many(losses::DROPPED_COUNT_DROPPED, counted, || {
        "scope.dropped_attributes_count".to_owned()
    });
    let url = u64::from(profiles.schema_url != StringId::NONE);
    losses.add_many(losses::SCHEMA_URL_DROPPED, url, || "scope_profiles.schema_url".to_owned());
}

/// Counts what is said of profiles.
/// Asked once for each payload.
pub(crate) struct Unsaid<'a> {
    dictionary: &'a Dictionary,
    known: &'a KnownAttributes,
    /// To see whether an id is one that was made here: then losing it loses nothing.
    fingerprints: Fingerprints<'a>,
}

impl<'a> Unsaid<'a> {
    pub(crate) fn of(dictionary: &'a Dictionary, known: &'a KnownAttributes) -> Self {
        Self { dictionary, known, fingerprints: Fingerprints::of(dictionary, known, usize::MAX) }
    }

    /// Counts what is said of some columns, with their default sample type.
    pub(crate) fn profile(&mut self, joined: &Joined, default: StringId, losses: &mut Losses) {
        self.fields(joined, default, losses);
        attributes(joined.first(), self.dictionary, self.known, losses);
    }

    /// Counts what is said of some columns in fields. A value that a rule chose where one was
    /// required, and would choose again, is no loss.
    pub(crate) fn fields(&mut self, joined: &Joined, default: StringId, losses: &mut Losses) {
        let dictionary = self.dictionary;
        let mut ids = joined.profiles.iter().map(|profile| profile.profile_id);
        let made =
            ids.any(|id| id != ProfileId::NONE).then(|| self.fingerprints.id(joined, default));
        for profile in &joined.profiles {
            let id = profile.profile_id;
            let lost = id != ProfileId::NONE && Some(id) != made;
            losses
                .add_many(losses::PROFILE_ID_DROPPED, u64::from(lost), || "profile_id".to_owned());
            let counted = profile.dropped_attributes_count != 0;
            losses.add_many(losses::DROPPED_COUNT_DROPPED, u64::from(counted), || {
                "dropped_attributes_count".to_owned()
            });
            let original = !profile.original_payload.is_empty()
                || profile.original_payload_format != StringId::NONE;
            losses.add_many(losses::ORIGINAL_DROPPED, u64::from(original), || {
                "original_payload".to_owned()
            });
            temporalities(profile, dictionary, losses);
            stacktrace_ids(profile, losses);
        }
    }
}

/// No rule assumes the temporality of a period.
fn temporalities(profile: &Profile, dictionary: &Dictionary, losses: &mut Losses) {
    let of_period = profile.period_type.temporality.unwrap_or_default();
    let said = of_period != AggregationTemporality::UNSPECIFIED;
    let period = said.then_some(profile.period_type);
    let types = profile.sample_types.iter().copied();
    let lost = types
        .filter(|kind| temporality::is_lost(*kind, profile.duration_nanos, dictionary))
        .chain(period);
    for kind in lost {
        losses.add(losses::TEMPORALITY_DROPPED, || dictionary.text(kind.name).to_owned());
    }
}

/// Counts the attributes of a profile that no field of pprof says.
fn attributes(
    profile: &Profile,
    dictionary: &Dictionary,
    known: &KnownAttributes,
    losses: &mut Losses,
) {
    for id in &profile.attributes {
        let said = matches!(
            known.get(*id),
            Known::Comment
                | Known::Comments
                | Known::DropFrames
                | Known::KeepFrames
                | Known::DocUrl
                | Known::DefaultSampleType
        );
        let Some(attribute) = dictionary.attribute(*id).filter(|_| !said) else {
            continue;
        };
        if numbered_comment(attribute, dictionary).is_none() {
            let key = dictionary.text(attribute.key);
            losses.add(losses::ATTR_PROFILE_DROPPED, || format!("attribute[{key}]"));
        }
    }
}

/// A comment that has a key of its own, as one converter writes them, and its number.
/// Only a text is one, and a comment has no unit.
pub(crate) fn numbered_comment(
    attribute: &Attribute,
    dictionary: &Dictionary,
) -> Option<(u64, StringId)> {
    let Attribute { key, value: Value::String(text), unit: StringId::NONE } = attribute else {
        return None;
    };
    let number = dictionary.text(*key).strip_prefix(PPROF_PROFILE_COMMENT)?.strip_prefix('.')?;
    Some((number.parse().ok()?, *text))
}

/// Counts the stacktrace ids of a profile, where they cannot be said.
pub(crate) fn stacktrace_ids(profile: &Profile, losses: &mut Losses) {
    let lost = profile.samples.stacktrace_ids.iter().filter(|id| **id != StringId::NONE).count();
    losses.add_many(losses::STACKTRACE_ID_DROPPED, lost as u64, || {
        "sample.stacktrace_id_index".to_owned()
    });
}

/// Counts what the first of some columns, which speaks for all of them, does not say for the others.
pub(crate) fn other_columns(joined: &Joined, losses: &mut Losses) {
    let first = joined.first();
    for other in joined.profiles.iter().skip(1) {
        let id = other.profile_id != ProfileId::NONE && other.profile_id != first.profile_id;
        losses.add_many(losses::PROFILE_ID_DROPPED, u64::from(id), || "profile_id".to_owned());
        let count = other.dropped_attributes_count != first.dropped_attributes_count;
        losses.add_many(losses::DROPPED_COUNT_DROPPED, u64::from(count), || {
            "dropped_attributes_count".to_owned()
        });
    }
}
