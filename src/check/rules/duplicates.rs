//! Table entries that are equal.

use std::collections::HashMap;

use crate::check::catalogue::{OP3201, OP3202, OP3203, OP3204, OP3205, OP3206, OP3207, OP3208};
use crate::check::cx::Cx;
use crate::check::findings::{Shown, Spot};
use crate::check::plain::{self, CLOSE, OPEN};
use crate::check::record::Record;
use crate::check::rule::Rule;
use crate::check::shape::{Shape, Slot, Take};
use crate::check::tables::Fields;
use crate::schema::{Label, Table};

/// The tables in an order in which each refers only to those before it, and what duplicates of each are.
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
pub(crate) fn tables(cx: &mut Cx<'_>) {
    let asked = TABLES.map(|(_, rule)| cx.findings.asks(rule));
    if !asked.contains(&true) {
        return;
    }
    for (table, rule) in TABLES {
        let rows = std::mem::take(&mut cx.tables.rows[table as usize]);
        let equal = match table {
            Table::String => strings(cx, rule, &rows),
            _ => records(cx, table, rule, &rows),
        };
        cx.tables.rows[table as usize] = rows;
        cx.tables.equal[table as usize] = equal;
    }
}

type Seen = HashMap<u128, u32, foldhash::fast::RandomState>;

fn strings(cx: &mut Cx<'_>, rule: &'static Rule, rows: &[(u32, u32)]) -> Vec<u32> {
    let name = cx.table_name(Table::String);
    let mut seen: HashMap<&[u8], u32, foldhash::fast::RandomState> = HashMap::default();
    seen.reserve(rows.len());
    let mut equal = Vec::new();
    for (row, (start, end)) in rows.iter().enumerate() {
        let text = cx.bytes.get(*start as usize..*end as usize).unwrap_or_default();
        let first = *seen.entry(text).or_insert(row as u32);
        let spot = Spot::at(*start as usize).field(name).row(row);
        note(cx, rule, (row, first), &mut equal, spot, || Shown(text).to_string());
        if text.is_empty() && row > 0 {
            cx.findings.raise(&OP3208, spot, "\"\"", "");
        }
    }
    finished(equal, rows.len())
}

/// Notes a row that equals an earlier one.
fn note(
    cx: &mut Cx<'_>,
    rule: &'static Rule,
    (row, first): (usize, u32),
    equal: &mut Vec<u32>,
    spot: Spot,
    value: impl FnOnce() -> String,
) {
    if first as usize == row {
        if !equal.is_empty() {
            equal.push(first);
        }
        return;
    }
    if equal.is_empty() {
        equal.extend(0..row as u32);
    }
    equal.push(first);
    cx.findings.raise(rule, spot, value(), format_args!("no entry of [{first}]"));
}

/// Nothing is kept of a table without duplicates.
fn finished(equal: Vec<u32>, rows: usize) -> Vec<u32> {
    if equal.len() == rows { equal } else { Vec::new() }
}

fn records(cx: &mut Cx<'_>, table: Table, rule: &'static Rule, rows: &[(u32, u32)]) -> Vec<u32> {
    let (name, Some(shape)) = (cx.table_name(table), cx.table_shape(table)) else {
        return Vec::new();
    };
    let mut seen = Seen::default();
    seen.reserve(rows.len());
    let (mut equal, mut out) = (Vec::new(), Vec::new());
    for (row, (start, end)) in rows.iter().enumerate() {
        out.clear();
        let body = (*start as usize, *end as usize);
        let plain = match table {
            Table::Stack => plain::stack(cx, shape, body, &mut out),
            _ => plain::canonical(cx, shape, body, &mut out),
        };
        if plain.is_none() {
            canonical(cx, shape, body, &mut out, 0);
        }
        let print = cx.payload.fingerprint(&out);
        let first = *seen.entry(print).or_insert(row as u32);
        let spot = Spot::at(*start as usize).field(name).row(row);
        note(cx, rule, (row, first), &mut equal, spot, String::new);
    }
    finished(equal, rows.len())
}

/// A message in one form for each meaning: fields in order, defaults left out, references to the first of
/// equal rows, attributes as a set.
fn canonical(
    cx: &Cx<'_>,
    shape: &'static Shape,
    (start, end): (usize, usize),
    out: &mut Vec<u8>,
    depth: u64,
) {
    let found = cx.peek(shape, start, end);
    for slot in &shape.slots {
        // What a row is called says nothing of what it is.
        if !found.has(slot.cell) || slot.field.key == "id" || depth > cx.limits.max_nesting {
            continue;
        }
        match slot.take {
            Take::Varint | Take::Fixed if !slot.repeated => {
                let value = cx.first_equal(slot, found.number(slot.cell));
                let says = value != 0 || slot.field.label == Label::Case;
                if says {
                    out.push(slot.cell as u8);
                    out.extend_from_slice(&value.to_le_bytes());
                }
            }
            Take::Varint | Take::Fixed => list(cx, shape, slot, &found, out),
            Take::Text | Take::Bytes if !slot.repeated => {
                let body = cx.body(&found, slot.cell);
                if !body.is_empty() || slot.field.label == Label::Case {
                    out.push(slot.cell as u8);
                    out.extend_from_slice(&(body.len() as u64).to_le_bytes());
                    out.extend_from_slice(body);
                }
            }
            _ => {
                out.push(slot.cell as u8);
                let inner = cx.shapes.get(slot.child);
                for (number, body) in Fields::new(cx.bytes, start, end) {
                    if let (true, Some(body)) = (number == slot.field.number, body) {
                        out.push(OPEN);
                        canonical(cx, inner, body, out, depth + 1);
                        out.push(CLOSE);
                    }
                }
            }
        }
    }
}

fn list(
    cx: &Cx<'_>,
    shape: &'static Shape,
    slot: &'static Slot,
    found: &Record,
    out: &mut Vec<u8>,
) {
    let numbers = cx.numbers(shape, found, slot.cell).map(|row| cx.first_equal(slot, row));
    let first = out.len() + 9;
    out.push(slot.cell as u8);
    out.extend_from_slice(&(found.count(slot.cell) as u64).to_le_bytes());
    if slot.field.key == "attribute_indices" {
        let mut set: Vec<u64> = numbers.collect();
        set.sort_unstable();
        out.extend(set.into_iter().flat_map(u64::to_le_bytes));
    } else {
        numbers.for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
    }
    if out.len() == first {
        out.truncate(first - 9); // an empty list is none
    }
}
