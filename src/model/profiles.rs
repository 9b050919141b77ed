//! All of a payload: profiles by resource and scope, and the tables they share.

use crate::model::dictionary::Dictionary;
use crate::model::id::StringId;
use crate::model::profile::Profile;
use crate::model::thin::{Blank, Thin, thin};
use crate::model::value::KeyValue;

/// Everything in one payload: the shared tables, and the profiles by resource and scope.
///
/// Every id in it is in range, every text is UTF-8, row 0 of every table is the empty row; so
/// nothing that reads it can fail.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// # let bytes = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
/// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
/// for profile in &profiles {
///     for sample in profile.samples() {
///         let _leaf = profiles.dictionary().frames(sample.stack).next();
///     }
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profiles {
    pub(crate) dictionary: Dictionary,
    pub(crate) resources: Vec<ResourceProfiles>,
}

impl Profiles {
    /// The tables that all profiles share.
    pub fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }

    /// The profiles, by resource.
    pub fn resource_profiles(&self) -> &[ResourceProfiles] {
        &self.resources
    }
}

/// The profiles of one resource: a process, a host, a service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceProfiles(Thin<ResourceParts>);

/// What [`ResourceProfiles`] have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceParts {
    pub(crate) resource: Resource,
    pub(crate) schema_url: StringId,
    pub(crate) scopes: Vec<ScopeProfiles>,
}

thin! { ResourceProfiles of ResourceParts; ScopeProfiles of ScopeParts; }

impl Blank for ResourceParts {
    const BLANK: &'static Self =
        &Self { resource: Resource::NONE, schema_url: StringId::NONE, scopes: Vec::new() };
}

impl ResourceProfiles {
    /// The resource.
    pub fn resource(&self) -> &Resource {
        &self.resource
    }

    /// The schema of the resource's attributes.
    pub fn schema_url(&self) -> StringId {
        self.schema_url
    }

    /// The profiles of the resource, by scope.
    pub fn scope_profiles(&self) -> &[ScopeProfiles] {
        &self.scopes
    }
}

/// What was profiled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resource {
    pub(crate) attributes: Vec<KeyValue>,
    pub(crate) dropped_attributes_count: u32,
    pub(crate) entity_refs: Vec<EntityRef>,
}

impl Resource {
    const NONE: Self =
        Self { attributes: Vec::new(), dropped_attributes_count: 0, entity_refs: Vec::new() };

    /// What is known of it; no two with the same key.
    pub fn attributes(&self) -> &[KeyValue] {
        &self.attributes
    }

    /// The number of attributes its producer dropped.
    pub fn dropped_attributes_count(&self) -> u32 {
        self.dropped_attributes_count
    }

    /// The entities it stands for (OTLP 1.6 and later).
    pub fn entity_refs(&self) -> &[EntityRef] {
        &self.entity_refs
    }

    /// Whether nothing is known of it.
    pub fn is_empty(&self) -> bool {
        *self == Self::NONE
    }
}

/// An entity a resource stands for, by the keys of the resource's attributes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EntityRef {
    /// The schema of the entity.
    pub schema_url: StringId,
    /// Its type.
    pub entity_type: StringId,
    /// The keys that identify it.
    pub id_keys: Vec<StringId>,
    /// The keys that describe it.
    pub description_keys: Vec<StringId>,
}

/// The profiles of one instrumentation scope.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScopeProfiles(Thin<ScopeParts>);

/// What [`ScopeProfiles`] have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScopeParts {
    pub(crate) scope: Scope,
    pub(crate) schema_url: StringId,
    pub(crate) profiles: Vec<Profile>,
}

impl Blank for ScopeParts {
    const BLANK: &'static Self =
        &Self { scope: Scope::NONE, schema_url: StringId::NONE, profiles: Vec::new() };
}

impl ScopeProfiles {
    /// The scope.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The schema of the scope's and the profiles' attributes.
    pub fn schema_url(&self) -> StringId {
        self.schema_url
    }

    /// The profiles.
    pub fn profiles(&self) -> &[Profile] {
        &self.profiles
    }
}

/// The instrumentation that made a profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    pub(crate) name: StringId,
    pub(crate) version: StringId,
    pub(crate) attributes: Vec<KeyValue>,
    pub(crate) dropped_attributes_count: u32,
}

impl Scope {
    const NONE: Self = Self {
        name: StringId::NONE,
        version: StringId::NONE,
        attributes: Vec::new(),
        dropped_attributes_count: 0,
    };

    /// Its name.
    pub fn name(&self) -> StringId {
        self.name
    }

    /// Its version.
    pub fn version(&self) -> StringId {
        self.version
    }

    /// What is known of it; no two with the same key.
    pub fn attributes(&self) -> &[KeyValue] {
        &self.attributes
    }

    /// The number of attributes its producer dropped.
    pub fn dropped_attributes_count(&self) -> u32 {
        self.dropped_attributes_count
    }

    /// Whether nothing is known of it.
    pub fn is_empty(&self) -> bool {
        *self == Self::NONE
    }
}
