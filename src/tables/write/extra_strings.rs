//! Strings that a writer adds to the string table if the dictionary lacks them.
//!
//! There are few: the old names of frame types (1.3), and the keys of default sample types. A string that the
//! table already has is not added again.

use crate::model::dictionary::Dictionary;
use crate::model::id::StringId;
use crate::tables::write::select::StringTable;

/// The strings that the writer requires, and their place in the string table.
#[derive(Debug, Default)]
pub(crate) struct ExtraStrings(Vec<(&'static str, StringSlot)>);

/// The place of a string. [`find`](ExtraStrings::find) determines it before strings are numbered,
/// [`number`](ExtraStrings::number) after.
///
/// `Extra(0)` means requested, but not numbered yet: index 0 is the empty string, which is never requested.
#[derive(Clone, Copy, Debug)]
enum StringSlot {
    /// A string of the dictionary.
    Existing(StringId),
    /// A string after those of the dictionary, at this index.
    Extra(u32),
}

impl ExtraStrings {
    /// Requests a string. Repeated requests have no effect. There are few such strings, so linear search is
    /// enough.
    pub(crate) fn request(&mut self, text: &'static str) {
        if self.0.iter().all(|(requested, _)| *requested != text) {
            self.0.push((text, StringSlot::Extra(0)));
        }
    }

    /// Looks up the strings in the dictionary and marks those that it has.
    ///
    /// Takes time linear in the dictionary for each requested string.
    pub(crate) fn find(&mut self, dictionary: &Dictionary, strings: &mut StringTable) {
        for (requested, slot) in &mut self.0 {
            let mut ids = (1..dictionary.strings.len() as u32).map(StringId);
            if let Some(id) = ids.find(|id| dictionary.text(*id) == *requested) {
                strings.mark(id);
                *slot = StringSlot::Existing(id);
            }
        }
    }

    /// Numbers the other strings after those of the dictionary.
    pub(crate) fn number(&mut self, strings: &StringTable) {
        let extra = self.0.iter_mut().filter_map(|(_, slot)| match slot {
            StringSlot::Extra(index) => Some(index),
            StringSlot::Existing(_) => None,
        });
        extra.zip(strings.len() as u32..).for_each(|(extra, index)| *extra = index);
    }

    /// Returns the index of a string; 0 if it was not requested.
    pub(crate) fn index(&self, text: &str, strings: &StringTable) -> u32 {
        match self.0.iter().find(|(requested, _)| *requested == text) {
            Some((_, StringSlot::Existing(id))) => strings.index(*id),
            Some((_, StringSlot::Extra(index))) => *index,
            None => 0,
        }
    }

    /// Iterates over the strings after those of the dictionary, in order.
    pub(crate) fn extra(&self) -> impl Iterator<Item = &'static str> {
        let extra = self.0.iter().filter(|(_, slot)| matches!(slot, StringSlot::Extra(_)));
        extra.map(|(text, _)| *text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::write::select::RowSelection;

    #[test]
    fn texts_that_no_table_has_come_after_it() {
        let mut dictionary = Dictionary::default();
        let there = dictionary.strings.push("there");
        let mut strings = StringTable::new(dictionary.strings.len());
        let mut texts = ExtraStrings::default();
        ["one", "there", "two", "one"].into_iter().for_each(|text| texts.request(text));
        texts.find(&dictionary, &mut strings);
        strings.number(&RowSelection::NONE);
        texts.number(&strings);
        assert_eq!(texts.index("there", &strings), strings.index(there));
        assert_eq!([texts.index("one", &strings), texts.index("two", &strings)], [2, 3]);
        assert_eq!(texts.index("three", &strings), 0);
        assert_eq!(texts.extra().collect::<Vec<_>>(), ["one", "two"]);
    }
}
