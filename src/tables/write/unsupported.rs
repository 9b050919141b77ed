//! Counting of data that a format cannot represent. Each item is counted before it is dropped.
//!
//! pprof and most formats of other tools lack resources, scopes and profile ids, and have one build id per
//! mapping. Generations of OTLP without the stack traces of OTEP 0239, or with one sample type per profile,
//! lack some data too.
//!
//! Counting runs on the model before writing, so the writer only needs to skip the data. Values that this
//! crate derived because a format required them (an id, a temporality), and would derive again, are not
//! counted, because they are not lost.

use crate::losses::{self, Losses};
use crate::model::dictionary::{Attribute, Dictionary};
use crate::model::id::StringId;
use crate::model::profile::{AggregationTemporality, Profile, ProfileId};
use crate::model::sample_types::{default_of, scope_default};
use crate::model::value::Value;
use crate::model::{Attributes, Profiles, ResourceProfiles, ScopeProfiles};
use crate::semconv::PPROF_PROFILE_COMMENT;
use crate::tables::attributes::semantic_attributes::{AttributeRole, AttributeRoles, loss_of};
use crate::tables::profile::columns::{Join, Joined, is_in_fields, join};
use crate::tables::profile::fingerprint::Fingerprints;
use crate::tables::profile::temporality;

/// Returns the keys of the attributes that a format represents. Called once for a list of attributes, as
/// there may be many.
pub(crate) type SupportedKeys = fn(&Attributes) -> [Option<&'static str>; 2];

/// Returns whether a key is one of the given ones.
pub(crate) fn is_one_of(keys: &[Option<&str>], key: &str) -> bool {
    keys.iter().flatten().any(|one| *one == key)
}

/// Counts the data of resources and scopes, once for all payloads that the profiles become. Resource
/// attributes are lost, except those that the format represents in a profile of that resource.
pub(crate) fn envelope(
    profiles: &Profiles,
    supported_keys: Option<SupportedKeys>,
    losses: &mut Losses,
) {
    for (row, resource) in profiles.resources.iter().enumerate() {
        let has_profiles = resource.scopes.iter().any(|scope| !scope.profiles.is_empty());
        // A resource without profiles has no profile that could represent its attributes.
        let supported_keys = supported_keys.filter(|_| has_profiles);
        count_resource(resource, row, supported_keys, &profiles.dictionary, losses);
        for scope in &resource.scopes {
            count_scope(scope, &profiles.dictionary, losses);
        }
    }
}

/// Counts the attributes and fields of a resource, for which pprof has no fields.
fn count_resource(
    profiles: &ResourceProfiles,
    row: usize,
    supported_keys: Option<SupportedKeys>,
    dictionary: &Dictionary,
    losses: &mut Losses,
) {
    let resource = &profiles.resource;
    let attributes = dictionary.resolve(&resource.attributes[..]);
    let supported = supported_keys.map_or([None; 2], |supported_keys| supported_keys(&attributes));
    for pair in &resource.attributes {
        if is_one_of(&supported, dictionary.text(pair.key)) {
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

/// Counts the data of a scope, except the two attributes that pprof stores in fields of the profile: the
/// default sample type and the order.
fn count_scope(profiles: &ScopeProfiles, dictionary: &Dictionary, losses: &mut Losses) {
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

/// Counts the data of profiles. Created once for each payload.
pub(crate) struct UnsupportedData<'a> {
    dictionary: &'a Dictionary,
    roles: &'a AttributeRoles,
    /// Recomputes ids: an id that this crate derived is not lost when it is dropped.
    fingerprints: Fingerprints<'a>,
}

impl<'a> UnsupportedData<'a> {
    pub(crate) fn of(dictionary: &'a Dictionary, roles: &'a AttributeRoles) -> Self {
        Self { dictionary, roles, fingerprints: Fingerprints::of(dictionary, roles, usize::MAX) }
    }

    /// Counts the data of joined columns with their default sample type.
    pub(crate) fn profile(&mut self, joined: &Joined, default: StringId, losses: &mut Losses) {
        self.fields(joined, default, losses);
        attributes(joined.first(), self.dictionary, self.roles, losses);
    }

    /// Counts the fields of the profiles of a scope, for formats whose profiles have one sample type.
    pub(crate) fn scope(&mut self, scope: &ScopeProfiles, losses: &mut Losses) {
        let of_scope = scope_default(scope, self.dictionary);
        // Losses of joining concern only formats with several columns.
        let mut ignored = Losses::default();
        for joined in join(scope, self.dictionary, Join::Compatible, &mut ignored) {
            let default = default_of(joined.first(), of_scope, self.dictionary);
            self.fields(&joined, default, losses);
        }
    }

    /// Counts the fields of joined columns. A value that a rule chose because one was required, and would
    /// choose again, is no loss.
    fn fields(&mut self, joined: &Joined, default: StringId, losses: &mut Losses) {
        let dictionary = self.dictionary;
        let mut ids = joined.profiles.iter().map(|profile| profile.profile_id);
        // Only if a profile has an id, because the first fingerprint hashes the whole dictionary.
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

/// Counts temporalities. No rule covers the temporality of a period, so dropping it is always a loss.
fn temporalities(profile: &Profile, dictionary: &Dictionary, losses: &mut Losses) {
    let of_period = profile.period_type.temporality.unwrap_or_default();
    let has_temporality = of_period != AggregationTemporality::UNSPECIFIED;
    let period = has_temporality.then_some(profile.period_type);
    let types = profile.sample_types.iter().copied();
    let lost = types
        .filter(|kind| temporality::is_lost(*kind, profile.duration_nanos, dictionary))
        .chain(period);
    for kind in lost {
        losses.add(losses::TEMPORALITY_DROPPED, || dictionary.text(kind.name).to_owned());
    }
}

/// Counts the attributes of a profile that no field of pprof represents.
fn attributes(
    profile: &Profile,
    dictionary: &Dictionary,
    roles: &AttributeRoles,
    losses: &mut Losses,
) {
    for id in &profile.attributes {
        let is_supported = matches!(
            roles.get(*id),
            AttributeRole::Comment
                | AttributeRole::Comments
                | AttributeRole::DropFrames
                | AttributeRole::KeepFrames
                | AttributeRole::DocUrl
                | AttributeRole::DefaultSampleType
        );
        let Some(attribute) = dictionary.attribute(*id).filter(|_| !is_supported) else {
            continue;
        };
        if numbered_comment(attribute, dictionary).is_none() {
            let key = dictionary.text(attribute.key);
            let code = loss_of(dictionary, attribute, losses::ATTR_PROFILE_DROPPED);
            losses.add(code, || format!("attribute[{key}]"));
        }
    }
}

/// Parses a comment that is an attribute with a numbered key, as one converter writes them. Returns its
/// number and its string. Its value must be a string without a unit.
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

/// Counts the stacktrace ids of a profile, for formats that cannot represent them.
pub(crate) fn stacktrace_ids(profile: &Profile, losses: &mut Losses) {
    let lost = profile.samples.stacktrace_ids.iter().filter(|id| **id != StringId::NONE).count();
    losses.add_many(losses::STACKTRACE_ID_DROPPED, lost as u64, || {
        "sample.stacktrace_id_index".to_owned()
    });
}

/// Counts the fields in which other columns differ from the first, which represents them all.
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
