//! The merged profiles of groups.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::error::{Error, ErrorKind, Result};
use crate::losses;
use crate::model::dictionary::{Attribute, Dictionary};
use crate::model::event_form::EventForm;
use crate::model::id::{AttributeId, Id, MappingId, StringId};
use crate::model::profile::{Profile, ValueType};
use crate::model::row_index::RowIndex;
use crate::model::samples::Samples;
use crate::model::value::{KeyValue, Value};
use crate::model::{Profiles, ResourceProfiles};
use crate::semconv;
use crate::tables::profile::covered::Covered;
use crate::tables::rows::compact::compact;
use crate::tables::rows::merge::Remap;
use crate::tables::rows::places::{hash_place, same_place};
use crate::transform::canonical::canonical;
use crate::transform::merge::columns::{Class, Column, blocks, classes, narrow, rows_of};
use crate::transform::merge::header::Header;
use crate::transform::merge::merger::{Group, Key, Merger};
use crate::transform::merge::options::{Columns, Combine, Merged, Snapshots};
use crate::transform::merge::places::place_of;
use crate::transform::merge::rows::{Rows, SampleKind, Snapshot};
use crate::transform::merge::sample_types::{
    Done, compare_texts, lacks_order, order, period_identity, scope_default,
};
use crate::transform::merge::units::unify_units;

/// The period that all groups have, in the finest unit; `None` if they differ.
fn period(groups: &[Group], dictionary: &Dictionary) -> Option<(ValueType, i64)> {
    let identity = |group: &Group| period_identity(&group.key, dictionary);
    let first = identity(groups.first()?);
    if groups.iter().any(|group| identity(group) != first) {
        return None;
    }
    let periods = groups.iter().map(|group| (group.key.period_type, group.key.period));
    periods.min_by_key(|(of, period)| (Reverse(*period), dictionary.text(of.unit)))
}

impl Merger {
    /// Returns the merged profiles without unreferenced table rows.
    ///
    /// # Errors
    ///
    /// A sum does not fit 64 bits; no sample type is common to all inputs and [`Columns::Intersect`] wants one; or a
    /// limit is reached.
    ///
    /// [`Columns::Intersect`]: crate::transform::Columns::Intersect
    pub fn finish(mut self) -> Result<Merged> {
        if unify_units(&mut self.groups, &mut self.interner, &mut self.losses)? {
            let mut unified = Self::new(self.options.clone());
            unified.append(&self)?;
            self = unified;
        }
        for name in self.binaries.restore_addresses(&mut self.interner)? {
            let dictionary = &self.interner.dictionary;
            self.losses.add(losses::MAPPING_REBASED, || dictionary.text(name).to_owned());
        }
        self.interner.budget.hold_to_inputs();
        let groups = std::mem::take(&mut self.groups);
        let mut profiles: Vec<Vec<Done>> = Vec::new();
        profiles.resize_with(self.places.rows().len(), Vec::new);
        let mut snapshots = Vec::new();
        for (place, family) in self.families(groups) {
            let merged = self.merge_family(family, &mut snapshots)?;
            profiles[place as usize].extend(merged);
        }
        let (resources, mut covered) = self.assemble(profiles);
        let Self { interner, losses, options, inputs, main, mains, .. } = self;
        let mut profiles = Profiles { dictionary: interner.dictionary, resources };
        // The first mapping of a payload is the main binary, whether or not a location refers to it.
        let main = if options.canonical { least(mains, &profiles.dictionary) } else { main };
        if options.canonical {
            canonical(&mut profiles, main, &mut covered);
        } else {
            let mut kept = Remap::default();
            kept.0[MappingId::TABLE] = vec![main.number()];
            compact(&mut profiles, &[kept]);
        }
        Ok(Merged { profiles, losses, covered, snapshots, inputs })
    }

