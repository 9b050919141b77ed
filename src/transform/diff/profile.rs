//! A difference as a profile with negative values, which pprof's tools show.

use std::collections::BTreeMap;

use crate::error::{Error, ErrorKind, Result};
use crate::limits::{Limits, setters};
use crate::losses::{Losses, VALUE_ZERO_DROPPED};
use crate::model::dictionary::{Attribute, Dictionary};
use crate::model::id::{AttributeId, StringId};
use crate::model::lazy_box::LazyBox;
use crate::model::profile::{Profile, ProfileId, ProfileParts, ValueType};
use crate::model::ragged::Ragged;
use crate::model::value::Value;
use crate::model::{Profiles, ResourceProfiles};
use crate::tables::rows::interner::Interner;
use crate::tables::rows::merge::{Remap, absorb};
use crate::transform::diff::apportion::{apportion, scale};
use crate::transform::diff::compare::common;
use crate::transform::merge::{MergeOptions, Merged, Merger, place_of};
use crate::units::{Dimension, Unit};

/// Options of [`diff_profile`].
///
/// ```
/// use otlp_profiles::Limits;
/// use otlp_profiles::transform::DiffProfile;
///
/// let options = DiffProfile::default().cancel(true).normalize(true).limits(Some(Limits::network()));
/// assert!(options.cancel && options.normalize);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiffProfile {
    /// Subtracts the base from equal samples, as `pprof -base`. Otherwise its samples stay apart, with the label
    /// `pprof::base`, as `pprof -diff_base`.
    pub cancel: bool,
    /// Scales the new values to the totals of the base, by sample type.
    pub normalize: bool,
    /// Limits of the result; unset, [`Limits::file`].
    pub limits: Option<Limits>,
}

setters! { DiffProfile {
    cancel: bool,
    normalize: bool,
    limits: Option<Limits>,
} }

/// The most sample types that a message names.
const MOST_NAMED: usize = 10;

/// Returns a profile of the new samples and the base's samples with negated values.
///
/// Each base profile joins the first new profile with the same sample types; its resource, scope, period, time and
/// attributes are those of the new one. Base profiles without a counterpart keep theirs. The time is linear in the
/// size of both.
///
/// # Errors
///
/// The sides have no sample type in common, the negated value of a sample or a difference does not fit 64 bits, or a limit is reached.
///
/// ```
/// use otlp_profiles::transform::{DiffProfile, diff_profile};
/// # let file = std::fs::read("testdata/go-heap.pb.gz").unwrap();
///
/// let heap = otlp_profiles::read(&file, &Default::default())?.profiles;
/// let same = diff_profile(&heap, &heap, &DiffProfile::default().cancel(true))?.profiles;
/// assert!(same.iter().all(|profile| profile.samples().is_empty()));
/// let both = diff_profile(&heap, &heap, &DiffProfile::default())?.profiles;
/// assert_eq!(both.iter().next().unwrap().sums(), [0, 0, 0, 0]);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub fn diff_profile(base: &Profiles, new: &Profiles, options: &DiffProfile) -> Result<Merged> {
    check_types(base, new)?;
    let limits = options.limits.unwrap_or_else(Limits::file);
    let mut interner = Interner::new(limits);
    let [new_rows, base_rows] =
        [absorb(&mut interner, &new.dictionary)?, absorb(&mut interner, &base.dictionary)?];
    let label = Attribute {
        key: interner.string(b"pprof::base")?,
        value: Value::String(interner.string(b"true")?),
        unit: StringId::NONE,
    };
    let label = (!options.cancel).then_some(interner.attribute(label)?);
    let dictionary = &interner.dictionary;
    let mut resources = renumbered(new, &new_rows);
    let mut rest = renumbered(base, &base_rows);
    if options.normalize {
        normalize(&mut resources, &rest, dictionary);
    }
    let index = index(&resources, dictionary);
    // Base profiles by the place of their counterparts: each list has as many as a scope, for which its order holds.
    let mut moved: BTreeMap<([usize; 2], usize), BTreeMap<usize, Profile>> = BTreeMap::new();
    let mut rounds: BTreeMap<[usize; 3], usize> = BTreeMap::new();
    for resource in &mut rest {
        for scope in &mut resource.scopes {
            for mut profile in std::mem::take(&mut scope.profiles) {
                negate(&mut profile, label)?;
                let Some(place) = index.get(&kinds(&profile, dictionary)) else {
                    scope.profiles.push(profile);
                    continue;
                };
                let [resource, row, at] = *place;
                copy_header(&resources[resource].scopes[row].profiles[at], &mut profile);
                let round = rounds.entry(*place).or_default();
                moved.entry(([resource, row], *round)).or_default().insert(at, profile);
                *round += 1;
            }
        }
        resource.scopes.retain(|scope| !scope.profiles.is_empty());
    }
    rest.retain(|resource| !resource.scopes.is_empty());
    for (([resource, row], _), profiles) in moved {
        let mut copy = place_of(&resources[resource], Some(&resources[resource].scopes[row]));
        if let Some(scope) = copy.scopes.first_mut() {
            scope.profiles = profiles.into_values().collect();
        }
        resources.push(copy);
    }
    resources.extend(rest);
    let options = MergeOptions::default().limits(limits).drop_zero(true).add_repeats(true);
    let mut merger = Merger::new(options);
    merger.add(&Profiles { dictionary: interner.dictionary, resources })?;
    let mut merged = merger.finish()?;
    // Samples that cancel out are the purpose of a difference.
    let kept = merged.losses.iter().filter(|loss| loss.code != VALUE_ZERO_DROPPED);
    let mut losses = Losses::default();
    kept.for_each(|loss| losses.add_many(loss.code, loss.count, || loss.first.join(", ")));
    merged.losses = losses;
    Ok(merged)
}

