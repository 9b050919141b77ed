//! Reading the text of `perf script`: a resource for each process, a profile for each event.
//!
//! ```text
//! Text ─► Lines ─► event line + Block ─► stack (met by its text, else frame by frame)
//!                                   └──► process ─► column of the event's name ─► sample
//! ```
//!
//! A recording of hours has few distinct stacks: an event whose block was met costs a look-up of
//! its text.

use crate::builder::samples::Identity;
use crate::error::{Error, Result};
use crate::format::assembly::{Assembly, Group, Met, Rows, gathered};
use crate::format::intake::Intake;
use crate::format::lines::{Lines, kept, shown};
use crate::format::losses::LEFT_OUT;
use crate::format::perf::anchor::Anchor;
use crate::format::perf::block::{Block, Framed};
use crate::format::perf::event::{Event, is_record};
use crate::format::perf::frame::Frame;
use crate::format::perf::messages::Messages;
use crate::format::perf::simpleperf::Record;
use crate::format::perf::trace::fields;
use crate::format::text::Text;
use crate::limits::within;
use crate::model::Profiles;
use crate::model::dictionary::Mapping;
use crate::model::id::{AttributeId, LinkId, LocationId, MappingId, StackId, StringId};
use crate::model::profile::Profile;
use crate::model::samples::Samples;
use crate::model::value::{KeyValue, Value};

/// Reads all events.
///
/// # Errors
///
/// A line that begins no event, or a frame that is none, with its number; under `Policy::Repair`
/// these are passed over and counted. A limit.
pub(crate) fn read(text: &mut Text<'_>, intake: &mut Intake) -> Result<Profiles> {
    let mut reader = Reader::new(intake);
    text.each(intake, |lines, intake| reader.events(lines, intake))?;
    reader.finish(intake)
}

/// The event that a line begins.
fn begin(line: &[u8]) -> Result<Event<'_>> {
    let is_frame = || line.starts_with(b"\t") || Frame::alone(line).is_some();
    Event::of(line).map_err(|error| match is_frame() {
        true => Error::malformed("expected an event before the first frame"),
        false => error,
    })
}

/// Notes what no profile holds.
fn left_out(intake: &mut Intake, said: impl FnOnce() -> String) {
    intake.note(LEFT_OUT, String::new, said);
}

/// What lasts from one piece of text to the next.
struct Reader {
    assembly: Assembly,
    /// The stacks by the texts of their lines: most were met before.
    stacks_met: Met<Box<[u8]>>,
    /// By the numbers that `stacks_met` gives.
    stacks: Vec<StackId>,
    /// By process, in the order in which they were met.
    processes: Met<i64>,
    /// By the numbers that `processes` gives.
    groups: Vec<Process>,
    /// What the header says of the machine.
    machine: Vec<KeyValue>,
    anchor: Anchor,
    messages: Messages,
    /// Of the event under way: one list for all, as is `locations`.
    attributes: Vec<AttributeId>,
    locations: Vec<LocationId>,
}

/// A process: what is known of it, and its events by their names.
struct Process {
    /// -1 where perf prints no process: then all threads are of one that has no number.
    pid: i64,
    /// The command of its first thread, the one whose number is the process's own.
    name: Option<StringId>,
    /// Names with their modifiers, as printed: `cycles:u` and `cycles:k` are two.
    events: Met<Vec<u8>>,
    /// By the numbers that `events` gives; each becomes a profile.
    columns: Vec<Column>,
}

/// The samples of an event, and whether perf said of any how much it stands for.
#[derive(Default)]
struct Column {
    rows: Rows,
    /// Without any, values count samples and are no nanoseconds, whatever the event is called.
    has_period: bool,
}

impl Reader {
    /// Nothing is read yet; the header comes first, if there is one.
    fn new(intake: &Intake) -> Self {
        Self {
            assembly: Assembly::new(intake),
            stacks_met: Met::default(),
            stacks: Vec::new(),
            processes: Met::default(),
            groups: Vec::new(),
            machine: Vec::new(),
            anchor: Anchor::of(intake.source.boot_time),
            messages: Messages::default(),
            attributes: Vec::new(),
            locations: Vec::new(),
        }
    }

    /// Takes the events whose lines are all there.
    ///
    /// Where the text goes on (`is_last` is false) the last block may be cut: it is left for the
    /// next piece.
    fn events(&mut self, lines: &mut Lines<'_>, intake: &mut Intake) -> Result<()> {
        loop {
            let start = lines.clone();
            let Some((number, line)) = lines.next() else { return Ok(()) };
            if let Some(comment) = line.strip_prefix(b"#") {
                self.comment(comment, intake)?;
            } else if !line.trim_ascii().is_empty() {
                let record = Record::of(line, lines);
                let block = Block::of(lines);
                if lines.rest.is_empty() && !lines.is_last {
                    // What comes may be of the same event.
                    *lines = start;
                    return Ok(());
                }
                let event = begin(line);
                if let Some(record) = record {
                    self.record(&record, line, intake)?;
                } else if is_record(line) {
                    left_out(intake, || format!("dropped {}: it is not a sample", shown(line)));
                } else if event.is_err() && self.messages.has(line) {
                    left_out(intake, || format!("ignored a message of perf: {}", shown(line)));
                } else if let Some(event) = kept(event, number, intake)? {
                    self.messages.end();
                    self.take(&event, &block, intake)?;
                }
            }
        }
    }

