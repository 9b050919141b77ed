//! One profile on its way through a pipeline.

use crate::error::Result;
use crate::model::{Attributes, Profiles};
use crate::semconv;
use crate::transform::merge::{MergeOptions, Merged, Merger};
use crate::transform::split::blocks;

/// A payload of one profile. The columns of a pprof are one profile here, even if OTLP stores each separately.
#[derive(Debug)]
pub(super) struct Item(pub(super) Profiles);

impl Item {
    /// Divides a payload into its profiles.
    pub(super) fn divide(profiles: Profiles) -> Vec<Self> {
        match profiles.len() {
            0 => Vec::new(),
            1 => vec![Self(profiles)],
            _ => blocks(&profiles).into_iter().map(Self).collect(),
        }
    }

    /// Merges items into one payload.
    pub(super) fn merge(items: &[Self], options: MergeOptions) -> Result<Merged> {
        let mut merger = Merger::new(options);
        items.iter().try_for_each(|item| merger.add(&item.0))?;
        merger.finish()
    }

    /// The end of the profile in nanoseconds since 1970.
    pub(super) fn end(&self) -> i128 {
        let end = |of: &crate::model::Profile| of.time_unix_nano + of.duration_nanos.max(0);
        self.0.iter().map(end).max().unwrap_or(0)
    }

    pub(super) fn has_duration(&self) -> bool {
        self.0.iter().any(|profile| profile.duration_nanos > 0)
    }

    /// The resource and the scope, as a text that is equal for equal contents.
    pub(super) fn place(&self) -> String {
        let Some(entry) = self.0.entries().next() else { return String::new() };
        let text = |id| entry.dictionary().text(id);
        let schema_urls = [entry.resource_profiles().schema_url, entry.scope_profiles().schema_url];
        let scope = entry.scope();
        let names = [scope.name, scope.version, schema_urls[0], schema_urls[1]].map(text);
        let [resource, scope] = [entry.resource_attributes(), entry.scope_attributes()].map(listed);
        format!("{names:?} {resource:?} {scope:?}")
    }

    /// The place, the sample types, the period and the attributes of the profile.
    pub(super) fn identity(&self) -> String {
        let mut identity = self.place();
        for entry in self.0.entries() {
            let (profile, dictionary) = (entry.profile(), entry.dictionary());
            let period = profile.period_type;
            for of in profile.sample_types.iter().chain([&period]) {
                let texts = [of.name, of.unit].map(|id| dictionary.text(id));
                identity += &format!(" {texts:?}");
            }
            identity += &format!(" {} {:?}", profile.period, listed(entry.attributes()));
        }
        identity
    }
}

/// Attributes in the order of their keys, without those that are no part of an identity.
fn listed(attributes: Attributes<'_>) -> Vec<String> {
    let is_header = |key: &str| {
        [
            semconv::PPROF_SCOPE_DEFAULT_SAMPLE_TYPE,
            semconv::PPROF_SCOPE_SAMPLE_TYPE_ORDER,
            semconv::PPROF_PROFILE_COMMENT,
            semconv::PPROF_PROFILE_DROP_FRAMES,
            semconv::PPROF_PROFILE_KEEP_FRAMES,
            semconv::PPROF_PROFILE_DOC_URL,
        ]
        .contains(&key)
    };
    let pairs = attributes.iter().filter(|pair| !is_header(pair.key));
    let mut listed: Vec<String> = pairs.map(|pair| format!("{pair:?}")).collect();
    listed.sort_unstable();
    listed
}
