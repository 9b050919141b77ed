//! The choice of sample types.

use otlp_profiles::{Format, Profiles};

use crate::error::Failure;

/// Keeps the sample types of these names.
pub(crate) fn keep_types(profiles: &mut Profiles, names: &[String]) -> Result<(), Failure> {
    let (mut is_found, mut others) = (false, Vec::new());
    profiles.retain_sample_types(|entry, kind| {
        let name = entry.dictionary().text(kind.name);
        let is_kept = names.iter().any(|one| one == name);
        is_found |= is_kept;
        if !is_kept && !others.iter().any(|one| one == name) {
            others.push(name.to_owned());
        }
        is_kept
    });
    if is_found || others.is_empty() { Ok(()) } else { Err(Failure::Types(others)) }
}

/// Returns the profiles to write: the chosen sample type, or of a format with one type for each file the default.
pub(crate) fn chosen(
    profiles: &Profiles,
    sample_type: Option<&str>,
    to: Format,
) -> Result<Option<Profiles>, Failure> {
    let name = match sample_type {
        Some(name) => name.to_owned(),
        None if [Format::FOLDED, Format::FIREFOX].contains(&to) => {
            profiles.default_sample_type().unwrap_or_default().name.to_owned()
        }
        None => return Ok(None),
    };
    let mut profiles = profiles.clone();
    keep_types(&mut profiles, &[name])?;
    Ok(Some(profiles))
}
