//! The declared places and profiles.
//!
//! ```text
//! places      0 nameless, 1, 2 …        a resource and one scope of it, found by content: equal declarations are one
//! profiles    0, 1 …                    each with the row of its place; samples by shape
//! ```
//!
//! [`finish_interval`](crate::Builder::finish_interval) keeps declarations but not samples. A profile is found by
//! its place and its sample types without temporality, which a later declaration may set.

use crate::builder::key::{Generation, Key};
use crate::model::profile::{Profile, ValueType};
use crate::model::row_index::RowIndex;
use crate::model::{ResourceProfiles, ScopeProfiles};
use crate::tables::rows::budget::{BuilderBudget, Full};
use crate::tables::rows::places::{hash_place, resource_bytes, same_place};
use crate::tables::rows::samples::SampleColumns;
use crate::tables::rows::seed::Seed;

/// The declarations in order.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    /// Declarations outlive an interval, so their keys have a separate generation.
    pub(crate) generation: Generation,
    /// Resources with one scope each, without profiles. Row 0 is nameless.
    pub(crate) places: Vec<ResourceProfiles>,
    pub(crate) profiles: Vec<OpenProfile>,
    pub(crate) seed: Seed,
    place_index: RowIndex,
    profile_index: RowIndex,
    /// The place of later declarations. `None` if the last declared place did not fit.
    pub(crate) place: Option<u32>,
}

/// A profile in progress, and the row of its place.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenProfile {
    pub(crate) place: u32,
    /// The profile without its samples and their counts.
    pub(crate) profile: Profile,
    /// The number of attributes of samples that did not fit.
    pub(crate) dropped_attributes: u32,
    /// The samples of each [`Shape`](crate::tables::rows::samples::Shape).
    pub(crate) shapes: [SampleColumns; 3],
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

/// Returns an empty resource with an empty scope.
pub(crate) fn nameless() -> ResourceProfiles {
    let mut place = ResourceProfiles::default();
    place.scopes.push(ScopeProfiles::default());
    place
}

impl Tree {
    /// Returns the row of a profile.
    #[inline]
    pub(crate) fn profile_row(&self, key: Key<Profile>) -> Option<usize> {
        // `Key::NONE` has row 0, which is no profile.
        (self.generation.row(key)? as usize).checked_sub(1)
    }

    /// Returns the row of a place, and adds it if it is new. Sorts its attributes by key.
    ///
    /// # Errors
    ///
    /// `Full`; the place is not declared.
    pub(crate) fn place_row(
        &mut self,
        mut new: ResourceProfiles,
        budget: &mut BuilderBudget,
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
        budget.row(row, resource_bytes(&new))?;
        self.place_index.add(hash, row as u32);
        self.places.push(new);
        Ok(row as u32)
    }

    /// Returns the row of the profile with these types in this place, and adds it if it is new. Fills in missing
    /// temporalities of an existing profile. If temporalities contradict, it is another profile.
    ///
    /// # Errors
    ///
    /// `Full`; the profile is not declared.
    pub(crate) fn open_profile(
        &mut self,
        place: u32,
        types: &[ValueType],
        budget: &mut BuilderBudget,
    ) -> Result<usize, Full> {
        let hash = profile_hash(&self.seed, place, types);
        let is_it = |row: u32| {
            let open = &self.profiles[row as usize];
            open.place == place && agree(&open.profile.sample_types, types)
        };
        if let Some(row) = self.profile_index.find(hash, is_it) {
            let row = row as usize;
            // A later declaration may set a missing temporality.
            for (ours, theirs) in self.profiles[row].profile.sample_types.iter_mut().zip(types) {
                ours.temporality = ours.temporality.or(theirs.temporality);
            }
            return Ok(row);
        }
        let mut profile = Profile::default();
        profile.sample_types = types.to_vec();
        let open = OpenProfile { place, profile, ..OpenProfile::default() };
        let row = self.profiles.len();
        budget.row(row + 1, open.bytes())?;
        self.profile_index.add(hash, row as u32);
        self.profiles.push(open);
        Ok(row)
    }

    /// Indexes all rows again, after the ids of strings changed, because hashes depend on ids.
    pub(crate) fn index(&mut self) {
        self.place_index.clear();
        self.profile_index.clear();
        for (place, row) in self.places.iter().zip(0..) {
            self.place_index.add(hash_place(&self.seed, place), row);
        }
        for (open, row) in self.profiles.iter().zip(0..) {
            let hash = profile_hash(&self.seed, open.place, &open.profile.sample_types);
            self.profile_index.add(hash, row);
        }
    }

    /// Iterates over the memory sizes of the declarations in bytes.
    pub(crate) fn bytes(&self) -> impl Iterator<Item = usize> {
        self.places.iter().map(resource_bytes).chain(self.profiles.iter().map(OpenProfile::bytes))
    }
}

/// Returns whether two lists of types are equal, apart from missing temporalities.
fn agree(ours: &[ValueType], theirs: &[ValueType]) -> bool {
    ours.len() == theirs.len()
        && ours.iter().zip(theirs).all(|(ours, theirs)| {
            let temporalities = ours.temporality.zip(theirs.temporality);
            (ours.name, ours.unit) == (theirs.name, theirs.unit)
                && temporalities.is_none_or(|(ours, theirs)| ours == theirs)
        })
}

/// Hashes a profile without temporalities, which may be set later.
fn profile_hash(seed: &Seed, place: u32, types: &[ValueType]) -> u64 {
    // Without temporalities, because `agree` accepts a missing one.
    let names: Vec<_> = types.iter().map(|kind| (kind.name, kind.unit)).collect();
    seed.of(&(place, names))
}

impl OpenProfile {
    /// Returns the memory of the profile in bytes, without its samples.
    fn bytes(&self) -> usize {
        size_of_val(self) + self.profile.owned_bytes()
    }
}
