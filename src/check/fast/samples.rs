//! Samples.

use super::message::{Few, Message, Window, mark};
use crate::check::catalogue::OP4019;
use crate::check::cx::Cx;
use crate::check::findings::Spot;
use crate::check::rules::samples;
use crate::check::rules::times;
use crate::check::shape::Kind;
use crate::schema::{SAMPLE, Table};

const STACK: usize = SAMPLE.cell("stack_index");
const LINK: usize = SAMPLE.cell("link_index");
const VALUES: usize = SAMPLE.cell("values");
const TIMES: usize = SAMPLE.cell("timestamps_unix_nano");
const ATTRIBUTES: usize = SAMPLE.cell("attribute_indices");

/// What the values of a sample are.
#[derive(Clone, Copy, Default)]
struct Values {
    count: usize,
    sum: i64,
    all_zero: bool,
    all_one: bool,
}

/// What a sample says, in the parts it is written in.
struct Parts<'a> {
    stack: u64,
    link: u64,
    attributes: Option<Window<'a>>,
    values: Option<Window<'a>>,
    /// Where the field of its values begins.
    values_at: usize,
    times: Option<Window<'a>>,
}

impl<'a> Parts<'a> {
    /// The parts of a sample that has a stack and nothing else.
    #[inline(always)]
    fn of(cx: &Cx<'a>, message: &Message) -> Option<Self> {
        let mut fields = message.short(cx)?;
        let tags = &message.shape.tags;
        let stack = fields.exact(tags[STACK]);
        let (mut attributes, mut link) = (fields.part(tags[ATTRIBUTES]), fields.exact(tags[LINK]));
        let values_at = fields.at();
        let values = fields.part(tags[VALUES]);
        // In 1.8 they stand behind the values.
        if attributes.is_none() && link == 0 {
            (attributes, link) = (fields.part(tags[ATTRIBUTES]), fields.exact(tags[LINK]));
        }
        let times = fields.part(tags[TIMES]);
        let found = Self { stack, link, attributes, values, values_at, times };
        (fields.is_done() && stack > 0).then_some(found)
    }
}

/// A sample of 1.8 and later: values and timestamps as those of the first sample of its profile.
#[inline(always)]
pub(super) fn sample(cx: &mut Cx<'_>, message: &Message) -> Option<()> {
    let Parts { stack, link, attributes, values, values_at, times } = Parts::of(cx, message)?;
    if cx.profile.shape != Some((values.is_some(), times.is_some())) {
        return None;
    }
    let values = values.map_or(Some(Values::default()), of_values)?;
    let times = times.map_or(Some(0), |times| timestamps(cx, times))?;
    let of_times = times > 0 && (values.count == times || values.count == 0);
    if !of_times && (times > 0 || values.count != 1) {
        return None;
    }
    let few = Few::of(cx, attributes)?;
    let attributes = few.rows();
    cx.has(Table::Stack, stack)?;
    if link > 0 {
        cx.has(Table::Link, link)?;
    }
    let sum = match values.count {
        0 => None,
        _ => Some(cx.profile.sums.first().copied().flatten()?.checked_add(values.sum)?),
    };
    if cx.profile.compares && !is_new(cx, message.row(), (stack, link), attributes) {
        return None;
    }
    if sum.is_some() {
        cx.profile.sums[0] = sum;
        cx.profile.ones &= values.all_one && times > 0;
        if values.all_zero {
            let spot = Spot::at(message.start + values_at).field("values");
            cx.tell(&OP4019, &[message.step], spot, "", "");
        }
    }
    cx.tables.mark(Table::Stack, stack);
    if link > 0 {
        cx.tables.mark(Table::Link, link);
    }
    mark(cx, attributes);
    cx.owns(Kind::Sample, message.len());
    Some(())
}

/// Whether no sample of these was met; it is now.
#[inline(always)]
fn is_new(cx: &mut Cx<'_>, row: usize, refers: (u64, u64), attributes: &[u32]) -> bool {
    let mut each = attributes.iter().map(|row| u64::from(*row));
    let key = samples::identity_of(cx, refers, attributes.len(), &mut each);
    cx.profile.identities.before(key, row as u32).is_none()
}

/// What the values are, if their sum is within 64 bits and each is written in fewer than nine bytes.
#[inline(always)]
fn of_values(mut body: Window<'_>) -> Option<Values> {
    let mut values = Values { count: 0, sum: 0, all_zero: true, all_one: true };
    while !body.is_over() {
        // What takes fewer than nine bytes is no negative number.
        let value = body.packed_shortest() as i64;
        values.count += 1;
        values.sum = values.sum.checked_add(value)?;
        values.all_zero &= value == 0;
        values.all_one &= value == 1;
    }
    body.is_done().then_some(values)
}

/// How many timestamps there are, if there is nothing to say of them.
#[inline(always)]
fn timestamps(cx: &Cx<'_>, mut body: Window<'_>) -> Option<usize> {
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
