//! The usual order of events: those with times clock by clock, each by time; then the others, those
//! of one row of all types together.

/// What events are ordered by: smaller ones come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    is_timeless: bool,
    clock: u32,
    /// The time, or the row of the sample.
    at: u64,
    series: u32,
    row: u32,
    nth: u32,
}

impl Place {
    /// The place of an event: of which series it is, in which row, and the how manieth there.
    pub(super) fn of(time: Option<(u32, u64)>, series: usize, row: u32, nth: u32) -> Self {
        let (clock, at) = time.unwrap_or((0, row.into()));
        Self { is_timeless: time.is_none(), clock, at, series: series as u32, row, nth }
    }
}
