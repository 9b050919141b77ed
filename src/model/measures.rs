//! Totals, single observations and sums of samples.

use crate::model::profile::Profile;
use crate::model::samples::SampleRef;

impl Profile {
    /// Returns the totals of a sample: one number for each sample type, in their order.
    ///
    /// It covers every shape of profile. With several sample
    /// types, a sample has a value for each. With one sample type, it has one value, or a value for each timestamp, which
    /// are added up; without values each timestamp counts 1. A profile without sample types
    /// counts as one unnamed type.
    ///
    /// A sum beyond 64 bits saturates; [`sums`](Self::sums) is
    /// exact.
    ///
    /// ```
    /// # fn main() -> otlp_profiles::Result<()> {
    /// # let profile = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
    /// let profiles = otlp_profiles::read(&profile, &Default::default())?.profiles;
    /// for profile in &profiles {
    ///     for sample in profile.samples() {
    ///         for (kind, total) in profile.sample_types().iter().zip(profile.totals(sample)) {
    ///             println!("{total} {}", profiles.dictionary().text(kind.unit));
    ///         }
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    pub fn totals<'a>(
        &self,
        sample: SampleRef<'a>,
    ) -> impl ExactSizeIterator<Item = i64> + use<'a> {
        let columns = self.columns();
        (0..columns).map(move |column| clamped(measured(columns, column, &sample)))
    }

    /// Returns the total of one sample type, by its row in [`sample_types`](Self::sample_types).
    pub(crate) fn total(&self, sample: SampleRef<'_>, sample_type: usize) -> i64 {
        clamped(measured(self.columns(), sample_type, &sample))
    }

    /// Iterates over the observations of a sample: the time, in nanoseconds since 1970,
    /// and the value of the sample type in row `sample_type` of [`sample_types`](Self::sample_types).
    ///
    /// A sample without timestamps is one observation without a time. Observations without a value
    /// count 1. A total of several timestamps, as in generations up to 1.7 and some pprof files,
    /// is divided among them, and the last gets the remainder. The observations add up to the
    /// [total](Self::totals).
    ///
    /// ```
    /// # fn main() -> otlp_profiles::Result<()> {
    /// let payload = std::fs::read("testdata/otlp-1.11-timestamped-cpu-offcpu.binpb").unwrap();
    /// let profiles = otlp_profiles::read(&payload, &Default::default())?.profiles;
    /// let profile = profiles.iter().next().unwrap();
    /// let sample = profile.samples().get(0).unwrap();
    /// let observed: Vec<(Option<u64>, i64)> = profile.observations(sample, 0).collect();
    /// assert_eq!(observed[0].0, Some(sample.timestamps_unix_nano[0]));
    /// assert_eq!(observed.iter().map(|(_, value)| value).sum::<i64>(), profile.totals(sample).next().unwrap());
    /// # Ok(()) }
    /// ```
    pub fn observations<'a>(
        &self,
        sample: SampleRef<'a>,
        sample_type: usize,
    ) -> impl ExactSizeIterator<Item = (Option<u64>, i64)> + use<'a> {
        let columns = self.columns();
        let values = values_of(columns, sample_type, &sample);
        let times = sample.timestamps_unix_nano;
        let total = clamped(measured(columns, sample_type, &sample));
        let count = match times.len() {
            _ if sample_type >= columns => 0,
            0 => values.len(),
            times => times,
        };
        (0..count).map(move |at| {
            let value = match values.get(at) {
                // Values belong to single timestamps only if there are as many. Otherwise they are parts of one
                // total.
                Some(value) if values.len() == count => *value,
                _ => share(total, count, at),
            };
            (times.get(at).copied(), value)
        })
    }

    /// Returns the sums of all samples: one for each sample type, in their order, and exact.
    ///
    /// ```
    /// # fn main() -> otlp_profiles::Result<()> {
    /// # let profile = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
    /// let profiles = otlp_profiles::read(&profile, &Default::default())?.profiles;
    /// let profile = profiles.iter().next().unwrap();
    /// assert_eq!(profile.sums(), [163, 1_630_000_000]);
    /// # Ok(()) }
    /// ```
    pub fn sums(&self) -> Vec<i128> {
        let columns = self.columns();
        // Sums have 128 bits, which hold 2⁶⁴ values of 64 bits.
        let mut sums = vec![0; columns];
        for sample in self.samples() {
            for (column, sum) in sums.iter_mut().enumerate() {
                *sum += measured(columns, column, &sample);
            }
        }
        sums
    }

    /// Returns the number of measured quantities. Without sample types, values measure one unnamed quantity.
    fn columns(&self) -> usize {
        self.sample_types.len().max(1)
    }
}

