//! Two ways to summarise a message: counting its rows, or reading all of it.
//!
//! Both give a [`Summary`]. [`Summarised`] lets one loop over messages use either.
//!
//! ```text
//! Quick   Summary::of(payload)               counts samples and rows, does not resolve references
//! Full    Summary::of_reading(read(payload)) validates everything, then adds it up
//! ```

use std::ops::Deref;

use otlp_profiles::{Detected, Profiles, ReadOptions, Reading, Summary, read};

use crate::reading::Summarised;

/// The summary of a message.
pub(crate) struct MessageSummary<const COUNTED: bool>(Summary);

/// The summary of a message that was read completely.
pub(crate) type Full = MessageSummary<false>;

/// The summary of a message whose rows were counted.
///
/// If the walk meets an unusual field, the library reads the message instead. The numbers are the
/// same either way; `Summary::is_checked` reports which it was.
pub(crate) type Quick = MessageSummary<true>;

impl<const COUNTED: bool> Summarised for MessageSummary<COUNTED> {
    fn read(payload: &[u8], options: &ReadOptions) -> otlp_profiles::Result<Self> {
        match COUNTED {
            true => Summary::of(payload, options).map(Self),
            false => read(payload, options).map(Self::of),
        }
    }

    fn of(reading: Reading) -> Self {
        Self(Summary::of_reading(reading))
    }

    fn detected(&self) -> &Detected {
        self.0.detected()
    }

    fn profiles(&self) -> &Profiles {
        self.0.outline()
    }
}

impl<const COUNTED: bool> Deref for MessageSummary<COUNTED> {
    type Target = Summary;

    fn deref(&self) -> &Summary {
        &self.0
    }
}
