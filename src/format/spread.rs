//! Values and timestamps of a sample, where a format has one value a sample and column.

use crate::model::profile::Profile;
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

/// All samples, in order: as [`Samples::iter`], without looking for the begin of every row.
pub(crate) fn walk(samples: &Samples) -> impl ExactSizeIterator<Item = SampleRef<'_>> {
    let mut attributes = samples.attributes.rows();
    let mut values = samples.values.rows();
    let mut times = samples.timestamps.rows();
    let stacks = samples.stacks.iter().enumerate();
    stacks.map(move |(row, &stack)| SampleRef {
        stack,
        attributes: attributes.next().unwrap_or_default(),
        link: samples.link(row),
        values: values.next().unwrap_or_default(),
        timestamps_unix_nano: times.next().unwrap_or_default(),
        stacktrace_id: samples.stacktrace_ids.get(row).copied().unwrap_or_default(),
    })
}

/// How the values of a sample with one sample type are said as one.
pub(crate) fn spread(values: &[i64], times: &[u64]) -> Spread {
    match (values, times.len()) {
        ([], times) => Spread::Total(times as i64),
        ([first, rest @ ..], times)
            if times == values.len() && rest.iter().all(|value| value == first) =>
        {
            first
                .checked_mul(times as i64)
                .map_or(Spread::Each, Spread::Total)
        }
        ([_], _) => Spread::Plain,
        _ => Spread::Each,
    }
}

/// Whether every total of a column is the number of its timestamps: each counts 1.
pub(crate) fn column_counts_events(profile: &Profile, column: usize) -> bool {
    let several = profile.sample_types.len() > 1;
    let samples = || {
        profile
            .samples
            .iter()
            .filter(|sample| !sample.timestamps_unix_nano.is_empty())
    };
    let totals = |values: &[i64], times: usize| several || values.len() == 1 && times > 1;
    samples().any(|sample| totals(sample.values, sample.timestamps_unix_nano.len()))
        && samples().all(|sample| {
            let times = sample.timestamps_unix_nano.len();
            let value = if several {
                sample.values.get(column)
            } else {
                sample.values.first()
            };
            (several || sample.values.len() == 1) && value == Some(&(times as i64))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_a_total_and_others_are_apart() {
        assert_eq!(spread(&[], &[1, 2, 3]), Spread::Total(3));
        assert_eq!(spread(&[5, 5], &[1, 2]), Spread::Total(10));
        assert_eq!(spread(&[5, 6], &[1, 2]), Spread::Each);
        assert_eq!(spread(&[5, 5], &[]), Spread::Each);
        assert_eq!(spread(&[i64::MAX, i64::MAX], &[1, 2]), Spread::Each);
    }
}
