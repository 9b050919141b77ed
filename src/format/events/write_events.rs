//! Writer of events: times are deltas of their clocks, and redundant fields are omitted.
//!
//! ```text
//! series 0 at [T+1 ms, T+5 ms], series 1 at [T+3 ms], one clock of 1 GHz from T
//! ─► {0, time +1000000} {1, time +2000000} {0, time +2000000}      cycles since the event before it
//! ```
//!
//! Events are nearly all bytes of a payload, so a field is written only if the type and the previous event do
//! not determine it.

use std::collections::HashMap;

use super::order::SortKey;
use super::series::{Event, Series};
use crate::losses::{self, Losses};
use crate::model::event_form::{EventClock, ValueFields};
use crate::schema::{Events, Generation};
use crate::tables::fields::{emit, number};
use crate::tables::write::tables::TableWriter;
use crate::wire::record::{Fields, field_varint, field_varints, records};
use crate::wire::write::{field_fixed64, field_message, varint};
use crate::wire::{VARINT, tag};

/// The clocks of a payload, and the clock of each series.
///
/// Equal clocks are merged, so series that were read from one clock share it again.
pub(super) struct Clocks {
    /// In the order of first use by series, which is the index in the payload.
    clocks: Vec<EventClock>,
    /// The clock of each series.
    of: Vec<Option<u32>>,
}

impl Clocks {
    /// Collects the clocks of the series. Series without one share a clock in nanoseconds that starts at the
    /// full second of the first event.
    ///
    /// A profile's clock is used if the cycles of all its events fit into their fields. The added clock
    /// starts at a full second, so that the first deltas are small.
    pub(super) fn of(series: &[Series]) -> Self {
        let own = |series: &Series| {
            let clock = series.profile.event_form.clock;
            clock.filter(|clock| series.events.iter().all(|event| can_count(clock, event)))
        };
        let timed = || series.iter().filter(|series| series.is_timed);
        let first = timed().filter(|series| own(series).is_none());
        let first = first.flat_map(|series| &series.events).map(|event| event.at).min();
        let first = first.unwrap_or_default();
        let time_unix_nano = first - first % EventClock::NANOS;
        let made = EventClock { time_unix_nano, frequency: EventClock::NANOS };
        let mut clocks = Self { clocks: Vec::new(), of: Vec::new() };
        let mut known = HashMap::new();
        for series in series {
            let clock = series.is_timed.then(|| own(series).unwrap_or(made));
            let number = clock.map(|clock| {
                *known.entry(clock).or_insert_with(|| {
                    clocks.clocks.push(clock);
                    clocks.clocks.len() as u32 - 1
                })
            });
            clocks.of.push(number);
        }
        clocks
    }

    /// Returns the number of the clock of a series.
    pub(super) fn of_series(&self, series: usize) -> Option<u32> {
        self.of.get(series).copied().flatten()
    }

    /// Writes the clocks, without attributes, because profiles of other formats have no attributes of clocks.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        for clock in &self.clocks {
            field_message(out, number!(PROFILE "clocks" in Events::VERSION), |out| {
                emit!(CLOCK in Events; {
                    "frequency" => |number| field_varint(out, number, clock.frequency),
                    "time_unix_nano" => |number| field_fixed64(out, number, clock.time_unix_nano),
                });
            });
        }
    }
}

/// Converts nanoseconds to cycles such that reading restores the nanoseconds.
///
/// Rounds up, because reading rounds down. So `nanos` is restored exactly for frequencies of 1 GHz and more,
/// and below that for every time that the clock can represent.
fn cycles(nanos: i128, frequency: u64) -> Option<i128> {
    let cycles = nanos.checked_mul(frequency.into())?;
    let (whole, rest) =
        (cycles.div_euclid(EventClock::NANOS.into()), cycles.rem_euclid(EventClock::NANOS.into()));
    Some(whole + i128::from(rest > 0))
}

/// Returns the time and the duration of an event in cycles.
///
/// Returns `None` if they overflow; the clock is then not used.
fn counted(clock: &EventClock, event: &Event) -> Option<(i64, u64)> {
    let since = i128::from(event.at) - i128::from(clock.time_unix_nano);
    let at = cycles(since, clock.frequency)?;
    let duration = cycles(event.duration.into(), clock.frequency)?;
    // Half of the 64-bit range, so that no delta overflows.
    let at = i64::try_from(at).ok().filter(|at| at.unsigned_abs() < 1 << 62)?;
    Some((at, u64::try_from(duration).ok()?))
}

/// Returns whether the clock can represent the time of an event in 64 bits.
fn can_count(clock: &EventClock, event: &Event) -> bool {
    counted(clock, event).is_some()
}

/// Returns all events in order: the series of each, and its number in the series.
///
/// If every event has its place in the original payload, that is the order; otherwise the default one. Sorts
/// all events once in either case.
fn order(series: &[Series], clocks: &Clocks) -> Vec<(usize, usize)> {
    let each = || {
        series.iter().enumerate().flat_map(|(number, series)| {
            series.events.iter().enumerate().map(move |(at, event)| (number, at, series, event))
        })
    };
    let has_places =
        |series: &Series| series.profile.event_form.places.len() == series.events.len();
    if !series.is_empty() && series.iter().all(has_places) {
        let place = |series: &Series, at: usize| {
            series.profile.event_form.places.get(at).copied().unwrap_or_default()
        };
        let mut order: Vec<(u32, usize, usize)> =
            each().map(|(number, at, series, _)| (place(series, at), number, at)).collect();
        order.sort_unstable();
        return order.into_iter().map(|(_, number, at)| (number, at)).collect();
    }
    let mut order: Vec<(SortKey, usize, usize)> = each()
        .map(|(number, at, _, event)| {
            let time = clocks.of_series(number).map(|clock| (clock, event.at));
            (SortKey::of(time, number, event.row, event.nth), number, at)
        })
        .collect();
    order.sort_unstable_by_key(|(place, ..)| *place);
    order.into_iter().map(|(_, number, at)| (number, at)).collect()
}

