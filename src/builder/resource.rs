//! Declares resources and scopes, and enters them again.

use foldhash::fast::RandomState;
use hashbrown::HashSet;

use crate::builder::builder::Builder;
use crate::builder::key::Key;
use crate::builder::parts::NewEntity;
use crate::builder::tree::nameless;
use crate::builder::unique_keys::UniqueKeys;
use crate::builder::value::{NewValue, StringRef};
use crate::model::id::{AttributeId, StringId};
use crate::model::value::KeyValue;
use crate::model::{EntityRef, Resource, ResourceProfiles, Scope};

impl Builder {
    /// Declares the profiled resource. Later scopes and profiles belong to it, until another one
    /// is declared or [entered](Self::enter). See [`ResourceMut`].
    ///
    /// ```
    /// use otlp_profiles::Builder;
    ///
    /// let mut builder = Builder::new();
    /// builder.resource().attr("service.name", "checkout").attr("process.pid", std::process::id());
    /// builder.scope("my-profiler").version("1.0.0");
    /// let cpu = builder.profile("cpu", "nanoseconds");
    /// # let _ = cpu;
    /// ```
    pub fn resource(&mut self) -> ResourceMut<'_> {
        let place = Some(nameless());
        ResourceMut {
            builder: self,
            place,
            keys: UniqueKeys::default(),
            panicking: std::thread::panicking(),
        }
    }

    /// Declares the instrumentation scope, in the current resource. Later profiles
    /// belong to it. See [`ScopeMut`].
    ///
    /// ```
    /// let mut builder = otlp_profiles::Builder::new();
    /// let before = builder.profile("cpu", "nanoseconds");
    /// builder.scope("my-profiler").version("1.0.0");
    /// assert_ne!(before, builder.profile("cpu", "nanoseconds"), "of another scope");
    /// ```
    pub fn scope(&mut self, name: &str) -> ScopeMut<'_> {
        let name = self.str(name);
        if name.is_none() {
            self.leave_resource();
        }
        let place = self.tree.place.zip(name).map(|(row, name)| {
            let of = &self.tree.places[row as usize];
            let mut place = nameless();
            (place.resource, place.schema_url) = (of.resource.clone(), of.schema_url);
            place.scopes[0].scope.name = name;
            place
        });
        ScopeMut {
            builder: self,
            place,
            keys: UniqueKeys::default(),
            panicking: std::thread::panicking(),
        }
    }

    /// Makes an earlier resource or scope the current one: later declarations belong to
    /// it.
    ///
    /// ```
    /// use otlp_profiles::Builder;
    ///
    /// let mut builder = Builder::new();
    /// let web = builder.resource().attr("service.name", "web").key();
    /// let database = builder.resource().attr("service.name", "database").key();
    /// builder.enter(web);
    /// let of_web = builder.profile("cpu", "nanoseconds");
    /// # let _ = (database, of_web);
    /// ```
    pub fn enter(&mut self, place: impl ResourceOrScope) {
        place.enter(self);
    }

    /// Leaves the current resource and scope, because the declared one does not fit. Later profiles have no place.
    fn leave_resource(&mut self) {
        self.tree.place = None;
        self.dropped.others += 1;
    }

    /// Adds a pair to a resource or scope. `None` if it does not fit.
    fn put_pair(
        &mut self,
        (list, keys): (&mut Vec<KeyValue>, &mut UniqueKeys),
        key: &StringRef<'_>,
        value: &NewValue<'_>,
    ) -> Option<()> {
        let key = self.text(key).filter(|key| *key != StringId::NONE)?;
        let pair = KeyValue { key, value: self.value(value, 1)? };
        let put = self.interner.put_pair(list, keys, pair);
        self.fit(put)
    }

    /// Like [`put_pair`](Self::put_pair), with the key of an attribute. Attributes with a unit do not fit.
    fn put_attribute(
        &mut self,
        (list, keys): (&mut Vec<KeyValue>, &mut UniqueKeys),
        key: Key<AttributeId>,
    ) -> Option<()> {
        let id = self.generation.id(key)?;
        let attribute = self.interner.dictionary.attribute(id)?;
        if attribute.unit != StringId::NONE {
            return None;
        }
        let pair = KeyValue { key: attribute.key, value: attribute.value.clone() };
        let put = self.interner.put_pair(list, keys, pair);
        self.fit(put)
    }
}

