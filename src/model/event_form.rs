//! Fields of timestamped events that the model lacks.

use crate::model::lazy_box::EmptyDefault;

/// Details of a profile of timestamped events that the model cannot represent, so that it is written unchanged.
/// Writers ignore details that no longer fit the samples, because the samples were changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventForm {
    /// The value of events without one; for aggregated events, that of each.
    pub(crate) default_value: u64,
    /// The clock of its times.
    pub(crate) clock: Option<EventClock>,
    /// The position of each event, sample by sample, among the events of all profiles. Empty for the usual order.
    pub(crate) places: Vec<u32>,
    /// The number of strings, from the first on, that belong to its table, referenced or not.
    pub(crate) texts: u32,
    /// The events, ascending, that encode a count of one in the unusual way: explicit without times, or omitted
    /// with times.
    pub(crate) non_default_counts: Vec<u32>,
    /// The events, ascending, that encode their value in an unusual way. The usual way is the value for events with
    /// times, the sum for events without, and neither if the default value and the count determine it.
    pub(crate) non_default_values: Vec<(u32, ValueFields)>,
}

/// The fields that encode the value of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueFields {
    Value,
    Sum,
    /// Both fields, with the same number.
    Both,
}

/// A clock: its start in nanoseconds since 1970, and its cycles per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EventClock {
    pub(crate) time_unix_nano: u64,
    pub(crate) frequency: u64,
}

impl EventClock {
    /// The frequency of a clock that counts nanoseconds.
    pub(crate) const NANOS: u64 = 1_000_000_000;
}

impl EventForm {
    pub(crate) const NONE: Self = Self {
        default_value: 0,
        clock: None,
        places: Vec::new(),
        texts: 0,
        non_default_counts: Vec::new(),
        non_default_values: Vec::new(),
    };

    /// Returns the bytes of memory in its lists.
    pub(crate) fn owned_bytes(&self) -> usize {
        size_of_val(&self.places[..])
            + size_of_val(&self.non_default_counts[..])
            + size_of_val(&self.non_default_values[..])
    }
}

impl EmptyDefault for EventForm {
    const EMPTY: &'static Self = &Self::NONE;
}
