//! The values and times of a sample.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// An integer that can be a value of a sample, or a reference to one.
///
/// OTLP's values are `i64`. Larger integers become `i64::MAX`. Sums are exact; one beyond 64 bits becomes the nearest `i64`
/// and is counted in [`Dropped::saturated`](crate::builder::Dropped::saturated).
///
/// ```
/// use otlp_profiles::{Builder, builder::root_first};
///
/// let mut builder = Builder::new();
/// let heap = builder.profile_of([("objects", "count"), ("space", "bytes")]);
/// builder.sample(heap, root_first(["main"])).value(1_u32).value(4096_usize);
/// builder.sample(heap, root_first(["main"])).values([0, u64::MAX]);
/// assert_eq!(builder.finish()?.iter().next().unwrap().samples().get(0).unwrap().values, [1, i64::MAX]);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub trait SampleValue: Copy + sealed::Sealed {
    /// Returns the value, or the nearest `i64`.
    #[doc(hidden)]
    fn saturating(self) -> i64;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! sample_values {
    ($($int:ty)*) => {$(
        impl sealed::Sealed for $int {}
        impl SampleValue for $int {
            #[inline]
            fn saturating(self) -> i64 {
                i64::try_from(self).unwrap_or(i64::MAX)
            }
        }
    )*};
}

// Not i128: all values of these types that do not fit exceed `i64::MAX`, and none is below `i64::MIN`.
sample_values! { i8 i16 i32 i64 isize u8 u16 u32 u64 u128 usize }

impl<V: SampleValue> sealed::Sealed for &V {}
impl<V: SampleValue> SampleValue for &V {
    #[inline]
    fn saturating(self) -> i64 {
        (*self).saturating()
    }
}

/// A time or a duration in nanoseconds: a [`SystemTime`], a [`Duration`], or the number itself.
///
/// As a time it counts from 1970-01-01T00:00:00Z. Earlier times become 0, which OTLP treats as unknown. Times
/// beyond 2⁶⁴ ns, in the year 2554, saturate.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use otlp_profiles::builder::Nanos;
///
/// assert_eq!(Nanos::from(Duration::from_secs(60)), Nanos::from(60_000_000_000));
/// assert_eq!(Nanos::from(SystemTime::UNIX_EPOCH + Duration::from_secs(60)), Nanos::from(60_000_000_000));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub(crate) u64);

impl From<u64> for Nanos {
    #[inline]
    fn from(nanos: u64) -> Self {
        Self(nanos)
    }
}

impl From<Duration> for Nanos {
    fn from(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl From<SystemTime> for Nanos {
    fn from(time: SystemTime) -> Self {
        time.duration_since(UNIX_EPOCH).unwrap_or_default().into()
    }
}
