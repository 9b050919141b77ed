//! Profiles as event types and their events: what was taken apart while reading is put together.

use super::{COUNT, DURATION};
use crate::format::losses::{self, Losses};
use crate::model::dictionary::Dictionary;
use crate::model::id::{AttributeId, LinkId, StackId, StringId};
use crate::model::profile::{Profile, ValueType};

/// What one sample type of a profile measures.
#[derive(Clone, Copy)]
pub(super) struct Column<'a> {
    profile: &'a Profile,
    column: usize,
}

/// The events of one type.
pub(super) struct Series<'a> {
    pub(super) profile: &'a Profile,
    pub(super) name: String,
    pub(super) unit: StringId,
    pub(super) is_timed: bool,
    pub(super) default_value: u64,
    pub(super) events: Vec<Event>,
}

/// An event.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Event {
    pub(super) row: u32,
    pub(super) nth: u32,
    pub(super) at: u64,
    pub(super) value: u64,
    pub(super) duration: u64,
    pub(super) count: u64,
}

/// The times and values of a column, and what the next one says of the same events.
struct Observed {
    values: Vec<(Option<u64>, i64)>,
    durations: Option<Vec<u64>>,
    counts: Option<Vec<u64>>,
}

impl Series<'_> {
    /// What an event is of.
    pub(super) fn of(&self, event: &Event) -> (StackId, LinkId, &[AttributeId]) {
        let sample = self.profile.samples.get(event.row as usize);
        sample
            .map_or_else(Default::default, |sample| (sample.stack, sample.link, sample.attributes))
    }
}

/// All columns of some profiles that have samples.
pub(super) fn columns<'a>(profiles: &[&'a Profile]) -> Vec<Column<'a>> {
    let of_profile = |profile: &'a Profile| {
        let columns = 0..profile.sample_types.len().max(1);
        columns.map(move |column| Column { profile, column })
    };
    let profiles = profiles.iter().filter(|profile| !profile.samples.is_empty());
    profiles.flat_map(|profile| of_profile(profile)).collect()
}

/// The events of some columns: those of a type before their durations or counts are one.
pub(super) fn series<'a>(
    columns: &[Column<'a>],
    dictionary: &Dictionary,
    losses: &mut Losses,
) -> Vec<Series<'a>> {
    let mut series = Vec::new();
    let mut at = 0;
    while let Some(column) = columns.get(at) {
        at += 1;
        let seen = column.observed(losses);
        let name = dictionary.text(column.kind().name).to_owned();
        let has_value =
            column.kind().unit != StringId::NONE || seen.iter().any(|(_, value)| *value != 0);
        let next = columns.get(at);
        let durations = next
            .filter(|next| has_value && column.is_before(next, DURATION, dictionary))
            .and_then(|next| next.durations());
        let counts = next
            .filter(|next| column.is_before(next, COUNT, dictionary))
            .and_then(|next| next.counts());
        at += usize::from(durations.is_some() || counts.is_some());
        let alone = match durations.is_none() && counts.is_none() {
            true => name.strip_suffix(DURATION.0).filter(|_| column.unit(dictionary) == DURATION.1),
            false => None,
        };
        let (named, observed) = match alone.zip(column.durations()) {
            Some((name, durations)) => {
                let values = seen.iter().map(|(time, _)| (*time, 0)).collect();
                let durations = Some(durations);
                ((name, StringId::NONE), Observed { values, durations, counts: None })
            }
            None => ((&name[..], column.kind().unit), Observed { values: seen, durations, counts }),
        };
        series.extend(column.split(named, &observed, losses));
    }
    // The first type need not be said.
    series.sort_by_key(|series| std::cmp::Reverse(series.events.len()));
    series
}

impl<'a> Column<'a> {
    /// What the column measures; nothing that has a name where its profile says no type.
    fn kind(&self) -> ValueType {
        self.profile.sample_types.get(self.column).copied().unwrap_or_default()
    }

