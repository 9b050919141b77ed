//! Caches that map the strings of a frame or label directly to its row.
//!
//! A profiler names a frame by strings (name, file, type) and a line, and a label by its key and text. Nearly all
//! of them are repeated, so the cache is searched first. Only a new frame interns its strings, a function and a
//! location.

use crate::builder::builder::Builder;
use crate::builder::cache::CacheKey;
use crate::builder::key::Key;
use crate::builder::parts::Frame;
use crate::model::dictionary::{Attribute, Function, Line};
use crate::model::id::{AttributeId, LocationId, StringId};
use crate::model::strings::Strings;
use crate::model::value::Value;
use crate::semconv::PROFILE_FRAME_TYPE;
use crate::tables::rows::interner::Interner;
use crate::tables::rows::row::BorrowedLocation;

impl Builder {
    /// Returns the location of a frame, or NONE if it has neither name nor file.
    #[inline]
    pub(crate) fn location_of(&mut self, frame: &Frame<'_>) -> Key<LocationId> {
        let strings = &self.interner.dictionary.strings;
        let cache_key = CacheKey { texts: [frame.name, frame.filename], number: frame.line };
        let id = match self.frames.find(&cache_key, strings) {
            Some((row, note)) if is_text(strings, note, frame.frame_type) => Some(LocationId(row)),
            _ => self.new_location_of(frame, &cache_key),
        };
        self.generation.key_of(id)
    }

    /// Interns all parts of a frame, and caches its location.
    #[inline(never)]
    fn new_location_of(
        &mut self,
        frame: &Frame<'_>,
        cache_key: &CacheKey<'_>,
    ) -> Option<LocationId> {
        if frame.name.is_empty() && frame.filename.is_empty() {
            return Some(LocationId::NONE);
        }
        let note = self.str(frame.frame_type)?;
        let (name, filename) = (self.str(frame.name)?, self.str(frame.filename)?);
        let attribute = self.frame_type(frame.frame_type)?;
        let function = self.intern(Function { name, filename, ..Function::default() })?;
        let lines = &[Line { function, line: frame.line.into(), column: 0 }];
        self.set(attribute, &[]);
        let location =
            BorrowedLocation { lines, attributes: &self.set, ..BorrowedLocation::default() };
        let location = self.interner.intern(location);
        let location = self.fit(location)?;
        let (texts, row) = ([name, filename], (location.0, note));
        let Interner { dictionary, budget, .. } = &mut self.interner;
        self.frames.insert(cache_key, texts, row, &dictionary.strings, budget);
        Some(location)
    }

    /// Returns the attribute of a frame type, or NONE if the type is empty. For a new one, the text is interned
    /// before the key.
    pub(super) fn frame_type(&mut self, frame_type: &str) -> Option<AttributeId> {
        if frame_type.is_empty() {
            return Some(AttributeId::NONE);
        }
        let cache_key = CacheKey { texts: [frame_type, PROFILE_FRAME_TYPE], number: 0 };
        self.known_label(&cache_key).or_else(|| {
            self.str(frame_type)?;
            self.new_label(&cache_key)
        })
    }

    /// Returns the attribute of a key and a text, the most frequent kind: from the cache, or else interned.
    #[inline(never)]
    pub(super) fn label(&mut self, key: &str, text: &str) -> Option<AttributeId> {
        let cache_key = CacheKey { texts: [text, key], number: 0 };
        self.known_label(&cache_key).or_else(|| self.new_label(&cache_key))
    }

    /// Returns the cached attribute of a key and a text.
    #[inline]
    fn known_label(&self, cache_key: &CacheKey<'_>) -> Option<AttributeId> {
        let found = self.labels.find(cache_key, &self.interner.dictionary.strings);
        found.map(|(row, _)| AttributeId(row))
    }

    /// Interns the attribute of a key and a text, and caches it.
    #[cold]
    fn new_label(&mut self, cache_key: &CacheKey<'_>) -> Option<AttributeId> {
        let [text, key] = cache_key.texts;
        let id = self.other_attribute(&key.into(), &text.into())?;
        let Interner { dictionary, budget, .. } = &mut self.interner;
        let attribute = dictionary.attribute(id);
        // An attribute without a key is the empty one, which has no string to cache.
        if let Some(&Attribute { key, value: Value::String(text), .. }) = attribute {
            let (texts, row) = ([text, key], (id.0, StringId::NONE));
            self.labels.insert(cache_key, texts, row, &dictionary.strings, budget);
        }
        Some(id)
    }
}

/// Returns whether string `id` equals `text`. Most frames have no type, so two empty strings are compared without a
/// call: it would do a masked load from an invalid address, which takes as long as a page fault.
#[inline]
fn is_text(strings: &Strings, id: StringId, text: &str) -> bool {
    match id {
        StringId::NONE => text.is_empty(),
        id => !text.is_empty() && strings.get(id) == text,
    }
}
