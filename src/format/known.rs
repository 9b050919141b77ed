//! Which attributes the conventions name for what pprof and older generations have fields for.
//!
//! The same attribute means different things to a writer: to 1.10 a row like any other, to pprof a field. Each is
//! looked at once, by its key and its value; a value that the field cannot hold makes it an attribute like others.

use crate::model::dictionary::{Attribute, Dictionary};
use crate::model::id::{AttributeId, StringId};
use crate::model::value::Value;
use crate::semconv;

/// What an attribute is to formats that have a field for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// Nothing special: an attribute.
    Other,
    /// One of pprof's four mapping flags, by the order of their fields.
    /// 0 is `has_functions`.
    MappingFlag(u8),
    /// A text on a mapping whose key is of the conventions.
    BuildId(BuildId),
    Folded,
    FrameType,
    /// One text. A field for comments would make a list of it.
    Comment,
    /// A list of texts.
    Comments,
    DropFrames,
    KeepFrames,
    DocUrl,
    /// A default sample type where the profiles of a scope have several.
    DefaultSampleType,
    /// The same, where the number of a column says it too.
    DefaultColumn,
}

/// The kinds of build id, in the order in which one of several is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum BuildId {
    /// Of the linker, as most tools want it.
    Gnu,
    Go,
    /// Made of the file, where a linker wrote none.
    Htlhash,
    Other,
}

/// What every attribute of a dictionary is, by row.
pub(crate) struct KnownAttributes {
    /// By row of the attribute table.
    kinds: Vec<Known>,
    /// Whether any attribute is of pprof's namespace: the source can say all pprof can.
    pub(crate) from_pprof: bool,
}

impl KnownAttributes {
    /// Looks at all attributes, once for a payload.
    pub(crate) fn of(dictionary: &Dictionary) -> Self {
        let kinds: Vec<Known> =
            dictionary.attributes().iter().map(|attribute| known(dictionary, attribute)).collect();
        let mut rows = 0..dictionary.attributes().len();
        let from_pprof = rows.any(|row| is_pprof(dictionary, row));
        Self { kinds, from_pprof }
    }

    /// [`Known::Other`] past the table.
    #[inline]
    pub(crate) fn get(&self, id: AttributeId) -> Known {
        self.kinds.get(id.row()).copied().unwrap_or(Known::Other)
    }

    /// Changes what the attributes of one kind are, where `changed` says so.
    pub(crate) fn change(&mut self, from: Known, to: Known, changed: impl Fn(AttributeId) -> bool) {
        for (row, kind) in self.kinds.iter_mut().enumerate() {
            if *kind == from && changed(AttributeId(row as u32)) {
                *kind = to;
            }
        }
    }
}

/// Whether an attribute is of pprof's namespace.
pub(crate) fn is_pprof(dictionary: &Dictionary, row: usize) -> bool {
    let attribute = dictionary.attributes().get(row);
    attribute.is_some_and(|attribute| dictionary.text(attribute.key).starts_with("pprof."))
}

fn known(dictionary: &Dictionary, attribute: &Attribute) -> Known {
    let key = dictionary.text(attribute.key);
    let known = match &attribute.value {
        // A location that is not folded says so by nothing, and an empty text is none.
        Value::Bool(false) if key == semconv::PPROF_LOCATION_IS_FOLDED => Known::Other,
        Value::String(text)
            if dictionary.text(*text).is_empty() && key != semconv::PPROF_PROFILE_COMMENT =>
        {
            Known::Other
        }
        Value::Bool(_) => match key {
            semconv::PPROF_MAPPING_HAS_FUNCTIONS => Known::MappingFlag(0),
            semconv::PPROF_MAPPING_HAS_FILENAMES => Known::MappingFlag(1),
            semconv::PPROF_MAPPING_HAS_LINE_NUMBERS => Known::MappingFlag(2),
            semconv::PPROF_MAPPING_HAS_INLINE_FRAMES => Known::MappingFlag(3),
            semconv::PPROF_LOCATION_IS_FOLDED => Known::Folded,
            _ => Known::Other,
        },
        Value::String(_) => match key {
            semconv::BUILD_ID_GNU => Known::BuildId(BuildId::Gnu),
            semconv::BUILD_ID_GO => Known::BuildId(BuildId::Go),
            semconv::BUILD_ID_HTLHASH => Known::BuildId(BuildId::Htlhash),
            semconv::PROFILE_FRAME_TYPE => Known::FrameType,
            semconv::PPROF_PROFILE_DROP_FRAMES => Known::DropFrames,
            semconv::PPROF_PROFILE_KEEP_FRAMES => Known::KeepFrames,
            semconv::PPROF_PROFILE_DOC_URL => Known::DocUrl,
            semconv::PPROF_PROFILE_COMMENT => Known::Comment,
            semconv::PPROF_PROFILE_DEFAULT_SAMPLE_TYPE => Known::DefaultSampleType,
            other if other.starts_with("process.executable.build_id.") => {
                Known::BuildId(BuildId::Other)
            }
            _ => Known::Other,
        },
        Value::Array(values) if key == semconv::PPROF_PROFILE_COMMENT => {
            let texts = values.iter().all(|value| matches!(value, Value::String(_)));
            if texts && !values.is_empty() { Known::Comments } else { Known::Other }
        }
        _ => Known::Other,
    };
    // A field has no room for a unit.
    if attribute.unit.some().is_some() { Known::Other } else { known }
}

/// The texts of an attribute that is a text or a list of them.
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
