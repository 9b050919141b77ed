//! Conversion of attributes to the fields of a generation, the inverse of
//! [`fields_to_attributes`](crate::tables::attributes::fields_to_attributes).
//!
//! An attribute becomes a field only if reading the field restores the attribute; other attributes stay
//! attributes. So a round trip changes nothing.
//!
//! ```text
//! attribute                               field                           versions
//! pprof.mapping.has_functions = true  ─►  Mapping.has_functions …         up to 1.7, events
//! process.executable.build_id.gnu     ─►  Mapping.build_id, kind 0        1.3, events
//! process.executable.build_id.htlhash ─►  Mapping.build_id, kind 1        1.3, events
//! pprof.location.is_folded = true     ─►  Location.is_folded              up to 1.7, events
//! profile.frame.type                  ─►  Location.type_index             1.3, events
//! ```

use std::marker::PhantomData;

use crate::model::dictionary::Dictionary;
use crate::model::id::{AttributeId, StringId};
use crate::model::value::Value;
use crate::schema::Generation;
use crate::tables::attributes::build_id;
use crate::tables::attributes::frame_types::FrameType;
use crate::tables::attributes::semantic_attributes::{AttributeRole, AttributeRoles, BuildId};

/// Converts the attributes of mappings and locations for a generation, row by row, without state.
pub(crate) struct AttributesToFields<'a, G> {
    dictionary: &'a Dictionary,
    roles: &'a AttributeRoles,
    generation: PhantomData<G>,
}

impl<'a, G: Generation> AttributesToFields<'a, G> {
    pub(crate) fn new(dictionary: &'a Dictionary, roles: &'a AttributeRoles) -> Self {
        Self { dictionary, roles, generation: PhantomData }
    }

    /// Returns the mapping flags to store in fields. Bit 0 is `has_functions`; the bits are in the order of
    /// the fields.
    pub(crate) fn mapping_flags(&self, row: usize) -> u32 {
        let set = |id: &AttributeId| match (
            self.roles.get(*id),
            self.dictionary.attribute(*id).map(|a| &a.value),
        ) {
            (AttributeRole::MappingFlag(bit), Some(Value::Bool(true))) => 1 << bit,
            _ => 0,
        };
        self.dictionary
            .mappings
            .attributes
            .row(row)
            .iter()
            .map(set)
            .fold(0, |flags, flag| flags | flag)
    }

    /// Returns the build id to store in a field: the attribute, its string, and the number of its kind.
    ///
    /// If there are several, returns the first in the order of [`BuildId`]. Returns `None` if the string
    /// alone would be read as another kind.
    pub(crate) fn build_id(&self, row: usize) -> Option<(AttributeId, StringId, u64)> {
        if !G::CAPABILITIES.build_ids {
            return None;
        }
        let of = |id: &AttributeId| match (
            self.roles.get(*id),
            &self.dictionary.attribute(*id)?.value,
        ) {
            (AttributeRole::BuildId(kind), Value::String(text)) if kind != BuildId::Other => {
                Some((kind, *id, *text))
            }
            _ => None,
        };
        let (kind, id, text) = self
            .dictionary
            .mappings
            .attributes
            .row(row)
            .iter()
            .filter_map(of)
            .min_by_key(|(kind, ..)| *kind)?;
        if kind == BuildId::Htlhash {
            return Some((id, text, 1));
        }
        // The string alone must identify its kind when read; an empty string equals an unset field.
        let key = self.dictionary.text(self.dictionary.attribute(id)?.key);
        let same = build_id::key_of(self.dictionary.text(text).as_bytes()).0 == key;
        (same && text != StringId::NONE).then_some((id, text, 0))
    }

    /// Returns the attributes of a mapping that stay attributes.
    ///
    /// If the generation has fields, a false flag is dropped, because an omitted field means the same.
    pub(crate) fn mapping_attributes(&self, row: usize) -> impl Iterator<Item = AttributeId> + '_ {
        let build_id = self.build_id(row).map(|(id, ..)| id);
        self.dictionary.mappings.attributes.row(row).iter().copied().filter(move |id| {
            match self.roles.get(*id) {
                AttributeRole::MappingFlag(_) => !G::CAPABILITIES.mapping_flags,
                _ => Some(*id) != build_id,
            }
        })
    }

    /// Returns whether a location has `is_folded` set. False equals omitted.
    pub(crate) fn folded(&self, row: usize) -> bool {
        self.dictionary.locations.attributes.row(row).iter().any(|id| {
            self.roles.get(*id) == AttributeRole::Folded
                && self
                    .dictionary
                    .attribute(*id)
                    .is_some_and(|attribute| attribute.value == Value::Bool(true))
        })
    }

    /// Returns the frame type to store in a field. A name that would be read as another stays an attribute.
    pub(crate) fn frame_type(&self, row: usize) -> Option<(AttributeId, FrameType)> {
        if !G::CAPABILITIES.frame_types {
            return None;
        }
        let ids = self.dictionary.locations.attributes.row(row);
        let id = ids.iter().find(|id| self.roles.get(**id) == AttributeRole::FrameType)?;
        let Value::String(text) = self.dictionary.attribute(*id)?.value else {
            return None;
        };
        // Only OTEP 0239 (1.3) has other names than the conventions.
        if !G::CAPABILITIES.old_frame_types {
            return Some((*id, FrameType::Text(text)));
        }
        FrameType::of(self.dictionary.text(text), text).map(|frame_type| (*id, frame_type))
    }

    /// Returns the attributes of a location that stay attributes.
    pub(crate) fn location_attributes(&self, row: usize) -> impl Iterator<Item = AttributeId> + '_ {
        let ids = self.dictionary.locations.attributes.row(row);
        let frame_type = if ids.is_empty() { None } else { self.frame_type(row).map(|(id, _)| id) };
        ids.iter().copied().filter(move |id| match self.roles.get(*id) {
            AttributeRole::Folded => !G::CAPABILITIES.folded_locations,
            _ => Some(*id) != frame_type,
        })
    }
}

/// Returns whether the generation has a field for a profile's attribute. Other attributes stay attributes, or
/// are lost if the generation has no attributes there.
pub(crate) fn is_profile_field<G: Generation>(role: AttributeRole) -> bool {
    match role {
        AttributeRole::Comments => G::CAPABILITIES.comments,
        AttributeRole::DropFrames => G::CAPABILITIES.drop_frames,
        AttributeRole::KeepFrames => G::CAPABILITIES.keep_frames,
        AttributeRole::DefaultSampleType => G::CAPABILITIES.default_by_name,
        AttributeRole::DefaultColumn => true,
        _ => false,
    }
}
