//! Table entries that are equal.
//!
//! One pass over each table, with a hash a row: in an order in which references lead only to tables that were compared.
//!
//! ```text
//! row ─► form: bytes that equal rows have in common ─► hash ─► met before?
//!                                                           │ yes            │ no
//!                                                           ▼                ▼
//!                                               finding, equal[row] = first  added
//! ```
//!
//! What it leaves behind matters more than its findings: `Tables::equal` leads from each row to the
//! first that it equals, by which samples, forms of later tables and cardinality take equal rows
//! for one. So it runs also where none of its own rules is asked. No row is kept of a table without
//! duplicates.

use super::*;
use std::hash::BuildHasher;

use crate::check::canonical_form::Forms;
use crate::model::row_index::RowIndex;

/// The tables in an order in which each refers only to those before it, and what duplicates of each are.
///
/// The order is an invariant: a form contains the first equal row of everything that the row refers
/// to, so what it refers to has to be compared before. Strings refer to nothing, stacks to
/// locations.
const TABLES: [(Table, &Rule); 7] = [
    (Table::String, &OP3201),
    (Table::Attribute, &OP3206),
    (Table::Mapping, &OP3202),
    (Table::Function, &OP3204),
    (Table::Location, &OP3203),
    (Table::Link, &OP3205),
    (Table::Stack, &OP3207),
];

/// Finds rows that are equal by value: rows that refer to equal rows are equal, lists of attributes are sets.
///
/// Of each table, the first row that each row equals is kept, where some are.
///
/// Costs one form and one hash for each row, and a comparison for each row that has an equal.
pub(crate) fn tables(cx: &mut CheckContext<'_>) {
    let asked = TABLES.map(|(_, rule)| cx.findings.asks(rule));
    // Equal samples are found by what their rows equal.
    let more = [&OP3208, &OP4006].map(|rule| cx.findings.asks(rule));
    if !asked.contains(&true) && !more.contains(&true) {
        return;
    }
    for (table, rule) in TABLES {
        let rows = std::mem::take(&mut cx.tables.rows[table as usize]);
        cx.tables.equal[table as usize] = equal(cx, table, rule, &rows);
        cx.tables.rows[table as usize] = rows;
    }
}

/// The first row that each row of a table equals, if any equals another.
///
/// Compares rows by [their forms](Forms), of which each is made once and none is kept: nearly all are the bytes of the row
/// itself, and of the others there are fingerprints of 128 bits.
///
/// An empty string behind row 0 is told as an extra zero entry as well (`OP3208`), here, because
/// texts are never walked as messages.
fn equal(
    cx: &mut CheckContext<'_>,
    table: Table,
    rule: &'static Rule,
    rows: &[(u32, u32)],
) -> Vec<u32> {
    let (name, bytes, forms) = (cx.table_name(table), cx.bytes, Forms::of(cx, table));
    let own = |row: u32| -> &[u8] {
        let body = rows.get(row as usize).map(|(start, end)| *start as usize..*end as usize);
        body.and_then(|body| bytes.get(body)).unwrap_or_default()
    };
    let (mut equal, mut out) = (Vec::new(), Vec::new());
    // For any number of equal rows of two bytes there is no more room than the bytes allow.
    let room = rows.len().min(bytes.len() / 32);
    let (mut seen, mut prints) = (RowIndex::with_room(room), Vec::new());
    for (row, &(start, end)) in (0..).zip(rows) {
        let form = forms.form(cx, row, (start, end), &mut out);
        let hash = cx.payload.hasher.hash_one(form);
        let first = seen.find(hash, |before| match forms.is_own(&cx.tables, before) {
            true => own(before) == form,
            false => prints.get(before as usize) == Some(&cx.payload.fingerprint(form)),
        });
        let spot = || Position::at(start as usize).field(name).row(row as usize);
        if let Some(first) = first {
            note(&mut equal, row, first);
            let bound = first.to_string();
            match table {
                Table::String => cx.report(rule, spot(), Shown(form), bound),
                _ => cx.report(rule, spot(), "", bound),
            }
        } else {
            keep(&mut equal, row);
            seen.add(hash, row);
            if !forms.is_own(&cx.tables, row) {
                prints.resize(row as usize, 0);
                prints.push(cx.payload.fingerprint(form));
            }
        }
        if table == Table::String && form.is_empty() && row > 0 {
            cx.report(&OP3208, spot(), "\"\"", "");
        }
    }
    equal
}

/// Notes that a row equals an earlier one.
///
/// The list begins at the first duplicate: all rows before it are their own first.
#[cold]
fn note(equal: &mut Vec<u32>, row: u32, first: u32) {
    if equal.is_empty() {
        equal.extend(0..row);
    }
    equal.push(first);
}

/// Notes that a row equals none; nothing is kept of a table without duplicates.
///
/// The counterpart of [`note`], on the path of every row that is unlike all before it.
#[inline(always)]
fn keep(equal: &mut Vec<u32>, row: u32) {
    if !equal.is_empty() {
        equal.push(row);
    }
}
