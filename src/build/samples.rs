//! Samples by what they are of: equal ones become one.

use std::hash::Hasher;

use crate::build::index::{Index, Seed, write_ids};
use crate::build::room::{Full, Room, column};
use crate::model::id::{AttributeId, LinkId, StackId};
use crate::model::ragged::Ragged;
use crate::model::samples::Samples;

/// What makes two samples the same one: the stack, the set of attributes (sorted) and the link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity<'a> {
    pub(crate) stack: StackId,
    pub(crate) attributes: &'a [AttributeId],
    pub(crate) link: LinkId,
}

/// The three shapes a profile's samples can have; all of one profile have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Values, added up.
    Totals,
    /// Timestamps, each counting 1.
    Events,
    /// Timestamps, each with its values.
    Series,
}

impl Shape {
    pub(crate) const ALL: [Self; 3] = [Self::Totals, Self::Events, Self::Series];
}

/// The samples of one shape of one profile.
///
/// Totals are added up where the model keeps them. Timestamps come in any order of samples, so they
/// are noted one after the other and dealt out to their samples in the end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lane {
    pub(crate) samples: Samples,
    index: Index,
    ticks: Vec<Tick>,
    /// Of a series: the values of each tick, end to end.
    tick_values: Vec<i64>,
}

/// One timestamp of a sample.
#[derive(Clone, Copy, Debug)]
struct Tick {
    sample: u32,
    unix_nano: u64,
}

impl Lane {
    /// Forgets everything, keeps the memory.
    pub(crate) fn clear(&mut self) {
        let Samples { stacks, links, attributes, values, timestamps, stacktrace_ids } =
            &mut self.samples;
        stacks.clear();
        links.get_mut().into_iter().for_each(Vec::clear);
        attributes.clear();
        values.clear();
        timestamps.get_mut().into_iter().for_each(Ragged::clear);
        stacktrace_ids.get_mut().into_iter().for_each(Vec::clear);
        self.index.clear();
        self.ticks.clear();
        self.tick_values.clear();
    }

    /// The row of a sample, if it was seen.
    #[inline]
    pub(crate) fn find(&self, hash: u64, identity: Identity<'_>) -> Option<u32> {
        let samples = &self.samples;
        self.index.find(hash, |row| {
            let row = row as usize;
            samples.stacks[row] == identity.stack
                && samples.link(row) == identity.link
                && samples.attributes.row(row) == identity.attributes
        })
    }

    /// Makes room for a sample that was not seen, where there are `rows` in all profiles.
    #[cold]
    pub(crate) fn make_room(
        &self,
        room: &mut Room,
        rows: usize,
        identity: Identity<'_>,
        values: usize,
    ) -> Result<(), Full> {
        column(self.samples.attributes.items.len(), identity.attributes.len())?;
        column(self.samples.values.items.len(), values)?;
        let ids = 3 * size_of::<u32>() + size_of_val(identity.attributes);
        room.sample(rows, ids + values * size_of::<i64>())
    }

    /// Adds a sample that was not seen.
    #[cold]
    pub(crate) fn add(&mut self, hash: u64, identity: Identity<'_>) -> u32 {
        let samples = &mut self.samples;
        let row = samples.stacks.len();
        samples.stacks.push(identity.stack);
        samples.attributes.push_at(row, identity.attributes);
        if identity.link != LinkId::NONE {
            samples.links.resize(row, LinkId::NONE);
            samples.links.push(identity.link);
        }
        self.index.add(hash, row as u32);
        row as u32
    }

    /// Adds values to the totals of a sample.
    #[inline]
    pub(crate) fn add_values(&mut self, row: u32, values: &[i64]) {
        let start = row as usize * values.len();
        let totals = &mut self.samples.values.items;
        if let Some(totals) = totals.get_mut(start..start + values.len()) {
            for (total, value) in totals.iter_mut().zip(values) {
                *total = total.saturating_add(*value);
            }
        } else {
            totals.extend_from_slice(values);
            self.samples.values.end_row();
        }
    }

