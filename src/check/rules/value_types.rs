//! What a profile's values are of: its sample types and its period.
//!
//! | | sample types | default |
//! |---|---|---|
//! | pprof, 1.3 to 1.5 | a list | the type's name, as a string |
//! | 1.6, 1.7 | a list | an index of the list |
//! | since 1.8 | one | none |
//!
//! One function serves all three: the slot of the shape says whether the field is a list.

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
/// A walk over the headers of the profile, whose samples are most of it and are passed over by
/// their lengths.
pub(crate) fn sample_types(cx: &CheckContext<'_>, record: &Record) -> Vec<(usize, usize)> {
    let Some(slot) = record.shape.of_cell(TYPES) else { return Vec::new() };
    if !slot.repeated {
        let body = record.body(TYPES);
        return record.get(TYPES).map(|_| (body.start, body.end)).into_iter().collect();
    }
    attributes::bodies(cx, record, TYPES).collect()
}

/// Type and unit of a value type; empty where they are not named, `None` where they lead nowhere.
///
/// Strings borrow from the payload and not from the state, so they can be kept while findings are
/// raised.
pub(crate) fn named<'a>(
    cx: &CheckContext<'a>,
    body: (usize, usize),
) -> Option<(&'a [u8], &'a [u8])> {
    let shape = cx.shapes.find(Noun::ValueType)?;
    let record = cx.peek(shape, body.0, body.1);
    let text = |cell| match record.number(cell) {
        0 => Some(&b""[..]),
        row => cx.string(row),
    };
    Some((text(TYPE)?, text(UNIT)?))
}

/// Sample types past so many are not compared with each other.
///
/// Each type is compared with the first hundred alone, so that the cost grows with the list and not
/// with its square.
pub(super) const MANY: usize = 100;

/// The sample types of a profile: named, each another one, and the default one of them.
///
/// A profile without samples may leave its type out, so that is told only where there are some. Types are compared by
/// their texts, and no more than [`MANY`] of them with each other: otherwise a payload of types alone would take time
/// that grows with their square.
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
    // In OTEP 0239 the time is that of the container.
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

/// Whether a type is among those before it.
pub(super) fn are_known(
    cx: &CheckContext<'_>,
    known: &[(&[u8], &[u8])],
    names: (&[u8], &[u8]),
) -> bool {
    known.iter().any(|known| cx.memo.same(known.0, names.0) && cx.memo.same(known.1, names.1))
}

/// How a finding shows a type.
///
/// As in `"cpu" in "nanoseconds"`.
fn type_name((name, unit): (&[u8], &[u8])) -> String {
    format!("{} in {}", Shown(name), Shown(unit))
}

/// Whether values are changes or totals, where the version has a field for it. `lasted` says whether the profile covers
/// any time.
///
/// The path is extended by hand, since the value type is looked at from outside, before it is
/// walked.
fn temporality(cx: &mut CheckContext<'_>, lasted: bool, row: Option<usize>, body: (usize, usize)) {
    let Some(shape) = cx.shapes.find(Noun::ValueType) else { return };
    if shape.of_cell(TEMPORALITY).is_none() {
        return;
    }
    let record = cx.peek(shape, body.0, body.1);
    cx.findings.path.push(Step { name: "sample_type", row: row.map(|row| row as u32) });
    let spot = record.field(TEMPORALITY);
    match record.number(TEMPORALITY) {
        0 => {
            // Of what was measured over no known time nobody can tell whether it is a change.
            let unknown = (!lasted).then_some(Severity::Info);
            cx.findings.report_as(&OP2012, unknown, spot, 0, "1 (delta) or 2 (cumulative)");
        }
        2 => cx.report(&OP2013, spot, "", ""),
        _ => {}
    }
    cx.findings.path.pop();
}

/// A period has a type, and a type has a period.
///
/// A `period_type` that is there and empty says nothing and needs no period: some receivers want
/// the message to be there (`OP9209`).
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
