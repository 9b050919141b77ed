//! Attributes with a distinct value on nearly every sample.
//!
//! The rule (`OP5016`) compares distinct values with samples, so it needs a pass over the samples. A cheap bound
//! avoids it for nearly all payloads: a key cannot have more values than it has rows in the table.
//!
//! ```text
//! rows of the key in attribute_table  ≥ 900?  ─ no ─► nothing to do
//!   │ yes
//!   ▼
//! samples walked once: key.samples += 1, key.values += 1 at the first sight of a row
//!   │
//!   ▼
//! samples ≥ 1000 and values > 9/10 of samples  ─► a finding at the key's first row
//! ```
//!
//! The other half of the rule, about doubles, is checked row by row in [`entries`].

use super::*;

/// Cell of the references, a field called `attributes` in 1.3.
const ATTRIBUTES: usize = SAMPLE.cell("attribute_indices");

/// The minimum number of samples for the rule.
///
/// A small profile naturally has distinct values on most samples. The statement of the rule gives this number.
const FEWEST: usize = 1_000;

/// How samples use a key.
///
/// Three counters for each distinct key, so memory grows with keys and not with samples.
#[derive(Clone, Copy, Default)]
struct Use {
    /// The rows of the attribute table with this key: the upper bound that decides whether samples are walked.
    rows: usize,
    /// The references to this key from samples.
    samples: usize,
    /// The distinct rows among those references; equal rows count as one.
    values: usize,
}

impl Use {
    /// Whether more than nine in ten samples have a distinct value.
    ///
    /// Uses integers: `of / samples > 0.9` without rounding.
    fn is_high(of: usize, samples: usize) -> bool {
        samples >= FEWEST && of * 10 > samples * 9
    }
}

/// Reports keys with more than nine values for ten samples, in a message that holds samples and their tables.
///
/// Walks the samples once more only if a key has enough rows.
///
/// Runs when all references are known: for each profile if profiles have separate tables, otherwise once.
pub(crate) fn tables(
    cx: &mut CheckContext<'_>,
    shape: &'static MessageLayout,
    body: (usize, usize),
) {
    let attributes = &cx.attributes;
    if attributes.len() < FEWEST * 9 / 10 {
        return;
    }
    let mut keys = vec![Use::default(); cx.payload.keys.len()];
    for attribute in attributes.iter().filter(|found| found.key != Attribute::NO_KEY) {
        keys[attribute.key as usize].rows += 1;
    }
    if !keys.iter().any(|key| Use::is_high(key.rows, FEWEST)) || !cx.findings.is_enabled(&OP5016) {
        return;
    }
    // Rows that a sample has referred to.
    let mut met = vec![false; attributes.len()];
    samples(cx, shape, body, &mut |row, attribute| {
        let (key, met) = (&mut keys[attribute.key as usize], &mut met[row]);
        key.samples += 1;
        key.values += usize::from(!std::mem::replace(met, true));
    });
    let name = cx.table_name(Table::Attribute);
    for row in 0..cx.attributes.len() {
        let key = cx.attributes[row].key as usize;
        // Taking the counters limits each key to one finding, at its first row.
        let Some(found) = keys.get_mut(key).map(std::mem::take) else { continue };
        if Use::is_high(found.values, found.samples) {
            let at = cx.tables.row(Table::Attribute, row as u64).map_or(0, |(start, _)| start);
            let key = Shown(lists::key_of(cx, row as u64));
            let found_in = format!("{key} ({} values in {} samples)", found.values, found.samples);
            let spot = Position::at(at).field(name).row(row);
            cx.report(&OP5016, spot, found_in, "");
        }
    }
}

/// Calls `each` with every attribute of every sample in a message, as the first of its equal rows.
///
/// Recurses through the five messages between the payload and a sample, and skips the dictionary. Decodes headers
/// only. Resolves each reference to the first of equal rows, because duplicates in the table would inflate the
/// number of values.
fn samples(
    cx: &CheckContext<'_>,
    shape: &'static MessageLayout,
    (start, end): (usize, usize),
    each: &mut impl FnMut(usize, Attribute),
) {
    if shape.kind == MessageKind::Sample {
        let record = cx.peek(shape, start, end);
        for row in cx.numbers(&record, ATTRIBUTES) {
            let row = cx.tables.first_equal(Table::Attribute, row) as usize;
            let found = cx.attributes.get(row).filter(|found| found.key != Attribute::NO_KEY);
            found.into_iter().for_each(|attribute| each(row, *attribute));
        }
        return;
    }
    let on_the_way = [
        MessageKind::ProfilesData,
        MessageKind::ResourceProfiles,
        MessageKind::ScopeProfiles,
        MessageKind::Container,
        MessageKind::Profile,
    ];
    if on_the_way.contains(&shape.kind) {
        for (inner, body) in cx.shapes.messages(cx.bytes, shape, (start, end)) {
            samples(cx, inner, body, each);
        }
    }
}