    /// Makes room for timestamps, each with values.
    #[inline]
    pub(crate) fn make_room_for_ticks(
        &self,
        room: &mut Room,
        times: usize,
        values: usize,
    ) -> Result<(), Full> {
        column(self.ticks.len(), times)?;
        column(self.tick_values.len(), times.saturating_mul(values))?;
        room.bytes(times * (size_of::<Tick>() + values * size_of::<i64>()))
    }

    /// Notes when a sample was seen, each time with the same values.
    #[inline]
    pub(crate) fn add_ticks(&mut self, row: u32, times: &[u64], values: &[i64]) {
        for &unix_nano in times {
            self.ticks.push(Tick { sample: row, unix_nano });
            self.tick_values.extend_from_slice(values);
        }
    }

    /// The first and the last timestamp.
    pub(crate) fn span(&self) -> Option<(u64, u64)> {
        let times = self.ticks.iter().map(|tick| tick.unix_nano);
        Some((times.clone().min()?, times.max()?))
    }

    /// Deals the timestamps out to their samples, each sample's in order, and of the values that
    /// came with each of them, `columns` in number, those of column `column`.
    pub(crate) fn deal(&mut self, columns: usize, column: usize) {
        let order = self.order();
        let Samples { stacks, timestamps, values, .. } = &mut self.samples;
        timestamps.clear();
        values.clear();
        let mut ticks = order.iter().peekable();
        for row in 0..stacks.len() as u32 {
            while let Some(&at) = ticks.next_if(|at| self.ticks[**at as usize].sample == row) {
                timestamps.items.push(self.ticks[at as usize].unix_nano);
                values.items.extend(self.tick_values.get(at as usize * columns + column));
            }
            timestamps.end_row();
            values.end_row();
        }
        if values.items.is_empty() {
            values.clear();
        }
    }

    /// The ticks by sample, then time, then as they came: a counting sort by sample, because there
    /// are many ticks to a sample and those of one mostly come in order.
    fn order(&self) -> Vec<u32> {
        let mut next = vec![0u32; self.samples.stacks.len() + 1];
        for tick in &self.ticks {
            next[tick.sample as usize + 1] += 1;
        }
        for row in 1..next.len() {
            next[row] += next[row - 1];
        }
        let starts = next.clone();
        let mut order = vec![0; self.ticks.len()];
        for (at, tick) in self.ticks.iter().enumerate() {
            let place = &mut next[tick.sample as usize];
            order[*place as usize] = at as u32;
            *place += 1;
        }
        let time = |at: &u32| self.ticks[*at as usize].unix_nano;
        for row in starts.windows(2) {
            let of_sample = &mut order[row[0] as usize..row[1] as usize];
            if !of_sample.is_sorted_by_key(time) {
                of_sample.sort_by_key(time);
            }
        }
        order
    }

    /// Calls `f` with each sample and each of its occurrences: the totals, or one timestamp and what
    /// came with it.
    pub(crate) fn for_each(&self, columns: usize, mut f: impl FnMut(Identity<'_>, &[i64], &[u64])) {
        let samples = &self.samples;
        let identity = |row: usize| Identity {
            stack: samples.stacks[row],
            attributes: samples.attributes.row(row),
            link: samples.link(row),
        };
        for (row, values) in samples.values.rows().enumerate() {
            f(identity(row), values, &[]);
        }
        for (at, tick) in self.ticks.iter().enumerate() {
            let values = self.tick_values.get(at * columns..(at + 1) * columns).unwrap_or_default();
            f(identity(tick.sample as usize), values, &[tick.unix_nano]);
        }
    }
}

/// One multiplication for up to two attributes.
#[inline]
pub(crate) fn identity_hash(seed: &Seed, identity: Identity<'_>) -> u64 {
    let mut hasher = seed.hasher();
    let (near, far) = match identity.attributes {
        [] => (0, 0),
        [one] => (one.0, 0),
        [one, two] => (one.0, two.0),
        more => {
            write_ids(&mut hasher, more);
            (0, 0)
        }
    };
    let low = u64::from(identity.stack.0) | u64::from(near) << 32;
    let high = u64::from(identity.link.0) | u64::from(far) << 32;
    hasher.write_u128(u128::from(high) << 64 | u128::from(low));
    hasher.finish()
}
