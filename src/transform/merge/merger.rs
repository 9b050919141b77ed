//! Adds profiles to groups of equal identity.

use std::collections::BTreeSet;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::error::Result;
use crate::losses::{self, Losses};
use crate::model::id::{AttributeId, Id, MappingId};
use crate::model::order::{columns, sample_type_order};
use crate::model::profile::{AggregationTemporality, Profile, ProfileId, ValueType};
use crate::model::sample_types::{default_of, scope_default};
use crate::model::samples::SampleRef;
use crate::model::{Dictionary, Profiles, ResourceProfiles, ScopeProfiles};
use crate::semconv;
use crate::tables::attributes::semantic_attributes::AttributeRoles;
use crate::tables::profile::columns::{Join, Joined, join};
use crate::tables::profile::fingerprint::Fingerprints;
use crate::tables::profile::temporality;
use crate::tables::rows::budget::Full;
use crate::tables::rows::interner::Interner;
use crate::tables::rows::merge::{Remap, absorb_relocated};
use crate::tables::rows::samples::Identity;
use crate::transform::binaries::Binaries;
use crate::transform::kind::{Kind, kind_of};
use crate::transform::merge::header::{Agreed, Field, Header};
use crate::transform::merge::options::{Combine, MergeOptions};
use crate::transform::merge::places::{Places, place_of};
use crate::transform::merge::rows::{Rows, SampleKind, Snapshot, sums_of};

/// Merges profiles: add them one payload at a time, then [`finish`](Self::finish).
///
/// Profiles of equal identity are added up: the same resource, scope, sample types, period, attributes and form
/// (totals or timestamped points). All others stay apart. Samples of the same stack, attributes and link become one.
/// Sums have 128 bits, so the order of inputs does not matter; a result beyond 64 bits is an error.
///
/// A merger holds the tables and one row for each distinct sample, not the inputs: memory does not grow with the
/// number of like files. Adding takes time linear in the size of the payload.
///
/// Rows come in the order of their first appearance. To use several threads, merge consecutive inputs in a merger
/// for each thread and [`append`](Self::append) these in order: the result is the same.
///
/// ```
/// use otlp_profiles::transform::{MergeOptions, Merger};
/// # let files = ["testdata/go-heap.pb.gz", "testdata/go-heap.pb.gz"].map(|file| std::fs::read(file).unwrap());
///
/// let mut merger = Merger::new(MergeOptions::default());
/// for file in &files {
///     merger.add(&otlp_profiles::read(file, &Default::default())?.profiles)?;
/// }
/// let merged = merger.finish()?;
/// assert_eq!(merged.profiles.len(), 1);
/// assert!(merged.losses.get("merge.snapshots_summed").is_none(), "both have the same time");
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Merger {
    pub(super) options: MergeOptions,
    pub(super) interner: Interner,
    pub(super) binaries: Binaries,
    pub(super) places: Places,
    pub(super) groups: Vec<Group>,
    index: HashMap<Key, usize, RandomState>,
    /// The places of profiles with an id, by id and contents.
    pub(super) ids: HashMap<(ProfileId, ProfileId), BTreeSet<u32>, RandomState>,
    pub(super) losses: Losses,
    /// The first mapping of the first input that has one, and those of all inputs.
    pub(super) main: MappingId,
    pub(super) mains: BTreeSet<MappingId>,
    /// Rows of all groups.
    pub(super) rows: usize,
    pub(super) inputs: u64,
    pub(super) payloads: u64,
}

/// The identity of profiles that are added up before [`finish`](Merger::finish), which converts units.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) place: u32,
    pub(super) types: Vec<ValueType>,
    pub(super) period_type: ValueType,
    pub(super) period: i64,
    /// Sorted, without those that are fields.
    pub(super) attributes: Vec<AttributeId>,
    pub(super) shape: SampleKind,
    /// The number of the profile if each stays apart.
    pub(super) apart: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Group {
    /// Its position among all groups.
    pub(super) row: usize,
    pub(super) key: Key,
    /// The group of the first column of the same pprof, and which column this group was.
    pub(super) column: Agreed<(usize, usize)>,
    /// How many pprofs of the same identity precede it in its scope, at most.
    pub(super) ordinal: usize,
    pub(super) header: Header,
    pub(super) rows: Rows,
}

/// One input profile on its way into groups.
struct Input<'a> {
    profile: &'a Profile,
    remap: &'a Remap,
    /// By column.
    snapshots: Vec<Snapshot>,
    /// Its snapshots are combined other than by adding.
    is_combined: bool,
    /// The place of the resource that was profiled.
    place: u32,
    key: Key,
    /// The profile's attributes that are fields.
    fields: Vec<(Field, AttributeId)>,
}