    /// Takes a record of simpleperf, if it is a sample.
    fn record(&mut self, record: &Record<'_>, line: &[u8], intake: &mut Intake) -> Result<()> {
        if !record.is_sample {
            left_out(intake, || format!("dropped {}: it is not a sample", shown(line)));
            return Ok(());
        }
        let (event, frames) = record.sample(intake)?;
        let sample = self.stack(&frames).and_then(|stack| self.sample(&event, stack, intake));
        kept(sample, record.number - 1, intake).map(drop)
    }

    /// `# hostname : web-1`; what was recorded may hold secrets.
    ///
    /// The last of a key that is given twice counts, as perf's header has each once.
    fn comment(&mut self, comment: &[u8], intake: &mut Intake) -> Result<()> {
        let text = String::from_utf8_lossy(comment);
        let Some((key, value)) = text.split_once(':') else { return Ok(()) };
        let key = match key.trim() {
            "captured on" => {
                self.anchor.captured_on(value);
                return Ok(());
            }
            "hostname" => "host.name",
            "os release" => "os.version",
            "cmdline" if intake.source.secrets => "process.command_args",
            "cmdline" => {
                left_out(intake, || {
                    "dropped the command line: the option secrets keeps it".to_owned()
                });
                return Ok(());
            }
            _ => return Ok(()),
        };
        let mut text = |text: &str| Ok(Value::String(self.assembly.text(text.as_bytes())?));
        let value = match key {
            "process.command_args" => {
                Value::Array(value.split_whitespace().map(text).collect::<Result<_>>()?)
            }
            _ => text(value.trim())?,
        };
        let pair = self.assembly.pair(key, value)?;
        self.machine.retain(|known| known.key != pair.key);
        self.machine.push(pair);
        Ok(())
    }

