//! Reading the text of `perf script`: a resource for each process, a profile for each event.

use crate::build::samples::Identity;
use crate::error::{Error, Result};
use crate::format::assembly::{Assembly, Group, Met, Named, Rows};
use crate::format::intake::Intake;
use crate::format::lines::{kept, lines, text};
use crate::format::losses::TIME_NO_ANCHOR;
use crate::format::perf::event::{Event, Frame, source};
use crate::limits::within;
use crate::model::Profiles;
use crate::model::dictionary::{Line, Mapping};
use crate::model::id::{AttributeId, LinkId, LocationId, MappingId, StringId};
use crate::model::profile::Profile;
use crate::model::value::{KeyValue, Value};

/// Reads all events.
pub(crate) fn read(payload: &[u8], intake: &mut Intake) -> Result<Profiles> {
    let text = text(payload, intake)?;
    let mut reader = Reader::new(intake);
    let mut block = Block::default();
    for (number, line) in lines(&text) {
        let is_indented = line.starts_with(b" ") || line.starts_with(b"\t");
        if line.trim_ascii().is_empty() {
            reader.end(&mut block, intake)?;
        } else if let Some(comment) = line.strip_prefix(b"#") {
            reader.comment(comment, intake)?;
        } else if !is_indented || block.is_over() && Event::of(line).is_ok() {
            reader.end(&mut block, intake)?;
            let event = Event::of(line);
            block.begin(kept(event, number, intake)?, number);
        } else {
            let taken = block.line(line, &mut reader.assembly, intake);
            kept(taken, number, intake)?;
        }
    }
    reader.end(&mut block, intake)?;
    reader.finish(intake)
}

/// An event and the frames that follow it.
#[derive(Default)]
struct Block<'a> {
    event: Option<Event<'a>>,
    number: usize,
    /// Whether an event was begun that cannot be read: its frames are passed over.
    broken: bool,
    frames: Vec<Framed<'a>>,
}

/// A frame, and the lines of the functions inlined into it.
struct Framed<'a> {
    address: u64,
    binary: &'a [u8],
    lines: Vec<Line>,
    /// What the last of them is called, until its file is known.
    symbol: &'a [u8],
    /// Whether the next frame is what these functions were inlined into.
    open: bool,
}

impl<'a> Block<'a> {
    /// Whether no event is under way.
    fn is_over(&self) -> bool {
        self.event.is_none() && !self.broken
    }

    fn begin(&mut self, event: Option<Event<'a>>, number: usize) {
        self.broken = event.is_none();
        (self.event, self.number) = (event, number);
    }

    /// A line below an event.
    fn line(&mut self, line: &'a [u8], assembly: &mut Assembly, intake: &mut Intake) -> Result<()> {
        if self.broken {
            return Ok(());
        }
        if self.event.is_none() {
            return Err(Error::malformed("a frame stands before any event"));
        }
        // Frames are indented by a tab, the lines of their sources by blanks.
        if !line.starts_with(b"\t")
            && let Some(last) = self.frames.last_mut()
            && Frame::of(line).is_err()
        {
            if let Some((file, number)) = source(line)
                && let Some(own) = last.lines.last_mut()
            {
                let named = Named { name: last.symbol, file, line: number, column: 0 };
                *own = assembly.line(&named)?;
            }
            if line.ends_with(b"(inlined)") {
                last.open = true;
            }
            return Ok(());
        }
        let Frame { address, symbol, binary } = Frame::of(line)?;
        let line = match symbol {
            b"" => None,
            name => Some(assembly.line(&Named { name, ..Named::default() })?),
        };
        if let Some(last) =
            self.frames.last_mut().filter(|last| last.open && last.address == address)
        {
            last.lines.extend(line);
            (last.symbol, last.open) = (symbol, binary.is_none());
            last.binary = binary.unwrap_or_default();
            return Ok(());
        }
        intake.check_depth(self.frames.len() + 1)?;
        let (lines, open) = (line.into_iter().collect(), binary.is_none());
        let binary = binary.unwrap_or_default();
        self.frames.push(Framed { address, binary, lines, symbol, open });
        Ok(())
    }
}

struct Reader {
    assembly: Assembly,
    /// By process, in the order in which they were met.
    processes: Met<i64>,
    groups: Vec<Process>,
    /// What the header says of the machine.
    machine: Vec<KeyValue>,
    attributes: Vec<AttributeId>,
    locations: Vec<LocationId>,
}

/// A process: what is known of it, and its events by their names.
struct Process {
    pid: i64,
    name: Option<StringId>,
    events: Met<Vec<u8>>,
    rows: Vec<Rows>,
}

impl Reader {
    fn new(intake: &Intake) -> Self {
        Self {
            assembly: Assembly::new(intake),
            processes: Met::default(),
            groups: Vec::new(),
            machine: Vec::new(),
            attributes: Vec::new(),
            locations: Vec::new(),
        }
    }

