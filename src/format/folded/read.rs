//! Reads folded stacks.

use crate::error::{Error, Result};
use crate::format::assembly::{Assembly, Numbering, ResourceGroup, Rows};
use crate::format::folded::attributes::{Pairs, Word, take_link, word};
use crate::format::folded::dialect::{self, Origin, frame, origin};
use crate::format::folded::header::Header;
use crate::format::folded::line::{
    Line, has_extended, is_extended, numbers_behind, report_columns, row, split_last, time,
};
use crate::format::folded::stack_texts::StackTexts;
use crate::format::line_reader::LineReader;
use crate::format::lines::{Lines, find, int, kept, lines, scaled, shown};
use crate::losses::VALUE_NEGATIVE;
use crate::model::Profiles;
use crate::model::id::{AttributeId, LinkId, LocationId, StackId};
use crate::model::profile::Profile;
use crate::model::ragged::Ragged;
use crate::model::value::{KeyValue, Value};
use crate::read_context::ReadContext;
use crate::source_options::{Dialect, SourceOptions};
use crate::tables::rows::samples::Identity;

/// Reads folded stacks. The first lines decide whether they are plain or extended. In a plain file, equal
/// stacks are added up. If a later line is extended, every line from there on is a separate sample.
pub(crate) fn read(text: &mut LineReader<'_>, cx: &mut ReadContext) -> Result<Profiles> {
    let head = text.head()?;
    let header = Header::of(head, cx)?;
    let plain = header.types.len() > 1 || !has_extended(&lines(head));
    let mut reader = Reader::new(&header, plain, cx);
    text.each(cx, |lines, cx| reader.lines(lines, cx))?;
    reader.finish(cx)
}

/// A known stack: its row in the dictionary, its process, and its sample if equal stacks share one.
#[derive(Clone, Copy)]
struct Stack {
    id: StackId,
    process: usize,
    sample: Option<u32>,
}

/// Builds profiles from lines. It looks up a stack by its text, so that a line with a known stack costs a
/// lookup and a few numbers.
struct Reader<'h> {
    header: &'h Header,
    assembly: Assembly,
    /// Resource attributes and samples of each process, in order of first appearance.
    groups: Vec<(Vec<KeyValue>, Rows)>,
    processes: Numbering<Option<u64>>,
    /// The texts of known stacks: most lines have one of them.
    texts: StackTexts,
    stacks: Vec<Stack>,
    /// The location of each part of these texts: a frame with those inlined into it.
    frames: Vec<Option<LocationId>>,
    /// The attributes of each stack from its pseudo-frames.
    origins: Ragged<AttributeId>,
    /// Whether equal stacks share a sample.
    plain: bool,
    /// The number of stacks that end with further numbers, and the least number of those: unread columns.
    unread: (usize, usize),
    /// Whether any line fits the dialect.
    fits: bool,
    values: Vec<i64>,
    times: Vec<u64>,
    locations: Vec<LocationId>,
    parts: Vec<u32>,
}

impl<'h> Reader<'h> {
    fn new(header: &'h Header, plain: bool, cx: &ReadContext) -> Self {
        Self {
            header,
            assembly: Assembly::new(cx),
            groups: Vec::new(),
            processes: Numbering::default(),
            texts: StackTexts::default(),
            stacks: Vec::new(),
            frames: Vec::new(),
            origins: Ragged::default(),
            plain,
            unread: (0, usize::MAX),
            fits: false,
            values: Vec::new(),
            times: Vec::new(),
            locations: Vec::new(),
            parts: Vec::new(),
        }
    }

    /// Reads a piece of the file.
    fn lines(&mut self, lines: &mut Lines<'_>, cx: &mut ReadContext) -> Result<()> {
        let may_turn = self.plain && self.header.types.len() == 1 && has_extended(lines);
        for (number, line) in lines {
            let Some(line) = row(line, number, cx) else { continue };
            if may_turn && self.plain && is_extended(line) {
                self.plain = false;
                self.groups.iter_mut().for_each(|(_, rows)| rows.set_apart());
            }
            let made = if self.plain {
                self.plain(line, cx)
            } else {
                Line::of(line).and_then(|line| self.extended(line, cx))
            };
            kept(made, number, cx)?;
        }
        Ok(())
    }

