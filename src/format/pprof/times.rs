//! Timestamps in labels: samples that differ in nothing else become one with several timestamps.
//!
//! pprof has no timestamps; profilers that have them give each its own sample with a numeric label. Only a
//! caller who names the label has it taken for a time ([`ReadOptions::timestamp_label`](crate::ReadOptions::timestamp_label)).
//!
//! ```text
//! stack attributes          value        stack attributes   values   timestamps
//! s1    [ts=10 thread=a]    3            s1    [thread=a]   [3 1]    [10 20]
//! s1    [ts=20 thread=a]    1     ─►     s1    [thread=b]   []       [20]
//! s1    [ts=20 thread=b]    1
//! ```
//!
//! Values of 1 are left out: a timestamp without a value counts 1.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::model::dictionary::Dictionary;
use crate::model::id::{AttributeId, LinkId, StackId};
use crate::model::profile::Profile;
use crate::model::samples::Samples;
use crate::model::value::Value;

/// What makes samples one.
///
/// Attributes are sorted, as their order in a sample means nothing.
type Identity = (StackId, Vec<AttributeId>, LinkId);

/// Folds the samples of a profile by the numeric label `label`, which is their time.
///
/// A profile of several sample types has no value for each timestamp, and keeps its labels.
///
/// A label that is not a number, or negative, is kept as it is.
pub(crate) fn fold(profile: &mut Profile, dictionary: &Dictionary, label: &str) {
    if profile.sample_types.len() != 1 {
        return;
    }
    let time = |id: &AttributeId| match dictionary.attribute(*id) {
        Some(attribute) if dictionary.text(attribute.key) == label => match attribute.value {
            Value::Int(nanos) => u64::try_from(nanos).ok(),
            _ => None,
        },
        _ => None,
    };
    let old = std::mem::take(&mut profile.samples);
    let mut groups: Vec<(usize, Vec<(u64, i64)>)> = Vec::new();
    let mut index: HashMap<Identity, usize, RandomState> = HashMap::default();
    for (row, sample) in old.iter().enumerate() {
        let at = sample.attributes.iter().find_map(time);
        let mut rest: Vec<AttributeId> =
            sample.attributes.iter().copied().filter(|id| time(id).is_none()).collect();
        rest.sort_unstable();
        let value = sample.values.first().copied().unwrap_or_default();
        match at {
            None => groups.push((row, Vec::new())),
            Some(nanos) => {
                let group = *index.entry((sample.stack, rest, sample.link)).or_insert_with(|| {
                    groups.push((row, Vec::new()));
                    groups.len() - 1
                });
                groups[group].1.push((nanos, value));
            }
        }
    }
    profile.samples = folded(&old, groups, |id| time(id).is_some());
}

/// Samples anew: those of a group are one, its times ascending; values only where one of them is not 1.
///
/// A group stands where its first sample stood; its link and attributes are that sample's.
fn folded(
    old: &Samples,
    groups: Vec<(usize, Vec<(u64, i64)>)>,
    is_time: impl Fn(&AttributeId) -> bool,
) -> Samples {
    let mut new = Samples::default();
    for (row, mut points) in groups {
        let Some(sample) = old.get(row) else { continue };
        let at = new.stacks.len();
        new.stacks.push(sample.stack);
        let timed = !points.is_empty();
        let kept: Vec<AttributeId> =
            sample.attributes.iter().copied().filter(|id| !(timed && is_time(id))).collect();
        new.attributes.push_at(at, &kept);
        new.set_link(at, sample.link);
        points.sort_by_key(|(nanos, _)| *nanos);
        if !timed {
            new.values.push_at(at, sample.values);
        } else if points.iter().any(|(_, value)| *value != 1) {
            new.values.push_at(at, &points.iter().map(|(_, value)| *value).collect::<Vec<_>>());
        }
        new.timestamps.push_at(at, &points.iter().map(|(nanos, _)| *nanos).collect::<Vec<_>>());
    }
    new
}
