//! Attributes, resources and scopes.
//!
//! Values nest in arrays and lists of pairs. The depth is counted, and more than 64 levels raise a warning, since
//! the specification lets SDKs stop there.
//!
//! Attributes have three forms. This file checks those in place: pairs of resources, scopes, containers and lists
//! of pairs. Rows of the attribute table are in [`entries`], lists of references in
//! [`lists`]. Values (`AnyValue`) of all three are checked here.
//!
//! ```text
//! resource ─► of_message: how many, no key twice
//!    └─ attributes[i] ─► key_value: key and key_strindex, key not empty, value there
//!          └─ value ─► value: a member, finite, kinds that 1.8 advises against
//!                └─ array / pairs ─► one type, depth, no key twice
//! ```

use super::*;

/// Cell of a profile's references to attributes.
///
/// Public to the walk, because a profile of 1.5 and later has references where one of 1.4 has pairs in place.
pub(crate) const PROFILE_ATTRIBUTES: usize = PROFILE.cell("attribute_indices");

/// Cells of the attributes that a message holds in place, and of the count of dropped ones.
///
/// The only place that lists the messages with such attributes, so the count is never looked up in another message.
fn in_place(kind: MessageKind) -> Option<(usize, usize)> {
    const fn cells(message: &MessageType) -> (usize, usize) {
        (message.cell("attributes"), message.cell("dropped_attributes_count"))
    }
    Some(match kind {
        MessageKind::Profile => const { cells(&PROFILE) },
        MessageKind::Container => const { cells(&PROFILE_CONTAINER) },
        MessageKind::Resource => const { cells(&RESOURCE) },
        MessageKind::Scope => const { cells(&INSTRUMENTATION_SCOPE) },
        _ => return None,
    })
}

/// Checks the number of attributes that a message holds in place, the count of dropped ones, and the uniqueness of
/// keys.
///
/// A count of dropped attributes needs attributes in either form, since a profile may have references instead of
/// pairs. The hint at 128 (`OP5014`) excludes resources, for which the specification has no limit; the limit of the
/// reader (`OP9010`) includes them.
pub(crate) fn of_message(cx: &mut CheckContext<'_>, record: &Record) {
    let Some((list, dropped)) = in_place(record.shape.kind) else { return };
    let count = record.count(list);
    let referred = match record.shape.kind {
        MessageKind::Profile => record.count(PROFILE_ATTRIBUTES),
        _ => 0,
    };
    if record.number(dropped) > 0 && count == 0 && referred == 0 {
        cx.report(&OP2020, record.field(dropped), record.number(dropped), "");
    }
    let spot = record.field(list);
    if count > 128 && record.shape.kind != MessageKind::Resource {
        cx.report(&OP5014, spot, Counted(count, "attribute"), 128);
    }
    let most = cx.limits.max_attributes_per_item;
    if count as u64 > most {
        cx.report(&OP9010, spot, Counted(count, "attribute"), most);
    }
    unique(cx, record, list);
}

/// The bodies of the messages in a repeated field, in the order of the bytes, over all occurrences.
///
/// Costs a scan over the headers of the message, or no time if the field does not occur. Occurrences without a
/// length are skipped: `decode` has already reported them.
pub(super) fn bodies<'a>(
    cx: &CheckContext<'a>,
    record: &Record,
    cell: usize,
) -> impl Iterator<Item = (usize, usize)> + use<'a> {
    let wanted = record.shape.of_cell(cell).map_or(0, |slot| slot.field.number);
    let end = if record.has(cell) { record.end } else { record.start };
    Fields::new(cx.bytes, record.start, end).bodies(wanted)
}

/// The key of a `KeyValue`; `None` if its reference is out of range, which is the finding of another rule.
///
/// The reference takes precedence: in 1.10 a pair has either form, but not both (`OP5004`), and `key_strindex` 0
/// means that the reference is absent.
pub(super) fn key_of<'a>(cx: &CheckContext<'a>, record: &Record) -> Option<&'a [u8]> {
    match record.number(STRINDEX) {
        0 => Some(cx.body(record, KEY)),
        row => cx.string(row),
    }
}

