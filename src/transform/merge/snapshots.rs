//! Snapshots among profiles that are not merged.

use crate::error::Result;
use crate::losses;
use crate::model::id::{LinkId, StackId};
use crate::model::measures::clamped;
use crate::model::samples::Samples;
use crate::model::{Profile, Profiles};
use crate::transform::merge::merger::Merger;
use crate::transform::merge::options::{MergeOptions, Snapshots};

/// Returns the profiles with their totals only: the positive values of all samples added up to one sample without a
/// stack, and the negative ones to another. Takes time linear in the size of the profiles.
///
/// ```
/// # let file = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let heap = otlp_profiles::read(&file, &Default::default())?.profiles;
/// let totals = otlp_profiles::transform::totals(&heap);
/// let [heap, totals] = [heap, totals].map(|of| of.iter().next().unwrap().clone());
/// assert_eq!((totals.samples().len(), totals.sums()), (1, heap.sums()));
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub fn totals(profiles: &Profiles) -> Profiles {
    let mut totals = profiles.clone();
    let scopes = totals.resources.iter_mut().flat_map(|resource| &mut resource.scopes);
    for profile in scopes.flat_map(|scope| &mut scope.profiles) {
        let sums = signed_sums(profile);
        profile.samples = Samples::default();
        for sums in sums.into_iter().filter(|sums| sums.iter().any(|sum| *sum != 0)) {
            profile.samples.push(StackId::NONE, &[], LinkId::NONE);
            profile.samples.values.items.extend(sums.into_iter().map(clamped));
            profile.samples.values.end_row();
        }
    }
    totals.compact();
    totals
}

/// The sums of the positive values and of the negative values, by sample type.
fn signed_sums(profile: &Profile) -> [Vec<i128>; 2] {
    let mut sums = [(); 2].map(|()| vec![0; profile.sample_types.len().max(1)]);
    for sample in &profile.samples {
        for (column, value) in profile.totals(sample).enumerate() {
            sums[usize::from(value < 0)][column] += i128::from(value);
        }
    }
    sums
}

/// Returns the sample types whose snapshots of one resource at several times are among the profiles, so that
/// whoever adds them up gets no state of any process.
///
/// # Errors
///
/// The profiles exceed [`Limits::file`](crate::Limits::file).
pub fn snapshots<'a>(profiles: impl IntoIterator<Item = &'a Profiles>) -> Result<Vec<Snapshots>> {
    let profiles: Vec<&Profiles> = profiles.into_iter().collect();
    if let [only] = profiles[..] {
        // Most payloads have each type once, so there is nothing to add up.
        let types = only.iter().map(|profile| profile.sample_types.len().max(1));
        if types.sum::<usize>() == only.sample_types().len() {
            return Ok(Vec::new());
        }
    }
    let mut merger = Merger::new(MergeOptions::default());
    profiles.into_iter().try_for_each(|profiles| merger.add(&totals(profiles)))?;
    let merged = merger.finish()?;
    let are_summed = merged.losses.get(losses::SNAPSHOTS_SUMMED.as_str()).is_some();
    Ok(if are_summed { merged.snapshots } else { Vec::new() })
}
