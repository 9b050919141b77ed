//! Changing profiles: leaving out resources, profiles, sample types and samples, changing attributes
//! and texts.

mod attributes;
mod entities;
mod new_rows;
mod owners;
mod retain;
mod rewrite;
mod scope;

use crate::model::profile::Profile;
use crate::model::{ResourceProfiles, ScopeProfiles};

pub use crate::model::edit::attributes::{AttributesMut, Scalar};
pub use crate::model::edit::owners::AttributeOwner;
pub use crate::model::edit::rewrite::TextOf;

/// All scopes.
fn scopes_of(resources: &mut [ResourceProfiles]) -> impl Iterator<Item = &mut ScopeProfiles> {
    resources.iter_mut().flat_map(|resource| &mut resource.scopes)
}

/// All profiles.
fn profiles_of(resources: &mut [ResourceProfiles]) -> impl Iterator<Item = &mut Profile> {
    scopes_of(resources).flat_map(|scope| &mut scope.profiles)
}
