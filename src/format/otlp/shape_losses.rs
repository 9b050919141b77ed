//! Losses that OTLP's older generations and pprof have in common.

use crate::format::losses::{self, Losses};
use crate::model::id::StringId;
use crate::model::profile::Profile;

/// Counts the stacktrace ids of a profile, where they cannot be said.
pub(crate) fn stacktrace_ids(profile: &Profile, losses: &mut Losses) {
    let lost = profile.samples.stacktrace_ids.iter().filter(|id| **id != StringId::NONE).count();
    losses.add_many(losses::STACKTRACE_ID_DROPPED, lost as u64, || {
        "sample.stacktrace_id_index".to_owned()
    });
}
