//! Samples since 1.8: values and timestamps pair up, all samples of a profile have the same shape, and no two share
//! their identity.
//!
//! The rules of a sample need three facts about its profile: the time range, the shape of the first sample and the
//! sum so far. Samples with the same stack, attributes and link are found by a key of 128 bits.

use super::values::Values;
use super::*;
use crate::check::canonical::{Message, Place, ShortList, Window};
use crate::check::sink::{First, Sink};

/// Cells of `Sample`.
const STACK: usize = SAMPLE.cell("stack_index");
const LINK: usize = SAMPLE.cell("link_index");
const VALUES: usize = SAMPLE.cell("values");
const TIMES: usize = SAMPLE.cell("timestamps_unix_nano");
const ATTRIBUTES: usize = SAMPLE.cell("attribute_indices");

/// A decoded sample.
#[derive(Clone, Copy)]
struct SampleRow {
    /// 0 if the sample has no stack; the same for `link`.
    stack: u64,
    link: u64,
    values: Values,
    times: usize,
}

impl SampleRow {
    /// Whether the sample has values, and whether it has timestamps.
    // Always inlined. Without any in the library, validating takes up to 28 % more instructions.
    #[inline(always)]
    fn shape(&self) -> (bool, bool) {
        (self.values.count > 0, self.times > 0)
    }
}

/// Checks a sample of any generation of OTLP. Before 1.8 a value belongs to a sample type, since then to a
/// timestamp.
pub(crate) fn sample(cx: &mut CheckContext<'_>, record: &Record) {
    lists::unique(cx, record, ATTRIBUTES);
    if cx.version < Version::V1_8 {
        sliced::sample(cx, record);
    } else {
        let values = Values::of(cx.numbers(record, VALUES));
        let (stack, link) = (record.number(STACK), record.number(LINK));
        let sample = SampleRow { stack, link, values, times: record.count(TIMES) };
        let attributes = (record.count(ATTRIBUTES), cx.numbers(record, ATTRIBUTES));
        rules(cx, &sample, cx.row(), attributes, record);
        note(cx, &sample, || ([], record.field(VALUES)));
    }
    if record.has(TIMES) {
        times::timestamps(cx, record);
    }
}

/// Decodes and checks a canonical sample. Most have a stack, perhaps attributes, and one value: this path decodes
/// no other field.
#[inline(always)]
pub(crate) fn canonical(cx: &mut CheckContext<'_>, message: &Message) -> Option<()> {
    let mut fields = message.fields(cx)?;
    let tags = &message.shape.tags;
    let stack = fields.shortest(tags[STACK])?;
    let attributes = fields.part(tags[ATTRIBUTES]);
    let at = fields.at();
    match fields.part(tags[VALUES]) {
        Some(mut one) if fields.is_done() => {
            let values = Values::default().and(one.packed_shortest());
            one.is_done().then_some(())?;
            let sample = SampleRow { stack, link: 0, values, times: 0 };
            pass(cx, message, sample, attributes, at)
        }
        _ => {
            // Passing the address of the loop's variable would force it to memory.
            let message = *message;
            any(cx, &message)
        }
    }
}

/// Decodes and checks a canonical sample with any fields.
///
/// 1.8 and 1.9 number these fields differently and so write them in another order.
#[inline(never)]
fn any(cx: &mut CheckContext<'_>, message: &Message) -> Option<()> {
    let (mut fields, tags) = (message.fields(cx)?, &message.shape.tags);
    let stack = fields.exact(tags[STACK]);
    let (mut attributes, mut link) = (fields.part(tags[ATTRIBUTES]), fields.exact(tags[LINK]));
    let at = fields.at();
    let (values, mut times) = (fields.part(tags[VALUES]), None);
    // Rare fields, in the order of either numbering.
    if !fields.is_over() {
        // In 1.8 attributes and link follow the values.
        if attributes.is_none() && link == 0 {
            (attributes, link) = (fields.part(tags[ATTRIBUTES]), fields.exact(tags[LINK]));
        }
        times = fields.part(tags[TIMES]);
    }
    fields.is_done().then_some(())?;
    let values = values.map_or(Some(Values::default()), canonical_values)?;
    let times = times.map_or(Some(0), |times| canonical_times(cx, times))?;
    pass(cx, message, SampleRow { stack, link, values, times }, attributes, at)
}

/// Decodes values in their shortest form, each under nine bytes: so no value is negative.
#[inline(always)]
fn canonical_values(mut body: Window<'_>) -> Option<Values> {
    let mut values = Values::default();
    while !body.is_over() {
        values = values.and(body.packed_shortest());
    }
    body.is_done().then_some(values)
}

/// Counts the timestamps, provided that all are within the usual range and ascending.
#[inline(always)]
fn canonical_times(cx: &CheckContext<'_>, mut body: Window<'_>) -> Option<usize> {
    let mut times = times::Times::new(cx);
    while let Some(time) = body.fixed64() {
        times.add(time);
    }
    (body.is_done() && times.are_usual && times.are_sorted).then_some(times.count)
}

/// Checks a decoded sample and marks the rows that it refers to.
#[inline(always)]
fn pass(
    cx: &mut CheckContext<'_>,
    message: &Message,
    sample: SampleRow,
    attributes: Option<Window<'_>>,
    values_at: usize,
) -> Option<()> {
    let attributes = ShortList::of(cx, attributes)?;
    let SampleRow { stack, link, .. } = sample;
    cx.has(Table::Stack, stack)?;
    if link > 0 {
        cx.has(Table::Link, link)?;
    }
    // The first sample of a profile is left to the walk, which records the shape and the sum.
    if cx.profile.shape.is_none() || (sample.values.count > 0 && cx.profile.sums.is_empty()) {
        return None;
    }
    let rows = attributes.rows();
    rules(cx, &sample, message.row(), (rows.len(), rows), &First)?;
    note(cx, &sample, message.place(values_at, VALUES));
    cx.tables.mark(Table::Stack, stack);
    if link > 0 {
        cx.tables.mark(Table::Link, link);
    }
    attributes.mark(cx);
    Some(())
}

