//! The content of a payload: profiles by resource and scope, and their shared tables.

use crate::model::dictionary::Dictionary;
use crate::model::id::StringId;
use crate::model::lazy_box::{EmptyDefault, LazyBox, lazy_box};
use crate::model::profile::Profile;
use crate::model::value::KeyValue;

/// The content of one payload: the shared tables, and the profiles by resource and scope.
///
/// Every id in it is in range, every string is UTF-8, and row 0 of every table is the empty row.
/// Accessors cannot fail.
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
///
/// ```text
/// Profiles ┬ Dictionary                  the tables that ids of all below point into
///          └ ResourceProfiles            one for each resource, in the order of the payload
///             └ ScopeProfiles            one for each instrumentation scope of it
///                └ Profile               what was measured, when; its samples by column
/// ```
///
/// Profiles own their data and have no lifetime: you may keep them, send them to another thread
/// (`Send + Sync`) and clone them. Equality compares columns and rows: profiles with the same meaning and
/// another row order differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profiles {
    pub(crate) dictionary: Dictionary,
    // Includes resources without profiles, because a payload may have some.
    pub(crate) resources: Vec<ResourceProfiles>,
}

impl Profiles {
    /// Returns the tables that all profiles share.
    ///
    /// ```
    /// # let bytes = std::fs::read("testdata/otlp-1.11-aggregated-cpu.binpb").unwrap();
    /// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
    /// let kind = profiles.iter().next().unwrap().sample_types()[0];
    /// assert_eq!(profiles.dictionary().text(kind.name), "cpu_sample");
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }

    /// Returns the profiles by resource, including resources without profiles.
    ///
    /// [`iter`](Self::iter) and [`entries`](Self::entries) iterate over the profiles themselves. A pprof has one
    /// resource and one scope, both without attributes.
    ///
    /// ```
    /// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
    /// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
    /// let [of_one] = profiles.resource_profiles() else { unreachable!() };
    /// assert!(of_one.resource().is_empty());
    /// assert_eq!(of_one.scope_profiles()[0].profiles().len(), 1);
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn resource_profiles(&self) -> &[ResourceProfiles] {
        &self.resources
    }
}

/// The profiles of one resource: a process, a host, a service.
///
/// It is
/// [`ResourceProfiles`](https://github.com/open-telemetry/opentelemetry-proto/blob/v1.10.0/opentelemetry/proto/profiles/v1development/profiles.proto)
/// of the protos. A payload may contain equal resources several times; the model keeps them separate, as the
/// producer did.
///
/// ```
/// # let bytes = std::fs::read("testdata/otlp-1.11-go-mutex-goroutine.binpb").unwrap();
/// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
/// let sizes = profiles.resource_profiles().iter().flat_map(|one| one.scope_profiles());
/// assert_eq!(sizes.map(|scope| scope.profiles().len()).sum::<usize>(), profiles.iter().count());
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceProfiles(LazyBox<ResourceParts>);

/// The fields of [`ResourceProfiles`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceParts {
    /// The profiled entity. Empty if absent from the payload.
    pub(crate) resource: Resource,
    pub(crate) schema_url: StringId,
    /// The scopes in the order of the payload, including empty ones.
    pub(crate) scopes: Vec<ScopeProfiles>,
}

lazy_box! { ResourceProfiles of ResourceParts; ScopeProfiles of ScopeParts; }

impl EmptyDefault for ResourceParts {
    const EMPTY: &'static Self =
        &Self { resource: Resource::NONE, schema_url: StringId::NONE, scopes: Vec::new() };
}

impl ResourceProfiles {
    /// Returns the resource.
    pub fn resource(&self) -> &Resource {
        &self.resource
    }

    /// Returns the schema of the resource's attributes.
    ///
    /// [`StringId::NONE`] if unset. It names the version of the semantic conventions of the
    /// attributes' keys, such as `https://opentelemetry.io/schemas/1.37.0`.
    pub fn schema_url(&self) -> StringId {
        self.schema_url
    }

    /// Returns the profiles of the resource by scope.
    pub fn scope_profiles(&self) -> &[ScopeProfiles] {
        &self.scopes
    }
}

/// The profiled entity: a process, a host, a service.
///
/// The attributes are pairs and not rows of the attribute table, as in the protos. Their keys and strings are ids
/// of the string table. [`Entry::resource_attributes`](crate::model::Entry::resource_attributes) returns them with
/// their strings resolved.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// let mut builder = otlp_profiles::Builder::new();
/// builder.resource().attr("service.name", "checkout");
/// let cpu = builder.profile("cpu", "nanoseconds");
/// builder.sample(cpu, otlp_profiles::builder::root_first(["main"])).value(1);
/// let profiles = builder.finish()?;
/// let resource = profiles.resource_profiles()[0].resource();
/// assert_eq!(profiles.dictionary().text(resource.attributes()[0].key), "service.name");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resource {
    pub(crate) attributes: Vec<KeyValue>,
    pub(crate) dropped_attributes_count: u32,
    pub(crate) entity_refs: Vec<EntityRef>,
}

