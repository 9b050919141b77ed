//! What is described of a message: by a walk that counts, or by reading all of it.
//!
//! Both are a [`Summary`]; they differ in how it is made, and [`Known`] lets the one loop over
//! messages make either.
//!
//! ```text
//! Quick   Summary::of(payload)               samples and rows are counted, references are not followed
//! Full    Summary::of_reading(read(payload)) everything is proved, then summed up
//! ```

use std::ops::Deref;

use otlp_profiles::{Detected, Profiles, ReadOptions, Reading, Summary, read};

use crate::reading::Known;

/// The summary of a message that was read in full.
pub(crate) struct Full(Summary);

/// The summary of a message that was walked, if it is a usual one.
///
/// Where the walk meets what it does not know, the library reads the message instead: the numbers
/// are the same either way, and `Summary::is_checked` says which it was.
pub(crate) struct Quick(Summary);

impl Known for Full {
    fn read(payload: &[u8], options: &ReadOptions) -> otlp_profiles::Result<Self> {
        read(payload, options).map(Self::of)
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

impl Known for Quick {
    fn read(payload: &[u8], options: &ReadOptions) -> otlp_profiles::Result<Self> {
        Summary::of(payload, options).map(Self)
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

impl Deref for Full {
    type Target = Summary;

    fn deref(&self) -> &Summary {
        &self.0
    }
}

impl Deref for Quick {
    type Target = Summary;

    fn deref(&self) -> &Summary {
        &self.0
    }
}
