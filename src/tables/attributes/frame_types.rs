//! Frame types stored in a field. The OTEP and the conventions use different names for some of them.
//!
//! `semconv::FRAME_TYPES` has the pairs. The reader replaces old names by new ones, so the writer uses the
//! field only if reading it restores the name: the convention's name of a pair is written as the old name; an
//! old name that is used as a new one stays an attribute; any other name is written unchanged.

use crate::model::id::StringId;
use crate::semconv::FRAME_TYPES;

/// The form of a frame type in the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameType {
    /// The convention's name.
    Text(StringId),
    /// The old name.
    Old(&'static str),
}

impl FrameType {
    /// Returns the form of `name` in the field, or `None` if reading would return another name.
    pub(crate) fn of(name: &str, text: StringId) -> Option<Self> {
        if let Some((old, _)) = FRAME_TYPES.iter().find(|(_, new)| name == *new) {
            return Some(Self::Old(old));
        }
        let old = FRAME_TYPES.iter().any(|(old, _)| name == *old);
        (!name.is_empty() && !old).then_some(Self::Text(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_as_they_were() {
        let text = StringId(7);
        let frame_type = |name| FrameType::of(name, text);
        assert_eq!(frame_type("cpython"), Some(FrameType::Old("python")));
        assert_eq!(frame_type("jvm"), Some(FrameType::Old("hotspot")));
        assert_eq!(frame_type("kernel"), Some(FrameType::Text(text)));
        for kept in ["python", "hotspot", ""] {
            assert_eq!(frame_type(kept), None, "{kept}");
        }
    }
}
