//! What a known receiver refuses, drops or cuts though the specification allows it.
//!
//! Each of these is something that a payload may say, that every rule of the specification allows, and that this receiver
//! was seen to refuse, drop or cut in its own code; the row of the catalogue names the file.
//!
//! Asked only if [`Options::receiver`](crate::check::Options::receiver) names one and the payload
//! is of 1.10, which is the generation that all of them read (`OP9201` tells of others). Then
//! nothing is proved by [`canonical`](crate::check::canonical), as each message has to be seen.
//!
//! Demands that the specification has too are not repeated here:
//! The [`catalogue`](crate::check::catalogue) makes errors of the rules that a receiver enforces.

use super::*;

/// What a message holds that the receiver does not take.
///
/// Called for each message after its own rules. What a writer does in all messages of a kind or in
/// none is folded into one finding; what may be right in one and wrong in the next is raised each
/// time.
pub(crate) fn message(cx: &mut CheckContext<'_>, record: &Record, of: Receiver) {
    match record.shape.noun {
        Noun::ProfilesData => {
            most(cx, Position::nowhere(), record.end - record.start, PAYLOAD, "bytes");
        }
        Noun::ResourceProfiles => left_out(cx, record, RESOURCE),
        Noun::ScopeProfiles => left_out(cx, record, SCOPE),
        Noun::Profile => profile(cx, record),
        Noun::Sample => sample(cx, record, of),
        Noun::Stack => stack(cx, record),
        Noun::Location if record.count(LOCATION_ATTRIBUTES) > 0 => {
            cx.findings.report_folded(&OP9205, 0, record.field(LOCATION_ATTRIBUTES), "", "");
        }
        Noun::Line if record.number(COLUMN) > 0 => {
            cx.findings.report_folded(&OP9207, 0, record.field(COLUMN), record.number(COLUMN), "");
        }
        Noun::KeyValue => key(cx, record),
        Noun::AnyValue if record.has(TEXT_STRINDEX) => {
            cx.findings.report_folded(
                &OP9202,
                1,
                record.field(TEXT_STRINDEX),
                record.number(TEXT_STRINDEX),
                "a text in place",
            );
        }
        _ => {}
    }
}

/// What Pyroscope takes by default; a tenant may be given more.
///
/// In bytes of the inflated message.
const PAYLOAD: usize = 4 << 20;
/// In one profile.
const SAMPLES: usize = 16_000;
/// In one stack.
const FRAMES: usize = 1_000;

/// Tells of more of something than the receiver takes.
///
/// `of` is the unit in the finding: bytes, samples.
fn most(cx: &mut CheckContext<'_>, spot: Position, found: usize, most: usize, of: &str) {
    if found > most {
        cx.report(&OP9210, spot, format_args!("{found} {of}"), most);
    }
}

/// Cells of the messages that Parca takes for granted.
const RESOURCE: usize = RESOURCE_PROFILES.cell("resource");
const SCOPE: usize = SCOPE_PROFILES.cell("scope");

/// Tells of a message that is left out, though it may be: Parca reads it without asking whether it is there.
fn left_out(cx: &mut CheckContext<'_>, record: &Record, cell: usize) {
    if !record.has(cell) {
        let spot = Position::at(record.start).field(record.shape.name_of(cell));
        cx.report(&OP9209, spot, "", "at least an empty message");
    }
}

/// Cells of `Profile`.
const PROFILE_SAMPLES: usize = PROFILE.cell("samples");
const SAMPLE_TYPE: usize = PROFILE.cell("sample_type");
const PERIOD: usize = PROFILE.cell("period");
const PERIOD_TYPE: usize = PROFILE.cell("period_type");

/// A profile, and whether its samples may have one value alone.
///
/// Pyroscope refuses several in a profile with a period, but for the one type whose values it adds up.
///
/// What it finds out about values is kept in the state of the profile, for [`sample`].
fn profile(cx: &mut CheckContext<'_>, record: &Record) {
    left_out(cx, record, SAMPLE_TYPE);
    left_out(cx, record, PERIOD_TYPE);
    most(cx, record.field(PROFILE_SAMPLES), record.count(PROFILE_SAMPLES), SAMPLES, "samples");
    let body = record.body(SAMPLE_TYPE);
    let names = value_types::named(cx, (body.start, body.end));
    let adds = names == Some((b"off_cpu", b"nanoseconds"));
    cx.profile.one_value = record.number(PERIOD) != 0 && record.has(PERIOD_TYPE) && !adds;
}

/// Cells of `Sample`.
const VALUES: usize = SAMPLE.cell("values");
const TIMES: usize = SAMPLE.cell("timestamps_unix_nano");
const ATTRIBUTES: usize = SAMPLE.cell("attribute_indices");

