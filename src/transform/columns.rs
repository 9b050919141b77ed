//! The columns of one pprof, which are separate profiles in OTLP 1.8 and later.

use std::ops::Range;

use crate::losses::Losses;
use crate::model::ScopeProfiles;
use crate::model::dictionary::Dictionary;
use crate::model::id::StringId;
use crate::model::lazy_box::LazyBox;
use crate::model::profile::{Profile, ProfileId};
use crate::tables::profile::columns::{Join, Joined, join};

/// The profiles of a scope that are columns of one profile: those that a writer of pprof joins.
pub(super) fn column_blocks(scope: &ScopeProfiles, dictionary: &Dictionary) -> Vec<Range<usize>> {
    // A bad order is a loss of writing.
    let joined = join(scope, dictionary, Join::Compatible, &mut Losses::default());
    let mut end = 0;
    let rows = |block: &Joined<'_>| {
        let start = end;
        end += block.profiles.len();
        start..end
    };
    joined.iter().map(rows).collect()
}

/// Clears the fields that one part of a profile has.
pub(super) fn forget_unique(profile: &mut Profile) {
    profile.profile_id = ProfileId::NONE;
    profile.original_payload_format = StringId::NONE;
    profile.original_payload = LazyBox::NONE;
    profile.dropped_attributes_count = 0;
}
