//! Reads messages and reports: a single one, lists, or a sequence of values.
//!
//! ```text
//! JSON values ─► messages ─► points (start + stop) ─► tree (callers, self times)
//!             ─► a sample per point ─► a part per service and trace ─► profiles, resources
//! ```
//!
//! The reader parses one JSON value at a time, keeps its messages and drops the rest. It keeps the messages
//! of the whole file, because a start and its stop may be far apart. It charges the budget four bytes for
//! each byte of text.

use crate::wire::hex::hex_bytes;
use std::collections::HashSet;

use super::attributes;
use super::message::{Message, Origin, is_message};
use super::points::{Point, points};
use super::report::{Report, is_report};
use super::tree::Tree;
use crate::error::{Error, ErrorKind, Result};
use crate::format::assembly::{Assembly, FrameName, Numbering, ResourceGroup, Rows};
use crate::format::json::lexer::Lexer;
use crate::format::json::tree::Json;
use crate::limits::within;
use crate::losses::{BAD_LINE, TIME_NO_ANCHOR};
use crate::model::Profiles;
use crate::model::dictionary::{Function, Line, Link};
use crate::model::id::{AttributeId, LinkId, LocationId};
use crate::model::profile::Profile;
use crate::model::value::{KeyValue, Value};
use crate::read_context::ReadContext;
use crate::tables::rows::samples::Identity;

/// The maximum number of bytes in memory for each byte of a message's text.
const KEPT: usize = 4;

/// Reads a file.
///
/// # Errors
///
/// The text is not JSON, or contains no message. Unless repairs are requested, also: a value is neither a
/// message nor a report, or a point is its own ancestor.
pub(crate) fn read(payload: &[u8], cx: &mut ReadContext) -> Result<Profiles> {
    let mut text = Lexer::new(payload.strip_prefix(b"\xef\xbb\xbf").unwrap_or(payload))?;
    let mut all = All { messages: Vec::new(), is_anchored: true, row: 0 };
    while text.peek().is_some() {
        let row = all.row;
        let (mark, before) = (cx.budget.mark(), text.rest().len());
        let known = all.messages.len();
        let json = Json::of(&mut text, cx).map_err(|e| e.within_row("message", row))?;
        all.value(&json, cx)?;
        // The parsed tree is dropped. The messages take a few times the length of their text.
        cx.budget.give_back(mark);
        cx.budget.charge::<[u8; KEPT]>(before - text.rest().len())?;
        for message in all.messages.get(known..).unwrap_or_default() {
            cx.budget.charge::<u8>(message.repeated())?;
        }
        // Some tools separate objects by commas.
        text.word(",");
    }
    if all.messages.is_empty() {
        return Err(Error::malformed("the file contains no OSProfiler message or report"));
    }
    if !all.is_anchored {
        let message = || "dropped the times: the start of the report is unknown".into();
        cx.note(TIME_NO_ANCHOR, || "report".to_owned(), message);
    }
    let points = points(all.messages, cx)?;
    let tree = Tree::of(&points, cx)?;
    Reader::of(points, all.is_anchored, cx).read(&tree, cx)
}

/// The messages read so far.
struct All<'a> {
    messages: Vec<Message<'a>>,
    /// Whether all times count from 1970.
    ///
    /// A report without messages has only times since its beginning. The profiles then have no time.
    is_anchored: bool,
    /// The number of the next value, including those in lists, for positions such as `message[7]`.
    row: usize,
}

impl<'a> All<'a> {
    /// Reads a message, a report, or a list of these.
    ///
    /// A report with a broken message is dropped as a whole, because its times are meaningless without the
    /// others.
    ///
    /// # Errors
    ///
    /// Under `Policy::Refuse`, a value is neither a message nor a report.
    fn value(&mut self, json: &Json<'a>, cx: &mut ReadContext) -> Result<()> {
        if let Some(list) = json.list() {
            return list.iter().try_for_each(|json| self.value(json, cx));
        }
        let row = self.row;
        self.row += 1;
        let made = match json {
            json if is_report(json) => Report::of(json, cx),
            json if is_message(json) => Message::of(json, cx)
                .map(|message| Report { messages: vec![message], is_anchored: true }),
            _ => Err(Error::malformed("expected an OSProfiler message or report")),
        };
        let made = made.map_err(|error| error.within_row("message", row));
        match made {
            Ok(Report { messages, is_anchored }) => {
                for message in messages {
                    cx.budget.push(&mut self.messages, message)?;
                }
                self.is_anchored &= is_anchored;
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::Malformed => cx.repair(BAD_LINE, error),
            Err(error) => Err(error),
        }
    }
}

/// Converts points to profiles.
struct Reader<'a> {
    points: Vec<Point<'a>>,
    is_anchored: bool,
    assembly: Assembly,
    /// The location of each point.
    locations: Vec<LocationId>,
    /// The first start and the last stop of each trace, in nanoseconds since 1970 or since the beginning of
    /// the report.
    spans: Vec<(i64, i64)>,
    /// Numbers of traces by `base_id`. With `merge`, there is only one.
    traces: Numbering<String>,
    /// The parts, one for each service and trace.
    groups: Vec<Part>,
    /// Numbers of `groups` by service and trace.
    parts: Numbering<(Origin, usize)>,
}

