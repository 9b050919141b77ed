//! The events of each type, by what they are of: the samples they become.
//!
//! ```text
//! events of type 0   {stack 1, +1 ms} {stack 2, +3 ms} {stack 1, +5 ms}
//! samples            stack 1 at [1, 5]     stack 2 at [3]         one row for each identity
//! places             [0, 2, 1]             only if the events were not in the usual order
//! ```
//!
//! Between the events one by one (`resolve`) and the profiles (`read`). A sort by row, which keeps
//! the order of the payload within a row, brings values and times of a sample together: n log n of
//! the events.

use std::collections::BTreeMap;

use super::order::Place;
use super::resolve::{Event, Odd};
use crate::error::Result;
use crate::format::assembly::Met;
use crate::format::intake::Intake;
use crate::model::id::{AttributeId, LinkId, StackId};
use crate::model::samples::Samples;

/// What makes two events times of the same sample.
///
/// The attributes are sorted and each once, so equal sets are equal slices.
type Identity = (StackId, LinkId, Box<[AttributeId]>);

/// The events of a type that have times, or those that have none.
///
/// A type with both makes two lanes, as the values of a sample in OTLP either all have times or
/// none has.
#[derive(Default)]
pub(super) struct Lane {
    /// The index of the type.
    pub(super) kind: usize,
    /// Whether these are the events that have times.
    pub(super) is_timed: bool,
    /// The samples, without values and times.
    rows: Samples,
    /// How many events each row has.
    ///
    /// Gives an event its number within the row, by which the usual order is told.
    sizes: Vec<u32>,
    /// Where each identity has its row; not used without times.
    met: Met<Identity>,
    /// In the order of the payload.
    ///
    /// 48 bytes each; the budget has paid for them.
    events: Vec<Seen>,
    /// Whether the events of all types stand in the usual order.
    ///
    /// Copied from [`Lanes`] when all events are there.
    is_usual: bool,
}

/// An event, and the sample it is of.
///
/// What is left of it once stack, link and attributes are its row's.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    row: u32,
    /// The number of the event in the payload.
    place: u32,
    /// Nanoseconds since 1970; 0 without a time.
    at: u64,
    /// What it is worth, in the unit of its type.
    pub(super) total: i64,
    /// Nanoseconds, whatever the clock counts.
    pub(super) duration: i64,
    /// How many it was added up of; at least 1.
    pub(super) count: i64,
    odd: Odd,
}

/// Which profiles the events of a lane become.
pub(super) struct Says {
    /// What it is worth: a profile named like the type.
    pub(super) values: bool,
    /// How long events took: `…_duration` in nanoseconds.
    pub(super) durations: bool,
    /// How many were added up: `…_count`.
    pub(super) counts: bool,
}

/// The lanes of a payload, those of each type side by side.
///
/// Ordered by type, timed before timeless: so profiles come in the order of the types.
pub(super) struct Lanes {
    lanes: BTreeMap<(usize, bool), Lane>,
    /// Of the event before, to compare the next with.
    last: Option<Place>,
    /// Whether each event so far came behind the one before in the usual order. While it holds,
    /// places need not be kept: a writer finds them again.
    is_usual: bool,
    /// How many there were: the next one's number in the payload.
    events: u32,
}

impl Lanes {
    /// No event yet. The budget pays for a lane of each type, whether events of it come or not.
    pub(super) fn of(types: usize, intake: &mut Intake) -> Result<Self> {
        intake.budget.take::<Lane>(types)?;
        Ok(Self { lanes: BTreeMap::new(), last: None, is_usual: true, events: 0 })
    }

    /// Takes an event, of a clock if it has a time.
    ///
    /// Events are compared with the one before only, so whether all are in order costs nothing to
    /// know.
    ///
    /// # Errors
    ///
    /// The budget.
    pub(super) fn add(
        &mut self,
        event: Event,
        clock: Option<u32>,
        intake: &mut Intake,
    ) -> Result<()> {
        intake.budget.take::<(Seen, [u32; 8])>(1)?;
        let key = (event.kind, clock.is_none());
        let lane = self.lanes.entry(key).or_insert_with(|| Lane {
            kind: event.kind,
            is_timed: clock.is_some(),
            ..Lane::default()
        });
        let series = 2 * event.kind + usize::from(clock.is_none());
        let time = clock.zip(event.at);
        let (row, nth) = lane.add(event, self.events, intake)?;
        let place = Place::of(time, series, row, nth);
        self.is_usual &= self.last.is_none_or(|last| last < place);
        self.last = Some(place);
        self.events += 1;
        Ok(())
    }

