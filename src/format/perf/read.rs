//! Reads the output of `perf script`: a resource for each process, a profile for each event name.
//!
//! ```text
//! Text ─► Lines ─► event line + Block ─► stack (known by its text, else parsed)
//!                                   └──► process ─► column of the event's name ─► sample
//! ```
//!
//! A recording of hours has few distinct stacks: an event with a known block costs a lookup of its text.

use crate::error::{Error, Result};
use crate::format::assembly::{Assembly, Numbering, ResourceGroup, Rows, merge_samples};
use crate::format::line_reader::LineReader;
use crate::format::lines::{Lines, kept, shown};
use crate::format::perf::anchor::Anchor;
use crate::format::perf::block::{Block, Framed};
use crate::format::perf::event::{Event, is_record};
use crate::format::perf::frame::Frame;
use crate::format::perf::messages::Messages;
use crate::format::perf::simpleperf::Record;
use crate::format::perf::trace::fields;
use crate::limits::within;
use crate::losses::LEFT_OUT;
use crate::model::Profiles;
use crate::model::dictionary::Mapping;
use crate::model::id::{AttributeId, LinkId, LocationId, MappingId, StackId, StringId};
use crate::model::profile::Profile;
use crate::model::samples::Samples;
use crate::model::value::{KeyValue, Value};
use crate::read_context::ReadContext;
use crate::tables::rows::samples::Identity;

/// Reads all events.
///
/// # Errors
///
/// A line does not begin an event, or is not a valid frame; the error has the number of the line, and
/// `Policy::Repair` skips and counts such lines. A limit is exceeded.
pub(crate) fn read(text: &mut LineReader<'_>, cx: &mut ReadContext) -> Result<Profiles> {
    let mut reader = Reader::new(cx);
    text.each(cx, |lines, cx| reader.events(lines, cx))?;
    reader.finish(cx)
}

/// Parses the first line of an event.
fn begin(line: &[u8]) -> Result<Event<'_>> {
    let is_frame = || line.starts_with(b"\t") || Frame::alone(line).is_some();
    Event::of(line).map_err(|error| match is_frame() {
        true => Error::malformed("expected an event before the first frame"),
        false => error,
    })
}

/// Notes data that the profiles lose.
fn left_out(cx: &mut ReadContext, message: impl FnOnce() -> String) {
    cx.note(LEFT_OUT, String::new, message);
}

/// The state that persists between pieces of the text.
struct Reader {
    assembly: Assembly,
    /// Numbers of stacks by the text of their lines: most events repeat a known stack.
    stack_numbering: Numbering<Box<[u8]>>,
    /// The stack of each number.
    stacks: Vec<StackId>,
    /// Numbers of processes by pid, in order of first appearance.
    processes: Numbering<i64>,
    /// The process of each number.
    groups: Vec<Process>,
    /// Resource attributes of the machine, from the header.
    machine: Vec<KeyValue>,
    anchor: Anchor,
    messages: Messages,
    /// Buffers for the current event.
    attributes: Vec<AttributeId>,
    locations: Vec<LocationId>,
}

/// A process, and its events by name.
struct Process {
    /// The pid, or -1 if perf printed only threads: then one process without a pid has all of them.
    pid: i64,
    /// The command of its main thread, whose number is the pid.
    name: Option<StringId>,
    /// Names with their modifiers: `cycles:u` and `cycles:k` are distinct.
    events: Numbering<Vec<u8>>,
    /// The column of each event name, which becomes a profile.
    columns: Vec<Column>,
}

/// The samples of an event name.
#[derive(Default)]
struct Column {
    rows: Rows,
    /// Whether any event has a period. If none has one, values count samples, even if the event measures
    /// time.
    has_period: bool,
}

impl Reader {
    fn new(cx: &ReadContext) -> Self {
        Self {
            assembly: Assembly::new(cx),
            stack_numbering: Numbering::default(),
            stacks: Vec::new(),
            processes: Numbering::default(),
            groups: Vec::new(),
            machine: Vec::new(),
            anchor: Anchor::of(cx.source.boot_time),
            messages: Messages::default(),
            attributes: Vec::new(),
            locations: Vec::new(),
        }
    }

    /// Reads the events that are complete.
    ///
    /// If the text continues (`is_last` is false), the last block may be cut, and stays for the next piece.
    fn events(&mut self, lines: &mut Lines<'_>, cx: &mut ReadContext) -> Result<()> {
        loop {
            let start = lines.clone();
            let Some((number, line)) = lines.next() else { return Ok(()) };
            if let Some(comment) = line.strip_prefix(b"#") {
                self.comment(comment, cx)?;
            } else if !line.trim_ascii().is_empty() {
                let record = Record::of(line, lines);
                let block = Block::of(lines);
                if lines.rest.is_empty() && !lines.is_last {
                    // The next piece may continue this event.
                    *lines = start;
                    return Ok(());
                }
                let event = begin(line);
                if let Some(record) = record {
                    self.record(&record, line, cx)?;
                } else if is_record(line) {
                    left_out(cx, || format!("dropped {}: it is not a sample", shown(line)));
                } else if event.is_err() && self.messages.has(line) {
                    left_out(cx, || format!("ignored a message of perf: {}", shown(line)));
                } else if let Some(event) = kept(event, number, cx)? {
                    self.messages.end();
                    self.add_sample(&event, &block, cx)?;
                }
            }
        }
    }