/// A key that [`Builder::enter`] accepts: that of a resource or of a scope.
/// No other type implements it.
pub trait ResourceOrScope: sealed::Sealed {
    #[doc(hidden)]
    fn enter(self, builder: &mut Builder);
}

mod sealed {
    pub trait Sealed {}
}

/// A resource declaration. The resource becomes the current one when this is dropped, at the end of the statement.
///
/// The attributes and settings identify the resource: the same ones, in any order, declare the same resource again.
///
/// ```
/// use otlp_profiles::{Builder, builder::{NewEntity, root_first}};
///
/// let mut builder = Builder::new();
/// builder
///     .resource()
///     .attr("host.id", "7f3c")
///     .attr("host.name", String::from("web-1"))
///     .attr("process.pid", 4711_u32)
///     .schema_url("https://opentelemetry.io/schemas/1.37.0")
///     .entity(NewEntity::new("host", &["host.id"]).description_keys(&["host.name"]));
/// let cpu = builder.profile("cpu", "nanoseconds");
/// builder.sample(cpu, root_first(["main"])).value(1);
///
/// let profiles = builder.finish()?;
/// let resource = profiles.resource_profiles()[0].resource();
/// assert_eq!(resource.attributes().len(), 3);
/// assert_eq!(profiles.dictionary().text(resource.entity_refs()[0].entity_type), "host");
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Debug)]
pub struct ResourceMut<'a> {
    builder: &'a mut Builder,
    /// The resource with a nameless scope. `None` after the declaration.
    place: Option<ResourceProfiles>,
    /// Index of its attributes.
    keys: UniqueKeys,
    /// Whether the thread was already panicking when the declaration began.
    panicking: bool,
}

/// A scope declaration. The scope becomes the current one when this is dropped, at the end of the statement.
///
/// As with a [resource](ResourceMut), the same settings declare the same scope again.
///
/// ```
/// use otlp_profiles::Builder;
///
/// let mut builder = Builder::new();
/// builder.scope("my-profiler").version(env!("CARGO_PKG_VERSION")).attr("sampling.hz", 99);
/// ```
#[derive(Debug)]
pub struct ScopeMut<'a> {
    builder: &'a mut Builder,
    /// The resource and the scope. `None` after the declaration, or if the resource did not fit.
    place: Option<ResourceProfiles>,
    /// Index of its attributes.
    keys: UniqueKeys,
    /// Whether the thread was already panicking when the declaration began.
    panicking: bool,
}

