//! Points by who called whom, and the time that each took itself.
//!
//! ```text
//! point   0 ──────────────── 10       own = 10 − (3 + 2) = 5
//! child     1 ── 4                    3
//! child          3 ── 6               2 more: 3 to 4 is counted once
//! ```
//!
//! Children may run at once and outlive their parent; what they cover of its time is theirs, once.
//! So own times are never negative, and add up to the time of the root where nothing overlaps.

use hashbrown::HashMap;

use super::points::Point;
use crate::error::{Error, Result};
use crate::format::intake::Intake;
use crate::format::losses::BAD_LINE;

/// Who called whom among points, which are in the order of their starts.
pub(super) struct Tree {
    /// Each before its children.
    pub(super) order: Vec<u32>,
    /// By point; none for a root.
    pub(super) parents: Vec<Option<u32>>,
    /// The nanoseconds that each took itself.
    ///
    /// By point, like `parents`.
    pub(super) own: Vec<i64>,
}

impl Tree {
    /// Linear in the points but for a circle, whose point is removed from its parent's list. No
    /// recursion: depth is the input's.
    ///
    /// # Errors
    ///
    /// A point that is, by way of its parents, its own caller, unless repairs are asked for: then
    /// it is a root.
    pub(super) fn of(points: &[Point], intake: &mut Intake) -> Result<Self> {
        intake.budget.take::<[u64; 8]>(points.len())?;
        let mut parents = parents(points);
        let mut children = children(&parents);
        let mut order = Vec::with_capacity(points.len());
        let mut is_met = vec![false; points.len()];
        let is_root = |parents: &[Option<u32>], row: &usize| parents[*row].is_none();
        let roots: Vec<usize> = (0..points.len()).filter(|row| is_root(&parents, row)).collect();
        // Roots first; what no root leads to is a circle, of which one must be taken for a root.
        for root in roots.into_iter().chain(0..points.len()) {
            if is_met[root] {
                continue;
            }
            if let Some(parent) = parents[root] {
                refuse_circle(&points[root], intake)?;
                parents[root] = None;
                children[parent as usize].retain(|child| *child as usize != root);
            }
            let mut open = vec![root as u32];
            while let Some(row) = open.pop() {
                is_met[row as usize] = true;
                order.push(row);
                open.extend(children[row as usize].iter().rev());
            }
        }
        let own = (0..points.len()).map(|row| own_time(row, &children[row], points)).collect();
        Ok(Self { order, parents, own })
    }
}

/// The point that each was called by, if it is known.
///
/// A parent that is not among the points makes a root: most often that is the trace itself.
fn parents(points: &[Point]) -> Vec<Option<u32>> {
    let rows: HashMap<(&str, &str), u32, foldhash::fast::RandomState> =
        points.iter().zip(0..).map(|(p, row)| ((&p.base_id[..], &p.trace_id[..]), row)).collect();
    let parent = |point: &Point| rows.get(&(&point.base_id[..], &point.parent_id[..])).copied();
    points.iter().map(parent).collect()
}

/// Who was called by each, in the order of their starts.
///
/// Points come in the order of their starts, so each list is in it.
fn children(parents: &[Option<u32>]) -> Vec<Vec<u32>> {
    let mut children = vec![Vec::new(); parents.len()];
    for (parent, row) in parents.iter().zip(0..) {
        if let Some(parent) = parent {
            children[*parent as usize].push(row);
        }
    }
    children
}

/// Names the point by its id and its name: of a circle any of them may be the wrong one.
fn refuse_circle(point: &Point, intake: &mut Intake) -> Result<()> {
    let message = format!(
        "the point {} ({}) is its own ancestor: the parent ids form a cycle",
        point.trace_id, point.name
    );
    intake.repair(BAD_LINE, Error::malformed(message).within("parent_id"))
}

/// What is left of a point's time beside that of its children, which may run at once, and longer.
///
/// A child that begins before its caller, by the clock of another host, counts from the caller's
/// start.
fn own_time(row: usize, children: &[u32], points: &[Point]) -> i64 {
    let point = &points[row];
    let mut covered = 0;
    let mut end = point.start;
    // In the order of their starts.
    for child in children.iter().filter_map(|child| points.get(*child as usize)) {
        let from = child.start.max(end);
        let to = child.stop.min(point.stop);
        if to > from {
            covered += to - from;
            end = to;
        }
    }
    point.stop - point.start - covered
}
