//! The usual order of events: those with times clock by clock, each by time; then the others, those
//! of one row of all types together.
//!
//! A payload whose events stand in this order is written without looking any place up. Times then
//! only grow within a clock, so deltas are small and varints short.

/// What events are ordered by: smaller ones come first.
///
/// Compared field by field in the order of declaration: the order of the fields is the order of
/// events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// False before true.
    is_timeless: bool,
    clock: u32,
    /// The time, or the row of the sample.
    at: u64,
    /// Twice the type and 1 without times when reading, the number of the series when writing:
    /// either tells events of one time or row apart in the same order.
    series: u32,
    /// The sample within its series.
    row: u32,
    /// Its number among the events of the sample; no two events of a series have the same row and
    /// number.
    nth: u32,
}

impl Place {
    /// The place of an event: of which series it is, in which row, and the how manieth there.
    pub(super) fn of(time: Option<(u32, u64)>, series: usize, row: u32, nth: u32) -> Self {
        let (clock, at) = time.unwrap_or((0, row.into()));
        Self { is_timeless: time.is_none(), clock, at, series: series as u32, row, nth }
    }
}
