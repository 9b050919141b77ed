//! The timestamps of samples.
//!
//! One range of usual times serves all samples of a profile, so a timestamp costs two comparisons. Only timestamps
//! outside of it are checked one by one.
//!
//! ```text
//!              10^8              10^17                         2^64
//!    0 │ durations, clocks │ s, ms, us since 1970 │ ns since 1970 │
//! ```
//!
//! A value in the middle range is a date after March 1973 in a coarser unit; read as nanoseconds it is earlier than
//! that. Hence the rules about units (`OP4014`, `OP6014`).

use super::*;
use std::ops::Range;

/// Cell of the timestamps of a sample.
const TIMES: usize = SAMPLE.cell("timestamps_unix_nano");

/// Times that count s, ms or us since 1970 instead of nanoseconds.
const COARSE: Range<i128> = 100_000_000..100_000_000_000_000_000;

/// Whether a time looks like s, ms or us since 1970.
pub(crate) fn is_coarse(time: i128) -> bool {
    COARSE.contains(&time)
}

/// A range of times without findings; times outside of it may be fine as well.
///
/// Half-open, as ranges are since 1.4. Used by [`canonical`](crate::check::canonical), which passes other times on
/// to the walk: a false alarm costs only time.
// Always inlined. Without any in the library, validating takes up to 28 % more instructions.
#[inline(always)]
fn usual_times(cx: &CheckContext<'_>) -> Range<u64> {
    let (from, to) = cx.profile.range.unwrap_or((i128::MIN, i128::MAX));
    let least = if is_comparable(cx) { COARSE.end } else { 1 };
    let within = |time: i128| u64::try_from(time).unwrap_or(u64::MAX);
    within(from.max(least))..within(to.max(0))
}

/// Whether times of a profile can be told apart from coarse ones.
///
/// If the profile's time is itself in seconds, that is one finding, and its samples are not reported one by one.
fn is_comparable(cx: &CheckContext<'_>) -> bool {
    cx.profile.time == 0 || cx.profile.time >= COARSE.end
}

/// Statistics of a list of timestamps.
pub(super) struct Times {
    usual: Range<u64>,
    last: u64,
    pub(super) count: usize,
    pub(super) are_usual: bool,
    pub(super) are_sorted: bool,
}

impl Times {
    /// Starts without timestamps, for the current profile.
    #[inline(always)]
    pub(super) fn new(cx: &CheckContext<'_>) -> Self {
        Self { usual: usual_times(cx), last: 0, count: 0, are_usual: true, are_sorted: true }
    }

    #[inline(always)]
    pub(super) fn add(&mut self, time: u64) {
        self.are_sorted &= time >= self.last;
        self.are_usual &= self.usual.contains(&time);
        (self.last, self.count) = (time, self.count + 1);
    }
}

/// Checks the timestamps of a sample. Timestamps out of order are one finding per sample.
pub(super) fn timestamps(cx: &mut CheckContext<'_>, record: &Record) {
    let mut times = Times::new(cx);
    cx.numbers(record, TIMES).for_each(|time| times.add(time));
    if !times.are_usual {
        for (row, time) in cx.numbers(record, TIMES).enumerate() {
            unusual_time(cx, record, row, time.into());
        }
    }
    if !times.are_sorted {
        cx.report(&OP4013, record.field(TIMES), "", "");
    }
}

/// Reports one time that is 0, not in nanoseconds or outside of its profile.
///
/// Only the most specific finding is reported: a time of 0 or in seconds is outside of the range as well. For Parca
/// the range is reported too, because Parca rejects times outside of it. Parca accepts a time equal to the end. A
/// profile that lasts 0 ns contains no time at all; the finding states that instead of an empty range.
#[cold]
fn unusual_time(cx: &mut CheckContext<'_>, record: &Record, row: usize, time: i128) {
    let (from, to) = cx.profile.range.unwrap_or((i128::MIN, i128::MAX));
    let inclusive = cx.version == Version::V1_3;
    let inside = time >= from && (time < to || (inclusive && time == to));
    let comparable = is_comparable(cx);
    let odd = match () {
        () if time == 0 => Some((&OP4015, String::new())),
        () if comparable && is_coarse(time) => Some((&OP4014, time.to_string())),
        () => None,
    };
    let of_parca = cx.receiver == Some(Receiver::Parca);
    if let Some((rule, found)) = odd {
        let spot = cx.element(rule, record, TIMES, row);
        cx.report(rule, spot, found, "");
        if !of_parca {
            return;
        }
    }
    let Some((from, to)) = cx.profile.range.filter(|_| !inside) else { return };
    let end = if cx.version == Version::V1_3 { ']' } else { ')' };
    let bound = match from == to && end == ')' {
        true => "a profile of duration 0 ns".to_owned(),
        false => format!("[{from}, {to}{end}"),
    };
    let severity = OP4012.level(Some(cx.version)).filter(|_| of_parca && time == to);
    let spot = cx.element(&OP4012, record, TIMES, row);
    cx.findings.report_as(&OP4012, severity, spot, time, bound);
}
