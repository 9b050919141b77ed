//! Whole profiles that were added, beside those that are being built: which of their resources and
//! scopes are one.
//!
//! Resources with equal attributes, entities and schema are one, and so are scopes inside of them;
//! attributes may come in any order. The first of equals keeps its place, so what was built comes
//! before what was added.

use std::mem::take;

use crate::build::merge::Remap;
use crate::build::seed::Seed;
use crate::model::dictionary::Dictionary;
use crate::model::order::sample_type_order;
use crate::model::row_index::RowIndex;
use crate::model::value::KeyValue;
use crate::model::{ResourceProfiles, Scope, ScopeProfiles};

/// What was added, its ids already the builder's.
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
        &mut self,
        seed: &Seed,
        dictionary: &Dictionary,
        resources: &mut Vec<ResourceProfiles>,
    ) {
        if self.resources.is_empty() {
            return;
        }
        resources.append(&mut self.resources);
        *resources = joined(
            take(resources),
            |resource| Some(hash_resource(seed, resource)),
            same_resource,
            |first, mut more| {
                first.scopes.append(&mut more.scopes);
            },
        );
        for resource in resources {
            resource.scopes = joined(
                take(&mut resource.scopes),
                |scope| {
                    let is_free = sample_type_order(scope, dictionary).is_none();
                    is_free.then(|| hash_scope(seed, scope))
                },
                same_scope,
                |first, mut more| {
                    first.profiles.append(&mut more.profiles);
                },
            );
        }
    }
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
    a.len() == b.len() && sorted(a).into_iter().zip(sorted(b)).all(|(x, y)| a[x] == b[y])
}
