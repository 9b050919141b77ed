//! Finishes a payload or an interval.

use std::mem::{replace, swap, take};
use std::ops::Deref;

use crate::builder::builder::{Builder, Dropped};
use crate::builder::join::join_time_range;
use crate::builder::key::Generation;
use crate::builder::tree::{OpenProfile, Tree};
use crate::error::Result;
use crate::model::dictionary::Dictionary;
use crate::model::id::StringId;
use crate::model::lazy_box::LazyBox;
use crate::model::profile::{Profile, ProfileId};
use crate::model::{Profiles, ResourceProfiles};
use crate::tables::rows::compact::compact;
use crate::tables::rows::interner::Interner;
use crate::tables::rows::merge::{Remap, absorb};
use crate::tables::rows::places::{Added, join_resources};
use crate::tables::rows::reach::Reach;
use crate::tables::rows::samples::{SampleColumns, Shape};

/// The profiles of an interval, borrowed from a [`Builder`]. When this is dropped, the next interval begins in the
/// same memory, with the same resources, scopes and profiles.
///
/// ```
/// use otlp_profiles::{Builder, builder::root_first};
///
/// let mut builder = Builder::new();
/// builder.resource().attr("service.name", "checkout");
/// let cpu = builder.profile("cpu", "nanoseconds");
/// for _interval in 0..3 {
///     builder.sample(cpu, root_first(["main", "serve"])).value(10_000_000);
///     let profiles = builder.finish_interval()?;
///     assert_eq!(profiles.iter().next().unwrap().samples().len(), 1);
///     assert_eq!(profiles.resource_profiles()[0].resource().attributes().len(), 1);
/// }
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
///
/// If it is never dropped (`std::mem::forget`), its memory is lost: the builder continues as a new one, in which
/// every key is invalid.
#[derive(Debug)]
pub struct Interval<'a> {
    /// The borrowed builder, which contains a new builder for now.
    builder: &'a mut Builder,
    /// The builder that finished the interval.
    lent: Builder,
    /// The finished profiles.
    profiles: Profiles,
    /// The rows that the declarations refer to for now.
    declared: Dictionary,
}

impl Interval<'_> {
    /// Returns counts of data left out of this interval.
    /// [`Builder::dropped`] counts those of the current interval.
    pub fn dropped(&self) -> Dropped {
        self.lent.dropped
    }
}

impl Deref for Interval<'_> {
    type Target = Profiles;

    fn deref(&self) -> &Profiles {
        &self.profiles
    }
}

impl Drop for Interval<'_> {
    fn drop(&mut self) {
        self.lent.next_interval(&mut self.profiles, &self.declared);
        swap(self.builder, &mut self.lent);
    }
}

