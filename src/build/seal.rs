//! The end of an interval.

use std::mem::{replace, swap, take};
use std::ops::Deref;

use crate::build::added::Added;
use crate::build::builder::{Builder, Dropped};
use crate::build::compact::compact;
use crate::build::join::join_window;
use crate::build::key::Generation;
use crate::build::samples::{Lane, Shape};
use crate::build::tree::{Draft, Tree};
use crate::error::Result;
use crate::model::dictionary::Dictionary;
use crate::model::profile::{Profile, ProfileId};
use crate::model::{Profiles, ResourceProfiles, ScopeProfiles};

/// What a [`Builder`] built, on loan: read it, write it. When it is dropped, the next interval
/// begins in the same memory, with the same resources, scopes and profiles.
///
/// ```
/// use otlp_profiles::{Builder, build::root_first};
///
/// let mut builder = Builder::new();
/// builder.resource().attr("service.name", "checkout");
/// let cpu = builder.profile("cpu", "nanoseconds");
/// for _interval in 0..3 {
///     builder.sample(cpu, root_first(["main", "serve"])).value(10_000_000);
///     let profiles = builder.seal()?;
///     assert_eq!(profiles.iter().next().unwrap().samples().len(), 1);
///     assert_eq!(profiles.resource_profiles()[0].resource().attributes().len(), 1);
/// }
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
///
/// One that is never dropped (`std::mem::forget`) is never given back: the builder goes on as a new
/// one, to which every key is foreign.
#[derive(Debug)]
pub struct Sealed<'a> {
    /// A new one in the place of the one that was sealed.
    builder: &'a mut Builder,
    /// The one that was sealed.
    lent: Builder,
}

impl Sealed<'_> {
    /// What did not fit into this interval.
    /// Of the sealed interval; [`Builder::dropped`] is of the one that is under way.
    pub fn dropped(&self) -> Dropped {
        self.lent.dropped
    }
}

impl Deref for Sealed<'_> {
    type Target = Profiles;

    fn deref(&self) -> &Profiles {
        &self.lent.sealed
    }
}

impl Drop for Sealed<'_> {
    fn drop(&mut self) {
        self.lent.next_interval();
        swap(self.builder, &mut self.lent);
    }
}

impl Builder {
    /// Takes out what was built and leaves the builder as new: nothing is declared any more, and no
    /// key is valid.
    ///
    /// # Errors
    ///
    /// When a limit was reached and nothing else was asked for: see [`WhenFull`](crate::build::WhenFull).
    /// What was built stays; [`reset`](Self::reset) gives it up.
    ///
    /// It takes time and memory linear in what was built. A profile without samples is left out.
    ///
    /// ```
    /// use otlp_profiles::{Builder, build::root_first};
    ///
    /// let mut builder = Builder::new();
    /// let [cpu, _unused] = ["cpu", "wall"].map(|kind| builder.profile(kind, "nanoseconds"));
    /// builder.sample(cpu, root_first(["main"])).value(1);
    /// assert_eq!(builder.finish()?.iter().count(), 1);
    /// assert_eq!(builder.finish()?.iter().count(), 0, "the builder is as new");
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn finish(&mut self) -> Result<Profiles> {
        self.check()?;
        let resources = self.tree.take_resources();
        let dictionary = take(&mut self.interner.dictionary);
        let profiles = self.assemble(dictionary, resources);
        self.start_anew(Dictionary::default());
        Ok(profiles)
    }

    /// Lends out what was built, without copying it. When it is given back, the next interval
    /// begins in the same memory.
    ///
    /// What was declared stays: the resources and scopes, the current one, and the profiles with all
    /// that [`profile_mut`](Self::profile_mut) said of them but for the time, the duration and the
    /// id. Their keys stay valid. The keys of everything else, such as strings, locations and
    /// stacks, are of the interval that is over; see [`Key`](crate::build::Key). A builder that names ever new resources
    /// is [`reset`](Self::reset) now and then.
    ///
    /// # Errors
    ///
    /// As [`finish`](Self::finish).
    ///
    /// ```
    /// use otlp_profiles::{Builder, Format, WriteOptions, build::root_first, write_into};
    ///
    /// let mut builder = Builder::new();
    /// let cpu = builder.profile("cpu", "nanoseconds");
    /// let mut body = Vec::new();
    /// for _minute in 0..2 {
    ///     builder.sample(cpu, root_first(["main"])).value(10_000_000);
    ///     let losses = write_into(&*builder.seal()?, Format::OTLP, &WriteOptions::default(), &mut body)?;
    ///     assert!(losses.is_empty() && !body.is_empty());
    /// }
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn seal(&mut self) -> Result<Sealed<'_>> {
        self.check()?;
        let resources = self.tree.take_resources();
        let dictionary = take(&mut self.interner.dictionary);
        self.declared.put_by(&mut self.tree, &dictionary);
        self.sealed = self.assemble(dictionary, resources);
        let anew = Self::with_limits(self.interner.room.limits, self.when_full);
        Ok(Sealed { lent: replace(self, anew), builder: self })
    }

    /// What was built and added, without rows that nothing needs.
    fn assemble(
        &mut self,
        dictionary: Dictionary,
        mut resources: Vec<ResourceProfiles>,
    ) -> Profiles {
        let mut added = take(&mut self.added);
        added.join(&self.interner.seed, &dictionary, &mut resources);
        let mut profiles = Profiles { dictionary, resources };
        compact(&mut profiles, &added.kept);
        profiles
    }

    /// Starts anew in the memory of what was lent out, with what was declared.
    fn next_interval(&mut self) {
        let Profiles { dictionary, resources } = take(&mut self.sealed);
        self.tree.give_back(resources);
        self.forget_interval(dictionary);
        let restored = self.declared.restore(&mut self.tree, &mut self.interner);
        // It fitted before, when there was more.
        if self.fit(restored).is_none() {
            self.tree.reset();
        }
    }

    /// Starts anew in the memory of `dictionary`.
    pub(crate) fn start_anew(&mut self, dictionary: Dictionary) {
        self.tree.reset();
        self.forget_interval(dictionary);
    }

    fn forget_interval(&mut self, dictionary: Dictionary) {
        self.interner.reuse(dictionary);
        self.frames.clear();
        self.labels.clear();
        self.generation = Generation::new();
        self.added = Added::default();
        self.full = None;
        self.dropped = Dropped::default();
        self.samples = 0;
    }
}

