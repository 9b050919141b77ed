//! Attributes of the semantic conventions that represent fields of pprof and of older generations.
//!
//! Writers treat these attributes differently: for 1.10 they are ordinary rows, for pprof they are fields.
//! Each attribute is classified once by key and value. If the field cannot hold the value, the attribute is
//! an ordinary one.

use crate::losses::{self, LossCode};
use crate::model::dictionary::{Attribute, Dictionary};
use crate::model::id::{AttributeId, StringId};
use crate::model::value::Value;
use crate::semconv;

/// The field that an attribute represents in formats that have such a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AttributeRole {
    /// An ordinary attribute, without a field.
    Other,
    /// One of pprof's four mapping flags, numbered in the order of the fields. 0 is `has_functions`.
    MappingFlag(u8),
    /// A string with a build id key of the conventions, on a mapping.
    BuildId(BuildId),
    Folded,
    FrameType,
    /// A single string. The field for comments would turn it into a list.
    Comment,
    /// A list of strings.
    Comments,
    DropFrames,
    KeepFrames,
    DocUrl,
    /// A default sample type, stored in each profile if those of a scope differ in it.
    DefaultSampleType,
    /// The same, if the number of a column represents it too.
    DefaultColumn,
}

/// The kinds of build id, in order of preference if a mapping has several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum BuildId {
    /// Written by the linker; most tools expect this kind.
    Gnu,
    Go,
    /// A hash of the file, used if the linker wrote no id.
    Htlhash,
    Other,
}

/// The classification of all attributes of a dictionary.
pub(crate) struct AttributeRoles {
    /// By row of the attribute table.
    kinds: Vec<AttributeRole>,
    /// Whether any attribute is in pprof's namespace. If so, the source could represent everything that pprof
    /// can.
    pub(crate) from_pprof: bool,
}

impl AttributeRoles {
    /// Classifies all attributes, once for a payload.
    pub(crate) fn of(dictionary: &Dictionary) -> Self {
        let kinds: Vec<AttributeRole> = dictionary
            .attributes()
            .iter()
            .map(|attribute| role_of(dictionary, attribute))
            .collect();
        let mut rows = 0..dictionary.attributes().len();
        let from_pprof = rows.any(|row| is_pprof(dictionary, row));
        Self { kinds, from_pprof }
    }

    /// Returns the classification of an attribute; [`AttributeRole::Other`] if the id is past the table.
    #[inline]
    pub(crate) fn get(&self, id: AttributeId) -> AttributeRole {
        self.kinds.get(id.row()).copied().unwrap_or(AttributeRole::Other)
    }

    /// Reclassifies the attributes of kind `from` that `changed` selects.
    pub(crate) fn change(
        &mut self,
        from: AttributeRole,
        to: AttributeRole,
        changed: impl Fn(AttributeId) -> bool,
    ) {
        for (row, kind) in self.kinds.iter_mut().enumerate() {
            if *kind == from && changed(AttributeId(row as u32)) {
                *kind = to;
            }
        }
    }
}

/// Returns the loss code of an attribute that pprof drops: `dropped`, unless it is an empty string for a field of pprof,
/// which equals the unset field.
pub(crate) fn loss_of(
    dictionary: &Dictionary,
    attribute: &Attribute,
    dropped: LossCode,
) -> LossCode {
    let is_field = matches!(
        dictionary.text(attribute.key),
        semconv::BUILD_ID_GNU
            | semconv::BUILD_ID_GO
            | semconv::BUILD_ID_HTLHASH
            | semconv::PPROF_PROFILE_DROP_FRAMES
            | semconv::PPROF_PROFILE_KEEP_FRAMES
            | semconv::PPROF_PROFILE_DOC_URL
            | semconv::PPROF_PROFILE_DEFAULT_SAMPLE_TYPE
    );
    match attribute.value {
        Value::String(text) if is_field && dictionary.text(text).is_empty() => {
            losses::ATTR_EMPTY_FIELD
        }
        _ => dropped,
    }
}

/// Returns whether an attribute is in pprof's namespace.
pub(crate) fn is_pprof(dictionary: &Dictionary, row: usize) -> bool {
    let attribute = dictionary.attributes().get(row);
    attribute.is_some_and(|attribute| dictionary.text(attribute.key).starts_with("pprof."))
}

fn role_of(dictionary: &Dictionary, attribute: &Attribute) -> AttributeRole {
    let key = dictionary.text(attribute.key);
    let role = match &attribute.value {
        // A location without the flag is not folded, and an empty string equals an unset field.
        Value::Bool(false) if key == semconv::PPROF_LOCATION_IS_FOLDED => AttributeRole::Other,
        Value::String(text)
            if dictionary.text(*text).is_empty() && key != semconv::PPROF_PROFILE_COMMENT =>
        {
            AttributeRole::Other
        }
        Value::Bool(_) => match key {
            semconv::PPROF_MAPPING_HAS_FUNCTIONS => AttributeRole::MappingFlag(0),
            semconv::PPROF_MAPPING_HAS_FILENAMES => AttributeRole::MappingFlag(1),
            semconv::PPROF_MAPPING_HAS_LINE_NUMBERS => AttributeRole::MappingFlag(2),
            semconv::PPROF_MAPPING_HAS_INLINE_FRAMES => AttributeRole::MappingFlag(3),
            semconv::PPROF_LOCATION_IS_FOLDED => AttributeRole::Folded,
            _ => AttributeRole::Other,
        },
        Value::String(_) => match key {
            semconv::BUILD_ID_GNU => AttributeRole::BuildId(BuildId::Gnu),
            semconv::BUILD_ID_GO => AttributeRole::BuildId(BuildId::Go),
            semconv::BUILD_ID_HTLHASH => AttributeRole::BuildId(BuildId::Htlhash),
            semconv::PROFILE_FRAME_TYPE => AttributeRole::FrameType,
            semconv::PPROF_PROFILE_DROP_FRAMES => AttributeRole::DropFrames,
            semconv::PPROF_PROFILE_KEEP_FRAMES => AttributeRole::KeepFrames,
            semconv::PPROF_PROFILE_DOC_URL => AttributeRole::DocUrl,
            semconv::PPROF_PROFILE_COMMENT => AttributeRole::Comment,
            semconv::PPROF_PROFILE_DEFAULT_SAMPLE_TYPE => AttributeRole::DefaultSampleType,
            other if other.starts_with("process.executable.build_id.") => {
                AttributeRole::BuildId(BuildId::Other)
            }
            _ => AttributeRole::Other,
        },
        Value::Array(values) if key == semconv::PPROF_PROFILE_COMMENT => {
            let texts = values.iter().all(|value| matches!(value, Value::String(_)));
            // The field cannot represent an empty list, which it would omit.
            if texts && !values.is_empty() { AttributeRole::Comments } else { AttributeRole::Other }
        }
        _ => AttributeRole::Other,
    };
    // Fields have no unit.
    if attribute.unit.some().is_some() { AttributeRole::Other } else { role }
}

/// Iterates over the strings of an attribute that holds a string or a list of strings.
pub(crate) fn texts(value: &Value) -> impl Iterator<Item = StringId> {
    let (one, many) = match value {
        Value::String(text) => (Some(*text), &[][..]),
        Value::Array(values) => (None, &values[..]),
        _ => (None, &[][..]),
    };
    one.into_iter().chain(many.iter().filter_map(|value| match value {
        Value::String(text) => Some(*text),
        _ => None,
    }))
}
