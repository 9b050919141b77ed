//! Collects the profiles of a segment.
//!
//! ```text
//! Profiles ─► intern the dictionary ─► number stacks and mappings by service ─► samples ─► temporary file
//!                                                                            └► Head, one for each row of profiles
//! ```

use std::collections::BTreeSet;
use std::io::{Read, Seek, Write};

use crate::columns::exact;
#[cfg(feature = "parquet")]
use crate::columns::restored::Restored;
use crate::columns::segment_rows::{Group, Head, Keys, Label, Origin, Rows, SegmentRows};
use crate::columns::spill::{Chunk, Spill, Spilled};
use crate::error::Result;
use crate::limits::{Limits, within};
use crate::losses::{self, Losses};
use crate::model::dictionary::Dictionary;
use crate::model::lazy_box::LazyBox;
use crate::model::measures::clamped;
use crate::model::profile::{Profile, ProfileParts, ValueType};
use crate::model::ragged::Ragged;
use crate::model::samples::Samples;
use crate::model::{
    AttributeId, LocationId, MappingId, Profiles, ResourceProfiles, ScopeProfiles, StackId,
    StringId,
};
use crate::semconv;
use crate::tables::rows::interner::Interner;
use crate::tables::rows::merge::{Remap, absorb};
use crate::tables::rows::orphans::{self, Kept};
use crate::tables::rows::reach::Reach;
use crate::wire::hex::hex;

/// How a dataset is divided into files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Partition {
    /// One file for each service, and for samples also for each day.
    #[default]
    ServiceDate,
    /// One file for each service.
    Service,
    /// One file for each table.
    None,
}

/// Options of a [`Segment`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SegmentOptions {
    /// How to divide the tables.
    pub partition: Partition,
    /// The most files of samples.
    pub max_partitions: u64,
    /// The most rows of the table of stacks.
    pub max_segment_stacks: u64,
    /// Limits of the dictionary of the segment: rows, strings, memory.
    pub limits: Limits,
}

impl Default for SegmentOptions {
    fn default() -> Self {
        Self {
            partition: Partition::default(),
            max_partitions: 1_024,
            max_segment_stacks: 16 << 20,
            limits: Limits::file(),
        }
    }
}

/// Collects profiles, to be written as tables.
///
/// Memory holds the dictionary of all profiles and some 200 bytes for each profile. Samples go to a temporary file,
/// which is any `Read + Write + Seek`.
///
/// ```
/// use std::io::Cursor;
///
/// use otlp_profiles::columns::{Segment, SegmentOptions, Table};
///
/// let mut segment = Segment::new(SegmentOptions::default(), Cursor::new(Vec::new()))?;
/// for file in ["testdata/go-heap.pb.gz", "testdata/go-cpu-labels.pb.gz"] {
///     let bytes = std::fs::read(file).unwrap();
///     let reading = otlp_profiles::read(&bytes, &Default::default())?;
///     let losses = segment.add(&reading.profiles, file, "pprof")?;
///     losses.iter().for_each(|loss| println!("{loss}"));
/// }
/// let tables = segment.finish([1; 12])?;
/// let samples = tables.parts().iter().find(|part| part.table == Table::Samples).unwrap();
/// assert!(samples.path(tables.id(), "parquet").starts_with("samples/service="));
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub struct Segment<S> {
    pub(super) options: SegmentOptions,
    pub(super) rows: SegmentRows,
    services: Rows<StringId>,
    stack_rows: Rows<(u32, StackId)>,
    days: BTreeSet<(u32, i64)>,
    pub(super) spill: Spill<S>,
}

impl<S: Read + Write + Seek> Segment<S> {
    /// Creates an empty segment, whose samples go to `file`.
    ///
    /// # Errors
    ///
    /// The limits leave no space at all.
    pub fn new(options: SegmentOptions, file: S) -> Result<Self> {
        let mut interner = Interner::new(options.limits);
        let mut key = |key: &str| interner.string(key.as_bytes());
        let [gnu, go, htlhash] = semconv::BUILD_IDS;
        let build_ids = [key(gnu)?, key(go)?, key(htlhash)?];
        let keys = Keys { frame_type: key(semconv::PROFILE_FRAME_TYPE)?, build_ids };
        let rows = SegmentRows {
            interner,
            keys,
            labels: vec![Label::default()],
            links: vec![Default::default()],
            pairs: Ragged::default(),
            heads: Vec::new(),
            groups: Vec::new(),
            mapping_rows: Rows::default(),
        };
        let (services, stack_rows, days) = Default::default();
        Ok(Self { options, rows, services, stack_rows, days, spill: Spill::new(file) })
    }