    /// Adds a record of simpleperf, if it is a sample.
    fn record(&mut self, record: &Record<'_>, line: &[u8], cx: &mut ReadContext) -> Result<()> {
        if !record.is_sample {
            left_out(cx, || format!("dropped {}: it is not a sample", shown(line)));
            return Ok(());
        }
        let (event, frames) = record.sample(cx)?;
        let sample = self.stack(&frames).and_then(|stack| self.sample(&event, stack, cx));
        kept(sample, record.number - 1, cx).map(drop)
    }

    /// Parses a comment such as `# hostname : web-1`. The command line may contain secrets.
    ///
    /// If a key occurs twice, the last one counts. perf's header has each key once.
    fn comment(&mut self, comment: &[u8], cx: &mut ReadContext) -> Result<()> {
        let text = String::from_utf8_lossy(comment);
        let Some((key, value)) = text.split_once(':') else { return Ok(()) };
        let key = match key.trim() {
            "captured on" => {
                self.anchor.captured_on(value);
                return Ok(());
            }
            "hostname" => "host.name",
            "os release" => "os.version",
            "cmdline" if cx.source.secrets => "process.command_args",
            "cmdline" => {
                left_out(cx, || "dropped the command line: the option secrets keeps it".to_owned());
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

    /// Adds the sample of an event and its block.
    ///
    /// Caches a stack only if all its lines are valid: otherwise only the first event with this stack would
    /// report its invalid lines.
    fn add_sample<'t>(
        &mut self,
        event: &Event<'t>,
        block: &Block<'t>,
        cx: &mut ReadContext,
    ) -> Result<()> {
        let alone = Frame::alone(event.trace);
        let is_alone = alone.is_some();
        let is_taken =
            alone.map_or(event.trace.is_empty() || cx.source.trace_fields, |(_, whole)| whole);
        if !is_taken {
            left_out(cx, || {
                format!(
                    "dropped {} after the event: the option trace-fields keeps fields",
                    shown(event.trace)
                )
            });
        }
        let known = self.stack_numbering.get(block.text).filter(|_| !is_alone);
        let known = known.map(|at| self.stacks[at]);
        let (frames, is_whole) = match known {
            Some(_) => Default::default(),
            None => block.frames(event, cx)?,
        };
        let stack = known.map_or_else(|| self.stack(&frames), Ok);
        if let Ok(stack) = stack
            && is_whole
            && !is_alone
        {
            cx.budget.charge::<u8>(48 + block.text.len())?;
            self.stack_numbering.number(block.text.into());
            self.stacks.push(stack);
        }
        let taken = stack.and_then(|stack| self.sample(event, stack, cx));
        kept(taken, block.number - 1, cx).map(drop)
    }

    /// Adds a stack, innermost frame first.
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

    /// Adds a sample to the profile of its event name, in its process.
    ///
    /// # Errors
    ///
    /// The time exceeds 64 bits, or the limit of samples or the budget is exceeded.
    fn sample(&mut self, event: &Event, stack: StackId, cx: &mut ReadContext) -> Result<()> {
        self.attributes(event, cx)?;
        self.assembly.charge(cx)?;
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
        let time = event.time.map(|time| self.anchor.time(time, cx)).transpose()?.flatten();
        self.assembly.sample(&mut column.rows, identity, (&[value], time.as_slice()), cx)
    }

    /// Returns the location of a frame. Its binary becomes a mapping without a range, which the text lacks.
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

    /// Collects the thread, the processor and, if requested, the fields of a tracepoint.
    fn attributes(&mut self, event: &Event, cx: &mut ReadContext) -> Result<()> {
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
        if cx.source.trace_fields && Frame::alone(event.trace).is_none() {
            let (fields, is_whole) = fields(event.trace);
            let most = cx.limits().max_attributes_per_item;
            within("max_attributes_per_item", most, fields.len() as u64)?;
            for (key, value) in fields {
                let value = match crate::format::lines::int(value) {
                    Ok(number) => Value::Int(number),
                    Err(_) => Value::String(assembly.text(value)?),
                };
                attributes.push(assembly.attribute(key, value)?);
            }
            if !is_whole {
                left_out(cx, || {
                    format!("dropped the parts of {} that are not fields", shown(event.trace))
                });
            }
        }
        attributes.sort_unstable();
        self.attributes = attributes;
        Ok(())
    }

    /// Returns the number of an event's process. Without `pid/tid`, perf prints only threads.
    fn process(&mut self, event: &Event) -> Result<usize> {
        let pid = event.pid.unwrap_or(-1);
        let (number, is_new) = self.processes.number(pid);
        if is_new {
            self.groups.push(Process {
                pid,
                name: None,
                events: Numbering::default(),
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

    /// Assembles a resource for each process, with the machine from the header.
    ///
    /// Completes the timestamps, because the last event is known now.
    fn finish(mut self, cx: &mut ReadContext) -> Result<Profiles> {
        let mut groups = Vec::with_capacity(self.groups.len());
        let boot = self.anchor.time_offset(cx);
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
            groups.push(ResourceGroup { resource, profiles });
        }
        self.assembly.charge(cx)?;
        Ok(self.assembly.finish(groups))
    }
}

/// Sets the samples of a profile, and its time and duration if they have timestamps.
///
/// The duration exceeds the time from the first to the last sample by one nanosecond, so that it contains the
/// last one.
fn timed(profile: &mut Profile, samples: Samples) {
    let times = samples.timestamps.items.iter().copied();
    let Some((first, last)) = times.clone().min().zip(times.max()) else {
        profile.samples = samples;
        return;
    };
    profile.samples = merge_samples(&samples);
    profile.time_unix_nano = i128::from(first);
    profile.duration_nanos = i128::from(last - first) + 1;
}
