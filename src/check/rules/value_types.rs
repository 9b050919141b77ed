//! A profile's sample types and its period.
//!
//! | | sample types | default |
//! |---|---|---|
//! | pprof, 1.3 to 1.5 | a list | the type's name, as a string |
//! | 1.6, 1.7 | a list | an index of the list |
//! | since 1.8 | one | none |
//!
//! One function handles all three: the slot of the layout shows whether the field is a list.

use super::*;

/// Cells of `Profile`, then of `ValueType`; temporality exists up to 1.8.
const DURATION: usize = PROFILE.cell("duration_nano");
const TYPES: usize = PROFILE.cell("sample_type");
const PERIOD: usize = PROFILE.cell("period");
const PERIOD_TYPE: usize = PROFILE.cell("period_type");
const DEFAULT: usize = PROFILE.cell("default_sample_type_strindex");
const DEFAULT_INDEX: usize = PROFILE.cell("default_sample_type_index");
const TYPE: usize = VALUE_TYPE.cell("type_strindex");
const UNIT: usize = VALUE_TYPE.cell("unit_strindex");
const TEMPORALITY: usize = VALUE_TYPE.cell("aggregation_temporality");

/// The bodies of the sample types of a profile.
///
/// Scans the headers of the profile and skips the samples, which are most of it, by their lengths.
pub(crate) fn sample_types(cx: &CheckContext<'_>, record: &Record) -> Vec<(usize, usize)> {
    let Some(slot) = record.shape.of_cell(TYPES) else { return Vec::new() };
    if !slot.repeated {
        let body = record.body(TYPES);
        return record.get(TYPES).map(|_| (body.start, body.end)).into_iter().collect();
    }
    attributes::bodies(cx, record, TYPES).collect()
}

/// Type and unit of a value type: empty if unset, `None` if the reference is out of range.
///
/// The strings borrow from the payload and not from the state, so callers can hold them while they report findings.
pub(crate) fn named<'a>(
    cx: &CheckContext<'a>,
    body: (usize, usize),
) -> Option<(&'a [u8], &'a [u8])> {
    let shape = cx.shapes.find(MessageKind::ValueType)?;
    let record = cx.peek(shape, body.0, body.1);
    let text = |cell| match record.number(cell) {
        0 => Some(&b""[..]),
        row => cx.string(row),
    };
    Some((text(TYPE)?, text(UNIT)?))
}

/// The number of sample types that later ones are compared with.
///
/// Each type is compared only with the first hundred, so the cost grows with the list and not with its square.
pub(super) const MANY: usize = 100;

/// Checks the sample types of a profile: each has a name, no two are equal, and the default is one of them.
///
/// A profile without samples may omit its type, so a missing type is reported only if there are samples. Types are
/// compared by their strings, and only with the first [`MANY`]: otherwise a payload that consists of types would
/// take quadratic time.
pub(super) fn value_types(
    cx: &mut CheckContext<'_>,
    record: &Record,
    types: &[(usize, usize)],
    samples: usize,
) {
    let Some(slot) = record.shape.of_cell(TYPES) else { return };
    let field = record.field(TYPES);
    let spot = |row: usize, start: usize| match slot.repeated {
        true => Position::at(start).field(slot.field.name).row(row),
        false => Position::at(start).field(slot.field.name),
    };
    if types.is_empty() && samples > 0 {
        let rule = if slot.repeated { &OP2009 } else { &OP2010 };
        cx.report(rule, field, "", "");
    }
    // In OTEP 0239 the container has the time.
    let lasted = match cx.payload.container {
        Some((start, end)) => end > start,
        None => record.number(DURATION) != 0,
    };
    let default = record.number(DEFAULT);
    let wanted = cx.string(default).filter(|text| default > 0 && !text.is_empty());
    let mut known: Vec<(&[u8], &[u8])> = Vec::new();
    let mut is_named = false;
    for (row, body) in types.iter().enumerate() {
        temporality(cx, lasted, slot.repeated.then_some(row), *body);
        let Some(names) = named(cx, *body).filter(|_| !cx.tables.missing) else { continue };
        if samples > 0 && (names.0.is_empty() || names.1.is_empty()) {
            cx.report(&OP2010, spot(row, body.0), type_name(names), "a type and a unit");
        } else if are_known(cx, &known, names) {
            cx.report(&OP2011, spot(row, body.0), type_name(names), "");
        }
        if row > 0 && names.1 == b"count" {
            cx.report(&OP2018, spot(row, body.0), type_name(names), "");
        }
        is_named |= wanted.is_some_and(|wanted| cx.memo.same(names.0, wanted));
        if known.len() < MANY {
            known.push(names);
        }
    }
    if let Some(text) = wanted.filter(|_| !is_named) {
        cx.report(&OP2017, record.field(DEFAULT), Shown(text), "the name of a sample type");
    }
    let index = record.signed(DEFAULT_INDEX);
    if index != 0 && (index < 0 || index as u64 >= types.len() as u64) {
        cx.report(
            &OP2017,
            record.field(DEFAULT_INDEX),
            index,
            format_args!("an index below {}", types.len()),
        );
    }
}

