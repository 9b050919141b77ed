//! Iterates over all scopes or profiles.

use crate::model::profile::Profile;
use crate::model::profiles::{ResourceProfiles, ScopeProfiles};

/// Iterates over all scopes.
pub(super) fn scopes_of(
    resources: &mut [ResourceProfiles],
) -> impl Iterator<Item = &mut ScopeProfiles> {
    resources.iter_mut().flat_map(|resource| &mut resource.scopes)
}

/// Iterates over all profiles.
pub(super) fn profiles_of(
    resources: &mut [ResourceProfiles],
) -> impl Iterator<Item = &mut Profile> {
    scopes_of(resources).flat_map(|scope| &mut scope.profiles)
}
