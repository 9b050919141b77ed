//! Timestamps in labels: merging of samples that differ only in time.
//!
//! pprof has no timestamps. Profilers that record them write a sample for each, with a numeric label. The
//! reader treats a label as a timestamp only if the caller names it
//! ([`ReadOptions::timestamp_label`](crate::ReadOptions::timestamp_label)).
//!
//! ```text
//! stack attributes          value        stack attributes   values   timestamps
//! s1    [ts=10 thread=a]    3            s1    [thread=a]   [3 1]    [10 20]
//! s1    [ts=20 thread=a]    1     ─►     s1    [thread=b]   []       [20]
//! s1    [ts=20 thread=b]    1
//! ```
//!
//! If all values are 1, they are omitted: a timestamp without a value counts 1.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::losses;
use crate::model::dictionary::{Attribute, Dictionary};
use crate::model::id::{AttributeId, LinkId, StackId};
use crate::model::profile::Profile;
use crate::model::samples::Samples;
use crate::model::value::Value;
use crate::read_context::ReadContext;
use crate::units::Unit;

/// The key for merging samples.
///
/// Attributes are sorted, because their order in a sample has no meaning.
type Identity = (StackId, Vec<AttributeId>, LinkId);

/// Merges the samples of a profile that differ only in the numeric label `label`, which becomes their
/// timestamps.
///
/// A profile with several sample types cannot store a value for each timestamp, and keeps its labels. A label
/// that is not a time since 1970 ([`nanos`]) stays a label too. Both cases are reported, and so is a missing
/// label.
///
/// Takes time linear in the samples, which are grouped by hash. The sum of a profile stays the same, because
/// each value becomes that of its timestamp.
pub(crate) fn fold(
    profile: &mut Profile,
    dictionary: &Dictionary,
    label: &str,
    cx: &mut ReadContext,
) {
    let one_type = profile.sample_types.len() == 1;
    let is_labelled = |attribute: &&Attribute| dictionary.text(attribute.key) == label;
    if !dictionary.attributes.iter().any(|attribute| is_labelled(&attribute)) {
        let message = || format!("no label has the key {label:?}");
        cx.note(losses::TIMESTAMP_LABEL_UNUSED, String::new, message);
        return;
    }
    for attribute in dictionary.attributes.iter().filter(is_labelled) {
        if !one_type || nanos(attribute, dictionary).is_none() {
            note(one_type, label, cx);
        }
    }
    if !one_type {
        return;
    }
    let time = |id: &AttributeId| nanos(dictionary.attribute(*id).filter(is_labelled)?, dictionary);
    let old = std::mem::take(&mut profile.samples);
    let mut groups: Vec<(usize, Vec<(u64, i64)>)> = Vec::new();
    let mut index: HashMap<Identity, usize, RandomState> = HashMap::default();
    for (row, sample) in old.iter().enumerate() {
        // The keys of a sample differ, so at most one attribute is the time.
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

/// Converts a label to nanoseconds since 1970: a number with a unit of time, or without a unit.
///
/// Returns `None` for a time before 1970 or past 64 bits, and for another unit.
fn nanos(attribute: &Attribute, dictionary: &Dictionary) -> Option<u64> {
    let Value::Int(time) = attribute.value else {
        return None;
    };
    let nanos = match dictionary.text(attribute.unit) {
        "" => 1,
        name => Unit::of(name)?.nanos()?,
    };
    u64::try_from(time).ok()?.checked_mul(nanos)
}

/// Reports a label that stays an attribute.
fn note(one_type: bool, label: &str, cx: &mut ReadContext) {
    cx.note(
        losses::TIMESTAMP_AS_ATTRIBUTE,
        || "sample.label".to_owned(),
        || match one_type {
            true => format!("label {label:?} is not a number in a unit of time since 1970"),
            false => format!(
                "label {label:?} cannot be read as a time in a profile with several sample types"
            ),
        },
    );
}

/// Builds the merged samples. Timestamps are ascending. Values are stored only if one of them is not 1.
///
/// A group has the position, the link and the attributes of its first sample.
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
        // Stable: samples with equal times keep the order of the file.
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
