//! Fields of profiles that are added up: each by its own rule.

use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};

use crate::model::event_form::EventForm;
use crate::model::id::{Id, StringId};
use crate::model::lazy_box::LazyBox;
use crate::model::profile::{Profile, ProfileId, ProfileParts};
use crate::model::value::Value;
use crate::tables::profile::covered::Covered;
use crate::tables::rows::merge::Remap;
use crate::transform::merge::rows::Snapshot;

/// A field that stays if all profiles agree.
#[derive(Clone, Debug)]
pub(super) struct Agreed<T> {
    pub(super) value: Option<T>,
    /// Profiles have different values.
    pub(super) conflict: bool,
    /// Some profile has no value.
    pub(super) unset: bool,
}

impl<T> Default for Agreed<T> {
    fn default() -> Self {
        Self { value: None, conflict: false, unset: false }
    }
}

impl<T: PartialEq> Agreed<T> {
    pub(super) fn add(&mut self, value: Option<T>) {
        match value {
            None => self.unset = true,
            Some(value) if self.value.is_none() => self.value = Some(value),
            more => self.conflict |= self.value != more,
        }
    }

    pub(super) fn append(&mut self, other: Self) {
        self.conflict |= other.conflict;
        self.unset |= other.unset;
        if other.value.is_some() {
            self.add(other.value);
        }
    }

    /// The value if no two profiles have different ones.
    pub(super) fn one(&self) -> Option<&T> {
        self.value.as_ref().filter(|_| !self.conflict)
    }

    /// The value if all profiles agree.
    pub(super) fn all(&self) -> Option<&T> {
        self.one().filter(|_| !self.unset)
    }
}

/// The fields of profiles that are attributes but not part of their identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Comments,
    DropFrames,
    KeepFrames,
    DocUrl,
}

/// The snapshots and times of one place.
#[derive(Clone, Debug, Default)]
pub(super) struct Track {
    pub(super) covered: Covered,
    /// The number of profiles with snapshots.
    pub(super) snapshots: u32,
    /// The times of the first and the last snapshot.
    pub(super) times: Option<(i128, i128)>,
    /// The sums of the last snapshot, by column; 0 of columns that are changes.
    pub(super) last: Vec<i128>,
}

impl Track {
    /// Adds a snapshot. Returns whether it is the latest so far.
    pub(super) fn snapshot(&mut self, time: i128, sums: &[i128]) -> bool {
        self.snapshots += 1;
        let (first, last) = self.times.unwrap_or((time, time));
        let is_latest = time >= last;
        self.times = Some((first.min(time), last.max(time)));
        if is_latest {
            self.last = sums.to_vec();
        }
        is_latest
    }

    fn append(&mut self, other: &Self, payloads: u64) {
        self.covered.append(&other.covered, payloads);
        if let Some((first, last)) = other.times {
            let count = self.snapshots + other.snapshots;
            // Two calls extend the range of times by both ends; the count is set afterwards.
            self.snapshot(first, &other.last);
            self.snapshot(last, &other.last);
            self.snapshots = count;
        }
    }
}

/// The header of a group of profiles.
#[derive(Clone, Debug, Default)]
pub(super) struct Header {
    pub(super) inputs: u64,
    /// The first start and the last end of profiles with a known start.
    pub(super) span: Option<(i128, i128)>,
    /// The longest duration of profiles without a start.
    pub(super) unplaced: Option<i128>,
    pub(super) durations: i128,
    /// The number of profiles with an id, and the first.
    pub(super) ids: u64,
    pub(super) id: ProfileId,
    /// The number of profiles with an original payload, and the first.
    pub(super) originals: u64,
    pub(super) original: (StringId, LazyBox<Vec<u8>>),
    pub(super) dropped_attributes: u32,
    /// Default sample types, each once, in the order of their first appearance.
    pub(super) defaults: Vec<StringId>,
    known_defaults: HashSet<StringId, RandomState>,
    /// Some profile names no default sample type.
    pub(super) is_unnamed: bool,
    /// Comments in the order of their first appearance.
    pub(super) comments: Vec<Value>,
    known_comments: HashSet<Value, RandomState>,
    /// A comment is a list.
    pub(super) listed: bool,
    /// Frames to drop, frames to keep and the URL.
    pub(super) fields: [Agreed<Value>; 3],
    /// By column, whether some profile has snapshots.
    pub(super) snapshots: Vec<Snapshot>,
    pub(super) tracks: HashMap<u32, Track, RandomState>,
    pub(super) in_order: bool,
    pub(super) event_form: LazyBox<EventForm>,
    /// The event clocks differ.
    pub(super) clocks: bool,
}

