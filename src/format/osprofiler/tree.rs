//! Builds the call tree of points, and computes self times.
//!
//! ```text
//! point   0 ──────────────── 10       self time = 10 − (3 + 2) = 5
//! child     1 ── 4                    3
//! child          3 ── 6               2 more, because 3 to 4 counts once
//! ```
//!
//! Children may overlap and outlive their parent. The time they cover within the parent counts once. So self
//! times are never negative, and their sum is the time of the root if no points overlap.

use hashbrown::HashMap;

use super::points::Point;
use crate::error::{Error, Result};
use crate::losses::BAD_LINE;
use crate::read_context::ReadContext;

/// The call tree of points, which are in the order of their starts.
pub(super) struct Tree {
    /// Rows of points, each before its children.
    pub(super) order: Vec<u32>,
    /// The parent of each point; `None` for a root.
    pub(super) parents: Vec<Option<u32>>,
    /// The self time of each point, in nanoseconds.
    pub(super) own: Vec<i64>,
}

impl Tree {
    /// Builds the tree. Takes linear time, except that breaking a cycle searches the children of one point.
    /// Does not recurse, because the input determines the depth.
    ///
    /// # Errors
    ///
    /// A point is its own ancestor. With repairs, it becomes a root instead.
    pub(super) fn of(points: &[Point], cx: &mut ReadContext) -> Result<Self> {
        cx.budget.charge::<[u64; 8]>(points.len())?;
        let mut parents = parents(points);
        let mut children = children(&parents);
        let mut order = Vec::with_capacity(points.len());
        let mut is_visited = vec![false; points.len()];
        let is_root = |parents: &[Option<u32>], row: &usize| parents[*row].is_none();
        let roots: Vec<usize> = (0..points.len()).filter(|row| is_root(&parents, row)).collect();
        // Roots first. The remaining points are on or below cycles, which are broken at their first point.
        for root in roots.into_iter().chain(0..points.len()) {
            if is_visited[root] {
                continue;
            }
            if let Some(parent) = parents[root] {
                refuse_circle(&points[root], cx)?;
                parents[root] = None;
                children[parent as usize].retain(|child| *child as usize != root);
            }
            let mut open = vec![root as u32];
            while let Some(row) = open.pop() {
                is_visited[row as usize] = true;
                order.push(row);
                open.extend(children[row as usize].iter().rev());
            }
        }
        let own = (0..points.len()).map(|row| own_time(row, &children[row], points)).collect();
        Ok(Self { order, parents, own })
    }
}

/// Returns the parent of each point.
///
/// A point whose parent is not among the points is a root. Most often, that parent is the trace.
fn parents(points: &[Point]) -> Vec<Option<u32>> {
    let rows: HashMap<(&str, &str), u32, foldhash::fast::RandomState> =
        points.iter().zip(0..).map(|(p, row)| ((&p.base_id[..], &p.trace_id[..]), row)).collect();
    let parent = |point: &Point| rows.get(&(&point.base_id[..], &point.parent_id[..])).copied();
    points.iter().map(parent).collect()
}

/// Returns the children of each point, in the order of their starts.
fn children(parents: &[Option<u32>]) -> Vec<Vec<u32>> {
    let mut children = vec![Vec::new(); parents.len()];
    for (parent, row) in parents.iter().zip(0..) {
        if let Some(parent) = parent {
            children[*parent as usize].push(row);
        }
    }
    children
}

/// Rejects a cycle with an error that names one of its points. Any of its points may have the wrong parent.
fn refuse_circle(point: &Point, cx: &mut ReadContext) -> Result<()> {
    let message = format!(
        "the point {} ({}) is its own ancestor: the parent ids form a cycle",
        point.trace_id, point.name
    );
    cx.repair(BAD_LINE, Error::malformed(message).within("parent_id"))
}

/// Returns the time of a point without that of its children, which may overlap and outlive it.
///
/// A child that starts before its caller, by the clock of another host, counts from the start of the caller.
fn own_time(row: usize, children: &[u32], points: &[Point]) -> i64 {
    let point = &points[row];
    let mut covered = 0;
    let mut end = point.start;
    // Children are sorted by start.
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
