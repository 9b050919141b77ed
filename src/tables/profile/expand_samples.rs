//! Conversion of the values of a sample for formats with one value per sample and column.
//!
//! ```text
//! sample type  values     timestamps   result
//! one          [5]        any          Plain: unchanged
//! one          []         3            Total(3): each timestamp counts 1
//! one          [5 5]      2            Total(10): division restores equal values
//! one          [5 6]      2            Each: a sample for each value, with its timestamp
//! one          [5 6]      0            Each
//! several      one each   any          Plain
//! ```
//!
//! Cursors walk the columns once, front to back, so a row costs no search.

use std::slice;

use crate::model::id::AttributeId;
use crate::model::measures;
use crate::model::profile::Profile;
use crate::model::ragged::Ragged;
use crate::model::samples::{SampleRef, Samples};
use crate::tables::profile::columns::Joined;

/// The conversion of a sample to samples with one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expansion {
    /// Unchanged: it has one value already.
    Plain,
    /// One sample with this total and all timestamps.
    Total(i64),
    /// A sample for each value.
    Each,
}

/// A walk over all samples. Like [`Samples::get`], but without a lookup of the beginning of each row.
pub(crate) struct Walk<'a> {
    samples: &'a Samples,
    attributes: Rows<'a, AttributeId>,
    values: Rows<'a, i64>,
    times: Rows<'a, u64>,
}

impl<'a> Walk<'a> {
    pub(crate) fn of(samples: &'a Samples) -> Self {
        Self {
            samples,
            attributes: Rows::of(&samples.attributes),
            values: Rows::of(&samples.values),
            times: Rows::of(&samples.timestamps),
        }
    }

    /// Returns the next sample, which must be number `row`.
    // Always inlined. Without any in the library, encoding 1.10 takes up to 25 % more instructions.
    #[inline(always)]
    pub(crate) fn next(&mut self, row: usize) -> SampleRef<'a> {
        let samples = self.samples;
        SampleRef {
            stack: samples.stacks[row],
            attributes: self.attributes.next(),
            link: samples.link(row),
            values: self.values.next(),
            timestamps_unix_nano: self.times.next(),
            stacktrace_id: samples.stacktrace_ids.get(row).copied().unwrap_or_default(),
        }
    }

    /// Returns the sample at position `at` of an order, which lists each row once; without an order, the next
    /// sample.
    #[inline(always)]
    fn next_by(&mut self, order: Option<&[u32]>, at: usize) -> SampleRef<'a> {
        match order {
            None => self.next(at),
            // The cursors only move forward, and an order may visit rows in any sequence.
            Some(order) => self.samples.at(order[at] as usize),
        }
    }
}

/// The values of joined profiles for the same samples, sample by sample.
pub(crate) struct Columns<'a> {
    joined: &'a Joined<'a>,
    rows: Vec<Rows<'a, i64>>,
    /// A list that is reused for each sample.
    current: Vec<&'a [i64]>,
}

impl<'a> Columns<'a> {
    pub(crate) fn of(joined: &'a Joined<'a>) -> Self {
        let rows = joined.profiles.iter().map(|p| Rows::of(&p.samples.values));
        let current = Vec::with_capacity(joined.profiles.len());
        Self { joined, rows: rows.collect(), current }
    }

    /// Returns the values of the next sample by profile. It must be number `row`.
    #[inline]
    pub(crate) fn next(&mut self, row: usize) -> &[&'a [i64]] {
        let Self { joined, rows, current } = self;
        current.clear();
        match &joined.order {
            None => current.extend(rows.iter_mut().map(Rows::next)),
            Some(order) => {
                let values = |p: &&'a Profile| p.samples.values.row(order[row] as usize);
                current.extend(joined.profiles.iter().map(values));
            }
        }
        current
    }

    /// Returns the values of the current sample again.
    pub(crate) fn row(&self) -> &[&'a [i64]] {
        &self.current
    }
}

/// A cursor over the rows of a column. The end of one row is the beginning of the next.
struct Rows<'a, T> {
    items: &'a [T],
    ends: slice::Iter<'a, u32>,
    /// The beginning of the next row.
    start: usize,
}

impl<'a, T> Rows<'a, T> {
    fn of(ragged: &'a Ragged<T>) -> Self {
        Self { items: &ragged.items, ends: ragged.ends.iter(), start: 0 }
    }

    #[inline(always)]
    fn next(&mut self) -> &'a [T] {
        let Some(&end) = self.ends.next() else {
            return &[];
        };
        let start = std::mem::replace(&mut self.start, end as usize);
        // The ends of a `Ragged` ascend and do not exceed its items.
        &self.items[start..end as usize]
    }
}

/// Chooses the conversion for a sample of a profile with one sample type.
///
/// If the total would overflow 64 bits, each value becomes a sample.
pub(crate) fn expand(values: &[i64], times: &[u64]) -> Expansion {
    match (values, times.len()) {
        ([], times) => Expansion::Total(times as i64),
        ([first, rest @ ..], times)
            if times == values.len() && rest.iter().all(|value| value == first) =>
        {
            first.checked_mul(times as i64).map_or(Expansion::Each, Expansion::Total)
        }
        ([_], _) => Expansion::Plain,
        _ => Expansion::Each,
    }
}