/// Whether a type equals one of those before it.
pub(super) fn are_known(
    cx: &CheckContext<'_>,
    known: &[(&[u8], &[u8])],
    names: (&[u8], &[u8]),
) -> bool {
    known.iter().any(|known| cx.memo.same(known.0, names.0) && cx.memo.same(known.1, names.1))
}

/// Formats a type for findings, as in `"cpu" in "nanoseconds"`.
fn type_name((name, unit): (&[u8], &[u8])) -> String {
    format!("{} in {}", Shown(name), Shown(unit))
}

/// Checks the aggregation temporality, in versions that have the field. `lasted` is true if the profile covers any
/// time.
///
/// Extends the path by hand: the value type is decoded here ahead of the walk.
fn temporality(cx: &mut CheckContext<'_>, lasted: bool, row: Option<usize>, body: (usize, usize)) {
    let Some(shape) = cx.shapes.find(MessageKind::ValueType) else { return };
    if shape.of_cell(TEMPORALITY).is_none() {
        return;
    }
    let record = cx.peek(shape, body.0, body.1);
    cx.findings.path.push(Step { name: "sample_type", row: row.map(|row| row as u32) });
    let spot = record.field(TEMPORALITY);
    match record.number(TEMPORALITY) {
        0 => {
            // Without a duration, readers cannot infer whether the values are changes.
            let unknown = (!lasted).then_some(Severity::Info);
            cx.findings.report_as(&OP2012, unknown, spot, 0, "1 (delta) or 2 (cumulative)");
        }
        2 => cx.report(&OP2013, spot, "", ""),
        _ => {}
    }
    cx.findings.path.pop();
}

/// Checks that a period has a type and a type has a period, and that the period is not negative.
///
/// An empty `period_type` needs no period: some receivers require the message to be present (`OP9209`).
pub(super) fn period(cx: &mut CheckContext<'_>, record: &Record) {
    let period = record.signed(PERIOD);
    let body = record.body(PERIOD_TYPE);
    let names = record.get(PERIOD_TYPE).and_then(|_| named(cx, (body.start, body.end)));
    let unnamed = match names {
        Some((name, unit)) => name.is_empty() || unit.is_empty(),
        None => !record.has(PERIOD_TYPE),
    };
    let spot = record.field(PERIOD);
    if period != 0 && unnamed && !cx.tables.missing {
        cx.report(&OP2014, spot, period, "");
    }
    if period < 0 {
        cx.report(&OP2016, spot, period, "0 or more");
    }
    if period == 0 && record.has(PERIOD_TYPE) && !body.is_empty() {
        let spot = Position::at(body.start).field("period_type");
        cx.report(&OP2015, spot, "period 0", "");
    }
}
