//! Reads OSProfiler's reports.
//!
//! A report is a tree of nodes. If its nodes contain their messages in `meta.raw_payload.…`, the reader uses
//! these. Otherwise each node represents a start and a stop, in milliseconds since the beginning of the
//! report.
//!
//! ```text
//! {"info": {"name": "total", …}, "children": [
//!   {"trace_id": …, "parent_id": …, "children": […],
//!    "info": {"name": "wsgi", "project": …, "service": …, "started": 0, "finished": 88.9,
//!             "meta.raw_payload.wsgi-start": {…}, "meta.raw_payload.wsgi-stop": {…}}}]}
//! ```

use super::message::{Message, Origin, point, string_or_empty};
use crate::error::{Error, Result};
use crate::format::json::tree::Json;
use crate::read_context::ReadContext;

/// Returns whether a value is a report: a tree of points.
pub(super) fn is_report(json: &Json) -> bool {
    json.get("children").and_then(Json::list).is_some() && json.get("info").is_some()
}

/// The messages of a report.
pub(super) struct Report<'a> {
    /// The start and the stop of each node, parents before children.
    pub(super) messages: Vec<Message<'a>>,
    /// Whether times count from 1970, and not from the beginning of the report.
    pub(super) is_anchored: bool,
}

/// The prefix of keys for messages in a node.
const RAW: &str = "meta.raw_payload.";

/// A node of a report, and its trace.
struct Node<'j, 'a> {
    /// The node with its children.
    json: &'j Json<'a>,
    /// The parent id of its topmost node.
    base_id: &'j str,
}

impl<'a> Report<'a> {
    /// Reads a report. If any node lacks its messages, reads all nodes by the times of the report, because
    /// the two clocks cannot be mixed.
    ///
    /// # Errors
    ///
    /// A message is invalid, a node lacks ids or times, or the budget is exceeded.
    pub(super) fn of(json: &Json<'a>, cx: &mut ReadContext) -> Result<Self> {
        let nodes = nodes(json);
        let is_anchored = nodes.iter().all(|node| raw(node.json).next().is_some());
        let mut messages = Vec::new();
        for (row, node) in nodes.iter().enumerate() {
            let placed = |error: Error| error.within_row("children", row);
            if !is_anchored {
                // The text has the id of the trace once, but each node's two messages contain it.
                cx.budget.charge::<[u8; 2]>(node.base_id.len())?;
                let pair = times(node, row)?;
                messages.extend(pair);
                continue;
            }
            for message in raw(node.json) {
                messages.push(Message::of(message, cx).map_err(placed)?);
            }
        }
        Ok(Self { messages, is_anchored })
    }
}

/// Lists all nodes, each before its children. The parent of a root is its trace.
///
/// Uses a stack instead of recursion, because reports are as deep as the recorded calls.
fn nodes<'j, 'a>(report: &'j Json<'a>) -> Vec<Node<'j, 'a>> {
    let children = |json: &'j Json<'a>| json.get("children").and_then(Json::list).unwrap_or(&[]);
    let mut open: Vec<Node> = Vec::new();
    let mut nodes = Vec::new();
    for json in children(report).iter().rev() {
        let base_id = json.get("parent_id").and_then(Json::text);
        open.push(Node { json, base_id: base_id.map_or("", |id| id) });
    }
    while let Some(node) = open.pop() {
        for json in children(node.json).iter().rev() {
            open.push(Node { json, base_id: node.base_id });
        }
        nodes.push(node);
    }
    nodes
}

/// Returns the messages in a node.
///
/// Null replaces a message that was omitted.
fn raw<'j, 'a>(node: &'j Json<'a>) -> impl Iterator<Item = &'j Json<'a>> {
    let members = match node.get("info") {
        Some(Json::Object(members)) => &members[..],
        _ => &[],
    };
    let raw = members.iter().filter(|(key, _)| key.starts_with(RAW));
    raw.map(|(_, message)| message).filter(|message| **message != Json::Null)
}

/// Returns the start and the stop of a node without messages.
///
/// # Errors
///
/// The node lacks `info`, an id, or a time that is a number.
fn times<'a>(node: &Node<'_, 'a>, row: usize) -> Result<[Message<'a>; 2]> {
    let placed = |error: Error| error.within_row("children", row);
    let Some(info) = node.json.get("info") else {
        return Err(placed(Error::malformed("the point of the report has no info")));
    };
    let at = |key: &'static str| {
        let millis = info.get(key).and_then(Json::number);
        let nanos = millis.and_then(|millis| crate::format::lines::whole(millis * 1e6));
        nanos.ok_or_else(|| {
            placed(Error::malformed("expected a number of milliseconds").within(key).within("info"))
        })
    };
    let id = |key: &'static str| match node.json.get(key).and_then(Json::text) {
        Some(id) => Ok(id.to_string()),
        None => Err(placed(Error::malformed("expected a string").within(key))),
    };
    let mut fields: Vec<(String, Json<'a>)> = Vec::new();
    if let Json::Object(members) = info {
        for (key, value) in members {
            if let Some(key) = key.strip_prefix("info.") {
                fields.push((key.replace(':', "."), value.clone()));
            }
        }
    }
    if let Some(exception) = info.get("exception").filter(|e| e.text().is_some_and(|e| e != "None"))
    {
        fields.push(("etype".to_owned(), exception.clone()));
    }
    fields.retain(|(key, _)| key != "host");
    let start = Message {
        name: point(&string_or_empty(info.get("name"))).to_owned(),
        is_stop: false,
        base_id: node.base_id.to_owned(),
        trace_id: id("trace_id")?,
        parent_id: id("parent_id")?,
        at: at("started")?,
        origin: Origin {
            project: string_or_empty(info.get("project")),
            service: string_or_empty(info.get("service")),
            host: string_or_empty(info.get("host").or(info.get("info.host"))),
        },
        info: fields,
    };
    let stop = Message { is_stop: true, at: at("finished")?, info: Vec::new(), ..start.clone() };
    Ok([start, stop])
}