/// Checks that a sample has a stack, has values or timestamps in the shape of the profile's first sample, and
/// differs in identity from all others.
#[inline(always)]
fn rules(
    cx: &mut CheckContext<'_>,
    sample: &SampleRow,
    row: usize,
    (count, attributes): (usize, impl Iterator<Item = u64>),
    out: &impl Sink,
) -> Option<()> {
    let (values, times, shape) = (sample.values.count, sample.times, sample.shape());
    if shape == (false, false) {
        out.found(cx, |cx, at| cx.report(&OP4001, Position::at(at.start), "", ""))?;
    } else if let Some(first) = cx.profile.shape.filter(|first| *first != shape) {
        out.found(cx, |cx, at| {
            cx.report(&OP4004, Position::at(at.start), shape_name(shape), shape_name(first));
        })?;
    }
    if values > 0 && times > 0 && values != times {
        out.found(cx, |cx, at| {
            let (values, times) = (Counted(values, "value"), Counted(times, "timestamp"));
            let found = format!("{values} and {times}");
            cx.report(&OP4002, Position::at(at.start), found, "equal numbers");
        })?;
    }
    if values > 1 && times == 0 {
        let found = Counted(values, "value");
        out.found(cx, |cx, at| cx.report(&OP4003, at.field(VALUES), found, ""))?;
    }
    if sample.stack == 0 {
        out.found(cx, |cx, at| cx.report(&OP4007, at.field(STACK), "", ""))?;
    }
    sample.values.rules(cx, out)?;
    // Last, because it records the sample: a message that fails later would be walked and meet itself.
    if cx.profile.compares
        && let Some(first) =
            same_before(cx, row as u32, (sample.stack, sample.link), count, attributes)
    {
        out.found(cx, |cx, at| cx.report(&OP4006, Position::at(at.start), "", first))?;
    }
    Some(())
}

/// Adds a sample to the facts about its profile: the first shape, and the sum of all values.
#[inline(always)]
fn note(cx: &mut CheckContext<'_>, sample: &SampleRow, place: impl Place) {
    let (values, shape) = (sample.values, sample.shape());
    if shape != (false, false) {
        cx.profile.shape.get_or_insert(shape);
    }
    if values.count > 0 {
        match cx.profile.sums.first_mut() {
            Some(sum) => *sum += values.sum,
            None => cx.profile.sums.push(values.sum),
        }
        cx.profile.ones &= values.are_one() && sample.times > 0;
    }
    values.note(cx, place);
}

/// Names a sample's shape in findings: whether it has values, and timestamps.
fn shape_name((values, times): (bool, bool)) -> &'static str {
    match (values, times) {
        (true, true) => "values and timestamps",
        (true, false) => "values alone",
        (false, true) => "timestamps alone",
        (false, false) => "nothing",
    }
}

/// Returns the earlier sample with the same stack, link and attributes, if any, and records this one.
///
/// Most stacks have one sample in a profile. So the first sample of a stack is found by its stack, and the others
/// by their keys.
#[inline(always)]
fn same_before(
    cx: &mut CheckContext<'_>,
    row: u32,
    (stack, link): (u64, u64),
    count: usize,
    attributes: impl Iterator<Item = u64>,
) -> Option<u32> {
    let stack = cx.tables.first_equal(Table::Stack, stack);
    let key = identity_of(cx, (stack, link), count, attributes);
    let (met, before) = (&mut cx.profile.identities, cx.profile.samples_before + 1);
    match cx.payload.first_samples.get_mut(stack as usize) {
        // From an earlier profile, or 0: nothing has to be reset between profiles.
        Some(first) if *first < before => {
            *first = before + row;
            met.keep(key, row);
            None
        }
        // Not below `before`, which the arm above has excluded.
        Some(first) if met.is(*first - before, key) => Some(*first - before),
        _ => met.before(key, row),
    }
}

/// The key of a stack, a link and a set of attributes: the same for equal rows.
///
/// Three encodings that cannot collide by accident: without attributes, 64 bits of rows; with one attribute, its
/// row above them and bit 120; with several, a fingerprint of the sorted rows and bit 127. Attributes are a set,
/// hence the sort. The buffers are reused, because this runs for every sample.
#[inline(always)]
fn identity_of(
    cx: &mut CheckContext<'_>,
    (stack, link): (u64, u64),
    count: usize,
    mut attributes: impl Iterator<Item = u64>,
) -> u128 {
    let link = cx.tables.first_equal(Table::Link, link);
    let key = u128::from(stack) << 32 | u128::from(link & 0xffff_ffff);
    match count {
        0 => key,
        1 => {
            let only = cx.tables.first_equal(Table::Attribute, attributes.next().unwrap_or(0));
            key | u128::from(only & 0xffff_ffff) << 64 | 1 << 120
        }
        _ => {
            let mut set = std::mem::take(&mut cx.set);
            set.clear();
            set.extend(attributes.map(|row| cx.tables.first_equal(Table::Attribute, row)));
            set.sort_unstable();
            cx.scratch.clear();
            cx.scratch.extend(set.iter().flat_map(|row| row.to_le_bytes()));
            cx.set = set;
            key ^ (cx.payload.fingerprint(&cx.scratch) | 1 << 127)
        }
    }
}
