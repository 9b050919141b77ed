//! Limits, and hints about size.
//!
//! How many bytes decoding would take is added up message by message, as prost's structs would take it: a payload of a few
//! kilobytes can be one of gigabytes there.
//!
//! Limits are those of the reader: what is an error here is refused there, with the same number.
//! The check itself does not need them to stay within bounds, as it makes no structs.
//!
//! | asked | when |
//! |---|---|
//! | rows of tables | before anything is walked, by their headers |
//! | samples | at each profile, of all so far |
//! | depth, lines, attributes | where they are met |
//! | bytes of all messages decoded | at the end |

use super::*;

/// The sizes of the tables, when they are known.
///
/// Strings have a limit of their own, as they are the many. Tables of older generations, which are
/// a profile's own, are asked for each profile.
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
            // Asked before the dictionary is walked.
            let inside = cx.tables_holder() == Noun::Dictionary;
            let step = Step { name: "dictionary", row: None };
            cx.findings.path.extend(inside.then_some(step));
            cx.report(rule, spot, Counted(rows as usize, "entry"), most);
            cx.findings.path.truncate(cx.findings.path.len() - usize::from(inside));
        }
    }
}

/// What prost's struct of a message takes, about.
///
/// In bytes on a 64-bit machine: the size of prost 0.14's struct with room for a `Vec` that
/// doubled. Kinds without a line take 32. The exact number does not matter; its order of magnitude
/// decides whether two bytes of wire become 500 of heap.
pub(crate) fn size(kind: Noun) -> u64 {
    match kind {
        Noun::Container => 464,
        Noun::Profile => 352,
        Noun::ResourceProfiles | Noun::ScopeProfiles => 176,
        Noun::Sample => 104,
        Noun::Location => 80,
        Noun::Mapping | Noun::Resource | Noun::Scope | Noun::EntityRef => 72,
        Noun::KeyValue | Noun::KeyValueAndUnit | Noun::AnyValue => 64,
        _ => 32,
    }
}

/// Counts the memory that a message would take when it is decoded.
///
/// Called for every message that is walked; [`canonical`](crate::check::canonical) adds the same for those it
/// proves fine, and a test holds the two sums against each other.
#[inline(always)]
pub(crate) fn owned(cx: &mut CheckContext<'_>, record: &Record) {
    cx.payload.owned += size(record.shape.noun) + (record.end - record.start) as u64;
}

/// The samples of a profile.
///
/// Folded: one finding for a payload, however many profiles follow the one that went past the
/// limit.
pub(crate) fn samples(cx: &mut CheckContext<'_>, name: &'static str) {
    let most = cx.limits.max_samples;
    if cx.payload.samples > most {
        let found = Counted(cx.payload.samples as usize, "sample");
        cx.findings.report_folded(&OP9002, 0, Position::nowhere().field(name), found, most);
    }
}

/// What is known when all of a payload was walked.
///
/// How much references would save is counted per text: all occurrences but one, less the two bytes
/// that a row of the table costs.
pub(crate) fn hints(cx: &mut CheckContext<'_>) {
    let (owned, most) = (cx.payload.owned, cx.limits.max_owned_bytes);
    if owned > most {
        cx.findings.report_whole(&OP9006, format_args!("{owned} bytes"), most);
    }
    // Each text once in the table, with a tag and a length, where now it is as often as it comes.
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

/// Counts a text that a resource or a scope says in place, where a reference would do.
///
/// Keyed by a fingerprint of 128 bits, so that no text is kept. Does nothing unless the hint is
/// asked for.
pub(crate) fn in_place(cx: &mut CheckContext<'_>, text: &[u8]) {
    if text.is_empty() || !cx.findings.asks(&OP9101) {
        return;
    }
    let print = cx.payload.fingerprint(text);
    let (length, times) = cx.payload.texts.entry(print).or_default();
    (*length, *times) = (text.len() as u64, *times + 1);
}
