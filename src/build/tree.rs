//! Resources, scopes and profiles.
//!
//! ```text
//! resources   0 nameless, 1, 2 …        rows are found by what they say: declaring twice is declaring once
//! scopes      0 nameless, 1 …           each with the row of its resource
//! profiles    0, 1 …                    each with the row of its scope; three lanes of samples
//! ```
//!
//! Declarations stay through [`seal`](crate::Builder::seal), samples do not. A profile is found by
//! its scope and its sample types, temporality aside: it may be said by a later declaration.

use std::mem::size_of_val;

use crate::build::key::{Generation, Key};
use crate::build::room::{Full, Room};
use crate::build::samples::{Lane, Shape};
use crate::build::seed::Seed;
use crate::model::id::StringId;
use crate::model::profile::{Profile, ValueType};
use crate::model::row_index::RowIndex;
use crate::model::value::KeyValue;
use crate::model::{Resource, Scope};

/// What is declared, in the order it was named. Row 0 of the resources and of the scopes is the
/// nameless one; profiles have none.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    /// Declarations outlive an interval, so their keys have a generation of their own.
    pub(crate) generation: Generation,
    pub(crate) resources: Vec<DraftResource>,
    pub(crate) scopes: Vec<DraftScope>,
    pub(crate) profiles: Vec<Draft>,
    indexes: Indexes,
    /// The scope that profiles are in from here on; none when it did not fit.
    pub(crate) scope: Option<u32>,
    /// Whose samples are lent out, in the order of the profiles they are in.
    pub(crate) lent: Vec<(usize, Shape)>,
    /// Used memory for samples.
    pub(crate) spare: Vec<[Lane; 3]>,
}

/// Where each declaration is.
#[derive(Clone, Debug, Default)]
struct Indexes {
    seed: Seed,
    resources: RowIndex,
    scopes: RowIndex,
    profiles: RowIndex,
}

/// A resource and its schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DraftResource {
    /// Its attributes are in the order of their keys.
    pub(crate) resource: Resource,
    pub(crate) schema_url: StringId,
}

/// A scope, the row of the resource it is in, and its schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DraftScope {
    /// A row of [`Tree::resources`].
    pub(crate) resource: u32,
    /// Its attributes are in the order of their keys.
    pub(crate) scope: Scope,
    pub(crate) schema_url: StringId,
}

/// A profile being built, and the row of the scope it is in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draft {
    pub(crate) scope: u32,
    /// All but the samples and what is counted of them.
    pub(crate) profile: Profile,
    /// The attributes of samples that did not fit.
    pub(crate) dropped_attributes: u32,
    /// The samples of each [`Shape`].
    pub(crate) lanes: [Lane; 3],
}

impl Default for Tree {
    fn default() -> Self {
        let mut tree = Self {
            generation: Generation::new(),
            resources: vec![DraftResource::default()],
            scopes: vec![DraftScope::default()],
            profiles: Vec::new(),
            indexes: Indexes::default(),
            scope: Some(0),
            lent: Vec::new(),
            spare: Vec::new(),
        };
        tree.index();
        tree
    }
}

impl Tree {
    /// Where a profile is in the list.
    #[inline]
    pub(crate) fn profile_row(&self, key: Key<Profile>) -> Option<usize> {
        (self.generation.row(key)? as usize).checked_sub(1)
    }

    /// The row of a resource, new or not.
    ///
    /// # Errors
    ///
    /// `Full`, and nothing is declared.
    pub(crate) fn resource_row(
        &mut self,
        new: DraftResource,
        room: &mut Room,
    ) -> Result<u32, Full> {
        let Self { resources, indexes, .. } = self;
        let hash = indexes.resource_hash(&new);
        if let Some(row) = indexes.resources.find(hash, |row| resources[row as usize] == new) {
            return Ok(row);
        }
        room.row(resources.len(), new.bytes())?;
        let row = resources.len() as u32;
        indexes.resources.add(hash, row);
        resources.push(new);
        Ok(row)
    }

