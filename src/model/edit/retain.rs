//! Removes resources, profiles, sample types and samples.

use crate::model::attributes::Attributes;
use crate::model::dictionary::Dictionary;
use crate::model::edit::walk::profiles_of;
use crate::model::entries::Entry;
use crate::model::id::{Id, StringId};
use crate::model::lazy_box::LazyBox;
use crate::model::order::{ranks, sample_type_order, set_sample_type_order};
use crate::model::profile::{Profile, ValueType};
use crate::model::profiles::{Profiles, ScopeProfiles};
use crate::model::ragged::Ragged;
use crate::model::samples::{SampleRef, Samples};
use crate::semconv::PPROF_SCOPE_DEFAULT_SAMPLE_TYPE;

impl Profiles {
    /// Keeps the resources for which `keep` returns true, judged by their attributes, with all their profiles.
    ///
    /// ```
    /// # fn main() -> otlp_profiles::Result<()> {
    /// # let payload = std::fs::read("testdata/otlp-1.11-aggregated-cpu.binpb").unwrap();
    /// let mut profiles = otlp_profiles::read(&payload, &Default::default())?.profiles;
    /// profiles.retain_resources(|resource| resource.get_str("service.name") == Some("checkout"));
    /// profiles.compact(); // Remove the rows of the other services.
    /// # Ok(()) }
    /// ```
    pub fn retain_resources(&mut self, mut keep: impl FnMut(Attributes<'_>) -> bool) {
        let Self { dictionary, resources } = self;
        resources.retain(|one| keep(dictionary.resolve(one.resource.attributes())));
    }

    /// Keeps the profiles for which `keep` returns true. Removes scopes and resources that lose their last profile.
    ///
    /// ```
    /// # fn main() -> otlp_profiles::Result<()> {
    /// # let payload = std::fs::read("testdata/otlp-1.11-aggregated-cpu.binpb").unwrap();
    /// let mut profiles = otlp_profiles::read(&payload, &Default::default())?.profiles;
    /// profiles.retain_profiles(|entry| !entry.profile().samples().is_empty());
    /// # Ok(()) }
    /// ```
    pub fn retain_profiles(&mut self, keep: impl FnMut(Entry<'_>) -> bool) {
        // All decisions come first, because entries borrow the profiles that `prune` changes.
        let kept: Vec<bool> = self.entries().map(keep).collect();
        let mut marks = &kept[..];
        self.prune(|scope, dictionary| {
            let (own, rest) = marks.split_at(scope.profiles.len().min(marks.len()));
            marks = rest;
            scope.keep_profiles(own, dictionary);
        });
    }

    /// Keeps the sample types for which `keep` returns true, with their values. Removes profiles that lose their
    /// last sample type. Profiles without sample types stay.
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
        self.prune(|scope, dictionary| {
            let mut kept = Vec::with_capacity(scope.profiles.len());
            for profile in &mut scope.profiles {
                let marks: Vec<bool> = marks.by_ref().take(profile.sample_types.len()).collect();
                kept.push(marks.is_empty() || marks.contains(&true));
                profile.keep_sample_types(&marks, dictionary);
            }
            scope.keep_profiles(&kept, dictionary);
        });
    }

    /// Keeps the samples for which `keep` returns true. Profiles without samples stay.
    ///
    /// A pprof file that was split into profiles of one sample type each can be joined again only if all of them
    /// have the same samples. So decide by the stack, the attributes or the time, and not by a value.
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
            profile.samples.retain(own);
            marks = rest;
        }
    }

    /// Removes the original payloads that producers attached to profiles. No other edit changes them, so they still
    /// contain data that was removed or rewritten elsewhere.
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
            profile.original_payload = LazyBox::default();
            profile.original_payload_format = StringId::NONE;
        }
    }

    /// Runs `remove` on each scope. Then removes scopes and resources that have become empty (but not those that
    /// were empty before), and default sample types that no longer exist.
    fn prune(&mut self, mut remove: impl FnMut(&mut ScopeProfiles, &Dictionary)) {
        let Self { dictionary, resources } = self;
        resources.retain_mut(|resource| {
            let held = !resource.scopes.is_empty();
            resource.scopes.retain_mut(|scope| {
                let held = !scope.profiles.is_empty();
                let had_default = scope.has_default_sample_type(dictionary);
                remove(scope, dictionary);
                // A default that no profile had before the edit stays.
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
    /// Returns whether one of its profiles has the scope's default sample type.
    fn has_default_sample_type(&self, dictionary: &Dictionary) -> bool {
        let attributes = dictionary.resolve(&*self.scope.attributes);
        attributes.get_str(PPROF_SCOPE_DEFAULT_SAMPLE_TYPE).is_some_and(|name| {
            let mut types = self.profiles.iter().flat_map(|profile| &profile.sample_types);
            types.any(|kind| dictionary.text(kind.name) == name)
        })
    }

    /// Keeps the marked profiles, and updates the order of their sample types.
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
    /// Keeps the marked sample types. Does nothing if none is marked.
    fn keep_sample_types(&mut self, kept: &[bool], dictionary: &Dictionary) {
        if kept.iter().all(|&kept| kept) || !kept.contains(&true) {
            return;
        }
        // Here the profile has several sample types, so each sample has one value for each: one type is kept or
        // removed as a whole above.
        let mut values = Ragged::default();
        for (row, all) in self.samples.values.rows().enumerate() {
            let left = all.iter().zip(kept).filter(|(_, kept)| **kept);
            values.items.extend(left.map(|(value, _)| *value));
            values.end_row_at(row);
        }
        self.samples.values = values;
        // Repeated strings have several ids.
        let default = dictionary.text(self.default_sample_type);
        let is_default = |kind: &ValueType| dictionary.text(kind.name) == default;
        let named = self.sample_types.iter().any(is_default);
        keep_marked(&mut self.sample_types, kept);
        if named && !self.sample_types.iter().any(is_default) {
            self.default_sample_type = StringId::NONE;
        }
    }
}

impl Samples {
    /// Keeps the marked samples.
    pub(crate) fn retain(&mut self, kept: &[bool]) {
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
    /// Keeps the marked rows.
    fn keep_rows(&mut self, kept: &[bool]) {
        let mut left = Self::default();
        let rows = kept.iter().enumerate().filter(|(_, kept)| **kept);
        for (at, (row, _)) in rows.enumerate() {
            left.push_at(at, self.row(row));
        }
        *self = left;
    }
}

/// Keeps the marked items.
fn keep_marked<T>(items: &mut Vec<T>, kept: &[bool]) {
    let mut kept = kept.iter();
    items.retain(|_| kept.next().copied().unwrap_or(true));
}

/// Keeps the marked ids of a column, and truncates it after the last id that is not NONE.
fn keep_ids<I: Id>(column: &mut Vec<I>, kept: &[bool]) {
    keep_marked(column, kept);
    let last = column.iter().rposition(|id| id.number() != 0);
    column.truncate(last.map_or(0, |last| last + 1));
}
