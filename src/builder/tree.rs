//! Places and profiles.
//!
//! ```text
//! places      0 nameless, 1, 2 …        a resource and a scope of it; found by what they say: naming twice is naming once
//! profiles    0, 1 …                    each with the row of its place; three lanes of samples
//! ```
//!
//! Declarations stay through [`finish_interval`](crate::Builder::finish_interval), samples do not. A profile is found by
//! its place and its sample types, temporality aside: it may be said by a later declaration.

use crate::builder::key::{Generation, Key};
use crate::builder::places::{hash_place, resource_bytes, same_place};
use crate::builder::room::{Full, Room};
use crate::builder::samples::Lane;
use crate::builder::seed::Seed;
use crate::model::profile::{Profile, ValueType};
use crate::model::row_index::RowIndex;
use crate::model::{ResourceProfiles, ScopeProfiles};

/// What is declared, in the order it was named.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    /// Declarations outlive an interval, so their keys have a generation of their own.
    pub(crate) generation: Generation,
    /// A resource with one scope, without profiles. Row 0 is nameless.
    pub(crate) places: Vec<ResourceProfiles>,
    pub(crate) profiles: Vec<Draft>,
    pub(crate) seed: Seed,
    place_index: RowIndex,
    profile_index: RowIndex,
    /// Where profiles are from here on; none when it did not fit.
    pub(crate) place: Option<u32>,
}

/// A profile being built, and the row of the place it is in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draft {
    pub(crate) place: u32,
    /// All but the samples and what is counted of them.
    pub(crate) profile: Profile,
    /// The attributes of samples that did not fit.
    pub(crate) dropped_attributes: u32,
    /// The samples of each [`Shape`](crate::builder::samples::Shape).
    pub(crate) lanes: [Lane; 3],
}

impl Default for Tree {
    fn default() -> Self {
        let mut tree = Self {
            generation: Generation::new(),
            places: vec![nameless()],
            profiles: Vec::new(),
            seed: Seed::default(),
            place_index: RowIndex::default(),
            profile_index: RowIndex::default(),
            place: Some(0),
        };
        tree.index();
        tree
    }
}

/// A resource and a scope of which nothing is said.
pub(crate) fn nameless() -> ResourceProfiles {
    let mut place = ResourceProfiles::default();
    place.scopes.push(ScopeProfiles::default());
    place
}

impl Tree {
    /// Where a profile is in the list.
    #[inline]
    pub(crate) fn profile_row(&self, key: Key<Profile>) -> Option<usize> {
        (self.generation.row(key)? as usize).checked_sub(1)
    }

    /// The row of a place, new or not. Attributes get the order of their keys.
    ///
    /// # Errors
    ///
    /// `Full`, and nothing is declared.
    pub(crate) fn place_row(
        &mut self,
        mut new: ResourceProfiles,
        room: &mut Room,
    ) -> Result<u32, Full> {
        new.resource.attributes.sort_unstable_by_key(|pair| pair.key);
        for scope in new.scopes.iter_mut().filter_map(ScopeProfiles::parts_mut) {
            scope.scope.attributes.sort_unstable_by_key(|pair| pair.key);
        }
        let hash = hash_place(&self.seed, &new);
        let is_it = |row: u32| same_place(&self.places[row as usize], &new);
        if let Some(row) = self.place_index.find(hash, is_it) {
            return Ok(row);
        }
        let row = self.places.len();
        room.row(row, resource_bytes(&new))?;
        self.place_index.add(hash, row as u32);
        self.places.push(new);
        Ok(row as u32)
    }

    /// Where the profile of these types in this place is, new or not. Of one that is there,
    /// temporalities that were not said are filled in; if they contradict, it is another one.
    ///
    /// # Errors
    ///
    /// `Full`, and nothing is declared.
    pub(crate) fn draft_row(
        &mut self,
        place: u32,
        types: &[ValueType],
        room: &mut Room,
    ) -> Result<usize, Full> {
        let hash = profile_hash(&self.seed, place, types);
        let is_it = |row: u32| {
            let draft = &self.profiles[row as usize];
            draft.place == place && agree(&draft.profile.sample_types, types)
        };
        if let Some(row) = self.profile_index.find(hash, is_it) {
            let row = row as usize;
            for (ours, theirs) in self.profiles[row].profile.sample_types.iter_mut().zip(types) {
                ours.temporality = ours.temporality.or(theirs.temporality);
            }
            return Ok(row);
        }
        let mut profile = Profile::default();
        profile.sample_types = types.to_vec();
        let draft = Draft { place, profile, ..Draft::default() };
        let row = self.profiles.len();
        room.row(row + 1, draft.bytes())?;
        self.profile_index.add(hash, row as u32);
        self.profiles.push(draft);
        Ok(row)
    }

    /// Indexes all rows anew.
    ///
    /// After the ids of texts changed: hashes are of ids.
    pub(crate) fn index(&mut self) {
        self.place_index.clear();
        self.profile_index.clear();
        for (place, row) in self.places.iter().zip(0..) {
            self.place_index.add(hash_place(&self.seed, place), row);
        }
        for (draft, row) in self.profiles.iter().zip(0..) {
            let hash = profile_hash(&self.seed, draft.place, &draft.profile.sample_types);
            self.profile_index.add(hash, row);
        }
    }

    /// What each declaration takes.
    pub(crate) fn bytes(&self) -> impl Iterator<Item = usize> {
        self.places.iter().map(resource_bytes).chain(self.profiles.iter().map(Draft::bytes))
    }
}

/// Whether two lists of types are the same but for what is not said.
fn agree(ours: &[ValueType], theirs: &[ValueType]) -> bool {
    ours.len() == theirs.len()
        && ours.iter().zip(theirs).all(|(ours, theirs)| {
            let temporalities = ours.temporality.zip(theirs.temporality);
            (ours.name, ours.unit) == (theirs.name, theirs.unit)
                && temporalities.is_none_or(|(ours, theirs)| ours == theirs)
        })
}

/// Without the temporalities, which may be said later.
fn profile_hash(seed: &Seed, place: u32, types: &[ValueType]) -> u64 {
    let names: Vec<_> = types.iter().map(|kind| (kind.name, kind.unit)).collect();
    seed.of(&(place, names))
}

impl Draft {
    fn bytes(&self) -> usize {
        size_of_val(self) + self.profile.owned_bytes()
    }
}