    /// The row of a scope, new or not.
    pub(crate) fn scope_row(&mut self, new: DraftScope, room: &mut Room) -> Result<u32, Full> {
        let Self { scopes, indexes, .. } = self;
        let hash = indexes.scope_hash(&new);
        if let Some(row) = indexes.scopes.find(hash, |row| scopes[row as usize] == new) {
            return Ok(row);
        }
        room.row(scopes.len(), new.bytes())?;
        let row = scopes.len() as u32;
        indexes.scopes.add(hash, row);
        scopes.push(new);
        Ok(row)
    }

    /// Where the profile of these types in this scope is, new or not. Of one that is there,
    /// temporalities that were not said are filled in; if they contradict, it is another one.
    ///
    /// # Errors
    ///
    /// `Full`, and nothing is declared.
    pub(crate) fn draft_row(
        &mut self,
        scope: u32,
        types: &[ValueType],
        room: &mut Room,
    ) -> Result<usize, Full> {
        let Self { profiles, indexes, spare, .. } = self;
        let hash = indexes.profile_hash(scope, types);
        let is_it = |row: u32| {
            let draft = &profiles[row as usize];
            draft.scope == scope && agree(&draft.profile.sample_types, types)
        };
        if let Some(row) = indexes.profiles.find(hash, is_it) {
            let row = row as usize;
            for (ours, theirs) in profiles[row].profile.sample_types.iter_mut().zip(types) {
                ours.temporality = ours.temporality.or(theirs.temporality);
            }
            return Ok(row);
        }
        let mut profile = Profile::default();
        profile.sample_types = types.to_vec();
        let draft = Draft { scope, profile, ..Draft::default() };
        let row = profiles.len();
        room.row(row + 1, draft.bytes())?;
        indexes.profiles.add(hash, row as u32);
        profiles.push(Draft { lanes: spare.pop().unwrap_or_default(), ..draft });
        Ok(row)
    }

    /// An empty tree in the same memory.
    ///
    /// The lanes of profiles are kept as spare memory, in the order in which new profiles will take
    /// them.
    pub(crate) fn reset(&mut self) {
        let mut spare = std::mem::take(&mut self.spare);
        for mut draft in std::mem::take(&mut self.profiles).into_iter().rev() {
            draft.lanes.iter_mut().for_each(Lane::clear);
            spare.push(draft.lanes);
        }
        *self = Self { spare, ..Self::default() };
    }

    /// Indexes all rows anew.
    ///
    /// After the ids of texts changed: hashes are of ids.
    pub(crate) fn index(&mut self) {
        let Self { resources, scopes, profiles, indexes, .. } = self;
        indexes.resources.clear();
        indexes.scopes.clear();
        indexes.profiles.clear();
        for (resource, row) in resources.iter().zip(0..) {
            indexes.resources.add(indexes.resource_hash(resource), row);
        }
        for (scope, row) in scopes.iter().zip(0..) {
            indexes.scopes.add(indexes.scope_hash(scope), row);
        }
        for (draft, row) in profiles.iter().zip(0..) {
            let hash = indexes.profile_hash(draft.scope, &draft.profile.sample_types);
            indexes.profiles.add(hash, row);
        }
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

impl Indexes {
    fn resource_hash(&self, draft: &DraftResource) -> u64 {
        self.seed.of(&(draft.schema_url, &draft.resource.attributes))
    }

    fn scope_hash(&self, draft: &DraftScope) -> u64 {
        let Scope { name, version, attributes, .. } = &draft.scope;
        self.seed.of(&(draft.resource, draft.schema_url, name, version, attributes))
    }

    /// Without the temporalities, which may be said later.
    fn profile_hash(&self, scope: u32, types: &[ValueType]) -> u64 {
        let names: Vec<_> = types.iter().map(|kind| (kind.name, kind.unit)).collect();
        self.seed.of(&(scope, names))
    }
}

impl DraftResource {
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self) + size_of_val::<[KeyValue]>(&self.resource.attributes)
    }
}

impl DraftScope {
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self) + size_of_val::<[KeyValue]>(&self.scope.attributes)
    }
}

impl Draft {
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self) + size_of_val::<[ValueType]>(&self.profile.sample_types)
    }
}
