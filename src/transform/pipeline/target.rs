//! Names, units and values of the sample types that a stage emits.

use std::fmt;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::error::Result;
use crate::losses::{self, Losses};
use crate::model::Profiles;
use crate::model::dictionary::Dictionary;
use crate::model::id::StringId;
use crate::model::profile::{AggregationTemporality, Profile, ValueType};
use crate::model::ragged::Ragged;
use crate::model::strings::Strings;
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

    /// Returns the new name and unit of a sample type.
    pub(super) fn renamed(&self, name: &str, unit: &str) -> (String, String) {
        match &self.rename {
            Some(rename) => rename(name, unit),
            None => (name.to_owned(), unit.to_owned()),
        }
    }

    /// Changes the sample types with a unit that is wanted.
    pub(super) fn apply(&self, profiles: &mut Profiles, is_wanted: impl Fn(&str, &str) -> bool) {
        let Profiles { dictionary, resources } = profiles;
        // Of equal strings the first.
        let strings = dictionary.strings.iter().zip(0..).filter(|_| self.rename.is_some());
        let mut ids: HashMap<String, StringId, RandomState> = HashMap::default();
        for (text, row) in strings {
            ids.entry_ref(text).or_insert(StringId(row));
        }
        let mut id = |text: String, strings: &mut Strings| {
            *ids.entry_ref(&*text).or_insert_with(|| strings.push(&text))
        };
        let scopes = resources.iter_mut().flat_map(|resource| &mut resource.scopes);
        for profile in scopes.flat_map(|scope| &mut scope.profiles) {
            for of in &mut profile.sample_types {
                let [name, from] = [of.name, of.unit].map(|id| dictionary.text(id));
                if !is_wanted(name, from) {
                    continue;
                }
                if self.rename.is_some() {
                    let (name, unit) = self.renamed(name, from);
                    of.name = id(name, &mut dictionary.strings);
                    of.unit = id(unit, &mut dictionary.strings);
                }
                of.temporality = self.temporality.or(of.temporality);
            }
        }
    }
}

/// Returns the fraction for the name and the unit of a sample type.
type Fraction<'a> = dyn Fn(&str, &str) -> Option<(i128, i128)> + 'a;

/// How values are computed from others.
pub(super) struct Formula<'a> {
    /// An expression for the new value, or for a factor. The number 0 changes nothing.
    pub(super) scale: Option<&'a Expression>,
    /// The fraction that values are multiplied by as well, by the name and the unit of a sample type; `None` leaves it
    /// unchanged.
    pub(super) fraction: &'a Fraction<'a>,
    /// The largest value.
    pub(super) max: Option<f64>,
}

impl Formula<'_> {
    /// Computes the values of all sample types with a fraction. Drops samples whose values are undefined.
    pub(super) fn apply(&self, profiles: &mut Profiles, losses: &mut Losses) -> Result<()> {
        let Profiles { dictionary, resources } = profiles;
        for resource in resources {
            let of_resource = resource.resource.attributes.clone();
            for scope in &mut resource.scopes {
                let of_scope = scope.scope.attributes.clone();
                let around = [&*of_scope, &*of_resource];
                for profile in &mut scope.profiles {
                    self.apply_to(profile, around, dictionary, losses)?;
                }
            }
        }
        Ok(())
    }

    fn apply_to(
        &self,
        profile: &mut Profile,
        around: [&[KeyValue]; 2],
        dictionary: &Dictionary,
        losses: &mut Losses,
    ) -> Result<()> {
        let types = profile.sample_types.iter();
        let fraction =
            |of: &ValueType| (self.fraction)(dictionary.text(of.name), dictionary.text(of.unit));
        let fractions: Vec<Option<(i128, i128)>> = types.map(fraction).collect();
        if fractions.iter().all(Option::is_none) {
            return Ok(());
        }
        count_explicitly(profile);
        let of_profile = profile.attributes.clone();
        let samples = &mut profile.samples;
        let (mut values, mut kept) = (Ragged::default(), Vec::with_capacity(samples.len()));
        let (mut rounded, mut undefined) = (0, 0);
        for row in 0..samples.len() {
            let own = [samples.attributes.row(row), &of_profile];
            let of_attribute = |key: &str| number(own, around, key, dictionary);
            let mut is_defined = true;
            for (at, value) in samples.values.row(row).iter().enumerate() {
                let new = match fractions[if fractions.len() == 1 { 0 } else { at }] {
                    Some(fraction) => self.value(*value, fraction, &of_attribute, &mut rounded)?,
                    None => Some(*value),
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
        (numerator, divisor): (i128, i128),
        of_attribute: &dyn Fn(&str) -> Option<f64>,
        rounded: &mut u64,
    ) -> Result<Option<i64>> {
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
