//! Corrections in the model: empty profiles are removed, timestamps are sorted.
//!
//! Rewriting corrects tables by itself (equal rows, unused rows, missing zero rows). Defects that rewriting
//! preserves are corrected here, between reading and writing.
//!
//! | rule | correction |
//! |---|---|
//! | `OP2002`, `OP2003`, `OP2004` | removes empty resources, scopes and profiles |
//! | `OP4013` | sorts timestamps together with their values |

use crate::format::Format;
use crate::model::Profiles;
use crate::model::profile::Profile;
use crate::model::ragged::Ragged;
use crate::model::samples::Samples;

/// Removes profiles without contents, and scopes and resources without profiles.
///
/// Leaves a payload alone if all of its profiles are empty: removing them would leave no message.
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

/// Whether a profile has no samples, no original payload, and no other data except its sample type and time.
///
/// Attributes, a count of dropped ones and an original payload are data that would be lost.
fn is_empty(profile: &Profile) -> bool {
    let has_data = !profile.attributes().is_empty() || profile.dropped_attributes_count() != 0;
    profile.samples().is_empty() && profile.original_payload().1.is_empty() && !has_data
}

/// Sorts the timestamps of each sample, together with their values if each value belongs to a timestamp.
///
/// Linear if they are sorted already, as nearly all are.
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

/// Sorts timestamps, or if `paired` the pairs of a timestamp and a value, by time. Stable.
///
/// The n-th value belongs to the n-th timestamp. A sample with lists of different lengths has no pairs and is left
/// alone. Up to 1.7 a value belongs to a sample type.
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
            // Timestamps without values are interchangeable.
            None | Some([]) => times.sort_unstable(),
            Some(_) => {}
        }
    }
}

/// A mutable row of a ragged column.
///
/// Rows are stored end to end; `ends` has the end of each.
fn row_mut<T>(rows: &mut Ragged<T>, row: usize) -> Option<&mut [T]> {
    let end = *rows.ends.get(row)? as usize;
    let start =
        row.checked_sub(1).and_then(|before| rows.ends.get(before)).map_or(0, |end| *end as usize);
    rows.items.get_mut(start..end)
}