    /// The lanes in the order of their types.
    pub(super) fn in_order(&mut self) -> impl Iterator<Item = &Lane> {
        let is_usual = self.is_usual;
        self.lanes.values_mut().map(move |lane| {
            lane.is_usual = is_usual;
            &*lane
        })
    }
}

impl Lane {
    /// Takes an event; its row, and the how manieth of it it is.
    fn add(&mut self, event: Event, place: u32, intake: &mut Intake) -> Result<(u32, u32)> {
        let Event { stack, link, attributes, .. } = event;
        let at = event.at.unwrap_or_default();
        // What was added up already stays apart.
        let found = match self.is_timed {
            true => self.met.number((stack, link, attributes.clone().into())),
            false => (self.rows.len(), true),
        };
        let (row, is_new) = found;
        if is_new {
            intake.budget.take::<u32>(10 + 2 * attributes.len())?;
            self.rows.push(stack, &attributes, link);
            self.sizes.push(0);
        }
        let size = &mut self.sizes[row];
        let nth = *size;
        *size += 1;
        let row = row as u32;
        let Event { total, duration, count, odd, .. } = event;
        self.events.push(Seen { row, place, at, total, duration, count, odd });
        Ok((row, nth))
    }

    /// The events sample by sample.
    ///
    /// A copy, as what is asked of a lane needs both orders.
    fn by_row(&self) -> Vec<Seen> {
        let mut events = self.events.clone();
        events.sort_by_key(|event| event.row);
        events
    }

    /// The place of each event in the payload, if they are not in the usual order.
    ///
    /// By row and, within a row, in the order of the payload: as [`samples`](Self::samples) has the
    /// values.
    pub(super) fn places(&self) -> Vec<u32> {
        match self.is_usual {
            true => Vec::new(),
            false => self.by_row().iter().map(|event| event.place).collect(),
        }
    }

    /// The events that said something in another way than is usual, and how.
    ///
    /// `how` gets the position in [`by_row`](Self::by_row)'s order, by which a writer looks it up.
    /// Most payloads have no such event, and pay one pass.
    pub(super) fn odd<T>(&self, how: fn(u32, Odd) -> Option<T>) -> Vec<T> {
        if !self.events.iter().any(|event| how(0, event.odd).is_some()) {
            return Vec::new();
        }
        let events = self.by_row();
        events.iter().zip(0..).filter_map(|(event, at)| how(at, event.odd)).collect()
    }

    /// What is said by the events, and not by their type.
    ///
    /// A type without a unit whose events have durations measures those: its values say nothing
    /// unless one is not 0. Counts are needed only where values do not tell them as multiples of
    /// the default.
    pub(super) fn says(&self, has_unit: bool, default_value: u64) -> Says {
        let any = |is: &dyn Fn(&Seen) -> bool| self.events.iter().any(is);
        let durations = any(&|event| event.duration > 0);
        // Each is worth as many times the default value as it was added up of.
        let told = default_value > 0
            && !any(&|event| {
                i128::from(event.total) != i128::from(event.count) * i128::from(default_value)
            });
        Says {
            values: has_unit || !durations || any(&|event| event.total != 0),
            durations,
            counts: !self.is_timed && !told && any(&|event| event.count > 1),
        }
    }

    /// The samples, with one number of each event.
    ///
    /// `number` picks what becomes the value. Each call makes the rows anew, as profiles of the
    /// model own their samples; the budget pays for each.
    pub(super) fn samples(
        &self,
        number: impl Fn(&Seen) -> i64,
        intake: &mut Intake,
    ) -> Result<Samples> {
        intake.budget.take::<(u64, i64)>(self.events.len())?;
        intake.budget.take::<[u32; 6]>(self.rows.len())?;
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
