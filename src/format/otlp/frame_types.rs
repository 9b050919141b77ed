//! Frame types in a field: the OTEP has its own names for some of those the conventions name.

use crate::format::select::StringTable;
use crate::model::dictionary::Dictionary;
use crate::model::id::StringId;
use crate::semconv::FRAME_TYPES;

/// How the field says a frame type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameType {
    /// By the conventions' name.
    Text(StringId),
    /// By the old name, of this row of [`FRAME_TYPES`].
    Old(usize),
}

impl FrameType {
    /// How the field says `name`; `None` where it would come back as another.
    pub(crate) fn of(name: &str, text: StringId) -> Option<Self> {
        if let Some(row) = FRAME_TYPES.iter().position(|(_, new)| name == *new) {
            return Some(Self::Old(row));
        }
        let old = FRAME_TYPES.iter().any(|(old, _)| name == *old);
        (!name.is_empty() && !old).then_some(Self::Text(text))
    }
}

/// Where the string table has the old names that are used.
#[derive(Debug, Default)]
pub(crate) struct OldNames([Place; FRAME_TYPES.len()]);

#[derive(Clone, Copy, Debug, Default)]
enum Place {
    #[default]
    Unused,
    /// A string of the dictionary.
    Text(StringId),
    /// A string after those of the dictionary, at this index.
    Made(u32),
}

impl OldNames {
    /// Looks for the old names of some rows; gives those that the dictionary has.
    pub(crate) fn find(&mut self, used: &[usize], dictionary: &Dictionary) -> Vec<StringId> {
        let mut found = Vec::new();
        for (row, (old, _)) in FRAME_TYPES.iter().enumerate() {
            if used.contains(&row) {
                let ids = (1..dictionary.strings.len() as u32).map(StringId);
                let text = ids.into_iter().find(|id| dictionary.text(*id) == *old);
                self.0[row] = text.map_or(Place::Made(0), Place::Text);
                found.extend(text);
            }
        }
        found
    }

    /// Gives the others their indices, after `strings` strings.
    pub(crate) fn number(&mut self, strings: usize) {
        let mut next = strings as u32;
        for place in &mut self.0 {
            if let Place::Made(index) = place {
                *index = next;
                next += 1;
            }
        }
    }

    /// The index of an old name.
    pub(crate) fn index(&self, row: usize, strings: &StringTable) -> u32 {
        match self.0.get(row) {
            Some(Place::Text(text)) => strings.index(*text),
            Some(Place::Made(index)) => *index,
            Some(Place::Unused) | None => 0,
        }
    }

    /// The old names that come after the strings of the dictionary, in order.
    pub(crate) fn made(&self) -> impl Iterator<Item = &'static str> {
        let rows = self.0.iter().zip(FRAME_TYPES);
        rows.filter(|(place, _)| matches!(place, Place::Made(_))).map(|(_, (old, _))| old)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_as_they_were() {
        let text = StringId(7);
        let said = |name| FrameType::of(name, text);
        assert_eq!(said("cpython"), Some(FrameType::Old(0)));
        assert_eq!(said("jvm"), Some(FrameType::Old(1)));
        assert_eq!(said("kernel"), Some(FrameType::Text(text)));
        for kept in ["python", "hotspot", ""] {
            assert_eq!(said(kept), None, "{kept}");
        }
    }

    #[test]
    fn names_that_no_table_has_come_after_it() {
        let mut names = OldNames::default();
        assert_eq!(names.find(&[1], &Dictionary::default()), []);
        names.number(5);
        assert_eq!(names.index(1, &StringTable::new(0)), 5);
        assert_eq!(names.made().collect::<Vec<_>>(), ["hotspot"]);
    }
}