    /// `# hostname : web-1`; what was recorded may hold secrets.
    fn comment(&mut self, comment: &[u8], intake: &Intake) -> Result<()> {
        let text = String::from_utf8_lossy(comment);
        let Some((key, value)) = text.split_once(" : ") else { return Ok(()) };
        let key = match key.trim() {
            "hostname" => "host.name",
            "os release" => "os.version",
            "cmdline" if intake.source.secrets => "process.command_args",
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

    /// Takes the sample that an event and its frames are.
    fn end(&mut self, block: &mut Block, intake: &mut Intake) -> Result<()> {
        block.broken = false;
        let Some(event) = block.event.take() else {
            block.frames.clear();
            return Ok(());
        };
        let taken = self.sample(&event, &block.frames, intake);
        block.frames.clear();
        kept(taken, block.number, intake).map(drop)
    }

    fn sample(&mut self, event: &Event, frames: &[Framed], intake: &mut Intake) -> Result<()> {
        let mut locations = std::mem::take(&mut self.locations);
        locations.clear();
        for frame in frames {
            locations.push(self.location(frame)?);
        }
        let stack = self.assembly.stack(&locations)?;
        self.locations = locations;
        self.attributes(event, intake)?;
        self.assembly.settle(intake)?;
        let process = self.process(event)?;
        let Some(process) = self.groups.get_mut(process) else { return Ok(()) };
        let (number, is_new) = process.events.number(event.name.to_vec());
        if is_new {
            process.rows.push(Rows::default());
        }
        let Some(rows) = process.rows.get_mut(number) else { return Ok(()) };
        let identity = Identity { stack, attributes: &self.attributes, link: LinkId::NONE };
        let value = event.period.unwrap_or(1);
        let times = time(event, intake)?;
        self.assembly.sample(rows, identity, (&[value], times.as_slice()), intake)
    }

    fn location(&mut self, frame: &Framed) -> Result<LocationId> {
        let mapping = match frame.binary {
            b"" | b"[unknown]" => MappingId::NONE,
            name => {
                let filename = self.assembly.text(name)?;
                self.assembly.mapping(Mapping { filename, ..Mapping::default() })?
            }
        };
        let is_kernel = frame.binary.starts_with(b"[kernel")
            || frame.binary.starts_with(b"[guest.kernel")
            || frame.binary.ends_with(b".ko")
            || frame.binary.ends_with(b".ko.xz");
        let kind = if is_kernel { "kernel" } else { "" };
        self.assembly.location((mapping, frame.address), &frame.lines, kind)
    }

    /// The thread, the processor, and what a tracepoint says where that is wanted.
    fn attributes(&mut self, event: &Event, intake: &Intake) -> Result<()> {
        let assembly = &mut self.assembly;
        let mut attributes = std::mem::take(&mut self.attributes);
        attributes.clear();
        attributes.push(assembly.attribute(b"thread.id", Value::Int(event.tid))?);
        if !event.comm.is_empty() {
            let name = Value::String(assembly.text(event.comm)?);
            attributes.push(assembly.attribute(b"thread.name", name)?);
        }
        if let Some(cpu) = event.cpu {
            attributes.push(assembly.attribute(b"cpu.logical_number", Value::Int(cpu))?);
        }
        if intake.source.trace_fields {
            let mut keys = std::collections::HashSet::new();
            for word in event.trace.split(|byte| *byte == b' ') {
                let Some(at) = word.iter().position(|byte| *byte == b'=') else { continue };
                let (key, value) =
                    (word.get(..at).unwrap_or_default(), word.get(at + 1..).unwrap_or_default());
                let known: [&[u8]; 3] = [b"thread.id", b"thread.name", b"cpu.logical_number"];
                if key.is_empty() || known.contains(&key) || !keys.insert(key) {
                    continue;
                }
                let most = intake.limits().max_attributes_per_item;
                within("max_attributes_per_item", most, keys.len() as u64)?;
                let value = match crate::format::lines::int(value) {
                    Ok(number) => Value::Int(number),
                    Err(_) => Value::String(assembly.text(value)?),
                };
                attributes.push(assembly.attribute(key, value)?);
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
            self.groups.push(Process { pid, name: None, events: Met::default(), rows: Vec::new() });
        }
        if event.pid == Some(event.tid) && !event.comm.is_empty() {
            let name = self.assembly.text(event.comm)?;
            if let Some(process) = self.groups.get_mut(number) {
                process.name.get_or_insert(name);
            }
        }
        Ok(number)
    }

    fn finish(mut self, intake: &mut Intake) -> Result<Profiles> {
        let mut groups = Vec::with_capacity(self.groups.len());
        for process in std::mem::take(&mut self.groups) {
            let mut resource = self.machine.clone();
            if process.pid >= 0 {
                resource.push(self.assembly.pair("process.pid", Value::Int(process.pid))?);
            }
            if let Some(name) = process.name {
                resource.push(self.assembly.pair("process.executable.name", Value::String(name))?);
            }
            let mut profiles = Vec::with_capacity(process.rows.len());
            for (name, rows) in process.events.in_order().into_iter().zip(process.rows) {
                let text = String::from_utf8_lossy(&name);
                let own = text.split(['/', ':']).next().unwrap_or_default();
                let kind = match own {
                    "cpu-clock" | "task-clock" => ("cpu", "nanoseconds"),
                    _ => (&*text, "count"),
                };
                let mut profile = Profile::default();
                profile.sample_types.push(self.assembly.value_type(kind)?);
                profile.samples = rows.samples;
                profiles.push(profile);
            }
            groups.push(Group { resource, profiles });
        }
        self.assembly.settle(intake)?;
        Ok(self.assembly.finish(groups))
    }
}

/// When an event was, in nanoseconds since 1970, if it is known when the machine was started.
fn time(event: &Event, intake: &mut Intake) -> Result<Option<u64>> {
    let Some(boot) = intake.source.boot_time else {
        let said = || {
            "the times count from when the machine was started: the option boot-time says when that was".to_owned()
        };
        intake.note(TIME_NO_ANCHOR, String::new, said);
        return Ok(None);
    };
    let time = boot.checked_add(event.time);
    time.map(Some)
        .ok_or_else(|| Error::malformed("the time does not fit into 64 bits of nanoseconds"))
}
