//! One sample, on its way into a profile.

use crate::build::interner::Interner;
use crate::build::key::Key;
use crate::build::lists;
use crate::build::parts::{AnyValue, Frame, Text};
use crate::build::samples::{Identity, Shape, identity_hash};
use crate::build::tree::Draft;
use crate::build::{Builder, Full};
use crate::model::id::{AttributeId, LinkId, StackId};
use crate::model::profile::Profile;

/// What can be a sample's stack: the key of a stack, or an array or slice of frames by name, from
/// the root to the leaf.
///
/// ```
/// use otlp_profiles::{Builder, build::Frame};
///
/// let mut builder = Builder::new();
/// let cpu = builder.profile("cpu", "nanoseconds");
/// builder.sample(cpu, ["main", "parse"]).value(1);
/// builder.sample(cpu, [("main", "src/main.rs", 12), ("parse", "src/parse.rs", 40)]).value(1);
/// let frames = vec![Frame::new("main"), Frame::new("parse").at("src/parse.rs", 40)];
/// builder.sample(cpu, frames.as_slice()).value(1);
/// let stack = builder.path(["main", "parse"]);
/// builder.sample(cpu, stack).value(1);
/// assert_eq!(builder.finish().unwrap().iter().next().unwrap().samples().len(), 3);
/// ```
pub trait IntoStack {
    /// The row of the stack; `None` when it does not fit.
    #[doc(hidden)]
    fn into_stack(self, builder: &mut Builder) -> Key<StackId>;
}

impl IntoStack for Key<StackId> {
    #[inline]
    fn into_stack(self, _: &mut Builder) -> Self {
        self
    }
}

impl<'a, F: Into<Frame<'a>>, const N: usize> IntoStack for [F; N] {
    #[inline]
    fn into_stack(self, builder: &mut Builder) -> Key<StackId> {
        builder.path(self)
    }
}

impl<'a, F: Into<Frame<'a>> + Copy> IntoStack for &[F] {
    #[inline]
    fn into_stack(self, builder: &mut Builder) -> Key<StackId> {
        builder.path(self.iter().copied())
    }
}

/// What is known of the sample being taken.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pending {
    profile: Key<Profile>,
    stack: Key<StackId>,
    link: LinkId,
    attributes: Vec<AttributeId>,
    values: Vec<i64>,
    times: Vec<u64>,
    /// Attributes that did not fit.
    dropped: u32,
}

/// A sample being taken: it is in its profile when this is dropped, at the end of the statement.
///
/// One that says neither value nor time counts 1. Values are those of one occurrence, and each
/// timestamp is an occurrence.
///
/// ```
/// use otlp_profiles::Builder;
///
/// let mut builder = Builder::new();
/// let offcpu = builder.profile("off_cpu", "nanoseconds");
/// let link = builder.link([7; 16], [9; 8]);
/// builder
///     .sample(offcpu, ["main", "serve", "read"])
///     .value(1_500)
///     .at(1_763_640_000_000_000_000)
///     .attr("thread.name", "worker-1")
///     .link(link);
/// ```
#[derive(Debug)]
pub struct NewSample<'a> {
    // Nothing else: it moves with each word that is said of the sample.
    builder: &'a mut Builder,
}

