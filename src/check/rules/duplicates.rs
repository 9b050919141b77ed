//! Equal table entries.
//!
//! Makes one pass over each table with one hash per row. Tables are ordered so that references lead only to tables
//! already compared.
//!
//! ```text
//! row ─► form: bytes that equal rows have in common ─► hash ─► known?
//!                                                           │ yes            │ no
//!                                                           ▼                ▼
//!                                               finding, equal[row] = first  added
//! ```
//!
//! Other checks depend on the result: `Tables::equal` maps each row to the first row that it equals. Samples, the
//! forms of later tables and cardinality treat equal rows as one. So the pass also runs when only those checks are
//! enabled. A table without duplicates stores nothing.

use super::*;
use std::hash::BuildHasher;

use crate::check::canonical_form::CanonicalForms;
use crate::model::row_index::RowIndex;

/// The tables, each after all tables it refers to, with the rule for duplicates of each.
///
/// The order is an invariant: a form contains the first equal row in place of each reference, so the referenced
/// table has to be compared first. Strings refer to no table, stacks to locations.
const TABLES: [(Table, &Rule); 7] = [
    (Table::String, &OP3201),
    (Table::Attribute, &OP3206),
    (Table::Mapping, &OP3202),
    (Table::Function, &OP3204),
    (Table::Location, &OP3203),
    (Table::Link, &OP3205),
    (Table::Stack, &OP3207),
];

/// Finds rows that are equal by value: rows that refer to equal rows are equal, and lists of attributes are sets.
///
/// For each table with duplicates, keeps the first equal row of each row. Costs one form and one hash per row, and
/// one comparison per row that has an equal.
pub(crate) fn tables(cx: &mut CheckContext<'_>) {
    let enabled = TABLES.map(|(_, rule)| cx.findings.is_enabled(rule));
    // The rules about equal samples need the equal rows of all tables.
    let more = [&OP3208, &OP4006].map(|rule| cx.findings.is_enabled(rule));
    if !enabled.contains(&true) && !more.contains(&true) {
        return;
    }
    for (table, rule) in TABLES {
        // Taken out, because `equal` reports findings through `cx` meanwhile.
        let rows = std::mem::take(&mut cx.tables.rows[table as usize]);
        cx.tables.equal[table as usize] = equal(cx, table, rule, &rows);
        cx.tables.rows[table as usize] = rows;
    }
}

/// The first row that each row of a table equals, if the table has duplicates.
///
/// Compares rows by [their forms](CanonicalForms). Each form is made once and then dropped: nearly all are the bytes of the
/// row itself, and the others are compared by fingerprints of 128 bits.
///
/// An empty string after row 0 is also reported as an extra zero entry (`OP3208`), here, because strings are never
/// walked as messages.
fn equal(
    cx: &mut CheckContext<'_>,
    table: Table,
    rule: &'static Rule,
    rows: &[(u32, u32)],
) -> Vec<u32> {
    let (name, bytes, forms) = (cx.table_name(table), cx.bytes, CanonicalForms::of(cx, table));
    let own = |row: u32| -> &[u8] {
        let body = rows.get(row as usize).map(|(start, end)| *start as usize..*end as usize);
        body.and_then(|body| bytes.get(body)).unwrap_or_default()
    };
    let (mut equal, mut out) = (Vec::new(), Vec::new());
    // Bound the initial capacity by the payload's bytes: many equal rows of two bytes must not reserve more.
    let room = rows.len().min(bytes.len() / 32);
    let (mut seen, mut prints) = (RowIndex::with_capacity(room), Vec::new());
    for (row, &(start, end)) in (0..).zip(rows) {
        let form = forms.form(cx, row, (start, end), &mut out);
        let hash = cx.payload.hasher.hash_one(form);
        // Earlier rows are compared by bytes if they are their own form, otherwise by fingerprint.
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
                // Rows that are their own form leave gaps, which are never compared.
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

/// Records that a row equals an earlier one.
///
/// The list starts empty; at the first duplicate it is filled with the rows before it, each its own first.
#[cold]
fn note(equal: &mut Vec<u32>, row: u32, first: u32) {
    if equal.is_empty() {
        equal.extend(0..row);
    }
    equal.push(first);
}

/// Records that a row equals no earlier one. A table without duplicates stores nothing.
///
/// The counterpart of [`note`], on the path of every distinct row.
#[inline]
fn keep(equal: &mut Vec<u32>, row: u32) {
    if !equal.is_empty() {
        equal.push(row);
    }
}
