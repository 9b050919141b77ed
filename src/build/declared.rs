//! What is declared outlives the dictionary of an interval.
//!
//! [`Builder::seal`](crate::Builder::seal) lends the interval's dictionary out. The texts and
//! attributes that declarations refer to are copied before, and the next interval begins with them.
//!
//! ```text
//! interval n     dictionary ─ lent out ─►  the caller
//!                   └─ put_by: texts and attributes of resources, scopes, profiles ─► Declared
//! interval n+1   new dictionary ◄─ restore ─┘
//! ```

use crate::build::interner::Interner;
use crate::build::merge::{map_resource, map_scope};
use crate::build::room::Full;
use crate::build::tree::{Draft, DraftResource, DraftScope, Tree};
use crate::model::dictionary::{Attribute, Dictionary};
use crate::model::id::{AttributeId, StringId};
use crate::model::strings::Strings;

/// The texts and the attributes that declarations refer to, one row for each reference.
#[derive(Clone, Debug, Default)]
pub(crate) struct Declared {
    strings: Strings,
    attributes: Vec<Attribute>,
}

impl Declared {
    /// Copies what the declarations refer to, and lets them refer to the copy.
    pub(crate) fn put_by(&mut self, tree: &mut Tree, from: &Dictionary) {
        self.strings.clear();
        self.attributes.clear();
        let Self { strings, attributes } = self;
        let mut text = |id| copy(strings, from.strings.bytes(id));
        tree.map_texts(&mut text);
        tree.map_attributes(|id| {
            let attribute = from.attribute(id).cloned().unwrap_or_default();
            attributes.push(map_attribute(&attribute, &mut text));
            AttributeId(attributes.len() as u32 - 1)
        });
    }

    /// Adds the copy to the next interval's dictionary, and lets the declarations refer to that. If
    /// it does not fit, they refer to nothing sensible any more.
    ///
    /// # Errors
    ///
    /// `Full`, where limits leave no room for what is declared alone.
    pub(crate) fn restore(&self, tree: &mut Tree, into: &mut Interner) -> Result<(), Full> {
        let mut full = Ok(());
        let mut text = |into: &mut Interner, id| {
            let id = into.string(self.strings.bytes(id));
            id.map_err(|error| full = Err(error)).unwrap_or_default()
        };
        tree.map_texts(&mut |id| text(into, id));
        let mut attributes = Vec::with_capacity(self.attributes.len());
        for attribute in &self.attributes {
            let attribute = map_attribute(attribute, &mut |id| text(into, id));
            attributes.push(into.attribute(attribute)?);
        }
        tree.map_attributes(|id| attributes.get(id.row()).copied().unwrap_or_default());
        full?;
        tree.sort();
        tree.bytes().try_for_each(|bytes| into.room.bytes(bytes))
    }
}

fn copy(strings: &mut Strings, text: &[u8]) -> StringId {
    if text.is_empty() { StringId::NONE } else { strings.push_bytes(text) }
}

fn map_attribute(attribute: &Attribute, text: &mut impl FnMut(StringId) -> StringId) -> Attribute {
    Attribute {
        key: text(attribute.key),
        value: attribute.value.map_texts(text),
        unit: text(attribute.unit),
    }
}

impl Tree {
    fn map_texts(&mut self, f: &mut impl FnMut(StringId) -> StringId) {
        for DraftResource { resource, schema_url } in &mut self.resources {
            map_resource(resource, f);
            *schema_url = f(*schema_url);
        }
        for DraftScope { scope, schema_url, .. } in &mut self.scopes {
            map_scope(scope, f);
            *schema_url = f(*schema_url);
        }
        let profiles = self.profiles.iter_mut();
        profiles.flat_map(|draft| draft.profile.texts_mut()).for_each(|id| *id = f(*id));
    }

    fn map_attributes(&mut self, mut f: impl FnMut(AttributeId) -> AttributeId) {
        let attributes =
            self.profiles.iter_mut().flat_map(|draft| draft.profile.attributes.iter_mut());
        attributes.for_each(|id| *id = f(*id));
    }

    /// Orders attributes by their keys, whose ids are new ones, and finds all rows by what they are now.
    fn sort(&mut self) {
        for DraftResource { resource, .. } in &mut self.resources {
            resource.attributes.sort_unstable_by_key(|pair| pair.key);
        }
        for DraftScope { scope, .. } in &mut self.scopes {
            scope.attributes.sort_unstable_by_key(|pair| pair.key);
        }
        self.index();
    }

    /// What each declaration takes, which the new interval has to pay for again.
    fn bytes(&self) -> impl Iterator<Item = usize> {
        let resources = self.resources.iter().map(DraftResource::bytes);
        let scopes = self.scopes.iter().map(DraftScope::bytes);
        resources.chain(scopes).chain(self.profiles.iter().map(Draft::bytes))
    }
}
