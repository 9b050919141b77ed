//! Deduplicates samples by identity: equal ones become one.
//!
//! [`SampleColumns`] holds the samples of one shape. A profile has three of them, of which it usually uses one. A hash table
//! over the columns themselves finds a sample by its identity, so a repeated sample takes no memory.
//!
//! ```text
//! totals    stacks, attributes, links │ values, added up in place
//! events    stacks, attributes, links │ ticks (sample, time), in order of arrival
//! series    as events, and the values of each tick, end to end ─ group ─► rows of times and values
//! ```

use std::collections::BTreeMap;
use std::hash::Hasher;

use crate::model::id::{AttributeId, LinkId, StackId};
use crate::model::ragged::Ragged;
use crate::model::row_index::RowIndex;
use crate::model::samples::Samples;
use crate::tables::rows::budget::{BuilderBudget, Full, column};
use crate::tables::rows::interner::Interner;
use crate::tables::rows::seed::{Seed, write_ids};

/// The identity of a sample: the stack, the set of attributes (sorted) and the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity<'a> {
    pub(crate) stack: StackId,
    pub(crate) attributes: &'a [AttributeId],
    pub(crate) link: LinkId,
}

impl<'a> Identity<'a> {
    /// Returns the identity of an existing sample.
    #[inline]
    pub(crate) fn of(samples: &'a Samples, row: usize) -> Self {
        let (stack, attributes) = (samples.stacks[row], samples.attributes.row(row));
        Self { stack, attributes, link: samples.link(row) }
    }
}

/// The data of one occurrence of a sample: values, their corrections by upscaling, and times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured<'a> {
    /// One for each sample type, or empty.
    pub(crate) values: &'a [i64],
    /// Empty, or one for each value.
    pub(crate) corrections: &'a [f64],
    /// Nanoseconds since 1970.
    pub(crate) times: &'a [u64],
}

/// The three possible shapes of a profile's samples. All samples of a profile have the same shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Values, which are added up.
    Totals,
    /// Timestamps without values; each counts 1.
    Events,
    /// Timestamps with values for each.
    Series,
}

impl Shape {
    /// All shapes. Their discriminants index `OpenProfile::shapes`.
    pub(crate) const ALL: [Self; 3] = [Self::Totals, Self::Events, Self::Series];
}

impl Measured<'_> {
    /// Returns the shape of the occurrence.
    #[inline]
    pub(crate) fn shape(&self) -> Shape {
        match (self.times, self.values) {
            ([], _) => Shape::Totals,
            (_, []) => Shape::Events,
            _ => Shape::Series,
        }
    }
}

/// The samples of one shape in one profile.
///
/// Totals are added up in the columns of the model. Timestamps arrive for samples in any order, so they are
/// appended to one list, and [`group_timestamps`](Self::group_timestamps) sorts them by sample at the end.
#[derive(Clone, Debug, Default)]
pub(crate) struct SampleColumns {
    pub(crate) samples: Samples,
    /// Rows by their identity.
    index: RowIndex,
    /// By the position of a total beyond 64 bits, how many times 2⁶⁴ are missing.
    carries: BTreeMap<usize, i64>,
    /// Corrections of the totals by upscaling, one for each value up to the last corrected sample.
    corrections: Vec<f64>,
    /// Timestamps in order of arrival.
    ticks: Vec<Tick>,
    /// For a series: the values of each tick, end to end.
    ///
    /// Each tick has as many as the profile has sample types.
    tick_values: Vec<i64>,
}

/// A timestamp of a sample.
#[derive(Clone, Copy, Debug)]
struct Tick {
    /// The row of its sample.
    sample: u32,
    /// Nanoseconds since 1970.
    unix_nano: u64,
}

