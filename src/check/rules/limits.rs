//! Limits, and hints about size.
//!
//! Adds up the memory that decoding would take, message by message, as prost's structs would take it: a payload of
//! a few kilobytes can decode to gigabytes.
//!
//! The limits are those of the reader: for an error here, the reader rejects the payload at the same number. The
//! check itself makes no structs, so its memory is bounded without them.
//!
//! | limit | checked |
//! |---|---|
//! | rows of tables | before the walk, by their headers |
//! | samples | at each profile, over all so far |
//! | depth, lines, attributes | at each message |
//! | bytes of all messages decoded | at the end |

use super::*;

/// Checks the sizes of the tables, before their rows are walked.
///
/// Strings have a separate limit, since there are many. In older generations, where profiles have separate tables,
/// this runs for each profile.
pub(crate) fn tables(cx: &mut CheckContext<'_>) {
    let all = [
        Table::String,
        Table::Mapping,
        Table::Location,
        Table::Function,
        Table::Link,
        Table::Attribute,
        Table::Stack,
    ];
    for table in all {
        let (rule, most) = match table {
            Table::String => (&OP9001, cx.limits.max_strings),
            _ => (&OP9003, cx.limits.max_table_entries),
        };
        let rows = cx.tables.len(table);
        if rows > most {
            let spot = Position::nowhere().field(cx.table_name(table));
            // The walk has not entered the dictionary yet, so its step is missing from the path.
            let inside = cx.tables_holder() == MessageKind::Dictionary;
            let step = Step { name: "dictionary", row: None };
            cx.findings.path.extend(inside.then_some(step));
            cx.report(rule, spot, Counted(rows as usize, "entry"), most);
            cx.findings.path.truncate(cx.findings.path.len() - usize::from(inside));
        }
    }
}

/// The approximate size of a message as prost's struct.
///
/// In bytes on a 64-bit machine: the size of prost 0.14's struct plus a `Vec` that has doubled. Messages not listed
/// take 32. The exact number does not matter; its order of magnitude decides whether two bytes of wire become 500
/// of heap.
pub(crate) fn size(kind: MessageKind) -> u64 {
    match kind {
        MessageKind::Container => 464,
        MessageKind::Profile => 352,
        MessageKind::ResourceProfiles | MessageKind::ScopeProfiles => 176,
        MessageKind::Sample => 104,
        MessageKind::Location => 80,
        MessageKind::Mapping
        | MessageKind::Resource
        | MessageKind::Scope
        | MessageKind::EntityRef => 72,
        MessageKind::KeyValue | MessageKind::KeyValueAndUnit | MessageKind::AnyValue => 64,
        _ => 32,
    }
}

/// Adds the memory that the decoded message would take.
///
/// Called for every message that is walked. [`canonical`](crate::check::canonical) adds the same for the messages
/// that it decodes; a test compares the two sums.
#[inline]
pub(crate) fn owned(cx: &mut CheckContext<'_>, record: &Record) {
    cx.payload.owned += size(record.shape.kind) + (record.end - record.start) as u64;
}

/// Checks the number of samples so far.
///
/// Folded: one finding for a payload, however many profiles follow the one that exceeds the limit.
pub(crate) fn samples(cx: &mut CheckContext<'_>, name: &'static str) {
    let most = cx.limits.max_samples;
    if cx.payload.samples > most {
        let found = Counted(cx.payload.samples as usize, "sample");
        cx.findings.report_folded(&OP9002, 0, Position::nowhere().field(name), found, most);
    }
}

/// Reports findings about the whole payload, after the walk.
///
/// The savings of references are counted per string: all occurrences except one, less the two bytes of a row in the
/// table.
pub(crate) fn hints(cx: &mut CheckContext<'_>) {
    let (owned, most) = (cx.payload.owned, cx.limits.max_owned_bytes);
    if owned > most {
        cx.findings.report_whole(&OP9006, format_args!("{owned} bytes"), most);
    }
    // With references, each string is stored once, in the table, with a tag and a length.
    let saved = |(length, times): &(u64, u64)| (length * (times - 1)).saturating_sub(2);
    let saved: u64 = cx.payload.texts.values().map(saved).sum();
    if saved > 0 {
        cx.findings.report_whole(
            &OP9101,
            format_args!("{} more", Counted(saved as usize, "byte")).to_string(),
            "references",
        );
    }
}

/// Counts a string that a resource or a scope holds in place, where a reference would do.
///
/// Keyed by a fingerprint of 128 bits, so that no string is stored. Does nothing unless the hint is enabled.
pub(crate) fn in_place(cx: &mut CheckContext<'_>, text: &[u8]) {
    if text.is_empty() || !cx.findings.is_enabled(&OP9101) {
        return;
    }
    let print = cx.payload.fingerprint(text);
    let (length, times) = cx.payload.texts.entry(print).or_default();
    (*length, *times) = (text.len() as u64, *times + 1);
}
