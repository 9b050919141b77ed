//! Writes the files of the Firefox Profiler: one for each sample type.
//!
//! ```text
//! sample type  ─►  a file
//! resource     ─►  a process          thread.name, thread.id  ─►  a thread
//! sample       ─►  a sample with a weight, and a marker for its attributes and link
//! ```
//!
//! The crate `fxprof-processed-profile` builds the tables (decision 36). [`Finish`] then adds to its JSON
//! what that crate cannot represent: weights over 32 bits, and files and lines of functions.

use std::collections::HashMap;

use fxprof_processed_profile::{
    CpuDelta, ProcessHandle, Profile as Made, ReferenceTimestamp, SamplingInterval, StackHandle,
    ThreadHandle, Timestamp, WeightType,
};
use serde_json::{Value, json};

use super::finish::{Finish, ThreadDetails};
use super::frames::Frames;
use super::markers::{Detail, is_of_thread, timing};
use super::output_budget::OutputBudget;
use super::threads::{Process, Sample, Thread, process_attribute_keys, processes, thread_id};
use crate::error::{Error, ErrorKind, Result};
use crate::format::tool_losses::{self, Column, SupportedData};
use crate::losses::{self, Losses};
use crate::model::Profiles;
use crate::model::dictionary::Dictionary;
use crate::model::id::{LinkId, LocationId};
use crate::model::profile::Profile;
use crate::units::{Dimension, Unit};
use crate::write_options::WriteOptions;

/// Writes the profiles: columns of the same sample type share a file.
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
    count_losses(profiles, losses);
    let mut spare = Some(spare);
    let mut payloads = Vec::new();
    let mut budget = OutputBudget::of(options.max_output_bytes);
    for columns in tool_losses::by_type(profiles) {
        let out = spare.take().unwrap_or_default();
        let payload = Writer::of(profiles, &columns, budget).write(out)?;
        budget.charge(payload.len())?;
        payloads.push(payload);
    }
    if let Some(out) = spare {
        payloads.push(Writer::of(profiles, &[], budget).write(out)?);
    }
    Ok(payloads)
}

/// Counts the losses.
///
/// A file represents nearly everything. It loses durations, and addresses and binaries of named frames.
/// Samples without a time have no marker, so they lose attributes, links and the name of their sample type.
fn count_losses(profiles: &Profiles, losses: &mut Losses) {
    let supported = SupportedData {
        types: true,
        duration: false,
        time: true,
        frame_types: true,
        binaries: true,
        lines: true,
        columns: true,
        samples: true,
        of_resource: Some(process_attribute_keys),
        ..SupportedData::default()
    };
    tool_losses::count_unsupported(profiles, supported, losses);
    count_lost_binaries(&profiles.dictionary, losses);
    for profile in profiles.iter() {
        count_lost_sample_data(profile, &profiles.dictionary, losses);
    }
}

/// Counts the addresses of named frames, and the binaries that only such frames use.
fn count_lost_binaries(dictionary: &Dictionary, losses: &mut Losses) {
    let locations = &dictionary.locations;
    let mut has_addresses = vec![false; dictionary.mappings.rows.len()];
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
        if let Some(is_written) = has_addresses.get_mut(locations.mapping(id).row()) {
            *is_written |= !is_named && is_used;
        }
    }
    for (row, is_written) in has_addresses.into_iter().enumerate().skip(1) {
        let lost = u64::from(!is_written);
        losses.add_many(losses::MAPPING_DROPPED, lost, || format!("mapping_table[{row}]"));
    }
}

/// Counts attributes and links of samples without a time, which get no marker, and thread ids over 32 bits.
fn count_lost_sample_data(profile: &Profile, dictionary: &Dictionary, losses: &mut Losses) {
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

/// How to convert values to weights. All columns of a file have the same unit.
#[derive(Clone, Copy)]
struct Weights<'a> {
    /// The name of the sample type.
    name: &'a str,
    /// The weight type of the viewer: `tracing-ms`, `bytes` or `samples`.
    kind: &'static str,
    /// Nanoseconds per unit; 0 if the unit is not a time.
    nanos: u64,
    /// Whether the sample type is CPU time. Decided by its name, because time spent waiting has the same
    /// unit.
    is_cpu: bool,
}

impl<'a> Weights<'a> {
    /// Chooses the weight type of a column: times, bytes or numbers of samples.
    fn of(dictionary: &'a Dictionary, column: Option<&Column>) -> Self {
        let kind = column.and_then(|column| column.profile.sample_types.get(column.column));
        let kind = kind.copied().unwrap_or_default();
        let unit = Unit::of(dictionary.text(kind.unit));
        let is_bytes =
            unit.map(|unit| (unit.dimension(), unit.factor())) == Some((Dimension::Bytes, 1));
        let (kind, nanos) = match unit.and_then(Unit::nanos) {
            Some(nanos) => ("tracing-ms", nanos),
            None if is_bytes => ("bytes", 0),
            None => ("samples", 0),
        };
        let name = column.and_then(|column| column.profile.sample_types.get(column.column));
        let name = name.map(|kind| dictionary.text(kind.name)).unwrap_or_default();
        Self { name, kind, nanos, is_cpu: nanos > 0 && name.starts_with("cpu") }
    }

    /// Converts a time to milliseconds, as the viewer expects; other values stay as they are.
    ///
    /// The result is a double, because the viewer parses JSON numbers as doubles.
    fn weight(self, value: i64) -> Value {
        match self.nanos {
            0 => json!(value),
            nanos => json!(value as f64 * nanos as f64 / 1e6),
        }
    }