    /// Adds the profiles of a message. `input` is the name of the file, `format` that of its format.
    ///
    /// # Errors
    ///
    /// [`check`](Self::check) fails, and nothing was added. Or the segment exceeds a limit, or the temporary file
    /// cannot be written: the segment is then of no use.
    pub fn add(&mut self, profiles: &Profiles, input: &str, format: &str) -> Result<Losses> {
        self.add_from(profiles, |_| (input, format))
    }

    /// Adds profiles of a dataset, which keep the names of their inputs.
    ///
    /// # Errors
    ///
    /// As [`add`](Self::add).
    #[cfg(feature = "parquet")]
    pub fn add_restored(&mut self, restored: &Restored) -> Result<Losses> {
        let source =
            |at: usize| restored.sources.get(at).map(|(input, format)| (&**input, &**format));
        self.add_from(&restored.profiles, |at| source(at).unwrap_or_default())
    }

    /// Adds profiles. `source` returns the input and the format of each.
    fn add_from<'s>(
        &mut self,
        profiles: &Profiles,
        source: impl Fn(usize) -> (&'s str, &'s str),
    ) -> Result<Losses> {
        Self::check(profiles, &self.options.limits)?;
        let (losses, mappings) = losses_of(profiles);
        let remap = absorb(&mut self.rows.interner, &profiles.dictionary)?;
        self.rows.add_texts()?;
        let mut at = 0;
        for resource in &profiles.resources {
            let origin = self.rows.resource(&profiles.dictionary, resource)?;
            for scope in &resource.scopes {
                let origin = self.rows.scope(&profiles.dictionary, scope, origin)?;
                for profile in &scope.profiles {
                    if at == 0 {
                        let group =
                            self.group(origin.service, saturated(profile.time_unix_nano))?;
                        mappings.iter().try_for_each(|id| self.mapping(group, remap.id(*id)))?;
                    }
                    let around = (&profiles.dictionary, resource, scope);
                    let (input, format) = source(at);
                    let input = self.rows.interner.string(input.as_bytes())?;
                    let format = self.rows.interner.string(format.as_bytes())?;
                    self.profile(around, profile, origin, (input, format), &remap)?;
                    at += 1;
                }
            }
        }
        Ok(losses)
    }

    /// Checks that profiles may be added: with inlined ones, a stack has at most `max_stack_depth` frames.
    ///
    /// # Errors
    ///
    /// A stack is deeper. A payload of some bytes may expand to millions of such frames.
    pub fn check(profiles: &Profiles, limits: &Limits) -> Result<()> {
        let Dictionary { stacks, locations, .. } = &profiles.dictionary;
        stacks.rows().try_for_each(|stack| {
            let frames = |location: &LocationId| locations.lines(*location).len().max(1) as u64;
            within("max_stack_depth", limits.max_stack_depth, stack.iter().map(frames).sum())
        })
    }

    /// Adds a profile: its samples, and a head for each sample type.
    fn profile(
        &mut self,
        around: (&Dictionary, &ResourceProfiles, &ScopeProfiles),
        profile: &Profile,
        origin: Origin,
        (input, format): (StringId, StringId),
        remap: &Remap,
    ) -> Result<()> {
        let (attributes, has_texts) = self.attributes(profile, remap)?;
        let is_plain = origin.is_plain && has_texts && is_in_columns(profile);
        let time = saturated(profile.time_unix_nano);
        let group = self.group(origin.service, time)?;
        let exact = if is_plain { Chunk::default() } else { self.exact(around, profile)? };
        let stacks = profile.samples.stacks.iter();
        let stacks = stacks.map(|stack| self.stack(group, remap.id(*stack)));
        let stacks = stacks.collect::<Result<Vec<u32>>>()?;
        let profile_id = match profile.profile_id.0 {
            id if id == [0; 16] => None,
            id => Some(self.rows.interner.string(hex(&id).as_bytes())?),
        };
        let default = remap.id(profile.default_sample_type);
        let period = remap.value_type(profile.period_type);
        let head = Head {
            group,
            types: profile.sample_types.len().max(1) as u32,
            profile_id,
            time,
            duration: saturated(profile.duration_nanos),
            default_sample_type: default.some(),
            period: (period.name, period.unit, profile.period),
            origin,
            attributes,
            samples: profile.samples.len() as i64,
            input,
            format,
            exact,
            ..Head::default()
        };
        let sums = profile.sums();
        for (index, sum) in sums.into_iter().enumerate() {
            let of = profile.sample_types.get(index).copied().unwrap_or_default();
            let (of, sum) = (remap.value_type(of), clamped(sum));
            self.rows.interner.budget.bytes(size_of::<Head>())?;
            let rows = self.samples(profile, index, &stacks, remap)?;
            self.rows.heads.push(Head {
                type_index: index as u32,
                name: of.name,
                unit: of.unit,
                temporality: of.temporality.map(|temporality| temporality.0),
                sum,
                rows,
                ..head.clone()
            });
        }
        Ok(())
    }

    /// Interns the attributes of a profile as text, and returns whether that is everything.
    fn attributes(&mut self, profile: &Profile, remap: &Remap) -> Result<(u32, bool)> {
        let mut is_plain = true;
        for id in &profile.attributes {
            let id: AttributeId = remap.id(*id);
            let label = self.rows.labels[id.row()];
            is_plain &= label.is_plain;
            let key = self.rows.interner.dictionary.attributes[id.row()].key;
            self.rows.pairs.items.push((key, label.text));
        }
        Ok((self.rows.end_pairs()?, is_plain))
    }

    /// Returns the group of a service, and counts its days as partitions.
    fn group(&mut self, service: StringId, time: i64) -> Result<u32> {
        let service =
            if self.options.partition == Partition::None { StringId::NONE } else { service };
        let next = self.rows.groups.len() as u32;
        let group = *self.services.entry(service).or_insert(next);
        if group == next {
            self.rows.groups.push(Group { service, ..Group::default() });
        }
        let day = match self.options.partition {
            Partition::ServiceDate => Head { time, ..Head::default() }.day(),
            _ => 0,
        };
        if self.days.insert((group, day)) {
            let (limit, needed) = (self.options.max_partitions, self.days.len() as u64);
            within("max_partitions", limit, needed)?;
        }
        Ok(group)
    }

    /// Writes what columns cannot represent to the temporary file.
    fn exact(
        &mut self,
        (dictionary, resource, scope): (&Dictionary, &ResourceProfiles, &ScopeProfiles),
        profile: &Profile,
    ) -> Result<Chunk> {
        // All fields are named, so that a new one does not compile until it is stored here or in a column.
        let mut head = Profile::default();
        *head = ProfileParts {
            profile_id: profile.profile_id,
            time_unix_nano: profile.time_unix_nano.max(0),
            duration_nanos: profile.duration_nanos.max(0),
            sample_types: profile.sample_types.first().copied().into_iter().collect(),
            attributes: profile.attributes.clone(),
            dropped_attributes_count: profile.dropped_attributes_count,
            original_payload_format: profile.original_payload_format,
            original_payload: profile.original_payload.clone(),
            // In columns.
            default_sample_type: StringId::NONE,
            period_type: ValueType::default(),
            period: 0,
            samples: Samples::default(),
            // Not exported.
            in_order: false,
            event_form: LazyBox::NONE,
        };
        let mut of = ResourceProfiles::default();
        of.resource = resource.resource.clone();
        of.schema_url = resource.schema_url;
        let mut in_scope = ScopeProfiles::default();
        in_scope.scope = scope.scope.clone();
        in_scope.schema_url = scope.schema_url;
        let bytes = exact::header(dictionary, of, in_scope, head)?;
        self.spill.put(|buffer| buffer.extend_from_slice(&bytes))
    }

    /// Writes the samples of a profile with the values of one column to the temporary file. Reading back the values
    /// of all columns for each of them would take quadratic time.
    fn samples(
        &mut self,
        profile: &Profile,
        column: usize,
        stacks: &[u32],
        remap: &Remap,
    ) -> Result<Chunk> {
        let is_only = profile.sample_types.len() < 2;
        self.spill.put(|bytes| {
            for (row, sample) in stacks.iter().zip(&profile.samples) {
                let attributes = sample.attributes.iter().map(|id| remap.id(*id));
                let sample_is = (*row, remap.id(sample.link));
                let times = sample.timestamps_unix_nano;
                let own = sample.values.get(column..=column).unwrap_or_default();
                let values = if is_only { sample.values } else { own };
                Spilled::encode(bytes, sample_is, attributes, values, times);
            }
        })
    }

    /// Returns the row of a stack in the segment. Numbers it, and its mappings, if it is new to the service.
    #[inline]
    fn stack(&mut self, group: u32, stack: StackId) -> Result<u32> {
        if let Some(row) = self.stack_rows.get(&(group, stack)) {
            return Ok(*row);
        }
        let Self { rows, options, .. } = self;
        let SegmentRows { interner, groups, .. } = rows;
        let row = self.stack_rows.len() as u32;
        within("max_segment_stacks", options.max_segment_stacks, u64::from(row) + 1)?;
        // The row in the group, and the entry of the hash table.
        interner.budget.bytes(48)?;
        self.stack_rows.insert((group, stack), row);
        let group_of = &mut groups[group as usize];
        group_of.stacks.push((row, stack));
        for at in 0..interner.dictionary.stack(stack).len() {
            let Dictionary { stacks, locations, .. } = &self.rows.interner.dictionary;
            let location = stacks.row(stack.row()).get(at).copied().unwrap_or_default();
            locations.mapping(location).some().map_or(Ok(()), |id| self.mapping(group, id))?;
        }
        Ok(row)
    }

    /// Numbers a mapping if it is new to the service.
    fn mapping(&mut self, group: u32, mapping: MappingId) -> Result<()> {
        let SegmentRows { interner, groups, mapping_rows, .. } = &mut self.rows;
        let next = mapping_rows.len() as u32;
        if *mapping_rows.entry((group, mapping)).or_insert(next) == next {
            interner.budget.bytes(48)?;
            groups[group as usize].mappings.push((next, mapping));
        }
        Ok(())
    }
}

