//! Writing the Firefox Profiler's files: one for each sample type.
//!
//! ```text
//! sample type  ─►  a file
//! resource     ─►  a process          thread.name, thread.id  ─►  a thread
//! sample       ─►  a sample with a weight, and a marker for what a sample has no field for
//! ```
//!
//! The crate `fxprof-processed-profile` makes the tables (decision 36). What it cannot say (weights past 32 bits, files and lines of functions) is put into its JSON afterwards by [`Finish`].

use std::collections::HashMap;

use fxprof_processed_profile::{
    CpuDelta, ProcessHandle, Profile as Made, ReferenceTimestamp, SamplingInterval, StackHandle,
    ThreadHandle, Timestamp, WeightType,
};
use serde_json::{Value, json};

use super::finish::{Finish, Said};
use super::frames::Frames;
use super::markers::{Detail, is_of_thread, timing};
use super::room::Room;
use super::threads::{Process, Sample, Thread, processes, said_of_process, thread_id};
use crate::error::{Error, ErrorKind, Result};
use crate::format::losses::{self, Losses};
use crate::format::options::WriteOptions;
use crate::format::source::TimeUnit;
use crate::format::view::{self, Column, Says};
use crate::model::Profiles;
use crate::model::dictionary::Dictionary;
use crate::model::id::{LinkId, LocationId};
use crate::model::profile::Profile;

/// Writes the profiles: those that measure the same share a file.
///
/// # Errors
///
/// [`Limit`](crate::ErrorKind::Limit) past `max_output_bytes`, counted over all files.
pub(crate) fn write(
    profiles: &Profiles,
    options: &WriteOptions,
    losses: &mut Losses,
    spare: Vec<u8>,
) -> Result<Vec<Vec<u8>>> {
    unsaid(profiles, losses);
    let mut spare = Some(spare);
    let mut payloads = Vec::new();
    let mut room = Room::of(options.max_output_bytes);
    for columns in view::by_type(profiles) {
        let out = spare.take().unwrap_or_default();
        let payload = Writer::of(profiles, &columns, room).write(out)?;
        room.take(payload.len())?;
        payloads.push(payload);
    }
    if let Some(out) = spare {
        payloads.push(Writer::of(profiles, &[], room).write(out)?);
    }
    Ok(payloads)
}

/// Counts what is not said.
///
/// A file says nearly all; lost are durations, addresses and binaries of frames that have a name, and of samples without a
/// time, as a marker needs one, what is known of them and what their values are called.
fn unsaid(profiles: &Profiles, losses: &mut Losses) {
    let says = Says {
        types: true,
        duration: false,
        time: true,
        frame_types: true,
        binaries: true,
        lines: true,
        columns: true,
        samples: true,
        of_resource: Some(said_of_process),
        ..Says::default()
    };
    view::unsaid(profiles, says, losses);
    binaries_unsaid(&profiles.dictionary, losses);
    for profile in profiles.iter() {
        samples_unsaid(profile, &profiles.dictionary, losses);
    }
}

/// A frame with a name has no address, and a binary is there for addresses.
fn binaries_unsaid(dictionary: &Dictionary, losses: &mut Losses) {
    let locations = &dictionary.locations;
    let mut is_said = vec![false; dictionary.mappings.rows.len()];
    let mut is_used = vec![false; locations.len()];
    for id in &dictionary.stacks.items {
        if let Some(used) = is_used.get_mut(id.row()) {
            *used = true;
        }
    }
    for (row, is_used) in is_used.into_iter().enumerate().skip(1) {
        let id = LocationId(row as u32);
        let is_named = !locations.lines(id).is_empty();
        let lost = u64::from(is_named && locations.address(id) != 0);
        losses.add_many(losses::ADDRESS_DROPPED, lost, || format!("location_table[{row}]"));
        if let Some(said) = is_said.get_mut(locations.mapping(id).row()) {
            *said |= !is_named && is_used;
        }
    }
    for (row, said) in is_said.into_iter().enumerate().skip(1) {
        let lost = u64::from(!said);
        losses.add_many(losses::MAPPING_DROPPED, lost, || format!("mapping_table[{row}]"));
    }
}

/// Markers are for samples that have a time, and ids of threads are numbers of 32 bits.
fn samples_unsaid(profile: &Profile, dictionary: &Dictionary, losses: &mut Losses) {
    let mut timeless = false;
    for sample in profile.samples.iter() {
        let has_marker = !sample.timestamps_unix_nano.is_empty();
        timeless |= !has_marker;
        for pair in dictionary.resolve(sample.attributes).iter() {
            let lost = match pair.key {
                "thread.id" => thread_id(&pair.value.to_string()).is_none(),
                key => !has_marker && !is_of_thread(key),
            };
            losses.add_many(losses::ATTR_SAMPLE_DROPPED, u64::from(lost), || pair.key.to_owned());
        }
        let is_linked = u64::from(!has_marker && sample.link != LinkId::NONE);
        losses.add_many(losses::LINK_DROPPED, is_linked, String::new);
    }
    for kind in profile.sample_types.iter().filter(|_| timeless) {
        let [name, unit] = [kind.name, kind.unit].map(|text| dictionary.text(text));
        let lost = u64::from((name, unit) != ("samples", "count"));
        losses.add_many(losses::SAMPLE_TYPE_DROPPED, lost, || name.to_owned());
    }
}

