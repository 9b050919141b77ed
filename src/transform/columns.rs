//! The columns of one pprof, which are profiles of their own in OTLP 1.8 and later.

use std::ops::Range;

use crate::model::ScopeProfiles;
use crate::model::dictionary::Dictionary;
use crate::model::id::StringId;
use crate::model::lazy_box::LazyBox;
use crate::model::order::{columns, sample_type_order};
use crate::model::profile::{Profile, ProfileId};

/// The ranges of profiles in a scope that are the columns of one pprof: with the same samples.
pub(super) fn column_blocks(scope: &ScopeProfiles, dictionary: &Dictionary) -> Vec<Range<usize>> {
    let order = sample_type_order(scope, dictionary).and_then(Result::ok);
    let columns = columns(&order.unwrap_or_else(|| (0..scope.profiles.len()).collect()));
    let mut blocks = Vec::new();
    for block in columns.chunk_by(|a, b| a.0 == b.0) {
        let rows = block[0].0..block[0].0 + block.len();
        let of = &scope.profiles[rows.clone()];
        let same = |profile: &Profile| {
            let (samples, first) = (&profile.samples, &of[0].samples);
            samples.stacks == first.stacks && samples.timestamps == first.timestamps
        };
        if of.iter().all(same) {
            blocks.push(rows);
        } else {
            blocks.extend(rows.map(|row| row..row + 1));
        }
    }
    blocks
}

/// Clears the fields that one part of a profile has.
pub(super) fn forget_unique(profile: &mut Profile) {
    profile.profile_id = ProfileId::NONE;
    profile.original_payload_format = StringId::NONE;
    profile.original_payload = LazyBox::NONE;
    profile.dropped_attributes_count = 0;
}