    /// Groups that differ in sample types only, with their place, in the order of their first profile.
    fn families(&self, groups: Vec<Group>) -> Vec<(u32, Vec<Group>)> {
        let dictionary = &self.interner.dictionary;
        let blank = |group: &Group, shape| {
            let (key, (types, period_type)) = (&group.key, Default::default());
            let (place, attributes) = (self.places.merged(key.place), key.attributes.clone());
            let period = (!self.options.join_periods).then(|| period_identity(key, dictionary));
            // Profiles of one input that do not fit into one pprof stay apart, as in a conversion.
            let fills = self.options.columns == Columns::ZeroFill;
            let ordinal = if fills { group.ordinal } else { 0 };
            let key = Key { place, types, shape, attributes, period_type, period: 0, ..*key };
            (key, period, ordinal)
        };
        // Profiles without samples have no shape: they go to others of their identity.
        let mut shapes: HashMap<_, SampleKind, RandomState> = HashMap::default();
        for group in groups.iter().filter(|group| group.rows.len() > 0) {
            shapes.entry(blank(group, SampleKind::Totals)).or_insert(group.key.shape);
        }
        let mut index: HashMap<_, usize, RandomState> = HashMap::default();
        let mut families: Vec<(u32, Vec<Group>)> = Vec::new();
        for group in groups {
            let is_empty = group.rows.len() == 0;
            // `add_samples` made the group for snapshots, and no sample came into it.
            if is_empty && group.header.inputs == 0 {
                continue;
            }
            let found = shapes.get(&blank(&group, SampleKind::Totals)).filter(|_| is_empty);
            let key = blank(&group, found.copied().unwrap_or(group.key.shape));
            let place = key.0.place;
            let family = *index.entry(key).or_insert(families.len());
            families.resize_with(families.len().max(family + 1), || (place, Vec::new()));
            families[family].1.push(group);
        }
        families
    }

    fn merge_family(
        &mut self,
        mut groups: Vec<Group>,
        snapshots: &mut Vec<Snapshots>,
    ) -> Result<Vec<Done>> {
        let bytes = self.interner.string(b"By")?;
        let blocks = blocks(&groups);
        let Self { interner, losses, options, .. } = self;
        let dictionary = &interner.dictionary;
        let classes = classes(&groups, &blocks, options, bytes, dictionary, losses);
        if classes.is_empty() {
            return Err(Error::new(
                ErrorKind::Unrepresentable,
                "no sample type is common to all profiles: merge them without --intersect",
            ));
        }
        // Once for all classes: there may be one for each group.
        let period = period(&groups, dictionary);
        let mut merged = Vec::with_capacity(classes.len());
        for class in classes {
            let mut header = Header::default();
            // The columns of one pprof are one input.
            let mut seen = BTreeSet::new();
            let mut first: Vec<usize> = class.members.iter().map(|member| member.group).collect();
            first.retain(|group| seen.insert(blocks[*group]));
            for group in &first {
                header.append(&groups[*group].header, None, |place| place, 0);
            }
            let Self { interner, losses, options, .. } = self;
            // Profiles without samples have no shape.
            let mut members = class.members.iter().map(|member| &groups[member.group]);
            let shape = members.find(|group| group.rows.len() > 0).unwrap_or(&groups[0]).key.shape;
            let mut rows = rows_of(&class, &mut groups, options.combine, interner, losses)?;
            if options.drop_zero {
                self.drop_zero(&mut rows, class.types.len());
            }
            self.report_snapshots(&class, &groups, &rows, snapshots);
            let has_types = class.members.iter().any(|of| !groups[of.group].key.types.is_empty());
            let mut profile = self.header(&groups[0].key, period, &header, merged.is_empty())?;
            profile.samples = self.samples(rows, shape, &class)?;
            let first: Vec<&Group> = first.iter().map(|group| &groups[*group]).collect();
            self.set_default(&mut profile, &header, &first, &class);
            if has_types {
                profile.sample_types = class.types;
            }
            let mut covered = Covered::default();
            header.tracks.values().for_each(|track| covered.join(&track.covered));
            let members = class.members.iter().map(|member| &groups[member.group]);
            let columns = members.clone().map(|group| group.column.all().copied()).collect();
            let groups = members.map(|group| group.row).collect();
            merged.push(Done { profile, covered, groups, columns });
        }
        Ok(merged)
    }

    fn drop_zero(&mut self, rows: &mut Rows, columns: usize) {
        // Events have no sums, and `retain` does not move points.
        if rows.points.is_empty() {
            let sums = rows.sums.chunks(columns);
            let kept: Vec<bool> = sums.map(|sums| sums.iter().any(|sum| *sum != 0)).collect();
            rows.retain(&kept, columns);
            let dropped = kept.iter().filter(|kept| !**kept).count() as u64;
            self.losses.add_many(losses::VALUE_ZERO_DROPPED, dropped, String::new);
        }
    }