/// A sample: values and times past what is read, and attributes that do not become labels.
///
/// Times and attributes are counted, the latter by key, as a profile has them in every sample or in none.
fn sample(cx: &mut CheckContext<'_>, record: &Record, of: Receiver) {
    let values = record.count(VALUES);
    if values > 1 && cx.profile.one_value {
        cx.report(&OP9208, record.field(VALUES), Counted(values, "value"), "1 value");
    }
    if record.count(TIMES) > 0 {
        cx.findings.report_folded(&OP9206, 0, record.field(TIMES), "", "");
    }
    for (position, row) in cx.numbers(record, ATTRIBUTES).enumerate() {
        let Some(attribute) = usize::try_from(row).ok().and_then(|row| cx.attributes.get(row))
        else {
            continue;
        };
        let key = u64::from(attribute.key);
        let kept = attribute.kept.unwrap_or_else(|| is_kept(cx, row, of));
        if let Some(attribute) = cx.attributes.get_mut(row as usize) {
            attribute.kept = Some(kept);
        }
        if !kept {
            // Of one that is counted with another nobody asks where it is.
            let spot = match cx.findings.folds(&OP9204, key) {
                true => Position::nowhere(),
                false => cx.element(&OP9204, record, ATTRIBUTES, position),
            };
            let name = Shown(lists::key_of(cx, row)).to_string();
            cx.findings.report_folded(&OP9204, key, spot, name, "a string");
        }
    }
}

/// Cells on the way from a row of the attribute table to the elements of an array in it.
const VALUE: usize = KEY_VALUE_AND_UNIT.cell("value");
const TEXT: usize = ANY_VALUE.cell("string_value");
const TEXT_STRINDEX: usize = ANY_VALUE.cell("string_value_strindex");
const INT: usize = ANY_VALUE.cell("int_value");
const ARRAY: usize = ANY_VALUE.cell("array_value");
const ELEMENTS: usize = ARRAY_VALUE.cell("values");

/// Whether the receiver keeps an attribute of the table, by what its value is.
///
/// Unknown rows and broken ones pass for kept: other rules tell of them. Asked once for
/// each row.
fn is_kept(cx: &CheckContext<'_>, row: u64, of: Receiver) -> bool {
    let shapes = (cx.table_shape(Table::Attribute), cx.shapes.find(Noun::AnyValue));
    let (Some(entry), Some(any)) = shapes else { return true };
    let Some((start, end)) = cx.tables.row(Table::Attribute, row) else { return true };
    let body = cx.peek(entry, start, end).body(VALUE);
    let value = cx.peek(any, body.start, body.end);
    if value.has(TEXT) || value.has(TEXT_STRINDEX) {
        return true;
    }
    let one = || {
        let body = value.body(ARRAY);
        let array = cx.shapes.find(Noun::ArrayValue);
        array.is_some_and(|array| cx.peek(array, body.start, body.end).count(ELEMENTS) == 1)
    };
    of == Receiver::Pyroscope && (value.has(INT) || (value.has(ARRAY) && one()))
}

/// How much it matters that the pair that is walked, or whose value is, has no value, if not as much as elsewhere.
///
/// Parca asks attributes of resources alone, not those of scopes nor pairs inside a value.
pub(super) fn of_value(cx: &CheckContext<'_>) -> Option<Severity> {
    let mut path =
        cx.findings.path.iter().rev().map(|step| step.name).skip_while(|name| *name == "value");
    let asked = path.next() == Some("attributes") && path.next() == Some("resource");
    let of_parca = cx.receiver == Some(Receiver::Parca);
    OP5005.level(Some(cx.version)).filter(|_| of_parca && !asked)
}

/// Cells of locations, lines and stacks.
const LOCATION_ATTRIBUTES: usize = LOCATION.cell("attribute_indices");
const COLUMN: usize = LINE.cell("column");
const LOCATIONS: usize = STACK.cell("location_indices");

/// Frames past the limit are cut, not refused: a warning.
fn stack(cx: &mut CheckContext<'_>, record: &Record) {
    let frames = record.count(LOCATIONS);
    if frames > FRAMES {
        let found = format_args!("{frames} frames").to_string();
        cx.findings.report_as(
            &OP9210,
            Some(Severity::Warning),
            record.field(LOCATIONS),
            found,
            FRAMES,
        );
    }
}

/// Cells of `KeyValue`.
const KEY: usize = KEY_VALUE.cell("key");
const KEY_STRINDEX: usize = KEY_VALUE.cell("key_strindex");

/// The key of an attribute of a resource or a scope: some receivers take none by reference, and an older one none that is
/// written out where there is a string table.
///
/// The two rules contradict each other on purpose; only the one that the receiver demands is asked.
fn key(cx: &mut CheckContext<'_>, record: &Record) {
    if record.number(KEY_STRINDEX) != 0 {
        cx.findings.report_folded(
            &OP9202,
            0,
            record.field(KEY_STRINDEX),
            record.number(KEY_STRINDEX),
            "a key in place",
        );
    }
    let text = cx.body(record, KEY);
    if !text.is_empty() && cx.tables.len(Table::String) > 0 {
        cx.findings.report_folded(&OP9203, 0, record.field(KEY), Shown(text), "a reference");
    }
}