    /// Reads a line of a plain file, in which equal stacks share a sample.
    fn plain(&mut self, line: &[u8], cx: &mut ReadContext) -> Result<()> {
        let stack = self.numbers(line, cx)?;
        let at = self.stack(stack, cx)?;
        let Stack { id, process, sample } = self.stacks[at];
        let rows = &mut self.groups[process].1;
        if let Some(sample) = sample {
            return rows.add_to(sample as usize, &self.values);
        }
        let attributes = self.origins.row(at);
        let identity = Identity { stack: id, attributes, link: LinkId::NONE };
        let (next, values) = (rows.samples.len() as u32, (&self.values[..], &[][..]));
        self.assembly.sample(rows, identity, values, cx)?;
        // If another text of the same stack already has a sample, this one got no row.
        self.stacks[at].sample = (rows.samples.len() as u32 > next).then_some(next);
        Ok(())
    }

    /// Parses the numbers at the end of a line, and returns the text before them.
    fn numbers<'a>(&mut self, line: &'a [u8], cx: &mut ReadContext) -> Result<&'a [u8]> {
        let columns = self.header.types.len();
        self.values.clear();
        let mut rest = line;
        if self.header.source.dialect == Some(Dialect::Austin) && columns > 1 {
            let (stack, numbers) = split_last(line)?;
            for word in numbers.split(|byte| *byte == b',') {
                self.push(word, cx)?;
            }
            self.values.resize(self.values.len().max(columns), 0);
            rest = stack;
        } else {
            for _ in 0..columns {
                let (before, word) = split_last(rest)?;
                self.push(word, cx)?;
                rest = before;
            }
            self.values.reverse();
        }
        if self.values.len() != columns {
            return Err(Error::malformed(format!(
                "the line has {} values, expected {columns}",
                self.values.len()
            )));
        }
        for (value, factor) in self.values.iter_mut().zip(&self.header.factors) {
            let product = value.checked_mul(*factor);
            *value = product.ok_or_else(|| {
                Error::malformed(format!("{value} times {factor} overflows 64 bits"))
            })?;
        }
        Ok(rest)
    }

    /// Adds a value of a line, scaled if the options have a scale.
    fn push(&mut self, word: &[u8], cx: &mut ReadContext) -> Result<()> {
        let value = match self.header.scale {
            None => {
                int(word).map_err(|error| match error.message().ends_with("not an integer") {
                    true => error.explained("; the option scale makes integers"),
                    false => error,
                })?
            }
            Some(scale) => scaled(word, scale, cx)?,
        };
        if value < 0 {
            cx.note(VALUE_NEGATIVE, String::new, || format!("the negative value {value} was kept"));
        }
        self.values.push(value);
        Ok(())
    }

    /// Reads a line of an extended file, in which every line is a sample.
    fn extended(&mut self, line: Line<'_>, cx: &mut ReadContext) -> Result<()> {
        self.values.clear();
        self.times.clear();
        for word in line.values.split(|byte| *byte == b',') {
            self.push(word, cx)?;
        }
        let (pairs, stamps) =
            line.more.map_or((Vec::new(), &b""[..]), |more| (more.pairs, more.stamps));
        for stamp in stamps.split(|byte| *byte == b',').filter(|stamp| !stamp.is_empty()) {
            self.times.push(time(stamp, self.header.source.timestamp_unit)?);
        }
        self.fit_values()?;
        let at = self.stack(line.stack, cx)?;
        let (mut attributes, link) = self.attributes(pairs, cx)?;
        attributes.extend_from_slice(self.origins.row(at));
        attributes.sort_unstable();
        let Stack { id, process, .. } = self.stacks[at];
        let identity = Identity { stack: id, attributes: &attributes, link };
        let rows = &mut self.groups[process].1;
        self.assembly.sample(rows, identity, (&self.values, &self.times), cx)
    }

    /// Checks that there is one value for each timestamp. A single value may be the number of timestamps,
    /// each counting 1.
    fn fit_values(&mut self) -> Result<()> {
        let (values, times) = (self.values.len(), self.times.len());
        match self.values[..] {
            _ if values == times => Ok(()),
            [_] if times == 0 => Ok(()),
            [value] if u64::try_from(value).is_ok_and(|value| value == times as u64) => {
                self.values.clear();
                Ok(())
            }
            _ => Err(Error::malformed(format!(
                "the sample has {values} values and {times} timestamps: it needs one value for each timestamp, or one value that counts them"
            ))),
        }
    }

    /// Adds the attributes of a line, and the link from its two ids.
    fn attributes(
        &mut self,
        mut pairs: Pairs,
        cx: &mut ReadContext,
    ) -> Result<(Vec<AttributeId>, LinkId)> {
        cx.charge_attributes(pairs.len())?;
        let mut keys: Vec<&[u8]> = pairs.iter().map(|(key, _)| &key[..]).collect();
        keys.sort_unstable();
        if let Some(repeated) = keys.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::malformed(format!(
                "the attribute {} occurs twice",
                shown(repeated[0])
            )));
        }
        let link = take_link(&mut pairs, cx);
        let link = link.map_or(Ok(LinkId::NONE), |link| self.assembly.link(link))?;
        let mut ids = Vec::with_capacity(pairs.len());
        for (key, written) in &pairs {
            let value = match word(written) {
                Word::Value(value) if !written.quoted => value,
                _ => Value::String(self.assembly.text(written)?),
            };
            ids.push(self.assembly.attribute(key, value)?);
        }
        self.assembly.charge(cx)?;
        Ok((ids, link))
    }

    /// Returns the number of a stack, and adds it if it is new.
    fn stack(&mut self, text: &[u8], cx: &mut ReadContext) -> Result<usize> {
        if let Some(at) = self.texts.find(text) {
            return Ok(at);
        }
        let stack = self.new_stack(text, cx)?;
        let numbers = if self.plain { numbers_behind(text) } else { 0 };
        if numbers > 0 {
            self.unread = (self.unread.0 + 1, self.unread.1.min(numbers));
        }
        self.assembly.charge(cx)?;
        cx.budget.charge::<u8>(64)?;
        cx.budget.charge::<u32>(self.parts.len())?;
        self.texts.add(text, &self.parts)?;
        self.stacks.push(stack);
        Ok(self.stacks.len() - 1)
    }

    /// Adds a new stack: first the pseudo-frames of the dialect, then the frames.
    fn new_stack(&mut self, text: &[u8], cx: &mut ReadContext) -> Result<Stack> {
        let SourceOptions { dialect, annotations, .. } = self.header.source;
        let (from, mut rest) = origin(text, dialect);
        let mut locations = std::mem::take(&mut self.locations);
        locations.clear();
        self.parts.clear();
        // The stack consists of pseudo-frames only.
        let nothing = rest.is_empty() && rest.len() != text.len();
        if rest.len() != text.len() {
            self.fits = true;
            let behind = if nothing { 0 } else { rest.len() + 1 };
            self.part(text.get(..text.len() - behind).unwrap_or_default(), cx)?;
        }
        let mut more = !nothing;
        while more {
            // A part extends over the frames that are inlined into it.
            let mut end = find(b';', rest).unwrap_or(rest.len());
            while annotations && let Some(inlined) = rest.get(end + 1..) {
                let length = find(b';', inlined).unwrap_or(inlined.len());
                let is_inlined =
                    inlined.get(..length).is_some_and(|text| frame(text, dialect, true).inlined);
                if !is_inlined {
                    break;
                }
                end += 1 + length;
            }
            let (first, after) = rest.split_at_checked(end).unwrap_or((rest, b""));
            locations.push(self.frame(first, cx)?);
            more = !after.is_empty();
            rest = after.get(1..).unwrap_or_default();
        }
        cx.check_depth(locations.len())?;
        locations.reverse();
        let id = self.assembly.stack(&locations)?;
        self.locations = locations;
        self.origin(&from)?;
        Ok(Stack { id, process: self.process(&from)?, sample: None })
    }

    /// Appends the next part of a stack's text, and returns its number.
    fn part(&mut self, text: &[u8], cx: &mut ReadContext) -> Result<usize> {
        let part = self.texts.part(text);
        self.parts.push(part);
        if part as usize == self.frames.len() {
            cx.budget.charge::<u8>(48 + text.len())?;
            self.frames.push(None);
        }
        Ok(part as usize)
    }

    /// Returns the location of a frame and of those inlined into it.
    fn frame(&mut self, text: &[u8], cx: &mut ReadContext) -> Result<LocationId> {
        let part = self.part(text, cx)?;
        if let Some(location) = self.frames[part] {
            return Ok(location);
        }
        let SourceOptions { dialect, annotations, .. } = self.header.source;
        let frames = text.split(|byte| *byte == b';').map(|text| frame(text, dialect, annotations));
        let kind = frames.clone().next().map_or("", |frame| frame.kind);
        let lines = frames.map(|frame| {
            self.fits |= !frame.named.file.is_empty();
            self.assembly.line(&frame.named)
        });
        let mut lines = lines.collect::<Result<Vec<_>>>()?;
        lines.reverse();
        let location = self.assembly.location(Default::default(), &lines, kind)?;
        self.frames[part] = Some(location);
        Ok(location)
    }

    /// Stores the thread of a stack as attributes of its samples.
    fn origin(&mut self, from: &Origin) -> Result<()> {
        let mut attributes = Vec::new();
        if let Some(thread) = from.thread {
            attributes.push(self.assembly.attribute(b"thread.id", Value::Int(thread as i64))?);
        }
        if !from.thread_name.is_empty() {
            let name = self.assembly.text(from.thread_name)?;
            attributes.push(self.assembly.attribute(b"thread.name", Value::String(name))?);
        }
        attributes.sort_unstable();
        self.origins.push_at(self.stacks.len(), &attributes);
        Ok(())
    }

    /// Returns the number of a process, and adds it if it is new.
    fn process(&mut self, from: &Origin) -> Result<usize> {
        let (number, is_new) = self.processes.number(from.process);
        if is_new {
            let mut resource = Vec::new();
            if let Some(pid) = from.process {
                resource.push(self.assembly.pair("process.pid", Value::Int(pid as i64))?);
            }
            if !from.command.is_empty() {
                let command = Value::String(self.assembly.text(from.command)?);
                resource.push(self.assembly.pair("process.command_line", command)?);
            }
            let rows = if self.plain { Rows::default() } else { Rows::apart() };
            self.groups.push((resource, rows));
        }
        Ok(number)
    }

    /// Assembles a profile for each process, in order of first appearance. Returns an error if no line fits
    /// the dialect.
    fn finish(mut self, cx: &mut ReadContext) -> Result<Profiles> {
        dialect::check(self.header.source.dialect, self.fits || self.stacks.is_empty())?;
        if self.header.source.columns == 0 && self.header.source.sample_types.is_empty() {
            report_columns(self.unread, self.stacks.len(), cx);
        }
        let mut groups = Vec::with_capacity(self.groups.len());
        for (resource, rows) in std::mem::take(&mut self.groups) {
            let mut profile = Profile::default();
            for (name, unit) in &self.header.types {
                profile.sample_types.push(self.assembly.value_type((name, unit))?);
            }
            if let Some(interval) = self.header.interval {
                profile.period = interval.saturating_mul(1000);
                profile.period_type = self.assembly.value_type(("wall", "nanoseconds"))?;
            }
            profile.samples = rows.samples;
            groups.push(ResourceGroup { resource, profiles: vec![profile] });
        }
        self.assembly.charge(cx)?;
        Ok(self.assembly.finish(groups))
    }
}
