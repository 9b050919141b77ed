//! What is mended in profiles that were read: empty ones go, timestamps come in order.
//!
//! Writing anew repairs what lies in tables (equal rows, unused rows, missing zero rows) by itself.
//! What it would keep as it is, and rules complain about, is changed here in the model, between
//! reading and writing.
//!
//! | rule | what is done |
//! |---|---|
//! | `OP2002`, `OP2003`, `OP2004` | empty resources, scopes and profiles are left out |
//! | `OP4013` | times are sorted with their values |

use crate::format::Format;
use crate::model::Profiles;
use crate::model::profile::Profile;
use crate::model::ragged::Ragged;
use crate::model::samples::Samples;

/// Leaves out profiles that hold nothing, and scopes and resources without profiles; nothing, where
/// nothing would be left.
///
/// A payload that is empty altogether stays: no message at all is something else than a message
/// that says "nothing".
pub(super) fn leave_out_empty(profiles: &mut Profiles) {
    if profiles.iter().all(is_empty) {
        return;
    }
    for resource in &mut profiles.resources {
        let Some(resource) = resource.parts_mut() else { continue };
        for scope in resource.scopes.iter_mut().filter_map(|scope| scope.parts_mut()) {
            scope.profiles.retain(|profile| !is_empty(profile));
        }
        resource.scopes.retain(|scope| !scope.profiles().is_empty());
    }
    profiles.resources.retain(|resource| !resource.scope_profiles().is_empty());
}

/// Whether a profile has no samples, not what they were made from, and nothing that is known of it beyond
/// what it would have measured and when.
///
/// Attributes, a count of dropped ones and an original payload say something that would be lost.
fn is_empty(profile: &Profile) -> bool {
    let says = !profile.attributes().is_empty() || profile.dropped_attributes_count() != 0;
    profile.samples().is_empty() && profile.original_payload().1.is_empty() && !says
}

/// Brings the timestamps of each sample in order, each with its value where a value is one of a timestamp.
///
/// Linear where they are in order already, as nearly all are.
pub(super) fn sort_timestamps(profiles: &mut Profiles, format: Format) {
    let paired =
        format.schema().is_some_and(|version| !version.capabilities().several_sample_types);
    let resources = profiles.resources.iter_mut().filter_map(|resource| resource.parts_mut());
    let scopes = resources.flat_map(|resource| &mut resource.scopes);
    let scopes = scopes.filter_map(|scope| scope.parts_mut());
    let profiles = scopes.flat_map(|scope| &mut scope.profiles);
    for profile in profiles.filter_map(|profile| profile.parts_mut()) {
        sort(&mut profile.samples, paired);
    }
}

/// Sorts times, or where they are `paired` pairs of a time and a value by time; equal times stay as they came.
///
/// The values of a pair go with their times: the n-th value is of the n-th timestamp. A sample of which the
/// lengths differ has no pairs to keep together, and is left. Up to 1.7 a value is that of a sample type.
fn sort(samples: &mut Samples, paired: bool) {
    let Some(times) = samples.timestamps.get_mut() else { return };
    for row in 0..times.len() {
        let values = row_mut(&mut samples.values, row);
        let Some(times) = row_mut(times, row).filter(|times| !times.is_sorted()) else { continue };
        match values.filter(|_| paired) {
            Some(values) if values.len() == times.len() => {
                let mut pairs: Vec<(u64, i64)> =
                    times.iter().copied().zip(values.iter().copied()).collect();
                pairs.sort_by_key(|pair| pair.0);
                for (at, (time, value)) in pairs.into_iter().enumerate() {
                    (times[at], values[at]) = (time, value);
                }
            }
            // Without values of their own they are all alike.
            None | Some([]) => times.sort_unstable(),
            Some(_) => {}
        }
    }
}

/// A row of a ragged column, to be changed where it is.
///
/// Rows lie end to end; `ends` has where each stops.
fn row_mut<T>(rows: &mut Ragged<T>, row: usize) -> Option<&mut [T]> {
    let end = *rows.ends.get(row)? as usize;
    let start =
        row.checked_sub(1).and_then(|before| rows.ends.get(before)).map_or(0, |end| *end as usize);
    rows.items.get_mut(start..end)
}
