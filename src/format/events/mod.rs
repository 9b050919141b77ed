//! Timestamped events: a proposal (opentelemetry-proto, pull request 594) that was never released.
//!
//! ```text
//! Profile ─┬─ event_types: cpu_sample, ms, 10 each, clock 0
//!          ├─ clocks: 1 GHz, from 2009-11-10T23:00:00Z
//!          ├─ events: {stack 1, time +10500000} {stack 2, time +300000} …   cycles since the last
//!          └─ stacks, locations, functions, mappings, attributes, links, strings
//! ```
//!
//! An event type becomes a profile, or several where its events have values, durations and counts;
//! events of one stack, link and set of attributes are the times of one sample.
//!
//! | reading | writing |
//! |---|---|
//! | `tables`: where everything is, then every row's id | `gather`: columns of profiles as series of events |
//! | `rows`, `values`, `references`: one row, its attributes, its indices | `select`: the rows that events lead to |
//! | `resolve`: deltas, defaults and kinds of one event | `write_events`: events as deltas, types, clocks |
//! | `settle`: events of one identity become a sample | `write_rows`: the tables |
//! | `read`: profiles of the samples | `write`: one payload for each time |
//!
//! Reading notes in `EventForm` how events were said beyond what they mean, so a payload of events
//! that is read and written again is the same to the byte.

mod gather;
mod order;
mod read;
mod references;
mod resolve;
mod rows;
mod select;
mod settle;
mod tables;
mod values;
mod write;
mod write_events;
mod write_rows;

use crate::format::losses::{self, Losses};
use crate::format::{Codec, Encoding, Read};
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

/// What the profile of an event type's durations is called, behind the type's name, and its unit.
const DURATION: (&str, &str) = ("_duration", "ns");

/// The same of the counts of events that were added up.
const COUNT: (&str, &str) = ("_count", "{count}");

/// Counts what profiles of events say that no other format does.
pub(crate) fn unsaid(profiles: &Profiles, losses: &mut Losses) {
    for profile in profiles.iter() {
        let form = &profile.event_form;
        if form.clock.is_some_and(|clock| clock.frequency != EventClock::NANOS) {
            losses.add(losses::EVENT_CLOCK_DROPPED, String::new);
        }
        // Where each is worth 1, the value is the count.
        if form.default_value > 1 && form.clock.is_none() {
            let events = profile.samples.len() as u64;
            losses.add_many(losses::EVENT_COUNT_DROPPED, events, String::new);
        }
    }
}
