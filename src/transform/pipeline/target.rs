//! Names, units and values of the sample types that a stage emits.

use std::fmt;

use crate::error::Result;
use crate::losses::{self, Losses};
use crate::model::Profiles;
use crate::model::dictionary::Dictionary;
use crate::model::profile::{AggregationTemporality, Profile};
use crate::model::ragged::Ragged;
use crate::model::value::KeyValue;
use crate::transform::arithmetic::{Expression, Operands, number, whole};
use crate::transform::scale::{count_explicitly, fit};

/// Renames a sample type, given its name and unit.
type RenameType = Box<dyn Fn(&str, &str) -> (String, String) + Send + Sync>;

/// The name, unit and temporality of the sample types that a stage emits. By default they stay.
///
/// ```
/// use otlp_profiles::model::AggregationTemporality;
/// use otlp_profiles::transform::Target;
///
/// let target = Target::default()
///     .rename(|name, unit| (format!("{name}.rate"), format!("{unit}/s")))
///     .temporality(AggregationTemporality::UNSPECIFIED);
/// ```
#[derive(Default)]
pub struct Target {
    pub(super) rename: Option<RenameType>,
    pub(super) temporality: Option<AggregationTemporality>,
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target").finish_non_exhaustive()
    }
}

impl Target {
    /// Renames sample types: from a name and a unit to another name and unit.
    #[must_use]
    pub fn rename(
        mut self,
        rename: impl Fn(&str, &str) -> (String, String) + Send + Sync + 'static,
    ) -> Self {
        self.rename = Some(Box::new(rename));
        self
    }

    /// Sets the temporality: changes, totals, or neither (`UNSPECIFIED`), such as states.
    #[must_use]
    pub fn temporality(mut self, temporality: AggregationTemporality) -> Self {
        self.temporality = Some(temporality);
        self
    }

    /// Changes the sample types with a unit, or all.
    pub(super) fn apply(&self, profiles: &mut Profiles, unit: Option<&str>) {
        let Profiles { dictionary, resources } = profiles;
        let scopes = resources.iter_mut().flat_map(|resource| &mut resource.scopes);
        for profile in scopes.flat_map(|scope| &mut scope.profiles) {
            for of in &mut profile.sample_types {
                let [name, from] = [of.name, of.unit].map(|id| dictionary.text(id));
                if unit.is_some_and(|unit| unit != from) {
                    continue;
                }
                if let Some(rename) = &self.rename {
                    let (name, unit) = rename(name, from);
                    of.name = dictionary.strings.find_or_push(&name);
                    of.unit = dictionary.strings.find_or_push(&unit);
                }
                of.temporality = self.temporality.or(of.temporality);
            }
        }
    }
}

/// How values are computed from others.
pub(super) struct Formula<'a> {
    /// An expression for the new value, or for a factor. The number 0 changes nothing.
    pub(super) scale: Option<&'a Expression>,
    /// A fraction that values are multiplied by as well.
    pub(super) fraction: (i128, i128),
    /// The largest value.
    pub(super) max: Option<f64>,
}

impl Formula<'_> {
    /// Computes the values of the sample types with a unit, or of all. Drops samples whose values are undefined.
    pub(super) fn apply(
        &self,
        profiles: &mut Profiles,
        unit: Option<&str>,
        losses: &mut Losses,
    ) -> Result<()> {
        let Profiles { dictionary, resources } = profiles;
        for resource in resources {
            let around = &resource.resource.attributes;
            let around: &[KeyValue] = &around.clone();
            let scopes = &mut resource.scopes;
            for profile in scopes.iter_mut().flat_map(|scope| &mut scope.profiles) {
                self.apply_to(profile, around, unit, dictionary, losses)?;
            }
        }
        Ok(())
    }

    fn apply_to(
        &self,
        profile: &mut Profile,
        around: &[KeyValue],
        unit: Option<&str>,
        dictionary: &Dictionary,
        losses: &mut Losses,
    ) -> Result<()> {
        let types = profile.sample_types.iter();
        let is_wanted = |of| unit.is_none_or(|unit| unit == dictionary.text(of));
        let wanted: Vec<bool> = types.map(|of| is_wanted(of.unit)).collect();
        if !wanted.contains(&true) {
            return Ok(());
        }
        count_explicitly(profile);
        let samples = &mut profile.samples;
        let (mut values, mut kept) = (Ragged::default(), Vec::with_capacity(samples.len()));
        let (mut rounded, mut undefined) = (0, 0);
        for row in 0..samples.len() {
            let own = samples.attributes.row(row);
            let of_attribute = |key: &str| number(own, around, key, dictionary);
            let mut is_defined = true;
            for (at, value) in samples.values.row(row).iter().enumerate() {
                let is_wanted = wanted[if wanted.len() == 1 { 0 } else { at }];
                let new = match is_wanted {
                    true => self.value(*value, &of_attribute, &mut rounded)?,
                    false => Some(*value),
                };
                is_defined &= new.is_some();
                values.items.push(new.unwrap_or(0));
            }
            values.end_row();
            kept.push(is_defined);
            undefined += u64::from(!is_defined);
        }
        samples.values = values;
        if undefined > 0 {
            samples.retain(&kept);
        }
        losses.add_many(losses::DERIVE_UNDEFINED, undefined, String::new);
        losses.add_many(losses::VALUE_ROUNDED, rounded, String::new);
        Ok(())
    }

    /// The new value; `None` if it is undefined. Whole factors are exact.
    fn value(
        &self,
        value: i64,
        of_attribute: &dyn Fn(&str) -> Option<f64>,
        rounded: &mut u64,
    ) -> Result<Option<i64>> {
        let (numerator, divisor) = self.fraction;
        let result = match self.scale {
            None => Ok(1),
            Some(scale) => {
                let operands =
                    Operands { of_type: &|_| None, of_attribute, value: Some(value as f64) };
                let result = scale.result(&operands);
                let is_exact = result.fract() == 0.0 && result.abs() < 2f64.powi(53);
                match scale.names_value() {
                    true => Err(result),
                    false if is_exact => Ok(result as i128),
                    false => Err(value as f64 * result * (numerator as f64 / divisor as f64)),
                }
            }
        };
        let new = match result {
            Ok(factor) => fit(value, factor.saturating_mul(numerator), divisor, rounded)?,
            Err(result) if !result.is_finite() => return Ok(None),
            Err(result) => whole(result, rounded)?,
        };
        let max = self.max.filter(|max| (new as f64) > *max);
        max.map_or(Ok(Some(new)), |max| whole(max, rounded).map(Some))
    }
}
