//! Resources and scopes: which are one.
//!
//! Resources with equal attributes, entities and schema are one, and so are scopes inside of them;
//! attributes may come in any order. The first of equals keeps its place, so what was built comes
//! before what was added.

use crate::builder::merge::Remap;
use crate::builder::room::heap_bytes;
use crate::builder::seed::Seed;
use crate::model::dictionary::Dictionary;
use crate::model::id::StringId;
use crate::model::order::sample_type_order;
use crate::model::row_index::RowIndex;
use crate::model::value::KeyValue;
use crate::model::{EntityRef, ResourceParts, ResourceProfiles, Scope, ScopeParts, ScopeProfiles};

/// Whole profiles that were added beside those that are being built, their ids already the builder's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Added {
    pub(crate) resources: Vec<ResourceProfiles>,
    /// The rows of the builder's dictionary that they came with, one list a payload.
    pub(crate) kept: Vec<Remap>,
}

impl Added {
    /// The number of samples.
    pub(crate) fn samples(&self) -> usize {
        let scopes = self.resources.iter().flat_map(|resource| &resource.scopes);
        scopes.flat_map(|scope| &scope.profiles).map(|profile| profile.samples.len()).sum()
    }

    /// Appends what was added to what was built, equal resources and scopes joined.
    ///
    /// Linear, by a hash of each; nothing is done where nothing was added.
    /// A scope that says which column of one pprof each of its profiles was stays one of its own.
    pub(crate) fn join(
        self,
        seed: &Seed,
        dictionary: &Dictionary,
        mut resources: Vec<ResourceProfiles>,
    ) -> Vec<ResourceProfiles> {
        if self.resources.is_empty() {
            return resources;
        }
        resources.extend(self.resources);
        let mut resources = join_resources(seed, resources);
        let hash = |scope: &ScopeProfiles| {
            let is_free = sample_type_order(scope, dictionary).is_none();
            is_free.then(|| hash_scope(seed, scope))
        };
        let put = |first: &mut ScopeProfiles, mut more: ScopeProfiles| {
            first.profiles.append(&mut more.profiles);
        };
        for resource in &mut resources {
            let scopes = std::mem::take(&mut resource.scopes);
            resource.scopes = joined(scopes, hash, same_scope, put);
        }
        resources
    }
}

/// Puts the scopes of equal resources together.
pub(crate) fn join_resources(
    seed: &Seed,
    resources: Vec<ResourceProfiles>,
) -> Vec<ResourceProfiles> {
    if resources.len() < 2 {
        return resources;
    }
    let put = |first: &mut ResourceProfiles, mut more: ResourceProfiles| {
        first.scopes.append(&mut more.scopes);
    };
    joined(resources, |resource| Some(hash_resource(seed, resource)), same_resource, put)
}

/// Those of `items` that are the first of their kind, or have no hash; each other one is put into its first.
fn joined<T>(
    items: Vec<T>,
    hash: impl Fn(&T) -> Option<u64>,
    same: impl Fn(&T, &T) -> bool,
    put: impl Fn(&mut T, T),
) -> Vec<T> {
    let (mut index, mut firsts) = (RowIndex::default(), Vec::<T>::new());
    for item in items {
        let hash = hash(&item);
        let like = |hash: u64| index.find(hash, |row| same(&firsts[row as usize], &item));
        match hash.and_then(like) {
            Some(row) => put(&mut firsts[row as usize], item),
            None => {
                if let Some(hash) = hash {
                    index.add(hash, firsts.len() as u32);
                }
                firsts.push(item);
            }
        }
    }
    firsts
}

/// A hash of a resource and its first scope.
pub(crate) fn hash_place(seed: &Seed, place: &ResourceProfiles) -> u64 {
    hash_resource(seed, place) ^ place.scopes.first().map_or(0, |scope| hash_scope(seed, scope))
}

/// Whether resources and their first scopes are the same.
pub(crate) fn same_place(a: &ResourceProfiles, b: &ResourceProfiles) -> bool {
    same_resource(a, b) && a.scopes.iter().zip(&b.scopes).all(|(a, b)| same_scope(a, b))
}

fn hash_resource(seed: &Seed, of: &ResourceProfiles) -> u64 {
    hash_pairs(seed, &of.resource.attributes).wrapping_add(seed.of(&of.schema_url))
}

fn same_resource(a: &ResourceProfiles, b: &ResourceProfiles) -> bool {
    let rest = |of: &ResourceProfiles| (of.schema_url, of.resource.dropped_attributes_count);
    rest(a) == rest(b)
        && a.resource.entity_refs == b.resource.entity_refs
        && same_pairs(&a.resource.attributes, &b.resource.attributes)
}

fn hash_scope(seed: &Seed, of: &ScopeProfiles) -> u64 {
    let names = seed.of(&(of.schema_url, of.scope.name, of.scope.version));
    hash_pairs(seed, &of.scope.attributes).wrapping_add(names)
}

fn same_scope(a: &ScopeProfiles, b: &ScopeProfiles) -> bool {
    let rest = |of: &ScopeProfiles| {
        let Scope { name, version, dropped_attributes_count, .. } = of.scope;
        (of.schema_url, name, version, dropped_attributes_count)
    };
    rest(a) == rest(b) && same_pairs(&a.scope.attributes, &b.scope.attributes)
}

/// A hash of attributes in any order.
fn hash_pairs(seed: &Seed, pairs: &[KeyValue]) -> u64 {
    pairs.iter().fold(0, |hash, pair| hash.wrapping_add(seed.of(pair)))
}

/// Whether attributes are the same in any order.
fn same_pairs(a: &[KeyValue], b: &[KeyValue]) -> bool {
    let sorted = |pairs: &'_ [KeyValue]| {
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        order.sort_unstable_by_key(|&at| pairs[at].key);
        order
    };
    let same = || sorted(a).into_iter().zip(sorted(b)).all(|(x, y)| a[x] == b[y]);
    a.len() == b.len() && (a == b || same())
}

/// The bytes of a resource and all that is in it.
pub(crate) fn resource_bytes(resource: &ResourceProfiles) -> usize {
    let scopes = resource.scopes.iter().map(|scope| {
        let profiles = scope.profiles.iter().map(|profile| profile.owned_bytes());
        size_of::<ScopeParts>() + pair_bytes(&scope.scope.attributes) + profiles.sum::<usize>()
    });
    let keys = |entity: &EntityRef| entity.id_keys.len() + entity.description_keys.len();
    let entities = resource.resource.entity_refs.iter();
    let entities =
        entities.map(|entity| size_of_val(entity) + keys(entity) * size_of::<StringId>());
    size_of::<ResourceParts>()
        + pair_bytes(&resource.resource.attributes)
        + entities.sum::<usize>()
        + scopes.sum::<usize>()
}

fn pair_bytes(pairs: &[KeyValue]) -> usize {
    size_of_val(pairs) + pairs.iter().map(|pair| heap_bytes(&pair.value)).sum::<usize>()
}