    /// Reports sample types whose snapshots of one resource at several times were combined.
    fn report_snapshots(
        &mut self,
        class: &Class,
        groups: &[Group],
        rows: &Rows,
        snapshots: &mut Vec<Snapshots>,
    ) {
        let dictionary = &self.interner.dictionary;
        // By sample type: the number of snapshots, the latest value, and whether there are several times.
        let mut found = vec![(0, 0, false); class.types.len()];
        for member in &class.members {
            let header = &groups[member.group].header;
            for Column { of_class, of_group, factor } in &member.columns {
                if header.snapshots.get(*of_group).is_none_or(|of| *of == Snapshot::No) {
                    continue;
                }
                let (count, last, several) = &mut found[*of_class];
                for track in header.tracks.values() {
                    *count += u64::from(track.snapshots);
                    *last += track.last.get(*of_group).unwrap_or(&0) * factor;
                    *several |= track.times.is_some_and(|(first, last)| first != last);
                }
            }
        }
        for (at, (of, (count, last, several))) in class.types.iter().zip(found).enumerate() {
            if several {
                let [sample_type, unit] =
                    [of.name, of.unit].map(|id| dictionary.text(id).to_owned());
                let sum = rows.sums.iter().skip(at).step_by(class.types.len()).sum();
                if self.options.combine == Combine::Sum {
                    self.losses.add_many(losses::SNAPSHOTS_SUMMED, count, || sample_type.clone());
                }
                snapshots.push(Snapshots { sample_type, unit, count, sum, last });
            }
        }
    }

    /// A profile without samples. Only the `first` of a family keeps its id and original payload.
    fn header(
        &mut self,
        key: &Key,
        period: Option<(ValueType, i64)>,
        header: &Header,
        first: bool,
    ) -> Result<Profile> {
        let mut profile = Profile::default();
        match period {
            Some(period) => (profile.period_type, profile.period) = period,
            None => self.losses.add(losses::PERIOD_DROPPED, String::new),
        }
        let (start, end) = header.span.unwrap_or_default();
        profile.time_unix_nano = start;
        profile.duration_nanos = match header.unplaced {
            // Snapshots at several times cover no time.
            _ if header.durations == 0 => 0,
            _ if self.options.sum_durations => header.durations,
            Some(longest) => longest.max(header.length()),
            None => header.length(),
        };
        let is_last = |of: &Snapshot| of.rule(self.options.combine) == Some(Combine::Last);
        if header.span.is_some()
            && !header.snapshots.is_empty()
            && header.snapshots.iter().all(is_last)
        {
            let last = header.tracks.values().filter_map(|track| Some(track.times?.1)).max();
            profile.time_unix_nano = last.unwrap_or(start);
            profile.duration_nanos = profile.duration_nanos.min(end - profile.time_unix_nano);
        }
        let mixed = header.span.is_some() && header.unplaced.is_some();
        self.losses.add_many(losses::TIME_UNKNOWN, mixed.into(), String::new);
        match header.ids {
            1 if first => profile.profile_id = header.id,
            1 => self.losses.add(losses::PROFILE_ID_FIRST, String::new),
            ids => self.losses.add_many(losses::PROFILE_ID_DROPPED, ids, || header.id.to_string()),
        }
        if header.originals == 1 && header.inputs == 1 && first {
            let (format, payload) = header.original.clone();
            (profile.original_payload_format, profile.original_payload) = (format, payload);
        } else {
            self.losses.add_many(losses::ORIGINAL_DROPPED, header.originals, String::new);
        }
        profile.dropped_attributes_count = if first { header.dropped_attributes } else { 0 };
        profile.in_order = header.in_order;
        if header.inputs == 1 {
            profile.event_form = header.event_form.clone();
        } else if header.clocks {
            self.losses.add(losses::EVENT_CLOCK_DROPPED, String::new);
        } else if header.event_form.clock.is_some() {
            let clock = header.event_form.clock;
            profile.event_form = EventForm { clock, ..EventForm::NONE }.into();
        }
        let mut attributes = key.attributes.clone();
        self.put_fields(header, &mut attributes)?;
        profile.attributes = attributes.into();
        Ok(profile)
    }

    /// Adds the attributes that are fields.
    fn put_fields(&mut self, header: &Header, attributes: &mut Vec<AttributeId>) -> Result<()> {
        let mut comments = header.comments.clone();
        if self.options.canonical {
            let dictionary = &self.interner.dictionary;
            comments.sort_by(|a, b| compare_texts(a, b, dictionary));
        }
        let comments = match &comments[..] {
            [] => None,
            [comment] if !header.listed => Some(comment.clone()),
            comments => Some(Value::Array(comments.into())),
        };
        let [drop, keep, url] = &header.fields;
        let fields = [
            (semconv::PPROF_PROFILE_DROP_FRAMES, drop),
            (semconv::PPROF_PROFILE_KEEP_FRAMES, keep),
            (semconv::PPROF_PROFILE_DOC_URL, url),
        ];
        let mut put = |key: &str, value: Option<Value>| -> Result<()> {
            let Some(value) = value else { return Ok(()) };
            let key = self.interner.string(key.as_bytes())?;
            let attribute = Attribute { key, value, unit: StringId::NONE };
            attributes.push(self.interner.attribute(attribute)?);
            Ok(())
        };
        put(semconv::PPROF_PROFILE_COMMENT, comments)?;
        for (key, field) in fields {
            put(key, field.all().cloned())?;
            if field.value.is_some() && field.all().is_none() {
                self.losses.add(losses::ATTR_PROFILE_DROPPED, || key.to_owned());
            }
        }
        Ok(())
    }