impl Resource {
    const NONE: Self =
        Self { attributes: Vec::new(), dropped_attributes_count: 0, entity_refs: Vec::new() };

    /// Returns the attributes in the order of the payload; keys are unique.
    ///
    /// [`Dictionary::resolve`] finds one by its key.
    pub fn attributes(&self) -> &[KeyValue] {
        &self.attributes
    }

    /// Returns the number of attributes that the producer dropped.
    ///
    /// It is copied from the payload and written again.
    pub fn dropped_attributes_count(&self) -> u32 {
        self.dropped_attributes_count
    }

    /// Returns the entities that the resource represents (OTLP 1.6 and later).
    ///
    /// Each names some of the [attributes](Self::attributes) by key. Older generations and pprof cannot represent
    /// them, and their writers report a loss.
    pub fn entity_refs(&self) -> &[EntityRef] {
        &self.entity_refs
    }

    /// Returns whether the resource is empty.
    ///
    /// The profiles of an empty resource have an unknown origin.
    pub fn is_empty(&self) -> bool {
        *self == Self::NONE
    }
}

/// An entity that the resource represents, identified by keys of the resource's attributes.
///
/// All ids are strings; those in both lists are keys of the resource's attributes. It is
/// `opentelemetry.proto.common.v1.EntityRef`, in profiles
/// [since 1.6](https://github.com/open-telemetry/opentelemetry-proto/releases/tag/v1.6.0).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct EntityRef {
    /// The schema of the entity.
    pub schema_url: StringId,
    /// Its type, such as `service` or `k8s.pod`.
    pub entity_type: StringId,
    /// The keys that identify it.
    /// An edit that removes all of them removes the entity.
    pub id_keys: Vec<StringId>,
    /// The keys that describe it.
    pub description_keys: Vec<StringId>,
}

/// The profiles of one instrumentation scope.
///
/// In OTLP 1.8 and later, the sample types of one pprof become several profiles under one scope. The scope
/// may specify their order ([`PPROF_SCOPE_SAMPLE_TYPE_ORDER`](crate::semconv::PPROF_SCOPE_SAMPLE_TYPE_ORDER)).
///
/// ```
/// use otlp_profiles::model::StringId;
///
/// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
/// let scope = &profiles.resource_profiles()[0].scope_profiles()[0];
/// assert_eq!((scope.scope().name(), scope.schema_url()), (StringId::NONE, StringId::NONE));
/// assert_eq!(scope.profiles().len(), 1);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScopeProfiles(LazyBox<ScopeParts>);

/// The fields of [`ScopeProfiles`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScopeParts {
    pub(crate) scope: Scope,
    pub(crate) schema_url: StringId,
    pub(crate) profiles: Vec<Profile>,
}

impl EmptyDefault for ScopeParts {
    const EMPTY: &'static Self =
        &Self { scope: Scope::NONE, schema_url: StringId::NONE, profiles: Vec::new() };
}

impl ScopeProfiles {
    /// Returns the scope.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Returns the schema of the scope's and the profiles' attributes.
    ///
    /// [`StringId::NONE`] if unset.
    pub fn schema_url(&self) -> StringId {
        self.schema_url
    }

    /// Returns the profiles in the order of the payload.
    pub fn profiles(&self) -> &[Profile] {
        &self.profiles
    }
}

/// The instrumentation that produced a profile.
///
/// For a profiler this is the name and version of the library or program that took the samples.
///
/// ```
/// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let mut profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
/// profiles.set_scopes("runtime/pprof", Some("1.24"))?;
/// let scope = profiles.entries().next().unwrap().scope();
/// assert_eq!(profiles.dictionary().text(scope.version()), "1.24");
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
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

    /// Returns the name.
    /// Empty for scopes read from a pprof.
    pub fn name(&self) -> StringId {
        self.name
    }

    /// Returns the version.
    /// Empty if unknown.
    pub fn version(&self) -> StringId {
        self.version
    }

    /// Returns the attributes; keys are unique.
    pub fn attributes(&self) -> &[KeyValue] {
        &self.attributes
    }

    /// Returns the number of attributes that the producer dropped.
    pub fn dropped_attributes_count(&self) -> u32 {
        self.dropped_attributes_count
    }

    /// Returns whether the scope is empty.
    pub fn is_empty(&self) -> bool {
        *self == Self::NONE
    }
}