/// How values become weights.
///
/// By the unit of the sample type; all columns of a file have the same.
#[derive(Clone, Copy)]
struct Weights<'a> {
    /// What is measured.
    name: &'a str,
    /// The viewer's word: `tracing-ms`, `bytes` or `samples`.
    kind: &'static str,
    /// The nanoseconds in one; 0 where it is no time.
    nanos: u64,
    /// By the name of the sample type, since units do not tell it from time spent waiting.
    is_cpu: bool,
}

impl<'a> Weights<'a> {
    /// How the viewer shows a column: as times, as bytes, or as numbers of samples.
    fn of(dictionary: &'a Dictionary, column: Option<&Column>) -> Self {
        let kind = column.and_then(|column| column.profile.sample_types.get(column.column));
        let kind = kind.copied().unwrap_or_default();
        let unit = dictionary.text(kind.unit);
        let (kind, nanos) = match (TimeUnit::of_name(unit), unit) {
            (Some(time), _) => ("tracing-ms", time.nanos()),
            (None, "By" | "byte" | "bytes") => ("bytes", 0),
            _ => ("samples", 0),
        };
        let name = column.and_then(|column| column.profile.sample_types.get(column.column));
        let name = name.map(|kind| dictionary.text(kind.name)).unwrap_or_default();
        Self { name, kind, nanos, is_cpu: nanos > 0 && name.starts_with("cpu") }
    }

    /// A time as milliseconds, as the viewer wants; anything else as it is.
    ///
    /// Doubles, as JSON's numbers are to the viewer.
    fn weight(self, value: i64) -> Value {
        match self.nanos {
            0 => json!(value),
            nanos => json!(value as f64 * nanos as f64 / 1e6),
        }
    }

    /// The time that a value is.
    fn time(self, value: i64) -> u64 {
        u64::try_from(value).unwrap_or(0).saturating_mul(self.nanos)
    }

    /// The time on the CPU that a value is.
    fn cpu(self, value: i64) -> CpuDelta {
        if self.is_cpu { CpuDelta::from_nanos(self.time(value)) } else { CpuDelta::ZERO }
    }

    /// The same in the words of the crate that writes the file.
    fn kind(self) -> WeightType {
        match self.kind {
            "tracing-ms" => WeightType::TracingMs,
            "bytes" => WeightType::Bytes,
            _ => WeightType::Samples,
        }
    }
}

/// One file.
///
/// Filled process by process; the crate's profile is what the JSON is made of at the end.
struct Writer<'a> {
    /// Of the profiles that are written.
    dictionary: &'a Dictionary,
    room: Room,
    /// What the crate has been told so far.
    made: Made,
    /// Taken out when they are written.
    processes: Vec<Process<'a>>,
    frames: Frames<'a>,
    weights: Weights<'a>,
    /// When the first sample was, in nanoseconds since 1970.
    start: u64,
    /// How long samples without a time are spread over.
    duration: u64,
    /// In nanoseconds; a millisecond where no profile has a period that is a time.
    interval: u64,
    /// How many threads have each id, since the viewer wants them to differ.
    ids: HashMap<u32, u32>,
    /// By the id of a thread in the file.
    said: HashMap<String, Said>,
}