/// Methods that resources and scopes share.
macro_rules! described {
    ($($description:ident, |$place:ident| $level:expr, $part:ident: $of:ident;)*) => {$(
        impl sealed::Sealed for Key<$of> {}
        impl ResourceOrScope for Key<$of> {
            fn enter(self, builder: &mut Builder) {
                builder.tree.place = builder.tree.generation.row(self);
            }
        }

        impl $description<'_> {
            /// Adds an attribute by name and value. Replaces one with the same name. An attribute without a name is
            /// left out and counted.
            pub fn attr<'v>(
                self,
                key: impl Into<StringRef<'v>>,
                value: impl Into<NewValue<'v>>,
            ) -> Self {
                let (key, value) = (key.into(), value.into());
                self.put(|builder, list| builder.put_pair(list, &key, &value))
            }

            /// Adds an attribute by its key. Replaces one with the same name. An attribute with a unit is left out
            /// and counted, because resources and scopes have no field for it.
            pub fn attribute(self, attribute: Key<AttributeId>) -> Self {
                self.put(|builder, list| builder.put_attribute(list, attribute))
            }

            /// Sets the schema of the attributes, such as `https://opentelemetry.io/schemas/1.37.0`. It is unset by
            /// default.
            pub fn schema_url(self, schema_url: &str) -> Self {
                let schema_url = self.builder.str(schema_url);
                self.named(schema_url, |$place, schema_url| $level.schema_url = schema_url)
            }

            /// Ends the declaration and returns the key, to [enter](Builder::enter) it again later. The key is
            /// valid until [`finish`](Builder::finish) or [`reset`](Builder::reset).
            pub fn key(mut self) -> Key<$of> {
                let row = self.name();
                self.builder.tree.generation.key(row)
            }

            /// Sets a field that identifies the declaration. If its string does not fit, drops the whole
            /// declaration, which would otherwise equal another one.
            fn named(
                mut self,
                text: Option<StringId>,
                set: impl FnOnce(&mut ResourceProfiles, StringId),
            ) -> Self {
                match (&mut self.place, text) {
                    (Some(place), Some(text)) => set(place, text),
                    (Some(_), None) => {
                        self.place = None;
                        self.builder.leave_resource();
                    }
                    (None, _) => {}
                }
                self
            }

            /// Runs `put` on the attributes, and counts the attribute if it does not fit.
            fn put(
                mut self,
                put: impl FnOnce(&mut Builder, (&mut Vec<KeyValue>, &mut UniqueKeys)) -> Option<()>,
            ) -> Self {
                let Some($place) = &mut self.place else {
                    self.builder.dropped.attributes += 1;
                    return self;
                };
                let part = &mut $level.$part;
                if put(self.builder, (&mut part.attributes, &mut self.keys)).is_none() {
                    let count = &mut part.dropped_attributes_count;
                    *count = count.saturating_add(1);
                    self.builder.dropped.attributes += 1;
                }
                self
            }

            /// Makes the declaration the current one. Returns its row, if it fits.
            fn name(&mut self) -> Option<u32> {
                let mut place = self.place.take()?;
                normalize_entities(&mut place.resource);
                let Builder { tree, interner, .. } = &mut *self.builder;
                let row = tree.place_row(place, &mut interner.budget);
                self.builder.tree.place = self.builder.fit(row);
                self.builder.tree.place
            }
        }

        impl Drop for $description<'_> {
            fn drop(&mut self) {
                // A declaration that a panic interrupted is incomplete.
                if std::thread::panicking() == self.panicking {
                    self.name();
                }
            }
        }
    )*};
}

described! {
    ResourceMut, |place| place, resource: Resource;
    ScopeMut, |place| place.scopes[0], scope: Scope;
}

impl ResourceMut<'_> {
    /// Adds an entity that the resource represents. Keys that are not attributes of the resource are left out. So
    /// is an entity without a type or without an identifying key.
    pub fn entity(mut self, entity: NewEntity<'_>) -> Self {
        match (self.builder.entity(entity), &mut self.place) {
            (Some(entity), Some(place)) => place.resource.entity_refs.push(entity),
            (None, _) => self.builder.dropped.others += 1,
            (Some(_), None) => {}
        }
        self
    }
}

impl ScopeMut<'_> {
    /// Sets the version of the profiler. The version of the profiled service is `service.version` of the resource.
    pub fn version(self, version: &str) -> Self {
        let version = self.builder.str(version);
        self.named(version, |place, version| place.scopes[0].scope.version = version)
    }
}

impl Builder {
    /// Interns an entity with all its keys. `None` if it does not fit.
    fn entity(&mut self, entity: NewEntity<'_>) -> Option<EntityRef> {
        let mut keys = |keys: &[&str]| -> Option<Vec<StringId>> {
            keys.iter().map(|&key| self.str(key)).collect()
        };
        let (id_keys, description_keys) = (keys(entity.id_keys)?, keys(entity.description_keys)?);
        Some(EntityRef {
            schema_url: self.str(entity.schema_url)?,
            entity_type: self.str(entity.entity_type)?,
            id_keys,
            description_keys,
        })
    }
}

/// Removes keys that the resource lacks or that an entity repeats, then repeated entities and those without a type
/// or an identifying key.
fn normalize_entities(resource: &mut Resource) {
    let Resource { attributes, entity_refs, .. } = resource;
    if entity_refs.is_empty() {
        return;
    }
    let all: HashSet<StringId, RandomState> = attributes.iter().map(|pair| pair.key).collect();
    let mut seen = HashSet::<EntityRef, RandomState>::default();
    for mut entity in std::mem::take(entity_refs) {
        let mut keys_seen = HashSet::<StringId, RandomState>::default();
        for keys in [&mut entity.id_keys, &mut entity.description_keys] {
            keys.retain(|key| all.contains(key) && keys_seen.insert(*key));
        }
        let is_one = entity.entity_type != StringId::NONE && !entity.id_keys.is_empty();
        if is_one && seen.insert(entity.clone()) {
            entity_refs.push(entity);
        }
    }
}
