//! Reading messages and reports, alone, in lists or one after the other.
//!
//! ```text
//! JSON values ─► messages ─► points (start + stop) ─► tree (who called whom, own times)
//!             ─► a sample a point ─► a part for each (service, trace) ─► profiles, resources
//! ```
//!
//! One value of JSON after the other becomes a tree in memory, gives its messages and is dropped;
//! the messages of the whole file are kept, as a start and its stop may be far apart. The budget is
//! charged four bytes for each byte of text that is kept.

use std::collections::HashSet;

use super::attributes;
use super::message::{Message, Origin, is_message};
use super::points::{Point, points};
use super::report::{Report, is_report};
use super::tree::Tree;
use crate::builder::samples::Identity;
use crate::error::{Error, ErrorKind, Result};
use crate::format::assembly::{Assembly, Group, Met, Named, Rows};
use crate::format::intake::Intake;
use crate::format::json::text::Text;
use crate::format::json::tree::Json;
use crate::format::losses::{BAD_LINE, TIME_NO_ANCHOR};
use crate::limits::within;
use crate::model::Profiles;
use crate::model::dictionary::{Function, Line, Link};
use crate::model::id::{AttributeId, LinkId, LocationId};
use crate::model::profile::Profile;
use crate::model::value::{KeyValue, Value};

/// The bytes that messages take in memory for each one of their text, or less.
const KEPT: usize = 4;

/// Reads all that a file holds.
///
/// # Errors
///
/// What is no JSON; a value that is neither message nor report, and a point that calls itself,
/// unless repairs are asked for; a file without any message.
pub(crate) fn read(payload: &[u8], intake: &mut Intake) -> Result<Profiles> {
    let mut text = Text::new(payload.strip_prefix(b"\xef\xbb\xbf").unwrap_or(payload))?;
    let mut all = All { messages: Vec::new(), is_anchored: true, row: 0 };
    while text.peek().is_some() {
        let row = all.row;
        let (mark, before) = (intake.budget.mark(), text.rest().len());
        let known = all.messages.len();
        let json = Json::of(&mut text, intake).map_err(|e| e.within_row("message", row))?;
        all.value(&json, intake)?;
        // The tree is gone; what is kept of it is a few times as long as its text.
        intake.budget.give_back(mark);
        intake.budget.take::<[u8; KEPT]>(before - text.rest().len())?;
        for message in all.messages.get(known..).unwrap_or_default() {
            intake.budget.take::<u8>(message.repeated())?;
        }
        // Some tools put commas between objects.
        text.word(",");
    }
    if all.messages.is_empty() {
        return Err(Error::malformed("the file contains no OSProfiler message or report"));
    }
    if !all.is_anchored {
        let said = || "dropped the times: the start of the report is unknown".into();
        intake.note(TIME_NO_ANCHOR, || "report".to_owned(), said);
    }
    let points = points(all.messages, intake)?;
    let tree = Tree::of(&points, intake)?;
    Reader::of(points, all.is_anchored, intake).read(&tree, intake)
}

/// What was read so far.
struct All<'a> {
    messages: Vec<Message<'a>>,
    /// Whether it is known when it was.
    ///
    /// A report without messages says times from its own beginning only: then profiles have no
    /// time.
    is_anchored: bool,
    /// Of the next value, counted through lists: places of errors are `message[7]`.
    row: usize,
}

