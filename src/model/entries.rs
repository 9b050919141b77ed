//! Iterators over profiles and samples.

use std::fmt;

use crate::model::attributes::Attributes;
use crate::model::dictionary::Dictionary;
use crate::model::profile::Profile;
use crate::model::profiles::{Profiles, Resource, ResourceProfiles, Scope, ScopeProfiles};
use crate::model::samples::{SampleRef, Samples};

/// A profile with its scope and resource, and the tables that they share.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// let payload = std::fs::read("testdata/otlp-1.11-aggregated-cpu.binpb").unwrap();
/// let profiles = otlp_profiles::read(&payload, &Default::default())?.profiles;
/// for entry in profiles.entries() {
///     let service = entry.resource_attributes().get_str("service.name").unwrap_or("unknown_service");
///     let profiler = entry.dictionary().text(entry.scope().name());
///     println!("{service}: {} samples by {profiler}", entry.profile().samples().len());
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Copy)]
pub struct Entry<'a> {
    dictionary: &'a Dictionary,
    resource: &'a ResourceProfiles,
    scope: &'a ScopeProfiles,
    profile: &'a Profile,
}

impl<'a> Entry<'a> {
    /// Returns the tables that all profiles share.
    pub fn dictionary(&self) -> &'a Dictionary {
        self.dictionary
    }

    /// Returns the resource with its schema and all its profiles: everything that one process sent in the payload.
    pub fn resource_profiles(&self) -> &'a ResourceProfiles {
        self.resource
    }

    /// Returns the scope with its schema and all its profiles.
    pub fn scope_profiles(&self) -> &'a ScopeProfiles {
        self.scope
    }

    /// Returns the profiled entity: a process, a host, a service.
    /// Without attributes if the payload does not describe it.
    pub fn resource(&self) -> &'a Resource {
        &self.resource.resource
    }

    /// Returns the instrumentation that produced the profile.
    /// It has no name if the source is a pprof.
    pub fn scope(&self) -> &'a Scope {
        &self.scope.scope
    }

    /// Returns the profile.
    pub fn profile(&self) -> &'a Profile {
        self.profile
    }

    /// Returns the attributes of the resource, such as `service.name` and `process.pid`.
    pub fn resource_attributes(&self) -> Attributes<'a> {
        self.dictionary.resolve(&*self.resource.resource.attributes)
    }

    /// Returns the attributes of the scope, such as
    /// [`PPROF_SCOPE_DEFAULT_SAMPLE_TYPE`](crate::semconv::PPROF_SCOPE_DEFAULT_SAMPLE_TYPE).
    pub fn scope_attributes(&self) -> Attributes<'a> {
        self.dictionary.resolve(&*self.scope.scope.attributes)
    }

    /// Returns the attributes of the profile, such as
    /// [`PPROF_PROFILE_COMMENT`](crate::semconv::PPROF_PROFILE_COMMENT).
    pub fn attributes(&self) -> Attributes<'a> {
        self.dictionary.resolve(self.profile.attributes())
    }
}

impl fmt::Debug for Entry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("resource", &self.resource_attributes())
            .field("scope", &self.dictionary.text(self.scope().name()))
            .field("profile", &self.profile.profile_id())
            .field("samples", &self.profile.samples().len())
            .finish_non_exhaustive()
    }
}

