//! Attributes, resources and scopes.
//!
//! A value may hold arrays and lists of pairs, and those more of them: how deep is counted, and warned of past 64 levels,
//! where the specification lets SDKs stop.
//!
//! Of the three forms of attributes this file has those in place: pairs of resources, scopes,
//! containers and lists of pairs. Rows of the attribute table are in [`entries`](super::entries),
//! lists of references in [`lists`](crate::check::lists). Values (`AnyValue`) are here for all of
//! them.
//!
//! ```text
//! resource ─► of_message: how many, no key twice
//!    └─ attributes[i] ─► key_value: key and key_strindex, key not empty, value there
//!          └─ value ─► value: a member, finite, kinds that 1.8 advises against
//!                └─ array / pairs ─► one type, depth, no key twice
//! ```

use super::*;

/// The attributes of a profile, by reference.
///
/// Public to the walk, as a profile of 1.5 and later has references where one of 1.4 has pairs in
/// place.
pub(crate) const PROFILE_ATTRIBUTES: usize = PROFILE.cell("attribute_indices");

/// The lists of attributes that messages hold in place: the attributes, and the count of those dropped.
///
/// The one place that knows which messages have such a list, so that the count of dropped
/// attributes is never asked of a message without one.
fn in_place(kind: Noun) -> Option<(usize, usize)> {
    const fn cells(message: &MessageType) -> (usize, usize) {
        (message.cell("attributes"), message.cell("dropped_attributes_count"))
    }
    Some(match kind {
        Noun::Profile => const { cells(&PROFILE) },
        Noun::Container => const { cells(&PROFILE_CONTAINER) },
        Noun::Resource => const { cells(&RESOURCE) },
        Noun::Scope => const { cells(&INSTRUMENTATION_SCOPE) },
        _ => return None,
    })
}

/// The attributes that a message holds in place, and how many were dropped.
///
/// The count of those dropped is held against both forms, as a profile may have references instead
/// of pairs. The hint at 128 (`OP5014`) leaves resources out, for which the specification has no
/// limit; the limit of the reader (`OP9010`) does not.
pub(crate) fn of_message(cx: &mut CheckContext<'_>, record: &Record) {
    let Some((list, dropped)) = in_place(record.shape.noun) else { return };
    let count = record.count(list);
    let referred = match record.shape.noun {
        Noun::Profile => record.count(PROFILE_ATTRIBUTES),
        _ => 0,
    };
    if record.number(dropped) > 0 && count == 0 && referred == 0 {
        cx.report(&OP2020, record.field(dropped), record.number(dropped), "");
    }
    let spot = record.field(list);
    if count > 128 && record.shape.noun != Noun::Resource {
        cx.report(&OP5014, spot, Counted(count, "attribute"), 128);
    }
    let most = cx.limits.max_attributes_per_item;
    if count as u64 > most {
        cx.report(&OP9010, spot, Counted(count, "attribute"), most);
    }
    unique(cx, record, list);
}

/// The bodies of the messages in a repeated field.
///
/// In the order of the bytes, of all occurrences. Costs a walk over the headers of the message;
/// none if the field does not occur. What is not written with a length is left out, as `decode` said
/// so already.
pub(super) fn bodies<'a>(
    cx: &CheckContext<'a>,
    record: &Record,
    cell: usize,
) -> impl Iterator<Item = (usize, usize)> + use<'a> {
    let wanted = record.shape.of_cell(cell).map_or(0, |slot| slot.field.number);
    let end = if record.has(cell) { record.end } else { record.start };
    Fields::new(cx.bytes, record.start, end).bodies(wanted)
}

/// The key of a `KeyValue`; `None` where it leads nowhere.
///
/// By reference first: in 1.10 a pair has one of both (`OP5004`), and `key_strindex` 0 is an absent
/// reference. `None` only where the reference leads past the string table, which is another rule's
/// finding; whoever asks goes on without a key.
pub(super) fn key_of<'a>(cx: &CheckContext<'a>, record: &Record) -> Option<&'a [u8]> {
    match record.number(STRINDEX) {
        0 => Some(cx.body(record, KEY)),
        row => cx.string(row),
    }
}

/// Pairs in place: no key twice. Empty keys are left to `OP5003`.
fn unique(cx: &mut CheckContext<'_>, record: &Record, cell: usize) {
    repeated(cx, record, cell, Noun::KeyValue, &OP5001, |cx, pair| {
        key_of(cx, pair).filter(|key| !key.is_empty())
    });
}

