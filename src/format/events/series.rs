//! Conversion of profiles to event types and events, the inverse of reading.
//!
//! ```text
//! profile "io" in By        stack 1: [512, 4096] at [t1, t2]     ┐   series "io" in By
//! profile "io_duration" ns  stack 1: [90, 250]   at [t1, t2]     ┘   {stack 1, t1, 512, took 90} …
//! ```
//!
//! The reader converts an event type to up to three profiles (`event_groups`), but any OTLP may be converted back.
//! So columns are joined only if names, units and all samples show that they belong to the same events.

use super::{COUNT, DURATION};
use crate::losses::{self, Losses};
use crate::model::dictionary::Dictionary;
use crate::model::id::{AttributeId, LinkId, StackId, StringId};
use crate::model::profile::{Profile, ValueType};

/// One sample type of a profile.
///
/// A profile with several sample types has as many columns over the same samples.
#[derive(Clone, Copy)]
pub(super) struct Column<'a> {
    /// The profile that contains the samples.
    profile: &'a Profile,
    /// The index of the sample type, and of the value in each sample.
    column: usize,
}

/// The events of one type. Written as an event type with its events.
pub(super) struct Series<'a> {
    pub(super) profile: &'a Profile,
    /// Owned, because it may be a name without its suffix, which no table has.
    pub(super) name: String,
    /// `NONE` for a series that has only durations.
    pub(super) unit: StringId,
    /// Whether all of its events have times; otherwise no event has one.
    pub(super) is_timed: bool,
    /// The value that events may omit, see [`choose_default`](Series::choose_default); 0 means no default.
    pub(super) default_value: u64,
    pub(super) events: Vec<Event>,
}

/// An event.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Event {
    /// The sample of the event, with its stack, link and attributes.
    pub(super) row: u32,
    /// The number of the event in its sample.
    pub(super) nth: u32,
    /// Nanoseconds since 1970; 0 in a series without times.
    pub(super) at: u64,
    /// The value. A negative value is 0 here, and was counted as a loss.
    pub(super) value: u64,
    /// Nanoseconds.
    pub(super) duration: u64,
    /// The number of events that were added up; 1 for a single event.
    pub(super) count: u64,
}

/// The times and values of a column, with the durations or counts of the next column.
///
/// Lists of equal length, in the order of [`Column::each`].
struct Observed {
    /// Time and value of each observation.
    values: Vec<(Option<u64>, i64)>,
    /// Values of the next column, if it holds the durations of these events.
    durations: Option<Vec<u64>>,
    /// Values of the next column, if it holds how many events were added up.
    counts: Option<Vec<u64>>,
}

impl Series<'_> {
    /// Returns the stack, the link and the attributes of an event.
    pub(super) fn of(&self, event: &Event) -> (StackId, LinkId, &[AttributeId]) {
        let sample = self.profile.samples.get(event.row as usize);
        sample
            .map_or_else(Default::default, |sample| (sample.stack, sample.link, sample.attributes))
    }
}

/// Returns all columns of the profiles that have samples.
///
/// In the order of the profiles, so columns of one type are adjacent. A profile without a sample type counts
/// as one column without a name.
pub(super) fn columns<'a>(profiles: &[&'a Profile]) -> Vec<Column<'a>> {
    let of_profile = |profile: &'a Profile| {
        let columns = 0..profile.sample_types.len().max(1);
        columns.map(move |column| Column { profile, column })
    };
    let profiles = profiles.iter().filter(|profile| !profile.samples.is_empty());
    profiles.flat_map(|profile| of_profile(profile)).collect()
}

/// Converts columns to series. The columns of a type and of its durations or counts become one series.
///
/// A separate column named `…_duration` holds the durations of a type without values.
///
/// The series with the most events is first: index 0 takes no byte in an event.
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
        // The next column is part of this series.
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
    // Events omit the index of the first type.
    series.sort_by_key(|series| std::cmp::Reverse(series.events.len()));
    series
}

impl<'a> Column<'a> {
    /// Returns the sample type of the column; empty if the profile has no sample type.
    fn kind(&self) -> ValueType {
        self.profile.sample_types.get(self.column).copied().unwrap_or_default()
    }

