//! Adds samples to profiles.

use crate::builder::builder::Builder;
use crate::builder::key::Key;
use crate::builder::number::{Nanos, SampleValue};
use crate::builder::pending::Pending;
use crate::builder::stack::IntoStack;
use crate::builder::tree::OpenProfile;
use crate::builder::upscaling::Upscaling;
use crate::builder::value::{StringRef, ValueAndUnit};
use crate::model::id::{AttributeId, LinkId};
use crate::model::profile::Profile;
use crate::tables::rows::budget::Full;
use crate::tables::rows::samples::{Identity, Measured};

/// A sample in progress. It is added to its profile when dropped: at the end of the statement.
///
/// A sample with neither value nor timestamp counts 1. Values belong to one occurrence, and each
/// timestamp is an occurrence.
///
/// A sample in a variable is added when the variable goes out of scope; until then it borrows the builder. If the
/// code in between panics, the sample is incomplete: it is left out and counted in [`dropped`](Builder::dropped). A
/// destructor that runs during a panic can add samples as usual.
///
/// ```
/// use otlp_profiles::{Builder, builder::root_first};
/// use std::time::SystemTime;
///
/// let mut builder = Builder::new();
/// let off_cpu = builder.profile("off_cpu", "nanoseconds");
/// let span = builder.link([7; 16], [9; 8]);
/// builder
///     .sample(off_cpu, root_first(["main", "serve", "read"]))
///     .value(1_500)
///     .timestamp(SystemTime::now())
///     .attr("thread.name", "worker-1")
///     .link(span);
/// ```
#[derive(Debug)]
pub struct NewSample<'a> {
    // Only the reference: this value moves with every method call.
    builder: &'a mut Builder,
}

impl Builder {
    /// Adds a sample of a stack to a profile. See [`NewSample`].
    ///
    /// It costs a hash of the frames' names or keys, and one of the sample. A known stack with known attributes
    /// allocates nothing.
    ///
    /// ```
    /// use otlp_profiles::{Builder, builder::root_first};
    ///
    /// let mut builder = Builder::new();
    /// let cpu = builder.profile("samples", "count");
    /// builder.sample(cpu, root_first(["main", "serve"]));
    /// builder.sample(cpu, root_first(["main", "serve"])).value(2);
    /// let profiles = builder.finish()?;
    /// assert_eq!(profiles.iter().next().unwrap().sums(), [3], "a sample without a value counts 1");
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    #[inline]
    pub fn sample(&mut self, profile: Key<Profile>, stack: impl IntoStack) -> NewSample<'_> {
        let stack = stack.into_stack(self);
        let pending = &mut self.pending;
        pending.clear();
        pending.profile = profile;
        pending.stack = stack;
        pending.panicking = std::thread::panicking();
        NewSample { builder: self }
    }

    /// Adds the pending sample to its profile, unless a panic interrupted it.
    #[inline]
    fn commit(&mut self) {
        let Self { interner, tree, generation, pending, samples, dropped, .. } = self;
        let finished = std::thread::panicking() == pending.panicking;
        let profile = tree.profile_row(pending.profile).filter(|_| finished);
        let open = profile.and_then(|row| tree.profiles.get_mut(row));
        let recorded = open.zip(generation.id(pending.stack)).map(|(open, stack)| {
            let OpenProfile { profile, shapes, dropped_attributes, .. } = open;
            *dropped_attributes = dropped_attributes.saturating_add(pending.dropped);
            let columns = profile.sample_types.len();
            pending.normalize(columns, &mut dropped.values);
            let Pending { attributes, values, times, corrections, link, .. } = pending;
            let identity = Identity { stack, attributes, link: *link };
            let measured = Measured { values, corrections, times };
            let of_shape = &mut shapes[measured.shape() as usize];
            of_shape.record(interner, samples, identity, &measured, columns)
        });
        self.count(recorded);
    }

    /// Adds one occurrence of a sample of another builder. Its ids are already those of this builder.
    pub(crate) fn replay(
        &mut self,
        profile: usize,
        identity: Identity<'_>,
        measured: &Measured<'_>,
    ) {
        let Self { interner, tree, samples, .. } = self;
        let recorded = tree.profiles.get_mut(profile).map(|open| {
            let of_shape = &mut open.shapes[measured.shape() as usize];
            let columns = open.profile.sample_types.len();
            of_shape.record(interner, samples, identity, measured, columns)
        });
        self.count(recorded);
    }

    /// Counts a sample with an invalid key, or one that does not fit.
    #[inline]
    fn count(&mut self, recorded: Option<Result<(), Full>>) {
        if recorded.and_then(|recorded| self.fit(recorded)).is_none() {
            self.dropped.samples += 1;
        }
    }

    /// Adds an attribute to the pending sample.
    #[inline]
    fn put_pending(&mut self, id: Option<AttributeId>) {
        let Self { interner, pending, .. } = self;
        let put = id.map(|id| interner.put(&mut pending.attributes, &mut pending.keys, id));
        if put.and_then(|put| self.fit(put)).is_none() {
            self.pending.dropped += 1;
            self.dropped.attributes += 1;
        }
    }
}

