//! Merges one builder into another.

use crate::builder::builder::Builder;
use crate::builder::tree::OpenProfile;
use crate::model::profile::{Profile, ProfileId};
use crate::tables::rows::merge::{Remap, absorb};
use crate::tables::rows::samples::Identity;

impl Builder {
    /// Adds the content of another builder. The time is linear in its size.
    ///
    /// Profiles of the same types, in equal scopes of equal resources, are joined: samples
    /// are added up and time windows combined. Other settings of this builder take precedence. Profiles
    /// of different temporalities stay separate, because a sum of changes and totals is meaningless.
    /// Profiles [added](Self::add) to the other builder are added to this one.
    ///
    /// ```
    /// use otlp_profiles::{Builder, builder::root_first};
    ///
    /// let workers = ["a", "b"].map(|name| {
    ///     std::thread::spawn(move || {
    ///         let mut builder = Builder::new();
    ///         let cpu = builder.profile("cpu", "nanoseconds");
    ///         builder.sample(cpu, root_first(["main", name])).value(1);
    ///         builder
    ///     })
    /// });
    /// let mut all = Builder::new();
    /// for worker in workers {
    ///     all.merge(&worker.join().unwrap());
    /// }
    /// assert_eq!(all.finish().unwrap().iter().next().unwrap().samples().len(), 2);
    /// ```
    pub fn merge(&mut self, other: &Builder) {
        self.full = self.full.or(other.full);
        self.dropped += other.dropped;
        let remap = absorb(&mut self.interner, &other.interner.dictionary);
        match self.fit(remap) {
            Some(remap) => self.merge_all(other, &remap),
            None => self.dropped.samples += other.samples as u64,
        }
    }

    /// Merges all profiles of another builder, whose dictionary was absorbed.
    fn merge_all(&mut self, other: &Builder, remap: &Remap) {
        other.tree.profiles.iter().for_each(|open| self.merge_profile(other, open, remap));
        let (added, samples) = (&other.added, other.added.samples());
        let kept = added.kept.iter().map(|kept| kept.then(remap));
        let added = self.put_added(&added.resources, samples, kept, remap);
        if self.fit(added).is_none() {
            self.dropped.samples += samples as u64;
        }
    }

    /// Merges a profile of another builder.
    fn merge_profile(&mut self, other: &Builder, open: &OpenProfile, remap: &Remap) {
        let mut profile = open.profile.clone();
        remap.profile(&mut profile);
        let mut place = other.tree.places[open.place as usize].clone();
        remap.resource_profiles(&mut place);
        let (tree, budget) = (&mut self.tree, &mut self.interner.budget);
        let place = tree.place_row(place, budget);
        let row = place.and_then(|place| tree.open_profile(place, &profile.sample_types, budget));
        let Some(row) = self.fit(row) else {
            let samples = open.shapes.iter().map(|of_shape| of_shape.samples.len() as u64);
            self.dropped.samples += samples.sum::<u64>();
            return;
        };
        let ours = &mut self.tree.profiles[row];
        ours.dropped_attributes = ours.dropped_attributes.saturating_add(open.dropped_attributes);
        merge_details(&mut ours.profile, profile);
        let columns = open.profile.sample_types.len();
        let mut attributes = Vec::new();
        for of_shape in &open.shapes {
            of_shape.for_each(columns, |identity, measured| {
                remap.attribute_set(identity.attributes, &mut attributes);
                let (stack, link) = (remap.id(identity.stack), remap.id(identity.link));
                let identity = Identity { stack, attributes: &attributes, link };
                self.replay(row, identity, measured);
            });
        }
    }
}

/// Joins the time windows, and copies fields that `ours` lacks from `theirs`.
fn merge_details(ours: &mut Profile, mut theirs: Profile) {
    join_time_range(ours, theirs.time_unix_nano, theirs.duration_nanos);
    if ours.profile_id == ProfileId::NONE {
        ours.profile_id = theirs.profile_id;
    }
    if ours.original_payload.is_empty() {
        ours.original_payload_format = theirs.original_payload_format;
        ours.original_payload = std::mem::take(&mut theirs.original_payload);
    }
    if ours.period_type.is_none() && ours.period == 0 {
        (ours.period_type, ours.period) = (theirs.period_type, theirs.period);
    }
    ours.dropped_attributes_count =
        ours.dropped_attributes_count.saturating_add(theirs.dropped_attributes_count);
    if ours.attributes.is_empty() {
        ours.attributes = std::mem::take(&mut theirs.attributes);
    }
}

/// Extends the time window of a profile to include another one. If one start is unknown, uses the other start and
/// the longer duration, limited to times of 64 bits.
pub(crate) fn join_time_range(profile: &mut Profile, time_unix_nano: i128, duration_nanos: i128) {
    if time_unix_nano == 0 || profile.time_unix_nano == 0 {
        // At least one start is 0, so the sum is the known start.
        profile.time_unix_nano += time_unix_nano;
        let longest = i128::from(u64::MAX) - profile.time_unix_nano;
        profile.duration_nanos = profile.duration_nanos.max(duration_nanos).min(longest);
        return;
    }
    let end = time_unix_nano + duration_nanos;
    let our_end = profile.time_unix_nano + profile.duration_nanos;
    profile.time_unix_nano = profile.time_unix_nano.min(time_unix_nano);
    profile.duration_nanos = our_end.max(end) - profile.time_unix_nano;
}
