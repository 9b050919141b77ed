//! Attributes that have another value on nearly every sample.
//!
//! Samples are walked once more only where a key has nearly as many rows as it takes to break the rule.
//!
//! The rule (`OP5016`) is about distinct values per sample, which only the samples know. A cheap
//! bound comes first: the rows that the table has of a key limit how many values any sample can
//! show, and nearly all payloads end there.
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
//! Doubles, the other half of the rule, are told row by row in [`entries`](super::entries).

use super::*;

/// Cell of the references; in 1.3 the field is called `attributes`.
const ATTRIBUTES: usize = SAMPLE.cell("attribute_indices");

/// Of fewer samples it is not asked.
///
/// A small profile naturally has values of its own on most samples; 1,000 is the number of the
/// rule's statement.
const FEWEST: usize = 1_000;

/// A key, as far as samples have it.
///
/// Three counters for each distinct key: memory grows with keys, not with samples.
#[derive(Clone, Copy, Default)]
struct Use {
    /// How many rows of the attribute table have the key: the upper bound that decides whether
    /// samples are walked.
    rows: usize,
    /// How often a sample refers to the key.
    samples: usize,
    /// How many distinct rows those references lead to; equal rows count as one.
    values: usize,
}

impl Use {
    /// Whether more than nine in ten samples have one of their own.
    ///
    /// In integers: `of / samples > 0.9` without rounding.
    fn is_high(of: usize, samples: usize) -> bool {
        samples >= FEWEST && of * 10 > samples * 9
    }
}

/// Finds keys with more values than nine for ten samples, in a message that holds samples and their tables.
///
/// Samples are walked once more where a key has rows enough, and nowhere else.
///
/// Runs when all references are known. Where tables are a profile's own it is called for each
/// profile, else once.
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
    if !keys.iter().any(|key| Use::is_high(key.rows, FEWEST)) || !cx.findings.asks(&OP5016) {
        return;
    }
    let mut met = vec![false; attributes.len()];
    samples(cx, shape, body, &mut |row, attribute| {
        let (key, met) = (&mut keys[attribute.key as usize], &mut met[row]);
        key.samples += 1;
        key.values += usize::from(!std::mem::replace(met, true));
    });
    let name = cx.table_name(Table::Attribute);
    for row in 0..cx.attributes.len() {
        let key = cx.attributes[row].key as usize;
        // Told of the first row of the key.
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

/// Each attribute of each sample in a message: the first row that equals its own.
///
/// A recursion down the five messages that lie between the payload and a sample. The dictionary is
/// not entered. It reads headers alone, and resolves each reference to the first of equal rows, or
/// a table with duplicates would seem to have more values than it has.
fn samples(
    cx: &CheckContext<'_>,
    shape: &'static MessageLayout,
    (start, end): (usize, usize),
    each: &mut impl FnMut(usize, Attribute),
) {
    if shape.noun == Noun::Sample {
        let record = cx.peek(shape, start, end);
        for row in cx.numbers(&record, ATTRIBUTES) {
            let row = cx.tables.first_equal(Table::Attribute, row) as usize;
            let found = cx.attributes.get(row).filter(|found| found.key != Attribute::NO_KEY);
            found.into_iter().for_each(|attribute| each(row, *attribute));
        }
        return;
    }
    let on_the_way = [
        Noun::ProfilesData,
        Noun::ResourceProfiles,
        Noun::ScopeProfiles,
        Noun::Container,
        Noun::Profile,
    ];
    if on_the_way.contains(&shape.noun) {
        for (_, inner, body) in cx.shapes.messages(cx.bytes, shape, (start, end)) {
            samples(cx, inner, body, each);
        }
    }
}
