//! Sample types that are computed from others.

use crate::error::{Error, ErrorKind, Result};
use crate::losses::{self, Losses};
use crate::model::dictionary::Dictionary;
use crate::model::id::{AttributeId, StringId};
use crate::model::order::{sample_type_order, set_sample_type_order};
use crate::model::profile::{Profile, ValueType};
use crate::model::value::KeyValue;
use crate::model::{Profiles, ScopeProfiles};
use crate::transform::arithmetic::expression::{Expression, Operands};
use crate::transform::columns::{column_blocks, forget_unique};

/// Adds a sample type to every profile that has all sample types of an expression, such as the mean size of an
/// allocation. The columns of a pprof count as one profile, whether they are one profile or several.
///
/// Results are rounded half away from zero, counted as `value.rounded`. A sample whose result is undefined, because of a
/// division by zero or a missing attribute, is left out and counted as `derive.undefined`. The time is linear in the
/// samples.
///
/// # Errors
///
/// No profile has all sample types, or a result does not fit 64 bits. The profiles are unchanged then.
///
/// ```
/// use otlp_profiles::transform::{Expression, derive};
/// # let file = std::fs::read("testdata/go-heap.pb.gz").unwrap();
///
/// let mut heap = otlp_profiles::read(&file, &Default::default())?.profiles;
/// let expression = Expression::parse("$(alloc_space) / $(alloc_objects)")?;
/// let _losses = derive(&mut heap, "mean_size", "bytes", &expression)?;
/// let derived = heap.iter().last().unwrap();
/// assert_eq!(heap.dictionary().text(derived.sample_types()[0].name), "mean_size");
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub fn derive(
    profiles: &mut Profiles,
    name: &str,
    unit: &str,
    expression: &Expression,
) -> Result<Losses> {
    derive_types(profiles, [name, unit], expression, Sources::Keep)
}

/// The profiles that a sample type is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sources {
    Keep,
    Drop,
}

/// Computes a sample type, and keeps or drops all others.
pub(crate) fn derive_types(
    profiles: &mut Profiles,
    type_and_unit: [&str; 2],
    expression: &Expression,
    sources: Sources,
) -> Result<Losses> {
    let (mut losses, mut count) = (Losses::default(), 0);
    let mut dictionary = profiles.dictionary.clone();
    let target = type_and_unit.map(|text| dictionary.strings.find_or_push(text));
    let mut resources = profiles.resources.clone();
    for resource in &mut resources {
        let of_resource = resource.resource.attributes.clone();
        for scope in &mut resource.scopes {
            let of_scope = scope.scope.attributes.clone();
            let around = [&*of_scope, &*of_resource];
            let derive = Derive { target, expression, dictionary: &dictionary, around };
            count += derive.scope(scope, sources, &mut losses)?;
        }
    }
    if count == 0 {
        let message =
            format!("no profile has all sample types of {}", expression.types().join(", "));
        return Err(Error::new(ErrorKind::Unrepresentable, message));
    }
    (profiles.dictionary, profiles.resources) = (dictionary, resources);
    Ok(losses)
}

/// The computation in one scope.
struct Derive<'a> {
    /// The name and unit of the computed sample type.
    target: [StringId; 2],
    expression: &'a Expression,
    dictionary: &'a Dictionary,
    /// The attributes of the scope and the resource.
    around: [&'a [KeyValue]; 2],
}

