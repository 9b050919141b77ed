//! Samples and their labels, in pprof.
//!
//! Equal samples are found by fingerprints of their locations and of each label, in whatever order labels are.
//!
//! A sample is a stack of location ids, leaf first, a value for each sample type, and labels. What
//! OTLP 1.3 to 1.7 asks of samples is in [`samples`](super::samples); the sums of columns are
//! shared with it.

use super::*;
use crate::wire::write::varint;

/// Cells of `Sample`. pprof calls the first `location_id` and the second `value`.
const LOCATIONS: usize = SAMPLE.cell("location_index");
const VALUES: usize = SAMPLE.cell("values");
const LABELS: usize = SAMPLE.cell("label");

/// A sample.
///
/// Ids are resolved one by one here and counted as used; [`canonical`](crate::check::canonical) proves most
/// samples before this is called. Where `sample_type` is missing altogether, each sample would have
/// the wrong number of values: `PP1002` says it once.
pub(crate) fn sample(cx: &mut CheckContext<'_>, record: &Record) {
    let here = Position::at(record.start);
    let (values, types) = (record.count(VALUES), cx.profile.types);
    if values != types && types > 0 {
        cx.report(&PP1003, record.field(VALUES), Counted(values, "value"), types);
    }
    let depth = record.count(LOCATIONS);
    if depth == 0 {
        cx.report(&PP1033, here, "", "");
    }
    if depth as u64 > cx.limits.max_stack_depth {
        let most = cx.limits.max_stack_depth;
        cx.report(&OP9005, record.field(LOCATIONS), Counted(depth, "location"), most);
    }
    for (row, id) in cx.numbers(record, LOCATIONS).enumerate() {
        match cx.payload.locations.row(id) {
            Some(found) => cx.tables.mark(Table::Location, found),
            None => {
                let spot = cx.element(&PP1004, record, LOCATIONS, row);
                cx.report(&PP1004, spot, id, "");
            }
        }
    }
    if record.has(LABELS) {
        super::labels::labels(cx, record, &PP1018);
    }
    sums(cx, record);
    repeated(cx, record);
}

/// Adds each value to the sum of its column, which [`after`](super::samples::after) looks at. Values past the number of
/// types are `PP1003`'s and are in no column.
fn sums(cx: &mut CheckContext<'_>, record: &Record) {
    for (column, value) in cx.numbers(record, VALUES).take(cx.profile.types).enumerate() {
        let value = i128::from(value as i64);
        match cx.profile.sums.get_mut(column) {
            None => cx.profile.sums.push(value),
            Some(sum) => *sum += value,
        }
    }
}

/// Samples of the same locations and labels.
///
/// Only if `PP1032` is asked: it takes a fingerprint of each sample and 16 bytes to remember it.
fn repeated(cx: &mut CheckContext<'_>, record: &Record) {
    if !cx.profile.compares {
        return;
    }
    let number = SAMPLE.number(Version::Pprof, "label");
    let fields = Fields::new(cx.bytes, record.start, record.end);
    let labels = fields.filter(|(found, _)| *found == number).filter_map(|(_, body)| body);
    let stack = stack_of(cx, record);
    let print = identity_of(cx, stack, labels);
    let row = cx.row() as u32;
    if let Some(first) = cx.profile.identities.before(print, row) {
        let bound = first.to_string();
        cx.report(&PP1032, Position::at(record.start), "", bound);
    }
}

/// The fingerprint of the locations of a sample, as one packed list has them: google/pprof writes lists of one or two
/// one by one.
fn stack_of(cx: &mut CheckContext<'_>, record: &Record) -> u128 {
    if record.get(LOCATIONS).is_none_or(|cell| cell.times == 1 && cell.end > 0) {
        let packed = cx.body(record, LOCATIONS);
        return cx.payload.fingerprint(packed);
    }
    let mut stack = std::mem::take(&mut cx.scratch);
    stack.clear();
    cx.numbers(record, LOCATIONS).for_each(|id| varint(&mut stack, id));
    let print = cx.payload.fingerprint(&stack);
    cx.scratch = stack;
    print
}

/// The key of a sample: the fingerprint of its locations, and its labels.
///
/// Shared with [`canonical`](crate::check::canonical), or the two would not recognize each other's samples.
/// Fingerprints of labels are added up: their order does not count, as google/pprof sorts them, and two equal ones do
/// not cancel out. That of the locations is turned, so that it cannot be taken for one of a label.
#[inline(always)]
pub(crate) fn identity_of(
    cx: &mut CheckContext<'_>,
    stack: u128,
    labels: impl Iterator<Item = (usize, usize)>,
) -> u128 {
    let bytes = cx.bytes;
    let mut print = stack.rotate_left(64);
    for (start, end) in labels {
        let label = bytes.get(start..end).unwrap_or_default();
        print = print.wrapping_add(cx.payload.fingerprint(label));
    }
    print
}

/// How keys begin that only pprof itself uses.
pub(crate) const RESERVED: &[u8] = b"pprof::";

/// Cells of `Label`.
const KEY: usize = LABEL.cell("key_strindex");
const STR: usize = LABEL.cell("str_strindex");
const NUM: usize = LABEL.cell("num");
const UNIT: usize = LABEL.cell("num_unit_strindex");

/// A label.
///
/// 0 is "not there" for each of the four. Units are kept by key for the whole file, and compared as
/// rows first, as texts where the rows differ. A conflict is folded by key.
pub(crate) fn label(cx: &mut CheckContext<'_>, record: &Record) {
    let (key, text) = (record.number(KEY), record.number(STR));
    let (number, unit) = (record.number(NUM), record.number(UNIT));
    let here = Position::at(record.start);
    let in_key = record.field(KEY);
    match cx.string(key) {
        _ if key == 0 => cx.report(&PP1017, in_key, "", ""),
        Some(b"") => cx.report(&PP1017, in_key, "", ""),
        Some(name) if name.starts_with(RESERVED) => {
            cx.report(&PP1019, in_key, Shown(name), "");
        }
        _ => {}
    }
    if text != 0 && number != 0 {
        cx.report(&PP1015, here, "str and num", "one of them");
    }
    if text != 0 && unit != 0 {
        let shown = Shown(cx.string(unit).unwrap_or_default());
        cx.report(&PP1016, record.field(UNIT), shown, "");
    }
    if text == 0 && number == 0 && unit == 0 {
        cx.report(&PP1037, here, "", "");
    }
    if text == 0 && unit != 0 {
        let known = *cx.payload.units.entry(key).or_insert(unit);
        let same = match (cx.string(known), cx.string(unit)) {
            (Some(known), Some(unit)) => cx.memo.same(known, unit),
            (known, unit) => known == unit,
        };
        if known != unit && !same {
            let found = Shown(cx.string(unit).unwrap_or_default()).to_string();
            let bound = Shown(cx.string(known).unwrap_or_default()).to_string();
            cx.report_folded(&PP1040, key, record.field(UNIT), found, bound);
        }
    }
}