impl NewSample<'_> {
    /// Adds a value for the next of the profile's sample types. Missing values count 0. Values beyond the number of
    /// types are left out and counted in [`dropped`](Builder::dropped). A value beyond 64 bits saturates.
    #[inline]
    pub fn value(self, value: impl SampleValue) -> Self {
        self.builder.pending.values.push(value.saturating());
        self
    }

    /// Adds values, one for each of the profile's sample types.
    ///
    /// ```
    /// use otlp_profiles::{Builder, builder::root_first};
    ///
    /// let mut builder = Builder::new();
    /// let heap = builder.profile_of([("alloc_objects", "count"), ("alloc_space", "bytes")]);
    /// builder.sample(heap, root_first(["main", "parse"])).values([1, 4096]);
    /// ```
    #[inline]
    pub fn values(self, values: impl IntoIterator<Item: SampleValue>) -> Self {
        self.builder.pending.values.extend(values.into_iter().map(SampleValue::saturating));
        self
    }

    /// Multiplies values to undo sampling; other values stay unchanged. Rules for different values can be combined,
    /// before or after the values are set. See [`Upscaling`].
    ///
    /// Totals are rounded once, by [`finish`](Builder::finish) or [`finish_interval`](Builder::finish_interval).
    /// Values with timestamps are rounded one by one.
    ///
    /// ```
    /// use otlp_profiles::{Builder, builder::{Upscaling, root_first}};
    ///
    /// let mut builder = Builder::new();
    /// let lock = builder.profile_of([("contentions", "count"), ("delay", "nanoseconds")]);
    /// let sample = builder.sample(lock, root_first(["main", "wait"])).values([1, 500]);
    /// // One in ten was sampled.
    /// drop([0, 1].into_iter().fold(sample, |sample, value| {
    ///     sample.upscaled(Upscaling::Proportional { value, scale: 10.0 })
    /// }));
    /// assert_eq!(builder.finish()?.iter().next().unwrap().sums(), [10, 5_000]);
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    #[inline]
    pub fn upscaled(self, upscaling: Upscaling) -> Self {
        self.builder.pending.upscaling.push(upscaling);
        self
    }

    /// Adds the time of an occurrence: a `SystemTime`, or a `Duration` or nanoseconds (`u64`) since 1970.
    ///
    /// ```
    /// use otlp_profiles::{Builder, builder::root_first};
    /// use std::time::SystemTime;
    ///
    /// let mut builder = Builder::new();
    /// let wall = builder.profile("wall", "nanoseconds");
    /// builder.sample(wall, root_first(["main", "wait"])).value(10_000_000).timestamp(SystemTime::now());
    /// builder.sample(wall, root_first(["main", "wait"])).value(10_000_000).timestamp(1_763_640_000_000_000_000);
    /// ```
    #[inline]
    pub fn timestamp(self, time: impl Into<Nanos>) -> Self {
        self.builder.pending.times.push(time.into().0);
        self
    }

    /// Adds an attribute by its key. Replaces one with the same name. An invalid key is counted in
    /// [`dropped`](Builder::dropped); the sample is added without the attribute.
    #[inline]
    pub fn attribute(self, attribute: Key<AttributeId>) -> Self {
        let builder = &mut *self.builder;
        let id = builder.generation.id(attribute);
        builder.put_pending(id);
        self
    }

    /// Adds an attribute by name and value. Replaces one with the same name. The value may be a pair of a value and
    /// a unit. An attribute without a name is left out and counted.
    ///
    /// ```
    /// use otlp_profiles::{Builder, builder::root_first};
    ///
    /// let mut builder = Builder::new();
    /// let heap = builder.profile("alloc_space", "bytes");
    /// builder.sample(heap, root_first(["main"])).value(64).attr("size", (64, "bytes")).attr("thread.id", 7);
    /// let profiles = builder.finish()?;
    /// let sample = profiles.iter().next().unwrap().samples().get(0).unwrap();
    /// let labels = profiles.dictionary().resolve(sample.attributes);
    /// assert_eq!(labels.iter().find(|label| label.key == "size").unwrap().unit, "bytes");
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    #[inline]
    pub fn attr<'a>(
        self,
        key: impl Into<StringRef<'a>>,
        value: impl Into<ValueAndUnit<'a>>,
    ) -> Self {
        let id = self.builder.attribute_id(&key.into(), &value.into());
        self.builder.put_pending(id.and_then(AttributeId::some));
        self
    }

    /// Sets the span of the sample. The last call wins. An invalid key is counted in [`dropped`](Builder::dropped);
    /// the sample is added without a link.
    #[inline]
    pub fn link(self, link: Key<LinkId>) -> Self {
        let builder = &mut *self.builder;
        match builder.generation.id(link) {
            Some(link) => builder.pending.link = link,
            None => builder.dropped.links += 1,
        }
        self
    }
}

impl Drop for NewSample<'_> {
    #[inline]
    fn drop(&mut self) {
        self.builder.commit();
    }
}