impl Derive<'_> {
    /// Adds a sample type to the profiles of a scope. Returns how many profiles it added.
    fn scope(
        &self,
        scope: &mut ScopeProfiles,
        sources: Sources,
        losses: &mut Losses,
    ) -> Result<u64> {
        let dictionary = self.dictionary;
        let order = sample_type_order(scope, dictionary).and_then(Result::ok);
        let mut added = Vec::new();
        for block in column_blocks(scope, dictionary) {
            let columns = &scope.profiles[block];
            let has = |wanted: &str| column_of(columns, wanted, dictionary).is_some();
            if self.expression.types().into_iter().all(has) {
                added.push(self.column(columns, losses)?);
            }
        }
        let count = added.len() as u64;
        if sources == Sources::Drop {
            let rows: Vec<usize> = (0..added.len()).collect();
            scope.profiles = added;
            set_sample_type_order(scope, &rows, dictionary);
            return Ok(count);
        }
        scope.profiles.extend(added);
        if let (Some(mut order), true) = (order, count > 0) {
            order.extend(order.len()..scope.profiles.len());
            set_sample_type_order(scope, &order, dictionary);
        }
        Ok(count)
    }

    /// The computed profile of some columns.
    fn column(&self, columns: &[Profile], losses: &mut Losses) -> Result<Profile> {
        let Self { target: [name, unit], expression, dictionary, around } = *self;
        let mut derived = columns[0].clone();
        forget_unique(&mut derived);
        derived.sample_types = vec![ValueType { name, unit, temporality: None }];
        derived.default_sample_type = StringId::NONE;
        let samples = &mut derived.samples;
        samples.values.clear();
        samples.timestamps = Default::default();
        let (mut kept, mut rounded) = (Vec::with_capacity(samples.len()), 0);
        for row in 0..samples.len() {
            let of_type = |name: &str| {
                let (profile, column) = column_of(columns, name, dictionary)?;
                let sample = columns[profile].samples().get(row)?;
                Some(columns[profile].total(sample, column) as f64)
            };
            let own = [columns[0].samples().at(row).attributes, columns[0].attributes()];
            let of_attribute = |key: &str| number(own, around, key, dictionary);
            let (of_type, of_attribute) = (&of_type, &of_attribute);
            let value = expression.result(&Operands { of_type, of_attribute, value: None });
            kept.push(value.is_finite());
            samples.values.items.push(whole(value, &mut rounded)?);
            samples.values.end_row();
        }
        samples.retain(&kept);
        let undefined = kept.iter().filter(|kept| !**kept).count() as u64;
        losses.add_many(losses::DERIVE_UNDEFINED, undefined, || dictionary.text(name).to_owned());
        losses.add_many(losses::VALUE_ROUNDED, rounded, || dictionary.text(name).to_owned());
        Ok(derived)
    }
}

/// The profile of a sample type and its column there.
fn column_of(columns: &[Profile], name: &str, dictionary: &Dictionary) -> Option<(usize, usize)> {
    columns.iter().enumerate().find_map(|(at, profile)| {
        let mut types = profile.sample_types().iter();
        types.position(|of| dictionary.text(of.name) == name).map(|column| (at, column))
    })
}

/// A numeric attribute of a sample, its profile, its scope or its resource: of the first that has the key.
pub(crate) fn number(
    sample_and_profile: [&[AttributeId]; 2],
    scope_and_resource: [&[KeyValue]; 2],
    key: &str,
    dictionary: &Dictionary,
) -> Option<f64> {
    let rows = sample_and_profile.map(|rows| dictionary.resolve(rows));
    let pairs = scope_and_resource.map(|pairs| dictionary.resolve(pairs));
    let value = rows.into_iter().chain(pairs).find_map(|attributes| attributes.get(key))?;
    value.as_f64().or_else(|| value.as_i64().map(|value| value as f64))
}

/// A value in 64 bits, rounded half away from zero; 0 if it is undefined. Counts in `rounded` unless only the last
/// digits of the computation changed.
pub(crate) fn whole(value: f64, rounded: &mut u64) -> Result<i64> {
    let nearest = value.round();
    *rounded += u64::from((value - nearest).abs() > value.abs() * 4.0 * f64::EPSILON);
    if nearest.is_finite() && nearest.abs() >= i64::MAX as f64 {
        let message = format!("value.overflow: the result {value} exceeds 64 bits");
        return Err(Error::new(ErrorKind::Unrepresentable, message));
    }
    Ok(nearest as i64)
}