impl Header {
    /// Adds a profile of a place, whose ids become those of the merged dictionary. Attributes that are fields
    /// follow by [`field`](Self::field). Of a profile that is split into several, only the `first` keeps the id.
    pub(super) fn add(
        &mut self,
        profile: &Profile,
        remap: &Remap,
        place: u32,
        (clock, number): (u128, u64),
        first: bool,
    ) {
        // All fields are named, so that a new one does not compile until a rule adds it up.
        let ProfileParts {
            profile_id,
            time_unix_nano: start,
            duration_nanos: duration,
            default_sample_type,
            dropped_attributes_count: dropped,
            original_payload_format: format,
            original_payload: payload,
            in_order,
            event_form,
            // Part of the identity of a group, or added up with its samples.
            sample_types: _,
            period_type: _,
            period: _,
            attributes: _,
            samples: _,
        } = &**profile;
        let (start, duration) = (*start, *duration);
        if start == 0 {
            self.unplaced = self.unplaced.max(Some(duration));
        } else {
            let (first, end) = self.span.unwrap_or((start, start + duration));
            self.span = Some((first.min(start), end.max(start + duration)));
        }
        self.durations += duration;
        if first && *profile_id != ProfileId::NONE {
            self.put_id(1, *profile_id);
        }
        if first && (!payload.is_empty() || *format != StringId::NONE) {
            self.put_original(1, (remap.id(*format), payload.clone()));
        }
        if first {
            self.dropped_attributes = self.dropped_attributes.saturating_add(*dropped);
        }
        self.default(remap.id(*default_sample_type));
        let track = self.tracks.entry(place).or_default();
        track.covered.add(clock, number, (start, duration));
        self.put_form(1, *in_order, event_form);
    }

    /// The nanoseconds from the first start to the last end.
    pub(super) fn length(&self) -> i128 {
        self.span.map_or(0, |(start, end)| end - start)
    }

    fn default(&mut self, name: StringId) {
        self.is_unnamed |= name == StringId::NONE;
        if name != StringId::NONE && self.known_defaults.insert(name) {
            self.defaults.push(name);
        }
    }

    fn put_id(&mut self, count: u64, id: ProfileId) {
        if self.ids == 0 {
            self.id = id;
        }
        self.ids += count;
    }

    fn put_original(&mut self, count: u64, original: (StringId, LazyBox<Vec<u8>>)) {
        if self.originals == 0 {
            self.original = original;
        }
        self.originals += count;
    }

    fn put_form(&mut self, inputs: u64, in_order: bool, form: &LazyBox<EventForm>) {
        if self.inputs == 0 {
            (self.in_order, self.event_form) = (in_order, form.clone());
        } else {
            self.in_order &= in_order;
            self.clocks |= self.event_form.clock != form.clock;
        }
        self.inputs += inputs;
    }

    /// Notes which columns are snapshots.
    pub(super) fn put_snapshots(&mut self, snapshots: &[Snapshot]) {
        self.snapshots.resize(snapshots.len().max(self.snapshots.len()), Snapshot::No);
        for (ours, theirs) in self.snapshots.iter_mut().zip(snapshots) {
            *ours = if *theirs == Snapshot::No { *ours } else { *theirs };
        }
    }

    /// Adds the value of an attribute that is a field.
    pub(super) fn field(&mut self, field: Field, value: &Value) {
        match (field, value) {
            (Field::Comments, Value::Array(values)) => {
                self.listed = true;
                values.iter().for_each(|value| self.comment(value));
            }
            (Field::Comments, value) => self.comment(value),
            // Variant 0, `Comments`, has the arms above.
            _ => self.fields[field as usize - 1].add(Some(value.clone())),
        }
    }

    /// Notes that the last profile lacks fields other than comments.
    pub(super) fn lacks(&mut self, field: Field) {
        // Callers never pass `Comments`, which is variant 0.
        self.fields[field as usize - 1].add(None);
    }

    fn comment(&mut self, value: &Value) {
        if self.known_comments.insert(value.clone()) {
            self.comments.push(value.clone());
        }
    }

    /// Adds the header of other profiles, whose ids are those of another dictionary if there is a `remap`; places
    /// are renumbered by `place`, and their payloads follow so many others.
    pub(super) fn append(
        &mut self,
        other: &Self,
        remap: Option<&Remap>,
        place: impl Fn(u32) -> u32,
        payloads: u64,
    ) {
        fn id<I: Id>(remap: Option<&Remap>, id: I) -> I {
            remap.map_or(id, |remap| remap.id(id))
        }
        let value = |value: &Value| value.map_texts(&mut |text| id(remap, text));
        if let Some((start, end)) = other.span {
            let (first, last) = self.span.unwrap_or((start, end));
            self.span = Some((first.min(start), last.max(end)));
        }
        self.unplaced = self.unplaced.max(other.unplaced);
        self.durations += other.durations;
        self.put_id(other.ids, other.id);
        let (format, payload) = &other.original;
        if other.originals > 0 {
            self.put_original(other.originals, (id(remap, *format), payload.clone()));
        }
        self.dropped_attributes = self.dropped_attributes.saturating_add(other.dropped_attributes);
        self.is_unnamed |= other.is_unnamed;
        other.defaults.iter().for_each(|default| self.default(id(remap, *default)));
        self.listed |= other.listed;
        other.comments.iter().for_each(|comment| self.comment(&value(comment)));
        for (ours, theirs) in self.fields.iter_mut().zip(&other.fields) {
            let Agreed { conflict, unset, .. } = *theirs;
            ours.append(Agreed { value: theirs.value.as_ref().map(value), conflict, unset });
        }
        self.put_snapshots(&other.snapshots);
        for (resource, track) in &other.tracks {
            self.tracks.entry(place(*resource)).or_default().append(track, payloads);
        }
        self.clocks |= other.clocks;
        self.put_form(other.inputs, other.in_order, &other.event_form);
    }
}
