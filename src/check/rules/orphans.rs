//! Table entries that nothing refers to.
//!
//! Uses are counted while the payload is walked; this looks at the counts, once for each row.
//!
//! ```text
//! sample ─► stack 1 ─► location 1 ─► function 1 ─► string 4        used
//!           stack 2 ─► location 2 ─► function 1                    stack 2: OP3307, location 2: OP3308
//! ```
//!
//! A count for each row, not a bit, so that references can be taken back: a location that three
//! stacks refer to is an orphan only if all three are. Every row is released at most once, and what
//! it takes to release one is a walk over its bytes: the whole pass is linear.

use super::*;

/// The rule of each table, in the order in which references lead from one to the next.
///
/// An invariant of the schema: references lead from a table to later ones of this list alone, so
/// that all that could release a row was released when its own table is asked.
const TABLES: [(Table, &Rule); 7] = [
    (Table::Stack, &OP3307),
    (Table::Link, &OP3305),
    (Table::Location, &OP3303),
    (Table::Mapping, &OP3302),
    (Table::Function, &OP3304),
    (Table::Attribute, &OP3306),
    (Table::String, &OP3301),
];

/// Rows that nothing refers to, and rows that only such rows refer to.
///
/// What an orphan refers to is taken back: a row that has no other use is one that only orphans refer to. No row refers
/// to one of a table that comes before its own.
///
/// Up to 1.7 rows are not taken back (`counted`): there `OP3308` does not exist, and the references
/// of an orphan count. What was released stays in `left`, a set for each table, so that the row is
/// told by the rule of indirect orphans.
pub(crate) fn tables(cx: &mut CheckContext<'_>) {
    if !asked(cx) {
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

/// Whether any rule asks which rows something refers to.
///
/// Where none is, references need not be counted at all
/// ([`Tables::unmarked`](crate::check::tables::Tables)), which saves a write to memory for each of
/// them. `OP7010` asks whether a location is used.
pub(crate) fn asked(cx: &mut CheckContext<'_>) -> bool {
    let transitive = [&OP3308, &OP7010];
    TABLES.iter().map(|(_, rule)| *rule).chain(transitive).any(|rule| cx.findings.asks(rule))
}

/// Whether [`fix`](crate::check::fix) keeps rows of a table that no row refers to: profilers list what was mapped and
/// what they know of the code, so their rows use what they refer to.
fn is_kept(table: Table) -> bool {
    matches!(table, Table::Mapping | Table::Location | Table::Function)
}

/// The first row that has to be referred to.
///
/// Rows that stand for none need no reference. Strings always begin with the empty one.
fn first(cx: &CheckContext<'_>, table: Table) -> usize {
    // In older generations a field left out refers to row 0 of these; the first mapping is that of the program.
    usize::from(match table {
        Table::String | Table::Mapping => true,
        Table::Link => cx.version >= Version::V1_8 || cx.version == Version::V1_3,
        _ => cx.version >= Version::V1_8,
    })
}

/// Takes back what a message refers to.
///
/// By the schema alone: each field with a table is released as it was marked, whatever message it
/// is in, and messages inside (lines, values) are entered. A new reference in the schema is
/// released without a change here.
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
        for (_, inner, body) in cx.shapes.messages(cx.bytes, shape, (start, end)) {
            release(cx, inner, body, depth + 1, left);
        }
    }
}
