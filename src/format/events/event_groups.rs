//! Grouping of the events of each type into samples.
//!
//! ```text
//! events of type 0   {stack 1, +1 ms} {stack 2, +3 ms} {stack 1, +5 ms}
//! samples            stack 1 at [1, 5]     stack 2 at [3]         one row for each identity
//! places             [0, 2, 1]             only if the events are not in the default order
//! ```
//!
//! This step is between resolving single events (`resolve`) and building profiles (`read`). A stable sort by
//! row collects the values and times of each sample, in O(n log n).

use std::collections::BTreeMap;

use super::order::SortKey;
use super::resolve::{Deviation, Event};
use crate::error::Result;
use crate::format::assembly::Numbering;
use crate::model::id::{AttributeId, LinkId, StackId};
use crate::model::samples::Samples;
use crate::read_context::ReadContext;

/// The key for grouping events into a sample.
///
/// The attributes are sorted and unique, so equal sets are equal slices.
type Identity = (StackId, LinkId, Box<[AttributeId]>);

/// The events of a type that have times, or those without times.
///
/// A type with both makes two groups, because the values of a sample in OTLP either all have times or all lack
/// them.
#[derive(Default)]
pub(super) struct EventGroup {
    /// The index of the type.
    pub(super) kind: usize,
    /// Whether these events have times.
    pub(super) is_timed: bool,
    /// The samples, without values and times.
    rows: Samples,
    /// The number of events of each row.
    ///
    /// It numbers the events within a row, to detect the default order.
    sizes: Vec<u32>,
    /// The row of each identity; unused without times.
    numbering: Numbering<Identity>,
    /// The events in the order of the payload.
    ///
    /// 48 bytes each, charged to the budget.
    events: Vec<GroupedEvent>,
    /// Whether the events of all types are in the default order.
    ///
    /// Copied from [`EventGroups`] after all events are added.
    is_usual: bool,
}

/// An event in its sample, which has its stack, link and attributes.
#[derive(Clone, Copy)]
pub(super) struct GroupedEvent {
    row: u32,
    /// The number of the event in the payload.
    place: u32,
    /// Nanoseconds since 1970; 0 without a time.
    at: u64,
    /// The value, in the unit of its type.
    pub(super) total: i64,
    /// Nanoseconds, whatever the frequency of the clock.
    pub(super) duration: i64,
    /// The number of events that were added up; at least 1.
    pub(super) count: i64,
    deviation: Deviation,
}

/// The profiles that the events of a group become.
pub(super) struct NeededProfiles {
    /// A profile of values, with the name of the type.
    pub(super) values: bool,
    /// A profile of durations: `…_duration` in nanoseconds.
    pub(super) durations: bool,
    /// A profile of counts: `…_count`.
    pub(super) counts: bool,
}

/// The groups of a payload.
///
/// Ordered by type, timed before timeless, so profiles are in the order of the types.
pub(super) struct EventGroups {
    groups: BTreeMap<(usize, bool), EventGroup>,
    /// The sort key of the previous event.
    last: Option<SortKey>,
    /// Whether all events so far are in the default order. If so, their places are not stored, because a
    /// writer can restore them.
    is_usual: bool,
    /// The number of events so far.
    events: u32,
}

impl EventGroups {
    /// Creates empty groups. Charges the budget for a group of each type, whether it has events or not.
    pub(super) fn of(types: usize, cx: &mut ReadContext) -> Result<Self> {
        cx.budget.charge::<EventGroup>(types)?;
        Ok(Self { groups: BTreeMap::new(), last: None, is_usual: true, events: 0 })
    }

    /// Adds an event. `clock` is set if it has a time.
    ///
    /// Compares each event only with the previous one to detect the default order.
    ///
    /// # Errors
    ///
    /// The budget.
    pub(super) fn add(
        &mut self,
        event: Event,
        clock: Option<u32>,
        cx: &mut ReadContext,
    ) -> Result<()> {
        cx.budget.charge::<(GroupedEvent, [u32; 8])>(1)?;
        let key = (event.kind, clock.is_none());
        let group = self.groups.entry(key).or_insert_with(|| EventGroup {
            kind: event.kind,
            is_timed: clock.is_some(),
            ..EventGroup::default()
        });
        let series = 2 * event.kind + usize::from(clock.is_none());
        let time = clock.zip(event.at);
        let (row, nth) = group.add(event, self.events, cx)?;
        let place = SortKey::of(time, series, row, nth);
        self.is_usual &= self.last.is_none_or(|last| last < place);
        self.last = Some(place);
        self.events += 1;
        Ok(())
    }

