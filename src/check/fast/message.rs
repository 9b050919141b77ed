//! What proving a message fine takes: where it is, what is known of tables, and short lists of attributes.

use std::fmt::Display;

use crate::check::cx::Cx;
use crate::check::findings::{Spot, Step};
use crate::check::rule::Rule;
use crate::check::rules::limits;
use crate::check::shape::{Kind, Shape};
use crate::check::state::Attribute;
use crate::schema::Table;
use crate::wire::read::Reader;
use crate::wire::short::Short;

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
    pub(super) fn short<'a>(&self, cx: &Cx<'a>) -> Option<Short<'a>> {
        Reader::within(cx.bytes, self.start, self.end).short()
    }

    pub(super) fn row(&self) -> usize {
        self.step.row.unwrap_or(0) as usize
    }

    pub(super) fn len(&self) -> usize {
        self.end - self.start
    }
}

impl Cx<'_> {
    /// Whether a row is there.
    #[inline(always)]
    pub(super) fn has(&self, table: Table, row: u64) -> Option<()> {
        (row < self.tables.len(table)).then_some(())
    }

    /// Raises a finding that is no reason to look at a message again: nearly all of them may have it.
    #[cold]
    pub(super) fn tell(
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

    pub(super) fn owns(&mut self, kind: Kind, length: usize) {
        self.payload.owned += limits::size(kind) + length as u64;
    }
}

/// Lists up to this long are compared one by one.
const FEW: usize = 8;

/// A list of references to attributes, each of another key.
#[derive(Clone, Copy, Default)]
pub(super) struct Few {
    rows: [u32; FEW],
    len: usize,
}

impl Few {
    /// The list in the body of a field, if there is nothing to say of it.
    #[inline(always)]
    pub(super) fn of(cx: &Cx<'_>, mut body: Short<'_>) -> Option<Self> {
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
    pub(super) fn rows(&self) -> &[u32] {
        self.rows.get(..self.len).unwrap_or_default()
    }

    #[inline(always)]
    pub(super) fn mark(&self, cx: &mut Cx<'_>) {
        self.rows().iter().for_each(|row| cx.tables.mark(Table::Attribute, u64::from(*row)));
    }
}