/// Counts what the tables do not hold. Also returns the mappings for the service of the first profile: a pprof lists
/// the binaries of its process, the main one first, and stacks need not refer to them.
fn losses_of(profiles: &Profiles) -> (Losses, Vec<MappingId>) {
    let mut losses = Losses::default();
    let strings = &profiles.dictionary.strings;
    losses.add_many(losses::INVALID_UTF8, strings.not_utf8().len() as u64, || {
        strings.not_utf8().next().map_or(String::new(), |(id, _)| format!("{:?}", strings.get(id)))
    });
    let ids = |profile: &Profile| {
        let ids = profile.samples.stacktrace_ids.iter();
        ids.filter(|id| **id != StringId::NONE).count() as u64
    };
    let ids = profiles.iter().map(ids).sum();
    losses.add_many(losses::STACKTRACE_ID_DROPPED, ids, String::new);
    // As OTLP 1.10, the tables have no temporality of the period.
    let periods = profiles.iter().filter(|profile| profile.period_type.temporality.is_some());
    let periods =
        periods.filter(|profile| profile.period_type.temporality != Some(Default::default()));
    losses
        .add_many(losses::TEMPORALITY_DROPPED, periods.count() as u64, || "period_type".to_owned());
    for resource in &profiles.resources {
        let is_lost = resource.scopes.iter().all(|scope| scope.profiles.is_empty());
        let is_lost = is_lost && !resource.resource.is_empty();
        losses.add_many(losses::RESOURCE_DROPPED, is_lost.into(), String::new);
        let is_lost = |scope: &&ScopeProfiles| scope.profiles.is_empty() && !scope.scope.is_empty();
        let scopes = resource.scopes.iter().filter(is_lost).count() as u64;
        losses.add_many(losses::SCOPE_DROPPED, scopes, String::new);
    }
    let mut reach = Reach::by(&profiles.dictionary, profiles);
    let table = &profiles.dictionary.mappings;
    let mut mappings: Vec<MappingId> = (1..table.rows.len() as u32).map(MappingId).collect();
    // Those of several services are divided by the stacks that refer to them.
    mappings.retain(|id| profiles.resources.len() == 1 || !reach.reaches(*id));
    if profiles.iter().next().is_some() {
        for id in &mappings {
            reach.mark(*id);
            table.attributes(*id).iter().for_each(|attribute| reach.mark(*attribute));
        }
    }
    let kept = Kept { tables: false, links: false, attributes: false, stacks: false };
    orphans::note(profiles, Some(&reach), kept, &mut losses);
    (losses, mappings)
}

/// Whether columns hold the header of a profile, apart from its attributes.
fn is_in_columns(profile: &Profile) -> bool {
    let fits = |number: i128| i128::from(saturated(number)) == number;
    fits(profile.time_unix_nano)
        && fits(profile.duration_nanos)
        && !profile.sample_types.is_empty()
        && profile.dropped_attributes_count == 0
        && profile.original_payload_format == StringId::NONE
        && profile.original_payload.is_empty()
}

fn saturated(number: i128) -> i64 {
    i64::try_from(number).unwrap_or(if number < 0 { i64::MIN } else { i64::MAX })
}
