//! Samples and their labels, in pprof.
//!
//! By now the facts that samples are checked against are known: the number of sample types from the profile, and
//! the ids of locations from their table. Samples with the same locations and labels are found by a fingerprint of
//! both.
//!
//! ```text
//! sample { location_id: [3, 1, 2], value: [1, 10], label: {key: 4, str: 7} }
//!          each an id that is there   one for each type     one of str and num
//! ```

use super::values::{Columns, add_up};
use super::*;
use crate::check::canonical::Message;
use crate::check::sink::{First, Sink};
use crate::wire::write::varint;

/// Cells of `Sample`.
const LOCATIONS: usize = SAMPLE.cell("location_index");
const VALUES: usize = SAMPLE.cell("values");
const LABELS: usize = SAMPLE.cell("label");

/// Samples with more labels are walked.
const MOST_LABELS: usize = 16;

/// Checks a sample that the walk decoded.
///
/// Resolves ids one by one and counts them as used.
pub(crate) fn sample(cx: &mut CheckContext<'_>, record: &Record) {
    for (row, id) in cx.numbers(record, LOCATIONS).enumerate() {
        match cx.payload.locations.row(id) {
            Some(found) => cx.tables.mark(Table::Location, found),
            None => {
                let spot = cx.element(&PP1004, record, LOCATIONS, row);
                cx.report(&PP1004, spot, id, "");
            }
        }
    }
    if record.has(LABELS) {
        labels::labels(cx, record, &PP1018);
    }
    let types = cx.profile.types;
    add_up(cx, cx.numbers(record, VALUES).take(types).map(|value| value as i64));
    rules(cx, record.count(VALUES), record.count(LOCATIONS), record);
    if cx.profile.compares {
        let stack = stack_of(cx, record);
        let key = identity_of(cx, stack, attributes::bodies(cx, record, LABELS));
        is_new(cx, key, cx.row(), record);
    }
}

/// Decodes and checks a canonical sample: a list of locations, one of values, and labels.
#[inline]
pub(crate) fn canonical(cx: &mut CheckContext<'_>, message: &Message) -> Option<()> {
    let mut fields = Fields::new(cx.bytes, message.start, message.end);
    let mut next = |cell: usize| fields.again(message.shape.tags[cell]);
    let (locations, values) = (next(LOCATIONS)?, next(VALUES)?);
    let (mut bodies, mut count) = ([(0, 0); MOST_LABELS], 0);
    while let Some(body) = next(LABELS) {
        *bodies.get_mut(count)? = body;
        count += 1;
    }
    if fields.at() != message.end || count as u64 > cx.limits.max_attributes_per_item {
        return None;
    }
    let columns = Columns::canonical(cx, values)?;
    let bodies = bodies.get(..count)?;
    let mut labels = [labels::Texts::default(); MOST_LABELS];
    let labels = labels.get_mut(..count)?;
    labels::canonical(cx, bodies, labels)?;
    let ids = cx.payload.locations.end()?;
    // Ids count from 1, so every number below the end is a location.
    let depth = cx.plain(Table::Location, &(locations.0..locations.1), 1, 1..ids)?;
    rules(cx, columns.iter().len(), depth, &First)?;
    if cx.profile.compares {
        let packed = cx.bytes.get(locations.0..locations.1).unwrap_or_default();
        let stack = cx.payload.fingerprint(packed);
        let key = identity_of(cx, stack, bodies.iter().copied());
        is_new(cx, key, message.row(), &First)?;
    }
    // All checks passed: count the values and the uses.
    add_up(cx, columns.iter());
    for (key, text, unit) in labels {
        [*key, *text, *unit].into_iter().for_each(|text| cx.tables.mark(Table::String, text));
    }
    bodies.iter().for_each(|(start, end)| cx.owns(MessageKind::Label, end - start));
    Some(())
}

/// Checks that a sample has one value per sample type, and some locations but no more than the limit.
#[inline]
fn rules(cx: &mut CheckContext<'_>, values: usize, depth: usize, out: &impl Sink) -> Option<()> {
    let (types, most) = (cx.profile.types, cx.limits.max_stack_depth);
    if values != types && types > 0 {
        let found = Counted(values, "value");
        out.found(cx, |cx, at| cx.report(&PP1003, at.field(VALUES), found, types))?;
    }
    if depth == 0 {
        out.found(cx, |cx, at| cx.report(&PP1033, Position::at(at.start), "", ""))?;
    }
    if depth as u64 > most {
        let found = Counted(depth, "location");
        out.found(cx, |cx, at| cx.report(&OP9005, at.field(LOCATIONS), found, most))?;
    }
    Some(())
}

/// Checks that no earlier sample has the same locations and labels.
///
/// Called only if `PP1032` is enabled: it fingerprints each sample and stores 16 bytes for it.
#[inline]
fn is_new(cx: &mut CheckContext<'_>, key: u128, row: usize, out: &impl Sink) -> Option<()> {
    if let Some(first) = cx.profile.identities.before(key, row as u32) {
        out.found(cx, |cx, at| cx.report(&PP1032, Position::at(at.start), "", first))?;
    }
    Some(())
}

/// Fingerprints the locations of a sample as one packed list: google/pprof writes lists of one or two unpacked.
fn stack_of(cx: &mut CheckContext<'_>, record: &Record) -> u128 {
    if record.get(LOCATIONS).is_none_or(|cell| cell.times == 1 && cell.end > 0) {
        let packed = cx.body(record, LOCATIONS);
        return cx.payload.fingerprint(packed);
    }
    let mut stack = std::mem::take(&mut cx.scratch);
    stack.clear();
    cx.numbers(record, LOCATIONS).for_each(|id| varint(&mut stack, id));
    let print = cx.payload.fingerprint(&stack);
    cx.scratch = stack;
    print
}

/// The key of a sample: the fingerprint of its locations and its labels.
///
/// The fingerprints of labels are added: their order does not matter, since google/pprof sorts them, and two equal
/// labels do not cancel out. The locations' fingerprint is rotated, so that it cannot be confused with that of a
/// label.
#[inline]
fn identity_of(
    cx: &mut CheckContext<'_>,
    stack: u128,
    labels: impl Iterator<Item = (usize, usize)>,
) -> u128 {
    let bytes = cx.bytes;
    let mut print = stack.rotate_left(64);
    for (start, end) in labels {
        let label = bytes.get(start..end).unwrap_or_default();
        print = print.wrapping_add(cx.payload.fingerprint(label));
    }
    print
}
