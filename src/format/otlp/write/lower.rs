//! Attributes that a generation says in fields: what reading makes attributes of, the other way.
//!
//! The other way is [`lift`](crate::format::otlp::read). An attribute becomes a field only where reading the
//! field gives the same attribute again; anything else stays an attribute, so that nothing changes on the way.
//!
//! ```text
//! attribute                               field                           versions
//! pprof.mapping.has_functions = true  ─►  Mapping.has_functions …         up to 1.7
//! process.executable.build_id.gnu     ─►  Mapping.build_id, kind 0        1.3
//! process.executable.build_id.htlhash ─►  Mapping.build_id, kind 1        1.3
//! pprof.location.is_folded = true     ─►  Location.is_folded              up to 1.7
//! profile.frame.type                  ─►  Location.type_index             1.3
//! ```

use std::marker::PhantomData;

use crate::format::build_id;
use crate::format::known::{BuildId, Known, KnownAttributes};
use crate::format::otlp::write::frame_types::FrameType;
use crate::model::dictionary::Dictionary;
use crate::model::id::{AttributeId, StringId};
use crate::model::value::Value;
use crate::schema::Generation;

/// What the attributes of mappings and locations become in a generation.
/// It is asked row by row, and remembers nothing.
pub(crate) struct Lower<'a, G> {
    dictionary: &'a Dictionary,
    known: &'a KnownAttributes,
    generation: PhantomData<G>,
}

impl<'a, G: Generation> Lower<'a, G> {
    pub(crate) fn new(dictionary: &'a Dictionary, known: &'a KnownAttributes) -> Self {
        Self { dictionary, known, generation: PhantomData }
    }

    /// The mapping flags said in fields.
    /// Bit 0 is `has_functions`; the fields follow each other in this order.
    pub(crate) fn mapping_flags(&self, row: usize) -> u32 {
        let set = |id: &AttributeId| match (
            self.known.get(*id),
            self.dictionary.attribute(*id).map(|a| &a.value),
        ) {
            (Known::MappingFlag(bit), Some(Value::Bool(true))) => 1 << bit,
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

    /// The build id said in a field: the attribute, its text, and the kind's number.
    ///
    /// Of several the one that comes first in [`BuildId`]'s order. `None` where the text alone
    /// would be read back as another kind.
    pub(crate) fn build_id(&self, row: usize) -> Option<(AttributeId, StringId, u64)> {
        if !G::CAPABILITIES.build_ids {
            return None;
        }
        let of = |id: &AttributeId| match (
            self.known.get(*id),
            &self.dictionary.attribute(*id)?.value,
        ) {
            (Known::BuildId(kind), Value::String(text)) if kind != BuildId::Other => {
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
        // Read back, the text alone must say of which kind it is; and an empty one is none.
        let key = self.dictionary.text(self.dictionary.attribute(id)?.key);
        let same = build_id::key_of(self.dictionary.text(text).as_bytes()).0 == key;
        (same && text != StringId::NONE).then_some((id, text, 0))
    }

    /// The attributes of a mapping that are said as attributes.
    ///
    /// A flag that is false is dropped where there are fields: left out says the same.
    pub(crate) fn mapping_attributes(&self, row: usize) -> impl Iterator<Item = AttributeId> + '_ {
        let build_id = self.build_id(row).map(|(id, ..)| id);
        self.dictionary.mappings.attributes.row(row).iter().copied().filter(move |id| {
            match self.known.get(*id) {
                Known::MappingFlag(_) => !G::CAPABILITIES.mapping_flags,
                _ => Some(*id) != build_id,
            }
        })
    }

    /// Whether a location says `is_folded`: false and left out are the same there.
    pub(crate) fn folded(&self, row: usize) -> bool {
        self.dictionary.locations.attributes.row(row).iter().any(|id| {
            self.known.get(*id) == Known::Folded
                && self
                    .dictionary
                    .attribute(*id)
                    .is_some_and(|attribute| attribute.value == Value::Bool(true))
        })
    }

    /// The frame type said in a field. A name that would come back as another stays an attribute.
    pub(crate) fn frame_type(&self, row: usize) -> Option<(AttributeId, FrameType)> {
        if !G::CAPABILITIES.frame_types {
            return None;
        }
        let ids = self.dictionary.locations.attributes.row(row);
        let id = ids.iter().find(|id| self.known.get(**id) == Known::FrameType)?;
        let Value::String(text) = self.dictionary.attribute(*id)?.value else {
            return None;
        };
        FrameType::of(self.dictionary.text(text), text).map(|said| (*id, said))
    }

    /// The attributes of a location that are said as attributes.
    pub(crate) fn location_attributes(&self, row: usize) -> impl Iterator<Item = AttributeId> + '_ {
        let ids = self.dictionary.locations.attributes.row(row);
        let frame_type = if ids.is_empty() { None } else { self.frame_type(row).map(|(id, _)| id) };
        ids.iter().copied().filter(move |id| match self.known.get(*id) {
            Known::Folded => !G::CAPABILITIES.folded_locations,
            _ => Some(*id) != frame_type,
        })
    }
}

/// Whether the generation has a field for a profile's attribute.
/// Those that have none stay attributes, or are lost where there are none.
pub(crate) fn is_profile_field<G: Generation>(known: Known) -> bool {
    match known {
        Known::Comments => G::CAPABILITIES.comments,
        Known::DropFrames => G::CAPABILITIES.drop_frames,
        Known::KeepFrames => G::CAPABILITIES.keep_frames,
        Known::DefaultSampleType => G::CAPABILITIES.default_by_name,
        Known::DefaultColumn => true,
        _ => false,
    }
}
