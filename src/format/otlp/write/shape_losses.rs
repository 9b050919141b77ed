//! Losses that OTLP's older generations and pprof have in common.

use crate::format::columns::Joined;
use crate::format::losses::{self, Losses};
use crate::model::id::StringId;
use crate::model::profile::{Profile, ProfileId};

/// Counts the stacktrace ids of a profile, where they cannot be said.
pub(crate) fn stacktrace_ids(profile: &Profile, losses: &mut Losses) {
    let lost = profile.samples.stacktrace_ids.iter().filter(|id| **id != StringId::NONE).count();
    losses.add_many(losses::STACKTRACE_ID_DROPPED, lost as u64, || {
        "sample.stacktrace_id_index".to_owned()
    });
}

/// Counts what the first of some columns, which speaks for all of them, does not say for the others.
pub(crate) fn columns(joined: &Joined, losses: &mut Losses) {
    let first = joined.first();
    for other in joined.profiles.iter().skip(1) {
        let id = other.profile_id != ProfileId::NONE && other.profile_id != first.profile_id;
        losses.add_many(losses::PROFILE_ID_DROPPED, u64::from(id), || "profile_id".to_owned());
        let count = other.dropped_attributes_count != first.dropped_attributes_count;
        losses.add_many(losses::DROPPED_COUNT_DROPPED, u64::from(count), || {
            "dropped_attributes_count".to_owned()
        });
    }
}
