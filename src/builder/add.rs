//! Adds profiles that were read.

use crate::builder::builder::Builder;
use crate::error::Result;
use crate::model::{Profiles, ResourceProfiles};
use crate::tables::rows::budget::Full;
use crate::tables::rows::merge::{Remap, absorb};
use crate::tables::rows::places::resource_bytes;

impl Builder {
    /// Adds everything in another payload. The time is linear in its size.
    ///
    /// Nothing is lost. Profiles keep their ids, times, attributes, links, original payloads and dropped counts,
    /// even if they are empty. Unreferenced rows of tables stay ([`Profiles::compact`] removes them). Equal rows
    /// become one. Empty rows become row 0, except locations and attributes, each of which becomes one row.
    ///
    /// Scopes and resources that are equal in everything become one. Their profiles follow the builder's own in the
    /// order they were added. Profiles are never added up, even if they have the same types; [`merge`](Self::merge)
    /// does that with other builders.
    ///
    /// # Errors
    ///
    /// The payload does not fit the builder's limits. It is then left out completely, and the builder remains
    /// usable.
    ///
    /// ```
    /// # fn main() -> otlp_profiles::Result<()> {
    /// use otlp_profiles::{Builder, Limits, builder::WhenFull};
    ///
    /// # let [one, other] = ["testdata/go-heap.pb.gz", "testdata/go-cpu-labels.pb.gz"].map(|file| std::fs::read(file).unwrap());
    /// let one = otlp_profiles::read(&one, &Default::default())?.profiles;
    /// let other = otlp_profiles::read(&other, &Default::default())?.profiles;
    ///
    /// let mut both = Builder::with_limits(Limits::file(), WhenFull::Refuse);
    /// both.add(&one)?;
    /// both.add(&other)?;
    /// let both = both.finish()?;
    /// assert_eq!(both.iter().count(), one.iter().count() + other.iter().count());
    /// # Ok(()) }
    /// ```
    pub fn add(&mut self, profiles: &Profiles) -> Result<()> {
        let mark = self.interner.savepoint();
        let remap = absorb(&mut self.interner, &profiles.dictionary)?;
        let samples = profiles.iter().map(|profile| profile.samples.len()).sum();
        let added = self.put_added(&profiles.resources, samples, [remap.clone()], &remap);
        if added.is_err() {
            self.interner.roll_back(mark);
        }
        Ok(added?)
    }

    /// Adds profiles whose dictionary was already interned, if all of them fit. `kept` lists the rows of their
    /// dictionaries, which stay even if unreferenced.
    pub(crate) fn put_added(
        &mut self,
        resources: &[ResourceProfiles],
        samples: usize,
        kept: impl IntoIterator<Item = Remap>,
        remap: &Remap,
    ) -> Result<(), Full> {
        let mut budget = self.interner.budget.clone();
        budget.samples(self.samples + samples)?;
        resources.iter().try_for_each(|resource| budget.bytes(resource_bytes(resource)))?;
        self.interner.budget = budget;
        self.samples += samples;
        self.added.kept.extend(kept);
        self.added.resources.extend(resources.iter().cloned().map(|mut resource| {
            remap.resource_profiles(&mut resource);
            resource
        }));
        Ok(())
    }
}