    /// Converts a value to nanoseconds.
    fn time(self, value: i64) -> u64 {
        u64::try_from(value).unwrap_or(0).saturating_mul(self.nanos)
    }

    /// Converts a value to CPU time, or 0 if it is not such.
    fn cpu(self, value: i64) -> CpuDelta {
        if self.is_cpu { CpuDelta::from_nanos(self.time(value)) } else { CpuDelta::ZERO }
    }

    /// Returns the weight type as the crate declares it.
    fn kind(self) -> WeightType {
        match self.kind {
            "tracing-ms" => WeightType::TracingMs,
            "bytes" => WeightType::Bytes,
            _ => WeightType::Samples,
        }
    }
}

/// Writes one file, process by process, into the crate's profile, and serialises that at the end.
struct Writer<'a> {
    /// The dictionary of the input profiles.
    dictionary: &'a Dictionary,
    budget: OutputBudget,
    /// The profile under construction.
    made: Made,
    /// Processes, removed as they are written.
    processes: Vec<Process<'a>>,
    frames: Frames<'a>,
    weights: Weights<'a>,
    /// The time of the first sample, in nanoseconds since 1970.
    start: u64,
    /// The duration in nanoseconds over which samples without a time are spaced.
    duration: u64,
    /// The sampling interval in nanoseconds: a millisecond if no profile has a period in time.
    interval: u64,
    /// Number of threads by id, because the viewer requires unique ids.
    ids: HashMap<u32, u32>,
    /// Data to add to each thread, by its id in the file.
    thread_details: HashMap<String, ThreadDetails>,
}

impl<'a> Writer<'a> {
    /// Collects the samples. Times in the file count from the earliest time of any profile or sample,
    /// or from 1970 without any.
    fn of(profiles: &'a Profiles, columns: &[Column<'a>], budget: OutputBudget) -> Self {
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
            budget,
            made: Made::new("otlp-profiles", reference, interval_of),
            processes,
            frames: Frames::of(dictionary),
            weights: Weights::of(dictionary, columns.first()),
            start,
            duration,
            interval,
            ids: HashMap::new(),
            thread_details: HashMap::new(),
        }
    }

    /// Writes the processes and their threads.
    ///
    /// # Errors
    ///
    /// [`Limit`](ErrorKind::Limit) if the file exceeds the limit. Failed serialisation is an error as well,
    /// and a defect of the crate.
    fn write(mut self, mut out: Vec<u8>) -> Result<Vec<u8>> {
        let (mut number, before) = (0, self.budget.spent);
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
        // The tables take several times the memory of the JSON, which contains all their data.
        drop(self.made);
        let finish = Finish {
            threads: self.thread_details,
            labels: &self.frames.labels,
            is_cpu: self.weights.is_cpu,
        };
        finish.apply(&json, &mut out).map_err(unwritable)?;
        debug_assert!(self.budget.spent - before <= out.len() as u64, "it is at least so long");
        Ok(out)
    }

    /// Writes a thread. Samples without a time are evenly spaced over the duration, or at the interval
    /// without one.
    ///
    /// The crate writes samples in the order of insertion, so they are sorted again after all have a time.
    fn thread(
        &mut self,
        process: ProcessHandle,
        (id, number, is_main): (u32, usize, bool),
        thread: &Thread,
    ) -> Result<()> {
        self.budget.charge(OutputBudget::THREAD + thread.samples.len() * OutputBudget::SAMPLE)?;
        let begin = Timestamp::from_nanos_since_reference(0);
        let handle = self.made.add_thread(process, id, begin, is_main);
        if !thread.name.is_empty() {
            self.made.set_thread_name(handle, &thread.name);
        }
        self.made.set_thread_samples_weight_type(handle, self.weights.kind());
        let untimed = thread.samples.iter().filter(|sample| sample.at.is_none()).count() as u64;
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
            let to = (&mut self.made, &mut self.budget);
            let stack = self.frames.stack(to, (handle, number), sample.stack)?;
            let time = Timestamp::from_nanos_since_reference(at);
            self.made.add_sample(handle, time, stack, self.weights.cpu(sample.value), 1);
            weights.push(self.weights.weight(sample.value));
            if sample.at.is_some() {
                self.marker((handle, stack), at, sample);
            }
        }
        let id = self.unique(id);
        self.thread_details.insert(id, ThreadDetails { name: thread.name.clone(), weights });
        Ok(())
    }

    /// Adds a marker with the attributes and the link of a sample, or with the time of an event.
    ///
    /// A time that is not CPU time is drawn as an interval from the time of the sample.
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

    /// Returns the unique id of a thread in the file: repeated ids get a number.
    ///
    /// The crate forms ids in the same way, so [`Finish`] finds the thread by it.
    fn unique(&mut self, id: u32) -> String {
        let used = self.ids.entry(id).or_insert(0);
        *used += 1;
        match *used - 1 {
            0 => id.to_string(),
            again => format!("{id}.{again}"),
        }
    }
}

/// Returns the period in nanoseconds, if it is a time.
///
/// A period in another unit is no interval: a period of bytes is the sampling rate of memory.
fn period(dictionary: &Dictionary, profile: &Profile) -> Option<u64> {
    let unit = dictionary.text(profile.period_type.unit);
    let period = u64::try_from(profile.period).ok().filter(|period| *period > 0)?;
    period.checked_mul(Unit::of(unit)?.nanos()?)
}