impl Builder {
    /// Takes a sample: a stack, seen in a profile.
    #[inline]
    pub fn sample(&mut self, profile: Key<Profile>, stack: impl IntoStack) -> NewSample<'_> {
        let stack = stack.into_stack(self);
        let pending = &mut self.pending;
        pending.profile = profile;
        pending.stack = stack;
        pending.link = LinkId::NONE;
        pending.attributes.clear();
        pending.values.clear();
        pending.times.clear();
        pending.dropped = 0;
        NewSample { builder: self }
    }

    /// Puts the pending sample into its profile.
    #[inline]
    fn commit(&mut self) {
        let Pending { profile, stack, link, .. } = self.pending;
        let dictionary = &self.interner.dictionary;
        let stack = self.brand.row(stack, dictionary.stacks.len());
        let profile = self.tree.profile_row(&self.brand, profile);
        let (Some(stack), Some(profile)) = (stack, profile) else {
            self.dropped.samples += 1;
            return;
        };
        let recorded = self.record(profile, StackId(stack), link);
        if self.fit(recorded).is_none() {
            self.dropped.samples += 1;
        }
    }

    /// Finds or adds the sample of the pending identity and gives it what is pending.
    #[inline]
    fn record(&mut self, profile: usize, stack: StackId, link: LinkId) -> Result<(), Full> {
        let Self { interner, tree, pending, samples, dropped, .. } = self;
        let Pending { attributes, values, times, dropped: dropped_attributes, .. } = pending;
        let Draft { profile, lanes, .. } = &mut tree.profiles[profile];
        let shape = shape_of(values, times, profile.sample_types.len(), &mut dropped.values);
        let count = &mut profile.dropped_attributes_count;
        *count = count.saturating_add(*dropped_attributes);
        if attributes.len() > 1 {
            attributes.sort_unstable();
        }
        let Interner { room, seed, .. } = interner;
        let lane = &mut lanes[shape as usize];
        if shape != Shape::Totals {
            lane.make_room_for_ticks(room, times.len(), values.len())?;
        }
        let identity = Identity { stack, attributes, link };
        let hash = identity_hash(seed, identity);
        let row = match lane.find(hash, identity) {
            Some(row) => row,
            None => {
                lane.make_room(room, *samples, identity, values.len())?;
                *samples += 1;
                lane.add(hash, identity)
            }
        };
        match shape {
            Shape::Totals => lane.add_values(row, values),
            Shape::Events | Shape::Series => lane.add_ticks(row, times, values),
        }
        Ok(())
    }

    /// Records one occurrence of a sample of another builder, its ids already this one's.
    pub(crate) fn replay(
        &mut self,
        profile: usize,
        stack: StackId,
        link: LinkId,
        attributes: &[AttributeId],
        values: &[i64],
        times: &[u64],
    ) {
        let pending = &mut self.pending;
        pending.dropped = 0;
        pending.attributes.clear();
        pending.attributes.extend_from_slice(attributes);
        pending.values.clear();
        pending.values.extend_from_slice(values);
        pending.times.clear();
        pending.times.extend_from_slice(times);
        let recorded = self.record(profile, stack, link);
        if self.fit(recorded).is_none() {
            self.dropped.samples += 1;
        }
    }

    /// Adds to the attributes of the pending sample.
    #[inline]
    fn put_pending(&mut self, row: Option<u32>) {
        let Self { interner, pending, .. } = self;
        let put = row.map(|row| {
            let id = AttributeId(row);
            lists::put(&mut pending.attributes, id, &interner.dictionary, &interner.room.limits)
        });
        if put.and_then(|put| self.fit(put)).is_none() {
            self.pending.dropped += 1;
            self.dropped.attributes += 1;
        }
    }
}

/// The shape of a sample, its values brought to the number of columns.
#[inline]
fn shape_of(values: &mut Vec<i64>, times: &[u64], columns: usize, dropped: &mut u64) -> Shape {
    if values.is_empty() {
        if !times.is_empty() {
            return Shape::Events;
        }
        values.resize(columns, 1);
    } else if values.len() != columns {
        *dropped += values.len().saturating_sub(columns) as u64;
        values.resize(columns, 0);
    }
    if times.is_empty() { Shape::Totals } else { Shape::Series }
}

impl NewSample<'_> {
    /// With this value, of the next of the profile's sample types. Types left out count 0.
    #[inline]
    pub fn value(self, value: i64) -> Self {
        self.builder.pending.values.push(value);
        self
    }

    /// With these values, one for each of the profile's sample types.
    #[inline]
    pub fn values(self, values: &[i64]) -> Self {
        self.builder.pending.values.extend_from_slice(values);
        self
    }

    /// Seen at this time, in nanoseconds since 1970; once more for each further time.
    #[inline]
    pub fn at(self, unix_nano: u64) -> Self {
        self.builder.pending.times.push(unix_nano);
        self
    }

    /// With this attribute, in place of one with its key.
    #[inline]
    pub fn attribute(self, attribute: Key<AttributeId>) -> Self {
        let builder = &mut *self.builder;
        let row = builder.brand.row(attribute, builder.interner.dictionary.attributes.len());
        builder.put_pending(row);
        self
    }

    /// With an attribute of this key and value, in place of one with its key.
    #[inline]
    pub fn attr<'a>(self, key: impl Into<Text<'a>>, value: impl Into<AnyValue<'a>>) -> Self {
        let row = self.builder.attribute_row(key.into(), value.into(), Text::default());
        self.builder.put_pending(row);
        self
    }

    /// Taken in this span.
    #[inline]
    pub fn link(self, link: Key<LinkId>) -> Self {
        let builder = &*self.builder;
        let row = builder.brand.row(link, builder.interner.dictionary.links.len());
        self.builder.pending.link = LinkId(row.unwrap_or(0));
        self
    }
}

impl Drop for NewSample<'_> {
    #[inline]
    fn drop(&mut self) {
        self.builder.commit();
    }
}
