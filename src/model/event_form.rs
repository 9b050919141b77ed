//! How a profile of timestamped events said what no other format has a place for.

use crate::model::thin::Blank;

/// What a profile of timestamped events says beyond the model, so that it is written as it was.
/// Where the samples were changed since, so that it does not fit them, it is not followed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventForm {
    /// The value of events that say none; of several added up, that of each.
    pub(crate) default_value: u64,
    /// What its times were counted by.
    pub(crate) clock: Option<EventClock>,
    /// Of each event, sample by sample, its place among those of all profiles; empty where it is the
    /// usual one.
    pub(crate) places: Vec<u32>,
    /// The texts, from the first on, that are those of its table, whether or not anything refers to
    /// them.
    pub(crate) texts: u32,
    /// The events, ascending, whose count of one is said in another way than is usual: with times it is
    /// said, without it is not.
    pub(crate) odd_counts: Vec<u32>,
    /// The events, ascending, that say their worth in another way than is usual: with times it is the
    /// value, without the sum, and neither where the default value and the count say it.
    pub(crate) odd_worths: Vec<(u32, Worth)>,
}

/// The fields that say what an event is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Worth {
    Value,
    Sum,
    /// The same number in each.
    Both,
}

/// A clock: when it began, in nanoseconds since 1970, and its cycles in a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EventClock {
    pub(crate) time_unix_nano: u64,
    pub(crate) frequency: u64,
}

impl EventClock {
    /// The cycles of a clock whose cycles are nanoseconds.
    pub(crate) const NANOS: u64 = 1_000_000_000;
}

impl EventForm {
    pub(crate) const NONE: Self = Self {
        default_value: 0,
        clock: None,
        places: Vec::new(),
        texts: 0,
        odd_counts: Vec::new(),
        odd_worths: Vec::new(),
    };

    /// The bytes of memory it takes, beside itself.
    pub(crate) fn owned_bytes(&self) -> usize {
        size_of_val(&self.places[..])
            + size_of_val(&self.odd_counts[..])
            + size_of_val(&self.odd_worths[..])
    }
}

impl Blank for EventForm {
    const BLANK: &'static Self = &Self::NONE;
}