/// The samples of a service in a trace.
struct Part {
    /// The service, which becomes the resource.
    origin: Origin,
    /// The number of the trace in `traces` and `spans`.
    trace: usize,
    /// Separate samples, because each has a separate time.
    rows: Rows,
}

impl<'a> Reader<'a> {
    /// `is_anchored`: whether the times count from 1970.
    fn of(points: Vec<Point<'a>>, is_anchored: bool, cx: &ReadContext) -> Self {
        Self {
            points,
            is_anchored,
            assembly: Assembly::new(cx),
            locations: Vec::new(),
            spans: Vec::new(),
            traces: Numbering::default(),
            groups: Vec::new(),
            parts: Numbering::default(),
        }
    }

    /// Reads points in the order of their starts. Adds samples in the order of the tree, callers first.
    fn read(mut self, tree: &Tree, cx: &mut ReadContext) -> Result<Profiles> {
        let points = std::mem::take(&mut self.points);
        for point in &points {
            let location = self.location(point, cx)?;
            cx.budget.push(&mut self.locations, location)?;
            let merged = cx.source.merge;
            let trace = if merged { String::new() } else { point.base_id.clone() };
            let (trace, is_new) = self.traces.number(trace);
            if is_new {
                cx.budget.push(&mut self.spans, (point.start, point.stop))?;
            }
            let span = &mut self.spans[trace];
            // A timestamp must precede the end.
            *span = (span.0.min(point.start), span.1.max(point.stop).max(point.start + 1));
        }
        for row in &tree.order {
            let row = *row as usize;
            let Some(point) = points.get(row) else { continue };
            self.sample(point, row, tree, cx)?;
        }
        self.finish(cx)
    }

    /// Returns the location of a point, with its name as the function. With `detail_frames`, the function has
    /// the name that OSProfiler's exporter gives to the span, and the original function's name as system
    /// name.
    fn location(&mut self, point: &Point, cx: &mut ReadContext) -> Result<LocationId> {
        let detail = if cx.source.detail_frames { detail(point) } else { point.name.clone() };
        let function = point.info.iter().find(|(key, _)| key == "function.name");
        let function = function.and_then(|(_, name)| name.text());
        let line = match function.filter(|_| cx.source.detail_frames) {
            None => self
                .assembly
                .line(&FrameName { name: detail.as_bytes(), ..FrameName::default() })?,
            Some(system_name) => {
                let name = self.assembly.text(detail.as_bytes())?;
                let system_name = self.assembly.text(system_name.as_bytes())?;
                let function = Function { name, system_name, ..Function::default() };
                let function = self.assembly.interner.intern(function)?;
                Line { function, ..Line::default() }
            }
        };
        let location = self.assembly.location(Default::default(), &[line], "")?;
        self.assembly.charge(cx)?;
        Ok(location)
    }

    /// Adds the sample of a point. Walks from the point to the root, so a sample costs the depth of its
    /// point.
    ///
    /// The value is the self time of the point ([`Tree::own`]).
    ///
    /// # Errors
    ///
    /// The stack exceeds `max_stack_depth`, or a limit of samples, of attributes or the budget is exceeded.
    fn sample(
        &mut self,
        point: &Point,
        row: usize,
        tree: &Tree,
        cx: &mut ReadContext,
    ) -> Result<()> {
        let mut stack = Vec::new();
        let mut at = Some(row as u32);
        while let Some(row) = at {
            stack.extend(self.locations.get(row as usize));
            cx.check_depth(stack.len())?;
            at = tree.parents.get(row as usize).copied().flatten();
        }
        let stack = self.assembly.stack(&stack)?;
        let link = self.link(point)?;
        let attributes = self.attributes(point, link == LinkId::NONE, cx)?;
        self.assembly.charge(cx)?;
        let trace = if cx.source.merge { String::new() } else { point.base_id.clone() };
        let (trace, _) = self.traces.number(trace);
        let (part, is_new) = self.parts.number((point.origin.clone(), trace));
        if is_new {
            let origin = point.origin.clone();
            let part = Part { origin, trace, rows: Rows::apart() };
            cx.budget.push(&mut self.groups, part)?;
        }
        let own = tree.own.get(row).copied().unwrap_or_default();
        let times = [u64::try_from(point.start).unwrap_or_default()];
        let times = if self.is_anchored { &times[..] } else { &[] };
        let identity = Identity { stack, attributes: &attributes, link };
        let rows = &mut self.groups[part].rows;
        self.assembly.sample(rows, identity, (&[own], times), cx)
    }