    /// The unit of its values, as a text.
    fn unit<'d>(&self, dictionary: &'d Dictionary) -> &'d str {
        dictionary.text(self.kind().unit)
    }

    /// Every observation: its row, its time and its value.
    fn each(&self) -> impl Iterator<Item = (u32, Option<u64>, i64)> + use<'a> {
        let Self { profile, column } = *self;
        profile.samples.iter().zip(0..).flat_map(move |(sample, row)| {
            let observed = profile.observations(sample, column);
            // Nothing is one observation of 0.
            let nothing = (observed.len() == 0).then_some((None, 0));
            observed.chain(nothing).map(move |(time, value)| (row, time, value))
        })
    }

    /// The times and values of all observations, and what is not as it was in them.
    fn observed(&self, losses: &mut Losses) -> Vec<(Option<u64>, i64)> {
        let columns = self.profile.sample_types.len().max(1);
        for sample in self.profile.samples.iter() {
            let (values, times) = (sample.values.len(), sample.timestamps_unix_nano.len());
            let code = match (values, times) {
                (0, 0) => losses::COLUMNS_ZERO_FILLED,
                (2.., 0) if columns == 1 => losses::SERIES_EXPANDED,
                (1.., 2..) if columns > 1 || values != times => losses::VALUE_SPLIT,
                _ => continue,
            };
            losses.add(code, String::new);
        }
        self.each().map(|(_, time, value)| (time, value)).collect()
    }

    /// Whether the next column says more of the same events, by its name, its unit and its samples.
    fn is_before(&self, next: &Self, of: (&str, &str), dictionary: &Dictionary) -> bool {
        let (ours, theirs) = (dictionary.text(self.kind().name), dictionary.text(next.kind().name));
        let is_named = theirs.strip_suffix(of.0) == Some(ours) && next.unit(dictionary) == of.1;
        is_named && (std::ptr::eq(self.profile, next.profile) || self.has_rows_of(next))
    }

    /// Whether another column has the same samples, one by one, and says the same of itself. Columns that became
    /// profiles of their own are compared so.
    fn has_rows_of(&self, next: &Self) -> bool {
        let (ours, theirs) = (&self.profile.samples, &next.profile.samples);
        ours.stacks == theirs.stacks
            && ours.links == theirs.links
            && ours.attributes == theirs.attributes
            && ours.timestamps == theirs.timestamps
            && self.profile.attributes == next.profile.attributes
            && self.each().count() == next.each().count()
    }

    /// The values as durations of events, if they can be.
    fn durations(&self) -> Option<Vec<u64>> {
        let durations = self.each().map(|(_, time, value)| time.and(u64::try_from(value).ok()));
        let durations: Vec<u64> = durations.collect::<Option<_>>()?;
        durations.iter().any(|duration| *duration > 0).then_some(durations)
    }

    /// The values as counts of events that were added up, if they can be.
    fn counts(&self) -> Option<Vec<u64>> {
        let count = |value| u64::try_from(value).ok().filter(|count| *count > 0);
        let counts = self.each().map(|(_, time, value)| count(value).filter(|_| time.is_none()));
        let counts: Vec<u64> = counts.collect::<Option<_>>()?;
        counts.iter().any(|count| *count > 1).then_some(counts)
    }

    /// The events of the column: those with times, and those without.
    fn split(
        &self,
        (name, unit): (&str, StringId),
        observed: &Observed,
        losses: &mut Losses,
    ) -> impl Iterator<Item = Series<'a>> {
        let Observed { values, durations, counts } = observed;
        let series = |is_timed| Series {
            profile: self.profile,
            name: name.to_owned(),
            unit,
            is_timed,
            default_value: 0,
            events: Vec::new(),
        };
        let (mut timed, mut timeless) = (series(true), series(false));
        let (mut last, mut nth) = (None, 0);
        for (at, ((row, ..), (time, value))) in self.each().zip(values.iter().copied()).enumerate()
        {
            nth = if last == Some(row) { nth + 1 } else { 0 };
            last = Some(row);
            losses.add_many(losses::VALUE_UNSIGNED, u64::from(value < 0), String::new);
            let of = |numbers: &Option<Vec<u64>>| {
                numbers.as_ref().and_then(|numbers| numbers.get(at)).copied()
            };
            let (duration, count) = (of(durations).unwrap_or(0), of(counts).unwrap_or(1));
            let value = u64::try_from(value).unwrap_or(0);
            let event = Event { row, nth, at: time.unwrap_or(0), value, duration, count };
            match time {
                Some(_) => timed.events.push(event),
                None => timeless.events.push(event),
            }
        }
        let both = !timed.events.is_empty() && !timeless.events.is_empty();
        losses.add_many(losses::PROFILE_SPLIT, u64::from(both), || name.to_owned());
        let has_counts = counts.is_some();
        let series = [timed, timeless].into_iter().filter(|series| !series.events.is_empty());
        series.map(move |mut series| {
            series.choose_default(has_counts);
            series
        })
    }
}

impl Series<'_> {
    /// Chooses the value that need not be said: that which the events said so, else the most
    /// frequent one. A value of 0 can only be said where there is none.
    fn choose_default(&mut self, has_counts: bool) {
        let form = &self.profile.event_form;
        let said = form.default_value;
        let is_zero = self.events.iter().any(|event| event.value == 0);
        self.default_value = match (self.is_timed, form.clock) {
            _ if is_zero => 0,
            (true, Some(_)) => said,
            (true, None) => self.most_frequent(),
            (false, _) if said > 0 && !has_counts => {
                let is_multiple = |event: &Event| event.value.is_multiple_of(said);
                if self.events.iter().all(is_multiple) { said } else { 0 }
            }
            (false, _) => 0,
        };
        if !self.is_timed && self.default_value > 0 {
            for event in &mut self.events {
                event.count = event.value / self.default_value;
            }
        }
    }

    /// The value that most events have, and of several the least; 0 where all differ.
    fn most_frequent(&self) -> u64 {
        let mut values: Vec<u64> = self.events.iter().map(|event| event.value).collect();
        values.sort_unstable();
        let mut most = (1, 0);
        for run in values.chunk_by(|one, other| one == other) {
            if run.len() > most.0 {
                most = (run.len(), run[0]);
            }
        }
        most.1
    }
}
