//! The default order of events: first those with times, by clock and time; then the others, by row, across
//! types.
//!
//! A payload in this order is written without looking up places. Times within a clock only increase, so
//! deltas and their varints are small.

/// The sort key of an event.
///
/// Compared field by field in the order of declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SortKey {
    /// False before true.
    is_timeless: bool,
    clock: u32,
    /// The time, or the row of the sample.
    at: u64,
    /// When reading, twice the type, plus 1 without times; when writing, the number of the series. Both order
    /// events of equal time or row in the same way.
    series: u32,
    /// The sample within its series.
    row: u32,
    /// The number of the event in its sample. Events of a series differ in row or number.
    nth: u32,
}

impl SortKey {
    /// Builds the key of an event from its series, its row, and its number in that row.
    pub(super) fn of(time: Option<(u32, u64)>, series: usize, row: u32, nth: u32) -> Self {
        let (clock, at) = time.unwrap_or((0, row.into()));
        Self { is_timeless: time.is_none(), clock, at, series: series as u32, row, nth }
    }
}
