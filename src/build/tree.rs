//! Resources, scopes and profiles.

use crate::build::Builder;
use crate::build::key::{Brand, Key};
use crate::build::lists;
use crate::build::parts::{AnyValue, Text};
use crate::build::room::{Full, Room};
use crate::build::samples::{Lane, Shape};
use crate::model::id::{AttributeId, StringId};
use crate::model::profile::{Profile, ProfileId, ValueType};
use crate::model::value::KeyValue;
use crate::model::{Resource, Scope};

/// What is being built, in the order it was named. Row 0 of the resources and of the scopes is the
/// nameless one; profiles have none.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub(crate) resources: Vec<DraftResource>,
    pub(crate) scopes: Vec<DraftScope>,
    pub(crate) profiles: Vec<Draft>,
    /// The scope that profiles are in from here on; none when it did not fit.
    pub(crate) scope: Option<u32>,
    /// Whose samples are lent out, in the order of the profiles they are in.
    pub(crate) lent: Vec<(usize, Shape)>,
    /// Used memory for samples.
    pub(crate) spare: Vec<[Lane; 3]>,
}

/// A resource, known by its attributes, and the schema of these.
#[derive(Clone, Debug, Default)]
pub(crate) struct DraftResource {
    pub(crate) resource: Resource,
    pub(crate) schema_url: StringId,
}

/// A scope, the row of the resource it is in, and its schema.
#[derive(Clone, Debug, Default)]
pub(crate) struct DraftScope {
    pub(crate) resource: u32,
    pub(crate) scope: Scope,
    pub(crate) schema_url: StringId,
}

/// A profile being built, and the row of the scope it is in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draft {
    pub(crate) scope: u32,
    /// All but the samples.
    pub(crate) profile: Profile,
    /// The samples of each [`Shape`](crate::build::samples::Shape).
    pub(crate) lanes: [Lane; 3],
}

impl Default for Tree {
    fn default() -> Self {
        Self {
            resources: vec![DraftResource::default()],
            scopes: vec![DraftScope::default()],
            profiles: Vec::new(),
            scope: Some(0),
            lent: Vec::new(),
            spare: Vec::new(),
        }
    }
}

impl Tree {
    /// Where a profile is in the list.
    #[inline]
    pub(crate) fn profile_row(&self, brand: &Brand, key: Key<Profile>) -> Option<usize> {
        let row = brand.row(key, self.profiles.len() + 1)? as usize;
        debug_assert_ne!(row, 0, "Key::NONE is no profile");
        row.checked_sub(1)
    }

    /// The row of a resource, new or not. Of one that is there, what was not said is filled in.
    pub(crate) fn resource_row(
        &mut self,
        new: DraftResource,
        room: &mut Room,
    ) -> Result<u32, Full> {
        let is_it = |there: &DraftResource| {
            let (there, new) = (&there.resource, &new.resource);
            there.attributes == new.attributes
                && there.dropped_attributes_count == new.dropped_attributes_count
        };
        let Some(row) = self.resources.iter().position(is_it) else {
            return add(&mut self.resources, new, room);
        };
        let there = &mut self.resources[row];
        fill_in(&mut there.schema_url, new.schema_url);
        if there.resource.entity_refs.is_empty() {
            there.resource.entity_refs = new.resource.entity_refs;
        }
        Ok(row as u32)
    }

    /// The row of a scope, new or not. Of one that is there, what was not said is filled in.
    pub(crate) fn scope_row(&mut self, new: DraftScope, room: &mut Room) -> Result<u32, Full> {
        let is_it = |there: &DraftScope| there.resource == new.resource && there.scope == new.scope;
        let Some(row) = self.scopes.iter().position(is_it) else {
            return add(&mut self.scopes, new, room);
        };
        fill_in(&mut self.scopes[row].schema_url, new.schema_url);
        Ok(row as u32)
    }

    /// Where the profile of these types in this scope is, new or not.
    pub(crate) fn draft_row(
        &mut self,
        scope: u32,
        types: &[ValueType],
        room: &mut Room,
    ) -> Result<usize, Full> {
        let is_it = |draft: &Draft| draft.scope == scope && draft.profile.sample_types == types;
        if let Some(row) = self.profiles.iter().position(is_it) {
            return Ok(row);
        }
        room.row(self.profiles.len() + 1, size_of::<Draft>() + size_of_val(types))?;
        let mut profile = Profile::default();
        profile.sample_types = types.to_vec();
        let lanes = self.spare.pop().unwrap_or_default();
        self.profiles.push(Draft { scope, profile, lanes });
        Ok(self.profiles.len() - 1)
    }
}