    /// Takes the sample that an event and the lines below it are.
    ///
    /// A stack is remembered only if all of its lines could be read: one that was repaired would
    /// otherwise be reported for the first event alone.
    fn take<'t>(
        &mut self,
        event: &Event<'t>,
        block: &Block<'t>,
        intake: &mut Intake,
    ) -> Result<()> {
        let alone = Frame::alone(event.trace);
        let is_alone = alone.is_some();
        let is_taken =
            alone.map_or(event.trace.is_empty() || intake.source.trace_fields, |(_, whole)| whole);
        if !is_taken {
            left_out(intake, || {
                format!(
                    "dropped {} after the event: the option trace-fields keeps fields",
                    shown(event.trace)
                )
            });
        }
        let known = self.stacks_met.get(block.text).filter(|_| !is_alone);
        let known = known.map(|at| self.stacks[at]);
        let (frames, is_whole) = match known {
            Some(_) => Default::default(),
            None => block.frames(event, intake)?,
        };
        let stack = known.map_or_else(|| self.stack(&frames), Ok);
        if let Ok(stack) = stack
            && is_whole
            && !is_alone
        {
            intake.budget.take::<u8>(48 + block.text.len())?;
            self.stacks_met.number(block.text.into());
            self.stacks.push(stack);
        }
        let taken = stack.and_then(|stack| self.sample(event, stack, intake));
        kept(taken, block.number - 1, intake).map(drop)
    }

    /// The stack of an event, innermost frame first, as it is listed.
    fn stack(&mut self, frames: &[Framed]) -> Result<StackId> {
        let mut locations = std::mem::take(&mut self.locations);
        locations.clear();
        for frame in frames {
            locations.push(self.location(frame)?);
        }
        let stack = self.assembly.stack(&locations)?;
        self.locations = locations;
        Ok(stack)
    }

    /// Adds an event to the profile of its kind, in the process it is of.
    ///
    /// # Errors
    ///
    /// A time past 64 bits, the limit of samples, the budget.
    fn sample(&mut self, event: &Event, stack: StackId, intake: &mut Intake) -> Result<()> {
        self.attributes(event, intake)?;
        self.assembly.settle(intake)?;
        let process = self.process(event)?;
        let Some(process) = self.groups.get_mut(process) else { return Ok(()) };
        let (number, is_new) = match process.events.get(event.name) {
            Some(number) => (number, false),
            None => process.events.number(event.name.to_vec()),
        };
        if is_new {
            process.columns.push(Column::default());
        }
        let Some(column) = process.columns.get_mut(number) else { return Ok(()) };
        column.has_period |= event.period.is_some();
        let identity = Identity { stack, attributes: &self.attributes, link: LinkId::NONE };
        let value = event.period.unwrap_or(1);
        let time = event.time.map(|time| self.anchor.time(time, intake)).transpose()?.flatten();
        self.assembly.sample(&mut column.rows, identity, (&[value], time.as_slice()), intake)
    }

    /// The location of a frame: its binary is a mapping without a range, as the text has no more.
    fn location(&mut self, frame: &Framed) -> Result<LocationId> {
        let mapping = match frame.binary {
            b"" | b"[unknown]" => MappingId::NONE,
            name => {
                let filename = self.assembly.text(name)?;
                self.assembly.mapping(Mapping { filename, ..Mapping::default() })?
            }
        };
        let lines = frame.lines.iter().map(|line| self.assembly.line(line));
        let lines = lines.collect::<Result<Vec<_>>>()?;
        let kind = if frame.is_kernel() { "kernel" } else { "" };
        self.assembly.location((mapping, frame.address), &lines, kind)
    }

    /// The thread, the processor, and what a tracepoint says where that is wanted.
    fn attributes(&mut self, event: &Event, intake: &mut Intake) -> Result<()> {
        let assembly = &mut self.assembly;
        let mut attributes = std::mem::take(&mut self.attributes);
        attributes.clear();
        if let Some(thread) = event.tid {
            attributes.push(assembly.attribute(b"thread.id", Value::Int(thread))?);
        }
        if !event.comm.is_empty() {
            let name = Value::String(assembly.text(event.comm)?);
            attributes.push(assembly.attribute(b"thread.name", name)?);
        }
        if let Some(cpu) = event.cpu {
            attributes.push(assembly.attribute(b"cpu.logical_number", Value::Int(cpu))?);
        }
        if intake.source.trace_fields && Frame::alone(event.trace).is_none() {
            let (fields, is_whole) = fields(event.trace);
            let most = intake.limits().max_attributes_per_item;
            within("max_attributes_per_item", most, fields.len() as u64)?;
            for (key, value) in fields {
                let value = match crate::format::lines::int(value) {
                    Ok(number) => Value::Int(number),
                    Err(_) => Value::String(assembly.text(value)?),
                };
                attributes.push(assembly.attribute(key, value)?);
            }
            if !is_whole {
                left_out(intake, || {
                    format!("dropped the parts of {} that are not fields", shown(event.trace))
                });
            }
        }
        attributes.sort_unstable();
        self.attributes = attributes;
        Ok(())
    }

    /// The number of the process: without `pid/tid`, perf prints threads alone.
    fn process(&mut self, event: &Event) -> Result<usize> {
        let pid = event.pid.unwrap_or(-1);
        let (number, is_new) = self.processes.number(pid);
        if is_new {
            self.groups.push(Process {
                pid,
                name: None,
                events: Met::default(),
                columns: Vec::new(),
            });
        }
        if event.pid.is_some() && event.pid == event.tid && !event.comm.is_empty() {
            let name = self.assembly.text(event.comm)?;
            if let Some(process) = self.groups.get_mut(number) {
                process.name.get_or_insert(name);
            }
        }
        Ok(number)
    }

    /// A resource for each process, on the machine that the header describes.
    ///
    /// The times of samples are complete only here, where the last event is known.
    fn finish(mut self, intake: &mut Intake) -> Result<Profiles> {
        let mut groups = Vec::with_capacity(self.groups.len());
        let boot = self.anchor.boot(intake);
        for process in std::mem::take(&mut self.groups) {
            let mut resource = self.machine.clone();
            if process.pid >= 0 {
                resource.push(self.assembly.pair("process.pid", Value::Int(process.pid))?);
            }
            if let Some(name) = process.name {
                resource.push(self.assembly.pair("process.executable.name", Value::String(name))?);
            }
            let mut profiles = Vec::with_capacity(process.columns.len());
            for (name, column) in process.events.in_order().into_iter().zip(process.columns) {
                let text = String::from_utf8_lossy(&name);
                let own = text.split(['/', ':']).next().unwrap_or_default();
                let kind = match own {
                    "" => ("samples", "count"),
                    "cpu-clock" | "task-clock" if column.has_period => ("cpu", "nanoseconds"),
                    _ => (&*text, "count"),
                };
                let mut profile = Profile::default();
                profile.sample_types.push(self.assembly.value_type(kind)?);
                let mut samples = column.rows.samples;
                for time in &mut samples.timestamps.items {
                    *time = time.saturating_add(boot);
                }
                timed(&mut profile, samples);
                profiles.push(profile);
            }
            groups.push(Group { resource, profiles });
        }
        self.assembly.settle(intake)?;
        Ok(self.assembly.finish(groups))
    }
}

/// Gives a profile its samples, and if they have times, the time it is of.
///
/// One nanosecond more than from the first to the last, so that the last event lies within.
fn timed(profile: &mut Profile, samples: Samples) {
    let times = samples.timestamps.items.iter().copied();
    let Some((first, last)) = times.clone().min().zip(times.max()) else {
        profile.samples = samples;
        return;
    };
    profile.samples = gathered(&samples);
    profile.time_unix_nano = i128::from(first);
    profile.duration_nanos = i128::from(last - first) + 1;
}
