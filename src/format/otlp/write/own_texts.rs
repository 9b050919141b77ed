//! Texts that a writer puts into the string table itself: the dictionary may have them or not.
//!
//! There are few: the old names of frame types (1.3), and the keys of default sample types. A table that has the text
//! already is not given it again.

use crate::format::select::StringTable;
use crate::model::dictionary::Dictionary;
use crate::model::id::StringId;

/// Where the string table has the texts of the writer's own.
#[derive(Debug, Default)]
pub(crate) struct OwnTexts(Vec<(&'static str, Place)>);

/// Decided in two steps: [`find`](OwnTexts::find) before strings are numbered, [`number`](OwnTexts::number) after.
///
/// `Made(0)` stands for "wanted, not numbered yet": index 0 is the empty string, which nobody asks
/// for.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// A string of the dictionary.
    Text(StringId),
    /// A string after those of the dictionary, at this index.
    Made(u32),
}

impl OwnTexts {
    /// Asks for a text.
    /// Asking again changes nothing. There are a handful of such texts, so lists are searched.
    pub(crate) fn want(&mut self, text: &'static str) {
        if self.0.iter().all(|(wanted, _)| *wanted != text) {
            self.0.push((text, Place::Made(0)));
        }
    }

    /// Looks for the texts in the dictionary, and marks those it has.
    ///
    /// Linear in the strings for each text asked for; there are at most a few.
    pub(crate) fn find(&mut self, dictionary: &Dictionary, strings: &mut StringTable) {
        for (wanted, place) in &mut self.0 {
            let mut ids = (1..dictionary.strings.len() as u32).map(StringId);
            if let Some(id) = ids.find(|id| dictionary.text(*id) == *wanted) {
                strings.mark(id);
                *place = Place::Text(id);
            }
        }
    }

    /// Gives the others their indices, after those of the dictionary.
    pub(crate) fn number(&mut self, strings: &StringTable) {
        let made = self.0.iter_mut().filter_map(|(_, place)| match place {
            Place::Made(index) => Some(index),
            Place::Text(_) => None,
        });
        made.zip(strings.len() as u32..).for_each(|(made, index)| *made = index);
    }

    /// The index of a text; 0 if nobody asked for it.
    pub(crate) fn index(&self, text: &str, strings: &StringTable) -> u32 {
        match self.0.iter().find(|(wanted, _)| *wanted == text) {
            Some((_, Place::Text(id))) => strings.index(*id),
            Some((_, Place::Made(index))) => *index,
            None => 0,
        }
    }

    /// The texts that come after the strings of the dictionary, in order.
    pub(crate) fn made(&self) -> impl Iterator<Item = &'static str> {
        let made = self.0.iter().filter(|(_, place)| matches!(place, Place::Made(_)));
        made.map(|(text, _)| *text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::select::Select;

    #[test]
    fn texts_that_no_table_has_come_after_it() {
        let mut dictionary = Dictionary::default();
        let there = dictionary.strings.push("there");
        let mut strings = StringTable::new(dictionary.strings.len());
        let mut texts = OwnTexts::default();
        ["one", "there", "two", "one"].into_iter().for_each(|text| texts.want(text));
        texts.find(&dictionary, &mut strings);
        strings.number(&Select::NONE);
        texts.number(&strings);
        assert_eq!(texts.index("there", &strings), strings.index(there));
        assert_eq!([texts.index("one", &strings), texts.index("two", &strings)], [2, 3]);
        assert_eq!(texts.index("three", &strings), 0);
        assert_eq!(texts.made().collect::<Vec<_>>(), ["one", "two"]);
    }
}
