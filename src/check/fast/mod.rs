//! The usual: messages of the generations since 1.8 that make up nearly all of a payload, proved fine as a whole.
//!
//! Each function here reads a message once, in whatever order its fields come, and either shows that no rule has
//! anything to say of it, what it refers to included, and notes what other rules need to know of it; or changes
//! nothing and says so. Then it is walked as any other message is. So nothing is decided twice: what is odd is
//! told by the rules alone.

mod attributes;
mod frames;
mod samples;

use std::fmt::Display;

use super::cx::Cx;
use super::findings::{Spot, Step};
use super::rule::Rule;
use super::rules::limits;
use super::shape::{Kind, Shape};
use super::state::Attribute;
use crate::schema::Table;
use crate::wire::read::Reader;
use crate::wire::short::Short;

pub(crate) use frames::start_lines;

/// A message that may be fine.
#[derive(Clone, Copy)]
pub(crate) struct Message {
    pub(crate) shape: &'static Shape,
    /// Where it is in the message around it.
    pub(crate) step: Step,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Message {
    /// Its fields, where it is short enough.
    #[inline(always)]
    fn short<'a>(&self, cx: &Cx<'a>) -> Option<Short<'a>> {
        Reader::within(cx.bytes, self.start, self.end).short()
    }

    fn row(&self) -> usize {
        self.step.row.unwrap_or(0) as usize
    }

    fn len(&self) -> usize {
        self.end - self.start
    }
}

/// Whether there is nothing to say of a message; if so, that was all to be done with it.
#[inline(always)]
pub(crate) fn is_fine(cx: &mut Cx<'_>, message: Message) -> bool {
    let found = match message.shape.kind {
        _ if !cx.fast => return false,
        Kind::Sample => samples::sample(cx, message),
        Kind::Location => frames::location(cx, message),
        Kind::Function => frames::function(cx, message),
        Kind::Stack => frames::stack(cx, message),
        Kind::KeyValueAndUnit => attributes::entry(cx, message),
        _ => return false,
    };
    found.is_some()
}

impl Cx<'_> {
    /// Whether a row is there.
    #[inline(always)]
    fn has(&self, table: Table, row: u64) -> Option<()> {
        (row < self.tables.len(table)).then_some(())
    }

    /// Raises a finding that is no reason to look at a message again: nearly all of them may have it.
    #[cold]
    fn tell(
        &mut self,
        rule: &'static Rule,
        steps: &[Step],
        spot: Spot,
        found: impl Display,
        bound: impl Display,
    ) {
        let before = self.findings.path.len();
        self.findings.path.extend_from_slice(steps);
        self.findings.raise(rule, spot, found, bound);
        self.findings.path.truncate(before);
    }

    fn owns(&mut self, kind: Kind, length: usize) {
        self.payload.owned += limits::size(kind) + length as u64;
    }
}

/// Lists up to this long are compared one by one.
const FEW: usize = 8;

/// A list of references to attributes, each of another key.
#[derive(Clone, Copy, Default)]
struct Few {
    rows: [u32; FEW],
    len: usize,
}

impl Few {
    /// The list in the body of a field, if there is nothing to say of it.
    #[inline(always)]
    fn of(cx: &Cx<'_>, mut body: Short<'_>) -> Option<Self> {
        let mut few = Self::default();
        let mut keys = [Attribute::NO_KEY; FEW];
        while !body.is_over() {
            let row = body.packed_exact().filter(|row| *row > 0)?;
            let key = cx.attributes.get(usize::try_from(row).ok()?)?.key;
            if key == Attribute::NO_KEY || keys.get(..few.len)?.contains(&key) {
                return None;
            }
            *keys.get_mut(few.len)? = key;
            few.rows[few.len % FEW] = row as u32;
            few.len += 1;
        }
        let fits = body.is_done() && few.len as u64 <= cx.limits.max_attributes_per_item;
        fits.then_some(few)
    }

    #[inline(always)]
    fn rows(&self) -> &[u32] {
        self.rows.get(..self.len).unwrap_or_default()
    }

    #[inline(always)]
    fn mark(&self, cx: &mut Cx<'_>) {
        self.rows().iter().for_each(|row| cx.tables.mark(Table::Attribute, u64::from(*row)));
    }
}

#[cfg(test)]
mod tests;