impl Builder {
    /// Returns the profiles and leaves the builder as new: without declarations, and all
    /// keys are invalid. Time and memory are linear in their size. A profile without samples is left out.
    ///
    /// # Errors
    ///
    /// A limit was reached and the builder does not use [`WhenFull::Drop`](crate::builder::WhenFull).
    /// The content stays in the builder; [`reset`](Self::reset) discards it.
    ///
    /// ```
    /// use otlp_profiles::{Builder, builder::root_first};
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
        let profiles = self.assemble(resources);
        self.reset();
        Ok(profiles)
    }

    /// Lends the profiles of the interval without copying them. When the loan ends, the next interval begins in the
    /// same memory.
    ///
    /// Declarations stay: the resources and scopes, the current one, and the profiles with all settings
    /// of [`profile_mut`](Self::profile_mut) except the time, the duration, the id and the
    /// original payload. Their keys stay valid. All other keys, such as those of strings, locations and
    /// stacks, become invalid; see [`Key`](crate::builder::Key). If a builder keeps declaring new resources,
    /// [`reset`](Self::reset) it now and then.
    ///
    /// # Errors
    ///
    /// The same as [`finish`](Self::finish).
    ///
    /// ```
    /// use otlp_profiles::{Builder, Format, WriteOptions, builder::root_first, write_into};
    ///
    /// let mut builder = Builder::new();
    /// let cpu = builder.profile("cpu", "nanoseconds");
    /// let mut body = Vec::new();
    /// for _minute in 0..2 {
    ///     builder.sample(cpu, root_first(["main"])).value(10_000_000);
    ///     let losses = write_into(&*builder.finish_interval()?, Format::OTLP, &WriteOptions::default(), &mut body)?;
    ///     assert!(losses.is_empty() && !body.is_empty());
    /// }
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn finish_interval(&mut self) -> Result<Interval<'_>> {
        self.check()?;
        self.dropped = self.dropped();
        let resources = self.tree.take_resources();
        // Copied first, because `assemble` takes the dictionary.
        let declared = self.declared();
        let profiles = self.assemble(resources);
        let anew = Self::with_limits(self.interner.budget.limits, self.when_full);
        Ok(Interval { lent: replace(self, anew), builder: self, profiles, declared })
    }

    /// Assembles the built and added profiles, without unreferenced rows.
    fn assemble(&mut self, resources: Vec<ResourceProfiles>) -> Profiles {
        let dictionary = take(&mut self.interner.dictionary);
        let mut added = take(&mut self.added);
        let kept = take(&mut added.kept);
        let resources = added.join(&self.interner.seed, &dictionary, resources);
        let mut profiles = Profiles { dictionary, resources };
        compact(&mut profiles, &kept);
        profiles
    }

    /// Copies the rows that declarations refer to, and makes the declarations refer to the copies.
    fn declared(&mut self) -> Dictionary {
        let Self { tree, interner: Interner { dictionary, .. }, .. } = self;
        let mut reach = Reach::of(dictionary);
        reach.tree(&tree.places);
        tree.profiles.iter().for_each(|open| reach.profile(&open.profile));
        reach.finish(dictionary);
        tree.renumber(&reach.new);
        reach.keep(dictionary)
    }

    /// Starts the next interval in the memory of the lent profiles, and restores the declarations.
    fn next_interval(&mut self, profiles: &mut Profiles, declared: &Dictionary) {
        self.tree.give_back(take(&mut profiles.resources));
        swap(&mut self.interner.dictionary, &mut profiles.dictionary);
        self.forget_interval();
        let Self { tree, interner, .. } = self;
        let restored = absorb(interner, declared).and_then(|remap| {
            tree.renumber(&remap);
            tree.index();
            tree.bytes().try_for_each(|bytes| interner.budget.bytes(bytes))
        });
        // Cannot fail: it fitted before, together with other data.
        if self.fit(restored).is_none() {
            self.tree = Tree::default();
        }
    }

    /// Clears everything except the declarations, and keeps the memory.
    pub(super) fn forget_interval(&mut self) {
        self.interner.clear();
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
    /// Moves out the profiles with samples, by resource and scope.
    fn take_resources(&mut self) -> Vec<ResourceProfiles> {
        let mut places = self.places.clone();
        for open in &mut self.profiles {
            open.take_profiles(&mut places[open.place as usize].scopes[0].profiles);
        }
        let mut resources = join_resources(&self.seed, places);
        for resource in &mut resources {
            resource.scopes.retain(|scope| !scope.profiles.is_empty());
        }
        resources.retain(|resource| !resource.scopes.is_empty());
        resources
    }

    /// Renumbers the ids of all declarations.
    fn renumber(&mut self, remap: &Remap) {
        self.places.iter_mut().for_each(|place| remap.resource_profiles(place));
        self.profiles.iter_mut().for_each(|open| remap.profile(&mut open.profile));
    }

    /// Takes back the memory of lent samples. Any profile may get the memory of any other; only capacities differ.
    fn give_back(&mut self, resources: Vec<ResourceProfiles>) {
        let scopes = resources.into_iter().flat_map(|mut resource| take(&mut resource.scopes));
        let profiles = scopes.flat_map(|mut scope| take(&mut scope.profiles));
        let shapes = self.profiles.iter_mut().flat_map(|open| &mut open.shapes);
        for (of_shape, mut profile) in shapes.filter(|of_shape| of_shape.is_lent()).zip(profiles) {
            of_shape.samples = take(&mut profile.samples);
        }
        for open in &mut self.profiles {
            open.next_interval();
        }
    }
}

impl OpenProfile {
    /// Moves the samples out: one profile for each shape in use. A shape with timestamps becomes one profile per
    /// column, because OTLP's timestamps belong to one sample type.
    fn take_profiles(&mut self, profiles: &mut Vec<Profile>) {
        self.extend_time_range();
        // Each profile has its own types, so do not copy all of them.
        let types = take(&mut self.profile.sample_types);
        let (columns, mut is_first_done) = (types.len(), false);
        for shape in Shape::ALL {
            let of_shape = &mut self.shapes[shape as usize];
            if of_shape.samples.is_empty() {
                continue;
            }
            let parts = if shape == Shape::Totals { 1 } else { columns };
            for part in 0..parts {
                let mut profile = self.profile.clone();
                let dropped = &mut profile.dropped_attributes_count;
                *dropped = dropped.saturating_add(self.dropped_attributes);
                // Only the first profile keeps the id, the original payload and the dropped count.
                if replace(&mut is_first_done, true) {
                    clear_unique_fields(&mut profile);
                    profile.dropped_attributes_count = 0;
                }
                if shape == Shape::Totals {
                    of_shape.correct_totals();
                    profile.sample_types = types.clone();
                } else {
                    of_shape.group_timestamps(columns, part);
                    profile.sample_types = vec![types[part]];
                }
                // The last part takes the samples, and the others copy them.
                let last = part + 1 == parts;
                profile.samples =
                    if last { take(&mut of_shape.samples) } else { of_shape.samples.clone() };
                profiles.push(profile);
            }
        }
        self.profile.sample_types = types;
    }

    /// Extends the time window to include every timestamp.
    fn extend_time_range(&mut self) {
        for (first, last) in self.shapes.iter().filter_map(SampleColumns::span) {
            // The end of a range is exclusive.
            let end = last.saturating_add(1);
            join_time_range(&mut self.profile, first.into(), (end - first).into());
        }
    }

    /// Clears the data of the finished interval.
    fn next_interval(&mut self) {
        self.shapes.iter_mut().for_each(SampleColumns::clear);
        self.dropped_attributes = 0;
        (self.profile.time_unix_nano, self.profile.duration_nanos) = (0, 0);
        clear_unique_fields(&mut self.profile);
    }
}

/// Clears fields that must not occur twice.
fn clear_unique_fields(profile: &mut Profile) {
    profile.profile_id = ProfileId::NONE;
    profile.original_payload_format = StringId::NONE;
    profile.original_payload = LazyBox::NONE;
}