impl Tree {
    /// The profiles that have samples, by resource and scope.
    fn take_resources(&mut self) -> Vec<ResourceProfiles> {
        self.lent.clear();
        let profiles_of = self.profiles_by_scope();
        let mut resources: Vec<_> = self.resources.iter().map(|_| None).collect();
        for (row, profiles) in profiles_of.into_iter().enumerate() {
            let draft = &self.scopes[row];
            if profiles.is_empty() {
                continue;
            }
            let (scope, schema_url) = (draft.scope.clone(), draft.schema_url);
            let of = draft.resource as usize;
            let resource = resources[of].get_or_insert_with(|| {
                let draft = &self.resources[of];
                let (resource, schema_url) = (draft.resource.clone(), draft.schema_url);
                let mut of = ResourceProfiles::default();
                (of.resource, of.schema_url) = (resource, schema_url);
                of
            });
            let mut of = ScopeProfiles::default();
            (of.scope, of.schema_url, of.profiles) = (scope, schema_url, profiles);
            resource.scopes.push(of);
        }
        resources.into_iter().flatten().collect()
    }

    /// The profiles that have samples, by scope.
    fn profiles_by_scope(&mut self) -> Vec<Vec<Profile>> {
        let mut scopes: Vec<_> = self.scopes.iter().map(|_| Vec::new()).collect();
        for (row, draft) in self.profiles.iter_mut().enumerate() {
            let lent = |shape| self.lent.push((row, shape));
            draft.take_profiles(&mut scopes[draft.scope as usize], lent);
        }
        scopes
    }

    /// Takes back the memory of samples that were lent out. Which of them each profile gets matters
    /// to nothing but how much of it there is.
    fn give_back(&mut self, resources: Vec<ResourceProfiles>) {
        let scopes = resources.into_iter().flat_map(|mut resource| take(&mut resource.scopes));
        let profiles = scopes.flat_map(|mut scope| take(&mut scope.profiles));
        for (mut profile, &(row, shape)) in profiles.zip(&self.lent) {
            self.profiles[row].lanes[shape as usize].samples = take(&mut profile.samples);
        }
        for draft in &mut self.profiles {
            draft.next_interval();
        }
    }
}

impl Draft {
    /// Moves the samples out: a profile for each shape that has any, and one for each column where
    /// there are timestamps, because those go with one column.
    fn take_profiles(&mut self, profiles: &mut Vec<Profile>, mut lent: impl FnMut(Shape)) {
        self.widen_window();
        let mut details = self.profile.clone();
        let dropped = &mut details.dropped_attributes_count;
        *dropped = dropped.saturating_add(self.dropped_attributes);
        let columns = details.sample_types.len();
        let used = |shape: &Shape| !self.lanes[*shape as usize].samples.is_empty();
        let last_shape = Shape::ALL.into_iter().rfind(used);
        for shape in Shape::ALL {
            let lane = &mut self.lanes[shape as usize];
            if lane.samples.is_empty() {
                continue;
            }
            if shape == Shape::Totals {
                lent(shape);
                lane.correct_totals();
                let mut profile = said_once(&mut details, Some(shape) == last_shape);
                profile.samples = take(&mut lane.samples);
                profiles.push(profile);
                continue;
            }
            for column in 0..columns {
                lent(shape);
                lane.deal(columns, column);
                let last = column + 1 == columns;
                let mut profile = said_once(&mut details, last && Some(shape) == last_shape);
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

    /// Forgets what is of one interval.
    fn next_interval(&mut self) {
        self.lanes.iter_mut().for_each(Lane::clear);
        self.dropped_attributes = 0;
        let profile = &mut self.profile;
        (profile.time_unix_nano, profile.duration_nanos) = (0, 0);
        profile.profile_id = ProfileId::NONE;
    }
}

/// A copy of all but the samples, the last time the profile itself; what must not be said twice only
/// the first time.
fn said_once(profile: &mut Profile, last: bool) -> Profile {
    if last {
        return take(profile);
    }
    let details = profile.clone();
    profile.profile_id = ProfileId::NONE;
    profile.dropped_attributes_count = 0;
    details
}
