//! Duplicate ids and duplicate units.
//!
//! OTEP 0239 kept pprof's ids in its rows even though references are indices. Up to 1.7 the units of attributes are
//! rows of `attribute_units`, looked up by key. Neither is the target of an index, so both are checked once the
//! tables are complete, without a walk.

use super::*;

/// The tables whose rows have an id, each with its cell.
pub(super) const IDS: [(Table, usize); 3] = [
    (Table::Mapping, MAPPING.cell("id")),
    (Table::Location, LOCATION.cell("id")),
    (Table::Function, FUNCTION.cell("id")),
];

/// Reports rows with the id of an earlier row, in OTEP 0239.
///
/// Only 1.3 has these ids. Any number of rows may have id 0, which means "no id".
pub(crate) fn ids(cx: &mut CheckContext<'_>) {
    if cx.version != Version::V1_3 {
        return;
    }
    for (table, cell) in IDS {
        let (name, Some(shape)) = (cx.table_name(table), cx.table_shape(table)) else { continue };
        let mut seen: Map<u64, usize> = Map::default();
        for row in 0..cx.tables.rows[table as usize].len() {
            let Some((start, end)) = cx.tables.row(table, row as u64) else { continue };
            let record = cx.peek(shape, start, end);
            let id = record.number(cell);
            let first = *seen.entry(id).or_insert(row);
            if id != 0 && first != row {
                cx.findings.path.push(Step { name, row: Some(row as u32) });
                cx.report(&OP3401, record.field(cell), id, first);
                cx.findings.path.pop();
            }
        }
    }
}

/// Cells of `AttributeUnit`.
const KEY: usize = ATTRIBUTE_UNIT.cell("attribute_key_strindex");
const UNIT: usize = ATTRIBUTE_UNIT.cell("unit_strindex");

/// Checks the units of attributes, by key.
///
/// Compares keys by text with those of all attributes. The first unit of a key counts: a second, equal one is an
/// info, a different one a warning.
pub(crate) fn units(cx: &mut CheckContext<'_>) {
    let rows = cx.tables.rows[Table::AttributeUnit as usize].clone();
    let Some(shape) = cx.shapes.find(MessageKind::AttributeUnit).filter(|_| !rows.is_empty())
    else {
        return;
    };
    let name = cx.table_name(Table::AttributeUnit);
    let attributes = cx.tables.rows[Table::Attribute as usize].len() as u64;
    let keys = (0..attributes).map(|row| cx.memo.fingerprint(lists::key_of(cx, row)));
    let keys: Set<u128> = keys.collect();
    let mut seen: Map<u128, (usize, &[u8])> = Map::default();
    let mut record = cx.pool.get();
    for (row, (start, end)) in rows.iter().enumerate() {
        cx.peek_into(shape, *start as usize, *end as usize, &mut record);
        let (Some(key), Some(unit)) =
            (cx.string(record.number(KEY)), cx.string(record.number(UNIT)))
        else {
            continue;
        };
        let spot = Position::at(*start as usize).field(name).row(row);
        let print = cx.memo.fingerprint(key);
        if !keys.contains(&print) {
            cx.report(&OP3502, spot, Shown(key), "");
        }
        match seen.get(&print) {
            None => drop(seen.insert(print, (row, unit))),
            Some((first, other)) => {
                let same = cx.memo.same(other, unit).then_some(Severity::Info);
                let found = format!("{} for {}", Shown(unit), Shown(key));
                let bound = format!("{} in entry {first}", Shown(other));
                cx.findings.report_as(&OP3501, same, spot, found, bound);
            }
        }
    }
}
