//! Samples with a value for each sample type: before 1.8, and in pprof.
//!
//! The sums of all columns are needed, as each has to end within 64 bits: readers add values up where they merge samples.
//!
//! | | since 1.8 | here |
//! |---|---|---|
//! | values belong to | timestamps | sample types |
//! | the stack is | a row | a slice (1.3 to 1.7), a list of ids (pprof) |
//! | timestamps | proved | walked |
//!
//! A sample is proved in full before anything is noted of it, as one that fails is walked from the
//! start.

use std::ops::Range;

use super::message::{Message, ShortList, Window};
use crate::check::catalogue::OP4019;
use crate::check::context::CheckContext;
use crate::check::fields::Fields;
use crate::check::findings::Position;
use crate::check::rules::pprof_samples::{RESERVED, identity_of};
use crate::schema::{LABEL, Noun, SAMPLE, Table, Version};
use crate::wire::read::Reader;
use crate::wire::write::varint_len;

/// Cells of samples up to 1.7.
const SLICE_START: usize = SAMPLE.cell("locations_start_index");
const SLICE_LENGTH: usize = SAMPLE.cell("locations_length");
const VALUES: usize = SAMPLE.cell("values");
const LINK: usize = SAMPLE.cell("link_index");
const ATTRIBUTES: usize = SAMPLE.cell("attribute_indices");

/// The values of a sample, a column each.
#[derive(Clone, Copy, Default)]
struct Values {
    /// By column; 0 behind `count`.
    values: [i64; Values::MOST],
    /// How many the sample has.
    count: usize,
}

impl Values {
    /// Samples of more columns are walked.
    ///
    /// Go's heap profiles have four.
    const MOST: usize = 8;

    /// The values in a packed field, each in its shortest form.
    ///
    /// `None` for one that is longer than it has to be, which is a finding of its own.
    #[inline(always)]
    fn of(cx: &CheckContext<'_>, body: Range<usize>) -> Option<Self> {
        let mut found = Self::default();
        let mut rest = Reader::within(cx.bytes, body.start, body.end);
        while rest.left() > 0 {
            let before = rest.left();
            let value = rest.varint().ok()?;
            let length = before - rest.left();
            (length == 1 || length == varint_len(value)).then_some(())?;
            *found.values.get_mut(found.count)? = value as i64;
            found.count += 1;
        }
        Some(found)
    }

    /// The same if there is a sum for each of them, and a value for each type.
    ///
    /// `None` as well before the first sample of a profile, which has no sums yet: it is walked and
    /// makes them.
    #[inline(always)]
    fn fitting(self, cx: &CheckContext<'_>) -> Option<Self> {
        let profile = &cx.profile;
        let fits = self.count == profile.types && self.count == profile.sums.len();
        (fits && self.count > 0).then_some(self)
    }

    /// Adds them to the sums of their columns, now that the sample is known to be fine.
    ///
    /// Infallible, and last.
    fn add_up(&self, cx: &mut CheckContext<'_>) {
        let sums = cx.profile.sums.iter_mut().zip(self.values);
        sums.for_each(|(sum, value)| *sum += i128::from(value));
    }
}

/// A sample that refers to a slice of its profile's locations.
///
/// Only start and end of the slice are compared. Labels, a list of locations in the sample and
/// timestamps are walked. In 1.3 link 0 cannot be told from none and is never written by writers
/// that leave defaults out; from 1.4 on presence counts.
#[inline(always)]
pub(super) fn sliced(cx: &mut CheckContext<'_>, message: &Message) -> Option<()> {
    let mut fields = message.short(cx)?;
    let (tags, optional) = (&message.shape.tags, cx.version > Version::V1_3);
    let (mut start, mut length) =
        (fields.exact(tags[SLICE_START]), fields.exact(tags[SLICE_LENGTH]));
    let values_at = fields.at();
    let values = fields.part(tags[VALUES])?;
    // In 1.3 they stand behind the values.
    if start == 0 && length == 0 {
        (start, length) = (fields.exact(tags[SLICE_START]), fields.exact(tags[SLICE_LENGTH]));
    }
    let attributes = fields.part(tags[ATTRIBUTES]);
    let link = fields.shortest(tags[LINK]);
    if !fields.is_done() || (link == Some(0) && !optional) {
        return None;
    }
    let values = Values::of(cx, message.within(&values))?.fitting(cx)?;
    if values.values.iter().any(|value| *value < 0) {
        return None;
    }
    let attributes = ShortList::of(cx, attributes)?;
    let fits = start.checked_add(length).is_some_and(|end| end <= cx.profile.slice);
    if length == 0 || length > cx.limits.max_stack_depth || !fits {
        return None;
    }
    if let Some(link) = link {
        cx.has(Table::Link, link)?;
        cx.tables.mark(Table::Link, link);
    }
    values.add_up(cx);
    cx.profile.ones = false;
    if values.values == [0; Values::MOST] {
        let spot = Position::at(message.start + values_at);
        let spot = spot.field(message.shape.name_of(VALUES));
        cx.tell(&OP4019, &[message.step], spot, "", "");
    }
    attributes.mark(cx);
    Some(())
}