/// The profiles of a payload with the rows of a merged dictionary.
fn renumbered(profiles: &Profiles, rows: &Remap) -> Vec<ResourceProfiles> {
    let mut resources = profiles.resources.clone();
    resources.iter_mut().for_each(|resource| rows.resource_profiles(resource));
    resources
}

/// The identity of a sample type in a comparison: the name, and the dimension of the unit or the unit.
type Kind = (StringId, Result<Dimension, StringId>);

fn kind(of: &ValueType, dictionary: &Dictionary) -> Kind {
    (of.name, Unit::of(dictionary.text(of.unit)).map(Unit::dimension).ok_or(of.unit))
}

fn kinds(profile: &Profile, dictionary: &Dictionary) -> Vec<Kind> {
    profile.sample_types.iter().map(|of| kind(of, dictionary)).collect()
}

/// Fails if the sides have no sample type in common: nothing would be subtracted from anything.
fn check_types(base: &Profiles, new: &Profiles) -> Result<()> {
    if base.is_empty() || new.is_empty() || !common(&[base], &[new]).is_empty() {
        return Ok(());
    }
    let [base, new] = [base, new].map(|side| {
        let types = side.sample_types().into_iter().take(MOST_NAMED);
        types.map(|of| of.to_string()).collect::<Vec<_>>().join(", ")
    });
    let message = format!(
        "the sides have no sample type in common: the base has {base}, and the new profiles {new}"
    );
    Err(Error::new(ErrorKind::Unrepresentable, message))
}

/// The rows of a resource, a scope in it and a profile in that.
type Index = BTreeMap<Vec<Kind>, [usize; 3]>;

/// The first profile of each list of sample types.
fn index(resources: &[ResourceProfiles], dictionary: &Dictionary) -> Index {
    let mut index = Index::new();
    for (row, resource) in resources.iter().enumerate() {
        for (scope_row, scope) in resource.scopes.iter().enumerate() {
            for (at, profile) in scope.profiles.iter().enumerate() {
                index.entry(kinds(profile, dictionary)).or_insert([row, scope_row, at]);
            }
        }
    }
    index
}

