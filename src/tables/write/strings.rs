//! The string table of a payload.
//!
//! It has the strings of the dictionary that are used, followed by strings that the dictionary lacks, such as keys
//! that the writer adds. No written string of the dictionary is added again.
//!
//! ```text
//! mark, refer, request ─► number ─► index, code, reference, find; add
//! ```

use std::borrow::Cow;

use foldhash::fast::RandomState;
use hashbrown::HashSet;

use crate::model::dictionary::Dictionary;
use crate::model::id::StringId;
use crate::model::profile::Profile;
use crate::model::row_index::RowIndex;
use crate::model::strings::Strings;
use crate::tables::read::string_interner::hash_bytes;
use crate::tables::write::select::RowSelection;
use crate::wire::codes::{EncodedIndex, EncodedIndices};

/// The strings that are written as a table, and their indices in it.
#[derive(Debug)]
pub(crate) struct StringTable<'a> {
    /// The strings of the dictionary.
    pub(crate) strings: &'a Strings,
    /// Whether a string of the dictionary is used.
    used: Vec<bool>,
    /// The index of each string; 0 for strings that are not written.
    position: Vec<u32>,
    /// The encoded indices, ready to be emitted.
    codes: EncodedIndices,
    /// The written strings of the dictionary, the empty one first.
    ids: Vec<StringId>,
    /// Strings that must be in the table, whether the dictionary has them or not.
    requested: Vec<&'a str>,
    /// The strings after those of the dictionary.
    extra: Vec<Cow<'a, str>>,
    /// Finds the index of a string. Empty until a string is added.
    by_text: RowIndex,
    hasher: RandomState,
    /// Whether resources, scopes and values refer to their strings. If not, all of these strings are inline.
    pub(crate) has_references: bool,
    /// The strings written as references, each with the first equal string.
    referenced: Vec<(StringId, StringId)>,
    /// The index of each string that is a reference, up to the last one; 0 for inline strings.
    references: Vec<u32>,
}

impl<'a> StringTable<'a> {
    /// Creates a table in which no string is used.
    pub(crate) fn new(strings: &'a Strings) -> Self {
        Self {
            strings,
            used: vec![false; strings.len()],
            position: Vec::new(),
            codes: EncodedIndices::default(),
            ids: Vec::new(),
            requested: Vec::new(),
            extra: Vec::new(),
            by_text: RowIndex::default(),
            hasher: RandomState::default(),
            has_references: false,
            referenced: Vec::new(),
            references: Vec::new(),
        }
    }

    /// Marks a string as used; ignores one that the dictionary lacks. Call it before the strings are
    /// [numbered](Self::number).
    #[inline]
    pub(crate) fn mark(&mut self, id: StringId) {
        if let Some(used) = self.used.get_mut(id.row()) {
            *used = true;
        }
    }

