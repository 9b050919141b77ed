//! Profiles that were restored from tables, and their parts.

use crate::model::Profiles;
use crate::model::ragged::Ragged;
use crate::model::samples::Samples;

/// A profile of a dataset, to choose among them.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ProfileRow<'a> {
    /// The key of its first row.
    pub profile_key: [u8; 16],
    /// `service.name` of the resource.
    pub service_name: &'a str,
    /// The start in nanoseconds since 1970.
    pub time_unix_nano: i64,
}

/// Profiles from a dataset.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Restored {
    /// The profiles, in the order in which they were exported.
    pub profiles: Profiles,
    /// For each profile, the name of its file and of the format of that.
    pub sources: Vec<(String, String)>,
}

/// The samples of a profile while rows of its types arrive.
#[derive(Default)]
pub(super) struct Columns {
    pub(super) samples: Samples,
    /// By type: the values of each sample.
    pub(super) values: Vec<Ragged<i64>>,
    /// By type: the number of samples.
    pub(super) counts: Vec<usize>,
}