fn add<T>(rows: &mut Vec<T>, row: T, room: &mut Room) -> Result<u32, Full> {
    room.row(rows.len(), size_of::<T>())?;
    rows.push(row);
    Ok(rows.len() as u32 - 1)
}

fn fill_in(text: &mut StringId, said: StringId) {
    if *text == StringId::NONE {
        *text = said;
    }
}

impl Builder {
    /// What is profiled, by its attributes. Scopes and profiles named from here on are of it.
    ///
    /// ```
    /// use otlp_profiles::{Builder, build::AnyValue};
    ///
    /// let mut builder = Builder::new();
    /// builder.resource([("service.name", AnyValue::from("checkout")), ("process.pid", 4711.into())]);
    /// builder.scope("my-profiler", "1.0.0");
    /// let cpu = builder.profile("cpu", "nanoseconds");
    /// # let _ = cpu;
    /// ```
    pub fn resource<'a, K: Into<Text<'a>>, V: Into<AnyValue<'a>>>(
        &mut self,
        attributes: impl IntoIterator<Item = (K, V)>,
    ) -> Key<Resource> {
        let (attributes, dropped) = self.key_values(attributes);
        let resource =
            Resource { attributes, dropped_attributes_count: dropped, ..Resource::default() };
        let resource = DraftResource { resource, ..DraftResource::default() };
        let row = self.tree.resource_row(resource, &mut self.interner.room);
        let row = self.fit(row);
        self.enter_scope(row, Scope::default());
        self.brand.key(row)
    }

    /// The instrumentation that makes the profiles, in the resource named last. Profiles named from
    /// here on are of it.
    pub fn scope(&mut self, name: &str, version: &str) -> Key<Scope> {
        self.scope_with(name, version, [("", ""); 0])
    }

    /// The instrumentation that makes the profiles, with attributes.
    pub fn scope_with<'a, K: Into<Text<'a>>, V: Into<AnyValue<'a>>>(
        &mut self,
        name: &str,
        version: &str,
        attributes: impl IntoIterator<Item = (K, V)>,
    ) -> Key<Scope> {
        let (attributes, dropped_attributes_count) = self.key_values(attributes);
        let name = self.text(name.into()).unwrap_or_default();
        let version = self.text(version.into()).unwrap_or_default();
        let resource = self.tree.scope.map(|scope| self.tree.scopes[scope as usize].resource);
        self.enter_scope(resource, Scope { name, version, attributes, dropped_attributes_count });
        self.brand.key(self.tree.scope)
    }

    /// Goes back to a resource: scopes and profiles named from here on are of it.
    pub fn enter_resource(&mut self, resource: Key<Resource>) {
        let row = self.brand.row(resource, self.tree.resources.len());
        self.enter_scope(row, Scope::default());
    }

    /// Goes back to a scope and its resource: profiles named from here on are of it.
    pub fn enter(&mut self, scope: Key<Scope>) {
        self.tree.scope = self.brand.row(scope, self.tree.scopes.len());
    }

    fn enter_scope(&mut self, resource: Option<u32>, scope: Scope) {
        self.tree.scope = resource.and_then(|resource| {
            let scope = DraftScope { resource, scope, ..DraftScope::default() };
            let row = self.tree.scope_row(scope, &mut self.interner.room);
            self.fit(row)
        });
    }

    /// A profile of one thing: what its values measure, and in which unit.
    pub fn profile(&mut self, name: &str, unit: &str) -> Key<Profile> {
        self.profile_of(&[(name, unit)])
    }

    /// A profile of several things measured together: every sample has a value for each.
    ///
    /// Formats that have one thing a profile get as many profiles.
    ///
    /// ```
    /// use otlp_profiles::Builder;
    ///
    /// let mut builder = Builder::new();
    /// let heap = builder.profile_of(&[("alloc_objects", "count"), ("alloc_space", "bytes")]);
    /// builder.sample(heap, ["main", "parse", "grow"]).values(&[1, 4096]);
    /// ```
    pub fn profile_of(&mut self, types: &[(&str, &str)]) -> Key<Profile> {
        let mut sample_types = Vec::with_capacity(types.len().max(1));
        for (name, unit) in types {
            let name = self.text((*name).into()).unwrap_or_default();
            let unit = self.text((*unit).into()).unwrap_or_default();
            sample_types.push(ValueType { name, unit, temporality: None });
        }
        if sample_types.is_empty() {
            sample_types.push(ValueType::default());
        }
        let row = self.tree.scope.and_then(|scope| {
            let row = self.tree.draft_row(scope, &sample_types, &mut self.interner.room);
            self.fit(row)
        });
        self.brand.key(row.map(|row| row as u32 + 1))
    }

    /// What there is to say of a profile beside its samples.
    pub fn details(&mut self, profile: Key<Profile>) -> Details<'_> {
        let row = self.tree.profile_row(&self.brand, profile);
        Details { builder: self, row }
    }

    /// Attributes as resources and scopes have them, by key, and how many of them did not fit.
    fn key_values<'a, K: Into<Text<'a>>, V: Into<AnyValue<'a>>>(
        &mut self,
        attributes: impl IntoIterator<Item = (K, V)>,
    ) -> (Vec<KeyValue>, u32) {
        let (mut list, mut dropped) = (Vec::new(), 0);
        for (key, value) in attributes {
            let put = self.key_value(key.into(), value.into()).and_then(|pair| {
                let put = lists::put_pair(&mut list, pair, &self.interner.room.limits);
                self.fit(put)
            });
            dropped += u32::from(put.is_none());
        }
        self.dropped.attributes += u64::from(dropped);
        list.sort_unstable_by_key(|pair| pair.key);
        (list, dropped)
    }

    fn key_value(&mut self, key: Text<'_>, value: AnyValue<'_>) -> Option<KeyValue> {
        Some(KeyValue { key: self.text(key)?, value: self.value(value, 1)? })
    }
}

