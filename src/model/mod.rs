//! The neutral model: OTLP's current data model, laid out by column.
//!
//! # Looking
//!
//! | what | where |
//! |---|---|
//! | profiles | `for profile in &profiles`, or [`Profiles::entries`] with resource and scope |
//! | samples | `for sample in profile.samples()` |
//! | values | [`Profile::totals`], [`Profile::observations`], [`Profile::sums`] |
//! | frames | [`Dictionary::frames`], the leaf first, `.rev()` the root first |
//! | attributes | [`Dictionary::resolve`] for whatever has some, then [`Attributes::get`] |
//! | times | [`Profile::time`], [`Profile::duration`], [`SampleRef::times`] |
//!
//! A folded stack and its value for every sample:
//!
//! ```
//! # fn main() -> otlp_profiles::Result<()> {
//! # let bytes = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
//! let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
//! for profile in &profiles {
//!     for sample in profile.samples() {
//!         let frames = profiles.dictionary().frames(sample.stack).rev();
//!         let names: Vec<String> = frames.map(|frame| frame.to_string()).collect();
//!         let totals: Vec<i64> = profile.totals(sample).collect();
//!         println!("{} {totals:?}", names.join(";"));
//!     }
//! }
//! # Ok(()) }
//! ```
//!
//! # Editing
//!
//! | what | how |
//! |---|---|
//! | leaving out | [`Profiles::retain_resources`], [`retain_profiles`](Profiles::retain_profiles), [`retain_sample_types`](Profiles::retain_sample_types), [`retain_samples`](Profiles::retain_samples) |
//! | attributes | [`Profiles::edit_attributes`]: set, renamed, removed |
//! | names | [`Profiles::rewrite`]: of functions, files, sample types, scopes |
//!
//! An edit changes what it says and nothing else, and takes time in proportion to the profiles.
//! The rows that nothing refers to any longer stay in the tables, and are written, until
//! [`Profiles::compact`]: call it at the end. Ids of profiles stay; so do the originals that
//! producers sent along, unedited, until [`Profiles::drop_original_payloads`].
//!
//! The profiles of one service, without a label, with functions renamed:
//!
//! ```
//! # fn main() -> otlp_profiles::Result<()> {
//! # let bytes = std::fs::read("testdata/otlp-1.11-aggregated-cpu.binpb").unwrap();
//! use otlp_profiles::model::{AttributeOwner, TextOf};
//!
//! let mut profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
//! profiles.retain_resources(|resource| resource.get_str("service.name") == Some("checkout"));
//! profiles.edit_attributes(AttributeOwner::Sample, |labels| {
//!     labels.remove("session.id");
//! })?;
//! profiles.rewrite(&[TextOf::FunctionName], |name| Some(name.split("::h").next()?.to_owned()))?;
//! profiles.compact();
//! # Ok(()) }
//! ```

mod attributes;
pub(crate) mod dictionary;
mod edit;
mod entries;
mod frames;
pub(crate) mod id;
pub(crate) mod measures;
pub(crate) mod order;
pub(crate) mod profile;
pub(crate) mod ragged;
pub(crate) mod samples;
pub(crate) mod strings;
pub(crate) mod thin;
mod time;
pub(crate) mod value;
mod value_ref;

pub use attributes::{AttributeList, AttributeRef, Attributes};
pub use dictionary::{Attribute, Dictionary, Function, Line, Link, Locations, Mapping, Mappings};
pub use edit::{AttributeOwner, AttributesMut, Scalar, TextOf};
pub use entries::{Entry, ProfileIter, SampleIter};
pub use frames::FrameRef;
pub use id::{AttributeId, FunctionId, LinkId, LocationId, MappingId, StackId, StringId};
pub use profile::{AggregationTemporality, Profile, ProfileId, ValueType};
pub use ragged::Ragged;
pub use samples::{SampleRef, Samples};
pub use strings::Strings;
pub use value::{KeyValue, Value};
pub use value_ref::ValueRef;

use crate::model::thin::{Blank, Thin, thin};

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