impl Merger {
    /// Creates an empty merger.
    pub fn new(options: MergeOptions) -> Self {
        Self {
            interner: Interner::new(options.limits),
            binaries: Binaries::new(options.exact_addresses),
            options,
            places: Places::default(),
            groups: Vec::new(),
            index: HashMap::default(),
            ids: HashMap::default(),
            losses: Losses::default(),
            main: MappingId::NONE,
            mains: BTreeSet::new(),
            rows: 0,
            inputs: 0,
            payloads: 0,
        }
    }

    /// Adds the profiles of a payload.
    ///
    /// # Errors
    ///
    /// A limit of [`MergeOptions::limits`] is reached. The merger then holds part of the payload: discard it.
    pub fn add(&mut self, profiles: &Profiles) -> Result<()> {
        let dictionary = &profiles.dictionary;
        let mut relocation = self.binaries.relocate(dictionary);
        let remap = absorb_relocated(&mut self.interner, dictionary, &mut relocation)?;
        // The main binary of a pprof is its first mapping, which is row 1 because row 0 is empty.
        self.put_main(remap.id(MappingId::from_row(1)));
        let contents = self.contents(profiles);
        // In the order of the loops below; empty if no profile has an id.
        let mut contents = contents.into_iter();
        for resource in &profiles.resources {
            // A resource without scopes stays in the output.
            if resource.scopes.is_empty() {
                self.place(resource, None, &remap);
            }
            for scope in &resource.scopes {
                let place = self.place(resource, Some(scope), &remap);
                let mut groups = Vec::with_capacity(scope.profiles.len());
                for profile in &scope.profiles {
                    let is_new = self.is_new(place, profile, contents.next().flatten());
                    let group =
                        is_new.then(|| self.add_profile(profile, place, dictionary, &remap));
                    groups.push(group.transpose()?);
                }
                self.put_columns(&groups, scope, dictionary);
            }
        }
        self.payloads += 1;
        Ok(())
    }

    /// Notes which column of a pprof each group of a scope was.
    fn put_columns(
        &mut self,
        groups: &[Option<usize>],
        scope: &ScopeProfiles,
        dictionary: &Dictionary,
    ) {
        let order = sample_type_order(scope, dictionary);
        self.losses.add_many(losses::BAD_ORDER, (order == Some(Err(()))).into(), String::new);
        let order = order.and_then(Result::ok).map(|order| {
            let mut places = vec![0; order.len()];
            order.iter().enumerate().for_each(|(at, column)| places[*column] = at);
            (columns(&order), order, places)
        });
        let mut counts: HashMap<_, usize, RandomState> = HashMap::default();
        let mut ordinals: HashMap<usize, usize, RandomState> = HashMap::default();
        let mut known: HashMap<usize, usize, RandomState> = HashMap::default();
        // By profile, the first profile of the pprof to which a conversion would write it.
        let joined = join(scope, dictionary, Join::Compatible, &mut Losses::default());
        let mut first = Vec::with_capacity(groups.len());
        for joined in joined {
            first.extend(std::iter::repeat_n(first.len(), joined.profiles.len()));
        }
        for (at, (group, first)) in groups.iter().zip(first).enumerate() {
            let Some(group) = *group else { continue };
            // Inputs differ in which column is the first profile, so the profile of the first column leads.
            let column = order.as_ref().and_then(|(columns, order, places)| {
                let start = columns[at].0.min(first);
                groups[places[start]].map(|leader| (leader, order[at] - start))
            });
            let Key { period_type, period, attributes, .. } = &self.groups[group].key;
            // A type that a scope has twice is summed up, and so are the other columns beside it.
            let ordinal = *ordinals.entry(first).or_insert_with(|| {
                known.get(&group).copied().unwrap_or_else(|| {
                    let identity = (*period_type, *period, attributes.clone());
                    let count = counts.entry(identity).or_default();
                    *count += 1;
                    *count - 1
                })
            });
            let ordinal = *known.entry(group).or_insert(ordinal);
            let of_group = &mut self.groups[group];
            of_group.column.add(column);
            of_group.ordinal = of_group.ordinal.max(ordinal);
        }
    }

    /// Notes the main binary of an input.
    pub(super) fn put_main(&mut self, main: MappingId) {
        self.main = self.main.some().unwrap_or(main);
        self.mains.extend(main.some());
    }

    fn place(
        &mut self,
        resource: &ResourceProfiles,
        scope: Option<&ScopeProfiles>,
        remap: &Remap,
    ) -> u32 {
        let mut place = place_of(resource, scope);
        remap.resource_profiles(&mut place);
        let Self { interner: Interner { seed, dictionary, .. }, options, .. } = self;
        let (row, removed) = self.places.add(seed, place, &options.resources, dictionary);
        for key in removed {
            self.losses.add(losses::RESOURCE_DROPPED, || dictionary.text(key).to_owned());
        }
        row
    }