/// Negates the values of a profile and labels its samples.
fn negate(profile: &mut Profile, label: Option<AttributeId>) -> Result<()> {
    // Each timestamp of a sample without values counts 1, unless there are several sample types.
    let is_one = profile.sample_types.len() < 2;
    let samples = &mut profile.samples;
    let mut values = Ragged::default();
    for sample in &*samples {
        let times = sample.timestamps_unix_nano.len();
        values.items.extend_from_slice(sample.values);
        values.items.extend(std::iter::repeat_n(
            1,
            if is_one && sample.values.is_empty() { times } else { 0 },
        ));
        values.end_row();
    }
    samples.values = values;
    for value in &mut samples.values.items {
        *value = value.checked_neg().ok_or_else(|| {
            let message = format!("value.overflow: {value} has no negative in 64 bits");
            Error::new(ErrorKind::Unrepresentable, message)
        })?;
    }
    if let Some(label) = label {
        let mut labelled = Ragged::default();
        for row in 0..samples.stacks.len() {
            labelled.items.extend_from_slice(samples.attributes.row(row));
            labelled.items.push(label);
            labelled.end_row();
        }
        samples.attributes = labelled;
    }
    Ok(())
}

/// Gives a base profile the identity and the time of its counterpart.
fn copy_header(from: &Profile, to: &mut Profile) {
    to.time_unix_nano = from.time_unix_nano;
    to.duration_nanos = from.duration_nanos;
    (to.period_type, to.period) = (from.period_type, from.period);
    to.attributes = from.attributes.clone();
    to.default_sample_type = from.default_sample_type;
    to.profile_id = ProfileId::NONE;
    to.original_payload_format = StringId::NONE;
    to.original_payload = LazyBox::NONE;
    for (to, from) in to.sample_types.iter_mut().zip(&from.sample_types) {
        to.temporality = from.temporality;
    }
}

/// Scales the values of each sample type so that they add up to the total of the base.
fn normalize(
    resources: &mut [ResourceProfiles],
    base: &[ResourceProfiles],
    dictionary: &Dictionary,
) {
    let mut totals: BTreeMap<Kind, i128> = BTreeMap::new();
    for profile in base.iter().flat_map(|of| &of.scopes).flat_map(|scope| &scope.profiles) {
        for (of, sum) in profile.sample_types.iter().zip(profile.sums()) {
            let factor = Unit::of(dictionary.text(of.unit)).map_or(1, Unit::factor);
            *totals.entry(kind(of, dictionary)).or_default() += sum * factor;
        }
    }
    for (wanted, total) in totals {
        let mut values: BTreeMap<i128, Vec<i128>> = BTreeMap::new();
        each_value(resources, wanted, dictionary, |value, factor| {
            values.entry(factor).or_default().push(i128::from(*value));
        });
        let own = |values: &[i128]| values.iter().sum::<i128>();
        let sum: i128 = values.iter().map(|(factor, values)| factor * own(values)).sum();
        // Each unit apart: values in different units have no common sum.
        let of_unit = |(factor, values): (i128, Vec<i128>)| {
            let own = own(&values);
            let to = if sum == 0 { 0 } else { scale(own, total, sum) };
            (factor, apportion(&values, [to, own]).into_iter())
        };
        let mut scaled: BTreeMap<i128, _> = values.into_iter().map(of_unit).collect();
        each_value(resources, wanted, dictionary, |value, factor| {
            let next = scaled.get_mut(&factor).and_then(Iterator::next);
            *value = next.and_then(|scaled| i64::try_from(scaled).ok()).unwrap_or(*value);
        });
    }
}

/// Calls `f` with each value of a sample type and the factor of its unit.
fn each_value(
    resources: &mut [ResourceProfiles],
    wanted: Kind,
    dictionary: &Dictionary,
    mut f: impl FnMut(&mut i64, i128),
) {
    let scopes = resources.iter_mut().flat_map(|resource| &mut resource.scopes);
    for profile in scopes.flat_map(|scope| &mut scope.profiles) {
        let ProfileParts { sample_types, samples, .. } = &mut **profile;
        let columns = sample_types.len().max(1);
        for (column, of) in sample_types.iter().enumerate() {
            if kind(of, dictionary) == wanted {
                let factor = Unit::of(dictionary.text(of.unit)).map_or(1, Unit::factor);
                let values = samples.values.items.iter_mut().skip(column).step_by(columns);
                values.for_each(|value| f(value, factor));
            }
        }
    }
}
