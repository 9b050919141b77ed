//! The end of building.

use std::mem::take;
use std::ops::Deref;

use crate::build::compact::compact;
use crate::build::join::join_window;
use crate::build::key::Brand;
use crate::build::samples::{Lane, Shape};
use crate::build::tree::{Draft, DraftResource, Tree};
use crate::build::{Builder, Dropped};
use crate::error::Result;
use crate::model::dictionary::Dictionary;
use crate::model::profile::{Profile, ProfileId};
use crate::model::{Profiles, ResourceProfiles, ScopeProfiles};

/// What a [`Builder`] built, on loan: read it, write it. When it is dropped the builder starts
/// anew in the same memory.
///
/// ```
/// use otlp_profiles::Builder;
///
/// let mut builder = Builder::new();
/// for _interval in 0..3 {
///     let cpu = builder.profile("cpu", "nanoseconds");
///     builder.sample(cpu, ["main", "serve"]).value(10_000_000);
///     let profiles = builder.seal()?;
///     assert_eq!(profiles.iter().next().unwrap().samples().len(), 1);
/// }
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Debug)]
pub struct Sealed<'a>(&'a mut Builder);

impl Deref for Sealed<'_> {
    type Target = Profiles;

    fn deref(&self) -> &Profiles {
        &self.0.sealed
    }
}

impl Drop for Sealed<'_> {
    fn drop(&mut self) {
        let Profiles { dictionary, resources } = take(&mut self.0.sealed);
        self.0.tree.give_back(resources);
        self.0.start_anew(dictionary);
    }
}

impl Builder {
    /// Takes out what was built and leaves the builder as new.
    ///
    /// # Errors
    ///
    /// When a limit was reached and nothing else was asked for: see [`WhenFull`](super::WhenFull).
    /// What was built stays; [`reset`](Self::reset) gives it up.
    pub fn finish(&mut self) -> Result<Profiles> {
        let sealed = self.seal()?;
        Ok(take(&mut sealed.0.sealed))
    }

    /// Lends out what was built, without copying it, and starts anew when it is given back.
    ///
    /// # Errors
    ///
    /// As [`finish`](Self::finish).
    pub fn seal(&mut self) -> Result<Sealed<'_>> {
        self.check()?;
        let dictionary = take(&mut self.interner.dictionary);
        self.sealed = Profiles { dictionary, resources: self.tree.take_resources() };
        compact(&mut self.sealed);
        Ok(Sealed(self))
    }

    /// Starts anew in the memory of `dictionary`.
    pub(crate) fn start_anew(&mut self, dictionary: Dictionary) {
        self.interner.reuse(dictionary);
        self.frames.clear();
        self.labels.clear();
        self.tree.reset();
        self.brand = Brand::new();
        self.full = None;
        self.dropped = Dropped::default();
        self.samples = 0;
    }
}

impl Tree {
    /// The profiles that have samples, by resource and scope.
    fn take_resources(&mut self) -> Vec<ResourceProfiles> {
        let in_resource = |draft: DraftResource| {
            let mut resource = ResourceProfiles::default();
            (resource.resource, resource.schema_url) = (draft.resource, draft.schema_url);
            resource
        };
        let mut resources: Vec<_> =
            take(&mut self.resources).into_iter().map(in_resource).collect();
        for (row, draft) in take(&mut self.scopes).into_iter().enumerate() {
            let profiles = self.take_profiles(row);
            if !profiles.is_empty() {
                let mut scope = ScopeProfiles::default();
                (scope.scope, scope.schema_url) = (draft.scope, draft.schema_url);
                scope.profiles = profiles;
                resources[draft.resource as usize].scopes.push(scope);
            }
        }
        resources.retain(|resource| !resource.scopes.is_empty());
        resources
    }

    /// The profiles of a scope that have samples.
    fn take_profiles(&mut self, scope: usize) -> Vec<Profile> {
        let mut profiles = Vec::new();
        for (row, draft) in self.profiles.iter_mut().enumerate() {
            if draft.scope as usize == scope {
                let lent = |shape| self.lent.push((row, shape));
                draft.take_profiles(&mut profiles, lent);
            }
        }
        profiles
    }

    /// Takes back the samples that were lent out.
    fn give_back(&mut self, resources: Vec<ResourceProfiles>) {
        let scopes = resources.into_iter().flat_map(|mut resource| take(&mut resource.scopes));
        let profiles = scopes.flat_map(|mut scope| take(&mut scope.profiles));
        for (mut profile, &(row, shape)) in profiles.zip(&self.lent) {
            self.profiles[row].lanes[shape as usize].samples = take(&mut profile.samples);
        }
    }

    /// An empty tree in the same memory.
    fn reset(&mut self) {
        let mut spare = take(&mut self.spare);
        for mut draft in take(&mut self.profiles).into_iter().rev() {
            draft.lanes.iter_mut().for_each(Lane::clear);
            spare.push(draft.lanes);
        }
        *self = Self { spare, ..Self::default() };
    }
}

impl Draft {
    /// Moves the samples out: a profile for each shape that has any, and one for each column where
    /// there are timestamps, because those go with one column.
    fn take_profiles(&mut self, profiles: &mut Vec<Profile>, mut lent: impl FnMut(Shape)) {
        self.widen_window();
        let columns = self.profile.sample_types.len();
        let used = |shape: &Shape| !self.lanes[*shape as usize].samples.is_empty();
        let last_shape = Shape::ALL.into_iter().rfind(used);
        for shape in Shape::ALL {
            let lane = &mut self.lanes[shape as usize];
            if lane.samples.is_empty() {
                continue;
            }
            if shape == Shape::Totals {
                lent(shape);
                let mut profile = details(&mut self.profile, Some(shape) == last_shape);
                profile.samples = take(&mut lane.samples);
                profiles.push(profile);
                continue;
            }
            for column in 0..columns {
                lent(shape);
                lane.deal(columns, column);
                let last = column + 1 == columns;
                let mut profile = details(&mut self.profile, last && Some(shape) == last_shape);
                profile.samples = if last { take(&mut lane.samples) } else { lane.samples.clone() };
                profile.sample_types.swap(0, column);
                profile.sample_types.truncate(1);
                profiles.push(profile);
            }
        }
    }

    /// Makes the window hold every timestamp.
    fn widen_window(&mut self) {
        for (first, last) in self.lanes.iter().filter_map(Lane::span) {
            let end = last.saturating_add(1);
            join_window(&mut self.profile, first.into(), (end - first).into());
        }
    }
}

/// All but the samples, which what they are of is asked for once more unless this is the `last`
/// time; what must not be said twice only the first time.
fn details(profile: &mut Profile, last: bool) -> Profile {
    if last {
        return take(profile);
    }
    let details = profile.clone();
    profile.profile_id = ProfileId::NONE;
    profile.dropped_attributes_count = 0;
    details
}
