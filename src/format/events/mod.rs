//! Timestamped events: a proposal (opentelemetry-proto, pull request 594) that was never released.
//!
//! ```text
//! Profile ─┬─ event_types: cpu_sample, ms, 10 each, clock 0
//!          ├─ clocks: 1 GHz, from 2009-11-10T23:00:00Z
//!          ├─ events: {stack 1, time +10500000} {stack 2, time +300000} …   cycles since the last
//!          └─ stacks, locations, functions, mappings, attributes, links, strings
//! ```
//!
//! An event type becomes a profile, or several if its events have values, durations and counts. Events with
//! the same stack, link and attributes become the timestamps of one sample.
//!
//! | reading | writing |
//! |---|---|
//! | `tables`: the places of all rows, then the id of each | `series`: columns of profiles as series of events |
//! | `rows`: one row | `write_events`: events as deltas, types, clocks |
//! | `resolve`: deltas, defaults and types of one event | `write`: one payload for each time |
//! | `event_groups`: events with the same identity become a sample | |
//! | `read`: profiles of the samples | |
//!
//! The tables are written as those of OTLP.
//!
//! The reader records in `EventForm` how events were encoded, as far as the model does not determine it. So a
//! payload of events that is read and written again is identical byte for byte.

mod event_groups;
mod order;
mod read;
mod resolve;
mod rows;
mod series;
mod tables;
mod write;
mod write_events;

use crate::format::{Codec, Encoding, Read};
use crate::losses::{self, Losses};
use crate::model::Profiles;
use crate::model::event_form::EventClock;

/// Timestamped events as a format.
///
/// ```
/// use otlp_profiles::{Format, WriteOptions, read, write};
///
/// let bytes = std::fs::read("testdata/otlp-1.11-timestamped-cpu-offcpu.binpb").unwrap();
/// let profiles = read(&bytes, &Default::default())?.profiles;
/// let events = write(&profiles, Format::EVENTS, &WriteOptions::default())?.payload;
///
/// let reading = read(&events, &Default::default())?;
/// assert_eq!(reading.detected.format, Format::EVENTS);
/// let sums: Vec<i128> = reading.profiles.iter().flat_map(|profile| profile.sums()).collect();
/// assert_eq!(sums, [30, 1_050_001_000]);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub(crate) static EVENTS: Codec = Codec {
    name: "events",
    aliases: &[],
    about: "timestamped events, proposed in opentelemetry-proto 594 and never released",
    extensions: &["events"],
    gzip_on_disk: false,
    deprecated: None,
    encoding: Encoding::Events,
    read: Some(Read::Bytes(read::read)),
    write: Some(write::write),
    options: &["event-time"],
};

/// The suffix of the name of a profile of durations, and its unit.
const DURATION: (&str, &str) = ("_duration", "ns");

/// The same for counts of events that were added up.
const COUNT: (&str, &str) = ("_count", "{count}");

/// Counts data of events that no other format can represent.
pub(crate) fn count_event_losses(profiles: &Profiles, losses: &mut Losses) {
    for profile in profiles.iter() {
        let form = &profile.event_form;
        if form.clock.is_some_and(|clock| clock.frequency != EventClock::NANOS) {
            losses.add(losses::EVENT_CLOCK_DROPPED, String::new);
        }
        // If the default value is 1, the value equals the count.
        if form.default_value > 1 && form.clock.is_none() {
            let events = profile.samples.len() as u64;
            losses.add_many(losses::EVENT_COUNT_DROPPED, events, String::new);
        }
    }
}
