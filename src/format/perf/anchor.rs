//! When events were: perf's times count from when the machine was started.
//!
//! ```text
//! # captured on    : Fri Nov 20 10:25:30 2026        when the recording ended, to the second
//! busy 3105 2121.621847: …                           seconds since the machine was started
//! ```
//!
//! The last event is taken to be at the end of the recording, unless the option `boot-time` says
//! better. Without either, samples have no timestamps: those of 1970 would be wrong in silence.

use crate::error::{Error, Result};
use crate::format::calendar::of_ctime;
use crate::format::intake::Intake;
use crate::format::losses::{TIME_COARSE, TIME_NO_ANCHOR};

/// What is known of when the machine was started.
///
/// Events are read before the last one is known, so times are kept relative and moved at the end.
pub(super) enum Anchor {
    /// The nanoseconds since 1970.
    Boot(u64),
    /// The recording ended then, in nanoseconds since 1970: after the last event that was met.
    End {
        /// Of the header.
        captured: u64,
        /// The largest time that was met so far.
        last: u64,
    },
    Unknown,
}

impl Anchor {
    /// By when the machine started, if that is known; else by what the header says.
    ///
    /// The option wins over the header, which is coarse.
    pub(super) fn of(boot: Option<u64>) -> Self {
        boot.map_or(Self::Unknown, Self::Boot)
    }

    /// Takes what the header says: `Fri Nov 20 10:25:30 2026`.
    ///
    /// A date that cannot be read, or is before 1970, says nothing.
    pub(super) fn captured_on(&mut self, date: &str) {
        let captured = of_ctime(date).and_then(|nanos| u64::try_from(nanos).ok());
        if let (Self::Unknown, Some(captured)) = (&self, captured) {
            *self = Self::End { captured, last: 0 };
        }
    }

    /// The timestamp of an event, less what [`boot`](Self::boot) says in the end.
    ///
    /// # Errors
    ///
    /// A boot time with which the sum is past 64 bits.
    pub(super) fn time(&mut self, time: u64, intake: &mut Intake) -> Result<Option<u64>> {
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
                let said = || {
                    "times are relative to the start of the machine: set it with the option boot-time".to_owned()
                };
                intake.note(TIME_NO_ANCHOR, String::new, said);
                Ok(None)
            }
        }
    }

    /// What is to be added to timestamps, now that all events were met.
    pub(super) fn boot(&self, intake: &mut Intake) -> u64 {
        let Self::End { captured, last: last @ 1.. } = self else { return 0 };
        let said = || {
            "the header has the end of the recording in whole seconds of local time, read as UTC: set the exact time with the option boot-time".to_owned()
        };
        intake.note(TIME_COARSE, String::new, said);
        captured.saturating_sub(*last)
    }
}