/// Reports keys that occur twice among pairs in place. Empty keys are left to `OP5003`.
fn unique(cx: &mut CheckContext<'_>, record: &Record, cell: usize) {
    repeated(cx, record, cell, MessageKind::KeyValue, &OP5001, |cx, pair| {
        key_of(cx, pair).filter(|key| !key.is_empty())
    });
}

/// Reports each item of a list whose key occurred before, with the row of its first occurrence. `key` returns the
/// key of an item, or `None` to ignore the item.
///
/// Uses a hash table, because the list is untrusted and may be long: comparing all pairs would be quadratic. Keys
/// are compared as strings, since two entries of the string table may be equal.
pub(super) fn repeated<'a>(
    cx: &mut CheckContext<'a>,
    record: &Record,
    cell: usize,
    item: MessageKind,
    rule: &'static Rule,
    key: impl Fn(&CheckContext<'a>, &Record) -> Option<&'a [u8]>,
) {
    let Some(item) = cx.shapes.find(item).filter(|_| record.count(cell) > 1) else { return };
    let mut seen: Map<u128, usize> = Map::default();
    for (row, (start, end)) in bodies(cx, record, cell).enumerate() {
        let Some(text) = key(cx, &cx.peek(item, start, end)) else { continue };
        let first = *seen.entry(cx.memo.fingerprint(text)).or_insert(row);
        if first != row {
            let spot = Position::at(start).field(record.shape.name_of(cell)).row(row);
            cx.report(rule, spot, Shown(text), first);
        }
    }
}

/// Cells of `KeyValue`. A cell identifies a field in every version, see [`layout`](crate::check::layout).
const KEY: usize = KEY_VALUE.cell("key");
const STRINDEX: usize = KEY_VALUE.cell("key_strindex");
const PAIR_VALUE: usize = KEY_VALUE.cell("value");

/// Checks a key and a value in place.
///
/// The walk checks the value later, as a separate message. A missing value is reported here, at its pair.
pub(crate) fn key_value(cx: &mut CheckContext<'_>, record: &Record) {
    let text = cx.body(record, KEY);
    let row = record.number(STRINDEX);
    if !text.is_empty() && row != 0 {
        cx.report(
            &OP5004,
            record.field(STRINDEX),
            format_args!("{row} (key_strindex) and {}", Shown(text)),
            "one of them",
        );
    }
    limits::in_place(cx, text);
    cx.payload.refers |= row != 0;
    let key = key_of(cx, record);
    let place = match row {
        0 => record.field(KEY),
        _ => record.field(STRINDEX),
    };
    if key.is_some_and(<[u8]>::is_empty) {
        cx.report(&OP5003, place, "\"\"", "");
    }
    if !record.has(PAIR_VALUE) {
        let severity = receivers::of_value(cx);
        let spot = Position::at(record.start).field("value");
        cx.findings.report_as(&OP5005, severity, spot, "", "");
    }
    if let Some(key) = key {
        key_style(cx, place, key);
        conventions::in_place(cx, record, key, record.body(PAIR_VALUE));
    }
}

/// Reports keys with upper case or spaces, against OpenTelemetry's naming guidelines.
///
/// The rule is off by default, so the first test returns early for nearly all payloads.
pub(super) fn key_style(cx: &mut CheckContext<'_>, place: Position, key: &[u8]) {
    if cx.findings.is_enabled(&OP5018) && cx.memo.is(key, is_styled) {
        cx.report(&OP5018, place, Shown(key), "");
    }
}

/// Whether a key has upper-case letters or spaces.
fn is_styled(key: &[u8]) -> bool {
    key.iter().any(|c| c.is_ascii_uppercase() || *c == b' ')
}

/// Cells of `AnyValue`, whose members are those of a `oneof`.
const DOUBLE: usize = ANY_VALUE.cell("double_value");
const BYTES: usize = ANY_VALUE.cell("bytes_value");
const KVLIST: usize = ANY_VALUE.cell("kvlist_value");

