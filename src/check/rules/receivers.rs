//! Payloads that the specification allows and a known receiver rejects, drops or truncates.
//!
//! Each rule is based on the receiver's source code; its row in the catalogue names the file.
//!
//! These rules run only if [`Options::receiver`](crate::check::Options::receiver) names a receiver and the payload
//! is of 1.10, the generation that all of them read (`OP9201` reports others).
//! [`canonical`](crate::check::canonical) is then disabled, because the rules need every message decoded.
//!
//! Requirements of the specification are not repeated here: for those that a receiver enforces, the
//! [`catalogue`](crate::check::catalogue) raises the severity to error.

use super::*;

/// Checks a message against the limits and gaps of the receiver.
///
/// Called for each message after its other rules. Habits that a writer has in all messages of a kind are folded
/// into one finding; the rest is reported for each message.
pub(crate) fn message(cx: &mut CheckContext<'_>, record: &Record, of: Receiver) {
    match record.shape.kind {
        MessageKind::ProfilesData => {
            most(cx, Position::nowhere(), record.end - record.start, PAYLOAD, "bytes");
        }
        MessageKind::ResourceProfiles => left_out(cx, record, RESOURCE),
        MessageKind::ScopeProfiles => left_out(cx, record, SCOPE),
        MessageKind::Profile => profile(cx, record),
        MessageKind::Sample => sample(cx, record, of),
        MessageKind::Stack => stack(cx, record),
        MessageKind::Location if record.count(LOCATION_ATTRIBUTES) > 0 => {
            cx.findings.report_folded(&OP9205, 0, record.field(LOCATION_ATTRIBUTES), "", "");
        }
        MessageKind::Line if record.number(COLUMN) > 0 => {
            cx.findings.report_folded(&OP9207, 0, record.field(COLUMN), record.number(COLUMN), "");
        }
        MessageKind::KeyValue => key(cx, record),
        MessageKind::AnyValue if record.has(TEXT_STRINDEX) => {
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

/// Pyroscope's default limit in bytes of the decompressed message. Operators can raise it per tenant.
const PAYLOAD: usize = 4 << 20;
/// Pyroscope's default limit of samples per profile.
const SAMPLES: usize = 16_000;
/// Pyroscope's default limit of frames per stack.
const FRAMES: usize = 1_000;

/// Reports a count over the receiver's limit.
///
/// `of` is the unit in the finding: bytes, samples.
fn most(cx: &mut CheckContext<'_>, spot: Position, found: usize, most: usize, of: &str) {
    if found > most {
        cx.report(&OP9210, spot, format_args!("{found} {of}"), most);
    }
}

/// Cells of the messages that Parca dereferences without a check.
const RESOURCE: usize = RESOURCE_PROFILES.cell("resource");
const SCOPE: usize = SCOPE_PROFILES.cell("scope");

/// Reports a missing optional message that Parca reads without a check.
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

/// Checks a profile, and determines whether its samples may have only one value.
///
/// Pyroscope rejects several values in a profile with a period, except for the one type whose values it adds up.
///
/// Stores the result in the state of the profile, for [`sample`].
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

/// Checks a sample: more values than the receiver reads, timestamps, and attributes that do not become labels.
///
/// Timestamps and attributes are folded, attributes by key, because a profile has them in every sample or in no
/// sample.
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
            // A folded finding needs no position: skip the search for the element.
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

/// Whether the receiver keeps an attribute of the table, by the type of its value.
///
/// Unknown and malformed rows count as kept: other rules report them. Runs once for each row.
fn is_kept(cx: &CheckContext<'_>, row: u64, of: Receiver) -> bool {
    let Some(entry) = cx.table_shape(Table::Attribute) else { return true };
    let Some((start, end)) = cx.tables.row(Table::Attribute, row) else { return true };
    let value = cx.peek_field(&cx.peek(entry, start, end), VALUE);
    if value.has(TEXT) || value.has(TEXT_STRINDEX) {
        return true;
    }
    let one = || cx.peek_field(&value, ARRAY).count(ELEMENTS) == 1;
    of == Receiver::Pyroscope && (value.has(INT) || one())
}

/// The severity of a missing value in the current pair, or in the pair whose value is walked, if it differs from
/// the default.
///
/// Parca requires values only in attributes of resources, not in those of scopes nor in nested pairs.
pub(super) fn of_value(cx: &CheckContext<'_>) -> Option<Severity> {
    let mut path =
        cx.findings.path.iter().rev().map(|step| step.name).skip_while(|name| *name == "value");
    let is_resource = path.next() == Some("attributes") && path.next() == Some("resource");
    let of_parca = cx.receiver == Some(Receiver::Parca);
    OP5005.level(Some(cx.version)).filter(|_| of_parca && !is_resource)
}

/// Cells of locations, lines and stacks.
const LOCATION_ATTRIBUTES: usize = LOCATION.cell("attribute_indices");
const COLUMN: usize = LINE.cell("column");
const LOCATIONS: usize = STACK.cell("location_indices");

/// Reports stacks over the limit as a warning: the receiver truncates them and keeps the rest.
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

/// Checks the key of an attribute of a resource or a scope. Some receivers reject references; an older one rejects
/// keys in place if the payload has a string table.
///
/// The two rules contradict each other; only the one for the chosen receiver is enabled.
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
