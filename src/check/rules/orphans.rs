//! Unreferenced table entries.
//!
//! The walk counts references; this module then inspects the count of each row.
//!
//! ```text
//! sample ─► stack 1 ─► location 1 ─► function 1 ─► string 4        used
//!           stack 2 ─► location 2 ─► function 1                    stack 2: OP3307, location 2: OP3308
//! ```
//!
//! Each row has a count, not a bit, so that references can be subtracted again: a location that three stacks refer
//! to is an orphan only if all three are. Every row is released at most once, and releasing it takes one pass over
//! its bytes, so the whole pass is linear.

use super::*;

/// The rule of each table, in the order in which references lead from one table to the next.
///
/// An invariant of the schema: references lead only from a table to later ones in this list. So when a table is
/// inspected, every row that could release one of its rows has been inspected before.
const TABLES: [(Table, &Rule); 7] = [
    (Table::Stack, &OP3307),
    (Table::Link, &OP3305),
    (Table::Location, &OP3303),
    (Table::Mapping, &OP3302),
    (Table::Function, &OP3304),
    (Table::Attribute, &OP3306),
    (Table::String, &OP3301),
];

/// Reports rows without references, and rows to which only such rows refer.
///
/// The references of an orphan are subtracted from the counts. A row whose count drops to zero that way is an
/// indirect orphan. References never lead back to an earlier table of [`TABLES`].
///
/// In 1.7 and earlier (`counted` is false) orphans keep their references: `OP3308` does not exist there. `left`
/// holds the released rows of each table; those are reported as indirect orphans.
pub(crate) fn tables(cx: &mut CheckContext<'_>) {
    if !is_enabled(cx) {
        return;
    }
    let counted = cx.version >= Version::V1_8;
    let mut left: [Set<u64>; Table::COUNT] = Default::default();
    for (table, rule) in TABLES {
        let name = cx.table_name(table);
        let rows: Vec<usize> = cx.tables.unused(table, first(cx, table)).collect();
        for row in rows {
            let (start, end) = cx.tables.row(table, row as u64).unwrap_or_default();
            let spot = Position::at(start).field(name).row(row);
            match table {
                _ if left[table as usize].contains(&(row as u64)) => {
                    cx.report(&OP3308, spot, "", "");
                }
                Table::String => {
                    let text = cx.string(row as u64).unwrap_or_default();
                    cx.report(rule, spot, Shown(text), "");
                }
                _ => cx.report(rule, spot, "", ""),
            }
            let kept = is_kept(table) && !left[table as usize].contains(&(row as u64));
            if let Some(shape) = cx.table_shape(table).filter(|_| counted && !kept) {
                release(cx, shape, (start, end), 0, &mut left);
            }
        }
    }
}

/// Whether any rule needs to know which rows are referenced.
///
/// If no such rule is enabled, references are not counted at all
/// ([`Tables::unmarked`](crate::check::tables::Tables)), which saves a write to memory for each of them. `OP7010`
/// needs to know whether a location is used.
pub(crate) fn is_enabled(cx: &mut CheckContext<'_>) -> bool {
    let transitive = [&OP3308, &OP7010];
    TABLES.iter().map(|(_, rule)| *rule).chain(transitive).any(|rule| cx.findings.is_enabled(rule))
}

/// Whether [`fix`](crate::check::fix()) keeps unreferenced rows of a table. Profilers list all mappings and all code
/// they know, so whatever these rows refer to is used.
fn is_kept(table: Table) -> bool {
    matches!(table, Table::Mapping | Table::Location | Table::Function)
}

/// The first row that needs a reference.
///
/// Rows that represent "absent" need no reference, and neither does the empty string in row 0.
fn first(cx: &CheckContext<'_>, table: Table) -> usize {
    // In older generations an omitted field refers to row 0 of these tables; the first mapping is that of the
    // program.
    usize::from(match table {
        Table::String | Table::Mapping => true,
        Table::Link => cx.version >= Version::V1_8 || cx.version == Version::V1_3,
        _ => cx.version >= Version::V1_8,
    })
}

/// Subtracts the references of a message.
///
/// Driven by the schema alone: releases each field with a table as it was marked, whichever message holds it, and
/// enters nested messages (lines, values). A new reference in the schema is released without a change here.
fn release(
    cx: &mut CheckContext<'_>,
    shape: &'static MessageLayout,
    (start, end): (usize, usize),
    depth: u64,
    left: &mut [Set<u64>; Table::COUNT],
) {
    let found = cx.peek(shape, start, end);
    for slot in shape.slots.iter().filter(|slot| found.has(slot.cell)) {
        let Some((table, _)) = slot.table else { continue };
        for row in cx.numbers(&found, slot.cell) {
            if cx.tables.release(table, row) {
                left[table as usize].insert(row);
            }
        }
    }
    if depth < cx.limits.max_nesting && found.seen & shape.children != 0 {
        for (inner, body) in cx.shapes.messages(cx.bytes, shape, (start, end)) {
            release(cx, inner, body, depth + 1, left);
        }
    }
}