impl Profiles {
    /// Iterates over all profiles with their resources and scopes, in the order of the payload.
    ///
    /// ```
    /// # fn main() -> otlp_profiles::Result<()> {
    /// # let profile = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
    /// let profiles = otlp_profiles::read(&profile, &Default::default())?.profiles;
    /// assert_eq!(profiles.entries().count(), profiles.iter().count());
    /// # Ok(()) }
    /// ```
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let dictionary = &self.dictionary;
        self.resources.iter().flat_map(move |resource| {
            resource.scopes.iter().flat_map(move |scope| {
                let entry = move |profile| Entry { dictionary, resource, scope, profile };
                scope.profiles.iter().map(entry)
            })
        })
    }

    /// Iterates over all profiles in the order of the payload, by resource and scope. [`entries`](Self::entries)
    /// returns their resources and scopes as well.
    ///
    /// ```
    /// # let bytes = std::fs::read("testdata/otlp-1.11-aggregated-memory.binpb").unwrap();
    /// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
    /// let sums: Vec<i128> = profiles.iter().flat_map(|profile| profile.sums()).collect();
    /// assert_eq!(sums, [81_600, 400, 19_264, 85]);
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn iter(&self) -> ProfileIter<'_> {
        ProfileIter { resources: self.resources.iter(), scopes: [].iter(), profiles: [].iter() }
    }

    /// Returns the number of profiles in all scopes of all resources.
    ///
    /// ```
    /// let pprof = std::fs::read("testdata/go-heap.pb.gz").unwrap();
    /// let profiles = otlp_profiles::read(&pprof, &Default::default())?.profiles;
    /// // One profile with four sample types.
    /// assert_eq!((profiles.len(), profiles.is_empty()), (1, false));
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn len(&self) -> usize {
        let scopes = self.resources.iter().flat_map(|resource| &resource.scopes);
        scopes.map(|scope| scope.profiles.len()).sum()
    }

    /// Returns whether there are no profiles. There may still be resources, scopes and table rows.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
}

impl<'a> IntoIterator for &'a Profiles {
    type Item = &'a Profile;
    type IntoIter = ProfileIter<'a>;

    fn into_iter(self) -> ProfileIter<'a> {
        self.iter()
    }
}

/// Iterates over the profiles of a payload in order: see [`Profiles::iter`].
#[derive(Clone, Debug)]
pub struct ProfileIter<'a> {
    resources: std::slice::Iter<'a, ResourceProfiles>,
    scopes: std::slice::Iter<'a, ScopeProfiles>,
    profiles: std::slice::Iter<'a, Profile>,
}

impl<'a> Iterator for ProfileIter<'a> {
    type Item = &'a Profile;

    fn next(&mut self) -> Option<&'a Profile> {
        loop {
            if let Some(profile) = self.profiles.next() {
                return Some(profile);
            }
            match self.scopes.next() {
                Some(scope) => self.profiles = scope.profiles.iter(),
                None => self.scopes = self.resources.next()?.scopes.iter(),
            }
        }
    }
}

impl Samples {
    /// Iterates over all samples in order, from either end. Each [`SampleRef`] borrows from the columns.
    ///
    /// ```
    /// # let bytes = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
    /// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
    /// let samples = profiles.iter().next().unwrap().samples();
    /// assert_eq!(samples.iter().len(), 143);
    /// assert_eq!(samples.iter().filter(|sample| sample.values[0] > 1).count(), 18);
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    #[inline]
    pub fn iter(&self) -> SampleIter<'_> {
        SampleIter { samples: self, rows: 0..self.len() }
    }
}

impl<'a> IntoIterator for &'a Samples {
    type Item = SampleRef<'a>;
    type IntoIter = SampleIter<'a>;

    #[inline]
    fn into_iter(self) -> SampleIter<'a> {
        self.iter()
    }
}

/// Iterates over the samples of a profile in order: see [`Samples::iter`].
#[derive(Clone, Debug)]
pub struct SampleIter<'a> {
    samples: &'a Samples,
    rows: std::ops::Range<usize>,
}

impl<'a> Iterator for SampleIter<'a> {
    type Item = SampleRef<'a>;

    #[inline]
    fn next(&mut self) -> Option<SampleRef<'a>> {
        self.samples.get(self.rows.next()?)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.rows.size_hint()
    }
}

impl DoubleEndedIterator for SampleIter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.samples.get(self.rows.next_back()?)
    }
}

impl ExactSizeIterator for SampleIter<'_> {}
