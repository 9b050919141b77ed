//! Converts perf's times, which count from the start of the machine, to timestamps.
//!
//! ```text
//! # captured on    : Fri Nov 20 10:25:30 2026        end of the recording, in whole seconds
//! busy 3105 2121.621847: …                           seconds since the start of the machine
//! ```
//!
//! The last event is assumed to be at the end of the recording, unless the option `boot-time` provides the
//! start of the machine. Without either, samples have no timestamps, because times since 1970 would be
//! silently wrong.

use crate::calendar::of_ctime;
use crate::error::{Error, Result};
use crate::losses::{TIME_COARSE, TIME_NO_ANCHOR};
use crate::read_context::ReadContext;

/// The start of the machine, as far as it is known.
///
/// The last event is known only at the end, so timestamps stay relative until then.
pub(super) enum Anchor {
    /// The start in nanoseconds since 1970.
    Boot(u64),
    /// The end of the recording. The last event is assumed to be at that time.
    End {
        /// The end from the header, in nanoseconds since 1970.
        captured: u64,
        /// The largest time so far.
        last: u64,
    },
    Unknown,
}

impl Anchor {
    /// Creates the anchor from the option, which takes precedence over the coarse time in the header.
    pub(super) fn of(boot: Option<u64>) -> Self {
        boot.map_or(Self::Unknown, Self::Boot)
    }

    /// Parses the end of the recording in the header: `Fri Nov 20 10:25:30 2026`.
    ///
    /// Ignores an invalid date, or one before 1970.
    pub(super) fn captured_on(&mut self, date: &str) {
        let captured = of_ctime(date).and_then(|nanos| u64::try_from(nanos).ok());
        if let (Self::Unknown, Some(captured)) = (&self, captured) {
            *self = Self::End { captured, last: 0 };
        }
    }

    /// Returns the timestamp of an event. The caller adds [`time_offset`](Self::time_offset) after the last event.
    ///
    /// # Errors
    ///
    /// The sum with the boot time exceeds 64 bits.
    pub(super) fn time(&mut self, time: u64, cx: &mut ReadContext) -> Result<Option<u64>> {
        match self {
            Self::Boot(boot) => boot
                .checked_add(time)
                .map(Some)
                .ok_or_else(|| Error::malformed("the time overflows 64 bits of nanoseconds")),
            Self::End { last, .. } => {
                *last = time.max(*last);
                Ok(Some(time))
            }
            Self::Unknown => {
                let message = || {
                    "times are relative to the start of the machine: set it with the option boot-time".to_owned()
                };
                cx.note(TIME_NO_ANCHOR, String::new, message);
                Ok(None)
            }
        }
    }

    /// Returns the offset to add to all timestamps, after all events are read.
    pub(super) fn time_offset(&self, cx: &mut ReadContext) -> u64 {
        let Self::End { captured, last: last @ 1.. } = self else { return 0 };
        let message = || {
            "the header has the end of the recording in whole seconds of local time, read as UTC: set the exact time with the option boot-time".to_owned()
        };
        cx.note(TIME_COARSE, String::new, message);
        captured.saturating_sub(*last)
    }
}