/// Checks a value.
///
/// The checks depend on the parent (`cx.parent`): a value without a member is a null in an array, a defect in a
/// pair, and zero in row 0 of the attribute table. Bytes and lists of pairs are reported everywhere; the catalogue
/// limits these rules to 1.8.
pub(crate) fn value(cx: &mut CheckContext<'_>, record: &Record) {
    let here = Position::at(record.start);
    if members_of(record) == 0 {
        match cx.parent {
            MessageKind::ArrayValue => cx.report(&OP5009, here, "", ""),
            MessageKind::KeyValue => {
                cx.findings.report_as(&OP5005, receivers::of_value(cx), here, "", "");
            }
            _ => {}
        }
        return;
    }
    if matches!(cx.parent, MessageKind::KeyValue | MessageKind::ArrayValue) {
        limits::in_place(cx, cx.body(record, TEXT));
    }
    cx.payload.refers |= record.has(TEXT_STRINDEX);
    if record.has(DOUBLE) {
        let number = f64::from_bits(record.number(DOUBLE));
        if !number.is_finite() {
            cx.report(&OP5011, record.field(DOUBLE), number, "");
        }
    }
    if record.has(BYTES) {
        cx.report(&OP5006, record.field(BYTES), "", "");
    }
    if record.has(KVLIST) {
        let spot = Position::at(record.body(KVLIST).start).field("kvlist_value");
        cx.report(&OP5008, spot, "", "");
    }
}

const ELEMENTS: usize = ARRAY_VALUE.cell("values");
const PAIRS: usize = KEY_VALUE_LIST.cell("values");
/// The default limit for the nesting of values in the specification's common part.
///
/// Counted in values, not in messages: each level of values takes two or three messages on the wire.
const DEEPEST: u64 = 64;

/// Counts the nesting depth of values up; [`leave`](crate::check::walk) counts it down again.
///
/// Each chain raises one finding, at the first level past the limit, and no further ones below it.
fn deeper(cx: &mut CheckContext<'_>, record: &Record) {
    cx.payload.value_depth += 1;
    if cx.payload.value_depth == DEEPEST + 1 {
        cx.report(&OP5010, Position::at(record.start), "", DEEPEST);
    }
}

/// Checks that the elements of an array have the same type.
///
/// Reports only the first element that differs: an array that alternates between two types would raise a finding
/// for every second element. Elements without a member have no type and are skipped. In 1.8 elements must be
/// scalars as well.
pub(crate) fn array(cx: &mut CheckContext<'_>, record: &Record) {
    deeper(cx, record);
    let Some(value) = cx.shapes.find(MessageKind::AnyValue) else { return };
    let mut first: Option<u64> = None;
    for (row, (start, end)) in bodies(cx, record, ELEMENTS).enumerate() {
        let kind = value_type(&cx.peek(value, start, end));
        let scalar = kind & (1 << BYTES | 1 << KVLIST | 1 << ARRAY) == 0;
        let spot = Position::at(start).field("values").row(row);
        if kind == 0 {
            continue;
        }
        if *first.get_or_insert(kind) != kind {
            cx.report(&OP5007, spot, "", "the type of the first element");
            return;
        }
        if cx.version == Version::V1_8 && !scalar {
            cx.report(&OP5007, spot, "", "a string, bool, int or double");
            return;
        }
    }
}

/// Cells of the members that [`value_type`] distinguishes from scalars.
const ARRAY: usize = ANY_VALUE.cell("array_value");
const TEXT: usize = ANY_VALUE.cell("string_value");
const TEXT_STRINDEX: usize = ANY_VALUE.cell("string_value_strindex");

/// The type of a value: the member that is set, as a bit of its cell, so that types compare as numbers. 0 if no
/// member is set.
///
/// `string_value_strindex` counts as `string_value`: both are strings.
pub(super) fn value_type(value: &Record) -> u64 {
    let seen = members_of(value);
    match seen & (1 << TEXT_STRINDEX) {
        0 => seen,
        _ => 1 << TEXT,
    }
}

/// The members that a value has, a bit for each cell. A reference to string 0 does not count as a member.
fn members_of(value: &Record) -> u64 {
    match value.number(TEXT_STRINDEX) {
        0 => value.seen & !(1 << TEXT_STRINDEX),
        _ => value.seen,
    }
}

/// Checks a list of pairs, which is a map used as a value. Its keys are unique like those of an attribute list, at
/// any depth.
pub(crate) fn pairs(cx: &mut CheckContext<'_>, record: &Record) {
    deeper(cx, record);
    unique(cx, record, PAIRS);
}