    /// For each profile with an id a hash of its contents.
    fn contents(&self, profiles: &Profiles) -> Vec<Option<ProfileId>> {
        let has_id = |profile: &&Profile| profile.profile_id != ProfileId::NONE;
        let count = profiles.iter().filter(has_id).count();
        if count == 0 || self.options.add_repeats {
            return Vec::new();
        }
        let dictionary = &profiles.dictionary;
        let roles = AttributeRoles::of(dictionary);
        let mut fingerprints = Fingerprints::of(dictionary, &roles, count);
        let content = profiles.entries().map(|entry| {
            let profile = Some(entry.profile()).filter(has_id)?;
            let scope = scope_default(entry.scope_profiles(), dictionary);
            let profiles = vec![profile];
            let joined = Joined { profiles, ordered: true, leader: 0, order: None };
            Some(fingerprints.id(&joined, default_of(profile, scope, dictionary)))
        });
        content.collect()
    }

    fn is_new(&mut self, place: u32, profile: &Profile, content: Option<ProfileId>) -> bool {
        let id = profile.profile_id;
        let is_new =
            content.is_none_or(|content| self.ids.entry((id, content)).or_default().insert(place));
        if !is_new {
            self.losses.add(losses::PROFILE_REPEATED, || id.to_string());
        }
        is_new
    }

    fn add_profile(
        &mut self,
        profile: &Profile,
        place: u32,
        dictionary: &Dictionary,
        remap: &Remap,
    ) -> Result<usize> {
        self.inputs += 1;
        let duration = profile.duration_nanos;
        let snapshot = |of: &ValueType| {
            let temporality = temporality::written(*of, duration, dictionary);
            let is_cumulative = temporality == AggregationTemporality::CUMULATIVE;
            match kind_of(*of, duration, dictionary) {
                Kind::Cumulative => Snapshot::Total,
                Kind::Gauge if is_cumulative || self.options.combine == Combine::ByKind => {
                    Snapshot::State
                }
                _ => Snapshot::No,
            }
        };
        let snapshots: Vec<Snapshot> = profile.sample_types.iter().map(snapshot).collect();
        let has_snapshots = snapshots.iter().any(|of| *of != Snapshot::No);
        let (attributes, fields) = self.split_attributes(profile, remap);
        let is_combined = self.options.combine != Combine::Sum && has_snapshots;
        let key = Key {
            place: if is_combined { place } else { self.places.merged(place) },
            types: profile.sample_types.iter().map(|kind| remap.value_type(*kind)).collect(),
            period_type: remap.value_type(profile.period_type),
            period: profile.period,
            attributes,
            shape: SampleKind::Totals,
            apart: if self.options.keep_apart { self.inputs } else { 0 },
        };
        self.add_samples(&Input { profile, remap, snapshots, is_combined, place, key, fields })
    }

    /// Separates attributes that are part of the identity from those that are fields.
    fn split_attributes(
        &self,
        profile: &Profile,
        remap: &Remap,
    ) -> (Vec<AttributeId>, Vec<(Field, AttributeId)>) {
        let dictionary = &self.interner.dictionary;
        let (mut identity, mut fields) = (Vec::new(), Vec::new());
        for id in remap.ids(&profile.attributes) {
            let key = dictionary.attribute(id).map_or("", |row| dictionary.text(row.key));
            match key {
                semconv::PPROF_PROFILE_COMMENT => fields.push((Field::Comments, id)),
                semconv::PPROF_PROFILE_DROP_FRAMES => fields.push((Field::DropFrames, id)),
                semconv::PPROF_PROFILE_KEEP_FRAMES => fields.push((Field::KeepFrames, id)),
                semconv::PPROF_PROFILE_DOC_URL => fields.push((Field::DocUrl, id)),
                _ => identity.push(id),
            }
        }
        identity.sort_unstable();
        (identity, fields)
    }

