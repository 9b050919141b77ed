//! Resources and scopes of merged profiles.

use crate::model::dictionary::Dictionary;
use crate::model::id::StringId;
use crate::model::row_index::RowIndex;
use crate::model::value::KeyValue;
use crate::model::{ResourceProfiles, ScopeProfiles};
use crate::semconv::{PPROF_SCOPE_DEFAULT_SAMPLE_TYPE, PPROF_SCOPE_SAMPLE_TYPE_ORDER};
use crate::tables::profile::covered::clock_of;
use crate::tables::rows::merge::Remap;
use crate::tables::rows::places::{hash_place, same_place};
use crate::tables::rows::seed::Seed;
use crate::transform::merge::options::ResourceKeys;

/// The resources and scopes of all inputs, each once.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    rows: Vec<Place>,
    index: RowIndex,
}

/// A resource with at most one scope.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// Without profiles.
    pub(super) resource: ResourceProfiles,
    /// The place that its profiles are merged into: without attributes that do not count.
    pub(super) merged: u32,
    /// The hash of the resource, whose profiles share a clock.
    pub(super) clock: u128,
    /// An input contains this place; others are merged places only.
    is_input: bool,
    /// The default sample types of the scopes, for merged places.
    pub(super) defaults: Vec<KeyValue>,
    /// The key of the attribute with the order of sample types, if some scope contains one.
    pub(super) order_key: Option<StringId>,
}

/// A copy of a resource and one of its scopes without the profiles.
pub(crate) fn place_of(
    resource: &ResourceProfiles,
    scope: Option<&ScopeProfiles>,
) -> ResourceProfiles {
    let mut place = ResourceProfiles::default();
    place.resource = resource.resource.clone();
    place.schema_url = resource.schema_url;
    if let Some(scope) = scope {
        let mut empty = ScopeProfiles::default();
        empty.scope = scope.scope.clone();
        empty.schema_url = scope.schema_url;
        place.scopes.push(empty);
    }
    place
}

impl Places {
    pub(super) fn rows(&self) -> &[Place] {
        &self.rows
    }

    /// The place that the profiles of a place are merged into.
    pub(super) fn merged(&self, place: u32) -> u32 {
        self.rows[place as usize].merged
    }

    /// Finds or adds a place, whose ids are those of the merged dictionary. Returns its row and, of a new place, the
    /// keys of attributes that do not count.
    pub(super) fn add(
        &mut self,
        seed: &Seed,
        mut place: ResourceProfiles,
        keys: &ResourceKeys,
        dictionary: &Dictionary,
    ) -> (u32, Vec<StringId>) {
        place.resource.attributes.sort_unstable_by_key(|pair| pair.key);
        let sort = |scope: &mut ScopeProfiles| {
            scope.scope.attributes.sort_unstable_by_key(|pair| pair.key);
        };
        place.scopes.iter_mut().for_each(sort);
        let row = self.intern(seed, place);
        let mut removed = Vec::new();
        if !std::mem::replace(&mut self.rows[row as usize].is_input, true) {
            self.set_merged(seed, row, keys, dictionary, &mut removed);
        }
        (row, removed)
    }

    fn set_merged(
        &mut self,
        seed: &Seed,
        row: u32,
        keys: &ResourceKeys,
        dictionary: &Dictionary,
        removed: &mut Vec<StringId>,
    ) {
        let mut place = self.rows[row as usize].resource.clone();
        self.rows[row as usize].clock = clock_of(&place, dictionary);
        place.resource.attributes.retain(|pair| {
            let keeps = keys.keeps(dictionary.text(pair.key));
            removed.extend((!keeps).then_some(pair.key));
            keeps
        });
        let mut said = [None, None];
        for scope in &mut place.scopes {
            scope.scope.attributes.retain(|pair| match dictionary.text(pair.key) {
                PPROF_SCOPE_DEFAULT_SAMPLE_TYPE => set(&mut said[0], pair),
                PPROF_SCOPE_SAMPLE_TYPE_ORDER => set(&mut said[1], pair),
                _ => true,
            });
        }
        let merged = self.intern(seed, place);
        self.rows[row as usize].merged = merged;
        let [default, order] = said;
        let merged = &mut self.rows[merged as usize];
        merged.defaults.extend(default);
        merged.order_key = merged.order_key.or(order.map(|pair| pair.key));
    }

    fn intern(&mut self, seed: &Seed, place: ResourceProfiles) -> u32 {
        let hash = hash_place(seed, &place);
        let same = |row: u32| {
            let row = &self.rows[row as usize].resource;
            row.scopes.len() == place.scopes.len() && same_place(row, &place)
        };
        if let Some(row) = self.index.find(hash, same) {
            return row;
        }
        let row = self.rows.len() as u32;
        self.index.add(hash, row);
        let (defaults, order_key) = Default::default();
        let (clock, is_input) = (0, false);
        self.rows.push(Place {
            resource: place,
            merged: row,
            clock,
            is_input,
            defaults,
            order_key,
        });
        row
    }

    /// Adds the places of another merger. Returns their rows here.
    pub(super) fn append(
        &mut self,
        other: &Self,
        remap: &Remap,
        seed: &Seed,
        keys: &ResourceKeys,
        dictionary: &Dictionary,
    ) -> Vec<u32> {
        let places = other.rows.iter().map(|place| {
            let mut resource = place.resource.clone();
            remap.resource_profiles(&mut resource);
            match place.is_input {
                true => self.add(seed, resource, keys, dictionary).0,
                false => self.intern(seed, resource),
            }
        });
        places.collect()
    }
}

/// Takes the value of an attribute that becomes a field.
fn set(said: &mut Option<KeyValue>, pair: &KeyValue) -> bool {
    *said = Some(pair.clone());
    false
}