impl<'a> All<'a> {
    /// A message, a report, or a list of such.
    ///
    /// A report gives all its messages or, where one of them is broken, none: its times are worth
    /// nothing apart.
    ///
    /// # Errors
    ///
    /// Under `Policy::Refuse`, what is neither message nor report.
    fn value(&mut self, json: &Json<'a>, intake: &mut Intake) -> Result<()> {
        if let Some(list) = json.list() {
            return list.iter().try_for_each(|json| self.value(json, intake));
        }
        let row = self.row;
        self.row += 1;
        let made = match json {
            json if is_report(json) => Report::of(json, intake),
            json if is_message(json) => Message::of(json, intake)
                .map(|message| Report { messages: vec![message], is_anchored: true }),
            _ => Err(Error::malformed("expected an OSProfiler message or report")),
        };
        let made = made.map_err(|error| error.within_row("message", row));
        match made {
            Ok(Report { messages, is_anchored }) => {
                for message in messages {
                    intake.budget.push(&mut self.messages, message)?;
                }
                self.is_anchored &= is_anchored;
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::Malformed => intake.repair(BAD_LINE, error),
            Err(error) => Err(error),
        }
    }
}

/// From points to profiles.
struct Reader<'a> {
    points: Vec<Point<'a>>,
    is_anchored: bool,
    assembly: Assembly,
    /// The location of each point.
    locations: Vec<LocationId>,
    /// By the trace: when its first point started, and the last one stopped.
    ///
    /// In nanoseconds since 1970, or since the report's beginning.
    spans: Vec<(i64, i64)>,
    /// By `base_id`; with `merge` all are one.
    traces: Met<String>,
    /// Those of each service and trace.
    groups: Vec<Part>,
    /// By service and trace, numbers of `groups`.
    parts: Met<(Origin, usize)>,
}

/// The samples of a service in a trace.
struct Part {
    /// Becomes the resource.
    origin: Origin,
    /// Its number among `traces`, by which the span of its time is found.
    trace: usize,
    /// Samples apart, as each has a time of its own.
    rows: Rows,
}

impl<'a> Reader<'a> {
    /// `is_anchored` says whether their times count from 1970.
    fn of(points: Vec<Point<'a>>, is_anchored: bool, intake: &Intake) -> Self {
        Self {
            points,
            is_anchored,
            assembly: Assembly::new(intake),
            locations: Vec::new(),
            spans: Vec::new(),
            traces: Met::default(),
            groups: Vec::new(),
            parts: Met::default(),
        }
    }

    /// Points come in the order of their starts; samples in that of the tree, callers first.
    fn read(mut self, tree: &Tree, intake: &mut Intake) -> Result<Profiles> {
        let points = std::mem::take(&mut self.points);
        for point in &points {
            let location = self.location(point, intake)?;
            intake.budget.push(&mut self.locations, location)?;
            let merged = intake.source.merge;
            let trace = if merged { String::new() } else { point.base_id.clone() };
            let (trace, is_new) = self.traces.number(trace);
            if is_new {
                intake.budget.push(&mut self.spans, (point.start, point.stop))?;
            }
            let span = &mut self.spans[trace];
            // A sample is before the end.
            *span = (span.0.min(point.start), span.1.max(point.stop).max(point.start + 1));
        }
        for row in &tree.order {
            let row = *row as usize;
            let Some(point) = points.get(row) else { continue };
            self.sample(point, row, tree, intake)?;
        }
        self.finish(intake)
    }

    /// The name of the point; with `detail_frames` what OSProfiler's own exporter would call the
    /// span, and the function's name beside it.
    fn location(&mut self, point: &Point, intake: &mut Intake) -> Result<LocationId> {
        let detail = if intake.source.detail_frames { detail(point) } else { point.name.clone() };
        let function = point.info.iter().find(|(key, _)| key == "function.name");
        let function = function.and_then(|(_, name)| name.text());
        let line = match function.filter(|_| intake.source.detail_frames) {
            None => self.assembly.line(&Named { name: detail.as_bytes(), ..Named::default() })?,
            Some(system_name) => {
                let name = self.assembly.text(detail.as_bytes())?;
                let system_name = self.assembly.text(system_name.as_bytes())?;
                let function = Function { name, system_name, ..Function::default() };
                let function = self.assembly.interner.intern(function)?;
                Line { function, ..Line::default() }
            }
        };
        let location = self.assembly.location(Default::default(), &[line], "")?;
        self.assembly.settle(intake)?;
        Ok(location)
    }

