//! Whole profiles that were read, added to what is built.

use std::mem::take;

use crate::build::Builder;
use crate::build::merge::{Remap, absorb};
use crate::build::room::Full;
use crate::build::seed::Seed;
use crate::error::Result;
use crate::model::profile::Profile;
use crate::model::row_index::RowIndex;
use crate::model::samples::Samples;
use crate::model::value::KeyValue;
use crate::model::{Profiles, Resource, ResourceProfiles, Scope, ScopeProfiles};

/// What was added, its ids already the builder's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Added {
    pub(crate) resources: Vec<ResourceProfiles>,
    /// The rows of the builder's dictionary that they came with, one list a payload.
    pub(crate) kept: Vec<Remap>,
}

impl Builder {
    /// Adds everything another payload has, in time proportional to it.
    ///
    /// Nothing is lost: profiles come with their ids, times, attributes, links, original payloads
    /// and dropped counts, empty ones as well, and rows of tables stay though nothing refers to
    /// them ([`Profiles::compact`] leaves those out). Equal rows become one, and rows that say
    /// nothing become row 0.
    ///
    /// Scopes and resources that are equal in everything become one, and their profiles follow one another in
    /// the order they were added, behind the builder's own. Profiles are never summed up, even
    /// if they measure the same: that is what [`merge`](Self::merge) does with other builders.
    ///
    /// # Errors
    ///
    /// When it does not fit the builder's limits: then nothing of it is added, and the builder can
    /// be used on.
    ///
    /// ```
    /// # fn main() -> otlp_profiles::Result<()> {
    /// use otlp_profiles::{Builder, Limits, build::WhenFull};
    ///
    /// # let [one, other] = ["testdata/go-heap.pb.gz", "testdata/go-cpu-labels.pb.gz"].map(|file| std::fs::read(file).unwrap());
    /// let one = otlp_profiles::read(&one, &Default::default())?.profiles;
    /// let other = otlp_profiles::read(&other, &Default::default())?.profiles;
    ///
    /// let mut both = Builder::with_limits(Limits::file(), WhenFull::Refuse);
    /// both.add(&one)?;
    /// both.add(&other)?;
    /// let both = both.finish()?;
    /// assert_eq!(both.iter().count(), one.iter().count() + other.iter().count());
    /// # Ok(()) }
    /// ```
    pub fn add(&mut self, profiles: &Profiles) -> Result<()> {
        let remap = absorb(&mut self.interner, &profiles.dictionary)?;
        let samples = profiles.iter().map(|profile| profile.samples.len()).sum();
        Ok(self.put_added(&profiles.resources, samples, [remap.clone()], &remap)?)
    }

    /// Adds profiles whose dictionary was added, if there is room for all of them. Of that
    /// dictionary the rows that are now those of `kept` stay.
    pub(crate) fn put_added(
        &mut self,
        resources: &[ResourceProfiles],
        samples: usize,
        kept: impl IntoIterator<Item = Remap>,
        remap: &Remap,
    ) -> Result<(), Full> {
        let mut room = self.interner.room.clone();
        room.samples(self.samples + samples)?;
        resources.iter().try_for_each(|resource| room.bytes(resource_bytes(resource)))?;
        self.interner.room = room;
        self.samples += samples;
        self.added.kept.extend(kept);
        self.added.resources.extend(resources.iter().cloned().map(|mut resource| {
            remap.resource_profiles(&mut resource);
            resource
        }));
        Ok(())
    }
}

impl Added {
    /// The number of samples.
    pub(crate) fn samples(&self) -> usize {
        let scopes = self.resources.iter().flat_map(|resource| &resource.scopes);
        scopes.flat_map(|scope| &scope.profiles).map(|profile| profile.samples.len()).sum()
    }

    /// Appends what was added to what was built, equal resources and scopes joined.
    pub(crate) fn join(&mut self, seed: &Seed, resources: &mut Vec<ResourceProfiles>) {
        if self.resources.is_empty() {
            return;
        }
        resources.append(&mut self.resources);
        *resources = joined(
            take(resources),
            |resource| hash_resource(seed, resource),
            same_resource,
            |first, mut more| {
                first.scopes.append(&mut more.scopes);
            },
        );
        for resource in resources {
            resource.scopes = joined(
                take(&mut resource.scopes),
                |scope| hash_scope(seed, scope),
                same_scope,
                |first, mut more| {
                    first.profiles.append(&mut more.profiles);
                },
            );
        }
    }
}

/// Those of `items` that are the first of their kind; each other one is put into its first.
fn joined<T>(
    items: Vec<T>,
    hash: impl Fn(&T) -> u64,
    same: impl Fn(&T, &T) -> bool,
    put: impl Fn(&mut T, T),
) -> Vec<T> {
    let (mut index, mut firsts) = (RowIndex::default(), Vec::<T>::new());
    for item in items {
        let hash = hash(&item);
        match index.find(hash, |row| same(&firsts[row as usize], &item)) {
            Some(row) => put(&mut firsts[row as usize], item),
            None => {
                index.add(hash, firsts.len() as u32);
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

/// The bytes of a resource and all that is in it.
fn resource_bytes(resource: &ResourceProfiles) -> usize {
    let Resource { attributes, entity_refs, .. } = &resource.resource;
    let scopes = resource.scopes.iter().map(|scope| {
        let profiles = scope.profiles.iter().map(profile_bytes).sum::<usize>();
        size_of_val(scope) + size_of_val::<[_]>(&scope.scope.attributes) + profiles
    });
    let own = size_of_val(resource) + size_of_val::<[_]>(attributes);
    own + size_of_val::<[_]>(entity_refs) + scopes.sum::<usize>()
}

fn profile_bytes(profile: &Profile) -> usize {
    let Samples { stacks, links, attributes, values, timestamps, stacktrace_ids } =
        &profile.samples;
    let rows = [attributes.ends.len(), values.ends.len(), timestamps.ends.len()];
    size_of_val(profile)
        + profile.original_payload.len()
        + size_of_val::<[_]>(&profile.sample_types)
        + size_of_val::<[_]>(&profile.attributes)
        + size_of_val::<[_]>(stacks)
        + size_of_val::<[_]>(links)
        + size_of_val::<[_]>(stacktrace_ids)
        + size_of_val::<[_]>(&attributes.items)
        + size_of_val::<[_]>(&values.items)
        + size_of_val::<[_]>(&timestamps.items)
        + rows.iter().sum::<usize>() * size_of::<u32>()
}