    /// Marks the strings of functions, of all mappings, and of the sample types of profiles.
    pub(crate) fn mark_rows<'p>(
        &mut self,
        dictionary: &Dictionary,
        functions: &RowSelection,
        profiles: impl Iterator<Item = &'p Profile>,
    ) {
        functions
            .rows()
            .flat_map(|row| dictionary.functions[row].texts())
            .chain(dictionary.mappings.rows.iter().map(|mapping| mapping.filename))
            .chain(profiles.flat_map(|profile| profile.type_texts()))
            .for_each(|id| self.mark(id));
    }

    /// Marks a string that a value refers to. `first` is the first equal string, whose index is written.
    pub(crate) fn refer(&mut self, id: StringId, first: StringId) {
        self.mark(first);
        self.referenced.push((id, first));
    }

    /// Requests a string that the dictionary may lack.
    pub(crate) fn request(&mut self, text: &'a str) {
        self.requested.push(text);
    }

    /// Assigns an index to every marked string: first to those in `first`, then to the others in the order of
    /// the dictionary, then to requested ones that the dictionary lacks. Row 0 precedes all others.
    pub(crate) fn number(&mut self, first: &RowSelection) {
        self.mark_requested();
        let Self { used, position, ids, .. } = self;
        *position = vec![0; used.len()];
        ids.push(StringId::NONE);
        let others = (1..used.len() as u32).map(StringId);
        for id in first.rows().map(|row| StringId(row as u32)).chain(others) {
            // `others` repeats the strings of `first`, which have an index already.
            if used.get(id.row()) == Some(&true) && position[id.row()] == 0 {
                position[id.row()] = ids.len() as u32;
                ids.push(id);
            }
        }
        // Before strings are added, which have no row in the dictionary and thus no code.
        self.codes = EncodedIndices::of(&self.position);
        for text in std::mem::take(&mut self.requested) {
            self.add(text.into());
        }
        let rows = self.referenced.iter().map(|(id, _)| id.row() + 1).max();
        self.references = vec![0; rows.unwrap_or(0)];
        for (id, first) in &self.referenced {
            self.references[id.row()] = self.index(*first);
        }
    }

    /// Marks the requested strings that the dictionary has. Takes one pass over the dictionary for all of them.
    fn mark_requested(&mut self) {
        let mut wanted: HashSet<&str, RandomState> = self.requested.iter().copied().collect();
        for id in (1..self.strings.len() as u32).map(StringId) {
            if wanted.is_empty() {
                break;
            }
            // Removed, so that only the first of equal strings is marked.
            if wanted.remove(self.strings.get(id)) {
                self.mark(id);
            }
        }
    }

    /// Returns the index of a string that the dictionary may lack, and adds it if the table lacks it. Call it only
    /// after the strings are numbered: an added string changes no other index.
    pub(crate) fn add(&mut self, text: Cow<'a, str>) -> u32 {
        // Most payloads add no string, so the first one pays for the index.
        if self.by_text.is_empty() {
            self.by_text.reserve(self.ids.len());
            for (index, id) in (0..).zip(&self.ids) {
                self.by_text.add(hash_bytes(&self.hasher, self.strings.bytes(*id)), index);
            }
        }
        self.find(&text).unwrap_or_else(|| {
            let next = (self.ids.len() + self.extra.len()) as u32;
            self.by_text.add(hash_bytes(&self.hasher, text.as_bytes()), next);
            self.extra.push(text);
            next
        })
    }

    /// Finds the index of a string that was requested or added.
    fn find(&self, text: &str) -> Option<u32> {
        self.by_text.find(hash_bytes(&self.hasher, text.as_bytes()), |index| {
            let index = index as usize;
            let known = self.ids.get(index).map(|id| self.strings.bytes(*id));
            // Called only past the end of `ids`, so this does not underflow.
            let added = || self.extra.get(index - self.ids.len()).map(|text| text.as_bytes());
            known.or_else(added) == Some(text.as_bytes())
        })
    }

    /// Returns the index of a marked string.
    #[inline]
    pub(crate) fn index(&self, id: StringId) -> u32 {
        self.position.get(id.row()).copied().unwrap_or(0)
    }

    /// Returns the encoded index, ready to be emitted.
    #[inline]
    pub(crate) fn code(&self, id: StringId) -> EncodedIndex {
        self.codes.get(id.row())
    }

    /// Returns the index of a requested string.
    pub(crate) fn index_of(&self, text: &str) -> u32 {
        self.find(text).unwrap_or(0)
    }

    /// Returns the index of a string that is a reference, or 0 for an inline string.
    #[inline]
    pub(crate) fn reference(&self, id: StringId) -> u32 {
        self.references.get(id.row()).copied().unwrap_or(0)
    }

    /// Returns the written strings of the dictionary in the order of their indices.
    pub(crate) fn ids(&self) -> &[StringId] {
        &self.ids
    }

    /// Returns the strings after those of the dictionary, in order.
    pub(crate) fn extra(&self) -> &[Cow<'a, str>] {
        &self.extra
    }

    /// Returns the number of written strings of the dictionary.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_that_no_table_has_come_after_it() {
        let mut strings = Strings::default();
        let [used, there, unused] = ["used", "there", "unused"].map(|text| strings.push(text));
        let mut table = StringTable::new(&strings);
        table.mark(used);
        table.refer(there, there);
        ["one", "there", "two", "one", ""].into_iter().for_each(|text| table.request(text));
        table.number(&RowSelection::NONE);
        assert_eq!([used, there, unused].map(|id| table.index(id)), [1, 2, 0]);
        assert_eq!([used, there].map(|id| table.reference(id)), [0, 2]);
        assert_eq!(["there", "one", "two", ""].map(|text| table.index_of(text)), [2, 3, 4, 0]);
        assert_eq!(["two", "used", "three"].map(|text| table.add(text.into())), [4, 1, 5]);
        assert_eq!(table.extra(), ["one", "two", "three"]);
    }
}