/// A converted sample, with one value per column.
pub(crate) struct Row<'r> {
    /// The number of the source sample, and the number of this part of it.
    pub(crate) at: [usize; 2],
    pub(crate) sample: &'r SampleRef<'r>,
    /// The conversion of the sample's values.
    pub(crate) how: Expansion,
    pub(crate) values: &'r [i64],
    pub(crate) times: &'r [u64],
}

/// Converts the samples of some columns to the form of formats with several sample types per profile.
///
/// # Errors
///
/// The first error of `each`.
#[inline]
pub(crate) fn rows<E>(joined: &Joined, each: impl FnMut(Row) -> Result<(), E>) -> Result<(), E> {
    match &joined.profiles[..] {
        [profile] => rows_of_one(profile, joined.order.as_deref(), each),
        _ => rows_of_several(joined, each),
    }
}

/// Converts each sample to one: its values and timestamps in a column become the total of that column.
fn rows_of_several<E>(
    joined: &Joined,
    mut each: impl FnMut(Row) -> Result<(), E>,
) -> Result<(), E> {
    let Some(first) = joined.profiles.first() else {
        return Ok(());
    };
    let mut totals = Vec::with_capacity(joined.profiles.len());
    let mut columns = Columns::of(joined);
    let mut walk = Walk::of(&first.samples);
    for row in 0..first.samples.len() {
        let sample = &walk.next_by(joined.order.as_deref(), row);
        let times = sample.timestamps_unix_nano;
        totals.clear();
        totals.extend(columns.next(row).iter().map(|values| measures::total(values, times)));
        each(Row { at: [row, 0], sample, how: Expansion::Plain, values: &totals, times })?;
    }
    Ok(())
}

/// Converts each sample of one profile. A sample with a value for each timestamp becomes a total, or several
/// samples.
///
/// Parts of a sample are counted from 0, so a caller can report something once for each sample.
fn rows_of_one<E>(
    profile: &Profile,
    order: Option<&[u32]>,
    mut each: impl FnMut(Row) -> Result<(), E>,
) -> Result<(), E> {
    // A profile without a sample type either has no values, or its values have a type without a name.
    let bare = profile.sample_types.is_empty() && profile.samples.values.items.is_empty();
    let several = profile.sample_types.len() > 1;
    let mut walk = Walk::of(&profile.samples);
    for row in 0..profile.samples.len() {
        let sample = &walk.next_by(order, row);
        let (values, times) = (sample.values, sample.timestamps_unix_nano);
        let plain = several || bare || values.len() == 1;
        match if plain { Expansion::Plain } else { expand(values, times) } {
            Expansion::Plain => {
                each(Row { at: [row, 0], sample, how: Expansion::Plain, values, times })?
            }
            how @ Expansion::Total(total) => {
                each(Row { at: [row, 0], sample, how, values: &[total], times })?;
            }
            Expansion::Each => {
                for (part, value) in values.iter().enumerate() {
                    // There is a timestamp for each value, or no timestamp at all.
                    let (values, times) = (slice::from_ref(value), times.get(part..=part));
                    let times = times.unwrap_or_default();
                    each(Row { at: [row, part], sample, how: Expansion::Each, values, times })?;
                }
            }
        }
    }
    Ok(())
}

/// Returns whether each total of a column equals the number of its timestamps, so that each timestamp counts
/// 1.
///
/// If so, a writer may omit the totals without loss, because the timestamps imply them.
pub(crate) fn column_counts_events(profile: &Profile, column: usize) -> bool {
    let several = profile.sample_types.len() > 1;
    let samples =
        || profile.samples.iter().filter(|sample| !sample.timestamps_unix_nano.is_empty());
    let totals = |values: &[i64], times: usize| several || values.len() == 1 && times > 1;
    samples().any(|sample| totals(sample.values, sample.timestamps_unix_nano.len()))
        && samples().all(|sample| {
            let times = sample.timestamps_unix_nano.len();
            let value = if several { sample.values.get(column) } else { sample.values.first() };
            (several || sample.values.len() == 1) && value == Some(&(times as i64))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::StackId;

    #[test]
    fn a_walk_meets_every_sample() {
        let mut samples = Samples::default();
        for row in 0..5u32 {
            samples.stacks.push(StackId(row));
            samples.attributes.push_at(row as usize, &[AttributeId(row)][..row as usize % 2]);
            samples.values.push_at(row as usize, &[7, 8][..2 - row as usize % 2]);
        }
        samples.timestamps.push_at(2, &[1, 2, 3]);
        let mut walk = Walk::of(&samples);
        for row in 0..5 {
            assert_eq!(Some(walk.next(row)), samples.get(row));
        }
        let order = [3, 0, 4, 2, 1];
        for row in 0..5 {
            let sample = walk.next_by(Some(&order), row);
            assert_eq!(Some(sample), samples.get(order[row] as usize));
        }
    }

    #[test]
    fn equal_values_are_a_total_and_others_are_apart() {
        assert_eq!(expand(&[], &[1, 2, 3]), Expansion::Total(3));
        assert_eq!(expand(&[5, 5], &[1, 2]), Expansion::Total(10));
        assert_eq!(expand(&[5, 6], &[1, 2]), Expansion::Each);
        assert_eq!(expand(&[5, 5], &[]), Expansion::Each);
        assert_eq!(expand(&[i64::MAX, i64::MAX], &[1, 2]), Expansion::Each);
    }
}