/// The items of a list whose key came before: each is told, and names the first. `key` is that of an item that
/// counts.
///
/// By a table of hashes, as the list is from a stranger and may be long: comparing each item with
/// each other would be quadratic. Keys are compared as texts: two strings of the table may be equal.
pub(super) fn repeated<'a>(
    cx: &mut CheckContext<'a>,
    record: &Record,
    cell: usize,
    item: Noun,
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

/// Cells of `KeyValue`. A cell is the place of a field in every version, see
/// [`shape`](crate::check::layout).
const KEY: usize = KEY_VALUE.cell("key");
const STRINDEX: usize = KEY_VALUE.cell("key_strindex");
const PAIR_VALUE: usize = KEY_VALUE.cell("value");

/// A key and a value, in place.
///
/// The value itself is walked later, as a message of its own; whether there is one is asked here,
/// at the pair that lacks it.
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

/// Keys are written in lower case, without spaces: OpenTelemetry's naming guidelines.
///
/// Off unless it is named, hence the question first: this runs for every attribute of a payload.
pub(super) fn key_style(cx: &mut CheckContext<'_>, place: Position, key: &[u8]) {
    if cx.findings.asks(&OP5018) && cx.memo.is(key, is_styled) {
        cx.report(&OP5018, place, Shown(key), "");
    }
}

/// Whether a key has what keys have not.
fn is_styled(key: &[u8]) -> bool {
    key.iter().any(|c| c.is_ascii_uppercase() || *c == b' ')
}

/// Cells of `AnyValue`, whose members are those of a `oneof`.
const DOUBLE: usize = ANY_VALUE.cell("double_value");
const BYTES: usize = ANY_VALUE.cell("bytes_value");
const KVLIST: usize = ANY_VALUE.cell("kvlist_value");

/// A value.
///
/// What it is asked depends on where it stands (`cx.parent`): a value without a member is a null in
/// an array, a defect in a pair, and zero in row 0 of the attribute table. Bytes and lists of pairs
/// are told wherever they are; the catalogue limits these rules to 1.8.
pub(crate) fn value(cx: &mut CheckContext<'_>, record: &Record) {
    let here = Position::at(record.start);
    if said(record) == 0 {
        match cx.parent {
            Noun::ArrayValue => cx.report(&OP5009, here, "", ""),
            Noun::KeyValue => {
                cx.findings.report_as(&OP5005, receivers::of_value(cx), here, "", "");
            }
            _ => {}
        }
        return;
    }
    if matches!(cx.parent, Noun::KeyValue | Noun::ArrayValue) {
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
/// The nesting of values that the specification's common part has as a default.
///
/// In values, not in messages: each level of values takes two or three messages on the wire.
const DEEPEST: u64 = 64;

/// Counts how deep values lie in each other; [`leave`](crate::check::walk) counts back.
///
/// The finding is raised once for each chain, at the level that is one too many, and not again
/// further inside.
fn deeper(cx: &mut CheckContext<'_>, record: &Record) {
    cx.payload.value_depth += 1;
    if cx.payload.value_depth == DEEPEST + 1 {
        cx.report(&OP5010, Position::at(record.start), "", DEEPEST);
    }
}

/// An array: elements of one type.
///
/// Told once, at the first element that differs, since an array of two types in turn would be a
/// finding for every second element. Elements without a member have no type and are passed over.
/// 1.8 wants scalars besides.
pub(crate) fn array(cx: &mut CheckContext<'_>, record: &Record) {
    deeper(cx, record);
    let Some(value) = cx.shapes.find(Noun::AnyValue) else { return };
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

/// The members that [`value_type`] has to tell apart from scalars.
const ARRAY: usize = ANY_VALUE.cell("array_value");
const TEXT: usize = ANY_VALUE.cell("string_value");
const TEXT_STRINDEX: usize = ANY_VALUE.cell("string_value_strindex");

/// The member that is set: both ways to write a text are one.
///
/// As a bit for each cell, so that types compare as numbers; 0 is no member.
/// `string_value_strindex` is folded into `string_value`: how a text is written says nothing of its
/// type.
pub(super) fn value_type(value: &Record) -> u64 {
    let seen = said(value);
    match seen & (1 << TEXT_STRINDEX) {
        0 => seen,
        _ => 1 << TEXT,
    }
}

/// The members that a value has: a bit for each cell. A reference to text 0 is none, whatever else there is.
fn said(value: &Record) -> u64 {
    match value.number(TEXT_STRINDEX) {
        0 => value.seen & !(1 << TEXT_STRINDEX),
        _ => value.seen,
    }
}

/// A list of pairs.
///
/// A map in the place of a value. Its keys are unique as those of an attribute list are, at any
/// depth.
pub(crate) fn pairs(cx: &mut CheckContext<'_>, record: &Record) {
    deeper(cx, record);
    unique(cx, record, PAIRS);
}
