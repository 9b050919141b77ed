//! Frame types in a field: the OTEP has its own names for some of those the conventions name.
//!
//! The pairs are in `semconv::FRAME_TYPES`. Reading turns the old names into the new, so a name
//! goes into the field only if reading the field gives it back: the conventions' name of a pair
//! goes as the old name, an old name used as a new one stays an attribute, any other name goes as
//! it is.

use crate::model::id::StringId;
use crate::semconv::FRAME_TYPES;

/// How the field says a frame type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameType {
    /// By the conventions' name.
    Text(StringId),
    /// By the old name.
    Old(&'static str),
}

impl FrameType {
    /// How the field says `name`; `None` where it would come back as another.
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
        let said = |name| FrameType::of(name, text);
        assert_eq!(said("cpython"), Some(FrameType::Old("python")));
        assert_eq!(said("jvm"), Some(FrameType::Old("hotspot")));
        assert_eq!(said("kernel"), Some(FrameType::Text(text)));
        for kept in ["python", "hotspot", ""] {
            assert_eq!(said(kept), None, "{kept}");
        }
    }
}
