//! Samples up to 1.7: one value per sample type, a slice of the profile's locations, and labels in 1.3.

use super::values::{Columns, Values, add_up};
use super::*;
use crate::check::canonical::{Message, ShortList};
use crate::check::sink::{First, Sink};

/// Cells of `Sample`.
const SLICE_START: usize = SAMPLE.cell("locations_start_index");
const SLICE_LENGTH: usize = SAMPLE.cell("locations_length");
const LOCATIONS: usize = SAMPLE.cell("location_index");
const VALUES: usize = SAMPLE.cell("values");
const TIMES: usize = SAMPLE.cell("timestamps_unix_nano");
const ATTRIBUTES: usize = SAMPLE.cell("attribute_indices");
const LINK: usize = SAMPLE.cell("link_index");
const LABELS: usize = SAMPLE.cell("label");
const STACKTRACE: usize = SAMPLE.cell("stacktrace_id_index");

/// A sample with a slice of locations.
struct SampleRow {
    start: u64,
    length: u64,
    /// The number of locations that the sample lists besides the slice.
    listed: usize,
    times: usize,
    values: Values,
}

/// Checks a sample that the walk decoded.
///
/// Without a sample type every sample would have too many values; `OP2009` reports that once. A global id of a
/// stack has 128 bits, as hex or as bytes.
pub(super) fn sample(cx: &mut CheckContext<'_>, record: &Record) {
    let sample = SampleRow {
        start: record.number(SLICE_START),
        length: record.number(SLICE_LENGTH),
        listed: record.count(LOCATIONS),
        times: record.count(TIMES),
        values: Values::of(cx.numbers(record, VALUES)),
    };
    rules(cx, &sample, record);
    add_up(cx, cx.numbers(record, VALUES).map(|value| value as i64));
    sample.values.note(cx, || ([], record.field(VALUES)));
    if record.has(LABELS) {
        cx.findings.report_folded(&OP4020, 0, record.field(LABELS), "", "");
        labels::labels(cx, record, &OP4024);
    }
    let id = record.number(STACKTRACE);
    if let Some(text) = cx.string(id).filter(|_| id > 0) {
        let is_hex = text.len() == 32 && text.iter().all(u8::is_ascii_hexdigit);
        if !is_hex && text.len() != 16 {
            cx.report(&OP4025, record.field(STACKTRACE), Shown(text), "32 hex digits");
        }
    }
}

/// Decodes and checks a canonical sample: a slice, values, attributes and a link.
///
/// The slice precedes or follows the values. In 1.3 a link of 0 is not canonical, because the field is not
/// optional.
#[inline]
pub(crate) fn canonical(cx: &mut CheckContext<'_>, message: &Message) -> Option<()> {
    let mut fields = message.fields(cx)?;
    let tags = &message.shape.tags;
    let (mut start, mut length) =
        (fields.exact(tags[SLICE_START]), fields.exact(tags[SLICE_LENGTH]));
    let values_at = fields.at();
    let values = fields.part(tags[VALUES])?;
    // No slice precedes the values: it may follow them.
    if start == 0 && length == 0 {
        (start, length) = (fields.exact(tags[SLICE_START]), fields.exact(tags[SLICE_LENGTH]));
    }
    let attributes = fields.part(tags[ATTRIBUTES]);
    let link = fields.shortest(tags[LINK]);
    if !fields.is_done() || (link == Some(0) && cx.version == Version::V1_3) {
        return None;
    }
    let columns = Columns::canonical(cx, message.within(&values))?;
    let values = Values::of(columns.iter().map(|value| value as u64));
    let attributes = ShortList::of(cx, attributes)?;
    rules(cx, &SampleRow { start, length, listed: 0, times: 0, values }, &First)?;
    if let Some(link) = link {
        cx.has(Table::Link, link)?;
        cx.tables.mark(Table::Link, link);
    }
    add_up(cx, columns.iter());
    values.note(cx, message.place(values_at, VALUES));
    attributes.mark(cx);
    Some(())
}

/// Checks that a sample has one value per sample type, and a slice within the profile's locations.
///
/// Both numbers of the slice are read as unsigned, so a negative one is out of range. An empty slice at 0 is a
/// sample without frames. The slice itself is not walked: many samples may share a long one.
#[inline]
fn rules(cx: &mut CheckContext<'_>, sample: &SampleRow, out: &impl Sink) -> Option<()> {
    let SampleRow { start, length, listed, times, values } = *sample;
    let (types, most) = (cx.profile.types, cx.profile.slice);
    if values.count != types && types > 0 {
        let found = Counted(values.count, "value");
        out.found(cx, |cx, at| cx.report(&OP4005, at.field(VALUES), found, types))?;
    }
    if times > 1 && types > 1 {
        out.found(cx, |cx, at| {
            let found = format!("{} and {}", Counted(types, "column"), Counted(times, "timestamp"));
            cx.report(&OP4018, Position::at(at.start), found, "");
        })?;
    }
    let fits = start.checked_add(length).is_some_and(|end| end <= most);
    if !fits && (length != 0 || start != 0) {
        out.found(cx, |cx, at| {
            let found = format!("at {} of length {}", start as i64, length as i64);
            let bound = format!("an end of at most {most}, the length of location_indices");
            cx.report(&OP3127, at.field(SLICE_LENGTH), found, bound);
        })?;
    }
    let deepest = cx.limits.max_stack_depth;
    if fits && length > deepest {
        let found = Counted(length as usize, "location");
        out.found(cx, |cx, at| cx.report(&OP9005, at.field(SLICE_LENGTH), found, deepest))?;
    }
    if length == 0 && listed == 0 {
        out.found(cx, |cx, at| cx.report(&OP4011, Position::at(at.start), "", ""))?;
    }
    if length != 0 && listed > 0 {
        let found = Counted(listed, "location");
        out.found(cx, |cx, at| cx.report(&OP4010, Position::at(at.start), found, ""))?;
    }
    values.rules(cx, out)
}
