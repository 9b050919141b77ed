//! Pairs messages to points.
//!
//! Two messages with the same base id and trace id form a point, in any order; duplicates count once. A point
//! with only one message has no duration, and an attribute and a finding report this: it may still be the
//! caller of others.
//!
//! ```text
//! wsgi-start  (b, t1)  10:00:00.000  ┐
//! wsgi-stop   (b, t1)  10:00:00.088  ┘  a point of 88 ms, with the info of both
//! db-start    (b, t2)  10:00:00.010     a point without duration, because its stop is missing
//! ```

use hashbrown::HashMap;

use super::message::{Message, Origin};
use crate::error::Result;
use crate::format::json::tree::Json;
use crate::losses::{POINT_SKEWED, POINT_UNMATCHED};
use crate::read_context::ReadContext;

/// A point: the work between a start and a stop.
#[derive(Debug)]
pub(super) struct Point<'a> {
    /// The name without `-start` and `-stop`.
    pub(super) name: String,
    /// The ids of the trace, the point and its caller: usually UUIDs, but any string is valid.
    pub(super) base_id: String,
    pub(super) trace_id: String,
    pub(super) parent_id: String,
    /// The origin of the start, or of the stop if the start is missing.
    pub(super) origin: Origin,
    /// The info of both messages, sorted by key. The stop takes precedence.
    pub(super) info: Vec<(String, Json<'a>)>,
    /// Nanoseconds since 1970, or since the beginning of the report.
    pub(super) start: i64,
    /// At least `start`.
    pub(super) stop: i64,
    /// The missing message, if any.
    pub(super) unmatched: Option<&'static str>,
    /// Whether the stop precedes the start in the input.
    pub(super) is_skewed: bool,
}

/// The messages of a point: the latest of duplicates.
#[derive(Default)]
struct Pair<'a> {
    start: Option<Message<'a>>,
    /// Only its time and `info` are used if there is a start.
    stop: Option<Message<'a>>,
}

/// Returns the points of some messages, in the order of their starts.
///
/// Notes findings in the same order, so the report does not depend on the order of messages.
///
/// # Errors
///
/// The budget is exceeded.
pub(super) fn points<'a>(
    messages: Vec<Message<'a>>,
    cx: &mut ReadContext,
) -> Result<Vec<Point<'a>>> {
    let mut pairs: HashMap<(String, String), Pair, foldhash::fast::RandomState> =
        HashMap::default();
    for message in messages {
        cx.budget.charge::<u8>(message.base_id.len() + message.trace_id.len() + 64)?;
        let pair = pairs.entry((message.base_id.clone(), message.trace_id.clone())).or_default();
        let side = if message.is_stop { &mut pair.stop } else { &mut pair.start };
        if side.as_ref().is_none_or(|known| known.at <= message.at) {
            *side = Some(message);
        }
    }
    let mut points: Vec<Point> = Vec::with_capacity(pairs.len());
    for pair in pairs.into_values() {
        points.extend(pair.point());
    }
    points.sort_by(|one, other| {
        (one.start, &one.base_id, &one.trace_id).cmp(&(
            other.start,
            &other.base_id,
            &other.trace_id,
        ))
    });
    for point in &points {
        let place = || format!("point[{}]", point.trace_id);
        if let Some(missing) = point.unmatched {
            let message = || format!("{} has no {missing}: its duration was set to 0", point.name);
            cx.note(POINT_UNMATCHED, place, message);
        }
        if point.is_skewed {
            let message =
                || format!("{} stops before it starts: its duration was set to 0", point.name);
            cx.note(POINT_SKEWED, place, message);
        }
    }
    Ok(points)
}

impl<'a> Pair<'a> {
    /// Returns `None` without any message, which [`points`] never creates.
    fn point(self) -> Option<Point<'a>> {
        let unmatched = match (&self.start, &self.stop) {
            (None, _) => Some("start"),
            (_, None) => Some("stop"),
            _ => None,
        };
        let stop_at = self.stop.as_ref().map(|stop| stop.at);
        let mut more = Vec::new();
        let message = match (self.start, self.stop) {
            (Some(start), stop) => {
                more = stop.map(|stop| stop.info).unwrap_or_default();
                start
            }
            (None, stop) => stop?,
        };
        let Message { name, base_id, trace_id, parent_id, at: start, origin, mut info, .. } =
            message;
        info.extend(more);
        info.sort_by(|(one, _), (other, _)| one.cmp(other));
        // The stop's value takes precedence for duplicate keys.
        info.dedup_by(|later, earlier| {
            let is_same = later.0 == earlier.0;
            if is_same {
                std::mem::swap(later, earlier);
            }
            is_same
        });
        let stop = stop_at.unwrap_or(start);
        Some(Point {
            name,
            base_id,
            trace_id,
            parent_id,
            origin,
            info,
            start,
            stop: stop.max(start),
            unmatched,
            is_skewed: stop < start,
        })
    }
}
