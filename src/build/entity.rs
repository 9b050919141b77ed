//! The schemas of resources and scopes, and the entities resources stand for.

use crate::build::Builder;
use crate::build::key::Key;
use crate::build::parts::{Entity, Text};
use crate::model::id::StringId;
use crate::model::strings::Strings;
use crate::model::{EntityRef, Resource, Scope};

impl Builder {
    /// The schema of a resource's attributes.
    pub fn resource_schema(&mut self, resource: Key<Resource>, schema_url: &str) {
        let row = self.brand.row(resource, self.tree.resources.len());
        if let (Some(row), Some(url)) = (row, self.text(Text::Str(schema_url))) {
            self.tree.resources[row as usize].schema_url = url;
        }
    }

    /// The schema of the attributes of a scope and its profiles.
    pub fn scope_schema(&mut self, scope: Key<Scope>, schema_url: &str) {
        let row = self.brand.row(scope, self.tree.scopes.len());
        if let (Some(row), Some(url)) = (row, self.text(Text::Str(schema_url))) {
            self.tree.scopes[row as usize].schema_url = url;
        }
    }

    /// An entity a resource stands for.
    ///
    /// Its keys are those of attributes the resource has; others are left out, and so is an entity
    /// without a type or without a key that identifies it.
    ///
    /// ```
    /// use otlp_profiles::{Builder, build::Entity};
    ///
    /// let mut builder = Builder::new();
    /// let host = builder.resource([("host.id", "7f3c"), ("host.name", "web-1")]);
    /// builder.resource_schema(host, "https://opentelemetry.io/schemas/1.37.0");
    /// builder.entity(host, Entity::new("host", &["host.id"]).described_by(&["host.name"]));
    /// let cpu = builder.profile("cpu", "nanoseconds");
    /// builder.sample(cpu, ["main"]).value(1);
    ///
    /// let profiles = builder.finish()?;
    /// let resource = profiles.resource_profiles()[0].resource();
    /// assert_eq!(profiles.dictionary().text(resource.entity_refs()[0].entity_type), "host");
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn entity(&mut self, resource: Key<Resource>, entity: Entity<'_>) {
        let Some(row) = self.brand.row(resource, self.tree.resources.len()) else {
            return;
        };
        let resource = &self.tree.resources[row as usize].resource;
        let strings = &self.interner.dictionary.strings;
        let id_keys = keys(resource, strings, entity.id_keys, &[]);
        let description_keys = keys(resource, strings, entity.description_keys, &id_keys);
        if entity.kind.is_empty() || id_keys.is_empty() {
            return;
        }
        let bytes = size_of::<EntityRef>()
            + size_of::<StringId>() * (id_keys.len() + description_keys.len());
        let [kind, url] = [entity.kind, entity.schema_url].map(|text| self.text(Text::Str(text)));
        let (Some(entity_type), Some(schema_url)) = (kind, url) else {
            return;
        };
        let entity = EntityRef { schema_url, entity_type, id_keys, description_keys };
        let there = &self.tree.resources[row as usize].resource.entity_refs;
        if there.contains(&entity) {
            return;
        }
        let fits = self.interner.room.bytes(bytes);
        if self.fit(fits).is_some() {
            let resource = &mut self.tree.resources[row as usize].resource;
            resource.entity_refs.push(entity);
        }
    }
}

/// The keys among the resource's own, each once, without those of `others`.
fn keys(
    resource: &Resource,
    strings: &Strings,
    texts: &[&str],
    others: &[StringId],
) -> Vec<StringId> {
    let mut keys = Vec::new();
    for text in texts {
        let pair = resource.attributes.iter().find(|pair| strings.get(pair.key) == *text);
        keys.extend(
            pair.map(|pair| pair.key).filter(|key| !keys.contains(key) && !others.contains(key)),
        );
    }
    keys
}