/// Cells of pprof's samples.
const LOCATIONS: usize = SAMPLE.cell("location_index");
const LABELS: usize = SAMPLE.cell("label");

/// Samples of more labels are walked.
const MOST_LABELS: usize = 16;

/// A label: its key, and the text and the unit it has.
///
/// As rows of the string table; the number itself is of no interest.
type Label = (u64, u64, u64);

/// A sample of pprof: its locations, its values, its labels.
///
/// The only messages of any length that are proved besides stacks: a deep stack makes a long
/// sample. Labels are in an array on the stack; the largest cost is the list of ids, which is
/// proved as a whole ([`CheckContext::plain`](crate::check::context::CheckContext)).
#[inline(always)]
pub(super) fn of_pprof(cx: &mut CheckContext<'_>, message: &Message) -> Option<()> {
    let mut fields = Fields::new(cx.bytes, message.start, message.end);
    let mut next = |cell: usize| fields.again(message.shape.tags[cell]);
    let (locations, values) = (next(LOCATIONS)?, next(VALUES)?);
    let (mut bodies, mut found) = ([(0, 0); MOST_LABELS], 0);
    while let Some(body) = next(LABELS) {
        *bodies.get_mut(found)? = body;
        found += 1;
    }
    if fields.at() != message.end || found as u64 > cx.limits.max_attributes_per_item {
        return None;
    }
    let values = Values::of(cx, values.0..values.1)?.fitting(cx)?;
    let bodies = bodies.get(..found)?;
    let mut labels = [(0, 0, 0); MOST_LABELS];
    let labels = labels.get_mut(..found)?;
    read(cx, bodies, labels)?;
    let ids = cx.payload.locations.end()?;
    let depth = cx.plain(Table::Location, &(locations.0..locations.1), 1, 1..ids)?;
    if depth as u64 > cx.limits.max_stack_depth || !is_new(cx, message, locations, bodies) {
        return None;
    }
    values.add_up(cx);
    for (key, text, unit) in labels {
        [*key, *text, *unit].into_iter().for_each(|text| cx.tables.mark(Table::String, text));
    }
    bodies.iter().for_each(|(start, end)| cx.owns(Noun::Label, end - start));
    Some(())
}

/// Whether no sample of these locations and labels was met; it is now.
///
/// As [`identity_of`] of the rules sees it, from the same bytes.
#[inline(always)]
fn is_new(
    cx: &mut CheckContext<'_>,
    message: &Message,
    (start, end): (usize, usize),
    labels: &[(usize, usize)],
) -> bool {
    if !cx.profile.compares {
        return true;
    }
    let stack = cx.payload.fingerprint(cx.bytes.get(start..end).unwrap_or_default());
    let key = identity_of(cx, stack, labels.iter().copied());
    cx.profile.identities.before(key, message.row() as u32).is_none()
}

/// Cells of labels.
const KEY: usize = LABEL.cell("key_strindex");
const TEXT: usize = LABEL.cell("str_strindex");
const NUMBER: usize = LABEL.cell("num");
const UNIT: usize = LABEL.cell("num_unit_strindex");

/// Reads labels, if each has a key of its own and either a text or a number with the usual unit.
///
/// Keys are compared as rows first and as texts where rows differ. A unit is usual if it is the one
/// that its key had before; the first label of a key that has a unit is walked and sets it.
#[inline(always)]
fn read(cx: &CheckContext<'_>, bodies: &[(usize, usize)], labels: &mut [Label]) -> Option<()> {
    let shape = cx.label_shape?;
    for (row, (start, end)) in bodies.iter().enumerate() {
        let mut fields = Window::within(cx.bytes, *start, *end)?;
        let (key, text) = (fields.exact(shape.tags[KEY]), fields.exact(shape.tags[TEXT]));
        let (number, unit) = (fields.exact(shape.tags[NUMBER]), fields.exact(shape.tags[UNIT]));
        let usual = (text == 0) != (number == 0) && (text == 0 || unit == 0);
        let known = unit == 0 || cx.payload.units.get(&key) == Some(&unit);
        if !fields.is_done() || !usual || !known {
            return None;
        }
        cx.has(Table::String, text)?;
        cx.has(Table::String, unit)?;
        let name = cx.string(key).filter(|name| key > 0 && !name.is_empty())?;
        let mut before = labels.get(..row)?.iter();
        let again = before.any(|(other, ..)| {
            *other == key || cx.string(*other).is_some_and(|other| cx.memo.same(other, name))
        });
        if again || name.starts_with(RESERVED) {
            return None;
        }
        *labels.get_mut(row)? = (key, text, unit);
    }
    Some(())
}
