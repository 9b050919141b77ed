//! Leaving out resources, profiles, sample types and samples.

use crate::model::attributes::Attributes;
use crate::model::dictionary::Dictionary;
use crate::model::edit::walk::profiles_of;
use crate::model::entries::Entry;
use crate::model::id::{Id, StringId};
use crate::model::order::{ranks, sample_type_order, set_sample_type_order};
use crate::model::profile::{Profile, ValueType};
use crate::model::profiles::{Profiles, ScopeProfiles};
use crate::model::ragged::Ragged;
use crate::model::samples::{SampleRef, Samples};
use crate::model::thin::Thin;
use crate::semconv::PPROF_SCOPE_DEFAULT_SAMPLE_TYPE;

impl Profiles {
    /// Keeps the resources of which this is true, by their attributes, with all that is of them.
    ///
    /// ```
    /// # fn main() -> otlp_profiles::Result<()> {
    /// # let payload = std::fs::read("testdata/otlp-1.11-aggregated-cpu.binpb").unwrap();
    /// let mut profiles = otlp_profiles::read(&payload, &Default::default())?.profiles;
    /// profiles.retain_resources(|resource| resource.get_str("service.name") == Some("checkout"));
    /// profiles.compact(); // Nothing of the other services is left.
    /// # Ok(()) }
    /// ```
    pub fn retain_resources(&mut self, mut keep: impl FnMut(Attributes<'_>) -> bool) {
        let Self { dictionary, resources } = self;
        resources.retain(|one| keep(dictionary.resolve(one.resource.attributes())));
    }

    /// Keeps the profiles of which this is true. A scope goes with its last profile, and a resource
    /// with its last scope.
    ///
    /// ```
    /// # fn main() -> otlp_profiles::Result<()> {
    /// # let payload = std::fs::read("testdata/otlp-1.11-aggregated-cpu.binpb").unwrap();
    /// let mut profiles = otlp_profiles::read(&payload, &Default::default())?.profiles;
    /// profiles.retain_profiles(|entry| !entry.profile().samples().is_empty());
    /// # Ok(()) }
    /// ```
    pub fn retain_profiles(&mut self, keep: impl FnMut(Entry<'_>) -> bool) {
        let kept: Vec<bool> = self.entries().map(keep).collect();
        let mut marks = &kept[..];
        self.thin_out(|scope, dictionary| {
            let (own, rest) = marks.split_at(scope.profiles.len().min(marks.len()));
            marks = rest;
            scope.keep_profiles(own, dictionary);
        });
    }

    /// Keeps the sample types of which this is true, with their values. A profile goes with its last
    /// sample type; one that names none stays.
    ///
    /// ```
    /// # fn main() -> otlp_profiles::Result<()> {
    /// # let profile = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
    /// let mut profiles = otlp_profiles::read(&profile, &Default::default())?.profiles;
    /// profiles.retain_sample_types(|entry, kind| entry.dictionary().text(kind.name) == "cpu");
    /// let profile = profiles.iter().next().unwrap();
    /// assert_eq!(profile.sums(), [1_630_000_000]);
    /// # Ok(()) }
    /// ```
    pub fn retain_sample_types(&mut self, mut keep: impl FnMut(Entry<'_>, ValueType) -> bool) {
        let types = self.entries().flat_map(|entry| {
            entry.profile().sample_types().iter().map(move |kind| (entry, *kind))
        });
        let kept: Vec<bool> = types.map(|(entry, kind)| keep(entry, kind)).collect();
        if kept.iter().all(|&kept| kept) {
            return;
        }
        let mut marks = kept.iter().copied();
        self.thin_out(|scope, dictionary| {
            let mut kept = Vec::with_capacity(scope.profiles.len());
            for profile in &mut scope.profiles {
                let marks: Vec<bool> = marks.by_ref().take(profile.sample_types.len()).collect();
                kept.push(marks.is_empty() || marks.contains(&true));
                profile.keep_sample_types(&marks);
            }
            scope.keep_profiles(&kept, dictionary);
        });
    }

    /// Keeps the samples of which this is true. Profiles without samples stay.
    ///
    /// A pprof file that was split into profiles of one sample type each is put together again only
    /// where all of them have the same samples: what decides should be the stack, the attributes or
    /// the time, rather than a value.
    ///
    /// ```
    /// # fn main() -> otlp_profiles::Result<()> {
    /// # let profile = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
    /// let mut profiles = otlp_profiles::read(&profile, &Default::default())?.profiles;
    /// profiles.retain_samples(|entry, sample| {
    ///     let mut frames = entry.dictionary().frames(sample.stack);
    ///     frames.any(|frame| frame.name() == "main.main")
    /// });
    /// # Ok(()) }
    /// ```
    pub fn retain_samples(&mut self, mut keep: impl FnMut(Entry<'_>, SampleRef<'_>) -> bool) {
        let samples = self
            .entries()
            .flat_map(|entry| entry.profile().samples().iter().map(move |sample| (entry, sample)));
        let kept: Vec<bool> = samples.map(|(entry, sample)| keep(entry, sample)).collect();
        let mut marks = &kept[..];
        for profile in profiles_of(&mut self.resources) {
            let (own, rest) = marks.split_at(profile.samples.len().min(marks.len()));
            profile.samples.keep(own);
            marks = rest;
        }
    }

    /// Forgets the originals that producers sent along with profiles. No other edit changes them, so
    /// what was dropped or rewritten is still in there.
    ///
    /// ```
    /// # let bytes = std::fs::read("testdata/otlp-1.11-aggregated-cpu.binpb").unwrap();
    /// let mut profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
    /// profiles.drop_original_payloads();
    /// assert!(profiles.iter().all(|profile| profile.original_payload().1.is_empty()));
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn drop_original_payloads(&mut self) {
        for profile in profiles_of(&mut self.resources) {
            profile.original_payload = Thin::default();
            profile.original_payload_format = StringId::NONE;
        }
    }

    /// Takes something out of each scope; what held nothing before stays, what holds nothing any more goes, and a
    /// default sample type that is gone is forgotten.
    fn thin_out(&mut self, mut take_out: impl FnMut(&mut ScopeProfiles, &Dictionary)) {
        let Self { dictionary, resources } = self;
        resources.retain_mut(|resource| {
            let held = !resource.scopes.is_empty();
            resource.scopes.retain_mut(|scope| {
                let held = !scope.profiles.is_empty();
                let had_default = scope.has_default_sample_type(dictionary);
                take_out(scope, dictionary);
                if had_default && !scope.has_default_sample_type(dictionary) {
                    let pairs = &mut scope.scope.attributes;
                    pairs.retain(|pair| {
                        dictionary.text(pair.key) != PPROF_SCOPE_DEFAULT_SAMPLE_TYPE
                    });
                }
                !(held && scope.profiles.is_empty())
            });
            !(held && resource.scopes.is_empty())
        });
    }
}

impl ScopeProfiles {
    /// Whether one of its profiles has the default sample type that the scope says.
    fn has_default_sample_type(&self, dictionary: &Dictionary) -> bool {
        let attributes = dictionary.resolve(&*self.scope.attributes);
        attributes.get_str(PPROF_SCOPE_DEFAULT_SAMPLE_TYPE).is_some_and(|name| {
            let mut types = self.profiles.iter().flat_map(|profile| &profile.sample_types);
            types.any(|kind| dictionary.text(kind.name) == name)
        })
    }

    /// Keeps the profiles that are marked; the order of their sample types is that of those left.
    fn keep_profiles(&mut self, kept: &[bool], dictionary: &Dictionary) {
        if kept.iter().all(|&kept| kept) {
            return;
        }
        if let Some(Ok(order)) = sample_type_order(self, dictionary) {
            let order = order.into_iter().zip(kept).filter(|(_, kept)| **kept);
            set_sample_type_order(self, &ranks(order.map(|(column, _)| column)), dictionary);
        }
        keep_marked(&mut self.profiles, kept);
    }
}

impl Profile {
    /// Keeps the sample types that are marked, if any is.
    fn keep_sample_types(&mut self, kept: &[bool]) {
        if kept.iter().all(|&kept| kept) || !kept.contains(&true) {
            return;
        }
        let mut values = Ragged::default();
        for (row, all) in self.samples.values.rows().enumerate() {
            let left = all.iter().zip(kept).filter(|(_, kept)| **kept);
            values.items.extend(left.map(|(value, _)| *value));
            values.end_row_at(row);
        }
        self.samples.values = values;
        let was_default = |kind: &ValueType| kind.name == self.default_sample_type;
        let named = self.sample_types.iter().any(was_default);
        keep_marked(&mut self.sample_types, kept);
        let still = self.sample_types.iter().any(|kind| kind.name == self.default_sample_type);
        if named && !still {
            self.default_sample_type = StringId::NONE;
        }
    }
}

impl Samples {
    /// Keeps the samples that are marked.
    fn keep(&mut self, kept: &[bool]) {
        if kept.iter().all(|&kept| kept) {
            return;
        }
        keep_marked(&mut self.stacks, kept);
        keep_ids(&mut self.links, kept);
        keep_ids(&mut self.stacktrace_ids, kept);
        self.attributes.keep_rows(kept);
        self.values.keep_rows(kept);
        self.timestamps.keep_rows(kept);
    }
}

impl<T: Clone> Ragged<T> {
    /// Keeps the rows that are marked.
    fn keep_rows(&mut self, kept: &[bool]) {
        let mut left = Self::default();
        let rows = kept.iter().enumerate().filter(|(_, kept)| **kept);
        for (at, (row, _)) in rows.enumerate() {
            left.push_at(at, self.row(row));
        }
        *self = left;
    }
}

/// Keeps the items that are marked.
fn keep_marked<T>(items: &mut Vec<T>, kept: &[bool]) {
    let mut kept = kept.iter();
    items.retain(|_| kept.next().copied().unwrap_or(true));
}

/// Keeps the marked ids of a column that ends with the last of them that is one.
fn keep_ids<I: Id>(column: &mut Vec<I>, kept: &[bool]) {
    keep_marked(column, kept);
    let last = column.iter().rposition(|id| id.number() != 0);
    column.truncate(last.map_or(0, |last| last + 1));
}
