//! Conversions from nanoseconds to times of the standard library.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::model::profile::Profile;
use crate::model::samples::SampleRef;

const NANOS: u128 = 1_000_000_000;

impl Profile {
    /// Returns the start time; `None` if it is unknown or outside the range of [`SystemTime`].
    ///
    /// ```
    /// # fn main() -> otlp_profiles::Result<()> {
    /// # let profile = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
    /// use std::time::{Duration, UNIX_EPOCH};
    ///
    /// let profiles = otlp_profiles::read(&profile, &Default::default())?.profiles;
    /// let profile = profiles.iter().next().unwrap();
    /// assert_eq!(profile.time(), Some(UNIX_EPOCH + Duration::from_nanos(1_795_168_916_473_858_804)));
    /// assert_eq!(profile.duration(), Some(Duration::from_nanos(1_673_601_600)));
    /// # Ok(()) }
    /// ```
    pub fn time(&self) -> Option<SystemTime> {
        let time = self.time_unix_nano();
        let since = duration(time.unsigned_abs())?;
        match time {
            0 => None,
            ..0 => UNIX_EPOCH.checked_sub(since),
            _ => UNIX_EPOCH.checked_add(since),
        }
    }

    /// Returns the duration; `None` if it is unknown or, as in some pprof files, negative.
    ///
    /// ```
    /// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
    /// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
    /// let heap = profiles.iter().next().unwrap();
    /// assert_eq!((heap.duration_nanos(), heap.duration()), (0, None));
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn duration(&self) -> Option<Duration> {
        let nanos = u128::try_from(self.duration_nanos()).ok();
        nanos.filter(|&nanos| nanos != 0).and_then(duration)
    }
}

impl<'a> SampleRef<'a> {
    /// Iterates over the timestamps of the sample as [`SystemTime`]s.
    ///
    /// ```
    /// # fn main() -> otlp_profiles::Result<()> {
    /// use std::time::{Duration, UNIX_EPOCH};
    ///
    /// let payload = std::fs::read("testdata/otlp-1.11-timestamped-cpu.binpb").unwrap();
    /// let profiles = otlp_profiles::read(&payload, &Default::default())?.profiles;
    /// let sample = profiles.iter().next().unwrap().samples().get(0).unwrap();
    /// let first = UNIX_EPOCH + Duration::from_nanos(sample.timestamps_unix_nano[0]);
    /// assert_eq!(sample.times().next(), Some(first));
    /// # Ok(()) }
    /// ```
    pub fn times(
        &self,
    ) -> impl DoubleEndedIterator<Item = SystemTime> + ExactSizeIterator + use<'a> {
        // 64 bits of nanoseconds are 584 years, which `SystemTime` can represent on every platform.
        let time = |&nanos| UNIX_EPOCH.checked_add(Duration::from_nanos(nanos));
        self.timestamps_unix_nano.iter().map(move |nanos| time(nanos).unwrap_or(UNIX_EPOCH))
    }
}

/// Converts nanoseconds to a duration. `None` if the seconds exceed 64 bits.
fn duration(nanos: u128) -> Option<Duration> {
    let seconds = u64::try_from(nanos / NANOS).ok()?;
    Some(Duration::new(seconds, (nanos % NANOS) as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unknown_or_out_of_range_is_none() {
        let at = |time_unix_nano, duration_nanos| {
            let mut profile = Profile::default();
            (profile.time_unix_nano, profile.duration_nanos) = (time_unix_nano, duration_nanos);
            (profile.time(), profile.duration())
        };
        assert_eq!(at(0, 0), (None, None));
        assert_eq!(at(i128::MAX, i128::MAX), (None, None));
        assert_eq!(at(i128::MIN, i128::MIN), (None, None));
        assert_eq!(at(-1, -1), (Some(UNIX_EPOCH - Duration::from_nanos(1)), None));
        let latest = Duration::from_nanos(u64::MAX);
        assert_eq!(at(u64::MAX.into(), 1), (Some(UNIX_EPOCH + latest), Some(Duration::new(0, 1))));
    }
}