/// Returns the values of a sample in one column of `columns`.
fn values_of<'a>(columns: usize, column: usize, sample: &SampleRef<'a>) -> &'a [i64] {
    // A missing value of several columns counts 0. An empty list would count each timestamp.
    if columns == 1 { sample.values } else { sample.values.get(column..=column).unwrap_or(&[0]) }
}

/// Returns the total of a sample in one column of `columns`.
pub(crate) fn measured(columns: usize, column: usize, sample: &SampleRef<'_>) -> i128 {
    sum(values_of(columns, column, sample), sample.timestamps_unix_nano)
}

/// Returns the sum of the values of one sample type. Without values, each timestamp counts 1.
pub(crate) fn sum(values: &[i64], times: &[u64]) -> i128 {
    match values {
        [] => times.len() as i128,
        values => values.iter().copied().map(i128::from).sum(),
    }
}

/// Returns the total of the values of one sample type, saturated to 64 bits.
#[inline]
pub(crate) fn total(values: &[i64], times: &[u64]) -> i64 {
    match values {
        [value] => *value,
        values => clamped(sum(values, times)),
    }
}

/// Saturates a sum to 64 bits.
pub(crate) fn clamped(sum: i128) -> i64 {
    i64::try_from(sum).unwrap_or(if sum < 0 { i64::MIN } else { i64::MAX })
}

/// Returns the share of a total for one of its timestamps. The last one gets the remainder.
pub(crate) fn share(total: i64, parts: usize, at: usize) -> i64 {
    let parts = parts.max(1) as i64;
    let rest = if at as i64 + 1 == parts { total.rem_euclid(parts) } else { 0 };
    // Euclidean division, so that the remainder of a negative total is positive.
    total.div_euclid(parts) + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::profile::ValueType;

    fn profile(types: usize) -> Profile {
        let mut profile = Profile::default();
        profile.sample_types = vec![ValueType::default(); types];
        profile
    }

    fn sample<'a>(values: &'a [i64], timestamps_unix_nano: &'a [u64]) -> SampleRef<'a> {
        let (stack, link, stacktrace_id) = Default::default();
        SampleRef { stack, attributes: &[], link, values, timestamps_unix_nano, stacktrace_id }
    }

    #[test]
    fn every_shape_of_a_sample_has_a_total_and_observations() {
        let none: &[(Option<u64>, i64)] = &[];
        for (types, values, times, total, observed) in [
            (1, &[7][..], &[][..], 7, &[(None, 7)][..]),
            (1, &[], &[5, 6], 2, &[(Some(5), 1), (Some(6), 1)]),
            (1, &[3, 4], &[5, 6], 7, &[(Some(5), 3), (Some(6), 4)]),
            (1, &[7], &[5], 7, &[(Some(5), 7)]),
            (1, &[7], &[5, 6], 7, &[(Some(5), 3), (Some(6), 4)]),
            (1, &[3, 4], &[], 7, &[(None, 3), (None, 4)]),
            (1, &[], &[], 0, none),
            (0, &[7], &[], 7, &[(None, 7)]),
            (0, &[], &[5], 1, &[(Some(5), 1)]),
            (2, &[7, 9], &[], 7, &[(None, 7)]),
            (2, &[7, 9], &[5, 6], 7, &[(Some(5), 3), (Some(6), 4)]),
            (2, &[], &[], 0, &[(None, 0)]),
        ] {
            let (profile, sample) = (profile(types), sample(values, times));
            let totals: Vec<i64> = profile.totals(sample).collect();
            assert_eq!((totals.len(), totals[0]), (types.max(1), total), "{sample:?}");
            let got: Vec<_> = profile.observations(sample, 0).collect();
            assert_eq!(got, observed, "{sample:?}");
        }
        assert_eq!(profile(2).totals(sample(&[7, 9], &[])).collect::<Vec<_>>(), [7, 9]);
        assert_eq!(profile(2).observations(sample(&[7, 9], &[5]), 2).len(), 0);
    }

    #[test]
    fn a_total_past_64_bits_is_the_nearest_number() {
        let (profile, sample) = (profile(1), sample(&[i64::MAX, 1, -3, i64::MAX], &[]));
        assert_eq!(profile.totals(sample).next(), Some(i64::MAX));
        assert_eq!(total(&[i64::MIN, -1, 5], &[]), i64::MIN + 4, "only the end counts");
    }

    #[test]
    fn a_total_is_divided_and_nothing_is_lost() {
        for (total, parts, expected) in [
            (6, 3, vec![2, 2, 2]),
            (7, 3, vec![2, 2, 3]),
            (-7, 3, vec![-3, -3, -1]),
            (1, 1, vec![1]),
        ] {
            let shares: Vec<i64> = (0..parts).map(|at| share(total, parts, at)).collect();
            assert_eq!(shares, expected);
            assert_eq!(shares.iter().sum::<i64>(), total);
        }
    }
}