    /// Iterates over the groups in the order of their types.
    pub(super) fn in_order(&mut self) -> impl Iterator<Item = &EventGroup> {
        let is_usual = self.is_usual;
        self.groups.values_mut().map(move |group| {
            group.is_usual = is_usual;
            &*group
        })
    }
}

impl EventGroup {
    /// Adds an event. Returns its row, and its number in that row.
    fn add(&mut self, event: Event, place: u32, cx: &mut ReadContext) -> Result<(u32, u32)> {
        let Event { stack, link, attributes, .. } = event;
        let at = event.at.unwrap_or_default();
        // Events that were added up stay separate.
        let found = match self.is_timed {
            true => self.numbering.number((stack, link, attributes.clone().into())),
            false => (self.rows.len(), true),
        };
        let (row, is_new) = found;
        if is_new {
            cx.budget.charge::<u32>(10 + 2 * attributes.len())?;
            self.rows.push(stack, &attributes, link);
            self.sizes.push(0);
        }
        let size = &mut self.sizes[row];
        let nth = *size;
        *size += 1;
        let row = row as u32;
        let Event { total, duration, count, deviation, .. } = event;
        self.events.push(GroupedEvent { row, place, at, total, duration, count, deviation });
        Ok((row, nth))
    }

    /// Returns the events sorted by sample.
    ///
    /// A copy, because callers need both orders.
    fn by_row(&self) -> Vec<GroupedEvent> {
        let mut events = self.events.clone();
        events.sort_by_key(|event| event.row);
        events
    }

    /// Returns the place of each event in the payload, unless the events are in the default order.
    ///
    /// Sorted by row and, within a row, in the order of the payload, like the values of
    /// [`samples`](Self::samples).
    pub(super) fn places(&self) -> Vec<u32> {
        match self.is_usual {
            true => Vec::new(),
            false => self.by_row().iter().map(|event| event.place).collect(),
        }
    }

    /// Returns the events with a non-default encoding.
    ///
    /// `how` gets the position in the order of [`by_row`](Self::by_row), by which a writer looks it up. Most
    /// payloads have no such event, and cost one pass.
    pub(super) fn deviations<T>(&self, how: fn(u32, Deviation) -> Option<T>) -> Vec<T> {
        if !self.events.iter().any(|event| how(0, event.deviation).is_some()) {
            return Vec::new();
        }
        let events = self.by_row();
        events.iter().zip(0..).filter_map(|(event, at)| how(at, event.deviation)).collect()
    }

    /// Returns which profiles the events need.
    ///
    /// If a type has no unit and its events have durations, it measures durations: values are needed only if
    /// one is not 0. Counts are needed only if they do not follow from the values as multiples of the
    /// default.
    pub(super) fn needed_profiles(&self, has_unit: bool, default_value: u64) -> NeededProfiles {
        let any = |is: &dyn Fn(&GroupedEvent) -> bool| self.events.iter().any(is);
        let durations = any(&|event| event.duration > 0);
        // Whether each value is the count times the default value.
        let is_implied = default_value > 0
            && !any(&|event| {
                i128::from(event.total) != i128::from(event.count) * i128::from(default_value)
            });
        NeededProfiles {
            values: has_unit || !durations || any(&|event| event.total != 0),
            durations,
            counts: !self.is_timed && !is_implied && any(&|event| event.count > 1),
        }
    }

    /// Returns the samples, with one number per event as the value.
    ///
    /// `number` selects the value. Each call copies the rows, because profiles of the model own their
    /// samples; each copy is charged to the budget.
    pub(super) fn samples(
        &self,
        number: impl Fn(&GroupedEvent) -> i64,
        cx: &mut ReadContext,
    ) -> Result<Samples> {
        cx.budget.charge::<(u64, i64)>(self.events.len())?;
        cx.budget.charge::<[u32; 6]>(self.rows.len())?;
        let mut samples = self.rows.clone();
        let events = self.by_row();
        let (mut values, mut times) = (Vec::new(), Vec::new());
        for (row, events) in events.chunk_by(|one, other| one.row == other.row).enumerate() {
            values.clear();
            times.clear();
            values.extend(events.iter().map(&number));
            times.extend(events.iter().map(|event| event.at));
            samples.values.push(&values);
            if self.is_timed {
                samples.timestamps.push_at(row, &times);
            }
        }
        Ok(samples)
    }
}
