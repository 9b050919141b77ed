//! Samples of 1.8 and later.
//!
//! A profile has one shape for all of them, which its first sample sets; so that one is walked, and the others are held
//! against it.
//!
//! ```text
//! 08 05  12 01 03  22 02 e8 07      { stack_index: 5, attribute_indices: [3], values: [1000] }      the usual: `sample`
//! 08 05  12 01 03  18 02  2a 08 …   { stack_index, attribute_indices, link_index, timestamps }      others: `any`
//! ```

use super::message::{Message, ShortList, Window};
use crate::check::catalogue::OP4019;
use crate::check::context::CheckContext;
use crate::check::findings::Position;
use crate::check::rules::samples;
use crate::check::rules::times;
use crate::schema::{SAMPLE, Table};

/// Cells of `Sample`.
const STACK: usize = SAMPLE.cell("stack_index");
const LINK: usize = SAMPLE.cell("link_index");
const VALUES: usize = SAMPLE.cell("values");
const TIMES: usize = SAMPLE.cell("timestamps_unix_nano");
const ATTRIBUTES: usize = SAMPLE.cell("attribute_indices");

/// What the values of a sample are.
#[derive(Clone, Copy, Default)]
struct Values {
    /// Where their field begins in its message.
    at: usize,
    /// How many there are.
    count: usize,
    /// Of all of them; it is added to the profile's, which has more bits.
    sum: i64,
    /// The bits that any of them has, and those in which any differs from 1.
    ///
    /// By these two a loop over values has no branch: 0 says that all are 0, or that all are 1.
    bits: u64,
    not_one: u64,
}

/// What a sample says, in the parts it is written in.
#[derive(Clone, Copy)]
struct Parts<'a> {
    /// 0 where it is not said, which is told by the walk.
    stack: u64,
    /// 0 is the null link.
    link: u64,
    /// Bodies of the lists; `None` where there is none.
    attributes: Option<Window<'a>>,
    values: Option<Values>,
    times: Option<Window<'a>>,
}

/// A sample of 1.8 and later: values and timestamps as those of the first sample of its profile.
///
/// Most have a stack, perhaps attributes, and one value: what is known not to be there costs those nothing.
#[inline(always)]
pub(super) fn sample(cx: &mut CheckContext<'_>, message: &Message) -> Option<()> {
    let mut fields = message.short(cx)?;
    let tags = &message.shape.tags;
    let stack = fields.shortest(tags[STACK])?;
    let attributes = fields.part(tags[ATTRIBUTES]);
    let at = fields.at();
    match fields.part(tags[VALUES]) {
        Some(mut one) if fields.is_done() => {
            let value = one.packed_shortest();
            one.is_done().then_some(())?;
            let sum = value as i64;
            let values = Some(Values { at, count: 1, sum, bits: value, not_one: value ^ 1 });
            prove(cx, message, Parts { stack, link: 0, attributes, values, times: None })
        }
        _ => {
            // What is pointed to does not stay in registers: of this loop that is a copy.
            let message = *message;
            any(cx, &message)
        }
    }
}

/// A sample of any parts.
///
/// 1.8 and 1.9 have other numbers for these fields, thus another order.
#[inline(never)]
fn any(cx: &mut CheckContext<'_>, message: &Message) -> Option<()> {
    let (mut fields, tags) = (message.short(cx)?, &message.shape.tags);
    let stack = fields.exact(tags[STACK]);
    let (mut attributes, mut link) = (fields.part(tags[ATTRIBUTES]), fields.exact(tags[LINK]));
    let at = fields.at();
    let (values, mut times) = (fields.part(tags[VALUES]), None);
    if !fields.is_over() {
        // In 1.8 they stand behind the values.
        if attributes.is_none() && link == 0 {
            (attributes, link) = (fields.part(tags[ATTRIBUTES]), fields.exact(tags[LINK]));
        }
        times = fields.part(tags[TIMES]);
    }
    fields.is_done().then_some(())?;
    let values = match values {
        Some(values) => Some(of_values(at, values)?),
        None => None,
    };
    prove(cx, message, Parts { stack, link, attributes, values, times })
}

/// Shows that there is nothing to say of a sample, and only then notes what it refers to.
///
/// What can fail comes first. The last of it is whether a sample of the same was met, as asking that notes this one.
///
/// Ways to fail, in this order: no stack or another shape; values that are odd; times outside the
/// profile; counts that do not fit; rows that are not there; a sum of its own past 64 bits; a sample
/// of the same.
#[inline(always)]
fn prove(cx: &mut CheckContext<'_>, message: &Message, parts: Parts<'_>) -> Option<()> {
    let Parts { stack, link, attributes, values, times } = parts;
    if stack == 0 || cx.profile.shape != Some((values.is_some(), times.is_some())) {
        return None;
    }
    let values = values.unwrap_or_default();
    let times = match times {
        Some(times) => timestamps(cx, times)?,
        None => 0,
    };
    if values.count != 1 && times == 0 || times > 0 && values.count > 0 && values.count != times {
        return None;
    }
    let attributes = ShortList::of(cx, attributes)?;
    cx.has(Table::Stack, stack)?;
    if link > 0 {
        cx.has(Table::Link, link)?;
    }
    if values.count > 0 && cx.profile.sums.is_empty() {
        return None;
    }
    if cx.profile.compares && !is_new(cx, message.row(), (stack, link), attributes) {
        return None;
    }
    if let (Some(sum), true) = (cx.profile.sums.first_mut(), values.count > 0) {
        *sum += i128::from(values.sum);
        cx.profile.ones &= values.not_one == 0 && times > 0;
        if values.bits == 0 && cx.check_zero_values {
            zeros(cx, *message, values.at);
        }
    }
    cx.tables.mark(Table::Stack, stack);
    if link > 0 {
        cx.tables.mark(Table::Link, link);
    }
    attributes.mark(cx);
    Some(())
}

/// Tells of values that are all 0.
#[cold]
fn zeros(cx: &mut CheckContext<'_>, message: Message, at: usize) {
    let spot = Position::at(message.start + at).field("values");
    cx.tell(&OP4019, &[message.step], spot, "", "");
}

/// Whether no sample of these was met; it is now.
#[inline(always)]
fn is_new(
    cx: &mut CheckContext<'_>,
    row: usize,
    refers: (u64, u64),
    attributes: ShortList<'_>,
) -> bool {
    let rows = attributes.rows();
    samples::same_before(cx, row as u32, refers, rows.len(), rows).is_none()
}

/// What the values are, if their sum is within 64 bits and each is written in fewer than nine bytes.
///
/// Negative values take ten bytes, so they end the proof: a sum of a difference is rarely asked.
#[inline(always)]
fn of_values(at: usize, mut body: Window<'_>) -> Option<Values> {
    let mut values = Values { at, ..Values::default() };
    while !body.is_over() {
        // What takes fewer than nine bytes is no negative number.
        let value = body.packed_shortest();
        values.count += 1;
        values.sum = values.sum.checked_add(value as i64)?;
        values.bits |= value;
        values.not_one |= value ^ 1;
    }
    body.is_done().then_some(values)
}

/// How many timestamps there are, if there is nothing to say of them.
///
/// Ascending, and within the range that is usual for the profile.
#[inline(always)]
fn timestamps(cx: &CheckContext<'_>, mut body: Window<'_>) -> Option<usize> {
    let (mut count, mut last) = (0, 0);
    let usual = times::usual_times(cx);
    while let Some(time) = body.fixed64() {
        if time < last || !usual.contains(&time) {
            return None;
        }
        (last, count) = (time, count + 1);
    }
    body.is_done().then_some(count)
}
