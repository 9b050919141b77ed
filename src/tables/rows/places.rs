//! Joins equal resources and scopes.
//!
//! Resources with equal attributes, entities and schema are joined, and so are equal scopes in them. The order of
//! attributes does not matter. The first of equal items keeps its position, so built profiles precede added ones.

use crate::model::dictionary::Dictionary;
use crate::model::id::StringId;
use crate::model::order::sample_type_order;
use crate::model::row_index::RowIndex;
use crate::model::value::KeyValue;
use crate::model::{EntityRef, ResourceParts, ResourceProfiles, Scope, ScopeParts, ScopeProfiles};
use crate::tables::rows::budget::heap_bytes;
use crate::tables::rows::merge::Remap;
use crate::tables::rows::seed::Seed;

/// Complete profiles that were added, apart from those being built. Their ids are already the builder's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Added {
    pub(crate) resources: Vec<ResourceProfiles>,
    /// The rows of the builder's dictionary that each added payload contains.
    pub(crate) kept: Vec<Remap>,
}

impl Added {
    /// Returns the number of samples.
    pub(crate) fn samples(&self) -> usize {
        let scopes = self.resources.iter().flat_map(|resource| &resource.scopes);
        scopes.flat_map(|scope| &scope.profiles).map(|profile| profile.samples.len()).sum()
    }

    /// Appends the added resources to the built ones, and joins equal resources and scopes.
    ///
    /// Takes linear time, with a hash of each. Does nothing if there are no added profiles. A scope with an order
    /// of pprof columns stays separate, because the order counts its profiles.
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

/// Joins equal resources by concatenating their scopes.
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

/// Joins equal items: `put` adds each to the first equal one. Items without a hash stay separate.
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

/// Returns a hash of a resource and its first scope.
pub(crate) fn hash_place(seed: &Seed, place: &ResourceProfiles) -> u64 {
    hash_resource(seed, place) ^ place.scopes.first().map_or(0, |scope| hash_scope(seed, scope))
}

/// Returns whether two resources and their first scopes are equal.
pub(crate) fn same_place(a: &ResourceProfiles, b: &ResourceProfiles) -> bool {
    same_resource(a, b) && a.scopes.iter().zip(&b.scopes).all(|(a, b)| same_scope(a, b))
}

fn hash_resource(seed: &Seed, of: &ResourceProfiles) -> u64 {
    // Omits the other fields, which `same_resource` compares.
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

/// Returns a hash of attributes that is independent of their order.
fn hash_pairs(seed: &Seed, pairs: &[KeyValue]) -> u64 {
    pairs.iter().fold(0, |hash, pair| hash.wrapping_add(seed.of(pair)))
}

/// Returns whether attributes are equal, in any order.
fn same_pairs(a: &[KeyValue], b: &[KeyValue]) -> bool {
    let sorted = |pairs: &'_ [KeyValue]| {
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        // Repeated keys in different orders may count as different. Then the items stay separate, which loses
        // nothing.
        order.sort_unstable_by_key(|&at| pairs[at].key);
        order
    };
    // Sort only if the stored orders differ.
    let same = || sorted(a).into_iter().zip(sorted(b)).all(|(x, y)| a[x] == b[y]);
    a.len() == b.len() && (a == b || same())
}

/// Returns the memory of a resource and its content in bytes.
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

/// Returns the memory of pairs in bytes.
fn pair_bytes(pairs: &[KeyValue]) -> usize {
    size_of_val(pairs) + pairs.iter().map(|pair| heap_bytes(&pair.value)).sum::<usize>()
}
