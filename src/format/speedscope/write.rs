//! Writes speedscope's files: one for all profiles.
//!
//! ```text
//! profile × sample type × thread, if requested  ─►  samples  ─►  one "sampled" profile of the file
//! ```
//!
//! All profiles share one list of frames, in order of first use, so `shared` is written last. The indices of
//! a stack are formatted once and copied for every sample with this stack.

use std::io::Write as _;

use crate::error::Result;
use crate::format::assembly::Numbering;
use crate::format::json::object::write_string;
use crate::format::speedscope::{PROFILE_NAME, SAMPLE_TYPE, UNITS, Unit, thread_in};
use crate::format::tool_losses::{self, SupportedData};
use crate::limits::within;
use crate::losses::{self, Losses};
use crate::model::dictionary::Dictionary;
use crate::model::id::{FunctionId, StackId};
use crate::model::profile::Profile;
use crate::model::{AttributeRef, Attributes, FrameRef, Profiles, SampleRef};
use crate::units;
use crate::write_options::WriteOptions;

/// Writes the profiles.
///
/// # Errors
///
/// [`Limit`](crate::ErrorKind::Limit) past `max_output_bytes`, checked after each sample.
pub(crate) fn write(
    profiles: &Profiles,
    options: &WriteOptions,
    losses: &mut Losses,
    out: Vec<u8>,
) -> Result<Vec<Vec<u8>>> {
    let supported = SupportedData {
        types: true,
        duration: true,
        lines: true,
        columns: true,
        attribute: PROFILE_NAME,
        in_attribute: Some(|name, pair| match (thread_in(name), pair.key) {
            (Some((id, _)), "thread.id") => pair.value.as_i64() == Some(id),
            (Some((_, thread)), "thread.name") => pair.value.as_str() == Some(thread),
            _ => false,
        }),
        of_sample: options
            .by_thread
            .then_some(|attributes| [thread_of(attributes).map(|(key, _)| key), None]),
        ..SupportedData::default()
    };
    tool_losses::count_unsupported(profiles, supported, losses);
    let dictionary = &profiles.dictionary;
    let stacks = vec![None; dictionary.stacks.len()];
    let frames = Frames { dictionary, numbering: Numbering::default(), json: Vec::new(), stacks };
    let mut writer = Writer { options, losses, out, frames };
    writer.out.extend_from_slice(b"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"otlp-profiles\",\"profiles\":[");
    let default = profiles.default_sample_type();
    let (mut count, mut active) = (0, None);
    for profile in profiles.iter() {
        // If the profile has a time, the loss of that already counts the duration.
        let mut has_duration = profile.duration_nanos == 0 || profile.time_unix_nano != 0;
        for column in 0..profile.sample_types.len().max(1) {
            let of_profile = default.and_then(|of| of.column(profile, dictionary));
            let is_default = of_profile.is_some_and(|(default, _)| default == column);
            for samples in threads(profile, column, dictionary, options.by_thread) {
                writer.out.extend_from_slice(if count == 0 { b"" } else { b"," });
                active = active.or(is_default.then_some(count));
                count += 1;
                has_duration |= writer.thread_profile(profile, column, &samples)?;
            }
        }
        if !has_duration {
            writer.losses.add(losses::TIME_DROPPED, || "duration_nanos".to_owned());
        }
    }
    let Writer { mut out, frames, .. } = writer;
    out.push(b']');
    if let Some(active) = active.filter(|active| *active > 0) {
        _ = write!(out, ",\"activeProfileIndex\":{active}");
    }
    out.extend_from_slice(b",\"shared\":{\"frames\":[");
    out.extend_from_slice(&frames.json);
    out.extend_from_slice(b"]}}");
    within("max_output_bytes", options.max_output_bytes, out.len() as u64)?;
    Ok(vec![out])
}

/// A profile of the file: a thread, and its stacks with weights.
struct ThreadSamples {
    /// The thread, or empty if profiles are not by thread or the thread is unknown.
    thread: String,
    /// Stacks and weights in the order of the file.
    weights: Vec<(StackId, i64)>,
    /// The number of dropped negative values: speedscope rejects a file with one.
    negative: u64,
}