    /// The samples of a profile: sums in 64 bits, points by time.
    fn samples(&self, rows: Rows, shape: SampleKind, class: &Class) -> Result<Samples> {
        // Not 0: a group without sample types has one unnamed column in its class.
        let columns = class.types.len();
        let order = rows.ordered_points();
        let Rows { mut samples, sums, points, point_values, .. } = rows;
        let dictionary = &self.interner.dictionary;
        if shape.has_sums() {
            for (at, sum) in sums.iter().enumerate() {
                let stack = samples.stacks[at / columns];
                samples.values.items.push(narrow(*sum, class, at % columns, stack, dictionary)?);
                if (at + 1) % columns == 0 {
                    samples.values.end_row();
                }
            }
        }
        let mut order = order.into_iter().peekable();
        for row in 0..if points.is_empty() { 0 } else { samples.len() } {
            while let Some(at) = order.next_if(|at| points[*at as usize].0 as usize == row) {
                samples.timestamps.items.push(points[at as usize].1);
                samples.values.items.extend(point_values.get(at as usize));
            }
            samples.timestamps.end_row();
            if shape == SampleKind::Series {
                samples.values.end_row();
            }
        }
        Ok(samples)
    }

    /// Puts profiles under their resources and scopes, and what they cover into the same order.
    fn assemble(&mut self, profiles: Vec<Vec<Done>>) -> (Vec<ResourceProfiles>, Vec<Covered>) {
        let (mut resources, mut index) =
            (Vec::<(ResourceProfiles, Vec<Covered>)>::new(), RowIndex::default());
        let seed = &self.interner.seed;
        for (row, profiles) in profiles.into_iter().enumerate() {
            let place = &self.places.rows()[row];
            if place.merged as usize != row {
                continue;
            }
            let bare = place_of(&place.resource, None);
            let hash = hash_place(seed, &bare);
            let same = |row: u32| same_place(&place_of(&resources[row as usize].0, None), &bare);
            let at = index.find(hash, same).unwrap_or_else(|| {
                index.add(hash, resources.len() as u32);
                resources.len() as u32
            });
            if at as usize == resources.len() {
                resources.push((bare, Vec::new()));
            }
            let (resource, covered) = &mut resources[at as usize];
            covered.extend(profiles.iter().map(|done| done.covered.clone()));
            let order = order(&profiles);
            let Some(mut scope) = place.resource.scopes.first().cloned() else { continue };
            scope.profiles = profiles.into_iter().map(|done| done.profile).collect();
            let default = scope_default(place, self.options.canonical, &self.interner.dictionary);
            scope.scope.attributes.extend(default.cloned());
            let differ = place.defaults.windows(2).any(|pair| pair[0].value != pair[1].value);
            self.losses.add_many(losses::DEFAULT_DROPPED, differ.into(), String::new);
            match (place.order_key, order) {
                (Some(key), Some(value)) => scope.scope.attributes.push(KeyValue { key, value }),
                (Some(_), None) if lacks_order(&scope.profiles) => {
                    let key = || semconv::PPROF_SCOPE_SAMPLE_TYPE_ORDER.to_owned();
                    self.losses.add(losses::BAD_ORDER, key);
                }
                _ => {}
            }
            scope.scope.attributes.sort_unstable_by_key(|pair| pair.key);
            resource.scopes.push(scope);
        }
        let (resources, covered): (Vec<_>, Vec<_>) = resources.into_iter().unzip();
        (resources, covered.concat())
    }
}

/// The mapping with the least address and name.
fn least(mappings: BTreeSet<MappingId>, dictionary: &Dictionary) -> MappingId {
    let key = |id: &MappingId| {
        let of = dictionary.mappings.get(*id);
        (of.memory_start, of.memory_limit, of.file_offset, dictionary.text(of.filename))
    };
    mappings.into_iter().min_by_key(key).unwrap_or_default()
}
