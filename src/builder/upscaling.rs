//! Estimates real totals from those of a sampling profiler.

/// Estimates the real totals from those of a sampling profiler.
///
/// A heap profiler that samples about one allocation every 512 KiB sees few small allocations
/// and nearly all large ones. To estimate the heap, each size is divided by
/// the probability of sampling it. [`NewSample::upscaled`](super::NewSample::upscaled) does so for a
/// sample. Sums are rounded once, at the end, so that rounding errors of many small samples do not
/// add up. The formulas are those of libdd-profiling.
///
/// ```
/// use otlp_profiles::{Builder, builder::{Upscaling, root_first}};
///
/// let mut builder = Builder::new();
/// let heap = builder.profile_of([("alloc_objects", "count"), ("alloc_space", "bytes")]);
/// let sampled = Upscaling::Poisson { sum: 1, count: 0, sampling_distance: 512 * 1024 };
/// for _ in 0..10 {
///     builder.sample(heap, root_first(["main", "parse"])).values([1, 262_144]).upscaled(sampled);
/// }
/// let profiles = builder.finish()?;
/// let sample = profiles.iter().next().unwrap().samples().get(0).unwrap();
/// // One in 2.54 allocations of this size is sampled.
/// assert_eq!(sample.values, [25, 6_662_374]);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Upscaling {
    /// For allocations sampled by a Poisson process over their bytes. Multiplies the two values by
    /// `1 / (1 - e^(-average / sampling_distance))`, where the average is `sum / count`.
    ///
    /// The values stay unchanged if the average is not positive.
    Poisson {
        /// The index of the sample's value that is the sum, such as bytes, from 0.
        sum: usize,
        /// The index of the value that is the count.
        count: usize,
        /// The mean increase of the sum between two samples.
        sampling_distance: u64,
    },
    /// For events of which every n-th is sampled. Multiplies a value by `scale`. The value stays unchanged unless
    /// `scale` is positive and finite.
    Proportional {
        /// The index of the sample's value, from 0.
        value: usize,
        /// The number of events that each sampled one represents.
        scale: f64,
    },
}

impl Upscaling {
    /// Returns the factor for the values; 1 if it cannot be computed.
    ///
    /// ```
    /// use otlp_profiles::builder::Upscaling;
    ///
    /// let sampled = Upscaling::Poisson { sum: 1, count: 0, sampling_distance: 100 };
    /// assert_eq!(sampled.scale(&[2, 200]), 1.0 / (1.0 - (-1.0_f64).exp()));
    /// assert_eq!(sampled.scale(&[0, 0]), 1.0);
    /// ```
    pub fn scale(&self, values: &[i64]) -> f64 {
        let at = |value: usize| values.get(value).copied().unwrap_or_default() as f64;
        let scale = match *self {
            Self::Poisson { sum, count, sampling_distance } => {
                let average = at(sum) / at(count);
                if average > 0.0 && average.is_finite() {
                    // `exp_m1` keeps the digits that `exp` loses for averages far below the distance.
                    1.0 / -(-average / sampling_distance as f64).exp_m1()
                } else {
                    1.0
                }
            }
            Self::Proportional { scale, .. } => scale,
        };
        if scale > 0.0 && scale.is_finite() { scale } else { 1.0 }
    }

    /// Multiplies the values of one sample and rounds them. Other values stay unchanged.
    ///
    /// ```
    /// use otlp_profiles::builder::Upscaling;
    ///
    /// let mut values = [1, 100];
    /// Upscaling::Poisson { sum: 1, count: 0, sampling_distance: 100 }.apply(&mut values);
    /// assert_eq!(values, [2, 158]);
    /// Upscaling::Proportional { value: 0, scale: 10.0 }.apply(&mut values);
    /// assert_eq!(values, [20, 158]);
    /// ```
    pub fn apply(&self, values: &mut [i64]) {
        let scale = self.scale(values);
        // Values above 2⁵³ lose precision as `f64`.
        self.for_each_column(|column| {
            if let Some(value) = values.get_mut(column).filter(|_| scale != 1.0) {
                *value = (*value as f64 * scale).round() as i64;
            }
        });
    }

    /// Adds the missing part of the values, unrounded, to `corrections`, one for each value.
    pub(crate) fn correct(&self, values: &[i64], corrections: &mut [f64]) {
        let more = self.scale(values) - 1.0;
        self.for_each_column(|column| {
            if let (Some(correction), Some(&value)) =
                (corrections.get_mut(column), values.get(column))
            {
                *correction += value as f64 * more;
            }
        });
    }

    /// Calls `f` with the index of each value that the rule multiplies.
    fn for_each_column(&self, mut f: impl FnMut(usize)) {
        match *self {
            Self::Poisson { sum, count, .. } if sum == count => f(sum),
            Self::Poisson { sum, count, .. } => [sum, count].into_iter().for_each(f),
            Self::Proportional { value, .. } => f(value),
        }
    }
}