    /// The stack is walked from the point to its root, so that a sample costs the depth of its
    /// point.
    ///
    /// The value is the time that the point took itself ([`Tree::own`]).
    ///
    /// # Errors
    ///
    /// A stack past `max_stack_depth`, the limits of samples and attributes, the budget.
    fn sample(
        &mut self,
        point: &Point,
        row: usize,
        tree: &Tree,
        intake: &mut Intake,
    ) -> Result<()> {
        let mut stack = Vec::new();
        let mut at = Some(row as u32);
        while let Some(row) = at {
            stack.extend(self.locations.get(row as usize));
            intake.check_depth(stack.len())?;
            at = tree.parents.get(row as usize).copied().flatten();
        }
        let stack = self.assembly.stack(&stack)?;
        let link = self.link(point)?;
        let attributes = self.attributes(point, link == LinkId::NONE, intake)?;
        self.assembly.settle(intake)?;
        let trace = if intake.source.merge { String::new() } else { point.base_id.clone() };
        let (trace, _) = self.traces.number(trace);
        let (part, is_new) = self.parts.number((point.origin.clone(), trace));
        if is_new {
            let origin = point.origin.clone();
            let part = Part { origin, trace, rows: Rows::apart() };
            intake.budget.push(&mut self.groups, part)?;
        }
        let own = tree.own.get(row).copied().unwrap_or_default();
        let times = [u64::try_from(point.start).unwrap_or_default()];
        let times = if self.is_anchored { &times[..] } else { &[] };
        let identity = Identity { stack, attributes: &attributes, link };
        let rows = &mut self.groups[part].rows;
        self.assembly.sample(rows, identity, (&[own], times), intake)
    }

    /// The span that OSProfiler exports for the point: it is named by the second half of an id.
    ///
    /// None where an id is no UUID: the ids are attributes then, so that nothing is lost.
    fn link(&mut self, point: &Point) -> Result<LinkId> {
        let Some((trace_id, span)) = uuid(&point.base_id).zip(uuid(&point.trace_id)) else {
            return Ok(LinkId::NONE);
        };
        let [.., a, b, c, d, e, f, g, h] = span;
        self.assembly.link(Link { trace_id, span_id: [a, b, c, d, e, f, g, h] })
    }

    /// Of two parts of `info` that have one name in the conventions, the first counts.
    ///
    /// # Errors
    ///
    /// Past `max_attributes_per_item`.
    fn attributes(
        &mut self,
        point: &Point,
        is_unlinked: bool,
        intake: &mut Intake,
    ) -> Result<Vec<AttributeId>> {
        let mut keys = HashSet::new();
        let mut attributes = Vec::new();
        for (part, json) in &point.info {
            let Some(key) = attributes::key(part, &intake.source) else {
                attributes::left_out(part, intake);
                continue;
            };
            // Two names of OSProfiler may be one of the conventions.
            if keys.contains(&key) {
                continue;
            }
            let most = intake.limits().max_attributes_per_item;
            within("max_attributes_per_item", most, keys.len() as u64 + 1)?;
            let value = attributes::value(&key, json, &mut self.assembly)?;
            attributes.push(self.assembly.attribute(key.as_bytes(), value)?);
            keys.insert(key);
        }
        let texts = [
            ("osprofiler.base_id", Some(&point.base_id[..]).filter(|_| is_unlinked)),
            ("osprofiler.trace_id", Some(&point.trace_id[..]).filter(|_| is_unlinked)),
            ("osprofiler.point", Some(&point.name[..]).filter(|_| intake.source.detail_frames)),
            ("osprofiler.unmatched", point.unmatched),
        ];
        for (key, text) in texts {
            if let Some(text) = text {
                attributes.push(self.assembly.text_attribute(key, text)?);
            }
        }
        if point.is_skewed {
            attributes.push(self.assembly.attribute(b"osprofiler.skewed", Value::Bool(true))?);
        }
        intake.take_attributes(attributes.len())?;
        attributes.sort_unstable();
        Ok(attributes)
    }