    /// Adds the samples of a profile. Returns the group of the first.
    fn add_samples(&mut self, input: &Input<'_>) -> Result<usize> {
        let columns = input.key.types.len().max(1);
        let drop = self.options.drop_timestamps;
        let shape_of = |sample: &SampleRef<'_>| {
            if drop { SampleKind::Totals } else { SampleKind::of(sample, columns) }
        };
        let samples = &input.profile.samples;
        let mut shape = samples.get(0).map_or(SampleKind::Totals, |sample| shape_of(&sample));
        let mut group = self.group(&input.key, shape);
        self.add_header(group, input, true);
        let totals =
            if input.is_combined { self.group(&input.key, SampleKind::Totals) } else { group };
        let is_latest = self.add_snapshot(totals, input, columns);
        let (mut groups, mut attributes, mut dropped) = (vec![group], Vec::new(), 0);
        for sample in samples {
            if shape != shape_of(&sample) {
                shape = shape_of(&sample);
                group = self.group(&input.key, shape);
                // The groups of one profile differ in `SampleKind` only, so there are at most four.
                if !groups.contains(&group) {
                    groups.push(group);
                    self.add_header(group, input, false);
                }
            }
            dropped += if drop { sample.timestamps_unix_nano.len() as u64 } else { 0 };
            input.remap.attribute_set(sample.attributes, &mut attributes);
            self.add_sample(group, input, &sample, &attributes)?;
        }
        self.losses.add_many(losses::TIMESTAMPS_DROPPED, dropped, String::new);
        self.losses.add_many(losses::PROFILE_SPLIT, u64::from(groups.len() > 1), String::new);
        if input.is_combined {
            let rows = &mut self.groups[totals].rows;
            rows.apply(&input.snapshots, self.options.combine, is_latest);
        }
        Ok(groups[0])
    }

    #[inline]
    fn add_sample(
        &mut self,
        group: usize,
        input: &Input<'_>,
        sample: &SampleRef<'_>,
        attributes: &[AttributeId],
    ) -> Result<(), Full> {
        let Self { groups, interner, rows: total, .. } = self;
        let Group { key, rows, .. } = &mut groups[group];
        let (columns, shape, remap) = (key.types.len().max(1), key.shape, input.remap);
        let (stack, link) = (remap.id(sample.stack), remap.id(sample.link));
        let identity = Identity { stack, attributes, link };
        let row = rows.row(interner, total, identity, remap.id(sample.stacktrace_id), columns)?;
        if shape == SampleKind::Totals && input.is_combined {
            sums_of(sample, columns, |column, value| rows.pend(row, columns, column, value));
        } else if shape.has_sums() {
            // `Rows::row` has added zeros for all columns of a new row.
            let sums = &mut rows.sums[row * columns..(row + 1) * columns];
            sums_of(sample, columns, |column, value| sums[column] += value);
        }
        if shape != SampleKind::Totals {
            let values = if shape == SampleKind::Series { sample.values } else { &[] };
            rows.add_points(interner, row, sample.timestamps_unix_nano, values)?;
        }
        Ok(())
    }

    /// Takes the groups out. The tables stay, so later groups have comparable keys.
    pub(super) fn take_groups(&mut self) -> Vec<Group> {
        self.index.clear();
        std::mem::take(&mut self.groups)
    }

    /// The row of a group, new or not.
    pub(super) fn group(&mut self, key: &Key, shape: SampleKind) -> usize {
        let key = Key { shape, ..key.clone() };
        if let Some(group) = self.index.get(&key) {
            return *group;
        }
        self.index.insert(key.clone(), self.groups.len());
        let (column, ordinal, header, rows) = Default::default();
        self.groups.push(Group { row: self.groups.len(), key, column, ordinal, header, rows });
        self.groups.len() - 1
    }

    fn add_header(&mut self, group: usize, input: &Input<'_>, is_first: bool) {
        let Self { groups, interner: Interner { dictionary, .. }, places, payloads, .. } = self;
        let header = &mut groups[group].header;
        let clock = (places.rows()[input.place as usize].clock, *payloads);
        header.add(input.profile, input.remap, input.place, clock, is_first);
        for field in [Field::DropFrames, Field::KeepFrames, Field::DocUrl] {
            if input.fields.iter().all(|(other, _)| *other != field) {
                header.lacks(field);
            }
        }
        for (field, id) in &input.fields {
            if let Some(attribute) = dictionary.attribute(*id) {
                header.field(*field, &attribute.value);
            }
        }
    }

    /// Notes the snapshots of a profile. Returns whether they are the latest of the resource.
    fn add_snapshot(&mut self, group: usize, input: &Input<'_>, columns: usize) -> bool {
        if input.snapshots.iter().all(|of| *of == Snapshot::No) {
            return true;
        }
        let mut sums = input.profile.sums();
        sums.resize(columns, 0);
        for (sum, of) in sums.iter_mut().zip(&input.snapshots) {
            *sum *= i128::from(*of != Snapshot::No);
        }
        let Group { header, rows, .. } = &mut self.groups[group];
        header.put_snapshots(&input.snapshots);
        let track = header.tracks.entry(input.place).or_default();
        let is_latest = track.snapshot(input.profile.time_unix_nano, &sums);
        rows.latest += u32::from(is_latest || !self.options.combine.has_latest());
        is_latest
    }
}