    /// Returns the unit of the values as a string.
    fn unit<'d>(&self, dictionary: &'d Dictionary) -> &'d str {
        dictionary.text(self.kind().unit)
    }

    /// Iterates over all observations: row, time and value.
    ///
    /// A sample without values and times counts as one observation of 0, so that its stack is kept.
    fn each(&self) -> impl Iterator<Item = (u32, Option<u64>, i64)> + use<'a> {
        let Self { profile, column } = *self;
        profile.samples.iter().zip(0..).flat_map(move |(sample, row)| {
            let observed = profile.observations(sample, column);
            // An empty sample is one observation of 0.
            let nothing = (observed.len() == 0).then_some((None, 0));
            observed.chain(nothing).map(move |(time, value)| (row, time, value))
        })
    }

    /// Returns the times and values of all observations, and counts the samples that are split.
    ///
    /// Several values without times become several events, and values of several types with times become
    /// events of each type.
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

    /// Returns whether the next column belongs to the same events, by its name, its unit and its samples.
    ///
    /// Columns of one profile share its samples; samples of two profiles are compared.
    fn is_before(&self, next: &Self, of: (&str, &str), dictionary: &Dictionary) -> bool {
        let (ours, theirs) = (dictionary.text(self.kind().name), dictionary.text(next.kind().name));
        let is_named = theirs.strip_suffix(of.0) == Some(ours) && next.unit(dictionary) == of.1;
        is_named && (std::ptr::eq(self.profile, next.profile) || self.has_rows_of(next))
    }

    /// Returns whether another profile has the same samples and attributes.
    fn has_rows_of(&self, next: &Self) -> bool {
        let (ours, theirs) = (&self.profile.samples, &next.profile.samples);
        ours.stacks == theirs.stacks
            && ours.links == theirs.links
            && ours.attributes == theirs.attributes
            && ours.timestamps == theirs.timestamps
            && self.profile.attributes == next.profile.attributes
            && self.each().count() == next.each().count()
    }

    /// Returns the values as durations of events.
    ///
    /// Returns `None` if any observation has no time or a negative value, or if all are 0.
    fn durations(&self) -> Option<Vec<u64>> {
        let durations = self.each().map(|(_, time, value)| time.and(u64::try_from(value).ok()));
        let durations: Vec<u64> = durations.collect::<Option<_>>()?;
        durations.iter().any(|duration| *duration > 0).then_some(durations)
    }

    /// Returns the values as counts of events that were added up.
    ///
    /// Returns `None` if any observation has a time or is less than 1, or if all are 1, which is the default
    /// count.
    fn counts(&self) -> Option<Vec<u64>> {
        let count = |value| u64::try_from(value).ok().filter(|count| *count > 0);
        let counts = self.each().map(|(_, time, value)| count(value).filter(|_| time.is_none()));
        let counts: Vec<u64> = counts.collect::<Option<_>>()?;
        counts.iter().any(|count| *count > 1).then_some(counts)
    }

    /// Splits the events of the column into those with times and those without.
    ///
    /// An event type has a clock or no clock. So a column with both kinds becomes two types with the same
    /// name. This counts as a loss, because names no longer distinguish them.
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
    /// Chooses the default value, which events may omit: the default of the source if it had one, else the
    /// most frequent value. There is no default if an event has value 0, because 0 is encoded as an omitted
    /// value.
    ///
    /// Most timestamped profiles have the same value throughout, so a default saves two bytes per event.
    /// Without times, the value is a multiple of the default, and the count of an event is the factor; the
    /// model keeps only the value.
    fn choose_default(&mut self, has_counts: bool) {
        let form = &self.profile.event_form;
        let default_value = form.default_value;
        let is_zero = self.events.iter().any(|event| event.value == 0);
        self.default_value = match (self.is_timed, form.clock) {
            _ if is_zero => 0,
            (true, Some(_)) => default_value,
            (true, None) => self.most_frequent(),
            (false, _) if default_value > 0 && !has_counts => {
                let is_multiple = |event: &Event| event.value.is_multiple_of(default_value);
                if self.events.iter().all(is_multiple) { default_value } else { 0 }
            }
            (false, _) => 0,
        };
        if !self.is_timed && self.default_value > 0 {
            for event in &mut self.events {
                event.count = event.value / self.default_value;
            }
        }
    }

    /// Returns the most frequent value, the smallest of several; 0 if all values differ.
    ///
    /// A default for a value that occurs once saves nothing, because the type would contain it instead.
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
