//! Samples.

use super::message::{Few, Message};
use crate::check::catalogue::OP4019;
use crate::check::cx::Cx;
use crate::check::findings::Spot;
use crate::check::rules::samples;
use crate::check::rules::times;
use crate::check::shape::Kind;
use crate::schema::{SAMPLE, Table};
use crate::wire::short::Short;

const STACK: u8 = SAMPLE.cell("stack_index") as u8;
const LINK: u8 = SAMPLE.cell("link_index") as u8;
const VALUES: u8 = SAMPLE.cell("values") as u8;
const TIMES: u8 = SAMPLE.cell("timestamps_unix_nano") as u8;
const ATTRIBUTES: u8 = SAMPLE.cell("attribute_indices") as u8;

/// What the values of a sample are.
#[derive(Clone, Copy, Default)]
struct Values {
    count: usize,
    sum: i64,
    all_zero: bool,
    all_one: bool,
    /// Where their field begins.
    at: usize,
}

// What is walked deep has small frames.
#[inline(never)]
pub(super) fn sample(cx: &mut Cx<'_>, message: Message) -> Option<()> {
    let mut fields = message.short(cx)?;
    let (mut stack, mut link) = (0, 0);
    let (mut attributes, mut values, mut times) = (None, Values::default(), 0);
    while !fields.is_over() {
        let at = fields.at();
        let (tag, value) = fields.exact()?;
        match message.shape.codes[usize::from(tag)] {
            STACK if stack == 0 => stack = value,
            LINK if link == 0 => link = value,
            ATTRIBUTES if attributes.is_none() => {
                attributes = Some(Few::of(cx, fields.body(value)?)?);
            }
            VALUES if values.count == 0 => values = of_values(fields.body(value)?, at)?,
            TIMES if times == 0 => times = timestamps(cx, fields.body(value)?)?,
            _ => return None,
        }
    }
    let shape = (values.count > 0, times > 0);
    let counts =
        if times > 0 { values.count == times || values.count == 0 } else { values.count == 1 };
    if !fields.is_done() || !counts || stack == 0 || cx.profile.shape != Some(shape) {
        return None;
    }
    cx.has(Table::Stack, stack)?;
    if link > 0 {
        cx.has(Table::Link, link)?;
    }
    if values.count > 0 {
        let sum = cx.profile.sums.first().copied().flatten()?.checked_add(values.sum)?;
        if cx.profile.compares && !is_new(cx, message.row(), stack, link, attributes.as_ref()) {
            return None;
        }
        cx.profile.sums[0] = Some(sum);
        cx.profile.ones &= values.all_one && times > 0;
        if values.all_zero {
            let spot = Spot::at(message.start + values.at).field("values");
            cx.tell(&OP4019, &[message.step], spot, "", "");
        }
    } else if cx.profile.compares && !is_new(cx, message.row(), stack, link, attributes.as_ref()) {
        return None;
    }
    cx.tables.mark(Table::Stack, stack);
    if link > 0 {
        cx.tables.mark(Table::Link, link);
    }
    if let Some(attributes) = attributes {
        attributes.mark(cx);
    }
    cx.owns(Kind::Sample, message.len());
    Some(())
}

/// Whether no sample of these was met; it is now.
#[inline(always)]
fn is_new(cx: &mut Cx<'_>, row: usize, stack: u64, link: u64, attributes: Option<&Few>) -> bool {
    let rows = attributes.map_or(&[][..], Few::rows);
    let mut each = rows.iter().map(|row| u64::from(*row));
    let key = samples::identity_of(cx, (stack, link), rows.len(), &mut each);
    cx.profile.identities.before(key, row as u32).is_none()
}

#[inline(always)]
fn of_values(mut body: Short<'_>, at: usize) -> Option<Values> {
    let mut values = Values { all_zero: true, all_one: true, at, ..Values::default() };
    while !body.is_over() {
        // What takes fewer than nine bytes is no negative number.
        let value = body.packed_exact()? as i64;
        values.count += 1;
        values.sum = values.sum.checked_add(value)?;
        values.all_zero &= value == 0;
        values.all_one &= value == 1;
    }
    body.is_done().then_some(values)
}

/// How many timestamps there are, if there is nothing to say of them.
#[inline(always)]
fn timestamps(cx: &Cx<'_>, mut body: Short<'_>) -> Option<usize> {
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
