//! Attributes and headers of profiles as OTLP 1.10, for what columns of text cannot represent.
//!
//! Attributes are encoded as a message with one profile that has them. So the reader and the writer of OTLP 1.10
//! decide what each value is, and any reader of OTLP can decode the column.

use crate::error::Result;
use crate::format::Format;
use crate::model::dictionary::{Attribute, Dictionary};
use crate::model::profile::Profile;
use crate::model::{
    AttributeId, EntityRef, KeyValue, Profiles, ResourceProfiles, ScopeProfiles, StringId,
};
#[cfg(feature = "parquet")]
use crate::reader::{ReadOptions, read};
#[cfg(feature = "parquet")]
use crate::tables::rows::{
    interner::Interner,
    merge::{Remap, absorb},
};
use crate::writer::write;

/// Encodes attributes of a dictionary.
pub(super) fn attributes(dictionary: &Dictionary, attributes: &[AttributeId]) -> Result<Vec<u8>> {
    let mut profile = Profile::default();
    profile.attributes.extend_from_slice(attributes);
    header(dictionary, ResourceProfiles::default(), ScopeProfiles::default(), profile)
}

/// Encodes a profile without samples, and its resource and scope without profiles. Takes time for these, and not for
/// the dictionary.
pub(super) fn header(
    dictionary: &Dictionary,
    mut resource: ResourceProfiles,
    mut scope: ScopeProfiles,
    mut profile: Profile,
) -> Result<Vec<u8>> {
    let mut of = Dictionary::default();
    let Dictionary { strings, attributes, .. } = &mut of;
    let mut text = |id: StringId| match dictionary.text(id) {
        "" => StringId::NONE,
        text => strings.push(text),
    };
    for id in profile.attributes.get_mut().into_iter().flatten() {
        let Attribute { key, value, unit } = dictionary.attribute(*id).cloned().unwrap_or_default();
        let value = value.map_texts(&mut text);
        *id = AttributeId(attributes.len() as u32);
        attributes.push(Attribute { key: text(key), value, unit: text(unit) });
    }
    profile.texts_mut().for_each(|id| *id = text(*id));
    around(&mut resource, &mut scope, &mut text);
    scope.profiles = vec![profile];
    resource.scopes = vec![scope];
    let profiles = Profiles { dictionary: of, resources: vec![resource] };
    Ok(write(&profiles, Format::OTLP_1_10, &Default::default())?.payload)
}

/// Replaces the texts of a resource and a scope.
fn around(
    resource: &mut ResourceProfiles,
    scope: &mut ScopeProfiles,
    text: &mut impl FnMut(StringId) -> StringId,
) {
    let pairs = |pairs: &mut Vec<KeyValue>, text: &mut dyn FnMut(StringId) -> StringId| {
        pairs.iter_mut().for_each(|pair| *pair = pair.map_texts(&mut |id| text(id)));
    };
    if let Some(resource) = resource.parts_mut() {
        pairs(&mut resource.resource.attributes, text);
        resource.schema_url = text(resource.schema_url);
        for entity in &mut resource.resource.entity_refs {
            let EntityRef { schema_url, entity_type, id_keys, description_keys } = entity;
            let ids = [schema_url, entity_type].into_iter().chain(id_keys).chain(description_keys);
            ids.for_each(|id| *id = text(*id));
        }
    }
    if let Some(scope) = scope.parts_mut() {
        pairs(&mut scope.scope.attributes, text);
        let ids = [&mut scope.schema_url, &mut scope.scope.name, &mut scope.scope.version];
        ids.into_iter().for_each(|id| *id = text(*id));
    }
}

/// Decodes a message, and interns its rows. The result renumbers them.
#[cfg(feature = "parquet")]
pub(super) fn decode(bytes: &[u8], interner: &mut Interner) -> Result<(Profiles, Remap)> {
    let options =
        ReadOptions::default().limits(interner.budget.limits).format(Some(Format::OTLP_1_10));
    let profiles = read(bytes, &options)?.profiles;
    let remap = absorb(interner, &profiles.dictionary)?;
    Ok((profiles, remap))
}
