//! Messages by the points that they are of.
//!
//! Messages are paired by (base id, trace id), in whatever order they come; a message that was kept
//! twice counts once. A point of which one message is missing takes no time, and says so in an
//! attribute and a finding: it still is the caller of others.
//!
//! ```text
//! wsgi-start  (b, t1)  10:00:00.000  ┐
//! wsgi-stop   (b, t1)  10:00:00.088  ┘  a point of 88 ms, with what both said
//! db-start    (b, t2)  10:00:00.010     a point of no time, unmatched: its stop was lost
//! ```

use hashbrown::HashMap;

use super::message::{Message, Origin};
use crate::error::Result;
use crate::format::intake::Intake;
use crate::format::json::tree::Json;
use crate::format::losses::{POINT_SKEWED, POINT_UNMATCHED};

/// What ran from a start to a stop.
#[derive(Debug)]
pub(super) struct Point<'a> {
    /// Of both messages, without their `-start` and `-stop`.
    pub(super) name: String,
    /// The trace, and below, the point and its caller: usually UUIDs, but any text is taken.
    pub(super) base_id: String,
    pub(super) trace_id: String,
    pub(super) parent_id: String,
    /// Of the start, if there is one.
    pub(super) origin: Origin,
    /// Of both messages, sorted by key; of a key in both, the stop's.
    pub(super) info: Vec<(String, Json<'a>)>,
    /// Nanoseconds since 1970, or since the report's beginning.
    pub(super) start: i64,
    /// Not before the start.
    pub(super) stop: i64,
    /// Which of its messages was not found.
    pub(super) unmatched: Option<&'static str>,
    /// Whether it would have stopped before it started.
    pub(super) is_skewed: bool,
}

/// The messages of a point: of several that say the same, the latest.
#[derive(Default)]
struct Pair<'a> {
    /// What began it.
    start: Option<Message<'a>>,
    /// What ended it; only its time and `info` are used where there is a start.
    stop: Option<Message<'a>>,
}

/// The points that messages are of, in the order of their starts, whatever the order of the messages.
///
/// Findings are noted in that order, too, so a report is the same for the same messages.
///
/// # Errors
///
/// The budget.
pub(super) fn points<'a>(
    messages: Vec<Message<'a>>,
    intake: &mut Intake,
) -> Result<Vec<Point<'a>>> {
    let mut pairs: HashMap<(String, String), Pair, foldhash::fast::RandomState> =
        HashMap::default();
    for message in messages {
        intake.budget.take::<u8>(message.base_id.len() + message.trace_id.len() + 64)?;
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
            let said = || format!("{} has no {missing}: its duration was set to 0", point.name);
            intake.note(POINT_UNMATCHED, place, said);
        }
        if point.is_skewed {
            let said =
                || format!("{} stops before it starts: its duration was set to 0", point.name);
            intake.note(POINT_SKEWED, place, said);
        }
    }
    Ok(points)
}

impl<'a> Pair<'a> {
    /// `None` where there is neither message, which [`points`] never makes.
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
        // Of what both say, the stop's stays.
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