    /// Returns the link to the span that OSProfiler exports for the point. Its id is the second half of the
    /// point's.
    ///
    /// Returns `NONE` if an id is not a UUID. The ids then become attributes, so that they are not lost.
    fn link(&mut self, point: &Point) -> Result<LinkId> {
        let Some((trace_id, span)) = uuid(&point.base_id).zip(uuid(&point.trace_id)) else {
            return Ok(LinkId::NONE);
        };
        let [.., a, b, c, d, e, f, g, h] = span;
        self.assembly.link(Link { trace_id, span_id: [a, b, c, d, e, f, g, h] })
    }

    /// Converts `info` to attributes. If two members have the same conventional name, the first counts.
    ///
    /// # Errors
    ///
    /// There are more than `max_attributes_per_item`.
    fn attributes(
        &mut self,
        point: &Point,
        is_unlinked: bool,
        cx: &mut ReadContext,
    ) -> Result<Vec<AttributeId>> {
        let mut keys = HashSet::new();
        let mut attributes = Vec::new();
        for (part, json) in &point.info {
            let Some(key) = attributes::key(part, &cx.source) else {
                attributes::left_out(part, cx);
                continue;
            };
            // Two names of OSProfiler may map to the same convention.
            if keys.contains(&key) {
                continue;
            }
            let most = cx.limits().max_attributes_per_item;
            within("max_attributes_per_item", most, keys.len() as u64 + 1)?;
            let value = attributes::value(&key, json, &mut self.assembly)?;
            attributes.push(self.assembly.attribute(key.as_bytes(), value)?);
            keys.insert(key);
        }
        let texts = [
            ("osprofiler.base_id", Some(&point.base_id[..]).filter(|_| is_unlinked)),
            ("osprofiler.trace_id", Some(&point.trace_id[..]).filter(|_| is_unlinked)),
            ("osprofiler.point", Some(&point.name[..]).filter(|_| cx.source.detail_frames)),
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
        cx.charge_attributes(attributes.len())?;
        attributes.sort_unstable();
        Ok(attributes)
    }

    /// Assembles a profile for each service and trace. With `calls`, adds another one in which each point
    /// counts 1.
    ///
    /// Profiles of one service share a resource, in order of first appearance.
    fn finish(mut self, cx: &mut ReadContext) -> Result<Profiles> {
        let mut numbering = Numbering::default();
        let mut groups: Vec<ResourceGroup> = Vec::new();
        for part in std::mem::take(&mut self.groups) {
            let mut profile = Profile::default();
            profile.sample_types.push(self.assembly.value_type(("wall", "nanoseconds"))?);
            let (start, stop) = self.spans.get(part.trace).copied().unwrap_or_default();
            profile.time_unix_nano = if self.is_anchored { start.into() } else { 0 };
            profile.duration_nanos = (stop - start).into();
            profile.samples = part.rows.samples;
            let (group, is_new) = numbering.number(part.origin.clone());
            if is_new {
                let resource = self.resource(&part.origin)?;
                groups.push(ResourceGroup { resource, profiles: Vec::new() });
            }
            let calls = cx.source.calls.then(|| self.calls(&profile)).transpose()?;
            groups[group].profiles.push(profile);
            groups[group].profiles.extend(calls);
        }
        self.assembly.charge(cx)?;
        Ok(self.assembly.finish(groups))
    }

    /// Copies a profile with 1 as every value.
    ///
    /// Times and attributes are unchanged, so both profiles have the same shape.
    fn calls(&mut self, profile: &Profile) -> Result<Profile> {
        let mut calls = profile.clone();
        calls.sample_types = vec![self.assembly.value_type(("calls", "count"))?];
        calls.samples.values.items.fill(1);
        Ok(calls)
    }

    /// Returns the resource of a service, named as by OSProfiler's exporter.
    ///
    /// `service.name` joins project and service by a dash, because services of several projects share names.
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

/// Returns the name that OSProfiler's exporter gives to the span of a point.
///
/// The cardinality of span names is limited, so the name has only the verb of a statement: `SQL_SELECT`.
fn detail(point: &Point) -> String {
    let attribute = |key: &str| {
        let found = point.info.iter().find(|(known, _)| known == key);
        found.and_then(|(_, value)| value.text()).map(|text| text.to_string())
    };
    let first = |text: String| text.split_whitespace().next().unwrap_or_default().to_uppercase();
    match &point.name[..] {
        "wsgi" => attribute("request.method")
            .zip(attribute("request.path"))
            .map(|(method, path)| format!("WSGI_{method}_{path}")),
        "db" => attribute("db.statement").map(|statement| format!("SQL_{}", first(statement))),
        "requests" => attribute("requests.method")
            .zip(attribute("requests.hostname"))
            .map(|(method, host)| format!("REQUESTS_{method}_{host}")),
        _ => None,
    }
    .unwrap_or_else(|| point.name.clone())
}

/// Parses a UUID that is not zero. Dashes may be missing or in any position.
pub(super) fn uuid(text: &str) -> Option<[u8; 16]> {
    let bytes = hex_bytes(&text.replace('-', ""))?.try_into().ok()?;
    (matches!(text.len(), 32 | 36) && bytes != [0; 16]).then_some(bytes)
}