impl<'a> Writer<'a> {
    /// Times in the file count from its start, which is the first that any profile or sample says.
    ///
    /// With neither a time nor a timestamp the file begins in 1970.
    fn of(profiles: &'a Profiles, columns: &[Column<'a>], room: Room) -> Self {
        let dictionary = &profiles.dictionary;
        let processes = processes(profiles, columns);
        let times = columns.iter().map(|column| column.profile.time_unix_nano);
        let times = times.filter(|time| *time > 0).filter_map(|time| u64::try_from(time).ok());
        let samples = processes.iter().flat_map(|process| &process.threads);
        let samples = samples.flat_map(|thread| &thread.samples).filter_map(|sample| sample.at);
        let start = times.chain(samples).min().unwrap_or(0);
        let durations = columns.iter().map(|column| column.profile.duration_nanos);
        let duration = durations.max().and_then(|nanos| u64::try_from(nanos).ok()).unwrap_or(0);
        let interval = columns.iter().find_map(|column| period(dictionary, column.profile));
        let interval = interval.unwrap_or(1_000_000);
        let reference = ReferenceTimestamp::from_millis_since_unix_epoch(start as f64 / 1e6);
        let interval_of = SamplingInterval::from_nanos(interval);
        Self {
            dictionary,
            room,
            made: Made::new("otlp-profiles", reference, interval_of),
            processes,
            frames: Frames::of(dictionary),
            weights: Weights::of(dictionary, columns.first()),
            start,
            duration,
            interval,
            ids: HashMap::new(),
            said: HashMap::new(),
        }
    }

    /// Processes with their threads, then what the viewer draws along the time.
    ///
    /// # Errors
    ///
    /// [`Limit`](ErrorKind::Limit) where there is no room for it; JSON that cannot be made, which
    /// would be a defect of the crate.
    fn write(mut self, mut out: Vec<u8>) -> Result<Vec<u8>> {
        let (mut number, before) = (0, self.room.taken);
        let start = Timestamp::from_nanos_since_reference(0);
        for process in std::mem::take(&mut self.processes) {
            let handle = self.made.add_process(&process.name, process.pid, start);
            for (at, thread) in process.threads.iter().enumerate() {
                let id = thread.id.unwrap_or(process.pid.saturating_add(at as u32));
                let is_main = thread.id == Some(process.pid) || process.threads.len() == 1;
                self.thread(handle, (id, number, is_main), thread)?;
                number += 1;
            }
        }
        self.made.set_symbolicated(!self.frames.has_addresses);
        let unwritable = |error: serde_json::Error| {
            Error::new(ErrorKind::Unrepresentable, format!("writing failed: {error}"))
        };
        let json = serde_json::to_vec(&self.made).map_err(unwritable)?;
        // Its tables are several times the JSON, which has all that is in them.
        drop(self.made);
        let finish =
            Finish { threads: self.said, labels: &self.frames.labels, is_cpu: self.weights.is_cpu };
        finish.apply(&json, &mut out).map_err(unwritable)?;
        debug_assert!(self.room.taken - before <= out.len() as u64, "it is at least so long");
        Ok(out)
    }

    /// Samples without a time are spread evenly over the duration, or at the interval without one.
    ///
    /// The crate writes samples in the order in which it gets them, so they are sorted once more:
    /// those without times have been given some.
    fn thread(
        &mut self,
        process: ProcessHandle,
        (id, number, is_main): (u32, usize, bool),
        thread: &Thread,
    ) -> Result<()> {
        self.room.take(Room::THREAD + thread.samples.len() * Room::SAMPLE)?;
        let begin = Timestamp::from_nanos_since_reference(0);
        let handle = self.made.add_thread(process, id, begin, is_main);
        if !thread.name.is_empty() {
            self.made.set_thread_name(handle, &thread.name);
        }
        self.made.set_thread_samples_weight_type(handle, self.weights.kind());
        let untimed = thread.samples.iter().filter(|sample| sample.at.is_none()).count() as u64;
        // Samples without times are evenly spaced.
        let step = match self.duration / untimed.max(1) {
            0 => self.interval,
            step => step,
        };
        let mut untimed = (0..).map(|at: u64| at.saturating_mul(step));
        let at = |sample: &Sample| match sample.at {
            Some(at) => at.saturating_sub(self.start),
            None => untimed.next().unwrap_or_default(),
        };
        let mut times: Vec<u64> = thread.samples.iter().map(at).collect();
        let mut samples: Vec<(u64, &Sample)> = times.drain(..).zip(&thread.samples).collect();
        samples.sort_by_key(|(at, _)| *at);
        let mut weights = Vec::with_capacity(samples.len());
        for (at, sample) in samples {
            let to = (&mut self.made, &mut self.room);
            let stack = self.frames.stack(to, (handle, number), sample.stack)?;
            let time = Timestamp::from_nanos_since_reference(at);
            self.made.add_sample(handle, time, stack, self.weights.cpu(sample.value), 1);
            weights.push(self.weights.weight(sample.value));
            if sample.at.is_some() {
                self.marker((handle, stack), at, sample);
            }
        }
        let id = self.unique(id);
        self.said.insert(id, Said { name: thread.name.clone(), weights });
        Ok(())
    }

    /// Says what else is known of a sample, and what happened for a while that is no time on the CPU.
    ///
    /// A value that is a time, but none on the CPU, is drawn as an interval from the sample's time
    /// on.
    fn marker(
        &mut self,
        (thread, stack): (ThreadHandle, Option<StackHandle>),
        at: u64,
        sample: &Sample,
    ) {
        let Weights { name, is_cpu, .. } = self.weights;
        let nanos = if is_cpu { 0 } else { self.weights.time(sample.value) };
        let kind = (name, !is_cpu);
        if let Some(detail) = Detail::of(sample, kind, self.dictionary, &mut self.made) {
            let marker = self.made.add_marker(thread, timing(at, nanos), detail);
            self.made.set_marker_stack(thread, marker, stack);
        }
    }

    /// The id of a thread as the file has it: behind the first of the same id, with a number.
    ///
    /// As the crate makes it, which is how [`Finish`] finds the thread again.
    fn unique(&mut self, id: u32) -> String {
        let used = self.ids.entry(id).or_insert(0);
        *used += 1;
        match *used - 1 {
            0 => id.to_string(),
            again => format!("{id}.{again}"),
        }
    }
}

/// The nanoseconds between samples, where the period says them.
///
/// Other units are no interval: a period of bytes says how often memory was sampled.
fn period(dictionary: &Dictionary, profile: &Profile) -> Option<u64> {
    let unit = dictionary.text(profile.period_type.unit);
    let period = u64::try_from(profile.period).ok().filter(|period| *period > 0)?;
    matches!(unit, "ns" | "nanoseconds").then_some(period)
}