    /// A profile for each service and trace; with `calls` one more, in which each point counts 1.
    ///
    /// Profiles of one service are below one resource, in the order in which traces were met.
    fn finish(mut self, intake: &mut Intake) -> Result<Profiles> {
        let mut met = Met::default();
        let mut groups: Vec<Group> = Vec::new();
        for part in std::mem::take(&mut self.groups) {
            let mut profile = Profile::default();
            profile.sample_types.push(self.assembly.value_type(("wall", "nanoseconds"))?);
            let (start, stop) = self.spans.get(part.trace).copied().unwrap_or_default();
            profile.time_unix_nano = if self.is_anchored { start.into() } else { 0 };
            profile.duration_nanos = (stop - start).into();
            profile.samples = part.rows.samples;
            let (group, is_new) = met.number(part.origin.clone());
            if is_new {
                let resource = self.resource(&part.origin)?;
                groups.push(Group { resource, profiles: Vec::new() });
            }
            let calls = intake.source.calls.then(|| self.calls(&profile)).transpose()?;
            groups[group].profiles.push(profile);
            groups[group].profiles.extend(calls);
        }
        self.assembly.settle(intake)?;
        Ok(self.assembly.finish(groups))
    }

    /// The same points, each counted as a call.
    ///
    /// Times and attributes stay, so that both profiles show the same picture.
    fn calls(&mut self, profile: &Profile) -> Result<Profile> {
        let mut calls = profile.clone();
        calls.sample_types = vec![self.assembly.value_type(("calls", "count"))?];
        calls.samples.values.items.fill(1);
        Ok(calls)
    }

    /// The resource of a service, named as OSProfiler's own exporter names it.
    ///
    /// `service.name` is project and service with a dash, since services of several projects share
    /// a name.
    fn resource(&mut self, origin: &Origin) -> Result<Vec<KeyValue>> {
        let Origin { project, service, host } = origin;
        let names = [&project[..], service].into_iter().filter(|name| !name.is_empty());
        let name = names.collect::<Vec<_>>().join("-");
        let mut resource = Vec::new();
        for (key, text) in
            [("service.name", &name), ("service.namespace", project), ("host.name", host)]
        {
            if !text.is_empty() {
                let text = Value::String(self.assembly.text(text.as_bytes())?);
                resource.push(self.assembly.pair(key, text)?);
            }
        }
        Ok(resource)
    }
}

/// What OSProfiler's exporter calls the span of a point.
///
/// Names of spans are bounded, so of a statement the verb alone is taken: `SQL_SELECT`.
fn detail(point: &Point) -> String {
    let said = |key: &str| {
        let found = point.info.iter().find(|(known, _)| known == key);
        found.and_then(|(_, value)| value.text()).map(|text| text.to_string())
    };
    let first = |text: String| text.split_whitespace().next().unwrap_or_default().to_uppercase();
    match &point.name[..] {
        "wsgi" => said("request.method")
            .zip(said("request.path"))
            .map(|(method, path)| format!("WSGI_{method}_{path}")),
        "db" => said("db.statement").map(|statement| format!("SQL_{}", first(statement))),
        "requests" => said("requests.method")
            .zip(said("requests.hostname"))
            .map(|(method, host)| format!("REQUESTS_{method}_{host}")),
        _ => None,
    }
    .unwrap_or_else(|| point.name.clone())
}

/// The bytes of a UUID, if a text is one that is not all zero.
///
/// With dashes or without, wherever they stand.
pub(super) fn uuid(text: &str) -> Option<[u8; 16]> {
    let mut bytes = [0; 16];
    let mut digits = text.bytes().filter(|byte| *byte != b'-');
    for byte in &mut bytes {
        let mut digit = || char::from(digits.next()?).to_digit(16);
        *byte = (digit()? << 4 | digit()?) as u8;
    }
    let is_whole = digits.next().is_none() && matches!(text.len(), 32 | 36);
    (is_whole && bytes != [0; 16]).then_some(bytes)
}
