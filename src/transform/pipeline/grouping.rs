//! Attributes that samples need not share to be added up.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::model::dictionary::{Attribute, Dictionary};
use crate::model::id::{AttributeId, LinkId, StackId};
use crate::model::profile::Profile;
use crate::model::ragged::Ragged;
use crate::model::{Profiles, ResourceProfiles, ScopeProfiles};
use crate::transform::merge::ResourceKeys;

/// The value of an attribute that samples need not share to be added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The value of the first sample.
    First,
    /// The value of the last sample.
    Last,
    /// No value.
    Drop,
}

/// Which attributes are part of the identity, and which value the others take.
pub(super) struct Grouping<'a> {
    pub(super) group_by: Option<&'a [String]>,
    pub(super) attributes: &'a [(String, Keep)],
}

/// The part that an attribute has in aggregation.
#[derive(Clone, Copy)]
enum Role {
    /// Samples are added up only if they agree in it.
    Identity,
    Dropped,
    /// Its row among the attributes that are kept.
    Kept(usize),
}

/// A sample without the attributes that may differ: its group of profiles, its stack, link and attributes.
type Sample = (usize, StackId, LinkId, Vec<AttributeId>);

/// The values of the attributes that are kept, by sample.
type Values = HashMap<Sample, Vec<Option<AttributeId>>, RandomState>;

impl Grouping<'_> {
    /// The attributes of resources that are part of the identity.
    pub(super) fn resources(&self) -> ResourceKeys {
        let dropped = self.attributes.iter().filter(|(_, keep)| *keep == Keep::Drop);
        let dropped: Vec<String> = dropped.map(|(key, _)| key.clone()).collect();
        match self.group_by {
            Some(keys) => {
                let kept = keys.iter().filter(|key| !dropped.contains(key));
                ResourceKeys::Only(kept.cloned().collect())
            }
            None if dropped.is_empty() => ResourceKeys::All,
            None => ResourceKeys::Without(dropped),
        }
    }

    fn role(&self, key: &str) -> Role {
        let found = self.attributes.iter().position(|(of, _)| of == key);
        match found.map(|at| (at, self.attributes[at].1)) {
            Some((_, Keep::Drop)) => Role::Dropped,
            Some((at, _)) => Role::Kept(at),
            None if self.group_by.is_none_or(|keys| keys.iter().any(|of| of == key)) => {
                Role::Identity
            }
            None => Role::Dropped,
        }
    }

    /// Gives samples that differ in attributes without a part in the identity the same attributes.
    pub(super) fn apply(&self, profiles: &mut Profiles) {
        if self.group_by.is_none() && self.attributes.is_empty() {
            return;
        }
        let Profiles { dictionary, resources } = profiles;
        let role = |row: &Attribute| self.role(dictionary.text(row.key));
        let roles: Vec<Role> = dictionary.attributes.iter().map(role).collect();
        let keys = self.resources();
        let mut numbers = HashMap::<String, usize, RandomState>::default();
        let (mut values, mut rows) = (Values::default(), Vec::new());
        for resource in resources.iter() {
            for scope in &resource.scopes {
                for profile in &scope.profiles {
                    let next = numbers.len();
                    let group = group(resource, scope, profile, &keys, dictionary);
                    let number = *numbers.entry(group).or_insert(next);
                    self.read(profile, number, &roles, &mut values, &mut rows);
                }
            }
        }
        let mut rows = rows.into_iter();
        let scopes = resources.iter_mut().flat_map(|resource| &mut resource.scopes);
        for profile in scopes.flat_map(|scope| &mut scope.profiles) {
            let samples = &mut profile.samples;
            let mut attributes = Ragged::default();
            for (at, row) in rows.by_ref().take(samples.len()).enumerate() {
                let mut own = row.3.clone();
                own.extend(values.get(&row).into_iter().flatten().flatten());
                attributes.push_at(at, &own);
            }
            samples.attributes = attributes;
        }
    }

    /// Notes the identity of each sample of a profile, and the values that it is to have.
    fn read(
        &self,
        profile: &Profile,
        number: usize,
        roles: &[Role],
        values: &mut Values,
        rows: &mut Vec<Sample>,
    ) {
        let role = |id: &AttributeId| roles.get(id.0 as usize).copied().unwrap_or(Role::Identity);
        for sample in &profile.samples {
            let own = sample.attributes.iter().copied();
            let identity = own.clone().filter(|id| matches!(role(id), Role::Identity));
            let row = (number, sample.stack, sample.link, identity.collect());
            let is_new = !values.contains_key(&row);
            let values = values.entry(row.clone()).or_default();
            values.resize(self.attributes.len(), None);
            rows.push(row);
            for (at, (_, keep)) in self.attributes.iter().enumerate() {
                if is_new || *keep == Keep::Last {
                    let is_it = |id: &AttributeId| matches!(role(id), Role::Kept(of) if of == at);
                    values[at] = own.clone().find(is_it);
                }
            }
        }
    }
}

/// The place and the sample types of a profile, as a text that is equal for profiles that are added up.
fn group(
    resource: &ResourceProfiles,
    scope: &ScopeProfiles,
    profile: &Profile,
    keys: &ResourceKeys,
    dictionary: &Dictionary,
) -> String {
    let pairs = resource.resource.attributes.iter();
    let pairs: Vec<_> = pairs.filter(|pair| keys.keeps(dictionary.text(pair.key))).collect();
    format!("{pairs:?} {:?} {:?}", scope.scope, profile.sample_types)
}