/// Writes the events of all series.
///
/// `now` is the current time of each clock, which events advance. `records` reserves memory once per event
/// instead of once per field.
pub(super) fn events(
    out: &mut Vec<u8>,
    series: &[Series],
    clocks: &Clocks,
    tables: &TableWriter<Events>,
    losses: &mut Losses,
) {
    let mut now = vec![0; clocks.clocks.len()];
    records(out, |out| {
        for (number, at) in order(series, clocks) {
            let (Some(of), Some(clock)) = (series.get(number), clocks.of.get(number)) else {
                continue;
            };
            let Some(event) = of.events.get(at) else { continue };
            let (stack, link, attributes) = of.of(event);
            let times = clock.map(|clock| {
                let clock = clock as usize;
                let counted = clocks.clocks.get(clock).and_then(|clock| counted(clock, event));
                losses.add_many(losses::TIME_OVERFLOW, u64::from(counted.is_none()), String::new);
                let (at, duration) = counted.unwrap_or((now[clock], 0));
                let delta = at - std::mem::replace(&mut now[clock], at);
                (delta, duration)
            });
            let capacity = 12 * Fields::VARINT + Fields::values(attributes.len());
            let encoded = EventValue::of(of, event, at);
            let (time, duration) = times.unwrap_or_default();
            out.record(number!(PROFILE "events" in Events::VERSION), capacity, |fields| {
                emit!(EVENT in Events; {
                    "event_type_index" => |field| fields.index(field, number as u32),
                    "stack_index" => |field| fields.index(field, tables.stack(stack)),
                    "link_index" => |field| tables.link(fields, field, link),
                    "attribute_indices" => |field| {
                        tables.attribute_indices(fields, field, attributes, false);
                    },
                    "time" => |field| fields.varint(field, time as u64),
                    "duration" => |field| fields.varint(field, duration),
                    "value" => |field| fields.varint(field, encoded.value),
                    "count" => |field| fields.varint(field, encoded.count),
                    "sum" => |field| fields.varint(field, encoded.sum),
                });
            });
        }
    });
}

/// The fields that hold the value of an event. 0 is omitted.
#[derive(Default)]
struct EventValue {
    /// The value of an event with a time.
    value: u64,
    /// The number of events that were added up.
    count: u64,
    /// The total of events that were added up.
    sum: u64,
}

impl EventValue {
    /// Chooses the fields that the source used, or else those of the default encoding.
    ///
    /// `non_default_counts` and `non_default_values` are sorted by event, so each is found by binary search. They are empty
    /// except for payloads with non-default encodings.
    fn of(series: &Series, event: &Event, at: usize) -> Self {
        let Event { value, count, .. } = *event;
        let (default, form) = (series.default_value, &series.profile.event_form);
        let non_default_count = form.non_default_counts.binary_search(&(at as u32)).is_ok();
        let non_default_value =
            form.non_default_values.binary_search_by_key(&(at as u32), |(event, _)| *event);
        let non_default_value =
            non_default_value.ok().and_then(|row| form.non_default_values.get(row));
        let count = match (series.is_timed, non_default_count) {
            (true, _) | (_, true) => 1,
            (false, false) => count,
        };
        let is_implied = count.checked_mul(default) == Some(value);
        let (value, sum) = match non_default_value {
            Some((_, ValueFields::Value)) => (value, 0),
            Some((_, ValueFields::Sum)) => (0, value),
            Some((_, ValueFields::Both)) => (value, value),
            None if is_implied => (0, 0),
            None if series.is_timed => (value, 0),
            None => (0, value),
        };
        // An event without a time needs at least one of the fields.
        let is_silent = (value, sum) == (0, 0);
        let is_counted =
            if series.is_timed { non_default_count } else { !non_default_count || is_silent };
        Self { value, count: if is_counted { count } else { 0 }, sum }
    }
}

/// Writes a type: its name, unit, clock, and the rows of its attributes.
///
/// `attributes` are indices already.
pub(super) fn event_type(
    out: &mut Vec<u8>,
    (name, unit): (u32, u32),
    clock: Option<u32>,
    series: &Series,
    attributes: &[u64],
) {
    field_message(out, number!(PROFILE "event_types" in Events::VERSION), |out| {
        emit!(EVENT_TYPE in Events; {
            "name_string_index" => |number| field_varint(out, number, name.into()),
            "unit_string_index" => |number| field_varint(out, number, unit.into()),
            "clock_index" => |number| if let Some(clock) = clock {
                // Written even if it is 0, because omitting it would mean that there is no clock.
                varint(out, tag(number, VARINT).into());
                varint(out, clock.into());
            },
            "default_value" => |number| field_varint(out, number, series.default_value),
            "attribute_indices" => |number| if !attributes.is_empty() {
                field_varints(out, number, attributes.iter().copied());
            },
        });
    });
}