/// A time, a stack and its weight.
type Timed = (u64, StackId, i64);

/// Returns the samples of a column, by thread if requested, sorted by time.
///
/// A profile without samples has one empty entry, so that its type is written.
///
/// Passes over all samples for each column. A sample with several timestamps becomes as many entries.
fn threads(
    profile: &Profile,
    column: usize,
    dictionary: &Dictionary,
    by_thread: bool,
) -> Vec<ThreadSamples> {
    let mut numbering = Numbering::default();
    let mut threads: Vec<(String, Vec<Timed>)> = Vec::new();
    for sample in profile.samples.iter() {
        let thread = if by_thread { thread(&sample, dictionary) } else { String::new() };
        let (at, is_new) = numbering.number(thread.clone());
        if is_new {
            threads.push((thread, Vec::new()));
        }
        if sample.timestamps_unix_nano.is_empty() {
            let total = profile.total(sample, column);
            threads[at].1.push((0, sample.stack, total));
        } else {
            let observed = profile.observations(sample, column);
            threads[at]
                .1
                .extend(observed.map(|(time, value)| (time.unwrap_or(0), sample.stack, value)));
        }
    }
    if threads.is_empty() {
        threads.push(Default::default());
    }
    let of_thread = |(thread, mut weights): (String, Vec<Timed>)| {
        let all = weights.len();
        weights.retain(|(.., value)| *value >= 0);
        let negative = (all - weights.len()) as u64;
        weights.sort_by_key(|(time, ..)| *time);
        let weights = weights.into_iter().map(|(_, stack, value)| (stack, value)).collect();
        ThreadSamples { thread, weights, negative }
    };
    threads.into_iter().map(of_thread).collect()
}

/// Returns the name of the thread of a sample, or an empty string if its thread is unknown.
fn thread(sample: &SampleRef, dictionary: &Dictionary) -> String {
    let attributes = dictionary.resolve(sample.attributes);
    thread_of(&attributes).map(|(_, thread)| thread.value.to_string()).unwrap_or_default()
}

/// Returns the name of a sample's thread, or else its id, with the key of the attribute.
fn thread_of<'a>(attributes: &Attributes<'a>) -> Option<(&'static str, AttributeRef<'a>)> {
    let of = |key| Some((key, attributes.iter().find(|pair| pair.key == key)?));
    of("thread.name").or_else(|| of("thread.id"))
}

/// Writes a file: profiles first, then their frames.
struct Writer<'a, 'l> {
    /// The options with the output limit.
    options: &'a WriteOptions,
    /// Losses that are counted while writing; [`tool_losses::count_unsupported`] counted others before.
    losses: &'l mut Losses,
    /// The output so far: the profiles.
    out: Vec<u8>,
    /// The frames, which follow the profiles.
    frames: Frames<'a>,
}

impl Writer<'_, '_> {
    /// Writes a profile of the file: a column, or one thread's part of it.
    ///
    /// `endValue` is the sum of the weights, which determines the axis in speedscope. Returns whether that
    /// equals the duration of the profile.
    fn thread_profile(
        &mut self,
        profile: &Profile,
        column: usize,
        samples: &ThreadSamples,
    ) -> Result<bool> {
        let (name, &(unit, own_type, own_unit, scale)) =
            self.name_and_unit(profile, column, samples);
        self.losses.add_many(losses::VALUE_NEGATIVE_DROPPED, samples.negative, || name.clone());
        self.out.extend_from_slice(b"{\"type\":\"sampled\",");
        let kind = profile.sample_types.get(column).copied().unwrap_or_default();
        let kind = self.frames.dictionary.text(kind.name);
        if ![own_type, ""].contains(&kind) {
            _ = write!(self.out, "\"{SAMPLE_TYPE}\":");
            write_string(&mut self.out, kind);
            self.out.push(b',');
        }
        self.out.extend_from_slice(b"\"name\":");
        write_string(&mut self.out, &name);
        let sum: i128 = samples.weights.iter().map(|(_, value)| i128::from(*value)).sum();
        let end = sum.min(i128::from(i64::MAX));
        _ = write!(
            self.out,
            ",\"unit\":\"{unit}\",\"startValue\":0,\"endValue\":{end},\"samples\":["
        );
        for (row, (stack, _)) in samples.weights.iter().enumerate() {
            self.out.extend_from_slice(if row == 0 { b"[" } else { b",[" });
            let list = self.frames.stack(*stack);
            self.out.extend_from_slice(list);
            self.out.push(b']');
            let bytes = (self.out.len() + self.frames.json.len()) as u64;
            within("max_output_bytes", self.options.max_output_bytes, bytes)?;
        }
        self.out.extend_from_slice(b"],\"weights\":[");
        for (row, (_, value)) in samples.weights.iter().enumerate() {
            let comma = if row == 0 { "" } else { "," };
            _ = write!(self.out, "{comma}{value}");
        }
        self.out.extend_from_slice(b"]}");
        let is_time = own_unit == "nanoseconds";
        Ok(is_time && end * i128::from(scale) == profile.duration_nanos)
    }