impl SampleColumns {
    /// Removes all samples but keeps the allocations.
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
        self.carries.clear();
        self.corrections.clear();
        self.ticks.clear();
        self.tick_values.clear();
    }

    /// Returns whether the samples were moved out.
    pub(crate) fn is_lent(&self) -> bool {
        self.samples.is_empty() && !self.index.is_empty()
    }

    /// Adds an occurrence to its sample, and adds the sample if it is new. `rows` counts the samples of all
    /// profiles.
    ///
    /// Charges all memory first, so that adding cannot fail halfway. A profile with timestamps is split into one
    /// for each of its `columns`, so data that each of them copies is charged that often.
    #[inline]
    pub(crate) fn record(
        &mut self,
        interner: &mut Interner,
        rows: &mut usize,
        identity: Identity<'_>,
        measured: &Measured<'_>,
        columns: usize,
    ) -> Result<(), Full> {
        let Interner { budget, seed, .. } = interner;
        let copies = if measured.times.is_empty() { 0 } else { columns.saturating_sub(1) };
        let hash = identity_hash(seed, identity);
        let is_it = |row: u32| Identity::of(&self.samples, row as usize) == identity;
        let found = self.index.find(hash, is_it);
        // Charge first, so that an error leaves the columns unchanged.
        self.charge_occurrence(budget, found, measured, copies)?;
        let row = match found {
            Some(row) => row,
            None => self.add(budget, rows, hash, identity, [measured.values.len(), copies])?,
        };
        match measured.times {
            [] => self.add_totals(row, measured),
            _ => self.add_ticks(row, measured),
        }
        Ok(())
    }

    /// Adds a new sample with `values` values, if it and its `copies` fit.
    #[cold]
    fn add(
        &mut self,
        budget: &mut BuilderBudget,
        rows: &mut usize,
        hash: u64,
        identity: Identity<'_>,
        [values, copies]: [usize; 2],
    ) -> Result<u32, Full> {
        column(self.samples.attributes.items.len(), identity.attributes.len())?;
        column(self.samples.values.items.len(), values)?;
        let ids = 3 * size_of::<u32>() + size_of_val(identity.attributes);
        budget.sample(*rows, ids * (1 + copies) + values * size_of::<i64>())?;
        *rows += 1;
        let row = self.samples.push(identity.stack, identity.attributes, identity.link) as u32;
        self.index.add(hash, row);
        Ok(row)
    }

    /// Charges the memory that an occurrence adds to its sample, apart from the sample itself. Each copy of the
    /// sample has one timestamp and value.
    #[inline]
    fn charge_occurrence(
        &self,
        budget: &mut BuilderBudget,
        row: Option<u32>,
        &Measured { values, corrections, times }: &Measured<'_>,
        copies: usize,
    ) -> Result<(), Full> {
        if !times.is_empty() {
            // Ticks are counted and ordered in 32 bits.
            column(self.ticks.len(), times.len())?;
            column(self.tick_values.len(), times.len().saturating_mul(values.len()))?;
            let copied = copies * (size_of::<u64>() + values.len().min(1) * size_of::<i64>());
            return budget.bytes(times.len() * (size_of::<Tick>() + size_of_val(values) + copied));
        }
        if corrections.is_empty() {
            return Ok(());
        }
        let row = row.map_or(self.samples.stacks.len(), |row| row as usize);
        // The column is extended up to this sample, so earlier samples without corrections are charged as well.
        let more = ((row + 1) * corrections.len()).saturating_sub(self.corrections.len());
        budget.bytes(more * size_of::<f64>())
    }

    /// Adds values to the totals of a sample. Sums have 128 bits: [`correct_totals`](Self::correct_totals) narrows them.
    #[inline]
    fn add_totals(&mut self, row: u32, &Measured { values, corrections, .. }: &Measured<'_>) {
        let start = row as usize * values.len();
        let totals = &mut self.samples.values.items;
        // A new sample is the last row, so its values are missing here. Without sample types the range is empty and
        // exists.
        if let Some(totals) = totals.get_mut(start..start + values.len()) {
            for (column, (total, value)) in totals.iter_mut().zip(values).enumerate() {
                let (sum, overflows) = total.overflowing_add(*value);
                *total = sum;
                if overflows {
                    *self.carries.entry(start + column).or_default() += value.signum();
                }
            }
        } else {
            totals.extend_from_slice(values);
            self.samples.values.end_row();
        }
        if !corrections.is_empty() {
            self.add_corrections(start, corrections);
        }
    }

    /// Adds corrections without rounding, so that rounding errors of many small ones do not add up.
    #[inline(never)]
    fn add_corrections(&mut self, start: usize, corrections: &[f64]) {
        let end = start + corrections.len();
        if self.corrections.len() < end {
            self.corrections.resize(end, 0.0);
        }
        for (sum, more) in self.corrections[start..end].iter_mut().zip(corrections) {
            *sum += more;
        }
    }

    /// Appends the timestamps of an occurrence, each with the same values.
    #[inline]
    fn add_ticks(&mut self, row: u32, measured: &Measured<'_>) {
        let &Measured { values, corrections, times } = measured;
        for &unix_nano in times {
            self.ticks.push(Tick { sample: row, unix_nano });
            let start = self.tick_values.len();
            self.tick_values.extend_from_slice(values);
            correct(&mut self.tick_values[start..], corrections);
        }
    }

    /// Returns the totals with a carry, and their sums.
    fn carried(&self) -> impl Iterator<Item = (usize, i128)> {
        let low = |at: usize| self.samples.values.items.get(at).copied().unwrap_or_default();
        self.carries
            .iter()
            .map(move |(at, carry)| (*at, i128::from(low(*at)) + (i128::from(*carry) << 64)))
    }

    /// Returns the number of totals beyond 64 bits.
    pub(crate) fn saturated(&self) -> u64 {
        self.carried().filter(|(_, sum)| i64::try_from(*sum).is_err()).count() as u64
    }

    /// Narrows the totals to 64 bits, of which those beyond become the nearest value, and adds the corrections.
    pub(crate) fn correct_totals(&mut self) {
        let carried: Vec<(usize, i128)> = self.carried().collect();
        for (at, sum) in carried {
            self.samples.values.items[at] = sum.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        }
        self.carries.clear();
        correct(&mut self.samples.values.items, &self.corrections);
        self.corrections.clear();
    }

    /// Returns the first and the last timestamp, ignoring 0, which is unknown.
    pub(crate) fn span(&self) -> Option<(u64, u64)> {
        let times = self.ticks.iter().map(|tick| tick.unix_nano).filter(|time| *time != 0);
        Some((times.clone().min()?, times.max()?))
    }

    /// Moves the timestamps to their samples, sorted by time within each sample, with the values of column
    /// `column`. Each timestamp has `columns` values.
    ///
    /// Takes linear time, apart from sorting ticks that arrived out of order.
    pub(crate) fn group_timestamps(&mut self, columns: usize, column: usize) {
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
        // Events have no values.
        if values.items.is_empty() {
            values.clear();
        }
    }

    /// Returns the order of the ticks by sample, then time, then arrival. Uses a counting sort by sample, because
    /// samples have many ticks, which mostly arrive in order.
    fn order(&self) -> Vec<u32> {
        // `charge_occurrence` limits the ticks, so counts and positions fit into 32 bits.
        let mut next = vec![0u32; self.samples.stacks.len() + 1];
        for tick in &self.ticks {
            // Count one place further, so that the sums below are start positions.
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
            // Ticks mostly arrive in order.
            if !of_sample.is_sorted_by_key(time) {
                of_sample.sort_by_key(time);
            }
        }
        order
    }

    /// Calls `f` with each sample and each of its occurrences: the totals, or one timestamp with its values.
    pub(crate) fn for_each(&self, columns: usize, mut f: impl FnMut(Identity<'_>, &Measured<'_>)) {
        let samples = &self.samples;
        let identity = |row| Identity::of(samples, row);
        // Only totals have values here. Those of a series are in `tick_values` until they are grouped.
        for (row, values) in samples.values.rows().enumerate() {
            let corrections = self.corrections.get(row * columns..(row + 1) * columns);
            let corrections = corrections.unwrap_or_default();
            f(identity(row), &Measured { values, corrections, times: &[] });
        }
        // What is beyond 64 bits follows in parts that fit.
        for (at, carry) in &self.carries {
            let (mut rest, mut part) = (i128::from(*carry) << 64, vec![0; columns]);
            while rest != 0 {
                let fits = rest.clamp(i64::MIN.into(), i64::MAX.into());
                part[at % columns] = fits as i64;
                f(
                    identity(at / columns),
                    &Measured { values: &part, corrections: &[], times: &[] },
                );
                rest -= fits;
            }
        }
        for (at, tick) in self.ticks.iter().enumerate() {
            let values = self.tick_values.get(at * columns..(at + 1) * columns).unwrap_or_default();
            let times = std::slice::from_ref(&tick.unix_nano);
            f(identity(tick.sample as usize), &Measured { values, corrections: &[], times });
        }
    }
}

/// Adds the rounded correction to each value.
fn correct(values: &mut [i64], corrections: &[f64]) {
    for (value, correction) in values.iter_mut().zip(corrections) {
        *value = value.saturating_add(correction.round() as i64);
    }
}

/// Returns the hash of an identity, with one multiplication for up to two attributes.
///
/// The stack, the link and two attributes fit into a word of 128 bits.
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