/// What there is to say of a profile beside its samples.
///
/// ```
/// use otlp_profiles::Builder;
///
/// let mut builder = Builder::new();
/// let cpu = builder.profile("samples", "count");
/// builder
///     .details(cpu)
///     .window(1_763_640_000_000_000_000, 60_000_000_000)
///     .period("cpu", "nanoseconds", 10_000_000)
///     .attr("pprof.profile.drop_frames", "^runtime[.]");
/// ```
#[derive(Debug)]
pub struct Details<'a> {
    builder: &'a mut Builder,
    row: Option<usize>,
}

impl Details<'_> {
    fn set(self, change: impl FnOnce(&mut Profile)) -> Self {
        if let Some(draft) = self.row.and_then(|row| self.builder.tree.profiles.get_mut(row)) {
            change(&mut draft.profile);
        }
        self
    }

    /// When it began, in nanoseconds since 1970, and how long it took. The window grows to hold
    /// every timestamp of the samples.
    pub fn window(self, time_unix_nano: u64, duration_nanos: u64) -> Self {
        let duration = duration_nanos.min(u64::MAX - time_unix_nano);
        self.set(|profile| {
            profile.time_unix_nano = time_unix_nano.into();
            profile.duration_nanos = duration.into();
        })
    }

    /// What happens between two samples: how many (`period`) of what, in which unit.
    pub fn period(self, name: &str, unit: &str, period: i64) -> Self {
        let name = self.builder.text(name.into()).unwrap_or_default();
        let unit = self.builder.text(unit.into()).unwrap_or_default();
        self.set(|profile| {
            profile.period_type = ValueType { name, unit, temporality: None };
            profile.period = period;
        })
    }

    /// The id of the profile.
    pub fn id(self, id: ProfileId) -> Self {
        self.set(|profile| profile.profile_id = id)
    }

    /// With this attribute, in place of one with its key.
    pub fn attribute(self, attribute: Key<AttributeId>) -> Self {
        let row =
            self.builder.brand.row(attribute, self.builder.interner.dictionary.attributes.len());
        self.put(row)
    }

    /// With an attribute of this key and value, in place of one with its key.
    pub fn attr<'a>(self, key: impl Into<Text<'a>>, value: impl Into<AnyValue<'a>>) -> Self {
        let row = self.builder.attribute_row(key.into(), value.into(), Text::default());
        self.put(row)
    }

    fn put(self, row: Option<u32>) -> Self {
        let Builder { tree, interner, .. } = &mut *self.builder;
        let Some(draft) = self.row.and_then(|row| tree.profiles.get_mut(row)) else {
            return self;
        };
        let put = row.map(|row| {
            let list = &mut draft.profile.attributes;
            lists::put(list, AttributeId(row), &interner.dictionary, &interner.room.limits)
        });
        if put.is_none_or(|put| put.is_err()) {
            let count = &mut draft.profile.dropped_attributes_count;
            *count = count.saturating_add(1);
            self.builder.dropped.attributes += 1;
        }
        if let Some(put) = put {
            self.builder.fit(put);
        }
        self
    }
}
