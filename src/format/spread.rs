//! Values and timestamps of a sample, where a format has one value a sample and column.
//!
//! ```text
//! sample type  values     timestamps   how
//! one          [5]        any          Plain: as it is
//! one          []         3            Total(3): each timestamp counts 1
//! one          [5 5]      2            Total(10): equal values come back by dividing
//! one          [5 6]      2            Each: a sample for each value, with its timestamp
//! one          [5 6]      0            Each
//! several      one each   any          Plain
//! ```
//!
//! The samples are walked once, front to back, by cursors into the columns: a row costs no search.

use std::slice;

use crate::format::columns::Joined;
use crate::model::id::AttributeId;
use crate::model::measures;
use crate::model::profile::Profile;
use crate::model::ragged::Ragged;
use crate::model::samples::{SampleRef, Samples};

/// How a sample with other than one value becomes samples with one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spread {
    /// It has one already.
    Plain,
    /// One sample with this total and all timestamps.
    Total(i64),
    /// A sample for each value.
    Each,
}

/// All samples, one after the other: as [`Samples::get`], without looking for where each row
/// begins.
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

    /// The next sample, which must be number `row`.
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

    /// The next in an order of the samples: their rows, each once. Without one it is that of the samples.
    #[inline(always)]
    fn next_by(&mut self, order: Option<&[u32]>, at: usize) -> SampleRef<'a> {
        match order {
            None => self.next(at),
            Some(order) => self.samples.at(order[at] as usize),
        }
    }
}

/// The values that each of several profiles has for the same samples, one sample after the other.
pub(crate) struct Columns<'a> {
    joined: &'a Joined<'a>,
    rows: Vec<Rows<'a, i64>>,
    /// One list for all samples, which is filled again for each.
    current: Vec<&'a [i64]>,
}

impl<'a> Columns<'a> {
    pub(crate) fn of(joined: &'a Joined<'a>) -> Self {
        let rows = joined.profiles.iter().map(|p| Rows::of(&p.samples.values));
        let current = Vec::with_capacity(joined.profiles.len());
        Self { joined, rows: rows.collect(), current }
    }

    /// The values of the next sample, which must be number `row`, by profile.
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

    /// The same again.
    pub(crate) fn row(&self) -> &[&'a [i64]] {
        &self.current
    }
}

/// Rows of a column, one after the other: the end of one is the beginning of the next.
struct Rows<'a, T> {
    items: &'a [T],
    ends: slice::Iter<'a, u32>,
    /// Where the next row begins.
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
        &self.items[start..end as usize]
    }
}

/// How the values of a sample with one sample type are said as one.
///
/// A total past 64 bits is not made: then each value is a sample.
pub(crate) fn spread(values: &[i64], times: &[u64]) -> Spread {
    match (values, times.len()) {
        ([], times) => Spread::Total(times as i64),
        ([first, rest @ ..], times)
            if times == values.len() && rest.iter().all(|value| value == first) =>
        {
            first.checked_mul(times as i64).map_or(Spread::Each, Spread::Total)
        }
        ([_], _) => Spread::Plain,
        _ => Spread::Each,
    }
}

/// A sample of one value a column, or one of those that a sample becomes.
pub(crate) struct Row<'r> {
    /// The number of the sample, and of this part of it.
    pub(crate) at: [usize; 2],
    pub(crate) sample: &'r SampleRef<'r>,
    /// What was done to the sample's values.
    pub(crate) how: Spread,
    pub(crate) values: &'r [i64],
    pub(crate) times: &'r [u64],
}

/// The samples of some columns as formats have them where a profile may have several sample types.
///
/// # Errors
///
/// The first that `each` has.
#[inline]
pub(crate) fn rows<E>(joined: &Joined, each: impl FnMut(Row) -> Result<(), E>) -> Result<(), E> {
    match &joined.profiles[..] {
        [profile] => rows_of_one(profile, joined.order.as_deref(), each),
        _ => rows_of_several(joined, each),
    }
}

/// Each column has one value a sample, so a sample stays one: the values and times it has in a
/// column become that column's total.
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
        each(Row { at: [row, 0], sample, how: Spread::Plain, values: &totals, times })?;
    }
    Ok(())
}

/// What has a value for each timestamp becomes a total, or several samples.
///
/// `parts` of a sample are counted from 0, so that a caller can say something once for each sample.
fn rows_of_one<E>(
    profile: &Profile,
    order: Option<&[u32]>,
    mut each: impl FnMut(Row) -> Result<(), E>,
) -> Result<(), E> {
    // Of no sample type there are no values, or each is of one that has no name.
    let bare = profile.sample_types.is_empty() && profile.samples.values.items.is_empty();
    let several = profile.sample_types.len() > 1;
    let mut walk = Walk::of(&profile.samples);
    for row in 0..profile.samples.len() {
        let sample = &walk.next_by(order, row);
        let (values, times) = (sample.values, sample.timestamps_unix_nano);
        let plain = several || bare || values.len() == 1;
        match if plain { Spread::Plain } else { spread(values, times) } {
            Spread::Plain => each(Row { at: [row, 0], sample, how: Spread::Plain, values, times })?,
            how @ Spread::Total(total) => {
                each(Row { at: [row, 0], sample, how, values: &[total], times })?;
            }
            Spread::Each => {
                for (part, value) in values.iter().enumerate() {
                    let (values, times) = (slice::from_ref(value), times.get(part..=part));
                    let times = times.unwrap_or_default();
                    each(Row { at: [row, part], sample, how: Spread::Each, values, times })?;
                }
            }
        }
    }
    Ok(())
}

/// Whether every total of a column is the number of its timestamps: each counts 1.
///
/// Then the total may be left out where timestamps say it, and nothing is lost.
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
        assert_eq!(spread(&[], &[1, 2, 3]), Spread::Total(3));
        assert_eq!(spread(&[5, 5], &[1, 2]), Spread::Total(10));
        assert_eq!(spread(&[5, 6], &[1, 2]), Spread::Each);
        assert_eq!(spread(&[5, 5], &[]), Spread::Each);
        assert_eq!(spread(&[i64::MAX, i64::MAX], &[1, 2]), Spread::Each);
    }
}