    /// Returns the name of a profile, and its unit in speedscope.
    ///
    /// A unit that speedscope lacks is a loss and becomes `none`.
    fn name_and_unit(
        &mut self,
        profile: &Profile,
        column: usize,
        samples: &ThreadSamples,
    ) -> (String, &'static Unit) {
        let dictionary = self.frames.dictionary;
        let kind = profile.sample_types.get(column).copied().unwrap_or_default();
        let [mut name, unit] = [kind.name, kind.unit].map(|text| dictionary.text(text).to_owned());
        let same = |(name, .., kind, _): &&Unit| {
            units::is_same(&unit, if *kind == "count" { kind } else { name })
        };
        let known = UNITS.iter().find(same).unwrap_or_else(|| {
            self.losses.add(losses::SAMPLE_TYPE_DROPPED, || unit.clone());
            &UNITS[0]
        });
        if let Some(own) = dictionary.resolve(&profile.attributes[..]).get_str(PROFILE_NAME) {
            name = own.to_owned();
        }
        if !samples.thread.is_empty() {
            name = format!("{name}, thread {}", samples.thread);
        }
        (name, known)
    }
}

/// The distinct frames.
struct Frames<'a> {
    /// The dictionary of the profiles.
    dictionary: &'a Dictionary,
    /// Numbers of frames by function, line and column, and by address if there is no function.
    numbering: Numbering<(FunctionId, i64, i64, u64)>,
    /// The frames as JSON, separated by commas.
    json: Vec<u8>,
    /// The frames of each stack as a list of numbers, root first.
    stacks: Vec<Option<Box<[u8]>>>,
}

impl Frames<'_> {
    /// Returns a stack as a list of frame numbers, formatted on first use.
    ///
    /// The list is empty for the empty stack: speedscope shows its weight without a frame.
    fn stack(&mut self, stack: StackId) -> &[u8] {
        if let Some(None) = self.stacks.get(stack.row()) {
            let mut list = Vec::new();
            for frame in self.dictionary.frames(stack).rev() {
                let comma = if list.is_empty() { "" } else { "," };
                let number = self.frame(&frame);
                _ = write!(list, "{comma}{number}");
            }
            self.stacks[stack.row()] = Some(list.into());
        }
        self.stacks.get(stack.row()).and_then(|list| list.as_deref()).unwrap_or_default()
    }

    /// Returns the number of a frame. Frames with the same data in the file share a number.
    fn frame(&mut self, frame: &FrameRef) -> usize {
        let function = frame.function_id();
        // Without a function, the frame is its address.
        let address = if function == FunctionId::NONE { frame.address() } else { 0 };
        let (number, is_new) =
            self.numbering.number((function, frame.line(), frame.column(), address));
        if !is_new {
            return number;
        }
        self.json.extend_from_slice(if number == 0 { b"{\"name\":" } else { b",{\"name\":" });
        write_string(&mut self.json, &frame.to_string());
        if !frame.filename().is_empty() {
            self.json.extend_from_slice(b",\"file\":");
            write_string(&mut self.json, frame.filename());
        }
        for (key, value) in [("line", frame.line()), ("col", frame.column())] {
            if value != 0 {
                _ = write!(self.json, ",\"{key}\":{value}");
            }
        }
        self.json.push(b'}');
        number
    }
}
