//! What proving a message fine takes: where it is, what is known of tables, and short lists of attributes.

use std::fmt::Display;

use crate::check::cx::Cx;
use crate::check::findings::{Spot, Step};
use crate::check::rule::Rule;
use crate::check::rules::limits;
use crate::check::shape::{Kind, Shape};
use crate::check::state::Attribute;
use crate::schema::{Table, Version};
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

    /// The row of a reference from one row of a table to another; pprof's are ids.
    #[inline(always)]
    pub(super) fn row_of(&self, table: Table, reference: u64) -> Option<u64> {
        match self.version {
            Version::Pprof => self.payload.ids_of(table)?.row(reference),
            _ => self.has(table, reference).map(|()| reference),
        }
    }

    /// Whether there is nothing to say of the id of a row.
    #[inline(always)]
    pub(super) fn is_usual_id(&self, table: Table, row: usize, id: u64) -> bool {
        let row = row as u64;
        self.version != Version::Pprof || (id == row + 1 && self.row_of(table, id) == Some(row))
    }

    pub(super) fn owns(&mut self, kind: Kind, length: usize) {
        self.payload.owned += limits::size(kind) + length as u64;
    }
}

/// Whether the fields of a message come by number.
#[derive(Clone, Copy)]
pub(super) struct Order {
    last: u8,
    pub(super) is_kept: bool,
}

impl Order {
    pub(super) const NEW: Self = Self { last: 0, is_kept: true };

    #[inline(always)]
    pub(super) fn next(&mut self, tag: u8) {
        self.is_kept &= tag >= self.last;
        self.last = tag;
    }
}

/// Lists up to this long are compared one by one.
const FEW: usize = 8;

/// A list of references to attributes, each of another key.
#[derive(Clone, Copy, Default)]
pub(super) struct Few {
    rows: [u32; FEW],
    len: usize,
    /// Whether a later row comes before an earlier one.
    unsorted: bool,
}

impl Few {
    /// The list in the body of a field, if there is nothing to say of it.
    #[inline(always)]
    pub(super) fn of(cx: &Cx<'_>, mut body: Short<'_>) -> Option<Self> {
        let mut few = Self::default();
        let mut keys = [Attribute::NO_KEY; FEW];
        while !body.is_over() {
            let row = body.packed_exact().filter(|row| *row > 0 || cx.version < Version::V1_8)?;
            let key = cx.attributes.get(usize::try_from(row).ok()?)?.key;
            if key == Attribute::NO_KEY || keys.get(..few.len)?.contains(&key) {
                return None;
            }
            *keys.get_mut(few.len)? = key;
            few.unsorted |= few.rows().last().is_some_and(|last| *last > row as u32);
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
    pub(super) fn is_sorted(&self) -> bool {
        !self.unsorted
    }

    #[inline(always)]
    pub(super) fn mark(&self, cx: &mut Cx<'_>) {
        self.rows().iter().for_each(|row| cx.tables.mark(Table::Attribute, u64::from(*row)));
    }
}
