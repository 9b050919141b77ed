//! Values in other units and per second.

use crate::error::{Error, ErrorKind, Result};
use crate::losses::{self, Losses};
use crate::model::Profiles;
use crate::model::dictionary::Dictionary;
use crate::model::id::StringId;
use crate::model::profile::{Profile, ProfileParts};
use crate::units::Unit;

/// Converts the values of all sample types that `wanted` accepts, by name and unit, to another unit of the same
/// [dimension](crate::units::Dimension). Others stay.
///
/// Values of a coarser unit are rounded half away from zero and counted as `value.rounded`. The time is linear in the
/// samples.
///
/// # Errors
///
/// The unit converts into no other, or a value does not fit 64 bits. The profiles are unchanged then.
///
/// ```
/// use otlp_profiles::transform::convert_units;
/// # let file = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
///
/// let mut profiles = otlp_profiles::read(&file, &Default::default())?.profiles;
/// let losses = convert_units(&mut profiles, "ms", |name, _unit| name == "cpu")?;
/// assert!(losses.is_empty(), "every sample is of 10 ms");
/// let profile = profiles.iter().next().unwrap();
/// assert_eq!(profiles.dictionary().text(profile.sample_types()[1].unit), "ms");
/// assert_eq!(profile.sums()[1], 1_630);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub fn convert_units(
    profiles: &mut Profiles,
    to: &str,
    wanted: impl Fn(&str, &str) -> bool,
) -> Result<Losses> {
    let Some(target) = Unit::of(to) else {
        let message =
            format!("unit {to} converts into no other: choose one such as ms, s, By or KiBy");
        return Err(Error::new(ErrorKind::InvalidOption, message));
    };
    scale(profiles, |profile, column, dictionary| {
        let of = profile.sample_types[column];
        let [name, unit] = [of.name, of.unit].map(|id| dictionary.text(id));
        let (numerator, divisor) = Unit::of(unit)?.per(target)?;
        wanted(name, unit).then(|| (numerator, divisor, to.to_owned()))
    })
}

/// Divides all values by the duration of their profile in seconds; units become such as `By/s`.
///
/// Values are multiplied by `scale` first and rounded half away from zero, counted as `value.rounded`: choose a scale
/// that leaves enough digits, and name it in the unit afterwards. Profiles without a duration stay, counted as
/// `rate.no_duration`. The time is linear in the samples.
///
/// # Errors
///
/// A value does not fit 64 bits. The profiles are unchanged then.
///
/// ```
/// use otlp_profiles::transform::per_second;
/// # let file = std::fs::read("testdata/otlp-1.11-aggregated-cpu.binpb").unwrap();
///
/// let mut profiles = otlp_profiles::read(&file, &Default::default())?.profiles;
/// let before = profiles.iter().next().unwrap().sums()[0] as f64 / 60.0;
/// let _losses = per_second(&mut profiles, 1000)?;
/// let after = profiles.iter().next().unwrap().sums()[0] as f64 / 1000.0;
/// assert!((before - after).abs() < 0.1);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub fn per_second(profiles: &mut Profiles, factor: i64) -> Result<Losses> {
    let without = profiles.iter().filter(|profile| profile.duration_nanos <= 0).count() as u64;
    let mut losses = scale(profiles, |profile, column, dictionary| {
        let unit = dictionary.text(profile.sample_types[column].unit);
        let duration = profile.duration_nanos;
        let numerator = i128::from(factor) * 1_000_000_000;
        (duration > 0).then(|| (numerator, duration, format!("{unit}/s")))
    })?;
    losses.add_many(losses::RATE_NO_DURATION, without, String::new);
    Ok(losses)
}

/// Multiplies values by a fraction that `fraction` gives for a column, with the new unit.
fn scale(
    profiles: &mut Profiles,
    fraction: impl Fn(&Profile, usize, &Dictionary) -> Option<(i128, i128, String)>,
) -> Result<Losses> {
    let Profiles { dictionary, resources } = profiles;
    // A copy, so that an error leaves the profiles unchanged.
    let (mut scaled, mut losses) = (resources.clone(), Losses::default());
    let mut units: Vec<(String, StringId)> = Vec::new();
    let scopes = scaled.iter_mut().flat_map(|resource| &mut resource.scopes);
    for profile in scopes.flat_map(|scope| &mut scope.profiles) {
        for column in 0..profile.sample_types.len() {
            let Some((numerator, divisor, unit)) = fraction(profile, column, dictionary) else {
                continue;
            };
            let known = units.iter().find(|(known, _)| *known == unit).map(|(_, id)| *id);
            let id = known.unwrap_or_else(|| {
                let id = dictionary.strings.find_or_push(&unit);
                units.push((unit, id));
                id
            });
            count_explicitly(profile);
            let ProfileParts { sample_types, samples, .. } = &mut **profile;
            let columns = sample_types.len();
            let mut rounded = 0;
            for value in samples.values.items.iter_mut().skip(column).step_by(columns) {
                *value = fit(*value, numerator, divisor, &mut rounded)?;
            }
            losses.add_many(losses::VALUE_ROUNDED, rounded, String::new);
            sample_types[column].unit = id;
        }
    }
    *resources = scaled;
    Ok(losses)
}

/// Gives each timestamp that counts 1 the value 1.
pub(super) fn count_explicitly(profile: &mut Profile) {
    let samples = &mut profile.samples;
    if samples.values.items.is_empty() && !samples.timestamps.items.is_empty() {
        samples.values.ends = samples.timestamps.ends.clone();
        samples.values.items = vec![1; samples.timestamps.items.len()];
    }
}

/// `value` × `numerator` / `divisor`, rounded half away from zero.
pub(super) fn fit(value: i64, numerator: i128, divisor: i128, rounded: &mut u64) -> Result<i64> {
    let product = i128::from(value).checked_mul(numerator);
    let result = product.and_then(|product| {
        *rounded += u64::from(product % divisor != 0);
        let half = product.signum() * divisor / 2;
        i64::try_from(product.checked_add(half)? / divisor).ok()
    });
    result.ok_or_else(|| {
        let message = format!("value.overflow: {value} × {numerator} / {divisor} exceeds 64 bits");
        Error::new(ErrorKind::Unrepresentable, message)
    })
}

#[cfg(test)]
mod tests {
    use super::fit;

    #[test]
    fn halves_are_rounded_away_from_zero_and_counted() {
        for (value, fraction, expected, is_rounded) in [
            (5, (1, 2), 3, 1),
            (-5, (1, 2), -3, 1),
            (1, (1, 3), 0, 1),
            (2, (1, 3), 1, 1),
            (-6, (1, 2), -3, 0),
            (i64::MAX, (3, 3), i64::MAX, 0),
        ] {
            let mut rounded = 0;
            assert_eq!(fit(value, fraction.0, fraction.1, &mut rounded).unwrap(), expected);
            assert_eq!(rounded, is_rounded, "{value}");
        }
        assert!(fit(i64::MAX, 2, 1, &mut 0).is_err());
    }
}
